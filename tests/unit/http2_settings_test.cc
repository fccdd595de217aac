// A server's first frame, from memory: settings as announced, bytes that no server should send, and too few of them.
#include "src/base/http2_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

std::string BigEndian(uint32_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
  return text;
}

std::string Frame(uint32_t length, uint32_t type, uint32_t flags, uint32_t stream, const std::string& payload = "") {
  return absl::StrCat(BigEndian(length, 3), BigEndian(type, 1), BigEndian(flags, 1), BigEndian(stream, 4), payload);
}

std::string Entry(uint32_t identifier, uint32_t value) {
  return absl::StrCat(BigEndian(identifier, 2), BigEndian(value, 4));
}

std::string SettingsFrame(const std::string& entries) {
  return Frame(static_cast<uint32_t>(entries.size()), 4, 0, 0, entries);
}

Http2Settings Announced(const std::string& entries) {
  const auto settings = ReadFirstSettings(SettingsFrame(entries));
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.value_or(std::nullopt).value_or(Http2Settings());
}

std::string Refused(const std::string& bytes) {
  const auto settings = ReadFirstSettings(bytes);
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument) << settings.status();
  return std::string(settings.status().message());
}

TEST(Http2Settings, AreAsAnnounced) {
  EXPECT_EQ(Announced(Entry(3, 2) + Entry(4, 65'536) + Entry(5, 16'384) + Entry(6, 8'192)),
            (Http2Settings{2, 65'536, 16'384, 8'192}));
  EXPECT_EQ(Announced(Entry(3, 0)), (Http2Settings{0, {}, {}, {}})) << "no call at all";
  EXPECT_EQ(Announced(Entry(3, UINT32_MAX) + Entry(4, 0x7fffffff) + Entry(5, 0xffffff) + Entry(6, UINT32_MAX)),
            (Http2Settings{UINT32_MAX, 0x7fffffff, 0xffffff, UINT32_MAX}));
}

TEST(Http2Settings, WithoutEntriesNothingIsAnnounced) {
  EXPECT_EQ(Announced(""), Http2Settings());
}

TEST(Http2Settings, OthersArePassedOverAndTheLastOneHolds) {
  EXPECT_EQ(Announced(Entry(1, 0) + Entry(2, 7) + Entry(0xfe03, 1) + Entry(3, 5) + Entry(0, 9) + Entry(3, 6)),
            (Http2Settings{6, {}, {}, {}}));
}

TEST(Http2Settings, TheReservedBitOfTheStreamMeansNothing) {
  EXPECT_TRUE(ReadFirstSettings(Frame(0, 4, 0, 0x80000000)).ok());
}

TEST(Http2Settings, TheLongestFrameIsTaken) {
  std::string entries;
  while (entries.size() + 6 <= kMaxFirstFrameBytes - kHttp2FrameHeaderBytes) entries += Entry(3, 8);
  EXPECT_EQ(Announced(entries), (Http2Settings{8, {}, {}, {}}));
}

// Bytes come in any pieces, and more than the frame may be there already.
TEST(Http2Settings, AreDecidedOnlyByTheirOwnBytes) {
  const std::string frame = SettingsFrame(Entry(3, 2) + Entry(4, 70'000));
  for (size_t n = 0; n < frame.size(); ++n) {
    const auto settings = ReadFirstSettings(frame.substr(0, n));
    ASSERT_TRUE(settings.ok()) << n;
    EXPECT_FALSE(settings->has_value()) << n;
  }
  const auto settings = ReadFirstSettings(frame + Frame(4, 8, 0, 0, "xxxx") + "rubbish");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(*settings, (Http2Settings{2, 70'000, {}, {}}));
}

TEST(Http2Settings, OtherFirstFramesAreRefused) {
  EXPECT_THAT(Refused("HTTP/1.1 400 Bad Request\r\n"), HasSubstr("responds with HTTP/1"));
  EXPECT_THAT(Refused(Frame(0, 0, 0, 1)), HasSubstr("its first frame has type 0"));
  EXPECT_THAT(Refused(Frame(8, 7, 0, 0, std::string(8, '\0'))), HasSubstr("its first frame has type 7"));
  EXPECT_THAT(Refused(std::string(9, '\xff')), HasSubstr("its first frame has type 255"));
  EXPECT_THAT(Refused(Frame(0, 4, 1, 0)), HasSubstr("is an acknowledgement"));
  EXPECT_THAT(Refused(Frame(0, 4, 0, 3)), HasSubstr("is on stream 3"));
}

// The header alone decides: nothing is read or kept of a frame that is too large.
TEST(Http2Settings, LengthsThatCannotBeAreRefused) {
  for (const uint32_t length : {1u, 5u, 7u, 16'383u}) {
    EXPECT_THAT(Refused(Frame(length, 4, 0, 0)), HasSubstr(absl::StrCat("has ", length, " bytes; a multiple of 6")));
  }
  for (const uint32_t length : {16'386u, 0xffffffu}) {
    EXPECT_THAT(Refused(Frame(length, 4, 0, 0)), HasSubstr(absl::StrCat("has ", length, " bytes; at most 16384")));
  }
}

TEST(Http2Settings, ValuesThatCannotBeAreRefused) {
  EXPECT_THAT(Refused(SettingsFrame(Entry(4, 0x80000000))), HasSubstr("initial window is 2147483648 bytes"));
  EXPECT_THAT(Refused(SettingsFrame(Entry(5, 16'383))), HasSubstr("maximum frame size is 16383 bytes"));
  EXPECT_THAT(Refused(SettingsFrame(Entry(5, 0x1000000))), HasSubstr("maximum frame size is 16777216 bytes"));
}

TEST(Http2Settings, WhatTheClientSendsAreWholeFrames) {
  EXPECT_EQ(Http2Hello(), absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Frame(0, 4, 0, 0)));
  EXPECT_EQ(Http2Goodbye(), absl::StrCat(Frame(0, 4, 1, 0), Frame(8, 7, 0, 0, std::string(8, '\0'))));
}

}  // namespace
}  // namespace cqbench
