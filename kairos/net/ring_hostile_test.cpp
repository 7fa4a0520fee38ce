// SPDX-License-Identifier: Apache-2.0
//
// Shared memory with a hostile peer: what it hands over is taken only if it can never hurt us, and
// what it writes there, says and sends afterwards makes nobody crash, hang or believe it.
#include "kairos/net/handover_testing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <linux/falloc.h>
#include <poll.h>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace kairos;
using namespace kairos::net;
using namespace std::chrono_literals;

using Octets = std::vector<std::byte>;

std::size_t descriptors()
{
    const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// --- What is handed over -------------------------------------------------------------------------

/// Whether a server takes it; and nothing stays open.
bool is_taken(const std::vector<int>& files, std::string_view text)
{
    auto pair = socket_pair();
    EXPECT_TRUE(pair);
    EXPECT_EQ(hand_over(pair->first, files, text), static_cast<ssize_t>(text.size()));
    for (const int file : files)
        ::close(file);
    pair->second.expect_memory({});
    return pair->second.agree({}).ok();
}

int ring_memory(int seals = memory_seals) { return memory_file(ring_memory_size, seals); }

TEST(RingHandover, OnlyWhatIsSealedAndOfTheRightSizeIsTaken)
{
    const std::size_t before = descriptors();
    EXPECT_TRUE(is_taken({ring_memory()}, handover_greeting));
    EXPECT_FALSE(is_taken({}, handover_greeting));
    EXPECT_FALSE(is_taken({ring_memory()}, "KRSHM"));
    EXPECT_FALSE(is_taken({ring_memory()}, "GIOP\1\2\0\0"));
    EXPECT_FALSE(is_taken({ring_memory(F_SEAL_GROW)}, handover_greeting));
    EXPECT_FALSE(is_taken({ring_memory(F_SEAL_SHRINK)}, handover_greeting));
    EXPECT_FALSE(is_taken({ring_memory(memory_seals | F_SEAL_WRITE)}, handover_greeting));
    EXPECT_FALSE(is_taken({ring_memory(memory_seals | F_SEAL_SEAL)}, handover_greeting));
    EXPECT_FALSE(is_taken({memory_file(ring_memory_size - 1, memory_seals)}, handover_greeting));
    EXPECT_FALSE(is_taken({memory_file(ring_memory_size + 4096, memory_seals)}, handover_greeting));
    EXPECT_FALSE(is_taken({memory_file(0, memory_seals)}, handover_greeting));
    EXPECT_FALSE(is_taken({::open("/dev/zero", O_RDWR | O_CLOEXEC)}, handover_greeting));
    EXPECT_FALSE(is_taken({ring_memory(), ring_memory()}, handover_greeting));
    EXPECT_FALSE(is_taken(std::vector<int>(10, ::dup(0)), handover_greeting));
    EXPECT_EQ(descriptors(), before);
}

/// What becomes of an offer to a server that does this with the file, and then answers.
template <typename Answer>
Result<void> offer_to(Answer answer)
{
    auto pair = socket_pair();
    EXPECT_TRUE(pair);
    std::thread answering([&] {
        std::array<std::byte, 8> came{};
        alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
        iovec text{came.data(), came.size()};
        msghdr message{};
        message.msg_iov = &text;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        EXPECT_EQ(::recvmsg(pair->second.descriptor(), &message, MSG_CMSG_CLOEXEC), 8);
        int file = -1;
        std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
        answer(file);
        ::close(file);
        EXPECT_TRUE(pair->second.write_all(as_bytes("\1")).ok());
    });
    auto offered = pair->first.offer_memory({}, Deadline::after(1min));
    answering.join();
    return offered;
}

TEST(RingHandover, AServerThatKeepsTheSealsOpen)
{
    constexpr int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    EXPECT_TRUE(offer_to([](int file) { EXPECT_EQ(::fallocate(file, punch, 0, 4096), 0); }))
        << "the hole is filled, and then it is sealed";
    EXPECT_FALSE(offer_to([](int file) { EXPECT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SEAL), 0); }))
        << "it cannot be sealed";
}

