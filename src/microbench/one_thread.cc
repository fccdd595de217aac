// {unary,bidi}/one-thread/WORKLOAD/METHOD: a call, or a message and its response on an open stream, through gRPC's
// in-process transport. One thread runs both ends, as in gRPC's own bm_fullstack: the time includes all of the library
// except the network, and no thread hand-off.

#include <grpcpp/grpcpp.h>
#include <grpcpp/server_builder.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/config/messages.h"
#include "src/microbench/suite.h"

namespace cqbench::microbench {
namespace {

// Both ends share a queue; tags are numbers from 1.
enum Event : uint32_t { kAccepted = 1, kServed, kAnswered, kOpened, kWritten, kRead, kServerRead, kServerWritten };

// Server, channel and queue of one benchmark. The order of members makes users of the queue end before the queue.
template <Method M>
class BothEnds {
 public:
  BothEnds() {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    stub_ = M::Service::NewStub(server_->InProcessChannel(grpc::ChannelArguments()));
  }
  ~BothEnds() {
    stub_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
    queue_->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
    }
  }

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }
  static void* Tag(Event event) { return reinterpret_cast<void*>(static_cast<uintptr_t>(event)); }

  // Sets the messages of the next call.
  template <typename... Args>
  void Post(Args&&... args) {
    (service_.*M::kPost)(std::forward<Args>(args)..., queue(), queue(), Tag(kAccepted));
  }
  template <typename... Args>
  auto Prepare(Args&&... args) {
    return ((*stub_).*M::kPrepare)(std::forward<Args>(args)..., queue());
  }

  // Runs the library until each of these events has come; keeps all other events. False if any event failed.
  template <typename... Events>
  bool Await(Events... events) {
    const uint32_t wanted = ((1u << events) | ...);
    while ((seen_ & wanted) != wanted) {
      void* tag = nullptr;
      bool ok = false;
      if (!queue_->Next(&tag, &ok)) return false;
      all_ok_ &= ok;
      seen_ |= 1u << reinterpret_cast<uintptr_t>(tag);
    }
    seen_ &= ~wanted;
    return std::exchange(all_ok_, true);
  }

 private:
  typename M::Service::AsyncService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<typename M::Service::Stub> stub_;
  uint32_t seen_ = 0;
  bool all_ok_ = true;
};

template <Method M>
std::string ErrorOf(const grpc::Status& status, const typename M::Response& response, const MessageConfig& config) {
  return status.ok() ? std::string(M::Check(response, config)) : status.error_message();
}

template <Method M>
void Unary(benchmark::State& state, const MessageConfig& config) {
  using Ends = BothEnds<M>;
  Ends ends;
  typename M::Request sent, request;
  typename M::Response server_response, response;
  M::Fill(sent, config);
  grpc::Status status;
  bool ok = true;
  Measure(state, [&] {
    grpc::ServerContext server_context;
    grpc::ServerAsyncResponseWriter<typename M::Response> responder(&server_context);
    ends.Post(&server_context, &request, &responder);
    grpc::ClientContext context;
    const auto call = ends.Prepare(&context, sent);
    call->StartCall();
    call->Finish(&response, &status, Ends::Tag(kAnswered));
    ok &= ends.Await(kAccepted);
    const grpc::Status handled = M::Handle(request, &server_response);
    responder.Finish(server_response, handled, Ends::Tag(kServed));
    ok &= ends.Await(kServed, kAnswered);
    if (!status.ok()) ok = false;
  });
  const std::string why = ErrorOf<M>(status, response, config);
  if (!ok || !why.empty()) return Fail(state, why.empty() ? "a call failed" : why);
}

// The client's and the server's half of a stream that stays open.
template <Method M>
class Stream {
  using Ends = BothEnds<M>;
  using Request = typename M::Request;
  using Response = typename M::Response;

 public:
  explicit Stream(const MessageConfig& config) {
    M::Fill(sent_, config);
    ends_.Post(&server_context_, &server_stream_);
    stream_ = ends_.Prepare(&context_);
    stream_->StartCall(Ends::Tag(kOpened));
    ok_ = ends_.Await(kOpened, kAccepted);
  }

  void PingPong() {
    server_stream_.Read(&request_, Ends::Tag(kServerRead));
    stream_->Read(&response_, Ends::Tag(kRead));
    stream_->Write(sent_, Ends::Tag(kWritten));
    ok_ &= ends_.Await(kWritten, kServerRead);
    ok_ &= M::Handle(request_, &server_response_).ok();
    server_stream_.Write(server_response_, Ends::Tag(kServerWritten));
    ok_ &= ends_.Await(kServerWritten, kRead);
  }

  // Returns the error, or "".
  std::string Close(const MessageConfig& config) {
    grpc::Status status;
    stream_->WritesDone(Ends::Tag(kWritten));
    ok_ &= ends_.Await(kWritten);
    server_stream_.Read(&request_, Ends::Tag(kServerRead));
    ends_.Await(kServerRead);  // the end of the client's messages
    server_stream_.Finish(grpc::Status::OK, Ends::Tag(kServed));
    stream_->Finish(&status, Ends::Tag(kAnswered));
    ok_ &= ends_.Await(kServed, kAnswered);
    const std::string why = ErrorOf<M>(status, response_, config);
    return why.empty() && !ok_ ? "a message failed" : why;
  }

 private:
  Ends ends_;
  grpc::ServerContext server_context_;
  grpc::ServerAsyncReaderWriter<Response, Request> server_stream_{&server_context_};
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream_;
  Request sent_, request_;
  Response server_response_, response_;
  bool ok_ = false;
};

template <Method M>
void Bidi(benchmark::State& state, const MessageConfig& config) {
  Stream<M> stream(config);
  Measure(state, [&] { stream.PingPong(); });
  const std::string why = stream.Close(config);
  if (!why.empty()) Fail(state, why);
}

}  // namespace

void RegisterOneThread() {
  AllMethods::ForEach([]<typename M>() {
    const std::string name = absl::StrCat(ToString(M::kShape), "/one-thread/", M::kWorkload, "/", M::kName);
    for (const auto& [suffix, config] : MessageCases<M>()) {
      if constexpr (M::kShape == Shape::kUnary) {
        Add(name + suffix, [config = config](benchmark::State& state) { Unary<M>(state, config); });
      } else if constexpr (M::kShape == Shape::kBidi) {
        Add(name + suffix, [config = config](benchmark::State& state) { Bidi<M>(state, config); });
      }
    }
  });
}

}  // namespace cqbench::microbench
