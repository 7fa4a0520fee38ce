// SPDX-License-Identifier: Apache-2.0
//
// Generated stubs and skeletons at work: every kind of type as in, inout and out argument and as
// result, by calls within one ORB and by calls over TCP between two ORBs of this process. The
// servant returns `a`, gives the old `b` out as `c` and makes `b` an `a`. Leaks are found by
// AddressSanitizer.
#include "everything_skel.h"

#include <kairos/corba/CORBA.h>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace {

using namespace Everything;

template <typename T>
T turn(const T& a, T& b, T& c)
{
    c = b;
    b = a;
    return a;
}
template <typename T, typename Out>
T* turn_variable(const T& a, T& b, Out& c)
{
    c = new T(b);
    b = a;
    return new T(a);
}
char* turn_string(const char* a, char*& b, CORBA::String_out& c)
{
    c = b;
    b = CORBA::string_dup(a);
    return CORBA::string_dup(a);
}
template <typename T, typename Out>
T* turn_object(T* a, T*& b, Out& c)
{
    c = b; // takes over the inout reference
    b = T::_duplicate(a);
    return T::_duplicate(a);
}

/// Does not derive from a skeleton: served through Forward_tie.
class Servant {
  public:
    // Included::Base
    char* name() { return CORBA::string_dup("servant"); }
    void base_call(const Included::Point& where)
    {
        if (where.x < 0) throw Included::Refused("left of everything");
    }
    // Basics
    CORBA::Long counter() { return counter_; }
    void counter(CORBA::Long value) { counter_ = value; }
    Basics::State current() { return Basics::busy; }
    Person* owner() { return new Person(owner_); }
    void owner(const Person& value) { owner_ = value; }
    char* label() { return CORBA::string_dup(label_); }
    void label(const char* value) { label_ = value; }
    void nothing() {}
    void notify(CORBA::Long count, const char* text)
    {
        counter_ = count;
        label_ = text;
    }
    bool a_boolean(bool a, bool& b, bool& c) { return turn(a, b, c); }
    char a_char(char a, char& b, char& c) { return turn(a, b, c); }
    CORBA::Octet an_octet(CORBA::Octet a, CORBA::Octet& b, CORBA::Octet& c)
    {
        return turn(a, b, c);
    }
    CORBA::Short a_short(CORBA::Short a, CORBA::Short& b, CORBA::Short& c) { return turn(a, b, c); }
    CORBA::UShort a_ushort(CORBA::UShort a, CORBA::UShort& b, CORBA::UShort& c)
    {
        return turn(a, b, c);
    }
    CORBA::Long a_long(CORBA::Long a, CORBA::Long& b, CORBA::Long& c) { return turn(a, b, c); }
    CORBA::ULong a_ulong(CORBA::ULong a, CORBA::ULong& b, CORBA::ULong& c) { return turn(a, b, c); }
    CORBA::LongLong a_longlong(CORBA::LongLong a, CORBA::LongLong& b, CORBA::LongLong& c)
    {
        return turn(a, b, c);
    }
    CORBA::ULongLong a_ulonglong(CORBA::ULongLong a, CORBA::ULongLong& b, CORBA::ULongLong& c)
    {
        return turn(a, b, c);
    }
    CORBA::Float a_float(CORBA::Float a, CORBA::Float& b, CORBA::Float& c) { return turn(a, b, c); }
    CORBA::Double a_double(CORBA::Double a, CORBA::Double& b, CORBA::Double& c)
    {
        return turn(a, b, c);
    }
    CORBA::LongDouble a_quad(CORBA::LongDouble a, CORBA::LongDouble& b, CORBA::LongDouble& c)
    {
        return turn(a, b, c);
    }
    Color a_color(Color a, Color& b, Color& c) { return turn(a, b, c); }
    // Constructed
    char* a_string(const char* a, char*& b, CORBA::String_out c) { return turn_string(a, b, c); }
    char* a_bounded(const char* a, char*& b, CORBA::String_out c) { return turn_string(a, b, c); }
    BinStruct a_fixed(const BinStruct& a, BinStruct& b, BinStruct& c) { return turn(a, b, c); }
    Person* a_variable(const Person& a, Person& b, Person_out c) { return turn_variable(a, b, c); }
    Longs* a_sequence(const Longs& a, Longs& b, Longs_out c) { return turn_variable(a, b, c); }
    BinStructs* some_structs(const BinStructs& a, BinStructs& b, BinStructs_out c)
    {
        return turn_variable(a, b, c);
    }
    Names* some_names(const Names& a, Names& b, Names_out c) { return turn_variable(a, b, c); }
    Basics::Bounded* some_few(const Basics::Bounded& a, Basics::Bounded& b, Basics::Bounded_out c)
    {
        return turn_variable(a, b, c);
    }
    Vector_slice* a_vector(const Vector a, Vector b, Vector_out c)
    {
        Vector_copy(c, b);
        Vector_copy(b, a);
        return Vector_dup(a);
    }
    Matrix_slice* a_matrix(const Matrix a, Matrix b, Matrix_out c)
    {
        Matrix_copy(c, b);
        Matrix_copy(b, a);
        return Matrix_dup(a);
    }
    NamePair_slice* a_pair(const NamePair a, NamePair b, NamePair_out c)
    {
        c = NamePair_dup(b);
        NamePair_copy(b, a);
        return NamePair_dup(a);
    }
    Node* a_tree(const Node& a)
    {
        if (a.value == 0) throw Empty();
        if (a.value < 0) {
            const Vector vector = {1, 2, 3};
            throw Overflow(a.value, "below zero", vector, People());
        }
        return a.value == 99 ? nullptr : new Node(a);
    }
    void go_left() { counter_ = -1; }
    void go_right() { counter_ = 1; }
    // Forward
    Forward_ptr next(Forward_ptr a, Forward_ptr& b, Forward_out c)
    {
        if (CORBA::is_nil(a) && !CORBA::is_nil(b)) throw Moved(b); // duplicates
        if (CORBA::is_nil(a)) throw Basics::Occupied(Basics::busy);
        return turn_object(a, b, c);
    }
    CORBA::Object_ptr any_object(CORBA::Object_ptr a, CORBA::Object_ptr& b, CORBA::Object_out c)
    {
        return turn_object(a, b, c);
    }
    Forwards* all(const Forwards& a, Forwards& b, Forwards_out c) { return turn_variable(a, b, c); }
    Holder* hold(const Holder& a, Holder& b, Holder_out c) { return turn_variable(a, b, c); }

