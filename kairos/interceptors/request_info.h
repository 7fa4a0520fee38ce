// SPDX-License-Identifier: Apache-2.0
//
// What client and server interceptors are told of a request alike (CORBA 3.3 part 1, 16.3.12).
// Belongs to the thread that is at a point of the request, and answers there only.
#pragma once

#include "kairos/giop/message.h"
#include "kairos/interceptors/interceptors.h"
#include "kairos/interceptors/slots.h"
#include "kairos/interceptors/validity.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/observed.h"

#include <cstddef>
#include <string_view>

namespace kairos::interceptors {

class RequestInfo : public virtual PortableInterceptor::RequestInfo {
  public:
    CORBA::ULong request_id() override;
    char* operation() override;
    // NO_RESOURCES 1, which the specification has for ORBs that do not keep them: stubs and
    // skeletons pass arguments and results from where they are to where they are sent from.
    Dynamic::ParameterList* arguments() override;
    Dynamic::ExceptionList* exceptions() override;
    Dynamic::ContextList* contexts() override;
    Dynamic::RequestContext* operation_context() override;
    CORBA::Any* result() override;
    CORBA::Boolean response_expected() override;
    Messaging::SyncScope sync_scope() override;
    PortableInterceptor::ReplyStatus reply_status() override;
    CORBA::Object_ptr forward_reference() override;
    CORBA::Any* get_slot(PortableInterceptor::SlotId id) override;
    IOP::ServiceContext* get_request_service_context(IOP::ServiceId id) override;
    IOP::ServiceContext* get_reply_service_context(IOP::ServiceId id) override;

    /// Has the points that follow tell of this end, which must outlive them.
    void ends(const orb::Ending& ending) noexcept { ending_ = &ending; }
    void at(Point point) noexcept { point_ = point; }

    /// How many interceptors were told of the beginning, and are to be told of the end.
    std::size_t told = 0;
    /// The request's own slots.
    Slots slots;

  protected:
    void begin(const Interceptors& all) noexcept { all_ = &all; }
    /// Tells nothing any more.
    void leave() noexcept
    {
        point_ = Point::none;
        request_id_ = 0;
        told = 0;
        if (!slots.empty()) slots.clear();
    }

    /// Throws BAD_INV_ORDER 14 where the item is not for the point.
    void require(Item item) const
    {
        if (!is_valid(item, point_)) raise_invalid_here();
    }
    [[nodiscard]] Point point() const noexcept { return point_; }
    [[nodiscard]] const Interceptors& all() const noexcept { return *all_; }
    [[nodiscard]] const orb::Ending& ending() const noexcept { return *ending_; }
    /// Returns the exception of the end in an Any, owned by the caller.
    [[nodiscard]] CORBA::Any* exception_of_end() const;

    // What the two sides know in ways of their own.
    [[nodiscard]] virtual orb::Orb& orb() const = 0;
    [[nodiscard]] virtual std::string_view operation_name() const = 0;
    [[nodiscard]] virtual bool has_response() const = 0;
    [[nodiscard]] virtual orb::SyncScope scope() const = 0;
    [[nodiscard]] virtual giop::ServiceContexts request_contexts() const = 0;
    [[nodiscard]] virtual giop::ServiceContexts reply_contexts() const = 0;

    /// Adds a context. Throws BAD_INV_ORDER 15 for one that is there, unless it is to be replaced.
    static void add(orb::ContextList& list, const IOP::ServiceContext& context, bool replace);

  private:
    Point point_ = Point::none;
    CORBA::ULong request_id_ = 0; // 0 until asked for
    const Interceptors* all_ = nullptr;
    const orb::Ending* ending_ = nullptr;
};

/// Tells interceptors of a point, while it lives.
class AtPoint {
  public:
    AtPoint(RequestInfo& info, Point point) noexcept : info_(info) { info_.at(point); }
    AtPoint(const AtPoint&) = delete;
    AtPoint& operator=(const AtPoint&) = delete;
    ~AtPoint() { info_.at(Point::none); }

  private:
    RequestInfo& info_;
};

/// Copies octets into what IDL calls sequence<octet>.
template <typename Sequence>
void assign_octets(Sequence& sequence, Bytes octets)
{
    sequence.length(static_cast<CORBA::ULong>(octets.size()));
    for (std::size_t i = 0; i < octets.size(); ++i)
        sequence[static_cast<CORBA::ULong>(i)] = static_cast<CORBA::Octet>(octets[i]);
}

} // namespace kairos::interceptors
