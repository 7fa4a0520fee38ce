// SPDX-License-Identifier: Apache-2.0
//
//     cost OCTETS…
//
// For each case and each number, decodes one message of about so many octets that is as dear as its
// kind of type allows, and prints the case. cost_test.py counts the instructions of decode_message.
#include "hostile_values.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace {

using kairos::native_little_endian;
using kairos::cdr::Buffer;
using kairos::cdr::Reader;
using kairos::cdr::Writer;

/// A parameter list of a TypeCode (CORBA 3.3 part 2, 9.3.5.1), as an encapsulation.
template <typename Write>
void write_encapsulation(Writer& out, Write write)
{
    Buffer buffer;
    Writer inner(buffer);
    inner.write(native_little_endian);
    write(inner);
    out.write(static_cast<std::uint32_t>(inner.size()));
    out.write_bytes(inner.contiguous());
}

/// A sequence of unions, whose discriminators of `width` octets select none of the members that
/// there are: a few or, half the message, many.
template <bool many, std::size_t width>
void unions(Writer& out, std::size_t size)
{
    constexpr std::size_t octets_per_label = 20;
    const auto labels = static_cast<std::uint32_t>(many ? size / 2 / octets_per_label : 2);
    const auto elements = static_cast<std::uint32_t>((many ? size / 2 : size) / width);
    const auto kind = width == 1 ? CORBA::tk_octet : CORBA::tk_short;
    out.write(std::uint32_t{CORBA::tk_sequence});
    write_encapsulation(out, [&](Writer& sequence) {
        sequence.write(std::uint32_t{CORBA::tk_union});
        write_encapsulation(sequence, [&](Writer& choice) {
            choice.write_string("");
            choice.write_string("");
            choice.write(std::uint32_t{kind});
            choice.write(std::int32_t{-1});
            choice.write(labels);
            for (std::uint32_t i = 0; i < labels; ++i) {
                if (width == 1) {
                    choice.write(std::uint8_t{1});
                } else {
                    choice.write(static_cast<std::uint16_t>(i + 1));
                }
                choice.write_string("");
                choice.write(std::uint32_t{CORBA::tk_octet});
            }
        });
        sequence.write(std::uint32_t{0});
    });
    out.write(elements);
    for (std::size_t i = 0; i < elements * width; ++i)
        out.write(std::uint8_t{0});
}

/// A sequence of as many elements as there can be, all of zeros.
template <std::size_t octets_per_element>
void zeros(Writer& out, std::size_t size)
{
    const auto elements = static_cast<std::uint32_t>(size / octets_per_element);
    out.write(elements);
    for (std::size_t i = 0; i < elements * octets_per_element / 4; ++i)
        out.write(std::uint32_t{0});
}

/// 30 levels of one element each, and many in the last: proven once, not once a level.
void deep(Writer& out, std::size_t size)
{
    for (unsigned level = 0; level < 30; ++level)
        out.write(std::uint32_t{1});
    zeros<4>(out, size - 120);
}

/// In chunks of four octets each.
void small_chunks(Writer& out, std::size_t size)
{
    const auto nodes = static_cast<std::uint32_t>(size / 8);
    for (const std::uint32_t word : {hostile::chunked_tag, 8U, 0U, nodes})
        out.write(word);
    for (std::uint32_t i = 0; i < nodes; ++i) {
        out.write(std::uint32_t{4});
        out.write(std::uint32_t{0});
    }
    out.write(0xFFFF'FFFFU);
}
/// Values with nothing in them, alike.
void values(Writer& out, std::size_t size)
{
    const auto count = static_cast<std::uint32_t>(size / 12);
    out.write(count);
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t word : {hostile::value_tag, 0U, 0U})
            out.write(word);
}
void chunked_values(Writer& out, std::size_t size)
{
    const auto count = static_cast<std::uint32_t>(size / 20);
    out.write(count);
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t word : {hostile::chunked_tag, 8U, 0U, 0U, 0xFFFF'FFFFU})
            out.write(word);
}
/// How far it is back to a place, as an indirection that is written next says it.
std::uint32_t back_to(std::size_t place, const Writer& out)
{
    return static_cast<std::uint32_t>(place) - static_cast<std::uint32_t>(out.size() + 4);
}
void one_value_again_and_again(Writer& out, std::size_t size)
{
    const auto count = static_cast<std::uint32_t>(size / 8);
    for (const std::uint32_t word : {count + 1, hostile::value_tag, 0U, 0U})
        out.write(word);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t back = back_to(4, out);
        out.write(hostile::indirection);
        out.write(back);
    }
}
/// Each says its type, by an indirection.
void values_with_ids(Writer& out, std::size_t size)
{
    constexpr std::uint32_t with_id = hostile::value_tag | 2;
    const auto count = static_cast<std::uint32_t>(size / 20);
    out.write(count + 1);
    out.write(with_id);
    out.write_string("IDL:Hostile/Holder:1.0");
    out.write(std::uint32_t{0});
    out.write(std::uint32_t{0});
    for (std::uint32_t i = 0; i < count; ++i) {
        out.write(with_id);
        const std::uint32_t back = back_to(8, out);
        for (const std::uint32_t word : {hostile::indirection, back, 0U, 0U})
            out.write(word);
    }
}
/// Structs that hold a value with nothing in it, and nothing else.
void structs_with_values(Writer& out, std::size_t size)
{
    const auto count = static_cast<std::uint32_t>(size / 28);
    out.write(count);
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t word : {hostile::value_tag, 0U, 0U, 0U, 0U, 0U, 0U})
            out.write(word);
}

