// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/reference_file.h"

#include "kairos/ior/text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kairos::ior {
namespace {

/// No reference is longer, and who names a disk is not read to its end.
constexpr std::size_t text_max = std::size_t{1} << 20;
constexpr std::string_view blanks = " \t\r\n\v\f";

Error wrong(const std::string& name, const std::string& what)
{
    return {ErrorCode::invalid_argument, name + ' ' + what};
}

/// From the descriptor to its end.
Result<std::string> url_from(int descriptor, const std::string& name)
{
    std::string text;
    char part[4096];
    for (;;) {
        const ssize_t size = read(descriptor, part, sizeof part);
        if (size == 0) return url_in(text, name);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EISDIR) return wrong(name, "is a folder");
        if (size < 0)
            return Error{ErrorCode::not_found,
                         "cannot read " + name + ": " + strerrordesc_np(errno), errno};
        text.append(part, static_cast<std::size_t>(size));
        if (text.size() > text_max) return wrong(name, "is too long to hold a reference");
    }
}

} // namespace

Result<std::string> url_in(std::string_view text, const std::string& name)
{
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return wrong(name, "is text in UTF-16: a reference is ASCII");
    text = trimmed(text);
    if (text.empty()) return wrong(name, "is empty");
    if (begins_with(text, "ior:")) {
        std::string url;
        url.reserve(text.size());
        for (const char c : text)
            if (blanks.find(c) == std::string_view::npos) url += c;
        if (url.find(':', 4) != std::string::npos)
            return wrong(name, "holds more than a reference");
        return url;
    }
    for (const std::string_view scheme : {"corbaloc:", "corbaname:", "file:"}) {
        if (!begins_with(text, scheme)) continue;
        if (text.find_first_of("\r\n") != std::string_view::npos)
            return wrong(name, "holds more than a reference");
        return std::string(text);
    }
    constexpr std::size_t quoted_max = 40;
    return wrong(name, "holds no IOR:, corbaloc:, corbaname: or file: URL, but '" +
                           printable(text.substr(0, quoted_max)) +
                           (text.size() > quoted_max ? "…'" : "'"));
}

Result<std::string> url_in_file(const std::string& path)
{
    const std::string name = "file " + path;
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return Error{ErrorCode::not_found, "cannot read " + name + ": " + strerrordesc_np(errno),
                     errno};
    Result<std::string> url = url_from(descriptor, name);
    close(descriptor);
    return url;
}

Result<std::string> url_in_standard_input() { return url_from(STDIN_FILENO, "standard input"); }

} // namespace kairos::ior
