#include "src/server/limits/memory_guard.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/observe/sampling/connections.h"
#include "src/server/limits/ends_within.h"

namespace cqbench {
namespace {

// Less that is free is not worth the trouble.
constexpr uint64_t kWorthTrimming = uint64_t{256} << 10;
constexpr int kChecksApart = 10;
// The least that is worth the trouble while the server is busy: what is free now may be in use in a moment.
constexpr uint64_t kMuch = uint64_t{128} << 20;
constexpr int kLastPatience = 64;
// As much as 75,000 small calls take. A well-behaved client has fewer in flight, or messages so large that the check
// whether its calls still live is cheap in comparison.
constexpr uint64_t kMayBeBehind = uint64_t{1} << 30;
constexpr Nanos kReportEvery = kNanosPerSecond;

uint64_t MiB(uint64_t bytes) {
  return bytes >> 20;
}

// A number in a control group's file: absent there is no limit.
uint64_t LimitIn(const char* path) {
  std::ifstream file(path);
  uint64_t bytes = 0;
  return file >> bytes ? bytes : UINT64_MAX;
}

uint64_t InUse() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

}  // namespace

uint64_t DefaultMemoryLimit() {
  constexpr uint64_t kMost = uint64_t{8} << 30;
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t group =
      std::min(LimitIn("/sys/fs/cgroup/memory.max"), LimitIn("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  return std::min(std::min(machine, group) / 2, kMost);
}

MemoryGuard::MemoryGuard(uint64_t limit_bytes)
    : limit_bytes_(limit_bytes),
      behind_from_(limit_bytes > 0 ? std::min(limit_bytes / 2, kMayBeBehind) : kMayBeBehind),
      statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}
MemoryGuard::~MemoryGuard() {
  if (statm_ >= 0) close(statm_);
}

// Reads "size resident ...", in pages.
uint64_t MemoryGuard::Resident() const {
  std::array<char, 128> text;
  const ssize_t n = pread(statm_, text.data(), text.size(), 0);
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(text.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))), ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return 0;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string MemoryGuard::Check(PingServer& server) {
  const uint64_t resident = Resident();
  may_be_behind_.store(resident > behind_from_, std::memory_order_relaxed);
  if (limit_bytes_ > 0 && resident > limit_bytes_) {
    TrimWithinAPeriod();  // much of it may be free
    const uint64_t in_use = Resident();
    return in_use > limit_bytes_ ? EndConnections(server, in_use) : "";
  }
  if (++checks_ % kChecksApart == 0) TrimUnused(server, resident);
  return "";
}

// Trimming takes the lock of each of the allocator's arenas. While 80 threads of a sync server wrote large responses it
// got them after 8 s, in which 2 GiB became 9.
void MemoryGuard::TrimWithinAPeriod() {
  if (trimming_.exchange(true)) return;
  EndsWithin(kPeriod, [] {
    malloc_trim(0);
    trimming_ = false;
  });
}

// A descriptor may be another's by now: then that one ends, too, as if it had come a moment earlier.
std::string MemoryGuard::EndConnections(PingServer& server, uint64_t resident) {
  const auto connections = FindAccepted(server.listening());
  if (!connections || connections->empty()) return "";
  for (const OpenConnection& connection : *connections) shutdown(connection.fd, SHUT_RDWR);
  const Nanos now = NowNs();
  if (reported_at_ != 0 && now - reported_at_ < kReportEvery) return "";
  reported_at_ = now;
  return absl::StrCat("memory: ", MiB(resident), " MiB, more than the ", MiB(limit_bytes_),
                      " MiB of --memory-limit: ended ", connections->size(), " connection(s)");
}

// Memory that is resident without being in use is free, but kept by the allocator. Some of it always stays.
void MemoryGuard::TrimUnused(PingServer& server, uint64_t resident) {
  const uint64_t messages = server.Messages();
  const bool idle = messages == std::exchange(messages_, messages);
  if (!idle && resident < kMuch) return Forget();  // nothing more is read while a server is measured
  const uint64_t in_use = InUse();
  const uint64_t unused = resident - std::min(resident, in_use);
  unused_ = std::min(unused_, unused);
  if (idle) {
    Forget();
    if (unused >= unused_ + kWorthTrimming) Trim();
    return;
  }
  large_ = unused >= unused_ + kMuch && unused > in_use ? large_ + 1 : 0;
  if (large_ < patience_) return;
  Trim();
  large_ = 0;
  patience_ = std::min(2 * patience_, kLastPatience);
}

void MemoryGuard::Forget() {
  large_ = 0;
  patience_ = kFirstPatience;
}

void MemoryGuard::Trim() {
  malloc_trim(0);
  const uint64_t left = Resident();
  unused_ = left - std::min(left, InUse());
}

}  // namespace cqbench
