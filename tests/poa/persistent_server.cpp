// SPDX-License-Identifier: Apache-2.0
//
// A server of persistent objects for persistent_test.cpp: prints a reference, serves until its
// input ends. `--lazy`: its POA is made by an adapter activator, its servant by a servant locator.
#include "probe_skel.h"

#include <kairos/corba/CORBA.h>

#include <iostream>
#include <string>

namespace {

using namespace PortableServer;

class Target final : public POA_Probe::Target {
  public:
    void ping() override {}
    CORBA::Long add(CORBA::Long left, CORBA::Long right) override { return left + right; }
    char* echo(const char* text) override { return CORBA::string_dup(text); }
    CORBA::Boolean negate(CORBA::Boolean value) override { return !value; }
    CORBA::ULong count_octets(const Probe::Octets& octets) override { return octets.length(); }
    CORBA::ULong count_strings(const Probe::Strings& strings) override { return strings.length(); }
    CORBA::ULong count_trees(const Probe::Tree&) override { return 1; }
    Probe::Octets* produce(CORBA::ULong) override { return new Probe::Octets; }
    void note(CORBA::Long) override {}
    void act() override {}
};

class Locator final : public virtual ServantLocator {
  public:
    Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie&) override { return &target_; }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie, Servant) override {}

  private:
    Target target_;
};

/// "outer" and "inner", which has objects.
POA_ptr make(POA_ptr parent, const char* name, bool lazy)
{
    CORBA::PolicyList policies(4);
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(PERSISTENT);
    policies[1] = parent->create_id_assignment_policy(USER_ID);
    const bool inner = std::string(name) == "inner";
    if (lazy && inner) {
        policies.length(4);
        policies[2] = parent->create_servant_retention_policy(NON_RETAIN);
        policies[3] = parent->create_request_processing_policy(USE_SERVANT_MANAGER);
    }
    const POAManager_var manager = parent->the_POAManager();
    POA_ptr made = parent->create_POA(name, manager, policies);
    if (inner && lazy) made->set_servant_manager(ServantLocator_var(new Locator));
    return made;
}

class Maker final : public virtual AdapterActivator {
  public:
    CORBA::Boolean unknown_adapter(POA_ptr parent, const char* name) override
    {
        const POA_var made = make(parent, name, true);
        made->the_activator(this);
        return true;
    }
};

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = POA::_narrow(object);
    const POAManager_var manager = root->the_POAManager();
    const AdapterActivator_var maker = new Maker;
    CORBA::Object_var reference;
    if (argc > 1 && std::string(argv[1]) == "--lazy") {
        root->the_activator(maker);
        reference = root->create_reference(Probe::Target::_kairos_id); // only tells the port
    } else {
        const POA_var outer = make(root, "outer", false);
        const POA_var inner = make(outer, "inner", false);
        const ObjectId_var id = string_to_ObjectId("object");
        const Servant_var<Target> target = new Target;
        inner->activate_object_with_id(id, target);
        reference = inner->id_to_reference(id);
    }
    manager->activate();
    const CORBA::String_var text = orb->object_to_string(reference);
    std::cout << text << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
    }
    orb->shutdown(true);
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "persistent_server: " << exception.what() << '\n';
    return 1;
}
