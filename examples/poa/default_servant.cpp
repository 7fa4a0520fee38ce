// SPDX-License-Identifier: Apache-2.0
//
// USE_DEFAULT_SERVANT: one servant is all accounts there may be. Which one is called,
// PortableServer::Current tells. Nothing is kept for an account but its entry in a table.
#include "bank.h"

#include <map>
#include <mutex>

namespace {

class AllAccounts : public POA_Account {
  public:
    explicit AllAccounts(CORBA::ORB_ptr orb)
    {
        const CORBA::Object_var object = orb->resolve_initial_references("POACurrent");
        current_ = PortableServer::Current::_narrow(object);
    }

    char* owner() override { return CORBA::string_dup(name().c_str()); }
    CORBA::Long balance() override
    {
        const std::lock_guard lock(mutex_);
        return balances_[name()];
    }
    void deposit(CORBA::Long amount) override
    {
        const std::lock_guard lock(mutex_);
        balances_[name()] += amount;
    }

  private:
    std::string name()
    {
        const PortableServer::ObjectId_var id = current_->get_object_id();
        const CORBA::String_var text = PortableServer::ObjectId_to_string(id);
        return text.in();
    }

    PortableServer::Current_var current_;
    std::mutex mutex_; // guards balances_
    std::map<std::string, CORBA::Long> balances_;
};

} // namespace

int main(int argc, char** argv)
{
    return run_bank(argc, argv, [](auto orb, auto root, auto manager) {
        const auto policies =
            PolicyMaker(root).user_ids().many_objects_a_servant().not_retained().served_by(
                PortableServer::USE_DEFAULT_SERVANT);
        const PortableServer::POA_var accounts =
            root->create_POA("accounts", manager, policies.list());
        const PortableServer::Servant_var<AllAccounts> servant = new AllAccounts(orb);
        accounts->set_servant(servant);
        visit(accounts);
    });
}
