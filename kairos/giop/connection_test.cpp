// SPDX-License-Identifier: Apache-2.0
//
// The connection engine, rule by rule: where reads go, what memory follows, what ends a connection.
// tests/sim plays everything together.
#include "kairos/giop/connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/request.h"

#include <gtest/gtest.h>

#include <string>

namespace kairos::giop {
namespace {

using Event = Connection::Event;
using Role = Connection::Role;
using Octets = std::vector<std::byte>;

Octets request_of(std::size_t body_size, std::uint32_t id = 1, Version version = version_1_2)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer, 128);
    writer.write_bytes(Octets(body_size, std::byte{0xB0}));
    const RequestTemplate target(version, as_bytes("key"));
    const MutableBytes header = target.prepend(Body::of(writer, 128), id, 3, "operation");
    Octets octets(header.begin(), header.end());
    octets.insert(octets.end(), writer.contiguous().begin(), writer.contiguous().end());
    return octets;
}

/// A GIOP 1.1 message as a peer might cut it, so that its alignment goes on.
std::vector<Octets> parts_of_1_1(const Octets& message, std::size_t part_size)
{
    std::vector<Octets> parts;
    for (std::size_t at = 0; at < message.size();) {
        Octets part;
        if (at != 0) {
            part.resize(header_size);
            write_header(part.data(), version_1_1, MessageType::fragment, 0);
        }
        const std::size_t size =
            std::min(message.size() - at, (part_size - part.size()) / 8 * 8 - (at == 0 ? 4 : 0));
        part.insert(part.end(), message.begin() + static_cast<std::ptrdiff_t>(at),
                    message.begin() + static_cast<std::ptrdiff_t>(at + size));
        at += size;
        if (at != message.size()) part[6] |= std::byte{2};
        const auto body_size = static_cast<std::uint32_t>(part.size() - header_size);
        std::memcpy(part.data() + 8, &body_size, sizeof body_size);
        parts.push_back(std::move(part));
    }
    return parts;
}

std::vector<Octets> parts_of(const Octets& message, std::size_t part_size)
{
    if (message[5] == std::byte{1}) return parts_of_1_1(message, part_size);
    Segments segments;
    segments.add(message);
    Fragmenter fragmenter(segments, part_size);
    std::vector<Octets> parts;
    for (Segments part; fragmenter.next(part);) {
        Octets& octets = parts.emplace_back();
        for (const Bytes segment : part.view())
            octets.insert(octets.end(), segment.begin(), segment.end());
    }
    return parts;
}

