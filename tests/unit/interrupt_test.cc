// Sleeping that SIGINT and SIGTERM end. The test sends signals to its own thread: a thread from before signals were
// blocked could take a signal to the process.
#include "src/base/interrupt.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <ctime>
#include <thread>

namespace cqbench {
namespace {

constexpr Nanos kHour = 3600 * kNanosPerSecond;

TEST(Interrupt, SleepsAtLeastAsLongAsAskedWithoutASignal) {
  Interrupt interrupt;
  for (Nanos length : {Nanos{0}, kNanosPerMilli / 2, 20 * kNanosPerMilli}) {
    const Nanos deadline = NowNs() + length;
    EXPECT_FALSE(interrupt.SleepUntil(deadline));
    EXPECT_GE(NowNs(), deadline);
  }
  EXPECT_EQ(interrupt.signal(), 0);
}

TEST(Interrupt, OtherSignalsDoNotShortenTheSleep) {
  struct sigaction count {};
  struct sigaction before {};
  static volatile std::sig_atomic_t handled;
  handled = 0;
  count.sa_handler = [](int) { handled = 1; };
  sigaction(SIGUSR1, &count, &before);

  Interrupt interrupt;
  const pthread_t sleeper = pthread_self();
  std::thread other([sleeper] {
    const timespec pause{0, 5 * kNanosPerMilli};
    nanosleep(&pause, nullptr);
    pthread_kill(sleeper, SIGUSR1);
  });
  const Nanos deadline = NowNs() + 40 * kNanosPerMilli;
  EXPECT_FALSE(interrupt.SleepUntil(deadline));
  EXPECT_GE(NowNs(), deadline);
  other.join();
  EXPECT_EQ(handled, 1);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(Interrupt, DeadlineInThePastReturnsAtOnce) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.SleepUntil(NowNs() - kHour));
  EXPECT_FALSE(interrupt.Pending());
}

// If the signal were missed, these would sleep for an hour, and the test's time limit would end them.
TEST(Interrupt, SignalThatIsAlreadyThereEndsTheSleep) {
  for (int signal : {SIGINT, SIGTERM}) {
    Interrupt interrupt;
    pthread_kill(pthread_self(), signal);
    EXPECT_TRUE(interrupt.SleepUntil(NowNs() + kHour));
    EXPECT_EQ(interrupt.signal(), signal);
  }
}

TEST(Interrupt, SignalThatComesMeanwhileEndsTheSleep) {
  Interrupt interrupt;
  const pthread_t sleeper = pthread_self();
  std::thread other([sleeper] {
    const timespec pause{0, 5 * kNanosPerMilli};
    nanosleep(&pause, nullptr);
    pthread_kill(sleeper, SIGTERM);
  });
  EXPECT_TRUE(interrupt.SleepUntil(NowNs() + kHour));
  other.join();
  EXPECT_EQ(interrupt.signal(), SIGTERM);
}

TEST(Interrupt, SignalEndsWait) {
  Interrupt interrupt;
  pthread_kill(pthread_self(), SIGINT);
  interrupt.Wait();
  EXPECT_EQ(interrupt.signal(), SIGINT);
}

TEST(Interrupt, PendingNoticesASignalAndRemembersIt) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.Pending());
  pthread_kill(pthread_self(), SIGINT);
  EXPECT_TRUE(interrupt.Pending());
  EXPECT_TRUE(interrupt.Pending());
  EXPECT_TRUE(interrupt.SleepUntil(NowNs() + kHour)) << "a signal that has come ends later sleeps, too";
}

TEST(Interrupt, ResetForgetsTheSignalAndNoticesTheNext) {
  Interrupt interrupt;
  pthread_kill(pthread_self(), SIGINT);
  ASSERT_TRUE(interrupt.Pending());
  interrupt.Reset();
  EXPECT_EQ(interrupt.signal(), 0);
  EXPECT_FALSE(interrupt.Pending());
  pthread_kill(pthread_self(), SIGTERM);
  EXPECT_TRUE(interrupt.Pending());
  EXPECT_EQ(interrupt.signal(), SIGTERM);
}

TEST(Interrupt, ThreadsStartedLaterInheritTheBlockedSignals) {
  Interrupt interrupt;
  sigset_t blocked;
  sigemptyset(&blocked);
  std::thread([&blocked] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }).join();
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
}

}  // namespace
}  // namespace cqbench
