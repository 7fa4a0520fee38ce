// SPDX-License-Identifier: Apache-2.0
//
// What is found out about bound objects: who is alive, who is dead, that nobody keeps the sweep for
// longer than the time he has, and that a service's clients are told.
#include "kairos/nameserver/sweeper.h"

#include "kairos/corba/CORBA.h"
#include "kairos/ior/profile.h"
#include "kairos/nameserver/service.h"
#include "kairos/nameserver/store_testing.h"
#include "kairos/naming/KairosNaming_skel.h"
#include "kairos/naming/name.h"
#include "kairos/net/acceptor.h"
#include "kairos/orb/reference.h"

#include <condition_variable>
#include <mutex>

namespace kairos::nameserver {
namespace {

using namespace std::chrono_literals;

/// An ORB whose objects are alive as long as it has them.
class TestOrb {
  public:
    TestOrb()
    {
        static int count = 0;
        std::vector<std::string> options{"test", "-ORBListenEndpoints", "iiop://127.0.0.1"};
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        int argc = static_cast<int>(argv.size());
        orb_ = CORBA::ORB_init(argc, argv.data(), ("sweep " + std::to_string(++count)).c_str());
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
    }
    TestOrb(const TestOrb&) = delete;
    TestOrb& operator=(const TestOrb&) = delete;
    ~TestOrb() { orb_->destroy(); }
    [[nodiscard]] CORBA::ORB_ptr in() const { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_ptr poa() const { return poa_.in(); }

  private:
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
};

/// An object of no interest but for being there, or not.
class Iterator : public POA_CosNaming::BindingIterator {
  public:
    CORBA::Boolean next_one(CosNaming::Binding_out) override { throw CORBA::NO_IMPLEMENT(); }
    CORBA::Boolean next_n(CORBA::ULong, CosNaming::BindingList_out) override
    {
        throw CORBA::NO_IMPLEMENT();
    }
    void destroy() override { throw CORBA::NO_IMPLEMENT(); }
};

class ActiveObject {
  public:
    explicit ActiveObject(const TestOrb& orb)
        : poa_(PortableServer::POA::_duplicate(orb.poa())), servant_(new Iterator),
          id_(poa_->activate_object(servant_))
    {
        object_ = poa_->id_to_reference(id_.in());
    }
    void deactivate() { poa_->deactivate_object(id_.in()); }
    [[nodiscard]] CORBA::Object_ptr in() const { return object_.in(); }
    [[nodiscard]] const ior::Ior& ior() const { return object_->_kairos_reference()->ior(); }

