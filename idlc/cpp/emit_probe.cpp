// SPDX-License-Identifier: Apache-2.0
//
// --instrument: the probes of generated code (kairos/types/profile.h), each in the function that it
// measures.
#include "idlc/cpp/emitters.h"

namespace kairos::idlc {
namespace {

void emit_probe(const Source& source, std::string_view what, const std::string& name,
                std::string_view variable, Text& out)
{
    if (!source.options.instrument) return;
    out.line("static constinit ::kairos::types::Probe ", variable, "_probe{", string_literal(what),
             ", ", string_literal(name), "};");
    out.line("::kairos::types::Measurement ", variable, "(", variable, "_probe);");
}

} // namespace

void emit_type_probe(const Source& source, const Declaration& type, std::string_view function,
                     Text& out)
{
    emit_probe(source, "type " + std::string(function), type.repository_id, "_kairos_measurement",
               out);
}

void emit_call_probe(const Source& source, const Call& call, std::string_view side,
                     std::string_view variable, Text& out)
{
    emit_probe(source, "operation " + std::string(side),
               call.wire_name + " " + call.interface().repository_id, variable, out);
}

void end_call_probe(const Source& source, std::string_view variable, Text& out)
{
    if (source.options.instrument) out.line(variable, ".end();");
}

} // namespace kairos::idlc
