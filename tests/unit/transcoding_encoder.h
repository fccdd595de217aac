// The other direction, for tests: random messages, and requests that say them as google/api/http.proto tells a client
// to.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cqbench::transcoding {

using Random = std::mt19937_64;

// Below `end`.
inline uint64_t Below(Random& random, uint64_t end) {
  return random() % end;
}

// Text of up to `longest` characters, of one to four bytes each, with those that mean something in a URL or in JSON
// among them; none of it is empty where `filled`.
std::string RandomText(Random& random, size_t longest, bool filled = false);

// "shelves/TEXT/books/TEXT" for {"shelves", "*", "books", "*"}: a name that such a variable matches.
std::string RandomName(Random& random, const std::vector<std::string>& segments);

// Everything but [-_.~0-9a-zA-Z], and '/' where `slashes` are kept, is percent-encoded.
std::string PercentEncode(const std::string& text, bool slashes = false);

// Some of the fields of a message that have parameters, at random: single and repeated primitives, enumerations,
// timestamps, durations, masks, wrappers, and messages of these.
void FillParameters(Random& random, int depth, google::protobuf::Message& message);

// Takes messages away that are there but say nothing, which no parameter can write.
void DropEmptyMessages(google::protobuf::Message& message);

// What a client writes behind the '?' for a message: a parameter for each value.
std::string EncodeQuery(Random& random, const google::protobuf::Message& message, const std::string& prefix = "");

}  // namespace cqbench::transcoding
