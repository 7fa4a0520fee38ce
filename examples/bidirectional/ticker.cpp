// SPDX-License-Identifier: Apache-2.0
//
// An exchange and a subscriber behind a firewall, as two ORBs of one program. The subscriber has no
// socket that anybody could connect to: the exchange calls it over the connection that it has made
// itself, also when its own call is over.
#include "ticker_skel.h"

#include <kairos/corba/BiDirPolicy.h>
#include <kairos/corba/CORBA.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

class ExchangeServant final : public POA_Exchange {
  public:
    void subscribe(Subscriber_ptr who) override
    {
        who->quote("KRO", 41.5); // within the subscriber's call
        subscriber_ = Subscriber::_duplicate(who);
    }
    void publish(const char* share, double price) { subscriber_->quote(share, price); }

  private:
    Subscriber_var subscriber_;
};

class SubscriberServant final : public POA_Subscriber {
  public:
    void quote(const char* share, CORBA::Double price) override
    {
        std::cout << std::string(share) + " " + std::to_string(price) + "\n";
    }
};

CORBA::Policy_ptr both_ways(CORBA::ORB_ptr orb)
{
    CORBA::Any value;
    value <<= BiDirPolicy::BOTH;
    return orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, value);
}

/// An object adapter that permits, or offers, calls back over the connections of calls.
PortableServer::POA_ptr make_poa(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = root->the_POAManager();
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = both_ways(orb);
    const PortableServer::POA_var poa = root->create_POA("both", manager.in(), policies);
    manager->activate();
    return PortableServer::POA::_duplicate(poa.in());
}

CORBA::Object_ptr activate(PortableServer::POA_ptr poa, PortableServer::Servant servant)
{
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    return poa->id_to_reference(id.in());
}

void run(CORBA::ORB_ptr server, CORBA::ORB_ptr client)
{
    ExchangeServant exchange_servant;
    const PortableServer::POA_var serving = make_poa(server);
    const CORBA::Object_var made = activate(serving.in(), &exchange_servant);
    const CORBA::String_var address = server->object_to_string(made.in());

    SubscriberServant subscriber_servant;
    const PortableServer::POA_var called_back = make_poa(client);
    const CORBA::Object_var own = activate(called_back.in(), &subscriber_servant);
    const Subscriber_var subscriber = Subscriber::_narrow(own.in());

    // What this client calls is offered its connections.
    const CORBA::Object_var object = client->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var policies = CORBA::PolicyManager::_narrow(object.in());
    CORBA::PolicyList offered(1);
    offered.length(1);
    offered[0] = both_ways(client);
    policies->set_policy_overrides(offered, CORBA::ADD_OVERRIDE);

    const CORBA::Object_var found = client->string_to_object(address.in());
    const Exchange_var exchange = Exchange::_narrow(found.in());
    exchange->subscribe(subscriber.in());
    exchange_servant.publish("KRO", 42.0);
    client->destroy();
    server->destroy();
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var server = CORBA::ORB_init(argc, argv, "exchange");
    std::vector<std::string> options{argv[0], "-ORBListenEndpoints", "none"};
    std::vector<char*> arguments{options[0].data(), options[1].data(), options[2].data(), nullptr};
    int count = 3;
    const CORBA::ORB_var client = CORBA::ORB_init(count, arguments.data(), "subscriber");
    run(server.in(), client.in());
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << exception._name() << '\n';
    return EXIT_FAILURE;
}
