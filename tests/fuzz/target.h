// SPDX-License-Identifier: Apache-2.0
//
// A server for whatever comes: an object with an operation for each kind of type (requests.idl),
// whose key is "fuzz/target", and one that raises, "fuzz/refuses".
#pragma once

#include "requests_skel.h"
#include "tests/fuzz/link_factory.h"
#include "tests/fuzz/socketless.h"

#include <atomic>
#include <string>
#include <vector>

namespace kairos::fuzz {

/// Returns what it is given.
class Servant final : public POA_Fuzz::Target {
  public:
    explicit Servant(bool refuses) : refuses_(refuses) {}

    CORBA::Long level() override { return level_; }
    void level(CORBA::Long value) override { level_ = value; }
    void ping() override
    {
        if (refuses_) throw CORBA::NO_PERMISSION(1, CORBA::COMPLETED_NO);
    }
    void note(const char*) override {}
    CORBA::Long numbers(CORBA::Short a, CORBA::LongLong b, CORBA::Double& c, CORBA::Boolean d,
                        CORBA::Char e) override
    {
        c = -c;
        return static_cast<CORBA::Long>(a ^ static_cast<CORBA::Short>(b)) + (d ? e : 0);
    }
    void texts(const char* a, const CORBA::WChar* b, CORBA::String_out c,
               CORBA::WString_out d) override
    {
        c = CORBA::string_dup(a);
        d = CORBA::wstring_dup(b);
    }
    Fuzz::Octets* give_octets(const Fuzz::Octets& values) override { return copy_of(values); }
    Fuzz::Points* give_points(const Fuzz::Points& values) override { return copy_of(values); }
    Fuzz::Strings* give_strings(const Fuzz::Strings& values) override { return copy_of(values); }
    Fuzz::WideStrings* give_wide(const Fuzz::WideStrings& values) override
    {
        return copy_of(values);
    }
    Fuzz::Records* give_records(const Fuzz::Records& values) override { return copy_of(values); }
    Fuzz::Nodes* give_nodes(const Fuzz::Nodes& values) override { return copy_of(values); }
    Fuzz::Choices* give_choices(const Fuzz::Choices& values) override { return copy_of(values); }
    Fuzz::Anys* give_anys(const Fuzz::Anys& values) override { return copy_of(values); }
    Fuzz::Objects* give_objects(const Fuzz::Objects& values) override { return copy_of(values); }
    Fuzz::Links* give_links(const Fuzz::Links& values) override { return copy_of(values); }
    Fuzz::Text* give_boxed(Fuzz::Text* value) override
    {
        CORBA::add_ref(value);
        return value;
    }
    Fuzz::TypeCodes* give_types(const Fuzz::TypeCodes& values) override { return copy_of(values); }
    Fuzz::Matrix_slice* give_matrix(const Fuzz::Matrix values, Fuzz::Colour) override
    {
        return Fuzz::Matrix_dup(values);
    }
    Fuzz::Money give_money(const Fuzz::Money& value) override { return value; }
    CORBA::Any* refuse(const CORBA::Any& value) override
    {
        if (refuses_) throw Fuzz::Refused("asked to", 1);
        return copy_of(value);
    }

  private:
    template <typename T>
    static T* copy_of(const T& values)
    {
        return new T(values);
    }

    const bool refuses_;
    std::atomic<CORBA::Long> level_ = 0;
};

/// An ORB with these options beside those that its keys need, and both objects.
class Target {
  public:
    explicit Target(std::vector<std::string> options) : orb_(make_orb(with_plain_keys(options)))
    {
        add_link_factory(orb_.in());
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
        CORBA::PolicyList policies(2);
        policies.length(2);
        policies[0] = root->create_lifespan_policy(PortableServer::PERSISTENT);
        policies[1] = root->create_id_assignment_policy(PortableServer::USER_ID);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        const PortableServer::POA_var poa = root->create_POA("fuzz", manager.in(), policies);
        for (auto& [name, servant] : {std::pair{"target", &servant_}, {"refuses", &refuses_}}) {
            const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
            poa->activate_object_with_id(id.in(), servant);
            if (servant == &servant_) object_ = poa->id_to_reference(id.in());
        }
        manager->activate();
    }
    ~Target() { orb_->destroy(); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_.in(); }
    [[nodiscard]] CORBA::Object_ptr object() { return object_.in(); } ///< "fuzz/target"
    [[nodiscard]] orb::Orb& core() { return orb_->_kairos_core(); }

  private:
    static std::vector<std::string> with_plain_keys(std::vector<std::string> options)
    {
        options.insert(options.end(), {"-ORBPlainKeys", "1"});
        return options;
    }

    Servant servant_{false};
    Servant refuses_{true};
    CORBA::ORB_var orb_;
    CORBA::Object_var object_;
};

} // namespace kairos::fuzz
