// SPDX-License-Identifier: Apache-2.0
//
// Generated valuetypes at work: ownership, accessors, copies, and what arrives of graphs, derived
// values, boxes, abstract interfaces and missing factories, by calls within one ORB and over TCP
// between two ORBs of this process. Leaks are found by AddressSanitizer.
#include "kairos/orb/orb.h"
#include "value_skel.h"

#include <kairos/corba/CORBA.h>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <type_traits>

namespace {

using namespace Values;

// --- What a program implements -------------------------------------------------------------------

class SquareImpl : public virtual OBV_Values::Square,
                   public virtual CORBA::DefaultValueRefCountBase {
  public:
    SquareImpl() = default;
    explicit SquareImpl(CORBA::Double length) { side(length); }
    CORBA::Double area() override { return side() * side(); }
    char* kind() override { return CORBA::string_dup("square"); }
};
class SquareFactory : public Square_init {
  public:
    Square* make(CORBA::Double length) override { return new SquareImpl(length); }
    Square* unit() override { return new SquareImpl(1); }

  private:
    CORBA::ValueBase* create_for_unmarshal() override { return new SquareImpl; }
};

class LocalSinkImpl : public virtual OBV_Values::Local_sink,
                      public virtual CORBA::DefaultValueRefCountBase {
  public:
    void take(const char*) override { count(count() + 1); }
    CORBA::Long taken() override { return count(); }
};

class CardImpl : public virtual OBV_Values::Card, public virtual CORBA::DefaultValueRefCountBase {
  public:
    char* describe() override { return CORBA::string_dup(text()); }
    CORBA::Long weight() override { return base_number(); }
    void weight(CORBA::Long value) override { base_number(value); }
    CORBA::Long price() override { return 3; }
};

/// Writes less than it has, more than once, and through every kind of the streams' operations.
class RouteImpl : public virtual OBV_Values::Route, public virtual CORBA::DefaultValueRefCountBase {
  public:
    void marshal(CORBA::DataOutputStream* os) override
    {
        os->write_long(base_number());
        os->write_string(name());
        os->write_wstring(L"\x20AC");
        os->write_boolean(true);
        os->write_double(0.5);
        os->write_Value(first());
        CORBA::LongSeq all;
        all.length(stops().length() + 1);
        for (CORBA::ULong i = 0; i < stops().length(); ++i)
            all[i + 1] = stops()[i];
        os->write_ulong(stops().length());
        os->write_long_array(all, 1, stops().length());
        EXPECT_THROW(os->write_long_array(all, 1, all.length()), CORBA::BAD_PARAM);
        os->write_Value(first());
        os->write_Object(thing());
        os->write_Abstract(nullptr);
        os->write_TypeCode(CORBA::_tc_long);
        os->write_octet(9);
    }
    void unmarshal(CORBA::DataInputStream* is) override
    {
        base_number(is->read_long());
        name(is->read_string());
        const CORBA::WString_var wide = is->read_wstring();
        EXPECT_EQ(std::wstring(wide), L"\x20AC");
        EXPECT_TRUE(is->read_boolean());
        EXPECT_EQ(is->read_double(), 0.5);
        const CORBA::ValueBase_var value = is->read_Value();
        first(Plain::_downcast(value.in()));
        const CORBA::ULong count = is->read_ulong();
        CORBA::LongSeq all;
        is->read_long_array(all, 2, count);
        stops().length(count);
        for (CORBA::ULong i = 0; i < count; ++i)
            stops()[i] = all[i + 2];
        const CORBA::ValueBase_var again = is->read_Value();
        EXPECT_EQ(again.in(), value.in());
        const CORBA::Object_var object = is->read_Object();
        thing(object.in());
        EXPECT_EQ(CORBA::AbstractBase_var(is->read_Abstract()).in(), nullptr);
        const CORBA::TypeCode_var type = is->read_TypeCode();
        EXPECT_EQ(type->kind(), CORBA::tk_long);
        EXPECT_EQ(is->read_octet(), 9);
    }
};

class RingImpl : public virtual OBV_Values::Ring, public virtual CORBA::DefaultValueRefCountBase {
  public:
    RingImpl() { ++alive; }
    ~RingImpl() override { --alive; }
    RingImpl(const RingImpl&) = delete;
    RingImpl& operator=(const RingImpl&) = delete;
    void marshal(CORBA::DataOutputStream* os) override { os->write_Value(next()); }
    void unmarshal(CORBA::DataInputStream* is) override
    {
        const CORBA::ValueBase_var value = is->read_Value();
        next(Ring::_downcast(value.in()));
    }
    static inline int alive = 0;
};

template <typename V>
class FactoryOf : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new V; }
};

template <typename Factory>
void add_factory(CORBA::ORB_ptr orb, const char* id)
{
    const CORBA::ValueFactoryBase_var factory = new Factory;
    const CORBA::ValueFactoryBase_var former = orb->register_value_factory(id, factory.in());
    EXPECT_EQ(former.in(), nullptr);
}

