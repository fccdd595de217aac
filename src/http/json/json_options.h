// What may be chosen about JSON.
#pragma once

namespace cqbench::transcoding {

struct JsonOptions {
  // Requests: fields that a message does not have, and names that an enumeration does not have, are an error, or passed
  // over.
  bool ignore_unknown_fields = false;
  // Objects and arrays inside each other, which a parser's stack has to hold.
  int max_depth = 64;
  // Responses: fields without presence are printed also when they are 0, false or empty.
  bool print_defaults = false;
  bool enums_as_numbers = false;
  // book_id instead of bookId. Both are understood in requests.
  bool proto_names = false;
};

}  // namespace cqbench::transcoding
