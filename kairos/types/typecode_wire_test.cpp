// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode_samples.h"
#include "kairos/types/typecode_wire.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace CORBA;
using kairos::cdr::Buffer;
using kairos::cdr::Reader;
using kairos::cdr::Writer;
namespace samples = kairos::types::samples;

std::vector<std::byte> encoded(const TypeCode& type)
{
    Buffer buffer;
    Writer out(buffer);
    kairos::types::encode_type_code(out, type);
    return {out.contiguous().begin(), out.contiguous().end()};
}

TEST(TypeCodeWire, EveryKindComesBackEqual)
{
    for (const TypeCode* type : samples::all) {
        SCOPED_TRACE(type->kind());
        const std::vector<std::byte> bytes = encoded(*type);
        Reader in(bytes, kairos::native_little_endian);
        const TypeCode_var back = kairos::types::decode_type_code(in);
        ASSERT_TRUE(in.ok()) << describe(in.fault());
        EXPECT_EQ(in.left(), 0u);
        EXPECT_TRUE(back->equal(kairos::types::pointer(*type)));
    }
}

TEST(TypeCodeWire, BasicKindsAreTheConstants)
{
    const std::vector<std::byte> bytes = encoded(*_tc_double);
    Reader in(bytes, kairos::native_little_endian);
    EXPECT_EQ(kairos::types::decode_type_code(in), _tc_double);
}

TEST(TypeCodeWire, EveryTruncationIsRefused)
{
    for (const TypeCode* type : samples::all) {
        const std::vector<std::byte> bytes = encoded(*type);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            Reader in({bytes.data(), size}, kairos::native_little_endian);
            EXPECT_EQ(kairos::types::decode_type_code(in), nullptr);
            EXPECT_FALSE(in.ok());
        }
    }
}

} // namespace