Octets operator+(Octets left, Bytes right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

void feed(Connection& connection, Bytes bytes)
{
    Message message;
    while (!bytes.empty()) {
        const MutableBytes space = connection.space();
        const std::size_t size = std::min(space.size(), bytes.size());
        std::memcpy(space.data(), bytes.data(), size);
        connection.received(size);
        bytes = bytes.subspan(size);
        if (!bytes.empty()) {
            ASSERT_EQ(connection.next(message), Event::need_bytes);
        }
    }
}

/// The only event that these bytes lead to, on a new connection.
Event event_of(Bytes bytes, Role role = Role::server, std::size_t size_max = 1000)
{
    Connection connection(role, size_max);
    feed(connection, bytes);
    Message message;
    const Event event = connection.next(message);
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_EQ(connection.ended(), event != Event::message && event != Event::need_bytes);
    return event;
}

Fault fault_of(Bytes bytes, Role role = Role::server, std::size_t size_max = 1000)
{
    Connection connection(role, size_max);
    Message message;
    Event event = Event::need_bytes;
    while (!bytes.empty() && event == Event::need_bytes) {
        const Bytes part = bytes.first(std::min(bytes.size(), connection.space().size()));
        feed(connection, part);
        bytes = bytes.subspan(part.size());
        while ((event = connection.next(message)) == Event::message) {
        }
    }
    EXPECT_EQ(event == Event::fault, connection.fault() != Fault::none);
    EXPECT_FALSE(describe(connection.fault()).empty());
    if (event == Event::fault) { // it is over, whatever else comes
        feed(connection, request_of(8));
        EXPECT_EQ(connection.next(message), Event::need_bytes);
        EXPECT_TRUE(connection.ended());
    }
    return connection.fault();
}

TEST(GiopConnection, pipelined_requests_come_out_of_one_read)
{
    Connection connection(Role::server);
    Octets stream;
    for (std::uint32_t id = 0; id < 20; ++id)
        stream = stream + request_of(id, id);
    feed(connection, stream);
    Message message;
    for (std::uint32_t id = 0; id < 20; ++id) {
        ASSERT_EQ(connection.next(message), Event::message);
        Request request;
        ASSERT_EQ(parse(message, request), cdr::Fault::none);
        EXPECT_EQ(request.request_id, id);
        EXPECT_EQ(request.body.left(), id);
    }
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_TRUE(connection.between_messages());
}

/// The message in hand, the whole ones behind it and the beginning of the next.
TEST(GiopConnection, messages_stay_where_they_are_when_kept)
{
    for (const std::size_t part_size : {std::size_t{1000}, std::size_t{64}}) { // also in fragments
        const Octets first = request_of(150, 1);
        const Octets second = request_of(20, 2);
        const Octets third = request_of(30, 3);
        Connection connection(Role::server);
        Octets stream;
        for (const Octets& part : parts_of(first, part_size))
            stream = stream + part;
        feed(connection, stream + second + Bytes(third).first(25));
        Message message;
        ASSERT_EQ(connection.next(message), Event::message);
        const Message kept_message = message;
        EXPECT_TRUE(connection.has_messages());
        const auto kept = connection.keep_messages();
        EXPECT_FALSE(connection.has_messages());
        ASSERT_EQ(connection.next(message), Event::message);
        EXPECT_EQ(Octets(message.bytes.begin(), message.bytes.end()), second);
        ASSERT_EQ(connection.next(message), Event::need_bytes);
        EXPECT_TRUE(connection.has_messages());
        feed(connection, Bytes(third).subspan(25));
        ASSERT_EQ(connection.next(message), Event::message);
        EXPECT_EQ(Octets(message.bytes.begin(), message.bytes.end()), third);
        EXPECT_EQ(connection.next(message), Event::need_bytes);
        EXPECT_TRUE(connection.between_messages());
        EXPECT_EQ(Octets(kept_message.bytes.begin(), kept_message.bytes.end()), first);
    }
}

std::string text_of(const std::optional<Unfinished>& message)
{
    if (!message) return "none";
    return std::to_string(message->octets) + " at " + std::to_string(message->begins_at);
}

/// Takes every message and says how many there were.
int take_all(Connection& connection)
{
    int count = 0;
    for (Message message; connection.next(message) == Event::message;)
        ++count;
    return count;
}

TEST(GiopConnection, tells_which_message_is_unfinished)
{
    Connection connection(Role::server);
    EXPECT_EQ(text_of(connection.unfinished()), "none");
    const Octets request = request_of(100);
    const std::size_t size = request.size();
    feed(connection, request + request + Bytes(request).first(5));
    EXPECT_EQ(take_all(connection), 2);
    EXPECT_EQ(text_of(connection.unfinished()), "5 at " + std::to_string(2 * size));
    feed(connection, Bytes(request).subspan(5, 50));
    EXPECT_EQ(take_all(connection), 0);
    (void)connection.keep_messages();
    EXPECT_EQ(text_of(connection.unfinished()), "55 at " + std::to_string(2 * size));
    feed(connection, Bytes(request).subspan(55));
    EXPECT_EQ(take_all(connection), 1);
    EXPECT_EQ(text_of(connection.unfinished()), "none");
    for (int i = 0; i < 3; ++i) { // each in a buffer that was emptied
        feed(connection, request);
        EXPECT_EQ(take_all(connection), 1);
    }
    feed(connection, Bytes(request).first(5));
    EXPECT_EQ(take_all(connection), 0);
    EXPECT_EQ(text_of(connection.unfinished()), "5 at " + std::to_string(6 * size));
    feed(connection, Octets(100, std::byte{0xFF})); // which are nobody's rest
    Message message;
    EXPECT_EQ(connection.next(message), Event::fault);
    EXPECT_EQ(text_of(connection.unfinished()), "none");
}

TEST(GiopConnection, tells_which_fragmented_message_is_the_oldest)
{
    Connection connection(Role::server);
    const auto first = parts_of(request_of(200, 1), 64);
    const auto second = parts_of(request_of(200, 2), 64);
    const Octets whole = request_of(20, 3);
    feed(connection, whole + first[0]);
    EXPECT_EQ(take_all(connection), 1);
    const std::string place = " at " + std::to_string(whole.size());
    EXPECT_EQ(text_of(connection.unfinished()), std::to_string(first[0].size()) + place);
    feed(connection, second[0] + whole + Bytes(second[1]).first(7));
    EXPECT_EQ(take_all(connection), 1);
    EXPECT_EQ(text_of(connection.unfinished()), std::to_string(first[0].size() + 7) + place)
        << "what is under way may be its own";
    feed(connection, Bytes(second[1]).subspan(7));
    EXPECT_EQ(take_all(connection), 0);
    EXPECT_EQ(text_of(connection.unfinished()), std::to_string(first[0].size()) + place);
    for (std::size_t i = 1; i < first.size(); ++i)
        feed(connection, first[i]);
    EXPECT_EQ(take_all(connection), 1);
    const std::size_t held = 2 * second[0].size() - header_size - 4;
    EXPECT_EQ(text_of(connection.unfinished()),
              std::to_string(held) + " at " + std::to_string(whole.size() + first[0].size()));
    connection.abandon(2);
    EXPECT_EQ(text_of(connection.unfinished()), "none");
}

TEST(GiopConnection, messages_lie_aligned_at_the_front_of_the_buffer)
{
    Connection connection(Role::server);
    const std::byte* const front = connection.space().data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(front) % 64, 0u);
    const Octets odd = request_of(3), next = request_of(16);
    feed(connection, odd + Bytes(next).first(20));
    Message message;
    ASSERT_EQ(connection.next(message), Event::message);
    ASSERT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_EQ(connection.bytes_needed(), next.size() - 20);
    feed(connection, Bytes(next).subspan(20));
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_EQ(message.bytes.data(), front);
    EXPECT_TRUE(std::equal(next.begin(), next.end(), message.bytes.begin(), message.bytes.end()));
    EXPECT_EQ(connection.space().data(), front);
}

