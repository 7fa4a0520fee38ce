// SPDX-License-Identifier: Apache-2.0
//
// omniINSPOA: a POA whose objects clients reach by the names that the program gives them,
// corbaloc::host:port/name. It is a persistent POA of that name; IORTable sends there who asks for
// a name that is bound to nothing.
#include "kairos/compat/omniorb/hooks.h"
#include "kairos/corba/ior_table.h"
#include "kairos/corba/portable_server.h"

#include <mutex>

namespace kairos::omniorb {
namespace {

constexpr const char* ins_poa_name = "omniINSPOA";

/// Knows the objects that are active in the POA.
class ActiveObjects final : public IORTable::Locator {
  public:
    ActiveObjects(CORBA::ORB& orb, PortableServer::POA_ptr poa)
        : orb_(orb), poa_(PortableServer::POA::_duplicate(poa))
    {
    }

    char* locate(const char* object_key) override
    {
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(object_key);
        try {
            const CORBA::Object_var object = poa_->id_to_reference(id.in());
            return orb_.object_to_string(object.in());
        } catch (const PortableServer::POA::ObjectNotActive&) {
            throw IORTable::NotFound();
        }
    }

  private:
    CORBA::ORB& orb_; // whose table has this, until it is destroyed
    const PortableServer::POA_var poa_;
};

PortableServer::POA_ptr make_ins_poa(CORBA::ORB& orb, PortableServer::POA_ptr root)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0U] = root->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1U] = root->create_id_assignment_policy(PortableServer::USER_ID);
    PortableServer::POA_var poa =
        root->create_POA(ins_poa_name, PortableServer::POAManager::_nil(), policies);
    const CORBA::Object_var object = orb.resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(object.in());
    const IORTable::Locator_var locator = new ActiveObjects(orb, poa.in());
    table->set_locator(locator.in());
    return poa._retn();
}

/// Held while the POA is looked for and made.
std::mutex& making_ins_poa()
{
    static std::mutex& mutex = *new std::mutex; // as long as there are threads
    return mutex;
}

} // namespace
} // namespace kairos::omniorb

namespace kairos::corba {

CORBA::Object_ptr omni_ins_poa_service(CORBA::ORB& orb)
{
    using namespace omniorb;
    const std::lock_guard lock(making_ins_poa());
    const PortableServer::POA_var root = orb._kairos_root_poa();
    try {
        return root->find_POA(ins_poa_name, false);
    } catch (const PortableServer::POA::AdapterNonExistent&) {
        return make_ins_poa(orb, root.in());
    }
}

} // namespace kairos::corba
