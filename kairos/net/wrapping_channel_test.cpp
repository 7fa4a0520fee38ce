// SPDX-License-Identifier: Apache-2.0
//
// A channel that says only what is done without waiting is driven by threads that block, and by
// who polls.
#include "kairos/net/wrapping_channel.h"

#include <array>
#include <gtest/gtest.h>
#include <thread>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;
using Status = IoResult::Status;

constexpr std::byte change{0x33};
constexpr std::byte hello{0x11};
constexpr std::byte welcome{0x22};

/// The one that does not await its peer says hello, the other welcomes it. Then every octet is
/// changed, and what comes is read by four.
class Changing final : public WrappingChannel {
  public:
    Changing(int descriptor, bool awaits_peer)
        : WrappingChannel(descriptor, awaits_peer), answers_(awaits_peer)
    {
    }

  private:
    IoResult shake_hands() noexcept override
    {
        const std::byte mine = answers_ ? welcome : hello;
        if (!answers_ && !has_sent_) {
            if (const IoResult sent = send(Bytes(&mine, 1)); !sent.ok()) return sent;
            has_sent_ = true;
        }
        std::byte theirs{};
        if (const IoResult got = receive(MutableBytes(&theirs, 1)); !got.ok()) return got;
        if (theirs != (answers_ ? hello : welcome)) return refuse("it was not greeted");
        return answers_ ? send(Bytes(&mine, 1)) : IoResult{};
    }
    IoResult take(MutableBytes buffer, bool peek) noexcept override
    {
        if (at_ == end_) {
            const IoResult got = receive(four_);
            if (!got.ok()) return got;
            at_ = 0;
            end_ = got.bytes;
        }
        buffer.front() = four_[at_] ^ change;
        if (!peek) ++at_;
        return {.bytes = 1};
    }
    IoResult put(std::span<const iovec> segments) noexcept override
    {
        for (const iovec& segment : segments) {
            if (segment.iov_len == 0) continue;
            const std::byte changed = *static_cast<const std::byte*>(segment.iov_base) ^ change;
            return send(Bytes(&changed, 1));
        }
        return {};
    }
    bool has_at_hand() const noexcept override { return at_ != end_; }

    const bool answers_;
    bool has_sent_ = false;
    std::array<std::byte, 4> four_{};
    std::size_t at_ = 0;
    std::size_t end_ = 0;
};

class Wrapping : public testing::Test {
  protected:
    Wrapping()
    {
        auto pair = socket_pair();
        client_ = std::move(pair->first);
        server_ = std::move(pair->second);
    }
    static void wrap(Socket& socket, bool awaits_peer)
    {
        socket.set_channel(std::make_unique<Changing>(socket.descriptor(), awaits_peer));
    }
    void wrap_both(bool server_blocks = true)
    {
        if (!server_blocks) {
            ASSERT_TRUE(server_.set_non_blocking(true));
        }
        wrap(client_, false);
        wrap(server_, true);
    }
    static std::string read(Socket& socket, std::size_t size)
    {
        std::string text(size, '\0');
        for (std::size_t had = 0; had < size;) {
            const IoResult got = socket.read(as_writable_bytes(std::span(text)).subspan(had));
            if (!got.ok()) return text.substr(0, had);
            had += got.bytes;
        }
        return text;
    }

    Socket client_;
    Socket server_;
};

TEST_F(Wrapping, ThreadsThatBlockShakeHandsInTheirFirstReadsAndWrites)
{
    wrap_both();
    EXPECT_TRUE(client_.is_agreeing());
    std::thread serving([&] {
        EXPECT_EQ(read(server_, 5), "hello");
        EXPECT_TRUE(server_.write_all(as_bytes("welcome")).ok());
    });
    EXPECT_TRUE(client_.write_all(as_bytes("hello")).ok());
    EXPECT_EQ(read(client_, 7), "welcome");
    serving.join();
    EXPECT_FALSE(client_.is_agreeing());
    EXPECT_FALSE(server_.is_agreeing());
}

