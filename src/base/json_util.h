// protobuf's conversion between messages and JSON, which has other names in protobuf 3.21 than in later releases.
#pragma once

#if __has_include(<google/protobuf/json/json.h>)
#include <google/protobuf/json/json.h>
#define CQBENCH_PROTOBUF_HAS_JSON_H 1
#else
#include <google/protobuf/util/json_util.h>
#define CQBENCH_PROTOBUF_HAS_JSON_H 0
#endif

namespace cqbench::json_util {

#if CQBENCH_PROTOBUF_HAS_JSON_H
using google::protobuf::json::JsonStringToMessage;
using google::protobuf::json::MessageToJsonString;
using google::protobuf::json::ParseOptions;
using google::protobuf::json::PrintOptions;
#else
using google::protobuf::util::JsonStringToMessage;
using google::protobuf::util::MessageToJsonString;
using ParseOptions = google::protobuf::util::JsonParseOptions;
using PrintOptions = google::protobuf::util::JsonPrintOptions;
#endif

// Prints fields that are not `optional` at their defaults, too, if `always` is true.
inline void AlwaysPrintFields(bool always, PrintOptions& options) {
#if CQBENCH_PROTOBUF_HAS_JSON_H
  options.always_print_fields_with_no_presence = always;
#else
  options.always_print_primitive_fields = always;
#endif
}

}  // namespace cqbench::json_util
