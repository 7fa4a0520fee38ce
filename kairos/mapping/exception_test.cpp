// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

#include <memory>

namespace kairos::mapping {
namespace {

TEST(SystemException, CarriesMinorCompletionAndReason)
{
    const CORBA::TRANSIENT transient(omg_minor(2), CORBA::COMPLETED_MAYBE, "peer closed");
    EXPECT_EQ(transient.minor(), 0x4f4d0002u);
    EXPECT_EQ(transient.completed(), CORBA::COMPLETED_MAYBE);
    EXPECT_EQ(transient.reason(), "peer closed");
    EXPECT_STREQ(transient.what(),
                 "CORBA::TRANSIENT, minor 0x4f4d0002, COMPLETED_MAYBE: peer closed");
    EXPECT_STREQ(transient._rep_id(), "IDL:omg.org/CORBA/TRANSIENT:1.0");
}

TEST(SystemException, DefaultsAndSettersKeepWhatInStep)
{
    CORBA::BAD_PARAM bad;
    EXPECT_STREQ(bad.what(), "CORBA::BAD_PARAM, minor 0x00000000, COMPLETED_NO");
    EXPECT_EQ(bad.reason(), "");
    bad.minor(7);
    bad.completed(CORBA::COMPLETED_YES);
    EXPECT_STREQ(bad.what(), "CORBA::BAD_PARAM, minor 0x00000007, COMPLETED_YES");
    CORBA::MARSHAL marshal(1, CORBA::COMPLETED_NO, "string is not terminated");
    marshal.minor(9);
    EXPECT_EQ(marshal.reason(), "string is not terminated");
}

TEST(SystemException, RaiseThrowsTheMostDerivedType)
{
    const CORBA::TIMEOUT timeout(3, CORBA::COMPLETED_NO);
    const CORBA::Exception& base = timeout;
    try {
        base._raise();
    } catch (const CORBA::TIMEOUT& caught) {
        EXPECT_EQ(caught.minor(), 3u);
    }
    const std::unique_ptr<CORBA::Exception> copy(base._duplicate());
    EXPECT_NE(CORBA::TIMEOUT::_downcast(copy.get()), nullptr);
    EXPECT_NE(CORBA::SystemException::_downcast(copy.get()), nullptr);
    EXPECT_EQ(CORBA::UserException::_downcast(copy.get()), nullptr);
    EXPECT_EQ(CORBA::UNKNOWN::_downcast(copy.get()), nullptr);
}

template <typename E>
void expect_raised(const char* repository_id)
{
    EXPECT_THROW(raise_system_exception(repository_id, 5, CORBA::COMPLETED_YES), E);
}

TEST(RaiseSystemException, FindsEveryStandardExceptionById)
{
#define KAIROS_EXPECT_RAISED(exception)                                                            \
    expect_raised<CORBA::exception>("IDL:omg.org/CORBA/" #exception ":1.0");
    KAIROS_SYSTEM_EXCEPTIONS(KAIROS_EXPECT_RAISED)
#undef KAIROS_EXPECT_RAISED
}

TEST(SystemException, SaysWhatAPeerWroteSoThatNobodyObeysIt)
{
    CORBA::UNKNOWN exception(5, CORBA::COMPLETED_NO, "raised '\x1b]0;title\x07'");
    EXPECT_EQ(exception.reason(), "raised '\\x1b]0;title\\x07'");
    EXPECT_EQ(std::string_view(exception.what()).find('\x1b'), std::string_view::npos);
    exception.minor(6);
    EXPECT_EQ(exception.reason(), "raised '\\x1b]0;title\\x07'");
}

TEST(RaiseSystemException, TurnsUnknownIdsIntoUnknown)
{
    try {
        raise_system_exception("IDL:acme/ODD:1.0", 5, CORBA::COMPLETED_MAYBE, "from a peer");
    } catch (const CORBA::UNKNOWN& unknown) {
        EXPECT_EQ(unknown.minor(), 5u);
        EXPECT_EQ(unknown.completed(), CORBA::COMPLETED_MAYBE);
        EXPECT_EQ(unknown.reason(), "from a peer");
    }
}

} // namespace
} // namespace kairos::mapping
