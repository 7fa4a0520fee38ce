// SPDX-License-Identifier: Apache-2.0
//
// A server of Anys::Peer for tests, or with a reference as its argument a client that prints a line
// for each check. Plain mapping code, for any ORB.
#include "any_examples.h"

#ifndef PEER_OMNIORB
#include "rebuild.h"
#endif

#include <iostream>
#include <thread>
#include <unistd.h>

namespace {

using anys::example_count;
using anys::examples;
using CORBA::Any;

class Servant : public POA_Anys::Peer {
  public:
    Any* make(CORBA::Long which) override
    {
        Any any;
        const Anys::Peer_var self = _this();
        examples[which].make(any, self.in());
        return new Any(any);
    }
    CORBA::Boolean is_example(CORBA::Long which, const Any& value) override
    {
        return examples[which].is(value);
    }
    Any* echo(const Any& value, Any& both, CORBA::Any_out other) override
    {
        other = new Any(both);
        both = value;
        return new Any(value);
    }
    Anys::List* every(const Anys::List& values) override { return new Anys::List(values); }
    void refuse(const Any& inner) override { throw Anys::Wrapped(inner); }
};

int serve(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    PortableServer::Servant_var<Servant> servant = new Servant;
    const Anys::Peer_var peer = servant->_this();
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    const CORBA::String_var reference = orb->object_to_string(peer.in());
    std::cout << reference.in() << std::endl;
    std::thread input([&orb] {
        char octet;
        while (read(STDIN_FILENO, &octet, 1) > 0) {
        }
        orb->shutdown(false);
    });
    try {
        orb->run();
    } catch (const CORBA::BAD_INV_ORDER&) { // the input ended before it came to that
    }
    input.join();
    return 0;
}

/// Whether what is sent and received passes through DynAnys, built from nothing each.
bool builds_dynamically = false;

void pass(Any& any, [[maybe_unused]] CORBA::ORB_ptr orb)
{
#ifdef PEER_OMNIORB
    (void)any;
#else
    if (!builds_dynamically) return;
    const CORBA::Object_var object = orb->resolve_initial_references("DynAnyFactory");
    const DynamicAny::DynAnyFactory_var factory = DynamicAny::DynAnyFactory::_narrow(object);
    const CORBA::TypeCode_var type = any.type();
    const DynamicAny::DynAny_var from = factory->create_dyn_any(any);
    const DynamicAny::DynAny_var to = factory->create_dyn_any_from_type_code(type);
    dynany_test::rebuild(from, to);
    const CORBA::Any_var built = to->to_any();
    any = built.in();
#endif
}

/// Everything that can be done with the example and the peer.
bool holds(CORBA::ORB_ptr orb, Anys::Peer_ptr peer, int which)
{
    Any own;
    examples[which].make(own, peer);
    pass(own, orb);
    if (!examples[which].is(own) || !peer->is_example(which, own)) return false;
    CORBA::Any_var made = peer->make(which);
    pass(made.inout(), orb);
    if (!examples[which].is(made.in())) return false;

    Any both;
    both <<= "another";
    CORBA::Any_var other;
    const CORBA::Any_var echoed = peer->echo(own, both, other.out());
    if (!examples[which].is(echoed.in()) || !examples[which].is(both)) return false;
    // Sent on as it came, and out of step with where it was in its message.
    const CORBA::Any_var fresh = peer->make(which);
    Anys::List list(3);
    list.length(3);
    list[0] = fresh.in();
    list[1] <<= Any::from_octet(1);
    list[2] = fresh.in();
    Anys::List_var listed = peer->every(list);
    if (!examples[which].is(listed[0]) || !examples[which].is(listed[2])) return false;
    if (!peer->is_example(which, fresh.in())) return false;
    try {
        peer->refuse(fresh.in());
        return false;
    } catch (const Anys::Wrapped& wrapped) {
        if (!examples[which].is(wrapped.inner)) return false;
    }
    return true;
}

int check(CORBA::ORB_ptr orb, const char* reference)
{
    const CORBA::Object_var object = orb->string_to_object(reference);
    const Anys::Peer_var peer = Anys::Peer::_narrow(object.in());
    for (int which = 0; which < example_count; ++which) {
        try {
            std::cout << (holds(orb, peer.in(), which) ? "ok " : "failed ") << examples[which].name
                      << '\n';
        } catch (const CORBA::Exception& exception) {
            std::cout << "failed " << examples[which].name << ": " << exception._name() << '\n';
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    builds_dynamically = argc > 2 && std::string(argv[2]) == "dynamically";
    const int result = argc > 1 ? check(orb.in(), argv[1]) : serve(orb.in());
    std::cout.flush();
    close(STDOUT_FILENO);
    orb->destroy();
    return result;
} catch (const CORBA::Exception& exception) {
    std::cerr << "any_peer: " << exception._name() << '\n';
    return 1;
}
