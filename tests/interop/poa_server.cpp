// SPDX-License-Identifier: Apache-2.0
//
// A server of Kairos whose Echo is found in every way that POAs have: it prints a reference, or an
// object URL, for each, and ends at the end of its input. With an argument that is a reference, it
// prints one more: of an object that a servant locator forwards there.
#include "servant.h"

#include <kairos/corba/ior_table.h>
#include <kairos/ior/profile.h>

#include <iostream>
#include <thread>
#include <unistd.h>

namespace {

using namespace PortableServer;

/// One servant, whoever asks.
class Servants {
  public:
    Servants(CORBA::ORB_ptr orb, POA_ptr poa) : servant_(new calls::EchoServant(orb, poa, {})) {}
    [[nodiscard]] calls::EchoServant* get() { return servant_.in(); }

  private:
    Servant_var<calls::EchoServant> servant_;
};

class Activator final : public virtual ServantActivator {
  public:
    explicit Activator(Servants& servants) : servants_(servants) {}
    Servant incarnate(const ObjectId&, POA_ptr) override
    {
        servants_.get()->_add_ref();
        return servants_.get();
    }
    void etherealize(const ObjectId&, POA_ptr, Servant servant, CORBA::Boolean,
                     CORBA::Boolean) override
    {
        servant->_remove_ref();
    }

  private:
    Servants& servants_;
};

class Locator final : public virtual ServantLocator {
  public:
    explicit Locator(Servants& servants) : servants_(servants) {}
    Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie& cookie) override
    {
        cookie = this;
        return servants_.get();
    }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie cookie, Servant) override
    {
        if (cookie != this) _exit(4); // whoever waits for the server's end hears of it
    }

  private:
    Servants& servants_;
};

class Forwarder final : public virtual ServantLocator {
  public:
    explicit Forwarder(CORBA::Object_ptr target) : target_(CORBA::Object::_duplicate(target)) {}
    Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie&) override
    {
        throw ForwardRequest(target_.in());
    }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie, Servant) override {}

  private:
    const CORBA::Object_var target_;
};

POA_ptr make_poa(POA_ptr root, const char* name, RequestProcessingPolicyValue processing,
                 ServantRetentionPolicyValue retention)
{
    CORBA::PolicyList policies;
    policies.length(5);
    policies[0] = root->create_lifespan_policy(PERSISTENT);
    policies[1] = root->create_id_assignment_policy(USER_ID);
    policies[2] = root->create_id_uniqueness_policy(MULTIPLE_ID);
    policies[3] = root->create_request_processing_policy(processing);
    policies[4] = root->create_servant_retention_policy(retention);
    const POAManager_var manager = root->the_POAManager();
    return root->create_POA(name, manager, policies);
}

/// Prints the reference of the POA's object "echo". Owned by the caller.
CORBA::Object_ptr print_object(CORBA::ORB_ptr orb, POA_ptr poa)
{
    const ObjectId_var id = string_to_ObjectId("echo");
    CORBA::Object_var object = poa->create_reference_with_id(id, Types::Echo::_kairos_id);
    const CORBA::String_var text = orb->object_to_string(object);
    std::cout << text << std::endl;
    return object._retn();
}

void print_table(CORBA::ORB_ptr orb, CORBA::Object_ptr object)
{
    const CORBA::Object_var service = orb->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(service);
    const CORBA::String_var text = orb->object_to_string(object);
    table->bind("Echo", text);
    const auto ior = kairos::ior::from_string(text.in()).value();
    std::cout << "corbaloc::" << kairos::ior::to_string(kairos::ior::targets(ior).front().address)
              << "/Echo" << std::endl;
}

void print_objects(CORBA::ORB_ptr orb, POA_ptr root, Servants& servants)
{
    const POA_var located = make_poa(root, "Located", USE_SERVANT_MANAGER, NON_RETAIN);
    const ServantLocator_var locator = new Locator(servants);
    located->set_servant_manager(locator);
    const CORBA::Object_var first = print_object(orb, located);
    const POA_var activated = make_poa(root, "Activated", USE_SERVANT_MANAGER, RETAIN);
    const ServantActivator_var activator = new Activator(servants);
    activated->set_servant_manager(activator);
    const CORBA::Object_var second = print_object(orb, activated);
    const POA_var defaulted = make_poa(root, "Default", USE_DEFAULT_SERVANT, NON_RETAIN);
    defaulted->set_servant(servants.get());
    const CORBA::Object_var third = print_object(orb, defaulted);
    print_table(orb, third);
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = POA::_narrow(object);
    Servants servants(orb, root);
    const POAManager_var manager = root->the_POAManager();
    manager->activate();
    print_objects(orb, root, servants);
    if (argc > 1) {
        const POA_var forwarding = make_poa(root, "Forwarding", USE_SERVANT_MANAGER, NON_RETAIN);
        const CORBA::Object_var target = orb->string_to_object(argv[1]);
        const ServantLocator_var forwarder = new Forwarder(target);
        forwarding->set_servant_manager(forwarder);
        const CORBA::Object_var forwarded = print_object(orb, forwarding);
    }
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
    orb->destroy();
    return 0;
} catch (const CORBA::Exception& exception) {
    std::cerr << "poa_server: " << exception.what() << '\n';
    return 1;
}
