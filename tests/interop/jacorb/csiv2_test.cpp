// SPDX-License-Identifier: Apache-2.0
//
// CSIv2 with JacORB, in both directions: users and passwords as its SAS interceptors say and take
// them (Sas.java), and the same by TLS, where both ends show certificates.
#include "jacorb.h"
#include "kairos/csiv2/csiv2.h"
#include "tests/csiv2/files.h"
#include "tests/malformed/fixture.h"
#include "tests/tls/certificates.h"

#include <filesystem>
#include <fstream>

namespace interop {
namespace {

using kairos::csiv2_testing::CsiFiles;
using kairos::orb_testing::Client;
using kairos::orb_testing::outcome;
using kairos::orb_testing::RunningServer;
using kairos::tls_testing::Certificates;
namespace csiv2 = kairos::csiv2;

/// The one machine of a test.
class Sas {
  public:
    explicit Sas(const Arguments& keystore = {}) : process_(java("interop.Sas") + keystore)
    {
        reference = process_.read_line();
    }
    ~Sas() { EXPECT_EQ(process_.stop(), 0) << "JacORB's exit status"; }

    std::string call(const std::string& user, const std::string& password,
                     const std::string& server)
    {
        process_.write_line("call " + user + ' ' + password + ' ' + server);
        return process_.read_line();
    }
    /// For whom it speaks from now on: "chain FILE", "name FILE" or "nobody".
    void speak(const std::string& whom)
    {
        process_.write_line(whom);
        EXPECT_EQ(process_.read_line(), "ok") << whom;
    }
    std::string served()
    {
        process_.write_line("served");
        return process_.read_line();
    }

    std::string reference;

  private:
    calls::Process process_;
};

class JacorbCsiv2 : public testing::Test {
  protected:
    void SetUp() override
    {
        const std::string reason = missing();
        if (reason.empty()) return;
        const char* const ci = std::getenv("CI");
        ASSERT_TRUE(ci == nullptr || *ci == 0) << reason; // where it must always run
        GTEST_SKIP() << reason;
    }
    /// Calls in both directions, by ORBs with these options besides.
    void expect_calls(Sas& sas, const Arguments& options, const std::string& more)
    {
        ASSERT_TRUE(sas.reference.starts_with("IOR:")) << "JacORB did not start";
        RunningServer server("thread-per-connection",
                             options + files_.options("[server]\nusers = \"users\"\n"
                                                      "target = \"plant\"\nrequire = true\n" +
                                                      more));
        std::string caller;
        server.servant().action = [&] {
            const auto found = csiv2::caller();
            caller = found ? found->acts_for() : "nobody";
        };
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(sas.call("alice", "alice-secret", server.reference()), "ok");
        EXPECT_EQ(caller, "alice");
        EXPECT_EQ(sas.call("alice", "wrong", server.reference()), "NO_PERMISSION");
        EXPECT_EQ(sas.call("bob@plant", "bob@plant-secret", server.reference()), "ok");
        EXPECT_EQ(caller, "bob@plant");
        Client client(options + files_.is("gateway", more));
        const Probe::Target_var target = client.target(sas.reference);
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
        EXPECT_EQ(sas.served(), "gateway");
    }

    CsiFiles files_;
};

TEST_F(JacorbCsiv2, SaysAndTakesUsersAndPasswords)
{
    Sas sas;
    expect_calls(sas, {}, "unprotected = true\n");
}

TEST_F(JacorbCsiv2, SpeaksForSubjectsOfCertificates)
{
    Sas sas;
    ASSERT_TRUE(sas.reference.starts_with("IOR:")) << "JacORB did not start";
    RunningServer server("thread-per-connection",
                         files_.options("[server]\nusers = \"users\"\ntarget = \"plant\"\n"
                                        "require = true\nunprotected = true\n[[trust]]\n"
                                        "who = \"user:gateway\"\nsubjects = \"CN=client\"\n"));
    std::string caller;
    server.servant().action = [&] {
        const auto found = csiv2::caller();
        caller = found ? found->acts_for() + " " + std::to_string(int(found->identity)) : "nobody";
    };
    const Certificates& all = Certificates::get();
    const std::string chain = all.path("chain.pem");
    {
        std::ofstream file(chain);
        for (const char* each : {"client.pem", "ca.pem"})
            file << std::ifstream(all.path(each)).rdbuf();
    }
    const auto call = [&](const std::string& user) {
        caller = "";
        return sas.call(user, user + "-secret", server.reference()) + " " + caller;
    };
    sas.speak("chain " + chain);
    EXPECT_EQ(call("gateway"), "ok CN=client 3");
    EXPECT_EQ(call("alice"), "NO_PERMISSION ");
    sas.speak("name " + all.path("client.pem"));
    EXPECT_EQ(call("gateway"), "ok CN=client 4");
    sas.speak("chain " + all.path("elsewhere.pem"));
    EXPECT_EQ(call("gateway"), "NO_PERMISSION ");
    sas.speak("nobody");
    EXPECT_EQ(call("gateway"), "ok gateway 0");
}

#ifdef KEYTOOL
/// A keystore of Java's with a certificate of ours and its key, and the authority that is believed.
Arguments keystore()
{
    const Certificates& all = Certificates::get();
    const std::string file = all.path("keystore.p12");
    calls::Process made({OPENSSL, "pkcs12", "-export", "-in", all.path("server.pem"), "-inkey",
                         all.path("server-key.pem"), "-name", "own", "-out", file, "-passout",
                         "pass:kairos"});
    EXPECT_EQ(made.wait(), 0);
    calls::Process imported({KEYTOOL, "-importcert", "-noprompt", "-alias", "authority", "-file",
                             all.path("ca.pem"), "-keystore", file, "-storetype", "PKCS12",
                             "-storepass", "kairos"});
    EXPECT_EQ(imported.wait(), 0);
    return {file, "kairos"};
}

TEST_F(JacorbCsiv2, DoesSoByTlsWithCertificatesOfBothEnds)
{
    Sas sas(keystore());
    expect_calls(sas, // with the certificate of a server, which is good for both
                 Certificates::get().shows("server") + Certificates::get().trusts("ca") +
                     Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:0", "-ORBTlsVerifyClient",
                               "required", "-ORBTlsClient", "required"},
                 "");
}
#endif

} // namespace
} // namespace interop
