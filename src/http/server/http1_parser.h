// The grammar of HTTP/1: a request's head, and chunked bodies. Boost.Beast's parser, and what is stricter than it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cqbench {

// Views point into the parsed bytes; a target that is not there as it is to be used, into the parser.
struct Http1Head {
  std::string_view method;
  std::string_view target;  // in origin form wherever the request's is in absolute form
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view accept;
  std::optional<uint64_t> content_length;
  bool chunked = false;
  bool http11 = false;
  bool keep_alive = false;
  bool expects_continue = false;
  bool expects_else = false;  // what we do not know
};

class Http1Parser {
 public:
  Http1Parser();
  Http1Parser(const Http1Parser&) = delete;
  Http1Parser& operator=(const Http1Parser&) = delete;
  ~Http1Parser();

  // `head` is a whole head, its empty line included, every line ended by CRLF. 0, or the status that refuses it; a
  // refused head ends the connection, since nobody can tell where the next one would begin.
  int ParseHead(std::string_view head, Http1Head* into);

  struct Chunks {
    size_t used = 0;
    int refused_with = 0;  // a status, or 0
    bool done = false;
  };
  // After the head of a chunked request. Appends to `body` what the bytes have of it; those that are not used come
  // again with more behind them.
  Chunks ParseChunks(std::string_view bytes, size_t max_body_bytes, std::string* body);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace cqbench
