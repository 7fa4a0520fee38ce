// SPDX-License-Identifier: Apache-2.0
//
// Servants without a skeleton: what a request holds goes into the program's list of Anys, and what
// that list, the result or the exception holds when the servant returns goes back. Stations 8 and
// 10 of the request walk (docs/TOUR.md): the upcall is that of every servant.
#include "kairos/corba/dynamic_servant.h"

#include "kairos/corba/poa.h"
#include "kairos/dynamic/parameters.h"
#include "kairos/giop/request.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"

#include <utility>

namespace CORBA {

using kairos::dynamic::encode_parameter;
using kairos::dynamic::has_value;
using kairos::dynamic::parameter_type;
using kairos::mapping::omg_minor;
using kairos::types::AnyAccess;
namespace minor_code = kairos::orb::minor_code;

namespace {

// CORBA 3.3 part 2, annex A.
constexpr ULong arguments_out_of_order = omg_minor(7);   // BAD_INV_ORDER
constexpr ULong ctx_out_of_order = omg_minor(8);         // BAD_INV_ORDER
constexpr ULong set_result_out_of_order = omg_minor(9);  // BAD_INV_ORDER
constexpr ULong context_not_asked_for = omg_minor(2);    // MARSHAL
constexpr ULong more_than_list_describes = omg_minor(3); // MARSHAL
constexpr ULong not_an_exception = omg_minor(21);        // BAD_PARAM
constexpr ULong illegal_parameter_type = omg_minor(3);   // BAD_TYPECODE

TypeCode_ptr with_count(const TypeCode& type)
{
    return TypeCode::_duplicate(const_cast<TypeCode_ptr>(&type));
}

bool is_one_of(TCKind kind, TCKind one, TCKind other) noexcept
{
    return kind == one || kind == other;
}

/// A user exception that is there as an Any.
class GivenException final : public UserException {
  public:
    explicit GivenException(const Any& value)
        : value_(value), id_(kairos::types::resolved(kairos::types::type_of(value)).id())
    {
    }
    [[noreturn]] void _raise() const override { throw GivenException(*this); }
    [[nodiscard]] const char* _name() const noexcept override { return "user exception"; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return id_; }
    [[nodiscard]] Exception* _duplicate() const override { return new GivenException(*this); }
    void _marshal(kairos::cdr::Writer& out) const override
    {
        AnyAccess::encode_exception(out, value_);
    }

  private:
    const Any value_;
    const char* const id_; // the type's, which the Any keeps
};

/// The request that a thread has used and will use again.
struct Spare {
    ServerRequest_ptr request = nullptr;

    constexpr Spare() noexcept = default;
    Spare(const Spare&) = delete;
    Spare& operator=(const Spare&) = delete;
    ~Spare() { release(request); }
};
constinit thread_local Spare spare;

/// What an operation raises is known when it does.
void reply_with(kairos::orb::Upcall& upcall, const UserException& exception) noexcept
{
    const kairos::orb::ExceptionType raised[] = {{exception._rep_id(), nullptr}};
    upcall.let_pass(raised);
    upcall.reply(exception);
    upcall.let_pass({});
}

} // namespace

// --- The life of a request -----------------------------------------------------------------------

/// A thread's requests are one object, one after the other, unless a servant keeps it or is called
/// by a servant.
class ServerRequest::Served {
  public:
    explicit Served(kairos::orb::Upcall& upcall)
        : spare_(spare),
          request_(spare_.request == nullptr ? new ServerRequest
                                             : std::exchange(spare_.request, nullptr))
    {
        request_->begin(upcall);
    }
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;
    ~Served()
    {
        request_->end();
        if (spare_.request == nullptr && request_->has_one_owner())
            spare_.request = request_;
        else
            request_->_remove_ref();
    }
    [[nodiscard]] ServerRequest* operator->() const noexcept { return request_; }
    [[nodiscard]] ServerRequest* request() const noexcept { return request_; }