TEST(RingHandover, ASilentClientEndsWithItsSocket)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    pair->second.expect_memory({});
    std::thread accepting([&] { EXPECT_FALSE(pair->second.agree({})); });
    pair->first.close();
    accepting.join();
}

TEST(RingHandover, ASilentClientIsNotWaitedForLongerThanSaid)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    pair->second.expect_memory({});
    const auto accepted = pair->second.agree(Deadline::after(1ms));
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().reason, "nothing was agreed in time");
}

TEST(RingHandover, AClientThatComesInTimeIsTaken)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    pair->second.expect_memory({});
    std::thread accepting(
        [&] { EXPECT_TRUE(pair->second.agree(Deadline::after(std::chrono::hours(1)))); });
    EXPECT_TRUE(pair->first.offer_memory({}, {}));
    accepting.join();
}

TEST(RingHandover, ASilentServerIsNotWaitedForLongerThanSaid)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    EXPECT_FALSE(pair->first.offer_memory({}, Deadline::after(1ms)));
    EXPECT_EQ(pair->first.prepare_poll(Interest::readable), Interest::readable)
        << "it is the socket that it was";
}

TEST(RingHandover, AServerThatSaysSomethingElse)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    ASSERT_TRUE(pair->second.write_all(as_bytes("GIOP")).ok());
    EXPECT_FALSE(pair->first.offer_memory({}, {}));
}

// --- What is done with it afterwards -------------------------------------------------------------

