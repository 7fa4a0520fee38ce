// SPDX-License-Identifier: Apache-2.0
//
// Calls within the process with each setting of -ORBCollocation, beside remote ones: who owns what
// is passed (C++ mapping 5.22), which exceptions come back, and which servants are found. The other
// tests here run with each setting, too. Leaks are found by AddressSanitizer.
#include "collocated_skel.h"
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace Collocated;
using namespace PortableServer;

constexpr const char* null_argument = "BAD_PARAM 0x0 NO";

char* copy_of(const char* text) { return CORBA::string_dup(text); }

class PassingServant : public POA_Collocated::Passing {
  public:
    int calls = 0;
    Event failed;

    CORBA::Long turn(CORBA::Long a, CORBA::Long& b, CORBA::Long_out c) override
    {
        c = b;
        b = a;
        return a + c;
    }
    char* keep_text(const char* value) override
    {
        ++calls;
        return *value == '\0' ? nullptr : copy_of(value);
    }
    void change_text(char*& value) override
    {
        ++calls;
        CORBA::string_free(value);
        value = copy_of("changed");
    }
    void give_text(CORBA::String_out value) override { value = copy_of("given"); }
    Pair keep_pair(const Pair& value) override { return value; }
    void change_pair(Pair& value, Pair_out former) override
    {
        former = value;
        ++value.number;
    }
    Record* keep_record(const Record& value) override
    {
        return value.numbers.length() == 0 ? nullptr : new Record(value);
    }
    void change_record(Record& value) override
    {
        value.text = "changed";
        value.numbers.length(1);
    }
    void give_record(Record_out value) override
    {
        value = new Record;
        value->text = "given";
    }
    Numbers* keep_numbers(const Numbers& value) override { return new Numbers(value); }
    void give_numbers(CORBA::Long size, Numbers_out value) override
    {
        if (size < 0) return; // leaves it null
        value = new Numbers;
        value->length(static_cast<CORBA::ULong>(size));
    }
    Grid_slice* keep_grid(const Grid value) override { return Grid_dup(value); }
    void change_grid(Grid value) override { value[1][1] = 7; }
    void give_grid(Grid_out value) override
    {
        const Grid given = {{5, 5}, {5, 5}};
        Grid_copy(value, given);
    }
    Texts_slice* keep_texts(const Texts value) override { return Texts_dup(value); }
    void change_texts(Texts value) override { value[1] = "changed"; }
    void give_texts(Texts_out value) override
    {
        value = Texts_alloc();
        value[1] = "given";
    }
    void assign(const Pair& from, Pair& into) override
    {
        into.number = -1;
        into.number = from.number;
    }
    CORBA::Boolean is_nil(Base_ptr target) override { return CORBA::is_nil(target); }
    void fail(CORBA::Long how) override
    {
        switch (how) {
        case 0:
            throw Listed(Record());
        case 1:
            throw Unlisted();
        case 2:
            throw CORBA::NO_RESOURCES(17, CORBA::COMPLETED_NO);
        case 3:
            throw std::bad_alloc();
        case 4:
            throw std::runtime_error("foreign");
        default:
            throw 5;
        }
    }
    void fail_silently(CORBA::Long how) override
    {
        failed.set();
        fail(how);
    }
};

class Passed : public Everywhere {
  protected:
    Passed()
    {
        const CORBA::Object_var object = world_.root()->servant_to_reference(servant_);
        const Probe::Target_var seen = world_.seen(object);
        target_ = Passing::_unchecked_narrow(seen);
        target_->give_text(first_.out()); // direct calls begin with the second
    }
    World world_{GetParam()};
    Servant_var<PassingServant> servant_ = new PassingServant;
    Passing_var target_;
    CORBA::String_var first_;
};

