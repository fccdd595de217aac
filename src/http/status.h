// The answers that the fronts give by themselves (RFC 9110, 15).
#pragma once

namespace cqbench {

inline constexpr int kBadRequest = 400;
inline constexpr int kTimeout = 408;
inline constexpr int kTooLarge = 413;
inline constexpr int kExpectationFailed = 417;
inline constexpr int kHeadTooLarge = 431;
inline constexpr int kUnanswered = 500;
inline constexpr int kNotImplemented = 501;

}  // namespace cqbench
