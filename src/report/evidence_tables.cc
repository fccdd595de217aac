// The short form of the evidence, below the table of results.

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/reporter.h"
#include "src/report/load_table.h"
#include "src/report/text_table.h"
#include "src/result/statistics.h"

namespace cqbench {
namespace {

struct Column {
  const char* title;
  const char* figure;
  double scale;        // the figure is multiplied by it
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
      row.push_back(value ? absl::StrFormat(*absl::ParsedFormat<'f'>::New(column.format), *value * column.scale) : "-");
    }
    rows.push_back(std::move(row));
  }
  return absl::StrCat("\n", title, "\n", AlignTable(rows));
}

const std::vector<Column> kConnections = {
    {"Connections", "client_connections", 1, "%.0f"},
    {"RPC/conn min", "client_rpcs_per_connection_min", 1, "%.0f"},
    {"max", "client_rpcs_per_connection_max", 1, "%.0f"},
    {"RPC/segment c->s", "client_rpcs_per_segment_sent", 1, "%.2f"},
    {"s->c", "server_rpcs_per_segment_sent", 1, "%.2f"},
    {"Busy % c->s", "client_connection_busy_share_median", 100, "%.1f"},
    {"s->c", "server_connection_busy_share_median", 100, "%.1f"},
    {"Idle us/segment c->s", "client_connection_idle_per_segment_ns_median", 1e-3, "%.1f"},
    {"RTT us", "client_rtt_smoothed_ns_median", 1e-3, "%.0f"},
    {"min", "client_rtt_min_ns_min", 1e-3, "%.0f"},
    {"Retrans", "client_retransmissions", 1, "%.0f"},
};

const std::vector<Column> kWire = {
    {"Bytes/RPC c->s", "client_bytes_sent_per_rpc", 1, "%.0f"},
    {"s->c", "client_bytes_received_per_rpc", 1, "%.0f"},
    {"per payload byte c->s", "client_bytes_sent_per_payload_byte", 1, "%.3f"},
    {"s->c", "client_bytes_received_per_payload_byte", 1, "%.3f"},
};

const std::vector<Column> kProcesses = {
    {"Client cores", "client_cores_used", 1, "%.2f"},
    {"Busiest thread %", "client_busiest_worker_share", 100, "%.0f"},
    {"us/RPC", "client_cpu_per_rpc_ns", 1e-3, "%.2f"},
    {"Switches/RPC", "client_voluntary_context_switches_per_rpc", 1, "%.2f"},
    {"Threads", "client_threads", 1, "%.0f"},
    {"Server cores", "server_cores_used", 1, "%.2f"},
    {"Busiest thread %", "server_busiest_worker_share", 100, "%.0f"},
    {"us/RPC", "server_cpu_per_rpc_ns", 1e-3, "%.2f"},
    {"Switches/RPC", "server_voluntary_context_switches_per_rpc", 1, "%.2f"},
    {"Threads", "server_threads", 1, "%.0f"},
    {"RPC/CQ min", "server_rpcs_per_queue_min", 1, "%.0f"},
    {"max", "server_rpcs_per_queue_max", 1, "%.0f"},
};

const std::vector<Column> kStreams = {
    {"Gbit/s", "payload_bytes_per_second", 8e-9, "%.3f"},
    {"Asked", "payload_bytes_asked_per_second", 8e-9, "%.3f"},
    {"Chunks/s", "chunks_per_second", 1, "%.0f"},
    {"Gap us, mean", "chunk_gap_mean_ns", 1e-3, "%.2f"},
    {"P50", "chunk_gap_p50_ns", 1e-3, "%.2f"},
    {"P99", "chunk_gap_p99_ns", 1e-3, "%.1f"},
    {"Client cores", "client_cores_used", 1, "%.3f"},
    {"per Gbit/s", "client_cores_per_gbit_per_second", 1, "%.4f"},
    {"Server cores", "server_cores_used", 1, "%.3f"},
    {"per Gbit/s", "server_cores_per_gbit_per_second", 1, "%.4f"},
};

