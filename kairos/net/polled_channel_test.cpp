// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/polled_channel.h"

#include "kairos/net/connector.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;

class Polled : public testing::Test {
  protected:
    Polled()
    {
        auto pair = socket_pair();
        EXPECT_TRUE(pair);
        reader_ = std::move(pair->first);
        writer_ = std::move(pair->second);
        reader_.poll_before_reading();
    }
    [[nodiscard]] static std::string read(Socket& socket, ReadFlags flags = ReadFlags::none)
    {
        std::array<std::byte, 64> buffer;
        const IoResult got = socket.read(buffer, flags);
        if (got.status == IoResult::Status::closed) return "closed";
        if (got.status == IoResult::Status::would_block) return "nothing";
        return std::string(as_text(Bytes(buffer).first(got.bytes)));
    }
    static void write(Socket& socket, std::string_view text)
    {
        EXPECT_EQ(socket.write(as_bytes(text)).bytes, text.size());
    }

    Socket reader_;
    Socket writer_;
};

TEST_F(Polled, ReadsAndWritesAsEverySocket)
{
    EXPECT_EQ(read(reader_, ReadFlags::do_not_wait), "nothing");
    write(writer_, "there");
    EXPECT_EQ(read(reader_, ReadFlags::peek), "there");
    EXPECT_EQ(read(reader_), "there");
    std::thread later([this] { write(writer_, "comes"); });
    EXPECT_EQ(read(reader_), "comes");
    later.join();
    write(reader_, "back");
    std::array<iovec, 2> parts{{{const_cast<char*>(" and"), 4}, {const_cast<char*>(" forth"), 6}}};
    EXPECT_EQ(reader_.write(std::span<const iovec>(parts)).bytes, 10u);
    EXPECT_EQ(read(writer_), "back and forth");
}

TEST_F(Polled, EndsWhenItIsShutDown)
{
    write(reader_, "question"); // or it would not poll
    std::thread reading([this] { EXPECT_EQ(read(reader_), "closed"); });
    reader_.shutdown_read();
    reading.join();
}

TEST_F(Polled, EndsWithItsPeer)
{
    write(reader_, "question");
    std::thread reading([this] { EXPECT_EQ(read(reader_), "closed"); });
    EXPECT_EQ(read(writer_), "question");
    writer_.close();
    reading.join();
}

TEST_F(Polled, LimitedReadsEnd)
{
    write(reader_, "question");
    reader_.limit_reading(1ms);
    EXPECT_EQ(read(reader_), "nothing");
    write(writer_, "came");
    EXPECT_EQ(read(reader_), "came");
    reader_.limit_reading(0ms);
    std::thread later([this] { write(writer_, "comes"); });
    EXPECT_EQ(read(reader_), "comes");
    later.join();
}

/// How often the calling thread has gone to sleep.
long sleeps()
{
    rusage used{};
    EXPECT_EQ(::getrusage(RUSAGE_THREAD, &used), 0);
    return used.ru_nvcsw;
}

/// Returns when that thread of this process sleeps.
void wait_until_asleep(pid_t thread)
{
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
    for (;; std::this_thread::yield()) {
        std::string text;
        std::getline(std::ifstream(path), text);
        const std::size_t name_end = text.rfind(')');
        if (name_end != std::string::npos && text.substr(name_end + 2, 1) == "S") return;
    }
}

/// It sleeps once for each answer, though its peer reads what it has sent meanwhile.
TEST_F(Polled, IsNotWokenForRoom)
{
    constexpr int rounds = 200;
    const pid_t asking = ::gettid();
    std::thread answering([&] {
        for (int i = 0; i < rounds; ++i) {
            wait_until_asleep(asking);
            const std::string question = read(writer_);
            wait_until_asleep(asking);
            write(writer_, question);
        }
    });
    const long before = sleeps();
    for (int i = 0; i < rounds; ++i) {
        write(reader_, "question");
        EXPECT_EQ(read(reader_), "question");
    }
    EXPECT_LE(sleeps() - before, rounds + rounds / 20);
    answering.join();
}

TEST(PolledSockets, AreThoseOfTheHost)
{
    auto listener = listen(Address::loopback_ipv4(0));
    ASSERT_TRUE(listener);
    auto socket = connect(*listener->local_address());
    ASSERT_TRUE(socket);
    socket->poll_before_reading();
    EXPECT_EQ(socket->take_channel(), nullptr);
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    pair->first.poll_before_reading();
    EXPECT_NE(pair->first.take_channel(), nullptr);
}

} // namespace
} // namespace kairos::net