void add_factories(CORBA::ORB_ptr orb)
{
    add_factory<Plain_init>(orb, Plain::_kairos_id);
    add_factory<State_init>(orb, State::_kairos_id);
    add_factory<Node_init>(orb, Node::_kairos_id);
    add_factory<Later_init>(orb, Later::_kairos_id);
    add_factory<SquareFactory>(orb, Square::_kairos_id);
    add_factory<Base_init>(orb, Base::_kairos_id);
    add_factory<Derived_init>(orb, Derived::_kairos_id);
    add_factory<Rigid_init>(orb, Rigid::_kairos_id);
    add_factory<FactoryOf<LocalSinkImpl>>(orb, Local_sink::_kairos_id);
    add_factory<FactoryOf<CardImpl>>(orb, Card::_kairos_id);
    add_factory<FactoryOf<RouteImpl>>(orb, Route::_kairos_id);
}

class StandImpl : public POA_Values::Stand {
  public:
    void take(const char*) override { ++taken_; }
    CORBA::Long taken() override { return taken_; }
    char* describe() override { return CORBA::string_dup("stand"); }
    CORBA::Long weight() override { return weight_; }
    void weight(CORBA::Long value) override { weight_ = value; }
    CORBA::Long price() override { return 99; }
    void open() override {}

  private:
    CORBA::Long taken_ = 0;
    CORBA::Long weight_ = 0;
};

template <typename T>
T* share(T* value)
{
    if (value != nullptr) value->_add_ref();
    return value;
}

/// Gives the old `b` out as `c`, makes `b` an `a` and returns `a`.
template <typename T, typename Out>
T* turn_value(T* a, T*& b, Out& c)
{
    c = b;
    b = share(a);
    return share(a);
}

class CallsImpl : public POA_Values::Calls {
  public:
    ~CallsImpl() override { end_cycles(); }
    Plain* turn(Plain* a, Plain*& b, Plain_out c) override { return turn_value(a, b, c); }
    Plain* alias(Plain* a) override { return share(a); }
    State* turn_state(State* a, State*& b, State_out c) override { return turn_value(a, b, c); }
    CORBA::ValueBase* turn_base(CORBA::ValueBase* a, CORBA::ValueBase*& b,
                                CORBA::ValueBase_out c) override
    {
        return turn_value(a, b, c);
    }
    Base* cut(Base* a) override { return share(a); }
    Node* graph(Node* a, Node* b, Node_out c) override
    {
        end_cycles();
        passed_ = share(a);
        same = a == b;
        c = share(b);
        return share(a);
    }
    Nodes* list(const Nodes& a) override { return new Nodes(a); }
    Holder* hold(const Holder& a) override { return new Holder(a); }
    Later* delay(Later* a) override { return share(a); }
    Choice* choose(const Choice& a) override { return new Choice(a); }
    Square* scale(Square* a) override { return new SquareImpl(2 * a->side()); }
    LongBox* box(LongBox* a, LongBox*& b, LongBox_out c) override { return turn_value(a, b, c); }
    StringBox* text(StringBox* a, StringBox* again, LabelBox* label) override
    {
        same = a == again;
        return label == nullptr ? share(a) : new StringBox(label->text());
    }
    Describable_ptr describe(Describable_ptr a, Describable_ptr& b, Describable_out c) override
    {
        c = b;
        b = Describable::_duplicate(a);
        return Describable::_duplicate(a);
    }
    char* read(Describable_ptr a) override
    {
        if (CORBA::is_nil(a)) return CORBA::string_dup("nil");
        return a->describe();
    }
    CORBA::Any* pass_any(const CORBA::Any& a, Plain* b) override
    {
        Plain* inside = nullptr;
        same = (a >>= inside) && inside == b;
        return new CORBA::Any(a);
    }
    Route* way(Route* a, Plain* b) override
    {
        same = a->first() == b;
        return share(a);
    }
    void fail(Plain* a, const char* why) override
    {
        const StringBox_var reason = new StringBox(why);
        throw Wrong(a, reason.in());
    }
    CORBA::Long refcount(Plain* a) override
    {
        return static_cast<CORBA::Long>(a->_refcount_value());
    }
    Plain* kept() override { return share(kept_.in()); }
    void kept(Plain* value) override { kept_ = share(value); }

    bool same = false;

  private:
    /// Counting does not end the cycles of what was passed: a servant does, when the reply is sent.
    void end_cycles()
    {
        if (passed_.in() == nullptr) return;
        passed_->left(nullptr);
        passed_->right(nullptr);
        passed_ = static_cast<Node*>(nullptr);
    }

    Node_var passed_;
    Plain_var kept_;
};

CORBA::ORB_ptr make_orb(const char* id)
{
    char program[] = "test";
    std::array<char*, 2> arguments{program, nullptr};
    int count = 1;
    return CORBA::ORB_init(count, arguments.data(), id);
}

/// The parameter: over TCP, or within one ORB.
class ValueCalls : public testing::TestWithParam<bool> {
  protected:
    ValueCalls()
        : server_(make_orb("values.server")),
          client_(GetParam() ? make_orb("values.client") : CORBA::ORB::_duplicate(server_.in()))
    {
        add_factories(server_.in());
        if (GetParam()) add_factories(client_.in());
        const CORBA::Object_var root = server_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        const Calls_var here = servant_._this();
        const Stand_var stand = stand_servant_._this();
        calls_ = Calls::_narrow(at_client(here.in()).in());
        stand_ = Stand::_narrow(at_client(stand.in()).in());
    }
    ~ValueCalls() override
    {
        if (GetParam()) client_->destroy();
        server_->destroy();
    }
    CORBA::Object_var at_client(CORBA::Object_ptr object)
    {
        const CORBA::String_var text = server_->object_to_string(object);
        return client_->string_to_object(text);
    }

