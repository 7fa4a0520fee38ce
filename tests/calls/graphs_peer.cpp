// SPDX-License-Identifier: Apache-2.0
//
// Client or server of graphs.idl. Plain mapping code, for any ORB.
//
//     graphs_peer serve          prints its reference, ends at the end of its input
//     graphs_peer call REFERENCE prints a line a check; exits with 0 if all held
#ifdef PEER_OMNIORB
#include "graphs.hh"
#else
#include "graphs_skel.h"

#include <kairos/corba/CORBA.h>
#endif

#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace {

using namespace Graphs;

class CardImpl : public virtual OBV_Graphs::Card, public virtual CORBA::DefaultValueRefCountBase {
  public:
    char* name_of() override { return CORBA::string_dup(title()); }
};

class CardFactory : public CORBA::ValueFactoryBase {
  private:
    CORBA::ValueBase* create_for_unmarshal() override { return new CardImpl; }
};

template <typename Factory>
void add_factory(CORBA::ORB_ptr orb, const char* id)
{
    CORBA::ValueFactoryBase* factory = new Factory;
    CORBA::ValueFactoryBase* former = orb->register_value_factory(id, factory);
    if (former != nullptr) former->_remove_ref();
    factory->_remove_ref();
}

void add_factories(CORBA::ORB_ptr orb)
{
    add_factory<Node_init>(orb, "IDL:Graphs/Node:1.0");
    add_factory<Base_init>(orb, "IDL:Graphs/Base:1.0");
    add_factory<Derived_init>(orb, "IDL:Graphs/Derived:1.0");
    add_factory<CardFactory>(orb, "IDL:Graphs/Card:1.0");
}

/// Of the octets in a value. omniORB cannot read chunks larger than its buffer.
constexpr CORBA::ULong data_size = 200;

template <typename T>
T* share(T* value)
{
    CORBA::add_ref(value);
    return value;
}

Node* make_node(const char* name, Node* left = nullptr, Node* right = nullptr)
{
    Node* node = new OBV_Graphs::Node;
    node->name(name);
    node->left(left);
    node->right(right);
    return node;
}

Base* make_base(CORBA::Long number)
{
    Base* base = new OBV_Graphs::Base;
    base->number(number);
    return base;
}

void fill(Derived& derived, CORBA::Long number, Base* inner)
{
    derived.number(number);
    derived.text("derived");
    derived.inner(inner);
    derived.data().length(data_size);
    for (CORBA::ULong i = 0; i < derived.data().length(); ++i)
        derived.data()[i] = static_cast<CORBA::Octet>(i % 251);
    derived.last(0.25);
}

Derived* make_derived(CORBA::Long number, Base* inner = nullptr)
{
    Derived* derived = new OBV_Graphs::Derived;
    fill(*derived, number, inner);
    return derived;
}

Unknown* make_unknown(CORBA::Long number)
{
    Unknown* unknown = new OBV_Graphs::Unknown;
    const Base_var inner = make_base(number + 1);
    fill(*unknown, number, inner.in());
    unknown->sign('u');
    unknown->more().length(2);
    unknown->more()[0] = make_derived(number + 2, inner.in());
    unknown->more()[1] = share(inner.in());
    unknown->end(-1);
    return unknown;
}

class Servant : public virtual POA_Graphs::Peer {
  public:
    char* name_of() override { return CORBA::string_dup("peer"); }
    ~Servant() override { end_cycles(); }
    Node* pass_node(Node* a, Node*& b, Node_out c) override
    {
        end_cycles();
        passed_ = share(a);
        c = b;
        b = share(a);
        return share(a);
    }
    Nodes* pass_nodes(const Nodes& a) override { return new Nodes(a); }
    CORBA::Boolean are_same(Node* a, Node* b) override { return a == b; }
    Base* pass_base(Base* a, Base*& b, Base_out c) override
    {
        c = b;
        b = share(a);
        return share(a);
    }
    CORBA::Long cut(Unknown*) override { return -1; } // nobody can make one
    Base* cut_back(CORBA::Long number) override { return make_unknown(number); }
    Holder* pass_holder(const Holder& a) override { return new Holder(a); }
    Number* pass_number(Number* a, Number*& b, Number_out c) override
    {
        c = b;
        b = share(a);
        return share(a);
    }
    Text* pass_text(Text* a, Text* again) override
    {
        return a == again ? share(a) : new Text("not the same");
    }
    Weight* pass_weight(Weight* a) override { return share(a); }
    Bytes* pass_bytes(Bytes* a) override { return share(a); }
    CORBA::ValueBase* pass_any_value(CORBA::ValueBase* a) override { return share(a); }
    Named_ptr pass_named(Named_ptr a) override { return Graphs::Named::_duplicate(a); }
    void refuse(Node* why, Text* text) override
    {
#ifdef PEER_OMNIORB // its exceptions take over what they are given
        CORBA::add_ref(why);
        CORBA::add_ref(text);
#endif
        throw Refused(why, text);
    }

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
};

