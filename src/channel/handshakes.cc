// OpenSSL tells those who keep data of their own with its objects when it makes one. That is how we come to the
// contexts that gRPC makes its connections with, which no API hands out: each gets a callback for the messages of
// handshakes, which a connection lets go of when its handshake is done.

#include "src/channel/handshakes.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "src/channel/tls.h"

namespace cqbench {
namespace {

std::atomic<int> contexts{0};  // that the process's OpenSSL has made since we watch
int progress = -1;             // index of what is kept with a connection until its handshake is done: see below
std::mutex mutex;
std::vector<NegotiatedTls>& Seen() {  // guarded by mutex; never destroyed, as the library's threads may outlive main()
  static auto* const seen = new std::vector<NegotiatedTls>;
  return *seen;
}

// Bits for the messages that this process saw in a handshake.
enum : uintptr_t { kFinished = 1, kCertificateSent = 2 };
// Types of handshake messages; how long one is at most that says "there is no certificate".
constexpr unsigned char kCertificateMessage = 11, kFinishedMessage = 20, kCompressedCertificateMessage = 25;
constexpr size_t kEmptyCertificate = 8;

void Remember(const SSL* ssl, bool mutual) {
  NegotiatedTls negotiated;
  negotiated.version = SSL_get_version(ssl);
  negotiated.cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl));
  const unsigned char* protocol = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &length);
  if (length > 0) negotiated.alpn.assign(reinterpret_cast<const char*>(protocol), length);
  negotiated.mutual = mutual;
  const std::lock_guard lock(mutex);
  if (std::find(Seen().begin(), Seen().end(), negotiated) == Seen().end()) Seen().push_back(std::move(negotiated));
}

// Newer releases of OpenSSL (3.2 and later) compress it where both ends can.
bool IsCertificate(unsigned char message, size_t length) {
  return message == kCompressedCertificateMessage || (message == kCertificateMessage && length > kEmptyCertificate);
}

// The handshake is over with the second "finished", whoever sends it; what it agreed on is known by then.
void OnMessage(int is_sent, int /*version*/, int type, const void* data, size_t length, SSL* ssl, void* /*argument*/) {
  if (type != SSL3_RT_HANDSHAKE || length == 0) return;
  const unsigned char message = *static_cast<const unsigned char*>(data);
  auto seen = reinterpret_cast<uintptr_t>(SSL_get_ex_data(ssl, progress));
  if (is_sent != 0 && IsCertificate(message, length)) seen |= kCertificateSent;
  if (message == kFinishedMessage && (seen & kFinished) != 0) {
    Remember(ssl, (seen & kCertificateSent) != 0);
    SSL_set_msg_callback(ssl, nullptr);  // from here on a connection costs what it does without us
  }
  if (message == kFinishedMessage) seen |= kFinished;
  SSL_set_ex_data(ssl, progress, reinterpret_cast<void*>(seen));
}

void OnContext(void* context, void*, CRYPTO_EX_DATA*, int, long, void*) {
  contexts.fetch_add(1, std::memory_order_relaxed);
  SSL_CTX_set_msg_callback(static_cast<SSL_CTX*>(context), OnMessage);
}

}  // namespace

void WatchHandshakes() {
  progress = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  SSL_CTX_get_ex_new_index(0, nullptr, OnContext, nullptr, nullptr);
}

std::vector<NegotiatedTls> SeenHandshakes() {
  const std::lock_guard lock(mutex);
  return Seen();
}

void ForgetHandshakes() {
  const std::lock_guard lock(mutex);
  Seen().clear();
}

absl::Status ValidateTlsLimitsReachLibrary(const Security& security) {
  const bool limited = security.min_version != TlsVersion::k12 || !security.ciphers.empty();
  if (!limited || contexts.load(std::memory_order_relaxed) > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "--tls-min-version and --tls-ciphers do not reach this gRPC, which has a TLS library of its own built in");
}

}  // namespace cqbench
