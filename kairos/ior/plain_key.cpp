// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/plain_key.h"

#include "kairos/ior/text.h"

#include <algorithm>
#include <string>

namespace kairos::ior {

namespace {

constexpr char separator = '/';

void append_escaped(std::string& text, std::string_view octets)
{
    for (const char& c : octets) {
        if (is_printable(c) && c != ' ' && c != '%' && c != separator) {
            text += c;
        } else {
            text += '%';
            append_hex(text, as_bytes({&c, 1}));
        }
    }
}

/// Writes what `text` means to `out`, which has room for as much as `text` has; its end, or null
/// if it means nothing.
std::byte* unescape(std::string_view text, std::byte* out) noexcept
{
    for (std::size_t i = 0; i < text.size(); ++i, ++out) {
        *out = static_cast<std::byte>(text[i]);
        if (text[i] != '%') continue;
        if (text.size() - i < 3) return nullptr;
        const auto high = hex_digit_value(text[i + 1]);
        const auto low = hex_digit_value(text[i + 2]);
        if (!high || !low) return nullptr;
        *out = static_cast<std::byte>(*high << 4 | *low);
        i += 2;
    }
    return out;
}

} // namespace

std::vector<std::byte> plain_key(const PersistentKey& key)
{
    std::string text;
    for (const std::string_view name : PersistentKey::names_of(key.path)) {
        append_escaped(text, name);
        text += separator;
    }
    append_escaped(text, as_text(key.id));
    const Bytes octets = as_bytes(text);
    return {octets.begin(), octets.end()};
}

std::optional<PersistentKey> parse_plain_key(Bytes octets, Arena& arena)
{
    std::string_view rest = as_text(octets);
    const auto names = static_cast<std::size_t>(std::ranges::count(rest, separator));
    if (names == 0 || names > PersistentKey::names_max) return std::nullopt;
    // The path's number of names, each name's length instead of its '/', and the id.
    std::byte* const begin = arena.allocate<std::byte>(2 + octets.size() + names);
    PersistentKey::set_number(begin, names);
    std::byte* end = begin + 2;
    for (std::size_t left = names; left != 0; --left) {
        const std::size_t size = rest.find(separator);
        std::byte* const name = end + 2;
        std::byte* const name_end = unescape(rest.substr(0, size), name);
        if (name_end == nullptr) return std::nullopt;
        const auto name_size = static_cast<std::size_t>(name_end - name);
        const bool has_nul = std::find(name, name_end, std::byte{}) != name_end;
        if (has_nul || name_size > PersistentKey::name_size_max) return std::nullopt;
        PersistentKey::set_number(end, name_size);
        end = name_end;
        rest.remove_prefix(size + 1);
    }
    const std::byte* const id_end = unescape(rest, end);
    if (id_end == nullptr) return std::nullopt;
    return PersistentKey{{begin, end}, {end, id_end}};
}

} // namespace kairos::ior
