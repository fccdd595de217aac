#include "src/transcoding/route_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/transcoding/percent.h"

namespace cqbench::transcoding {
namespace {

constexpr char kAnyMethod[] = "*";

}  // namespace

// One search: a depth-first walk along the path, whose depth is that of the trie.
class RouteSearch {
 public:
  // `path` is without its first '/' and without the verb.
  RouteSearch(const RouteTable::Trie& trie, absl::string_view path, absl::string_view verb)
      : trie_(trie), path_(path), verb_(verb) {}

  const Binding* Run() { return Visit(0, 0, 0); }

  void Capture(const Binding& binding, Captures& captures) const {
    captures.clear();
    for (const TemplateVariable& variable : binding.path.variables) {
      const size_t begin = std::min(starts_[variable.begin], path_.size());
      const bool rest = binding.path.segments[variable.end - 1].kind == TemplateSegment::Kind::kRest;
      const size_t end = rest ? path_.size() : starts_[variable.end] - 1;
      captures.push_back(path_.substr(begin, end - begin));
    }
  }

 private:
  // `at` is where the segment number `depth` begins; behind the end of the path: there is none left.
  const Binding* Visit(uint32_t index, size_t at, size_t depth) {
    const RouteTable::Node& node = trie_.nodes[index];
    starts_[depth] = at;
    if (at > path_.size()) {
      const Binding* binding = WithVerb(node.here);
      return binding != nullptr ? binding : WithVerb(node.rest);
    }
    const size_t end = std::min(path_.find('/', at), path_.size());
    const absl::string_view segment = path_.substr(at, end - at);
    if (!segment.empty()) {
      if (const uint32_t next = Literal(node, segment); next != 0) {
        if (const Binding* binding = Visit(next, end + 1, depth + 1); binding != nullptr) return binding;
      }
      if (node.one != 0) {
        if (const Binding* binding = Visit(node.one, end + 1, depth + 1); binding != nullptr) return binding;
      }
    }
    return WithVerb(node.rest);
  }

  // 0: there is none.
  static uint32_t Literal(const RouteTable::Node& node, absl::string_view segment) {
    if (node.literals.empty()) return 0;
    std::string buffer;
    absl::string_view decoded;
    if (!PercentDecode(segment, Slashes::kDecode, buffer, decoded)) return 0;
    const auto found = node.literals.find(decoded);
    return found != node.literals.end() ? found->second : 0;
  }

  const Binding* WithVerb(const std::vector<RouteTable::Leaf>& leaves) const {
    for (const RouteTable::Leaf& leaf : leaves) {
      if (leaf.verb == verb_) return leaf.binding;
    }
    return nullptr;
  }

  const RouteTable::Trie& trie_;
  const absl::string_view path_;
  const absl::string_view verb_;
  // Where each segment begins, of those that the walk is in.
  std::array<size_t, kMaxTemplateSegments + 1> starts_;
};

absl::Status RouteTable::Add(Binding binding) {
  auto trie = std::find_if(tries_.begin(), tries_.end(),
                           [&](const Trie& each) { return each.http_method == binding.http_method; });
  if (trie == tries_.end()) {
    // The methods by name stay in front of the one that stands for any.
    const auto any =
        std::find_if(tries_.begin(), tries_.end(), [](const Trie& each) { return each.http_method == kAnyMethod; });
    trie = tries_.insert(any, Trie());
    trie->http_method = binding.http_method;
  }
  uint32_t at = 0;
  bool rest = false;
  for (const TemplateSegment& segment : binding.path.segments) {
    const auto made = static_cast<uint32_t>(trie->nodes.size());
    if (segment.kind == TemplateSegment::Kind::kRest) {
      rest = true;
      break;
    }
    uint32_t& next =
        segment.kind == TemplateSegment::Kind::kOne ? trie->nodes[at].one : trie->nodes[at].literals[segment.literal];
    const bool is_new = next == 0;
    if (is_new) next = made;
    at = next;
    if (is_new) trie->nodes.emplace_back();
  }
  std::vector<Leaf>& leaves = rest ? trie->nodes[at].rest : trie->nodes[at].here;
  for (const Leaf& leaf : leaves) {
    if (leaf.verb != binding.path.verb) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the http rule of ", std::string(binding.method->full_name()), " (", binding.http_method, " ", binding.text,
        "): ", std::string(leaf.binding->method->full_name()), " has the same paths (", leaf.binding->text, ")"));
  }
  if (!binding.path.verb.empty()) trie->verbs.insert(binding.path.verb);
  bindings_.push_back(std::move(binding));
  leaves.push_back({bindings_.back().path.verb, &bindings_.back()});
  return absl::OkStatus();
}

bool RouteTable::FindIn(const Trie& trie, absl::string_view path, const Binding*& binding, Captures& captures) const {
  const auto run = [&](absl::string_view segments, absl::string_view verb) {
    RouteSearch search(trie, segments, verb);
    const Binding* found = search.Run();
    if (found == nullptr) return false;
    binding = found;
    search.Capture(*found, captures);
    return true;
  };
  if (!trie.verbs.empty()) {
    const size_t colon = path.rfind(':');
    if (colon != absl::string_view::npos && path.find('/', colon) == absl::string_view::npos) {
      std::string buffer;
      absl::string_view verb;
      if (PercentDecode(path.substr(colon + 1), Slashes::kDecode, buffer, verb) && trie.verbs.contains(verb) &&
          run(path.substr(0, colon), verb)) {
        return true;
      }
    }
  }
  return run(path, "");
}

Found RouteTable::Find(absl::string_view http_method, absl::string_view path, const Binding*& binding,
                       Captures& captures) const {
  if (path.empty() || path.front() != '/') return Found::kNoPath;
  path.remove_prefix(1);
  for (const Trie& trie : tries_) {
    if ((trie.http_method == http_method || trie.http_method == kAnyMethod) && FindIn(trie, path, binding, captures)) {
      return Found::kYes;
    }
  }
  const Binding* other = nullptr;
  for (const Trie& trie : tries_) {
    if (trie.http_method != http_method && FindIn(trie, path, other, captures)) return Found::kOtherMethod;
  }
  return Found::kNoPath;
}

std::string RouteTable::AllowedMethods(absl::string_view path) const {
  std::vector<absl::string_view> methods;
  const Binding* binding = nullptr;
  Captures captures;
  if (path.empty() || path.front() != '/') return "";
  for (const Trie& trie : tries_) {
    if (FindIn(trie, path.substr(1), binding, captures)) methods.push_back(trie.http_method);
  }
  std::sort(methods.begin(), methods.end());
  return absl::StrJoin(methods, ", ");
}

}  // namespace cqbench::transcoding
