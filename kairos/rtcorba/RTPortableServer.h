// SPDX-License-Identifier: Apache-2.0
//
// RTPortableServer::POA (Real-Time CORBA 1.2, 5.7.5): POAs whose objects may have priorities of
// their own. In a program that links this library every POA is one. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/portable_server.h"
#include "kairos/rtcorba/RTCORBA.h"

namespace RTPortableServer {

class POA;
typedef POA* POA_ptr;
typedef kairos::mapping::ObjectVar<POA> POA_var;
typedef kairos::mapping::ObjectOut<POA> POA_out;

class KAIROS_API POA : public PortableServer::POA {
  public:
    typedef POA_ptr _ptr_type;
    typedef POA_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/RTPortableServer/POA:1.0";

    /// For layers of Kairos.
    explicit POA(kairos::corba::PoaServices& services);

    static POA_ptr _duplicate(POA_ptr poa) { return kairos::corba::duplicate(poa); }
    static POA_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<POA>(object);
    }
    static POA_ptr _nil() { return nullptr; }

    // All throw WrongPolicy unless the priority model is SERVER_DECLARED; BAD_PARAM for a priority
    // that is none of CORBA's, or of no lane of the POA's thread pool; BAD_INV_ORDER for an object
    // that has another one; and what the same operation without a priority throws. Results are
    // owned by the caller.

    CORBA::Object_ptr create_reference_with_priority(const char* intf, RTCORBA::Priority priority);
    CORBA::Object_ptr create_reference_with_id_and_priority(const PortableServer::ObjectId& oid,
                                                            const char* intf,
                                                            RTCORBA::Priority priority);
    PortableServer::ObjectId* activate_object_with_priority(PortableServer::Servant p_servant,
                                                            RTCORBA::Priority priority);
    void activate_object_with_id_and_priority(const PortableServer::ObjectId& oid,
                                              PortableServer::Servant p_servant,
                                              RTCORBA::Priority priority);

    /// Gives an object, active or not, another priority from now on (not the OMG's), whatever
    /// references say that there are. Throws WrongPolicy unless the priority model is
    /// SERVER_DECLARED; BAD_PARAM for a priority that is none of CORBA's, or of no lane of the
    /// POA's thread pool.
    void _kairos_reschedule(const PortableServer::ObjectId& oid, RTCORBA::Priority priority);

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;

  private:
    ~POA() override = default;
};

} // namespace RTPortableServer
