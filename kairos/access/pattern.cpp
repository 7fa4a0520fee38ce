// SPDX-License-Identifier: Apache-2.0
#include "kairos/access/pattern.h"

#include <utility>

namespace kairos::access {

Pattern::Pattern(std::string text, std::string_view separators)
    : text_(std::move(text)), separators_(separators),
      is_plain_(text_.find('*') == std::string::npos)
{
}

/// Of each kind only the last star need be looked at again: what stands between two of the same
/// kind is best found as early as it can be, and behind `**` nothing in front of it matters.
bool Pattern::matches(std::string_view name) const noexcept
{
    if (is_plain_) return name == text_;
    struct Star {
        std::size_t behind = std::string::npos; // in the pattern; npos: there was none yet
        std::size_t at = 0;                     // in the name: what it stands for ends there
    };
    Star one;
    Star any;
    std::size_t at = 0;
    std::size_t next = 0;
    for (;;) {
        if (next < text_.size() && text_[next] == '*') {
            const bool is_pair = next + 1 < text_.size() && text_[next + 1] == '*';
            const bool is_any = is_pair || separators_.empty(); // one of a kind to look at again
            next += is_pair ? 2 : 1;
            (is_any ? any : one) = {.behind = next, .at = at};
            if (is_any) one = {};
            continue;
        }
        if (at < name.size() && next < text_.size() && text_[next] == name[at]) {
            ++at;
            ++next;
            continue;
        }
        if (at == name.size() && next == text_.size()) return true;
        const bool goes_on = one.behind != std::string::npos && one.at < name.size() &&
                             separators_.find(name[one.at]) == std::string_view::npos;
        if (!goes_on && (any.behind == std::string::npos || any.at >= name.size())) return false;
        Star& star = goes_on ? one : any;
        if (!goes_on) one = {};
        at = ++star.at;
        next = star.behind;
    }
}

std::string written_login(std::string_view login)
{
    std::string text(login);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '@') text[at] = login_separators[0];
        if (text[at] == '\\') ++at; // quotes what follows
    }
    return text;
}

} // namespace kairos::access
