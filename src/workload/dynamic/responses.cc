#include "src/workload/dynamic/responses.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/workload/dynamic/json.h"

namespace cqbench {
namespace {

namespace pb = google::protobuf;

class ResponseChecker : public BytesChecker {
 public:
  ResponseChecker(std::shared_ptr<const Descriptors> descriptors, const pb::Descriptor* type,
                  std::unique_ptr<pb::Message> expected)
      : BytesChecker(&Check),
        descriptors_(std::move(descriptors)),
        prototype_(descriptors_->Prototype(type)),
        expected_(std::move(expected)),
        no_message_(absl::StrCat("the response is not a ", std::string(type->full_name()))) {
    if (expected_) expected_bytes_ = expected_->SerializeAsString();
  }

 private:
  static absl::string_view Check(const BytesChecker& self, const grpc::ByteBuffer& response) {
    return static_cast<const ResponseChecker&>(self).Check(response);
  }
  absl::string_view Check(const grpc::ByteBuffer& response) const {
    grpc::Slice slice;
    if (response.Length() > 0 && !response.TrySingleSlice(&slice).ok() && !response.DumpToSingleSlice(&slice).ok()) {
      return no_message_;
    }
    const absl::string_view bytes(reinterpret_cast<const char*>(slice.begin()), slice.size());
    if (expected_ && bytes == expected_bytes_) return {};
    const std::unique_ptr<pb::Message> message(prototype_.New());
    if (!message->ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) return no_message_;
    return expected_ ? Compare(*message) : absl::string_view();
  }
  // Returns the difference in the first wrong response, also for all that follow.
  absl::string_view Compare(const pb::Message& message) const {
    std::string difference;
    pb::util::MessageDifferencer differencer;
    differencer.ReportDifferencesToString(&difference);
    if (differencer.Compare(*expected_, message)) return {};
    const std::lock_guard lock(mutex_);
    if (wrong_.empty()) {
      wrong_ = absl::StrCat("the response is not what --expect says: ", difference.substr(0, difference.find('\n')));
    }
    return wrong_;
  }

  const std::shared_ptr<const Descriptors> descriptors_;
  const pb::Message& prototype_;
  const std::unique_ptr<pb::Message> expected_;
  std::string expected_bytes_;
  const std::string no_message_;
  mutable std::mutex mutex_;   // taken for wrong responses only
  mutable std::string wrong_;  // guarded by mutex_; written once
};

}  // namespace

absl::StatusOr<std::shared_ptr<const BytesChecker>> MakeResponseChecker(std::shared_ptr<const Descriptors> descriptors,
                                                                        const pb::Descriptor* type,
                                                                        const std::optional<std::string>& expected) {
  std::unique_ptr<pb::Message> message;
  if (expected) {
    message.reset(descriptors->Prototype(type).New());
    if (const absl::Status status = ParseJson(*expected, *message); !status.ok()) return status;
  }
  return std::make_shared<const ResponseChecker>(std::move(descriptors), type, std::move(message));
}

}  // namespace cqbench
