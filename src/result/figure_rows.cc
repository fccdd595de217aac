#include "src/result/figure_rows.h"

#include <iterator>

namespace cqbench {
namespace {

using enum Better;
using enum MergeRule;

constexpr Measure kTime = {FigureKind::kNanoseconds, "ns", "µs", 1e-3};
constexpr Measure kShortTime = {FigureKind::kNanoseconds, "ns", "ns", 1};
constexpr Measure kLongTime = {FigureKind::kNanoseconds, "ns", "s", 1e-9};
constexpr Measure kOffset = {FigureKind::kOffset, "ns", "µs", 1e-3};
constexpr Measure kShare = {FigureKind::kShare, "", "%", 100};
constexpr Measure kRatio = {FigureKind::kRatio, "", "%", 100};
constexpr Measure kCorrelation = {FigureKind::kCorrelation, "", "", 1};
constexpr Measure kCount = {FigureKind::kCount, "", "", 1};
constexpr Measure kPositiveCount = {FigureKind::kPositiveCount, "", "", 1};
constexpr Measure kAmount = {FigureKind::kAmount, "", "", 1};
constexpr Measure kCores = {FigureKind::kAmount, "CPUs", "CPUs", 1};
constexpr Measure kBytes = {FigureKind::kAmount, "bytes", "bytes", 1};
constexpr Measure kMemory = {FigureKind::kCount, "bytes", "MiB", 1.0 / 1048576};
constexpr Measure kCallRate = {FigureKind::kAmount, "1/s", "calls/s", 1};
constexpr Measure kChunkRate = {FigureKind::kAmount, "1/s", "chunks/s", 1};
constexpr Measure kByteRate = {FigureKind::kAmount, "bytes/s", "Gbit/s", 8e-9};

constexpr Needs kNothing = Needs::kNothing, kOpenLoop = Needs::kOpenLoop, kEvidence = Needs::kEvidence,
                kWorkers = Needs::kWorkers, kTcp = Needs::kTcp, kChunks = Needs::kChunks,
                kBreakdown = Needs::kBreakdown, kCounting = Needs::kCounting;

constexpr Merge kCpuPerCall = {"client_cpu_user_ns + client_cpu_system_ns", "calls"};
constexpr Merge kSentPerCall = {"client_bytes_sent", "calls"}, kReceivedPerCall = {"client_bytes_received", "calls"};
constexpr Merge kSentPer = {"client_bytes_sent", ""}, kReceivedPer = {"client_bytes_received", ""};
constexpr Merge kCallsPer = {"calls", ""};
constexpr Merge kMeanOverCalls = {"", "calls"}, kMeanOverWorkers = {"", "client_threads_workers"};

// A row is its names, and what a reader looks up next to them.
// clang-format off
constexpr FigureRow kCalls[] = {
    {{"throughput_per_second"}, kCallRate, kMore, kNone, kNothing, "throughput",
     "Completed calls per second of the window, which is measured, not nominal; messages with bidi. 0 when nothing "
     "was measured."},
    {{"latency_mean_ns"}, kTime, kLess, kNone, kNothing, "mean latency",
     "Mean latency from the scheduled time. Absent when calls never ended."},
    {{"latency_stddev_ns"}, kTime, kLess, kNone, kNothing, "standard deviation of latency",
     "Standard deviation. Absent when calls never ended."},
    {{"latency_min_ns"}, kTime, kLess, kNone, kNothing, "minimum latency", "Minimum."},
    {{"latency_p50_ns"}, kTime, kLess, kNone, kNothing, "P50", "Median. Absent below 20 samples."},
    {{"latency_p90_ns"}, kTime, kLess, kNone, kNothing, "P90", "90th percentile. Absent below 100 samples."},
    {{"latency_p95_ns"}, kTime, kLess, kNone, kNothing, "P95", "95th percentile. Absent below 200 samples."},
    {{"latency_p99_ns"}, kTime, kLess, kNone, kNothing, "P99", "99th percentile. Absent below 1,000 samples."},
    {{"latency_p99_9_ns"}, kTime, kLess, kNone, kNothing, "P99.9", "99.9th percentile. Absent below 10,000 samples."},
    {{"latency_max_ns"}, kTime, kLess, kNone, kNothing, "maximum latency", "Maximum. Absent when calls never ended."},
    {{"latency_from_sent_mean_ns"}, kTime, kLess, kNone, kOpenLoop, "mean latency from sent",
     "Mean latency from when the call was sent. Absent when calls never ended."},
    {{"latency_from_sent_stddev_ns"}, kTime, kLess, kNone, kOpenLoop, "standard deviation of latency from sent",
     "Standard deviation. Absent when calls never ended."},
    {{"latency_from_sent_min_ns"}, kTime, kLess, kNone, kOpenLoop, "minimum latency from sent", "Minimum."},
    {{"latency_from_sent_p50_ns"}, kTime, kLess, kNone, kOpenLoop, "P50 from sent", "Median. Absent below 20 samples."},
    {{"latency_from_sent_p90_ns"}, kTime, kLess, kNone, kOpenLoop, "P90 from sent",
     "90th percentile. Absent below 100 samples."},
    {{"latency_from_sent_p95_ns"}, kTime, kLess, kNone, kOpenLoop, "P95 from sent",
     "95th percentile. Absent below 200 samples."},
    {{"latency_from_sent_p99_ns"}, kTime, kLess, kNone, kOpenLoop, "P99 from sent",
     "99th percentile. Absent below 1,000 samples."},
    {{"latency_from_sent_p99_9_ns"}, kTime, kLess, kNone, kOpenLoop, "P99.9 from sent",
     "99.9th percentile. Absent below 10,000 samples."},
    {{"latency_from_sent_max_ns"}, kTime, kLess, kNone, kOpenLoop, "maximum latency from sent",
     "Maximum. Absent when calls never ended."},
};

constexpr FigureRow kSchedule[] = {
    {{"pacer_lateness_p50_ns"}, kTime, kLess, kNone, kOpenLoop, "pacer lateness, P50",
     "Time from when a call was scheduled until the pacer handled it: median."},
    {{"pacer_lateness_p99_ns"}, kTime, kLess, kNone, kOpenLoop, "pacer lateness, P99",
     "Time from when a call was scheduled until the pacer handled it: 99th percentile."},
    {{"pacer_lateness_max_ns"}, kTime, kLess, kMax, kOpenLoop, "pacer lateness, maximum",
     "Time from when a call was scheduled until the pacer handled it: maximum."},
    {{"slot_wait_mean_ns"}, kTime, kLess, kNone, kOpenLoop, "wait for a slot, mean",
     "Time from when the pacer handled a call until the call had a slot: mean. 0 for calls that found a free slot."},
    {{"slot_wait_p99_ns"}, kTime, kLess, kNone, kOpenLoop, "wait for a slot, P99",
     "Time from when the pacer handled a call until the call had a slot: 99th percentile."},
    {{"slot_wait_max_ns"}, kTime, kLess, kMax, kOpenLoop, "wait for a slot, maximum",
     "Time from when the pacer handled a call until the call had a slot: maximum."},
    {{"largest_burst"}, kCount, kNeither, kMax, kOpenLoop, "largest burst",
     "Maximum number of calls that were due when the pacer woke up once."},
    {{"outstanding_first_half"}, kAmount, kLess, kSum, kOpenLoop, "outstanding calls, first half",
     "Calls that were due and had not ended: mean over the first half of the window."},
    {{"outstanding_second_half"}, kAmount, kLess, kSum, kOpenLoop, "outstanding calls, second half",
     "Calls that were due and had not ended: mean over the second half of the window."},
    {{"pacers"}, kPositiveCount, kNeither, kSum, kOpenLoop, "pacers", "Client threads that send on time."},
    {{"pacer_margin_ns"}, kTime, kNeither, kMax, kOpenLoop, "pacer margin",
     "Hybrid pacing: how long before a call is due the pacer stops sleeping and spins. 0 for other pacing."},
    {{"arrival_gap_variation"}, kAmount, kNeither, kNone, kOpenLoop, "coefficient of variation of arrival gaps",
     "Standard deviation / mean of the gaps between the times at which a pacer sent: 1 for Poisson, 0 for constant "
     "arrivals. Absent below 100 gaps."},
    {{"arrival_gap_correlation"}, kCorrelation, kNeither, kNone, kOpenLoop, "correlation of arrival gaps",
     "Correlation of each gap with the next: 0 for Poisson arrivals. Absent below 100 gaps."},
};

constexpr FigureRow kProcesses[] = {
    {{"client_connect_ns"}, kTime, kLess, kMax, Needs::kGrpc, "connect time",
     "Time until all channels of the point were connected, TLS handshakes included."},
    {{"client_connect_cpu_ns"}, kTime, kLess, kSum, Needs::kGrpc, "connect CPU time",
     "CPU time of the client until all channels were connected, all threads."},
    {{"client_sample_before_ns", "server_sample_before_ns"},
     kOffset, kNeither, kMax, kEvidence, "sample before the window",
     "How long before the window the first sample of the process was taken; below 0: inside the window."},
    {{"client_sample_after_ns", "server_sample_after_ns"},
     kOffset, kNeither, kMax, kEvidence, "sample after the window",
     "How long after the window the second sample of the process was taken; below 0: inside the window."},
    {{"client_cpu_user_ns", "server_cpu_user_ns"}, kLongTime, kLess, kSum, kNothing, "CPU time, user",
     "CPU time in user mode, all threads."},
    {{"client_cpu_system_ns", "server_cpu_system_ns"}, kLongTime, kLess, kSum, kNothing, "CPU time, system",
     "CPU time in the kernel, all threads."},
    {{"client_cores_used", "server_cores_used"}, kCores, kLess, kSum, kEvidence, "cores used",
     "CPU time / time: how many CPUs the process kept busy on average."},
    {{"client_cpus_allowed", "server_cpus_allowed"}, kCount, kNeither, kNone, kEvidence, "CPUs allowed",
     "CPUs that the process may run on."},
    {{"client_cpus_busy", "server_cpus_busy"}, kCores, kNeither, kNone, kEvidence, "CPUs busy",
     "How many of the allowed CPUs were busy on average, whichever process used them, interrupts included."},
    {{"client_cpu_per_rpc_ns", "server_cpu_per_rpc_ns"}, kTime, kLess, kCpuPerCall, kEvidence, "CPU per call",
     "CPU time per RPC."},
    {{"client_rss_bytes", "server_rss_bytes"}, kMemory, kLess, kSum, kEvidence, "resident memory",
     "Resident memory at the end of the window."},
    {{"client_voluntary_context_switches_per_rpc", "server_voluntary_context_switches_per_rpc"},
     kAmount, kLess, kMeanOverCalls, kEvidence, "voluntary context switches per call",
     "Number of times that a thread waited, per RPC."},
    {{"client_involuntary_context_switches_per_rpc", "server_involuntary_context_switches_per_rpc"},
     kAmount, kLess, kMeanOverCalls, kEvidence, "involuntary context switches per call",
     "Number of times that the kernel took a thread off its CPU, per RPC."},
    {{"client_threads", "server_threads"}, kCount, kNeither, kSum, kEvidence, "threads",
     "Threads at the end of the window."},
    {{"client_threads_workers", "server_threads_workers"}, kCount, kNeither, kSum, kEvidence, "worker threads",
     "Threads of the engine or server that issue or serve calls."},
    {{"client_threads_library", "server_threads_library"}, kCount, kNeither, kSum, kEvidence, "library threads",
     "Threads of gRPC."},
    {{"client_cpu_workers_ns", "server_cpu_workers_ns"}, kLongTime, kLess, kSum, kEvidence, "CPU time of workers",
     "CPU time of the workers."},
    {{"client_cpu_other_threads_ns", "server_cpu_other_threads_ns"},
     kLongTime, kLess, kSum, kEvidence, "CPU time of other threads",
     "CPU time of the other threads: main, control service, raw TCP."},
    {{"client_cpu_library_ns", "server_cpu_library_ns"}, kLongTime, kLess, kSum, kEvidence, "CPU time of the library",
     "CPU time of the process that none of its own threads used: that of gRPC, ended threads included."},
    {{"client_busiest_worker_share", "server_busiest_worker_share"}, kShare, kNeither, kMax, kWorkers, "busiest worker",
     "CPU time / time of the worker that used most."},
    {{"client_workers_busy_share", "server_workers_busy_share"},
     kShare, kNeither, kMeanOverWorkers, kWorkers, "workers busy",
     "CPU time / time of the average worker."},
    {{"client_peak_rss_bytes", "server_peak_rss_bytes"}, kMemory, kLess, kSum, kEvidence, "peak resident memory",
     "Maximum resident memory since the process began. The kernel counts it less exactly than resident memory."},
    {{"client_minor_page_faults", "server_minor_page_faults"}, kAmount, kLess, kSum, kEvidence, "minor page faults",
     "Page faults without input or output."},
    {{"client_major_page_faults", "server_major_page_faults"}, kAmount, kLess, kSum, kEvidence, "major page faults",
     "Page faults that waited for a disk."},
    {{"server_rpcs"}, kAmount, kNeither, kNone, kEvidence, "calls",
     "Calls, or messages, that the server responded to in the window, from all clients."},
    {{"server_rpcs_per_queue"}, kAmount, kNeither, kNone, Needs::kQueues, "calls per completion queue",
     "calls per completion queue of the server.", Parts::kDistribution},
    {{"server_posted_requests"}, kCount, kNeither, kNone, Needs::kQueues, "posted requests",
     "Requests that were posted and waited for a call at the end of the window."},
    {{"client_allocations_per_rpc", "server_allocations_per_rpc"},
     kAmount, kLess, kNone, kCounting, "allocations per call",
     "Heap allocations per RPC, from a pass of its own."},
    {{"client_allocated_bytes_per_rpc", "server_allocated_bytes_per_rpc"},
     kBytes, kLess, kNone, kCounting, "allocated bytes per call",
     "Heap bytes allocated per RPC, from a pass of its own."},
    {{"client_frees_elsewhere_per_rpc", "server_frees_elsewhere_per_rpc"},
     kAmount, kLess, kNone, kCounting, "frees by another thread per call",
     "Allocations per RPC that another thread freed than the one that allocated."},
};

constexpr FigureRow kConnections[] = {
    {{"client_connections", "server_connections"}, kPositiveCount, kNeither, kSum, kTcp, "connections",
     "TCP connections that lived through the window. The other figures of connections are about these."},
    {{"client_rpcs_per_connection"}, kAmount, kNeither, kNone, Needs::kConnections, "calls per connection",
     "completed calls per connection.", Parts::kDistribution},
    {{"client_bytes_sent", "server_bytes_sent"}, kBytes, kNeither, kSum, kTcp, "bytes sent",
     "Bytes sent over all connections."},
    {{"client_bytes_received", "server_bytes_received"}, kBytes, kNeither, kSum, kTcp, "bytes received",
     "Bytes received over all connections."},
    {{"client_bytes_sent_per_rpc"}, kBytes, kLess, kSentPerCall, kTcp, "bytes sent per call",
     "Bytes sent over all connections / completed calls."},
    {{"client_bytes_received_per_rpc"}, kBytes, kLess, kReceivedPerCall, kTcp, "bytes received per call",
     "Bytes received over all connections / completed calls."},
    {{"client_bytes_sent_per_payload_byte"}, kAmount, kLess, kSentPer, kTcp, "bytes sent per payload byte",
     "Bytes sent over all connections / payload of the completed calls. Absent when requests have no payload."},
    {{"client_bytes_received_per_payload_byte"}, kAmount, kLess, kReceivedPer, kTcp, "bytes received per payload byte",
     "Bytes received over all connections / payload of the completed calls. Absent when responses have no payload."},
    {{"client_bytes_sent_per_connection", "server_bytes_sent_per_connection"},
     kBytes, kNeither, kNone, kTcp, "bytes sent per connection",
     "bytes sent per connection.", Parts::kDistribution},
    {{"client_bytes_received_per_connection", "server_bytes_received_per_connection"},
     kBytes, kNeither, kNone, kTcp, "bytes received per connection",
     "bytes received per connection.", Parts::kDistribution},
    {{"client_segments_sent_per_connection", "server_segments_sent_per_connection"},
     kAmount, kNeither, kNone, kTcp, "segments sent per connection",
     "segments sent per connection.", Parts::kDistribution},
    {{"client_segments_received_per_connection", "server_segments_received_per_connection"},
     kAmount, kNeither, kNone, kTcp, "segments received per connection",
     "segments received per connection.", Parts::kDistribution},
    {{"client_connection_busy_share", "server_connection_busy_share"}, kShare, kNeither, kNone, kTcp, "connection busy",
     "share of the window in which a connection had sent data that was not yet acknowledged.", Parts::kDistribution},
    {{"client_connection_idle_per_segment_ns", "server_connection_idle_per_segment_ns"},
     kTime, kNeither, kNone, kTcp, "connection idle per segment",
     "time per segment sent in which a connection had no unacknowledged data. Absent when nothing was sent.",
     Parts::kDistribution},
    {{"client_rtt_min_ns", "server_rtt_min_ns"}, kTime, kLess, kNone, kTcp, "minimum RTT",
     "minimum round-trip time of a connection that the kernel has seen recently.", Parts::kDistribution},
    {{"client_rtt_smoothed_ns", "server_rtt_smoothed_ns"}, kTime, kLess, kNone, kTcp, "smoothed RTT",
     "the kernel's smoothed round-trip time of a connection at the end, delayed acknowledgements included.",
     Parts::kDistribution},
    {{"client_rpcs_per_segment_sent", "server_rpcs_per_segment_sent"},
     kAmount, kMore, kCallsPer, kTcp, "calls per segment sent",
     "RPCs per segment sent, all connections. Absent when nothing was sent."},
    {{"client_retransmissions", "server_retransmissions"}, kAmount, kLess, kSum, kTcp, "retransmissions",
     "Segments sent again, all connections."},
    {{"client_connections_with_tcp_nodelay", "server_connections_with_tcp_nodelay"},
     kCount, kNeither, kSum, kTcp, "connections with TCP_NODELAY",
     "Connections with TCP_NODELAY at the end of the window."},
};

constexpr FigureRow kStreams[] = {
    {{"chunks_per_second"}, kChunkRate, kMore, kSum, kChunks, "chunks",
     "Chunks written or read in the window / its length."},
    {{"payload_bytes_per_second"}, kByteRate, kMore, kSum, kChunks, "payload",
     "Payload written or read in the window / its length."},
    {{"payload_bytes_target_per_second"}, kByteRate, kNeither, kSum, kChunks, "target payload",
     "Open loop: payload of the streams that were scheduled / the length of the window."},
    {{"chunk_gap_mean_ns"}, kTime, kLess, kNone, kChunks, "gap between chunks, mean",
     "Time from a chunk to the next one of its stream, as the client writes or reads them: mean."},
    {{"chunk_gap_p50_ns"}, kTime, kLess, kNone, kChunks, "gap between chunks, P50",
     "Time from a chunk to the next one of its stream, as the client writes or reads them: median."},
    {{"chunk_gap_p99_ns"}, kTime, kLess, kNone, kChunks, "gap between chunks, P99",
     "Time from a chunk to the next one of its stream, as the client writes or reads them: 99th percentile."},
    {{"chunk_gap_max_ns"}, kTime, kLess, kMax, kChunks, "gap between chunks, maximum",
     "Time from a chunk to the next one of its stream, as the client writes or reads them: maximum."},
    {{"client_cores_per_gbit_per_second", "server_cores_per_gbit_per_second"},
     kCores, kLess, kNone, kChunks, "cores per Gbit/s",
     "CPUs that the process kept busy / Gbit/s of payload."},
};

constexpr FigureRow kParts[] = {
    {{"breakdown_cost_per_timed_rpc_ns"}, kShortTime, kLess, kNone, kBreakdown, "cost of timing per timed call",
     "Time that timing adds to a call that is timed, on the client."},
    {{"breakdown_cost_per_rpc_ns"}, kShortTime, kLess, kNone, kBreakdown, "cost of timing per call",
     "Time that timing adds on the client, divided by all calls."},
    {{"breakdown_clock_ns"}, kShortTime, kLess, kNone, kBreakdown, "clock", "Time of one clock reading on the client."},
    {{"breakdown_client_issue"}, kTime, kLess, kNone, kBreakdown, "issue",
     "time until the library's function that issues the call returns. Absent with the sync API.", Parts::kTimes},
    {{"breakdown_client_wait"}, kTime, kLess, kNone, kBreakdown, "wait",
     "time from there to the end of the call. Absent with the sync and callback APIs.", Parts::kTimes},
    {{"breakdown_server_handling"}, kTime, kLess, kNone, kBreakdown, "handling",
     "time from the event with the request until the server gives the response to the library.", Parts::kTimes},
    {{"breakdown_server_finishing"}, kTime, kLess, kNone, kBreakdown, "finishing",
     "time from there to the event that the response was sent. Absent where the API has no such event.", Parts::kTimes},
    {{"breakdown_client_issue_share"}, kRatio, kLess, kNone, kBreakdown, "issue / latency",
     "Median of issuing / median latency."},
    {{"breakdown_server_handling_share"}, kRatio, kLess, kNone, kBreakdown, "handling / latency",
     "Median of the server's handling / median latency."},
    {{"breakdown_network_share"}, kRatio, kLess, kNone, kBreakdown, "network / latency",
     "Minimum round-trip time of the client's median connection / median latency."},
    {{"breakdown_unattributed_share"}, kShare, kLess, kNone, kBreakdown, "unattributed / latency",
     "Part of the median latency that none of the three explains: both libraries' work, queues and wake-ups."},
    {{"breakdown_client_serialize", "breakdown_server_serialize"},
     kShortTime, kLess, kNone, kBreakdown, "serialization",
     "time to serialize a message within a call, without the clock's part. Absent with generated code.", Parts::kTimes},
    {{"breakdown_client_parse", "breakdown_server_parse"}, kShortTime, kLess, kNone, kBreakdown, "parsing",
     "time to parse a message within a call, without the clock's part. Absent with generated code.", Parts::kTimes},
    {{"breakdown_request_serialize_in_process_ns"}, kShortTime, kLess, kNone, kBreakdown, "request serialization alone",
     "Time to serialize a request on the client after the window, with its message strategy and serializer, and "
     "everything in the caches."},
    {{"breakdown_request_parse_in_process_ns"}, kShortTime, kLess, kNone, kBreakdown, "request parsing alone",
     "Time to parse a request on the client after the window."},
    {{"breakdown_response_serialize_in_process_ns"},
     kShortTime, kLess, kNone, kBreakdown, "response serialization alone",
     "Time to serialize a response on the client after the window."},
    {{"breakdown_response_parse_in_process_ns"}, kShortTime, kLess, kNone, kBreakdown, "response parsing alone",
     "Time to parse a response on the client after the window."},
    {{"breakdown_client_codec_cpu_share", "breakdown_server_codec_cpu_share"},
     kRatio, kLess, kNone, kBreakdown, "serialization and parsing / CPU",
     "Median times to serialize and parse within a call / CPU per call. An upper bound: the clock counts waiting, "
     "too."},
    {{"breakdown_client_codec_in_process_cpu_share", "breakdown_server_codec_in_process_cpu_share"},
     kRatio, kLess, kNone, kBreakdown, "serialization and parsing alone / CPU",
     "Times to serialize and parse alone / CPU per call. A lower bound."},
};
// clang-format on

}  // namespace

const std::vector<FigureRow>& FigureRows() {
  static const std::vector<FigureRow> rows = [] {
    std::vector<FigureRow> all;
    const auto add = [&](const auto& topic) { all.insert(all.end(), std::begin(topic), std::end(topic)); };
    add(kCalls);
    add(kSchedule);
    add(kProcesses);
    add(kConnections);
    add(kStreams);
    add(kParts);
    return all;
  }();
  return rows;
}

}  // namespace cqbench
