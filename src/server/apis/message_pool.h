// The messages of the callback server's unary calls, which the library asks for and gives back.
#pragma once

#include <grpcpp/support/message_allocator.h>

#include "src/config/messages.h"
#include "src/server/apis/recycler.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {

// Hands out pairs of messages of one method, which are used again and again; how they live from one call to the next is
// the holders' matter. Thread-safe: a call starts and ends on any of the library's threads. Must outlive the calls.
template <typename M>
class MessagePool final : public grpc::MessageAllocator<typename M::Request, typename M::Response> {
  using Request = typename M::Request;
  using Response = typename M::Response;

 public:
  explicit MessagePool(MessageStrategy messages) : pairs_(messages) {}

  grpc::MessageHolder<Request, Response>* AllocateMessages() override {
    Pair* pair = pairs_.Take();
    pair->Renew(this);
    return pair;
  }

 private:
  class Pair final : public grpc::MessageHolder<Request, Response> {
   public:
    explicit Pair(cqbench::MessageStrategy messages) : request_(messages), response_(messages) {}
    void Renew(MessagePool* pool) {
      pool_ = pool;
      this->set_request(&request_.Next());
      this->set_response(&response_.Next());
    }
    void Release() override {
      request_.Rest();
      response_.Rest();
      pool_->pairs_.Put(this);
    }

   private:
    MessagePool* pool_ = nullptr;
    MessageSupply<Request> request_;
    MessageSupply<Response> response_;
  };
  SharedStock<Pair> pairs_;
};

}  // namespace cqbench