TEST(GiopConnection, says_how_much_it_needs)
{
    Connection connection(Role::server);
    const Octets request = request_of(100);
    Message message;
    EXPECT_EQ(connection.bytes_needed(), header_size);
    feed(connection, Bytes(request).first(5));
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_EQ(connection.bytes_needed(), header_size - 5);
    feed(connection, Bytes(request).subspan(5, 10));
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_EQ(connection.bytes_needed(), request.size() - 15);
}

TEST(GiopConnection, memory_follows_what_was_received_not_what_was_claimed)
{
    Connection connection(Role::server);
    std::array<std::byte, header_size> header;
    write_header(header.data(), version_1_2, MessageType::request, 200u << 20);
    feed(connection, header);
    Message message;
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_EQ(connection.space().size(), limits::receive_buffer_initial - header_size);
    EXPECT_LE(connection.memory_held(), limits::receive_buffer_initial);
}

TEST(GiopConnection, large_buffers_are_given_back)
{
    Connection connection(Role::server);
    const Octets large = request_of(3 << 20);
    feed(connection, large);
    Message message;
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_TRUE(std::equal(large.begin(), large.end(), message.bytes.begin(), message.bytes.end()));
    EXPECT_GE(connection.memory_held(), large.size());
    (void)connection.space();
    EXPECT_LE(connection.memory_held(), limits::receive_buffer_kept);

    const Octets medium = request_of(300'000);
    feed(connection, medium);
    ASSERT_EQ(connection.next(message), Event::message);
    const std::byte* const kept = connection.space().data();
    EXPECT_GE(connection.memory_held(), medium.size());
    feed(connection, medium);
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_EQ(message.bytes.data(), kept); // no new memory for the second one
}

TEST(GiopConnection, a_stream_of_large_messages_gets_its_memory_at_once)
{
    Connection connection(Role::server);
    const Octets large = request_of(3 << 20);
    Message message;
    const auto begin = [&] { // of a message: how much memory there is for it then
        (void)connection.space();
        feed(connection, Bytes(large).first(1000));
        EXPECT_EQ(connection.next(message), Event::need_bytes);
        (void)connection.space();
        return connection.memory_held();
    };
    const auto go_on = [&] {
        feed(connection, Bytes(large).subspan(1000));
        ASSERT_EQ(connection.next(message), Event::message);
    };
    EXPECT_LE(begin(), limits::receive_buffer_streaming); // a claim
    go_on();
    EXPECT_GE(begin(), large.size()); // what it has sent before
    go_on();
    EXPECT_TRUE(std::equal(large.begin(), large.end(), message.bytes.begin(), message.bytes.end()));
    (void)connection.space();
    EXPECT_LE(connection.memory_held(), limits::receive_buffer_kept); // and nothing between
}

/// Takes so much, and has room for buffers or not.
struct Keeper final : MemoryKeeper {
    [[nodiscard]] bool hold(std::size_t octets) noexcept override
    {
        held = octets;
        return octets <= most;
    }
    [[nodiscard]] bool may_keep() const noexcept override { return has_room; }
    std::size_t held = 0;
    std::size_t most = 10 << 20;
    bool has_room = true;
};

TEST(GiopConnection, counts_what_it_holds_with_a_keeper)
{
    Keeper keeper;
    Connection connection(Role::server);
    connection.count_with(keeper);
    Message message;
    const Octets medium = request_of(300'000);
    feed(connection, medium);
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_GE(keeper.held, medium.size());
    EXPECT_FALSE(connection.holds_much()); // it may keep that
    // From the next message on it may not.
    keeper.has_room = false;
    const Octets large = request_of(2 << 20);
    feed(connection, large);
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_TRUE(std::equal(large.begin(), large.end(), message.bytes.begin(), message.bytes.end()));
    EXPECT_GE(keeper.held, large.size());
    EXPECT_TRUE(connection.holds_much());
    connection.rest();
    EXPECT_EQ(keeper.held, 0u);
    EXPECT_EQ(connection.memory_held(), 0u);
    // Small ones pass as ever, and nothing grows beyond what they need.
    for (int i = 0; i < 3; ++i) {
        feed(connection, request_of(100));
        ASSERT_EQ(connection.next(message), Event::message);
    }
    EXPECT_LE(keeper.held, limits::receive_buffer_initial);
}

TEST(GiopConnection, ends_where_its_keeper_has_no_room)
{
    Keeper keeper;
    keeper.most = 1 << 20;
    Connection connection(Role::server);
    connection.count_with(keeper);
    EXPECT_THROW(feed(connection, request_of(3 << 20)), std::bad_alloc);
    EXPECT_LE(keeper.held, 3u << 20);
}

TEST(GiopConnection, reads_of_large_messages_end_shortly_behind_them)
{
    Connection connection(Role::server);
    const Octets large = request_of(400'000);
    const Octets stream = large + request_of(10'000);
    Message message;
    std::size_t sent = 0;
    while (sent < large.size()) {
        const MutableBytes space = connection.space();
        const std::size_t size = std::min(space.size(), stream.size() - sent);
        std::memcpy(space.data(), stream.data() + sent, size);
        connection.received(size);
        sent += size;
        if (sent < large.size()) {
            ASSERT_EQ(connection.next(message), Event::need_bytes);
        }
    }
    EXPECT_LE(sent, large.size() + 4096);
    EXPECT_EQ(connection.next(message), Event::message);
}

TEST(GiopConnection, the_first_read_of_a_message_is_as_large_as_the_last_one_was)
{
    Connection connection(Role::server);
    const Octets large = request_of(100'000);
    Message message;
    for (int i = 0; i < 2; ++i) {
        feed(connection, large);
        ASSERT_EQ(connection.next(message), Event::message);
    }
    EXPECT_GE(connection.space().size(), large.size());

    // A small one of which a part is there: reads are as small again as they were at first.
    const Octets small = request_of(1000);
    feed(connection, Bytes(small).first(500));
    ASSERT_EQ(connection.next(message), Event::need_bytes);
    feed(connection, Bytes(small).subspan(500));
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_LE(connection.space().size(), limits::receive_buffer_streaming);
}

/// Fills what the connection has space for with a stream of equal messages, from `offset` on, and
/// takes those that are whole. How many octets that was.
std::size_t read_all(Connection& connection, const Octets& message, std::size_t& offset)
{
    const MutableBytes space = connection.space();
    for (std::byte& octet : space)
        octet = message[offset++ % message.size()];
    connection.received(space.size());
    Message taken;
    while (connection.next(taken) == Event::message) {
    }
    return space.size();
}

TEST(GiopConnection, queues_that_do_not_grow_are_read_in_part)
{
    constexpr ReadSizes sizes = ReadSizes::of(false);
    static_assert(sizes.at_once < ReadSizes::of(true).at_once);
    Connection connection(Role::server, limits::message_size_max, sizes);
    const Octets request = request_of(1000);
    std::size_t offset = 0;
    for (int reads = 0; reads < 20; ++reads)
        EXPECT_LE(read_all(connection, request, offset), sizes.at_once + header_size);
    EXPECT_LE(connection.memory_held(), sizes.buffered);
}

TEST(GiopConnection, reads_of_a_stream_end_behind_the_header_of_a_message)
{
    for (const bool queue_grows : {false, true}) {
        const ReadSizes sizes = ReadSizes::of(queue_grows);
        for (const std::size_t size : {100, 1000, 8192, 16384, 32768, 131072, 1000000}) {
            Connection connection(Role::server, limits::message_size_max, sizes);
            const Octets request = request_of(size);
            std::size_t offset = 0;
            for (int reads = 0; reads < 20; ++reads)
                (void)read_all(connection, request, offset);
            for (int reads = 0; reads < 3; ++reads) {
                const std::size_t whole = std::max(sizes.at_once / request.size(), std::size_t{1});
                EXPECT_EQ(read_all(connection, request, offset), whole * request.size());
                EXPECT_EQ(offset % request.size(), header_size);
            }
        }
    }
}

TEST(GiopConnection, a_caller_that_reads_on_without_looking_gets_room)
{
    Connection connection(Role::server);
    const Octets request = request_of(1000);
    std::size_t pending = 0, offset = 0;
    while (pending < 3 * limits::receive_buffer_initial) {
        const MutableBytes space = connection.space();
        ASSERT_FALSE(space.empty());
        for (std::byte& octet : space)
            octet = request[offset++ % request.size()];
        connection.received(space.size());
        pending += space.size();
    }
    Message message;
    for (std::size_t i = 0; i < pending / request.size(); ++i)
        ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_EQ(connection.next(message), Event::need_bytes);
}

TEST(GiopConnection, close_and_error_count_in_any_version_and_size)
{
    for (const Version version : {Version{1, 0}, Version{1, 1}, Version{1, 2}, Version{1, 3},
                                  Version{2, 0}, Version{0, 0}}) {
        for (const std::uint32_t size : {0u, 4u, 0xFFFFFFFFu}) {
            Octets octets(header_size);
            write_header(octets.data(), version, MessageType::close_connection, size);
            EXPECT_EQ(event_of(octets, Role::client), Event::closed);
            EXPECT_EQ(event_of(octets, Role::server), Event::closed);
            write_header(octets.data(), version, MessageType::message_error, size, true);
            EXPECT_EQ(event_of(octets, Role::client), Event::message_error);
        }
    }
}

TEST(GiopConnection, refuses_what_is_not_giop)
{
    const Octets good = request_of(8);
    EXPECT_EQ(fault_of(good), Fault::none);
    Octets bad = good;
    bad[0] = std::byte{'g'};
    EXPECT_EQ(fault_of(bad), Fault::bad_magic);
    EXPECT_EQ(fault_of(as_bytes("GET / HTTP/1.1\r\n\r\n")), Fault::bad_magic);
    bad = good;
    bad[5] = std::byte{3};
    EXPECT_EQ(fault_of(bad), Fault::unsupported_version);
    bad[4] = std::byte{2};
    EXPECT_EQ(fault_of(bad), Fault::unsupported_version);
    for (const unsigned type : {8u, 32u, 64u, 255u}) {
        bad = good;
        bad[7] = static_cast<std::byte>(type);
        EXPECT_EQ(fault_of(bad), Fault::unknown_type);
    }
    EXPECT_EQ(fault_of(request_of(1000)), Fault::too_large);
    EXPECT_EQ(fault_of(request_of(1000), Role::server, 1100), Fault::none);
    bad = request_of(8, 1, version_1_0);
    bad[6] |= std::byte{2};
    EXPECT_EQ(fault_of(bad), Fault::invalid_flags);
    bad = Octets(16);
    write_header(bad.data(), version_1_0, MessageType::fragment, 4);
    EXPECT_EQ(fault_of(bad), Fault::unknown_type);
    write_header(bad.data(), version_1_2, MessageType::cancel_request, 4, true);
    EXPECT_EQ(fault_of(bad), Fault::invalid_flags);
    write_header(bad.data(), version_1_1, MessageType::locate_request, 4, true);
    EXPECT_EQ(fault_of(bad), Fault::invalid_flags);
}

TEST(GiopConnection, refuses_from_the_header_alone)
{
    std::array<std::byte, header_size> header;
    write_header(header.data(), version_1_2, MessageType::reply, 900);
    EXPECT_EQ(fault_of(header, Role::server), Fault::not_for_this_role);
    EXPECT_EQ(fault_of(header, Role::client), Fault::none);
    write_header(header.data(), version_1_2, MessageType::reply, 1001);
    EXPECT_EQ(fault_of(header, Role::client), Fault::too_large);
}

TEST(GiopConnection, messages_go_one_way)
{
    for (unsigned type = 0; type < 5; ++type) {
        Octets octets(header_size + 16);
        write_header(octets.data(), version_1_2, static_cast<MessageType>(type), 16);
        const bool to_server = type == 0 || type == 2 || type == 3;
        EXPECT_EQ(fault_of(octets, Role::server),
                  to_server ? Fault::none : Fault::not_for_this_role);
        EXPECT_EQ(fault_of(octets, Role::client),
                  to_server ? Fault::not_for_this_role : Fault::none);
    }
}

TEST(GiopConnection, answers_a_fault_in_the_peers_version)
{
    Connection connection(Role::server);
    EXPECT_EQ(connection.error_version(), version_1_0);
    Octets bad = request_of(8, 2, version_1_1);
    bad[0] = std::byte{0};
    feed(connection, request_of(8, 1, version_1_1) + bad);
    Message message;
    EXPECT_EQ(connection.next(message), Event::message);
    EXPECT_EQ(connection.next(message), Event::fault);
    EXPECT_EQ(connection.error_version(), version_1_1);
    Connection newer(Role::server);
    bad = request_of(8);
    bad[5] = std::byte{7};
    feed(newer, bad);
    EXPECT_EQ(newer.next(message), Event::fault);
    EXPECT_EQ(newer.error_version(), version_1_2);
}

TEST(GiopFragments, interleave_by_request_id)
{
    const Octets first = request_of(500, 1), second = request_of(300, 2), third = request_of(9, 3);
    const auto a = parts_of(first, 128), b = parts_of(second, 128);
    ASSERT_GT(a.size(), b.size());
    Octets stream;
    for (std::size_t i = 0; i < a.size(); ++i)
        stream = stream + a[i] + (i < b.size() ? b[i] : third);
    Connection connection(Role::server);
    feed(connection, stream);
    Message message;
    std::vector<Octets> arrived;
    while (connection.next(message) == Event::message)
        arrived.emplace_back(message.bytes.begin(), message.bytes.end());
    const std::size_t thirds = a.size() - b.size();
    ASSERT_EQ(arrived.size(), 2 + thirds);
    EXPECT_EQ(arrived.front(), second);
    EXPECT_EQ(arrived[thirds], first);
    EXPECT_EQ(arrived.back(), third);
    EXPECT_TRUE(connection.between_messages());
}

TEST(GiopFragments, every_part_size)
{
    const Octets whole = request_of(150, 7);
    for (std::size_t size = 0; size < whole.size() + 20; ++size) {
        const auto parts = parts_of(whole, size);
        Connection connection(Role::server);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            EXPECT_LE(parts[i].size(), std::max(size, Fragmenter::part_size_min));
            feed(connection, parts[i]);
            Message message;
            const bool last = i + 1 == parts.size();
            if (!last) {
                EXPECT_EQ(parts[i].size() % 8, 0u);
            }
            ASSERT_EQ(connection.next(message), last ? Event::message : Event::need_bytes);
            if (!last) continue;
            EXPECT_EQ(Octets(message.bytes.begin(), message.bytes.end()), whole);
        }
        EXPECT_EQ(parts.size() == 1, size >= whole.size());
    }
}

TEST(GiopFragments, one_dot_one_is_put_together_but_never_cut)
{
    const Octets whole = request_of(150, 7, version_1_1);
    Segments segments;
    segments.add(whole);
    Fragmenter fragmenter(segments, 64);
    Segments only;
    ASSERT_TRUE(fragmenter.next(only));
    EXPECT_EQ(only.size(), whole.size());
    EXPECT_FALSE(fragmenter.next(only));
    for (std::size_t size = 24; size < whole.size(); size += 8) {
        Connection connection(Role::server);
        const auto parts = parts_of_1_1(whole, size);
        EXPECT_GT(parts.size(), 1u);
        Message message;
        for (const Octets& part : parts) {
            feed(connection, part);
            const bool last = &part == &parts.back();
            ASSERT_EQ(connection.next(message), last ? Event::message : Event::need_bytes);
        }
        EXPECT_EQ(Octets(message.bytes.begin(), message.bytes.end()), whole);
        EXPECT_TRUE(message.part_begins.empty());
    }
}

TEST(GiopFragments, cuts_through_bytes_that_stayed_outside)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer, 128);
    const std::string outside(2 * cdr::Writer::external_bytes_min, 'x');
    const std::string more(cdr::Writer::external_bytes_min, 'y');
    writer.write(std::uint8_t{1});
    writer.write_octets(as_bytes(outside));
    writer.write(2.5);
    writer.write_octets(as_bytes(more));
    const RequestTemplate target(version_1_2, as_bytes("key"));
    const Segments message =
        gather(target.prepend(Body::of(writer, 128), 4, 3, "operation"), writer);
    EXPECT_EQ(message.count, 4u);
    Fragmenter fragmenter(message, 4096);
    Connection connection(Role::server);
    Message received;
    for (Segments part; fragmenter.next(part);) {
        for (const Bytes segment : part.view())
            feed(connection, segment);
        if (part.size() == 4096) {
            EXPECT_EQ(connection.next(received), Event::need_bytes);
        }
    }
    ASSERT_EQ(connection.next(received), Event::message);
    Request request;
    ASSERT_EQ(parse(received, request), cdr::Fault::none);
    EXPECT_EQ(request.body.read<std::uint8_t>(), 1);
    EXPECT_EQ(as_text(request.body.read_octets()), outside);
    EXPECT_EQ(request.body.read<double>(), 2.5);
    EXPECT_EQ(as_text(request.body.read_octets()), more);
    EXPECT_TRUE(request.body.ok());
}

// Trap 9: "In GIOP 1.1, the data in a fragment is marshaled with alignment relative to its position
// in the fragment" (CORBA 3.3 part 2, 9.4.9): omniORB cuts at multiples of eight, and then every
// value behind the cut is elsewhere than in a whole message.
TEST(Fragments, OneDotOneAlignsEachPartForItself)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer, 128);
    writer.write_bytes(Octets(13, std::byte{1}));
    const RequestTemplate target(version_1_1, as_bytes("key"));
    const MutableBytes header = target.prepend(Body::of(writer, 128), 1, 1, "operation");
    Octets first(header.begin(), header.end());
    first.insert(first.end(), writer.contiguous().begin(), writer.contiguous().end());
    first.resize((first.size() + 7) / 8 * 8); // ends at a multiple of eight
    write_header(first.data(), version_1_1, MessageType::request,
                 static_cast<std::uint32_t>(first.size() - header_size));
    first[6] |= std::byte{2};
    cdr::Buffer part_buffer;
    cdr::Writer part(part_buffer);
    part.write_bytes(Octets(header_size));
    part.write(std::uint8_t{1});
    part.write(2.5); // at 16, behind three octets of padding
    Octets second(part.contiguous().begin(), part.contiguous().end());
    write_header(second.data(), version_1_1, MessageType::fragment,
                 static_cast<std::uint32_t>(second.size() - header_size));

    Connection connection(Role::server);
    feed(connection, first);
    feed(connection, second);
    Message message;
    Event event;
    while ((event = connection.next(message)) == Event::need_bytes) {
    }
    ASSERT_EQ(event, Event::message);
    Request request;
    ASSERT_EQ(parse(message, request), cdr::Fault::none);
    EXPECT_NE(request.body.block(13, 1), nullptr);
    request.body.align(8); // what is left of the first part is padding
    EXPECT_EQ(request.body.read<std::uint8_t>(), 1);
    EXPECT_EQ(request.body.read<double>(), 2.5);
    EXPECT_EQ(request.body.left(), 0u);
    EXPECT_TRUE(request.body.ok());
}

