// SPDX-License-Identifier: Apache-2.0
//
// Building and parsing single messages: alignment of bodies under every header, limits, and what a
// hostile peer may put into a header. Golden bytes are in tests/wire.
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"

#include "kairos/base/limits.h"

#include <gtest/gtest.h>

#include <string>

namespace kairos::giop {
namespace {

constexpr Version versions[] = {version_1_0, version_1_1, version_1_2};
constexpr std::size_t room = 2048;

struct Encoder {
    cdr::Buffer buffer;
    cdr::Writer writer{buffer, room};

    Body body() const { return Body::of(writer, room); }
    MutableBytes bytes(MutableBytes header) const
    {
        return {header.data(), header.size() + writer.contiguous().size()};
    }
    Message message(MutableBytes header) const
    {
        Message message;
        EXPECT_EQ(message_of(bytes(header), message), Fault::none);
        return message;
    }
};

/// A list of two contexts, the last of which has `size` octets.
std::vector<std::byte> contexts_of(std::size_t size)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(std::uint32_t{2});
    writer.write(std::uint32_t{17});
    writer.write_octets(as_bytes("first"));
    writer.write(std::uint32_t{18});
    writer.write_octets(std::vector<std::byte>(size, std::byte{0xEE}));
    return {writer.contiguous().begin(), writer.contiguous().end()};
}

TEST(GiopMessage, request_bodies_begin_at_multiples_of_eight)
{
    for (const Version version : versions) {
        for (std::size_t key_size = 0; key_size < 40; ++key_size) {
            const std::vector<std::byte> key(key_size, std::byte{0xAA});
            const RequestTemplate target(version, key);
            for (std::size_t name_size = 0; name_size < 24; ++name_size) {
                const std::string name(name_size, 'n');
                for (std::size_t extra = 0; extra < 10; ++extra) {
                    Encoder encoder;
                    encoder.writer.write(0x1122334455667788);
                    std::memset(encoder.buffer.data(), 0xCC, room); // padding must be written
                    const auto contexts =
                        extra == 9 ? std::vector<std::byte>() : contexts_of(extra);
                    const MutableBytes header =
                        target.prepend(encoder.body(), 5, 3, name, contexts);
                    ASSERT_FALSE(header.empty());
                    ASSERT_LE(header.size(), target.headroom(name_size, contexts.size()));
                    ASSERT_EQ(header.size() % 8, 0u);
                    Request request;
                    ASSERT_EQ(parse(encoder.message(header), request), cdr::Fault::none);
                    ASSERT_EQ(request.body.offset(), header.size());
                    ASSERT_EQ(request.body.read<std::uint64_t>(), 0x1122334455667788u);
                    ASSERT_EQ(request.operation, name);
                    ASSERT_EQ(as_text(request.target.key), as_text(key));
                    ASSERT_EQ(request.contexts.count(), extra == 9 ? 0u : 2u);
                    ASSERT_EQ(request.contexts.find(18).has_value(), extra != 9);
                    for (const std::byte octet : header)
                        ASSERT_NE(octet, std::byte{0xCC});
                }
            }
        }
    }
}

TEST(GiopMessage, reply_bodies_begin_at_multiples_of_eight)
{
    for (const Version version : versions) {
        for (std::size_t extra = 0; extra < 10; ++extra) {
            for (const bool empty : {false, true}) {
                Encoder encoder;
                if (!empty) encoder.writer.write(2.5);
                std::memset(encoder.buffer.data(), 0xCC, room);
                const auto contexts = extra == 9 ? std::vector<std::byte>() : contexts_of(extra);
                const MutableBytes header = prepend_reply(encoder.body(), version, 9,
                                                          ReplyStatus::user_exception, contexts);
                ASSERT_LE(header.size(), reply_headroom(contexts.size()));
                Reply reply;
                ASSERT_EQ(parse(encoder.message(header), reply), cdr::Fault::none);
                EXPECT_EQ(reply.request_id, 9u);
                EXPECT_EQ(reply.status, ReplyStatus::user_exception);
                EXPECT_EQ(reply.contexts.find(18).has_value(), extra != 9);
                EXPECT_EQ(reply.body.left(), empty ? 0u : 8u);
                if (!empty) {
                    EXPECT_EQ(reply.body.offset() % 8, 0u);
                    EXPECT_EQ(reply.body.read<double>(), 2.5);
                }
                for (const std::byte octet : header)
                    EXPECT_NE(octet, std::byte{0xCC});
            }
        }
    }
}

// Trap 1: with no arguments there is nothing to align, and strict peers refuse padding at the end.
TEST(GiopMessage, Trap01_no_padding_in_front_of_an_empty_body)
{
    const RequestTemplate target(version_1_2, as_bytes("echo"));
    Encoder encoder;
    EXPECT_EQ(target.prepend(encoder.body(), 1, 3, "hi").size(), 44u);
    encoder.writer.write(std::uint8_t{1});
    EXPECT_EQ(target.prepend(encoder.body(), 1, 3, "hi").size(), 48u);
}

TEST(GiopMessage, one_body_under_several_headers)
{
    Encoder encoder;
    encoder.writer.write(std::uint8_t{7});
    encoder.writer.write(1.5);
    for (const Version version : versions) {
        for (const char* key : {"a", "another key"}) {
            const RequestTemplate target(version, as_bytes(key));
            Request request;
            const auto header = target.prepend(encoder.body(), 3, 0, "op");
            ASSERT_EQ(parse(encoder.message(header), request), cdr::Fault::none);
            EXPECT_FALSE(request.response_expected());
            EXPECT_EQ(request.body.read<std::uint8_t>(), 7);
            EXPECT_EQ(request.body.read<double>(), 1.5);
            EXPECT_EQ(request.body.left(), 0u);
        }
    }
}

TEST(GiopMessage, tells_when_the_headroom_does_not_suffice)
{
    const RequestTemplate target(version_1_2, as_bytes("a key of some length"));
    Encoder encoder;
    encoder.writer.write(1);
    Body body = encoder.body();
    const std::size_t needed = target.prepend(body, 1, 3, "operation").size();
    body.headroom = needed - 1;
    EXPECT_TRUE(target.prepend(body, 1, 3, "operation").empty());
    body.headroom = needed;
    EXPECT_EQ(target.prepend(body, 1, 3, "operation").size(), needed);
    body.headroom = 23;
    EXPECT_TRUE(prepend_reply(body, version_1_2, 1, ReplyStatus::no_exception).empty());
    body.headroom = 19;
    EXPECT_TRUE(prepend_locate_reply(body, version_1_2, 1, LocateStatus::object_here).empty());
    body = encoder.body();
    body.size = std::size_t{1} << 32;
    EXPECT_TRUE(target.prepend(body, 1, 3, "operation").empty());
    EXPECT_TRUE(RequestTemplate().prepend(encoder.body(), 1, 3, "operation").empty());
}

TEST(GiopMessage, sync_with_server_becomes_response_expected_in_old_versions)
{
    for (const unsigned value : {0u, 1u, 3u}) {
        const auto flags = static_cast<std::uint8_t>(value);
        const RequestTemplate target(version_1_0, as_bytes("k"));
        Encoder encoder;
        Request request;
        ASSERT_EQ(parse(encoder.message(target.prepend(encoder.body(), 1, flags, "op")), request),
                  cdr::Fault::none);
        EXPECT_EQ(request.response_flags, flags == 0 ? 0 : 3);
    }
}

TEST(GiopMessage, permanent_forward_becomes_a_forward_in_old_versions)
{
    Encoder encoder;
    Reply reply;
    ASSERT_EQ(parse(encoder.message(prepend_reply(encoder.body(), version_1_1, 1,
                                                  ReplyStatus::location_forward_perm)),
                    reply),
              cdr::Fault::none);
    EXPECT_EQ(reply.status, ReplyStatus::location_forward);
}

TEST(GiopMessage, every_truncation_of_a_request_is_refused_or_smaller)
{
    const auto contexts = contexts_of(3);
    for (const Version version : versions) {
        for (const bool with_contexts : {false, true}) {
            const RequestTemplate target(version, as_bytes("object key"));
            Encoder encoder;
            const MutableBytes header = target.prepend(encoder.body(), 1, 3, "operation",
                                                       with_contexts ? contexts : Bytes());
            for (std::size_t size = header_size; size < header.size(); ++size) {
                const std::vector<std::byte> copy(header.begin(), header.begin() + size);
                Message message = encoder.message(header);
                message.bytes = MutableBytes(const_cast<std::byte*>(copy.data()), size);
                Request request;
                EXPECT_NE(parse(message, request), cdr::Fault::none) << size;
            }
        }
    }
}

/// A 1.2 request whose octets at `at` are replaced by a 32-bit value.
cdr::Fault parse_with(std::size_t at, std::uint32_t value, std::size_t body_size = 0)
{
    const RequestTemplate target(version_1_2, as_bytes("echo"));
    Encoder encoder;
    encoder.writer.write_bytes(std::vector<std::byte>(body_size));
    const Message message = encoder.message(target.prepend(encoder.body(), 1, 3, "half"));
    std::memcpy(message.bytes.data() + at, &value, sizeof value);
    Request request;
    return parse(message, request);
}

TEST(GiopMessage, hostile_lengths_are_refused)
{
    constexpr std::size_t disposition = 20, key_length = 24, name_length = 32, count = 44;
    EXPECT_EQ(parse_with(key_length, 4), cdr::Fault::none);
    for (const std::uint32_t length : {0xFFFFFFFFu, 0x7FFFFFFFu, 1000u}) {
        EXPECT_EQ(parse_with(key_length, length), cdr::Fault::length_beyond_end);
        EXPECT_EQ(parse_with(name_length, length), cdr::Fault::length_beyond_end);
        EXPECT_EQ(parse_with(count, length), cdr::Fault::length_beyond_end);
    }
    EXPECT_EQ(parse_with(name_length, 0), cdr::Fault::string_not_terminated);
    EXPECT_EQ(parse_with(name_length, 3), cdr::Fault::string_not_terminated);
    EXPECT_EQ(parse_with(disposition, 3), cdr::Fault::invalid_value);
    const std::size_t large = 200'000;
    EXPECT_EQ(parse_with(key_length, limits::object_key_max + 1, large),
              cdr::Fault::bound_exceeded);
    EXPECT_EQ(parse_with(count, limits::service_contexts_max + 1, large),
              cdr::Fault::bound_exceeded);
    EXPECT_EQ(parse_with(count, limits::service_contexts_max, large), cdr::Fault::none);
}

TEST(GiopMessage, long_operation_names_are_refused)
{
    const RequestTemplate target(version_1_2, as_bytes("echo"));
    for (const bool beyond : {false, true}) {
        const std::string name(limits::operation_name_max + beyond, 'n');
        cdr::Buffer buffer;
        const std::size_t headroom = target.headroom(name.size());
        const cdr::Writer writer(buffer, headroom);
        Message message;
        ASSERT_EQ(message_of(target.prepend(Body::of(writer, headroom), 1, 3, name), message),
                  Fault::none);
        Request request;
        EXPECT_EQ(parse(message, request), beyond ? cdr::Fault::bound_exceeded : cdr::Fault::none);
    }
}

TEST(GiopMessage, reply_statuses_of_their_version)
{
    for (const Version version : versions) {
        for (std::uint32_t status = 0; status < 8; ++status) {
            Encoder encoder;
            const Message reply = encoder.message(
                prepend_reply(encoder.body(), version, 1, ReplyStatus::no_exception));
            std::memcpy(reply.bytes.data() + (version == version_1_2 ? 16 : 20), &status, 4);
            Reply parsed;
            const bool known = status <= (version == version_1_2 ? 5u : 3u);
            EXPECT_EQ(parse(reply, parsed), known ? cdr::Fault::none : cdr::Fault::invalid_value);

            const Message located = encoder.message(
                prepend_locate_reply(encoder.body(), version, 1, LocateStatus::object_here));
            std::memcpy(located.bytes.data() + 16, &status, 4);
            LocateReply locate;
            const bool located_known = status <= (version == version_1_2 ? 5u : 2u);
            EXPECT_EQ(parse(located, locate),
                      located_known ? cdr::Fault::none : cdr::Fault::invalid_value);
        }
    }
}

TEST(GiopMessage, system_exception_survives)
{
    Encoder encoder;
    SystemExceptionBody{"IDL:omg.org/CORBA/TRANSIENT:1.0", 0x4f4d0002, 2}.write(encoder.writer);
    cdr::Reader reader(encoder.writer.contiguous(), native_little_endian);
    const SystemExceptionBody body = SystemExceptionBody::read(reader);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(body.repository_id, "IDL:omg.org/CORBA/TRANSIENT:1.0");
    EXPECT_EQ(body.minor, 0x4f4d0002u);
    EXPECT_EQ(body.completion, 2u);

    encoder.writer.reset(room);
    SystemExceptionBody{"IDL:x:1.0", 0, 3}.write(encoder.writer);
    reader = cdr::Reader(encoder.writer.contiguous(), native_little_endian);
    (void)SystemExceptionBody::read(reader);
    EXPECT_EQ(reader.fault(), cdr::Fault::invalid_value);
}

TEST(GiopMessage, whole_messages_only)
{
    auto close = close_connection(version_1_2);
    Message message;
    EXPECT_EQ(message_of(close, message), Fault::none);
    EXPECT_EQ(message_of(MutableBytes(close).first(11), message), Fault::wrong_size);
    auto cancel = cancel_request(version_1_2, 1);
    EXPECT_EQ(message_of(MutableBytes(cancel).first(15), message), Fault::wrong_size);
}

} // namespace
} // namespace kairos::giop
