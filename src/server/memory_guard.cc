#include "src/server/memory_guard.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cqbench/connections.h"

namespace cqbench {
namespace {

// Less that is free is not worth the trouble.
constexpr uint64_t kWorthTrimming = uint64_t{256} << 10;
constexpr int kIdleLooks = 10;
constexpr Nanos kTellEvery = kNanosPerSecond;

uint64_t MiB(uint64_t bytes) {
  return bytes >> 20;
}

// Of a control group's file: absent there is no limit.
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

MemoryGuard::MemoryGuard(uint64_t limit_bytes, PingServer& server)
    : limit_bytes_(limit_bytes), server_(server), statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}
MemoryGuard::~MemoryGuard() {
  if (statm_ >= 0) close(statm_);
}

// Of "size resident ...", in pages.
uint64_t MemoryGuard::Resident() const {
  std::array<char, 128> text;
  const ssize_t n = pread(statm_, text.data(), text.size(), 0);
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(text.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))), ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return 0;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string MemoryGuard::Look() {
  const uint64_t resident = Resident();
  const uint64_t messages = server_.Messages();
  idle_looks_ = messages == messages_ ? idle_looks_ + 1 : 0;
  messages_ = messages;
  if (limit_bytes_ > 0 && resident > limit_bytes_) {
    malloc_trim(0);  // much of it may be free
    const uint64_t in_use = Resident();
    return in_use > limit_bytes_ ? EndConnections(in_use) : "";
  }
  TrimWhenIdle(resident);
  return "";
}

// A descriptor may be another's by now: then that one ends, too, as if it had come a moment earlier.
std::string MemoryGuard::EndConnections(uint64_t resident) {
  const auto connections = FindAccepted(server_.listening());
  if (!connections || connections->empty()) return "";
  for (const OpenConnection& connection : *connections) shutdown(connection.fd, SHUT_RDWR);
  const Nanos now = NowNs();
  if (told_at_ != 0 && now - told_at_ < kTellEvery) return "";
  told_at_ = now;
  return absl::StrCat("memory: ", MiB(resident), " MiB, more than the ", MiB(limit_bytes_),
                      " MiB of --memory-limit: ended ", connections->size(), " connection(s)");
}

// What is resident without being in use: free, but kept by the allocator. Some of it always stays.
void MemoryGuard::TrimWhenIdle(uint64_t resident) {
  if (idle_looks_ % kIdleLooks != kIdleLooks - 1) return;
  const uint64_t unused = resident - std::min(resident, InUse());
  unused_ = std::min(unused_, unused);
  if (unused < unused_ + kWorthTrimming) return;
  malloc_trim(0);
  const uint64_t left = Resident();
  unused_ = left - std::min(left, InUse());
}

}  // namespace cqbench
