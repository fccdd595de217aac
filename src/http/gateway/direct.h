// --backend direct: the methods' handlers, called on the front end's own threads.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "cqbench/server.h"
#include "src/http/gateway/backend.h"
#include "src/server/services/service_load.h"
#include "src/server/services/service_times.h"
#include "src/server/services/shared_counts.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {

class DirectBackend {
 public:
  // Both must outlive it.
  DirectBackend(const transcoding::Transcoder& transcoder, PingServer& server, MessageStrategy messages, int threads)
      : transcoder_(transcoder), server_(server), messages_(messages) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back(messages);
  }

  // On the thread of that number.
  void Serve(int thread, const transcoding::Call& call, const transcoding::HttpRequest& request, HttpReply reply) {
    serve_[call](*this, threads_[static_cast<size_t>(thread)], call, request, std::move(reply));
  }
  // Any thread.
  uint64_t Messages() const { return counts_.Read().messages; }

 private:
  template <typename M>
  struct MessagesOf {
    explicit MessagesOf(MessageStrategy strategy) : request(strategy), response(strategy) {}
    MessageSupply<typename M::Request> request;
    MessageSupply<typename M::Response> response;
  };
  template <typename... Ms>
  struct AllMessages : MessagesOf<Ms>... {
    explicit AllMessages(MessageStrategy strategy) : MessagesOf<Ms>(strategy)... {}
  };
  struct alignas(64) Thread : LibraryMethods::Apply<AllMessages> {
    explicit Thread(MessageStrategy strategy) : LibraryMethods::Apply<AllMessages>(strategy) {}
    std::string json;
    uint32_t arrivals = 0;
  };
  using Function = void (*)(DirectBackend&, Thread&, const transcoding::Call&, const transcoding::HttpRequest&,
                            HttpReply);

  template <typename M>
  static Function FunctionOf() {
    if constexpr (M::kShape == Shape::kServerStreaming) {
      return [](DirectBackend& self, Thread&, const transcoding::Call& call, const transcoding::HttpRequest& request,
                HttpReply reply) { std::make_shared<Stream<M>>(self, call)->Start(request, call, std::move(reply)); };
    } else {
      return [](DirectBackend& self, Thread& thread, const transcoding::Call& call,
                const transcoding::HttpRequest& request,
                HttpReply reply) { self.ServeUnary<M>(thread, call, request, std::move(reply)); };
    }
  }

  template <typename M>
  void ServeUnary(Thread& thread, const transcoding::Call& call, const transcoding::HttpRequest& http,
                  HttpReply reply) {
    const Nanos arrived = server_.times().Accepted(thread.arrivals);
    counts_.Started();
    MessagesOf<M>& messages = thread;
    typename M::Request& request = messages.request.Next();
    if (messages.request.keeps()) request.Clear();
    if (const absl::Status bound = transcoder_.Bind(call, http, request); !bound.ok()) {
      return Refuse(std::move(reply), transcoder_.ErrorOf(bound));
    }
    typename M::Response& response = messages.response.Next();
    if (const grpc::Status status = M::Handle(request, &response); !status.ok()) {
      return Refuse(std::move(reply), ErrorOf(transcoder_, status));
    }
    server_.load().Spend();
    thread.json.clear();
    if (const absl::Status printed = transcoder_.Print(call, response, thread.json); !printed.ok()) {
      return Refuse(std::move(reply), transcoder_.ErrorOf(printed));
    }
    counts_.Responded();
    counts_.Ended(true);
    server_.times().Handled(arrived);
    reply.Send(200, kJsonType, thread.json);
  }

  void Refuse(HttpReply reply, const transcoding::HttpError& error) {
    counts_.Ended(false);
    SendError(std::move(reply), error);
  }

  // A stream of responses, a line each, for as long as they are taken. All of it on the loop's thread.
  template <typename M>
  class Stream : public std::enable_shared_from_this<Stream<M>> {
   public:
    Stream(DirectBackend& backend, const transcoding::Call& call)
        : backend_(backend), call_(WithoutCaptures(call)), response_(backend.messages_) {}

    void Start(const transcoding::HttpRequest& http, const transcoding::Call& call, HttpReply reply) {
      backend_.counts_.Started();
      if (const absl::Status bound = backend_.transcoder_.Bind(call, http, request_); !bound.ok()) {
        return backend_.Refuse(std::move(reply), backend_.transcoder_.ErrorOf(bound));
      }
      if (const grpc::Status status = M::CountResponses(request_, &left_); !status.ok()) {
        return backend_.Refuse(std::move(reply), ErrorOf(backend_.transcoder_, status));
      }
      stream_ = reply.Begin(200, kJsonLinesType, [self = this->shared_from_this()] { self->Write(); });
      Write();
    }

   private:
    void Write() {
      while (has_line_ || left_ > 0) {
        if (!has_line_) MakeLine();
        switch (stream_.Write(line_)) {
          case HttpStream::Result::kFull:
            return;
          case HttpStream::Result::kGone:
            return End(false);
          case HttpStream::Result::kTaken:
            has_line_ = false;
        }
      }
      End(good_);
    }
    void MakeLine() {
      --left_;
      has_line_ = true;
      line_.clear();
      transcoding::HttpError error;
      const grpc::Status status = HandleNext<M>(request_, left_, &response_.Next());
      backend_.server_.load().Spend();
      if (!status.ok()) return Fail(ErrorOf(backend_.transcoder_, status));
      const absl::Status printed = backend_.transcoder_.Print(call_, response_.Current(), line_);
      if (!printed.ok()) return Fail(backend_.transcoder_.ErrorOf(printed));
      line_ += '\n';
      backend_.counts_.Responded();
    }
    // The line is the error's, and the last one.
    void Fail(const transcoding::HttpError& error) {
      line_ = ErrorLine(error);
      left_ = 0;
      good_ = false;
    }
    void End(bool good) {
      backend_.counts_.Ended(good);
      stream_.End();
    }

    DirectBackend& backend_;
    const transcoding::Call call_;
    typename M::Request request_;
    MessageSupply<typename M::Response> response_;
    HttpStream stream_;
    std::string line_;
    bool has_line_ = false;  // that was not taken yet
    bool good_ = true;
    uint32_t left_ = 0;
  };

  const transcoding::Transcoder& transcoder_;
  PingServer& server_;
  const MessageStrategy messages_;
  const ByMethod<Function> serve_{[]<typename M>() { return FunctionOf<M>(); }};
  std::deque<Thread> threads_;
  SharedCounts counts_;
};

}  // namespace cqbench
