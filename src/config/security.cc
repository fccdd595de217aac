#include "src/config/security.h"

#include "absl/strings/str_join.h"

namespace cqbench {

absl::string_view ToString(TlsVersion version) {
  return version == TlsVersion::k13 ? "1.3" : "1.2";
}

std::string CipherList(const Security& security) {
  return absl::StrJoin(security.ciphers, ":");
}

}  // namespace cqbench
