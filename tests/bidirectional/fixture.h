// SPDX-License-Identifier: Apache-2.0
//
// A server that calls back, and clients of it that listen nowhere: what reaches them has come over
// their own connections.
#pragma once

#include "kairos/corba/BiDirPolicy.h"
#include "tests/malformed/fixture.h"

#include "both_skel.h"

namespace kairos::orb_testing {

[[nodiscard]] inline CORBA::Policy_ptr bidirectional_policy(CORBA::ORB_ptr orb, CORBA::UShort value)
{
    CORBA::Any any;
    any <<= value;
    return orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, any);
}

class CallbackServant final : public POA_Both::Callback {
  public:
    std::atomic<int> calls{0};
    std::atomic<int> noted{0};
    Event first_note;
    Event lingers;
    Event may_go;

    explicit CallbackServant(std::function<Both::Callback_ptr()> self) : self_(std::move(self)) {}

    CORBA::Long twice(CORBA::Long value) override
    {
        ++calls;
        return 2 * value;
    }
    void note(CORBA::Long value) override
    {
        noted += value;
        first_note.set();
    }
    Both::Octets* mirror(const Both::Octets& octets) override
    {
        ++calls;
        return new Both::Octets(octets);
    }
    CORBA::Long bounce(Both::Hub_ptr hub, CORBA::Long depth) override
    {
        ++calls;
        if (depth == 0) return 1;
        const Both::Callback_var self = self_();
        return 1 + hub->bounce(self.in(), depth - 1);
    }
    void linger() override
    {
        lingers.set();
        (void)may_go.wait();
    }

  private:
    const std::function<Both::Callback_ptr()> self_;
};

class HubServant final : public POA_Both::Hub {
  public:
    void attach(Both::Callback_ptr target) override
    {
        const std::lock_guard lock(mutex_);
        attached_.push_back(Both::Callback::_duplicate(target));
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
        const Both::Hub_var self = _this();
        return target->bounce(self.in(), depth);
    }
    void linger(Both::Callback_ptr target) override { target->linger(); }
    void note(Both::Callback_ptr target, CORBA::Long value) override { target->note(value); }
    void ping() override {}
    PortableServer::POA_ptr _default_POA() override { return PortableServer::POA::_duplicate(poa); }

    PortableServer::POA_var poa;

    [[nodiscard]] Both::Callback_var attached(std::size_t index = 0)
    {
        const std::lock_guard lock(mutex_);
        return attached_.at(index);
    }

  private:
    std::mutex mutex_; // guards attached_
    std::vector<Both::Callback_var> attached_;
};

/// An ORB with an adapter of this policy and, if need be, a thread in ORB::run.
class Party {
  public:
    explicit Party(std::vector<std::string> options, CORBA::UShort policy = BiDirPolicy::BOTH,
                   bool runs = true)
        : orb_(make_orb(std::move(options)))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        CORBA::PolicyList policies(2);
        policies.length(2);
        policies[0] = bidirectional_policy(orb_, policy);
        policies[1] = root->create_implicit_activation_policy(PortableServer::IMPLICIT_ACTIVATION);
        poa_ = root->create_POA("both", manager, policies);
        manager->activate();
        if (runs) thread_ = std::thread([this] { run(); });
    }
    ~Party()
    {
        shutdown();
        orb_->destroy();
    }
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;

    void shutdown()
    {
        try {
            orb_->shutdown(true);
        } catch (const CORBA::BAD_INV_ORDER&) { // it was shut down
        }
        if (thread_.joinable()) thread_.join();
    }
    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] PortableServer::POA_ptr poa() { return poa_; }
    [[nodiscard]] CORBA::Object_ptr activate(PortableServer::Servant servant)
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        return poa_->id_to_reference(id);
    }

  private:
    void run()
    {
        try {
            orb_->run();
        } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
        }
    }

    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    std::thread thread_;
};

class HubServer {
  public:
    explicit HubServer(std::vector<std::string> options, CORBA::UShort policy = BiDirPolicy::BOTH)
        : party_(std::move(options), policy)
    {
        hub_.poa = PortableServer::POA::_duplicate(party_.poa());
        const CORBA::Object_var object = party_.activate(&hub_);
        const CORBA::String_var text = party_.orb()->object_to_string(object);
        reference_ = text.in();
        const auto& core = *object->_kairos_reference();
        key_.assign(core.object_key().begin(), core.object_key().end());
        port_ = core.targets().front().endpoint->port();
    }

    [[nodiscard]] const std::string& reference() const { return reference_; }
    [[nodiscard]] HubServant& hub() { return hub_; }
    [[nodiscard]] Party& party() { return party_; }
    [[nodiscard]] const Octets& key() const { return key_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }

  private:
    HubServant hub_; // outlives its ORB
    Party party_;
    std::string reference_;
    Octets key_;
    std::uint16_t port_ = 0;
};

/// A client that listens nowhere, unless its options say otherwise.
class CallbackClient {
  public:
    CallbackClient(const std::string& hub, std::vector<std::string> options, bool runs = true,
                   CORBA::UShort policy = BiDirPolicy::BOTH)
        : servant_([this] { return Both::Callback::_duplicate(callback_); }),
          party_(std::move(options), BiDirPolicy::BOTH, runs)
    {
        const CORBA::Object_var callback = party_.activate(&servant_);
        callback_ = Both::Callback::_narrow(callback);
        CORBA::PolicyList policies(1);
        policies.length(1);
        policies[0] = bidirectional_policy(party_.orb(), policy);
        const CORBA::Object_var object = party_.orb()->string_to_object(hub.c_str());
        const CORBA::Object_var offering =
            object->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
        hub_ = Both::Hub::_unchecked_narrow(offering);
    }

    [[nodiscard]] Both::Hub_ptr hub() { return hub_; }
    [[nodiscard]] Both::Callback_ptr callback() { return callback_; }
    [[nodiscard]] CallbackServant& servant() { return servant_; }
    [[nodiscard]] Party& party() { return party_; }

  private:
    CallbackServant servant_;
    Party party_;
    Both::Callback_var callback_;
    Both::Hub_var hub_;
};

} // namespace kairos::orb_testing