/// A server that hostile clients have given memory to, which they have mapped too.
class HostileClient : public testing::Test {
  protected:
    HostileClient() : file_(ring_memory())
    {
        auto pair = socket_pair();
        EXPECT_TRUE(pair);
        client = std::move(pair->first);
        server = std::move(pair->second);
        EXPECT_EQ(hand_over(client, std::span(&file_, 1), handover_greeting), 8);
        void* const mapped =
            ::mmap(nullptr, ring_memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        EXPECT_NE(mapped, MAP_FAILED);
        to_server = static_cast<RingControl*>(mapped);
        to_client =
            reinterpret_cast<RingControl*>(static_cast<std::byte*>(mapped) + ring_memory_size / 2);
        server.expect_memory({});
        const auto accepted = server.agree({});
        EXPECT_TRUE(accepted) << accepted.error().reason;
    }
    ~HostileClient() override
    {
        ::munmap(to_server, ring_memory_size);
        ::close(file_);
    }

    const int file_;
    Socket client;
    Socket server;
    RingControl* to_server = nullptr;
    RingControl* to_client = nullptr;
};

TEST_F(HostileClient, CannotTakeTheMemoryBack)
{
    constexpr int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    EXPECT_NE(::ftruncate(file_, 0), 0);
    EXPECT_NE(::fallocate(file_, punch, 0, 4096), 0);
    EXPECT_NE(::madvise(to_server, 4096, MADV_REMOVE), 0);
    EXPECT_NE(::fcntl(file_, F_ADD_SEALS, F_SEAL_WRITE), 0);
}

/// Nobody writes into a connection of which it is known that its peer lies.
TEST_F(HostileClient, WhoSaysWhatCannotBeIsNotWrittenToEither)
{
    std::thread writing([this] {
        EXPECT_EQ(server.write_all(Bytes(Octets(3 * std::size_t{RingChannel::capacity}))).status,
                  IoResult::Status::closed);
    });
    while (to_client->head.word != RingChannel::capacity) // the ring is full, it waits
        std::this_thread::yield();
    to_server->head.word = RingChannel::capacity + 1;
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(server.read(buffer).status, IoResult::Status::failed);
    writing.join();
}

/// Else the end of a server could be put off for ever.
TEST_F(HostileClient, CannotPretendToTakeWhatItDoesNot)
{
    EXPECT_FALSE(server.stuck_at());
    std::thread writing([this] {
        EXPECT_EQ(server.write_all(Bytes(Octets(3 * std::size_t{RingChannel::capacity}))).status,
                  IoResult::Status::closed);
    });
    while (!server.stuck_at())
        std::this_thread::yield();
    const auto at = server.stuck_at();
    for (std::uint32_t head = 0; head < 100; ++head) {
        to_client->head.word = head;
        EXPECT_EQ(server.stuck_at(), at);
    }
    to_client->tail.word = 1; // now it has
    to_client->writer_bell.word += 1;
    while (server.stuck_at() == at) // it looks by itself, once a second
        std::this_thread::yield();
    client.close();
    writing.join();
    EXPECT_FALSE(server.stuck_at());
}

TEST_F(HostileClient, MayKnockForEver)
{
    std::array<std::byte, 4> buffer;
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(server.prepare_poll(Interest::readable), Interest::readable);
        ASSERT_EQ(::send(client.descriptor(), "knock", 5, MSG_DONTWAIT), 5);
        pollfd readable{.fd = server.descriptor(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
        EXPECT_EQ(server.read(buffer, ReadFlags::do_not_wait).status,
                  IoResult::Status::would_block);
    }
    EXPECT_EQ(server.read(buffer, Deadline::after(1ms)).status, IoResult::Status::would_block);
}

/// They come with the octets that wake who polls, and stay with the system.
TEST_F(HostileClient, MaySendDescriptorsLater)
{
    const std::size_t before = descriptors();
    const std::array<int, 3> files{file_, client.descriptor(), server.descriptor()};
    EXPECT_EQ(server.prepare_poll(Interest::readable), Interest::readable);
    ASSERT_EQ(hand_over(client, files, "knock"), 5);
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(server.read(buffer, ReadFlags::do_not_wait).status, IoResult::Status::would_block);
    EXPECT_EQ(descriptors(), before);
}

/// A peer that writes anything into every word while we read and write. What we get is nonsense;
/// but we go on, and when the socket ends so do we.
class HostileWords : public HostileClient, public testing::WithParamInterface<unsigned> {};

TEST_P(HostileWords, NeitherCrashNorHangUs)
{
    std::thread reading([&] {
        std::array<std::byte, 1000> buffer;
        while (server.read(buffer).ok()) {
        }
    });
    std::thread writing([&] {
        const Octets some(1000);
        while (server.write(Bytes(some)).ok()) {
        }
    });
    std::mt19937 random(GetParam());
    // The control words of both rings, small changes and large ones.
    for (int i = 0; i < 3000; ++i) {
        RingControl& ring = random() % 2 == 0 ? *to_server : *to_client;
        const std::array lines{&ring.head,         &ring.tail,        &ring.reader_waits,
                               &ring.writer_waits, &ring.reader_bell, &ring.writer_bell};
        std::atomic<std::uint32_t>& word = lines.at(random() % lines.size())->word;
        if (random() % 8 == 0)
            word.store(static_cast<std::uint32_t>(random() >> random() % 32),
                       std::memory_order_relaxed);
        else
            word.fetch_add(static_cast<std::uint32_t>(random() % 100), std::memory_order_relaxed);
    }
    client.close();
    reading.join();
    writing.join();
}
INSTANTIATE_TEST_SUITE_P(Seeds, HostileWords, testing::Range(1U, 21U));

// --- Blocks that are not there -------------------------------------------------------------------

/// A server whose hostile client has offered memory for blocks.
class HostileBlocks : public testing::Test {
  protected:
    static constexpr std::size_t more = std::size_t{1} << 20;
    static constexpr std::size_t at = align_up(ring_memory_size, SharedMemory::more_grain);
    static constexpr std::uint32_t units = 7;

    HostileBlocks() : file_(memory_file(at + more, memory_seals))
    {
        auto pair = socket_pair();
        EXPECT_TRUE(pair);
        client = std::move(pair->first);
        server = std::move(pair->second);
        EXPECT_EQ(hand_over(client, std::span(&file_, 1), handover_greeting), 8);
        void* const mapped =
            ::mmap(nullptr, at + more, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        EXPECT_NE(mapped, MAP_FAILED);
        memory_ = static_cast<std::byte*>(mapped);
        to_server = static_cast<RingControl*>(mapped);
        announced = reinterpret_cast<BlockControl*>(memory_ + at);
        returned = reinterpret_cast<std::atomic<std::uint32_t>*>(
            reinterpret_cast<BlockControl*>(memory_ + at + more / 2) + 1);
        server.expect_memory({}, more);
        const auto accepted = server.agree({});
        EXPECT_TRUE(accepted) << accepted.error().reason;
        std::byte answer{};
        EXPECT_EQ(::recv(client.descriptor(), &answer, 1, 0), 1);
        EXPECT_EQ(answer, std::byte{2});
    }
    ~HostileBlocks() override
    {
        ::munmap(memory_, at + more);
        ::close(file_);
    }
    void announce(std::uint32_t position, std::uint32_t unit, std::uint32_t size)
    {
        const std::uint32_t count = to_server->head.blocks;
        BlockControl::Entry& entry = announced->entries[count % BlockControl::announced_max];
        entry.position = position;
        entry.unit = unit;
        entry.size = size;
        to_server->head.blocks = count + 1;
    }
    IoResult read_now(std::span<std::byte> buffer)
    {
        return server.read(MutableBytes(buffer), ReadFlags::do_not_wait);
    }

    const int file_;
    Socket client;
    Socket server;
    std::byte* memory_ = nullptr;
    RingControl* to_server = nullptr;
    BlockControl* announced = nullptr;
    std::atomic<std::uint32_t>* returned = nullptr; // of what the server writes
};

TEST_F(HostileBlocks, AreReadWhereTheyCanBeOnly)
{
    Octets buffer(std::size_t{units} * BlockMemory::unit_size + 1);
    announce(0, 6, BlockMemory::unit_size); // pages that nobody has ever written to
    EXPECT_EQ(read_now(buffer).bytes, BlockMemory::unit_size);
    announce(0, 0, units * BlockMemory::unit_size);
    EXPECT_EQ(read_now(buffer).bytes, units * BlockMemory::unit_size);
    announce(0, 3, 5); // smaller than an honest one
    EXPECT_EQ(read_now(buffer).bytes, 5u);
    announce(17, 0, BlockMemory::unit_size); // behind octets that never come
    EXPECT_EQ(read_now(buffer).status, IoResult::Status::would_block);
}

/// What was announced is read when the peer has died, but no more than can have been.
TEST_F(HostileBlocks, OfAPeerThatHasDiedAreReadOnceEach)
{
    for (std::uint32_t i = 0; i < BlockControl::announced_max; ++i)
        announce(0, 0, BlockMemory::unit_size);
    client.close();
    Octets buffer(BlockMemory::unit_size);
    for (std::uint32_t i = 0; i < BlockControl::announced_max; ++i)
        ASSERT_EQ(server.read(MutableBytes(buffer)).bytes, buffer.size());
    EXPECT_EQ(server.read(MutableBytes(buffer)).status, IoResult::Status::closed);
}

TEST_F(HostileBlocks, AreNotMoreThanCanBe)
{
    for (std::uint32_t i = 0; i < BlockControl::announced_max; ++i)
        announce(0, 0, BlockMemory::unit_size);
    Octets buffer(BlockMemory::unit_size);
    EXPECT_EQ(read_now(buffer).bytes, buffer.size());
    for (const std::uint32_t ahead : {BlockControl::announced_max + 2, 0xFFFF'FFFFU, 2U}) {
        to_server->head.blocks = ahead;
        client.close(); // as one that is killed does
        EXPECT_EQ(server.read(MutableBytes(buffer)).status, IoResult::Status::failed)
            << "and nothing is read any more: " << ahead;
    }
}

class HostileAnnouncements
    : public HostileBlocks,
      public testing::WithParamInterface<std::pair<std::uint32_t, std::uint32_t>> {};

TEST_P(HostileAnnouncements, EndTheConnection)
{
    announce(0, GetParam().first, GetParam().second);
    Octets buffer(1000);
    EXPECT_EQ(read_now(buffer).status, IoResult::Status::failed);
    EXPECT_EQ(server.write(as_bytes("x")).status, IoResult::Status::closed);
}
INSTANTIATE_TEST_SUITE_P(Lies, HostileAnnouncements,
                         testing::Values(std::pair{0U, 0U}, std::pair{0U, 7U * 65'536 + 1},
                                         std::pair{6U, 65'537U}, std::pair{7U, 65'536U},
                                         std::pair{~0U, 65'536U}, std::pair{1U, ~0U},
                                         std::pair{~0U, ~0U}, std::pair{0x1'0000U, 0xFFFF'0000U}));

/// What it says that has come back we believe, and what is overwritten then was written for it.
TEST_F(HostileBlocks, MaySayThatTheyHaveComeBackOrNot)
{
    const Octets block(std::size_t{2} * BlockMemory::unit_size);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(server.write(Bytes(block), WriteFlags::do_not_wait).bytes, block.size());
    EXPECT_EQ(server.write(Bytes(block), WriteFlags::do_not_wait).bytes, RingChannel::capacity);
    for (std::uint32_t unit = 0; unit < 6; ++unit)
        returned[unit] = 1;
    EXPECT_EQ(server.write(Bytes(block), WriteFlags::do_not_wait).bytes, block.size());
    for (std::uint32_t unit = 0; unit < 6; ++unit)
        returned[unit] = 1000;
    EXPECT_EQ(server.write(Bytes(block), WriteFlags::do_not_wait).status,
              IoResult::Status::would_block)
        << "what cannot have come back has not";
}

/// A peer that writes anything into every word while we read, lend and write.
TEST_F(HostileBlocks, NeitherCrashNorHangUs)
{
    class Holder final : public BlockTaker {
      public:
        [[nodiscard]] bool take(Bytes block, std::shared_ptr<const void> lease) noexcept override
        {
            last_ = block.back();
            lease_ = std::move(lease);
            return last_ != std::byte{1};
        }

      private:
        volatile std::byte last_{};
        std::shared_ptr<const void> lease_;
    } holder;
    server.offer_blocks(&holder);
    std::atomic<bool> reads{true};
    std::thread reading([&] {
        Octets buffer(100'000);
        while (server.read(MutableBytes(buffer)).ok()) {
        }
        reads = false;
    });
    std::thread writing([&] {
        const Octets some(BlockMemory::block_min);
        while (server.write(Bytes(some)).ok()) {
        }
    });
    std::mt19937 random(1);
    const auto* const given_back = reinterpret_cast<std::atomic<std::uint32_t>*>(announced + 1);
    for (int i = 0; i < 20'000 && reads; ++i) {
        // No more than can be, most of the time: else the connection would soon be at its end.
        std::uint32_t waiting = to_server->head.blocks;
        for (std::uint32_t unit = 0; unit < units; ++unit)
            waiting -= given_back[unit];
        if (waiting < BlockControl::announced_max / 2 || random() % 1024 == 0)
            announce(to_server->tail.word, random() % units, 1 + random() % BlockMemory::unit_size);
        returned[random() % units] += random() % 2;
        memory_[at + random() % more] = std::byte(random());
    }
    client.close();
    reading.join();
    writing.join();
    EXPECT_EQ(server.write(as_bytes("x")).status, IoResult::Status::closed);
}

} // namespace
