#include "src/base/last_resort.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

// gRPC 1.51.1 starts about this many threads before a channel is connected, and cqbench a few. With fewer, 1.51.1 waits
// forever for a thread that it could not start.
constexpr int kThreads = 10;
// Memory in addition to the threads' stacks and the present mappings.
constexpr size_t kMemory = size_t{128} << 20;
constexpr size_t kNear = size_t{512} << 20;  // may explain what failed
constexpr Nanos kPeriod = 100 * kNanosPerMilli;

// Read by handlers, which may run at any time on any thread.
constinit std::atomic<const char*> program{"cqbench"};
constinit std::atomic<const char*> path_to_remove{nullptr};
constinit std::atomic<const std::string*> last_words{nullptr};
constinit std::atomic<const char*> abort_reason{""};
constinit std::atomic<int> periods_left{0};
constinit std::atomic<bool> ending{false};
constinit std::array<char, 80> step_text{};

timer_t step_timer{};

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

void Say(int fd, const char* text, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text += n;
    size -= static_cast<size_t>(n);
  }
}

void Say(const char* text) {
  Say(STDERR_FILENO, text, std::strlen(text));
}

// System calls only. Not to be gone through twice: another thread may be at it.
void SayLastWords(const char* why, const char* more) {
  while (ending.exchange(true)) pause();
  Say(program.load());
  Say(": ");
  Say(why);
  Say(more);
  Say("\n");
  if (const char* path = path_to_remove.load()) unlink(path);
  if (const std::string* words = last_words.load()) Say(STDOUT_FILENO, words->data(), words->size());
}

[[noreturn]] void End(const char* why, const char* more = "") {
  SayLastWords(why, more);
  _exit(1);
}

rlim_t Limit(__rlimit_resource which) {
  rlimit limit{};
  return getrlimit(which, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool MemoryIsLimited() {
  return Limit(RLIMIT_AS) != RLIM_INFINITY;
}

void OnNoMemory() {
  End("out of memory", MemoryIsLimited() ? " (ulimit -v)" : "");
}

constexpr char kNoWayOn[] = "could not go on, as it seems for want of memory (ulimit -v)";

constinit std::terminate_handler usual_terminate{nullptr};

void OnTerminate() {
  if (MemoryIsLimited()) End(kNoWayOn);
  usual_terminate();  // which names the exception
}

// The handler is gone by now: elsewhere than under a limit the fault happens again, and leaves its core.
void OnFault(int signal) {
  if (MemoryIsLimited()) End(kNoWayOn);
  const bool aborted = signal == SIGABRT;
  SayLastWords(aborted ? "gRPC, or this program, gave up (SIGABRT): what was measured before is kept"
                       : "gRPC, or this program, failed (SIGSEGV): what was measured before is kept",
               aborted ? abort_reason.load() : "");
  raise(signal);
}

void OnPeriod(int /*signal*/) {
  if (periods_left.load() > 0 && periods_left.fetch_sub(1) == 1) {
    End(step_text.data(), " takes longer than it may: gRPC hangs, as it does when it cannot have a thread or memory");
  }
}

void Handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

// Threads that wait until all are there.
class Trial {
 public:
  ~Trial() {
    pthread_mutex_lock(&mutex_);
    over_ = true;
    pthread_cond_broadcast(&end_);
    pthread_mutex_unlock(&mutex_);
    for (int i = 0; i < started_; ++i) pthread_join(threads_[static_cast<size_t>(i)], nullptr);
  }
  // 0, or why there are fewer.
  int Start() {
    for (pthread_t& thread : threads_) {
      if (const int error = pthread_create(&thread, nullptr, &Trial::Wait, this)) return error;
      ++started_;
    }
    return 0;
  }
  int started() const { return started_; }

 private:
  static void* Wait(void* self) {
    auto& trial = *static_cast<Trial*>(self);
    pthread_mutex_lock(&trial.mutex_);
    while (!trial.over_) pthread_cond_wait(&trial.end_, &trial.mutex_);
    pthread_mutex_unlock(&trial.mutex_);
    return nullptr;
  }
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t end_ = PTHREAD_COND_INITIALIZER;
  bool over_ = false;
  int started_ = 0;
  std::array<pthread_t, kThreads> threads_{};
};

bool CanMap(size_t bytes) {
  void* const map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return false;
  munmap(map, bytes);
  return true;
}

std::string MiB(rlim_t bytes) {
  return absl::StrCat(bytes >> 20, " MiB");
}

size_t StackBytes() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

std::string NoMemoryForStart() {
  return absl::StrCat("too little memory: gRPC needs ", kThreads, " threads with stacks of ", MiB(StackBytes()),
                      " and ", MiB(kMemory), " more; the limit is ", MiB(Limit(RLIMIT_AS)), " in all (ulimit -v)");
}

}  // namespace

void InstallLastResort(const char* name) {
  program.store(name);
  std::set_new_handler(OnNoMemory);
  usual_terminate = std::set_terminate(OnTerminate);
  if (kSanitized) return;  // which has handlers of its own
  for (const int signal : {SIGABRT, SIGSEGV}) Handle(signal, OnFault, static_cast<int>(SA_RESETHAND));
}

void ExplainAbort(const std::string& why) {
  static std::string kept;
  kept = why.empty() ? "" : "; " + why;
  abort_reason.store(kept.c_str());
}

absl::Status CheckThreadsAndMemory() {
  Trial trial;
  const int error = trial.Start();
  const bool limited = MemoryIsLimited();
  if (limited && ((error != 0 && !CanMap(StackBytes())) || (error == 0 && !CanMap(kMemory)))) {
    return absl::ResourceExhaustedError(NoMemoryForStart());
  }
  if (error == 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("too few threads: gRPC needs about ", kThreads, ", ",
                                                   trial.started(), " could be started (", std::strerror(error),
                                                   "); the limit of this user is ", Limit(RLIMIT_NPROC),
                                                   " in all processes (ulimit -u), or a container's"));
}

std::string NearLimit() {
  if (!MemoryIsLimited() || CanMap(kNear)) return "";
  return absl::StrCat("less than ", MiB(kNear), " are left of the ", MiB(Limit(RLIMIT_AS)), " of ulimit -v");
}

void RemoveAtLastResort(const std::string& path) {
  path_to_remove.store(path.empty() ? nullptr : path.c_str());
}

void SayAtLastResort(std::string text) {
  static std::array<std::string, 2> kept;  // one may be being printed
  static size_t next = 0;
  kept[next] = std::move(text);
  last_words.store(&kept[next]);
  next = 1 - next;
}

StepLimit::StepLimit(absl::string_view doing, Nanos limit) {
  const size_t size = doing.copy(step_text.data(), step_text.size() - 1);
  step_text[size] = '\0';
  periods_left.store(static_cast<int>(std::clamp<Nanos>(limit / kPeriod, 1, INT32_MAX)));
  Handle(SIGALRM, OnPeriod, SA_RESTART);
  // To this thread: others' system calls are not interrupted.
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  const timespec period{kPeriod / kNanosPerSecond, kPeriod % kNanosPerSecond};
  const itimerspec times{period, period};
  armed_ = timer_create(CLOCK_MONOTONIC, &event, &step_timer) == 0;
  if (armed_) timer_settime(step_timer, 0, &times, nullptr);
}

StepLimit::~StepLimit() {
  periods_left.store(0);
  if (armed_) timer_delete(step_timer);
}

}  // namespace cqbench
