// A handshake of our own, after gRPC's has failed: gRPC says no more than that it has no connection.

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/sockets.h"
#include "src/channel/handles.h"
#include "src/channel/tls.h"
#include "src/channel/tls_session.h"

namespace cqbench {
namespace {

constexpr Nanos kPatience = kNanosPerSecond;
constexpr char kNoCertificate[] = "the server demands a certificate of its clients (--tls-cert, --tls-key)";

// Explains a failed handshake in terms of flags.
class Handshake {
 public:
  Handshake(const Endpoint& endpoint, const Security& security, const std::string& name)
      : security_(security),
        name_(name),
        socket_(BeginConnect(endpoint)),
        error_(socket_.ok() ? FinishConnect(socket_, {give_up_at_}) : errno),
        session_(security, name, socket_.fd()) {
    SSL_set_msg_callback(ssl(), NoteRequest);
    SSL_set_msg_callback_arg(ssl(), &asked_for_certificate_);
  }
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  bool connected() const { return error_ == 0; }

  TlsTrial Try() {
    if (error_ != 0) return {std::strerror(error_), error_ == ECONNREFUSED || error_ == ENOENT};
    // A server that refuses our certificate, or has none of it, says so only after our side of the handshake is done.
    char byte;
    if (Carry(SSL_connect) && Carry([&](SSL* ssl) { return SSL_read(ssl, &byte, 1); })) return {};
    if (timed_out_) return established_ ? TlsTrial{} : TlsTrial{"the server does not answer a TLS handshake", false};
    const long verified = SSL_get_verify_result(ssl());
    return {!established_ && verified != X509_V_OK ? ExplainCertificate(verified) : ExplainEnd(), true};
  }

 private:
  static void NoteRequest(int is_sent, int, int type, const void* data, size_t length, SSL*, void* asked) {
    constexpr unsigned char kCertificateRequest = 13;
    if (is_sent != 0 || type != SSL3_RT_HANDSHAKE || length == 0) return;
    if (*static_cast<const unsigned char*>(data) == kCertificateRequest) *static_cast<bool*>(asked) = true;
  }

  template <typename Step>
  bool Carry(Step step) {
    failed_as_ = session_.Carry(give_up_at_, step);
    established_ = SSL_is_init_finished(ssl()) != 0;
    timed_out_ = failed_as_ == SSL_ERROR_WANT_READ || failed_as_ == SSL_ERROR_WANT_WRITE;
    return failed_as_ == SSL_ERROR_NONE;
  }

  SSL* ssl() const { return session_.ssl(); }

  std::string ExplainCertificate(long verified) const {
    const char* const why = X509_verify_cert_error_string(verified);
    switch (verified) {
      case X509_V_ERR_CERT_HAS_EXPIRED:
        return "the server's certificate, or one that it was signed with, has expired";
      case X509_V_ERR_CERT_NOT_YET_VALID:
        return "the server's certificate, or one that it was signed with, is not valid yet";
      case X509_V_ERR_HOSTNAME_MISMATCH:
      case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return absl::StrCat("the server's certificate is not for '", name_,
                            "': --tls-server-name says what else it may be for");
      default:
        return absl::StrCat("the server's certificate is not signed by ",
                            security_.ca.name.empty() ? "whom this machine trusts, and there is no --tls-ca"
                                                      : absl::StrCat("--tls-ca '", security_.ca.name, "'"),
                            ": ", why);
    }
  }

  // Names the flag behind a TLS alert, where there is one.
  std::string ExplainAlert(int reason) const {
    switch (reason) {
      case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        return kNoCertificate;
      case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:  // of TLS 1.2 for a lack of certificates, too
        if (asked_for_certificate_ && security_.certificate.name.empty()) return kNoCertificate;
        return "the server has none of the TLS ciphers that it was offered (--tls-ciphers)";
      case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      case SSL_R_UNSUPPORTED_PROTOCOL:
        return "the server has none of the TLS versions that are allowed (--tls-min-version, --tls-ciphers)";
      case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        return absl::StrCat("the server does not know who signed the certificate in --tls-cert '",
                            security_.certificate.name, "'");
      default:
        return "";
    }
  }

  // As gRPC 1.51.1 ends what it does not like: without an alert.
  std::string ExplainHangUp() const {
    if (SSL_get_state(ssl()) == TLS_ST_CW_CLNT_HELLO) {
      return "the server hung up on the first message of the TLS handshake: it has none of the versions and ciphers "
             "that "
             "are allowed here (--tls-min-version, --tls-ciphers), or does not speak TLS";
    }
    if (!asked_for_certificate_) return "the server hung up during the TLS handshake";
    if (security_.certificate.name.empty()) return kNoCertificate;
    return absl::StrCat("the server hung up on the certificate in --tls-cert '", security_.certificate.name,
                        "': it takes those that its own CA signed, while they are valid");
  }

  std::string ExplainEnd() const {
    const unsigned long error = ERR_peek_last_error();
    const bool said = failed_as_ == SSL_ERROR_SSL && ERR_GET_LIB(error) == ERR_LIB_SSL;
    const int reason = ERR_GET_REASON(error);
    if (!said || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) return ExplainHangUp();
    if (std::string why = ExplainAlert(reason); !why.empty()) return why;
    if (reason >= SSL_AD_REASON_OFFSET) return absl::StrCat("the server ended the TLS handshake: ", LastTlsError());
    // The server's first bytes were not a TLS record.
    if (SSL_get_state(ssl()) == TLS_ST_CW_CLNT_HELLO)
      return "the server does not speak TLS: without --tls it may answer";
    return absl::StrCat("the TLS handshake failed: ", LastTlsError());
  }

  const Security& security_;
  const std::string name_;
  const Nanos give_up_at_ = NowNs() + kPatience;
  const Descriptor socket_;
  const int error_;
  const TlsSession session_;
  int failed_as_ = SSL_ERROR_NONE;
  bool asked_for_certificate_ = false;
  bool established_ = false;
  bool timed_out_ = false;
};

TlsTrial TryAddresses(const std::vector<Endpoint>& endpoints, const Security& security, const std::string& name) {
  std::optional<TlsTrial> first;
  TlsTrial trial;
  for (const Endpoint& endpoint : endpoints) {
    Handshake handshake(endpoint, security, name);
    trial = handshake.Try();
    if (trial.why.empty()) return trial;
    if (handshake.connected() && !first) first = trial;
  }
  return first.value_or(trial);
}

}  // namespace

TlsTrial TryTls(const Target& target, const Security& security) {
  const auto endpoints = ResolveTargets({target});
  if (!endpoints.ok()) return {std::string(endpoints.status().message()), false};
  return TryAddresses(*endpoints, security, ServerNameOf(target, security));
}

}  // namespace cqbench
