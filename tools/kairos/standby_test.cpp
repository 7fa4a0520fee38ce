// SPDX-License-Identifier: Apache-2.0
//
// Daemons over one database, one of which is killed: the other takes over, and clients find it by
// the references that they have.
#include "kairos/notification/KairosNotification.h"
#include "kairos/postgres/postgres_testing.h"
#include "tests/calls/held_ports.h"
#include "tools/kairos/daemon_testing.h"
#include "tools/kairos/log_testing.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kairos::tools {
namespace {

/// Daemons' arguments, each of which publishes the addresses of all.
class Places {
  public:
    explicit Places(std::vector<std::string> command, unsigned count = 2)
        : command_(std::move(command)), count_(count), ports_(static_cast<std::uint16_t>(count))
    {
    }

    [[nodiscard]] std::vector<std::string> arguments(unsigned which) const
    {
        std::string all;
        for (unsigned place = 0; place < count_; ++place)
            all += (place == 0 ? "host=" : ",host=") + address(place);
        std::vector<std::string> made = command_;
        made.insert(made.end(), {"--store", schema_.url(), "--listen",
                                 "iiop://" + address(which % count_), "-ORBPublish", all});
        return made;
    }
    [[nodiscard]] std::string address(unsigned place) const
    {
        return "127.0.0.1:" + std::to_string(ports_.port() + place);
    }
    [[nodiscard]] const postgres::Schema& schema() const { return schema_; }

