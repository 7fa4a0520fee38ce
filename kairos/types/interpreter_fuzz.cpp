// SPDX-License-Identifier: Apache-2.0
//
// Hostile bytes for the interpreter: a recursive struct with a member of every operation. What is
// read can be written and read again, and is the same then; views are what owned values are. First
// octet: byte order and phase.
#include "kairos/types/interpreter.h"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

enum Color : CORBA::ULong { red, green, blue };
struct Point {
    CORBA::Short s;
    CORBA::Boolean b;
    CORBA::Double d;
};
struct Node {
    CORBA::Octet octet;
    CORBA::LongLong number;
    Color color;
    Point point;
    kairos::mapping::StringMember name;
    kairos::mapping::BoundedStringMember<4> nickname;
    kairos::mapping::StringMember lines[2];
    kairos::mapping::UnboundedSequence<Point> points;
    kairos::mapping::BoundedSequence<CORBA::Long, 3> marks;
    kairos::mapping::UnboundedStringSequence<> titles;
    kairos::mapping::UnboundedSequence<Node> children;
};

} // namespace

namespace kairos::mapping {
template <>
struct Marshal<Color> : EnumMarshal<Color, 3> {};
template <>
struct Marshal<Point>
    : FixedStruct<Point, Field<&Point::s, offsetof(Point, s)>, Field<&Point::b, offsetof(Point, b)>,
                  Field<&Point::d, offsetof(Point, d)>> {};
template <>
struct Marshal<Node> {
    static constexpr std::size_t wire_bytes_min = 50;
    static void decode(cdr::Reader& in, Node& value, Arena* arena = nullptr);
};
} // namespace kairos::mapping

namespace kairos::types {
template <>
struct TableOf<Node> {
    static const Table table;
};
namespace {
#define KAIROS_MEMBER(name)                                                                        \
    {                                                                                              \
        &TableOf<decltype(Node::name)>::table, offsetof(Node, name)                                \
    }
constexpr Member members[] = {
    KAIROS_MEMBER(octet), KAIROS_MEMBER(number),   KAIROS_MEMBER(color),    KAIROS_MEMBER(point),
    KAIROS_MEMBER(name),  KAIROS_MEMBER(nickname), KAIROS_MEMBER(lines),    KAIROS_MEMBER(points),
    KAIROS_MEMBER(marks), KAIROS_MEMBER(titles),   KAIROS_MEMBER(children),
};
#undef KAIROS_MEMBER
} // namespace
constinit const Table TableOf<Node>::table = make_table<Node>(members, true);
static_assert(make_table<Node>(members, true).is_viewable);
} // namespace kairos::types

void kairos::mapping::Marshal<Node>::decode(cdr::Reader& in, Node& value, Arena* arena)
{
    types::decode(in, types::TableOf<Node>::table, &value, arena);
}

namespace {

using kairos::types::TableOf;

std::vector<std::byte> written(const Node& node)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    kairos::types::encode(out, TableOf<Node>::table, &node);
    std::vector<std::byte> bytes(out.contiguous().begin(), out.contiguous().end());
    for (const auto& external : out.externals()) // none: input is smaller than that
        bytes.insert(bytes.end(), external.bytes.begin(), external.bytes.end());
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0 || size > 4000) return 0;
    const bool little_endian = (data[0] & 1) != 0;
    const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                                       reinterpret_cast<const std::byte*>(data) + size);
    Node node;
    kairos::cdr::Reader owning(bytes, little_endian, 1);
    kairos::types::decode(owning, TableOf<Node>::table, &node);
    const std::vector<std::byte> first = owning.ok() ? written(node) : std::vector<std::byte>();

    std::vector<std::byte> message = bytes; // a view may write into it
    kairos::cdr::Reader viewing(message, little_endian, 1);
    kairos::Arena arena;
    alignas(Node) std::byte view[sizeof(Node)]; // mere storage: no byte of it may be relied on
    std::memset(view, 0xA5, sizeof view);
    kairos::types::decode(viewing, TableOf<Node>::table, view, &arena);
    if (viewing.fault() != owning.fault()) std::abort();
    if (!owning.ok()) return 0;
    if (viewing.offset() != owning.offset()) std::abort();
    if (written(*reinterpret_cast<const Node*>(view)) != first) std::abort();

    Node again;
    kairos::cdr::Reader in(first, kairos::native_little_endian);
    kairos::types::decode(in, TableOf<Node>::table, &again);
    if (!in.ok() || written(again) != first) std::abort();
    return 0;
}
