// SPDX-License-Identifier: Apache-2.0
//
// IOR interceptors that write down what they are told and do what the test says, and what
// references say.
#pragma once

#include "kairos/ior/profile.h"
#include "kairos/orb/reference.h"
#include "tests/interceptors/fixture.h"

#include <vector>

namespace kairos::orb_testing {

inline constexpr CORBA::ULong mine = 0x4B520200; // a component

[[nodiscard]] inline IOP::TaggedComponent component_of(CORBA::ULong tag, const std::string& text)
{
    IOP::TaggedComponent component;
    component.tag = tag;
    component.component_data.length(static_cast<CORBA::ULong>(text.size()));
    std::ranges::copy(text, component.component_data.get_buffer());
    return component;
}

/// What all profiles of a reference say under a tag: "A,B|A,B" for two profiles.
[[nodiscard]] inline std::string said(CORBA::Object_ptr object, CORBA::ULong tag = mine)
{
    std::string all;
    for (const ior::TaggedProfile& profile : object->_kairos_reference()->ior().profiles) {
        const auto decoded = ior::decode_iiop(profile.data);
        EXPECT_TRUE(decoded);
        std::string here;
        for (const ior::TaggedComponent& component : decoded->components)
            if (component.tag == tag)
                here += (here.empty() ? "" : ",") + std::string(as_text(component.data));
        all += (all.empty() ? "" : "|") + here;
    }
    return all;
}

using IorActs = std::map<std::string, std::function<void(PI::IORInfo_ptr)>>;

[[nodiscard]] inline std::string name_of(const PI::AdapterName& name)
{
    std::string text;
    for (CORBA::ULong i = 0; i < name.length(); ++i)
        text += (i == 0 ? "" : "/") + std::string(name[i].in());
    return text;
}

[[nodiscard]] inline std::string state_text(PI::AdapterState state)
{
    constexpr const char* texts[] = {"HOLDING", "ACTIVE", "DISCARDING", "INACTIVE", "NON_EXISTENT"};
    return texts[state];
}

/// One of CORBA 2, which hears of nothing but establish_components.
class OldProbe final : public PI::IORInterceptor {
  public:
    OldProbe(std::string name, Record* record, IorActs acts)
        : name_(std::move(name)), record_(record), acts_(std::move(acts))
    {
    }
    char* name() override { return CORBA::string_dup(name_.c_str()); }
    void destroy() override { record_->add(name_ + " destroy"); }
    void establish_components(PI::IORInfo_ptr info) override
    {
        record_->add(name_ + " establish");
        if (const auto act = acts_.find("establish"); act != acts_.end()) act->second(info);
    }

  private:
    const std::string name_;
    Record* const record_;
    const IorActs acts_;
};

class NewProbe final : public PI::IORInterceptor_3_0 {
  public:
    NewProbe(std::string name, Record* record, IorActs acts)
        : name_(std::move(name)), record_(record), acts_(std::move(acts))
    {
    }
    char* name() override { return CORBA::string_dup(name_.c_str()); }
    void destroy() override { record_->add(name_ + " destroy"); }
    void establish_components(PI::IORInfo_ptr info) override { note("establish", info); }
    void components_established(PI::IORInfo_ptr info) override { note("established", info); }
    void adapter_manager_state_changed(const char* id, PI::AdapterState state) override
    {
        record_->add(name_ + " " + id + " " + state_text(state));
    }
    void adapter_state_changed(const PI::ObjectReferenceTemplateSeq& templates,
                               PI::AdapterState state) override
    {
        std::string line = name_;
        for (CORBA::ULong i = 0; i < templates.length(); ++i) {
            const CORBA::StringSeq_var adapter = templates[i]->adapter_name();
            line += " " + name_of(adapter.in());
        }
        record_->add(line + " " + state_text(state));
    }

  private:
    void note(const std::string& point, PI::IORInfo_ptr info)
    {
        record_->add(name_ + " " + point);
        if (const auto act = acts_.find(point); act != acts_.end()) act->second(info);
    }

    const std::string name_;
    Record* const record_;
    const IorActs acts_;
};

template <typename Probe>
void add_ior(PI::ORBInitInfo_ptr info, const std::string& name, Record* record, IorActs acts = {})
{
    const PI::IORInterceptor_var probe = new Probe(name, record, std::move(acts));
    info->add_ior_interceptor(probe.in());
}

/// An ORB that listens and is destroyed with this.
class Server {
  public:
    explicit Server(std::vector<std::string> options = {})
    {
        options.insert(options.begin(), {"server", "-ORBListenEndpoints", "iiop://127.0.0.1"});
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        argv.push_back(nullptr);
        int argc = static_cast<int>(options.size());
        orb_ = CORBA::ORB_init(argc, argv.data(), "ior server");
    }
    ~Server() { orb_->destroy(); }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() const { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_ptr root() const
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        return PortableServer::POA::_narrow(object.in());
    }

  private:
    CORBA::ORB_var orb_;
};

[[nodiscard]] inline PortableServer::POA_ptr
child_of(PortableServer::POA_ptr parent, const char* name, const CORBA::PolicyList& policies = {})
{
    const PortableServer::POAManager_var manager = parent->the_POAManager();
    return parent->create_POA(name, manager.in(), policies);
}

[[nodiscard]] inline CORBA::PolicyList user_ids(PortableServer::POA_ptr poa,
                                                bool persistent = false)
{
    CORBA::PolicyList policies;
    policies.length(persistent ? 2 : 1);
    policies[0] = poa->create_id_assignment_policy(PortableServer::USER_ID);
    if (persistent) policies[1] = poa->create_lifespan_policy(PortableServer::PERSISTENT);
    return policies;
}

[[nodiscard]] inline PI::ObjectId id_of(const std::string& text)
{
    PI::ObjectId id;
    id.length(static_cast<CORBA::ULong>(text.size()));
    std::ranges::copy(text, id.get_buffer());
    return id;
}

[[nodiscard]] inline std::string text_of(const PortableServer::ObjectId& id)
{
    return {reinterpret_cast<const char*>(id.get_buffer()), id.length()};
}

inline constexpr const char* target_id = "IDL:Probe/Target:1.0";

} // namespace kairos::orb_testing
