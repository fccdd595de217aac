// The HTTP front end with a handler for tests: Handle() documents each path. Prints "listening on PORT", serves until a
// signal, then prints its counts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cqbench/run_config.h"
#include "src/base/interrupt.h"
#include "src/http/server/http_server.h"

namespace cqbench {
namespace {

constexpr const char* kText = "text/plain";

// A thread that runs tasks one after the other.
class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {}
  ~Worker() {
    Do(nullptr);
    thread_.join();
  }
  void Do(std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(what));
    changed_.notify_one();
  }

 private:
  void Run() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !queue_.empty(); });
      const std::function<void()> next = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (!next) return;
      next();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;
};

// Writes numbered lines until the connection is full, and continues when there is room.
class Lines : public std::enable_shared_from_this<Lines> {
 public:
  Lines(size_t lines, bool whole) : lines_(lines), whole_(whole) {}

  void Start(HttpReply reply) {
    stream_ = reply.Begin(200, kText, [self = shared_from_this()] { self->Write(); });
    Write();
  }

 private:
  void Write() {
    for (; written_ < lines_; ++written_) {
      const auto result = stream_.Write("line " + std::to_string(written_) + "\n");
      if (result == HttpStream::Result::kFull) return;
      if (result == HttpStream::Result::kGone) break;
    }
    whole_ ? stream_.End() : stream_.Break();
  }
  const size_t lines_;
  const bool whole_;
  size_t written_ = 0;
  HttpStream stream_;
};

// "/lines?30": 30.
size_t NumberIn(std::string_view target) {
  const size_t at = target.find('?');
  return at == std::string_view::npos ? 0 : static_cast<size_t>(std::atoll(std::string(target.substr(at + 1)).c_str()));
}

// Finds the call of the library workload that the client makes.
const HttpCall* CallOfLibrary(const HttpRequest& request) {
  static const std::vector<HttpCall> calls = [] {
    std::vector<HttpCall> all;
    for (const MethodInfo& method : AllMethodInfos()) {
      if (auto call = HttpCallOf(method, {})) all.push_back(*std::move(call));
    }
    return all;
  }();
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const HttpCall& call) {
    return call.method == request.method && call.target == request.target && call.body == request.body;
  });
  return found == calls.end() ? nullptr : &*found;
}

void Handle(Worker& worker, const HttpRequest& request, HttpReply reply) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const size_t number = NumberIn(request.target);
  if (const HttpCall* call = CallOfLibrary(request)) {
    reply.Send(200, "application/json", call->expected);
  } else if (path == "/constant") {
    reply.Send(200, "application/json", "{\"ok\":true}");
  } else if (path == "/echo") {
    reply.Send(200, request.content_type, request.body);
  } else if (path == "/request") {
    reply.Send(200, kText,
               std::string(request.method) + " " + std::string(request.target) + " " +
                   std::string(request.content_type) + " " + std::string(request.accept) + " " +
                   std::to_string(request.body.size()) + "\n");
  } else if (path == "/bytes") {
    reply.Send(200, kText, std::string(number, 'x'));
  } else if (path == "/status") {
    reply.Send(static_cast<int>(number), kText, "status\n");
  } else if (path == "/later") {
    // Responds from another thread after this number of milliseconds; the thread reads the body, which must still be
    // valid.
    auto held = std::make_shared<HttpReply>(std::move(reply));
    worker.Do([held, number, body = request.body] {
      std::this_thread::sleep_for(std::chrono::milliseconds(number));
      held->Send(200, kText, "later:" + std::string(body) + "\n");
    });
  } else if (path == "/lines" || path == "/cut") {
    std::make_shared<Lines>(number, path == "/lines")->Start(std::move(reply));
  } else if (path == "/lines-later") {
    auto held = std::make_shared<HttpReply>(std::move(reply));
    worker.Do([held, number] { std::make_shared<Lines>(number, true)->Start(std::move(*held)); });
  } else if (path != "/dropped") {
    reply.Send(404, kText, "no such path\n");
  }
}

int Main(int argc, char** argv) {
  HttpOptions options;
  options.listen.host = "127.0.0.1";
  int port = 0;
  int request_ms = 20'000;
  int idle_ms = 60'000;
  int write_ms = 20'000;
  CLI::App app("The HTTP front end with a handler for tests.");
  app.add_option("--port", port);
  app.add_option("--threads", options.threads);
  app.add_option("--max-connections", options.max_connections);
  app.add_option("--max-header-bytes", options.max_header_bytes);
  app.add_option("--max-body-bytes", options.max_body_bytes);
  app.add_option("--max-streams", options.max_streams);
  app.add_option("--max-resets", options.max_resets);
  app.add_option("--request-ms", request_ms);
  app.add_option("--idle-ms", idle_ms);
  app.add_option("--write-ms", write_ms);
  CLI11_PARSE(app, argc, argv);
  options.listen.port = port;
  options.request_ns = request_ms * kNanosPerMilli;
  options.idle_ns = idle_ms * kNanosPerMilli;
  options.write_ns = write_ms * kNanosPerMilli;

  Interrupt interrupt;
  Worker worker;
  const auto server = HttpServer::Start(
      options, [&worker](const HttpRequest& request, HttpReply reply) { Handle(worker, request, std::move(reply)); });
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 2;
  }
  std::printf("listening on %d\n", (*server)->address().port);
  std::fflush(stdout);
  interrupt.Wait();
  (*server)->Stop();
  const HttpCounts counts = (*server)->counts();
  std::printf("answers 2xx=%lu 4xx=%lu 5xx=%lu http2=%lu connections=%lu refused=%lu timed_out=%lu\n",
              counts.responses[1], counts.responses[3], counts.responses[4], counts.http2_responses, counts.connections,
              counts.refused_connections, counts.timed_out);
  return 0;
}

}  // namespace
}  // namespace cqbench

int main(int argc, char** argv) {
  return cqbench::Main(argc, argv);
}
