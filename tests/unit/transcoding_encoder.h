// The inverse of transcoding, for tests: random messages, and requests that encode them as google/api/http.proto
// defines it for a client.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cqbench::transcoding {

using Random = std::mt19937_64;

// Returns a number below `end`.
inline uint64_t Below(Random& random, uint64_t end) {
  return random() % end;
}

// Returns text of up to `longest` characters, of one to four bytes each, some of which have a meaning in a URL or in
// JSON. The text is not empty if `filled`.
std::string RandomText(Random& random, size_t longest, bool filled = false);

// Returns "shelves/TEXT/books/TEXT" for {"shelves", "*", "books", "*"}: a name that matches the variable.
std::string RandomName(Random& random, const std::vector<std::string>& segments);

// Percent-encodes everything but [-_.~0-9a-zA-Z], and '/' if `slashes` are kept.
std::string PercentEncode(const std::string& text, bool slashes = false);

// Fills, at random, some fields of a message that query parameters can set: single and repeated primitives,
// enumerations, timestamps, durations, masks, wrappers, and messages of these.
void FillParameters(Random& random, int depth, google::protobuf::Message& message);

// Removes empty messages, which no parameter can express.
void DropEmptyMessages(google::protobuf::Message& message);

// Returns what a client writes after the '?' for a message: a parameter for each value.
std::string EncodeQuery(Random& random, const google::protobuf::Message& message, const std::string& prefix = "");

}  // namespace cqbench::transcoding
