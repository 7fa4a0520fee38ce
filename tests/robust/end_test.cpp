// SPDX-License-Identifier: Apache-2.0
//
// Servers that end while peers do what they can to keep them: that leave replies unread, send
// requests without end, call again at once, or have a message half sent. The order is the one of a
// program that was told to end by a signal: shutdown without waiting, the adapter's end, which
// waits for its requests, and then the ORB's. Nothing here measures time: a server that waits for
// such a peer does so for ever.
#include "tests/malformed/fixture.h"

namespace kairos::orb_testing {
namespace {

class End : public EveryArchitecture {
  protected:
    void end()
    {
        server_.orb()->shutdown(false);
        server_.poa()->destroy(true, true);
        server_.end();
    }

    RunningServer server_{GetParam(), {"-ORBSendQueue", "65536"}};
};

TEST_P(End, WhilePeersDoNotReadTheirReplies)
{
    std::vector<RawPeer> peers;
    for (int i = 0; i < 10; ++i) {
        peers.push_back(server_.connect({.receive_queue_bytes = 65536}));
        peers.back().send(request(server_.key(), "produce").u32(1'000'000).finish());
        peers.back().send(server_.ping());
        EXPECT_EQ(peers.back().read(giop::header_size).size(), giop::header_size);
    }
    end();
}

TEST_P(End, WhileAPeerReadsSlowly)
{
    // It takes as long as a server waits at most. One of each way to send.
    const std::string_view name = GetParam();
    if (name != "thread-per-connection" && name != "reactor" && name != "leader-followers")
        GTEST_SKIP();
    RawPeer peer = server_.connect({.receive_queue_bytes = 4096});
    peer.send(request(server_.key(), "produce").u32(20'000'000).finish());
    std::atomic<bool> ended{false};
    std::thread reader([&] { // octet by octet, that takes longer than anybody waits
        while (!ended && !peer.read(1).empty()) {
        }
    });
    while (server_.servant().calls == 0)
        std::this_thread::yield();
    end();
    ended = true;
    reader.join();
}

TEST_P(End, WhilePeersSendRequestsWithoutEnd)
{
    std::vector<std::thread> senders;
    for (int i = 0; i < 4; ++i)
        senders.emplace_back([this, i, peer = server_.connect()]() mutable {
            const bool is_oneway = i % 2 == 0;
            Octets many;
            for (int j = 0; j < 500; ++j) {
                const Octets one = is_oneway
                                       ? request(server_.key(), "note", 2, giop::version_1_2, false)
                                             .u32(1)
                                             .finish()
                                       : server_.ping();
                many.insert(many.end(), one.begin(), one.end());
            }
            while (peer.socket().write_all(Bytes(many)).ok()) {
            }
        });
    while (server_.servant().calls < 1000)
        std::this_thread::yield();
    end();
    for (std::thread& sender : senders)
        sender.join();
}

TEST_P(End, WhilePeersCallAgainAtOnce)
{
    std::vector<std::thread> callers;
    for (int i = 0; i < 6; ++i)
        callers.emplace_back([this, peer = server_.connect()]() mutable {
            for (;;) {
                peer.send(server_.ping());
                const Octets answer = peer.read_message();
                if (answer.size() <= giop::header_size) return; // it closes
            }
        });
    while (server_.servant().calls < 100)
        std::this_thread::yield();
    end();
    for (std::thread& caller : callers)
        caller.join();
}

TEST_P(End, WhileMessagesAreNeverWhole)
{
    std::vector<RawPeer> peers;
    for (int i = 0; i < 10; ++i) {
        peers.push_back(server_.connect());
        peers.back().send(server_.ping());
        EXPECT_EQ(ParsedReply(peers.back().read_message()).text(), "NO_EXCEPTION");
        Octets half = server_.ping();
        half.resize(half.size() / 2);
        peers.back().send(half);
    }
    end();
    for (RawPeer& peer : peers)
        EXPECT_EQ(control_text(peer.read_message()), "CloseConnection 1.2");
}

KAIROS_EVERY_ARCHITECTURE(End);

} // namespace
} // namespace kairos::orb_testing
