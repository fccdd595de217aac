#include "src/cli/flags/tls_flags.h"

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/base/files.h"
#include "src/channel/tls.h"

namespace cqbench {
namespace {

constexpr size_t kMaxPemBytes = 1 << 20;

absl::Status Read(const char* flag, PemFile& file) {
  if (file.name.empty()) return absl::OkStatus();
  auto text = ReadFile(file.name, kMaxPemBytes);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", text.status().message()));
  file.pem = *std::move(text);
  return absl::OkStatus();
}

}  // namespace

TlsFlags::TlsFlags(CLI::App& app, Security& security, TlsEnd end) : security_(security), end_(end) {
  const bool client = end == TlsEnd::kClient;
  const auto file = [&](const char* flag, PemFile& into, const char* help) {
    needs_tls_.push_back(app.add_option(flag, into.name, help)->type_name("FILE"));
    return needs_tls_.back();
  };
  app.add_flag("--tls", security.tls,
               client ? "Use TLS to the server, its control service and reflection."
                      : "Use TLS at all addresses; needs --tls-cert and --tls-key.");
  ca_ = file("--tls-ca", security.ca,
             client ? "CA certificates (PEM) for the server's (default: those that gRPC trusts)."
                    : "CA certificates (PEM) for clients, which must have one (mutual TLS).");
  certificate_ =
      file("--tls-cert", security.certificate,
           client ? "Client certificate (PEM), for mutual TLS." : "Server certificate (PEM) and its intermediates.");
  key_ = file("--tls-key", security.key, "Private key (PEM) of --tls-cert, without a passphrase.");
  if (client) {
    needs_tls_.push_back(app.add_option("--tls-server-name", security.server_name,
                                        "Expected name in the server's certificate (default: that of --host).")
                             ->type_name("NAME"));
  }
  needs_tls_.push_back(AddEnum(app, "--tls-min-version", security.min_version, "Minimum TLS version."));
  needs_tls_.push_back(app.add_option("--tls-ciphers", ciphers_, "Allowed ciphers by their OpenSSL names.")
                           ->type_name("NAME[:NAME...]"));
}

void TlsFlags::Resolve() {
  for (const CLI::Option* option : needs_tls_) {
    if (option->count() > 0 && !security_.tls) BadCombination(option->get_name(), "needs --tls");
    if (option->count() > 0 && option->as<std::string>().empty()) BadCombination(option->get_name(), "is empty");
  }
  if (!security_.tls) return;
  if (certificate_->count() != key_->count()) {
    BadCombination(certificate_->count() > 0 ? "--tls-cert" : "--tls-key",
                   certificate_->count() > 0 ? "needs --tls-key" : "needs --tls-cert");
  }
  if (end_ == TlsEnd::kServer && certificate_->count() == 0) BadCombination("--tls", "needs --tls-cert and --tls-key");
  if (ciphers_.empty()) return;
  security_.ciphers = absl::StrSplit(ciphers_, ':');
  if (const absl::Status limits = CheckTlsLimits(security_); !limits.ok()) {
    BadCombination("--tls-ciphers", std::string(absl::StripPrefix(limits.message(), "--tls-ciphers: ")));
  }
}

absl::Status BeginTls(Security& security) {
  for (auto& [flag, file] : {std::pair<const char*, PemFile&>{"--tls-ca", security.ca},
                             {"--tls-cert", security.certificate},
                             {"--tls-key", security.key}}) {
    if (const absl::Status read = Read(flag, file); !read.ok()) return read;
  }
  if (const absl::Status checked = CheckTlsFiles(security); !checked.ok()) return checked;
  return PrepareTls(security);
}

}  // namespace cqbench
