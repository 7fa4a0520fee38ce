// SPDX-License-Identifier: Apache-2.0
//
// Threads of a pool that read the connections which call them, in turns: what they take from the
// server's reading thread, and what stays as it is when anything else comes on such a connection.
#include "tests/rtcorba/fixture.h"

#include <filesystem>
#include <fstream>
#include <set>

namespace kairos::rtcorba_testing {
namespace {

using orb_testing::control_text;
using orb_testing::Octets;
using orb_testing::ParsedReply;
using orb_testing::RawPeer;

constexpr const char* refused = "TRANSIENT 0x4f4d0001 NO";
/// More than it takes until the pool reads the connection.
constexpr std::uint32_t many = 100;

/// How often threads of this name have waited so far.
std::uint64_t waits_of(const std::string& name)
{
    std::uint64_t waits = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(task.path() / "status");
        std::string line;
        bool is_it = false;
        while (std::getline(status, line)) {
            if (line == "Name:\t" + name) is_it = true;
            const std::string counter = "voluntary_ctxt_switches:\t";
            if (is_it && line.starts_with(counter))
                waits += std::stoull(line.substr(counter.size()));
        }
    }
    return waits;
}

/// A connection to a pool of two threads, and to an object without a pool.
class Turns : public testing::Test {
  protected:
    void begin(bool buffers = false, CORBA::ULong buffered = 0)
    {
        pool_ = world_->rtorb()->create_threadpool(0, 2, 0, 10, buffers, buffered, 0);
        poa_ = world_->make_poa("pool", {world_->rtorb()->create_threadpool_policy(pool_)});
        blocking_.action = [this] {
            std::unique_lock lock(mutex_);
            ++inside_;
            changed_.notify_all();
            changed_.wait_for(lock, orb_testing::patience, [this] { return open_; });
        };
        in_pool_ = key_of(poa_, blocking_);
        elsewhere_ = key_of(world_->root(), other_);
        world_->activate();
        peer_.emplace(RawPeer::connect(port_));
        for (std::uint32_t id = 1; id <= many; ++id)
            ASSERT_EQ(call(in_pool_, "ping", id), std::to_string(id) + " NO_EXCEPTION");
    }
    [[nodiscard]] Octets key_of(RTPortableServer::POA_ptr poa, Servant& servant)
    {
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        const auto targets = ior::targets(object->_kairos_reference()->ior());
        port_ = targets.front().profile->port;
        const Bytes key = targets.front().profile->object_key;
        return {key.begin(), key.end()};
    }
    [[nodiscard]] static Octets message(const Octets& key, const char* operation, std::uint32_t id)
    {
        return orb_testing::request(key, operation, id).finish();
    }
    void send(const Octets& key, const char* operation, std::uint32_t id)
    {
        peer_->send(message(key, operation, id));
    }
    [[nodiscard]] std::string next_reply()
    {
        const ParsedReply reply(peer_->read_message());
        return std::to_string(reply.reply.request_id) + " " + reply.text();
    }
    [[nodiscard]] std::string call(const Octets& key, const char* operation, std::uint32_t id)
    {
        send(key, operation, id);
        return next_reply();
    }
    [[nodiscard]] bool wait_for_inside(int count)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, orb_testing::patience, [&] { return inside_ >= count; });
    }
    void let_go()
    {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

    LogLines log_;
    std::optional<World> world_{std::in_place};
    Servant& blocking_ = world_->make_servant();
    Servant& other_ = world_->make_servant();
    RTCORBA::ThreadpoolId pool_ = 0;
    RTPortableServer::POA_var poa_;
    Octets in_pool_;
    Octets elsewhere_;
    std::uint16_t port_ = 0;
    std::optional<RawPeer> peer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int inside_ = 0;
    bool open_ = false;
};

TEST_F(Turns, AreTakenWithoutTheServersReader)
{
    begin();
    const std::uint64_t before = waits_of("kairos-read");
    ASSERT_GT(before, 0u);
    for (std::uint32_t id = 1; id <= many; ++id)
        EXPECT_EQ(call(in_pool_, "ping", id), std::to_string(id) + " NO_EXCEPTION");
    EXPECT_LT(waits_of("kairos-read"), before + many / 2);
}

