#include "src/workload/methods/library.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/clean_text.h"
#include "src/config/http_call.h"
#include "src/workload/methods/books.h"

namespace cqbench {
namespace {

using grpc::Status;
using grpc::StatusCode;
using library::v1::Book;
using library::v1::ListBooksRequest;
using library::v1::ListBooksResponse;

constexpr char kShelf[] = "shelves/1";
constexpr char kBookName[] = "shelves/1/books/1";
constexpr BookNumber kNumber{1, 1};
constexpr char kNewId[] = "new";
constexpr char kNewName[] = "shelves/1/books/new";
constexpr char kNewTitle[] = "The Adventures of a Book";
constexpr char kTitleMask[] = "title";
constexpr uint32_t kPage = 10;           // books that the client asks for
constexpr uint32_t kLargestPage = 1000;  // that the server gives

constexpr char kWrongBook[] = "the response is not the book that was asked for";
constexpr char kWrongList[] = "the response is not the list of books that was asked for";

// Shortens a client's text for an error message: the message becomes a header, and a large header is an error itself.
std::string Shown(absl::string_view text) {
  return CleanText(text, 80);
}
Status NoBook(absl::string_view name) {
  return {StatusCode::NOT_FOUND, absl::StrCat("there is no book '", Shown(name), "'")};
}
Status NoShelf(absl::string_view name) {
  return {StatusCode::NOT_FOUND, absl::StrCat("there is no shelf '", Shown(name), "'")};
}
Status Invalid(absl::string_view what) {
  return {StatusCode::INVALID_ARGUMENT, std::string(what)};
}

Book BookOf(const BookNumber& number) {
  Book book;
  WriteBook(number, &book);
  return book;
}
const Book& TheBook() {
  static const auto& book = *new Book(BookOf(kNumber));
  return book;
}
// The book that the client creates.
const Book& TheNewBook() {
  static const auto& book = *new Book([] {
    Book made = BookOf(kNumber);
    made.set_name(kNewName);
    return made;
  }());
  return book;
}
const Book& TheUpdatedBook() {
  static const auto& book = *new Book([] {
    Book made = BookOf(kNumber);
    made.set_title(kNewTitle);
    return made;
  }());
  return book;
}

absl::string_view CheckBook(const Book& book, const Book& expected) {
  return SameBook(book, expected) ? absl::string_view() : kWrongBook;
}

// The books, and their shelf, that a request is for.
struct Range {
  uint32_t shelf = 0;
  uint32_t first = 1;
  uint32_t count = 0;
};
Status RangeOf(const ListBooksRequest& request, uint32_t most, Range& range) {
  range.shelf = FindShelf(request.parent());
  if (range.shelf == 0) return NoShelf(request.parent());
  if (request.page_size() < 0) return Invalid("page_size is negative");
  uint32_t before = 0;
  if (!request.page_token().empty() && (!absl::SimpleAtoi(request.page_token(), &before) || before >= kBooksOfShelf)) {
    return Invalid(absl::StrCat("page_token '", Shown(request.page_token()), "' is none of this server's"));
  }
  range.first = before + 1;
  const uint32_t wanted = request.page_size() == 0 ? kPage : static_cast<uint32_t>(request.page_size());
  range.count = std::min({wanted, most, kBooksOfShelf - before});
  return Status::OK;
}

void WriteList(const Range& range, ListBooksResponse* list) {
  list->clear_books();
  for (uint32_t i = 0; i < range.count; ++i) WriteBook({range.shelf, range.first + i}, list->add_books());
  const uint32_t last = range.first + range.count - 1;
  list->clear_next_page_token();
  if (last < kBooksOfShelf) absl::StrAppend(list->mutable_next_page_token(), last);
}
// The first page.
const ListBooksResponse& TheList() {
  static const auto& list = *new ListBooksResponse([] {
    ListBooksResponse made;
    WriteList({1, 1, kPage}, &made);
    return made;
  }());
  return list;
}

Status SetField(absl::string_view path, const Book& from, Book* book) {
  if (path == "author") {
    book->set_author(from.author());
  } else if (path == "title") {
    book->set_title(from.title());
  } else if (path == "read") {
    book->set_read(from.read());
  } else if (path == "page_count") {
    book->set_page_count(from.page_count());
  } else if (path == "publish_time") {
    *book->mutable_publish_time() = from.publish_time();
  } else if (path == "subjects") {
    *book->mutable_subjects() = from.subjects();
  } else {
    return Invalid(absl::StrCat("update_mask: '", Shown(path), "' is no field of a book that can be changed"));
  }
  return Status::OK;
}

// Without a mask, every field that the request has.
void SetGivenFields(const Book& from, Book* book) {
  if (!from.author().empty()) book->set_author(from.author());
  if (!from.title().empty()) book->set_title(from.title());
  if (from.read()) book->set_read(true);
  if (from.page_count() != 0) book->set_page_count(from.page_count());
  if (from.has_publish_time()) *book->mutable_publish_time() = from.publish_time();
  if (from.subjects_size() > 0) *book->mutable_subjects() = from.subjects();
}

bool IsId(absl::string_view id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

void LibraryGet::Fill(Request& request, const MessageConfig& /*config*/) {
  request.set_name(kBookName);
}
absl::string_view LibraryGet::Check(const Response& response, const MessageConfig& /*config*/) {
  return CheckBook(response, TheBook());
}
Status LibraryGet::Handle(const Request& request, Response* response) {
  const BookNumber number = FindBook(request.name());
  if (number.shelf == 0) return NoBook(request.name());
  WriteBook(number, response);
  return Status::OK;
}
HttpCall LibraryGet::Http(const MessageConfig& /*config*/) {
  return {"GET", absl::StrCat("/v1/", kBookName), "", JsonOfBook(TheBook())};
}

void LibraryList::Fill(Request& request, const MessageConfig& /*config*/) {
  request.set_parent(kShelf);
  request.set_page_size(kPage);
}
absl::string_view LibraryList::Check(const Response& response, const MessageConfig& /*config*/) {
  const ListBooksResponse& expected = TheList();
  const bool same = response.next_page_token() == expected.next_page_token() &&
                    std::equal(response.books().begin(), response.books().end(), expected.books().begin(),
                               expected.books().end(), SameBook);
  return same ? absl::string_view() : kWrongList;
}
Status LibraryList::Handle(const Request& request, Response* response) {
  Range range;
  if (Status status = RangeOf(request, kLargestPage, range); !status.ok()) return status;
  WriteList(range, response);
  return Status::OK;
}
HttpCall LibraryList::Http(const MessageConfig& /*config*/) {
  std::string books;
  for (const Book& book : TheList().books()) absl::StrAppend(&books, books.empty() ? "" : ",", JsonOfBook(book));
  return {"GET", absl::StrCat("/v1/", kShelf, "/books?page_size=", kPage), "",
          absl::StrCat("{\"books\":[", books, "],\"nextPageToken\":\"", TheList().next_page_token(), "\"}")};
}

void LibraryStream::Fill(Request& request, const MessageConfig& config) {
  request.set_parent(kShelf);
  request.set_page_size(config.stream_messages);
}
// The method does not know which of them it is.
absl::string_view LibraryStream::Check(const Response& response, const MessageConfig& /*config*/) {
  const BookNumber number = FindBook(response.name());
  return number.shelf != 0 && SameBook(response, BookOf(number)) ? absl::string_view() : kWrongBook;
}
Status LibraryStream::CountResponses(const Request& request, uint32_t* count) {
  Range range;
  if (Status status = RangeOf(request, kBooksOfShelf, range); !status.ok()) return status;
  *count = range.count;
  return Status::OK;
}
Status LibraryStream::Handle(const Request& request, uint32_t left, Response* response) {
  Range range;
  if (Status status = RangeOf(request, kBooksOfShelf, range); !status.ok()) return status;
  WriteBook({range.shelf, range.first + range.count - 1 - left}, response);
  return Status::OK;
}
HttpCall LibraryStream::Http(const MessageConfig& config) {
  std::string lines;
  for (int i = 1; i <= config.stream_messages; ++i) {
    absl::StrAppend(&lines, JsonOfBook(BookOf({1, static_cast<uint32_t>(i)})), "\n");
  }
  return {"GET", absl::StrCat("/v1/", kShelf, "/books:stream?page_size=", config.stream_messages), "", lines};
}

void LibraryCreate::Fill(Request& request, const MessageConfig& /*config*/) {
  request.set_parent(kShelf);
  request.set_book_id(kNewId);
  *request.mutable_book() = TheNewBook();
}
absl::string_view LibraryCreate::Check(const Response& response, const MessageConfig& /*config*/) {
  return CheckBook(response, TheNewBook());
}
Status LibraryCreate::Handle(const Request& request, Response* response) {
  if (FindShelf(request.parent()) == 0) return NoShelf(request.parent());
  if (!request.has_book()) return Invalid("there is no book in the request");
  const absl::string_view id = request.book_id().empty() ? absl::string_view(kNewId) : request.book_id();
  if (!IsId(id)) return Invalid("book_id is not 1 to 64 letters, digits, '-', '_' and '.'");
  *response = request.book();
  response->mutable_name()->clear();
  absl::StrAppend(response->mutable_name(), request.parent(), "/books/", id);
  if (FindBook(response->name()).shelf == 0) return Status::OK;
  return {StatusCode::ALREADY_EXISTS, absl::StrCat("there is a book '", response->name(), "'")};
}
HttpCall LibraryCreate::Http(const MessageConfig& /*config*/) {
  const std::string json = JsonOfBook(TheNewBook());
  return {"POST", absl::StrCat("/v1/", kShelf, "/books?book_id=", kNewId), json, json};
}

void LibraryUpdate::Fill(Request& request, const MessageConfig& /*config*/) {
  request.mutable_book()->set_name(kBookName);
  request.mutable_book()->set_title(kNewTitle);
  request.mutable_update_mask()->clear_paths();
  request.mutable_update_mask()->add_paths(kTitleMask);
}
absl::string_view LibraryUpdate::Check(const Response& response, const MessageConfig& /*config*/) {
  return CheckBook(response, TheUpdatedBook());
}
Status LibraryUpdate::Handle(const Request& request, Response* response) {
  const Book& given = request.book();
  const BookNumber number = FindBook(given.name());
  if (number.shelf == 0) return NoBook(given.name());
  WriteBook(number, response);
  if (request.update_mask().paths().empty()) SetGivenFields(given, response);
  for (const std::string& path : request.update_mask().paths()) {
    if (Status status = SetField(path, given, response); !status.ok()) return status;
  }
  return Status::OK;
}
HttpCall LibraryUpdate::Http(const MessageConfig& /*config*/) {
  return {"PATCH", absl::StrCat("/v1/", kBookName, "?update_mask=", kTitleMask),
          absl::StrCat("{\"name\":\"", kBookName, "\",\"title\":\"", kNewTitle, "\"}"), JsonOfBook(TheUpdatedBook())};
}

void LibraryDelete::Fill(Request& request, const MessageConfig& /*config*/) {
  request.set_name(kBookName);
}
absl::string_view LibraryDelete::Check(const Response& /*response*/, const MessageConfig& /*config*/) {
  return {};
}
Status LibraryDelete::Handle(const Request& request, Response* response) {
  response->Clear();  // of unknown fields, all that a message without fields can have from before
  return FindBook(request.name()).shelf == 0 ? NoBook(request.name()) : Status::OK;
}
HttpCall LibraryDelete::Http(const MessageConfig& /*config*/) {
  return {"DELETE", absl::StrCat("/v1/", kBookName), "", "{}"};
}

}  // namespace cqbench
