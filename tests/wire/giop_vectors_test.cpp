// SPDX-License-Identifier: Apache-2.0
//
// Every golden GIOP vector goes through a connection, in one read and octet by octet, is parsed,
// and its fields are compared; those in this machine's byte order that Kairos could have sent are
// built again and must come out the same, octet for octet.
#include "kairos/giop/connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"
#include "vectors.h"

#include <gtest/gtest.h>

#include <set>

namespace kairos::giop {
namespace {

using test::load_vectors;
using test::Vector;
using Octets = std::vector<std::byte>;
using Event = Connection::Event;

Octets copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }
Bytes rest(const cdr::Reader& reader) { return reader.bytes().subspan(reader.offset()); }
bool ours(const Vector& vector)
{
    return vector.source.empty() && vector.little_endian == native_little_endian;
}
bool is_in(const Vector& vector, std::set<std::string> names)
{
    return names.contains(vector.name);
}

/// Feeds a vector of one message and calls `check(message)`, once per way to split the bytes.
template <typename Check>
void receive(const Vector& vector, Connection::Role role, Check check)
{
    for (const std::size_t step : {vector.bytes.size(), std::size_t{1}, std::size_t{13}}) {
        Connection connection(role);
        Message message;
        for (std::size_t sent = 0; sent < vector.bytes.size();) {
            ASSERT_EQ(connection.next(message), Event::need_bytes);
            const MutableBytes space = connection.space();
            const std::size_t size = std::min({step, space.size(), vector.bytes.size() - sent});
            ASSERT_LE(connection.bytes_needed(), vector.bytes.size() - sent);
            std::memcpy(space.data(), vector.bytes.data() + sent, size);
            connection.received(size);
            sent += size;
        }
        ASSERT_EQ(connection.next(message), Event::message) << describe(connection.fault());
        EXPECT_EQ(message.version, (Version{1, static_cast<std::uint8_t>(vector.minor)}));
        EXPECT_EQ(message.little_endian, vector.little_endian);
        check(message);
        EXPECT_EQ(connection.next(message), Event::need_bytes);
        EXPECT_TRUE(connection.between_messages());
    }
}

struct Encoded {
    cdr::Buffer buffer;
    cdr::Writer writer{buffer, 256};
    explicit Encoded(Bytes body = {}) { writer.write_bytes(body); }
    Body body() const { return Body::of(writer, 256); }
    /// What goes on the wire under `header`.
    Octets under(MutableBytes header) const
    {
        Octets whole = copy(header);
        whole.insert(whole.end(), writer.contiguous().begin(), writer.contiguous().end());
        return whole;
    }
};

void encode(const ServiceContexts& contexts, cdr::Writer& writer)
{
    std::uint32_t count = 0;
    contexts.for_each([&](std::uint32_t id, Bytes) { count += id != filler_context_id; });
    if (count == 0) return;
    writer.write(count);
    contexts.for_each([&](std::uint32_t id, Bytes data) {
        if (id == filler_context_id) return;
        writer.write(id);
        writer.write_octets(data);
    });
}

void check_contexts(const ServiceContexts& contexts, bool expected)
{
    EXPECT_EQ(contexts.find(77), std::nullopt);
    EXPECT_EQ(contexts.empty(), !expected);
    if (!expected) return;
    ASSERT_TRUE(contexts.find(1) && contexts.find(0x12345678));
    EXPECT_EQ(contexts.find(1)->size(), 12u);
    EXPECT_EQ(as_text(*contexts.find(0x12345678)), "abcde");
}

RequestTemplate template_of(const TargetAddress& target, Version version)
{
    switch (target.disposition) {
    case AddressingDisposition::profile:
        return RequestTemplate::of_profile(target.profile_tag, target.profile_data);
    case AddressingDisposition::reference:
        return RequestTemplate::of_reference(target.selected_index, target.ior);
    default:
        return {version, target.key};
    }
}

void check_profile(Bytes data)
{
    cdr::Reader profile = cdr::Reader::of_encapsulation(data);
    EXPECT_EQ(profile.read<std::uint8_t>(), 1);
    EXPECT_EQ(profile.read<std::uint8_t>(), 2);
    EXPECT_EQ(profile.read_string(), "127.0.0.1");
    (void)profile.read<std::uint16_t>();
    EXPECT_EQ(as_text(profile.read_octets()), "echo");
    EXPECT_TRUE(profile.ok());
}

void check_ior(cdr::Reader reader, std::string_view type_id = "IDL:Echo:1.0")
{
    EXPECT_EQ(reader.read_string(), type_id);
    ASSERT_EQ(reader.read<std::uint32_t>(), 1u);
    EXPECT_EQ(reader.read<std::uint32_t>(), 0u);
    check_profile(reader.read_octets());
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.left(), 0u);
}

