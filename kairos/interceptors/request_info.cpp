// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/request_info.h"

#include "kairos/corba/object.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/orb.h"

#include <atomic>
#include <optional>
#include <string>

namespace kairos::interceptors {

using mapping::omg_minor;
using Status = orb::Ending::Status;

namespace {

/// Throws NO_RESOURCES 1: the ORB does not have this.
[[noreturn]] void raise_not_kept()
{
    throw CORBA::NO_RESOURCES(omg_minor(1), CORBA::COMPLETED_NO, "not kept for interceptors");
}

/// Never zero, unless there were four thousand million of them.
CORBA::ULong next_request_id()
{
    static std::atomic<CORBA::ULong> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Returns the data of the first context with this id; nothing if there is none.
std::optional<Bytes> find(const giop::ServiceContexts& contexts, IOP::ServiceId id)
{
    std::optional<Bytes> found;
    contexts.for_each([&](std::uint32_t each, Bytes data) {
        if (each == id && !found) found = data;
    });
    return found;
}

IOP::ServiceContext* found_in(const giop::ServiceContexts& contexts, IOP::ServiceId id)
{
    const auto data = find(contexts, id);
    if (!data)
        throw CORBA::BAD_PARAM(omg_minor(26), CORBA::COMPLETED_NO, "no such service context");
    IOP::ServiceContext_var context = new IOP::ServiceContext;
    context->context_id = id;
    assign_octets(context->context_data, *data);
    return context._retn();
}

} // namespace

CORBA::ULong RequestInfo::request_id()
{
    require(Item::request_id);
    if (request_id_ == 0) request_id_ = next_request_id();
    return request_id_;
}

char* RequestInfo::operation()
{
    require(Item::operation);
    return CORBA::string_dup(std::string(operation_name()).c_str());
}

Dynamic::ParameterList* RequestInfo::arguments()
{
    require(Item::arguments);
    raise_not_kept();
}

Dynamic::ExceptionList* RequestInfo::exceptions()
{
    require(Item::exceptions);
    raise_not_kept();
}

Dynamic::ContextList* RequestInfo::contexts()
{
    require(Item::contexts);
    raise_not_kept();
}

Dynamic::RequestContext* RequestInfo::operation_context()
{
    require(Item::operation_context);
    raise_not_kept();
}

CORBA::Any* RequestInfo::result()
{
    require(Item::result);
    raise_not_kept();
}

CORBA::Boolean RequestInfo::response_expected()
{
    require(Item::response_expected);
    return has_response();
}

Messaging::SyncScope RequestInfo::sync_scope()
{
    require(Item::sync_scope);
    return static_cast<Messaging::SyncScope>(scope());
}

PortableInterceptor::ReplyStatus RequestInfo::reply_status()
{
    require(Item::reply_status);
    return static_cast<PortableInterceptor::ReplyStatus>(ending().status);
}

CORBA::Object_ptr RequestInfo::forward_reference()
{
    require(Item::forward_reference);
    if (ending().status != Status::location_forward) raise_invalid_here();
    return corba::StubFactory::make<CORBA::Object>(orb().make_reference(*ending().forward));
}

CORBA::Any* RequestInfo::get_slot(PortableInterceptor::SlotId id)
{
    require(Item::get_slot);
    return copy_of_slot(slots, id, all().slot_count());
}

IOP::ServiceContext* RequestInfo::get_request_service_context(IOP::ServiceId id)
{
    require(Item::get_request_service_context);
    return found_in(request_contexts(), id);
}

IOP::ServiceContext* RequestInfo::get_reply_service_context(IOP::ServiceId id)
{
    require(Item::get_reply_service_context);
    return found_in(reply_contexts(), id);
}

/// User exceptions do not know their TypeCodes: CORBA 3.3 part 1, 16.3.13.4, has UNKNOWN 1 for
/// that.
CORBA::Any* RequestInfo::exception_of_end() const
{
    CORBA::Any_var any = new CORBA::Any;
    const auto* system = CORBA::SystemException::_downcast(ending().exception);
    if (system != nullptr)
        any.inout() <<= *system;
    else
        any.inout() <<= CORBA::UNKNOWN(omg_minor(1), CORBA::COMPLETED_YES);
    return any._retn();
}

void RequestInfo::add(orb::ContextList& list, const IOP::ServiceContext& context, bool replace)
{
    const bool is_there = find(list.contexts(), context.context_id).has_value();
    if (is_there && !replace)
        throw CORBA::BAD_INV_ORDER(omg_minor(15), CORBA::COMPLETED_NO,
                                   "there is a service context of this id");
    if (is_there) (void)list.remove(context.context_id);
    list.append(context.context_id,
                {reinterpret_cast<const std::byte*>(context.context_data.get_buffer()),
                 context.context_data.length()});
}

} // namespace kairos::interceptors
