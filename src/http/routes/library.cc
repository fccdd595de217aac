#include "src/http/routes/library.h"

#include <google/protobuf/empty.pb.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cqbench/proto/library.pb.h"
#include "src/http/json/field_value.h"
#include "src/http/json/json.h"
#include "src/http/json/percent.h"
#include "src/http/routes/query.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Message;
using library::v1::Book;
using library::v1::CreateBookRequest;
using library::v1::DeleteBookRequest;
using library::v1::GetBookRequest;
using library::v1::ListBooksRequest;
using library::v1::ListBooksResponse;
using library::v1::UpdateBookRequest;

enum class Place { kNone, kBooks, kStream, kBook };

// The first segment of `path`, which is cut off with the '/' behind it.
absl::string_view TakeSegment(absl::string_view& path) {
  const absl::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size() < path.size() ? segment.size() + 1 : segment.size());
  return segment;
}

bool Is(absl::string_view segment, absl::string_view literal) {
  if (segment == literal) return true;
  std::string buffer;
  absl::string_view decoded;
  return PercentDecode(segment, Slashes::kDecode, buffer, decoded) && decoded == literal;
}

// "/v1/shelves/SHELF/books", that with ":stream", or with "/BOOK". `name`: of the shelf, of the book.
Place PlaceOf(absl::string_view path, absl::string_view& name) {
  if (!absl::StartsWith(path, "/")) return Place::kNone;
  path.remove_prefix(1);
  if (!Is(TakeSegment(path), "v1")) return Place::kNone;
  const absl::string_view resource = path;
  if (!Is(TakeSegment(path), "shelves")) return Place::kNone;
  if (TakeSegment(path).empty()) return Place::kNone;
  const absl::string_view shelf = resource.substr(0, static_cast<size_t>(path.data() - resource.data()));
  if (path.empty()) return Place::kNone;
  const bool ends = path.find('/') == absl::string_view::npos;
  absl::string_view books = TakeSegment(path);
  if (!ends) {
    name = resource;
    const bool one = !path.empty() && path.find('/') == absl::string_view::npos;
    return one && Is(books, "books") ? Place::kBook : Place::kNone;
  }
  name = shelf.substr(0, shelf.size() - 1);
  const size_t colon = books.rfind(':');
  if (colon == absl::string_view::npos) return Is(books, "books") ? Place::kBooks : Place::kNone;
  return Is(books.substr(0, colon), "books") && Is(books.substr(colon + 1), "stream") ? Place::kStream : Place::kNone;
}

absl::Status BindName(absl::string_view capture, std::string& name) {
  std::string buffer;
  absl::string_view text;
  if (!PercentDecode(capture, Slashes::kKeepEncoded, buffer, text)) {
    return absl::InvalidArgumentError("the path: '%' is not followed by two hexadecimal digits");
  }
  return ParseString(text, name);
}

absl::Status NoBody(const HttpRequest& request) {
  if (request.body.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("this method takes no body");
}

// A value that may be there once.
template <typename Parse>
absl::Status Once(absl::string_view key, bool& seen, const Parse& parse) {
  if (seen) return BadParameter(key, "it is there twice");
  seen = true;
  const absl::Status status = parse();
  return status.ok() ? status : BadParameter(key, status.message());
}

}  // namespace

LibraryTranscoder::LibraryTranscoder(const TranscodingOptions& options) : options_(options) {
  const auto* service = library::v1::Book::descriptor()->file()->service(0);
  const auto set = [&](Method method, const char* name, const Message& request, const Message& response) {
    rpcs_[method] = {service->FindMethodByName(name), absl::StrCat("/", std::string(service->full_name()), "/", name),
                     &request, &response};
  };
  set(kGetBook, "GetBook", GetBookRequest::default_instance(), Book::default_instance());
  set(kListBooks, "ListBooks", ListBooksRequest::default_instance(), ListBooksResponse::default_instance());
  set(kStreamBooks, "StreamBooks", ListBooksRequest::default_instance(), Book::default_instance());
  set(kCreateBook, "CreateBook", CreateBookRequest::default_instance(), Book::default_instance());
  set(kUpdateBook, "UpdateBook", UpdateBookRequest::default_instance(), Book::default_instance());
  set(kDeleteBook, "DeleteBook", DeleteBookRequest::default_instance(), google::protobuf::Empty::default_instance());
}

Found LibraryTranscoder::FindMethod(absl::string_view http_method, absl::string_view path, Call& call) const {
  absl::string_view name;
  const Place place = PlaceOf(path, name);
  if (place == Place::kNone) return Found::kNoPath;
  Method method = kMethods;
  if (place == Place::kBook) {
    if (http_method == "GET") method = kGetBook;
    if (http_method == "PATCH") method = kUpdateBook;
    if (http_method == "DELETE") method = kDeleteBook;
  } else if (place == Place::kBooks) {
    if (http_method == "GET") method = kListBooks;
    if (http_method == "POST") method = kCreateBook;
  } else if (http_method == "GET") {
    method = kStreamBooks;
  }
  if (method == kMethods) return Found::kOtherMethod;
  call.rpc = &rpcs_[method];
  call.binding = nullptr;
  call.captures.assign(1, name);
  return Found::kYes;
}

