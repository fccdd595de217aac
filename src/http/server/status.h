// The responses that the server gives by itself (RFC 9110, 15).
#pragma once

#include <string_view>

namespace cqbench {

inline constexpr int kBadRequest = 400;
inline constexpr int kTimeout = 408;
inline constexpr int kTooLarge = 413;
inline constexpr int kTargetTooLong = 414;
inline constexpr int kExpectationFailed = 417;
inline constexpr int kMisdirected = 421;
inline constexpr int kHeadTooLarge = 431;
inline constexpr int kUnanswered = 500;
inline constexpr int kNotImplemented = 501;

// "OK" for 200.
std::string_view ReasonOf(int status);

}  // namespace cqbench
