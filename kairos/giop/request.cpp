// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/request.h"

#include "kairos/base/limits.h"

#include <algorithm>
#include <array>
#include <limits>

namespace kairos::giop {

namespace {

// Offsets in a header without service contexts.
constexpr std::size_t id_1_2 = 12, flags_1_2 = 16, target_1_2 = 20;
constexpr std::size_t id_1_0 = 16, flags_1_0 = 20, target_1_0 = 24;

template <typename T>
[[nodiscard]] T load(const std::byte* place) noexcept
{
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

Bytes read_object_key(cdr::Reader& reader) noexcept
{
    const Bytes key = reader.read_octets();
    if (key.size() > limits::object_key_max) [[unlikely]]
        reader.fail(cdr::Fault::bound_exceeded);
    return key;
}

std::string_view read_operation(cdr::Reader& reader) noexcept
{
    const std::string_view operation = reader.read_string();
    if (operation.size() > limits::operation_name_max) [[unlikely]]
        reader.fail(cdr::Fault::bound_exceeded);
    return operation;
}

/// Steps over an IOR and returns its bytes: a repository id and tagged profiles.
Bytes read_ior(cdr::Reader& reader) noexcept
{
    reader.align(4);
    const std::size_t begin = reader.offset();
    (void)reader.read_string();
    const std::uint32_t profiles = reader.read_length(8);
    if (profiles > limits::profiles_max) reader.fail(cdr::Fault::bound_exceeded);
    for (std::uint32_t i = 0; i < profiles && reader.ok(); ++i) {
        (void)reader.read<std::uint32_t>();
        (void)reader.read_octets();
    }
    if (!reader.ok()) return {};
    return reader.bytes().subspan(begin, reader.offset() - begin);
}

[[gnu::noinline]] void read_other_target(cdr::Reader& reader, TargetAddress& target) noexcept
{
    switch (target.disposition) {
    case AddressingDisposition::profile:
        target.profile_tag = reader.read<std::uint32_t>();
        target.profile_data = reader.read_octets();
        return;
    case AddressingDisposition::reference:
        target.selected_index = reader.read<std::uint32_t>();
        target.ior = read_ior(reader);
        return;
    default:
        reader.fail(cdr::Fault::invalid_value);
    }
}

/// The request that nearly all are: GIOP 1.2, this machine's byte order, addressed by key, without
/// service contexts. False for others, and when anything is wrong: the long way says what.
[[gnu::always_inline]] inline bool parse_ordinary(const Message& message, Request& request) noexcept
{
    constexpr std::size_t key_begin = target_1_2 + 8;
    const std::byte* const data = message.bytes.data();
    const std::size_t size = message.bytes.size();
    if (!is_newest(message.version)) return false;
    if (message.little_endian != native_little_endian || size < key_begin + 8) return false;
    if (load<std::uint16_t>(data + target_1_2) != 0) return false;
    const std::size_t key_size = load<std::uint32_t>(data + key_begin - 4);
    if (key_size > limits::object_key_max) return false;
    const std::size_t name = align_up(key_begin + key_size, 4) + 4;
    if (name > size) return false;
    const std::size_t name_size = load<std::uint32_t>(data + name - 4); // with its NUL
    if (name_size - 1 > limits::operation_name_max) return false;
    const std::size_t contexts_end = align_up(name + name_size, 4) + 4;
    if (contexts_end > size) return false;
    if (data[name + name_size - 1] != std::byte{0}) return false;
    if (load<std::uint32_t>(data + contexts_end - 4) != 0) return false;

    request.version = message.version;
    request.little_endian = native_little_endian;
    request.request_id = load<std::uint32_t>(data + id_1_2);
    request.response_flags = std::to_integer<std::uint8_t>(data[flags_1_2]);
    request.target.disposition = AddressingDisposition::key;
    request.target.key = {data + key_begin, key_size};
    request.operation = {reinterpret_cast<const char*>(data + name), name_size - 1};
    request.contexts = ServiceContexts();
    request.body = cdr::Reader(message.bytes, message.little_endian,
                               std::min(align_up(contexts_end, 8), size));
    return true;
}

[[gnu::noinline]] cdr::Fault parse_1_0(const Message& message, Request& request) noexcept
{
    cdr::Reader reader = message.reader();
    request.contexts = ServiceContexts::read(reader);
    request.request_id = reader.read<std::uint32_t>();
    const bool response_expected = reader.read<std::uint8_t>() != 0;
    request.response_flags = response_expected ? response_flags::sync_target : response_flags::none;
    request.target.disposition = AddressingDisposition::key;
    request.target.key = read_object_key(reader); // 1.1: three reserved octets are the padding here
    request.operation = read_operation(reader);
    (void)reader.read_octets(); // the requesting principal: deprecated, never used
    request.body = reader;
    return reader.fault();
}

/// Copies a few characters without a call.
inline void copy_name(std::byte* to, const char* from, std::size_t size) noexcept
{
    if (size > 16) {
        std::memcpy(to, from, size);
    } else if (size >= 8) {
        const auto front = load<std::uint64_t>(reinterpret_cast<const std::byte*>(from));
        const auto back = load<std::uint64_t>(reinterpret_cast<const std::byte*>(from) + size - 8);
        std::memcpy(to, &front, 8);
        std::memcpy(to + size - 8, &back, 8);
    } else if (size >= 4) {
        const auto front = load<std::uint32_t>(reinterpret_cast<const std::byte*>(from));
        const auto back = load<std::uint32_t>(reinterpret_cast<const std::byte*>(from) + size - 4);
        std::memcpy(to, &front, 4);
        std::memcpy(to + size - 4, &back, 4);
    } else {
        for (std::size_t i = 0; i < size; ++i)
            to[i] = static_cast<std::byte>(from[i]);
    }
}

constexpr std::size_t wire_size_max = std::numeric_limits<std::uint32_t>::max();

} // namespace

void read_target(cdr::Reader& reader, TargetAddress& target) noexcept
{
    target.disposition = static_cast<AddressingDisposition>(reader.read<std::uint16_t>());
    if (target.disposition == AddressingDisposition::key) [[likely]]
        target.key = read_object_key(reader);
    else
        read_other_target(reader, target);
}

namespace {

[[gnu::noinline]] cdr::Fault parse_other(const Message& message, Request& request) noexcept
{
    request = Request();
    request.version = message.version;
    request.little_endian = message.little_endian;
    if (message.version < version_1_2) return parse_1_0(message, request);
    cdr::Reader reader = message.reader();
    request.request_id = reader.read<std::uint32_t>();
    request.response_flags = reader.read<std::uint8_t>();
    (void)reader.block(3, 1); // reserved
    read_target(reader, request.target);
    request.operation = read_operation(reader);
    request.contexts = ServiceContexts::read(reader);
    // An empty body has no padding in front of it, so the message may end here.
    const std::size_t begin = std::min(align_up(reader.offset(), 8), message.bytes.size());
    request.body = cdr::Reader(message.bytes, message.little_endian, begin);
    return reader.fault();
}

} // namespace

cdr::Fault parse(const Message& message, Request& request) noexcept
{
    if (parse_ordinary(message, request)) [[likely]]
        return cdr::Fault::none;
    return parse_other(message, request);
}

RequestTemplate::RequestTemplate(Version version, AddressingDisposition disposition)
    : version_(version)
{
    const bool is_1_2 = version >= version_1_2;
    prefix_.resize(is_1_2 ? target_1_2 : target_1_0);
    write_header(prefix_.data(), version, MessageType::request, 0);
    if (!is_1_2) return;
    const std::array<std::uint16_t, 2> padded{static_cast<std::uint16_t>(disposition), 0};
    append(std::as_bytes(std::span(padded)));
}

RequestTemplate::RequestTemplate(Version version, Bytes object_key)
    : RequestTemplate(version, AddressingDisposition::key)
{
    append(static_cast<std::uint32_t>(object_key.size()));
    append(object_key);
    finish();
}

RequestTemplate RequestTemplate::of_profile(std::uint32_t tag, Bytes profile_data)
{
    RequestTemplate result(version_1_2, AddressingDisposition::profile);
    result.append(tag);
    result.append(static_cast<std::uint32_t>(profile_data.size()));
    result.append(profile_data);
    result.finish();
    return result;
}

RequestTemplate RequestTemplate::of_reference(std::uint32_t selected_index, Bytes encoded_ior)
{
    RequestTemplate result(version_1_2, AddressingDisposition::reference);
    result.append(selected_index);
    result.append(encoded_ior);
    result.finish();
    return result;
}

void RequestTemplate::append(Bytes bytes)
{
    prefix_.insert(prefix_.end(), bytes.begin(), bytes.end());
}

void RequestTemplate::append(std::uint32_t value) { append(std::as_bytes(std::span(&value, 1))); }

void RequestTemplate::finish()
{
    target_size_ = prefix_.size() - (version_ >= version_1_2 ? target_1_2 : target_1_0);
    prefix_size_ = align_up(prefix_.size(), 4);
    prefix_.resize(align_up(prefix_size_, 16));
}

MutableBytes RequestTemplate::prepend(const Body& body, std::uint32_t request_id,
                                      std::uint8_t response_flags, std::string_view operation,
                                      Bytes contexts) const noexcept
{
    if (!is_newest(version_) || contexts.size() >= 4) [[unlikely]]
        return prepend_other(body, request_id, response_flags, operation, contexts);
    // Prefix, length and characters of the operation, and then only zeros: terminator, padding,
    // an empty list of contexts, padding up to the body.
    const std::size_t name_end = prefix_size_ + 4 + operation.size();
    const std::size_t tail_end = align_up(name_end + 1, 4) + 4;
    const std::size_t size = body.size == 0 ? tail_end : align_up(tail_end, 8);
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || prefix_size_ == 0 || message_size > wire_size_max) [[unlikely]]
        return {};