std::vector<absl::string_view> LibraryTranscoder::MethodsOf(absl::string_view path) const {
  absl::string_view name;
  switch (PlaceOf(path, name)) {
    case Place::kBook:
      return {"DELETE", "GET", "PATCH"};
    case Place::kBooks:
      return {"GET", "POST"};
    case Place::kStream:
      return {"GET"};
    case Place::kNone:
      break;
  }
  return {};
}

absl::Status LibraryTranscoder::BindGetBook(const Call& call, const HttpRequest& request, Message& message) const {
  if (absl::Status status = NoBody(request); !status.ok()) return status;
  const absl::Status status = ForEachParameter(request.query, [&](absl::string_view key, absl::string_view) {
    return key == "name" ? absl::OkStatus() : UnknownParameter(key, *call.rpc->method);
  });
  return status.ok() ? BindName(call.captures[0], *static_cast<GetBookRequest&>(message).mutable_name()) : status;
}

absl::Status LibraryTranscoder::BindListBooks(const Call& call, const HttpRequest& request, Message& message) const {
  auto& list = static_cast<ListBooksRequest&>(message);
  if (absl::Status status = NoBody(request); !status.ok()) return status;
  bool has_size = false;
  bool has_token = false;
  const absl::Status status =
      ForEachParameter(request.query, [&](absl::string_view key, absl::string_view value) -> absl::Status {
        if (key == "parent") return absl::OkStatus();
        if (key == "page_size" || key == "pageSize") {
          int32_t size = 0;
          const absl::Status parsed = Once(key, has_size, [&] { return ParseInt32(value, size); });
          list.set_page_size(size);
          return parsed;
        }
        if (key == "page_token" || key == "pageToken") {
          return Once(key, has_token, [&] { return ParseString(value, *list.mutable_page_token()); });
        }
        return UnknownParameter(key, *call.rpc->method);
      });
  return status.ok() ? BindName(call.captures[0], *list.mutable_parent()) : status;
}

absl::Status LibraryTranscoder::BindCreateBook(const Call& call, const HttpRequest& request, Message& message) const {
  auto& create = static_cast<CreateBookRequest&>(message);
  if (!request.body.empty()) {
    if (absl::Status status = ParseJson(request.body, *create.mutable_book()); !status.ok()) return status;
  }
  bool has_id = false;
  const absl::Status status =
      ForEachParameter(request.query, [&](absl::string_view key, absl::string_view value) -> absl::Status {
        if (key == "parent") return absl::OkStatus();
        if (key != "book_id" && key != "bookId") return UnknownParameter(key, *call.rpc->method);
        return Once(key, has_id, [&] { return ParseString(value, *create.mutable_book_id()); });
      });
  return status.ok() ? BindName(call.captures[0], *create.mutable_parent()) : status;
}

absl::Status LibraryTranscoder::BindUpdateBook(const Call& call, const HttpRequest& request, Message& message) const {
  auto& update = static_cast<UpdateBookRequest&>(message);
  if (!request.body.empty()) {
    if (absl::Status status = ParseJson(request.body, *update.mutable_book()); !status.ok()) return status;
  }
  bool has_mask = false;
  const absl::Status status =
      ForEachParameter(request.query, [&](absl::string_view key, absl::string_view value) -> absl::Status {
        if (key == "book.name") return absl::OkStatus();
        if (key == "update_mask" || key == "updateMask") {
          google::protobuf::FieldMask& mask = *update.mutable_update_mask();
          return Once(key, has_mask, [&] { return ParseFieldMask(value, mask); });
        }
        if (key == "update_mask.paths" || key == "updateMask.paths") {
          std::string path;
          absl::Status parsed = ParseString(value, path);
          if (!parsed.ok()) return BadParameter(key, parsed.message());
          update.mutable_update_mask()->add_paths(std::move(path));
          return parsed;
        }
        return UnknownParameter(key, *call.rpc->method);
      });
  return status.ok() ? BindName(call.captures[0], *update.mutable_book()->mutable_name()) : status;
}

absl::Status LibraryTranscoder::BindDeleteBook(const Call& call, const HttpRequest& request, Message& message) const {
  if (absl::Status status = NoBody(request); !status.ok()) return status;
  const absl::Status status = ForEachParameter(request.query, [&](absl::string_view key, absl::string_view) {
    return key == "name" ? absl::OkStatus() : UnknownParameter(key, *call.rpc->method);
  });
  return status.ok() ? BindName(call.captures[0], *static_cast<DeleteBookRequest&>(message).mutable_name()) : status;
}

absl::Status LibraryTranscoder::Bind(const Call& call, const HttpRequest& request, Message& message) const {
  if (absl::Status status = CheckLimits(request, options_); !status.ok()) return status;
  switch (call.rpc - rpcs_.data()) {
    case kGetBook:
      return BindGetBook(call, request, message);
    case kListBooks:
    case kStreamBooks:
      return BindListBooks(call, request, message);
    case kCreateBook:
      return BindCreateBook(call, request, message);
    case kUpdateBook:
      return BindUpdateBook(call, request, message);
    case kDeleteBook:
      return BindDeleteBook(call, request, message);
    default:
      return absl::InternalError("a call that was found elsewhere");
  }
}

absl::Status LibraryTranscoder::Print(const Call&, const Message& message, std::string& json) const {
  return PrintJson(message, json);
}

}  // namespace cqbench::transcoding