  private:
    Spare& spare_; // of this thread, looked up once
    ServerRequest* const request_;
};

ServerRequest::ServerRequest() = default;
ServerRequest::~ServerRequest() = default;

ServerRequest_ptr ServerRequest::_duplicate(ServerRequest_ptr request)
{
    return kairos::corba::duplicate(request);
}

void release(ServerRequest_ptr request)
{
    if (request != nullptr) request->_remove_ref();
}

void ServerRequest::begin(kairos::orb::Upcall& upcall) noexcept
{
    upcall_ = &upcall;
    stage_ = Stage::begun;
    asked_for_context_ = false;
}

void ServerRequest::end() noexcept
{
    if (stage_ >= Stage::with_result) outcome_ = Any();
    upcall_ = nullptr;
    stage_ = Stage::over;
    while (declared_count_ != 0)
        release(declared_[--declared_count_]);
    arguments_ = NVList::_nil();
    if (!is_nil(context_.in())) context_ = Context::_nil();
}

kairos::orb::Upcall& ServerRequest::upcall() const
{
    if (upcall_ == nullptr) [[unlikely]]
        throw BAD_INV_ORDER(minor_code::request_is_over, COMPLETED_NO,
                            "the request ended when `invoke` returned");
    return *upcall_;
}

// --- What the servant asks -----------------------------------------------------------------------

const char* ServerRequest::operation() const { return upcall().operation().data(); }

void ServerRequest::arguments(NVList_ptr& parameters)
{
    kairos::orb::Upcall& served = upcall();
    if (stage_ != Stage::begun)
        throw BAD_INV_ORDER(arguments_out_of_order, COMPLETED_NO,
                            "the arguments were asked for before, or an exception was set");
    if (is_nil(parameters)) throw BAD_PARAM(0, COMPLETED_NO, "a nil list of parameters");
    stage_ = Stage::refused;
    arguments_ = parameters;
    if (const ULong count = parameters->count(); count != 0)
        declared_ = served.arena().allocate<TypeCode_ptr>(count);
    read_arguments();
    stage_ = Stage::read;
}

/// What is left behind the arguments is a context, or nothing that the list describes.
void ServerRequest::read_arguments()
{
    kairos::cdr::Reader& in = upcall_->in();
    const ULong count = arguments_->count();
    for (ULong i = 0; i < count && in.ok(); ++i) {
        const NamedValue& argument = *arguments_->item(i);
        if ((argument.flags() & ARG_INOUT) == 0)
            throw INV_FLAG(0, COMPLETED_NO, "an argument is neither in nor out");
        Any& value = *argument.value();
        declared_[i] = with_count(parameter_type(value));
        declared_count_ = i + 1;
        if ((argument.flags() & ARG_IN) != 0)
            AnyAccess::decode_value(in, TypeCode::_duplicate(declared_[i]), value);
    }
    if (in.ok() && in.left() != 0) {
        context_ = kairos::corba::decode_context(in);
        if (!in.ok() || in.left() != 0)
            throw MARSHAL(more_than_list_describes, COMPLETED_NO,
                          "the list does not describe all that the client sent");
    }
    upcall_->oneway_arguments_read();
}

Context_ptr ServerRequest::ctx()
{
    (void)upcall();
    if (stage_ != Stage::read || asked_for_context_)
        throw BAD_INV_ORDER(ctx_out_of_order, COMPLETED_NO,
                            "the context is asked for once, after the arguments");
    asked_for_context_ = true;
    return context_.in();
}

void ServerRequest::set_result(const Any& value)
{
    (void)upcall();
    if (stage_ != Stage::read)
        throw BAD_INV_ORDER(set_result_out_of_order, COMPLETED_NO,
                            "the result is set once, after the arguments");
    if (!is_nil(context_.in()) && !asked_for_context_)
        throw MARSHAL(context_not_asked_for, COMPLETED_NO, "the client sent a context");
    const TypeCode& type = kairos::types::type_of(value);
    if (kairos::types::resolved(type).kind() != tk_void) (void)parameter_type(value);
    outcome_ = value;
    stage_ = Stage::with_result;
}

void ServerRequest::set_exception(const Any& value)
{
    (void)upcall();
    const TypeCode& type = kairos::types::type_of(value);
    if (kairos::types::resolved(type).kind() != tk_except ||
        !AnyAccess::holds(value, const_cast<TypeCode_ptr>(&type)))
        throw BAD_PARAM(not_an_exception, COMPLETED_NO, "the Any holds no exception");
    outcome_ = value;
    stage_ = Stage::with_exception;
}

// --- What the caller gets ------------------------------------------------------------------------

void ServerRequest::reply()
{
    switch (stage_) {
    case Stage::over:
    case Stage::begun:
    case Stage::refused:
        throw BAD_INV_ORDER(minor_code::arguments_not_read, COMPLETED_MAYBE,
                            "`invoke` has neither read the arguments nor set an exception");
    case Stage::with_exception:
        return reply_with_exception();
    case Stage::read:
    case Stage::with_result:
        if (upcall_->request().response_expected()) encode_results();
        upcall_->reply();
    }
}

void ServerRequest::reply_with_exception()
{
    const SystemException* failure = nullptr;
    if (outcome_ >>= failure) return upcall_->reply(*failure);
    reply_with(*upcall_, GivenException(outcome_));
}

void ServerRequest::encode_results()
{
    kairos::cdr::Writer& out = upcall_->out();
    if (stage_ == Stage::with_result && has_value(kairos::types::type_of(outcome_)))
        encode_parameter(out, outcome_, kairos::types::type_of(outcome_));
    for (ULong i = 0; i < declared_count_; ++i) {
        const NamedValue& argument = *arguments_->item(i);
        if ((argument.flags() & ARG_OUT) == 0) continue;
        require_declared_type(i, kairos::types::type_of(*argument.value()));
        encode_parameter(out, *argument.value(), *declared_[i]);
    }
}

/// The client reads what the IDL says, not what the Any happens to hold. A reference or a value may
/// be of another type than the parameter: it says its own.
void ServerRequest::require_declared_type(ULong index, const TypeCode& type) const
{
    TypeCode_ptr const declared = declared_[index];
    if (declared == &type || declared->equivalent(const_cast<TypeCode_ptr>(&type))) return;
    const TCKind kind = kairos::types::resolved(type).kind();
    const TCKind declared_kind = kairos::types::resolved(*declared).kind();
    if (kind == tk_objref && declared_kind == tk_objref) return;
    if (is_one_of(kind, tk_value, tk_event) && is_one_of(declared_kind, tk_value, tk_event)) return;
    throw BAD_TYPECODE(illegal_parameter_type, COMPLETED_YES,
                       "an out argument is not of the type that the list had");
}

} // namespace CORBA

