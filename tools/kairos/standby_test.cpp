// SPDX-License-Identifier: Apache-2.0
//
// Daemons over one database, one of which is killed: the other takes over, and clients find it by
// the references that they have.
#include "kairos/notification/CosNotifyChannelAdmin.h"
#include "kairos/postgres/postgres_testing.h"
#include "tests/calls/held_ports.h"
#include "tools/kairos/daemon_testing.h"
#include "tools/kairos/log_testing.h"

#include <algorithm>
#include <optional>
#include <random>

namespace kairos::tools {
namespace {

/// Two daemons' arguments, each of which publishes the addresses of both.
class TwoPlaces {
  public:
    explicit TwoPlaces(const char* command) : command_(command) {}

    [[nodiscard]] std::vector<std::string> arguments(unsigned which) const
    {
        const auto address = [this](unsigned place) {
            return "127.0.0.1:" + std::to_string(ports_.port() + place);
        };
        return {command_,      "serve",
                "--store",     schema_.url(),
                "--listen",    "iiop://" + address(which % 2),
                "-ORBPublish", "host=" + address(0) + ",host=" + address(1)};
    }

  private:
    const char* const command_;
    const postgres::Schema schema_;
    const calls::HeldPorts ports_{2};
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
    const TwoPlaces places("log");
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
    const TwoPlaces places("notify");
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