TEST_P(Passed, NumbersAndFixedStructs)
{
    CORBA::Long b = 2;
    CORBA::Long c = 0;
    EXPECT_EQ(target_->turn(1, b, c), 3);
    EXPECT_EQ(b, 1);
    EXPECT_EQ(c, 2);
    Pair value{4, 0.5};
    EXPECT_EQ(target_->keep_pair(value).number, 4);
    Pair former{};
    target_->change_pair(value, former);
    EXPECT_EQ(value.number, 5);
    EXPECT_EQ(former.number, 4);
}

TEST_P(Passed, StringsBelongToWhoTheMappingSays)
{
    const CORBA::String_var result = target_->keep_text("text");
    EXPECT_STREQ(result, "text");
    CORBA::String_var text = copy_of("old");
    target_->change_text(text.inout());
    EXPECT_STREQ(text, "changed");
    target_->give_text(text.out());
    EXPECT_STREQ(text, "given");
    char* raw = nullptr;
    target_->give_text(raw);
    EXPECT_STREQ(raw, "given");
    CORBA::string_free(raw);
}

TEST_P(Passed, StructsAndSequences)
{
    Record value;
    value.text = "text";
    value.numbers.length(3);
    Record_var result = target_->keep_record(value);
    EXPECT_STREQ(result->text, "text");
    EXPECT_NE(result->numbers.get_buffer(), value.numbers.get_buffer());
    target_->change_record(result.inout());
    EXPECT_STREQ(result->text, "changed");
    EXPECT_EQ(result->numbers.length(), 1u);
    target_->give_record(result.out());
    EXPECT_STREQ(result->text, "given");
    const Numbers_var numbers = target_->keep_numbers(value.numbers);
    EXPECT_EQ(numbers->length(), 3u);
    Numbers_var more;
    target_->give_numbers(4, more.out());
    EXPECT_EQ(more->length(), 4u);
}

TEST_P(Passed, Arrays)
{
    Grid grid = {{1, 2}, {3, 4}};
    const Grid_var result = target_->keep_grid(grid);
    EXPECT_EQ(result[1][0], 3);
    target_->change_grid(grid);
    EXPECT_EQ(grid[1][1], 7);
    target_->give_grid(grid);
    EXPECT_EQ(grid[0][1], 5);
    Texts texts;
    texts[0] = static_cast<const char*>("one");
    const Texts_var copy = target_->keep_texts(texts);
    EXPECT_STREQ(copy[0], "one");
    target_->change_texts(texts);
    EXPECT_STREQ(texts[1], "changed");
    Texts_var given;
    target_->give_texts(given.out());
    EXPECT_STREQ(given[1], "given");
}

TEST_P(Passed, NullPointersAreRefused)
{
    const int before = servant_->calls;
    EXPECT_EQ(outcome([&] { const CORBA::String_var x = target_->keep_text(nullptr); }),
              null_argument);
    char* null = nullptr;
    EXPECT_EQ(outcome([&] { target_->change_text(null); }), null_argument);
    EXPECT_EQ(servant_->calls, before);
    EXPECT_EQ(outcome([&] { const CORBA::String_var x = target_->keep_text(""); }), null_argument);
    EXPECT_EQ(outcome([&] { const Record_var x = target_->keep_record(Record()); }), null_argument);
    Numbers_var numbers;
    EXPECT_EQ(outcome([&] { target_->give_numbers(-1, numbers.out()); }), null_argument);
}

TEST_P(Passed, WhatCouldBeTheSameVariableIsCopied)
{
    Pair value{3, 0};
    target_->assign(value, value);
    EXPECT_EQ(value.number, 3);
    EXPECT_TRUE(target_->is_nil(Base::_nil()));
}

