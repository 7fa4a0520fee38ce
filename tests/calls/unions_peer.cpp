// SPDX-License-Identifier: Apache-2.0
//
// Client or server of unions.idl. Plain mapping code, for any ORB.
//
//     unions_peer serve                prints its reference, ends at the end of its input
//     unions_peer call REFERENCE       prints a line a check; exits with 0 if all held
//     unions_peer call_plain REFERENCE without what not every ORB can do
#include "unions_values.h"

#include <iostream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <type_traits>
#include <unistd.h>

// clang-format off
#define FIXED_TYPES(apply)                                                                         \
    apply(ByBoolean) apply(ByChar) apply(ByUShort) apply(ByLong) apply(ByULong) apply(ByInner)     \
    apply(Plain) apply(FixedHolder) apply(Money) apply(Rate) apply(Huge) apply(Tiny)
#define VARIABLE_TYPES(apply)                                                                      \
    apply(ByShort) apply(ByLongLong) apply(ByULongLong) apply(ByColor) apply(Tree) apply(Rich)     \
    apply(Holder) apply(Plains) apply(Riches) apply(Monies)
// clang-format on

namespace {

using namespace Unions;

class Servant : public virtual POA_Unions::Peer {
  public:
    ByColor* shade() override { return new ByColor(shade_); }
    void shade(const ByColor& value) override { shade_ = value; }
    Money balance() override { return balance_; }
    void balance(const Money& value) override { balance_ = value; }

#define SERVE_FIXED(T)                                                                             \
    T pass_##T(const T& a, T& b, T##_out c) override                                               \
    {                                                                                              \
        c = b;                                                                                     \
        b = a;                                                                                     \
        return a;                                                                                  \
    }
    FIXED_TYPES(SERVE_FIXED)
// Assigned, not copied: copies of omniORB's fixed members forget the number of digits.
#define SERVE_VARIABLE(T)                                                                          \
    T* pass_##T(const T& a, T& b, T##_out c) override                                              \
    {                                                                                              \
        c = new T;                                                                                 \
        *c.ptr() = b;                                                                              \
        b = a;                                                                                     \
        T##_var result = new T;                                                                    \
        result.inout() = a;                                                                        \
        return result._retn();                                                                     \
    }
    VARIABLE_TYPES(SERVE_VARIABLE)
#ifndef PEER_OMNIORB
    SERVE_FIXED(Priced)
#endif

    void refuse(const Rich& why, const Plain& what, const Money& limit) override
    {
        throw Refused(why, what, limit);
    }

  private:
    ByColor shade_;
    Money balance_;
};

void expect_same(const std::string& expected, const std::string& actual, const char* what)
{
    if (expected != actual)
        throw std::runtime_error(std::string(what) + ": " + actual + " instead of " + expected);
}

#define CHECK_FIXED(T)                                                                             \
    void check_##T(Peer_ptr peer)                                                                  \
    {                                                                                              \
        for (int n = 0; n < variants; ++n) {                                                       \
            T a, b, c;                                                                             \
            fill(a, n);                                                                            \
            fill(b, (n + 1) % variants);                                                           \
            fill(c, (n + 2) % variants);                                                           \
            const std::string sent = describe(a);                                                  \
            const std::string old = describe(b);                                                   \
            const T result = peer->pass_##T(a, b, c);                                              \
            expect_same(sent, describe(result), "result");                                         \
            expect_same(sent, describe(b), "inout");                                               \
            expect_same(old, describe(c), "out");                                                  \
        }                                                                                          \
    }
FIXED_TYPES(CHECK_FIXED)
#define CHECK_VARIABLE(T)                                                                          \
    void check_##T(Peer_ptr peer)                                                                  \
    {                                                                                              \
        for (int n = 0; n < variants; ++n) {                                                       \
            T a, b;                                                                                \
            T##_var c;                                                                             \
            fill(a, n);                                                                            \
            fill(b, (n + 1) % variants);                                                           \
            const std::string sent = describe(a);                                                  \
            const std::string old = describe(b);                                                   \
            const T##_var result = peer->pass_##T(a, b, c.out());                                  \
            expect_same(sent, describe(result.in()), "result");                                    \
            expect_same(sent, describe(b), "inout");                                               \
            expect_same(old, describe(c.in()), "out");                                             \
        }                                                                                          \
    }
VARIABLE_TYPES(CHECK_VARIABLE)

#ifndef PEER_OMNIORB
CHECK_FIXED(Priced)
#endif

void check_attributes(Peer_ptr peer)
{
    for (int n = 0; n < variants; ++n) {
        ByColor shade;
        fill(shade, n);
        peer->shade(shade);
        const ByColor_var back = peer->shade();
        expect_same(describe(shade), describe(back.in()), "shade");
        Money balance;
        fill(balance, n);
        peer->balance(balance);
        expect_same(describe(balance), describe(peer->balance()), "balance");
    }
}

void check_exception(Peer_ptr peer)
{
    for (int n = 0; n < variants; ++n) {
        Rich why;
        Plain what;
        Money limit;
        fill(why, n);
        fill(what, n);
        fill(limit, n);
        try {
            peer->refuse(why, what, limit);
            throw std::runtime_error("no exception");
        } catch (const Refused& refused) {
            expect_same(describe(why), describe(refused.why), "why");
            expect_same(describe(what), describe(refused.what), "what");
            expect_same(describe(limit), describe(refused.limit), "limit");
        }
    }
}

/// Whether it held.
bool run(const char* name, void (*check)(Peer_ptr), Peer_ptr peer)
{
    std::string failure;
    try {
        check(peer);
    } catch (const CORBA::SystemException& exception) {
        failure = std::string(exception._name()) + " " + std::to_string(exception.minor());
    } catch (const CORBA::Exception& exception) {
        failure = exception._name();
    } catch (const std::exception& exception) {
        failure = exception.what();
    }
    if (failure.empty())
        std::cout << "ok " << name << '\n';
    else
        std::cout << "FAILED " << name << ": " << failure << '\n';
    return failure.empty();
}

int call(CORBA::ORB_ptr orb, const char* reference, [[maybe_unused]] bool plain)
{
    CORBA::Object_var object = orb->string_to_object(reference);
    Peer_var peer = Peer::_narrow(object.in());
    the_server() = peer.in();
    int failures = 0;
#define RUN(T) failures += run(#T, check_##T, peer.in()) ? 0 : 1;
    FIXED_TYPES(RUN)
    VARIABLE_TYPES(RUN)
    RUN(attributes)
    RUN(exception)
#ifndef PEER_OMNIORB
    if (!plain) RUN(Priced)
#endif
    the_server() = Peer::_nil();
    return failures == 0 ? 0 : 1;
}

int serve(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    PortableServer::Servant_var<Servant> servant = new Servant;
    Peer_var peer = servant->_this();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var reference = orb->object_to_string(peer.in());
    std::cout << reference.in() << std::endl;
    std::thread input([orb] {
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

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const std::string_view what = argc > 1 ? argv[1] : "";
    int status = 2;
    if (what == "serve" && argc == 2) status = serve(orb.in());
    if ((what == "call" || what == "call_plain") && argc == 3)
        status = call(orb.in(), argv[2], what == "call_plain");
    if (status == 2)
        std::cerr << "usage: unions_peer serve | call REFERENCE | call_plain REFERENCE\n";
    orb->destroy();
    return status;
} catch (const CORBA::Exception& exception) {
    std::cerr << "unions_peer: " << exception._name() << '\n';
    return 1;
}
