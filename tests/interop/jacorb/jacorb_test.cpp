// SPDX-License-Identifier: Apache-2.0
//
// Kairos and JacORB, each as client and as server of the other: the whole suite of tests/calls and
// every type of ../all_types, in both byte orders (Java's is big-endian) and every GIOP version.
// JacORB sends no fragments and takes those of GIOP 1.2 only.
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

// Of the checks of every type. GIOP 1.0 has no wide characters; in GIOP 1.1 JacORB takes those of a
// little-endian peer for big-endian ones. In an Any JacORB forgets the bounds of strings, and its
// TypeCodes of unions by unsigned long long are wrong. As a server it misreads a wchar or wstring
// that follows another.
const Arguments narrow{
    "Wide",         "Prose", "OnBoolean", "OnUnsignedLongLong", "Person", "exception_in_any",
    "any_ShortName"};
constexpr int narrow_checks_of_jacorb = 274;
constexpr int narrow_checks_of_kairos = 263;
const Arguments wide{"any_ShortName", "any_ShortProse", "any_OnUnsignedLongLong",
                     "raised_OnUnsignedLongLong"};
constexpr int wide_checks_of_jacorb = 318;
const Arguments not_of_kairos{"echo_Wide ", "echo_Prose ", "echo_ShortProse "};
constexpr int wide_checks_of_kairos = 303;

// Of values, JacORB cannot do these. Its boxes of numbers are numbers, which cannot be null. In an
// Any it looks for boxes by the package that a repository id would be in, and writes others than
// IDL's; reads no value without type information, which must not be there if the type is the one of
// the TypeCode; knows no TypeCodes of abstract interfaces; and leaves bases out of TypeCodes.
const Arguments no_values{"echo_NumberBox", "raise_NumberBox", "any_NumberBox", "raised_NumberBox",
                          "any_NameBox",    "raised_NameBox",  "any_ProseBox",  "raised_ProseBox",
                          "any_PointBox",   "raised_PointBox", "any_NamesBox",  "raised_NamesBox",
                          "any_Holding",    "raised_Holding",  "any_OnValue",   "raised_OnValue",
                          "any_Node_",      "raised_Derived",  "raised_Route",  "any_Titled",
                          "raised_Titled"};
// Its skeletons write boxes that are out without a tag, boxed strings that are equal become one,
// and its compiler makes code of boxes of references that Java refuses.
const Arguments no_values_of_kairos{"raised_Node",    "raised_Base",    "raised_Counter",
                                    "raised_Card",    "echo_NameBox",   "raise_NameBox_s",
                                    "echo_PointBox ", "echo_NamesBox ", "echo_ProseBox ",
                                    "ReferenceBox",   "truncation"};

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
        echo = process_->read_line();
        everything = process_->read_line();
#endif
    }
    void stop()
    {
        if (!process_) return;
        EXPECT_EQ(process_->stop(), 0) << "JacORB's exit status";
        process_.reset();
    }
    /// `what` is the client to be: "echo" or "all".
    void expect_checks(const std::string& what, const std::string& version,
                       const std::string& server, int expected, const Arguments& without = {})
    {
        std::string command = what + ' ' + version.back() + ' ' + server;
        for (const std::string& name : without)
            command += ' ' + name;
        process_->write_line(command);
        expect_lines(*process_, expected, "done");
    }

    std::string echo;       ///< a reference for tests/calls
    std::string everything; ///< one for ../all_types

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
            ASSERT_TRUE(jacorb().everything.starts_with("IOR:")) << "JacORB did not start";
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
    expect_checks(Arguments{CALLS_CLIENT, jacorb().echo, "-without", "F128", "-without",
                            "exception_foreign"} +
                      kairos_options + GetParam().options(),
                  checks_of_kairos);
}

TEST_P(JacorbCallsKairos, EveryCheck)
{
    const Peer server(Arguments{CALLS_SERVER} + kairos_options + GetParam().options());
    jacorb().expect_checks("echo", GetParam().version, server.reference[0], checks_of_jacorb);
}

TEST_P(KairosCallsJacorb, EveryType)
{
    const bool is_wide = GetParam().version == "1.2";
    Arguments client{ALL_PEER, "check", jacorb().everything};
    for (const std::string& name :
         (is_wide ? wide + not_of_kairos : narrow) + no_values + no_values_of_kairos)
        client = client + Arguments{"-without", name};
    expect_checks(client + kairos_options + GetParam().options(),
                  is_wide ? wide_checks_of_kairos : narrow_checks_of_kairos);
}

TEST_P(JacorbCallsKairos, EveryType)
{
    const bool is_wide = GetParam().version == "1.2";
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos_options + GetParam().options());
    jacorb().expect_checks("all", GetParam().version, server.reference[0],
                           is_wide ? wide_checks_of_jacorb : narrow_checks_of_jacorb,
                           (is_wide ? wide : narrow) + no_values);
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
