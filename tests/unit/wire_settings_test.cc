// Settings of gRPC other than messages: valid text is read, and invalid text is refused with what is accepted.
#include "src/config/wire_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cqbench {
namespace {

using testing::HasSubstr;

TEST(Compression, IsTheChannelsOrTheCalls) {
  for (const char* text : {"none", "deflate", "gzip", "call:deflate", "call:gzip"}) {
    const auto compression = ParseClientCompression(text);
    ASSERT_TRUE(compression.ok()) << compression.status();
    EXPECT_EQ(ToString(*compression), text);
  }
  EXPECT_EQ(*ParseClientCompression("call:gzip"), (ClientCompression{Compression::kGzip, true}));
  for (const char* text : {"", "zstd", "call:", "call:none", "GZIP", "gzip "}) {
    EXPECT_THAT(std::string(ParseClientCompression(text).status().message()), HasSubstr("call:gzip")) << text;
  }
}

TEST(GeneratedMetadata, IsEntriesTimesBytes) {
  EXPECT_EQ(*ParseGeneratedMetadata("8x64"), (GeneratedMetadata{8, 64, false, false}));
  EXPECT_EQ(*ParseGeneratedMetadata("8×64"), *ParseGeneratedMetadata("8x64"));
  EXPECT_EQ(*ParseGeneratedMetadata("1x1KiB:bin"), (GeneratedMetadata{1, 1024, true, false}));
  EXPECT_EQ(*ParseGeneratedMetadata("2x3:changing,bin"), (GeneratedMetadata{2, 3, true, true}));
  for (const char* text : {"8x64", "1x1:bin", "1000x65536:changing", "2x3:bin,changing"}) {
    EXPECT_EQ(ToString(*ParseGeneratedMetadata(text)), text);
  }
  EXPECT_EQ(ToString(GeneratedMetadata()), "");
}

TEST(GeneratedMetadata, OtherTextIsRefusedWithWhatIsAccepted) {
  for (const char* text : {"", "8", "x", "8x", "x64", "8*64", "0x64", "8x0", "1001x1", "1x65537", "-1x8",
                           "8x64:", "8x64:binary", "8x64:bin,bin", "8x64:bin,",

                           "8\xC3",
                           "8\xC3\x98"
                           "64",
                           "{\"k\": \"v\"}", "8xx64"}) {
    EXPECT_THAT(std::string(ParseGeneratedMetadata(text).status().message()),
                testing::AllOf(HasSubstr(text), HasSubstr("8x64:bin"), HasSubstr("--header")));
  }
}

// RFC 7541, 4.1: the size of an entry is name, value, and 32 bytes.
TEST(GeneratedMetadata, IsCountedAsHttp2Does) {
  EXPECT_EQ(HeaderListBytes({}), 0u);
  EXPECT_EQ(HeaderListBytes({1, 64, false, false}), 9u + 64 + 32);
  EXPECT_EQ(HeaderListBytes({11, 64, true, false}), 10 * (13u + 64 + 32) + (14 + 64 + 32));
}

TEST(Keepalive, IsATimeAndPerhapsATimeout) {
  EXPECT_EQ(ParseKeepalive("10s")->time_ms, 10'000);
  EXPECT_EQ(ParseKeepalive("10s")->timeout_ms, 0);
  EXPECT_EQ(ParseKeepalive("1ms,250ms")->time_ms, 1);
  EXPECT_EQ(ParseKeepalive("1ms,250ms")->timeout_ms, 250);
  EXPECT_EQ(ParseKeepalive("0.5,2")->timeout_ms, 2000);
  for (const char* text : {"", "0", "999us", "10s,", ",1s", "10s,0", "25h", "x", "1s,2s,3s", "-1s"}) {
    EXPECT_THAT(std::string(ParseKeepalive(text).status().message()), HasSubstr("1ms to 24h")) << text;
  }
}

}  // namespace
}  // namespace cqbench
