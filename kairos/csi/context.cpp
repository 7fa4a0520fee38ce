// SPDX-License-Identifier: Apache-2.0
#include "kairos/csi/context.h"

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace kairos::csi {
namespace {

/// Copied, however long: what is written stays in one piece.
void put_octets(cdr::Writer& writer, Bytes octets)
{
    writer.write(static_cast<std::uint32_t>(octets.size()));
    writer.write_bytes(octets);
}

OctetVector copied(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

/// Values of CSI::MsgType.
enum : std::int16_t {
    establish_context = 0,
    complete_establish_context = 1,
    context_error = 4,
    message_in_context = 5,
};

void write_identity(cdr::Writer& writer, const Identity& identity)
{
    writer.write(static_cast<std::uint32_t>(identity.type));
    if (identity.type == IdentityType::absent || identity.type == IdentityType::anonymous)
        writer.write(true);
    else
        put_octets(writer, identity.token);
}

Identity read_identity(cdr::Reader& reader)
{
    Identity identity{.type = static_cast<IdentityType>(reader.read<std::uint32_t>())};
    if (identity.type == IdentityType::absent || identity.type == IdentityType::anonymous)
        (void)reader.read<bool>();
    else
        identity.token = copied(reader.read_octets());
    return identity;
}

std::optional<Message> read_establish(cdr::Reader& reader)
{
    EstablishContext message{.client_context_id = reader.read<std::uint64_t>()};
    message.authorizations = reader.read_length(8);
    for (std::uint32_t i = 0; i < message.authorizations && reader.ok(); ++i) {
        (void)reader.read<std::uint32_t>();
        (void)reader.read_octets();
    }
    message.identity = read_identity(reader);
    message.authentication = copied(reader.read_octets());
    return message;
}

// --- DER -----------------------------------------------------------------------------------------

/// Appends the length of what follows.
void append_length(OctetVector& octets, std::size_t length)
{
    if (length < 0x80) {
        octets.push_back(static_cast<std::byte>(length));
        return;
    }
    unsigned size = 0;
    for (std::size_t rest = length; rest != 0; rest >>= 8)
        ++size;
    octets.push_back(static_cast<std::byte>(0x80 | size));
    while (size-- != 0)
        octets.push_back(static_cast<std::byte>(length >> (8 * size)));
}

/// Takes the length of what follows; nothing if there is none, or it is not all that follows.
/// Lengths in more octets than they need are taken, too: there are peers that write them.
bool take_length(Bytes& octets)
{
    if (octets.empty()) return false;
    auto length = std::to_integer<std::size_t>(octets[0]);
    std::size_t size = 0;
    if (length >= 0x80) {
        size = length & 0x7F;
        if (size == 0 || size > 4 || octets.size() <= size) return false;
        length = 0;
        for (std::size_t i = 1; i <= size; ++i)
            length = length << 8 | std::to_integer<std::size_t>(octets[i]);
    }
    octets = octets.subspan(1 + size);
    return length == octets.size();
}

/// Of tokens (RFC 2743, 3.1): [APPLICATION 0], constructed.
constexpr std::byte token_tag{0x60};

OctetVector framed(Bytes inner)
{
    OctetVector token{token_tag};
    append_length(token, gssup_mechanism.size() + inner.size());
    token.insert(token.end(), gssup_mechanism.begin(), gssup_mechanism.end());
    token.insert(token.end(), inner.begin(), inner.end());
    return token;
}

/// Returns what a token of GSSUP's has; nothing if it is of another mechanism.
std::optional<Bytes> unframed(Bytes token)
{
    if (token.empty() || token[0] != token_tag) return std::nullopt;
    token = token.subspan(1);
    if (!take_length(token) || token.size() < gssup_mechanism.size() ||
        !std::ranges::equal(token.first(gssup_mechanism.size()), gssup_mechanism))
        return std::nullopt;
    return token.subspan(gssup_mechanism.size());
}

/// Of exported names (RFC 2743, 3.2).
constexpr std::array<std::byte, 2> name_token{std::byte{4}, std::byte{1}};

std::size_t number_at(Bytes octets, std::size_t at, std::size_t size)
{
    std::size_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
        number = number << 8 | std::to_integer<std::size_t>(octets[at + i]);
    return number;
}

/// The size of the character of UTF-8 at the beginning; 0 if there is none.
std::size_t character_size(std::string_view text) noexcept
{
    const auto octet = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = octet(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((octet(i) & 0xC0) != 0x80) return 0;
    const bool is_long = (first == 0xE0 && octet(1) < 0xA0) || (first == 0xF0 && octet(1) < 0x90);
    const bool is_other = (first == 0xED && octet(1) > 0x9F) || (first == 0xF4 && octet(1) > 0x8F);
    // U+0080 to U+009F control terminals.
    const bool controls = first == 0xC2 && octet(1) < 0xA0;
    return is_long || is_other || controls ? 0 : size;
}

} // namespace

std::string_view text_of(Refusal refusal) noexcept
{
    switch (refusal) {
    case Refusal::invalid_evidence:
        return "invalid evidence";
    case Refusal::invalid_mechanism:
        return "invalid mechanism";
    case Refusal::conflicting_evidence:
        return "conflicting evidence";
    case Refusal::no_context:
        return "no context";
    }
    return "another reason";
}

// --- messages ------------------------------------------------------------------------------------

OctetVector encode(const Message& message)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    std::visit(
        [&](const auto& one) {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, EstablishContext>) {
                writer.write(std::int16_t{establish_context});
                writer.write(one.client_context_id);
                writer.write(std::uint32_t{0});
                write_identity(writer, one.identity);
                put_octets(writer, one.authentication);
            } else if constexpr (std::is_same_v<One, CompleteEstablishContext>) {
                writer.write(std::int16_t{complete_establish_context});
                writer.write(one.client_context_id);
                writer.write(one.is_stateful);
                put_octets(writer, one.token);
            } else if constexpr (std::is_same_v<One, ContextError>) {
                writer.write(std::int16_t{context_error});
                writer.write(one.client_context_id);
                writer.write(one.major);
                writer.write(one.minor);
                put_octets(writer, one.token);
            } else {
                writer.write(std::int16_t{message_in_context});
                writer.write(one.client_context_id);
                writer.write(one.discards_context);
            }
        },
        message);
    return copied(writer.contiguous());
}

std::optional<Message> decode_message(Bytes data)
{
    if (data.size() > limits::context_max) return std::nullopt;
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    std::optional<Message> message;
    switch (reader.read<std::int16_t>()) {
    case establish_context:
        message = read_establish(reader);
        break;
    case complete_establish_context: {
        CompleteEstablishContext one{.client_context_id = reader.read<std::uint64_t>()};
        one.is_stateful = reader.read<bool>();
        one.token = copied(reader.read_octets());
        message = std::move(one);
        break;
    }
    case context_error: {
        ContextError one{.client_context_id = reader.read<std::uint64_t>()};
        one.major = reader.read<std::int32_t>();
        one.minor = reader.read<std::int32_t>();
        one.token = copied(reader.read_octets());
        message = std::move(one);
        break;
    }
    case message_in_context: {
        MessageInContext one{.client_context_id = reader.read<std::uint64_t>()};
        one.discards_context = reader.read<bool>();
        message = one;
        break;
    }
    default:
        return std::nullopt;
    }
    return reader.ok() ? message : std::nullopt;
}

OctetVector chain_of(std::span<const Bytes> certificates)
{
    std::size_t size = 0;
    for (const Bytes each : certificates)
        size += each.size();
    OctetVector chain{std::byte{0x30}}; // SEQUENCE
    append_length(chain, size);
    for (const Bytes each : certificates)
        chain.insert(chain.end(), each.begin(), each.end());
    return chain;
}

// --- user and password ---------------------------------------------------------------------------

OctetVector encode(const UserAndPassword& evidence)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    put_octets(writer, as_bytes(evidence.user));
    put_octets(writer, as_bytes(evidence.password));
    put_octets(writer, evidence.target_name);
    return framed(writer.contiguous());
}

