// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/reference_argument.h"

#include "kairos/ior/object_url.h"
#include "kairos/ior/text.h"

#include <filesystem>
#include <fstream>

namespace kairos::tools {
namespace {

constexpr std::size_t file_size_max = std::size_t{1} << 20;

} // namespace

Result<std::string> url_of(const std::string& argument)
{
    std::string path = argument;
    if (argument.starts_with("file:")) {
        const auto url = ior::parse_object_url(argument);
        if (!url) return url.error();
        path = url->path;
    } else if (std::error_code too_long; !std::filesystem::exists(argument, too_long)) {
        if (const auto url = ior::parse_object_url(argument);
            !url && url.error().code == ErrorCode::not_found)
            return Error{ErrorCode::not_found, "there is no file " + argument +
                                                   ", and it is no IOR:, corbaloc:, corbaname: or "
                                                   "file: URL"};
        return std::string(ior::trimmed(argument));
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::not_found, "cannot read file " + path};
    std::string text(file_size_max, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return std::string(ior::trimmed(text));
}

} // namespace kairos::tools