// Trap 9: a cancelled request must not keep memory, and fragments under way do no harm.
TEST(GiopFragments, cancel_drops_the_parts)
{
    for (const Version version : {version_1_1, version_1_2}) {
        const auto parts = parts_of(request_of(500, 5, version), 128);
        const auto cancel = cancel_request(version, 5);
        Connection connection(Role::server);
        feed(connection, parts[0] + parts[1]);
        Message message;
        ASSERT_EQ(connection.next(message), Event::need_bytes);
        EXPECT_FALSE(connection.between_messages());
        feed(connection, cancel);
        ASSERT_EQ(connection.next(message), Event::message);
        EXPECT_EQ(message.type, MessageType::cancel_request);
        EXPECT_TRUE(connection.between_messages());
        feed(connection, parts[2]);
        ASSERT_EQ(connection.next(message), Event::need_bytes);
        const Octets again = request_of(400, 5, version); // the id may be used again
        for (const Octets& part : parts_of(again, 128))
            feed(connection, part);
        ASSERT_EQ(connection.next(message), Event::message);
        EXPECT_EQ(Octets(message.bytes.begin(), message.bytes.end()), again);
    }
}

TEST(GiopFragments, a_client_abandons_a_reply)
{
    Octets reply = request_of(500, 5);
    reply[7] = std::byte{1};
    const auto parts = parts_of(reply, 128);
    Connection connection(Role::client);
    Message message;
    feed(connection, parts[0]);
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    connection.abandon(5);
    EXPECT_TRUE(connection.between_messages());
    for (std::size_t i = 1; i < parts.size(); ++i)
        feed(connection, parts[i]);
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    EXPECT_FALSE(connection.ended());
}

