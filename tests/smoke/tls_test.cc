// TLS and mutual TLS between the two programs, with certificates of scripts/certs.sh: what was negotiated, over how
// many connections, and every way in which it fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>

#include "tests/smoke/harness.h"
#include "tests/smoke/sockets.h"

namespace cqbench::smoke {
namespace {

using testing::HasSubstr;

// Certificates of two unrelated CAs, and expired ones; made once.
class Certificates {
 public:
  static const std::string& Folder() {
    static const Certificates made;
    return made.directory_.path();
  }

 private:
  Certificates() {
    for (const char* words : {"good", "other", "expired --expired"}) {
      const std::string command = std::string(CQBENCH_SOURCE) + "/scripts/certs.sh " + directory_.path() + "/" + words;
      EXPECT_EQ(std::system((command + " 2>/dev/null").c_str()), 0) << command;
    }
  }
  const TemporaryDirectory directory_;
};

std::string Path(const std::string& name) {
  return Certificates::Folder() + "/" + name;
}
Flags Own(const std::string& name) {
  return {"--tls-cert", Path(name + ".pem"), "--tls-key", Path(name + ".key")};
}
Flags Trusting(const std::string& ca) {
  return {"--tls-ca", Path(ca + "/ca.pem")};
}
const Flags kTls = {"--tls"};

ClientRun Ask(const Server& server, const Flags& flags) {
  return RunClient(Flags{"--host", server.address(), "--connect-timeout", "20", "--format", "json"} + flags);
}

// The connection count proves that all channels share one credentials object: with an object each, each channel would
// have a connection of its own. Control service and reflection use the same credentials.
TEST(TlsTest, MutualTlsOverSharedAndSeparateConnections) {
  const Server server(kTls + Own("good/server") + Trusting("good") + Flags{"--max-concurrent-streams", "7"});
  const Flags client = kTls + Own("good/client") + Trusting("good") + Flags{"--inflight", "4"};
  for (const auto& [policy, connections] : {std::pair{"per-slot", 1}, {"local-pool", 4}}) {
    const ClientRun run = Ask(server, client + ShortInterval() + Flags{"--channel-policy", policy});
    run.CleanPoint();
    EXPECT_EQ(run.Point()["connections"], connections);
    const Json context = run.Parsed()["context"];
    EXPECT_EQ(context["security"], "mutual-tls");
    EXPECT_EQ(context["tls_version"], "TLSv1.3");
    EXPECT_EQ(context["tls_min_version"], "1.2");
    EXPECT_THAT(context["tls_cipher"].get<std::string>(), HasSubstr("TLS_"));
    EXPECT_THAT(context["tls_alpn"], testing::AnyOf("grpc-exp", "h2"));  // depends on gRPC's release
    EXPECT_EQ(context["servers"][0]["security"], "mutual-tls");
    const Json settings = context["peer_settings"];  // read over TLS, with the client's certificate
    ASSERT_EQ(settings.size(), 1u);
    EXPECT_FALSE(settings[0].contains("not_read")) << settings;
    EXPECT_EQ(settings[0]["max_concurrent_streams"], 7);
    EXPECT_THAT(run.out, testing::Not(HasSubstr("PRIVATE KEY")));
  }
  const ClientRun call = Ask(server, client + Short() + Flags{"--call", "cqbench.v1.EchoService/Echo"});
  EXPECT_EQ(call.exit_code, 0) << call.err;
  const ClientRun table = RunClient(Flags{"--host", server.address()} + client + Short());
  EXPECT_THAT(Lines(table.out).at(0), HasSubstr("mutual TLSv1.3 TLS_")) << table.err;
}

TEST(TlsTest, WithoutClientCertificateItIsNotMutual) {
  const Server server(kTls + Own("good/server"));
  const ClientRun run = Ask(server, kTls + Own("good/client") + Trusting("good") + Short());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.Parsed()["context"]["security"], "tls");
}

struct Negotiated {
  std::string name;
  Flags server;
  Flags client;
  std::string version;
  std::string cipher;
};
void PrintTo(const Negotiated& n, std::ostream* out) {
  *out << n.name;
}
class TlsNegotiatedTest : public testing::TestWithParam<Negotiated> {};

TEST_P(TlsNegotiatedTest, IsWhatEitherEndAskedFor) {
  const Negotiated& asked = GetParam();
  const Server server(kTls + Own("good/server") + asked.server);
  const ClientRun run = Ask(server, kTls + Trusting("good") + asked.client + Short());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.Parsed()["context"]["tls_version"], asked.version);
  EXPECT_EQ(run.Parsed()["context"]["tls_cipher"], asked.cipher);
}

