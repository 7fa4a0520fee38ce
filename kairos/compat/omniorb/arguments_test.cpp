// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/omniorb/arguments.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace kairos::omniorb {
namespace {

using Strings = std::vector<std::string>;

Strings said(const Given& given)
{
    const auto settings = settings_of(given);
    return settings ? settings->arguments : Strings{settings.error().reason};
}

TEST(Arguments, EndpointsAndLimitsBecomeOptionsOfKairos)
{
    EXPECT_EQ(said({{"endPoint", "giop:tcp::"}}), (Strings{"-ORBListenEndpoints", "iiop://"}));
    EXPECT_EQ(said({{"endPoint", "giop:tcp:here:5678"}, {"endPoint", "giop:unix:/run/x"}}),
              (Strings{"-ORBListenEndpoints", "iiop://here:5678", "-ORBListenEndpoints",
                       "uiop:///run/x"}));
    EXPECT_EQ(said({{"endPoint", "giop:tcp::5678"}}),
              (Strings{"-ORBListenEndpoints", "iiop://:5678"}));
    EXPECT_EQ(said({{"endPointPublish", "all(addr),giop:tcp:gate:12"}}),
              (Strings{"-ORBPublish", "addresses,host=gate:12"}));
    EXPECT_EQ(said({{"giopMaxMsgSize", "268435456"}}),
              (Strings{"-ORBMaxMessageSize", "268435456"}));
    EXPECT_EQ(said({{"outConScanPeriod", "10"}}), (Strings{"-ORBClientIdle", "10000"}));
    EXPECT_EQ(said({{"traceLevel", "25"}}), (Strings{"-ORBDebug", "3"}));
}

TEST(Arguments, TlsIsCheckedAsOmniOrbDoesUnlessSaidOtherwise)
{
    EXPECT_EQ(said({{"endPoint", "giop:ssl:here:5678"}}),
              (Strings{"-ORBListenEndpoints", "ssliop://here:5678", "-ORBTlsVerifyServer", "chain",
                       "-ORBTlsVerifyClient", "required"}));
    EXPECT_EQ(said({{"sslVerifyMode", "none"}, {"sslKeyFile", "k"}, {"sslCAFile", "c"}}),
              (Strings{"-ORBTlsVerifyServer", "no", "-ORBTlsVerifyClient", "no",
                       "-ORBTlsCertificate", "k", "-ORBTlsTrust", "c"}));
    EXPECT_EQ(said({{"sslCAPath", "d"}, {"sslVerifyMode", "peer"}}),
              (Strings{"-ORBTlsTrust", "d", "-ORBTlsVerifyServer", "chain", "-ORBTlsVerifyClient",
                       "optional"}));
    const auto refused = settings_of({{"sslKeyPassword", "secret"}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason.find("secret"), std::string::npos); // nor in the log
}

TEST(Arguments, TheLastOfAnOptionCounts)
{
    EXPECT_EQ(said({{"clientCallTimeOutPeriod", "1"}, {"clientCallTimeOutPeriod", "3000"}}),
              (Strings{"-ORBClientTimeout", "3000"}));
}

TEST(Arguments, TheOnlyOrbOfOmniOrbHasNoName)
{
    for (const char* its : {"omniORB2", "omniORB3", "omniORB4"})
        EXPECT_EQ(said({{"id", its}}), Strings{}) << its;
    EXPECT_EQ(said({{"id", "omniORB"}}), (Strings{"-ORBid", "omniORB"}));
}

TEST(Arguments, TheTraceLevelIsThatOfTheProgramUnlessGiven)
{
    EXPECT_FALSE(settings_of({})->trace_level);
    EXPECT_EQ(settings_of({{"traceLevel", "0"}})->trace_level, 0);
}

TEST(Arguments, WhatMeansNothingHereIsNamed)
{
    const auto settings = settings_of({{"maxServerThreadPoolSize", "100"}});
    ASSERT_TRUE(settings);
    ASSERT_EQ(settings->ignored.size(), 1U);
    EXPECT_EQ(settings->ignored[0].find("-ORBmaxServerThreadPoolSize 100: "), 0U);
    EXPECT_TRUE(settings->arguments.empty());
}

TEST(Arguments, WhatIsWrongIsRefusedByName)
{
    for (const Given& wrong :
         {Given{{"endPoint", "giop:http:x"}}, Given{{"endPoint", "tcp"}},
          Given{{"giopMaxMsgSize", "12"}}, Given{{"giopMaxMsgSize", "x"}},
          Given{{"oneCallPerConnection", "2"}}, Given{{"sslVerifyMode", "fail"}},
          Given{{"sslKeyPassword", "secret"}}, Given{{"traceLevel", "-1"}},
          Given{{"endPointPublish", "fancy"}}, Given{{"noSuchOption", "1"}}}) {
        const auto settings = settings_of(wrong);
        ASSERT_FALSE(settings) << wrong[0].first;
        EXPECT_NE(settings.error().reason.find(wrong[0].first), std::string::npos);
    }
}

TEST(Arguments, AreTakenFromTheCommandLineAndTheEnvironment)
{
    Strings arguments{"a", "-ORBtraceLevel", "5", "-ORBThreads", "4", "b"};
    const auto taken = take_arguments(arguments);
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, (Given{{"traceLevel", "5"}}));
    EXPECT_EQ(arguments, (Strings{"a", "-ORBThreads", "4", "b"}));
    Strings open{"-ORBtraceLevel"};
    EXPECT_FALSE(take_arguments(open));
    const char* const environment[] = {"ORBtraceLevel=7", "ORBIT=1", "HOME=/", nullptr};
    EXPECT_EQ(take_environment(environment), (Given{{"traceLevel", "7"}}));
}

TEST(Arguments, AreReadFromAFile)
{
    const auto given = parse_configuration("# a comment\ntraceLevel = 3\n"
                                           "InitRef = A=corbaname::x:1#a/A\n  # and\n"
                                           "  = B=corbaloc::x/B\n"
                                           "endPointPublish = addr,\\\r\n  name\n"
                                           "# not joined \\\nid = x \\");
    ASSERT_TRUE(given);
    EXPECT_EQ(*given, (Given{{"traceLevel", "3"},
                             {"InitRef", "A=corbaname::x:1#a/A"},
                             {"InitRef", "B=corbaloc::x/B"},
                             {"endPointPublish", "addr,name"},
                             {"id", "x"}}));
    const auto late = parse_configuration("a = 1 \\\n2\nnone\\\n\\\nat all");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().reason, "line 3: 'name = value' is wanted");
    const auto wrong = parse_configuration("a = 1\nnothing\n");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().reason, "line 2: 'name = value' is wanted");
    EXPECT_FALSE(parse_configuration("= 1"));
    EXPECT_FALSE(parse_configuration(std::string((1 << 20) + 1, '#')));
}

TEST(Arguments, StrongerPlacesReplaceWeakerOnes)
{
    Given all{{"traceLevel", "1"}, {"InitRef", "A=x"}, {"InitRef", "B=x"}, {"endPoint", "one"}};
    add_over(all, {{"InitRef", "A=y"}, {"endPoint", "two"}});
    EXPECT_EQ(
        all,
        (Given{{"traceLevel", "1"}, {"InitRef", "B=x"}, {"InitRef", "A=y"}, {"endPoint", "two"}}));
}

TEST(Arguments, TheGuideHasEveryOption)
{
    std::ifstream file(GUIDE);
    const std::string guide{std::istreambuf_iterator<char>(file), {}};
    for (const OptionState& each : option_states()) {
        const std::size_t row = guide.find("| `" + std::string(each.name) + "` | ");
        ASSERT_NE(row, std::string::npos) << each.name;
        constexpr std::string_view mark = "refused: ";
        const std::string_view state =
            each.state.starts_with(mark) ? each.state.substr(mark.size()) : each.state;
        EXPECT_NE(guide.substr(row, guide.find('\n', row) - row).find(state), std::string::npos)
            << each.name;
    }
}

} // namespace
} // namespace kairos::omniorb
