// SPDX-License-Identifier: Apache-2.0
//
// Messages of which a block lies elsewhere, in memory that the peer can still write to: where it is
// handed out, and that it is copied, once, for everybody else.
#include "kairos/giop/connection.h"
#include "kairos/giop/request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace kairos::giop {
namespace {

using Event = Connection::Event;
using Role = Connection::Role;
using Octets = std::vector<std::byte>;

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

/// A request whose body is a sequence of octets, and a number behind it if there is to be one: what
/// is in front of the octets, these, and what follows.
struct RequestWithBlock {
    explicit RequestWithBlock(std::size_t size, bool has_more = false)
        : octets(size), message([&] {
              for (std::size_t i = 0; i < size; ++i)
                  octets[i] = std::byte(i * 7 + i / 251);
              cdr::Buffer buffer;
              cdr::Writer writer(buffer, 128);
              const cdr::Writer::CopyAll copied(writer);
              writer.write_octets(octets);
              if (has_more) writer.write(std::uint32_t{17});
              const RequestTemplate target(version_1_2, as_bytes("key"));
              const MutableBytes header = target.prepend(Body::of(writer, 128), 1, 3, "operation");
              Octets whole(header.begin(), header.end());
              const Bytes body = writer.contiguous();
              whole.insert(whole.end(), body.begin(), body.end());
              return whole;
          }())
    {
        const std::size_t behind = has_more ? align_up(size, 4) - size + 4 : 0;
        front = Bytes(message).first(message.size() - size - behind);
        tail = Bytes(message).last(behind);
    }

    Octets octets;
    Octets message;
    Bytes front;
    Bytes tail;
};

class Blocks : public testing::Test {
  protected:
    /// Whether it takes the octets in place of a read.
    bool takes(Bytes block)
    {
        if (!taker.take(block, lease)) return false;
        connection.received(block.size());
        return true;
    }
    /// Has all of a request come; what is handed out.
    Event receive(const RequestWithBlock& request)
    {
        feed(connection, request.front);
        EXPECT_EQ(connection.next(message), Event::need_bytes);
        (void)connection.space();
        EXPECT_TRUE(takes(request.octets));
        if (!request.tail.empty()) {
            EXPECT_EQ(connection.next(message), Event::need_bytes);
            feed(connection, request.tail);
        }
        return connection.next(message);
    }
    /// The arguments of what was handed out.
    cdr::Reader& body()
    {
        EXPECT_EQ(parse(message, request_), cdr::Fault::none);
        EXPECT_EQ(request_.operation, "operation");
        EXPECT_TRUE(connection.enter_gap(request_.body));
        return request_.body;
    }

    Connection connection{Role::server};
    BlockTaker& taker = connection.block_taker();
    const std::shared_ptr<const void> lease = std::make_shared<int>(1);
    Message message;