    CORBA::ORB_var server_;
    CORBA::ORB_var client_;
    CallsImpl servant_;
    StandImpl stand_servant_;
    Calls_var calls_;
    Stand_var stand_;
};

Plain* plain(CORBA::Long number, const char* name = "plain")
{
    return new OBV_Values::Plain(number, name, 0.5);
}

// --- Ownership (C++ mapping, tables of 5.23; users.md) -------------------------------------------

TEST(Value, counts_its_owners)
{
    Plain_var value = plain(1);
    EXPECT_EQ(value->_refcount_value(), 1u);
    {
        const Plain_var copy = value;
        EXPECT_EQ(copy.in(), value.in());
        EXPECT_EQ(value->_refcount_value(), 2u);
        CORBA::add_ref(value.in());
        EXPECT_EQ(value->_refcount_value(), 3u);
        CORBA::remove_ref(value.in());
        CORBA::add_ref(nullptr);
        CORBA::remove_ref(nullptr);
    }
    EXPECT_EQ(value->_refcount_value(), 1u);
    Plain_var taken = value._retn();
    EXPECT_EQ(value.in(), nullptr);
    EXPECT_THROW((void)value->_refcount_value(), CORBA::BAD_PARAM);
    EXPECT_EQ(taken->_refcount_value(), 1u);
}

/// Also of the value that the holder has already: it has two of its owners then, and removes one.
TEST(Value, gives_an_owner_to_whatever_it_is_assigned_to)
{
    const Plain_var value = plain(1);
    const auto added = [&] {
        CORBA::add_ref(value.in());
        return value.in();
    };
    Plain_var variable;
    Node_var node = new OBV_Values::Node("node", nullptr, nullptr);
    kairos::mapping::UnboundedValueSequence<Plain> held;
    held.length(1);
    for (int i = 0; i < 3; ++i) {
        variable = added();
        held[0] = added();
    }
    EXPECT_EQ(value->_refcount_value(), 3u);
    for (int i = 0; i < 3; ++i)
        node->left(node.in()); // a modifier adds an owner
    EXPECT_EQ(node->_refcount_value(), 2u);
    node->left(nullptr);
    EXPECT_EQ(node->_refcount_value(), 1u);
    CORBA::ValueBase_var base;
    for (int i = 0; i < 3; ++i)
        base = added();
    EXPECT_EQ(value->_refcount_value(), 4u);
}

TEST(Value, is_downcast_by_its_class)
{
    const Derived_var derived = new OBV_Values::Derived;
    CORBA::ValueBase* base = derived.in();
    EXPECT_EQ(Derived::_downcast(base), derived.in());
    EXPECT_EQ(Base::_downcast(base), derived.in());
    EXPECT_EQ(Plain::_downcast(base), nullptr);
    EXPECT_EQ(Plain::_downcast(static_cast<CORBA::ValueBase*>(nullptr)), nullptr);
    const SquareFactory* factory = new SquareFactory;
    CORBA::ValueFactoryBase_var owner = const_cast<SquareFactory*>(factory);
    EXPECT_EQ(Square_init::_downcast(owner.in()), factory);
}

TEST(Value, has_accessors_that_own_its_state)
{
    const Plain_var inner = plain(7, "inner");
    const State_var state = new OBV_Values::State;
    state->flag(true);
    state->colour(blue);
    state->bounded("short");
    EXPECT_STREQ(state->bounded(), "short");
    state->bounded(CORBA::string_dup("adopted"));
    EXPECT_STREQ(state->bounded(), "adopted");
    const CORBA::String_var copied = CORBA::string_dup("copied");
    state->bounded(copied);
    EXPECT_STREQ(state->bounded(), "copied");
    Label label;
    label.text = "caption";
    state->caption(label);
    state->caption().size = 4;
    EXPECT_STREQ(state->caption().text, "caption");
    EXPECT_EQ(state->caption().size, 4);
    Matrix matrix = {{1, 2, 3}, {4, 5, 6}};
    state->matrix(matrix);
    state->matrix()[1][2] = 60;
    EXPECT_EQ(state->matrix()[0][1], 2);
    EXPECT_EQ(state->matrix()[1][2], 60);
    state->inner(inner.in());
    EXPECT_EQ(inner->_refcount_value(), 2u);
    EXPECT_EQ(state->inner(), inner.in());
    state->inner(nullptr);
    EXPECT_EQ(inner->_refcount_value(), 1u);
    state->inners().length(1);
    state->inners()[0] = share(inner.in());
    EXPECT_EQ(inner->_refcount_value(), 2u);
    static_assert(std::is_abstract_v<State> && !std::is_abstract_v<OBV_Values::State>);
    static_assert(std::is_abstract_v<OBV_Values::Square>, "its operations are the program's");
}

