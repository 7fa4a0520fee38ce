// SPDX-License-Identifier: Apache-2.0
//
// Local interfaces and native types: implemented, narrowed, passed, never sent.
#include "local_skel.h"

#include <kairos/corba/CORBA.h>

#include <gtest/gtest.h>

#include <type_traits>

namespace {

using kairos::mapping::omg_minor;

int destroyed = 0;

class CounterImpl : public virtual Here::Counter, public virtual ::CORBA::LocalObject {
  public:
    ~CounterImpl() override { ++destroyed; }
    CORBA::Long count() override { return count_; }
    CORBA::Long add(CORBA::Long amount) override
    {
        if (amount < 0) throw Here::Refused("less than nothing");
        return count_ += amount;
    }

  private:
    CORBA::Long count_ = 0;
};

class BoothImpl : public virtual Here::Booth, public virtual ::CORBA::LocalObject {
  public:
    CORBA::Long count() override { return 7; }
    CORBA::Long add(CORBA::Long amount) override { return 7 + amount; }
    char* name() override { return CORBA::string_dup(name_); }
    void name(const char* value) override { name_ = value; }
    CORBA::Long size() override { return size_; }
    void size(CORBA::Long value) override { size_ = value; }
    char* greet(const char* name) override { return CORBA::string_dup(name); }
    Temper mood() override { return busy; }
    Here::Counter_ptr swap(Here::Counter_ptr given, Here::Counter_ptr& kept,
                           Here::Counter_out old) override
    {
        old = kept;
        kept = Here::Counter::_duplicate(given);
        return Here::Counter::_duplicate(given);
    }
    Here::Shelf* tidy(const Here::Shelf& given, Here::Counters_out all) override
    {
        if (CORBA::is_nil(given.first.in())) throw Here::Gone(Here::Counter::_nil());
        all = new Here::Counters(given.all);
        return new Here::Shelf(given);
    }
    Here::Ticket admit(Here::Ticket ticket, Here::Pass& pass, Here::Ticket& stub) override
    {
        stub = pass;
        pass = ticket;
        return ticket + "!";
    }

  private:
    CORBA::String_var name_ = CORBA::string_dup("booth");
    CORBA::Long size_ = 0;
};

static_assert(std::is_abstract_v<Here::Counter>);
static_assert(std::is_abstract_v<Here::Booth>, "operations of remote bases, too");

TEST(LocalInterface, is_implemented_and_narrowed)
{
    destroyed = 0;
    {
        const Here::Counter_var counter = new CounterImpl;
        EXPECT_EQ(counter->add(5), 5);
        EXPECT_EQ(counter->count(), 5);
        EXPECT_THROW(counter->add(-1), Here::Refused);
        const CORBA::Object_var object = CORBA::Object::_duplicate(counter.in());
        const Here::Counter_var again = Here::Counter::_narrow(object.in());
        EXPECT_EQ(again.in(), counter.in());
        const Here::Named_var other = Here::Named::_narrow(object.in());
        EXPECT_TRUE(CORBA::is_nil(other.in()));
        EXPECT_TRUE(CORBA::is_nil(Here::Counter::_narrow(CORBA::Object::_nil())));
    }
    EXPECT_EQ(destroyed, 1);
}

TEST(LocalInterface, answers_for_itself)
{
    const Here::Booth_var booth = new BoothImpl;
    EXPECT_TRUE(booth->_is_a("IDL:Here/Booth:1.0"));
    EXPECT_TRUE(booth->_is_a("IDL:Here/Counter:1.0"));
    EXPECT_TRUE(booth->_is_a("IDL:Here/Remote:1.0"));
    EXPECT_TRUE(booth->_is_a("IDL:omg.org/CORBA/Object:1.0"));
    EXPECT_FALSE(booth->_is_a("IDL:Here/Taker:1.0"));
    EXPECT_FALSE(booth->_non_existent());
    EXPECT_TRUE(booth->_is_equivalent(booth.in()));
}

TEST(LocalInterface, may_derive_from_a_remote_interface)
{
    const Here::Booth_var booth = new BoothImpl;
    const Here::Remote_var remote = Here::Remote::_duplicate(booth.in());
    remote->size(12);
    EXPECT_EQ(remote->size(), 12);
    const CORBA::String_var greeting = remote->greet("hello");
    EXPECT_STREQ(greeting, "hello");
}

TEST(LocalInterface, passes_local_types)
{
    const Here::Booth_var booth = new BoothImpl;
    const Here::Counter_var given = new CounterImpl;
    Here::Counter_var kept;
    Here::Counter_var old;
    const Here::Counter_var result = booth->swap(given.in(), kept.inout(), old.out());
    EXPECT_EQ(result.in(), given.in());
    EXPECT_EQ(kept.in(), given.in());
    EXPECT_TRUE(CORBA::is_nil(old.in()));

    Here::Shelf shelf;
    shelf.label = "left";
    Here::Counters_var all;
    EXPECT_THROW(Here::Shelf_var(booth->tidy(shelf, all.out())), Here::Gone);
    shelf.first = Here::Counter::_duplicate(given.in());
    shelf.all.length(2);
    shelf.all[0] = Here::Counter::_duplicate(given.in());
    const Here::Shelf_var copy = booth->tidy(shelf, all.out());
    EXPECT_STREQ(copy->label, "left");
    EXPECT_EQ(copy->first.in(), given.in());
    ASSERT_EQ(all->length(), 2u);
    EXPECT_EQ((*all)[0].in(), given.in());
}

TEST(LocalInterface, cannot_be_marshalled)
{
    const Here::Counter_var counter = new CounterImpl;
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    Here::Shelf shelf;
    kairos::mapping::encode(out, shelf); // nil is nothing
    shelf.first = Here::Counter::_duplicate(counter.in());
    try {
        kairos::mapping::encode(out, shelf);
        FAIL() << "a local object was marshalled";
    } catch (const CORBA::MARSHAL& refused) {
        EXPECT_EQ(refused.minor(), omg_minor(4));
        EXPECT_EQ(refused.completed(), CORBA::COMPLETED_NO);
    }
}

class TakerImpl : public POA_Here::Taker {
  public:
    void take(CORBA::Object_ptr) override { ADD_FAILURE() << "a local object arrived"; }
};

TEST(LocalInterface, is_refused_as_an_argument)
{
    char name[] = "test";
    char* arguments[] = {name};
    int count = 1;
    const CORBA::ORB_var orb = CORBA::ORB_init(count, arguments, "local");
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    TakerImpl servant;
    const Here::Taker_var taker = servant._this();
    const Here::Counter_var counter = new CounterImpl;
    try {
        taker->take(counter.in());
        FAIL() << "a local object was sent";
    } catch (const CORBA::MARSHAL& refused) {
        EXPECT_EQ(refused.minor(), omg_minor(4));
    }
    EXPECT_THROW(CORBA::String_var(orb->object_to_string(counter.in())), CORBA::MARSHAL);
    orb->destroy();
}

TEST(Native, is_the_programs_own_type)
{
    static_assert(std::is_same_v<Here::Pass, std::string>);
    const Here::Booth_var booth = new BoothImpl;
    Here::Pass pass = "day";
    Here::Ticket stub;
    EXPECT_EQ(booth->admit("night", pass, stub), "night!");
    EXPECT_EQ(pass, "night");
    EXPECT_EQ(stub, "day");
}

} // namespace
