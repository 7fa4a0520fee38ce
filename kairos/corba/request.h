// SPDX-License-Identifier: Apache-2.0
//
// The Dynamic Invocation Interface (CORBA 3.3 part 1, 11; C++ mapping "Request"): calls of
// operations that no stub is there for. Object::_request and Object::_create_request make a
// Request. Everything here is defined in the library of kairos/dynamic, so programs that do not use
// it do not carry it. Pseudo objects, counted. A Request is used by one thread at a time; what it
// sent deferred may be fetched by another than sent it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/owner.h"
#include "kairos/corba/context.h"
#include "kairos/corba/environment.h"
#include "kairos/corba/nvlist.h"
#include "kairos/corba/object.h"
#include "kairos/mapping/sequence.h"
#include "kairos/types/typecode.h"

#include <string>

namespace kairos::net {
class Socket;
}
namespace kairos {
class Deadline;
}

namespace kairos::dynamic {
class Responses;
}

namespace CORBA {

/// The user exceptions that an operation may raise. Keeps its items.
class KAIROS_API ExceptionList final : public kairos::corba::PseudoObject {
  public:
    typedef ExceptionList_ptr _ptr_type;
    typedef ExceptionList_var _var_type;

    ExceptionList() = default;
    static ExceptionList_ptr _duplicate(ExceptionList_ptr list);
    static ExceptionList_ptr _nil() { return nullptr; }

    [[nodiscard]] ULong count() const noexcept { return items_.length(); }
    /// Appends a type with a count of its own. Throws BAD_TYPECODE unless it is an exception's.
    void add(TypeCode_ptr type);
    /// Appends a type and takes over the caller's count. Throws BAD_TYPECODE unless it is an
    /// exception's.
    void add_consume(TypeCode_ptr type);
    /// The list's own; not to be released. Throws Bounds.
    [[nodiscard]] TypeCode_ptr item(ULong index) const;
    /// Releases the item and closes the gap. Throws Bounds.
    void remove(ULong index);

  private:
    ~ExceptionList() override = default;

    kairos::mapping::UnboundedObjectSequence<TypeCode> items_;
};

/// The names, or their beginnings and an asterisk, of the properties that an operation's context
/// clause asks for. Keeps its items.
class KAIROS_API ContextList final : public kairos::corba::PseudoObject {
  public:
    typedef ContextList_ptr _ptr_type;
    typedef ContextList_var _var_type;

    ContextList() = default;
    static ContextList_ptr _duplicate(ContextList_ptr list);
    static ContextList_ptr _nil() { return nullptr; }

    [[nodiscard]] ULong count() const noexcept { return items_.length(); }
    /// Appends a copy of the name. Throws BAD_PARAM for null.
    void add(const char* name);
    /// Appends the name and takes it over. Throws BAD_PARAM for null.
    void add_consume(char* name);
    /// The list's own; not to be freed. Throws Bounds.
    [[nodiscard]] const char* item(ULong index) const;
    /// Frees the item and closes the gap. Throws Bounds.
    void remove(ULong index);

  private:
    ~ContextList() override = default;

    kairos::mapping::UnboundedStringSequence<> items_;
};

/// A user exception that a dynamic invocation ended with, as its Environment holds it.
class KAIROS_API UnknownUserException final : public UserException {
  public:
    static constexpr const char* _kairos_id = "IDL:omg.org/CORBA/UnknownUserException:1.0";

    /// Takes the Any over.
    explicit UnknownUserException(Any* exception) : exception_(exception) {}
    /// Holds the exception and stays this object's.
    [[nodiscard]] Any& exception() { return exception_.inout(); }
    [[nodiscard]] const Any& exception() const { return exception_.in(); }

    [[noreturn]] void _raise() const override;
    [[nodiscard]] const char* _name() const noexcept override { return "UnknownUserException"; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return _kairos_id; }
    [[nodiscard]] Exception* _duplicate() const override;
    void _marshal(kairos::cdr::Writer& out) const override;
    static UnknownUserException* _downcast(Exception* exception)
    {
        return dynamic_cast<UnknownUserException*>(exception);
    }
    static const UnknownUserException* _downcast(const Exception* exception)
    {
        return dynamic_cast<const UnknownUserException*>(exception);
    }

  private:
    Any_var exception_;
};

/// One operation of one object, to be called as often as one likes: when a call is over, the
/// arguments may be changed and the request sent again.
///
/// `env` holds what the last call ended with: an UnknownUserException for a user exception that
/// `exceptions` lists, the system exception otherwise; null if all went well. System exceptions are
/// thrown as well, user exceptions are not.
class KAIROS_API Request final : public kairos::corba::PseudoObject {
  public:
    typedef Request_ptr _ptr_type;
    typedef Request_var _var_type;

