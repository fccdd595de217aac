// The messages of the callback server's unary calls, which the library asks for and gives back.
#pragma once

#include <grpcpp/support/message_allocator.h>

#include <memory>
#include <utility>

#include "src/method/holder.h"
#include "src/server/recycler.h"

namespace cqbench {

// Of one method. Hands out pairs of messages that are used again and again; how they live from one call to the next is
// the holders' matter. Thread-safe: a call starts and ends on any of the library's threads, each of which keeps a
// stock, so that a call takes no lock. Must outlive the calls.
template <typename M>
class MessagePool final : public grpc::MessageAllocator<typename M::Request, typename M::Response> {
  using Request = typename M::Request;
  using Response = typename M::Response;

 public:
  explicit MessagePool(MessageHolder messages) : depot_(std::make_shared<Depot>(messages)) {}

  grpc::MessageHolder<Request, Response>* AllocateMessages() override {
    Pair* pair = MyStock().Take();
    pair->Renew(this);
    return pair;
  }

 private:
  class Pair final : public grpc::MessageHolder<Request, Response> {
   public:
    explicit Pair(cqbench::MessageHolder messages) : request_(messages), response_(messages) {}
    void Renew(MessagePool* pool) {
      pool_ = pool;
      this->set_request(&request_.Next());
      this->set_response(&response_.Next());
    }
    void Release() override { pool_->MyStock().Put(this); }

   private:
    MessagePool* pool_ = nullptr;
    Holder<Request> request_;
    Holder<Response> response_;
  };
  using Depot = CallDepot<Pair>;

  // Keeps its depot alive, because threads outlive servers, and gives everything back when the thread ends.
  struct ThreadStock {
    explicit ThreadStock(std::shared_ptr<Depot> of) : depot(std::move(of)), stock(depot.get()) {}
    ~ThreadStock() { stock.Empty(); }
    const std::shared_ptr<Depot> depot;
    CallStock<Pair> stock;
  };
  // Of the pool that the calling thread used last.
  CallStock<Pair>& MyStock() {
    thread_local std::unique_ptr<ThreadStock> mine;
    if (mine == nullptr || mine->depot != depot_) [[unlikely]]
      mine = std::make_unique<ThreadStock>(depot_);
    return mine->stock;
  }

  const std::shared_ptr<Depot> depot_;
};

}  // namespace cqbench
