// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/row.h"

#include <concepts>
#include <cstdint>
#include <utility>

namespace kairos::repository {
namespace {

constexpr std::uint64_t form = 1; // of the octets: whoever changes them counts on

/// Numbers in as many octets of seven bits as they need, the lowest first; lists behind their
/// length. The same functions describe both directions.
class Writer {
  public:
    void number(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            octets_ += static_cast<char>(value | 0x80);
        octets_ += static_cast<char>(value);
    }
    void text(const std::string& value)
    {
        number(value.size());
        octets_ += value;
    }
    template <typename T, typename Each>
    void list(const std::vector<T>& values, const Each& each)
    {
        number(values.size());
        for (const T& value : values)
            each(value);
    }
    [[nodiscard]] std::string take() { return std::move(octets_); }

  private:
    std::string octets_;
};

class Reader {
  public:
    explicit Reader(std::string_view octets) : left_(octets) {}

    void number(std::uint64_t& value)
    {
        value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (left_.empty()) break;
            const auto octet = static_cast<unsigned char>(left_.front());
            left_.remove_prefix(1);
            if (shift == 63 && octet > 1) break;
            value |= static_cast<std::uint64_t>(octet & 0x7F) << shift;
            if (octet < 0x80) {
                // One form of each number: no octets of nothing at its end.
                if (octet == 0 && shift != 0) break;
                return;
            }
        }
        value = 0;
        ok = false;
    }
    void text(std::string& value)
    {
        std::uint64_t size = 0;
        number(size);
        if (size > left_.size()) {
            ok = false;
            return;
        }
        value = left_.substr(0, size);
        left_.remove_prefix(size);
    }
    template <typename T, typename Each>
    void list(std::vector<T>& values, const Each& each)
    {
        std::uint64_t size = 0;
        number(size);
        // Each element has at least one octet: no more room is taken than there are octets.
        if (size > left_.size()) ok = false;
        for (std::uint64_t i = 0; ok && i < size; ++i)
            each(values.emplace_back());
    }
    [[nodiscard]] bool is_at_end() const noexcept { return left_.empty(); }
    bool ok = true;

  private:
    std::string_view left_;
};

void pass(Writer& stream, std::uint64_t value) { stream.number(value); }
void pass(Reader& stream, std::uint64_t& value) { stream.number(value); }

/// A smaller number.
template <std::unsigned_integral T>
void pass_small(Writer& stream, T value)
{
    stream.number(value);
}
template <std::unsigned_integral T>
void pass_small(Reader& stream, T& value)
{
    std::uint64_t read = 0;
    stream.number(read);
    value = static_cast<T>(read);
    if (value != read) stream.ok = false;
}
void pass_flag(Writer& stream, bool value) { stream.number(value ? 1 : 0); }
void pass_flag(Reader& stream, bool& value)
{
    std::uint64_t read = 0;
    stream.number(read);
    value = read == 1;
    if (read > 1) stream.ok = false;
}

/// A signed number as the unsigned one of the same bits.
void pass_signed(Writer& stream, std::int64_t value)
{
    stream.number(static_cast<std::uint64_t>(value));
}
void pass_signed(Reader& stream, std::int64_t& value)
{
    std::uint64_t read = 0;
    stream.number(read);
    value = static_cast<std::int64_t>(read);
}

template <typename Stream, typename Keys>
void pass_keys(Stream& stream, Keys& keys)
{
    stream.list(keys, [&](auto& key) { pass(stream, key); });
}

template <typename Stream, typename Members>
void pass_members(Stream& stream, Members& members)
{
    stream.list(members, [&](auto& member) {
        stream.text(member.name);
        pass(stream, member.type);
        pass_signed(stream, member.label);
        pass_flag(stream, member.is_default);
    });
}

void pass_kind(Writer& stream, Kind kind) { stream.number(static_cast<std::uint8_t>(kind)); }
void pass_kind(Reader& stream, Kind& kind)
{
    std::uint8_t number = 0;
    pass_small(stream, number);
    kind = static_cast<Kind>(number);
    if (number >= kinds_end) stream.ok = false;
}
void pass_direction(Writer& stream, Direction direction)
{
    stream.number(static_cast<std::uint8_t>(direction));
}
void pass_direction(Reader& stream, Direction& direction)
{
    std::uint8_t number = 0;
    pass_small(stream, number);
    direction = static_cast<Direction>(number);
    if (direction > Direction::inout) stream.ok = false;
}
void pass_scale(Writer& stream, std::int16_t scale)
{
    stream.number(static_cast<std::uint16_t>(scale));
}
void pass_scale(Reader& stream, std::int16_t& scale)
{
    std::uint16_t number = 0;
    pass_small(stream, number);
    scale = static_cast<std::int16_t>(number);
}

template <typename Stream, typename Of>
void pass_definition(Stream& stream, Of& definition)
{
    pass(stream, definition.key);
    pass_kind(stream, definition.kind);
    pass(stream, definition.container);
    stream.text(definition.id);
    stream.text(definition.name);
    stream.text(definition.version);
    pass(stream, definition.type);
    pass_small(stream, definition.bound);
    pass_small(stream, definition.digits);
    pass_scale(stream, definition.scale);
    stream.text(definition.value);
    pass_members(stream, definition.members);
    stream.list(definition.parameters, [&](auto& parameter) {
        stream.text(parameter.name);
        pass(stream, parameter.type);
        pass_direction(stream, parameter.direction);
    });
    stream.list(definition.contexts, [&](auto& context) { stream.text(context); });
    pass_keys(stream, definition.exceptions);
    pass_keys(stream, definition.set_exceptions);
    pass_keys(stream, definition.bases);
    pass_keys(stream, definition.supported);
    pass(stream, definition.base_value);
    stream.list(definition.initializers, [&](auto& initializer) {
        stream.text(initializer.name);
        pass_members(stream, initializer.members);
        pass_keys(stream, initializer.exceptions);
    });
    pass_flag(stream, definition.is_oneway);
    pass_flag(stream, definition.is_readonly);
    pass_flag(stream, definition.is_public);
    pass_flag(stream, definition.is_abstract);
    pass_flag(stream, definition.is_custom);
    pass_flag(stream, definition.is_truncatable);
}

} // namespace

std::string encode(const Definition& definition)
{
    Writer stream;
    stream.number(form);
    pass_definition(stream, definition);
    return stream.take();
}

std::optional<Definition> decode(std::string_view octets)
{
    Reader stream(octets);
    std::uint64_t read_form = 0;
    stream.number(read_form);
    Definition definition;
    if (read_form == form) pass_definition(stream, definition);
    if (read_form != form || !stream.ok || !stream.is_at_end()) return std::nullopt;
    return definition;
}

} // namespace kairos::repository