  private:
    Request request_;
};

TEST_F(Blocks, are_handed_out_where_they_lie)
{
    for (const bool has_more : {false, true}) {
        const RequestWithBlock request(100'001, has_more);
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(receive(request), Event::message_with_gap);
            cdr::Reader& in = body();
            EXPECT_EQ(in.read<std::uint32_t>(), request.octets.size());
            EXPECT_EQ(in.lent_block(request.octets.size() - 1, 1), nullptr) << "all or nothing";
            EXPECT_EQ(in.lent_block(request.octets.size(), 1), request.octets.data());
            if (has_more) {
                EXPECT_EQ(in.read<std::uint32_t>(), 17u);
            }
            EXPECT_TRUE(in.ok());
            EXPECT_EQ(in.left(), 0u);
            EXPECT_EQ(connection.next(message), Event::need_bytes);
            EXPECT_EQ(lease.use_count(), 2);
            (void)connection.space();
            EXPECT_EQ(lease.use_count(), 1);
        }
    }
}

/// What whoever has written them does to them then makes no difference.
TEST_F(Blocks, are_copied_once_for_whoever_reads_otherwise)
{
    const auto whole = [](cdr::Reader& in) { return in.read_octets(); };
    const auto by_octet = [](cdr::Reader& in) {
        const auto length = in.read<std::uint32_t>();
        const Bytes octets(in.bytes().data() + in.offset(), length);
        for (std::uint32_t i = 0; i < length; ++i)
            EXPECT_EQ(std::byte{in.read<std::uint8_t>()}, octets[i]);
        return octets;
    };
    const auto by_parts = [](cdr::Reader& in) {
        const auto length = in.read<std::uint32_t>();
        const Bytes octets(in.block(1000, 1), length);
        EXPECT_NE(in.block(length - 1000, 1), nullptr);
        return octets;
    };
    const auto out_of_chunks = [](cdr::Reader& in) {
        struct None final : cdr::ChunkSource {
            void next_chunk(cdr::Reader& in) noexcept override { in.fail(cdr::Fault::truncated); }
            [[nodiscard]] std::byte* gathered(std::size_t) override { return nullptr; }
        } none;
        const auto length = in.read<std::uint32_t>();
        EXPECT_FALSE(in.in_chunk());
        in.enter_chunk(1000, none);
        const Bytes octets(in.block(1000, 1), length);
        in.leave_chunk();
        EXPECT_NE(in.block(length - 1000, 1), nullptr);
        return octets;
    };
    const std::vector<std::function<Bytes(cdr::Reader&)>> ways{whole, by_octet, by_parts,
                                                               out_of_chunks};
    for (const auto& read : ways) {
        RequestWithBlock request(70'000, true);
        const Octets original = request.octets;
        ASSERT_EQ(receive(request), Event::message_with_gap);
        cdr::Reader& in = body();
        cdr::Reader other = in;
        const Bytes octets = read(in);
        std::ranges::fill(request.octets, std::byte{0xEE});
        EXPECT_TRUE(std::ranges::equal(octets, original));
        EXPECT_TRUE(std::ranges::equal(whole(other), original));
        EXPECT_EQ(in.read<std::uint32_t>(), 17u);
        EXPECT_TRUE(in.ok());
        EXPECT_EQ(in.left(), 0u);
    }
}

TEST_F(Blocks, leave_a_message_that_can_be_had_whole)
{
    const RequestWithBlock request(70'000, true);
    ASSERT_EQ(receive(request), Event::message_with_gap);
    EXPECT_EQ(message.bytes.size(), request.front.size());
    EXPECT_TRUE(std::ranges::equal(connection.filled().bytes, request.message));
    // The next one is as any other.
    feed(connection, request.message);
    ASSERT_EQ(connection.next(message), Event::message);
    EXPECT_TRUE(std::ranges::equal(message.bytes, request.message));
    EXPECT_EQ(lease.use_count(), 1);
}

TEST_F(Blocks, stay_with_messages_that_are_kept)
{
    const RequestWithBlock request(70'000);
    ASSERT_EQ(receive(request), Event::message_with_gap);
    cdr::Reader in = body();
    EXPECT_EQ(in.read<std::uint32_t>(), 70'000u);
    const std::byte* const view = in.lent_block(70'000, 1);
    {
        const Connection::Kept kept = connection.keep_messages();
        ASSERT_EQ(receive(request), Event::message_with_gap);
        (void)connection.space();
        EXPECT_EQ(lease.use_count(), 2) << "that of the kept one";
        EXPECT_EQ(view, request.octets.data());
    }
    EXPECT_EQ(lease.use_count(), 1);
    ASSERT_EQ(receive(request), Event::message_with_gap);
    connection.rest();
    EXPECT_EQ(lease.use_count(), 1);
}

/// Who reads them then as any others does so into memory that it was given before.
TEST_F(Blocks, that_are_refused_leave_the_memory_that_is_read_into)
{
    struct Keeper final : MemoryKeeper {
        [[nodiscard]] bool hold(std::size_t octets) noexcept override { return octets <= most; }
        [[nodiscard]] bool may_keep() const noexcept override { return true; }
        std::size_t most = std::size_t{200} << 10;
    } keeper;
    const RequestWithBlock request(300'000);
    Connection counted(Role::server);
    counted.count_with(keeper);
    feed(counted, request.front);
    ASSERT_EQ(counted.next(message), Event::need_bytes);
    const MutableBytes space = counted.space();
    const std::size_t held = counted.memory_held();
    EXPECT_FALSE(counted.block_taker().take(request.octets, lease));
    EXPECT_EQ(counted.memory_held(), held) << "nothing has moved";
    EXPECT_EQ(lease.use_count(), 1);
    const Bytes part = Bytes(request.octets).first(std::min(space.size(), request.octets.size()));
    std::memcpy(space.data(), part.data(), part.size());
    counted.received(part.size());
    keeper.most *= 10;
    ASSERT_EQ(counted.next(message), Event::need_bytes);
    feed(counted, Bytes(request.octets).subspan(part.size()));
    ASSERT_EQ(counted.next(message), Event::message);
    EXPECT_TRUE(std::ranges::equal(message.bytes, request.message));
}

/// Only one of a message that is known, and that it lies in wholly.
TEST_F(Blocks, are_not_taken_everywhere)
{
    const RequestWithBlock request(70'000, true);
    (void)connection.space();
    EXPECT_FALSE(takes(request.octets)) << "between messages";
    feed(connection, request.front.first(10));
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    (void)connection.space();
    EXPECT_FALSE(takes(request.octets)) << "within a header";
    feed(connection, request.front.subspan(10));
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    (void)connection.space();
    EXPECT_FALSE(takes(Octets(80'000))) << "longer than the message";
    EXPECT_TRUE(takes(Bytes(request.octets).first(66'000)));
    (void)connection.space();
    EXPECT_FALSE(takes(Bytes(request.octets).subspan(66'000))) << "a second one";
    feed(connection, Bytes(request.octets).subspan(66'000));
    feed(connection, request.tail);
    ASSERT_EQ(connection.next(message), Event::message_with_gap);
    cdr::Reader& in = body();
    EXPECT_TRUE(std::ranges::equal(in.read_octets(), request.octets)) << "a part is copied";
    EXPECT_EQ(in.read<std::uint32_t>(), 17u);

    Octets first_fragment = request.message;
    first_fragment[6] |= std::byte{2};
    feed(connection, Bytes(first_fragment).first(request.front.size()));
    EXPECT_EQ(connection.next(message), Event::need_bytes);
    (void)connection.space();
    EXPECT_FALSE(takes(Octets(66'000))) << "of a message in fragments";

    Connection other(Role::server);
    Octets claimed = request.message;
    claimed[11] = std::byte{1}; // 16 MiB more
    feed(other, Bytes(claimed).first(request.front.size()));
    EXPECT_EQ(other.next(message), Event::need_bytes);
    (void)other.space();
    EXPECT_FALSE(other.block_taker().take(request.octets, lease)) << "a claim beyond what came";
}

} // namespace
} // namespace kairos::giop
