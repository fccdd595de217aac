// The methods of proto/library.proto: a service that is reached by HTTP and JSON as well. Nothing is kept: what is
// created, changed or deleted is answered as if it were, and there for the next call as before. See method.h for what a
// method is; Http() is the same call as its google.api.http rule has it.
#pragma once

#include <google/protobuf/empty.pb.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cqbench/proto/library.grpc.pb.h"
#include "src/config/http_call.h"
#include "src/workload/methods/method.h"

namespace cqbench {

// Common part of the library's methods; M adds its own. With --messages bytes too, messages are parsed and
// written: a library has to see what it is asked for.
template <typename M, typename Q, typename R>
struct LibraryMethod {
  using Request = Q;
  using Response = R;
  static constexpr char kWorkload[] = "library";
  static constexpr bool kHasPayload = false;

  static absl::string_view CheckBytes(const grpc::ByteBuffer& bytes, const MessageConfig& config) {
    R& response = Mine().response;
    return Read(bytes, response) ? M::Check(response, config) : "the response is not the method's message";
  }
  static grpc::Status HandleBytes(const grpc::ByteBuffer& bytes, grpc::ByteBuffer* response) {
    Messages& mine = Mine();
    if (!Read(bytes, mine.request)) return NotARequest();
    const grpc::Status status = M::Handle(mine.request, &mine.response);
    return status.ok() ? Write(mine.response, response) : status;
  }

 protected:
  // A thread's own, which keep their memory.
  struct Messages {
    Q request;
    R response;
  };
  static Messages& Mine() {
    thread_local Messages mine;
    return mine;
  }
  template <typename Message>
  static bool Read(grpc::ByteBuffer bytes, Message& message) {  // a copy of the references: reading takes them
    return grpc::SerializationTraits<Message>::Deserialize(&bytes, &message).ok();
  }
  static grpc::Status Write(const R& response, grpc::ByteBuffer* bytes) {
    bytes->Clear();
    bool own = true;  // always, for protobuf
    return grpc::SerializationTraits<R>::Serialize(response, bytes, &own);
  }
  static grpc::Status NotARequest() {
    return {grpc::StatusCode::INVALID_ARGUMENT, absl::StrCat("the request is not a ", std::string(Q().GetTypeName()))};
  }
};

struct LibraryGet : LibraryMethod<LibraryGet, library::v1::GetBookRequest, library::v1::Book> {
  static constexpr char kName[] = "get";
  CQBENCH_UNARY(library::v1::LibraryService, GetBook);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static grpc::Status Handle(const Request& request, Response* response);
  static HttpCall Http(const MessageConfig& config);
};

struct LibraryList : LibraryMethod<LibraryList, library::v1::ListBooksRequest, library::v1::ListBooksResponse> {
  static constexpr char kName[] = "list";
  CQBENCH_UNARY(library::v1::LibraryService, ListBooks);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static grpc::Status Handle(const Request& request, Response* response);
  static HttpCall Http(const MessageConfig& config);
};

struct LibraryStream : LibraryMethod<LibraryStream, library::v1::ListBooksRequest, library::v1::Book> {
  static constexpr char kName[] = "stream";
  CQBENCH_SERVER_STREAMING(library::v1::LibraryService, StreamBooks);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static grpc::Status CountResponses(const Request& request, uint32_t* count);
  static grpc::Status CountResponsesInBytes(const grpc::ByteBuffer& bytes, uint32_t* count) {
    return Read(bytes, Mine().request) ? CountResponses(Mine().request, count) : NotARequest();
  }
  static grpc::Status Handle(const Request& request, uint32_t left, Response* response);
  static grpc::Status HandleBytes(const grpc::ByteBuffer& bytes, uint32_t left, grpc::ByteBuffer* response) {
    if (!Read(bytes, Mine().request)) return NotARequest();
    const grpc::Status status = Handle(Mine().request, left, &Mine().response);
    return status.ok() ? Write(Mine().response, response) : status;
  }
  static HttpCall Http(const MessageConfig& config);
};

struct LibraryCreate : LibraryMethod<LibraryCreate, library::v1::CreateBookRequest, library::v1::Book> {
  static constexpr char kName[] = "create";
  CQBENCH_UNARY(library::v1::LibraryService, CreateBook);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static grpc::Status Handle(const Request& request, Response* response);
  static HttpCall Http(const MessageConfig& config);
};

struct LibraryUpdate : LibraryMethod<LibraryUpdate, library::v1::UpdateBookRequest, library::v1::Book> {
  static constexpr char kName[] = "update";
  CQBENCH_UNARY(library::v1::LibraryService, UpdateBook);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static grpc::Status Handle(const Request& request, Response* response);
  static HttpCall Http(const MessageConfig& config);
};

struct LibraryDelete : LibraryMethod<LibraryDelete, library::v1::DeleteBookRequest, google::protobuf::Empty> {
  static constexpr char kName[] = "delete";
  CQBENCH_UNARY(library::v1::LibraryService, DeleteBook);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static grpc::Status Handle(const Request& request, Response* response);
  static HttpCall Http(const MessageConfig& config);
};

}  // namespace cqbench