const std::vector<Column> kBreakdown = {
    {"Issue us", "breakdown_client_issue_p50_ns", 1e-3, "%.1f"},
    {"Wait us", "breakdown_client_wait_p50_ns", 1e-3, "%.1f"},
    {"Server handling us", "breakdown_server_handling_p50_ns", 1e-3, "%.2f"},
    {"Server finishing us", "breakdown_server_finishing_p50_ns", 1e-3, "%.1f"},
    {"Client issue %", "breakdown_client_issue_share", 100, "%.1f"},
    {"Server handling %", "breakdown_server_handling_share", 100, "%.1f"},
    {"Network %", "breakdown_network_share", 100, "%.1f"},
    {"Rest %", "breakdown_rest_share", 100, "%.1f"},
    {"Clock +- ns", "breakdown_clock_ns", 1, "%.0f"},
    {"Cost ns/RPC", "breakdown_cost_per_rpc_ns", 1, "%.1f"},
};

const std::vector<Column> kCodec = {
    {"Client serializes ns", "breakdown_client_serialize_p50_ns", 1, "%.0f"},
    {"Server parses ns", "breakdown_server_parse_p50_ns", 1, "%.0f"},
    {"serializes ns", "breakdown_server_serialize_p50_ns", 1, "%.0f"},
    {"Client parses ns", "breakdown_client_parse_p50_ns", 1, "%.0f"},
    {"Serializer % of client CPU", "breakdown_client_codec_cpu_share", 100, "%.2f"},
    {"of server CPU", "breakdown_server_codec_cpu_share", 100, "%.2f"},
    {"By itself: request ns", "breakdown_request_serialize_in_process_ns", 1, "%.0f"},
    {"parse", "breakdown_request_parse_in_process_ns", 1, "%.0f"},
    {"response", "breakdown_response_serialize_in_process_ns", 1, "%.0f"},
    {"parse", "breakdown_response_parse_in_process_ns", 1, "%.0f"},
    {"% of client CPU", "breakdown_client_codec_in_process_cpu_share", 100, "%.2f"},
    {"of server CPU", "breakdown_server_codec_in_process_cpu_share", 100, "%.2f"},
};

const std::vector<Column> kAllocations = {
    {"Client allocations/RPC", "client_allocations_per_rpc", 1, "%.2f"},
    {"bytes/RPC", "client_allocated_bytes_per_rpc", 1, "%.0f"},
    {"Server allocations/RPC", "server_allocations_per_rpc", 1, "%.2f"},
    {"bytes/RPC", "server_allocated_bytes_per_rpc", 1, "%.0f"},
};

std::string Micros(const PointResult& p, Nanos LatencyStats::*field) {
  if (!p.latency || !p.latency->Knows(field)) return "-";
  return absl::StrFormat("%.1f", static_cast<double>((*p.latency).*field) / static_cast<double>(kNanosPerMicro));
}

// The baselines of all repetitions by name, in the order of the first.
std::vector<std::pair<BaselineResult, PointResult>> BaselineMedians(const std::vector<BaselineResult>& baselines) {
  std::vector<std::pair<BaselineResult, PointResult>> rows;
  for (const BaselineResult& first : baselines) {
    const auto same = [&](auto& row) { return row.first.name == first.name; };
    if (std::any_of(rows.begin(), rows.end(), same)) continue;
    std::vector<PointResult> runs;
    for (const BaselineResult& other : baselines) {
      if (other.name == first.name) runs.push_back(other.point);
    }
    rows.emplace_back(first, MedianOverRepetitions(runs).front());
  }
  return rows;
}