/// A value that holds one sequence, which is read twice.
template <bool few>
void holder(Writer& out, std::size_t size)
{
    out.write(hostile::value_tag);
    if (!few) out.write(std::uint32_t{0});
    zeros<few ? 1 : 4>(out, size);
    if (few) out.write(std::uint32_t{0});
}
void box(Writer& out, std::size_t size)
{
    out.write(hostile::value_tag);
    zeros<1>(out, size);
}

struct Case {
    void (*write)(Writer& out, std::size_t size);
    void (*decode)(Reader& in);
};

template <typename T>
void decode(Reader& in)
{
    kairos::cdr::Environment environment;
    environment.value_factories = &hostile::registry();
    in.set_environment(&environment);
    T value;
    kairos::mapping::decode(in, value);
    if (in.ok()) environment.accept_values();
}

const std::map<std::string, Case> cases = {
    {"unions", {unions<false, 1>, decode<CORBA::Any>}},
    {"unions-of-many", {unions<true, 1>, decode<CORBA::Any>}},
    {"unions-of-many-shorts", {unions<true, 2>, decode<CORBA::Any>}},
    {"nodes", {zeros<4>, decode<Hostile::Nodes>}},
    {"deep", {deep, decode<Hostile::Nodes>}},
    {"trees", {zeros<8>, decode<Hostile::Trees>}},
    {"structs", {zeros<16>, decode<Hostile::Wides>}},
    {"arrays", {zeros<64>, decode<Hostile::WideArrays>}},
    {"anys", {zeros<4>, decode<Hostile::Anys>}},
    {"wide-strings", {zeros<4>, decode<Hostile::WideTexts>}},
    {"value-of-unions", {holder<true>, decode<Hostile::Holder_var>}},
    {"value-of-nodes", {holder<false>, decode<Hostile::Holder_var>}},
    {"value-in-small-chunks", {small_chunks, decode<Hostile::Holder_var>}},
    {"values", {values, decode<Hostile::Holders>}},
    {"chunked-values", {chunked_values, decode<Hostile::Holders>}},
    {"shared-values", {one_value_again_and_again, decode<Hostile::Holders>}},
    {"values-with-ids", {values_with_ids, decode<Hostile::Holders>}},
    {"structs-with-values", {structs_with_values, decode<Hostile::Mixeds>}},
    {"box-of-unions", {box, decode<Hostile::ChoicesBox_var>}},
    {"unions-with-values", {zeros<1>, decode<Hostile::Perhapses>}},
    {"blocks", {zeros<4>, decode<Hostile::BlocksOfBlocks>}},
};

} // namespace

/// What callgrind knows by its name.
extern "C" [[gnu::noinline]] void decode_message(const Case& chosen, Reader& in)
{
    chosen.decode(in);
}

int main(int argc, char** argv)
{
    for (const auto& [name, chosen] : cases)
        for (int i = 1; i < argc; ++i) {
            Buffer buffer;
            Writer out(buffer);
            chosen.write(out, std::strtoul(argv[i], nullptr, 10));
            Reader in(out.contiguous(), native_little_endian);
            decode_message(chosen, in);
            if (!in.ok()) {
                std::cerr << name << ": " << describe(in.fault()) << '\n';
                return 1;
            }
            std::cout << name << '\n';
        }
    return 0;
}
