// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/configuration.h"

#include "kairos/base/limits.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace kairos::orb {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view without_blanks(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

Result<Setting> parse_line(std::string_view line, std::size_t number)
{
    const auto bad = [number](std::string_view why) {
        return Error{ErrorCode::invalid_argument,
                     "line " + std::to_string(number) + ": " + std::string(why)};
    };
    if (!line.starts_with("-ORB")) return bad("expected an option: -ORBName value");
    const std::size_t end = line.find_first_of(" \t=");
    if (end == std::string_view::npos) return bad(std::string(line) + " needs a value");
    return Setting{std::string(line.substr(0, end)),
                   std::string(without_blanks(line.substr(end + 1))), number};
}

} // namespace

Result<std::vector<Setting>> parse_configuration(std::string_view text)
{
    std::vector<Setting> settings;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::string_view whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), whole.size() + 1));
        const std::string_view line = without_blanks(whole);
        ++number;
        if (line.empty() || line.front() == '#') continue;
        auto setting = parse_line(line, number);
        if (!setting) return setting.error();
        settings.push_back(std::move(setting).value());
    }
    return settings;
}

Result<std::string> read_configuration(const std::string& file)
{
    const auto bad = [&file](std::string_view why) {
        return Error{ErrorCode::invalid_argument, file + ": " + std::string(why)};
    };
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return bad(std::strerror(errno));
    std::string text(limits::configuration_size_max + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (stream.bad()) return bad(std::strerror(errno));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limits::configuration_size_max) return bad("is larger than 1 MiB");
    return text;
}

} // namespace kairos::orb