TEST_P(Passed, ExceptionsAreThoseOfRemoteCalls)
{
    const auto ends = [&](CORBA::Long how) { return outcome([&] { target_->fail(how); }); };
    EXPECT_EQ(ends(0), "Listed");
    EXPECT_EQ(ends(1), "UNKNOWN 0x4f4d0001 MAYBE");
    EXPECT_EQ(ends(2), "NO_RESOURCES 0x11 NO");
    EXPECT_EQ(ends(3), "NO_MEMORY 0x0 MAYBE");
    EXPECT_EQ(ends(4), "UNKNOWN 0x4b520009 MAYBE");
    EXPECT_EQ(ends(5), "UNKNOWN 0x4b520009 MAYBE");
    for (CORBA::Long how = 0; how < 6; ++how)
        EXPECT_EQ(outcome([&] { target_->fail_silently(how); }), "ok");
    EXPECT_TRUE(servant_->failed.wait());
}

KAIROS_EVERYWHERE(Passed);

// --- Which servant
// --------------------------------------------------------------------------------

class BothServant : public POA_Collocated::Both {
  public:
    CORBA::Long value() override { return value_; }
    void value(CORBA::Long value) override { value_ = value; }
    char* name() override { return copy_of("both"); }
    CORBA::Long one() override { return 1; }
    CORBA::Long two() override { return 2; }
    CORBA::Long three() override { return 3; }

  private:
    CORBA::Long value_ = 0;
};

class NothingServant : public POA_Collocated::Nothing {
  public:
    CORBA::Long value() override { return 10; }
    void value(CORBA::Long) override {}
    char* name() override { return copy_of("nothing"); }
    CORBA::Long one() override { return 11; }
    CORBA::Long two() override { return 12; }
};

/// The object as each of its interfaces.
class Found : public Everywhere {
  protected:
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type as(ServantBase* servant)
    {
        const CORBA::Object_var object = world_.root()->servant_to_reference(servant);
        const Probe::Target_var seen = world_.seen(object);
        return Interface::_unchecked_narrow(seen);
    }
    World world_{GetParam()};
};

TEST_P(Found, ByEachInterfaceThatTheServantHas)
{
    const Servant_var<BothServant> servant = new BothServant;
    const Both_var both = as<Both>(servant);
    const Base_var base = Base::_narrow(both);
    for (int i = 0; i < 3; ++i) {
        both->value(i);
        EXPECT_EQ(base->value(), i);
        EXPECT_EQ(both->one() + both->two() + both->three(), 6);
        const CORBA::String_var name = base->name();
        EXPECT_STREQ(name, "both");
    }
    const Servant_var<NothingServant> other = new NothingServant;
    const Nothing_var nothing = as<Nothing>(other);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(nothing->one() + nothing->two() + nothing->value(), 33);
}

TEST_P(Found, NotOfAnotherInterface)
{
    const Servant_var<NothingServant> servant = new NothingServant;
    const Both_var wrong = as<Both>(servant);
    EXPECT_EQ(wrong->two(), 12);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(outcome([&] { wrong->three(); }), "BAD_OPERATION 0x4f4d0002 NO");
}

TEST_P(Found, ByTieAndAfterReactivation)
{
    BothServant implementation;
    const Servant_var<POA_Collocated::Both_tie<BothServant>> tie =
        new POA_Collocated::Both_tie<BothServant>(implementation);
    const POA_var poa = world_.poa("poa", Policies(world_.root()) << USER_ID);
    poa->activate_object_with_id(id_of("one"), tie);
    const CORBA::Object_var object = poa->id_to_reference(id_of("one"));
    const Probe::Target_var seen = world_.seen(object);
    const Both_var both = Both::_unchecked_narrow(seen);
    EXPECT_EQ(both->three() + both->three(), 6);
    // More often than a reference remembers servants.
    for (int i = 0; i < 40; ++i) {
        poa->deactivate_object(id_of("one"));
        EXPECT_EQ(outcome([&] { both->three(); }), no_object);
        const Servant_var<BothServant> next = new BothServant;
        poa->activate_object_with_id(id_of("one"), next);
        both->value(i);
        EXPECT_EQ(next->value(), i);
        both->value(i + 1);
        EXPECT_EQ(next->value(), i + 1);
    }
}

KAIROS_EVERYWHERE(Found);