    std::byte* const start = body.begin - size;
    std::memset(body.begin - 16, 0, 16); // the last step of the copy adds only zeros
    const std::byte* const prefix = prefix_.data();
    for (std::size_t i = 0; i < prefix_size_; i += 16) // at least twelve bytes follow the prefix
        std::memcpy(start + i, prefix + i, 16);
    const auto wire_size = static_cast<std::uint32_t>(message_size);
    std::memcpy(start + 8, &wire_size, 4);
    std::memcpy(start + id_1_2, &request_id, 4);
    start[flags_1_2] = std::byte{response_flags};
    const auto name_size = static_cast<std::uint32_t>(operation.size() + 1);
    std::memcpy(start + prefix_size_, &name_size, 4);
    copy_name(start + name_end - operation.size(), operation.data(), operation.size());
    return {start, size};
}

/// With service contexts, or for GIOP 1.0 and 1.1: there contexts come first, and the principal's
/// length is in the place of the contexts.
MutableBytes RequestTemplate::prepend_other(const Body& body, std::uint32_t request_id,
                                            std::uint8_t response_flags, std::string_view operation,
                                            Bytes contexts) const noexcept
{
    const bool is_1_2 = version_ >= version_1_2;
    const std::size_t contexts_size = contexts.size() < 4 ? 4 : contexts.size();
    const std::size_t shift = is_1_2 ? 0 : align_up(contexts_size, 4) - 4;
    const std::size_t name_end = shift + prefix_size_ + 4 + operation.size(); // before its NUL
    const std::size_t tail = align_up(name_end + 1, 4); // contexts, or the principal
    const std::size_t tail_end = tail + (is_1_2 ? contexts_size : 4);
    const std::size_t size = body.size == 0 ? tail_end : align_up(tail_end, 8);
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || prefix_size_ == 0 || message_size > wire_size_max) return {};

