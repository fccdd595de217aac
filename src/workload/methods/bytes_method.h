// A method whose messages are bytes, as a record: what is sent is made once, before the clock starts. Built-in methods
// have one for --messages bytes; a method that only a description is known of has nothing else.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cqbench/method_info.h"
#include "src/config/messages.h"

namespace cqbench {

// Says what is wrong with a response, or nothing. Any thread, at the same time. What is returned lives as long as the
// checker.
class BytesChecker {
 public:
  using Function = absl::string_view(const BytesChecker& self, const grpc::ByteBuffer& response);

  explicit BytesChecker(Function* check) : check_(check) {}
  virtual ~BytesChecker() = default;
  // A function pointer and not a virtual function: one load less on the way of every response.
  absl::string_view Check(const grpc::ByteBuffer& response) const { return check_(*this, response); }

 private:
  Function* const check_;
};

struct BytesMethod {
  std::string path;  // "/cqbench.v1.EchoService/Echo"
  Shape shape = Shape::kUnary;
  // At least one. A call sends the next one; a client-streaming call sends them from the first on, over and over.
  std::vector<grpc::ByteBuffer> requests;
  DataOrder order = DataOrder::kRotate;
  uint64_t seed = 1;                            // of DataOrder::kRandom
  std::optional<int> responses;                 // of a server-streaming call; absent: any number
  std::shared_ptr<const BytesChecker> checker;  // nullptr: any response is right
};

// Makes the bytes method of a built-in method.
std::shared_ptr<const BytesMethod> MakeBytesMethod(int method_id, const MessageConfig& config);

}  // namespace cqbench
