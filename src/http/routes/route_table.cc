#include "src/http/routes/route_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/http/json/percent.h"

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
      captures.push_back(path_.substr(begin, EndOf(binding, variable, begin) - begin));
    }
  }

 private:
  // Before the '/' of the segment that follows the variable. A "**" that matched nothing leaves both at one place.
  size_t EndOf(const Binding& binding, const TemplateVariable& variable, size_t begin) const {
    if (variable.end == binding.path.segments.size()) return path_.size();
    return std::max(begin + 1, starts_[variable.end]) - 1;
  }

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
    for (const RouteTable::Tail& tail : node.tails) {
      const size_t start = StartOfLast(tail.length);
      if (start == absl::string_view::npos || start < at) continue;
      if (const Binding* binding = Visit(tail.node, start, depth + 1); binding != nullptr) return binding;
    }
    return WithVerb(node.rest);
  }

  // Returns where the last `count` segments of the path begin; npos: it has fewer.
  size_t StartOfLast(size_t count) {
    for (; last_known_ < count; ++last_known_) {
      const size_t end = last_known_ == 0 ? path_.size() : last_starts_[last_known_ - 1];
      if (last_known_ > 0 && end == 0) return absl::string_view::npos;
      const size_t slash = path_.substr(0, last_known_ == 0 ? end : end - 1).rfind('/');
      last_starts_[last_known_] = slash == absl::string_view::npos ? 0 : slash + 1;
    }
    return last_starts_[count - 1];
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
  // The begins of the segments that the walk is in.
  std::array<size_t, kMaxTemplateSegments + 1> starts_;
  // The same of the path's last segments, counted from its end: found as far as somebody has asked.
  std::array<size_t, kMaxTemplateSegments> last_starts_;
  size_t last_known_ = 0;
};

uint32_t RouteTable::NodeAfter(Trie& trie, uint32_t at, const TemplateSegment& segment, size_t after) {
  const auto made = static_cast<uint32_t>(trie.nodes.size());
  Node& node = trie.nodes[at];
  uint32_t* next = nullptr;
  switch (segment.kind) {
    case TemplateSegment::Kind::kLiteral:
      next = &node.literals[segment.literal];
      break;
    case TemplateSegment::Kind::kOne:
      next = &node.one;
      break;
    case TemplateSegment::Kind::kRest: {
      const auto place =
          std::find_if(node.tails.begin(), node.tails.end(), [&](const Tail& each) { return each.length <= after; });
      const bool is_there = place != node.tails.end() && place->length == after;
      next = &(is_there ? place : node.tails.insert(place, Tail{after, 0}))->node;
    }
  }
  if (*next != 0) return *next;
  *next = made;
  trie.nodes.emplace_back();
  return made;
}

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
  const std::vector<TemplateSegment>& segments = binding.path.segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    const size_t after = segments.size() - i - 1;
    rest = segments[i].kind == TemplateSegment::Kind::kRest && after == 0;
    if (!rest) at = NodeAfter(*trie, at, segments[i], after);
  }
  std::vector<Leaf>& leaves = rest ? trie->nodes[at].rest : trie->nodes[at].here;
  for (const Leaf& leaf : leaves) {
    if (leaf.verb != binding.path.verb) continue;
    return absl::InvalidArgumentError(
        RefusalOf(binding, absl::StrCat(std::string(leaf.binding->method->full_name()), " has the same paths (",
                                        leaf.binding->text, ")")));
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

std::vector<absl::string_view> RouteTable::MethodsOf(absl::string_view path) const {
  std::vector<absl::string_view> methods;
  const Binding* binding = nullptr;
  Captures captures;
  if (path.empty() || path.front() != '/') return methods;
  for (const Trie& trie : tries_) {
    if (FindIn(trie, path.substr(1), binding, captures)) methods.push_back(trie.http_method);
  }
  return methods;
}

}  // namespace cqbench::transcoding
