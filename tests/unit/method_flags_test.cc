// Flags of the method to call and of its messages.
#include "src/cli/client/method_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/client_line.h"

namespace cqbench {
namespace {

TEST(MethodFlags, MethodIsTheWorkloadsFirstUnlessNamed) {
  EXPECT_EQ(Options("").run.method.name, "unary");
  EXPECT_EQ(Options("--workload echo").run.method.path, "/cqbench.v1.EchoService/Echo");
  for (const MethodInfo& method : AllMethodInfos()) {
    const RunConfig run = Options(absl::StrCat("--workload ", method.workload, " --method ", method.name)).run;
    EXPECT_EQ(run.method.id, method.id);
    EXPECT_EQ(run.method.path, method.path);
  }
}

TEST(MethodFlags, StreamingIsAMethodOfEachWorkload) {
  EXPECT_EQ(Options("--streaming").run.method.shape, Shape::kBidi);
  EXPECT_EQ(Options("--streaming").run.method.workload, "ping");
  EXPECT_EQ(Options("--streaming --workload echo").run.method.workload, "echo");
}

TEST(MethodFlags, UnknownMethodsListTheKnownOnes) {
  Refused(Split("--method pong"), {"--method", "'pong'", "ping", "unary, streaming"});
  Refused(Split("--workload echo --method pong"), {"--method", "'pong'", "echo", "unary, streaming, upload, download"});
  Refused(Split("--method upload"), {"--method", "'upload'", "ping"});
  Refused({"--method", ""}, {"--method", "unary"});
  RefusedValues("--workload", {"pong"});
  Refused(Split("--streaming --method unary"), {"--streaming", "--method"});
}

TEST(MethodFlags, StreamMessagesAreOfStreamsOneWay) {
  EXPECT_EQ(Options("--workload echo --method upload").run.message.stream_messages, 16);
  EXPECT_EQ(Options("--workload echo --method upload --stream-messages 1").run.message.stream_messages, 1);
  EXPECT_EQ(Options("--workload echo --method download --stream-messages 1000000").run.message.stream_messages,
            1'000'000);
  RefusedValues("--stream-messages", {"0", "-1", "1000001", "few"}, {"--workload", "echo", "--method", "upload"});
  Refused(Split("--stream-messages 4"), {"--stream-messages", "ping/unary is unary"});
  Refused(Split("--stream-messages 4 --workload echo --streaming"), {"--stream-messages", "echo/streaming is bidi"});
}

TEST(MethodFlags, Messages) {
  for (const char* strategy : {"fresh", "reused", "arena"}) {
    const RunConfig run = Options(absl::StrCat("--messages ", strategy)).run;
    EXPECT_EQ(ToString(run.messages), strategy);
    EXPECT_EQ(run.stub, StubKind::kGenerated);
  }
  RefusedValues("--messages", {"pooled", "Fresh", "fres", ""});
}

TEST(MethodFlags, BytesGoThroughTheGenericStub) {
  for (const char* line : {"--messages bytes", "--messages bytes --stub generic"}) {
    const RunConfig run = Options(line).run;
    EXPECT_EQ(run.messages, MessageStrategy::kBytes);
    EXPECT_EQ(run.stub, StubKind::kGeneric);
  }
  Refused(Split("--messages bytes --stub generated"), {"--stub", "generated", "--messages bytes"});
}

TEST(MethodFlags, PooledGoesThroughTheGenericStub) {
  EXPECT_EQ(Options("").run.serializer, Serializer::kProtobuf);
  for (const char* line :
       {"--serializer buffer-reusing", "--serializer buffer-reusing --stub generic --messages fresh"}) {
    const RunConfig run = Options(line).run;
    EXPECT_EQ(run.serializer, Serializer::kReusingBuffers);
    EXPECT_EQ(run.stub, StubKind::kGeneric);
  }
  Refused(Split("--serializer buffer-reusing --stub generated"),
          {"--stub", "generated", "--serializer buffer-reusing"});
  Refused(Split("--serializer buffer-reusing --messages bytes"), {"--serializer", "--messages bytes"});
  RefusedValues("--serializer", {"bytes", "Pooled", ""});
}

TEST(MethodFlags, Stubs) {
  EXPECT_EQ(Options("--stub generic").run.stub, StubKind::kGeneric);
  EXPECT_EQ(Options("--stub generic").run.messages, MessageStrategy::kReused);
  RefusedValues("--stub", {"dynamic"});
}

TEST(MethodFlags, EchoHasPayloads) {
  const MessageConfig message = Options("--workload echo --request-bytes 100 --response-bytes 67108864").run.message;
  EXPECT_EQ(message.request_bytes, 100u);
  EXPECT_EQ(message.response_bytes, kMaxPayloadBytes);
  EXPECT_EQ(message.payload, PayloadKind::kZero);
  EXPECT_EQ(Options("--workload echo --request-bytes 4KiB").run.message.request_bytes, 4096u);
  RefusedValues("--request-bytes", {"-1", "67108865", "65MiB", "1k", "1.5KiB", "KiB", "0x10"}, {"--workload", "echo"});
  RefusedValues("--response-bytes", {"-1", "67108865", "99999999999999999999"}, {"--workload", "echo"});
}

TEST(MethodFlags, PayloadsAreDrawnFromASeed) {
  EXPECT_EQ(Options("--workload echo --payload text").run.message.payload, PayloadKind::kText);
  const MessageConfig message =
      Options("--workload echo --payload random --payload-seed 18446744073709551615").run.message;
  EXPECT_EQ(message.payload, PayloadKind::kRandom);
  EXPECT_EQ(message.payload_seed, UINT64_MAX);
  EXPECT_EQ(Options("--workload echo --payload entropy:4.5 --payload-seed 2").run.message.payload,
            PayloadContent(PayloadKind::kEntropy, 45));
  RefusedValues("--payload", {"lorem", "entropy", "entropy:9"}, {"--workload", "echo"});
  RefusedValues("--payload-seed", {"-1", "x", "18446744073709551616"}, {"--workload", "echo", "--payload", "text"});
  Refused(Split("--workload echo --payload-seed 7"), {"--payload-seed", "--payload text"});
}

TEST(MethodFlags, FlexHasContents) {
  EXPECT_EQ(Options("--workload flex").run.message.content, Content::kEmpty);
  EXPECT_EQ(Options("--workload flex --content complex").run.message.content, Content::kComplex);
  RefusedValues("--content", {"full"}, {"--workload", "flex"});
}

TEST(MethodFlags, PingHasNoPayload) {
  Refused(Split("--request-bytes 1"), {"--request-bytes", "--workload echo", "ping/unary"});
  Refused(Split("--response-bytes 1 --workload ping"), {"--response-bytes", "echo"});
  Refused(Split("--payload text --streaming"), {"--payload", "ping/streaming"});
  Refused(Split("--payload-seed 1"), {"--payload-seed", "echo"});
  Refused(Split("--content complex --workload echo"), {"--content", "--workload flex", "echo/unary"});
}

TEST(MethodFlags, ChunksAreTheMessagesOfTheOneWay) {
  MessageConfig put = Options("--workload blob").run.message, get = Options("--workload blob --method get").run.message;
  EXPECT_EQ(put.request_bytes, 16u << 10);
  EXPECT_EQ(put.response_bytes, 0u);
  EXPECT_EQ(get.request_bytes, 0u);
  EXPECT_EQ(get.response_bytes, 16u << 10);
  EXPECT_EQ(put.stream_messages, 1024);
  put = Options("--workload blob --chunk-bytes 1MiB --chunks 7").run.message;
  EXPECT_EQ(put.request_bytes, 1u << 20);
  EXPECT_EQ(put.stream_messages, 7);
  EXPECT_EQ(Options("--workload echo --method upload").run.message.stream_messages, 16) << "of others as before";
}

TEST(MethodFlags, ChunkErrors) {
  RefusedValues("--chunks", {"0", "-1", "1000001", "few"}, {"--workload", "blob"});
  RefusedValues("--chunk-bytes", {"-1", "65MiB", "16k"}, {"--workload", "blob"});
  Refused(Split("--chunks 5"), {"--chunks", "--workload blob", "ping/unary"});
  Refused(Split("--chunk-bytes 5 --workload echo"), {"--chunk-bytes", "--workload blob", "echo/unary"});
  Refused(Split("--request-bytes 5 --workload blob"), {"--request-bytes", "blob/put", "--chunk-bytes"});
  Refused(Split("--response-bytes 5 --workload blob"), {"--response-bytes", "--chunk-bytes"});
  Refused(Split("--stream-messages 5 --workload blob"), {"--stream-messages", "--chunks"});
  Refused(Split("--payload random --payload-seed 5 --workload blob --method get"), {"--payload-seed", "blob/get"});
}

TEST(MethodFlags, WriteHints) {
  EXPECT_EQ(Options("--workload blob").run.write_hint, WriteHint::kNone);
  EXPECT_EQ(Options("--workload blob --write-hint buffer").run.write_hint, WriteHint::kBuffer);
  EXPECT_EQ(Options("--workload echo --method upload --write-hint corked").run.write_hint, WriteHint::kCorked);
  RefusedValues("--write-hint", {"cork", ""}, {"--workload", "blob"});
  Refused(Split("--write-hint buffer"), {"--write-hint", "client-streaming", "ping/unary"});
  Refused(Split("--workload blob --method get --write-hint buffer"), {"--write-hint", "blob/get", "server"});
}

}  // namespace
}  // namespace cqbench
