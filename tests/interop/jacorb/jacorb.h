// SPDX-License-Identifier: Apache-2.0
//
// What the tests with JacORB share: whether it is there, and its one process.
#pragma once

#include "peer.h"

#include <cstdlib>
#include <memory>
#include <unistd.h>

namespace interop {

/// Why there is no JacORB; empty if there is.
inline std::string missing()
{
#ifdef JACORB_DIR
    if (access(JACORB_DIR "/peer.jar", R_OK) == 0) return "";
    return "Maven Central was not there for JacORB when this was built";
#else
    return "Java or Maven is not installed";
#endif
}

/// The command that runs a class of the tests or of JacORB's.
inline Arguments java([[maybe_unused]] const std::string& main_class)
{
#ifdef JACORB_DIR
    return {JAVA,
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx512m",
            "-Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB",
            "-Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton",
            "-Djacorb.log.default.verbosity=0",
            "-DOAIAddr=127.0.0.1",
            "-cp",
            JACORB_DIR "/peer.jar:" JACORB_DIR "/lib/*",
            main_class};
#else
    return {};
#endif
}

/// The one process of JacORB: it serves, and is the clients that it is told to be.
class Jacorb {
  public:
    void start()
    {
        if (process_) return;
        process_ = std::make_unique<calls::Process>(java("interop.Peer") + types());
        echo = process_->read_line();
        everything = process_->read_line();
        hub = process_->read_line();
        target = process_->read_line();
        repository = process_->read_line();
    }
    void stop()
    {
        if (!process_) return;
        EXPECT_EQ(process_->stop(), 0) << "JacORB's exit status";
        process_.reset();
    }
    /// `what` is the client to be: "echo", "all", "both", "names", "notify", "target", "marks" or
    /// "repository".
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
    std::string hub;        ///< one for tests/bidirectional
    std::string target;     ///< one for tests/ami, of an ORB with interceptors (Marks.java)
    std::string repository; ///< JacORB's Interface Repository, which has kinds.idl

  private:
    /// The folder of what JacORB's repository has.
    static Arguments types()
    {
#ifdef JACORB_DIR
        return {JACORB_DIR "/repository"};
#else
        return {};
#endif
    }

    std::unique_ptr<calls::Process> process_;
};

inline Jacorb& jacorb()
{
    static Jacorb process;
    return process;
}

/// Ends it, in order, after the last test.
class JacorbEnd : public testing::Environment {
  public:
    void TearDown() override { jacorb().stop(); }
};
inline const testing::Environment* const jacorb_end =
    testing::AddGlobalTestEnvironment(new JacorbEnd);

class WithJacorb : public testing::Test {
  protected:
    void SetUp() override
    {
        const std::string reason = missing();
        if (reason.empty()) {
            jacorb().start();
            ASSERT_TRUE(jacorb().repository.starts_with("IOR:")) << "JacORB did not start";
            return;
        }
        const char* const ci = std::getenv("CI");
        ASSERT_TRUE(ci == nullptr || *ci == 0) << reason; // where it must always run
        GTEST_SKIP() << reason;
    }
};

} // namespace interop