void expect(bool held, const char* what)
{
    if (!held) throw std::runtime_error(what);
}

bool same(const char* left, const char* right) { return std::strcmp(left, right) == 0; }

void check_null(Peer_ptr peer)
{
    Node_var b;
    Node_var c;
    const Node_var result = peer->pass_node(nullptr, b.inout(), c.out());
    expect(result.in() == nullptr && b.in() == nullptr && c.in() == nullptr, "null");
}

void check_node(Peer_ptr peer)
{
    const Node_var leaf = make_node("leaf");
    const Node_var a = make_node("a", leaf.in());
    Node_var b = make_node("b", nullptr, leaf.in());
    Node_var c;
    const Node_var result = peer->pass_node(a.in(), b.inout(), c.out());
    expect(same(result->name(), "a") && same(c->name(), "b"), "names");
    expect(result.in() == b.in(), "one value sent twice is one value");
    expect(result->left() == c->right(), "what is shared stays shared");
    expect(same(result->left()->name(), "leaf"), "leaf");
    expect(peer->are_same(a.in(), a.in()), "the same for the server");
    expect(!peer->are_same(a.in(), leaf.in()), "not the same for the server");
}

void check_cycle(Peer_ptr peer)
{
    const Node_var a = make_node("a");
    const Node_var b = make_node("b", a.in());
    a->right(b.in());
    Node_var inout = share(b.in());
    Node_var c;
    const Node_var result = peer->pass_node(a.in(), inout.inout(), c.out());
    expect(result->right()->left() == result.in(), "cycle");
    expect(c.in() == result->right(), "out is in the cycle");
    a->right(nullptr);
    result->right(nullptr);
}

void check_sequence(Peer_ptr peer)
{
    Nodes nodes;
    nodes.length(100);
    const Node_var last = make_node("last");
    for (CORBA::ULong i = 0; i < 99; ++i)
        nodes[i] = make_node("element", last.in());
    const Nodes_var back = peer->pass_nodes(nodes);
    expect(back->length() == 100, "length");
    Node* first = (*back.operator->())[0];
    Node* other = (*back.operator->())[98];
    Node* null = (*back.operator->())[99];
    expect(first->left() == other->left(), "shared by elements");
    expect(null == nullptr, "null element");
}

void check_derived(Peer_ptr peer)
{
    const Base_var inner = make_base(3);
    const Base_var a = make_derived(2, inner.in());
    Base_var b = share(inner.in());
    Base_var c;
    const Base_var result = peer->pass_base(a.in(), b.inout(), c.out());
    Derived* derived = Derived::_downcast(result.in());
    expect(derived != nullptr && b.in() == result.in(), "derived");
    expect(derived->number() == 2 && same(derived->text(), "derived"), "state");
    expect(derived->inner()->number() == 3 && derived->inner() == c.in(), "inner");
    expect(derived->data().length() == data_size, "length");
    for (CORBA::ULong i = 0; i < data_size; ++i)
        expect(derived->data()[i] == i % 251, "octets");
    expect(derived->last() == 0.25, "last");
}

void check_truncation(Peer_ptr peer)
{
    const Base_var unknown = make_unknown(7);
    Base_var b = make_base(1);
    Base_var c;
    const Base_var result = peer->pass_base(unknown.in(), b.inout(), c.out());
    Derived* derived = Derived::_downcast(result.in());
    expect(derived != nullptr && Unknown::_downcast(result.in()) == nullptr, "truncated there");
    expect(derived->number() == 7 && derived->last() == 0.25, "what is left");
    expect(derived->inner()->number() == 8, "inner");
    expect(c->number() == 1, "what follows");
    const Base_var back = peer->cut_back(20);
    Derived* here = Derived::_downcast(back.in());
    expect(here != nullptr && Unknown::_downcast(back.in()) == nullptr, "truncated here");
    expect(here->number() == 20 && here->inner()->number() == 21, "what is left here");
}

void check_no_factory(Peer_ptr peer)
{
    const Base_var base = make_unknown(7);
    Unknown* unknown = Unknown::_downcast(base.in());
    try {
        (void)peer->cut(unknown);
    } catch (const CORBA::MARSHAL&) {
        return;
    }
    throw std::runtime_error("no exception without a factory");
}

void check_holder(Peer_ptr peer)
{
    Holder holder;
    holder.before = 1;
    holder.value = make_base(5);
    holder.between = 2;
    holder.other = make_derived(6, holder.value.in());
    const Node_var node = make_node("chosen");
    holder.pick.link(node.in());
    const Holder_var back = peer->pass_holder(holder);
    expect(back->before == 1 && back->between == 2, "numbers");
    expect(back->value->number() == 5 && back->other->inner() == back->value.in(), "values");
    expect(same(back->pick.link()->name(), "chosen"), "in a union");
}

