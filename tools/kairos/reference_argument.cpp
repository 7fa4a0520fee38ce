// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/reference_argument.h"

#include "kairos/ior/object_url.h"
#include "kairos/ior/reference_file.h"
#include "kairos/ior/text.h"

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kairos::tools {
namespace {

/// Files may name files, but not for ever.
Result<std::string> followed(Result<std::string> text)
{
    constexpr int files_max = 8;
    for (int files = 0; text && ior::begins_with(*text, "file:"); ++files) {
        if (files == files_max)
            return Error{ErrorCode::invalid_argument, "files lead to each other: " + *text};
        const auto url = ior::parse_object_url(*text);
        if (!url) return url.error();
        text = ior::url_in_file(url->path);
    }
    return text;
}

} // namespace

Result<std::string> url_of(const std::string& argument)
{
    if (argument == "-") return followed(ior::url_in_standard_input());
    if (std::error_code too_long; std::filesystem::exists(argument, too_long))
        return followed(ior::url_in_file(argument));
    if (const auto url = ior::parse_object_url(argument);
        !url && url.error().code == ErrorCode::not_found)
        return Error{ErrorCode::not_found, "there is no file " + argument +
                                               ", and it is no IOR:, corbaloc:, corbaname: or "
                                               "file: URL"};
    return followed(std::string(ior::trimmed(argument)));
}

std::string url_of_object(const std::string& argument)
{
    constexpr std::string_view by_name = "name:";
    auto url =
        url_of(argument.starts_with(by_name) ? "corbaname:rir:#" + argument.substr(by_name.size())
                                             : argument);
    if (!url) throw std::runtime_error(url.error().reason);
    return std::move(url).value();
}

NamedTarget named_target_of(const std::string& argument)
{
    const std::size_t end = argument.find_first_of("=:/");
    if (end == std::string::npos || end == 0 || argument[end] != '=')
        return {.name = {}, .url = url_of_object(argument)};
    return {.name = argument.substr(0, end), .url = url_of_object(argument.substr(end + 1))};
}

} // namespace kairos::tools
