// Both protocols against bytes that are nearly right: the seeds, cut, changed, mixed and repeated. The tests check that
// nothing crashes (a sanitizer build sees more), that output stays bounded, that every handled request ends, and that
// an open connection still serves.
//
// CQBENCH_FUZZ_INPUTS: how many inputs each test tries (default 2000).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/http2_bytes.h"
#include "tests/unit/http_memory.h"

namespace cqbench {
namespace {

using Random = std::mt19937;

int Inputs() {
  const char* wanted = std::getenv("CQBENCH_FUZZ_INPUTS");
  return wanted != nullptr ? std::atoi(wanted) : 2000;
}

size_t Below(Random& random, size_t n) {
  return n == 0 ? 0 : random() % n;
}

// Pieces from which inputs are mixed.
using Seeds = std::vector<std::string>;

Seeds Http1Seeds() {
  return {"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n",
          "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
          "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
          "POST /p HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
          "5;a=\"b\"\r\nhello\r\n",
          "0\r\nTrailer: x\r\n\r\n",
          "\r\n",
          " \t",
          "Content-Length: 7\r\n",
          "Transfer-Encoding: chunked\r\n",
          "Connection: close, upgrade, ,\r\n",
          "ffffffffffffffff",
          std::string(3, '\0'),
          std::string(700, 'a')};
}

Seeds Http2Seeds() {
  const std::string get = RequestFields("GET", "/");
  return {Frame(kSettings, 0, 0),
          Frame(kSettings, 0, 0, std::string("\0\x04\0\0\0\x05", 6)),
          Frame(kHeaders, kEndHeaders | kEndStream, 1, get),
          Frame(kHeaders, kEndHeaders, 3, RequestFields("POST", "/x") + Field("content-length", "5")),
          Frame(kData, kEndStream, 3, "hello"),
          Frame(kHeaders, 0, 5, get),
          Frame(kMore, kEndHeaders, 5, Field("x", "y")),
          Frame(kHeaders, kEndHeaders | kEndStream, 7, "\x82\x86\x84\x41\x01x"),
          Frame(kHeaders, kEndHeaders | kEndStream, 9, RequestFields("HEAD", "/")),
          Frame(kReset, 0, 3, Number(8)),
          Frame(kPing, 0, 0, "12345678"),
          Frame(kWindow, 0, 0, Number(70'000)),
          Frame(kWindow, 0, 1, Number(1)),
          Frame(2, 0, 3, std::string("\0\0\0\x01\x10", 5)),
          Frame(7, 0, 0, Number(0) + Number(0)),
          Frame(kHeaders, kEndHeaders, 11, RequestFields("PUT", "/") + Field("expect", "100-continue"))};
}

void Change(Random& random, std::string& bytes) {
  for (size_t changes = Below(random, 4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = Below(random, bytes.size());
    const size_t length = Below(random, 8);
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(Below(random, bytes.size()), length));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
    }
  }
}

std::string Input(Random& random, const Seeds& seeds) {
  std::string bytes;
  for (size_t pieces = 1 + Below(random, 8); pieces > 0; --pieces) bytes += seeds[Below(random, seeds.size())];
  Change(random, bytes);
  return bytes;
}

// Responds at once, later, in pieces, or not at all.
class Answers {
 public:
  explicit Answers(Random& random) : random_(random) {}
  void operator()(const HttpRequest& request, HttpReply reply) {
    checksum_ += request.body.size() + request.target.size() + (request.body.empty() ? 0u : request.body.back() & 1u);
    switch (random_() % 4) {
      case 0:
        return reply.Send(200, request.content_type, request.body);
      case 1:
        return held_.push_back(std::move(reply));
      case 2:
        streams_.push_back(reply.Begin(200, ""));
        streams_.back().Write("some");
        return;
      default:
        return;
    }
  }
  void GoOn() {
    for (HttpReply& reply : held_) reply.Send(200, "", "late");
    for (HttpStream& stream : streams_) {
      stream.Write("more");
      random_() % 2 == 0 ? stream.End() : stream.Break();
    }
    held_.clear();
    streams_.clear();
  }

 private:
  Random& random_;
  size_t checksum_ = 0;
  std::deque<HttpReply> held_;
  std::deque<HttpStream> streams_;
};

HttpOptions FuzzLimits() {
  HttpOptions options;
  options.max_header_bytes = 512;
  options.max_body_bytes = 1000;
  options.max_streams = 4;
  return options;
}

// Feeds one input in random pieces, mixed with responses and the end of the client. Returns how many requests were
// handled.
size_t TryOne(Random& random, const std::string& bytes) {
  Answers answers(random);
  MemoryConnection connection(FuzzLimits());
  connection.handle = [&answers](const HttpRequest& request, HttpReply reply) { answers(request, std::move(reply)); };
  size_t written = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t piece = 1 + Below(random, random() % 2 == 0 ? 8 : bytes.size());
    connection.Feed(std::string_view(bytes).substr(at, piece));
    at += piece;
    if (random() % 4 == 0) answers.GoOn();
    if (random() % 4 == 0) connection.Deliver();
    if (random() % 16 == 0) connection.Disconnect();
    written += connection.Take().size();
  }
  answers.GoOn();
  connection.Deliver();
  written += connection.Take().size();
  EXPECT_LT(written, 1'000'000u);
  return connection.seen.size();
}

void Try(const Seeds& seeds, const std::string& before) {
  size_t handled = 0;
  for (int i = 0; i < Inputs(); ++i) {
    Random random(static_cast<Random::result_type>(i));
    const std::string bytes = before + Input(random, seeds);
    SCOPED_TRACE(testing::Message() << "input " << i << ": " << testing::PrintToString(bytes));
    handled += TryOne(random, bytes);
    if (testing::Test::HasFailure()) return;
  }
  // The inputs are not nearly right if the server handles fewer.
  EXPECT_GT(handled, static_cast<size_t>(Inputs()) / 10);
}

TEST(HttpFuzz, Http1) {
  Try(Http1Seeds(), "");
}

TEST(HttpFuzz, Http2) {
  Try(Http2Seeds(), Start());
}

TEST(HttpFuzz, AnyBytes) {
  for (int i = 0; i < Inputs(); ++i) {
    Random random(static_cast<Random::result_type>(i));
    std::string bytes(Below(random, 300), '\0');
    std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<char>(random()); });
    const char* const before[] = {"", "GET ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
    TryOne(random, before[i % 3] + bytes);
  }
}

}  // namespace
}  // namespace cqbench
