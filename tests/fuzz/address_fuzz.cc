// --host: if an address is accepted, its text reads back as the same address.
#include "src/base/target.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  const auto targets = ParseTargets(fuzz::Text(data, size), 2137);
  if (!targets.ok()) return 0;
  fuzz::Require(!targets->empty(), "at least one address");
  for (const Target& target : *targets) {
    fuzz::Require(target.port >= 0 && target.port <= 65535, "a port");
    const auto again = ParseTarget(target.ToString(), 1);
    fuzz::Require(again.ok() && *again == target, "an address reads back");
  }
  return 0;
}