void check_target(const Vector& vector, const TargetAddress& target)
{
    if (vector.name.ends_with("_profile")) {
        EXPECT_EQ(target.disposition, AddressingDisposition::profile);
        EXPECT_EQ(target.profile_tag, 0u);
        check_profile(target.profile_data);
    } else if (vector.name.ends_with("_reference")) {
        EXPECT_EQ(target.disposition, AddressingDisposition::reference);
        EXPECT_EQ(target.selected_index, 0u);
        check_ior({target.ior, vector.little_endian},
                  vector.source == "omniorb" ? "" : "IDL:Echo:1.0");
    } else {
        EXPECT_EQ(target.disposition, AddressingDisposition::key);
        EXPECT_EQ(as_text(target.key), "echo");
    }
}

void check_request(const Vector& vector, const Message& message)
{
    Request request;
    ASSERT_EQ(parse(message, request), cdr::Fault::none);
    if (vector.source.empty()) {
        EXPECT_EQ(request.request_id, 20u);
    }
    const bool oneway = vector.name == "note";
    EXPECT_EQ(request.response_expected(), !oneway);
    EXPECT_EQ(request.response_flags, oneway ? 0 : 3);
    EXPECT_EQ(request.operation.data()[request.operation.size()], '\0');
    check_target(vector, request.target);
    check_contexts(request.contexts, vector.name == "contexts");

    cdr::Reader body = request.body;
    EXPECT_TRUE(body.left() == 0 || body.offset() % 8 == 0 || !vector.source.empty());
    const std::string operation =
        vector.name == "contexts" ? "half" : vector.name.substr(0, vector.name.find('_'));
    EXPECT_EQ(request.operation, operation);
    if (operation == "half") {
        EXPECT_EQ(body.read<double>(), 5.0);
    }
    if (operation == "note") {
        EXPECT_EQ(body.read<std::int32_t>(), 9);
    }
    if (operation == "add") {
        EXPECT_EQ(body.read<std::int32_t>(), 2);
        EXPECT_EQ(body.read<std::int32_t>(), 3);
    }
    EXPECT_TRUE(body.ok());
    EXPECT_EQ(body.left(), 0u);
    if (!ours(vector)) return;

    cdr::Buffer buffer;
    cdr::Writer contexts(buffer);
    encode(request.contexts, contexts);
    const Encoded encoded(rest(request.body));
    const RequestTemplate target = template_of(request.target, message.version);
    const MutableBytes header =
        target.prepend(encoded.body(), request.request_id, request.response_flags,
                       request.operation, contexts.contiguous());
    EXPECT_LE(header.size(), target.headroom(request.operation.size(), contexts.size()));
    EXPECT_EQ(encoded.under(header), vector.bytes);
}

TEST(GiopVectors, requests)
{
    for (const Vector& vector : load_vectors("request.hex")) {
        SCOPED_TRACE(vector.title);
        receive(vector, Connection::Role::server, [&](const Message& message) {
            ASSERT_EQ(message.type, MessageType::request);
            check_request(vector, message);
        });
    }
}

