// Runs a child process for a test: its output, its signals, its end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/config.h"

namespace cqbench::smoke {

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

using Seconds = std::chrono::duration<double>;

// Runs a program with pipes on its standard output and error and no input. The output is read only inside the waiting
// calls below, on the calling thread. The destructor kills and reaps the process; if the test dies first, the kernel
// kills the process. Only the thread that constructed the object may call it.
class Process {
 public:
  struct Options {
    int max_descriptors = 0;         // RLIMIT_NOFILE, soft and hard; 0: inherited
    bool error_is_terminal = false;  // makes standard error a pseudo-terminal, on which the client shows its progress
  };

  // argv[0] is the path of the program. Throws std::system_error if the system has no pipe or process left; a program
  // that cannot be executed ends with status 127.
  explicit Process(const std::vector<std::string>& argv) : Process(argv, Options{}) {}
  Process(const std::vector<std::string>& argv, const Options& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // Returns everything that was read so far.
  const std::string& out() const { return out_.text; }
  const std::string& err() const { return err_.text; }
  pid_t pid() const { return pid_; }

  // Reads output until the predicate holds; false at the timeout or at the end of the process.
  bool WaitUntil(const std::function<bool()>& predicate, Seconds timeout);
  // Waits for a whole line of standard output that begins with `prefix`, and returns what follows the prefix.
  std::optional<std::string> WaitForLine(std::string_view prefix, Seconds timeout);
  // Reads until the process has ended. Returns its exit status, or -N if signal N killed it; absent if it still runs.
  std::optional<int> Wait(Seconds timeout);

  // Sends the signal unless the process has been reaped.
  void Signal(int signal);

 private:
  struct Stream {
    int fd = -1;
    std::string text;
  };
  void ReadFrom(Stream& stream);
  void Reap();
  // Waits for one event; false at the deadline.
  bool Pump(std::chrono::steady_clock::time_point deadline);
  bool Ended() const { return status_ && out_.fd < 0 && err_.fd < 0; }

  pid_t pid_ = -1;
  int pid_fd_ = -1;  // becomes readable when the process ends
  Stream out_;
  Stream err_;
  std::optional<int> status_;
};

// Returns false in a bare chroot, where pseudo-terminals do not work.
bool HaveTerminals();

}  // namespace cqbench::smoke
