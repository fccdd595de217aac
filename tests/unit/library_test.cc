// The library workload: its methods as messages and as bytes, and the same calls over HTTP.
#include "src/workload/methods/library.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/workload/methods/books.h"
#include "src/workload/methods/methods.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using grpc::StatusCode;
using library::v1::Book;

template <typename Message>
Message MessageOf(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  Message message;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
  EXPECT_TRUE(message.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return message;
}

// A response to the request of Fill() passes Check(), for any previous contents of the messages; both as messages and
// as bytes.
template <typename M>
void AnswersItself() {
  SCOPED_TRACE(M::kName);
  const MessageConfig config;
  typename M::Request request;
  typename M::Response response;
  grpc::ByteBuffer bytes;
  for (int use = 0; use < 2; ++use) {
    M::Fill(request, config);
    ASSERT_TRUE(M::Handle(request, &response).ok());
    EXPECT_EQ(M::Check(response, config), "");
    ASSERT_TRUE(M::HandleBytes(BufferOf(request), &bytes).ok());
    EXPECT_EQ(M::CheckBytes(bytes, config), "");
    EXPECT_EQ(MessageOf<typename M::Response>(bytes).SerializeAsString(), response.SerializeAsString());
  }
}

TEST(Library, MethodsAnswerWhatTheyAsk) {
  AnswersItself<LibraryGet>();
  AnswersItself<LibraryList>();
  AnswersItself<LibraryCreate>();
  AnswersItself<LibraryUpdate>();
  AnswersItself<LibraryDelete>();
}

TEST(Library, AnotherAnswerIsWrong) {
  Book book;
  WriteBook({1, 2}, &book);
  EXPECT_NE(LibraryGet::Check(book, {}), "");
  EXPECT_NE(LibraryCreate::Check(book, {}), "");
  WriteBook({1, 1}, &book);
  EXPECT_EQ(LibraryGet::Check(book, {}), "");
  EXPECT_NE(LibraryUpdate::Check(book, {}), "");  // the update changed nothing
  EXPECT_NE(LibraryList::Check({}, {}), "");
  const grpc::Slice noise("\xff\xff");
  EXPECT_NE(LibraryGet::CheckBytes(grpc::ByteBuffer(&noise, 1), {}), "");
}

// Two books differ if any field differs.
TEST(Library, SameBookLooksAtEveryField) {
  Book book;
  WriteBook({1, 1}, &book);
  const google::protobuf::Descriptor& type = *Book::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    Book other = book;
    other.GetReflection()->ClearField(&other, type.field(i));
    EXPECT_FALSE(SameBook(book, other)) << type.field(i)->name();
  }
}

TEST(Library, BooksAreFoundByTheirNames) {
  for (const BookNumber number : {BookNumber{1, 1}, BookNumber{100, 1'000'000}, BookNumber{10, 20}}) {
    Book book;
    WriteBook(number, &book);
    const BookNumber found = FindBook(book.name());
    EXPECT_EQ(found.shelf, number.shelf);
    EXPECT_EQ(found.book, number.book);
  }
  for (const char* name :
       {"", "shelves/1", "shelves/1/books/", "shelves/1/books/0", "shelves/1/books/01", "shelves/01/books/1",
        "shelves/0/books/1", "shelves/101/books/1", "shelves/1/books/1000001", "shelves/1/books/99999999999999999999",
        "shelves/1/books/1/", "shelves/1/books/1x", "shelves/1/books/-1", "shelf/1/books/1"}) {
    EXPECT_EQ(FindBook(name).shelf, 0u) << name;
  }
  EXPECT_EQ(FindShelf("shelves/7"), 7u);
  EXPECT_EQ(FindShelf("shelves/7/"), 0u);
}

TEST(Library, WhatThereIsNotIsNotFound) {
  const auto get = [](const std::string& name) {
    LibraryGet::Request request;
    request.set_name(name);
    Book book;
    return LibraryGet::Handle(request, &book);
  };
  EXPECT_TRUE(get("shelves/3/books/25").ok());
  const grpc::Status status = get("shelves/3/books/x");
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no book 'shelves/3/books/x'");
  LibraryList::Request list;
  list.set_parent("shelves/x");
  LibraryList::Response books;
  EXPECT_EQ(LibraryList::Handle(list, &books).error_code(), StatusCode::NOT_FOUND);
}

