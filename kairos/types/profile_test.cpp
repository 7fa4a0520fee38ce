// SPDX-License-Identifier: Apache-2.0
//
// Probes by themselves: what they count, and the file they end in. No test looks at how long
// something took, only at which times contain which.
#include "kairos/types/profile.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace kairos::types;

namespace {

constinit Probe outer_probe{"type encode", "IDL:Outer:1.0"};
constinit Probe inner_probe{"type encode", "IDL:Inner:1.0"};
constinit Probe idle_probe{"type encode", "IDL:Idle:1.0"};
constinit Probe list_probe{"operation client-decode", "op IDL:List:1.0"};

/// A profile that is written when this goes.
class Profile {
  public:
    Profile()
    {
        char name[] = "/tmp/kairos-profile-XXXXXX";
        const int descriptor = ::mkstemp(name);
        ::close(descriptor);
        path_ = name;
        EXPECT_TRUE(start_profile(path_));
    }
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;
    ~Profile() { std::remove(path_.c_str()); }

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string text() const
    {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    std::string path_;
};

void recurse(int depth)
{
    const Measurement measurement(list_probe);
    if (depth > 1) recurse(depth - 1);
}

TEST(Profile, CountsNothingUnlessAsked)
{
    {
        const Measurement measurement(idle_probe);
    }
    EXPECT_EQ(idle_probe.calls, 0u);
    const Profile profile;
    {
        Measurement measurement(inner_probe);
        measurement.end();
        measurement.end(); // as the destructor does once more
    }
    EXPECT_EQ(inner_probe.calls, 1u);
    end_profile();
    {
        const Measurement measurement(inner_probe);
    }
    EXPECT_EQ(inner_probe.calls, 1u);
    EXPECT_EQ(profile.text().find("Idle"), std::string::npos);
}

TEST(Profile, TellsOwnTimeFromThatOfWhatIsWithin)
{
    const Profile profile;
    const std::uint64_t inner_before = inner_probe.total_ns;
    {
        const Measurement outer(outer_probe);
        for (int i = 0; i < 1000; ++i)
            const Measurement inner(inner_probe);
    }
    end_profile();
    EXPECT_EQ(outer_probe.calls, 1u);
    EXPECT_EQ(outer_probe.total_ns - outer_probe.self_ns, inner_probe.total_ns - inner_before);
    EXPECT_EQ(inner_probe.self_ns, inner_probe.total_ns);
}

TEST(Profile, CountsTheTimeOfRecursiveTypesOnce)
{
    const Profile profile;
    recurse(10);
    end_profile();
    EXPECT_EQ(list_probe.calls, 10u);
    EXPECT_EQ(list_probe.total_ns, list_probe.self_ns);
}

TEST(Profile, CountsInAllThreads)
{
    static constinit Probe probe{"type decode", "IDL:Shared:1.0"};
    const Profile profile;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (int call = 0; call < 1000; ++call)
                const Measurement measurement(probe);
        });
    for (std::thread& thread : threads)
        thread.join();
    end_profile();
    EXPECT_EQ(probe.calls, 4000u);
    EXPECT_NE(profile.text().find("type decode 4000 "), std::string::npos) << profile.text();
}

TEST(Profile, IsWrittenByTheLastOfSeveralOrbs)
{
    const Profile profile;
    EXPECT_TRUE(start_profile(profile.path()));
    const auto other = start_profile("/tmp/kairos-profile-other");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().reason, "-ORBProfileTypes: cannot write '/tmp/kairos-profile-other': "
                                    "the process writes its profile elsewhere");
    {
        const Measurement measurement(inner_probe);
    }
    end_profile();
    EXPECT_EQ(profile.text(), "");
    end_profile();
    end_profile(); // of an ORB too many: nothing
    const std::string text = profile.text();
    EXPECT_EQ(text.substr(0, text.find('\n')), "kairos-profile 1");
    const std::string line = "type encode " + std::to_string(inner_probe.calls) + " " +
                             std::to_string(inner_probe.total_ns) + " " +
                             std::to_string(inner_probe.self_ns) + " IDL:Inner:1.0\n";
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST(Profile, SaysWhyItCannotBeWritten)
{
    const auto started = start_profile("/nowhere/profile");
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().reason,
              "-ORBProfileTypes: cannot write '/nowhere/profile': No such file or directory");
}

} // namespace
