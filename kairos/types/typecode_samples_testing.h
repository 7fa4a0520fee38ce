// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes of every kind for tests, as generated code would state them. Constant data.
#pragma once

#include "kairos/types/typecode.h"

namespace kairos::types::samples {

using CORBA::TypeCode;

inline constexpr TypeCodeMember color_members[] = {{"red"}, {"green"}, {"blue"}};
inline constexpr TypeCode color{
    struct_type(CORBA::tk_enum, "IDL:Color:1.0", "Color", color_members)};
inline constexpr TypeCode color_alias{alias_type("IDL:Colour:1.0", "Colour", color)};

inline constexpr TypeCode name{text_type(CORBA::tk_string, 12)};
inline constexpr TypeCode wide_name{text_type(CORBA::tk_wstring, 7)};
inline constexpr TypeCode price{fixed_type(9, 2)};
inline constexpr TypeCode longs{sequence_type(CORBA::_kairos_tc_long, 0)};
inline constexpr TypeCode vector{array_type(CORBA::_kairos_tc_double, 3)};
inline constexpr TypeCode matrix{array_type(vector, 2)};

inline constexpr TypeCodeMember point_members[] = {{"x", &CORBA::_kairos_tc_short},
                                                   {"y", &CORBA::_kairos_tc_double}};
inline constexpr TypeCode point{
    struct_type(CORBA::tk_struct, "IDL:Point:1.0", "Point", point_members)};
inline constexpr TypeCode empty{named_type(CORBA::tk_except, "IDL:Empty:1.0", "Empty")};
inline constexpr TypeCode overflow{
    struct_type(CORBA::tk_except, "IDL:Overflow:1.0", "Overflow", point_members)};

inline constexpr TypeCodeMember choice_members[] = {
    {"a", &CORBA::_kairos_tc_long}, {"p", &point}, {"p", &point}, {"other", &name}};
inline constexpr std::int64_t choice_labels[] = {2, 0, 1, 0};
inline constexpr TypeCode choice{
    union_type("IDL:Choice:1.0", "Choice", color_alias, choice_members, choice_labels, 3)};

inline constexpr TypeCodeMember sign_members[] = {{"minus", &CORBA::_kairos_tc_short},
                                                  {"plus", &CORBA::_kairos_tc_short}};
inline constexpr std::int64_t sign_labels[] = {-1, 1};
inline constexpr TypeCode sign{
    union_type("IDL:Sign:1.0", "Sign", CORBA::_kairos_tc_longlong, sign_members, sign_labels, -1)};

// struct Node { string label; sequence<Node> children; };
extern const TypeCode node;
inline constexpr TypeCode nodes{sequence_type(node, 0)};
inline constexpr TypeCodeMember node_members[] = {{"label", &CORBA::_kairos_tc_string},
                                                  {"children", &nodes}};
inline constexpr TypeCode node{struct_type(CORBA::tk_struct, "IDL:Node:1.0", "Node", node_members)};

// valuetype Link { public Link next; private Point place; }; valuetype Special : truncatable Link
extern const TypeCode link;
inline constexpr TypeCodeMember link_members[] = {{"next", &link}, {"place", &point}};
inline constexpr std::int64_t link_visibilities[] = {CORBA::PUBLIC_MEMBER, CORBA::PRIVATE_MEMBER};
inline constexpr TypeCode link{value_type(CORBA::tk_value, "IDL:Link:1.0", "Link", CORBA::VM_NONE,
                                          nullptr, link_members, link_visibilities)};
inline constexpr TypeCode special{
    value_type(CORBA::tk_value, "IDL:Special:1.0", "Special", CORBA::VM_TRUNCATABLE, &link)};
inline constexpr TypeCode box{box_type("IDL:Box:1.0", "Box", longs)};
inline constexpr TypeCode event{
    value_type(CORBA::tk_event, "IDL:Event:1.0", "Event", CORBA::VM_ABSTRACT, nullptr)};

inline constexpr TypeCode echo{named_type(CORBA::tk_objref, "IDL:Echo:1.0", "Echo")};
inline constexpr TypeCode abstract{
    named_type(CORBA::tk_abstract_interface, "IDL:Abstract:1.0", "Abstract")};
inline constexpr TypeCode local{named_type(CORBA::tk_local_interface, "IDL:Local:1.0", "Local")};
inline constexpr TypeCode native{named_type(CORBA::tk_native, "IDL:Native:1.0", "Native")};
inline constexpr TypeCode component{named_type(CORBA::tk_component, "IDL:Part:1.0", "Part")};
inline constexpr TypeCode home{named_type(CORBA::tk_home, "IDL:Home:1.0", "Home")};

/// One of every kind at least.
inline constexpr const TypeCode* all[] = {
    &CORBA::_kairos_tc_null,
    &CORBA::_kairos_tc_void,
    &CORBA::_kairos_tc_short,
    &CORBA::_kairos_tc_long,
    &CORBA::_kairos_tc_ushort,
    &CORBA::_kairos_tc_ulong,
    &CORBA::_kairos_tc_float,
    &CORBA::_kairos_tc_double,
    &CORBA::_kairos_tc_boolean,
    &CORBA::_kairos_tc_char,
    &CORBA::_kairos_tc_octet,
    &CORBA::_kairos_tc_any,
    &CORBA::_kairos_tc_TypeCode,
    &CORBA::_kairos_tc_Principal,
    &CORBA::_kairos_tc_longlong,
    &CORBA::_kairos_tc_ulonglong,
    &CORBA::_kairos_tc_longdouble,
    &CORBA::_kairos_tc_wchar,
    &CORBA::_kairos_tc_string,
    &CORBA::_kairos_tc_wstring,
    &CORBA::_kairos_tc_Object,
    &CORBA::_kairos_tc_ValueBase,
    &CORBA::_kairos_tc_BAD_PARAM,
    &color,
    &color_alias,
    &name,
    &wide_name,
    &price,
    &longs,
    &vector,
    &matrix,
    &point,
    &empty,
    &overflow,
    &choice,
    &sign,
    &node,
    &nodes,
    &link,
    &special,
    &box,
    &event,
    &echo,
    &abstract,
    &local,
    &native,
    &component,
    &home,
};

} // namespace kairos::types::samples
