#include "src/cli/client/method_flags.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cqbench/method_info.h"
#include "src/config/units.h"

namespace cqbench {
namespace {

std::vector<std::string> Workloads() {
  std::vector<std::string> names;
  for (const MethodInfo& method : AllMethodInfos()) {
    if (std::find(names.begin(), names.end(), method.workload) == names.end()) names.push_back(method.workload);
  }
  return names;
}

std::vector<std::string> MethodsOf(const std::string& workload) {
  std::vector<std::string> names;
  for (const MethodInfo& method : AllMethodInfos()) {
    if (method.workload == workload) names.push_back(method.name);
  }
  return names;
}

CLI::Option* AddSize(CLI::App& app, const std::string& flag, uint32_t& into, const std::string& help) {
  const auto parse = [](const std::string& text) { return ParseBytes(text, kMaxPayloadBytes); };
  return AddParsed(app, flag, into, parse, help)->type_name("BYTES")->default_str(absl::StrCat(into));
}

// Returns a default of the methods that stream chunks; they all have the same.
template <typename Get>
std::string Defaults(Get get) {
  for (const MethodInfo& method : AllMethodInfos()) {
    if (method.streams_chunks()) return absl::StrCat(get(method));
  }
  return "";
}

std::string FullName(const MethodInfo& method) {
  return absl::StrCat(method.workload, "/", method.name);
}

}  // namespace

MethodFlags::MethodFlags(CLI::App& app, RunConfig& run) : run_(run), workload_(Workloads().front()) {
  MessageConfig& message = run.message;
  workload_option_ = AddChoice(app, "--workload", workload_, Workloads(), "Set of methods to call.");
  method_option_ =
      app.add_option("--method", method_, "Method of the workload (default: its first).")->type_name("NAME");
  streaming_option_ = app.add_flag("--streaming", streaming_,
                                   "Same as --method streaming: ping-pong on one bidirectional stream per slot.");
  stream_messages_ = AddNumber(app, "--stream-messages", message.stream_messages, 1, kMaxStreamMessages,
                               "Messages of a client- or server-streaming call, which is timed as a whole.");
  messages_ = AddEnum(app, "--messages", run.messages,
                      "Message allocation: new per call, reused, on a reset arena, or unparsed bytes.");
  stub_ = AddEnum(app, "--stub", run.stub,
                  "Stub: generated code, or grpc::TemplatedGenericStub (for bytes and --serializer buffer-reusing).");
  serializer_ = AddEnum(app, "--serializer", run.serializer,
                        "Serializer: protobuf's, or one that reuses buffers (needs --stub generic).");
  request_bytes_ = AddSize(app, "--request-bytes", message.request_bytes,
                           "Payload of a request; a number of bytes, or with a unit: 4KiB.");
  response_bytes_ = AddSize(app, "--response-bytes", message.response_bytes, "Payload of a response.");
  chunk_bytes_ = AddSize(app, "--chunk-bytes", chunk_size_, "Payload of each chunk of --workload blob.")
                     ->default_str(Defaults([](const MethodInfo& m) { return m.chunk_bytes; }));
  chunks_ = AddNumber(app, "--chunks", chunk_count_, 1, kMaxStreamMessages, "Chunks of a stream of --workload blob.")
                ->default_str(Defaults([](const MethodInfo& m) { return m.chunks; }));
  AddEnum(app, "--write-hint", run.write_hint,
          "Write option of client streams: none, buffer hint, or buffer hint and corked headers.");
  payload_ = AddParsed(app, "--payload", message.payload, ParsePayloadContent,
                       "Payload of requests and responses: zeros, text, random, or BITS of entropy per byte.")
                 ->type_name("zero|text|random|entropy:BITS")
                 ->default_str(ToString(message.payload));
  payload_seed_ = AddNumber(app, "--payload-seed", message.payload_seed, uint64_t{0}, UINT64_MAX,
                            "Random seed of the request payload.")
                      ->type_name("SEED");
  content_ =
      AddEnum(app, "--content", message.content, "Fields of --workload flex messages: none, or nearly every kind.");
}

void MethodFlags::Resolve() {
  ResolveMethod();
  ResolveStub();
  ResolveChunks();
  ResolvePayload();
}

void MethodFlags::ResolveForCall(CallSpec& call) {
  Refuse("not together with --call, whose messages are the bytes of --data");
  call.counts_messages = stream_messages_->count() > 0;
  run_.messages = MessageStrategy::kBytes;
  run_.stub = StubKind::kGeneric;
}

void MethodFlags::ResolveForHttp() {
  for (const CLI::Option* option : {messages_, stub_, serializer_}) {
    NeedsGrpc(option, run_.api);
  }
  ResolveMethod();
  ResolveChunks();
  ResolvePayload();
}

void MethodFlags::ResolveForRequest() {
  Refuse("is for methods of --workload: not together with --http-request");
  for (const CLI::Option* option : {stream_messages_, serializer_}) {
    if (option->count() > 0)
      BadCombination(option->get_name(), "is for methods of --workload: not together with --http-request");
  }
}

void MethodFlags::Refuse(const std::string& why) const {
  for (const CLI::Option* option :
       {workload_option_, method_option_, streaming_option_, messages_, stub_, request_bytes_, response_bytes_,
        payload_, payload_seed_, chunk_bytes_, chunks_, content_}) {
    if (option->count() > 0) BadCombination(option->get_name(), why);
  }
}

void MethodFlags::ResolveMethod() {
  if (streaming_ && method_option_->count() > 0) BadCombination("--streaming", "not together with --method");
  if (streaming_) method_ = "streaming";
  const std::vector<std::string> known = MethodsOf(workload_);
  if (!streaming_ && method_option_->count() == 0) method_ = known.front();
  const MethodInfo* const found = FindMethod(workload_, method_);
  if (found == nullptr) {
    BadCombination(streaming_ ? "--streaming" : "--method",
                   absl::StrCat("'", method_, "' is no method of --workload ", workload_, ", which has ",
                                absl::StrJoin(known, ", ")));
  }
  run_.method = *found;
  const bool counts_messages = found->shape == Shape::kClientStreaming || found->shape == Shape::kServerStreaming;
  if (run_.write_hint != WriteHint::kNone && found->shape != Shape::kClientStreaming) {
    BadCombination("--write-hint", absl::StrCat("needs a client-streaming method; ", FullName(*found), " is ",
                                                ToString(found->shape), ", of which the server may have a hint"));
  }
  if (stream_messages_->count() > 0 && !counts_messages) {
    BadCombination("--stream-messages", absl::StrCat("needs a client- or server-streaming method; ", FullName(*found),
                                                     " is ", ToString(found->shape)));
  }
}

void MethodFlags::ResolveStub() {
  if (run_.messages == MessageStrategy::kBytes) {
    if (stub_->count() > 0 && run_.stub == StubKind::kGenerated) {
      BadCombination("--stub", "generated code takes protobuf messages, not --messages bytes");
    }
    if (serializer_->count() > 0) BadCombination("--serializer", "there is none for --messages bytes");
    run_.stub = StubKind::kGeneric;
  }
  if (run_.serializer == Serializer::kReusingBuffers) {
    if (stub_->count() > 0 && run_.stub == StubKind::kGenerated) {
      BadCombination("--stub", "generated code has protobuf's serializer, not --serializer buffer-reusing");
    }
    run_.stub = StubKind::kGeneric;
  }
}

// Chunks are the messages that go the one way: their size is the requests' or the responses', their number that of the
// messages of a call.
void MethodFlags::ResolveChunks() {
  const bool chunked = run_.method.streams_chunks();
  for (const auto& [option, instead] : {std::pair{request_bytes_, "--chunk-bytes"},
                                        {response_bytes_, "--chunk-bytes"},
                                        {stream_messages_, "--chunks"}}) {
    if (!chunked || option->count() == 0) continue;
    BadCombination(option->get_name(), absl::StrCat("is not for ", FullName(run_.method), ": use ", instead));
  }
  for (const CLI::Option* option : {chunk_bytes_, chunks_}) {
    if (chunked || option->count() == 0) continue;
    BadCombination(option->get_name(), absl::StrCat("needs a method that streams chunks, as --workload blob has: ",
                                                    FullName(run_.method), " does not"));
  }
  if (!chunked) return;
  const uint32_t size = chunk_bytes_->count() > 0 ? chunk_size_ : run_.method.chunk_bytes;
  MessageConfig& message = run_.message;
  (run_.method.shape == Shape::kClientStreaming ? message.request_bytes : message.response_bytes) = size;
  message.stream_messages = chunks_->count() > 0 ? chunk_count_ : static_cast<int>(run_.method.chunks);
}

void MethodFlags::ResolvePayload() {
  if (!run_.method.has_payload) {
    for (const CLI::Option* option : {request_bytes_, response_bytes_, payload_, payload_seed_}) {
      if (option->count() == 0) continue;
      BadCombination(option->get_name(), absl::StrCat("needs a method with a payload, as --workload echo has: ",
                                                      FullName(run_.method), " carries none"));
    }
  }
  if (content_->count() > 0 && !run_.method.has_content) {
    BadCombination("--content", absl::StrCat("needs a method with contents to choose from, as --workload flex has: ",
                                             FullName(run_.method), " has none"));
  }
  if (payload_seed_->count() > 0 && run_.method.streams_chunks() && run_.method.shape == Shape::kServerStreaming) {
    BadCombination("--payload-seed",
                   absl::StrCat("is for requests: the server makes the payload of ", FullName(run_.method)));
  }
  if (payload_seed_->count() > 0 && run_.message.payload.kind == PayloadKind::kZero) {
    BadCombination("--payload-seed", "needs --payload text, random or entropy: zeros are not drawn");
  }
}

}  // namespace cqbench
