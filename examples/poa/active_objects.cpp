// SPDX-License-Identifier: Apache-2.0
//
// USE_ACTIVE_OBJECT_MAP_ONLY: the server activates each object with a servant of its own. The
// objects are persistent: with -ORBListenEndpoints their references are valid in every run.
#include "bank.h"

namespace {

class AccountServant : public POA_Account {
  public:
    explicit AccountServant(std::string owner) : owner_(std::move(owner)) {}

    char* owner() override { return CORBA::string_dup(owner_.c_str()); }
    CORBA::Long balance() override { return balance_; }
    void deposit(CORBA::Long amount) override { balance_ += amount; }

  private:
    const std::string owner_;
    CORBA::Long balance_ = 0;
};

} // namespace

int main(int argc, char** argv)
{
    return run_bank(argc, argv, [](auto, auto root, auto manager) {
        const auto policies = PolicyMaker(root).user_ids().persistent();
        const PortableServer::POA_var accounts =
            root->create_POA("accounts", manager, policies.list());
        for (const char* name : {"ann", "bob"}) {
            const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
            const PortableServer::Servant_var<AccountServant> servant = new AccountServant(name);
            accounts->activate_object_with_id(id, servant);
        }
        visit(accounts);
    });
}
