#include "src/observe/evidence/evidence_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/config/units.h"
#include "src/observe/allocations/allocations.h"
#include "src/observe/evidence/server_sum.h"
#include "src/observe/evidence/wire_report.h"
#include "src/observe/sampling/sample_figures.h"
#include "src/workload/messages/serializer_times.h"
#include "src/workload/methods/serializer_cost.h"

namespace cqbench {
namespace {

// Something could not be measured.
void Note(std::string text, PointResult& point) {
  point.notes.push_back({kNotMeasured, std::move(text)});
}

// A server that is late with a sample, at the begin or at the end, saw another stretch of time than the window.
bool IsAboutAsLong(Nanos apart, Nanos window) {
  return apart > 0 && std::abs(apart - window) <= window / 5;
}

// Figures of the distance of the samples from the window.
void AddBoundaryFigures(Side side, const ProcessSamples& samples, Figures& figures) {
  figures.Set(NameOf(side, "client_sample_before_ns"), static_cast<double>(samples.before_ns));
  figures.Set(NameOf(side, "client_sample_after_ns"), static_cast<double>(samples.after_ns));
}

// Subtracts the allocations of the control calls.
ProcessSamples WithoutAsking(ProcessSamples samples) {
  if (samples.begin.has_allocations() && samples.end.has_allocations()) {
    AllocationCounts counted = CountsOf(samples.end);
    const AllocationCounts& asking = samples.not_counted;
    // It is known of another time only, and there may be less in all.
    counted -= {std::min(asking.allocations, counted.allocations), std::min(asking.bytes, counted.bytes),
                std::min(asking.freed_elsewhere, counted.freed_elsewhere)};
    SetCounts(counted, samples.end);
  }
  return samples;
}

void ReportAllocations(const PointSamples& samples, int responses_per_call, PointResult& point) {
  const ProcessSamples& client = samples.client;
  const uint64_t calls = client.end.messages() - client.begin.messages();
  AddCountedCalls(calls);
  AddAllocationFigures(Side::kClient, client.begin, client.end, calls, point.figures);
  if (samples.servers.empty()) return;
  const ProcessSamples servers = WithoutAsking(SumOfServers(samples.servers));
  const uint64_t messages = servers.end.messages() - servers.begin.messages();
  AddAllocationFigures(Side::kServer, servers.begin, servers.end, messages / static_cast<uint64_t>(responses_per_call),
                       point.figures);
}

// Which channel has which connection is not known to anyone outside the library, but how many calls went over each
// connection is: a channel has one of its own or shares its host's with all others.
void ReportRpcsPerConnection(const ChannelPlan& plan, PointResult& point) {
  if (point.connections != point.expected_connections || plan.channels.empty()) return;
  std::map<std::pair<int, int>, double> rpcs;
  for (size_t slot = 0; slot < point.completed_per_slot.size(); ++slot) {
    const size_t index = slot % plan.channels.size();
    const ChannelPlan::Channel& channel = plan.channels[index];
    const bool own = channel.local_pool || channel.distinguishing_value >= 0;
    rpcs[{channel.host, own ? static_cast<int>(index) : -1}] += static_cast<double>(point.completed_per_slot[slot]);
  }
  std::vector<double> values;
  for (const auto& [connection, count] : rpcs) values.push_back(count);
  SetDistribution("client_rpcs_per_connection", std::move(values), point.figures);
}

void ReportClient(const EvidenceContext& context, const ProcessSamples& client, PointResult& point) {
  const Measured measured{point.window_ns, point.completed};
  AddCpuFigures(Side::kClient, client.begin, client.end, measured, point.figures);
  if (!context.config.evidence) return;
  AddBoundaryFigures(Side::kClient, client, point.figures);
  AddProcessFigures(Side::kClient, client.begin, client.end, measured, point.figures);
  point.client_cpus = CompareCpus(client.begin, client.end);
  const std::string absent = AddConnectionFigures(Side::kClient, client.begin, client.end, measured, point.figures);
  if (!absent.empty()) {
    Note(absl::StrCat("client: ", absent), point);
    return;
  }
  ReportWireBytes(context.config, point);
  point.facts.emplace_back("client_congestion_control", CongestionControl(client.end));
  ReportRpcsPerConnection(context.plan, point);
}

void ReportServers(const ProcessSamples& servers, int responses_per_call, PointResult& point) {
  const Sample& begin = servers.begin;
  const Sample& end = servers.end;
  if (const Nanos apart = end.taken_at_ns() - begin.taken_at_ns(); !IsAboutAsLong(apart, point.window_ns)) {
    Note(absl::StrCat("server: its samples are ", FormatDuration(apart), " apart, the window is ",
                      FormatDuration(point.window_ns), " long: its figures are absent"),
         point);
    return;
  }
  AddBoundaryFigures(Side::kServer, servers, point.figures);
  AddServerFigures(begin, end, {point.window_ns, point.completed, responses_per_call}, point.figures);
  // Per call of the server's own count: other clients may use it at the same time.
  const Measured served{point.window_ns, static_cast<uint64_t>(point.figures.Get("server_rpcs").value_or(0))};
  AddCpuFigures(Side::kServer, begin, end, served, point.figures);
  AddProcessFigures(Side::kServer, begin, end, served, point.figures);
  point.server_cpus = CompareCpus(begin, end);
  const std::string absent = AddConnectionFigures(Side::kServer, begin, end, served, point.figures);
  if (absent.empty()) {
    point.facts.emplace_back("server_congestion_control", CongestionControl(end));
  } else {
    Note(absl::StrCat("server: ", absent), point);
  }
}

// Assumes that the server served no other client.
void ReportServerProcess(const ProcessSamples& server, PointResult& point) {
  const Measured measured{point.window_ns, point.completed};
  AddBoundaryFigures(Side::kServer, server, point.figures);
  AddCpuFigures(Side::kServer, server.begin, server.end, measured, point.figures);
  AddOtherProcessFigures(Side::kServer, server.begin, server.end, measured, point.figures);
  point.server_cpus = CompareCpus(server.begin, server.end);
}

double CostOfClockNs() {
  constexpr int kTimes = 20'000;
  const Nanos begin = NowNs();
  Nanos last = begin;
  for (int i = 0; i < kTimes; ++i) last = NowNs();
  return static_cast<double>(last - begin) / kTimes;
}

// Adds the three figures of one part (Parts::kTimes in the catalogue); false when there are none.
bool AddPart(absl::string_view name, const Histogram* times, Figures& figures) {
  if (times == nullptr || times->Count() == 0) return false;
  figures.Set(absl::StrCat(name, "_samples"), static_cast<double>(times->Count()));
  figures.Set(absl::StrCat(name, "_p50_ns"), static_cast<double>(times->ValueAtPercentile(50)));
  figures.Set(absl::StrCat(name, "_p99_ns"), static_cast<double>(times->ValueAtPercentile(99)));
  return true;
}

// Shares of the median call. The rest is both libraries' work, queues and wake-ups: no API tells these apart.
void AddShares(PointResult& point) {
  if (!point.latency || point.latency->p50_ns <= 0) return;
  const auto p50 = static_cast<double>(point.latency->p50_ns);
  double rest = 1;
  const auto share = [&](absl::string_view name, absl::string_view from) {
    const auto part = point.figures.Get(from);
    if (!part) return;
    point.figures.Set(name, *part / p50);
    rest -= *part / p50;
  };
  share("breakdown_client_issue_share", "breakdown_client_issue_p50_ns");
  share("breakdown_server_handling_share", "breakdown_server_handling_p50_ns");
  share("breakdown_network_share", "client_rtt_min_ns_median");
  point.figures.Set("breakdown_unattributed_share", std::max(rest, 0.0));
}

// The part of the CPU per call of one end that serializing and parsing take.
void AddCodecShare(Side side, absl::string_view client_name, std::optional<double> serialize_ns,
                   std::optional<double> parse_ns, Figures& figures) {
  const auto cpu = figures.Get(NameOf(side, "client_cpu_per_rpc_ns"));
  if (!cpu || *cpu <= 0 || !serialize_ns || !parse_ns) return;
  figures.Set(NameOf(side, client_name), (*serialize_ns + *parse_ns) / *cpu);
}

// Times of serializers in calls. False: the serializer of one end cannot be timed.
bool AddCodecParts(const PointSamples& samples, Figures& figures) {
  const Histogram serialize = SerializerTimes::OfClient().serialize().Snapshot();
  const Histogram parse = SerializerTimes::OfClient().parse().Snapshot();
  const bool client = AddPart("breakdown_client_serialize", &serialize, figures);
  AddPart("breakdown_client_parse", &parse, figures);
  const bool server = AddPart("breakdown_server_parse", samples.parsing ? &*samples.parsing : nullptr, figures);
  AddPart("breakdown_server_serialize", samples.serializing ? &*samples.serializing : nullptr, figures);
  return client && server;
}

// Times that each end takes to serialize and parse, in calls and alone. A call with streams has any number of messages,
// so it has no share.
void ReportCodec(const RunConfig& config, const PointSamples& samples, PointResult& point) {
  Figures& figures = point.figures;
  const bool complete = AddCodecParts(samples, figures);
  const auto cost = MeasureSerializerCost(config);
  if (cost && !complete) {
    Note(
        "breakdown: generated code does not report the time of its serializer in a call; --stub generic does, and on "
        "the "
        "server --api generic with messages",
        point);
  }
  if (cost) {
    figures.Set("breakdown_request_serialize_in_process_ns", cost->request_serialize_ns);
    figures.Set("breakdown_request_parse_in_process_ns", cost->request_parse_ns);
    figures.Set("breakdown_response_serialize_in_process_ns", cost->response_serialize_ns);
    figures.Set("breakdown_response_parse_in_process_ns", cost->response_parse_ns);
  }
  if (config.method.shape == Shape::kClientStreaming || config.method.shape == Shape::kServerStreaming) return;
  AddCodecShare(Side::kClient, "breakdown_client_codec_cpu_share", figures.Get("breakdown_client_serialize_p50_ns"),
                figures.Get("breakdown_client_parse_p50_ns"), figures);
  AddCodecShare(Side::kServer, "breakdown_client_codec_cpu_share", figures.Get("breakdown_server_serialize_p50_ns"),
                figures.Get("breakdown_server_parse_p50_ns"), figures);
  if (!cost) return;
  constexpr char kAlone[] = "breakdown_client_codec_in_process_cpu_share";
  AddCodecShare(Side::kClient, kAlone, cost->request_serialize_ns, cost->response_parse_ns, figures);
  AddCodecShare(Side::kServer, kAlone, cost->response_serialize_ns, cost->request_parse_ns, figures);
}

void ReportBreakdown(const TimingCost& cost, const PointSamples& samples, const PartTimes* parts, PointResult& point) {
  Figures& figures = point.figures;
  figures.Set("breakdown_cost_per_timed_rpc_ns", cost.per_timed_rpc_ns);
  figures.Set("breakdown_cost_per_rpc_ns", cost.per_rpc_ns);
  figures.Set("breakdown_clock_ns", CostOfClockNs());
  const bool issue = AddPart("breakdown_client_issue", parts ? &parts->issue : nullptr, figures);
  if (!issue) Note("breakdown: a blocking call does not report when it has been issued", point);
  const bool wait = AddPart("breakdown_client_wait", parts ? &parts->wait : nullptr, figures);
  if (issue && !wait) {
    Note("breakdown: if another thread may see the end of a call before the call is issued, there is no wait", point);
  }
  const bool handling = AddPart("breakdown_server_handling", samples.handling ? &*samples.handling : nullptr, figures);
  AddPart("breakdown_server_finishing", samples.finishing ? &*samples.finishing : nullptr, figures);
  if (!handling) Note("breakdown: no times of the server", point);
  AddShares(point);
}

}  // namespace

void MergeInto(std::optional<Histogram>& total, const Histogram& more) {
  if (!total) total.emplace();
  total->Merge(more);
}

void ReportEvidence(const EvidenceContext& context, const PointSamples& samples, const Measurement& measurement,
                    PointResult& point) {
  if (!samples.servers_absent.empty()) Note(absl::StrCat("server: ", samples.servers_absent), point);
  const int responses = ResponsesPerCall(context.config.method, context.config.message);
  if (context.counting) return ReportAllocations(samples, responses, point);
  ReportClient(context, samples.client, point);
  if (!samples.servers.empty()) ReportServers(SumOfServers(samples.servers), responses, point);
  if (samples.server_process) ReportServerProcess(*samples.server_process, point);
  if (!context.config.breakdown) return;
  ReportBreakdown(context.cost, samples, measurement.parts.get(), point);
  ReportCodec(context.config, samples, point);
}

}  // namespace cqbench