TEST(Value, is_copied_deeply_with_what_it_shares)
{
    const CORBA::ORB_var orb = make_orb("");
    add_factories(orb.in());
    const Node_var shared = new OBV_Values::Node("shared", nullptr, nullptr);
    const Node_var node = new OBV_Values::Node("top", shared.in(), shared.in());
    const CORBA::ValueBase_var copy = node->_copy_value();
    Node* top = Node::_downcast(copy.in());
    ASSERT_NE(top, nullptr);
    EXPECT_NE(top, node.in());
    EXPECT_STREQ(top->name(), "top");
    EXPECT_EQ(top->left(), top->right());
    EXPECT_NE(top->left(), shared.in());
    EXPECT_EQ(top->_refcount_value(), 1u);
    const LabelBox_var box = new LabelBox;
    box->text("boxed");
    const CORBA::ValueBase_var other = box->_copy_value();
    EXPECT_STREQ(LabelBox::_downcast(other.in())->text(), "boxed");
    orb->destroy();
}

TEST(Value, factories_belong_to_the_orb)
{
    const CORBA::ORB_var orb = make_orb("values.factories");
    CORBA::ValueFactoryBase_var first = new Plain_init;
    CORBA::ValueFactoryBase_var second = new Plain_init;
    const char* id = "IDL:Values/Plain:1.0";
    EXPECT_EQ(orb->lookup_value_factory(id), nullptr);
    EXPECT_EQ(orb->register_value_factory(id, first.in()), nullptr);
    CORBA::ValueFactoryBase_var former = orb->register_value_factory(id, second.in());
    EXPECT_EQ(former.in(), first.in());
    CORBA::ValueFactoryBase_var found = orb->lookup_value_factory(id);
    EXPECT_EQ(found.in(), second.in());
    orb->unregister_value_factory(id);
    EXPECT_EQ(orb->lookup_value_factory(id), nullptr);
    EXPECT_THROW(orb->unregister_value_factory(id), CORBA::BAD_PARAM);
    EXPECT_THROW((void)orb->register_value_factory(id, nullptr), CORBA::BAD_PARAM);
    EXPECT_THROW((void)orb->lookup_value_factory(nullptr), CORBA::BAD_PARAM);
    orb->destroy();
}

/// What arrives in a message that is refused, and owns itself.
TEST(Value, of_a_custom_type_is_freed_with_its_cycles)
{
    const CORBA::ORB_var orb = make_orb("values.custom");
    add_factory<FactoryOf<RingImpl>>(orb.in(), Ring::_kairos_id);
    kairos::orb::Orb& core = orb->_kairos_core();
    using Traits = kairos::values::ValueTraits<Ring>;
    {
        const kairos::cdr::Environment environment{
            .orb = &core, .value_factories = core.value_factories(), .orb_owner = &core};
        kairos::cdr::Buffer buffer;
        kairos::cdr::Writer out(buffer);
        out.set_environment(&environment);
        const Ring_var sent = new RingImpl;
        sent->next(sent.in());
        Traits::encode(out, sent.in());
        sent->next(nullptr);
        kairos::cdr::Reader in(out.contiguous(), kairos::native_little_endian);
        in.set_environment(&environment);
        const Ring_var received = Traits::decode(in);
        ASSERT_NE(received.in(), nullptr);
        EXPECT_EQ(received->next(), received.in());
        EXPECT_EQ(RingImpl::alive, 2);
    } // without accept_values
    EXPECT_EQ(RingImpl::alive, 0);
    orb->destroy();
}

TEST(Box, has_the_form_of_what_is_in_it)
{
    LongBox_var number = new LongBox(5);
    *number.in() = 6;
    EXPECT_EQ(number->_value(), 6);
    number->_boxed_inout() = 7;
    EXPECT_EQ(number->_boxed_in(), 7);
    const ColourBox_var colour = new ColourBox(green);
    EXPECT_EQ(colour->_value(), green);

    StringBox_var text = new StringBox("text");
    EXPECT_STREQ(text->_value(), "text");
    text->_value(CORBA::string_dup("adopted"));
    (*text.in())[0] = 'A';
    EXPECT_STREQ(text->_boxed_in(), "Adopted");
    CORBA::string_free(text->_boxed_inout());
    text->_boxed_inout() = CORBA::string_dup("new");
    EXPECT_STREQ(text->_value(), "new");

    WideBox_var wide = new WideBox(L"wide");
    EXPECT_EQ(std::wstring(wide->_value()), L"wide");
    CostBox_var cost = new CostBox(CORBA::Fixed("1.5"));
    EXPECT_EQ(cost->_value(), CORBA::Fixed("1.5"));

    PointBox_var point = new PointBox;
    point->x(3);
    EXPECT_EQ(point->_value().x, 3);
    LabelBox_var label = new LabelBox;
    label->text("text");
    label->size(9);
    EXPECT_STREQ(label->_value().text, "text");
    EXPECT_EQ(label->size(), 9);
    label->_boxed_out() = new Label;
    EXPECT_STREQ(label->text(), "");

    OctetsBox_var octets = new OctetsBox;
    octets->length(2);
    (*octets.in())[1] = 8;
    EXPECT_EQ(octets->_value()[1], 8);
    WordsBox_var words = new WordsBox;
    words->length(1);
    (*words.in())[0] = "word";
    EXPECT_STREQ(words->_value()[0], "word");

    Matrix matrix = {{1, 2, 3}, {4, 5, 6}};
    MatrixBox_var matrices = new MatrixBox(matrix);
    (*matrices.in())[1][1] = 50;
    EXPECT_EQ(matrices->_value()[1][1], 50);
    EXPECT_EQ(matrices->_value()[0][2], 3);
}

