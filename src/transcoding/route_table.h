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
#include "src/transcoding/http_rule.h"

namespace cqbench::transcoding {

// What each variable of a binding's path captured, in their order: views of the request's path, still encoded.
using Captures = absl::InlinedVector<absl::string_view, 4>;

enum class Found {
  kYes,
  kNoPath,       // no method has it: 404
  kOtherMethod,  // another HTTP method has it: 405, with what AllowedMethods() says
};

// At each segment a literal goes before '*' and that before '**'; what leads nowhere is gone back from, so a path that
// any rule matches is found. A search sees each node of the trie at most once, however long the path is. With a ':' in
// the last segment, rules with that verb go first; then it is text like other. A segment of no characters matches
// nothing but a part of '**'. '.' and '..' are text.
class RouteTable {
 public:
  // INVALID_ARGUMENT: another rule has the same paths. `binding` must not be used before all are added.
  absl::Status Add(Binding binding);

  Found Find(absl::string_view http_method, absl::string_view path, const Binding*& binding, Captures& captures) const;

  // "GET, POST": the methods that a path has, in alphabetical order. Empty: none.
  std::string AllowedMethods(absl::string_view path) const;

 private:
  friend class RouteSearch;

  struct Leaf {
    std::string verb;  // empty: none
    const Binding* binding;
  };
  struct Node {
    absl::flat_hash_map<std::string, uint32_t> literals;
    uint32_t one = 0;        // the node behind '*'; 0: there is none
    std::vector<Leaf> here;  // paths that end here
    std::vector<Leaf> rest;  // paths that end with '**' here
  };
  struct Trie {
    std::string http_method;
    std::vector<Node> nodes = std::vector<Node>(1);  // [0] is the root
    absl::flat_hash_set<std::string> verbs;
  };

  bool FindIn(const Trie& trie, absl::string_view path, const Binding*& binding, Captures& captures) const;

  std::vector<Trie> tries_;  // one for each HTTP method, few; "*" is the last one tried
  std::deque<Binding> bindings_;
};

}  // namespace cqbench::transcoding
