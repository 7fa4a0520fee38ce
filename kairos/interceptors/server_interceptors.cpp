// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/server_interceptors.h"

#include "kairos/interceptors/spare_infos.h"

#include <optional>

namespace kairos::interceptors {

using Status = orb::Ending::Status;
using ServerSpares = SpareInfos<ServerInfo>;

void ServerInterceptors::receive_request_service_contexts(orb::ObservedUpcall& upcall)
{
    ServerSpares::Pointer taken = ServerSpares::take();
    ServerInfo& info = *taken;
    info.begin(upcall, *all_);
    try {
        for (const auto& each : info.servers()) {
            PortableInterceptor::ServerRequestInterceptor* const interceptor = each.in();
            const AtPoint at(info, Point::receive_request_service_contexts);
            interceptor->receive_request_service_contexts(&info);
            ++info.told;
        }
    } catch (...) {
        Flow flow;
        flow.end_with_current(true, CORBA::COMPLETED_NO);
        tell_end(info, flow);
        ServerSpares::give_back(std::move(taken));
        flow.raise_if_changed();
    }
    upcall.state_of(this) = std::move(taken);
}

/// What it throws ends the request, of which all are told that were told of its arrival.
void ServerInterceptors::receive_request(orb::ObservedUpcall& upcall)
{
    ServerInfo& info = *static_cast<ServerInfo*>(upcall.state_of(this).get());
    info.found(*upcall.object());
    if (all_->has_slots()) // the servant's thread goes on with what the request has
        info.slots_before = std::exchange(slots_of_thread(all_->serial), info.slots);
    try {
        for (const auto& each : info.servers()) {
            PortableInterceptor::ServerRequestInterceptor* const interceptor = each.in();
            const AtPoint at(info, Point::receive_request);
            interceptor->receive_request(&info);
        }
    } catch (...) {
        Flow flow;
        flow.end_with_current(true, CORBA::COMPLETED_NO);
        flow.raise_if_changed();
    }
}

/// The request goes on with the slots that it has now, in no thread; the thread with its own when
/// the servant's operation has returned.
std::shared_ptr<void> ServerInterceptors::leave_thread(orb::ObservedUpcall& upcall)
{
    ServerInfo& info = *static_cast<ServerInfo*>(upcall.state_of(this).get());
    if (!info.slots_before) return {};
    auto in_place = std::make_shared<std::optional<SlotsInPlace>>();
    Slots& of_thread = slots_of_thread(all_->serial);
    info.slots = of_thread;
    Slots at_work = std::exchange(of_thread, std::move(*info.slots_before));
    info.slots_before.reset();
    in_place->emplace(of_thread, std::move(at_work));
    return in_place;
}

void ServerInterceptors::leave_slots(ServerInfo& info) const
{
    if (info.slots_before)
        info.slots = std::exchange(slots_of_thread(all_->serial), std::move(*info.slots_before));
}

/// What end() does, for the end that most requests have.
void ServerInterceptors::send_reply(orb::ObservedUpcall& upcall)
{
    std::shared_ptr<void>& state = upcall.state_of(this);
    ServerInfo& info = *static_cast<ServerInfo*>(state.get());
    leave_slots(info);
    info.ends(upcall.ending());
    try {
        while (info.told != 0) {
            PortableInterceptor::ServerRequestInterceptor* const interceptor =
                info.servers()[--info.told].in();
            const AtPoint at(info, Point::send_reply);
            interceptor->send_reply(&info);
        }
    } catch (...) {
        Flow flow(upcall.ending());
        flow.end_with_current(false, flow.completion());
        tell_end(info, flow);
        ServerSpares::give_back(std::static_pointer_cast<ServerInfo>(std::move(state)));
        flow.raise_if_changed();
        return;
    }
    ServerSpares::give_back(std::static_pointer_cast<ServerInfo>(std::move(state)));
}

void ServerInterceptors::end(orb::ObservedUpcall& upcall)
{
    ServerSpares::Pointer taken =
        std::static_pointer_cast<ServerInfo>(std::move(upcall.state_of(this)));
    leave_slots(*taken);
    Flow flow(upcall.ending());
    tell_end(*taken, flow);
    ServerSpares::give_back(std::move(taken));
    if (flow.has_changed()) [[unlikely]]
        flow.raise_if_changed();
}

void ServerInterceptors::tell_end(ServerInfo& info, Flow& flow) const
{
    info.ends(flow.ending());
    while (info.told != 0) {
        PortableInterceptor::ServerRequestInterceptor* const interceptor =
            info.servers()[--info.told].in();
        const bool has_results = flow.ending().status == Status::successful;
        try {
            if (flow.has_exception()) {
                const AtPoint at(info, Point::send_exception);
                interceptor->send_exception(&info);
            } else if (has_results) {
                const AtPoint at(info, Point::send_reply);
                interceptor->send_reply(&info);
            } else {
                const AtPoint at(info, Point::send_other);
                interceptor->send_other(&info);
            }
        } catch (...) {
            flow.end_with_current(!has_results, flow.completion());
        }
    }
}

} // namespace kairos::interceptors
