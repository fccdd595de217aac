// Properties of an RPC other than its messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/base/enum_names.h"

namespace cqbench {

enum class Shape { kUnary, kClientStreaming, kServerStreaming, kBidi };
constexpr auto NamesOf(Shape) {
  return std::to_array<EnumName<Shape>>({{Shape::kUnary, "unary"},
                                         {Shape::kClientStreaming, "client-streaming"},
                                         {Shape::kServerStreaming, "server-streaming"},
                                         {Shape::kBidi, "bidi"}});
}

// The unit of schedule and latency is the whole call with unary, client- and server-streaming methods. With bidi
// methods it is a message and its response on a stream that stays open.
struct MethodInfo {
  static constexpr int kNotOurs = -1;
  int id = 0;            // its place in the list of all methods (src/workload/methods/methods.h); kNotOurs: in none
  std::string workload;  // "ping": the set of methods that it belongs to
  std::string name;      // "unary": within its workload; part of a series' name
  std::string path;      // "/Ydb.Debug.V1.DebugService/PingPlainGrpc"
  Shape shape = Shape::kUnary;
  bool has_payload = false;  // takes --payload, and --request-bytes and --response-bytes unless it streams chunks
  bool has_content = false;  // takes --content
  // Defaults of --chunk-bytes and --chunks; 0: it streams no chunks.
  uint32_t chunk_bytes = 0;
  uint32_t chunks = 0;

  bool streams_chunks() const { return chunks > 0; }
};

// Every method of every workload, a workload's first one first. Defined in the method library.
const std::vector<MethodInfo>& AllMethodInfos();
// nullptr when there is none.
const MethodInfo* FindMethod(absl::string_view workload, absl::string_view name);

}  // namespace cqbench