  private:
    CORBA::Long counter_ = 0;
    Person owner_;
    CORBA::String_var label_ = "label";
};

class BigServant : public POA_Everything::Big {
  public:
    Block_slice* a_block(const Block a, Block b, Block_out c) override
    {
        Block_copy(c, b);
        Block_copy(b, a);
        return Block_dup(a);
    }
    BigStruct a_big_struct(const BigStruct& a, BigStruct& b, BigStruct_out c) override
    {
        return turn(a, b, c);
    }
};

CORBA::ORB_ptr make_orb(const char* id, std::vector<std::string> options)
{
    std::vector<char*> arguments;
    std::string program = "test";
    arguments.push_back(program.data());
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(arguments.size()) - 1;
    return CORBA::ORB_init(count, arguments.data(), id);
}

/// The parameter: whether the calls leave the ORB.
class Calls : public testing::TestWithParam<bool> {
  protected:
    Calls()
        : server_(make_orb("server", {"-ORBListenEndpoints", "iiop://127.0.0.1:0"})),
          client_(make_orb("client", {})), tie_(servant_), big_servant_(new BigServant)
    {
        const CORBA::Object_var object = server_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
        object_ = reference_of<Forward>(&tie_);
        big_ = reference_of<Big>(big_servant_.in());
    }
    ~Calls() override
    {
        object_ = nullptr;
        big_ = nullptr;
        client_->destroy();
        server_->destroy();
    }

