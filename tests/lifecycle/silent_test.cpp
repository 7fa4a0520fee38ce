// SPDX-License-Identifier: Apache-2.0
//
// The Life Cycle service is made to call who never answers: what becomes of its clients.
#include "kairos/lifecycle/criteria.h"
#include "kairos/lifecycle/factory_finder.h"
#include "kairos/lifecycle/generic_factory.h"
#include "kairos/lifecycle/life_cycle_object.h"
#include "kairos/naming/name.h"
#include "note_skel.h"
#include "tests/malformed/black_hole.h"
#include "tests/poa/fixture.h"

namespace {

using namespace kairos;
using namespace kairos::lifecycle;
using orb_testing::BlackHole;
using poa_testing::From;
using poa_testing::outcome;

CosLifeCycle::Key key() { return naming::to_name("note.factory"); }

class NoteServant : public POA_Note, public lifecycle::LifeCycleObject {
  public:
    explicit NoteServant(Home& home) : LifeCycleObject(home) {}
    char* text() override { return CORBA::string_dup("here"); }
    char* place() override { return CORBA::string_dup("here"); }

  protected:
    CosLifeCycle::Key factory_key() override { return key(); }
    CosLifeCycle::Criteria state() override { return {}; }
};

/// Finds what it is told to.
class Finder : public POA_CosLifeCycle::FactoryFinder {
  public:
    CosLifeCycle::Factories* find_factories(const CosLifeCycle::Key&) override
    {
        return new CosLifeCycle::Factories(found);
    }
    CosLifeCycle::Factories found;
};

/// A service, each of whose parts has a black hole to call; and clients in another ORB, who wait
/// for as long as it takes.
class SilentServers : public testing::Test {
  protected:
    explicit SilentServers(std::vector<std::string> options = {})
        : world_(From::other_orb, std::move(options))
    {
        factory_->offer(key(), [this](const CosLifeCycle::Criteria&) {
            const PortableServer::Servant_var<NoteServant> note = new NoteServant(home_);
            return home_.activate(note);
        });
        const PortableServer::Servant_var<NoteServant> note = new NoteServant(home_);
        note_ = home_.activate(note);
        good_ = factory_->_this();
    }
    template <typename Interface>
    typename Interface::_var_type seen(CORBA::Object_ptr object)
    {
        const CORBA::String_var text = world_.orb()->object_to_string(object);
        return Interface::_unchecked_narrow(
            CORBA::Object_var(client_.orb()->string_to_object(text)).in());
    }
    template <typename Interface>
    typename Interface::_var_type hole()
    {
        return hole_.object<Interface>(world_.orb());
    }
    template <typename Interface>
    typename Interface::_var_type hole_seen()
    {
        return hole_.object<Interface>(client_.orb());
    }
    Note_var note() { return seen<Note>(note_.in()); }
    /// Of a finder that finds holes, and then perhaps the factory.
    CosLifeCycle::FactoryFinder_var finder_of(CORBA::ULong holes, bool good)
    {
        const PortableServer::Servant_var<Finder> finder = new Finder;
        finder->found.length(holes + (good ? 1 : 0));
        for (CORBA::ULong i = 0; i < holes; ++i)
            finder->found[i] = CORBA::Object::_duplicate(hole<CORBA::Object>().in());
        if (good) finder->found[holes] = CORBA::Object::_duplicate(good_.in());
        return finder->_this();
    }

    BlackHole hole_;
    poa_testing::World world_;
    orb_testing::Client client_;
    Home home_{world_.root(), "home"};
    PortableServer::Servant_var<lifecycle::GenericFactory> factory_{new lifecycle::GenericFactory};
    CosLifeCycle::GenericFactory_var good_;
    CORBA::Object_var note_;
};

constexpr const char* no_reply = "TIMEOUT 0x4b520010 MAYBE";

struct Case {
    const char* name;
    const char* expected;
    std::function<void()> call;
    std::string got{};
};

/// All at once: each takes its time.
void expect_all(std::vector<Case> cases)
{
    {
        std::vector<std::jthread> threads;
        for (Case& one : cases)
            threads.emplace_back([&one] { one.got = outcome(one.call); });
    }
    for (const Case& one : cases)
        EXPECT_EQ(one.got, one.expected) << one.name;
}

TEST_F(SilentServers, AreNotWaitedForForEver)
{
    const PortableServer::Servant_var<NamingFactoryFinder> by_name =
        new NamingFactoryFinder(hole<CosNaming::NamingContext>().in());
    const CosLifeCycle::FactoryFinder_var by_name_reference = by_name->_this();
    const PortableServer::Servant_var<lifecycle::GenericFactory> front =
        new lifecycle::GenericFactory;
    front->offer(key(), hole<CosLifeCycle::GenericFactory>().in());
    const CosLifeCycle::GenericFactory_var front_reference = front->_this();
    const CosLifeCycle::FactoryFinder_var many_holes = finder_of(100, true);
    const auto finder = [&] { return seen<CosLifeCycle::FactoryFinder>(by_name_reference.in()); };
    const auto factory = [&] { return seen<CosLifeCycle::GenericFactory>(front_reference.in()); };
    const auto copy_by = [&](const CosLifeCycle::FactoryFinder_var& there) {
        (void)CosLifeCycle::LifeCycleObject_var(note()->copy(there.in(), {}));
    };
    expect_all({
        {"a finder by name", no_reply,
         [&] { (void)CosLifeCycle::Factories_var(finder()->find_factories(key())); }},
        {"a factory that asks another", no_reply, [&] { (void)factory()->supports(key()); }},
        {"a factory that has another make it", no_reply,
         [&] { (void)CORBA::Object_var(factory()->create_object(key(), {})); }},
        {"a copy to where a client says", no_reply,
         [&] { copy_by(hole_seen<CosLifeCycle::FactoryFinder>()); }},
        {"a move to where a client says", no_reply,
         [&] { note()->move(hole_seen<CosLifeCycle::FactoryFinder>().in(), {}); }},
        {"a copy by one of too many", "NoFactory",
         [&] { copy_by(seen<CosLifeCycle::FactoryFinder>(many_holes.in())); }},
    });
    EXPECT_EQ(std::string(CORBA::String_var(note()->text()).in()), "here"); // it has not moved
}

/// There is time enough for those who answer, also on a busy machine.
class SilentServersAmongOthers : public SilentServers {
  protected:
    SilentServersAmongOthers() : SilentServers({"-ORBClientTimeout", "10000"}) {}
};

TEST_F(SilentServersAmongOthers, ArePassedOver)
{
    const PortableServer::Servant_var<lifecycle::FactoryFinder> both = new lifecycle::FactoryFinder;
    both->add(hole<CosLifeCycle::GenericFactory>().in());
    both->add(good_.in());
    const CosLifeCycle::FactoryFinder_var both_reference = both->_this();
    const CosLifeCycle::FactoryFinder_var one_hole = finder_of(1, true);
    expect_all({
        {"the finder leaves it out", "ok",
         [&] {
             const auto finder = seen<CosLifeCycle::FactoryFinder>(both_reference.in());
             const CosLifeCycle::Factories_var found = finder->find_factories(key());
             EXPECT_EQ(found->length(), 1u);
         }},
        {"a copy is made by the next", "ok",
         [&] {
             const auto there = seen<CosLifeCycle::FactoryFinder>(one_hole.in());
             const CosLifeCycle::LifeCycleObject_var same = note()->copy(there.in(), {});
             EXPECT_FALSE(CORBA::is_nil(same.in()));
         }},
    });
}

} // namespace
