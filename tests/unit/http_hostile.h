// Input of hostile clients, for tests from memory and over sockets.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/http2_bytes.h"

namespace cqbench {

// Requests over HTTP/1: the server responds with that status and ends the connection. The limits are 512 bytes of head
// and 1000 of body.
struct Refused {
  const char* what;
  std::string bytes;
  int status;
};

inline std::string Head(const std::string& fields) {
  return "POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

inline std::vector<Refused> Hostile() {
  const std::string chunked = Head("Transfer-Encoding: chunked\r\n");
  std::vector<Refused> cases = {
      {"length and coding", Head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400},
      {"coding and length", Head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n", 400},
      {"two lengths", Head("Content-Length: 5\r\nContent-Length: 6\r\n"), 400},
      {"two equal lengths", Head("Content-Length: 5\r\nContent-Length: 5\r\n") + "hello", 400},
      {"a list of lengths", Head("Content-Length: 5, 5\r\n") + "hello", 400},
      {"a signed length", Head("Content-Length: +5\r\n"), 400},
      {"a negative length", Head("Content-Length: -5\r\n"), 400},
      {"an empty length", Head("Content-Length: \r\n"), 400},
      {"a length in hexadecimal", Head("Content-Length: 0x5\r\n"), 400},
      {"a length above 64 bits", Head("Content-Length: 99999999999999999999999\r\n"), 400},
      {"a large length", Head("Content-Length: 1001\r\n"), 413},
      {"a huge length", Head("Content-Length: 18446744073709551615\r\n"), 413},
      {"two codings", Head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"chunked twice", Head("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {"an unknown coding", Head("Transfer-Encoding: gzip\r\n"), 501},
      {"unknown, then chunked", Head("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"a coding that looks like chunked", Head("Transfer-Encoding: xchunked\r\n"), 501},
      {"a coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"space before the colon", Head("Content-Length : 5\r\n") + "hello", 400},
      {"a continued line", Head("X: a\r\n b\r\n"), 400},
      {"a continued coding", Head("Transfer-Encoding:\r\n chunked\r\n"), 400},
      {"bare LF", "GET / HTTP/1.1\nHost: x\n\n", 400},
      {"bare LF in a field", Head("X: a\nContent-Length: 5\r\n"), 400},
      {"bare CR in a field", Head("X: a\rContent-Length: 5\r\n"), 400},
      {"NUL in a field", Head(std::string("X: a\0b\r\n", 8)), 400},
      {"NUL in the target", std::string("GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 29), 400},
      {"space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"no target", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"no method", " / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"no version", "GET /\r\nHost: x\r\n\r\n", 400},
      {"version 2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 400},
      {"version 1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"no name", Head(": x\r\n"), 400},
      {"no colon", Head("x\r\n"), 400},
      {"two empty lines", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", 12), 400},
      {"nearly HTTP/2", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 400},
      {"an expectation that nobody knows", Head("Expect: tea\r\nContent-Length: 5\r\n"), 417},
      {"a long line", "GET /" + std::string(600, 'a'), 414},
      {"a long line with an end", "GET /" + std::string(600, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"a line and fields that are long together",
       "GET /" + std::string(300, 'a') + " HTTP/1.1\r\nHost: x\r\nX: " + std::string(300, 'a') + "\r\n\r\n", 431},
      {"a resource of a secured connection", "GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 421},
      {"a target without its host", "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a target with a query for its host", "GET http://?a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a long field", Head("X: " + std::string(600, 'a') + "\r\n"), 431},
      {"many fields", Head([] {
         std::string fields;
         for (int i = 0; i < 100; ++i) fields += "A: b\r\n";
         return fields;
       }()),
       431},
      {"a chunk size that is none", chunked + "x\r\n", 400},
      {"a negative chunk size", chunked + "-1\r\n", 400},
      {"a chunk size with a prefix", chunked + "0x5\r\nhello\r\n\r\n", 400},
      {"a chunk size above 64 bits", chunked + "fffffffffffffffff\r\n", 400},
      {"a large chunk", chunked + "3e9\r\n", 413},
      {"a huge chunk", chunked + "ffffffffffffffff\r\n", 413},
      {"many chunks", chunked + "1f4\r\n" + std::string(500, 'x') + "\r\n1f5\r\n", 413},
      {"a chunk that is longer than it says", chunked + "2\r\nhello\r\n", 400},
      {"bare LF behind a chunk size", chunked + "5\nhello\r\n0\r\n\r\n", 400},
      {"an endless chunk extension", chunked + "5;" + std::string(600, 'a'), 431},
      {"an endless trailer", chunked + "0\r\nX: " + std::string(600, 'a'), 431},
      {"a trailer that is none", chunked + "0\r\nx\r\n\r\n", 400},
  };
  return cases;
}

// Attacks over HTTP/2. Each ends the connection, or at least has no effect.
struct Attack {
  const char* what;
  std::string bytes;
  bool ends = true;
};

inline std::string Repeated(int times, const std::string& one) {
  std::string all;
  for (int i = 0; i < times; ++i) all += one;
  return all;
}

inline std::vector<Attack> Attacks() {
  const std::string fields = RequestFields("GET", "/");
  const std::string get = Frame(kHeaders, kEndHeaders | kEndStream, 1, fields);
  std::string rapid_reset;
  std::string made_to_reset;
  for (uint32_t id = 1; id < 600; id += 2) {  // fewer than nghttp2's own limit
    rapid_reset += Frame(kHeaders, kEndHeaders, id, fields) + Frame(kReset, 0, id, Number(8));
    made_to_reset += Frame(kHeaders, kEndHeaders, id, fields + Field("X-Y", "z"));
  }
  std::string large_headers = fields;
  for (int i = 0; i < 40; ++i) large_headers += Field("x", std::string(100, 'x'));
  return {
      {"no SETTINGS", std::string(kPreface) + get},
      {"a frame above the limit", Start() + std::string("\x00\x80\x00\x00\x00\x00\x00\x00\x01", 9)},
      {"an even stream", Start() + Frame(kHeaders, kEndHeaders | kEndStream, 2, fields)},
      {"DATA on no stream", Start() + Frame(kData, 0, 0, "x")},
      {"DATA on a stream that is not open", Start() + Frame(kData, 0, 1, "x")},
      {"HPACK that is none", Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, "\xff\xff\xff\xff\xff\xff")},
      {"a frame between HEADERS and CONTINUATION",
       Start() + Frame(kHeaders, 0, 1, fields) + Frame(kPing, 0, 0, "12345678")},
      {"CONTINUATION without HEADERS", Start() + Frame(kMore, kEndHeaders, 1, fields)},
      {"SETTINGS of a wrong length", Start() + Frame(kSettings, 0, 0, "abc")},
      {"a window above 31 bits", Start() + Frame(kSettings, 0, 0, std::string("\0\x04\xff\xff\xff\xff", 6))},
      {"a window that grows too large", Start() + Frame(kWindow, 0, 0, Number(0x7fffffff))},
      {"PING of a wrong length", Start() + Frame(kPing, 0, 0, "1234567")},
      {"rapid reset", Start() + rapid_reset},
      {"made to reset", Start() + made_to_reset},
      {"headers far above the limit", Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, large_headers)},
      {"CONTINUATION without an end",
       Start() + Frame(kHeaders, 0, 1, fields) + Repeated(2000, Frame(kMore, 0, 1, Field("x", "y")))},
      // Only one stream ends with an error.
      {"an upper-case name", Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, fields + Field("X-Y", "z")), false},
      {"a field of the connection",
       Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, fields + Field("transfer-encoding", "chunked")), false},
      {"NUL in a field",
       Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, fields + Field("x", std::string("a\0b", 3))), false},
      {"two paths", Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, fields + Field(":path", "/")), false},
      {"two lengths",
       Start() + Frame(kHeaders, kEndHeaders, 1, fields + Field("content-length", "1") + Field("content-length", "2")),
       false},
      {"fewer bytes than announced",
       Start() + Frame(kHeaders, kEndHeaders, 1, fields + Field("content-length", "5")) +
           Frame(kData, kEndStream, 1, "1234"),
       false},
      {"more bytes than announced",
       Start() + Frame(kHeaders, kEndHeaders, 1, fields + Field("content-length", "3")) +
           Frame(kData, kEndStream, 1, "1234"),
       false},
      {"no path", Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, Field(":method", "GET")), false},
      {"CONNECT",
       Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, Field(":method", "CONNECT") + Field(":authority", "x")),
       false},
  };
}

}  // namespace cqbench
