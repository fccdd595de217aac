// The books of the library workload. They are made from their numbers, so that every server has the same books and
// none keeps anything.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "cqbench/proto/library.pb.h"

namespace cqbench {

// Shelves and books are counted from 1.
inline constexpr uint32_t kShelves = 100;
inline constexpr uint32_t kBooksOfShelf = 1'000'000;

struct BookNumber {
  uint32_t shelf = 0;  // 0: there is none of that name
  uint32_t book = 0;
};
// "shelves/1/books/2": one that there is.
BookNumber FindBook(absl::string_view name);
// "shelves/1": its number; 0: there is none.
uint32_t FindShelf(absl::string_view name);

// Sets every field of `book`, whatever it was; none to its default, so that its JSON is the same whether defaults are
// printed or not.
void WriteBook(const BookNumber& number, library::v1::Book* book);

bool SameBook(const library::v1::Book& a, const library::v1::Book& b);

// Its JSON, as protobuf has it but for the order of fields, which is theirs in the .proto. Only for books whose texts
// need no escapes, as those above are.
std::string JsonOfBook(const library::v1::Book& book);

}  // namespace cqbench
