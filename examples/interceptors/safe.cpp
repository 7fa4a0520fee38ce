// SPDX-License-Identifier: Apache-2.0
//
// A safe that knows nothing of security and tracing, a client that knows nothing of either, and
// interceptors that see to both: a token (token.h) where the reference asks for one (wanted.h), a
// trace (trace.h), how long it took (timing.h).
#include "safe_skel.h"
#include "timing.h"
#include "token.h"
#include "trace.h"
#include "wanted.h"

#include <kairos/corba/CORBA.h>

#include <cstdlib>

namespace {

PortableInterceptor::SlotId trace_slot = 0;

/// Both ORBs of this program have all interceptors.
class Initializer final : public PortableInterceptor::ORBInitializer {
  public:
    void pre_init(PortableInterceptor::ORBInitInfo_ptr info) override
    {
        trace_slot = info->allocate_slot_id();
        add(info, new Timing);
        add(info, new TokenBearer);
        add(info, new TraceSender(trace_slot));
        add(info, new TokenChecker("sesame"));
        add(info, new TraceReceiver(trace_slot));
        const PortableInterceptor::IORInterceptor_var wanter = new TokenWanter;
        info->add_ior_interceptor(wanter.in());
    }
    void post_init(PortableInterceptor::ORBInitInfo_ptr) override {}

  private:
    static void add(PortableInterceptor::ORBInitInfo_ptr info, ClientInterceptor* made)
    {
        const PortableInterceptor::ClientRequestInterceptor_var owned = made;
        info->add_client_request_interceptor(owned.in());
    }
    static void add(PortableInterceptor::ORBInitInfo_ptr info, ServerInterceptor* made)
    {
        const PortableInterceptor::ServerRequestInterceptor_var owned = made;
        info->add_server_request_interceptor(owned.in());
    }
};

PortableInterceptor::Current_ptr current_of(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("PICurrent");
    return PortableInterceptor::Current::_narrow(object.in());
}

class SafeServant final : public POA_Safe {
  public:
    explicit SafeServant(PortableInterceptor::Current_ptr current)
        : current_(PortableInterceptor::Current::_duplicate(current))
    {
    }
    char* open(const char* drawer) override
    {
        const CORBA::Any_var kept = current_->get_slot(trace_slot);
        const char* trace = nullptr;
        if (kept.in() >>= trace) say(std::string("the safe is traced: ") + trace);
        return CORBA::string_dup((std::string("what is in ") + drawer).c_str());
    }

  private:
    const PortableInterceptor::Current_var current_;
};

void open_with(Safe_ptr safe, const char* token)
try {
    token_of_program = token;
    const CORBA::String_var content = safe->open("drawer 7");
    say(content.in());
} catch (const CORBA::NO_PERMISSION&) {
    say("no permission");
}

void run(CORBA::ORB_ptr server, CORBA::ORB_ptr client)
{
    const CORBA::Object_var root = server->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    const PortableInterceptor::Current_var at_server = current_of(server);
    const PortableServer::Servant_var<SafeServant> servant = new SafeServant(at_server.in());
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var reference = poa->id_to_reference(id);
    const CORBA::String_var text = server->object_to_string(reference);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    const CORBA::Object_var object = client->string_to_object(text);
    const Safe_var safe = Safe::_unchecked_narrow(object);
    open_with(safe, "guessed");

    CORBA::Any trace;
    trace <<= traceparent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7").c_str();
    const PortableInterceptor::Current_var current = current_of(client);
    current->set_slot(trace_slot, trace); // what this thread does from here on belongs to it
    open_with(safe, "sesame");
}

} // namespace

int main(int argc, char** argv)
try {
    const PortableInterceptor::ORBInitializer_var initializer = new Initializer;
    PortableInterceptor::register_orb_initializer(initializer.in());
    const CORBA::ORB_var client = CORBA::ORB_init(argc, argv);
    char name[] = "server";
    char option[] = "-ORBListenEndpoints";
    char endpoint[] = "iiop://127.0.0.1";
    char* arguments[] = {name, option, endpoint, nullptr};
    int count = 3;
    const CORBA::ORB_var server = CORBA::ORB_init(count, arguments, "server");
    run(server, client);
    client->destroy();
    server->destroy();
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << "safe: " << exception.what() << '\n';
    return EXIT_FAILURE;
}
