// Enumerations whose values have names in flags, help, JSON and reports: each has one table, NamesOf(), next to it.
#pragma once

#include <array>
#include <optional>

#include "absl/strings/string_view.h"

namespace cqbench {

template <typename E>
struct EnumName {
  E value;
  absl::string_view name;
};

// The table of an enumeration E is a constexpr function NamesOf(E), which returns std::array<EnumName<E>, N>. Its
// argument says only which table.
template <typename E>
concept NamedEnum = requires {
  NamesOf(E{});
};

// Returns "?" for a value that is not in the table.
template <NamedEnum E>
constexpr absl::string_view ToString(E value) {
  for (const EnumName<E>& each : NamesOf(E{})) {
    if (each.value == value) return each.name;
  }
  return "?";
}

template <NamedEnum E>
constexpr std::optional<E> FromString(absl::string_view name) {
  for (const EnumName<E>& each : NamesOf(E{})) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

}  // namespace cqbench
