// SPDX-License-Identifier: Apache-2.0
//
// IDL files of the same name in two folders, files that include each other, typedefs as bases, and
// names that C++ has taken, as code of one library: that it compiles is most of the test.
#include "folders/aliases_skel.h"
#include "folders/b/types.h"
#include "folders/left_skel.h"
#include "folders/reserved_skel.h"
#include "folders/right_skel.h"
#include "folders/top_skel.h"
#include "left.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {

TEST(Folders, KeepFilesOfTheSameNameApart)
{
    B::T value;
    value.inner.x = 3;
    static_assert(std::is_same_v<decltype(value.inner), A::T>);
    EXPECT_EQ(value.inner.x, 3);
    EXPECT_STREQ(Top::_kairos_id, "IDL:Top:1.0");
}

TEST(Files, MayIncludeEachOther)
{
    EXPECT_TRUE(CORBA::is_nil(M::Left::_nil()));
    EXPECT_STREQ(M::Right::_kairos_id, "IDL:M/Right:1.0");
    M::Rights rights(2);
    rights.length(1);
    EXPECT_TRUE(CORBA::is_nil(rights[0].in()));
}

TEST(Bases, MayBeTypedefs)
{
    static_assert(std::is_base_of_v<Fleet::Cargo, Fleet::Container>);
    static_assert(std::is_base_of_v<Fleet::Cargo, Fleet::Tanker>);
    static_assert(std::is_base_of_v<Fleet::Named, Fleet::Tanker>);
    static_assert(std::is_base_of_v<Fleet::Ship, Fleet::Ferry>);
    static_assert(std::is_base_of_v<Fleet::Sealed, Fleet::Locked>);
    EXPECT_STREQ(Fleet::_tc_Tanker->id(), "IDL:Fleet/Tanker:1.0");
}

TEST(Names, ThatAreTakenHaveAPrefixInCxxOnly)
{
    static_assert(std::is_base_of_v<CORBA::Object, _cxx_kairos::orb>);
    EXPECT_STREQ(_cxx_kairos::orb::_kairos_id, "IDL:kairos/orb:1.0");
    EXPECT_STREQ(_cxx_std::_tc_move->name(), "move");
    EXPECT_EQ(Posix::_cxx_EAGAIN, 1);
    EXPECT_EQ(Posix::_cxx_SEEK_SET, 7);
    EXPECT_STREQ(Posix::_tc_Error->member_name(0), "EINTR");
    Posix::Device device;
    device._cxx_errno = 5;
    EXPECT_EQ(device._cxx_errno, 5);
}

} // namespace
