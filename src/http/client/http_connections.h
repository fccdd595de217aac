// The connections of an HTTP engine, made and connected as the plan says.
#pragma once

#include <algorithm>
#include <cerrno>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "cqbench/channel_policy.h"
#include "cqbench/run_config.h"
#include "src/http/client/http_loop.h"
#include "src/http/client/http_socket.h"

namespace cqbench {

// Runner's thread, before the loops' threads begin.
template <typename Wire>
class HttpConnections {
 public:
  // All must outlive it. Shares the plan's channels over the loops. `endpoints`: of each of config.targets.
  HttpConnections(const RunConfig& config, const ChannelPlan& plan, const std::vector<Endpoint>& endpoints,
                  std::deque<Loop<Wire>>& loops)
      : config_(config), loops_(loops) {
    for (const Target& target : config.targets) {
      messages_.emplace_back(*config.http, target.is_unix() ? "localhost" : target.ToString(), config.metadata);
    }
    std::vector<Route<Wire>*> of_host(endpoints.size(), nullptr);
    size_t made = 0;
    for (const ChannelPlan::Channel& channel : plan.channels) {
      const auto host = static_cast<size_t>(channel.host);
      const bool own = channel.local_pool || channel.distinguishing_value >= 0;
      if (own || of_host[host] == nullptr) {
        Loop<Wire>& loop = loops[made++ % loops.size()];
        of_host[host] = &loop.routes.emplace_back(&loop, config.targets[host], messages_[host], endpoints[host]);
        of_host[host]->current = &of_host[host]->AddConnection();
      }
      of_channel_.push_back(of_host[host]);
    }
  }

  // Gives the slot a channel, the channels in turn. Slots of one connection are of one thread, so nothing is locked on
  // the way of a call.
  void Assign(WireSlot<Wire>& slot) {
    slot.route = of_channel_[static_cast<size_t>(slot.index) % of_channel_.size()];
    slot.route->slots.push_back(&slot);
    slot.route->loop->slots.push_back(&slot);
  }

  // Connects all, some at a time. Errors as Reachable() has them.
  absl::Status Connect(const ConnectLimit& limit) {
    constexpr size_t kConnectAtOnce = 64;  // fewer than a listener's backlog
    std::vector<Connection<Wire>*> links;
    for (Loop<Wire>& loop : loops_) {
      if (!loop.WatchWake()) return absl::ResourceExhaustedError("no descriptors are left");
      for (Connection<Wire>& link : loop.connections) links.push_back(&link);
    }
    for (size_t begun = 0, i = 0; i < links.size(); ++i) {
      for (; begun < std::min(i + kConnectAtOnce, links.size()); ++begun) {
        const Route<Wire>& route = *links[begun]->route;
        links[begun]->socket = BeginConnect(route.endpoint);
        if (!links[begun]->socket.ok()) return NotConnected(route.target, config_, errno);
      }
      Connection<Wire>& link = *links[i];
      const int error = FinishConnect(link.socket, limit);
      if (error != 0) return NotConnected(link.route->target, config_, error);
      link.WatchFor(link.route->loop->epoll, EPOLL_CTL_ADD, /*room=*/false);
    }
    return absl::OkStatus();
  }

 private:
  const RunConfig& config_;
  std::deque<Loop<Wire>>& loops_;
  std::deque<HttpMessage> messages_;  // by target
  std::vector<Route<Wire>*> of_channel_;
};

}  // namespace cqbench
