// SPDX-License-Identifier: Apache-2.0
//
// Collecting and rendering of diagnostics.
#include "idlc/diagnostics.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

constexpr std::size_t shown_columns_max = 160; ///< of a source line; a generated one may be long
/// Files of a chain of inclusions that are named.
constexpr std::size_t includers_max = 20;

struct Style {
    std::string_view text;
    std::string_view escape;
};

Style style_of(Severity severity) noexcept
{
    switch (severity) {
    case Severity::error:
        return {"error", "\033[1;31m"};
    case Severity::warning:
        return {"warning", "\033[1;35m"};
    case Severity::note:
        break;
    }
    return {"note", "\033[1;36m"};
}

/// A source line may hold anything; a terminal must not be told to obey it.
std::string printable(std::string_view line)
{
    std::string out(line);
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = ' ';
    return out;
}

} // namespace

void Diagnostics::add(Severity severity, Location location, std::string message)
{
    list_.push_back({severity, location, std::move(message)});
}

void Diagnostics::error(Location location, std::string message)
{
    ++error_count_;
    dropping_ = error_count_ > errors_max;
    if (error_count_ == errors_max + 1)
        add(Severity::error, location, "too many errors; the rest is not shown");
    if (!dropping_) add(Severity::error, location, std::move(message));
}

void Diagnostics::warning(Location location, std::string message)
{
    dropping_ = list_.size() > 4 * errors_max;
    if (!dropping_) add(Severity::warning, location, std::move(message));
}

void Diagnostics::note(Location location, std::string message)
{
    if (!dropping_) add(Severity::note, location, std::move(message));
}

std::string Diagnostics::place(Location location) const
{
    if (location.file >= files_.size()) return "kairos-idl";
    std::string out = files_[location.file].path;
    if (location.line == 0) return out;
    out += ':' + std::to_string(location.line);
    if (location.column != 0) out += ':' + std::to_string(location.column);
    return out;
}

void Diagnostics::render_includers(std::uint32_t file, std::string& out) const
{
    std::string_view lead = "In file included from ";
    for (std::size_t shown = 0; file < files_.size() && files_[file].includer;) {
        const Location includer = *files_[file].includer;
        if (++shown > includers_max) {
            out += ",\n                 and others";
            break;
        }
        out += lead;
        out += files_[includer.file].path + ':' + std::to_string(includer.line);
        lead = ",\n                 from ";
        if (includer.file >= file) break; // includers come first; anything else would not end
        file = includer.file;
    }
    if (lead.front() == ',') out += ":\n";
}

void Diagnostics::render_one(const Diagnostic& diagnostic, bool colour, std::string& out) const
{
    const Style style = style_of(diagnostic.severity);
    const std::string_view bold = colour ? "\033[1m" : "";
    const std::string_view reset = colour ? "\033[0m" : "";
    out += bold;
    out += place(diagnostic.location);
    out += ": ";
    if (colour) out += style.escape;
    out += style.text;
    out += ": ";
    out += reset;
    out += bold;
    out += diagnostic.message;
    out += reset;
    out += '\n';

    const Location at = diagnostic.location;
    if (at.line == 0 || at.file >= files_.size()) return;
    const SourceText* text = texts_.find(files_[at.file].path);
    if (text == nullptr || at.line > text->line_count()) return;
    std::string_view line = text->line(at.line);
    std::size_t column = at.column;
    if (line.empty()) return;
    if (line.size() > shown_columns_max) { // a window around the place
        const std::size_t begin =
            column > shown_columns_max / 2 ? column - shown_columns_max / 2 : 0;
        line = line.substr(std::min(begin, line.size()), shown_columns_max);
        column -= std::min(begin, column);
    }
    std::string number = std::to_string(at.line);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
    out += number + " | " + printable(line) + '\n';
    if (column == 0 || column > line.size() + 1) return;

    // Tabs of the source stay tabs, so the caret stands where the terminal put the character.
    std::string underline;
    for (std::size_t i = 0; i + 1 < column; ++i) {
        const auto c = static_cast<unsigned char>(line[i]);
        if (c == '\t')
            underline += '\t';
        else if ((c & 0xC0) != 0x80)
            underline += ' '; // one column per UTF-8 character
    }
    const std::size_t left = std::max<std::size_t>(line.size() + 1 - column, 1);
    const std::size_t length = std::min<std::size_t>(std::max(at.length, 1u), left);
    out.append(number.size(), ' ');
    out += " | " + underline;
    if (colour) out += style.escape;
    out += '^';
    out.append(length - 1, '~');
    out += reset;
    out += '\n';
}

std::string Diagnostics::render(bool colour) const
{
    std::string out;
    std::uint32_t last_file = 0;
    for (const Diagnostic& diagnostic : list_) {
        // As compilers do: the chain is shown when the file changes, and not again for notes.
        if (diagnostic.severity != Severity::note && diagnostic.location.file != last_file) {
            render_includers(diagnostic.location.file, out);
            last_file = diagnostic.location.file;
        }
        render_one(diagnostic, colour, out);
    }
    return out;
}

} // namespace kairos::idlc
