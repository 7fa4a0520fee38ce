// SPDX-License-Identifier: Apache-2.0
//
// The parser: pragmas. Those of CORBA (prefix, ID, version), and Kairos's own, which say of a
// declaration what an annotation in front of it would, for tools that know no annotations.
#include "idlc/parse.h"

#include "idlc/timing.h"

#include <charconv>

namespace kairos::idlc {
namespace {

std::string_view trimmed(std::string_view text) noexcept
{
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && blank(text.back()))
        text.remove_suffix(1);
    return text;
}

/// Cuts the first word off.
std::string_view next_word(std::string_view& text) noexcept
{
    text = trimmed(text);
    const std::string_view word =
        text.substr(0, std::min(text.find_first_of(" \t\""), text.size()));
    text = trimmed(text.substr(word.size()));
    return word;
}

/// The text between quotes, where that is all there is.
std::optional<std::string_view> quoted_text(std::string_view text) noexcept
{
    text = trimmed(text);
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    if (text.find('"') != std::string_view::npos) return std::nullopt;
    return text;
}

std::optional<ScopedName> split_name(std::string_view text, Location location)
{
    ScopedName name;
    if (text.starts_with("::")) {
        name.absolute = true;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("::"), text.size());
        std::string_view part = text.substr(0, end);
        if (part.starts_with('_')) part.remove_prefix(1);
        if (part.empty() || name.parts.size() == 64) return std::nullopt;
        name.parts.push_back({part, location});
        if (end == text.size()) return name;
        text.remove_prefix(end + 2);
    }
    return std::nullopt;
}

std::optional<std::int64_t> number_of(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// `name(argument, …, declaration)`, the form of all pragmas of Kairos.
struct OwnPragma {
    std::string_view name;
    std::vector<std::string_view> arguments; ///< without the declaration; none is empty
    std::string_view declaration;
};

std::optional<OwnPragma> split_pragma(std::string_view text)
{
    const std::size_t open = text.find('(');
    const std::size_t close = text.find(')');
    if (open == text.npos || close == text.npos || open > close) return std::nullopt;
    if (!trimmed(text.substr(close + 1)).empty()) return std::nullopt;
    OwnPragma pragma{.name = trimmed(text.substr(0, open)), .arguments = {}, .declaration = {}};
    std::string_view rest = text.substr(open + 1, close - open - 1);
    for (std::size_t comma = rest.find(','); comma != rest.npos; comma = rest.find(',')) {
        pragma.arguments.push_back(trimmed(rest.substr(0, comma)));
        if (pragma.arguments.back().empty()) return std::nullopt;
        rest.remove_prefix(comma + 1);
    }
    pragma.declaration = trimmed(rest);
    if (pragma.arguments.empty() || pragma.declaration.empty()) return std::nullopt;
    return pragma;
}

AnnotationParameter parameter_of(std::string_view argument)
{
    AnnotationParameter parameter{.name = "value", .text = {}};
    if (const std::size_t equals = argument.find('='); equals != argument.npos) {
        parameter.name = trimmed(argument.substr(0, equals));
        argument = trimmed(argument.substr(equals + 1));
    }
    parameter.text = argument;
    if (const auto number = number_of(argument)) parameter.value = *number;
    return parameter;
}

/// `period(ms=50, A::b)` says what `@period(ms=50)` in front of A::b would.
void annotate(Declaration& declaration, const OwnPragma& pragma, const Location& location)
{
    Annotation annotation{.name = std::string(pragma.name),
                          .parameters = {},
                          .location = location,
                          .by_pragma = true};
    for (const std::string_view argument : pragma.arguments)
        annotation.parameters.push_back(parameter_of(argument));
    // Engines are strings, as in @marshal("compiled").
    if (pragma.name == "marshal") annotation.parameters[0].value = std::string(pragma.arguments[0]);
    declaration.annotations.push_back(std::move(annotation));
}

} // namespace

void Parser::pragma(const Token& token)
{
    std::string_view rest = token.text;
    const std::string_view word = next_word(rest);
    const bool named = word == "ID" || word == "version";
    if ((word == "prefix" || named) && rest.ends_with(';')) { // of no use, and in people's files
        rest = trimmed(rest.substr(0, rest.size() - 1));
        diagnostics_.warning(token.location, "';' after #pragma " + std::string(word));
    }
    if (word == "prefix") {
        const auto prefix = quoted_text(rest);
        if (!prefix) return error(token.location, "expected a quoted prefix after #pragma prefix");
        ids_.set_prefix(*prefix, token.location.file);
    } else if (named) {
        pragma_named(rest, token, word == "ID");
    } else if (word == "kairos") {
        pragma_own(rest, token.location);
    } // Other pragmas are for other compilers: 14.7.5 forbids to refuse them.
}

void Parser::pragma_named(std::string_view rest, const Token& token, bool is_id)
{
    const Location location = token.location;
    const auto name = split_name(next_word(rest), location);
    if (!name)
        return error(location, is_id ? "expected a name and a quoted id after #pragma ID"
                                     : "expected a name and a version after #pragma version");
    // The text is not the current token: names_ must not confuse it with one.
    const Declaration* declaration = names_.resolve(*name, *scope_, "name");
    if (declaration == nullptr) return;
    if (!is_id) return ids_.set_version(*declaration, rest, location);
    const auto id = quoted_text(rest);
    if (!id) return error(location, "expected a quoted repository id after #pragma ID");
    ids_.set_id(*declaration, *id, location);
}

/// `headers kairos/naming`, in the IDL whose C++ is installed: where. `headers -`: there is none of
/// this file, which is another name of what it includes.
bool Parser::pragma_headers(std::string_view rest, const Location& location)
{
    if (next_word(rest) != "headers") return false;
    const std::string_view folder = next_word(rest);
    if (folder.empty() || folder.find_first_of("\"<>\\") != folder.npos || !rest.empty())
        error(location, "expected the name of a folder after #pragma kairos headers");
    else
        unit_.files[location.file].headers = folder;
    return true;
}

void Parser::pragma_own(std::string_view rest, const Location& location)
{
    if (pragma_headers(rest, location)) return;
    const std::string_view name = trimmed(rest.substr(0, rest.find_first_of("( \t")));
    const bool is_timing = is_timing_name(name);
    if (name != "marshal" && !is_timing)
        return error(location, "unknown pragma 'kairos " + std::string(name) + "'");
    const auto pragma = split_pragma(rest);
    const bool is_engine =
        pragma && pragma->arguments.size() == 1 &&
        (pragma->arguments[0] == "compiled" || pragma->arguments[0] == "interpretive");
    if (!is_timing && !is_engine)
        return error(location, "expected marshal(compiled, name) or marshal(interpretive, name)");
    if (!pragma || pragma->name != name)
        return error(location, "expected " + std::string(name) + "(…, Interface::operation)");
    const auto declared = split_name(pragma->declaration, location);
    if (!declared) return error(location, "expected a name at the end of the pragma");
    if (const Declaration* declaration = names_.resolve(*declared, *scope_, "name"))
        annotate(*const_cast<Declaration*>(declaration), *pragma, location);
}

} // namespace kairos::idlc