  private:
    const std::vector<std::string> command_;
    const unsigned count_;
    const postgres::Schema schema_;
    const calls::HeldPorts ports_;
};

/// Asks until there is an answer: who takes over needs a moment.
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

TEST(Standby, TakesLogsOver)
{
    const Places places({"log", "serve"});
    const CORBA::ORB_var orb = make_client();
    std::mt19937 random(30);
    std::set<CORBA::Long> acknowledged;
    DsLogAdmin::Log_var log;
    DsLogAdmin::RecordId last_id = 0;
    std::optional<Daemon> owner(places.arguments(0));
    std::string reference = owner->reference;
    for (unsigned round = 0; round < 4; ++round) {
        bench::ChildProcess standby = start(places.arguments(round + 1));
        if (CORBA::is_nil(log.in())) log = fifth_log(orb.in(), reference);
        acknowledged.merge(write_and_kill(log.in(), owner->process.pid(),
                                          static_cast<unsigned>(random() % 40),
                                          1'000'000 * static_cast<CORBA::Long>(round)));
        const auto line = standby.read_line(start_patience);
        ASSERT_TRUE(line) << line.error().reason;
        EXPECT_EQ(reference, *line); // by the addresses of both
        DsLogAdmin::RecordId last = 0;
        const std::set<CORBA::Long> there =
            answer_of([&] { return numbers_in(log.in(), last); }); // by the same reference
        EXPECT_TRUE(std::ranges::includes(there, acknowledged)) << "round " << round;
        EXPECT_EQ(there.size(), log->get_n_records());
        EXPECT_GE(last, last_id);
        last_id = last;
        owner.emplace(std::move(standby), *line);
    }
    EXPECT_FALSE(acknowledged.empty());
    owner.reset();
    orb->destroy();
}

TEST(Standby, TakesChannelsOver)
{
    using namespace CosNotifyChannelAdmin;
    const Places places({"notify", "serve", "--shares", "1"});
    const CORBA::ORB_var orb = make_client();
    std::optional<Daemon> owner(places.arguments(0));
    bench::ChildProcess standby = start(places.arguments(1));
    const CORBA::Object_var object = orb->string_to_object(owner->reference.c_str());
    const EventChannel_var channel = EventChannel::_narrow(object.in());
    const ConsumerAdmin_var consumers = channel->default_consumer_admin();
    ProxyID id = 0;
    const ProxySupplier_var to = consumers->obtain_notification_pull_supplier(ANY_EVENT, id);
    const ProxyPullSupplier_var pulls = ProxyPullSupplier::_narrow(to.in());
    pulls->connect_any_pull_consumer(CosEventComm::PullConsumer::_nil());
    const SupplierAdmin_var suppliers = channel->default_supplier_admin();
    const ProxyConsumer_var from = suppliers->obtain_notification_push_consumer(ANY_EVENT, id);
    const ProxyPushConsumer_var pushes = ProxyPushConsumer::_narrow(from.in());
    pushes->connect_any_push_supplier(CosEventComm::PushSupplier::_nil());
    const auto push = [&](CORBA::Long number) {
        CORBA::Any event;
        event <<= number;
        pushes->push(event);
    };
    for (const CORBA::Long number : {1, 2, 3})
        push(number);
    ::kill(owner->process.pid(), SIGKILL);
    const auto line = standby.read_line(start_patience);
    ASSERT_TRUE(line) << line.error().reason;
    EXPECT_EQ(owner->reference, *line);
    answer_of([&] { push(4); });
    for (const CORBA::Long number : {1, 2, 3, 4}) {
        CORBA::Long got = 0;
        const CORBA::Any_var event = answer_of([&] { return pulls->pull(); });
        EXPECT_TRUE(event.in() >>= got);
        EXPECT_EQ(number, got);
    }
    owner.reset();
    EXPECT_EQ("0", Daemon(std::move(standby), *line).end().substr(0, 1));
    orb->destroy();
}

/// Channels that several daemons have together: any is asked for any.
TEST(Standby, IsNoneWhereChannelsAreShared)
{
    const Places places(
        {"notify", "serve", "--channel", "Lab", "--channel", "Hall", "--shares", "4"});
    const CORBA::ORB_var orb = make_client();
    std::optional<Daemon> first(places.arguments(0));
    Daemon second(places.arguments(1));
    std::vector<std::string> references{first->reference, first->next_line()};
    EXPECT_EQ(references[0], second.reference);
    EXPECT_EQ(references[1], second.next_line());
    const auto answer = [&orb](const std::string& reference) {
        const CORBA::Object_var object = orb->string_to_object(reference.c_str());
        const auto channel = KairosNotification::Channel_var(
            KairosNotification::Channel::_unchecked_narrow(object.in()));
        return answer_of([&] { return std::string(CORBA::String_var(channel->name()).in()); });
    };
    const auto answer_all = [&] {
        for (const unsigned place : {0U, 1U})
            EXPECT_EQ("Lab", answer("corbaloc::" + places.address(place) + "/Lab"));
        EXPECT_EQ("Lab", answer(references[0]));
        EXPECT_EQ("Hall", answer(references[1]));
    };
    answer_all();
    ::kill(first->process.pid(), SIGKILL);
    (void)first->process.finish(start_patience);
    EXPECT_EQ("Lab", answer(references[0]));
    EXPECT_EQ("Hall", answer(references[1]));
    first.emplace(places.arguments(0));
    answer_all();
    EXPECT_EQ("0", first->end().substr(0, 1));
    EXPECT_EQ("0", second.end().substr(0, 1));
    orb->destroy();
}

/// What was made for one service stays so.
TEST(Standby, KeepsTheChannelsOfOneService)
{
    const postgres::Schema schema;
    {
        Daemon one({"notify", "serve", "--shares", "1", "--store", schema.url()});
        EXPECT_EQ("0", one.end().substr(0, 1));
    }
    Daemon owner({"notify", "serve", "--store", schema.url()});
    EXPECT_EQ(1, schema.execute("SELECT count(*) FROM kairos_channels WHERE owner = 2"));
    EXPECT_EQ("0", owner.end().substr(0, 1));
    const postgres::Schema shared;
    {
        Daemon first({"notify", "serve", "--store", shared.url()});
        EXPECT_EQ(8, shared.execute("SELECT count(*) FROM kairos_channels_shares"));
        EXPECT_EQ("0", first.end().substr(0, 1));
    }
    const std::string refused =
        complaint_of({"notify", "serve", "--shares", "1", "--store", shared.url()});
    EXPECT_NE(std::string::npos, refused.find("several services share")) << refused;
}

TEST(Standby, EndsWhenItIsTold)
{
    const postgres::Schema schema;
    Daemon owner({"log", "serve", "--store", schema.url()});
    bench::ChildProcess standby =
        start({"log", "serve", "--store", schema.url() + "&application_name=standby"});
    while (schema.execute("SELECT count(*) FROM pg_stat_activity"
                          " WHERE application_name = 'standby'") == 0)
        std::this_thread::yield();
    ::kill(standby.pid(), SIGTERM);
    const auto remains = standby.finish(start_patience);
    EXPECT_EQ(0, remains.exit_status) << remains.errors;
    EXPECT_EQ("", remains.output);
    EXPECT_EQ("0", owner.end());
}

/// One whose store another has taken over ends, for what it knows is of before.
TEST(Standby, IsStartedAgainWhereTheStoreIsLost)
{
    const postgres::Schema schema;
    Daemon owner({"log", "serve", "--store", schema.url()});
    schema.execute("UPDATE kairos_logs SET owner = owner + 1");
    const auto remains = owner.process.finish(start_patience);
    EXPECT_EQ(1, remains.exit_status);
    EXPECT_NE(std::string::npos, remains.errors.find("not ours any more")) << remains.errors;
}

} // namespace
} // namespace kairos::tools

int main(int argc, char** argv) { return kairos::postgres::run_tests(argc, argv); }
