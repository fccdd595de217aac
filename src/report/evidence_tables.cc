// The short form of the evidence, below the table of results.

#include <algorithm>
#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/reporter.h"
#include "src/report/load_table.h"
#include "src/report/text_table.h"
#include "src/result/figure_catalogue.h"
#include "src/result/statistics.h"

namespace cqbench {
namespace {

struct Column {
  const char* title;
  const char* figure;
  const char* format;  // printf, of a double
};

// A table of those columns that any point has something for; empty when that is none.
std::string FigureTable(absl::string_view title, const RunContext& context, const std::vector<PointResult>& points,
                        const std::vector<Column>& columns) {
  std::vector<Column> shown;
  for (const Column& column : columns) {
    const auto has = [&](const PointResult& p) { return p.figures.Get(column.figure).has_value(); };
    if (std::any_of(points.begin(), points.end(), has)) shown.push_back(column);
  }
  if (shown.empty()) return "";
  std::vector<Row> rows(1, {LoadTitle(context)});
  for (const Column& column : shown) rows.front().push_back(column.title);
  for (const PointResult& point : points) {
    Row row = {LoadCell(point.load)};
    for (const Column& column : shown) {
      const auto value = point.figures.Get(column.figure);
      row.push_back(value ? absl::StrFormat(*absl::ParsedFormat<'f'>::New(column.format),
                                            *value * FindFigure(column.figure)->scale)
                          : "-");
    }
    rows.push_back(std::move(row));
  }
  return absl::StrCat("\n", title, "\n", AlignTable(rows));
}

const std::vector<Column> kConnections = {
    {"Connections", "client_connections", "%.0f"},
    {"RPC/conn min", "client_rpcs_per_connection_min", "%.0f"},
    {"max", "client_rpcs_per_connection_max", "%.0f"},
    {"RPC/segment c->s", "client_rpcs_per_segment_sent", "%.2f"},
    {"s->c", "server_rpcs_per_segment_sent", "%.2f"},
    {"Busy % c->s", "client_connection_busy_share_median", "%.1f"},
    {"s->c", "server_connection_busy_share_median", "%.1f"},
    {"Idle µs/segment c->s", "client_connection_idle_per_segment_ns_median", "%.1f"},
    {"RTT µs", "client_rtt_smoothed_ns_median", "%.0f"},
    {"min", "client_rtt_min_ns_min", "%.0f"},
    {"Retrans", "client_retransmissions", "%.0f"},
};

const std::vector<Column> kWire = {
    {"Bytes/RPC c->s", "client_bytes_sent_per_rpc", "%.0f"},
    {"s->c", "client_bytes_received_per_rpc", "%.0f"},
    {"per payload byte c->s", "client_bytes_sent_per_payload_byte", "%.3f"},
    {"s->c", "client_bytes_received_per_payload_byte", "%.3f"},
};

const std::vector<Column> kProcesses = {
    {"Client cores", "client_cores_used", "%.2f"},
    {"Busiest thread %", "client_busiest_worker_share", "%.0f"},
    {"µs/RPC", "client_cpu_per_rpc_ns", "%.2f"},
    {"Switches/RPC", "client_voluntary_context_switches_per_rpc", "%.2f"},
    {"Threads", "client_threads", "%.0f"},
    {"Server cores", "server_cores_used", "%.2f"},
    {"Busiest thread %", "server_busiest_worker_share", "%.0f"},
    {"µs/RPC", "server_cpu_per_rpc_ns", "%.2f"},
    {"Switches/RPC", "server_voluntary_context_switches_per_rpc", "%.2f"},
    {"Threads", "server_threads", "%.0f"},
    {"RPC/CQ min", "server_rpcs_per_queue_min", "%.0f"},
    {"max", "server_rpcs_per_queue_max", "%.0f"},
};

const std::vector<Column> kStreams = {
    {"Gbit/s", "payload_bytes_per_second", "%.3f"},
    {"Target", "payload_bytes_target_per_second", "%.3f"},
    {"Chunks/s", "chunks_per_second", "%.0f"},
    {"Gap µs, mean", "chunk_gap_mean_ns", "%.2f"},
    {"P50", "chunk_gap_p50_ns", "%.2f"},
    {"P99", "chunk_gap_p99_ns", "%.1f"},
    {"Client cores", "client_cores_used", "%.3f"},
    {"per Gbit/s", "client_cores_per_gbit_per_second", "%.4f"},
    {"Server cores", "server_cores_used", "%.3f"},
    {"per Gbit/s", "server_cores_per_gbit_per_second", "%.4f"},
};

const std::vector<Column> kBreakdown = {
    {"Issue µs", "breakdown_client_issue_p50_ns", "%.1f"},
    {"Wait µs", "breakdown_client_wait_p50_ns", "%.1f"},
    {"Server handling µs", "breakdown_server_handling_p50_ns", "%.2f"},
    {"Server finishing µs", "breakdown_server_finishing_p50_ns", "%.1f"},
    {"Client issue %", "breakdown_client_issue_share", "%.1f"},
    {"Server handling %", "breakdown_server_handling_share", "%.1f"},
    {"Network %", "breakdown_network_share", "%.1f"},
    {"Unattributed %", "breakdown_unattributed_share", "%.1f"},
    {"Clock +- ns", "breakdown_clock_ns", "%.0f"},
    {"Cost ns/RPC", "breakdown_cost_per_rpc_ns", "%.1f"},
};

const std::vector<Column> kCodec = {
    {"Client serializes ns", "breakdown_client_serialize_p50_ns", "%.0f"},
    {"Server parses ns", "breakdown_server_parse_p50_ns", "%.0f"},
    {"serializes ns", "breakdown_server_serialize_p50_ns", "%.0f"},
    {"Client parses ns", "breakdown_client_parse_p50_ns", "%.0f"},
    {"Both % of client CPU", "breakdown_client_codec_cpu_share", "%.2f"},
    {"of server CPU", "breakdown_server_codec_cpu_share", "%.2f"},
    {"Alone: request ns", "breakdown_request_serialize_in_process_ns", "%.0f"},
    {"parse", "breakdown_request_parse_in_process_ns", "%.0f"},
    {"response", "breakdown_response_serialize_in_process_ns", "%.0f"},
    {"parse", "breakdown_response_parse_in_process_ns", "%.0f"},
    {"% of client CPU", "breakdown_client_codec_in_process_cpu_share", "%.2f"},
    {"of server CPU", "breakdown_server_codec_in_process_cpu_share", "%.2f"},
};

const std::vector<Column> kAllocations = {
    {"Client allocations/RPC", "client_allocations_per_rpc", "%.2f"},
    {"bytes/RPC", "client_allocated_bytes_per_rpc", "%.0f"},
    {"Server allocations/RPC", "server_allocations_per_rpc", "%.2f"},
    {"bytes/RPC", "server_allocated_bytes_per_rpc", "%.0f"},
};

// "64 KiB", "65535 bytes".
std::string Bytes(uint32_t bytes) {
  constexpr uint32_t kKiB = 1 << 10, kMiB = 1 << 20;
  if (bytes > 0 && bytes % kMiB == 0) return absl::StrCat(bytes / kMiB, " MiB");
  if (bytes > 0 && bytes % kKiB == 0) return absl::StrCat(bytes / kKiB, " KiB");
  return absl::StrCat(bytes, " bytes");
}

// Announced, or the default of HTTP/2.
std::string Bytes(const std::optional<uint32_t>& announced, uint32_t usual) {
  return announced ? Bytes(*announced) : absl::StrCat(Bytes(usual), " (default)");
}

std::string Settings(const Http2Settings& s) {
  const auto streams = s.max_concurrent_streams;
  const auto headers = s.max_header_list_bytes;
  return absl::StrCat(streams ? absl::StrCat(*streams) : "any number of", " concurrent stream(s) per connection, ",
                      "initial window ", Bytes(s.initial_window_bytes, 65'535), ", frames of at most ",
                      Bytes(s.max_frame_bytes, 16'384), ", headers of ",
                      headers ? absl::StrCat("at most ", Bytes(*headers)) : "any size");
}

std::string PeerLines(const std::vector<PeerSettings>& peers) {
  std::string text = peers.empty() ? "" : "\n";
  for (const PeerSettings& peer : peers) {
    const bool read = peer.not_read.empty();
    absl::StrAppend(&text, "HTTP/2 settings of the server at ", peer.target, ": ",
                    read ? Settings(peer.announced) : absl::StrCat("not read: ", peer.not_read), "\n");
  }
  return text;
}

std::string Micros(const PointResult& p, Nanos LatencyStats::*field) {
  if (!p.latency || !p.latency->Knows(field)) return "-";
  return absl::StrFormat("%.1f", static_cast<double>((*p.latency).*field) / static_cast<double>(kNanosPerMicro));
}

// The lower bounds of all repetitions by name, in the order of the first.
std::vector<std::pair<LowerBound, PointResult>> LowerBoundMedians(const std::vector<LowerBound>& lower_bounds) {
  std::vector<std::pair<LowerBound, PointResult>> rows;
  for (const LowerBound& first : lower_bounds) {
    const auto same = [&](auto& row) { return row.first.name == first.name; };
    if (std::any_of(rows.begin(), rows.end(), same)) continue;
    std::vector<PointResult> runs;
    for (const LowerBound& other : lower_bounds) {
      if (other.name == first.name) runs.push_back(other.point);
    }
    rows.emplace_back(first, MedianOverRepetitions(runs).front());
  }
  return rows;
}

// Streams of chunks: what a Gbit/s costs each end, and how much of it gRPC is.
std::string StreamBounds(const std::vector<std::pair<LowerBound, PointResult>>& medians) {
  const char* const kCosts[] = {"client_cores_per_gbit_per_second", "server_cores_per_gbit_per_second"};
  const Figures& grpc = medians.front().second.figures;
  if (!grpc.Get("payload_bytes_per_second")) return "";
  std::vector<Row> rows = {
      {"Lower bound", "Gbit/s", "Client cores/(Gbit/s)", "gRPC / this", "Server cores/(Gbit/s)", "gRPC / this"}};
  for (const auto& [bound, point] : medians) {
    const auto rate = point.figures.Get("payload_bytes_per_second");
    Row row = {bound.description, rate ? absl::StrFormat("%.3f", 8e-9 * *rate) : "-"};
    for (const char* name : kCosts) {
      const auto cost = point.figures.Get(name), ours = grpc.Get(name);
      row.push_back(cost ? absl::StrFormat("%.4f", *cost) : "-");
      const bool known = cost && ours && *cost > 0 && bound.name != "grpc";
      row.push_back(known ? absl::StrFormat("%.2f", *ours / *cost) : "-");
    }
    rows.push_back(std::move(row));
  }
  return absl::StrCat("\nCPU of streams of chunks, 1 in flight\n", AlignTable(rows));
}

std::string LowerBoundTable(const Result& result) {
  if (result.lower_bounds.empty()) return "";
  const auto medians = LowerBoundMedians(result.lower_bounds);
  std::vector<Row> rows = {{"Lower bound", "Round trips/s", "P50 (µs)", "P90 (µs)", "P99 (µs)", "gRPC P50 / this"}};
  const PointResult& grpc = medians.front().second;
  std::string sentence, failures;
  for (const auto& [bound, point] : medians) {
    std::string ratio = "-";
    const bool known = grpc.latency && point.latency && point.latency->p50_ns > 0;
    if (known && &point != &grpc) {
      const double times = static_cast<double>(grpc.latency->p50_ns) / static_cast<double>(point.latency->p50_ns);
      ratio = absl::StrFormat("%.2f", times);
      if (bound.name == "tcp-block") {
        sentence = absl::StrFormat("P50 at 1 in flight is %.2f x the TCP lower bound\n", times);
      }
    }
    rows.push_back({bound.description, point.completed > 0 ? absl::StrFormat("%.0f", point.ThroughputPerSecond()) : "-",
                    Micros(point, &LatencyStats::p50_ns), Micros(point, &LatencyStats::p90_ns),
                    Micros(point, &LatencyStats::p99_ns), ratio});
    if (!point.failure.empty()) absl::StrAppend(&failures, bound.name, ": not measured: ", point.failure, "\n");
  }
  return absl::StrCat("\nLower bounds, 1 in flight\n", AlignTable(rows), sentence, failures, StreamBounds(medians));
}

// The range over the repetitions: counts should hardly vary.
std::string AllocationRange(const Result& result, const std::vector<PointResult>& rows) {
  std::string text;
  for (const PointResult& row : rows) {
    for (const Side side : {Side::kClient, Side::kServer}) {
      std::vector<double> counts;
      for (const PointResult& point : result.points) {
        const auto count = point.figures.Get(NameOf(side, "client_allocations_per_rpc"));
        if (count && point.load == row.load) counts.push_back(*count);
      }
      if (counts.size() < 2) continue;
      const auto [minimum, maximum] = std::minmax_element(counts.begin(), counts.end());
      absl::StrAppendFormat(&text, "%s: %s allocations/RPC: %.3f to %.3f over %d repetitions\n", row.load.Label(),
                            ToString(side), *minimum, *maximum, static_cast<int>(counts.size()));
    }
  }
  return text;
}

}  // namespace

std::string FormatEvidence(const Result& result) {
  const RunContext& c = result.context;
  const std::vector<PointResult> points = MedianOverRepetitions(result.points);
  return absl::StrCat(
      FigureTable("Connections: c->s is what the client sends, s->c what the server sends", c, points, kConnections),
      FigureTable("Bytes on the wire: what TCP carried, headers, frames and TLS included", c, points, kWire),
      FigureTable("CPU and context switches", c, points, kProcesses), PeerLines(result.peer_settings));
}

std::string FormatExtras(const Result& result) {
  const RunContext& c = result.context;
  const std::vector<PointResult> points = MedianOverRepetitions(result.points);
  const auto streams = [](const PointResult& p) { return p.figures.Get("payload_bytes_per_second").has_value(); };
  return absl::StrCat(
      std::any_of(points.begin(), points.end(), streams)
          ? FigureTable("Streams of chunks: payload; gap: time from a chunk to the next of its stream", c, points,
                        kStreams)
          : "",
      FigureTable(
          "Breakdown, medians of a sample of the calls; each end by its own CLOCK_MONOTONIC; network: minimum RTT of "
          "the connection",
          c, points, kBreakdown),
      FigureTable("Serializer, medians of a sample of the messages in calls, without the clock's part; alone: after "
                  "the window, "
                  "with the client's --messages and --serializer",
                  c, points, kCodec),
      FigureTable("Allocations, counted in a pass of its own", c, points, kAllocations),
      AllocationRange(result, points), LowerBoundTable(result));
}

}  // namespace cqbench
