// Descriptors of services that this program was not compiled with: from .proto files, a set of descriptors, or, as
// plain descriptors, from wherever they came.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench {

inline constexpr size_t kMaxDescriptorBytes = 64u << 20;

// A service and a method as people type them: "package.Service/Method", "/package.Service/Method" or
// "package.Service.Method". INVALID_ARGUMENT with one line.
struct MethodName {
  std::string service;
  std::string method;
};
absl::StatusOr<MethodName> ParseMethodName(absl::string_view text);

// Immutable; any thread. Errors are one line. Messages that are made from it must not outlive it.
class Descriptors {
 public:
  using Files = std::vector<google::protobuf::FileDescriptorProto>;

  // `import_paths` are searched first, then the working directory, then the file's own; google/protobuf/*.proto are
  // known without.
  static absl::StatusOr<std::shared_ptr<const Descriptors>> FromProto(const std::string& path,
                                                                      const std::vector<std::string>& import_paths);
  // A file that protoc --descriptor_set_out --include_imports writes.
  static absl::StatusOr<std::shared_ptr<const Descriptors>> FromProtoset(const std::string& path);
  // Files in any order, each once. INVALID_ARGUMENT when they contradict each other or themselves.
  static absl::StatusOr<std::shared_ptr<const Descriptors>> FromFiles(const Files& files);

  // NOT_FOUND lists the services, or the methods of the service, that there are.
  absl::StatusOr<const google::protobuf::MethodDescriptor*> Find(const MethodName& name) const;
  // An empty message of the type; lives as long as this.
  const google::protobuf::Message& Prototype(const google::protobuf::Descriptor* type) const;
  // For messages that name their type in JSON (google.protobuf.Any).
  const google::protobuf::DescriptorPool& pool() const { return *pool_; }

 private:
  class Errors;
  explicit Descriptors(const Files& files);

  google::protobuf::SimpleDescriptorDatabase database_;
  std::unique_ptr<Errors> errors_;
  std::unique_ptr<google::protobuf::DescriptorPool> pool_;
  std::vector<const google::protobuf::ServiceDescriptor*> services_;
  mutable google::protobuf::DynamicMessageFactory factory_;
};

// "a, b, c", as many as fit a line, and how many more there are.
std::string ListNames(const std::vector<std::string>& names);
absl::Status NoSuchService(const std::string& service, const std::vector<std::string>& there_are);

}  // namespace cqbench
