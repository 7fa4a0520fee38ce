// SPDX-License-Identifier: Apache-2.0
//
// Every golden TypeCode is read in both byte orders, at each offset modulo eight that a message may
// have it at, and is the type that the file says; those that Kairos would have written so are
// written again, octet for octet.
#include "kairos/types/typecode_samples_testing.h"
#include "kairos/types/typecode_wire.h"
#include "vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace {

using namespace CORBA;
using kairos::types::pointer;
using kairos::types::TypeCodeMember;
namespace samples = kairos::types::samples;

constexpr TypeCodeMember segment_members[] = {{"from", &samples::point}, {"to", &samples::point}};
constexpr TypeCode segment{struct_type(tk_struct, "IDL:Segment:1.0", "Segment", segment_members)};
constexpr TypeCodeMember lists_members[] = {{"a", &samples::longs},
                                            {"b", &samples::longs},
                                            {"c", &samples::vector},
                                            {"d", &samples::vector}};
constexpr TypeCode lists{struct_type(tk_struct, "IDL:Lists:1.0", "Lists", lists_members)};

const std::map<std::string, const TypeCode*> expected = {
    {"point", &samples::point},      {"twice", &segment},      {"node", &samples::node},
    {"nodes", &samples::nodes},      {"lists", &lists},        {"nodes_of_itself", &samples::nodes},
    {"choice", &samples::choice},    {"sign", &samples::sign}, {"special", &samples::special},
    {"price", &samples::price},      {"box", &samples::box},   {"echo", &samples::echo},
    {"overflow", &samples::overflow}};
const std::set<std::string> only_read = {"lists", "nodes_of_itself"};

TEST(TypeCodeVectors, AreReadAndWrittenAsTheSpecificationSays)
{
    std::set<std::string> seen;
    for (const kairos::test::Vector& vector : kairos::test::load_vectors("typecode.hex")) {
        SCOPED_TRACE(vector.title);
        seen.insert(vector.name);
        ASSERT_TRUE(expected.contains(vector.name));
        const TypeCode& type = *expected.at(vector.name);
        for (const std::size_t begin : {0, 4}) {
            std::vector<std::byte> bytes(begin);
            bytes.insert(bytes.end(), vector.bytes.begin(), vector.bytes.end());
            kairos::cdr::Reader in(bytes, vector.little_endian, begin);
            const TypeCode_var read = kairos::types::decode_type_code(in);
            ASSERT_TRUE(in.ok()) << describe(in.fault());
            EXPECT_EQ(in.left(), 0u);
            EXPECT_TRUE(read->equal(pointer(type)));
        }
        if (vector.little_endian != kairos::native_little_endian) continue;
        kairos::cdr::Buffer buffer;
        kairos::cdr::Writer out(buffer);
        kairos::types::encode_type_code(out, type);
        EXPECT_EQ(std::ranges::equal(out.contiguous(), vector.bytes),
                  !only_read.contains(vector.name));
    }
    EXPECT_EQ(seen.size(), expected.size());
}

} // namespace