    static Request_ptr _duplicate(Request_ptr request);
    static Request_ptr _nil() { return nullptr; }

    // All these stay the Request's.
    [[nodiscard]] Object_ptr target() const noexcept { return target_.in(); }
    [[nodiscard]] const char* operation() const noexcept { return name_.c_str(); }
    [[nodiscard]] NVList_ptr arguments() const noexcept { return arguments_.in(); }
    [[nodiscard]] NamedValue_ptr result() const noexcept { return result_.in(); }
    [[nodiscard]] Environment_ptr env() const noexcept { return environment_.in(); }
    [[nodiscard]] ExceptionList_ptr exceptions() const noexcept { return exceptions_.in(); }
    [[nodiscard]] ContextList_ptr contexts() const noexcept { return contexts_.in(); }
    [[nodiscard]] Context_ptr ctx() const noexcept { return context_.in(); }
    /// Sets the context, of which the Request takes a count of its own.
    void ctx(Context_ptr context);

    /// Appends an in argument: arguments come in the order of the IDL. The Any returned is to be
    /// given the value.
    Any& add_in_arg();
    Any& add_in_arg(const char* name);
    Any& add_inout_arg();
    Any& add_inout_arg(const char* name);
    /// Appends an out argument: arguments come in the order of the IDL. The Any returned is to be
    /// given the type, by a value or by Any::replace(type, nullptr).
    Any& add_out_arg();
    Any& add_out_arg(const char* name);
    /// Says of which type the operation's result is: void unless this is called.
    void set_return_type(TypeCode_ptr type);
    [[nodiscard]] Any& return_value() const { return *result_->value(); }

    /// Calls the operation and waits for the reply.
    void invoke();
    /// Sends a request that nobody answers.
    void send_oneway();
    /// Sends the request and does not wait for the reply (get_response). A call to an object of
    /// this process is served before this returns.
    void send_deferred();
    /// Waits for the reply to the request of send_deferred.
    void get_response();
    /// Whether `get_response` would not wait. Results and `env` are those of the reply then, system
    /// exceptions included, which only `get_response` throws.
    [[nodiscard]] Boolean poll_response();

  private:
    friend class Object;
    friend class kairos::dynamic::Responses;

    /// What has become of the request since it was sent last.
    enum class State : std::uint8_t {
        unsent,
        synchronous, ///< over; nothing to be fetched
        outstanding,
        fetched,
    };

    Request(Object_ptr target, const char* operation, NVList_ptr arguments, NamedValue_ptr result);
    ~Request() override;

    [[nodiscard]] kairos::orb::Reference& reference() const;
    void require_idle() const;
    void require_outstanding() const;
    template <typename Step>
    void noting_exceptions(Step step);
    void prepare(bool is_oneway);
    void encode_arguments(kairos::cdr::Writer& out) const;
    template <typename Call, typename Wait>
    void finish(Call& call, Wait wait);
    struct Results;
    void take_results(kairos::cdr::Reader& in, Results& results) const;
    void hand_over(Results& results) const;
    /// What becomes readable when `poll_response` should be asked again; null when it says yes.
    [[nodiscard]] const kairos::net::Socket* socket() const;
    [[nodiscard]] kairos::Deadline deadline() const;

    const Object_var target_;
    const std::string name_;
    const NVList_var arguments_;
    const NamedValue_var result_;
    const Environment_var environment_;
    ExceptionList_var exceptions_;
    ContextList_var contexts_;
    Context_var context_;
    State state_ = State::unsent;

    /// Of the call under way: the lists may change before it is over.
    struct UnderWay;
    const kairos::Owner<UnderWay> call_;
};

class KAIROS_API RequestSeq : public kairos::mapping::UnboundedObjectSequence<Request> {
  public:
    using Unbounded::Unbounded;
};
typedef kairos::mapping::VariableVar<RequestSeq> RequestSeq_var;
typedef kairos::mapping::VariableOut<RequestSeq> RequestSeq_out;

inline Boolean is_nil(Request_ptr request) { return request == nullptr; }
inline Boolean is_nil(ExceptionList_ptr list) { return list == nullptr; }
inline Boolean is_nil(ContextList_ptr list) { return list == nullptr; }
KAIROS_API void release(Request_ptr request);
KAIROS_API void release(ExceptionList_ptr list);
KAIROS_API void release(ContextList_ptr list);

} // namespace CORBA
