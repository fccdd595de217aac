// Random messages of any type, for tests.
#pragma once

#include <google/protobuf/message.h>

#include "tests/unit/transcoding_encoder.h"

namespace cqbench::transcoding {

// Sets about every third field, with the values on the edges of each type among them: NaN, infinities, the greatest and
// smallest numbers, numbers without a name of an enumeration, text of one to four bytes a character. Times and Structs
// are ones that JSON can say; an Any has a book of the library. `depth`: how many messages inside each other.
void FillEverything(Random& random, int depth, google::protobuf::Message& message);

}  // namespace cqbench::transcoding
