// SPDX-License-Identifier: Apache-2.0
//
// Any text as preprocessed IDL: lexer, parser and every check, then what back ends ask and the
// whole report. Nothing may crash, recurse without bound or take memory out of proportion.
#include "fuzz/bounds.h"
#include "idlc/frontend.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using namespace kairos::idlc;

void ask(const Declaration& declaration)
{
    static_cast<void>(is_recursive(declaration));
    if (const auto* interface = as<Interface>(&declaration))
        static_cast<void>(all_operations(*interface));
    if (const auto* value = as<ValueType>(&declaration)) static_cast<void>(all_members(*value));
    if (const auto* alias = as<Alias>(&declaration)) {
        static_cast<void>(is_variable_length(*alias->type));
        static_cast<void>(to_string(*alias->type));
    }
    if (const auto* one = as<Union>(&declaration))
        static_cast<void>(unlabelled_discriminator(*one));
    if (const auto* constant = as<Constant>(&declaration))
        static_cast<void>(to_string(constant->value));
}

} // namespace

// Whoever compiles a file has written it; a declaration of a few letters is some hundred octets.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 512,
            .octets_beside = std::size_t{1} << 20,
            .comparisons_each = 1'000,
            .comparisons_beside = 200'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Options options;
    Compilation compilation(options);
    if (compilation.compile_text(std::string(reinterpret_cast<const char*>(data), size), "in.idl"))
        for_each(compilation.unit().declarations, ask);
    static_cast<void>(compilation.diagnostics().render(false));
    return 0;
}