// --- Calls ---------------------------------------------------------------------------------------

TEST_P(ValueCalls, pass_values_in_every_direction)
{
    const Plain_var a = plain(1, "a");
    Plain_var b = plain(2, "b");
    const Plain_var old = b;
    Plain_var c;
    const Plain_var result = calls_->turn(a.in(), b.inout(), c.out());
    EXPECT_EQ(result->number(), 1);
    EXPECT_STREQ(result->name(), "a");
    EXPECT_EQ(b.in(), result.in()) << "shared there, shared here";
    EXPECT_NE(b.in(), old.in());
    EXPECT_EQ(old->_refcount_value(), 1u) << "the call gave the old inout value back";
    EXPECT_EQ(c->number(), 2);
    EXPECT_EQ(result->_refcount_value(), 2u);
    EXPECT_EQ(a->_refcount_value(), 1u);
}

TEST_P(ValueCalls, pass_null)
{
    Plain_var b;
    Plain_var c;
    const Plain_var result = calls_->turn(nullptr, b.inout(), c.out());
    EXPECT_EQ(result.in(), nullptr);
    EXPECT_EQ(b.in(), nullptr);
    EXPECT_EQ(c.in(), nullptr);
    calls_->kept(nullptr);
    EXPECT_EQ(Plain_var(calls_->kept()).in(), nullptr);
}

TEST_P(ValueCalls, give_the_servant_the_only_count)
{
    const Plain_var a = plain(1);
    EXPECT_EQ(calls_->refcount(a.in()), 1);
}

TEST_P(ValueCalls, pass_attributes_and_aliases)
{
    const Plain_var a = plain(41, "kept");
    calls_->kept(a.in());
    const Plain_var kept = calls_->kept();
    EXPECT_EQ(kept->number(), 41);
    const PlainAlias_var again = calls_->alias(kept.in());
    EXPECT_STREQ(again->name(), "kept");
}

TEST_P(ValueCalls, pass_state_of_every_kind)
{
    const Plain_var inner = plain(7, "inner");
    const State_var a = new OBV_Values::State;
    a->flag(true);
    a->letter('k');
    a->bits(0xA5);
    a->s(-2);
    a->big(1ULL << 60);
    a->f(0.25F);
    a->colour(blue);
    a->bounded("12345678");
    a->where(Point{3, -4});
    a->caption().text = "caption";
    a->octets().length(3);
    a->octets()[2] = 9;
    a->shorts().length(5000);
    a->shorts()[4999] = 77;
    a->matrix()[1][2] = 60;
    a->words()[1] = "second";
    a->grid()[3] = 4;
    a->texts()[0] = "first";
    a->thing(stand_.in());
    a->sink(stand_.in());
    a->inner(inner.in());
    a->inners().length(2);
    a->inners()[1] = share(inner.in());
    a->pair()[0] = share(inner.in());
    a->anything(inner.in());
    a->wide(L"wide");
    a->symbol(L'w');
    a->cost(CORBA::Fixed("12.34"));
    a->described(stand_.in());
    State_var b;
    State_var c;
    const State_var result = calls_->turn_state(a.in(), b.inout(), c.out());
    EXPECT_EQ(b.in(), result.in());
    EXPECT_TRUE(b->flag());
    EXPECT_EQ(b->letter(), 'k');
    EXPECT_EQ(b->bits(), 0xA5);
    EXPECT_EQ(b->s(), -2);
    EXPECT_EQ(b->big(), 1ULL << 60);
    EXPECT_EQ(b->f(), 0.25F);
    EXPECT_EQ(b->colour(), blue);
    EXPECT_STREQ(b->bounded(), "12345678");
    EXPECT_EQ(b->where().y, -4);
    EXPECT_STREQ(b->caption().text, "caption");
    EXPECT_EQ(b->octets()[2], 9);
    ASSERT_EQ(b->shorts().length(), 5000u);
    EXPECT_EQ(b->shorts()[4999], 77);
    EXPECT_EQ(b->matrix()[1][2], 60);
    EXPECT_STREQ(b->words()[1], "second");
    EXPECT_EQ(b->grid()[3], 4);
    EXPECT_STREQ(b->texts()[0], "first");
    EXPECT_TRUE(stand_->_is_equivalent(b->thing()));
    b->sink()->take("one");
    EXPECT_EQ(b->sink()->taken(), 1);
    EXPECT_EQ(b->inner()->number(), 7);
    EXPECT_EQ(b->inners()[0].in(), nullptr);
    EXPECT_EQ(b->inners()[1].in(), b->inner());
    EXPECT_EQ(b->pair()[0].in(), b->inner());
    EXPECT_EQ(b->pair()[1].in(), nullptr);
    EXPECT_EQ(Plain::_downcast(b->anything()), b->inner());
    EXPECT_EQ(std::wstring(b->wide()), L"wide");
    EXPECT_EQ(b->symbol(), L'w');
    EXPECT_EQ(b->cost(), CORBA::Fixed("12.34"));
    const CORBA::String_var described = b->described()->describe();
    EXPECT_STREQ(described, "stand");
}

