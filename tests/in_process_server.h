// A gRPC server in the test's process.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

namespace cqbench {

// Listens on a free port of 127.0.0.1, from construction to destruction, which cancels calls in flight. One thread.
class InProcessServer {
 public:
  // The service must outlive it.
  explicit InProcessServer(grpc::Service& service) {
    builder_.RegisterService(&service);
    Start();
  }
  explicit InProcessServer(grpc::CallbackGenericService& service) {
    builder_.RegisterCallbackGenericService(&service);
    Start();
  }
  InProcessServer(const InProcessServer&) = delete;
  InProcessServer& operator=(const InProcessServer&) = delete;
  ~InProcessServer() { Shutdown(); }

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void Shutdown() { server_->Shutdown(std::chrono::system_clock::now()); }

 private:
  void Start() {
    builder_.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    server_ = builder_.BuildAndStart();
  }

  grpc::ServerBuilder builder_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace cqbench
