// A method whose messages are protobuf's, as a record: the generic stub uses a method without knowing its types.
#pragma once

#include <google/protobuf/message_lite.h>

#include "absl/strings/string_view.h"
#include "cqbench/run_config.h"
#include "src/workload/messages/with_serializer.h"

namespace cqbench {

struct MessageMethod {
  // Make supplies with the strategy and the serializer of the run; requests are filled. `config` must outlive them.
  ErasedMessages (*requests)(const RunConfig& config);
  ErasedMessages (*responses)(const RunConfig& config);
  // Says what is wrong with a response of the method, or nothing. Any thread, at the same time.
  absl::string_view (*check)(const google::protobuf::MessageLite& response, const MessageConfig& config);
};

// Returns the record of the built-in method with that id.
MessageMethod MessageMethodOf(int method_id);

}  // namespace cqbench
