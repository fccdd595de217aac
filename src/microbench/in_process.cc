// {unary,client-streaming,server-streaming,bidi}/inprocess/WORKLOAD/METHOD/SERVER: blocking calls to this project's
// servers, each with its threads, over gRPC's in-process transport. The time includes thread hand-offs, but no network.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "cqbench/server.h"
#include "src/load/engines/stub.h"
#include "src/load/engines/transfer.h"
#include "src/microbench/suite.h"

namespace cqbench::microbench {
namespace {

constexpr ServerApi kServers[] = {ServerApi::kCq, ServerApi::kCallback, ServerApi::kSync, ServerApi::kGeneric};

template <Method M>
class Calls {
  using Stub = GeneratedStub<M>;

 public:
  Calls(const std::shared_ptr<grpc::Channel>& channel, const MessageConfig& config) : stub_(channel) {
    run_.message = config;
    M::Fill(request_, config);
    if constexpr (M::kShape == Shape::kBidi) stream_ = stub_.Call(&stream_context_);
  }

  // Makes one whole call, or exchanges one message and its response on a bidi stream.
  void Run() {
    if constexpr (M::kShape == Shape::kBidi) {
      const bool received = stream_->Write(request_) && stream_->Read(&response_);
      Took(received ? CheckResponse(stub_, response_, run_.message) : absl::string_view("the stream broke"));
    } else {
      grpc::ClientContext context;
      const grpc::Status status = Call(&context);
      if (!status.ok()) Took(status.error_message());
    }
  }
  // Returns the error, or "".
  std::string Close() {
    if constexpr (M::kShape == Shape::kBidi) {
      stream_->WritesDone();
      const grpc::Status status = stream_->Finish();
      if (!status.ok()) Took(status.error_message());
    }
    return wrong_;
  }

 private:
  grpc::Status Call(grpc::ClientContext* context) requires(M::kShape == Shape::kUnary) {
    grpc::Status status = stub_.Call(context, request_, &response_);
    if (status.ok()) Took(CheckResponse(stub_, response_, run_.message));
    return status;
  }
  grpc::Status Call(grpc::ClientContext* context) requires(M::kShape == Shape::kClientStreaming) {
    Transfer<Stub> transfer(stub_, run_, nullptr);
    const auto writer = stub_.Call(context, &response_);
    for (bool open = true; open && !transfer.written();) {
      if (transfer.IsLastWrite()) {
        writer->WriteLast(request_, grpc::WriteOptions());
      } else {
        open = writer->Write(request_);
      }
    }
    return End(*writer, transfer);
  }
  grpc::Status Call(grpc::ClientContext* context) requires(M::kShape == Shape::kServerStreaming) {
    Transfer<Stub> transfer(stub_, run_, nullptr);
    const auto reader = stub_.Call(context, request_);
    while (reader->Read(&response_)) transfer.Took(response_);
    return End(*reader, transfer);
  }
  template <typename Stream>
  grpc::Status End(Stream& stream, const Transfer<Stub>& transfer) {
    grpc::Status status = stream.Finish();
    if (status.ok()) Took(transfer.WrongAtEnd(response_));
    return status;
  }
  void Took(absl::string_view wrong) {
    if (!wrong.empty() && wrong_.empty()) wrong_ = std::string(wrong);
  }

  struct Nothing {};
  RunConfig run_;
  Stub stub_;
  typename M::Request request_;
  typename M::Response message_;
  typename Stub::Response response_{&message_};
  std::string wrong_;
  grpc::ClientContext stream_context_;
  std::conditional_t<M::kShape == Shape::kBidi,
                     std::unique_ptr<grpc::ClientReaderWriter<typename M::Request, typename Stub::Response>>, Nothing>
      stream_;
};

// The server lives as long as its benchmark, because its waiting threads take part in the library's work.
template <Method M>
void CallServer(benchmark::State& state, ServerApi api, const MessageConfig& config) {
  ServerConfig setting;
  setting.api = api;
  setting.listen = {*ParseTarget("localhost", 0)};  // a server must listen somewhere; no client uses the address
  const auto server = StartServer(setting);
  if (!server.ok()) return Fail(state, std::string(server.status().message()));
  {
    Calls<M> calls((*server)->InProcessChannel(grpc::ChannelArguments()), config);
    Measure(state, [&] { calls.Run(); });
    const std::string wrong = calls.Close();
    if (!wrong.empty()) Fail(state, wrong);
  }
  (*server)->Shutdown();
}

}  // namespace

// Measures wall-clock time, and shows the CPU time of the whole process: most of the work is on other threads.
void RegisterInProcess() {
  AllMethods::ForEach([]<typename M>() {
    const std::string name = absl::StrCat(ToString(M::kShape), "/inprocess/", M::kWorkload, "/", M::kName, "/");
    for (const ServerApi api : kServers) {
      for (const auto& [suffix, config] : MessageCases<M>()) {
        Add(absl::StrCat(name, ToString(api), suffix),
            [api, config = config](benchmark::State& state) { CallServer<M>(state, api, config); })
            ->MeasureProcessCPUTime()
            ->UseRealTime();
      }
    }
  });
}

}  // namespace cqbench::microbench
