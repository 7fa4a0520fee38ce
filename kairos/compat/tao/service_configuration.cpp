// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/service_configuration.h"

#include "kairos/mapping/exception.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

namespace kairos::compat::tao {
namespace {

constexpr std::size_t octets_max = std::size_t{1} << 20;
constexpr std::size_t directives_max = 1000;
constexpr std::size_t shown_max = 200;

[[noreturn]] void refuse_directive(std::string_view file, std::string_view reason)
{
    orb::raise<CORBA::BAD_PARAM>(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                                 "-ORBSvcConf: " + std::string(file) + ": " + std::string(reason));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

std::vector<std::string> words(std::string_view text)
{
    std::vector<std::string> result;
    const auto ends = [](char c) { return is_blank(c) || c == '\n'; };
    for (std::size_t i = 0; i < text.size();) {
        while (i < text.size() && ends(text[i]))
            ++i;
        const std::size_t begin = i;
        while (i < text.size() && !ends(text[i]))
            ++i;
        if (i != begin) result.emplace_back(text.substr(begin, i - begin));
    }
    return result;
}

/// A line as it stands in the file, strings over several lines and continued lines included.
struct Line {
    std::string text;                  ///< without strings and comments
    std::optional<std::string> string; ///< the last one
};

/// Takes the next line out of `text`.
Line take_line(std::string_view& text, std::string_view file)
{
    Line line;
    std::size_t i = 0;
    for (; i < text.size() && text[i] != '\n'; ++i) {
        const char c = text[i];
        if (c == '#') {
            while (i + 1 < text.size() && text[i + 1] != '\n')
                ++i;
        } else if (c == '"' || c == '\'') {
            const std::size_t end = text.find(c, i + 1);
            if (end == std::string_view::npos) refuse_directive(file, "a string does not end");
            line.string = std::string(text.substr(i + 1, end - i - 1));
            i = end;
        } else if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
            line.text += ' ';
            ++i;
        } else {
            line.text += c;
        }
    }
    text.remove_prefix(std::min(text.size(), i + 1));
    return line;
}

} // namespace

std::vector<Directive> parse_directives(std::string_view text, std::string_view file)
{
    if (text.size() > octets_max) refuse_directive(file, "it is longer than 1 MiB");
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin != std::string_view::npos && text[begin] == '<')
        refuse_directive(file,
                         "it is in XML; write it as lines: static Resource_Factory \"-ORB...\"");
    std::vector<Directive> directives;
    while (!text.empty()) {
        const Line line = take_line(text, file);
        const std::vector<std::string> parts = words(line.text);
        if (parts.empty() && !line.string) continue;
        if (directives.size() == directives_max)
            refuse_directive(file, "it has more than 1000 directives");
        Directive directive;
        directive.is_static = !parts.empty() && parts.front() == "static";
        if (parts.size() > 1) directive.name = parts[1];
        if (directive.is_static && line.string) directive.arguments = words(*line.string);
        for (const std::string& part : parts)
            directive.text.append(directive.text.empty() ? "" : " ").append(part);
        if (line.string) directive.text.append(" \"").append(*line.string).append("\"");
        directive.text.resize(std::min(directive.text.size(), shown_max));
        directives.push_back(std::move(directive));
    }
    return directives;
}

bool is_known_factory(std::string_view name)
{
    constexpr std::string_view known[] = {
        "Advanced_Resource_Factory", "Client_Strategy_Factory", "RT_ORB_Loader",
        "Resource_Factory",          "Server_Strategy_Factory",
    };
    return std::ranges::find(known, name) != std::end(known);
}

} // namespace kairos::compat::tao
