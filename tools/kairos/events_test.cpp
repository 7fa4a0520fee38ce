// SPDX-License-Identifier: Apache-2.0
//
// `kairos events` as a process: what it prints, writes and binds, that its channels work, and that
// their references outlive it. kairos/events has what channels do.
#include "kairos/corba/CORBA.h"
#include "kairos/events/KairosEvents.h"
#include "kairos/naming/CosNaming.h"
#include "tools/kairos/daemon_testing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <thread>

namespace kairos::tools {
namespace {

class EventsCommand : public ::testing::Test {
  protected:
    EventsCommand()
    {
        std::string folder = std::filesystem::temp_directory_path() / "kairos_events_XXXXXX";
        if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
        folder_ = folder;
        int argc = 1;
        char name[] = "test";
        char* argv[] = {name, nullptr};
        orb_ = CORBA::ORB_init(argc, argv);
    }
    ~EventsCommand() override
    {
        orb_->destroy();
        std::filesystem::remove_all(folder_);
    }
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type object(const std::string& reference) const
    {
        const CORBA::Object_var found = orb_->string_to_object(reference.c_str());
        return Interface::_narrow(found.in());
    }
    [[nodiscard]] std::string name_of(const std::string& reference) const
    {
        return CORBA::String_var(object<KairosEvents::Channel>(reference)->name()).in();
    }
    /// One event through the channel, pushed and pulled.
    void pass_event(const std::string& reference) const
    {
        const auto channel = object<CosEventChannelAdmin::EventChannel>(reference);
        const CosEventChannelAdmin::ConsumerAdmin_var consumers = channel->for_consumers();
        const auto from =
            CosEventChannelAdmin::ProxyPullSupplier_var(consumers->obtain_pull_supplier());
        from->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
        const CosEventChannelAdmin::SupplierAdmin_var suppliers = channel->for_suppliers();
        const auto to =
            CosEventChannelAdmin::ProxyPushConsumer_var(suppliers->obtain_push_consumer());
        to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        CORBA::Any data;
        data <<= "an event";
        to->push(data);
        const CORBA::Any_var event = from->pull();
        const char* text = "";
        EXPECT_TRUE(event.in() >>= text);
        EXPECT_STREQ("an event", text);
    }

