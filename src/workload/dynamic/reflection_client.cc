#include "src/workload/dynamic/reflection_client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/server_reflection.grpc.pb.h"
#include "src/base/clean_text.h"
#include "src/channel/channel_pool.h"
#include "src/channel/credentials.h"
#include "src/channel/poll.h"

namespace cqbench {
namespace {

using reflection::ReflectionRequest;
using reflection::ReflectionResponse;

constexpr size_t kMaxFiles = 10'000;

// One stream of questions and responses.
class Conversation {
 public:
  // `version`: "v1" or "v1alpha".
  Conversation(const std::shared_ptr<grpc::Channel>& channel, const RunConfig& config, absl::string_view version,
               Nanos deadline)
      : stub_(channel) {
    context_.set_deadline(ToTimespec(deadline));
    context_.set_wait_for_ready(config.wait_for_server);
    for (const auto& [key, value] : config.metadata) context_.AddMetadata(key, value);
    stream_ = stub_.PrepareCall(
        &context_, absl::StrCat("/grpc.reflection.", version, ".ServerReflection/ServerReflectionInfo"), &queue_);
    stream_->StartCall(this);
    Await();
  }
  ~Conversation() {
    if (!finished_) {
      context_.TryCancel();
      Finish();
    }
    queue_.Shutdown();
    while (Await()) {
    }
  }

  bool Ask(const ReflectionRequest& request, ReflectionResponse& response) {
    stream_->Write(request, this);
    if (!Await()) return false;
    stream_->Read(&response, this);
    return Await();
  }
  // After Ask() was false: why. Never OK.
  absl::Status Why() {
    const grpc::Status status = Finish();
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return absl::UnimplementedError("");
    if (status.ok()) return absl::UnavailableError("reflection: the server ended the stream");
    return absl::UnavailableError(absl::StrCat("reflection: ", CleanText(status.error_message(), kMaxErrorBytes)));
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  grpc::Status Finish() {
    grpc::Status status;
    stream_->Finish(&status, this);
    Await();
    finished_ = true;
    return status;
  }

  grpc::TemplatedGenericStub<ReflectionRequest, ReflectionResponse> stub_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<ReflectionRequest, ReflectionResponse>> stream_;
  bool finished_ = false;
};

absl::Status NoSuchServiceOf(Conversation& server, const std::string& service) {
  ReflectionRequest request;
  request.set_list_services("*");
  ReflectionResponse response;
  if (!server.Ask(request, response)) return server.Why();
  std::vector<std::string> names;
  for (const auto& each : response.list_services_response().service())
    names.push_back(CleanName(each.name(), kMaxErrorBytes));
  return NoSuchService(service, names);
}

// Takes the files of a response that are not there yet.
absl::Status TakeFiles(const ReflectionResponse& response, Descriptors::Files& files, std::set<std::string>& have,
                       std::deque<std::string>& wanted, size_t& bytes) {
  for (const std::string& text : response.file_descriptor_response().file_descriptor_proto()) {
    bytes += text.size();
    if (bytes > kMaxDescriptorBytes || files.size() >= kMaxFiles) {
      return absl::InvalidArgumentError("reflection: the server's descriptors are more than 64 MiB or 10,000 files");
    }
    google::protobuf::FileDescriptorProto file;
    if (!file.ParseFromString(text)) {
      return absl::InvalidArgumentError("reflection: the server sent bytes that are no descriptor");
    }
    if (!have.insert(file.name()).second) continue;
    wanted.insert(wanted.end(), file.dependency().begin(), file.dependency().end());
    files.push_back(std::move(file));
  }
  return absl::OkStatus();
}

// The file with the service and all that it imports. Servers may send those along, or wait until they are asked.
absl::StatusOr<std::shared_ptr<const Descriptors>> Fetch(Conversation& server, const std::string& service) {
  Descriptors::Files files;
  std::set<std::string> have;
  std::deque<std::string> wanted;
  size_t bytes = 0;
  ReflectionRequest request;
  request.set_file_containing_symbol(service);
  for (;;) {
    ReflectionResponse response;
    if (!server.Ask(request, response)) return server.Why();
    if (response.has_error_response()) {
      if (files.empty()) return NoSuchServiceOf(server, service);
      // Files that every program has are not always told; what is really lacking is said when they are put together.
      have.insert(request.file_by_filename());
    } else if (const absl::Status taken = TakeFiles(response, files, have, wanted, bytes); !taken.ok()) {
      return taken;
    }
    while (!wanted.empty() && have.count(wanted.front()) > 0) wanted.pop_front();
    if (wanted.empty()) return Descriptors::FromFiles(files);
    if (request.file_by_filename() == wanted.front()) have.insert(wanted.front());  // it sent something else
    request.set_file_by_filename(wanted.front());
    wanted.pop_front();
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Descriptors>> ReflectService(const RunConfig& config, const std::string& service) {
  const std::string target = config.targets.front().ToString();
  grpc::ChannelArguments arguments = ChannelArguments(config);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // 1.51.1 aborts on trailers without a status
  const auto channel = grpc::CreateCustomChannel(target, ClientCredentials(config.security), arguments);
  const Nanos deadline = NowNs() + config.connect_timeout_ns;
  for (const absl::string_view version : {"v1", "v1alpha"}) {
    Conversation server(channel, config, version, deadline);
    auto descriptors = Fetch(server, service);
    if (!absl::IsUnimplemented(descriptors.status())) return descriptors;
  }
  return absl::UnimplementedError(
      absl::StrCat("the server on ", target, " has no reflection: describe the method with --proto or --protoset"));
}

}  // namespace cqbench
