// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/reply.h"

#include <algorithm>
#include <limits>

namespace kairos::giop {

namespace {

constexpr std::size_t filler_context_size = 12; // id, length 4, four octets

constexpr std::size_t plain_header_size = 24; // without contexts, in every version

std::uint32_t load(const std::byte* place)
{
    std::uint32_t value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

void store(std::byte* place, std::uint32_t value) { std::memcpy(place, &value, sizeof value); }

bool valid(ReplyStatus status, Version version) noexcept
{
    return status <= (version >= version_1_2 ? ReplyStatus::needs_addressing_mode
                                             : ReplyStatus::location_forward);
}

/// The reply that nearly all are: GIOP 1.2, this machine's byte order, no service contexts. False
/// for others, and when anything is wrong: the long way says what.
[[gnu::always_inline]] inline bool parse_ordinary(const Message& message, Reply& reply) noexcept
{
    const std::byte* const data = message.bytes.data();
    if (!is_newest(message.version) || message.little_endian != native_little_endian ||
        message.bytes.size() < plain_header_size)
        return false;
    const auto status = static_cast<ReplyStatus>(load(data + 16));
    if (load(data + 20) != 0 || !valid(status, version_1_2)) return false;
    reply.version = version_1_2;
    reply.little_endian = native_little_endian;
    reply.request_id = load(data + 12);
    reply.status = status;
    reply.contexts = ServiceContexts();
    reply.body = cdr::Reader(message.bytes, message.little_endian, plain_header_size);
    return true;
}

/// A reply with service contexts in GIOP 1.0 or 1.1: they come first, and if the body would not
/// begin at a multiple of eight, one more that is only filler.
[[gnu::noinline]] MutableBytes prepend_1_0(const Body& body, Version version,
                                           std::uint32_t request_id, ReplyStatus status,
                                           Bytes contexts) noexcept
{
    const std::size_t contexts_end = align_up(header_size + contexts.size(), 4);
    const bool fill = body.size != 0 && contexts_end % 8 != 0;
    const std::size_t size = contexts_end + (fill ? filler_context_size : 0) + 8;
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || message_size > std::numeric_limits<std::uint32_t>::max()) return {};

    std::byte* const start = body.begin - size;
    write_header(start, version, MessageType::reply, static_cast<std::uint32_t>(message_size));
    store(start + contexts_end - 4, 0); // padding behind them
    std::memcpy(start + header_size, contexts.data(), contexts.size());
    if (fill) {
        std::uint32_t count;
        std::memcpy(&count, contexts.data(), sizeof count);
        store(start + header_size, count + 1);
        store(start + contexts_end, filler_context_id);
        store(start + contexts_end + 4, 4);
        store(start + contexts_end + 8, 0);
    }
    store(body.begin - 8, request_id);
    store(body.begin - 4, static_cast<std::uint32_t>(status));
    return {start, size};
}

} // namespace

std::string_view describe(ReplyStatus status) noexcept
{
    switch (status) {
    case ReplyStatus::no_exception:
        return "NO_EXCEPTION";
    case ReplyStatus::user_exception:
        return "USER_EXCEPTION";
    case ReplyStatus::system_exception:
        return "SYSTEM_EXCEPTION";
    case ReplyStatus::location_forward:
        return "LOCATION_FORWARD";
    case ReplyStatus::location_forward_perm:
        return "LOCATION_FORWARD_PERM";
    case ReplyStatus::needs_addressing_mode:
        return "NEEDS_ADDRESSING_MODE";
    }
    return "unknown status";
}

namespace {

[[gnu::noinline]] cdr::Fault parse_other(const Message& message, Reply& reply) noexcept
{
    reply.version = message.version;
    reply.little_endian = message.little_endian;
    cdr::Reader reader = message.reader();
    if (message.version >= version_1_2) [[likely]] {
        reply.request_id = reader.read<std::uint32_t>();
        reply.status = static_cast<ReplyStatus>(reader.read<std::uint32_t>());
        reply.contexts = ServiceContexts::read(reader);
        const std::size_t begin = std::min(align_up(reader.offset(), 8), message.bytes.size());
        reply.body = cdr::Reader(message.bytes, message.little_endian, begin);
    } else {
        reply.contexts = ServiceContexts::read(reader);
        reply.request_id = reader.read<std::uint32_t>();
        reply.status = static_cast<ReplyStatus>(reader.read<std::uint32_t>());
        reply.body = reader;
    }
    if (!valid(reply.status, message.version)) [[unlikely]]
        reader.fail(cdr::Fault::invalid_value);
    return reader.fault();
}

} // namespace

cdr::Fault parse(const Message& message, Reply& reply) noexcept
{
    if (parse_ordinary(message, reply)) [[likely]]
        return cdr::Fault::none;
    return parse_other(message, reply);
}

namespace {

/// The header of nearly all replies: GIOP 1.2, without contexts. It ends at a multiple of eight.
[[gnu::always_inline]] inline MutableBytes
prepend_ordinary(const Body& body, std::uint32_t request_id, ReplyStatus status) noexcept
{
    constexpr std::size_t size = plain_header_size;
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || message_size > std::numeric_limits<std::uint32_t>::max())
        [[unlikely]]
        return {};
    std::byte* const start = body.begin - size;
    write_header(start, version_1_2, MessageType::reply, static_cast<std::uint32_t>(message_size));
    store(start + 12, request_id);
    store(start + 16, static_cast<std::uint32_t>(status));
    store(start + 20, 0); // no contexts
    return {start, size};
}

[[gnu::noinline]] MutableBytes prepend(const Body& body, Version version, std::uint32_t request_id,
                                       ReplyStatus status, Bytes contexts) noexcept
{
    const bool is_1_2 = version >= version_1_2;
    if (!is_1_2 && status == ReplyStatus::location_forward_perm)
        status = ReplyStatus::location_forward; // the nearest that the peer knows
    const bool plain = contexts.size() < 4;
    if (!is_1_2 && !plain) return prepend_1_0(body, version, request_id, status, contexts);

    const std::size_t contexts_end = plain ? plain_header_size : 20 + contexts.size();
    const std::size_t size = body.size == 0 ? contexts_end : align_up(contexts_end, 8);
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || message_size > std::numeric_limits<std::uint32_t>::max())
        [[unlikely]]
        return {};

