// SPDX-License-Identifier: Apache-2.0
//
// CosNaming's names and their texts: to_name, to_string and to_url as NamingContextExt has them.
#include "kairos/naming/name.h"

#include <gtest/gtest.h>

namespace {

using namespace kairos;
using CosNaming::NamingContext;
using CosNaming::NamingContextExt;

TEST(Name, GoesIntoIdlAndBack)
{
    const ior::Name name{{"a", "b"}, {"", "c"}, {"d", ""}, {"", ""}};
    EXPECT_EQ(naming::from_idl(naming::to_idl(name)), name);
    EXPECT_EQ(naming::to_idl(name).length(), 4u);
}

TEST(Name, TextsAreThoseOfTheSpecification)
{
    const CosNaming::Name name = naming::to_name("a.b/c.d/.");
    ASSERT_EQ(name.length(), 3u);
    EXPECT_STREQ(name[0].id, "a");
    EXPECT_STREQ(name[0].kind, "b");
    EXPECT_STREQ(name[2].id, "");
    EXPECT_STREQ(name[2].kind, "");
    EXPECT_EQ(naming::to_string(name), "a.b/c.d/.");
}

TEST(Name, MalformedOnesAreInvalidName)
{
    EXPECT_THROW((void)naming::to_name(""), NamingContext::InvalidName);
    EXPECT_THROW((void)naming::to_name("a//b"), NamingContext::InvalidName);
    EXPECT_THROW((void)naming::to_string(CosNaming::Name()), NamingContext::InvalidName);
}

TEST(Url, IsWhatAnAddressAndANameSay)
{
    EXPECT_EQ(naming::to_url(":example.org", "a/b.c"), "corbaname::example.org#a/b.c");
    EXPECT_EQ(naming::to_url("iiop:1.2@h:9/Key", "a b"), "corbaname:iiop:1.2@h:9/Key#a%20b");
    EXPECT_EQ(naming::to_url("rir:", "a\\.b"), "corbaname:rir:#a%5c.b");
    EXPECT_EQ(naming::to_url(":h", ""), "corbaname::h"); // the context itself
}

TEST(Url, BadPartsAreRefusedByTheirExceptions)
{
    for (const char* address : {"", "example.org", ":", ":h:0", ":h#a", ":h ", "ftp:h", ":h/%1"})
        EXPECT_THROW((void)naming::to_url(address, "a"), NamingContextExt::InvalidAddress)
            << address;
    for (const char* name : {"/", "a.", "a.b.c", "\\a"})
        EXPECT_THROW((void)naming::to_url(":h", name), NamingContext::InvalidName) << name;
}

} // namespace
