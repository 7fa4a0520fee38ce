// SPDX-License-Identifier: Apache-2.0
//
// The idioms of programs for omniORB (tests/mapping/idiom_list.h), with the layer's headers and
// what kairos-idl makes in omniORB's style; interop.idioms compiles the same list with omniORB's.
#include "idioms.hh"

#define IDIOMS_OF_OMNIORB
#include "tests/mapping/idiom_list.h"

#include <gtest/gtest.h>

namespace {

TEST(Streams, ValuetypesAndReferencesBelongToTheProcessesOrb)
{
    cdrMemoryStream stream;
    const Idioms::TextBox_var box = new Idioms::TextBox("text");
    box >>= stream;
    Idioms::TextBox_var read;
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "Idioms");
    const CORBA::Object_var object = orb->string_to_object("corbaloc::127.0.0.1:1/thing");
    object >>= stream;
    stream.rewindInputPtr();
    read <<= stream;
    ASSERT_NE(nullptr, read.in());
    EXPECT_STREQ("text", read->_value());
    CORBA::Object_var found;
    found <<= stream;
    ASSERT_FALSE(CORBA::is_nil(found));
    EXPECT_TRUE(found->_is_equivalent(object));
    orb->destroy();
}

TEST(IdiomsOfOmniorb, AllCompileAndDoWhatTheyShould)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "Idioms");
    EXPECT_TRUE(Idioms::all(orb));
    EXPECT_GT(Idioms::tried, 1000);
    orb->destroy();
}

} // namespace
