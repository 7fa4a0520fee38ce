// SPDX-License-Identifier: Apache-2.0
//
//     tao_client REFERENCE [-ORB…]
//
// Written as clients for TAO are. Says what it got, a line for each, and tells the server to end.
#include "TestC.h"
#include "tao/IORManipulation/IORManip_Loader.h"
#include "tao/Messaging/Messaging.h"
#include "tao/TAOC.h"

#include <cerrno>
#include <iostream>
#include <string>

TAO_BEGIN_VERSIONED_NAMESPACE_DECL
struct Version {};
TAO_END_VERSIONED_NAMESPACE_DECL

/// ACE's, as far as the ORB knows of it.
class Time_Value {
  public:
    explicit Time_Value(long sec) : sec_(sec), usec_(0) {}
    long sec() const { return sec_; }
    long usec() const { return usec_; }
    void set(long sec, long usec)
    {
        sec_ = sec;
        usec_ = usec;
    }

  private:
    long sec_, usec_;
};

/// Of TAO's members and constants.
static void names()
{
    const CORBA::NO_RESOURCES full(
        CORBA::SystemException::_tao_minor_code(TAO_INVOCATION_SEND_REQUEST_MINOR_CODE, ENOMEM),
        CORBA::COMPLETED_NO);
    if (full.minor() != CORBA::SystemException::_tao_minor_code(0x100, ENOMEM) ||
        1U + CORBA::SystemException::_tao_minor_code(0x100, ENOMEM) != full.minor() + 1)
        std::cout << "other minor codes" << std::endl;
    CORBA::Any any;
    any._tao_set_typecode(CORBA::_tc_string);
    CORBA::TypeCode_var type = any.type();
    Test::Point_init* factory = new Test::Point_init;
    std::cout << "minor " << full.minor() - TAO::VMCID << " kind " << type->kind() << ' '
              << factory->tao_repository_id() << std::endl;
    factory->_remove_ref();
}

static void merge(CORBA::ORB_ptr orb, CORBA::Object_ptr hello)
{
    CORBA::Object_var object = orb->resolve_initial_references("IORManipulation");
    TAO_IOP::TAO_IOR_Manipulation_var iorm = TAO_IOP::TAO_IOR_Manipulation::_narrow(object.in());
    CORBA::Object_var dead = orb->string_to_object("corbaloc:iiop:127.0.0.1:1/Hello");
    TAO_IOP::TAO_IOR_Manipulation::IORList iors(2);
    iors.length(2);
    iors[0] = CORBA::Object::_duplicate(dead.in());
    iors[1] = CORBA::Object::_duplicate(hello);
    CORBA::Object_var merged = iorm->merge_iors(iors);
    std::cout << "profiles " << iorm->get_profile_count(merged.in()) << " of which "
              << iorm->is_in_ior(merged.in(), hello) << std::endl;
    CORBA::Object_var left = iorm->remove_profiles(merged.in(), dead.in());
    std::cout << "same " << left->_is_equivalent(hello) << std::endl;
    try {
        iorm->set_primary(0, hello, merged.in());
    } catch (const CORBA::NO_IMPLEMENT&) {
        std::cout << "no groups" << std::endl;
    }
}

int main(int argc, char* argv[])
{
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        CORBA::Object_var tmp = orb->string_to_object(argv[1]);
        Test::Hello_var hello = Test::Hello::_narrow(tmp.in());
        if (CORBA::is_nil(hello.in())) return 1;
        CORBA::String_var the_string = hello->get_string();
        std::cout << "string <" << the_string.in() << ">" << std::endl;
        for (CORBA::Long code = 1; code <= 2; ++code) {
            try {
                hello->method(code);
            } catch (const CORBA::Exception& ex) {
                ex._tao_print_exception("expected");
                std::cout << ex._info().c_str() << std::endl;
            }
        }
        CORBA::OctetSeq octets(3);
        octets.length(3);
        CORBA::OctetSeq_var echoed = hello->echo(octets, 0);
        Test::Words words(1);
        words.length(1);
        words[0] = CORBA::string_dup("word");
        Test::Words_var twice;
        hello->twice(words, twice.out());
        std::cout << echoed->length() << ' ' << twice[1u] << std::endl;
        CORBA::Any limit;
        limit <<= TimeBase::TimeT(100000000);
        CORBA::Policy_var policy = orb->create_policy(TAO::CONNECTION_TIMEOUT_POLICY_TYPE, limit);
        std::cout << "policy " << (policy->policy_type() == TAO::CONNECTION_TIMEOUT_POLICY_TYPE)
                  << std::endl;
        names();
        merge(orb.in(), hello.in());
        Time_Value no_time(0);
        orb->run(no_time);
        orb->perform_work(&no_time);
        std::cout << "left " << no_time.sec() << std::endl;
        hello->shutdown();
        orb->destroy();
    } catch (const CORBA::Exception& ex) {
        ex._tao_print_exception("Exception caught:");
        return 1;
    }
    return 0;
}
