// SPDX-License-Identifier: Apache-2.0
//
// An arbitrary stream, cut into reads by the input, through a connection and every parser: nothing
// may leave the bytes or hold much more memory than was received, and what was parsed can be built
// again and parses to the same. Input: role and limit, how to cut, then the stream.
#include "kairos/base/check.h"
#include "kairos/giop/connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"

#include <algorithm>
#include <memory>

using namespace kairos;
using namespace kairos::giop;

namespace {

/// Reads every octet, so that the sanitizer sees each one.
unsigned touch(Bytes bytes)
{
    unsigned sum = 0;
    for (const std::byte octet : bytes)
        sum += std::to_integer<unsigned>(octet);
    return sum;
}

bool same(Bytes left, Bytes right)
{
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

Bytes rest(const cdr::Reader& reader) { return reader.bytes().subspan(reader.offset()); }

void touch(const ServiceContexts& contexts)
{
    std::uint32_t count = 0;
    contexts.for_each([&](std::uint32_t id, Bytes data) {
        ++count;
        (void)touch(data);
        KAIROS_CHECK(contexts.find(id).has_value());
    });
    KAIROS_CHECK(count == contexts.count());
}

void touch(const TargetAddress& target)
{
    (void)(touch(target.key) + touch(target.profile_data) + touch(target.ior));
}

void encode(const ServiceContexts& contexts, cdr::Writer& writer)
{
    if (contexts.empty()) return;
    writer.write(contexts.count());
    contexts.for_each([&](std::uint32_t id, Bytes data) {
        writer.write(id);
        writer.write(static_cast<std::uint32_t>(data.size()));
        writer.write_bytes(data);
    });
}

/// A body with room in front, and the whole message once a header is there.
struct Encoder {
    cdr::Buffer buffer;
    cdr::Writer writer;
    std::size_t headroom;

    Encoder(std::size_t room, Bytes body) : writer(buffer, room), headroom(room)
    {
        writer.write_bytes(body);
    }
    Body body() const { return Body::of(writer, headroom); }
    Message whole(MutableBytes header) const
    {
        KAIROS_CHECK(!header.empty());
        Message message;
        const MutableBytes bytes{header.data(), header.size() + writer.contiguous().size()};
        KAIROS_CHECK(message_of(bytes, message) == Fault::none);
        return message;
    }
};

void check_request(const Message& message)
{
    Request request;
    if (parse(message, request) != cdr::Fault::none) return;
    touch(request.target);
    touch(request.contexts);
    (void)touch(rest(request.body));
    KAIROS_CHECK(request.operation.data()[request.operation.size()] == '\0');
    if (request.target.disposition != AddressingDisposition::key) return;

    cdr::Buffer buffer;
    cdr::Writer contexts(buffer);
    encode(request.contexts, contexts);
    const RequestTemplate target(message.version, request.target.key);
    const Encoder encoder(target.headroom(request.operation.size(), contexts.size()),
                          rest(request.body));
    Request again;
    const auto header = target.prepend(encoder.body(), request.request_id, request.response_flags,
                                       request.operation, contexts.contiguous());
    KAIROS_CHECK(parse(encoder.whole(header), again) == cdr::Fault::none);
    KAIROS_CHECK(again.request_id == request.request_id && again.operation == request.operation);
    KAIROS_CHECK(again.response_expected() == request.response_expected());
    KAIROS_CHECK(same(again.target.key, request.target.key));
    KAIROS_CHECK(again.contexts.count() == request.contexts.count());
    KAIROS_CHECK(same(rest(again.body), rest(request.body)));
    KAIROS_CHECK(again.body.left() == 0 || again.body.offset() % 8 == 0);
}

void check_reply(const Message& message)
{
    Reply reply;
    if (parse(message, reply) != cdr::Fault::none) return;
    touch(reply.contexts);
    (void)touch(rest(reply.body));
    cdr::Reader body = reply.body;
    (void)SystemExceptionBody::read(body);

    cdr::Buffer buffer;
    cdr::Writer contexts(buffer);
    encode(reply.contexts, contexts);
    if (reply.contexts.count() == limits::service_contexts_max) return; // no room for filler
    const Encoder encoder(reply_headroom(contexts.size()), rest(reply.body));
    Reply again;
    const auto header = prepend_reply(encoder.body(), message.version, reply.request_id,
                                      reply.status, contexts.contiguous());
    KAIROS_CHECK(parse(encoder.whole(header), again) == cdr::Fault::none);
    KAIROS_CHECK(again.request_id == reply.request_id && again.status == reply.status);
    KAIROS_CHECK(same(rest(again.body), rest(reply.body)));
    KAIROS_CHECK(again.contexts.count() - reply.contexts.count() <= 1);
    KAIROS_CHECK(again.body.left() == 0 || again.body.offset() % 8 == 0);
}

void check(const Message& message)
{
    KAIROS_CHECK(message.bytes.size() >= header_size);
    Message again;
    KAIROS_CHECK(message_of(message.bytes, again) == Fault::none);
    KAIROS_CHECK(again.type == message.type && again.version == message.version);
    (void)touch(message.bytes);
    LocateRequest locate_request;
    LocateReply locate_reply;
    CancelRequest cancel;
    switch (message.type) {
    case MessageType::request:
        return check_request(message);
    case MessageType::reply:
        return check_reply(message);
    case MessageType::locate_request:
        if (parse(message, locate_request) == cdr::Fault::none) touch(locate_request.target);
        return;
    case MessageType::locate_reply:
        if (parse(message, locate_reply) == cdr::Fault::none) (void)touch(rest(locate_reply.body));
        return;
    case MessageType::cancel_request:
        (void)parse(message, cancel);
        return;
    default:
        KAIROS_CHECK(false); // a connection hands out nothing else
    }
}

/// A block whose place in the message is empty: nobody sees that.
void check_gap(Connection& connection, const Message& front)
{
    Request request;
    Reply reply;
    cdr::Reader* body = nullptr;
    if (front.type == MessageType::request && parse(front, request) == cdr::Fault::none)
        body = &request.body;
    if (front.type == MessageType::reply && parse(front, reply) == cdr::Fault::none)
        body = &reply.body;
    if (body != nullptr && connection.enter_gap(*body)) {
        const std::size_t offset = body->offset();
        while (body->left() != 0) {
            const auto octet = body->read<std::uint8_t>();
            KAIROS_CHECK(std::byte{octet} == connection.filled().bytes[body->offset() - 1]);
        }
        KAIROS_CHECK(body->ok() && body->offset() >= offset);
    }
    check(connection.filled());
}

void drain(Connection& connection)
{
    for (;;) {
        const bool ended = connection.ended();
        Message message;
        switch (connection.next(message)) {
        case Connection::Event::need_bytes:
            KAIROS_CHECK(connection.bytes_needed() > 0);
            return;
        case Connection::Event::message:
            KAIROS_CHECK(!ended);
            check(message);
            break;
        case Connection::Event::message_with_gap:
            KAIROS_CHECK(!ended);
            check_gap(connection, message);
            break;
        case Connection::Event::fault:
            KAIROS_CHECK(connection.fault() != Fault::none &&
                         supported(connection.error_version()));
            [[fallthrough]];
        default:
            KAIROS_CHECK(!ended && connection.ended());
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) return 0;
    const auto role = (data[0] & 1) != 0 ? Connection::Role::server : Connection::Role::client;
    const std::size_t size_max = (data[0] & 2) != 0 ? 256 : limits::message_size_max;
    std::uint32_t cut = data[1];
    Connection connection(role, size_max, ReadSizes::of((data[0] & 8) == 0));
    std::size_t received = 0;
    std::uint64_t oldest = 0;
    const std::shared_ptr<const void> lease = std::make_shared<int>(0);
    const bool keeps = (data[0] & 4) != 0; // as a server does whose servants are called back
    for (Bytes stream = std::as_bytes(std::span(data, size)).subspan(2); !stream.empty();) {
        if (keeps) (void)connection.keep_messages();
        const MutableBytes space = connection.space();
        KAIROS_CHECK(!space.empty());
        KAIROS_CHECK(connection.memory_held() >= space.size());
        cut = cut * 1664525 + 1013904223; // a cut of 0 reads as much as there is room for
        const std::size_t wish = data[1] == 0 ? space.size() : 1 + (cut >> 24) % data[1];
        const std::size_t step = std::min({wish, space.size(), stream.size()});
        // As blocks of shared memory are, when whoever reads finds one.
        const bool is_taken = (data[0] & 16) != 0 && (cut >> 20) % 2 == 0 &&
                              connection.block_taker().take(stream.first(step), lease);
        if (!is_taken) std::memcpy(space.data(), stream.data(), step);
        connection.received(step);
        received += step;
        stream = stream.subspan(step);
        drain(connection);
        const auto unfinished = connection.unfinished();
        KAIROS_CHECK(connection.ended() || unfinished.has_value() != connection.between_messages());
        KAIROS_CHECK(!unfinished || (unfinished->octets != 0 &&
                                     unfinished->begins_at + unfinished->octets <= received));
        KAIROS_CHECK(!unfinished || unfinished->begins_at >= oldest);
        if (unfinished) oldest = unfinished->begins_at; // none comes back
        KAIROS_CHECK(connection.memory_held() <=
                     16 * limits::receive_buffer_initial + 16 * received);
    }
    (void)connection.space();
    KAIROS_CHECK(lease.use_count() <= 2); // of the message under way
    return 0;
}
