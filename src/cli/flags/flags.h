// Shared by both programs' command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/clock.h"
#include "src/base/enum_names.h"
#include "src/cli/flags/suggest.h"
#include "src/config/client_api.h"
#include "src/config/units.h"
#include "src/config/wire_settings.h"

namespace cqbench {

// The result of a command line: options, or a text to print and the exit status (help, version, an error, or no text at
// all: --check).
template <typename Options>
struct Parsed {
  std::optional<Options> options;
  std::string text;
  int exit_code = 0;
};

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// An option whose text is turned into a value by `parse` (string_view → StatusOr<T>). Errors name the flag and the
// value.
template <typename T, typename Parse>
CLI::Option* AddParsed(CLI::App& app, const std::string& flag, T& into, Parse parse, const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [&into, parse, flag](const std::string& text) {
            auto value = parse(text);
            if (!value.ok()) throw CLI::ValidationError(flag, std::string(value.status().message()));
            into = *std::move(value);
          },
          help)
      ->type_name("TEXT");
}

inline CLI::Option* AddDuration(CLI::App& app, const std::string& flag, Nanos& into, const std::string& help,
                                Nanos min_ns = 1) {
  const auto parse = [min_ns](const std::string& text) { return ParseDuration(text, min_ns); };
  return AddParsed(app, flag, into, parse, help)->type_name("SECONDS")->default_str(FormatDuration(into));
}

inline CLI::Option* AddChannelArgs(CLI::App& app, std::vector<ChannelArg>& into) {
  return app
      .add_option_function<std::vector<std::string>>(
          "--channel-arg",
          [&into](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto arg = ParseChannelArg(text);
              if (!arg.ok()) throw CLI::ValidationError("--channel-arg", std::string(arg.status().message()));
              into.push_back(*std::move(arg));
            }
          },
          "gRPC channel argument, an integer where VALUE is one; repeatable.")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

// A line on standard error for each that no code of this process knows by that name: the library ignores it, silently.
void WarnOfUnknownChannelArgs(const std::string& program, const std::vector<ChannelArg>& args);

// One of a list of names.
inline CLI::Option* AddChoice(CLI::App& app, const std::string& flag, std::string& into,
                              const std::vector<std::string>& choices, const std::string& help) {
  CLI::Validator one_of = CLI::IsMember(choices);
  return app.add_option(flag, into, help)
      ->check(one_of.description(""))
      ->capture_default_str()
      ->type_name(absl::StrJoin(choices, "|"));
}

// One of an enumeration's values, by its name; `accepted` where only some are.
template <NamedEnum E>
CLI::Option* AddEnum(CLI::App& app, const std::string& flag, E& into, const std::string& help,
                     std::vector<E> accepted = {}) {
  if (accepted.empty()) {
    for (const EnumName<E>& each : NamesOf(E{})) accepted.push_back(each.value);
  }
  const std::string names =
      absl::StrJoin(accepted, "|", [](std::string* out, E value) { absl::StrAppend(out, ToString(value)); });
  const auto parse = [accepted, names](const std::string& text) -> absl::StatusOr<E> {
    const auto value = FromString<E>(text);
    if (value && std::find(accepted.begin(), accepted.end(), *value) != accepted.end()) return *value;
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not one of ", names));
  };
  return AddParsed(app, flag, into, parse, help)->type_name(names)->default_str(std::string(ToString(into)));
}

// A decimal number in [min, max]. Not by CLI11's own conversion, which takes 010 for 8, and whose range check lets NaN
// through.
template <typename T>
CLI::Option* AddNumber(CLI::App& app, const std::string& flag, T& into, T min, T max, const std::string& help) {
  const auto parse = [min, max](const std::string& text) -> absl::StatusOr<T> {
    T value{};
    bool is_number = false;
    if constexpr (std::is_integral_v<T>) {
      is_number = absl::SimpleAtoi(text, &value);
    } else {
      is_number = absl::SimpleAtod(text, &value);
    }
    if (is_number && value >= min && value <= max) return value;
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a number from ", min, " to ", max));
  };
  CLI::Option* option = AddParsed(app, flag, into, parse, help)->type_name(absl::StrCat(min, "..", max));
  return into < min ? option : option->default_str(absl::StrCat(into));  // below: "not given" has a meaning of its own
}

// Abseil's mutexes look for lock cycles unless abseil itself was compiled with NDEBUG; Debian's was not. gRPC takes so
// many of them that this costs 6 % to 15 % of the throughput of a CPU-bound client (gRPC 1.51.1). It is a debugging aid
// and no part of what an RPC costs, so both programs switch it off unless asked. Where abseil was built with NDEBUG
// neither has an effect.
inline CLI::Option* AddDeadlockDetection(CLI::App& app, bool& into) {
  return app.add_flag("--deadlock-detection", into, "Keep abseil's lock-cycle detection on (Debian's abseil has it).");
}
void SetDeadlockDetection(bool on);

// gRPC and protobuf would write what a peer sent to standard error, for each call and with the bytes as they are, which
// a terminal acts on: headers that cannot be read, handshakes that fail, names that are none, strings that are no
// UTF-8. We say what happened. GRPC_VERBOSITY in the environment has gRPC write all the same. Before any thread.
void QuietLibraries();

[[noreturn]] inline void BadCombination(const std::string& flag, const std::string& why) {
  throw CLI::ValidationError(flag, why);
}

// A status of INVALID_ARGUMENT whose message begins with the flag.
inline void ThrowIfNotOk(const absl::Status& status) {
  if (!status.ok()) throw CLI::ValidationError(std::string(status.message()));
}

// Refuses a flag of gRPC's for the APIs without gRPC.
inline void NeedsGrpc(const CLI::Option* option, ClientApi api) {
  if (option->count() == 0 || !IsHttp(api)) return;
  BadCombination(option->get_name(), absl::StrCat("needs --api sync, cq or callback, not ", ToString(api)));
}

// Runs `fill` (which may throw CLI errors) after parsing and turns every outcome into Parsed. Adds --check, with which
// that is all: no options, no text, status 0 or what an error gives.
template <typename Options, typename Fill>
Parsed<Options> ParseCommandLine(CLI::App& app, int argc, const char* const* argv, Fill fill) {
  const CLI::Option* check = app.get_option_no_throw("--check");
  if (check == nullptr) {
    check = app.add_flag("--check")->group("General")->description(
        "Check these flags and exit; resolve, open, connect and print nothing.");
  }
  try {
    app.parse(argc, argv);
    Options options = fill();
    if (check->count() > 0) return {};
    return {std::move(options), "", 0};
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), 0};
  } catch (const CLI::CallForAllHelp&) {
    return {std::nullopt, app.help("", CLI::AppFormatMode::All), 0};
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, std::string(version.what()) + "\n", 0};
  } catch (const CLI::ExtrasError&) {
    return {std::nullopt, absl::StrCat(app.get_name(), ": ", ExplainExtras(app.remaining(), app), " (see --help)\n"),
            kExitUsage};
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return {std::nullopt, app.get_name() + ": " + line + " (see --help)\n", kExitUsage};
  }
}

// "grpc_ping_client 0.1.0 (gRPC 1.51.1: static, with assertions; protobuf 3.21.12; g++ 12.2.0)".
std::string VersionLine(const std::string& program);
std::string GrpcVersion();
// Returns true if this library polls sockets on threads of its own; if it does not, a queue that does not poll never
// gets an event. Decides by the version, the first in which this was tried, and by GRPC_EXPERIMENTS.
bool PollsByItself();
std::string ProtobufVersion();

}  // namespace cqbench
