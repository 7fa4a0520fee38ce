// SPDX-License-Identifier: Apache-2.0
//
// The idioms of programs for omniORB (tests/mapping/idiom_list.h), with the layer's headers and
// what kairos-idl makes in omniORB's style; interop.idioms compiles the same list with omniORB's.
#include "idioms.hh"

#define IDIOMS_OF_OMNIORB
#include "tests/mapping/idiom_list.h"

#include <gtest/gtest.h>

namespace {

TEST(IdiomsOfOmniorb, AllCompileAndDoWhatTheyShould)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "Idioms");
    EXPECT_TRUE(Idioms::all(orb));
    EXPECT_GT(Idioms::tried, 1000);
    orb->destroy();
}

} // namespace