    template <typename T>
    T* reference_of(PortableServer::Servant servant)
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        const CORBA::Object_var local = poa_->id_to_reference(id.in());
        const CORBA::String_var text = server_->object_to_string(local.in());
        const CORBA::Object_var remote = client_->string_to_object(text);
        return T::_narrow(GetParam() ? remote.in() : local.in());
    }

    const CORBA::ORB_var server_;
    const CORBA::ORB_var client_;
    Servant servant_;
    POA_Everything::Forward_tie<Servant> tie_;
    PortableServer::Servant_var<BigServant> big_servant_;
    PortableServer::POA_var poa_;
    Forward_var object_;
    Big_var big_;
};
INSTANTIATE_TEST_SUITE_P(Distance, Calls, testing::Bool(),
                         [](const auto& suite) { return suite.param ? "remote" : "collocated"; });

/// Calls with values whose equality is ==.
template <typename T, typename I>
void expect_turned(I* object, T (I::*call)(T, T&, T&), T one, T two)
{
    T b = two;
    T c{};
    EXPECT_EQ((object->*call)(one, b, c), one);
    EXPECT_EQ(b, one);
    EXPECT_EQ(c, two);
}

TEST_P(Calls, WithBasicTypes)
{
    Basics* object = object_.in();
    expect_turned<bool>(object, &Basics::a_boolean, true, false);
    expect_turned<char>(object, &Basics::a_char, 'a', '\xff');
    expect_turned<CORBA::Octet>(object, &Basics::an_octet, 255, 1);
    expect_turned<CORBA::Short>(object, &Basics::a_short, -32768, 32767);
    expect_turned<CORBA::UShort>(object, &Basics::a_ushort, 65535, 1);
    expect_turned<CORBA::Long>(object, &Basics::a_long, INT32_MIN, INT32_MAX);
    expect_turned<CORBA::ULong>(object, &Basics::a_ulong, UINT32_MAX, 1);
    expect_turned<CORBA::LongLong>(object, &Basics::a_longlong, INT64_MIN, INT64_MAX);
    expect_turned<CORBA::ULongLong>(object, &Basics::a_ulonglong, UINT64_MAX, 1);
    expect_turned<CORBA::Float>(object, &Basics::a_float, 1.5F, -INFINITY);
    expect_turned<CORBA::Double>(object, &Basics::a_double, 0.1, -1e300);
    expect_turned<CORBA::LongDouble>(object, &Basics::a_quad, 0.1L, -1e4000L);
    expect_turned<Color>(object, &Basics::a_color, green, blue);
}

TEST_P(Calls, WithStrings)
{
    CORBA::String_var b = "two";
    CORBA::String_var c = "freed by out()";
    const CORBA::String_var result = object_->a_string("one", b.inout(), c.out());
    EXPECT_STREQ(result, "one");
    EXPECT_STREQ(b, "one");
    EXPECT_STREQ(c, "two");
    EXPECT_THROW(object_->a_string(nullptr, b.inout(), c.out()), CORBA::BAD_PARAM);
    EXPECT_THROW(object_->a_bounded("nine char", b.inout(), c.out()), CORBA::BAD_PARAM);
    const CORBA::String_var eight = object_->a_bounded("8 chars.", b.inout(), c.out());
    EXPECT_STREQ(eight, "8 chars.");
}

TEST_P(Calls, WithStructs)
{
    const BinStruct one{1, 'a', 2, 3, 4.5};
    BinStruct b{5, 'b', 6, 7, 8.5};
    BinStruct c{};
    EXPECT_EQ(object_->a_fixed(one, b, c).d, 4.5);
    EXPECT_EQ(b.l, 2);
    EXPECT_EQ(c.s, 5);

    Person ada;
    ada.name = "Ada";
    ada.lines[1] = "London";
    ada.marks = {1, 2};
    Person bob;
    bob.name = "Bob";
    Person_var old;
    const Person_var result = object_->a_variable(ada, bob, old.out());
    EXPECT_STREQ(result->lines[1], "London");
    EXPECT_STREQ(bob.name, "Ada");
    EXPECT_EQ(bob.marks[1], 2);
    EXPECT_STREQ(old->name, "Bob");
    ada.nickname = "longer than eight";
    EXPECT_THROW(object_->a_variable(ada, bob, old.out()), CORBA::BAD_PARAM);
}

