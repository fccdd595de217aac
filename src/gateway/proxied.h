// --backend inprocess and loopback: each request becomes a call of a gRPC server, over channels. Requests are read on the
// front's threads, answers written on the library's, through reactors.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/channel/channel_pool.h"
#include "src/gateway/backend.h"
#include "src/method/holder.h"
#include "src/server/recycler.h"
#include "src/server/shared_counts.h"

namespace cqbench {

class ProxiedBackend {
 public:
  // `transcoder` must outlive it. `channels` are taken in turn by each of the front's threads.
  ProxiedBackend(const transcoding::Transcoder& transcoder, ChannelPool channels, MessageHolder messages,
                 Nanos deadline_ns, int threads)
      : transcoder_(transcoder),
        channels_(std::move(channels)),
        messages_(messages),
        deadline_ns_(deadline_ns),
        turns_(static_cast<size_t>(threads)),
        unary_(messages) {
    for (int i = 0; i < channels_.size(); ++i) stubs_.push_back(library::v1::LibraryService::NewStub(channels_[i]));
    for (size_t i = 0; i < turns_.size(); ++i) turns_[i].next = i;
  }

  // On the thread of that number.
  void Serve(int thread, const transcoding::Call& call, const transcoding::HttpRequest& request, HttpReply reply) {
    Stub& stub = *stubs_[turns_[static_cast<size_t>(thread)].next++ % stubs_.size()];
    counts_.Started();
    in_flight_.fetch_add(1, std::memory_order_relaxed);
    serve_[call](*this, stub, call, request, std::move(reply));
  }
  // Any thread.
  uint64_t Messages() const { return counts_.Read().messages; }