// Streams of chunks: what a Gbit/s costs each end, and how much of it gRPC is.
std::string StreamFloor(const std::vector<std::pair<BaselineResult, PointResult>>& medians) {
  const char* const kCosts[] = {"client_cores_per_gbit_per_second", "server_cores_per_gbit_per_second"};
  const Figures& grpc = medians.front().second.figures;
  if (!grpc.Get("payload_bytes_per_second")) return "";
  std::vector<Row> rows = {
      {"Baseline", "Gbit/s", "Client cores/(Gbit/s)", "gRPC / this", "Server cores/(Gbit/s)", "gRPC / this"}};
  for (const auto& [baseline, point] : medians) {
    const auto rate = point.figures.Get("payload_bytes_per_second");
    Row row = {baseline.description, rate ? absl::StrFormat("%.3f", 8e-9 * *rate) : "-"};
    for (const char* name : kCosts) {
      const auto cost = point.figures.Get(name), ours = grpc.Get(name);
      row.push_back(cost ? absl::StrFormat("%.4f", *cost) : "-");
      const bool known = cost && ours && *cost > 0 && baseline.name != "grpc";
      row.push_back(known ? absl::StrFormat("%.2f", *ours / *cost) : "-");
    }
    rows.push_back(std::move(row));
  }
  return absl::StrCat("\nCPU of streams of chunks, 1 in flight\n", AlignTable(rows));
}

std::string BaselineTable(const Result& result) {
  if (result.baselines.empty()) return "";
  const auto medians = BaselineMedians(result.baselines);
  std::vector<Row> rows = {{"Baseline", "Round trips/s", "P50 (us)", "P90 (us)", "P99 (us)", "gRPC P50 / this"}};
  const PointResult& grpc = medians.front().second;
  std::string sentence, failures;
  for (const auto& [baseline, point] : medians) {
    std::string ratio = "-";
    const bool known = grpc.latency && point.latency && point.latency->p50_ns > 0;
    if (known && &point != &grpc) {
      const double times = static_cast<double>(grpc.latency->p50_ns) / static_cast<double>(point.latency->p50_ns);
      ratio = absl::StrFormat("%.2f", times);
      if (baseline.name == "tcp-block") {
        sentence = absl::StrFormat("P50 at 1 in flight is %.2f x the TCP floor\n", times);
      }
    }
    rows.push_back({baseline.description,
                    point.completed > 0 ? absl::StrFormat("%.0f", point.ThroughputPerSecond()) : "-",
                    Micros(point, &LatencyStats::p50_ns), Micros(point, &LatencyStats::p90_ns),
                    Micros(point, &LatencyStats::p99_ns), ratio});
    if (!point.failure.empty()) absl::StrAppend(&failures, baseline.name, ": not measured: ", point.failure, "\n");
  }
  return absl::StrCat("\nBaselines, 1 in flight\n", AlignTable(rows), sentence, failures, StreamFloor(medians));
}

// Counts should hardly vary: how far apart the repetitions' are.
std::string AllocationSpread(const Result& result, const std::vector<PointResult>& rows) {
  std::string text;
  for (const PointResult& row : rows) {
    for (const char* end : {"client", "server"}) {
      std::vector<double> counts;
      for (const PointResult& point : result.points) {
        const auto count = point.figures.Get(absl::StrCat(end, "_allocations_per_rpc"));
        if (count && point.load == row.load) counts.push_back(*count);
      }
      if (counts.size() < 2) continue;
      const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
      absl::StrAppendFormat(&text, "%s: %s allocations/RPC: %.3f to %.3f over %d repetitions\n", row.load.Label(), end,
                            *least, *most, static_cast<int>(counts.size()));
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
      FigureTable("CPU and hand-offs", c, points, kProcesses));
}

std::string FormatExtras(const Result& result) {
  const RunContext& c = result.context;
  const std::vector<PointResult> points = MedianOverRepetitions(result.points);
  const auto streams = [](const PointResult& p) { return p.figures.Get("payload_bytes_per_second").has_value(); };
  return absl::StrCat(
      std::any_of(points.begin(), points.end(), streams)
          ? FigureTable("Streams of chunks: payload; gap: from a chunk to the next of its stream", c, points, kStreams)
          : "",
      FigureTable(
          "Breakdown, medians of a sample of the calls; both ends by CLOCK_MONOTONIC, each for itself; network: "
          "the connection's least RTT",
          c, points, kBreakdown),
      FigureTable("Serializer, medians of a sample of the messages in calls, without the clock's part; by itself: with "
                  "nothing else "
                  "going on, as the client's --messages and --codec say",
                  c, points, kCodec),
      FigureTable("Allocations, counted in a pass of its own", c, points, kAllocations),
      AllocationSpread(result, points), BaselineTable(result));
}

}  // namespace cqbench
