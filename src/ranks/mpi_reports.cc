#include "src/ranks/mpi_reports.h"

#include <mpi.h>

#include <chrono>
#include <thread>
#include <utility>

namespace cqbench {
namespace {

constexpr int kTag = 1;  // of its own: messages that nobody waits for any more are not in the way
constexpr Nanos kReportSleep = 200 * kNanosPerMicro;
// After a signal, of which the others have had one, too: a launcher kills soon.
constexpr Nanos kLastWords = 500 * kNanosPerMilli;

}  // namespace

// MPI uses the bytes until it has ended, so they stay where they are.
struct MpiReports::Transfer {
  int rank = 0;
  std::string bytes;
  std::string* into = nullptr;  // nullptr: it is sent
  MPI_Request request = MPI_REQUEST_NULL;
  bool begun = false;

  bool HasEnded() {
    if (!begun && !(into == nullptr ? BeginSending() : BeginReceiving())) return false;
    begun = true;
    int ended = 0;
    MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
    if (ended != 0 && into != nullptr) *into = std::move(bytes);
    return ended != 0;
  }

 private:
  bool BeginSending() {
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, rank, kTag, MPI_COMM_WORLD, &request);
    return true;
  }
  bool BeginReceiving() {
    MPI_Status status;
    int there = 0, size = 0;
    MPI_Iprobe(rank, kTag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return false;
    MPI_Get_count(&status, MPI_CHAR, &size);
    bytes.resize(static_cast<size_t>(size));
    MPI_Irecv(bytes.data(), size, MPI_CHAR, rank, kTag, MPI_COMM_WORLD, &request);
    return true;
  }
};

MpiReports::MpiReports(Interrupt& interrupt) : interrupt_(interrupt) {}

MpiReports::~MpiReports() = default;

bool MpiReports::Send(std::string report) {
  Transfers going;
  going.push_back(std::make_unique<Transfer>());
  going.front()->bytes = std::move(report);
  WaitFor(going, 3 * kLongestSilence);
  const bool sent = going.empty();
  for (auto& transfer : going) given_up_.push_back(std::move(transfer));
  return sent;
}

std::vector<int> MpiReports::Receive(const std::vector<int>& ranks, std::vector<std::string>& by_rank) {
  Transfers coming;
  for (const int rank : ranks) {
    coming.push_back(std::make_unique<Transfer>());
    coming.back()->rank = rank;
    coming.back()->into = &by_rank[static_cast<size_t>(rank)];
  }
  WaitFor(coming, kLongestSilence);
  std::vector<int> silent;
  for (auto& transfer : coming) {
    silent.push_back(transfer->rank);
    given_up_.push_back(std::move(transfer));
  }
  return silent;
}

void MpiReports::WaitFor(Transfers& transfers, Nanos patience_ns) {
  Nanos give_up = NowNs() + patience_ns;
  for (bool signalled = false;;) {
    const size_t before = transfers.size();
    std::erase_if(transfers, [](const auto& transfer) { return transfer->HasEnded(); });
    const Nanos now = NowNs();
    if (transfers.empty() || now >= give_up) return;
    if (transfers.size() < before && !signalled) give_up = now + patience_ns;
    if (!interrupt_.SleepUntil(now + kReportSleep)) continue;
    if (!std::exchange(signalled, true)) give_up = now + kLastWords;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kReportSleep));  // which a pending signal ends at once above
  }
}

}  // namespace cqbench
