// SPDX-License-Identifier: Apache-2.0
//
// What the tests of Real-Time CORBA share: an ORB that serves, its RTORB and RootPOA, and clients
// in other ORBs. CORBA's priorities are checked always, the system's where it lets this process
// have them.
#pragma once

#include "tests/malformed/fixture.h"

#include "kairos/ior/policies.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/rtcorba/KairosRealTime.h"
#include "kairos/rtcorba/RTPortableServer.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <sched.h>

namespace kairos::rtcorba_testing {

using orb_testing::Client;
using orb_testing::Event;
using orb_testing::LogLines;
using orb_testing::make_orb;
using orb_testing::outcome;
using orb_testing::Servant;

inline constexpr const char* target_id = "IDL:Probe/Target:1.0";

/// What the system schedules the calling thread at: 0 is not in real time.
[[nodiscard]] inline int native_priority()
{
    int policy = SCHED_OTHER;
    sched_param parameters{};
    ::pthread_getschedparam(::pthread_self(), &policy, &parameters);
    return policy == SCHED_OTHER ? 0 : parameters.sched_priority;
}

/// As what: SCHED_FIFO, SCHED_RR or, not in real time, another.
[[nodiscard]] inline int native_policy()
{
    int policy = -1;
    sched_param parameters{};
    ::pthread_getschedparam(::pthread_self(), &policy, &parameters);
    return policy;
}

[[nodiscard]] inline bool real_time_is_allowed()
{
    static const bool allowed = [] {
        return net::Thread::start({.name = "try",
                                   .cpu = {},
                                   .scheduling = net::Scheduling{net::SchedulingPolicy::fifo, 1}},
                                  [] {})
            .ok();
    }();
    return allowed;
}

/// What the ORB's own mapping says, if the process may have it.
[[nodiscard]] inline int native_of(RTCORBA::Priority priority)
{
    int native = -1;
    EXPECT_TRUE(orb::LinearPriorityMapping().to_native(priority, native));
    return real_time_is_allowed() ? native : 0;
}

/// The initial reference of this name, narrowed to a T.
template <typename T>
[[nodiscard]] T* initial(CORBA::ORB_ptr orb, const char* name)
{
    const CORBA::Object_var object = orb->resolve_initial_references(name);
    T* narrowed = T::_narrow(object.in());
    EXPECT_FALSE(CORBA::is_nil(narrowed)) << name;
    return narrowed;
}

/// What this object is beyond the type that the OMG knows.
template <typename T>
[[nodiscard]] typename T::_var_type narrowed(CORBA::Object_ptr object)
{
    typename T::_var_type found = T::_narrow(object);
    EXPECT_FALSE(CORBA::is_nil(found.in()));
    return found;
}

/// A list of policies, which it takes over.
[[nodiscard]] inline CORBA::PolicyList list_of(std::initializer_list<CORBA::Policy_ptr> policies)
{
    CORBA::PolicyList list;
    for (CORBA::Policy_ptr policy : policies) {
        list.length(list.length() + 1);
        list[list.length() - 1] = policy;
    }
    return list;
}

[[nodiscard]] inline RTCORBA::PriorityBands
bands_of(std::initializer_list<RTCORBA::PriorityBand> bands)
{
    RTCORBA::PriorityBands list;
    for (const RTCORBA::PriorityBand& band : bands) {
        list.length(list.length() + 1);
        list[list.length() - 1] = band;
    }
    return list;
}

[[nodiscard]] inline PortableServer::ObjectId id_of(const char* text)
{
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(text);
    return id.in();
}

[[nodiscard]] inline std::string text_of(const PortableServer::ObjectId& id)
{
    return {reinterpret_cast<const char*>(id.get_buffer()), id.length()};
}

/// What a reference says of its object's policies.
[[nodiscard]] inline ior::ExposedPolicies exposed(CORBA::Object_ptr object)
{
    const auto targets = ior::targets(object->_kairos_reference()->ior());
    const auto* component = ior::find(targets.front().profile->components, ior::tag_policies);
    if (component == nullptr) return {};
    return ior::decode_policies(*component).value_or(ior::ExposedPolicies{});
}

/// In a thread of its own, whose priority is nobody else's.
inline void in_thread(const std::function<void()>& work) { std::thread(work).join(); }

/// An ORB that serves, and another that calls.
class World {
  public:
    /// `prepare` is called before there is a RootPOA.
    explicit World(std::vector<std::string> options = {},
                   const std::function<void(World&)>& prepare = {})
    {
        if (std::ranges::find(options, "-ORBListenEndpoints") == options.end())
            options.insert(options.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        if (std::ranges::find(options, "-ORBDebug") == options.end())
            options.insert(options.end(), {"-ORBDebug", "0"});
        orb_ = make_orb(std::move(options));
        rtorb_ = initial<RTCORBA::RTORB>(orb_, "RTORB");
        current_ = initial<RTCORBA::Current>(orb_, "RTCurrent");
        if (prepare) prepare(*this);
        root_ = initial<RTPortableServer::POA>(orb_, "RootPOA");
    }
    ~World()
    {
        client_.orb()->destroy();
        orb_->destroy();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] CORBA::ORB_ptr client_orb() { return client_.orb(); }
    [[nodiscard]] RTCORBA::RTORB_ptr rtorb() { return rtorb_; }
    [[nodiscard]] RTCORBA::Current_ptr current() { return current_; }
    [[nodiscard]] RTPortableServer::POA_ptr root() { return root_; }

    /// A child of the root with these policies, which it takes over, and the root's manager.
    [[nodiscard]] RTPortableServer::POA_ptr
    make_poa(const char* name, std::initializer_list<CORBA::Policy_ptr> policies)
    {
        const PortableServer::POAManager_var manager = root_->the_POAManager();
        const PortableServer::POA_var poa = root_->create_POA(name, manager, list_of(policies));
        return RTPortableServer::POA::_narrow(poa);
    }
    void activate()
    {
        const PortableServer::POAManager_var manager = root_->the_POAManager();
        manager->activate();
    }
    /// The same object, for the client's ORB.
    [[nodiscard]] Probe::Target_ptr to_client(CORBA::Object_ptr object)
    {
        const CORBA::String_var text = orb_->object_to_string(object);
        return client_.target(text.in());
    }
    [[nodiscard]] Probe::Target_ptr to_client(RTPortableServer::POA_ptr poa,
                                              const PortableServer::ObjectId& id)
    {
        const CORBA::Object_var object = poa->id_to_reference(id);
        return to_client(object);
    }
    /// What the ORB has from now on besides what it has already; takes them over.
    void give_orb(std::initializer_list<CORBA::Policy_ptr> policies)
    {
        const CORBA::PolicyManager_var manager =
            initial<CORBA::PolicyManager>(orb_, "ORBPolicyManager");
        manager->set_policy_overrides(list_of(policies), CORBA::ADD_OVERRIDE);
    }
    [[nodiscard]] RTCORBA::PriorityModelPolicy_ptr server_declared(RTCORBA::Priority priority)
    {
        return rtorb_->create_priority_model_policy(RTCORBA::SERVER_DECLARED, priority);
    }
    [[nodiscard]] RTCORBA::PriorityModelPolicy_ptr client_propagated(RTCORBA::Priority priority)
    {
        return rtorb_->create_priority_model_policy(RTCORBA::CLIENT_PROPAGATED, priority);
    }

    /// One that outlives the ORB.
    [[nodiscard]] Servant& make_servant() { return servants_.emplace_back(); }

  private:
    std::deque<Servant> servants_;
    CORBA::ORB_var orb_;
    RTCORBA::RTORB_var rtorb_;
    RTCORBA::Current_var current_;
    RTPortableServer::POA_var root_;
    Client client_{{"-ORBDebug", "0"}};
};

/// Remembers at which priorities it was called.
class Listener {
  public:
    explicit Listener(World& world) : servant(world.make_servant()), world_(world)
    {
        servant.action = [this] {
            priority = world_.current()->the_priority();
            native = native_priority();
        };
    }
    Servant& servant;
    std::atomic<RTCORBA::Priority> priority{-1};
    std::atomic<int> native{-1};

  private:
    World& world_;
};

/// Knows 10 to 19 only, which are native 1 to 10.
class Ten final : public RTCORBA::PriorityMapping {
  public:
    CORBA::Boolean to_native(RTCORBA::Priority priority, RTCORBA::NativePriority& native) override
    {
        native = static_cast<RTCORBA::NativePriority>(priority - 9);
        return priority >= 10 && priority < 20;
    }
    CORBA::Boolean to_CORBA(RTCORBA::NativePriority native, RTCORBA::Priority& priority) override
    {
        priority = static_cast<RTCORBA::Priority>(native + 9);
        return native >= 1 && native <= 10;
    }
};

} // namespace kairos::rtcorba_testing
