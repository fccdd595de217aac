// The steps of a server with the messages of one call, once for all shapes and APIs: whose turn it is after each event,
// what is timed and counted, and how the call ends. The library's calls stay with the API: these steps ask for them.
#pragma once

#include <grpcpp/impl/call_op_set.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <utility>

#include "src/server/services/service_times.h"
#include "src/workload/methods/method.h"

namespace cqbench {

constexpr bool ReadsStream(Shape shape) {
  return shape == Shape::kClientStreaming || shape == Shape::kBidi;
}
constexpr bool WritesStream(Shape shape) {
  return shape == Shape::kServerStreaming || shape == Shape::kBidi;
}

// `Call` derives from this class and has, without a virtual function,
//   Shape shape() const;
//   void Read();                                   then comes OnRequest() or OnRequestsEnded()
//   void Write(const grpc::WriteOptions& options);  of the response that was made last; then comes OnWritten()
//   void WriteLast();                              the same with status OK: the call ends
//   void End(const grpc::Status& status);          without a response: the call ends
// and, for the request that was read last, those of the steps that its shape has:
//   grpc::Status Handle(uint32_t left);                  makes a response; `left` more follow
//   grpc::Status CountResponses(uint32_t* count);        of a server-streaming call
//   grpc::Status Take();  grpc::Status Respond();        of a client-streaming call
// `Thread` is the API's: Arrival(), Spend(), Responded(), times(), write_options(first). One thread at a time.
template <typename Call>
class CallSteps {
 protected:
  // A call without an error so far.
  bool good() const { return good_; }
  // Before a call.
  void Reset() {
    good_ = true;
    wrote_ = false;
    handled_at_ = 0;
  }

  // `arrived`: when the call came, where its first request came with it, or 0.
  template <typename Thread>
  void OnRequest(Thread& thread, Nanos arrived) {
    switch (call().shape()) {
      case Shape::kUnary:
        return MakeResponse(thread, arrived, 0, /*last=*/true);
      case Shape::kBidi:
        return MakeResponse(thread, thread.Arrival(), 0, /*last=*/false);
      case Shape::kClientStreaming: {
        timed_ = false;
        const grpc::Status status = call().Take();
        thread.Spend();
        return status.ok() ? call().Read() : Fail(status);
      }
      case Shape::kServerStreaming: {
        timed_ = arrived != 0;
        const grpc::Status status = call().CountResponses(&left_);
        return status.ok() ? MakeNext(thread, arrived) : Fail(status);
      }
    }
  }
  // The client will send no more, or has gone.
  template <typename Thread>
  void OnRequestsEnded(Thread& thread) {
    if (call().shape() == Shape::kBidi) return call().End(grpc::Status::OK);
    if (call().shape() != Shape::kClientStreaming) {
      return Fail({grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"});
    }
    const Nanos arrived = thread.Arrival();
    timed_ = arrived != 0;
    const grpc::Status status = call().Respond();
    return status.ok() ? Send(thread, arrived, /*last=*/true) : Fail(status);
  }
  // A response is written that was not the last one.
  template <typename Thread>
  void OnWritten(Thread& thread, bool ok) {
    OnSent(thread);
    if (!ok) return Fail(grpc::Status::OK);
    call().shape() == Shape::kServerStreaming ? MakeNext(thread, thread.Arrival()) : call().Read();
  }
  // The library says that the response is sent.
  template <typename Thread>
  void OnSent(Thread& thread) {
    thread.times().Finished(std::exchange(handled_at_, 0));
  }
  void Fail(const grpc::Status& status) {
    good_ = false;
    call().End(status);
  }
  // The message under way is one of those whose serializer is timed.
  bool timed() const { return timed_; }

 private:
  Call& call() { return static_cast<Call&>(*this); }

  template <typename Thread>
  void MakeNext(Thread& thread, Nanos arrived) {
    if (left_ == 0) return call().End(grpc::Status::OK);
    --left_;
    MakeResponse(thread, arrived, left_, left_ == 0);
  }
  template <typename Thread>
  void MakeResponse(Thread& thread, Nanos arrived, uint32_t left, bool last) {
    timed_ = arrived != 0;
    const grpc::Status status = call().Handle(left);
    thread.Spend();
    return status.ok() ? Send(thread, arrived, last) : Fail(status);
  }
  template <typename Thread>
  void Send(Thread& thread, Nanos arrived, bool last) {
    thread.Responded();
    handled_at_ = thread.times().Handled(arrived);
    if (last) return call().WriteLast();
    const bool first = !std::exchange(wrote_, true);
    // In a ping-pong nothing follows that could go with it.
    call().Write(call().shape() == Shape::kServerStreaming ? thread.write_options(first) : grpc::WriteOptions());
  }

  bool good_ = true;
  bool wrote_ = false;
  bool timed_ = false;
  uint32_t left_ = 0;     // server-streaming: responses that follow
  Nanos handled_at_ = 0;  // 0: the response under way is not timed
};

// The steps of a method on messages. `Call` also has
//   const typename M::Request& request();     which was read last
//   typename M::Response& NextResponse();     an empty one or one from before
template <typename M, typename Call>
class MethodSteps : public CallSteps<Call> {
 public:
  static constexpr Shape shape() { return M::kShape; }
  grpc::Status Handle(uint32_t left) {
    if constexpr (RespondsOften<M>) {
      return HandleNext<M>(call().request(), left, &call().NextResponse());
    } else if constexpr (Responds<M>) {
      return M::Handle(call().request(), &call().NextResponse());
    } else {
      return NotOfThisShape();
    }
  }
  grpc::Status CountResponses(uint32_t* count) {
    if constexpr (RespondsOften<M>) return M::CountResponses(call().request(), count);
    return NotOfThisShape();
  }
  grpc::Status Take() {
    if constexpr (Gathers<M>) return M::Take(call().request(), gathered_);
    return NotOfThisShape();
  }
  grpc::Status Respond() {
    if constexpr (Gathers<M>) return M::Respond(gathered_, &call().NextResponse());
    return NotOfThisShape();
  }

 protected:
  void Reset() {
    CallSteps<Call>::Reset();
    gathered_ = {};
  }

 private:
  struct Nothing {};
  template <typename T>
  struct GatheredOf {
    using Type = Nothing;
  };
  template <Gathers T>
  struct GatheredOf<T> {
    using Type = typename T::Gathered;
  };
  Call& call() { return static_cast<Call&>(*this); }
  static grpc::Status NotOfThisShape() { return grpc::Status(grpc::StatusCode::INTERNAL, "no step of this shape"); }

  [[no_unique_address]] typename GatheredOf<M>::Type gathered_{};
};

}  // namespace cqbench
