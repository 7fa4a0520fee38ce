// SPDX-License-Identifier: Apache-2.0
//
// A server of any architecture that is sent datagrams, and its servant, which tells what came.
#pragma once

#include "kairos/datagrams/datagrams.h"
#include "tests/malformed/fixture.h"

#include "sensor_skel.h"

namespace kairos::orb_testing {

/// Counts what comes, and waits for it.
class ListenerServant final : public POA_Sensors::Listener {
  public:
    void measured(CORBA::ULong number, const Sensors::Samples& data) override
    {
        note("measured " + std::to_string(number) + " of " + std::to_string(data.length()));
    }
    void said(const char* text) override
    {
        note(std::string("said ") + text);
        if (text == std::string_view("wait")) EXPECT_TRUE(may_go.wait());
    }
    CORBA::ULong heard() override
    {
        const std::lock_guard lock(mutex_);
        return static_cast<CORBA::ULong>(lines_.size());
    }

    Event may_go;

    [[nodiscard]] bool wait_for(const std::string& line)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience,
                                 [&] { return std::ranges::count(lines_, line) != 0; });
    }
    [[nodiscard]] bool wait_for_count(const std::string& line, std::ptrdiff_t times)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience,
                                 [&] { return std::ranges::count(lines_, line) == times; });
    }
    [[nodiscard]] std::size_t count(const std::string& line)
    {
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(std::ranges::count(lines_, line));
    }

  private:
    void note(std::string line)
    {
        const std::lock_guard lock(mutex_);
        lines_.push_back(std::move(line));
        changed_.notify_all();
    }

    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::vector<std::string> lines_;
};

/// An ORB that serves one of them.
class ListenerServer {
  public:
    explicit ListenerServer(const std::string& architecture, std::vector<std::string> options,
                            bool activates = true)
    {
        std::ranges::move(options_of_architecture(architecture), std::back_inserter(options));
        orb_ = make_orb(std::move(options));
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object);
        id_ = poa_->activate_object(servant_);
        const CORBA::Object_var reference = poa_->id_to_reference(id_);
        reference_ = CORBA::String_var(orb_->object_to_string(reference)).in();
        manager_ = poa_->the_POAManager();
        if (activates) manager_->activate();
        thread_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // the test is over already
            }
        });
    }
    ~ListenerServer()
    {
        orb_->shutdown(true);
        thread_.join();
        orb_->destroy();
    }
    ListenerServer(const ListenerServer&) = delete;
    ListenerServer& operator=(const ListenerServer&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] PortableServer::POA_ptr poa() { return poa_; }
    [[nodiscard]] PortableServer::POAManager_ptr manager() { return manager_; }
    [[nodiscard]] const PortableServer::ObjectId& id() { return id_.in(); }
    [[nodiscard]] ListenerServant& servant() { return *servant_; }
    [[nodiscard]] const std::string& reference() const { return reference_; }

  private:
    PortableServer::Servant_var<ListenerServant> servant_ = new ListenerServant;
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    PortableServer::ObjectId_var id_;
    PortableServer::POAManager_var manager_;
    std::string reference_;
    std::thread thread_;
};

/// An ORB of a client, and what it calls.
class ListenerClient {
  public:
    explicit ListenerClient(std::vector<std::string> options = {})
        : orb_(make_orb(std::move(options)))
    {
    }
    ~ListenerClient() { orb_->destroy(); }
    ListenerClient(const ListenerClient&) = delete;
    ListenerClient& operator=(const ListenerClient&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] Sensors::Listener_ptr target(const std::string& reference)
    {
        const CORBA::Object_var object = orb_->string_to_object(reference.c_str());
        return Sensors::Listener::_unchecked_narrow(object);
    }
    /// The same, by datagrams.
    [[nodiscard]] Sensors::Listener_ptr oneways(const std::string& reference)
    {
        const CORBA::Object_var object = orb_->string_to_object(reference.c_str());
        const CORBA::Object_var there = datagrams::oneways(object);
        return Sensors::Listener::_unchecked_narrow(there);
    }

  private:
    CORBA::ORB_var orb_;
};

} // namespace kairos::orb_testing
