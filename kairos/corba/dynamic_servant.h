// SPDX-License-Identifier: Apache-2.0
//
// The Dynamic Skeleton Interface (CORBA 3.3 part 1, 12; C++ mapping 1.3, "Mapping of Dynamic
// Skeleton Interface to C++"): servants of interfaces that no skeleton is there for. Everything
// here is defined in the library of kairos/dynamic, so programs that do not use it do not carry it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/context.h"
#include "kairos/corba/nvlist.h"
#include "kairos/corba/servant.h"
#include "kairos/types/any.h"

#include <cstdint>
#include <string_view>

namespace PortableServer {
class DynamicImplementation;
}

namespace CORBA {

class ServerRequest;
typedef ServerRequest* ServerRequest_ptr;
typedef kairos::mapping::ObjectVar<ServerRequest> ServerRequest_var;
typedef kairos::mapping::ObjectOut<ServerRequest> ServerRequest_out;

/// One request, as a servant without a skeleton gets it: it names the types of the arguments and
/// gets their values, and gives result, out arguments or an exception. Pseudo object, counted. It
/// is the ORB's and ends with `invoke`: whoever keeps it longer gets BAD_INV_ORDER from all that
/// it is asked. Used by the thread that `invoke` runs in.
class KAIROS_API ServerRequest final : public kairos::corba::PseudoObject {
  public:
    typedef ServerRequest_ptr _ptr_type;
    typedef ServerRequest_var _var_type;

    static ServerRequest_ptr _duplicate(ServerRequest_ptr request);
    static ServerRequest_ptr _nil() { return nullptr; }

    /// The name of the operation, as on the wire: those of attributes are `_get_name` and
    /// `_set_name`. Stays the request's.
    [[nodiscard]] const char* operation() const;
    /// Fills in the in and inout arguments. The list has an item with direction and type for each
    /// parameter of the operation, in the order of the IDL; the values of out and inout arguments
    /// that it has when `invoke` returns go to the caller. Called once, also where there are no
    /// parameters. The request takes the list over, unless it throws BAD_INV_ORDER 7: called
    /// before, or after set_exception. Throws MARSHAL where the client sent something else (3: more
    /// than the list describes), BAD_TYPECODE 3 for an argument without a type, INV_FLAG for one
    /// without a direction, BAD_PARAM for nil.
    void arguments(NVList_ptr& parameters);
    /// What the client sent for the operation's context clause; nil where that is nothing. Stays
    /// the request's. Called at most once, between `arguments` and set_result or set_exception;
    /// else throws BAD_INV_ORDER 8.
    [[nodiscard]] Context_ptr ctx();
    /// Gives a copy of the operation's result; without it, the result is void. Throws BAD_INV_ORDER
    /// 9 unless called once, after `arguments` and before set_exception; MARSHAL 2 if the client
    /// sent a context that was not asked for; BAD_TYPECODE 3 for an Any without a type and for an
    /// exception.
    void set_result(const Any& value);
    /// Ends the request with a copy of this exception: a system exception, or one of the
    /// operation's raises clause. The last one counts. What the operation does not raise becomes
    /// UNKNOWN at the client. Throws BAD_PARAM 21 for an Any that holds no exception.
    void set_exception(const Any& value);

  private:
    friend class PortableServer::DynamicImplementation;

    enum class Stage : std::uint8_t {
        over, ///< or not begun
        begun,
        refused, ///< the arguments were not what the list says
        read,
        with_result, ///< from here on there is an outcome
        with_exception,
    };
    class Served; // by this thread, from the beginning to the end

    ServerRequest();
    ~ServerRequest() override;

    [[nodiscard]] kairos::orb::Upcall& upcall() const;
    void begin(kairos::orb::Upcall& upcall) noexcept;
    void end() noexcept;
    void read_arguments();
    void reply();
    void reply_with_exception();
    void encode_results();
    void require_declared_type(ULong index, const TypeCode& type) const;

    kairos::orb::Upcall* upcall_ = nullptr; // while not over
    Stage stage_ = Stage::over;
    bool asked_for_context_ = false;
    NVList_var arguments_;
    Context_var context_;
    Any outcome_; ///< the result, or the exception
    /// The types that `arguments` was given, each with a count; in the upcall's memory.
    TypeCode_ptr* declared_ = nullptr;
    ULong declared_count_ = 0;
};

inline Boolean is_nil(ServerRequest_ptr request) { return request == nullptr; }
KAIROS_API void release(ServerRequest_ptr request);

} // namespace CORBA

namespace PortableServer {

/// Base of servants without a skeleton. It may serve any number of objects, of different
/// interfaces; which one a request is for, PortableServer::Current says.
class KAIROS_API DynamicImplementation : public virtual ServantBase {
  public:
    /// The object that is being called, owned by the caller. Throws WrongPolicy outside of a
    /// request to this servant.
    CORBA::Object_ptr _this();

    /// Serves one request, which stays the ORB's. What every object has (`_is_a`, `_non_existent`,
    /// `_interface`, …) does not come here. Any exception may be thrown instead of given to
    /// set_exception. Several threads, where the POA's policies let them.
    virtual void invoke(CORBA::ServerRequest_ptr request) = 0;
    /// Returns the repository id of the most derived interface of the object `oid`, owned by the
    /// caller. The POA asks when it makes a reference to an object of this servant, and for
    /// `_is_a`, `_repository_id` and `_interface`, which may be overridden where an object has base
    /// interfaces. Any thread. `oid` and `poa` are borrowed.
    virtual char* _primary_interface(const ObjectId& oid, POA_ptr poa) = 0;

    void _kairos_dispatch(kairos::orb::Upcall& upcall) override;
    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;
    /// Returns what `_primary_interface` says of the object that the thread serves or makes a
    /// reference to; it lasts until the thread asks the next. Throws BAD_INV_ORDER elsewhere.
    [[nodiscard]] const char* _kairos_id() const override;
};

} // namespace PortableServer