void check_reply_body(const Vector& vector, ReplyStatus status, cdr::Reader body)
{
    if (is_in(vector, {"half", "contexts"})) {
        EXPECT_EQ(status, ReplyStatus::no_exception);
        EXPECT_EQ(body.read<double>(), 2.5);
    } else if (vector.name == "nothing") {
        EXPECT_EQ(status, ReplyStatus::no_exception);
    } else if (vector.name == "fail") {
        EXPECT_EQ(status, ReplyStatus::user_exception);
        EXPECT_EQ(body.read_string(), "IDL:Echo/Bad:1.0");
        EXPECT_EQ(body.read_string(), "no luck");
        EXPECT_EQ(body.read<std::int32_t>(), 7);
    } else if (vector.name == "deny") {
        EXPECT_EQ(status, ReplyStatus::system_exception);
        const auto exception = SystemExceptionBody::read(body);
        EXPECT_EQ(exception.repository_id, "IDL:omg.org/CORBA/NO_PERMISSION:1.0");
        EXPECT_EQ(exception.minor, 0x4f4d0001u);
        EXPECT_EQ(exception.completion, 1u);
    } else if (is_in(vector, {"move", "move_perm"})) {
        EXPECT_EQ(status, vector.name == "move" ? ReplyStatus::location_forward
                                                : ReplyStatus::location_forward_perm);
        check_ior(body);
        return;
    } else {
        ASSERT_EQ(vector.name, "needs_mode");
        EXPECT_EQ(status, ReplyStatus::needs_addressing_mode);
        EXPECT_EQ(body.read<std::uint16_t>(), 1);
    }
    EXPECT_TRUE(body.ok());
    EXPECT_EQ(body.left(), 0u);
}

TEST(GiopVectors, replies)
{
    for (const Vector& vector : load_vectors("reply.hex")) {
        SCOPED_TRACE(vector.title);
        receive(vector, Connection::Role::client, [&](const Message& message) {
            ASSERT_EQ(message.type, MessageType::reply);
            Reply reply;
            ASSERT_EQ(parse(message, reply), cdr::Fault::none);
            if (vector.source.empty()) {
                EXPECT_EQ(reply.request_id, 20u);
            }
            check_contexts(reply.contexts, vector.name == "contexts");
            check_reply_body(vector, reply.status, reply.body);
            if (!ours(vector)) return;
            EXPECT_TRUE(reply.body.left() == 0 || reply.body.offset() % 8 == 0);
            cdr::Buffer buffer;
            cdr::Writer contexts(buffer);
            encode(reply.contexts, contexts);
            const Encoded encoded(rest(reply.body));
            const MutableBytes header = prepend_reply(encoded.body(), message.version, 20,
                                                      reply.status, contexts.contiguous());
            EXPECT_LE(header.size(), reply_headroom(contexts.size()));
            EXPECT_EQ(encoded.under(header), vector.bytes);
        });
    }
}

void check_locate_request(const Vector& vector, const Message& message)
{
    LocateRequest request;
    ASSERT_EQ(parse(message, request), cdr::Fault::none);
    if (vector.source.empty()) {
        EXPECT_EQ(request.request_id, 20u);
    }
    check_target(vector, request.target);
    if (!ours(vector)) return;
    const RequestTemplate target = template_of(request.target, message.version);
    Octets place(target.locate_size());
    EXPECT_EQ(copy(target.locate(place, 20)), vector.bytes);
    EXPECT_TRUE(target.locate(MutableBytes(place).first(place.size() - 1), 20).empty());
}

void check_locate_reply(const Vector& vector, const Message& message)
{
    LocateReply reply;
    ASSERT_EQ(parse(message, reply), cdr::Fault::none);
    if (vector.source.empty()) {
        EXPECT_EQ(reply.request_id, 20u);
    }
    EXPECT_EQ(reply.body.offset(), 20u);
    constexpr std::array<std::string_view, 6> names{"unknown",      "here", "forward",
                                                    "forward_perm", "deny", "needs_mode"};
    ASSERT_LT(static_cast<std::size_t>(reply.status), names.size());
    EXPECT_EQ(vector.name, names[static_cast<std::size_t>(reply.status)]);
    if (vector.name.starts_with("forward")) check_ior(reply.body);
    if (is_in(vector, {"deny", "needs_mode"}))
        check_reply_body(vector, static_cast<ReplyStatus>(vector.name == "deny" ? 2 : 5),
                         reply.body);
    if (!ours(vector)) return;
    const Encoded encoded(rest(reply.body));
    EXPECT_EQ(
        encoded.under(prepend_locate_reply(encoded.body(), message.version, 20, reply.status)),
        vector.bytes);
}

