// SPDX-License-Identifier: Apache-2.0
//
// USE_SERVANT_MANAGER and RETAIN: a servant is made when its account is first called, and told to
// go when it is deactivated or the POA ends. Here is where accounts would be loaded and saved.
#include "bank.h"

namespace {

class AccountServant : public POA_Account {
  public:
    explicit AccountServant(const char* owner) : owner_(owner) {}

    char* owner() override { return CORBA::string_dup(owner_.c_str()); }
    CORBA::Long balance() override { return balance_; }
    void deposit(CORBA::Long amount) override { balance_ += amount; }

  private:
    const std::string owner_;
    CORBA::Long balance_ = 0;
};

class Loader : public virtual PortableServer::ServantActivator {
  public:
    PortableServer::Servant incarnate(const PortableServer::ObjectId& oid,
                                      PortableServer::POA_ptr) override
    {
        const CORBA::String_var name = PortableServer::ObjectId_to_string(oid);
        std::cout << "loading " << name << '\n';
        return new AccountServant(name);
    }
    void etherealize(const PortableServer::ObjectId& oid, PortableServer::POA_ptr,
                     PortableServer::Servant servant, CORBA::Boolean,
                     CORBA::Boolean remaining_activations) override
    {
        const CORBA::String_var name = PortableServer::ObjectId_to_string(oid);
        std::cout << "saving " << name << '\n';
        if (!remaining_activations) servant->_remove_ref();
    }
};

} // namespace

int main(int argc, char** argv)
{
    return run_bank(argc, argv, [](auto, auto root, auto manager) {
        const auto policies =
            PolicyMaker(root).user_ids().served_by(PortableServer::USE_SERVANT_MANAGER);
        const PortableServer::POA_var accounts =
            root->create_POA("accounts", manager, policies.list());
        const PortableServer::ServantActivator_var loader = new Loader;
        accounts->set_servant_manager(loader);
        visit(accounts);
    });
}