TEST_F(Turns, ServeRequestsOfOneConnectionAtTheSameTime)
{
    begin();
    send(in_pool_, "act", 1);
    send(in_pool_, "act", 2);
    EXPECT_TRUE(wait_for_inside(2));
    let_go();
    EXPECT_EQ(next_reply().substr(1), " NO_EXCEPTION");
    EXPECT_EQ(next_reply().substr(1), " NO_EXCEPTION");
}

/// While no thread of the pool is free to read, the server's reads for others.
TEST_F(Turns, DoNotKeepOthersWaiting)
{
    begin();
    send(in_pool_, "act", 1);
    send(in_pool_, "act", 2);
    ASSERT_TRUE(wait_for_inside(2));
    EXPECT_EQ(call(elsewhere_, "ping", 3), "3 NO_EXCEPTION");
    EXPECT_EQ(other_.calls, 1u);
    let_go();
    (void)next_reply();
    (void)next_reply();
    EXPECT_EQ(call(in_pool_, "ping", 4), "4 NO_EXCEPTION");
}

TEST_F(Turns, HandOverWhatIsForOthers)
{
    begin();
    for (std::uint32_t id = 1; id <= many; ++id) {
        EXPECT_EQ(call(elsewhere_, "ping", id), std::to_string(id) + " NO_EXCEPTION");
        for (std::uint32_t again = 0; again < id % 20; ++again)
            EXPECT_EQ(call(in_pool_, "ping", id), std::to_string(id) + " NO_EXCEPTION");
    }
    EXPECT_EQ(other_.calls, many);
}

TEST_F(Turns, KeepTheBoundsOfBuffers)
{
    begin(true, 2);
    for (std::uint32_t id = 1; id <= 6; ++id) {
        send(in_pool_, "act", id);
        ASSERT_TRUE(id > 2 || wait_for_inside(static_cast<int>(id)));
    }
    EXPECT_EQ(next_reply(), std::string("5 ") + refused);
    EXPECT_EQ(next_reply(), std::string("6 ") + refused);
    let_go();
    for (int served = 0; served < 4; ++served)
        EXPECT_NE(next_reply().find("NO_EXCEPTION"), std::string::npos);
}

TEST_F(Turns, ReadManyRequestsThatComeAtOnce)
{
    begin();
    Octets all;
    for (std::uint32_t id = 1; id <= many; ++id) {
        const Octets one = message(id % 3 == 0 ? elsewhere_ : in_pool_, "ping", id);
        all.insert(all.end(), one.begin(), one.end());
    }
    peer_->send(all);
    std::set<std::string> replies;
    for (std::uint32_t id = 1; id <= many; ++id)
        replies.insert(next_reply());
    EXPECT_EQ(replies.size(), many);
}

TEST_F(Turns, LeaveMessagesInPartsToTheReader)
{
    begin();
    const Octets whole = message(in_pool_, "ping", 7);
    RawPeer other = RawPeer::connect(port_);
    for (std::size_t cut = 1; cut < whole.size(); cut += 5) {
        peer_->send(Bytes(whole).first(cut));
        other.send(whole); // meanwhile the first part is read
        EXPECT_FALSE(other.read_message().empty());
        peer_->send(Bytes(whole).subspan(cut));
        EXPECT_EQ(next_reply(), "7 NO_EXCEPTION");
    }
}

TEST_F(Turns, EndWithTheConnection)
{
    begin();
    peer_->half_close();
    EXPECT_TRUE(peer_->at_end());
    peer_.emplace(RawPeer::connect(port_));
    EXPECT_EQ(call(in_pool_, "ping", 1), "1 NO_EXCEPTION");
}

TEST_F(Turns, AnswerWhatIsNoMessage)
{
    begin();
    Octets garbage(64, std::byte{0x55});
    peer_->send(garbage);
    EXPECT_EQ(control_text(peer_->read_message()).substr(0, 12), "MessageError");
    EXPECT_TRUE(peer_->at_end());
}

TEST_F(Turns, EndWithThePool)
{
    begin();
    poa_->destroy(true, true);
    world_->rtorb()->destroy_threadpool(pool_);
    EXPECT_EQ(call(elsewhere_, "ping", 1), "1 NO_EXCEPTION");
}

TEST_F(Turns, EndWithTheServerWhichSaysSo)
{
    begin();
    world_->orb()->shutdown(true);
    EXPECT_EQ(control_text(peer_->read_message()).substr(0, 15), "CloseConnection");
    EXPECT_TRUE(peer_->at_end());
}

} // namespace
} // namespace kairos::rtcorba_testing