    std::filesystem::path folder_;
    CORBA::ORB_var orb_;
};

TEST_F(EventsCommand, HasTypedChannels)
{
    Daemon daemon({"events", "--typed", "Calls"});
    const std::string at = "corbaloc::localhost:" + port_in(daemon.reference);
    const auto channel = object<KairosEvents::TypedChannel>(at + "/Calls");
    EXPECT_STREQ("Calls", CORBA::String_var(channel->name()).in());
    const auto factory =
        object<KairosEvents::TypedChannelFactory>(at + "/TypedEventChannelFactory");
    (void)KairosEvents::TypedChannel_var(factory->create_channel("More"));
    const auto more = object<KairosEvents::TypedChannel>(at + "/typed/More");
    EXPECT_STREQ("More", CORBA::String_var(more->name()).in());
    EXPECT_EQ("0", daemon.end());
}

TEST_F(EventsCommand, HasOneChannelUnlessItIsTold)
{
    Daemon daemon({"events"});
    EXPECT_EQ("EventChannel", name_of(daemon.reference));
    pass_event(daemon.reference);
    pass_event("corbaloc::localhost:" + port_in(daemon.reference) + "/EventChannel");
    EXPECT_EQ("0", daemon.end());
}

TEST_F(EventsCommand, HasTheChannelsThatItIsTold)
{
    const std::string file = folder_ / "alarms.ior";
    Daemon daemon({"events", "--channel", "Alarms", "-c", "Logs", "--ior", file});
    EXPECT_EQ("Alarms", name_of(daemon.reference));
    EXPECT_EQ("Logs", name_of(daemon.next_line()));
    std::string written;
    std::getline(std::ifstream(file) >> std::ws, written);
    EXPECT_EQ(daemon.reference, written);
    const auto factory = object<KairosEvents::ChannelFactory>(
        "corbaloc::localhost:" + port_in(daemon.reference) + "/EventChannelFactory");
    const KairosEvents::NameList_var names = factory->names();
    EXPECT_EQ(2U, names->length());
    const KairosEvents::Channel_var made = factory->create_channel("Others");
    pass_event("corbaloc::localhost:" + port_in(daemon.reference) + "/events/Others");
    EXPECT_EQ("0", daemon.end());
}

TEST_F(EventsCommand, BindsItsChannels)
{
    Daemon naming({"naming", "--store", folder_ / "names", "--listen", "iiop://localhost:0"});
    const std::string service = "NameService=" + naming.reference;
    Daemon daemon({"events", "--name", "alarms.channel", "-ORBInitRef", service});
    const auto root = object<CosNaming::NamingContextExt>(naming.reference);
    const CORBA::Object_var bound = root->resolve_str("alarms.channel");
    pass_event(CORBA::String_var(orb_->object_to_string(bound.in())).in());
    EXPECT_EQ("0", daemon.end());
    const std::string complaint =
        complaint_of({"events", "--name", "no/such/context", "-ORBInitRef", service});
    EXPECT_NE(std::string::npos, complaint.find("NotFound")) << complaint;
}

TEST_F(EventsCommand, ReferencesOutliveIt)
{
    std::string reference;
    {
        Daemon daemon({"events"});
        reference = daemon.reference;
        EXPECT_EQ("0", daemon.end());
    }
    Daemon daemon({"events", "-ORBEndpoint", "iiop://localhost:" + port_in(reference)});
    pass_event(reference);
    EXPECT_EQ("0", daemon.end());
}

TEST_F(EventsCommand, EndsWhileAPullWaits)
{
    Daemon daemon({"events"});
    const auto channel = object<CosEventChannelAdmin::EventChannel>(daemon.reference);
    const CosEventChannelAdmin::ConsumerAdmin_var consumers = channel->for_consumers();
    const auto from =
        CosEventChannelAdmin::ProxyPullSupplier_var(consumers->obtain_pull_supplier());
    from->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    std::thread thread([&] {
        try {
            const CORBA::Any_var event = from->pull();
            ADD_FAILURE() << "an event of nobody";
        } catch (const CORBA::Exception&) { // Disconnected, unless it came too late for that
        }
    });
    EXPECT_EQ("0", daemon.end());
    thread.join();
}

#ifdef KAIROS_NATS_SERVER
TEST_F(EventsCommand, JoinsChannelsOfProcessesByNats)
{
    bench::ChildProcess bus =
        bench::ChildProcess::start(
            {.command = {"/bin/sh", "-c",
                         "exec '" KAIROS_NATS_SERVER "' --addr 127.0.0.1 --port -1 2>&1"},
             .environment = {},
             .cpu = {},
             .inherited_descriptor = -1})
            .value();
    std::string server;
    for (std::string line; !line.ends_with("Server is ready");) {
        line = bus.read_line(start_patience).value();
        const std::size_t at = line.find("127.0.0.1:");
        if (at != std::string::npos) server = "nats://" + line.substr(at);
    }
    Daemon one({"events", "-c", "Lab", "--bus", server, "--subject", "lab.events"});
    Daemon other({"events", "-c", "Hall", "--bus", server, "--subject", "lab.events"});
    const auto from_channel = object<CosEventChannelAdmin::EventChannel>(one.reference);
    const CosEventChannelAdmin::SupplierAdmin_var suppliers = from_channel->for_suppliers();
    const auto to = CosEventChannelAdmin::ProxyPushConsumer_var(suppliers->obtain_push_consumer());
    to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    const auto to_channel = object<CosEventChannelAdmin::EventChannel>(other.reference);
    const CosEventChannelAdmin::ConsumerAdmin_var consumers = to_channel->for_consumers();
    const auto from =
        CosEventChannelAdmin::ProxyPullSupplier_var(consumers->obtain_pull_supplier());
    from->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    CORBA::Any data;
    data <<= "an event";
    CORBA::Boolean has_event = false;
    const auto end = std::chrono::steady_clock::now() + start_patience;
    while (!has_event) { // until the server knows of the other
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        to->push(data);
        const CORBA::Any_var event = from->try_pull(has_event);
        const char* text = "";
        if (has_event) {
            EXPECT_TRUE(event.in() >>= text);
            EXPECT_STREQ("an event", text);
        }
    }
    EXPECT_EQ("0", one.end());
    EXPECT_EQ("0", other.end());
    const std::string complaint = complaint_of({"events", "--bus", "http://host"});
    EXPECT_NE(std::string::npos, complaint.find("nats://HOST")) << complaint;
}
#endif

TEST_F(EventsCommand, SaysWhatIsWrong)
{
    std::string complaint = complaint_of({"events", "--channel", "A", "--channel", "A"});
    EXPECT_NE(std::string::npos, complaint.find("NameInUse")) << complaint;
    complaint = complaint_of({"events", "--ior", folder_ / "a", "--ior", folder_ / "b"});
    EXPECT_NE(std::string::npos, complaint.find("fewer channels")) << complaint;
    complaint = complaint_of({"events", "--ior", folder_ / "no" / "such"});
    EXPECT_NE(std::string::npos, complaint.find("cannot be written")) << complaint;
}

} // namespace
} // namespace kairos::tools
