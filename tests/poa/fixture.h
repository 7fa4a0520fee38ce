// SPDX-License-Identifier: Apache-2.0
//
// What the tests of object adapters share: an ORB that serves, and clients of its objects that are
// in the same ORB, or in another and reach them over TCP. Both see the same.
#pragma once

#include "tests/malformed/fixture.h"

#include <map>

namespace kairos::poa_testing {

using orb_testing::Client;
using orb_testing::Event;
using orb_testing::make_orb;
using orb_testing::outcome;
using orb_testing::Servant;

inline constexpr const char* inactive = "OBJ_ADAPTER 0x4f4d0001 NO";
inline constexpr const char* no_default_servant = "OBJ_ADAPTER 0x4f4d0003 NO";
inline constexpr const char* no_servant_manager = "OBJ_ADAPTER 0x4f4d0004 NO";
inline constexpr const char* wrong_servant = "OBJ_ADAPTER 0x4f4d0005 NO";
inline constexpr const char* null_servant = "OBJ_ADAPTER 0x4f4d0007 NO";
inline constexpr const char* no_object = "OBJECT_NOT_EXIST 0x4f4d0001 NO";
inline constexpr const char* no_adapter = "OBJECT_NOT_EXIST 0x4f4d0002 NO";
inline constexpr const char* discarded = "TRANSIENT 0x4f4d0001 NO";
inline constexpr const char* being_destroyed = "TRANSIENT 0x4f4d0004 NO";
inline constexpr const char* bad_id = "BAD_PARAM 0x4f4d000e NO";
inline constexpr const char* would_deadlock = "BAD_INV_ORDER 0x4f4d0003 NO";
inline constexpr const char* set_already = "BAD_INV_ORDER 0x4f4d0006 NO";
inline constexpr const char* destroying = "BAD_INV_ORDER 0x4f4d0011 NO";

inline constexpr const char* target_id = "IDL:Probe/Target:1.0";

/// Where the client is, and how it calls if it is in the same ORB.
enum class From { same_orb, same_orb_direct, same_orb_marshalled, other_orb };

inline constexpr From everywhere[] = {From::same_orb, From::same_orb_direct,
                                      From::same_orb_marshalled, From::other_orb};

[[nodiscard]] inline const char* collocation_of(From from)
{
    return from == From::same_orb_direct       ? "direct"
           : from == From::same_orb_marshalled ? "no"
                                               : "through-poa";
}

/// An ORB that serves, and another that calls.
class World {
  public:
    explicit World(From from, std::vector<std::string> options = {}) : from_(from)
    {
        options.insert(options.end(),
                       {"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1:0",
                        "-ORBCollocation", collocation_of(from)});
        orb_ = make_orb(std::move(options));
        root_ = root_poa();
        const PortableServer::POAManager_var manager = root_->the_POAManager();
        manager->activate();
        client_ = make_orb({"-ORBDebug", "0"});
        thread_ = std::thread([this] { run(); });
    }
    ~World()
    {
        client_->destroy();
        try {
            orb_->shutdown(true);
        } catch (const CORBA::BAD_INV_ORDER&) { // it was shut down
        }
        thread_.join();
        orb_->destroy();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] PortableServer::POA_ptr root() { return root_; }
    [[nodiscard]] PortableServer::POA_ptr root_poa()
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        return PortableServer::POA::_narrow(object);
    }
    [[nodiscard]] PortableServer::POAManager_var manager() { return root_->the_POAManager(); }

    /// A child of the root, with the root's manager.
    [[nodiscard]] PortableServer::POA_var poa(const char* name, const CORBA::PolicyList& policies)
    {
        const PortableServer::POAManager_var manager = root_->the_POAManager();
        return root_->create_POA(name, manager, policies);
    }
    /// As the client has it. Owned by the caller.
    [[nodiscard]] Probe::Target_var seen(CORBA::Object_ptr object)
    {
        if (from_ != From::other_orb) return Probe::Target::_unchecked_narrow(object);
        const CORBA::String_var text = orb_->object_to_string(object);
        const CORBA::Object_var there = client_->string_to_object(text);
        return Probe::Target::_unchecked_narrow(there);
    }
    /// What a ping ends with.
    [[nodiscard]] std::string ping(CORBA::Object_ptr object)
    {
        const Probe::Target_var target = seen(object);
        return outcome([&] { target->ping(); });
    }

  private:
    void run()
    {
        try {
            orb_->run();
        } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
        }
    }

    const From from_;
    CORBA::ORB_var orb_;
    CORBA::ORB_var client_;
    PortableServer::POA_var root_;
    std::thread thread_;
};

/// Policies by their values, as create_POA wants them.
class Policies {
  public:
    explicit Policies(PortableServer::POA_ptr poa) : poa_(poa) {}

    Policies& operator<<(PortableServer::ThreadPolicyValue value)
    {
        return add(poa_->create_thread_policy(value));
    }
    Policies& operator<<(PortableServer::LifespanPolicyValue value)
    {
        return add(poa_->create_lifespan_policy(value));
    }
    Policies& operator<<(PortableServer::IdUniquenessPolicyValue value)
    {
        return add(poa_->create_id_uniqueness_policy(value));
    }
    Policies& operator<<(PortableServer::IdAssignmentPolicyValue value)
    {
        return add(poa_->create_id_assignment_policy(value));
    }
    Policies& operator<<(PortableServer::ImplicitActivationPolicyValue value)
    {
        return add(poa_->create_implicit_activation_policy(value));
    }
    Policies& operator<<(PortableServer::ServantRetentionPolicyValue value)
    {
        return add(poa_->create_servant_retention_policy(value));
    }
    Policies& operator<<(PortableServer::RequestProcessingPolicyValue value)
    {
        return add(poa_->create_request_processing_policy(value));
    }
    Policies& add(CORBA::Policy_ptr policy)
    {
        list_.length(list_.length() + 1);
        list_[list_.length() - 1] = policy;
        return *this;
    }
    operator const CORBA::PolicyList&() const { return list_; }
    [[nodiscard]] const CORBA::PolicyList& list() const { return list_; }

  private:
    PortableServer::POA_ptr poa_;
    CORBA::PolicyList list_;
};

[[nodiscard]] inline std::string text_of(const PortableServer::ObjectId& id)
{
    return {reinterpret_cast<const char*>(id.get_buffer()), id.length()};
}
[[nodiscard]] inline PortableServer::ObjectId id_of(const std::string& text)
{
    PortableServer::ObjectId id;
    id.length(static_cast<CORBA::ULong>(text.size()));
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(id.get_buffer()));
    return id;
}

/// A servant that says when it is gone.
class Mortal : public Servant {
  public:
    explicit Mortal(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
    ~Mortal() override { --alive_; }

  private:
    std::atomic<int>& alive_;
};

class Everywhere : public testing::TestWithParam<From> {};

[[nodiscard]] inline std::string place_name(const testing::TestParamInfo<From>& parameter)
{
    constexpr const char* names[] = {"collocated", "direct", "marshalled", "remote"};
    return names[static_cast<std::size_t>(parameter.param)];
}

} // namespace kairos::poa_testing

#define KAIROS_EVERYWHERE(suite)                                                                   \
    INSTANTIATE_TEST_SUITE_P(Clients, suite,                                                       \
                             ::testing::ValuesIn(::kairos::poa_testing::everywhere),               \
                             ::kairos::poa_testing::place_name)