TEST_F(Wrapping, BothDirectionsAtOnce)
{
    wrap_both();
    std::thread agreeing([&] { EXPECT_TRUE(server_.agree({})); });
    EXPECT_TRUE(client_.agree({}));
    agreeing.join();
    const std::string much(20'000, 'm');
    std::thread writing([&] { EXPECT_TRUE(client_.write_all(as_bytes(much)).ok()); });
    std::thread answering([&] { EXPECT_TRUE(server_.write_all(as_bytes(much)).ok()); });
    std::thread reading([&] { EXPECT_EQ(read(client_, much.size()), much); });
    EXPECT_EQ(read(server_, much.size()), much);
    writing.join();
    answering.join();
    reading.join();
}

TEST_F(Wrapping, WhoPollsNeverWaits)
{
    wrap_both(false);
    std::byte octet{};
    const MutableBytes one(&octet, 1);
    EXPECT_EQ(server_.read(one).status, Status::would_block);
    EXPECT_EQ(server_.write(as_bytes("x")).status, Status::would_block);
    EXPECT_EQ(server_.prepare_poll(Interest::writable), Interest::readable) << "that is awaited";
    std::thread agreeing([&] { EXPECT_TRUE(client_.agree({})); });
    EXPECT_TRUE(wait_at(server_.descriptor(), poll_events(Interest::readable), {}).ok());
    EXPECT_EQ(server_.read(one).status, Status::would_block);
    agreeing.join();
    EXPECT_FALSE(server_.is_agreeing());
    EXPECT_EQ(server_.prepare_poll(Interest::writable), Interest::writable);
    EXPECT_TRUE(client_.write_all(as_bytes("ab")).ok());
    EXPECT_EQ(server_.prepare_poll(Interest::readable), Interest::readable);
    ASSERT_TRUE(server_.read(one, ReadFlags::peek).ok());
    EXPECT_EQ(octet, std::byte{'a'});
    EXPECT_EQ(server_.prepare_poll(Interest::readable), Interest::none) << "it is at hand";
    ASSERT_TRUE(server_.read(one).ok());
    EXPECT_EQ(octet, std::byte{'a'});
    ASSERT_TRUE(server_.read(one).ok());
    EXPECT_EQ(octet, std::byte{'b'});
    EXPECT_EQ(server_.prepare_poll(Interest::readable), Interest::readable);
    EXPECT_EQ(server_.read(one).status, Status::would_block);
}

TEST_F(Wrapping, WhoIsNotGreetedSaysWhyAndReadsNoMore)
{
    wrap(server_, true);
    ASSERT_TRUE(client_.write_all(as_bytes("x")).ok());
    const auto agreed = server_.agree({});
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().reason, "it was not greeted");
    EXPECT_TRUE(server_.is_agreeing());
    EXPECT_EQ(server_.prepare_poll(Interest::readable), Interest::none);
    std::byte octet{};
    EXPECT_EQ(server_.read(MutableBytes(&octet, 1)).status, Status::closed);
    EXPECT_EQ(server_.refusal(), "it was not greeted");
}

TEST_F(Wrapping, TimeLimitsEndReadsAndAgreements)
{
    wrap(server_, true);
    const auto agreed = server_.agree(Deadline::after(1ms));
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().reason, "nothing was agreed in time");
    server_.limit_reading(1ms);
    std::byte octet{};
    EXPECT_EQ(server_.read(MutableBytes(&octet, 1)).status, Status::would_block);
    wrap(client_, false);
    std::thread agreeing([&] { EXPECT_TRUE(client_.agree({})); });
    EXPECT_TRUE(server_.agree({}));
    agreeing.join();
    EXPECT_EQ(server_.read(MutableBytes(&octet, 1)).status, Status::would_block);
}

TEST_F(Wrapping, AnotherThreadEndsAReadAndAnAgreement)
{
    wrap_both();
    std::thread ending([&] { server_.shutdown_read(); });
    EXPECT_FALSE(server_.agree({}));
    ending.join();
    EXPECT_TRUE(server_.refusal().empty());
}

TEST_F(Wrapping, ItsDescriptorIsNotReadInItsPlace)
{
    EXPECT_TRUE(client_.is_plain());
    wrap_both();
    EXPECT_FALSE(client_.is_plain());
    EXPECT_FALSE(client_.bypasses_descriptor());
}

TEST_F(Wrapping, IsWhatItsDuplicateHasToo)
{
    wrap_both();
    std::thread agreeing([&] { EXPECT_TRUE(client_.agree({})); });
    EXPECT_TRUE(server_.agree({}));
    agreeing.join();
    auto other = client_.duplicate();
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor(), client_.descriptor());
    client_.close();
    EXPECT_TRUE(other->write_all(as_bytes("a")).ok());
    std::byte octet{};
    ASSERT_TRUE(server_.read(MutableBytes(&octet, 1)).ok());
    EXPECT_EQ(octet, std::byte{'a'}) << "it is open, and changes what is sent";
    auto third = other->duplicate();
    ASSERT_TRUE(third);
    third->leave_to_parent(); // as a child does of each that it has
    EXPECT_TRUE(other->write_all(as_bytes("b")).ok()) << "the descriptor is another's, too";
    ASSERT_TRUE(server_.read(MutableBytes(&octet, 1)).ok());
    EXPECT_EQ(octet, std::byte{'b'});
    other->close(); // the last of them
    EXPECT_EQ(server_.read(MutableBytes(&octet, 1)).status, Status::closed);
}

} // namespace
} // namespace kairos::net
