// SPDX-License-Identifier: Apache-2.0
#include "idlc/marshal_choice.h"

namespace kairos::idlc {
namespace {

[[nodiscard]] bool is_marshal(const Annotation& annotation)
{
    return annotation.name == "marshal" || annotation.name == "kairos::marshal";
}

[[nodiscard]] std::optional<Engine> engine_of(const Annotation& annotation)
{
    if (annotation.parameters.size() != 1) return std::nullopt;
    const auto* text = std::get_if<std::string>(&annotation.parameters[0].value);
    return text == nullptr ? std::nullopt : engine_named(*text);
}

/// Of several that say something about one declaration, the last: a pragma overrides.
[[nodiscard]] std::optional<Engine> engine_of(const Annotations& annotations)
{
    std::optional<Engine> engine;
    for (const Annotation& annotation : annotations)
        if (is_marshal(annotation)) engine = engine_of(annotation);
    return engine;
}

/// A pragma overrides an annotation; two of either must agree.
void check_agreement(const Declaration& declaration, bool pragmas, Diagnostics& diagnostics)
{
    const Annotation* first = nullptr;
    for (const Annotation& annotation : declaration.annotations) {
        if (!is_marshal(annotation) || !engine_of(annotation) || annotation.by_pragma != pragmas)
            continue;
        if (first == nullptr) first = &annotation;
        if (engine_of(*first) == engine_of(annotation)) continue;
        diagnostics.error(annotation.location,
                          "'" + declaration.scoped_name + "' cannot be compiled and interpretive");
        return diagnostics.note(first->location, "the other choice is here");
    }
}

void check(const Declaration& declaration, Diagnostics& diagnostics)
{
    for (const Annotation& annotation : declaration.annotations)
        if (is_marshal(annotation) && !engine_of(annotation))
            diagnostics.error(annotation.location,
                              R"(expected @marshal("compiled") or @marshal("interpretive"))");
    check_agreement(declaration, false, diagnostics);
    check_agreement(declaration, true, diagnostics);
}

void check(const Declarations& declarations, Diagnostics& diagnostics)
{
    for (const Declaration* declaration : declarations) {
        check(*declaration, diagnostics);
        check(within(*declaration), diagnostics);
    }
}

} // namespace

std::optional<Engine> engine_named(std::string_view name) noexcept
{
    if (name == "compiled") return Engine::compiled;
    if (name == "interpretive") return Engine::interpretive;
    return std::nullopt;
}

std::optional<Engine> annotated_engine(const Declaration& declaration)
{
    for (const Declaration* scope = &declaration; scope != nullptr; scope = scope->parent) {
        if (const auto engine = engine_of(scope->annotations)) return engine;
        // A module is opened several times; a pragma names all of its openings.
        const auto* module = as<Module>(scope);
        if (module == nullptr || module->first == module || module->first == nullptr) continue;
        if (const auto engine = engine_of(module->first->annotations)) return engine;
    }
    return std::nullopt;
}

void check_marshal_annotations(const Unit& unit, Diagnostics& diagnostics)
{
    check(unit.declarations, diagnostics);
}

} // namespace kairos::idlc
