// SPDX-License-Identifier: Apache-2.0
//
// Copying, moving and removing, by clients in the objects' ORB and in another, and what factories
// and finders answer.
#include "kairos/lifecycle/criteria.h"
#include "kairos/lifecycle/factory_finder.h"
#include "kairos/lifecycle/generic_factory.h"
#include "kairos/lifecycle/life_cycle_object.h"
#include "kairos/nameserver/service.h"
#include "kairos/nameserver/store_testing.h"
#include "kairos/naming/name.h"
#include "note_skel.h"
#include "tests/poa/fixture.h"

namespace {

using namespace kairos;
using namespace kairos::lifecycle;
using poa_testing::From;
using poa_testing::make_orb;
using poa_testing::outcome;

const char* const note_key = "note.factory";

CosLifeCycle::Key key_named(const char* text) { return naming::to_name(text); }

class NoteServant : public POA_Note, public lifecycle::LifeCycleObject {
  public:
    NoteServant(Home& home, std::string place, std::string text)
        : LifeCycleObject(home), place_(std::move(place)), text_(std::move(text))
    {
    }
    char* text() override { return CORBA::string_dup(text_.c_str()); }
    char* place() override { return CORBA::string_dup(place_.c_str()); }

  protected:
    CosLifeCycle::Key factory_key() override { return key_named(note_key); }
    CosLifeCycle::Criteria state() override
    {
        CosLifeCycle::Criteria state;
        add(state, "text", text_.c_str());
        return state;
    }
    void check_copyable() override
    {
        if (text_ == "secret") throw CosLifeCycle::NotCopyable("it is secret");
    }
    void check_movable() override
    {
        if (text_ == "nailed down") throw CosLifeCycle::NotMovable("it is nailed down");
    }
    void check_removable() override
    {
        if (text_ == "eternal") throw CosLifeCycle::NotRemovable("it is eternal");
    }

  private:
    const std::string place_;
    const std::string text_;
};

/// A place with a factory for notes and a finder that knows it.
class Site {
  public:
    Site(PortableServer::POA_ptr root, const char* place)
        : home(root, place), factory(new lifecycle::GenericFactory(at(place))),
          finder(new lifecycle::FactoryFinder)
    {
        factory->offer(key_named(note_key),
                       [this, name = std::string(place)](const CosLifeCycle::Criteria& state) {
                           const PortableServer::Servant_var<NoteServant> note =
                               new NoteServant(home, name, text_of(state, "text"));
                           return home.activate(note);
                       });
        factory_reference = factory->_this();
        finder_reference = finder->_this();
        finder->add(factory_reference);
    }
    static CosLifeCycle::Criteria at(const char* place)
    {
        CosLifeCycle::Criteria location;
        add(location, "place", place);
        return location;
    }

    Home home;
    PortableServer::Servant_var<lifecycle::GenericFactory> factory;
    PortableServer::Servant_var<lifecycle::FactoryFinder> finder;
    CosLifeCycle::GenericFactory_var factory_reference;
    CosLifeCycle::FactoryFinder_var finder_reference;
};

CosLifeCycle::Criteria with(const char* name, const CosLifeCycle::Criteria& values)
{
    CosLifeCycle::Criteria criteria;
    add(criteria, name, values);
    return criteria;
}

CosLifeCycle::Criteria text_is(const char* text)
{
    CosLifeCycle::Criteria values;
    add(values, "text", text);
    return with("initialization", values);
}

/// The same through the client's eyes: another ORB's references go over TCP.
class LifeCycle : public testing::TestWithParam<From> {
  protected:
    template <typename Interface>
    auto seen(CORBA::Object_ptr object)
    {
        if (GetParam() == From::same_orb)
            return typename Interface::_var_type(Interface::_narrow(object));
        const CORBA::String_var text = orb_->object_to_string(object);
        const CORBA::Object_var there = client_->string_to_object(text);
        return typename Interface::_var_type(Interface::_narrow(there));
    }
    Note_var make(Site& site, const char* text)
    {
        const auto factory = seen<CosLifeCycle::GenericFactory>(site.factory_reference);
        const CORBA::Object_var made = factory->create_object(key_named(note_key), text_is(text));
        return seen<Note>(made);
    }
    /// What it says, or the exception that it answers with.
    static std::string contents(Note_ptr note)
    {
        std::string result;
        const std::string ended = outcome([&] {
            const CORBA::String_var text = note->text();
            const CORBA::String_var place = note->place();
            result = std::string(text.in()) + " in " + place.in();
        });
        return ended == "ok" ? result : ended;
    }
    Note_var copy(Note_ptr note, CosLifeCycle::FactoryFinder_ptr there,
                  const CosLifeCycle::Criteria& criteria = {})
    {
        const CosLifeCycle::LifeCycleObject_var made = note->copy(there, criteria);
        return Note::_narrow(made.in());
    }

