// --api generic: completion queues and byte buffers. Whatever the method, the library delivers the call unparsed; no
// protobuf message is made on the way, so what is left is the cost of the RPC itself.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/server/cq_server.h"
#include "src/server/server_kinds.h"

namespace cqbench {
namespace {

// What client-streaming calls have taken: one method's part is used by one call.
template <typename M>
struct GatheredBy {};
template <Gathers M>
struct GatheredBy<M> {
  typename M::Gathered gathered{};
};
template <typename... Ms>
struct Gathered : GatheredBy<Ms>... {};
using AllGathered = AllMethods::Apply<Gathered>;

// A method by its path: what its shape asks for, the rest is null. `left`: answers of a server-streaming call that
// follow.
struct GenericMethod {
  using Bytes = grpc::ByteBuffer;
  std::string path;
  Shape shape;
  grpc::Status (*handle)(const GenericMethod& self, const Bytes& request, uint32_t left, Bytes* response) = nullptr;
  grpc::Status (*count)(const GenericMethod& self, const Bytes& request, uint32_t* count) = nullptr;
  void (*begin)(AllGathered& gathered) = nullptr;
  grpc::Status (*take)(const Bytes& request, AllGathered& gathered) = nullptr;
  grpc::Status (*answer)(const GenericMethod& self, const AllGathered& gathered, Bytes* response) = nullptr;
  std::vector<Bytes> answers{};  // of a stand-in, the last one first
};

template <typename M>
GenericMethod Describe() {
  GenericMethod method{.path = PathOf<M>(), .shape = M::kShape};
  using Self = GenericMethod;
  using Bytes = grpc::ByteBuffer;
  if constexpr (Answers<M>) {
    method.handle = [](const Self& /*self*/, const Bytes& request, uint32_t /*left*/, Bytes* response) {
      return M::HandleBytes(request, response);
    };
  }
  if constexpr (AnswersOften<M>) {
    method.count = [](const Self& /*self*/, const Bytes& request, uint32_t* count) {
      return M::CountResponsesInBytes(request, count);
    };
  }
  if constexpr (Gathers<M>) {
    using Mine = GatheredBy<M>;
    method.begin = [](AllGathered& all) { static_cast<Mine&>(all) = {}; };
    method.take = [](const grpc::ByteBuffer& request, AllGathered& all) {
      return M::TakeBytes(request, static_cast<Mine&>(all).gathered);
    };
    method.answer = [](const Self& /*self*/, const AllGathered& all, Bytes* response) {
      return M::AnswerBytes(static_cast<const Mine&>(all).gathered, response);
    };
  }
  return method;
}

// Nothing is looked at, and nothing made: what is answered is there.
GenericMethod Describe(const StandIn& stand_in) {
  using Self = GenericMethod;
  using Bytes = grpc::ByteBuffer;
  GenericMethod method{.path = stand_in.path, .shape = stand_in.shape};
  method.handle = [](const Self& self, const Bytes& /*request*/, uint32_t left, Bytes* response) {
    *response = self.answers[left];
    return grpc::Status::OK;
  };
  method.count = [](const Self& self, const Bytes& /*request*/, uint32_t* count) {
    *count = static_cast<uint32_t>(self.answers.size());
    return grpc::Status::OK;
  };
  method.take = [](const Bytes& /*request*/, AllGathered& /*gathered*/) { return grpc::Status::OK; };
  method.answer = [](const Self& self, const AllGathered& /*gathered*/, Bytes* response) {
    *response = self.answers.front();
    return grpc::Status::OK;
  };
  for (auto text = stand_in.answers.rbegin(); text != stand_in.answers.rend(); ++text) {
    const grpc::Slice slice(*text);
    method.answers.emplace_back(&slice, 1);
  }
  return method;
}

std::vector<GenericMethod> DescribeAll(const ServerConfig& config) {
  std::vector<GenericMethod> all;
  if (config.stand_in) all.push_back(Describe(*config.stand_in));
  AllMethods::ForEach([&]<typename M>() { all.push_back(Describe<M>()); });
  return all;
}

template <typename List>
struct GenericServices;
template <typename... Services>
struct GenericServices<TypeList<Services...>> {
  explicit GenericServices(const ServerConfig& config) : methods(DescribeAll(config)) {}
  const std::vector<GenericMethod> methods;

  grpc::AsyncGenericService generic;
  // For reflection, which lists services that have a method of their own. Registered for a host that no call names, so
  // that the calls go to the generic service.
  static constexpr char kNoHost[] = "reflection.invalid";
  std::tuple<typename Services::Service...> named;

  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterAsyncGenericService(&generic);
    (builder.RegisterService(kNoHost, &std::get<typename Services::Service>(named)), ...);
  }
  // nullptr when there is no such method.
  const GenericMethod* Find(const std::string& path) const {
    for (const GenericMethod& method : methods) {
      if (method.path == path) return &method;
    }
    return nullptr;
  }
};

class GenericCall : public ServerEvent {
 public:
  explicit GenericCall(MessageHolder /*bytes*/) {}

