// SPDX-License-Identifier: Apache-2.0
#include "idlc/layout.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

/// Bytes of a value, of a union those of the smallest or of the largest case: which one `of_union`
/// knows. Members are met in the order of the IDL, so recursion ends at a sequence.
std::uint64_t value_bytes(const Type& type, std::uint64_t (*of_union)(const Union&))
{
    const Type& actual = resolved(type);
    if (actual.kind == TypeKind::fixed)
        return actual.digits / 2u + 1u; // two digits an octet, and the sign
    if (actual.kind == TypeKind::array) {
        std::uint64_t bytes = value_bytes(*actual.element, of_union);
        for (const std::uint64_t dimension : actual.dimensions)
            bytes *= dimension;
        return bytes;
    }
    if (actual.kind != TypeKind::declared) return basic_type(actual.kind).wire_bytes_min;
    if (const auto* interface = as<Interface>(actual.declaration))
        return interface->is_abstract ? 5 : 8;
    if (const auto* united = as<Union>(actual.declaration)) return of_union(*united);
    const auto* composite = as<Struct>(actual.declaration);
    if (composite == nullptr) return 4;
    std::uint64_t bytes = 0;
    for (const Member& member : composite->members)
        bytes += value_bytes(*member.type, of_union);
    return bytes;
}

std::uint64_t memory_bytes_of_union(const Union& type)
{
    std::uint64_t bytes = 0;
    for (const UnionCase& one : type.cases)
        bytes = std::max(bytes, memory_bytes(*one.member.type));
    return memory_bytes(*type.discriminator) + bytes;
}

bool has_fixed_layout(const Type& type)
{
    const Type& actual = resolved(type);
    if (is_variable_length(actual)) return false;
    if (actual.kind == TypeKind::array) return has_fixed_layout(*actual.element);
    // Neither has a form that is known at compile time: digits; the code set of the connection.
    if (actual.kind == TypeKind::fixed || actual.kind == TypeKind::wchar) return false;
    if (actual.kind != TypeKind::declared) return true;
    if (as<Union>(actual.declaration) != nullptr) return false;
    const auto* composite = as<Struct>(actual.declaration);
    return composite == nullptr || has_fixed_layout(*composite);
}

} // namespace

std::uint64_t wire_bytes_min(const Type& type) { return value_bytes(type, wire_bytes_min); }

std::uint64_t wire_bytes_min(const Union& type)
{
    const std::uint64_t discriminator = wire_bytes_min(*type.discriminator);
    if (!type.has_default && unlabelled_discriminator(type)) return discriminator; // no member
    std::uint64_t bytes = UINT64_MAX;
    for (const UnionCase& one : type.cases)
        bytes = std::min(bytes, wire_bytes_min(*one.member.type));
    return discriminator + bytes;
}

std::uint64_t memory_bytes(const Type& type) { return value_bytes(type, memory_bytes_of_union); }

bool has_fixed_layout(const Struct& type)
{
    if (is_variable_length(type)) return false;
    return std::ranges::all_of(type.members,
                               [](const Member& member) { return has_fixed_layout(*member.type); });
}

} // namespace kairos::idlc