    std::byte* const start = body.begin - size;
    std::memset(start + name_end, 0, size - name_end);
    std::memcpy(start + shift, prefix_.data(), prefix_size_);
    const auto name_size = static_cast<std::uint32_t>(operation.size() + 1);
    std::memcpy(start + shift + prefix_size_, &name_size, 4);
    std::memcpy(start + name_end - operation.size(), operation.data(), operation.size());
    if (is_1_2) {
        std::memcpy(start + id_1_2, &request_id, 4);
        start[flags_1_2] = std::byte{response_flags};
        std::memcpy(start + tail, contexts.data(), contexts.size());
    } else {
        std::memcpy(start + shift + id_1_0, &request_id, 4);
        start[shift + flags_1_0] = std::byte{response_flags} & std::byte{1};
        const auto filler = static_cast<std::uint32_t>(size - tail_end);
        std::memcpy(start + tail, &filler, 4);
        if (contexts.size() >= 4) {
            std::memset(start + 8 + align_up(contexts_size, 4), 0, 4); // padding behind them
            std::memcpy(start + header_size, contexts.data(), contexts.size());
            std::memcpy(start, prefix_.data(), 8);
        }
    }
    const auto wire_size = static_cast<std::uint32_t>(message_size);
    std::memcpy(start + 8, &wire_size, 4);
    return {start, size};
}

std::size_t RequestTemplate::locate_size() const noexcept { return header_size + 4 + target_size_; }

MutableBytes RequestTemplate::locate(MutableBytes place, std::uint32_t request_id) const noexcept
{
    const std::size_t size = locate_size();
    if (prefix_size_ == 0 || place.size() < size) return {};
    const std::size_t target = version_ >= version_1_2 ? target_1_2 : target_1_0;
    write_header(place.data(), version_, MessageType::locate_request,
                 static_cast<std::uint32_t>(size - header_size));
    std::memcpy(place.data() + header_size, &request_id, 4);
    std::memcpy(place.data() + header_size + 4, prefix_.data() + target, target_size_);
    return place.first(size);
}

} // namespace kairos::giop
