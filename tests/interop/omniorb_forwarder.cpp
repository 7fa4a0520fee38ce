// SPDX-License-Identifier: Apache-2.0
//
// An omniORB server whose objects are all elsewhere: it forwards every request to the reference
// that is its argument. It prints one reference for each way that omniORB has to say so, and ends
// at the end of its input.
#include "servant.h"

#include <iostream>
#include <unistd.h>

namespace {

class Locator : public POA_PortableServer::ServantLocator {
  public:
    explicit Locator(CORBA::Object_ptr target) : target_(CORBA::Object::_duplicate(target)) {}

    PortableServer::Servant preinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr,
                                      const char*, void*&) override
    {
        throw PortableServer::ForwardRequest(target_.in());
    }
    void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*, void*,
                    PortableServer::Servant) override
    {
    }

  private:
    CORBA::Object_var target_;
};

class Forwarder : public calls::EchoServant {
  public:
    Forwarder(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa, CORBA::Object_ptr target,
              bool permanent)
        : EchoServant(orb, poa, {}), target_(CORBA::Object::_duplicate(target)),
          permanent_(permanent)
    {
    }
    CORBA::ULong sum(CORBA::ULong, CORBA::ULong) override
    {
        throw omniORB::LOCATION_FORWARD(CORBA::Object::_duplicate(target_.in()), permanent_);
    }

  private:
    CORBA::Object_var target_;
    const bool permanent_;
};

PortableServer::POA_ptr make_locating_poa(PortableServer::POA_ptr root, CORBA::Object_ptr target)
{
    PortableServer::POAManager_var manager = root->the_POAManager();
    CORBA::PolicyList policies;
    policies.length(3);
    policies[0] = root->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    policies[1] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[2] = root->create_id_assignment_policy(PortableServer::USER_ID);
    PortableServer::POA_var poa = root->create_POA("forwarder", manager, policies);
    PortableServer::Servant_var<Locator> servant = new Locator(target);
    PortableServer::ServantLocator_var locator = servant->_this();
    poa->set_servant_manager(locator);
    return poa._retn();
}

void print(CORBA::ORB_ptr orb, CORBA::Object_ptr reference)
{
    CORBA::String_var text = orb->object_to_string(reference);
    std::cout << text.in() << std::endl;
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var target = orb->string_to_object(argv[1]);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    PortableServer::POA_var poa = make_locating_poa(root, target);
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("elsewhere");
    CORBA::Object_var located = poa->create_reference_with_id(id, "IDL:kairos.test/Types/Echo:1.0");
    print(orb, located);
    for (const bool permanent : {false, true}) {
        PortableServer::Servant_var<Forwarder> servant =
            new Forwarder(orb, root, target, permanent);
        Types::Echo_var reference = servant->_this();
        print(orb, reference);
    }
    char octet;
    while (read(STDIN_FILENO, &octet, 1) > 0) {
    }
    orb->destroy();
    return 0;
} catch (const CORBA::Exception& exception) {
    std::cerr << "omniorb_forwarder: " << exception._name() << '\n';
    return 1;
}
