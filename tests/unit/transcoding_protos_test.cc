// Rules of other projects: every service with google.api.http rules in a folder of .proto files. The default is the
// package of google/api/http.proto, which has a few more; CQBENCH_PROTOS=DIR names a clone of
// github.com/googleapis/googleapis, which has thousands.
#include <gmock/gmock.h>
#include <google/api/annotations.pb.h>
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "src/http/routes/transcoder.h"

namespace cqbench::transcoding {
namespace {

// Files with missing imports are skipped.
class SilentCollector : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string&, int, int, const std::string&) {}
  void RecordError(absl::string_view, int, int, absl::string_view) {}
};

std::vector<std::string> FilesWithRules(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".proto") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.find("(google.api.http)") == std::string::npos) continue;
    files.push_back(std::filesystem::relative(entry.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Counts the rule and its additional bindings.
size_t RulesOf(const google::protobuf::ServiceDescriptor& service) {
  size_t rules = 0;
  for (int i = 0; i < service.method_count(); ++i) {
    const auto& options = service.method(i)->options();
    if (!options.HasExtension(google::api::http)) continue;
    rules += 1 + static_cast<size_t>(options.GetExtension(google::api::http).additional_bindings_size());
  }
  return rules;
}

TEST(Protos, OfOthersAreServed) {
  const char* const wanted = std::getenv("CQBENCH_PROTOS");
  const std::string folder = wanted != nullptr ? wanted : CQBENCH_GOOGLEAPIS_DIR;
  google::protobuf::compiler::DiskSourceTree tree;
  tree.MapPath("", folder);
  tree.MapPath("", CQBENCH_GOOGLEAPIS_DIR);
  // The descriptors that are linked with this program: google/protobuf/*.proto.
  google::protobuf::DescriptorPoolDatabase linked(*google::protobuf::DescriptorPool::generated_pool());
  SilentCollector errors;
  size_t rules = 0;
  size_t services = 0;
  std::vector<std::string> refused;
  for (const std::string& name : FilesWithRules(folder)) {
    google::protobuf::compiler::SourceTreeDescriptorDatabase files(&tree, &linked);
    files.RecordErrorsTo(&errors);
    google::protobuf::DescriptorPool pool(&files, files.GetValidationErrorCollector());
    const auto* file = pool.FindFileByName(name);
    if (file == nullptr) {
      std::cout << "not read: " << name << "\n";
      continue;
    }
    google::protobuf::DynamicMessageFactory factory;
    for (int i = 0; i < file->service_count(); ++i) {
      const auto& service = *file->service(i);
      const auto transcoder = DescriptorTranscoder::Make(pool, factory, {std::string(service.full_name())}, {});
      ASSERT_TRUE(transcoder.ok()) << transcoder.status();
      const std::vector<std::string> lines = (*transcoder)->refused();
      refused.insert(refused.end(), lines.begin(), lines.end());
      rules += RulesOf(service);
      ++services;
    }
  }
  if (rules == 0) GTEST_SKIP() << "there are no rules in " << folder;
  std::cout << rules << " rules of " << services << " services\n";
  if (wanted == nullptr) {
    EXPECT_THAT(refused, testing::ElementsAre());
    return;
  }
  for (const std::string& line : refused) std::cout << line << "\n";
  EXPECT_LT(refused.size(), rules / 50);
}

}  // namespace
}  // namespace cqbench::transcoding
