#include "src/observe/sampling/tcp_info.h"

#include <linux/tcp.h>  // has the newer fields; <netinet/tcp.h> does not, and the two cannot be had together
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace cqbench {
namespace {

constexpr int kTcpEstablished = 1;  // the kernel's TCP_ESTABLISHED, which <linux/tcp.h> does not name

bool GetTcpInfo(int fd, tcp_info* info, socklen_t* length) {
  *info = tcp_info{};
  *length = sizeof(*info);
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, length) == 0;
}

}  // namespace

bool IsTcpEstablished(int fd) {
  tcp_info info;
  socklen_t length;
  return GetTcpInfo(fd, &info, &length) && info.tcpi_state == kTcpEstablished;
}

std::optional<ConnectionSample> ReadTcpInfo(int fd, uint64_t id) {
  struct stat file {};
  tcp_info info;
  socklen_t length;
  if (fstat(fd, &file) != 0 || !S_ISSOCK(file.st_mode) || (id != 0 && file.st_ino != id)) return std::nullopt;
  ConnectionSample sample;
  sample.set_taken_at_ns(NowNs());
  // Kernels before 4.10 know nothing of the time that a connection was busy.
  if (!GetTcpInfo(fd, &info, &length) || length < offsetof(tcp_info, tcpi_rwnd_limited)) return std::nullopt;
  sample.set_id(file.st_ino);
  sample.set_busy_ns(static_cast<Nanos>(info.tcpi_busy_time) * kNanosPerMicro);
  sample.set_segments_sent(info.tcpi_data_segs_out);
  sample.set_segments_received(info.tcpi_data_segs_in);
  sample.set_bytes_sent(info.tcpi_bytes_acked);
  sample.set_bytes_received(info.tcpi_bytes_received);
  sample.set_retransmissions(info.tcpi_total_retrans);
  sample.set_rtt_smoothed_ns(Nanos{info.tcpi_rtt} * kNanosPerMicro);
  sample.set_rtt_min_ns(Nanos{info.tcpi_min_rtt} * kNanosPerMicro);
  int no_delay = 0;
  socklen_t size = sizeof(no_delay);
  sample.set_no_delay(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0 && no_delay != 0);
  char name[16] = {};
  size = sizeof(name) - 1;
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0) sample.set_congestion_control(name);
  return sample;
}

}  // namespace cqbench