namespace PortableServer {

namespace {

using kairos::poa::Calling;

/// What every object has, and the skeleton of no interface serves. No identifier of IDL begins
/// with an underscore on the wire, but for the operations of attributes.
bool is_standard(std::string_view operation) noexcept
{
    return operation.starts_with('_') && !operation.starts_with("_get_") &&
           !operation.starts_with("_set_");
}

/// The request to this servant that the thread serves; null if it serves none.
const Calling* calling_of(const DynamicImplementation& servant) noexcept
{
    const Calling* const calling = Calling::innermost();
    return calling != nullptr && calling->servant() == &servant ? calling : nullptr;
}

} // namespace

CORBA::Object_ptr DynamicImplementation::_this()
{
    const Calling* const calling = calling_of(*this);
    if (calling == nullptr) throw POA::WrongPolicy();
    return POA::_kairos_of(calling->adapter())._kairos_called(*calling);
}

void DynamicImplementation::_kairos_dispatch(kairos::orb::Upcall& upcall)
{
    if (is_standard(upcall.operation())) return _kairos_dispatch_standard(upcall);
    const CORBA::ServerRequest::Served request(upcall);
    try {
        invoke(request.request());
        request->reply();
    } catch (const CORBA::UserException& exception) {
        CORBA::reply_with(upcall, exception);
    }
}

bool DynamicImplementation::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id();
}

const char* DynamicImplementation::_kairos_id() const
{
    static thread_local CORBA::String_var id;
    const Calling* const calling = calling_of(*this);
    if (calling == nullptr)
        throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                   "a dynamic servant has an interface only as some object");
    const kairos::poa::Identity object = calling->adapter().called(*calling);
    const auto size = static_cast<CORBA::ULong>(object.id.size());
    const ObjectId oid(size, size,
                       reinterpret_cast<CORBA::Octet*>(const_cast<std::byte*>(object.id.data())),
                       false);
    id = const_cast<DynamicImplementation*>(this)->_primary_interface(
        oid, &POA::_kairos_of(calling->adapter()));
    if (id.in() == nullptr) kairos::mapping::raise_null_result();
    return id.in();
}

} // namespace PortableServer