    poa_testing::World world_{From::same_orb};
    CORBA::ORB_ptr orb_ = world_.orb();
    orb_testing::Client other_;
    CORBA::ORB_ptr client_ = other_.orb();
    Site paris_{world_.root(), "Paris"};
    Site rome_{world_.root(), "Rome"};
};

TEST_P(LifeCycle, ObjectsAreMadeByKeyAndCriteria)
{
    const auto factory = seen<CosLifeCycle::GenericFactory>(paris_.factory_reference);
    const auto create = [&](const char* key, const CosLifeCycle::Criteria& criteria) {
        return outcome([&] {
            const CORBA::Object_var made = factory->create_object(key_named(key), criteria);
            EXPECT_FALSE(CORBA::is_nil(made.in()));
        });
    };
    EXPECT_TRUE(factory->supports(key_named(note_key)));
    EXPECT_FALSE(factory->supports(key_named("other.factory")));
    EXPECT_FALSE(factory->supports({}));
    EXPECT_EQ(contents(make(paris_, "hello").in()), "hello in Paris");
    EXPECT_EQ(create("other.factory", {}), "NoFactory");
    EXPECT_EQ(create(note_key, with("colour", {})), "InvalidCriteria");
    EXPECT_EQ(create(note_key, with("logical location", Site::at("Paris"))), "ok");
    EXPECT_EQ(create(note_key, with("logical location", Site::at("Rome"))), "CannotMeetCriteria");
    CosLifeCycle::Criteria filter;
    add(filter, "filter", "cost < 3");
    EXPECT_EQ(create(note_key, filter), "CannotMeetCriteria");
}

TEST_P(LifeCycle, FactoriesPassOnWhatOthersMake)
{
    const PortableServer::Servant_var<lifecycle::GenericFactory> front =
        new lifecycle::GenericFactory;
    front->offer(key_named(note_key), rome_.factory_reference);
    const CosLifeCycle::GenericFactory_var reference = front->_this();
    const auto factory = seen<CosLifeCycle::GenericFactory>(reference);
    EXPECT_TRUE(factory->supports(key_named(note_key)));
    const CORBA::Object_var made = factory->create_object(key_named(note_key), text_is("far"));
    EXPECT_EQ(contents(seen<Note>(made).in()), "far in Rome");
    front->withdraw(key_named(note_key));
    EXPECT_FALSE(factory->supports(key_named(note_key)));
}

TEST_P(LifeCycle, ACopyIsAnObjectOfItsOwnElsewhere)
{
    const Note_var note = make(paris_, "hello");
    const Note_var same = copy(note.in(), rome_.finder_reference);
    const Note_var other = copy(note.in(), rome_.finder_reference, text_is("changed"));
    EXPECT_EQ(contents(note.in()), "hello in Paris");
    EXPECT_EQ(contents(same.in()), "hello in Rome");
    EXPECT_EQ(contents(other.in()), "changed in Rome");
    note->remove();
    EXPECT_EQ(contents(same.in()), "hello in Rome");
}

TEST_P(LifeCycle, ReferencesFollowAnObjectThatMoves)
{
    const Note_var note = make(paris_, "hello");
    note->move(rome_.finder_reference, {});
    EXPECT_EQ(contents(note.in()), "hello in Rome");
    note->move(paris_.finder_reference, {});
    EXPECT_EQ(contents(note.in()), "hello in Paris");
    const CORBA::String_var text = orb_->object_to_string(note.in());
    const CORBA::Object_var again = client_->string_to_object(text); // as others know it
    EXPECT_EQ(contents(Note_var(Note::_narrow(again.in())).in()), "hello in Paris");
    EXPECT_FALSE(note->_non_existent());
}

TEST_P(LifeCycle, AnObjectThatWasRemovedIsNoMore)
{
    const Note_var note = make(paris_, "hello");
    note->remove();
    EXPECT_EQ(contents(note.in()).substr(0, 16), "OBJECT_NOT_EXIST");
    EXPECT_TRUE(note->_non_existent());
    EXPECT_EQ(outcome([&] { note->remove(); }).substr(0, 16), "OBJECT_NOT_EXIST");
}

TEST_P(LifeCycle, ObjectsMayRefuse)
{
    const Note_var secret = make(paris_, "secret");
    EXPECT_EQ(outcome([&] { (void)copy(secret.in(), rome_.finder_reference); }), "NotCopyable");
    const Note_var nailed = make(paris_, "nailed down");
    EXPECT_EQ(outcome([&] { nailed->move(rome_.finder_reference, {}); }), "NotMovable");
    const Note_var eternal = make(paris_, "eternal");
    EXPECT_EQ(outcome([&] { eternal->remove(); }), "NotRemovable");
    for (const Note_var& note : {secret, nailed, eternal})
        EXPECT_EQ(contents(note.in()).substr(contents(note.in()).size() - 8), "in Paris");
}

TEST_P(LifeCycle, WithoutAPlaceTheHomeKnowsOne)
{
    const auto nowhere = CosLifeCycle::FactoryFinder::_nil();
    const Note_var note = make(paris_, "hello");
    EXPECT_EQ(outcome([&] { (void)copy(note.in(), nowhere); }), "NoFactory");
    EXPECT_EQ(outcome([&] { note->move(nowhere, {}); }), "NoFactory");
    EXPECT_EQ(contents(note.in()), "hello in Paris");

    Home home(world_.root(), "with finder", rome_.finder_reference.in());
    const PortableServer::Servant_var<NoteServant> servant =
        new NoteServant(home, "home", "at home");
    const CORBA::Object_var active = home.activate(servant);
    EXPECT_EQ(contents(copy(seen<Note>(active).in(), nowhere).in()), "at home in Rome");
}

TEST_P(LifeCycle, FactoriesThatDoNotAnswerArePassedOver)
{
    const CORBA::Object_var dead = orb_->string_to_object("corbaloc::127.0.0.1:1/nobody");
    const auto silent = CosLifeCycle::GenericFactory_var(
        CosLifeCycle::GenericFactory::_unchecked_narrow(dead.in()));
    const PortableServer::Servant_var<lifecycle::FactoryFinder> finder =
        new lifecycle::FactoryFinder;
    finder->add(silent.in());
    const CosLifeCycle::FactoryFinder_var there = finder->_this();
    const Note_var note = make(paris_, "hello");
    EXPECT_EQ(outcome([&] { (void)copy(note.in(), there.in()); }), "NoFactory");
    finder->add(rome_.factory_reference);
    EXPECT_EQ(contents(copy(note.in(), there.in()).in()), "hello in Rome");
    const CosLifeCycle::Factories_var found = there->find_factories(key_named(note_key));
    EXPECT_EQ(found->length(), 1u);
}

TEST_P(LifeCycle, WhatNoFactoryCanMeetIsToldAndTheNextIsAsked)
{
    const PortableServer::Servant_var<lifecycle::FactoryFinder> both = new lifecycle::FactoryFinder;
    both->add(paris_.factory_reference);
    both->add(rome_.factory_reference);
    const CosLifeCycle::FactoryFinder_var there = both->_this();
    const Note_var note = make(paris_, "hello");
    const auto at = [](const char* place) { return with("logical location", Site::at(place)); };
    EXPECT_EQ(contents(copy(note.in(), there.in(), at("Rome")).in()), "hello in Rome");
    EXPECT_EQ(outcome([&] { (void)copy(note.in(), there.in(), at("Oslo")); }),
              "CannotMeetCriteria");
}

TEST_P(LifeCycle, FactoriesAreFoundByName)
{
    nameserver::StoreFolder folder;
    nameserver::NamingService names(orb_, folder.open(), {});
    const CosNaming::NamingContextExt_var root = names.root();
    const CosNaming::Name places = naming::to_name("places");
    const CosNaming::NamingContext_var context = root->bind_new_context(places);
    context->bind(naming::to_name("paris"), paris_.factory_reference.in());
    context->bind(naming::to_name("rome"), rome_.factory_reference.in());
    root->bind(key_named(note_key), rome_.factory_reference.in());

    const PortableServer::Servant_var<NamingFactoryFinder> servant =
        new NamingFactoryFinder(root.in());
    const CosLifeCycle::FactoryFinder_var reference = servant->_this();
    const auto finder = seen<CosLifeCycle::FactoryFinder>(reference);
    const auto found = [&](const char* key) {
        const CosLifeCycle::Factories_var factories = finder->find_factories(key_named(key));
        return factories->length();
    };
    EXPECT_EQ(found("places"), 2u);
    EXPECT_EQ(found(note_key), 1u);
    EXPECT_EQ(outcome([&] { (void)found("elsewhere"); }), "NoFactory");
    const Note_var note = make(paris_, "hello");
    EXPECT_EQ(contents(copy(note.in(), reference.in()).in()), "hello in Rome");
}

INSTANTIATE_TEST_SUITE_P(From, LifeCycle, testing::Values(From::same_orb, From::other_orb));

} // namespace