  // When Serve() will not be called any more: waits for the calls in flight, whose deadline ends them.
  void Drain() const {
    while (in_flight_.load(std::memory_order_acquire) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  using Stub = library::v1::LibraryService::Stub;
  using Function = void (*)(ProxiedBackend&, Stub&, const transcoding::Call&, const transcoding::HttpRequest&,
                            HttpReply);

  // What both kinds of calls have. The reply goes, then the object, then the count.
  struct Base {
    void Begin(ProxiedBackend& of, const transcoding::Call& the_call, HttpReply the_reply) {
      backend = &of;
      call = WithoutCaptures(the_call);
      reply.emplace(std::move(the_reply));
      context.emplace();
      context->set_deadline(std::chrono::system_clock::now() + std::chrono::nanoseconds(of.deadline_ns_));
    }
    void Refuse(const transcoding::HttpError& error) { SendError(*std::exchange(reply, std::nullopt), error); }

    ProxiedBackend* backend = nullptr;
    transcoding::Call call;
    std::optional<HttpReply> reply;
    std::optional<grpc::ClientContext> context;
  };

  void Ended(bool good) {
    counts_.Ended(good);
    in_flight_.fetch_sub(1, std::memory_order_release);
  }

  template <typename M>
  class Unary final : public grpc::ClientUnaryReactor, Base {
   public:
    explicit Unary(MessageHolder messages) : request_(messages), response_(messages) {}

    void Start(ProxiedBackend& of, Stub& stub, const transcoding::Call& the_call, const transcoding::HttpRequest& http,
               HttpReply the_reply) {
      Begin(of, the_call, std::move(the_reply));
      typename M::Request& request = request_.Next();
      if (request_.keeps()) request.Clear();
      if (const absl::Status bound = of.transcoder_.Bind(the_call, http, request); !bound.ok()) {
        Refuse(of.transcoder_.ErrorOf(bound));
        return End(false);
      }
      (stub.async()->*M::kStart)(&*context, &request, &response_.Next(), this);
      StartCall();
    }

    void OnDone(const grpc::Status& status) override {
      thread_local std::string json;
      json.clear();
      if (!status.ok()) {
        Refuse(ErrorOf(backend->transcoder_, status));
        return End(false);
      }
      const absl::Status printed = backend->transcoder_.Print(call, response_.Current(), json);
      if (!printed.ok()) {
        Refuse(backend->transcoder_.ErrorOf(printed));
        return End(false);
      }
      backend->counts_.Answered();
      reply->Send(200, kJsonType, json);
      End(true);
    }

   private:
    void End(bool good) {
      reply.reset();
      context.reset();
      ProxiedBackend& of = *backend;
      static_cast<SharedStock<Unary>&>(of.unary_).Put(this);
      of.Ended(good);
    }

    Holder<typename M::Request> request_;
    Holder<typename M::Response> response_;
  };

  // A line for each answer. While the client takes none, none is read: a hold keeps the call from ending meanwhile, so
  // the stream has one thread at a time.
  template <typename M>
  class Stream final : public grpc::ClientReadReactor<typename M::Response>,
                       public std::enable_shared_from_this<Stream<M>>,
                       Base {
   public:
    void Start(ProxiedBackend& of, Stub& stub, const transcoding::Call& the_call, const transcoding::HttpRequest& http,
               HttpReply the_reply) {
      this->Begin(of, the_call, std::move(the_reply));
      if (const absl::Status bound = of.transcoder_.Bind(the_call, http, request_); !bound.ok()) {
        this->Refuse(of.transcoder_.ErrorOf(bound));
        return of.Ended(false);
      }
      self_ = this->shared_from_this();
      (stub.async()->*M::kStart)(&*this->context, &request_, this);
      this->AddHold();
      this->StartRead(&response_);
      this->StartCall();
    }

    void OnReadDone(bool ok) override {
      if (!ok) return this->RemoveHold();
      if (!begun_) BeginAnswer();
      const absl::Status printed = this->backend->transcoder_.Print(this->call, response_, line_);
      if (!printed.ok()) {
        line_ = ErrorLine(this->backend->transcoder_.ErrorOf(printed));
        failed_ = true;
      } else {
        line_ += '\n';
        this->backend->counts_.Answered();
      }
      Write();
    }

    void OnDone(const grpc::Status& status) override {
      const std::shared_ptr<Stream> self = std::move(self_);
      ProxiedBackend& of = *this->backend;
      const bool good = status.ok() && !failed_;
      if (!begun_ && status.ok()) BeginAnswer();
      if (!begun_) {
        this->Refuse(ErrorOf(of.transcoder_, status));
      } else {
        if (!good && !failed_) stream_.Write(ErrorLine(ErrorOf(of.transcoder_, status)));
        stream_.End();
      }
      of.Ended(good);
    }

   private:
    void BeginAnswer() {
      begun_ = true;
      stream_ = this->reply->Begin(200, kJsonLinesType, [self = this->shared_from_this()] { self->Write(); });
    }
    // Once it is full another thread may be in here before it has returned.
    void Write() {
      const HttpStream::Result result = stream_.Write(line_);
      if (result == HttpStream::Result::kFull) return;
      if (result == HttpStream::Result::kGone) failed_ = true;
      if (failed_) {
        this->context->TryCancel();
        return this->RemoveHold();
      }
      line_.clear();
      this->StartRead(&response_);
    }

    std::shared_ptr<Stream> self_;  // while the call lives
    typename M::Request request_;
    typename M::Response response_;
    HttpStream stream_;
    std::string line_;
    bool begun_ = false;
    bool failed_ = false;  // here; the call's end then says nothing new
  };

  template <typename M>
  static Function FunctionOf() {
    return [](ProxiedBackend& self, Stub& stub, const transcoding::Call& call, const transcoding::HttpRequest& request,
              HttpReply reply) {
      if constexpr (M::kShape == Shape::kServerStreaming) {
        std::make_shared<Stream<M>>()->Start(self, stub, call, request, std::move(reply));
      } else {
        SharedStock<Unary<M>>& stock = self.unary_;
        stock.Take()->Start(self, stub, call, request, std::move(reply));
      }
    };
  }

  template <typename... Ms>
  struct AllUnary : SharedStock<Unary<Ms>>... {
    explicit AllUnary(MessageHolder messages) : SharedStock<Unary<Ms>>(messages)... {}
  };
  struct alignas(64) Turn {
    size_t next = 0;
  };

  const transcoding::Transcoder& transcoder_;
  const ChannelPool channels_;
  const MessageHolder messages_;
  const Nanos deadline_ns_;
  std::vector<Turn> turns_;
  std::vector<std::unique_ptr<Stub>> stubs_;
  const ByMethod<Function> serve_{[]<typename M>() { return FunctionOf<M>(); }};
  AllUnary<LibraryGet, LibraryList, LibraryCreate, LibraryUpdate, LibraryDelete> unary_;
  SharedCounts counts_;
  alignas(64) std::atomic<int64_t> in_flight_{0};
};

}  // namespace cqbench
