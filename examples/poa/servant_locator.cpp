// SPDX-License-Identifier: Apache-2.0
//
// USE_SERVANT_MANAGER and NON_RETAIN: each request gets a servant of its own, with a cookie that
// comes back afterwards. Accounts that have moved are forwarded to where they are now.
#include "bank.h"

#include <memory>

namespace {

/// For one request: it knows nothing but a name.
class AccountServant : public POA_Account {
  public:
    explicit AccountServant(const char* owner) : owner_(owner) {}

    char* owner() override { return CORBA::string_dup(owner_.c_str()); }
    CORBA::Long balance() override { return 0; } // of those that lose every deposit
    void deposit(CORBA::Long) override {}

  private:
    const std::string owner_;
};

class Finder : public virtual PortableServer::ServantLocator {
  public:
    explicit Finder(Account_ptr new_ann) : new_ann_(Account::_duplicate(new_ann)) {}

    PortableServer::Servant preinvoke(const PortableServer::ObjectId& oid, PortableServer::POA_ptr,
                                      const char*, Cookie& the_cookie) override
    {
        const CORBA::String_var name = PortableServer::ObjectId_to_string(oid);
        if (std::string(name) == "ann") throw PortableServer::ForwardRequest(new_ann_);
        auto servant = std::make_unique<AccountServant>(name);
        the_cookie = servant.get();
        return servant.release();
    }
    void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*,
                    Cookie the_cookie, PortableServer::Servant) override
    {
        static_cast<AccountServant*>(the_cookie)->_remove_ref();
    }

  private:
    const Account_var new_ann_;
};

} // namespace

int main(int argc, char** argv)
{
    return run_bank(argc, argv, [](auto, auto root, auto manager) {
        const auto policies = PolicyMaker(root).user_ids().not_retained().served_by(
            PortableServer::USE_SERVANT_MANAGER);
        const PortableServer::POA_var accounts =
            root->create_POA("accounts", manager, policies.list());
        const PortableServer::Servant_var<AccountServant> elsewhere =
            new AccountServant("ann, who has moved,");
        const Account_var new_ann = elsewhere->_this();
        const PortableServer::ServantLocator_var finder = new Finder(new_ann);
        accounts->set_servant_manager(finder);
        visit(accounts);
    });
}
