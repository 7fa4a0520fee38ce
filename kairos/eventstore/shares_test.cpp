// SPDX-License-Identifier: Apache-2.0
//
// Channels that several services have together in a database: any of them is asked for any channel;
// one that ends, or is killed, leaves what it has to the others; one that begins is given some.
#include "kairos/eventstore/killed_testing.h"
#include "kairos/eventstore/postgres_store.h"
#include "kairos/eventstore/shares_testing.h"
#include "kairos/notification/shared_service.h"
#include "kairos/postgres/postgres_testing.h"
#include "tests/calls/held_ports.h"

#include <array>
#include <atomic>
#include <csignal>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <spawn.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace kairos::eventstore {
namespace {

using namespace CosNotifyChannelAdmin;

constexpr unsigned shares_of_tests = 6;

/// One service, at an address; references say those of all.
class OneOfSeveral {
  public:
    OneOfSeveral(const std::string& url, const std::string& address, const std::string& published)
        : orb_({"-ORBListenEndpoints", "iiop://" + address, "-ORBPublish", published}),
          service_(std::make_unique<notification::SharedNotificationService>(
              orb_.in(), limits_of_tests(), opened(url),
              notification::SharedOptions{
                  .address = address, .channels = {"Lab"}, .qos = all_persistent()}))
    {
    }
    [[nodiscard]] EventChannelFactory_var factory() const { return service_->factory(); }

  private:
    static std::unique_ptr<notification::Shares> opened(const std::string& url)
    {
        auto shares = open_postgres_shares({.url = url}, shares_of_tests);
        if (!shares) throw std::runtime_error(shares.error().reason);
        return std::move(shares).value();
    }

    const events::TestOrb orb_;
    const std::unique_ptr<notification::SharedNotificationService> service_;
};

/// Asks until there is an answer: a channel that moves needs a moment.
template <typename Ask>
auto answer_of(Ask&& ask)
{
    for (;;) {
        try {
            return ask();
        } catch (const CORBA::TRANSIENT&) {
            std::this_thread::yield();
        } catch (const CORBA::COMM_FAILURE&) {
            std::this_thread::yield();
        }
    }
}

/// Three services as processes, which are this program.
class SharedChannels : public ::testing::Test {
  protected:
    SharedChannels()
    {
        for (unsigned which = 0; which < processes_.size(); ++which)
            begin(which);
        await_parts(3);
    }
    ~SharedChannels() override
    {
        for (unsigned which = 0; which < processes_.size(); ++which)
            if (processes_[which] != 0) end(which, SIGTERM);
    }

    [[nodiscard]] std::string address(unsigned which) const
    {
        return "127.0.0.1:" + std::to_string(ports_.port() + which);
    }
    /// Returns when it serves.
    void begin(unsigned which)
    {
        const std::string published =
            "host=" + address(0) + ",host=" + address(1) + ",host=" + address(2);
        std::vector<std::string> texts{"shares_test", serve_argument, schema_.url(), address(which),
                                       published};
        std::vector<char*> argv;
        for (std::string& text : texts)
            argv.push_back(text.data());
        argv.push_back(nullptr);
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        const int spawned = posix_spawn(&processes_[which], "/proc/self/exe", &actions, nullptr,
                                        argv.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        char octet = 0;
        if (spawned != 0 || read(ends[0], &octet, 1) != 1) // it serves
            throw std::runtime_error("a service does not begin");
        close(ends[0]);
    }
    void end(unsigned which, int signal)
    {
        kill(processes_[which], signal);
        int status = 0;
        ASSERT_EQ(processes_[which], waitpid(processes_[which], &status, 0));
        if (signal == SIGTERM) EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        processes_[which] = 0;
    }
    /// Returns when so many have some.
    void await_parts(std::int64_t services) const
    {
        while (
            schema_.execute(
                "SELECT count(DISTINCT address) FROM kairos_channels_shares WHERE address <> ''") !=
            services)
            std::this_thread::yield();
    }
    /// At this one and no other.
    [[nodiscard]] EventChannelFactory_var factory(unsigned which) const
    {
        const CORBA::Object_var object = client_->string_to_object(
            ("corbaloc::" + address(which) + "/NotificationService").c_str());
        return EventChannelFactory::_unchecked_narrow(object.in());
    }
    [[nodiscard]] static EventChannel_var
    made(EventChannelFactory_ptr factory, const CosNotification::QoSProperties& qos, ChannelID& id)
    {
        return answer_of([&] {
            const CosNotification::AdminProperties none;
            return EventChannel_var(factory->create_channel(qos, none, id));
        });
    }
    [[nodiscard]] static KairosNotification::Channel_var own(EventChannel_ptr channel)
    {
        return KairosNotification::Channel::_unchecked_narrow(channel);
    }

    const postgres::Schema schema_;
    const calls::HeldPorts ports_{3};
    const events::TestOrb client_;
    std::array<pid_t, 3> processes_{};
};

/// What one supplier pushes into a channel, and one consumer pulls out of it.
class SharedLine {
  public:
    explicit SharedLine(EventChannel_ptr channel)
    {
        const auto own = KairosNotification::Channel::_unchecked_narrow(channel);
        const auto kept = KairosNotification::Channel_var(own);
        answer_of([&] {
            pulls_ = pulling_proxy(kept.in());
            pushes_ = pushed_proxy(kept.in());
        });
    }
    /// Whether it is acknowledged.
    bool push(CORBA::Long number)
    {
        try {
            pushes_->push_structured_event(notification::event_of("Lab", "Reading", number));
            return true;
        } catch (const CORBA::TRANSIENT&) {
        } catch (const CORBA::COMM_FAILURE&) {
        } catch (const CORBA::Exception& failure) { // which says that it is not to be tried again
            ADD_FAILURE() << failure.what();
        }
        return false;
    }
    [[nodiscard]] std::vector<CORBA::Long> pull_all()
    {
        std::vector<CORBA::Long> all;
        for (;;) {
            CORBA::Boolean has_event = false;
            const CosNotification::StructuredEvent_var event =
                answer_of([&] { return pulls_->try_pull_structured_event(has_event); });
            if (!has_event) return all;
            all.push_back(notification::number_in(event.in()));
        }
    }