TEST_P(ValueCalls, refuse_state_beyond_its_bounds)
{
    const State_var a = new OBV_Values::State;
    a->bounded("123456789");
    State_var b;
    State_var c;
    EXPECT_THROW(State_var(calls_->turn_state(a.in(), b.inout(), c.out())), CORBA::BAD_PARAM);
}

TEST_P(ValueCalls, keep_graphs_as_they_are)
{
    const Node_var shared = new OBV_Values::Node("shared", nullptr, nullptr);
    const Node_var a = new OBV_Values::Node("a", shared.in(), nullptr);
    const Node_var b = new OBV_Values::Node("b", nullptr, shared.in());
    Node_var c;
    const Node_var result = calls_->graph(a.in(), b.in(), c.out());
    EXPECT_FALSE(servant_.same);
    EXPECT_STREQ(result->left()->name(), "shared");
    EXPECT_EQ(result->left(), c->right());

    const Node_var once = calls_->graph(a.in(), a.in(), c.out());
    EXPECT_TRUE(servant_.same);
    EXPECT_EQ(once.in(), c.in());
}

TEST_P(ValueCalls, keep_cycles)
{
    const Node_var a = new OBV_Values::Node("a", nullptr, nullptr);
    const Node_var b = new OBV_Values::Node("b", a.in(), nullptr);
    a->right(b.in());
    a->left(a.in());
    Node_var c;
    const Node_var result = calls_->graph(a.in(), b.in(), c.out());
    EXPECT_STREQ(result->name(), "a");
    EXPECT_EQ(result->left(), result.in());
    EXPECT_EQ(result->right(), c.in());
    EXPECT_EQ(c->left(), result.in());
    // Counting does not end cycles: that is the program's to do, in servants as well.
    for (Node* node : {a.in(), result.in()}) {
        const Node_var right = share(node->right());
        right->left(nullptr);
        node->left(nullptr);
        node->right(nullptr);
    }
}

TEST_P(ValueCalls, pass_long_lists)
{
    constexpr int count = 900;
    Node_var head;
    for (int i = 0; i < count; ++i)
        head = new OBV_Values::Node("link", head.in(), nullptr);
    Node_var c;
    const Node_var result = calls_->graph(head.in(), nullptr, c.out());
    int found = 0;
    for (Node* node = result.in(); node != nullptr; node = node->left())
        ++found;
    EXPECT_EQ(found, count);
    for (int i = 0; i < count; ++i)
        head = new OBV_Values::Node("link", head.in(), nullptr);
    EXPECT_THROW(Node_var(calls_->graph(head.in(), nullptr, c.out())), CORBA::IMP_LIMIT);
    while (head.in() != nullptr) // not by a recursion as deep
        head = share(head->left());
}

TEST_P(ValueCalls, pass_values_within_other_types)
{
    Nodes nodes;
    nodes.length(3);
    nodes[0] = new OBV_Values::Node("node", nullptr, nullptr);
    nodes[2] = share(nodes[0].in());
    const Nodes_var list = calls_->list(nodes);
    ASSERT_EQ(list->length(), 3u);
    EXPECT_EQ(list[0], list[2]);
    EXPECT_EQ(list[1], nullptr);

    Holder holder;
    holder.next = new OBV_Values::Later;
    holder.next->number(5);
    holder.next->holders().length(1);
    holder.next->holders()[0].nodes = nodes;
    const Holder_var held = calls_->hold(holder);
    EXPECT_EQ(held->next->number(), 5);
    EXPECT_STREQ(held->next->holders()[0].nodes[0]->name(), "node");

    Choice choice;
    choice.plain(Plain_var(plain(8)).in());
    const Choice_var plain_choice = calls_->choose(choice);
    ASSERT_EQ(plain_choice->_d(), 1);
    EXPECT_EQ(plain_choice->plain()->number(), 8);
    choice.described(stand_.in());
    const Choice_var described = calls_->choose(choice);
    ASSERT_EQ(described->_d(), 2);
    EXPECT_EQ(CORBA::String_var(described->described()->describe()), std::string_view("stand"));
    choice.text(StringBox_var(new StringBox("boxed")).in());
    const Choice_var text = calls_->choose(choice);
    EXPECT_STREQ(text->text()->_value(), "boxed");
}

TEST_P(ValueCalls, pass_exceptions_with_values)
{
    const Plain_var a = plain(13);
    try {
        calls_->fail(a.in(), "because");
        FAIL() << "no exception";
    } catch (const Wrong& wrong) {
        EXPECT_EQ(wrong.plain->number(), 13);
        EXPECT_STREQ(wrong.reason->_value(), "because");
        EXPECT_EQ(wrong.plain->_refcount_value(), 1u);
    }
}