TEST(GiopFragments, refuses_parts_that_do_not_fit)
{
    const auto parts = parts_of(request_of(500, 5), 128);
    EXPECT_EQ(fault_of(parts[1]), Fault::unexpected_fragment);
    EXPECT_EQ(fault_of(parts[0] + parts[0]), Fault::repeated_first_part);
    const auto old = parts_of(request_of(500, 5, version_1_1), 128);
    const auto other = parts_of(request_of(500, 6, version_1_1), 128);
    EXPECT_EQ(fault_of(old[0] + other[0]), Fault::repeated_first_part);
    EXPECT_EQ(fault_of(parts[0] + old[1]), Fault::unexpected_fragment);

    Octets swapped = parts[1];
    swapped[6] ^= std::byte{1};
    for (const int i : {8, 12}) {
        std::swap(swapped[i], swapped[i + 3]);
        std::swap(swapped[i + 1], swapped[i + 2]);
    }
    EXPECT_EQ(fault_of(parts[0] + swapped), Fault::malformed_fragment);
    Octets odd(header_size + 13);
    write_header(odd.data(), version_1_2, MessageType::request, 13, true);
    EXPECT_EQ(fault_of(odd), Fault::malformed_fragment);
    write_header(odd.data(), version_1_2, MessageType::fragment, 3);
    EXPECT_EQ(fault_of(odd), Fault::malformed_fragment);
    write_header(odd.data(), version_1_2, MessageType::request, 0, true);
    EXPECT_EQ(fault_of(odd), Fault::malformed_fragment);
}

