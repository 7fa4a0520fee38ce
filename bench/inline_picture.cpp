// SPDX-License-Identifier: Apache-2.0
//
// Pictures of files into pages. What gnuplot writes is known well enough to be changed as text;
// what does not look like it is refused.
#include "bench/page.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace kairos::bench {
namespace {

void replace_all(std::string& text, std::string_view old, std::string_view replacement)
{
    for (std::size_t at = text.find(old); at != std::string::npos;
         at = text.find(old, at + replacement.size()))
        text.replace(at, old.size(), replacement);
}

/// Removes from each `begin` to the `end` behind it.
void remove_all(std::string& text, std::string_view begin, std::string_view end)
{
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        const std::size_t last = text.find(end, at);
        if (last == std::string::npos) return;
        text.erase(at, last + end.size() - at);
    }
}

/// Gnuplot opens a group for each colour that it might draw with; most stay empty.
void remove_empty_groups(std::string& text)
{
    for (std::size_t at = text.find("<g "); at != std::string::npos; at = text.find("<g ", at)) {
        const std::size_t open_end = text.find('>', at);
        if (open_end == std::string::npos) return;
        const std::size_t next = text.find_first_not_of(" \t\r\n", open_end + 1);
        if (next != std::string::npos && text.compare(next, 4, "</g>") == 0)
            text.erase(at, next + 4 - at);
        else
            at = open_end;
    }
}

/// The attribute of the element that begins at `from`; empty if there is none.
std::string attribute(const std::string& tag, const std::string& name)
{
    for (const char quote : {'"', '\''}) {
        const std::string before = name + "=" + quote;
        const std::size_t at = tag.find(before);
        if (at == std::string::npos) continue;
        const std::size_t start = at + before.size();
        return tag.substr(start, tag.find(quote, start) - start);
    }
    return {};
}

/// An attribute that is a handler of events, such as onload='…'.
bool has_handler(const std::string& text)
{
    for (std::size_t at = text.find(" on"); at != std::string::npos;
         at = text.find(" on", at + 1)) {
        const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + 3);
        if (end != std::string::npos && end > at + 3 && text[end] == '=') return true;
    }
    return false;
}

bool harmless(const std::string& body)
{
    for (const char* word : {"<script", "<foreignObject", "<image", "<style", "<!", "<?",
                             "javascript:", "http:", "https:", "file:", "data:"})
        if (body.find(word) != std::string::npos) return false;
    for (const char* reference : {"href=", "url("})
        for (std::size_t at = body.find(reference); at != std::string::npos;
             at = body.find(reference, at + 1)) {
            const std::size_t target = body.find_first_not_of("\"'", at + std::strlen(reference));
            if (target == std::string::npos || body[target] != '#') return false;
        }
    return !has_handler(body);
}

} // namespace

Result<std::vector<StoredPicture>> read_pictures(const std::string& folder)
{
    std::error_code failure;
    std::vector<StoredPicture> pictures;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
        if (entry.path().extension() != ".svg") continue;
        std::ifstream file(entry.path(), std::ios::binary);
        pictures.push_back({entry.path().stem(), {std::istreambuf_iterator<char>(file), {}}});
        if (!file)
            return Error{ErrorCode::not_found,
                         fmt::format("{} cannot be read", entry.path().string())};
    }
    if (failure) return Error{ErrorCode::not_found, fmt::format("{} cannot be read", folder)};
    std::ranges::sort(pictures, {}, &StoredPicture::name);
    return pictures;
}

Result<std::string> inline_svg(const StoredPicture& picture, const std::string& title)
{
    const Error refused{ErrorCode::malformed,
                        fmt::format("{}.svg is no picture of an experiment", picture.name)};
    const std::size_t start = picture.svg.find("<svg");
    const std::size_t open_end = picture.svg.find('>', start);
    const std::size_t end = picture.svg.rfind("</svg>");
    if (start == std::string::npos || end == std::string::npos || open_end > end) return refused;
    const std::string box = attribute(picture.svg.substr(start, open_end - start), "viewBox");
    if (box.empty() || box.find_first_not_of("0123456789. ") != std::string::npos) return refused;

    std::string body = picture.svg.substr(open_end + 1, end - open_end - 1);
    remove_all(body, "<title>", "</title>");
    remove_all(body, "<desc>", "</desc>");
    remove_empty_groups(body);
    replace_all(body, "xlink:href=", "href=");
    if (!harmless(body)) return refused;
    for (const char* reference : {" id=\"", " id='", "href=\"#", "href='#", "url(#"})
        replace_all(body, reference, reference + picture.name + "-");
    return fmt::format("<svg viewBox=\"{}\" role=\"img\" aria-label=\"{}\">{}</svg>\n", box,
                       html(title), body);
}

} // namespace kairos::bench
