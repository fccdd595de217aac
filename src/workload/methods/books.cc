#include "src/workload/methods/books.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace cqbench {
namespace {

constexpr std::array<const char*, 4> kAuthors = {"F. Scott Fitzgerald", "Mary Shelley", "Herman Melville",
                                                 "Charlotte Bronte"};
constexpr std::array<const char*, 5> kTitles = {"The Great Gatsby", "Frankenstein", "Moby Dick", "Jane Eyre",
                                                "The Last Man"};
constexpr std::array<const char*, 2> kSubjects = {"fiction", "classics"};

// Takes a number of 1 to `max` off the front; 0: there is none.
uint32_t TakeNumber(absl::string_view& text, uint32_t max) {
  uint32_t number = 0;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits == 0 && text[0] == '0') return 0;
    number = number * 10 + static_cast<uint32_t>(text[digits] - '0');
    if (number > max) return 0;
  }
  text.remove_prefix(digits);
  return number;
}

}  // namespace

BookNumber FindBook(absl::string_view name) {
  BookNumber number;
  if (!absl::ConsumePrefix(&name, "shelves/")) return {};
  number.shelf = TakeNumber(name, kShelves);
  if (number.shelf == 0 || !absl::ConsumePrefix(&name, "/books/")) return {};
  number.book = TakeNumber(name, kBooksOfShelf);
  return number.book > 0 && name.empty() ? number : BookNumber{};
}

uint32_t FindShelf(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "shelves/")) return 0;
  const uint32_t shelf = TakeNumber(name, kShelves);
  return name.empty() ? shelf : 0;
}

void WriteBook(const BookNumber& number, library::v1::Book* book) {
  book->mutable_name()->clear();
  absl::StrAppend(book->mutable_name(), "shelves/", number.shelf, "/books/", number.book);
  book->set_author(kAuthors[number.book % kAuthors.size()]);
  book->set_title(kTitles[number.book % kTitles.size()]);
  book->set_read(true);
  book->set_page_count(static_cast<int32_t>(100 + number.book % 900));
  book->mutable_publish_time()->set_seconds(1'000'000'000 + 86'400 * static_cast<int64_t>(number.book));
  book->mutable_publish_time()->clear_nanos();
  book->clear_subjects();
  for (const char* subject : kSubjects) book->add_subjects(subject);
}

bool SameBook(const library::v1::Book& a, const library::v1::Book& b) {
  return a.name() == b.name() && a.author() == b.author() && a.title() == b.title() && a.read() == b.read() &&
         a.page_count() == b.page_count() && a.publish_time().seconds() == b.publish_time().seconds() &&
         a.publish_time().nanos() == b.publish_time().nanos() &&
         std::equal(a.subjects().begin(), a.subjects().end(), b.subjects().begin(), b.subjects().end());
}

std::string JsonOfBook(const library::v1::Book& book) {
  const absl::Time published = absl::FromUnixSeconds(book.publish_time().seconds());
  return absl::StrCat("{\"name\":\"", book.name(), "\",\"author\":\"", book.author(), "\",\"title\":\"", book.title(),
                      "\",\"read\":", book.read() ? "true" : "false", ",\"pageCount\":", book.page_count(),
                      ",\"publishTime\":\"", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", published, absl::UTCTimeZone()),
                      "\",\"subjects\":[\"", absl::StrJoin(book.subjects(), "\",\""), "\"]}");
}

}  // namespace cqbench