TEST(GiopVectors, locations)
{
    for (const Vector& vector : load_vectors("locate.hex")) {
        SCOPED_TRACE(vector.title);
        const bool request = vector.name.starts_with("locate");
        receive(vector, request ? Connection::Role::server : Connection::Role::client,
                [&](const Message& message) {
                    ASSERT_EQ(message.type,
                              request ? MessageType::locate_request : MessageType::locate_reply);
                    if (request)
                        check_locate_request(vector, message);
                    else
                        check_locate_reply(vector, message);
                });
    }
}

TEST(GiopVectors, control)
{
    for (const Vector& vector : load_vectors("control.hex")) {
        SCOPED_TRACE(vector.title);
        const Version version{1, static_cast<std::uint8_t>(vector.minor)};
        Octets built;
        if (vector.name == "cancel") {
            receive(vector, Connection::Role::server, [&](const Message& message) {
                CancelRequest cancel;
                ASSERT_EQ(parse(message, cancel), cdr::Fault::none);
                EXPECT_EQ(cancel.request_id, 20u);
            });
            built = copy(cancel_request(version, 20));
        } else {
            for (const auto role : {Connection::Role::client, Connection::Role::server}) {
                Connection connection(role);
                std::memcpy(connection.space().data(), vector.bytes.data(), vector.bytes.size());
                connection.received(vector.bytes.size());
                Message message;
                EXPECT_EQ(connection.next(message),
                          vector.name == "close" ? Event::closed : Event::message_error);
            }
            built = vector.name == "close" ? copy(close_connection(version))
                                           : copy(message_error(version));
        }
        if (vector.little_endian == native_little_endian) {
            EXPECT_EQ(built, vector.bytes);
        }
    }
}

TEST(GiopVectors, fragments)
{
    Octets whole;
    for (const Vector& vector : load_vectors("fragment.hex")) {
        SCOPED_TRACE(vector.title);
        if (vector.name == "whole") whole = vector.bytes;
        receive(vector, Connection::Role::server,
                [&](const Message& message) { EXPECT_EQ(copy(message.bytes), whole); });
        if (!ours(vector) || vector.name != "parts") continue;
        Segments segments;
        segments.add(whole);
        Fragmenter fragmenter(segments, 48);
        Octets built;
        for (Segments part; fragmenter.next(part);) {
            if (vector.minor == 2) {
                EXPECT_LE(part.size(), 48u);
            }
            for (const Bytes segment : part.view())
                built.insert(built.end(), segment.begin(), segment.end());
        }
        EXPECT_EQ(built, vector.minor == 2 ? vector.bytes : whole); // 1.1 is read, never cut
    }
}

// A vector that nothing reads proves nothing: the files hold every kind in every version and order.
TEST(GiopVectors, complete)
{
    std::set<std::string> titles;
    for (const char* file :
         {"request.hex", "reply.hex", "locate.hex", "control.hex", "fragment.hex"})
        for (const Vector& vector : load_vectors(file))
            EXPECT_TRUE(titles.insert(file + vector.title).second) << vector.title;
    const std::set<std::string> everywhere{
        "request.hexhalf",   "request.hexnothing", "request.hexnote",   "request.hexcontexts",
        "reply.hexhalf",     "reply.hexnothing",   "reply.hexcontexts", "reply.hexfail",
        "reply.hexdeny",     "reply.hexmove",      "locate.hexlocate",  "locate.hexhere",
        "locate.hexforward", "control.hexclose",   "control.hexcancel", "control.hexerror"};
    for (const std::string& kind : everywhere)
        for (const char* version : {" 1.0", " 1.1", " 1.2"})
            for (const char* order : {" le", " be"})
                EXPECT_TRUE(titles.contains(kind + version + order)) << kind << version << order;
}

} // namespace
} // namespace kairos::giop
