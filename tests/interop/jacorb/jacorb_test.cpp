// SPDX-License-Identifier: Apache-2.0
//
// Kairos and JacORB, each as client and as server of the other: the whole suite of tests/calls in
// both byte orders (Java's is big-endian) and every GIOP version. JacORB sends no fragments and
// takes those of GIOP 1.2 only.
#include "peer.h"

#include <cstdlib>
#include <memory>
#include <unistd.h>

using namespace interop;

namespace {

// Without those of long double, which Java does not have. JacORB says COMPLETED_NO of a servant
// that threw what no IDL has: one check less where it serves.
constexpr int checks_of_jacorb = 149;
constexpr int checks_of_kairos = 146;

const Arguments kairos_options{"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1"};

/// Why there is no JacORB; empty if there is.
std::string missing()
{
#ifdef JACORB_DIR
    if (access(JACORB_DIR "/peer.jar", R_OK) == 0) return "";
    return "Maven Central was not there for JacORB when this was built";
#else
    return "Java or Maven is not installed";
#endif
}

/// The one process of JacORB: it serves, and is the clients that it is told to be.
class Jacorb {
  public:
    void start()
    {
#ifdef JACORB_DIR
        if (process_) return;
        process_ = std::make_unique<calls::Process>(
            Arguments{JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-cp",
                      JACORB_DIR "/peer.jar:" JACORB_DIR "/lib/*", "interop.Peer"});
        reference = process_->read_line();
#endif
    }
    void stop()
    {
        if (!process_) return;
        EXPECT_EQ(process_->stop(), 0) << "JacORB's exit status";
        process_.reset();
    }
    void expect_checks(char minor, const std::string& server)
    {
        process_->write_line(std::string("check ") + minor + " " + server);
        expect_lines(*process_, checks_of_jacorb, "done");
    }

    std::string reference;

  private:
    std::unique_ptr<calls::Process> process_;
};

Jacorb& jacorb()
{
    static Jacorb process;
    return process;
}

/// Ends it, in order, after the last test.
class JacorbEnd : public testing::Environment {
  public:
    void TearDown() override { jacorb().stop(); }
};
const testing::Environment* const jacorb_end = testing::AddGlobalTestEnvironment(new JacorbEnd);

struct Way {
    std::string version;
    bool fragments;
    bool reactor;

    [[nodiscard]] Arguments options() const
    {
        Arguments options{"-ORBGIOPVersion", version};
        if (fragments) options = options + Arguments{"-ORBFragmentSize", "256"};
        if (reactor) options = options + Arguments{"-ORBConcurrency", "reactor"};
        return options;
    }
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    std::string name = std::string("giop_1_") + info.param.version.back();
    if (info.param.fragments) name += "_fragments";
    if (info.param.reactor) name += "_reactor";
    return name;
}

class WithJacorb : public testing::TestWithParam<Way> {
  protected:
    void SetUp() override
    {
        const std::string reason = missing();
        if (reason.empty()) {
            jacorb().start();
            ASSERT_TRUE(jacorb().reference.starts_with("IOR:")) << "JacORB did not start";
            return;
        }
        const char* const ci = std::getenv("CI");
        ASSERT_TRUE(ci == nullptr || *ci == 0) << reason; // where it must always run
        GTEST_SKIP() << reason;
    }
};
class KairosCallsJacorb : public WithJacorb {};
class JacorbCallsKairos : public WithJacorb {};

} // namespace

TEST_P(KairosCallsJacorb, EveryCheck)
{
    expect_checks(Arguments{CALLS_CLIENT, jacorb().reference, "-without", "F128", "-without",
                            "exception_foreign"} +
                      kairos_options + GetParam().options(),
                  checks_of_kairos);
}

TEST_P(JacorbCallsKairos, EveryCheck)
{
    const Peer server(Arguments{CALLS_SERVER} + kairos_options + GetParam().options());
    jacorb().expect_checks(GetParam().version.back(), server.reference[0]);
}

INSTANTIATE_TEST_SUITE_P(Ways, KairosCallsJacorb,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false}),
                         way_name);
INSTANTIATE_TEST_SUITE_P(Ways, JacorbCallsKairos,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false},
                                         Way{"1.0", false, true}, Way{"1.2", true, true}),
                         way_name);