TEST_P(ValueCalls, pass_implemented_values)
{
    const Square_var a = new SquareImpl(3);
    const Square_var result = calls_->scale(a.in());
    EXPECT_EQ(result->area(), 36);
    const CORBA::ValueBase_var sink = new LocalSinkImpl;
    Local_sink::_downcast(sink.in())->take("x");
    CORBA::ValueBase_var b;
    CORBA::ValueBase_var c;
    const CORBA::ValueBase_var back = calls_->turn_base(sink.in(), b.inout(), c.out());
    ASSERT_NE(Local_sink::_downcast(back.in()), nullptr);
    EXPECT_EQ(Local_sink::_downcast(back.in())->taken(), 1);
}

TEST_P(ValueCalls, pass_derived_values_or_truncate_them)
{
    const Derived_var derived = new OBV_Values::Derived(1, "derived", nullptr);
    const Base_var result = calls_->cut(derived.in());
    ASSERT_NE(Derived::_downcast(result.in()), nullptr);
    EXPECT_STREQ(Derived::_downcast(result.in())->derived_text(), "derived");

    // Nobody has a factory for Deeper, but it may be truncated to Derived.
    const Base_var other = new OBV_Values::Base(44);
    OBV_Values::Deeper* made = new OBV_Values::Deeper;
    const Deeper_var deeper = made;
    made->base_number(2);
    made->derived_text("kept");
    made->other(other.in());
    made->more().length(3);
    made->more()[0] = share(derived.in());
    made->more()[1] = share(derived.in());
    made->last(0.5);
    const Base_var cut = calls_->cut(deeper.in());
    EXPECT_EQ(cut->base_number(), 2);
    ASSERT_NE(Derived::_downcast(cut.in()), nullptr);
    EXPECT_EQ(Deeper::_downcast(cut.in()), nullptr);
    EXPECT_STREQ(Derived::_downcast(cut.in())->derived_text(), "kept");
    EXPECT_EQ(Derived::_downcast(cut.in())->other()->base_number(), 44);
}

TEST_P(ValueCalls, pass_custom_values)
{
    const Plain_var first = plain(31, "first");
    const Route_var route = new RouteImpl;
    route->base_number(17);
    route->name("route");
    route->first(first.in());
    route->thing(stand_.in());
    route->stops().length(3000);
    route->stops()[2999] = 5;
    const Route_var result = calls_->way(route.in(), first.in());
    EXPECT_TRUE(servant_.same) << "shared with what is not custom";
    EXPECT_EQ(result->base_number(), 17);
    EXPECT_STREQ(result->name(), "route");
    EXPECT_EQ(result->first()->number(), 31);
    ASSERT_EQ(result->stops().length(), 3000u);
    EXPECT_EQ(result->stops()[2999], 5);
    EXPECT_TRUE(stand_->_is_equivalent(result->thing()));
}

TEST_P(ValueCalls, pass_values_in_any)
{
    const Plain_var value = plain(3, "any");
    CORBA::Any any;
    any <<= value.in();
    EXPECT_EQ(value->_refcount_value(), 2u);
    const CORBA::Any_var back = calls_->pass_any(any, value.in());
    EXPECT_TRUE(servant_.same) << "shared with what is not in an Any";
    Plain* inside = nullptr;
    ASSERT_TRUE(back.in() >>= inside);
    EXPECT_STREQ(inside->name(), "any");
    EXPECT_EQ(inside->_refcount_value(), 1u) << "the Any's own";
    CORBA::ValueBase_var base;
    ASSERT_TRUE(back.in() >>= CORBA::Any::to_value(base.inout()));
    EXPECT_EQ(Plain::_downcast(base.in()), inside);
    Node* other = nullptr;
    EXPECT_FALSE(back.in() >>= other);

    Plain* adopted = plain(4);
    any <<= &adopted;
    EXPECT_EQ(value->_refcount_value(), 1u);
    any <<= static_cast<Plain*>(nullptr);
    const CORBA::Any_var null = calls_->pass_any(any, nullptr);
    ASSERT_TRUE(null.in() >>= inside);
    EXPECT_EQ(inside, nullptr);
}

/// No mapping has factories of boxes, so nobody can have registered one.
TEST_P(ValueCalls, pass_boxes_in_any)
{
    const LongBox_var box = new LongBox(6);
    CORBA::Any any;
    any <<= box.in();
    const CORBA::Any_var back = calls_->pass_any(any, nullptr);
    LongBox* inside = nullptr;
    ASSERT_TRUE(back.in() >>= inside);
    EXPECT_EQ(inside->_value(), 6);
    CORBA::ValueBase_var base;
    ASSERT_TRUE(back.in() >>= CORBA::Any::to_value(base.inout()));
    EXPECT_EQ(LongBox::_downcast(base.in()), inside);
    StringBox* other = nullptr;
    EXPECT_FALSE(back.in() >>= other);

    const StringBox_var text = new StringBox("boxed");
    any <<= text.in();
    const CORBA::Any_var text_back = calls_->pass_any(any, nullptr);
    ASSERT_TRUE(text_back.in() >>= other);
    EXPECT_STREQ(other->_value(), "boxed");

    const CORBA::StringValue_var standard = new CORBA::StringValue("standard");
    any <<= standard.in();
    const CORBA::Any_var standard_back = calls_->pass_any(any, nullptr);
    CORBA::StringValue* of_corba = nullptr;
    ASSERT_TRUE(standard_back.in() >>= of_corba);
    EXPECT_STREQ(of_corba->_value(), "standard");
}

