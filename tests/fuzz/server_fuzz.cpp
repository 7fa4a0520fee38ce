// SPDX-License-Identifier: Apache-2.0
//
// A stream of messages through a server: requests for an object with an operation for each kind of
// type (requests.idl), LocateRequests, fragments, and whatever else. The first octet says in which
// pieces it is read. The object's key is "fuzz/target", that of an object that raises is
// "fuzz/refuses".
#include "fuzz/bounds.h"
#include "requests_skel.h"
#include "tests/fuzz/link_factory.h"
#include "tests/fuzz/socketless.h"

namespace {

using namespace kairos;

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
    CORBA::Long level_ = 0;
};

/// An ORB with both objects, for all inputs.
class Target {
  public:
    Target()
        : orb_(fuzz::make_orb({"-ORBPlainKeys", "1", "-ORBListenEndpoints", "iiop://127.0.0.1:0"}))
    {
        fuzz::add_link_factory(orb_.in());
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
        }
        manager->activate();
    }
    ~Target() { orb_->destroy(); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    [[nodiscard]] orb::Orb& core() { return orb_->_kairos_core(); }

  private:
    Servant servant_{false};
    Servant refuses_{true};
    CORBA::ORB_var orb_;
};

} // namespace

// Values that are there may take 24 octets for 4, or 40 for an any, with its type more; and what is
// returned is a copy.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 64, .octets_beside = std::size_t{256} << 10};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    static Target target;
    fuzz::SocketlessConnection connection(target.core());
    connection.serve(std::as_bytes(std::span(data, size)).subspan(1), data[0]);
    return 0;
}
