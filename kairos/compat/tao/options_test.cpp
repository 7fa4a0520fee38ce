// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/options.h"
#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kairos::compat::tao {
namespace {

using Words = std::vector<std::string>;

/// What BAD_PARAM says of it; empty if it is taken.
template <typename Action>
std::string refusal(Action action)
{
    try {
        (void)action();
    } catch (const CORBA::BAD_PARAM& exception) {
        return exception.what();
    }
    return {};
}

Words options(const Words& arguments) { return translate(arguments).arguments; }

TEST(TaoOptions, WithoutCaseAreOurs)
{
    EXPECT_EQ(options({"-x", "-orbINITREF", "A=corbaloc::h/k", "file", "-ORBId", "one"}),
              (Words{"-x", "-ORBInitRef", "A=corbaloc::h/k", "file", "-ORBid", "one"}));
    EXPECT_EQ(options({"-orbclienttimeout=5"}), (Words{"-ORBClientTimeout", "5"}));
    EXPECT_EQ(options({"-ORBNameServiceIOR", "IOR:00"}),
              (Words{"-ORBInitRef", "NameService=IOR:00"}));
}

TEST(TaoOptions, DebugLevelsBecomeOurs)
{
    const Translated translated = translate({"-ORBDebugLevel", "10"});
    EXPECT_EQ(translated.arguments, (Words{"-ORBDebug", "3"}));
    EXPECT_EQ(translated.debug_level, 10);
    EXPECT_EQ(options({"-ORBDebug", "-x"}), (Words{"-ORBDebug", "1", "-x"}));
    EXPECT_EQ(options({"-ORBDebug", "2"}), (Words{"-ORBDebug", "2"}));
    EXPECT_NE(refusal([] {
                  return translate({"-ORBDebugLevel", "much"});
              }).find("number"),
              std::string::npos);
    EXPECT_NE(refusal([] { return translate({"-ORBDebugLevel"}); }).find("needs a value"),
              std::string::npos);
}

TEST(TaoOptions, ValuesThatHaveNamesHere)
{
    EXPECT_EQ(options({"-ORBDottedDecimalAddresses", "1"}), (Words{"-ORBPublish", "addresses"}));
    EXPECT_EQ(options({"-ORBDottedDecimalAddresses", "0"}), (Words{"-ORBPublish", "hostname"}));
    EXPECT_EQ(options({"-ORBCollocation", "per-orb"}), (Words{"-ORBCollocation", "through-poa"}));
    for (const char* none : {"no", "NO"})
        EXPECT_EQ(options({"-ORBCollocation", none}), (Words{"-ORBCollocation", "no"})) << none;
    for (const char* any : {"yes", "YES"})
        EXPECT_EQ(options({"-ORBCollocation", any}), (Words{"-ORBCollocation", "through-poa"}))
            << any;
    const Translated other =
        translate({"-ORBSchedPolicy", "SCHED_OTHER", "-ORBCollocation=direct"});
    EXPECT_EQ(other.arguments, (Words{"-ORBCollocation", "direct"}));
    EXPECT_EQ(other.ignored, Words{"-ORBSchedPolicy SCHED_OTHER"});
    EXPECT_EQ(options({"-ORBMaxMessageSize", "1024"}), (Words{"-ORBFragmentSize", "1024"}));
    EXPECT_NE(refusal([] { return translate({"-ORBUseSharedProfile", "2"}); }), "");
}

TEST(TaoOptions, WhatMeansNothingIsNamedAndWhatCannotBeHadIsRefused)
{
    const Translated translated = translate(
        {"-ORBSkipServiceConfigOpen", "-ORBObjRefStyle", "IOR", "-ORBGestalt", "LOCAL", "rest"});
    EXPECT_EQ(translated.arguments, Words{"rest"});
    EXPECT_EQ(translated.ignored,
              (Words{"-ORBSkipServiceConfigOpen", "-ORBObjRefStyle IOR", "-ORBGestalt LOCAL"}));
    for (const Words& refused :
         {Words{"-ORBObjRefStyle", "URL"}, Words{"-ORBDaemon"}, Words{"-ORBUseImR", "1"},
          Words{"-ORBMulticastDiscoveryEndpoint", "224.0.0.1:1"},
          Words{"-ORBEndpoint", "diop://h:1"}, Words{"-ORBEndpoint", "iiop://h:1/portspan=9"}})
        EXPECT_NE(refusal([&] { return translate(refused); }).find("-ORB"), std::string::npos)
            << refused.front();
    // Neither ORB's: ORB_init refuses it.
    EXPECT_EQ(options({"-ORBNoSuchThing", "1"}), (Words{"-ORBNoSuchThing", "1"}));
}

TEST(TaoOptions, EndpointsHaveVersionsHostsAndOptions)
{
    Words ignored;
    EXPECT_EQ(translate_endpoints("iiop://1.1@a:7,b:8/hostname_in_ior=c&reuse_addr=1;uiop:///s|x",
                                  ignored),
              "iiop://a:7/hostname_in_ior=c;iiop://b:8/hostname_in_ior=c;uiop:///s");
    EXPECT_EQ(ignored, Words{"reuse_addr=1"});
    ignored.clear();
    EXPECT_EQ(translate_endpoints("iiop://;shmiop://1.0@12345;none", ignored),
              "iiop://;shmiop://;none");
    EXPECT_EQ(ignored, Words{"shmiop://1.0@12345"});
}

TEST(TaoServiceConfiguration, KnownFactoriesAreHeeded)
{
    const Translated translated = translate_configuration(
        "# a comment\n"
        "static Resource_Factory \"-ORBReactorType select -ORBConnectionCacheMax 7\"\n"
        "static Client_Strategy_Factory '-ORBTransportMuxStrategy\n  EXCLUSIVE'\n"
        "static Server_Strategy_Factory \"-ORBConcurrency thread-per-connection\" # too\n"
        "dynamic Other Service_Object * lib:_make_Other() \"-x\"\n",
        "svc.conf");
    EXPECT_EQ(translated.arguments,
              (Words{"-ORBMaxClientConnections", "7", "-ORBConnection", "non-multiplexed",
                     "-ORBConcurrency", "thread-per-connection"}));
    EXPECT_EQ(translated.ignored,
              (Words{"-ORBReactorType select",
                     "svc.conf: dynamic Other Service_Object * lib:_make_Other() \"-x\""}));
}

TEST(TaoServiceConfiguration, WhatMeansNothingHereIsNamed)
{
    for (const std::string option :
         {"-ORBActiveHintInPOANames 1", "-ORBTransientidPolicyDemuxStrategy active",
          "-ORBPoaMapSize 24", "-ORBReactorRegistry registry", "-ORBProfileLock null",
          "-ORBConnectionCachingStrategy lru", "-ORBPurgePercentage 20",
          "-ORBSchedPolicy SCHED_OTHER"}) {
        const Translated translated =
            translate_configuration("static Resource_Factory \"" + option + "\"\n", "svc.conf");
        EXPECT_TRUE(translated.arguments.empty()) << option;
        EXPECT_EQ(translated.ignored, Words{option});
    }
}

TEST(TaoServiceConfiguration, BadFilesAreRefusedByName)
{
    for (const std::string text :
         {"<?xml version='1.0'?>", "static A \"-ORBx", "static Resource_Factory \"-ORBNoSuch 1\"",
          "static Resource_Factory \"-ORBConnectionCacheMax\""})
        EXPECT_NE(refusal([&] { return translate_configuration(text, "bad.conf"); }), "") << text;
    EXPECT_NE(refusal([] {
                  return translate({"-ORBSvcConf", "/no/such/file"});
              }).find("/no/such/file"),
              std::string::npos);
    std::string many;
    for (int i = 0; i < 1001; ++i)
        many += "static X \"\"\n";
    EXPECT_NE(refusal([&] { return translate_configuration(many, "many.conf"); }), "");
}

} // namespace
} // namespace kairos::compat::tao
