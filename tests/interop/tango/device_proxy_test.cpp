// SPDX-License-Identifier: Apache-2.0
//
// A device of ours, as it looks to TANGO's own client: Debian's python3-tango, without a database.
#include "device_servant.h"

#include "kairos/ior/profile.h"

#include <kairos/corba/ior_table.h>

#include <sstream>
#include <thread>

using namespace interop;
using namespace PortableServer;

namespace {

constexpr int checks = 94;
constexpr int not_installed = 77;

POA_ptr make_poa(POA_ptr parent, const char* name)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(PERSISTENT);
    policies[1] = parent->create_id_assignment_policy(USER_ID);
    const POAManager_var manager = parent->the_POAManager();
    return parent->create_POA(name, manager, policies);
}

/// What TANGO knows as sys/kairos/1: an object of the POA of that path.
class DeviceProxy : public testing::TestWithParam<std::string> {
  protected:
    DeviceProxy()
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        root_ = POA::_narrow(object);
        const POAManager_var manager = root_->the_POAManager();
        manager->activate();
        const POA_var domain = make_poa(root_, "sys");
        const POA_var family = make_poa(domain, "kairos");
        const ObjectId_var id = string_to_ObjectId("1");
        family->activate_object_with_id(id, servant_);
        reference_ = orb_->object_to_string(CORBA::Object_var(family->id_to_reference(id)));
        port_ = kairos::ior::targets(kairos::ior::from_string(reference_.in()).value())
                    .front()
                    .address.port;
        serving_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // the test ended before it came to that
            }
        });
    }
    ~DeviceProxy() override
    {
        orb_->shutdown(false);
        serving_.join();
    }

    void run_checks(const std::string& name)
    {
#ifdef TANGO_PYTHON
        const Remains client =
            kairos::bench::run_to_end(
                process_options({TANGO_PYTHON, DEVICE_PROXY, std::to_string(port_), name}),
                patience)
                .value();
        if (client.exit_status == not_installed) return missing();
        EXPECT_EQ(client.exit_status, 0) << client.errors;
        std::istringstream lines(client.output);
        int held = 0;
        std::string line;
        while (std::getline(lines, line) && line != "done") {
            EXPECT_TRUE(line.starts_with("ok ")) << line;
            ++held;
        }
        EXPECT_EQ(line, "done");
        EXPECT_EQ(held, checks);
        EXPECT_GE(servant_->pings, 1);
        EXPECT_NE(servant_->last_client, 0U);
#else
        (void)name;
        missing();
#endif
    }

    TangoOrb orb_{{"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBPlainKeys", "1",
                   "-ORBConcurrency", GetParam()}};
    Servant_var<DeviceServant> servant_{new DeviceServant("sys/kairos/1")};
    CORBA::String_var reference_;

  private:
    static void missing()
    {
        ASSERT_TRUE(tango_may_be_missing()) << "Debian's python3-tango is not installed";
        GTEST_SKIP() << "Debian's python3-tango is not installed";
    }

    POA_var root_;
    std::uint16_t port_ = 0;
    std::thread serving_;
};

} // namespace

TEST_P(DeviceProxy, FindsADeviceByItsPlainKey) { run_checks("sys/kairos/1"); }

TEST_P(DeviceProxy, FollowsTheTableOfNames)
{
    const CORBA::Object_var service = orb_->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(service);
    table->bind("sys/kairos/other", reference_);
    run_checks("sys/kairos/other");
}

INSTANTIATE_TEST_SUITE_P(Servers, DeviceProxy, testing::Values("thread-per-connection", "reactor"),
                         [](const auto& server) {
                             return server.param == "reactor" ? "reactor" : "thread_per_connection";
                         });
