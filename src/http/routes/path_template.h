// The path of a rule, as google/api/http.proto has it:
//   Template = "/" Segments [ Verb ] ;          Variable  = "{" FieldPath [ "=" Segments ] "}" ;
//   Segments = Segment { "/" Segment } ;        FieldPath = IDENT { "." IDENT } ;
//   Segment  = "*" | "**" | LITERAL | Variable ;  Verb    = ":" LITERAL ;
// A template has one "**" at most; segments may follow it. No variable is in another one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// So that a match needs no memory of a size that is known late.
inline constexpr size_t kMaxTemplateSegments = 32;

struct TemplateSegment {
  enum class Kind { kLiteral, kOne, kRest };
  Kind kind = Kind::kLiteral;
  std::string literal;  // decoded; no '/' of it separates segments
  friend bool operator==(const TemplateSegment&, const TemplateSegment&) = default;
};

struct TemplateVariable {
  std::string field_path;
  // The segments that it captures: [begin, end).
  size_t begin = 0;
  size_t end = 0;
  // The variable may capture several segments, so "%2F" in it is not the same as "/".
  bool multi_segment = false;
};

struct PathTemplate {
  std::vector<TemplateSegment> segments;
  std::vector<TemplateVariable> variables;  // in their order
  std::string verb;                         // decoded, without its colon; empty: none
};

// INVALID_ARGUMENT with what is wrong and where, in bytes from 0.
absl::StatusOr<PathTemplate> ParsePathTemplate(absl::string_view text);

}  // namespace cqbench::transcoding
