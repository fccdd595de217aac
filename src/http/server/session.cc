#include "src/http/server/session.h"

#include <algorithm>

namespace cqbench {

void LoopState::Tick() {
  now = NowNs();
  const time_t second = time(nullptr);
  if (second == date_of_) return;
  date_of_ = second;
  tm parts{};
  gmtime_r(&second, &parts);
  // Not strftime(): its names of days and months are the locale's.
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::array<char, 80> text{};  // what snprintf would need for any numbers
  snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[parts.tm_wday], parts.tm_mday,
           kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  std::copy_n(text.begin(), date.size() - 1, date.begin());
}

FirstBytes LookAt(std::string_view bytes) {
  static constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const size_t n = std::min(bytes.size(), kPreface.size());
  if (bytes.substr(0, n) != kPreface.substr(0, n)) return FirstBytes::kHttp1;
  return n == kPreface.size() ? FirstBytes::kHttp2 : FirstBytes::kUndecided;
}

}  // namespace cqbench
