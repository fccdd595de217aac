// Calls that a test makes to a server itself, without the client program.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {

// Makes a context whose deadline only stops hanging tests.
inline std::unique_ptr<grpc::ClientContext> PatientContext() {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::seconds>(kPatience));
  return context;
}

// Makes a call of any shape with these bytes as its only request, and reads it to its end.
struct BytesCall {
  grpc::Status status;
  std::vector<grpc::ByteBuffer> answers;
};
inline BytesCall CallWithBytes(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                               const std::string& bytes) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  const auto done = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto context = PatientContext();
  const auto call = stub.PrepareCall(context.get(), path, &queue);
  call->StartCall(nullptr);
  done();
  const grpc::Slice slice(bytes);
  call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  done();
  BytesCall result;
  grpc::ByteBuffer answer;
  for (call->Read(&answer, nullptr); done(); call->Read(&answer, nullptr)) result.answers.push_back(answer);
  call->Finish(&result.status, nullptr);
  done();
  return result;
}

}  // namespace cqbench::smoke
