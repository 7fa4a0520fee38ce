// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/request.h"

#include "kairos/base/limits.h"

#include <algorithm>
#include <limits>

namespace kairos::giop {

namespace {

// Offsets in a header without service contexts.
constexpr std::size_t id_1_2 = 12, flags_1_2 = 16, target_1_2 = 20;
constexpr std::size_t id_1_0 = 16, flags_1_0 = 20, target_1_0 = 24;

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

void append(std::vector<std::byte>& bytes, std::uint32_t value)
{
    const auto* octets = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), octets, octets + sizeof value);
}

void append_disposition(std::vector<std::byte>& bytes, AddressingDisposition disposition)
{
    const auto value = static_cast<std::uint16_t>(disposition);
    const auto* octets = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), octets, octets + sizeof value);
    bytes.resize(bytes.size() + 2);
}

/// A template's bytes up to the target; the fields known later are zero.
std::vector<std::byte> prefix_of(Version version, std::size_t target_size_max)
{
    std::vector<std::byte> prefix;
    prefix.reserve(target_1_0 + target_size_max + 4);
    prefix.resize(version >= version_1_2 ? target_1_2 : target_1_0);
    write_header(prefix.data(), version, MessageType::request, 0);
    return prefix;
}

} // namespace

void read_target(cdr::Reader& reader, TargetAddress& target) noexcept
{
    target.disposition = static_cast<AddressingDisposition>(reader.read<std::uint16_t>());
    if (target.disposition == AddressingDisposition::key) [[likely]]
        target.key = read_object_key(reader);
    else
        read_other_target(reader, target);
}

cdr::Fault parse(const Message& message, Request& request) noexcept
{
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

RequestTemplate::RequestTemplate(Version version, Bytes object_key)
    : prefix_(prefix_of(version, object_key.size() + 8)), version_(version)
{
    const std::size_t begin = prefix_.size();
    if (version >= version_1_2) append_disposition(prefix_, AddressingDisposition::key);
    append(prefix_, static_cast<std::uint32_t>(object_key.size()));
    prefix_.insert(prefix_.end(), object_key.begin(), object_key.end());
    target_size_ = prefix_.size() - begin;
    prefix_.resize(align_up(prefix_.size(), 4));
}

RequestTemplate RequestTemplate::of_profile(std::uint32_t tag, Bytes profile_data)
{
    RequestTemplate result;
    result.version_ = version_1_2;
    std::vector<std::byte>& prefix = result.prefix_;
    prefix = prefix_of(version_1_2, profile_data.size() + 12);
    append_disposition(prefix, AddressingDisposition::profile);
    append(prefix, tag);
    append(prefix, static_cast<std::uint32_t>(profile_data.size()));
    prefix.insert(prefix.end(), profile_data.begin(), profile_data.end());
    result.target_size_ = prefix.size() - target_1_2;
    prefix.resize(align_up(prefix.size(), 4));
    return result;
}

RequestTemplate RequestTemplate::of_reference(std::uint32_t selected_index, Bytes encoded_ior)
{
    RequestTemplate result;
    result.version_ = version_1_2;
    std::vector<std::byte>& prefix = result.prefix_;
    prefix = prefix_of(version_1_2, encoded_ior.size() + 8);
    append_disposition(prefix, AddressingDisposition::reference);
    append(prefix, selected_index);
    prefix.insert(prefix.end(), encoded_ior.begin(), encoded_ior.end());
    result.target_size_ = prefix.size() - target_1_2;
    prefix.resize(align_up(prefix.size(), 4));
    return result;
}

MutableBytes RequestTemplate::prepend(const Body& body, std::uint32_t request_id,
                                      std::uint8_t response_flags, std::string_view operation,
                                      Bytes contexts) const noexcept
{
    // Ordinary 1.2 header: prefix, length and characters of the operation, and then only zeros:
    // terminator, padding, an empty list of contexts, padding up to the body.
    // 1.0 and 1.1: the same with the principal's length in place of the contexts, which are first.
    const bool is_1_2 = version_ >= version_1_2;
    const std::size_t contexts_size = contexts.size() < 4 ? 4 : contexts.size();
    const std::size_t shift = is_1_2 ? 0 : align_up(contexts_size, 4) - 4;
    const std::size_t name_end = shift + prefix_.size() + 4 + operation.size(); // before its NUL
    const std::size_t tail = align_up(name_end + 1, 4); // contexts, or the principal
    const std::size_t tail_end = tail + (is_1_2 ? contexts_size : 4);
    const std::size_t size = body.size == 0 ? tail_end : align_up(tail_end, 8);
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || prefix_.empty() ||
        message_size > std::numeric_limits<std::uint32_t>::max()) [[unlikely]]
        return {};

    std::byte* const start = body.begin - size;
    std::memset(body.begin - 16, 0, 16); // all zeros behind the name; a header is longer than this
    std::memcpy(start + shift, prefix_.data(), prefix_.size());
    const auto name_size = static_cast<std::uint32_t>(operation.size() + 1);
    std::memcpy(start + shift + prefix_.size(), &name_size, 4);
    std::memcpy(start + name_end - operation.size(), operation.data(), operation.size());
    if (is_1_2) [[likely]] {
        std::memcpy(start + id_1_2, &request_id, 4);
        start[flags_1_2] = std::byte{response_flags};
        if (contexts.size() >= 4) {
            std::memset(start + name_end, 0, tail - name_end);
            std::memcpy(start + tail, contexts.data(), contexts.size());
        }
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
    if (prefix_.empty() || place.size() < size) return {};
    const std::size_t target = version_ >= version_1_2 ? target_1_2 : target_1_0;
    write_header(place.data(), version_, MessageType::locate_request,
                 static_cast<std::uint32_t>(size - header_size));
    std::memcpy(place.data() + header_size, &request_id, 4);
    std::memcpy(place.data() + header_size + 4, prefix_.data() + target, target_size_);
    return place.first(size);
}

} // namespace kairos::giop
