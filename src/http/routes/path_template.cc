#include "src/http/routes/path_template.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/http/json/percent.h"

namespace cqbench::transcoding {
namespace {

// These characters end a literal. '?' and '#' cannot be in the path of a request, nor can what is not printable.
bool EndsLiteral(char c) {
  return c == '/' || c == ':' || c == '{' || c == '}' || c == '=' || c == '*';
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<PathTemplate> Parse() {
    if (!Take('/')) return Wrong("a template begins with '/'");
    if (absl::Status status = Segments(/*in_variable=*/false); !status.ok()) return status;
    if (Take(':')) {
      if (absl::Status status = Literal(result_.verb, "a verb"); !status.ok()) return status;
    }
    if (at_ != text_.size()) return Wrong(absl::StrCat("'", text_.substr(at_, 1), "' is not expected"));
    return std::move(result_);
  }

 private:
  absl::Status Segments(bool in_variable) {
    do {
      if (absl::Status status = Segment(in_variable); !status.ok()) return status;
    } while (Take('/'));
    return absl::OkStatus();
  }

  absl::Status Segment(bool in_variable) {
    if (Take('{')) return in_variable ? Wrong("a variable is inside of another one") : Variable();
    if (result_.segments.size() == kMaxTemplateSegments) {
      return Wrong(absl::StrCat("at most ", kMaxTemplateSegments, " segments are accepted"));
    }
    TemplateSegment segment;
    if (absl::StartsWith(text_.substr(at_), "**")) {
      if (RestsFrom(0) > 0) return Wrong("'**' is there twice");
      segment.kind = TemplateSegment::Kind::kRest;
      at_ += 2;
    } else if (Take('*')) {
      segment.kind = TemplateSegment::Kind::kOne;
    } else if (absl::Status status = Literal(segment.literal, "a segment"); !status.ok()) {
      return status;
    }
    result_.segments.push_back(std::move(segment));
    return absl::OkStatus();
  }

  absl::Status Variable() {
    TemplateVariable variable;
    variable.begin = result_.segments.size();
    if (absl::Status status = FieldPath(variable.field_path); !status.ok()) return status;
    if (Take('=')) {
      if (absl::Status status = Segments(/*in_variable=*/true); !status.ok()) return status;
    } else {
      if (result_.segments.size() == kMaxTemplateSegments) {
        return Wrong(absl::StrCat("at most ", kMaxTemplateSegments, " segments are accepted"));
      }
      result_.segments.push_back({TemplateSegment::Kind::kOne, ""});
    }
    if (!Take('}')) return Wrong("'}' is expected");
    variable.end = result_.segments.size();
    variable.multi_segment = variable.end - variable.begin > 1 || RestsFrom(variable.begin) > 0;
    for (const TemplateVariable& other : result_.variables) {
      if (other.field_path == variable.field_path) {
        return Wrong(absl::StrCat("the variable ", variable.field_path, " is there twice"));
      }
    }
    result_.variables.push_back(std::move(variable));
    return absl::OkStatus();
  }

  absl::Status FieldPath(std::string& path) {
    const size_t begin = at_;
    do {
      if (at_ == text_.size() || !(absl::ascii_isalpha(Byte()) || text_[at_] == '_')) {
        return Wrong("the name of a field is expected");
      }
      while (at_ < text_.size() && (absl::ascii_isalnum(Byte()) || text_[at_] == '_')) ++at_;
    } while (Take('.'));
    path = std::string(text_.substr(begin, at_ - begin));
    return absl::OkStatus();
  }

  absl::Status Literal(std::string& literal, absl::string_view what) {
    const size_t begin = at_;
    while (at_ < text_.size() && !EndsLiteral(text_[at_])) {
      if (!absl::ascii_isgraph(Byte()) || text_[at_] == '?' || text_[at_] == '#') {
        return Wrong("a character that must be percent-encoded");
      }
      ++at_;
    }
    if (at_ == begin) return Wrong(absl::StrCat(what, " is empty"));
    std::string buffer;
    absl::string_view decoded;
    if (!PercentDecode(text_.substr(begin, at_ - begin), Slashes::kDecode, buffer, decoded)) {
      return Wrong("'%' is not followed by two hexadecimal digits");
    }
    literal = std::string(decoded);
    return absl::OkStatus();
  }

  // How many "**" there are from that segment on.
  ptrdiff_t RestsFrom(size_t begin) const {
    return std::count_if(result_.segments.begin() + static_cast<ptrdiff_t>(begin), result_.segments.end(),
                         [](const TemplateSegment& each) { return each.kind == TemplateSegment::Kind::kRest; });
  }

  unsigned char Byte() const { return static_cast<unsigned char>(text_[at_]); }

  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::Status Wrong(absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat(why, ", at byte ", at_, " of '", text_, "'"));
  }

  absl::string_view text_;
  size_t at_ = 0;
  PathTemplate result_;
};

}  // namespace

absl::StatusOr<PathTemplate> ParsePathTemplate(absl::string_view text) {
  return Parser(text).Parse();
}

}  // namespace cqbench::transcoding