    std::byte* const start = body.begin - size;
    write_header(start, version, MessageType::reply, static_cast<std::uint32_t>(message_size));
    const std::size_t id_offset = is_1_2 ? 12 : 16;
    store(start + 12, 0); // 1.0, 1.1: no contexts
    store(start + 20, 0); // 1.2: no contexts
    store(start + id_offset, request_id);
    store(start + id_offset + 4, static_cast<std::uint32_t>(status));
    if (!plain) [[unlikely]] {
        std::memset(body.begin - 8, 0, 8); // padding; the contexts overwrite what is theirs
        std::memcpy(start + 20, contexts.data(), contexts.size());
        store(start + 16, static_cast<std::uint32_t>(status));
    }
    return {start, size};
}

} // namespace

MutableBytes prepend_reply(const Body& body, Version version, std::uint32_t request_id,
                           ReplyStatus status) noexcept
{
    if (is_newest(version)) [[likely]]
        return prepend_ordinary(body, request_id, status);
    return prepend(body, version, request_id, status, {});
}

MutableBytes prepend_reply(const Body& body, Version version, std::uint32_t request_id,
                           ReplyStatus status, Bytes contexts) noexcept
{
    return prepend(body, version, request_id, status, contexts);
}

MutableBytes prepend_refusal(const Body& body, Version version, std::uint32_t request_id) noexcept
{
    return prepend(body, version, request_id, ReplyStatus::system_exception, {});
}

void SystemExceptionBody::write(cdr::Writer& writer) const
{
    writer.write_string(repository_id);
    writer.write(minor);
    writer.write(completion);
}

SystemExceptionBody SystemExceptionBody::read(cdr::Reader& reader) noexcept
{
    SystemExceptionBody body;
    body.repository_id = reader.read_string();
    body.minor = reader.read<std::uint32_t>();
    body.completion = reader.read<std::uint32_t>();
    if (body.completion > 2) reader.fail(cdr::Fault::invalid_value);
    return body;
}

} // namespace kairos::giop
