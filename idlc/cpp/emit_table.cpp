// SPDX-License-Identifier: Apache-2.0
//
// The tables that describe interpreted structs (kairos/types/table.h): declared in the header,
// defined as constant data in the source file. Types of fixed length need none of their own: the
// ORB's headers derive their description from the Marshal that they have anyway.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

std::vector<const Struct*> described_structs(const Source& source)
{
    std::vector<const Struct*> found;
    for (const Struct* composite : all_of<Struct>(source.unit))
        if (!has_fixed_layout(*composite) && is_interpreted(source, *composite))
            found.push_back(composite);
    return found;
}

/// How many members from this one on are strings with the same bound: they are moved in one go.
std::size_t strings_from(const std::vector<Member>& members, std::size_t first)
{
    const auto is_like_first = [&](const Member& member) {
        return resolved(*member.type).kind == TypeKind::string &&
               string_bound(*member.type) == string_bound(*members[first].type);
    };
    std::size_t last = first;
    while (last < members.size() && is_like_first(members[last]))
        ++last;
    return last - first;
}

/// The struct whose members stand in the outer one's table in its place; null if it has its own.
const Struct* inlined_struct(const Source& source, const Type& type)
{
    const Type& member = resolved(type);
    if (member.kind != TypeKind::declared) return nullptr;
    const auto* inner = as<Struct>(member.declaration);
    const bool has_table = inner != nullptr && inner->in_main_file && !has_fixed_layout(*inner) &&
                           is_interpreted(source, *inner);
    return has_table && !is_recursive(*inner) ? inner
                                              : nullptr; // else nesting would not be counted
}

/// `base` is where the struct is in the outermost one: "offsetof(A, b) + ".
void emit_members(const Source& source, const Struct& composite, const std::string& base, Text& out)
{
    const std::string type = qualified(composite);
    for (std::size_t i = 0; i < composite.members.size();) {
        const std::string name = identifier(composite.members[i].name);
        std::string offset = base;
        offset.append("offsetof(").append(type).append(", ").append(name).append(")");
        if (const Struct* inner = inlined_struct(source, *composite.members[i].type)) {
            emit_members(source, *inner, offset + " + ", out);
            ++i;
            continue;
        }
        const std::size_t count = std::max<std::size_t>(strings_from(composite.members, i), 1);
        out.line("{&TableOf<decltype(", type, "::", name, ")>::table, ", offset, ", ",
                 std::to_string(count), "},");
        i += count;
    }
}

} // namespace

void emit_table_declarations(const Source& source, Text& out)
{
    const std::vector<const Struct*> composites = described_structs(source);
    if (composites.empty()) return;
    out.blank();
    out.line("namespace kairos::types {");
    out.blank();
    for (const Struct* composite : composites) {
        out.put({'E', exported(source), 'N', qualified(*composite)}, R"(
template <>
struct $ETableOf<$N> {
    static const Table table;
};
)");
    }
    out.blank();
    out.line("} // namespace kairos::types");
}

void emit_tables(const Source& source, Text& out)
{
    const std::vector<const Struct*> composites = described_structs(source);
    if (composites.empty()) return;
    out.line("namespace kairos::types {");
    out.line("namespace {");
    out.blank();
    for (const Struct* composite : composites) {
        out.open("constexpr Member ", flat_name(*composite), "_members[] = {");
        emit_members(source, *composite, "", out);
        out.close("};");
    }
    out.blank();
    out.line("} // namespace");
    out.blank();
    for (const Struct* composite : composites) {
        const std::string type = qualified(*composite);
        out.line("constinit const Table TableOf<", type, ">::table = make_table<", type, ">(",
                 flat_name(*composite), "_members, ", is_recursive(*composite) ? "true" : "false",
                 ");");
    }
    out.blank();
    out.line("} // namespace kairos::types");
    out.blank();
}

} // namespace kairos::idlc