/// A factory that a program has registered all the same goes first.
TEST_P(ValueCalls, pass_boxes_by_factories_that_are_there)
{
    add_factory<kairos::values::FactoryOf<LongBox>>(server_.in(), LongBox::_kairos_id);
    if (GetParam())
        add_factory<kairos::values::FactoryOf<LongBox>>(client_.in(), LongBox::_kairos_id);
    const LongBox_var box = new LongBox(6);
    CORBA::Any any;
    any <<= box.in();
    const CORBA::Any_var back = calls_->pass_any(any, nullptr);
    LongBox* inside = nullptr;
    ASSERT_TRUE(back.in() >>= inside);
    EXPECT_EQ(inside->_value(), 6);
}

TEST_P(ValueCalls, pass_abstract_interfaces_in_any)
{
    CORBA::Any any;
    any <<= Describable_var(Describable::_duplicate(stand_.in())).in();
    const CORBA::Any_var object = calls_->pass_any(any, nullptr);
    Describable_ptr inside = nullptr;
    ASSERT_TRUE(object.in() >>= inside);
    EXPECT_EQ(CORBA::String_var(inside->describe()), std::string_view("stand"));
    CORBA::AbstractBase_var base;
    ASSERT_TRUE(object.in() >>= CORBA::Any::to_abstract_base(base.inout()));
    EXPECT_TRUE(stand_->_is_equivalent(CORBA::Object_var(base->_to_object()).in()));

    CardImpl* made = new CardImpl;
    const Card_var card = made;
    made->text("card");
    Describable_ptr described = Describable::_duplicate(made);
    any <<= &described;
    const CORBA::Any_var value = calls_->pass_any(any, nullptr);
    ASSERT_TRUE(value.in() >>= inside);
    EXPECT_EQ(CORBA::String_var(inside->describe()), std::string_view("card"));
}

TEST_P(ValueCalls, raise_MARSHAL_1_without_a_factory)
{
    server_->unregister_value_factory(Rigid::_kairos_id);
    const Rigid_var rigid = new OBV_Values::Rigid(1, 2);
    try {
        const Base_var result = calls_->cut(rigid.in());
        FAIL() << "a value without a factory was made";
    } catch (const CORBA::MARSHAL& refused) {
        EXPECT_EQ(refused.minor(), kairos::mapping::omg_minor(1));
    }
    const Base_var base = new OBV_Values::Base(5);
    EXPECT_EQ(Base_var(calls_->cut(base.in()))->base_number(), 5) << "the connection lives on";
}

TEST_P(ValueCalls, pass_boxes)
{
    const LongBox_var a = new LongBox(1);
    LongBox_var b = new LongBox(2);
    LongBox_var c;
    const LongBox_var result = calls_->box(a.in(), b.inout(), c.out());
    EXPECT_EQ(result->_value(), 1);
    EXPECT_EQ(b.in(), result.in());
    EXPECT_EQ(c->_value(), 2);

    const StringBox_var text = new StringBox("text");
    const StringBox_var same = calls_->text(text.in(), text.in(), nullptr);
    EXPECT_TRUE(servant_.same);
    EXPECT_STREQ(same->_value(), "text");
    const LabelBox_var label = new LabelBox;
    label->text("label");
    const StringBox_var other = calls_->text(nullptr, text.in(), label.in());
    EXPECT_STREQ(other->_value(), "label");
    EXPECT_FALSE(servant_.same);
}

TEST_P(ValueCalls, pass_abstract_interfaces_as_what_they_are)
{
    CardImpl* made = new CardImpl;
    const Card_var card = made;
    made->text("card");
    Describable_var b = Describable::_duplicate(stand_.in());
    Describable_var c;
    const Describable_var value = calls_->describe(card.in(), b.inout(), c.out());
    EXPECT_EQ(CORBA::String_var(value->describe()), std::string_view("card"));
    const CORBA::ValueBase_var as_value = value->_to_value();
    EXPECT_NE(Card::_downcast(as_value.in()), nullptr);
    EXPECT_TRUE(CORBA::is_nil(CORBA::Object_var(value->_to_object()).in()));
    EXPECT_EQ(b.in(), value.in());

    const CORBA::Object_var as_object = c->_to_object();
    EXPECT_TRUE(stand_->_is_equivalent(as_object.in()));
    EXPECT_EQ(CORBA::ValueBase_var(c->_to_value()).in(), nullptr);
    c->weight(12);
    EXPECT_EQ(stand_->weight(), 12);
    const Priced_var priced = Priced::_narrow(c.in());
    ASSERT_FALSE(CORBA::is_nil(priced.in()));
    EXPECT_EQ(priced->price(), 99);
    const Priced_var of_value = Priced::_narrow(value.in());
    EXPECT_EQ(of_value->price(), 3);

    const CORBA::String_var stand = calls_->read(stand_.in());
    EXPECT_STREQ(stand, "stand");
    const CORBA::String_var nil = calls_->read(Describable::_nil());
    EXPECT_STREQ(nil, "nil");
}

INSTANTIATE_TEST_SUITE_P(Mapping, ValueCalls, testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "remote" : "collocated"; });

} // namespace
