#include "tests/smoke/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace cqbench::smoke {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void ThrowErrno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// The end that the test reads and the end that the child writes.
struct Ends {
  int reader = -1;
  int writer = -1;
};

Ends MakePipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) ThrowErrno("pipe2");
  return {fds[0], fds[1]};
}

bool OpenTerminal(Ends* ends) {
  ends->reader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ends->reader < 0) return false;
  std::array<char, 64> name{};
  if (grantpt(ends->reader) == 0 && unlockpt(ends->reader) == 0 &&
      ptsname_r(ends->reader, name.data(), name.size()) == 0) {
    ends->writer = open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  if (ends->writer < 0) {
    close(ends->reader);
    return false;
  }
  termios raw{};
  if (tcgetattr(ends->writer, &raw) == 0) {  // the terminal must not change bytes
    cfmakeraw(&raw);
    tcsetattr(ends->writer, TCSANOW, &raw);
  }
  return true;
}

// Runs between fork and exec, where other threads may have held any lock: system calls only.
[[noreturn]] void RunChild(char* const* argv, int out, int err, int max_descriptors, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before the line above
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (max_descriptors > 0) {
    const auto n = static_cast<rlim_t>(max_descriptors);
    const rlimit limit{n, n};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(127);
  }
  execv(argv[0], argv);
  static constexpr char kMessage[] = "cannot execute the program\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(127);
}

}  // namespace

bool HaveTerminals() {
  Ends ends;
  if (!OpenTerminal(&ends)) return false;
  close(ends.reader);
  close(ends.writer);
  return true;
}

Process::Process(const std::vector<std::string>& argv, const Options& options) {
  std::vector<char*> pointers;
  for (const std::string& arg : argv) pointers.push_back(const_cast<char*>(arg.c_str()));
  pointers.push_back(nullptr);
  const Ends out = MakePipe();
  Ends err;
  if (!options.error_is_terminal) {
    err = MakePipe();
  } else if (!OpenTerminal(&err)) {
    ThrowErrno("pseudo-terminal");
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) RunChild(pointers.data(), out.writer, err.writer, options.max_descriptors, parent);
  const int fork_error = errno;
  close(out.writer);
  close(err.writer);
  out_.fd = out.reader;
  err_.fd = err.reader;
  errno = fork_error;
  if (pid_ < 0) ThrowErrno("fork");
  pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pid_fd_ < 0) ThrowErrno("pidfd_open");
}

Process::~Process() {
  if (pid_ > 0 && !status_) {
    Signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (int fd : {pid_fd_, out_.fd, err_.fd}) {
    if (fd >= 0) close(fd);
  }
}

void Process::Signal(int signal) {
  if (!status_) kill(pid_, signal);
}

void Process::ReadFrom(Stream& stream) {
  std::array<char, 4096> buffer;
  const ssize_t n = read(stream.fd, buffer.data(), buffer.size());
  if (n > 0) {
    stream.text.append(buffer.data(), static_cast<size_t>(n));
  } else if (n == 0 || errno != EINTR) {  // a terminal that no process has open reports EIO
    close(stream.fd);
    stream.fd = -1;
  }
}

void Process::Reap() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return;
  status_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool Process::Pump(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left <= 0) return false;
  std::array<pollfd, 3> fds{{{out_.fd, POLLIN, 0}, {err_.fd, POLLIN, 0}, {status_ ? -1 : pid_fd_, POLLIN, 0}}};
  if (poll(fds.data(), fds.size(), static_cast<int>(std::min<int64_t>(left, INT_MAX))) <= 0) return true;
  if (fds[0].revents != 0) ReadFrom(out_);
  if (fds[1].revents != 0) ReadFrom(err_);
  if (fds[2].revents != 0) Reap();
  return true;
}

bool Process::WaitUntil(const std::function<bool()>& predicate, Seconds timeout) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  while (!predicate()) {
    if (Ended() || !Pump(deadline)) return predicate();
  }
  return true;
}

std::optional<std::string> Process::WaitForLine(std::string_view prefix, Seconds timeout) {
  std::optional<std::string> rest;
  const auto find = [&] {
    for (size_t begin = 0, end; (end = out_.text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string_view line(out_.text.data() + begin, end - begin);
      if (line.substr(0, prefix.size()) == prefix) rest = std::string(line.substr(prefix.size()));
      if (rest) break;
    }
    return rest.has_value();
  };
  WaitUntil(find, timeout);
  return rest;
}

std::optional<int> Process::Wait(Seconds timeout) {
  if (!WaitUntil([this] { return Ended(); }, timeout)) return std::nullopt;
  return status_;
}

}  // namespace cqbench::smoke
