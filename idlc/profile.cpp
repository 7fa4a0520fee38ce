// SPDX-License-Identifier: Apache-2.0
//
// A profile is text: a line "kairos-profile 1", then a line for each function that was measured,
// "type encode CALLS TOTAL SELF ID" or "operation client-encode CALLS TOTAL SELF NAME ID", fields
// with one blank between. An id ends with its line: there may be blanks in it.
#include "idlc/profile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>

namespace kairos::idlc {
namespace {

constexpr std::string_view heading = "kairos-profile";
constexpr std::string_view version = "1";

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) noexcept
{
    const std::uint64_t sum = a + b;
    return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

/// One line, taken apart from its left.
class LineReader {
  public:
    LineReader(std::string_view line, Location location, Diagnostics& diagnostics)
        : line_(line), location_(location), diagnostics_(diagnostics)
    {
    }

    /// The field up to the next blank or the end.
    std::string_view field()
    {
        begin_ = next_;
        const std::size_t end = std::min(line_.find(' ', begin_), line_.size());
        next_ = std::min(end + 1, line_.size());
        return line_.substr(begin_, end - begin_);
    }
    std::string_view rest()
    {
        begin_ = next_;
        next_ = line_.size();
        return line_.substr(begin_);
    }
    [[nodiscard]] bool at_end() const noexcept { return next_ == line_.size(); }

    /// About the field that was read last, whose length is given.
    void error(std::size_t length, std::string message)
    {
        Location location = location_;
        location.column = static_cast<std::uint32_t>(begin_ + 1);
        location.length = static_cast<std::uint32_t>(std::max<std::size_t>(length, 1));
        diagnostics_.error(location, std::move(message));
    }

    bool read_number(std::uint64_t& number, std::string_view what)
    {
        const std::string_view text = field();
        const char* const text_end = text.data() + text.size();
        const auto [end, failure] = std::from_chars(text.data(), text_end, number);
        if (!text.empty() && failure == std::errc{} && end == text_end) return true;
        error(text.size(), "expected " + std::string(what));
        return false;
    }

  private:
    std::string_view line_;
    Location location_;
    Diagnostics& diagnostics_;
    std::size_t begin_ = 0; ///< of the field read last
    std::size_t next_ = 0;
};

struct Function {
    bool of_type;
    std::string_view name;
};
constexpr Function functions[] = {{true, "encode"},         {true, "decode"},
                                  {false, "client-encode"}, {false, "client-decode"},
                                  {false, "server-decode"}, {false, "server-encode"}};

/// The functions of a type, or of an operation.
bool read_function(LineReader& line, bool is_type)
{
    const std::string_view function = line.field();
    for (const Function& known : functions)
        if (known.of_type == is_type && known.name == function) return true;
    line.error(function.size(), is_type ? "expected encode or decode"
                                        : "expected client-encode, client-decode, server-decode or "
                                          "server-encode");
    return false;
}

std::optional<Measured> read_figures(LineReader& line)
{
    Measured measured;
    if (!line.read_number(measured.calls, "a number of calls") ||
        !line.read_number(measured.total_ns, "nanoseconds in all") ||
        !line.read_number(measured.self_ns, "nanoseconds of its own"))
        return std::nullopt;
    return measured;
}

/// None where it cannot be read; errno says why.
std::optional<std::string> text_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text;
    char block[1 << 14];
    while (file.read(block, sizeof block) || file.gcount() > 0)
        text.append(block, static_cast<std::size_t>(file.gcount()));
    if (!file.eof()) return std::nullopt;
    return text;
}

/// The heading may stand again where files were joined.
bool read_heading(LineReader& line)
{
    const std::string_view found = line.rest();
    if (found != version)
        line.error(found.size(), "expected version 1: this compiler knows no other");
    return found == version;
}

} // namespace

void Measured::add(const Measured& other) noexcept
{
    calls = saturated_sum(calls, other.calls);
    total_ns = saturated_sum(total_ns, other.total_ns);
    self_ns = saturated_sum(self_ns, other.self_ns);
}

void Profile::read(std::string_view text, std::uint32_t file, Diagnostics& diagnostics)
{
    std::uint32_t number = 0;
    do {
        const std::string_view whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), whole.size() + 1));
        LineReader line(whole, {.file = file, .line = ++number}, diagnostics);
        const std::string_view kind = line.field();
        if (number == 1 && kind != heading)
            return line.error(kind.size(), "expected 'kairos-profile 1': this is not a profile");
        if (kind == heading) {
            if (!read_heading(line)) return;
            continue;
        }
        const bool is_type = kind == "type";
        if (!is_type && kind != "operation") {
            line.error(kind.size(), "expected type or operation");
            continue;
        }
        if (!read_function(line, is_type)) continue;
        const auto measured = read_figures(line);
        if (!measured) continue;
        const std::string_view name = line.rest();
        const std::size_t id = is_type ? 0 : name.find(' ') + 1; // 0 where there is no blank
        if (name.empty() || id == name.size() || (!is_type && id < 2)) {
            line.error(name.size(), is_type ? "expected a repository id"
                                            : "expected an operation's name and a repository id");
            continue;
        }
        Entries& entries = is_type ? types_ : operations_;
        entries[std::string(name)].add(*measured);
    } while (!text.empty() && !diagnostics.full());
}

bool ProfileFiles::read(const std::vector<std::string>& paths)
{
    for (const std::string& path : paths) {
        const auto index = static_cast<std::uint32_t>(files_.size());
        files_.push_back({.path = path, .include_spelling = {}});
        const auto text = text_of(path);
        if (!text)
            diagnostics_.error({.file = index, .line = 0},
                               "cannot read the profile: " +
                                   std::generic_category().message(errno));
        else
            profile_.read(*text, index, diagnostics_);
    }
    return diagnostics_.error_count() == 0;
}

} // namespace kairos::idlc
