// From a request's method and path to a binding: a trie of path segments for each HTTP method. Immutable once it is
// built.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/http/routes/http_rule.h"

namespace cqbench::transcoding {

// The texts that the variables of a binding's path captured, in their order: views of the request's path, still
// encoded.
using Captures = absl::InlinedVector<absl::string_view, 4>;

enum class Found {
  kYes,
  kNoPath,       // no method has the path: 404
  kOtherMethod,  // another HTTP method has the path: 405
  kOtherMedia,   // the body's media type is not JSON: 415
  kOtherCoding,  // the body is compressed: 415
};

// At each segment a literal goes before '*' and that before '**'; what leads nowhere is gone back from, so a path that
// any rule matches is found. Of several '**' in one place, the one with the most segments after it goes first. A search
// sees each node of the trie at most once, however long the path is. With a ':' in the last segment, rules with that
// verb go first; then it is text like other. A segment of no characters matches nothing but a part of '**'. '.' and
// '..' are text.
class RouteTable {
 public:
  // INVALID_ARGUMENT: another rule has the same paths. `binding` must not be used before all are added.
  absl::Status Add(Binding binding);

  Found Find(absl::string_view http_method, absl::string_view path, const Binding*& binding, Captures& captures) const;

  // The methods that a path has.
  std::vector<absl::string_view> MethodsOf(absl::string_view path) const;

 private:
  friend class RouteSearch;

  struct Leaf {
    std::string verb;  // empty: none
    const Binding* binding;
  };
  // A '**' with that number of segments after it, whose trie begins at `node`.
  struct Tail {
    size_t length;
    uint32_t node;
  };
  struct Node {
    absl::flat_hash_map<std::string, uint32_t> literals;
    uint32_t one = 0;         // the node behind '*'; 0: there is none
    std::vector<Leaf> here;   // paths that end here
    std::vector<Leaf> rest;   // paths that end with '**' here
    std::vector<Tail> tails;  // the longest first
  };
  struct Trie {
    std::string http_method;
    std::vector<Node> nodes = std::vector<Node>(1);  // [0] is the root
    absl::flat_hash_set<std::string> verbs;
  };

  // The node after a segment, which is made if there is none. `after`: how many segments follow that segment.
  static uint32_t NodeAfter(Trie& trie, uint32_t at, const TemplateSegment& segment, size_t after);
  bool FindIn(const Trie& trie, absl::string_view path, const Binding*& binding, Captures& captures) const;

  std::vector<Trie> tries_;  // one for each HTTP method, few; "*" is the last one tried
  std::deque<Binding> bindings_;
};

}  // namespace cqbench::transcoding