// --- What the settings mean
// ------------------------------------------------------------------------

/// Whether an upcall knows of its object: direct calls after the first do not.
TEST(Settings, OnlyDirectCallsSkipTheAdapter)
{
    for (const From from : everywhere) {
        World world(from);
        const CORBA::Object_var found = world.orb()->resolve_initial_references("POACurrent");
        const Current_var current = Current::_narrow(found);
        const Servant_var<Servant> servant = new Servant;
        const CORBA::Object_var object = world.root()->servant_to_reference(servant);
        const Probe::Target_var target = world.seen(object);
        bool known = false;
        servant->action = [&] {
            known = outcome([&] { const POA_var poa = current->get_POA(); }) == "ok";
        };
        target->act();
        EXPECT_TRUE(known);
        target->act();
        EXPECT_EQ(known, from != From::same_orb_direct);
        // The POAManager's state is the adapter's business.
        world.manager()->discard_requests(false);
        EXPECT_EQ(outcome([&] { target->act(); }),
                  from == From::same_orb_direct ? "ok" : discarded);
    }
}

TEST(Settings, ArgumentsAreSharedUnlessMarshalled)
{
    for (const From from : everywhere) {
        World world(from);
        const void* given = nullptr;
        class Watching final : public Servant {
          public:
            explicit Watching(const void*& given) : given_(given) {}
            CORBA::ULong count_octets(const Probe::Octets& octets) override
            {
                given_ = &octets;
                return octets.length();
            }

          private:
            const void*& given_;
        };
        const Servant_var<Watching> servant = new Watching(given);
        const CORBA::Object_var object = world.root()->servant_to_reference(servant);
        const Probe::Target_var target = world.seen(object);
        Probe::Octets octets;
        octets.length(5);
        EXPECT_EQ(target->count_octets(octets), 5u);
        const bool shared = from == From::same_orb || from == From::same_orb_direct;
        EXPECT_EQ(given == &octets, shared);
    }
}

TEST(Settings, OnlyAdaptersForAnyThreadAreSkipped)
{
    World world(From::same_orb_direct);
    const CORBA::Object_var found = world.orb()->resolve_initial_references("POACurrent");
    const Current_var current = Current::_narrow(found);
    const POA_var poa = world.poa("single", Policies(world.root()) << SINGLE_THREAD_MODEL);
    const Servant_var<Servant> servant = new Servant;
    const ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const Probe::Target_var target = world.seen(object);
    servant->action = [&] { const POA_var its = current->get_POA(); };
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(outcome([&] { target->act(); }), "ok");
}

/// Each call reaches the object that is active or is told that there is none.
TEST(Settings, DeactivationBesideCalls)
{
    for (const From from : {From::same_orb, From::same_orb_direct}) {
        World world(from);
        const POA_var poa = world.poa("poa", Policies(world.root()) << USER_ID);
        const Servant_var<Servant> servant = new Servant; // outlives direct calls
        poa->activate_object_with_id(id_of("one"), servant);
        const CORBA::Object_var object = poa->id_to_reference(id_of("one"));
        const Probe::Target_var target = world.seen(object);
        std::atomic<bool> end{false};
        std::atomic<std::uint64_t> reached{0};
        std::vector<std::thread> callers;
        for (int i = 0; i < 2; ++i)
            callers.emplace_back([&] {
                while (!end) {
                    const std::string ended = outcome([&] { target->ping(); });
                    if (ended == "ok") ++reached;
                    EXPECT_TRUE(ended == "ok" || ended == no_object) << ended;
                }
            });
        for (int i = 0; i < 200; ++i) {
            poa->deactivate_object(id_of("one"));
            poa->activate_object_with_id(id_of("one"), servant);
        }
        end = true;
        for (std::thread& caller : callers)
            caller.join();
        EXPECT_EQ(servant->calls, reached);
    }
}

} // namespace
} // namespace kairos::poa_testing
