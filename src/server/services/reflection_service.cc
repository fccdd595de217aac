#include "src/server/services/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <utility>

namespace cqbench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using reflection::ReflectionResponse;

void NotFound(ReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response.mutable_error_response()->set_error_message("not found");
}

// The file and all that it imports.
void AddFile(const FileDescriptor* file, std::set<const FileDescriptor*>& added, ReflectionResponse& response) {
  if (!added.insert(file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  *response.mutable_file_descriptor_response()->add_file_descriptor_proto() = proto.SerializeAsString();
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), added, response);
}
void SetFile(const FileDescriptor* file, ReflectionResponse& response) {
  std::set<const FileDescriptor*> added;
  file != nullptr ? AddFile(file, added, response) : NotFound(response);
}

void SetExtension(const reflection::Extension& wanted, ReflectionResponse& response) {
  const DescriptorPool* const pool = DescriptorPool::generated_pool();
  const Descriptor* const type = pool->FindMessageTypeByName(wanted.containing_type());
  const FieldDescriptor* const field =
      type != nullptr ? pool->FindExtensionByNumber(type, wanted.extension_number()) : nullptr;
  SetFile(field != nullptr ? field->file() : nullptr, response);
}

void SetExtensionNumbers(const std::string& name, ReflectionResponse& response) {
  const DescriptorPool* const pool = DescriptorPool::generated_pool();
  const Descriptor* const type = pool->FindMessageTypeByName(name);
  if (type == nullptr) return NotFound(response);
  std::vector<const FieldDescriptor*> fields;
  pool->FindAllExtensions(type, &fields);
  auto& numbers = *response.mutable_all_extension_numbers_response();
  numbers.set_base_type_name(name);
  for (const FieldDescriptor* field : fields) numbers.add_extension_number(field->number());
}

}  // namespace

// Adds methods as generated code does; one handler for the two names that the same messages have.
ReflectionService::ReflectionService(std::vector<std::string> services) : services_(std::move(services)) {
  for (const std::string package : {"grpc.reflection.v1", "grpc.reflection.v1alpha"}) {
    services_.push_back(package + ".ServerReflection");
    // The name must live as long as the service does.
    paths_.push_back("/" + services_.back() + "/ServerReflectionInfo");
  }
  for (const std::string& path : paths_) {
    AddMethod(new grpc::internal::RpcServiceMethod(
        path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING,
        new grpc::internal::BidiStreamingHandler<ReflectionService, Request, Response>(
            [](ReflectionService* self, grpc::ServerContext*, Stream* stream) { return self->Serve(stream); }, this)));
  }
}

grpc::Status ReflectionService::Serve(Stream* stream) {
  const CallLimit::Call call(streams_);
  if (!call.allowed()) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many reflection streams"};
  Request request;
  while (stream->Read(&request) && stream->Write(Answer(request))) continue;
  return grpc::Status::OK;
}

ReflectionService::Response ReflectionService::Answer(const Request& request) const {
  const DescriptorPool* const pool = DescriptorPool::generated_pool();
  Response response;
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      SetFile(pool->FindFileByName(request.file_by_filename()), response);
      break;
    case Request::kFileContainingSymbol:
      SetFile(pool->FindFileContainingSymbol(request.file_containing_symbol()), response);
      break;
    case Request::kFileContainingExtension:
      SetExtension(request.file_containing_extension(), response);
      break;
    case Request::kAllExtensionNumbersOfType:
      SetExtensionNumbers(request.all_extension_numbers_of_type(), response);
      break;
    case Request::kListServices:
      for (const std::string& name : services_)
        response.mutable_list_services_response()->add_service()->set_name(name);
      break;
    case Request::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::UNIMPLEMENTED);
      response.mutable_error_response()->set_error_message("no such question");
      break;
  }
  return response;
}

}  // namespace cqbench