  private:
    PortableServer::POA_var poa_;
    PortableServer::Servant_var<Iterator> servant_;
    PortableServer::ObjectId_var id_;
    CORBA::Object_var object_;
};

Entry entry_of(ior::Ior reference)
{
    return {.kind = Entry::Kind::object, .context = 0, .reference = std::move(reference)};
}

/// Of an object at this port of the machine.
ior::Ior reference_to(std::uint16_t port)
{
    return ior::parse_object_url("corbaloc::127.0.0.1:" + std::to_string(port) + "/key")->reference;
}

/// A server that takes connections and says nothing.
net::Socket silent_server() { return net::listen(net::Address::loopback_ipv4()).value(); }

KairosNaming::Liveness liveness(KairosNaming::NamingContext_ptr context, const char* name)
{
    CosNaming::BindingList bindings;
    bindings.length(1);
    bindings[0].binding_name = naming::to_name(name);
    bindings[0].binding_type = CosNaming::nobject; // whatever it is
    const KairosNaming::LivenessList_var list = context->liveness(bindings);
    return list[0];
}

} // namespace

TEST(Probe, TellsWhoIsThereAndWhoIsNot)
{
    const TestOrb orb;
    ActiveObject object(orb);
    EXPECT_EQ(probe(object.ior(), 10s), Liveness::alive);
    object.deactivate();
    EXPECT_EQ(probe(object.ior(), 10s), Liveness::dead);
    EXPECT_EQ(probe(ior::Ior{}, 10s), Liveness::not_known);
}

TEST(Probe, TakesNoLongerThanItMay)
{
    const net::Socket silent = silent_server();
    const ior::Ior reference = reference_to(silent.local_address()->port());
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(probe(reference, 20ms), Liveness::dead);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
}

TEST(Sweeper, KnowsWhatItFoundUntilItLooksAgain)
{
    const StoreFolder folder;
    const auto store = folder.open();
    const TestOrb orb;
    ActiveObject mortal(orb);
    const ActiveObject other(orb);
    ContextId inner = 0;
    ASSERT_EQ(store->bind_new_context(root_context, component("inner"), inner), StoreStatus::done);
    ASSERT_EQ(store->bind(inner, component("back"), context_entry(root_context)),
              StoreStatus::done);
    ASSERT_EQ(store->bind(inner, component("o"), entry_of(mortal.ior())), StoreStatus::done);
    ASSERT_EQ(store->bind(inner, component("nil"), entry_of({})), StoreStatus::done);

    Sweeper sweeper(*store, {});
    EXPECT_EQ(sweeper.of(entry_of(mortal.ior())), Liveness::not_known);
    sweeper.sweep();
    EXPECT_EQ(sweeper.of(entry_of(mortal.ior())), Liveness::alive);
    EXPECT_EQ(sweeper.of(entry_of(other.ior())), Liveness::not_known);
    mortal.deactivate();
    ASSERT_EQ(store->bind(root_context, component("o"), entry_of(other.ior())), StoreStatus::done);
    EXPECT_EQ(sweeper.of(entry_of(mortal.ior())), Liveness::alive);
    sweeper.sweep();
    EXPECT_EQ(sweeper.of(entry_of(mortal.ior())), Liveness::dead);
    EXPECT_EQ(sweeper.of(entry_of(other.ior())), Liveness::alive);
    // It stays bound, whatever was found out.
    EXPECT_EQ(bound(*store, inner, component("o")), entry_of(mortal.ior()));
    ASSERT_EQ(store->unbind(inner, component("o")), StoreStatus::done);
    sweeper.sweep();
    EXPECT_EQ(sweeper.of(entry_of(mortal.ior())), Liveness::not_known);
}

TEST(Sweeper, AsksManyAtTheSameTimeAndNoMoreThanItMay)
{
    const StoreFolder folder;
    const auto store = folder.open();
    std::vector<net::Socket> silent;
    for (int i = 0; i < 40; ++i) {
        silent.push_back(silent_server());
        const ior::Ior reference = reference_to(silent.back().local_address()->port());
        ASSERT_EQ(
            store->bind(root_context, component(std::to_string(100 + i)), entry_of(reference)),
            StoreStatus::done);
    }
    Sweeper sweeper(*store, {.probes = 20, .timeout = 20ms, .references_max = 30});
    sweeper.sweep();
    int dead = 0;
    for (const net::Socket& server : silent) {
        const Entry entry = entry_of(reference_to(server.local_address()->port()));
        dead += sweeper.of(entry) == Liveness::dead ? 1 : 0;
    }
    EXPECT_EQ(dead, 30);
}

TEST(SweepingService, TellsItsClients)
{
    const StoreFolder folder;
    const TestOrb server;
    const TestOrb client;
    ActiveObject mortal(client);
    NamingService service(server.in(), folder.open());
    const CosNaming::NamingContextExt_var own = service.root();
    const CORBA::String_var text = server.in()->object_to_string(own.in());
    const CORBA::Object_var object = client.in()->string_to_object(text.in());
    const KairosNaming::NamingContext_var root = KairosNaming::NamingContext::_narrow(object.in());
    ASSERT_FALSE(CORBA::is_nil(root.in()));
    (void)CosNaming::NamingContext_var(root->bind_new_context(naming::to_name("c")));
    root->bind(naming::to_name("c/o"), mortal.in());
    EXPECT_EQ(liveness(root.in(), "c/o"), KairosNaming::not_known);
    service.sweep();
    EXPECT_EQ(liveness(root.in(), "c/o"), KairosNaming::alive);
    EXPECT_EQ(liveness(root.in(), "c"), KairosNaming::alive);
    EXPECT_EQ(liveness(root.in(), "missing"), KairosNaming::not_known);
    mortal.deactivate();
    service.sweep();
    EXPECT_EQ(liveness(root.in(), "c/o"), KairosNaming::dead);
    const ActiveObject another(client);
    root->rebind(naming::to_name("c/o"), another.in());
    EXPECT_EQ(liveness(root.in(), "c/o"), KairosNaming::not_known);
    EXPECT_THROW((void)liveness(root.in(), ""), CORBA::UserException);
}

TEST(Sweeper, SweepsByItself)
{
    const StoreFolder folder;
    auto asked = net::Acceptor::open(net::Address::loopback_ipv4()).value();
    const auto store = folder.open();
    const Entry entry = entry_of(reference_to(asked.address().port()));
    ASSERT_EQ(store->bind(root_context, component("o"), entry), StoreStatus::done);
    const Sweeper sweeper(*store, {.interval = 1ms, .timeout = 1ms});
    for (int sweeps = 0; sweeps < 3; ++sweeps) // waits until the object is asked once more
        EXPECT_EQ(asked.accept().status, net::Acceptor::Status::accepted);
}

} // namespace kairos::nameserver