TEST(Library, PagesFollowEachOther) {
  LibraryList::Request request;
  LibraryList::Response page;
  request.set_parent("shelves/2");
  request.set_page_size(3);
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(LibraryList::Handle(request, &page).ok());
    for (const Book& book : page.books()) names.push_back(book.name());
    request.set_page_token(page.next_page_token());
  }
  ASSERT_EQ(names.size(), 9u);
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], absl::StrCat("shelves/2/books/", i + 1));

  request.set_page_token("999998");
  ASSERT_TRUE(LibraryList::Handle(request, &page).ok());
  EXPECT_EQ(page.books_size(), 2);
  EXPECT_EQ(page.next_page_token(), "");
  for (const char* token : {"1000000", "-1", "x"}) {
    request.set_page_token(token);
    EXPECT_EQ(LibraryList::Handle(request, &page).error_code(), StatusCode::INVALID_ARGUMENT) << token;
  }
}

TEST(Library, AStreamIsTheSameBooksInOrder) {
  LibraryStream::Request request;
  LibraryStream::Fill(request, {.stream_messages = 5});
  request.set_page_token("7");
  uint32_t count = 0, count_in_bytes = 0;
  ASSERT_TRUE(LibraryStream::CountResponses(request, &count).ok());
  ASSERT_TRUE(LibraryStream::CountResponsesInBytes(BufferOf(request), &count_in_bytes).ok());
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(count_in_bytes, 5u);
  for (uint32_t i = 0; i < count; ++i) {
    Book book;
    grpc::ByteBuffer bytes;
    ASSERT_TRUE(LibraryStream::Handle(request, count - 1 - i, &book).ok());
    ASSERT_TRUE(LibraryStream::HandleBytes(BufferOf(request), count - 1 - i, &bytes).ok());
    EXPECT_EQ(book.name(), absl::StrCat("shelves/1/books/", 8 + i));
    EXPECT_EQ(LibraryStream::Check(book, {}), "");
    EXPECT_EQ(LibraryStream::CheckBytes(bytes, {}), "");
    EXPECT_EQ(MessageOf<Book>(bytes).name(), book.name());
  }
}

Book Updated(const std::vector<std::string>& mask, StatusCode expected = StatusCode::OK) {
  LibraryUpdate::Request request;
  WriteBook({5, 6}, request.mutable_book());
  request.mutable_book()->set_name("shelves/1/books/1");
  for (const std::string& path : mask) request.mutable_update_mask()->add_paths(path);
  Book book;
  EXPECT_EQ(LibraryUpdate::Handle(request, &book).error_code(), expected);
  return book;
}

TEST(Library, AMaskSaysWhatIsReplaced) {
  Book before, given;
  WriteBook({1, 1}, &before);
  WriteBook({5, 6}, &given);
  given.set_name(before.name());
  EXPECT_TRUE(SameBook(Updated({}), given));
  EXPECT_TRUE(SameBook(Updated({"author", "title", "read", "page_count", "publish_time", "subjects"}), given));
  Book expected = before;
  expected.set_page_count(given.page_count());
  EXPECT_TRUE(SameBook(Updated({"page_count"}), expected));
  Updated({"name"}, StatusCode::INVALID_ARGUMENT);
  Updated({"publish_time.seconds"}, StatusCode::INVALID_ARGUMENT);
}

TEST(Library, NewBooksHaveNewNames) {
  LibraryCreate::Request request;
  Book book;
  LibraryCreate::Fill(request, {});
  request.set_book_id("a-b_c.d");
  ASSERT_TRUE(LibraryCreate::Handle(request, &book).ok());
  EXPECT_EQ(book.name(), "shelves/1/books/a-b_c.d");
  request.set_book_id("7");
  EXPECT_EQ(LibraryCreate::Handle(request, &book).error_code(), StatusCode::ALREADY_EXISTS);
  for (const std::string& id : {std::string("a/b"), std::string(65, 'a'), std::string("\"")}) {
    request.set_book_id(id);
    EXPECT_EQ(LibraryCreate::Handle(request, &book).error_code(), StatusCode::INVALID_ARGUMENT) << id;
  }
  request.clear_book();
  EXPECT_EQ(LibraryCreate::Handle(request, &book).error_code(), StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cqbench
