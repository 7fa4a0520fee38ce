// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/room_spin.h"

#include "kairos/net/loopback_testing.h"

#include <gtest/gtest.h>

#include <array>
#include <sys/socket.h>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;

/// How many of so many chances it takes.
int taken(RoomSpin& spin, int chances, bool worth)
{
    int count = 0;
    for (int i = 0; i < chances; ++i) {
        if (!spin.is_worth_it()) continue;
        ++count;
        spin.note(worth);
    }
    return count;
}

TEST(RoomSpin, IsTriedSeldomWhileItIsInVain)
{
    RoomSpin spin(50us);
    EXPECT_EQ(taken(spin, 100, true), 100);
    EXPECT_EQ(taken(spin, 31, false), 5); // 1, 2, 4, 8, 16
    EXPECT_EQ(taken(spin, 160, false), 10);
    EXPECT_EQ(taken(spin, 16, true), 1);
    EXPECT_EQ(taken(spin, 100, true), 100);
}

class RoomSpinOnASocket : public ::testing::Test {
  protected:
    RoomSpinOnASocket()
    {
        auto pair = testing::connected_pair(Address::loopback_ipv4());
        near = std::move(pair.first);
        far = std::move(pair.second);
    }
    /// As if its packets came on that processor.
    void comes_on(int cpu)
    {
        ASSERT_EQ(::setsockopt(near.descriptor(), SOL_SOCKET, SO_INCOMING_CPU, &cpu, sizeof cpu),
                  0);
    }
    void fill()
    {
        while (near.write(Bytes(block), WriteFlags::do_not_wait).ok()) {
        }
    }

    static constexpr int nobodys_cpu = 1'000'000;
    std::array<std::byte, 64 * 1024> block{};
    Socket near;
    Socket far;
};

TEST_F(RoomSpinOnASocket, EndsWhenThereIsRoom)
{
    comes_on(nobodys_cpu);
    RoomSpin spin(60ms);
    EXPECT_TRUE(spin.until_room(near.descriptor()));
}

TEST_F(RoomSpinOnASocket, EndsWhenThePeerIsGone)
{
    fill();
    far.close();
    comes_on(nobodys_cpu);
    RoomSpin spin(60ms);
    EXPECT_TRUE(spin.until_room(near.descriptor()));
}

TEST_F(RoomSpinOnASocket, EndsWhenTheTimeIsOver)
{
    fill();
    bool waited = false;
    for (int i = 0; i < 1000 && !waited; ++i) {
        comes_on(nobodys_cpu); // an acknowledgement that is late may say otherwise meanwhile
        RoomSpin spin(100us);
        EXPECT_FALSE(spin.until_room(near.descriptor()));
        waited = !spin.is_worth_it(); // for that was in vain
    }
    EXPECT_TRUE(waited);
}

TEST_F(RoomSpinOnASocket, DoesNotBeginWhereThePeerMayNeedTheProcessor)
{
    comes_on(-1); // as of sockets of which it is not known
    RoomSpin spin(60ms);
    EXPECT_FALSE(spin.until_room(near.descriptor()));
}

TEST_F(RoomSpinOnASocket, DoesNotBeginUnlessItIsWanted)
{
    comes_on(nobodys_cpu);
    RoomSpin never;
    EXPECT_FALSE(never.until_room(near.descriptor()));
    RoomSpin none(0us);
    EXPECT_FALSE(none.until_room(near.descriptor()));
}

} // namespace
} // namespace kairos::net
