// --backend inprocess and loopback: each request becomes a call of a gRPC server, over channels. Requests are read on
// the front end's threads; responses are written on the library's, through reactors, those of streams on a thread of
// their own. A call that the library never ends, which its deadline should not let happen, keeps the gateway from
// stopping.
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
#include "src/channel/poll.h"
#include "src/http/gateway/backend.h"
#include "src/server/apis/recycler.h"
#include "src/server/services/shared_counts.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {

class ProxiedBackend {
 public:
  // `transcoder` must outlive it. `channels` are taken in turn by each of the front end's threads. Without `streams`,
  // these are refused.
  ProxiedBackend(const transcoding::Transcoder& transcoder, ChannelPool channels, bool streams,
                 MessageStrategy messages, Nanos deadline_ns, int threads)
      : transcoder_(transcoder),
        channels_(std::move(channels)),
        has_streams_(streams),
        deadline_ns_(deadline_ns),
        turns_(static_cast<size_t>(threads)),
        unary_(messages) {
    for (int i = 0; i < channels_.size(); ++i) stubs_.push_back(library::v1::LibraryService::NewStub(channels_[i]));
    for (size_t i = 0; i < turns_.size(); ++i) turns_[i].next = i;
    streams_ = std::thread([this] {
      DrainQueue(queue_, PollMode::kBlock, [](void* tag, bool ok) { static_cast<Event*>(tag)->Run(ok); });
    });
  }
  ~ProxiedBackend() {
    Drain();
    queue_.Shutdown();
    streams_.join();
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

  // Shared by both kinds of calls. The reply goes, then the object, then the count.
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

  void RefuseStream(HttpReply reply) {
    SendError(std::move(reply), transcoder_.ErrorOf(grpc::StatusCode::UNIMPLEMENTED,
                                                    "streams are not served through the in-process channel"));
    Ended(false);
  }
  void Ended(bool good) {
    counts_.Ended(good);
    in_flight_.fetch_sub(1, std::memory_order_release);
  }

  template <typename M>
  class Unary final : public grpc::ClientUnaryReactor, Base {
   public:
    explicit Unary(MessageStrategy messages) : request_(messages), response_(messages) {}

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
      backend->counts_.Responded();
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

    MessageSupply<typename M::Request> request_;
    MessageSupply<typename M::Response> response_;
  };

  // A tag of the streams' queue points to this.
  struct Event {
    virtual ~Event() = default;
    virtual void Run(bool ok) = 0;
  };

  // A line for each response; while the client takes none, none is read. Until it is full all of it runs on the queue's
  // thread, then on the loop's until there was room: one thread at a time, without a lock.
  template <typename M>
  class Stream final : Base, Event, public std::enable_shared_from_this<Stream<M>> {
   public:
    void Start(ProxiedBackend& of, Stub& stub, const transcoding::Call& the_call, const transcoding::HttpRequest& http,
               HttpReply the_reply) {
      this->Begin(of, the_call, std::move(the_reply));
      if (const absl::Status bound = of.transcoder_.Bind(the_call, http, request_); !bound.ok()) {
        this->Refuse(of.transcoder_.ErrorOf(bound));
        return of.Ended(false);
      }
      self_ = this->shared_from_this();
      reader_ = (stub.*M::kPrepare)(&*this->context, request_, &of.queue_);
      reader_->StartCall(Tag());
    }

   private:
    enum class State { kStarting, kReading, kFinishing };

    void* Tag() { return static_cast<Event*>(this); }

    void Run(bool ok) override {
      switch (state_) {
        case State::kStarting:
          return ok ? Read() : Finish();
        case State::kReading:
          return ok ? Take() : Finish();
        case State::kFinishing:
          return End();
      }
    }
    void Read() {
      state_ = State::kReading;
      reader_->Read(&response_, Tag());
    }
    void Take() {
      if (!begun_) BeginResponse();
      line_.clear();
      const absl::Status printed = this->backend->transcoder_.Print(this->call, response_, line_);
      failed_ = !printed.ok();
      if (failed_) {
        line_ = ErrorLine(this->backend->transcoder_.ErrorOf(printed));
      } else {
        line_ += '\n';
        this->backend->counts_.Responded();
      }
      Write();
    }
    // Once it is full another thread may be in here before it has returned.
    void Write() {
      const HttpStream::Result result = stream_.Write(line_);
      if (result == HttpStream::Result::kFull) return;
      if (result == HttpStream::Result::kGone) failed_ = true;
      if (!failed_) return Read();
      this->context->TryCancel();
      Finish();
    }
    void Finish() {
      state_ = State::kFinishing;
      reader_->Finish(&status_, Tag());
    }
    void End() {
      const std::shared_ptr<Stream> self = std::move(self_);
      ProxiedBackend& of = *this->backend;
      if (!begun_ && status_.ok()) BeginResponse();
      if (begun_) {
        if (!status_.ok() && !failed_) stream_.Write(ErrorLine(ErrorOf(of.transcoder_, status_)));
        stream_.End();
      } else {
        this->Refuse(ErrorOf(of.transcoder_, status_));
      }
      of.Ended(status_.ok() && !failed_);
    }
    void BeginResponse() {
      begun_ = true;
      stream_ = this->reply->Begin(200, kJsonLinesType, [self = this->shared_from_this()] { self->Write(); });
    }

    std::shared_ptr<Stream> self_;  // while the call lives
    State state_ = State::kStarting;
    typename M::Request request_;
    typename M::Response response_;
    std::unique_ptr<grpc::ClientAsyncReader<typename M::Response>> reader_;
    grpc::Status status_;
    HttpStream stream_;
    std::string line_;
    bool begun_ = false;
    bool failed_ = false;  // on this side: what the call says at its end is nothing new
  };

  template <typename M>
  static Function FunctionOf() {
    return [](ProxiedBackend& self, Stub& stub, const transcoding::Call& call, const transcoding::HttpRequest& request,
              HttpReply reply) {
      if constexpr (M::kShape == Shape::kServerStreaming) {
        if (!self.has_streams_) return self.RefuseStream(std::move(reply));
        std::make_shared<Stream<M>>()->Start(self, stub, call, request, std::move(reply));
      } else {
        SharedStock<Unary<M>>& stock = self.unary_;
        stock.Take()->Start(self, stub, call, request, std::move(reply));
      }
    };
  }

  template <typename... Ms>
  struct AllUnary : SharedStock<Unary<Ms>>... {
    explicit AllUnary(MessageStrategy messages) : SharedStock<Unary<Ms>>(messages)... {}
  };
  struct alignas(64) Turn {
    size_t next = 0;
  };

  const transcoding::Transcoder& transcoder_;
  const ChannelPool channels_;
  const bool has_streams_;
  const Nanos deadline_ns_;
  std::vector<Turn> turns_;
  std::vector<std::unique_ptr<Stub>> stubs_;
  const ByMethod<Function> serve_{[]<typename M>() { return FunctionOf<M>(); }};
  AllUnary<LibraryGet, LibraryList, LibraryCreate, LibraryUpdate, LibraryDelete> unary_;
  grpc::CompletionQueue queue_;  // of the streams
  std::thread streams_;
  SharedCounts counts_;
  alignas(64) std::atomic<int64_t> in_flight_{0};
};

}  // namespace cqbench
