// SPDX-License-Identifier: Apache-2.0
//
// A server that calls back, and its client, for either ORB: `server` writes its reference; `client
// REFERENCE` writes a line for each check. What the client's objects are reached by is for the
// options of its ORB.
#ifdef PEER_OMNIORB
#include "both.hh"
#else
#include "both_skel.h"
#include "kairos/corba/BiDirPolicy.h"
#include "kairos/corba/CORBA.h"
#endif

#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

PortableServer::POA_ptr make_poa(CORBA::ORB_ptr orb, CORBA::Policy_ptr policy)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = root->the_POAManager();
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = CORBA::Policy::_duplicate(policy);
    const PortableServer::POA_var poa = root->create_POA("both", manager.in(), policies);
    manager->activate();
    return PortableServer::POA::_duplicate(poa.in());
}

CORBA::Policy_ptr both_ways(CORBA::ORB_ptr orb)
{
    CORBA::Any value;
    value <<= BiDirPolicy::BOTH;
    return orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, value);
}

CORBA::Object_ptr activate(PortableServer::POA_ptr poa, PortableServer::Servant servant)
{
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    return poa->id_to_reference(id.in());
}

class HubServant : public POA_Both::Hub {
  public:
    explicit HubServant(PortableServer::POA_ptr poa) : poa_(PortableServer::POA::_duplicate(poa)) {}
    ~HubServant() override
    {
        for (std::thread& thread : threads_)
            thread.join();
    }
    void attach(Both::Callback_ptr target) override
    {
        // Later, by a thread that has nothing to do with the call.
        Both::Callback_var later = Both::Callback::_duplicate(target);
        const std::lock_guard<std::mutex> lock(mutex_);
        threads_.emplace_back([later] { later->note(later->twice(4)); });
    }
    CORBA::Long twice(Both::Callback_ptr target, CORBA::Long value) override
    {
        return target->twice(value);
    }
    Both::Octets* mirror(Both::Callback_ptr target, const Both::Octets& octets) override
    {
        return target->mirror(octets);
    }
    CORBA::Long bounce(Both::Callback_ptr target, CORBA::Long depth) override
    {
        const CORBA::Object_var self = poa_->servant_to_reference(this);
        const Both::Hub_var hub = Both::Hub::_narrow(self.in());
        return target->bounce(hub.in(), depth);
    }
    void linger(Both::Callback_ptr target) override { target->linger(); }
    void note(Both::Callback_ptr target, CORBA::Long value) override { target->note(value); }
    void ping() override {}

  private:
    const PortableServer::POA_var poa_;
    std::mutex mutex_; // guards threads_
    std::vector<std::thread> threads_;
};

class CallbackServant : public POA_Both::Callback {
  public:
    explicit CallbackServant(PortableServer::POA_ptr poa)
        : poa_(PortableServer::POA::_duplicate(poa))
    {
    }
    CORBA::Long twice(CORBA::Long value) override { return 2 * value; }
    void note(CORBA::Long value) override
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        noted_ = value;
        changed_.notify_all();
    }
    Both::Octets* mirror(const Both::Octets& octets) override { return new Both::Octets(octets); }
    CORBA::Long bounce(Both::Hub_ptr hub, CORBA::Long depth) override
    {
        if (depth == 0) return 1;
        const CORBA::Object_var object = poa_->servant_to_reference(this);
        const Both::Callback_var self = Both::Callback::_narrow(object.in());
        return 1 + hub->bounce(self.in(), depth - 1);
    }
    void linger() override {}
    bool wait_for_note(CORBA::Long value)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return noted_ == value; });
    }

  private:
    const PortableServer::POA_var poa_;
    std::mutex mutex_; // guards noted_
    std::condition_variable changed_;
    CORBA::Long noted_ = 0;
};

void check(bool held, const char* what)
{
    std::cout << (held ? "ok " : "FAILED ") << what << std::endl;
}

template <typename Call>
void check_call(const char* what, Call call)
try {
    check(call(), what);
} catch (const CORBA::Exception& exception) {
    std::cout << "FAILED " << what << ": " << exception._name() << std::endl;
}

void be_client(CORBA::ORB_ptr orb, const char* reference)
{
    const CORBA::Policy_var policy = both_ways(orb);
    const PortableServer::POA_var poa = make_poa(orb, policy.in());
    auto* const servant = new CallbackServant(poa.in());
    const PortableServer::ServantBase_var owner(servant);
    const CORBA::Object_var own = activate(poa.in(), servant);
    const Both::Callback_var callback = Both::Callback::_narrow(own.in());
#ifndef PEER_OMNIORB // which offers by its options
    const CORBA::Object_var manager = orb->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var of_orb = CORBA::PolicyManager::_narrow(manager.in());
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = CORBA::Policy::_duplicate(policy.in());
    of_orb->set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
#endif
    const CORBA::Object_var object = orb->string_to_object(reference);
    const Both::Hub_var hub = Both::Hub::_narrow(object.in());
    check_call("within the call", [&] { return hub->twice(callback.in(), 21) == 42; });
    check_call("nested", [&] { return hub->bounce(callback.in(), 4) == 5; });
    check_call("large", [&] {
        Both::Octets octets;
        octets.length(1 << 20);
        octets[77] = 7;
        Both::Octets_var back = hub->mirror(callback.in(), octets);
        return back->length() == octets.length() && back[77] == 7;
    });
    check_call("later", [&] {
        hub->attach(callback.in());
        return servant->wait_for_note(8);
    });
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc == 3 && std::string(argv[1]) == "client") {
        be_client(orb.in(), argv[2]);
    } else {
        const CORBA::Policy_var policy = both_ways(orb.in());
        const PortableServer::POA_var poa = make_poa(orb.in(), policy.in());
        auto* const servant = new HubServant(poa.in());
        const PortableServer::ServantBase_var owner(servant);
        const CORBA::Object_var object = activate(poa.in(), servant);
        const CORBA::String_var text = orb->object_to_string(object.in());
        std::cout << text.in() << std::endl;
        std::string line;
        std::getline(std::cin, line); // until the test ends
    }
    orb->destroy();
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << exception._name() << '\n';
    return EXIT_FAILURE;
}
