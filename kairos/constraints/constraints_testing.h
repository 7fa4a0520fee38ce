// SPDX-License-Identifier: Apache-2.0
//
// Values to ask constraints of, for the tests of this module: Anys as they are inserted and as they
// are received, and structured events as the Notification Service has them. One thread.
#pragma once

#include "kairos/constraints/evaluator.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode_wire.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace testing_constraints {

using kairos::constraints::Answer;
using kairos::constraints::AnyEvent;
using kairos::constraints::Constraint;
using kairos::constraints::describe;
using kairos::constraints::Evaluator;
using kairos::constraints::Fault;
using kairos::constraints::Language;
using kairos::constraints::order;
using kairos::constraints::Preference;
using kairos::constraints::Structure;
using kairos::constraints::Subject;
using kairos::constraints::Term;
namespace cdr = kairos::cdr;

[[nodiscard]] inline Constraint parsed(std::string_view text,
                                       Language language = Language::extended)
{
    auto constraint = Constraint::parse(text, language);
    if (constraint.ok()) return std::move(constraint).value();
    ADD_FAILURE() << text << ": " << constraint.error().reason;
    return Constraint::parse("", language).value();
}

/// The Any after a journey: what was inserted in its C++ type is bytes.
[[nodiscard]] inline CORBA::Any received(const CORBA::Any& any)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copy_all(out);
    kairos::mapping::encode(out, any);
    cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    CORBA::Any other;
    kairos::mapping::decode(in, other);
    EXPECT_TRUE(in.ok());
    return other;
}

template <typename T>
[[nodiscard]] CORBA::Any any_of(const T& value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

/// An Any of this type from a value in CDR.
[[nodiscard]] inline CORBA::Any any_of(const CORBA::TypeCode& type, const cdr::Writer& out)
{
    cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    CORBA::Any any;
    kairos::types::AnyAccess::decode_value(
        in, CORBA::TypeCode::_duplicate(kairos::types::pointer(type)), any);
    EXPECT_TRUE(in.ok());
    return any;
}

namespace event_types {
using CORBA::TypeCode;
using kairos::types::sequence_type;
using kairos::types::struct_type;
using kairos::types::TypeCodeMember;

inline constexpr TypeCodeMember type_members[] = {{"domain_name", &CORBA::_kairos_tc_string},
                                                  {"type_name", &CORBA::_kairos_tc_string}};
inline constinit const TypeCode type{struct_type(
    CORBA::tk_struct, "IDL:omg.org/CosNotification/EventType:1.0", "EventType", type_members)};
inline constexpr TypeCodeMember fixed_members[] = {{"event_type", &type},
                                                   {"event_name", &CORBA::_kairos_tc_string}};
inline constinit const TypeCode fixed{
    struct_type(CORBA::tk_struct, "IDL:omg.org/CosNotification/FixedEventHeader:1.0",
                "FixedEventHeader", fixed_members)};
inline constexpr TypeCodeMember property_members[] = {{"name", &CORBA::_kairos_tc_string},
                                                      {"value", &CORBA::_kairos_tc_any}};
inline constinit const TypeCode property{struct_type(
    CORBA::tk_struct, "IDL:omg.org/CosNotification/Property:1.0", "Property", property_members)};
inline constinit const TypeCode properties{sequence_type(property, 0)};
inline constexpr TypeCodeMember header_members[] = {{"fixed_header", &fixed},
                                                    {"variable_header", &properties}};
inline constinit const TypeCode header{struct_type(CORBA::tk_struct,
                                                   "IDL:omg.org/CosNotification/EventHeader:1.0",
                                                   "EventHeader", header_members)};
inline constexpr TypeCodeMember event_members[] = {{"header", &header},
                                                   {"filterable_data", &properties},
                                                   {"remainder_of_body", &CORBA::_kairos_tc_any}};
inline constinit const TypeCode event{struct_type(CORBA::tk_struct,
                                                  "IDL:omg.org/CosNotification/StructuredEvent:1.0",
                                                  "StructuredEvent", event_members)};
} // namespace event_types

using Properties = std::vector<std::pair<std::string, CORBA::Any>>;

struct Event {
    std::string domain_name = "Telecom";
    std::string type_name = "CommunicationsAlarm";
    std::string event_name = "lost_packet";
    Properties variable_header{};
    Properties filterable_data{};
    CORBA::Any remainder_of_body{};

    [[nodiscard]] CORBA::Any any() const
    {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        const cdr::Writer::CopyAll copy_all(out);
        out.write_string(domain_name);
        out.write_string(type_name);
        out.write_string(event_name);
        for (const Properties* properties : {&variable_header, &filterable_data}) {
            out.write(static_cast<std::uint32_t>(properties->size()));
            for (const auto& [name, value] : *properties) {
                out.write_string(name);
                kairos::mapping::encode(out, value);
            }
        }
        kairos::mapping::encode(out, remainder_of_body);
        return any_of(event_types::event, out);
    }
};

[[nodiscard]] inline Answer answer(const Subject& subject, std::string_view text,
                                   Language language = Language::extended)
{
    Evaluator evaluator;
    evaluator.look_at(subject);
    return evaluator.evaluate(parsed(text, language));
}
[[nodiscard]] inline Answer answer(const CORBA::Any& event, std::string_view text)
{
    return answer(AnyEvent(event), text);
}

/// Whether the event fulfils it; a fault is a failure.
[[nodiscard]] inline bool matches(const CORBA::Any& event, std::string_view text)
{
    const Answer found = answer(event, text);
    EXPECT_EQ(found.fault, Fault::none) << text << ": " << describe(found.fault);
    return found.matches;
}
[[nodiscard]] inline Fault fault(const CORBA::Any& event, std::string_view text)
{
    const Answer found = answer(event, text);
    EXPECT_TRUE(!found.matches || found.fault == Fault::none);
    return found.fault;
}

} // namespace testing_constraints