const char k12[] = "ECDHE-ECDSA-AES256-GCM-SHA384";
const char kChaCha[] = "TLS_CHACHA20_POLY1305_SHA256";
const char kAes128[] = "TLS_AES_128_GCM_SHA256";
INSTANTIATE_TEST_SUITE_P(
    All, TlsNegotiatedTest,
    testing::Values(Negotiated{"ClientsCipher", {}, {"--tls-ciphers", kChaCha}, "TLSv1.3", kChaCha},
                    Negotiated{"ServersCipher", {"--tls-ciphers", kAes128}, {}, "TLSv1.3", kAes128},
                    Negotiated{"ServersOldCipher", {"--tls-ciphers", k12}, {}, "TLSv1.2", k12},
                    Negotiated{"OneOfBothVersions",
                               {"--tls-min-version", "1.3"},
                               {"--tls-ciphers", std::string(k12) + ":" + kAes128},
                               "TLSv1.3",
                               kAes128}),
    [](const auto& each) { return each.param.name; });

// A certificate, a key, or settings with which no connection works; `plain`: the server has no TLS.
struct Failure {
  std::string name;
  bool plain;
  std::string server;
  Flags server_more;
  Flags client;
  std::string says;
};
void PrintTo(const Failure& f, std::ostream* out) {
  *out << f.name;
}
class TlsFailureTest : public testing::TestWithParam<Failure> {};

TEST_P(TlsFailureTest, IsOneLineAtOnce) {
  const Failure& failure = GetParam();
  const Server server(failure.plain ? Flags{} : kTls + Own(failure.server) + failure.server_more);
  Flags client = failure.client;
  for (std::string& word : client) {
    if (word.starts_with("@")) word = Path(word.substr(1));
  }
  const ClientRun run = RunClient(Flags{"--host", server.address(), "--connect-timeout", "20"} + client);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  ExpectOneLine(run.err, {"cannot connect to " + server.address(), failure.says});
  EXPECT_LT(run.took, kGrace);
}

const Flags kGoodCa = {"--tls", "--tls-ca", "@good/ca.pem"};
INSTANTIATE_TEST_SUITE_P(
    All, TlsFailureTest,
    testing::Values(
        Failure{
            "WrongCa", false, "good/server", {}, {"--tls", "--tls-ca", "@other/ca.pem"}, "is not signed by --tls-ca"},
        Failure{"NoCa", false, "good/server", {}, {"--tls"}, "there is no --tls-ca"},
        Failure{"Expired", false, "expired/server", {}, {"--tls", "--tls-ca", "@expired/ca.pem"}, "has expired"},
        Failure{"WrongName",
                false,
                "good/server",
                {},
                kGoodCa + Flags{"--tls-server-name", "elsewhere"},
                "is not for 'elsewhere'"},
        Failure{"OtherVersion",
                false,
                "good/server",
                {"--tls-ciphers", k12},
                kGoodCa + Flags{"--tls-min-version", "1.3"},
                "none of the versions and ciphers"},
        Failure{"OtherCipher",
                false,
                "good/server",
                {"--tls-ciphers", kAes128},
                kGoodCa + Flags{"--tls-ciphers", kChaCha},
                "none of the versions and ciphers"},
        Failure{"PlaintextToTls", false, "good/server", {}, {}, "the server speaks TLS"},
        Failure{"TlsToPlaintext", true, "", {}, kGoodCa, "the server does not speak TLS"}),
    [](const auto& each) { return each.param.name; });