TEST(GiopFragments, all_together_are_limited)
{
    Octets stream;
    for (std::uint32_t id = 0; id < limits::fragmented_messages_max; ++id)
        stream = stream + parts_of(request_of(100, id), 64)[0];
    EXPECT_EQ(fault_of(stream, Role::server, 100'000), Fault::none);
    EXPECT_EQ(fault_of(stream + parts_of(request_of(100, 999), 64)[0], Role::server, 100'000),
              Fault::too_many_fragmented);
    EXPECT_EQ(fault_of(stream, Role::server, 2000), Fault::too_large);
    Octets one;
    for (const Octets& part : parts_of(request_of(1100, 1), 64))
        one = one + part;
    EXPECT_EQ(fault_of(one, Role::server, 1000), Fault::too_large);
    EXPECT_EQ(fault_of(one, Role::server, 1200), Fault::none);
}

TEST(GiopFragments, cancelled_ones_make_place)
{
    Connection connection(Role::server);
    Message message;
    for (std::uint32_t id = 0; id < 3 * limits::fragmented_messages_max; ++id) {
        feed(connection, parts_of(request_of(100, id), 64)[0]);
        feed(connection, cancel_request(version_1_2, id));
        ASSERT_EQ(connection.next(message), Event::message) << id;
        ASSERT_TRUE(connection.between_messages());
    }
    EXPECT_LE(connection.memory_held(), 16 * limits::receive_buffer_initial);
}

// Neither a finished nor a cancelled message may count against the limit for ever.
TEST(GiopFragments, the_limit_is_for_what_is_held_now)
{
    Connection connection(Role::server, 1000);
    Message message;
    for (std::uint32_t id = 0; id < 20; ++id) {
        for (const Octets& part : parts_of(request_of(500, id), 128))
            feed(connection, part);
        ASSERT_EQ(connection.next(message), Event::message) << id;
        feed(connection, parts_of(request_of(500, id), 256)[0]);
        feed(connection, cancel_request(version_1_2, id));
        ASSERT_EQ(connection.next(message), Event::message) << id;
        ASSERT_EQ(connection.next(message), Event::need_bytes) << id;
    }
    EXPECT_TRUE(connection.between_messages());
}

TEST(GiopFragments, old_and_short_messages_stay_whole)
{
    EXPECT_EQ(parts_of(request_of(500, 1, version_1_0), 64).size(), 1u);
    const auto cancel = cancel_request(version_1_2, 1);
    EXPECT_EQ(parts_of(Octets(cancel.begin(), cancel.end()), 0).size(), 1u);
    const auto close = close_connection(version_1_2);
    EXPECT_EQ(parts_of(Octets(close.begin(), close.end()), 0).size(), 1u);
}

} // namespace
} // namespace kairos::giop