DecodedToken decode_token(Bytes token)
{
    const auto inner = unframed(token);
    if (!inner) return {};
    cdr::Reader reader = cdr::Reader::of_encapsulation(*inner);
    const Bytes user = reader.read_octets();
    const Bytes password = reader.read_octets();
    const Bytes target = reader.read_octets();
    DecodedToken decoded{.is_gssup = true};
    if (reader.ok() && user.size() <= limits::name_max && password.size() <= limits::name_max)
        decoded.evidence = UserAndPassword{.user = std::string(as_text(user)),
                                           .password = std::string(as_text(password)),
                                           .target_name = copied(target)};
    return decoded;
}

OctetVector encode(GssupError error)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(static_cast<std::uint32_t>(error));
    return framed(writer.contiguous());
}

// --- names ---------------------------------------------------------------------------------------

OctetVector exported_name(std::string_view name)
{
    OctetVector exported(name_token.begin(), name_token.end());
    const auto append = [&](std::size_t number, unsigned size) {
        while (size-- != 0)
            exported.push_back(static_cast<std::byte>(number >> (8 * size)));
    };
    append(gssup_mechanism.size(), 2);
    exported.insert(exported.end(), gssup_mechanism.begin(), gssup_mechanism.end());
    append(name.size(), 4);
    const Bytes octets = as_bytes(name);
    exported.insert(exported.end(), octets.begin(), octets.end());
    return exported;
}

std::optional<std::string> decode_exported_name(Bytes exported)
{
    constexpr std::size_t mechanism_at = name_token.size() + 2;
    constexpr std::size_t name_at = mechanism_at + gssup_mechanism.size() + 4;
    if (exported.size() < name_at || exported.size() > name_at + limits::name_max ||
        !std::ranges::equal(exported.first(name_token.size()), name_token) ||
        number_at(exported, name_token.size(), 2) != gssup_mechanism.size() ||
        !std::ranges::equal(exported.subspan(mechanism_at, gssup_mechanism.size()),
                            gssup_mechanism) ||
        number_at(exported, name_at - 4, 4) != exported.size() - name_at)
        return std::nullopt;
    return std::string(as_text(exported.subspan(name_at)));
}

bool is_name(std::string_view name) noexcept
{
    if (name.empty() || name.size() > limits::name_max) return false;
    const ScopedName parts = scoped_name(name);
    if (parts.user.empty() || (parts.scope && parts.scope->empty())) return false;
    bool has_scope = false;
    while (!name.empty()) {
        const char c = name.front();
        std::size_t size = character_size(name);
        if (size == 0 || static_cast<unsigned char>(c) < 0x20 || c == '\x7F') return false;
        if (c == '@' && std::exchange(has_scope, true)) return false;
        if (c == '\\') {
            if (name.size() < 2 || (name[1] != '\\' && name[1] != '@')) return false;
            size = 2;
        }
        name.remove_prefix(size);
    }
    return true;
}

ScopedName scoped_name(std::string_view name) noexcept
{
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] == '@') return {.user = name.substr(0, at), .scope = name.substr(at + 1)};
        if (name[at] == '\\') ++at; // quotes what follows
    }
    return {.user = name};
}

} // namespace kairos::csi