  template <typename Thread>
  void Post(Thread& thread) {
    Bind<GenericCall, Thread>();
    state_ = State::kPosted;
    good_ = true;
    handled_at_ = 0;
    stream_.reset();
    context_.emplace();
    stream_.emplace(&*context_);
    thread.services().generic.RequestCall(&*context_, &*stream_, thread.queue(), thread.queue(), Tag());
  }

  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    if (is_last()) {
      thread.times().Finished(handled_at_);
      return thread.Ended(this, ok && good_);
    }
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        return Begin(thread);
      case State::kReading:
        return ok ? Take(thread) : RequestsEnded(thread);
      case State::kWriting:
        thread.times().Finished(std::exchange(handled_at_, 0));
        return ok ? Written(thread) : Fail(grpc::Status::OK);
    }
  }

 private:
  enum class State { kPosted, kReading, kWriting };

  template <typename Thread>
  void Begin(Thread& thread) {
    arrived_ = thread.Arrival();
    thread.Accepted(this);
    method_ = thread.services().Find(context_->method());
    if (method_ == nullptr) return Fail({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
    left_ = 0;
    if (method_->begin != nullptr) method_->begin(gathered_);
    Read();
  }

  // A request has come.
  template <typename Thread>
  void Take(Thread& thread) {
    switch (method_->shape) {
      case Shape::kUnary:
        return Answer(thread, arrived_, /*last=*/true);  // the call came when its headers were there
      case Shape::kBidi:
        return Answer(thread, thread.Arrival(), /*last=*/false);
      case Shape::kClientStreaming: {
        const grpc::Status status = method_->take(request_, gathered_);
        thread.Spend();
        return status.ok() ? Read() : Fail(status);
      }
      case Shape::kServerStreaming: {
        const grpc::Status status = method_->count(*method_, request_, &left_);
        return status.ok() ? AnswerNext(thread, arrived_) : Fail(status);
      }
    }
  }

  // The client will send no more, or has gone.
  template <typename Thread>
  void RequestsEnded(Thread& thread) {
    if (method_->shape == Shape::kBidi) return Finish(grpc::Status::OK);
    if (method_->shape != Shape::kClientStreaming) {
      return Fail({grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"});
    }
    const Nanos arrived = thread.Arrival();
    const grpc::Status status = method_->answer(*method_, gathered_, &response_);
    return status.ok() ? Send(thread, arrived, /*last=*/true) : Fail(status);
  }

  // An answer is on its way that was not the last one.
  template <typename Thread>
  void Written(Thread& thread) {
    return method_->shape == Shape::kServerStreaming ? AnswerNext(thread, thread.Arrival()) : Read();
  }
  template <typename Thread>
  void AnswerNext(Thread& thread, Nanos arrived) {
    if (left_ == 0) return Finish(grpc::Status::OK);
    --left_;
    Answer(thread, arrived, left_ == 0);
  }
  template <typename Thread>
  void Answer(Thread& thread, Nanos arrived, bool last) {
    const grpc::Status status = method_->handle(*method_, request_, left_, &response_);
    thread.Spend();
    return status.ok() ? Send(thread, arrived, last) : Fail(status);
  }

  template <typename Thread>
  void Send(Thread& thread, Nanos arrived, bool last) {
    thread.Answered();
    handled_at_ = thread.times().Handled(arrived);
    state_ = State::kWriting;
    if (!last) return stream_->Write(response_, Tag());
    stream_->WriteAndFinish(response_, grpc::WriteOptions(), grpc::Status::OK, LastTag());
  }
  void Read() {
    state_ = State::kReading;
    stream_->Read(&request_, Tag());
  }
  void Fail(const grpc::Status& status) {
    good_ = false;
    Finish(status);
  }
  void Finish(const grpc::Status& status) { stream_->Finish(status, LastTag()); }

  State state_ = State::kPosted;
  bool good_ = true;
  const GenericMethod* method_ = nullptr;
  Nanos arrived_ = 0;  // 0: this call is not timed
  Nanos handled_at_ = 0;
  uint32_t left_ = 0;     // server-streaming: answers
  AllGathered gathered_;  // client-streaming
  std::optional<grpc::GenericServerContext> context_;
  std::optional<grpc::GenericServerAsyncReaderWriter> stream_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

template <typename... Ms>
using GenericServer = CqServer<GenericServices<ServicesOf<Ms...>>, GenericCall>;

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartGenericServer(const ServerConfig& config) {
  return AllMethods::Apply<GenericServer>::Start(config);
}

}  // namespace cqbench