TEST(TlsTest, ClientsThatAreRefusedForTheirCertificate) {
  const Server server(kTls + Own("good/server") + Trusting("good"));
  const Flags of_12 = {"--tls-ciphers", k12};  // TLS 1.2 fails with another alert
  for (const auto& [flags, says] : {std::pair<Flags, std::string>{{}, "demands a certificate"},
                                    {of_12, "demands a certificate"},
                                    {Own("other/client"), "--tls-cert '" + Path("other/client.pem")}}) {
    const ClientRun run =
        RunClient(Flags{"--host", server.address(), "--connect-timeout", "20"} + kTls + Trusting("good") + flags);
    EXPECT_EQ(run.exit_code, 1);
    ExpectOneLine(run.err, {"cannot connect to " + server.address(), says});
    EXPECT_LT(run.took, kGrace);
    const ClientRun call =
        RunClient(Flags{"--host", server.address(), "--call", "a.B/C"} + kTls + Trusting("good") + flags);
    EXPECT_EQ(call.exit_code, 1);
    ExpectOneLine(call.err, {"--call", says});
  }
}

// The programs check everything that needs no connection before they start.
TEST(TlsTest, FilesAndFlagsAreChecked) {
  const std::string none = Path("none.pem"), text = Path("text.pem"), large = Path("large.pem"),
                    locked = Path("locked.key");
  std::ofstream(text) << "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  std::ofstream(large) << std::string((1 << 20) + 1, 'x');
  ASSERT_EQ(
      std::system(("openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:x -out " +
                   locked +
                   " 2>/dev/null || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 "
                   "-pass pass:x -out " +
                   locked + " 2>/dev/null")
                      .c_str()),
      0);
  const std::string certificate = Path("good/server.pem"), key = Path("good/server.key");
  const std::vector<std::pair<Flags, std::vector<std::string>>> cases = {
      {{"--tls-ca", none}, {"--tls-ca", "needs --tls"}},
      {{"--tls", "--tls-cert", certificate}, {"--tls-cert", "needs --tls-key"}},
      {{"--tls", "--tls-ca", none}, {"--tls-ca", none, "cannot read"}},
      {{"--tls", "--tls-ca", large}, {"--tls-ca", large, "more than 1 MiB"}},
      {{"--tls", "--tls-ca", key}, {"--tls-ca", key, "no certificate"}},
      {{"--tls", "--tls-ca", text}, {"--tls-ca", text, "cannot be read"}},
      {{"--tls", "--tls-cert", certificate, "--tls-key", certificate}, {"--tls-key", certificate, "no private key"}},
      {{"--tls", "--tls-cert", certificate, "--tls-key", locked}, {"--tls-key", locked, "passphrase"}},
      {{"--tls", "--tls-cert", certificate, "--tls-key", Path("good/client.key")}, {"--tls-key", "is not the key of"}},
      {{"--tls", "--tls-min-version", "1.1"}, {"--tls-min-version", "1.1", "1.2|1.3"}},
      {{"--check", "--tls", "--tls-ciphers", "ROT13"}, {"--tls-ciphers", "ROT13"}},
      {{"--tls", "--tls-min-version", "1.3", "--tls-ciphers", k12}, {"--tls-ciphers", k12, "--tls-min-version"}},
      {{"--tls", "--api", "http1", "--workload", "library"}, {"--tls", "http1"}},
  };
  for (const auto& [flags, parts] : cases) {
    const ClientRun run = RunClient(flags);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    ExpectOneLine(run.err, parts);
    EXPECT_THAT(run.err, testing::Not(HasSubstr("PRIVATE KEY")));
  }
  for (const auto& [flags, says] : {std::pair<Flags, std::string>{kTls, "--tls-cert"},
                                    {kTls + Own("good/server") + Flags{"--http", "localhost:0"}, "--http"}}) {
    Process server(Flags{CQBENCH_SERVER} + flags);
    EXPECT_EQ(server.Wait(kPatience), 2);
    ExpectOneLine(server.err(), {"--tls", says});
  }
}

TEST(TlsTest, ServersThatOthersCanReachWarnWithoutIt) {
  Server open({"--host", "0.0.0.0"});
  ExpectOneLine(open.process().err(), {"warning", "0.0.0.0", "--tls"});
  Server closed({"--host", "127.0.0.1"});
  EXPECT_EQ(closed.process().err(), "");
  Server encrypted(Flags{"--host", "0.0.0.0"} + kTls + Own("good/server"));
  EXPECT_EQ(encrypted.process().err(), "");
}

}  // namespace
}  // namespace cqbench::smoke