  private:
    StructuredProxyPullSupplier_var pulls_;
    StructuredProxyPushConsumer_var pushes_;
};

TEST_F(SharedChannels, AreServedByEachAndFoundByAny)
{
    std::set<ChannelID> made_here;
    for (unsigned which = 0; which < processes_.size(); ++which)
        for (int i = 0; i < 2; ++i) {
            ChannelID id = 0;
            (void)made(factory(which).in(), all_persistent(), id);
            made_here.insert(id);
        }
    EXPECT_EQ(6U, made_here.size());
    for (unsigned which = 0; which < processes_.size(); ++which) {
        const EventChannelFactory_var asked = factory(which);
        const ChannelIDSeq_var listed = answer_of([&] { return asked->get_all_channels(); });
        const std::set<ChannelID> all(listed->get_buffer(),
                                      listed->get_buffer() + listed->length());
        EXPECT_EQ(7U, all.size()); // and Lab
        EXPECT_TRUE(std::ranges::includes(all, made_here));
        for (const ChannelID id : all) {
            const EventChannel_var channel =
                answer_of([&] { return EventChannel_var(asked->get_event_channel(id)); });
            EXPECT_EQ(id, answer_of([&] { return own(channel.in())->MyID(); }));
            SharedLine line(channel.in());
            (void)line.pull_all();
            while (!line.push(5)) // a share may just move to who has fewer
                std::this_thread::yield();
            const std::vector<CORBA::Long> got = line.pull_all();
            ASSERT_FALSE(got.empty());
            EXPECT_EQ(5, got.front());
        }
        EXPECT_THROW((void)EventChannel_var(asked->get_event_channel((1 << 24) + 1000)),
                     ChannelNotFound);
        EXPECT_THROW((void)EventChannel_var(asked->get_event_channel(-1)), ChannelNotFound);
        const CORBA::Object_var named =
            client_->string_to_object(("corbaloc::" + address(which) + "/Lab").c_str());
        const auto lab = KairosNotification::Channel_var(
            KairosNotification::Channel::_unchecked_narrow(named.in()));
        EXPECT_STREQ("Lab", CORBA::String_var(answer_of([&] { return lab->name(); })).in());
    }
}

/// Each round one of them is killed while suppliers push into channels of all.
TEST_F(SharedChannels, OfOneThatIsKilledAreServedByTheOthers)
{
    std::mt19937 random(30);
    std::vector<SharedLine> lines;
    for (unsigned i = 0; i < 6; ++i) {
        ChannelID id = 0;
        lines.emplace_back(made(factory(i % 3).in(), all_persistent(), id).in());
    }
    std::vector<std::set<CORBA::Long>> had(lines.size()); // before the round
    for (CORBA::Long round = 0; round < 4; ++round) {
        const unsigned victim = static_cast<unsigned>(random() % processes_.size());
        const unsigned enough = static_cast<unsigned>(10 + random() % 60);
        std::atomic<unsigned> count{0};
        std::atomic<bool> is_over{false};
        std::vector<std::set<CORBA::Long>> acknowledged(lines.size());
        std::vector<std::thread> suppliers;
        for (std::size_t i = 0; i < lines.size(); ++i)
            suppliers.emplace_back([&, i] {
                for (CORBA::Long number = (round + 1) * 1'000'000; !is_over; ++number)
                    if (lines[i].push(number)) {
                        acknowledged[i].insert(number);
                        ++count;
                        count.notify_all();
                    }
            });
        for (unsigned seen = count; seen < enough; seen = count)
            count.wait(seen);
        end(victim, SIGKILL);
        is_over = true;
        for (std::thread& supplier : suppliers)
            supplier.join();
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::vector<CORBA::Long> got = lines[i].pull_all();
            const std::set<CORBA::Long> there(got.begin(), got.end());
            // What was under way when the channel moved comes again.
            EXPECT_LE(got.size(), there.size() + 3) << "round " << round;
            EXPECT_TRUE(std::ranges::includes(there, acknowledged[i])) << "round " << round;
            std::vector<CORBA::Long> again;
            std::ranges::set_intersection(there, had[i], std::back_inserter(again));
            EXPECT_TRUE(again.empty()) << "round " << round; // they were taken
            had[i].insert(got.begin(), got.end());
            // When the second is written all is that was taken before the first.
            for (int twice = 0; twice < 2; ++twice)
                while (!lines[i].push(-round - 1))
                    std::this_thread::yield();
            while (lines[i].pull_all().empty()) {
            }
        }
        begin(victim);
    }
    postgres::server().stop();
    postgres::server().start();
    for (SharedLine& line : lines) {
        while (!line.push(-100))
            std::this_thread::yield();
        const std::vector<CORBA::Long> got = line.pull_all();
        EXPECT_GE(std::ranges::count(got, -100), 1);
    }
}

/// One that ends gives up its shares, but nobody else's.
TEST_F(SharedChannels, OfOneThatEndsAreServedByTheOthers)
{
    ChannelID id = 0;
    const EventChannel_var channel = made(factory(1).in(), all_persistent(), id);
    SharedLine line(channel.in());
    while (!line.push(1))
        std::this_thread::yield();
    end(1, SIGTERM);
    end(2, SIGTERM);
    const std::vector<CORBA::Long> got = line.pull_all();
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(1, got.front());
    await_parts(1);
    begin(1); // it is given some
    await_parts(2);
    EXPECT_EQ(id, answer_of([&] { return own(channel.in())->MyID(); }));
}

/// A channel that is not kept ends with its service, and before that its share stays.
TEST_F(SharedChannels, AreNotMovedWhereThatWouldLoseThem)
{
    end(1, SIGTERM);
    end(2, SIGTERM);
    await_parts(1);
    std::vector<EventChannel_var> channels;
    std::set<ChannelID> shares; // each has one of them
    while (shares.size() < shares_of_tests) {
        ChannelID id = 0;
        channels.push_back(made(factory(0).in(), {}, id));
        shares.insert(id >> 24);
    }
    begin(1); // all calls of it are sent on
    for (const EventChannel_var& channel : channels)
        EXPECT_NE(0, answer_of([&] { return own(channel.in())->MyID(); }));
    ChannelID id = 0;
    const EventChannel_var other = made(factory(1).in(), all_persistent(), id);
    EXPECT_EQ(id, answer_of([&] { return own(other.in())->MyID(); }));
    EXPECT_EQ(
        1, schema_.execute(
               "SELECT count(DISTINCT address) FROM kairos_channels_shares WHERE address <> ''"));
}

/// A store of one service is not one of several, and the other way round.
TEST(SharesOfChannels, AreNotThoseOfOneService)
{
    const postgres::Schema one;
    const PostgresOptions options{.url = one.url()};
    ASSERT_TRUE(open_postgres_store(options).ok());
    const auto none = open_postgres_shares(options, 4);
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(nullptr, none->get());
    const postgres::Schema several;
    const PostgresOptions shared{.url = several.url()};
    ASSERT_TRUE(open_postgres_shares(shared, 4).ok());
    const auto again = open_postgres_shares(shared, 5);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(4U, (*again)->count()); // as they were made
    const auto refused = open_postgres_store(shared);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(std::string::npos, refused.error().reason.find("several services share"));
}

} // namespace

int serve_shares(const char* url, const char* address, const char* published)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that is killed leaves nobody
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, nullptr); // before there are threads
    const OneOfSeveral service(url, address, published);
    if (write(STDOUT_FILENO, ".", 1) != 1) return 1;
    int signal = 0;
    sigwait(&end, &signal);
    return 0;
}

} // namespace kairos::eventstore