void check_boxes(Peer_ptr peer)
{
    const Number_var a = new Number(1);
    Number_var b = new Number(2);
    Number_var c;
    const Number_var number = peer->pass_number(a.in(), b.inout(), c.out());
    expect(number->_value() == 1 && b.in() == number.in() && c->_value() == 2, "numbers");
    const Text_var text = new Text("text");
    const Text_var back = peer->pass_text(text.in(), text.in());
    expect(same(back->_value(), "text"), "shared box");
    Pair pair;
    pair.name = "pair";
    pair.weight = 1.5;
    const Weight_var weight = new Weight(pair);
    const Weight_var weighed = peer->pass_weight(weight.in());
    expect(same(weighed->name(), "pair") && weighed->weight() == 1.5, "struct");
    Octets octets;
    octets.length(10000);
    octets[9999] = 9;
    const Bytes_var bytes = new Bytes(octets);
    const Bytes_var bytes_back = peer->pass_bytes(bytes.in());
    expect(bytes_back->_value().length() == 10000 && bytes_back->_value()[9999] == 9, "octets");
}

void check_value_base(Peer_ptr peer)
{
    const Base_var base = make_derived(4);
    CORBA::ValueBase_var back = peer->pass_any_value(base.in());
    Derived* derived = Derived::_downcast(back.in());
    expect(derived != nullptr && derived->number() == 4, "ValueBase");
    back = peer->pass_any_value(nullptr);
    expect(back.in() == nullptr, "null ValueBase");
}

void check_abstract(Peer_ptr peer)
{
    CardImpl* card = new CardImpl;
    const CORBA::ValueBase_var owner = card;
    card->title("card");
    const Named_var value = peer->pass_named(card);
    const CORBA::String_var title = value->name_of();
    expect(same(title, "card"), "a value");
    const Named_var object = peer->pass_named(peer);
    const CORBA::String_var name = object->name_of();
    expect(same(name, "peer"), "an object");
    const Named_var nil = peer->pass_named(Named::_nil());
    expect(CORBA::is_nil(nil.in()), "nil");
}

void check_exception(Peer_ptr peer)
{
    const Node_var why = make_node("why");
    const Text_var text = new Text("refused");
    try {
        peer->refuse(why.in(), text.in());
    } catch (const Refused& refused) {
        expect(same(refused.why->name(), "why") && same(refused.words->_value(), "refused"),
               "members");
        return;
    }
    throw std::runtime_error("no exception");
}

int call(CORBA::ORB_ptr orb, const char* reference)
{
    const CORBA::Object_var object = orb->string_to_object(reference);
    const Peer_var peer = Peer::_narrow(object.in());
    struct Check {
        const char* name;
        void (*run)(Peer_ptr);
    };
    constexpr Check checks[] = {
        {"null", check_null},
        {"node", check_node},
        {"cycle", check_cycle},
        {"sequence", check_sequence},
        {"derived", check_derived},
        {"truncation", check_truncation},
        {"no factory", check_no_factory},
        {"holder", check_holder},
        {"boxes", check_boxes},
        {"ValueBase", check_value_base},
        {"abstract", check_abstract},
        {"exception", check_exception},
    };
    bool all_held = true;
    for (const Check& check : checks) {
        try {
            check.run(peer.in());
            std::cout << "ok " << check.name << std::endl;
        } catch (const CORBA::SystemException& failure) {
            std::cout << "failed " << check.name << ": " << failure._name() << " minor 0x"
                      << std::hex << failure.minor() << std::dec << std::endl;
            all_held = false;
        } catch (const CORBA::UserException& failure) {
            std::cout << "failed " << check.name << ": " << failure._name() << std::endl;
            all_held = false;
        } catch (const std::runtime_error& failure) {
            std::cout << "failed " << check.name << ": " << failure.what() << std::endl;
            all_held = false;
        }
    }
    return all_held ? 0 : 1;
}

int serve(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    Servant* servant = new Servant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const Peer_var peer = servant->_this();
    servant->_remove_ref();
    const CORBA::String_var reference = orb->object_to_string(peer.in());
    std::cout << reference << std::endl;
    std::thread end([orb] {
        char c;
        while (read(STDIN_FILENO, &c, 1) > 0) {
        }
        orb->shutdown(false);
    });
    orb->run();
    end.join();
    return 0;
}

} // namespace

#ifdef PEER_OMNIORB
/// omniORB's stubs do not give back what an inout value was before the call.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "detect_leaks=0"; }
#endif

int main(int argc, char** argv)
{
    try {
        const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        add_factories(orb.in());
        int status = 2;
        if (argc == 2 && std::string_view(argv[1]) == "serve") status = serve(orb.in());
        if (argc == 3 && std::string_view(argv[1]) == "call") status = call(orb.in(), argv[2]);
        orb->destroy();
        return status;
    } catch (const CORBA::SystemException& failure) {
        std::cout << "failed: " << failure._name() << std::endl;
        return 1;
    }
}
