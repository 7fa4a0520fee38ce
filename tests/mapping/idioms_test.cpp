// SPDX-License-Identifier: Apache-2.0
//
// The idioms of the classic mapping (idiom_list.h), with our headers.
#include "idioms.h"

#include "idiom_list.h"

#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

namespace {

TEST(Idioms, AllCompileAndDoWhatTheyShould)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "Idioms");
    EXPECT_TRUE(Idioms::all(orb));
    EXPECT_GT(Idioms::tried, 1000);
    orb->destroy();
}

} // namespace
