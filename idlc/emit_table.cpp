// SPDX-License-Identifier: Apache-2.0
//
// The tables that describe interpreted structs (kairos/types/table.h): declared in the header,
// defined as constant data in the source file. Types of fixed length need none of their own: the
// ORB's headers derive their description from the Marshal that they have anyway.
#include "idlc/emitters.h"

namespace kairos::idlc {
namespace {

std::vector<const Struct*> described_structs(const Source& source)
{
    std::vector<const Struct*> found;
    for (const Struct* composite : all_of<Struct>(source))
        if (!has_fixed_layout(*composite) && is_interpreted(source, *composite))
            found.push_back(composite);
    return found;
}

void emit_table(const Struct& composite, Text& out)
{
    const std::string type = qualified(composite);
    const std::string members = flat_name(composite) + "_members";
    out.open("constexpr Member ", members, "[] = {");
    for (const Member& member : composite.members) {
        const std::string name = identifier(member.name);
        out.line("{&TableOf<decltype(", type, "::", name, ")>::table, offsetof(", type, ", ", name,
                 ")},");
    }
    out.close("};");
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
        out.line("template <>");
        out.open("struct ", exported(source), "TableOf<", qualified(*composite), "> {");
        out.line("static const Table table;");
        out.close("};");
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
    for (const Struct* composite : composites)
        emit_table(*composite, out);
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
