// SPDX-License-Identifier: Apache-2.0
#include "idlc/text.h"

#include <algorithm>

namespace kairos::idlc {

void Text::put(Words words, std::string_view pattern)
{
    if (pattern.starts_with('\n')) pattern.remove_prefix(1); // behind R"(
    std::size_t opened = 0;
    while (!pattern.empty()) {
        const std::size_t end = std::min(pattern.find('\n'), pattern.size());
        put_line(words, pattern.substr(0, end), opened);
        pattern.remove_prefix(std::min(end + 1, pattern.size()));
    }
    depth_ += opened;
}

void Text::put_line(Words words, std::string_view line, std::size_t& opened)
{
    if (line.empty()) return blank();
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto* const letter =
            line[i] == '$' ? std::ranges::find(words, line[i + 1], &Word::letter) : words.end();
        if (letter == words.end())
            text += line[i];
        else
            text += letter[1].text, ++i;
    }
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == text.npos) return;
    const std::string_view content = std::string_view(text).substr(begin);
    const bool is_label = content == "public:" || content == "protected:" || content == "private:";
    if (is_label && begin == 0) return label(text);
    if (content.starts_with('}')) {
        --(opened == 0 ? depth_ : opened);
        end_block();
    }
    this->line(text);
    if (text.ends_with('{')) ++opened;
    blank_ = is_label || text.ends_with('{');
}

} // namespace kairos::idlc
