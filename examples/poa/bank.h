// SPDX-License-Identifier: Apache-2.0
//
// What the examples share: a server with one POA, which calls two of its accounts itself and says
// what they answer. A program of its own would print their references instead and call orb->run().
#pragma once

#include "account_skel.h"

#include <kairos/corba/CORBA.h>

#include <iostream>
#include <string>

/// Policies for create_POA.
class PolicyMaker {
  public:
    explicit PolicyMaker(PortableServer::POA_ptr root) : root_(root) {}

    PolicyMaker& user_ids()
    {
        return add(root_->create_id_assignment_policy(PortableServer::USER_ID));
    }
    PolicyMaker& persistent()
    {
        return add(root_->create_lifespan_policy(PortableServer::PERSISTENT));
    }
    PolicyMaker& many_objects_a_servant()
    {
        return add(root_->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID));
    }
    PolicyMaker& not_retained()
    {
        return add(root_->create_servant_retention_policy(PortableServer::NON_RETAIN));
    }
    PolicyMaker& served_by(PortableServer::RequestProcessingPolicyValue value)
    {
        return add(root_->create_request_processing_policy(value));
    }
    [[nodiscard]] const CORBA::PolicyList& list() const { return list_; }

  private:
    PolicyMaker& add(CORBA::Policy_ptr policy)
    {
        list_.length(list_.length() + 1);
        list_[list_.length() - 1] = policy;
        return *this;
    }

    PortableServer::POA_ptr root_;
    CORBA::PolicyList list_;
};

/// Calls the accounts "ann" and "bob" of the POA.
inline void visit(PortableServer::POA_ptr poa)
{
    for (const char* name : {"ann", "bob"}) {
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
        const CORBA::Object_var object = poa->create_reference_with_id(id, Account::_kairos_id);
        const Account_var account = Account::_narrow(object);
        account->deposit(10);
        const CORBA::String_var owner = account->owner();
        std::cout << owner << " has " << account->balance() << '\n';
    }
}

/// Makes an ORB and its RootPOA, has `serve` do its work, and ends the ORB in order.
template <typename Serve>
int run_bank(int argc, char** argv, Serve serve)
{
    try {
        const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        serve(orb.in(), root.in(), manager.in());
        orb->destroy();
        return 0;
    } catch (const CORBA::Exception& exception) {
        std::cerr << exception.what() << '\n';
        return 1;
    }
}