TEST_P(Calls, WithSequences)
{
    const Longs one{1, 2, 3};
    Longs b{4};
    Longs_var c;
    const Longs_var result = object_->a_sequence(one, b, c.out());
    EXPECT_EQ(result->length(), 3u);
    EXPECT_EQ(b[2], 3);
    EXPECT_EQ(c[0], 4);

    BinStructs structs;
    structs.length(10'000);
    for (CORBA::ULong i = 0; i < structs.length(); ++i)
        structs[i] = {static_cast<CORBA::Short>(i), 'x', static_cast<CORBA::Long>(i), 1, i / 2.0};
    BinStructs no_structs;
    BinStructs_var old_structs;
    const BinStructs_var all = object_->some_structs(structs, no_structs, old_structs.out());
    ASSERT_EQ(all->length(), 10'000u);
    EXPECT_EQ(all[9'999].l, 9'999);
    EXPECT_EQ(no_structs[1].d, 0.5);
    EXPECT_EQ(old_structs->length(), 0u);

    const Names names{"x", "", "longer"};
    Names no_names;
    Names_var old_names;
    const Names_var all_names = object_->some_names(names, no_names, old_names.out());
    EXPECT_STREQ(all_names[2], "longer");
    EXPECT_STREQ(no_names[0], "x");

    Basics::Bounded few{1, 2, 3, 4, 5, 6, 7};
    Basics::Bounded_var old_few;
    const Basics::Bounded_var same = object_->some_few(few, few, old_few.out());
    EXPECT_EQ(same[6], 7);
}

TEST_P(Calls, WithArrays)
{
    const Vector one = {1, 2, 3};
    Vector b = {4, 5, 6};
    Vector c;
    const Vector_var result = object_->a_vector(one, b, c);
    EXPECT_EQ(result[2], 3);
    EXPECT_EQ(b[0], 1);
    EXPECT_EQ(c[0], 4);

    const Matrix matrix = {{1, 2, 3}, {4, 5, 6}};
    Matrix other = {};
    Matrix_var old = Matrix_alloc();
    const Matrix_var same = object_->a_matrix(matrix, other, old.out());
    EXPECT_EQ(same[1][2], 6);
    EXPECT_EQ(other[0][1], 2);

    NamePair names;
    names[0] = "one";
    names[1] = "two";
    NamePair more;
    NamePair_var none;
    const NamePair_var pair = object_->a_pair(names, more, none.out());
    EXPECT_STREQ(pair[1], "two");
    EXPECT_STREQ(more[0], "one");
    EXPECT_STREQ(none[0], "");
}

TEST_P(Calls, WithLargeValues)
{
    const auto big = std::make_unique<BigStruct>();
    const auto other = std::make_unique<BigStruct>();
    const auto old = std::make_unique<BigStruct>();
    big->block[65535] = 7;
    big->values[4095] = 1.5;
    const auto result = std::make_unique<BigStruct>(big_->a_big_struct(*big, *other, *old));
    EXPECT_EQ(result->values[4095], 1.5);
    EXPECT_EQ(other->block[65535], 7);
    const Block_var block = big_->a_block(big->block, other->block, old->block);
    EXPECT_EQ(block[65535], 7);
}

TEST_P(Calls, WithObjectReferences)
{
    Forward_var b;
    Forward_var c;
    const Forward_var result = object_->next(object_.in(), b.inout(), c.out());
    EXPECT_TRUE(result->_is_equivalent(object_.in()));
    EXPECT_TRUE(b->_is_equivalent(object_.in()));
    EXPECT_TRUE(CORBA::is_nil(c.in()));

    CORBA::Object_var other = CORBA::Object::_duplicate(big_.in());
    CORBA::Object_var old;
    const CORBA::Object_var any = object_->any_object(object_.in(), other.inout(), old.out());
    EXPECT_TRUE(any->_is_a(Forward::_kairos_id));
    EXPECT_FALSE(CORBA::is_nil(Big_var(Big::_narrow(old.in())).in()));
    EXPECT_TRUE(CORBA::is_nil(Big_var(Big::_narrow(any.in())).in()));

    Holder holder;
    holder.one = object_;
    holder.more.length(2);
    holder.more[1] = object_;
    Holder empty;
    Holder_var old_holder;
    const Holder_var held = object_->hold(holder, empty, old_holder.out());
    EXPECT_TRUE(held->one->_is_equivalent(object_.in()));
    EXPECT_TRUE(CORBA::is_nil(held->more[0]));
    EXPECT_TRUE(held->more[1]->_is_equivalent(object_.in()));
    Forwards forwards = holder.more;
    Forwards_var old_forwards;
    const Forwards_var all = object_->all(holder.more, forwards, old_forwards.out());
    EXPECT_EQ(all->length(), 2u);
}

TEST_P(Calls, OfAttributesAndInheritedOperations)
{
    object_->counter(42);
    EXPECT_EQ(object_->counter(), 42);
    EXPECT_EQ(object_->current(), Basics::busy);
    object_->label("new");
    EXPECT_STREQ(CORBA::String_var(object_->label()), "new");
    Person owner;
    owner.name = "Eve";
    object_->owner(owner);
    EXPECT_STREQ(Person_var(object_->owner())->name, "Eve");
    object_->go_left();
    EXPECT_EQ(object_->counter(), -1);
    const Right_var right = Right::_narrow(object_.in());
    right->go_right();
    EXPECT_EQ(object_->counter(), 1);
    EXPECT_STREQ(CORBA::String_var(object_->name()), "servant");
    object_->notify(5, "oneway");
    object_->nothing();
    EXPECT_EQ(object_->counter(), 5); // one connection: oneway calls keep their order
}

TEST_P(Calls, RaiseUserExceptions)
{
    Node node;
    node.value = 0;
    EXPECT_THROW(object_->a_tree(node), Empty);
    node.value = -3;
    try {
        delete object_->a_tree(node);
        ADD_FAILURE();
    } catch (const Overflow& overflow) {
        EXPECT_EQ(overflow.by, -3);
        EXPECT_STREQ(overflow.text, "below zero");
        EXPECT_EQ(overflow.vector[2], 3);
    }
    try {
        object_->base_call({-1, 0});
        ADD_FAILURE();
    } catch (const Included::Refused& refused) {
        EXPECT_STREQ(refused.why, "left of everything");
    }
    Forward_var b = Forward::_duplicate(object_.in());
    Forward_var c;
    try {
        Forward_var ignored = object_->next(Forward::_nil(), b.inout(), c.out());
        ADD_FAILURE();
    } catch (const Moved& moved) {
        EXPECT_TRUE(moved.where->_is_equivalent(object_.in()));
    }
    b = Forward::_nil();
    EXPECT_THROW(object_->next(Forward::_nil(), b.inout(), c.out()), Basics::Occupied);
}

TEST_P(Calls, RefuseNullResultsOfServants)
{
    Node node;
    node.value = 99;
    EXPECT_THROW(object_->a_tree(node), CORBA::BAD_PARAM);
}

TEST(Tie, OwnsWhatItIsToldToOwn)
{
    class Watched : public Servant {
      public:
        explicit Watched(int& deleted) : deleted_(deleted) {}
        Watched(const Watched&) = delete;
        Watched& operator=(const Watched&) = delete;
        ~Watched() { ++deleted_; }

      private:
        int& deleted_;
    };
    int deleted = 0;
    Watched first(deleted);
    {
        POA_Everything::Forward_tie<Watched> tie(first);
        EXPECT_EQ(tie._tied_object(), &first);
        EXPECT_FALSE(tie._is_owner());
        tie._tied_object(new Watched(deleted));
        EXPECT_TRUE(tie._is_owner());
        tie._tied_object(new Watched(deleted));
        EXPECT_EQ(deleted, 1);
    }
    EXPECT_EQ(deleted, 2);
}

} // namespace
