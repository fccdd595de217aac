#include "src/http/gateway/gateway.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/channel_arguments.h>

#include <string>
#include <utility>
#include <vector>

#include "src/channel/channel_pool.h"
#include "src/http/gateway/backend.h"
#include "src/http/gateway/direct.h"
#include "src/http/gateway/proxied.h"
#include "src/http/routes/http_status.h"
#include "src/http/routes/library.h"
#include "src/http/routes/transcoder.h"
#include "src/server/services/shared_counts.h"
#include "src/workload/methods/books.h"

namespace cqbench {

namespace {

using transcoding::Transcoder;

absl::StatusOr<std::unique_ptr<Transcoder>> MakeTranscoder(TranscoderKind kind) {
  const transcoding::TranscodingOptions options;
  if (kind == TranscoderKind::kHandwritten) return std::make_unique<transcoding::LibraryTranscoder>(options);
  return transcoding::DescriptorTranscoder::Make(*google::protobuf::DescriptorPool::generated_pool(),
                                                 *google::protobuf::MessageFactory::generated_factory(),
                                                 {library::v1::LibraryService::service_full_name()}, options);
}

// A request that the front end refuses by itself gets a response like one that a method refuses.
HttpOwnResponse OwnResponse(int status, std::string_view reason) {
  HttpOwnResponse response{kJsonType, ""};
  transcoding::AppendErrorJson(transcoding::CodeOfRefusal(status), AbslView(reason), {}, response.body);
  return response;
}

transcoding::HttpRequest PartsOf(const HttpRequest& http) {
  const absl::string_view target = AbslView(http.target);
  const size_t query = target.find('?');
  transcoding::HttpRequest request;
  request.method = AbslView(http.method);
  request.path = target.substr(0, query);
  request.body = AbslView(http.body);
  request.content_type = AbslView(http.content_type);
  request.content_encoding = AbslView(http.content_encoding);
  if (query != absl::string_view::npos) request.query = target.substr(query + 1);
  return request;
}

template <typename Backend>
class TranscodingGateway final : public Gateway {
 public:
  // `is_counted`: by the server, whose calls these become.
  template <typename... Args>
  static absl::StatusOr<std::unique_ptr<Gateway>> Start(const HttpOptions& options, PingServer& server, bool is_counted,
                                                        std::unique_ptr<Transcoder> transcoder, Args&&... args) {
    std::unique_ptr<TranscodingGateway> self(
        new TranscodingGateway(std::move(transcoder), std::forward<Args>(args)...));
    auto http = HttpServer::Start(options, [self = self.get()](const HttpRequest& request, HttpReply reply) {
      self->Serve(request, std::move(reply));
    });
    if (!http.ok()) return http.status();
    self->http_ = *std::move(http);
    server.AddHttpFrontEnd(self->address(),
                           [&backend = self->backend_, is_counted] { return is_counted ? 0 : backend.Messages(); });
    return self;
  }
  ~TranscodingGateway() override { TranscodingGateway::Stop(); }

  const Target& address() const override { return http_->address(); }
  HttpCounts counts() const override { return http_->counts(); }
  std::vector<std::string> refused_rules() const override { return transcoder_->refused(); }
  void Stop() override {
    if (http_ != nullptr) http_->Stop();
    if constexpr (requires { backend_.Drain(); }) backend_.Drain();
  }

 private:
  template <typename... Args>
  explicit TranscodingGateway(std::unique_ptr<Transcoder> transcoder, Args&&... args)
      : transcoder_(std::move(transcoder)), backend_(*transcoder_, std::forward<Args>(args)...) {}

  void Serve(const HttpRequest& http, HttpReply reply) {
    const transcoding::HttpRequest request = PartsOf(http);
    transcoding::Call call;
    const transcoding::Found found = transcoder_->Find(request, call);
    if (found != transcoding::Found::kYes) return SendError(std::move(reply), transcoder_->ErrorOf(found, request));
    backend_.Serve(http.thread, call, request, std::move(reply));
  }

  const std::unique_ptr<Transcoder> transcoder_;
  Backend backend_;
  std::unique_ptr<HttpServer> http_;
};

// The lower bound: the same response whatever is asked for.
class ConstantGateway final : public Gateway {
 public:
  static absl::StatusOr<std::unique_ptr<Gateway>> Start(const HttpOptions& options, PingServer& server) {
    std::unique_ptr<ConstantGateway> self(new ConstantGateway);
    auto http = HttpServer::Start(options, [self = self.get()](const HttpRequest&, HttpReply reply) {
      self->counts_.Responded();
      reply.Send(200, kJsonType, self->response_);
    });
    if (!http.ok()) return http.status();
    self->http_ = *std::move(http);
    server.AddHttpFrontEnd(self->address(), [&counts = self->counts_] { return counts.Read().messages; });
    return self;
  }
  ~ConstantGateway() override { ConstantGateway::Stop(); }

  const Target& address() const override { return http_->address(); }
  HttpCounts counts() const override { return http_->counts(); }
  void Stop() override {
    if (http_ != nullptr) http_->Stop();
  }

 private:
  ConstantGateway() = default;

  const std::string response_ = LibraryGet::Http({}).expected;
  SharedCounts counts_;
  std::unique_ptr<HttpServer> http_;
};

absl::StatusOr<ChannelPool> ChannelsOf(const GatewayConfig& config, PingServer& server) {
  if (config.backend == BackendKind::kInProcess) {
    return ChannelPool({server.InProcessChannel(grpc::ChannelArguments())});
  }
  RunConfig run;
  run.targets = {config.target ? *config.target : server.listening().front()};
  ConnectHooks hooks;
  hooks.hopeless = [](const Target&) { return true; };
  return ChannelPool::Connect(run, PlanChannels(config.policy, config.channels, 1), grpc::InsecureChannelCredentials(),
                              hooks);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Gateway>> Gateway::Start(const GatewayConfig& config, PingServer& server) {
  HttpOptions options;
  options.listen = config.listen;
  options.threads = config.threads;
  options.own_response = OwnResponse;
  if (config.transcoder == TranscoderKind::kNone) return ConstantGateway::Start(options, server);
  auto transcoder = MakeTranscoder(config.transcoder);
  if (!transcoder.ok()) return transcoder.status();
  const MessageStrategy messages =
      config.messages == MessageStrategy::kBytes ? MessageStrategy::kReused : config.messages;
  if (config.backend == BackendKind::kDirect) {
    return TranscodingGateway<DirectBackend>::Start(options, server, /*is_counted=*/false, *std::move(transcoder),
                                                    server, messages, config.threads);
  }
  // The in-process transport of gRPC 1.51.1 loses the last message of a stream, or its end, once in some: what was
  // written together with the status. grpc-gateway has none in its process either.
  const bool streams = config.backend != BackendKind::kInProcess;
  auto channels = ChannelsOf(config, server);
  if (!channels.ok()) return channels.status();
  return TranscodingGateway<ProxiedBackend>::Start(options, server, /*is_counted=*/!config.target.has_value(),
                                                   *std::move(transcoder), *std::move(channels), streams, messages,
                                                   config.deadline_ns, config.threads);
}

}  // namespace cqbench
