// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/client_interceptors.h"

#include "kairos/interceptors/spare_infos.h"

namespace kairos::interceptors {

using Status = orb::Ending::Status;
using ClientSpares = SpareInfos<ClientInfo>;

/// Calls that a point makes have slots of their own, empty at first: else an interceptor that makes
/// calls could not tell its own from the program's (CORBA 3.3 part 1, 16.4.4).
template <typename Tell>
void ClientInterceptors::at(ClientInfo& info, Point point, Tell&& tell) const
{
    const AtPoint at(info, point);
    if (!all_->has_slots()) return tell();
    const SlotsInPlace empty(slots_of_thread(all_->serial), {});
    tell();
}

void ClientInterceptors::send_request(orb::ObservedCall& call)
{
    ClientSpares::Pointer taken = ClientSpares::take();
    ClientInfo& info = *taken;
    info.begin(call, *all_);
    if (all_->has_slots()) info.slots = slots_of_thread(all_->serial);
    try {
        for (const auto& each : info.clients()) {
            PortableInterceptor::ClientRequestInterceptor* const interceptor = each.in();
            at(info, Point::send_request, [&] { interceptor->send_request(&info); });
            ++info.told;
        }
    } catch (...) {
        Flow flow;
        flow.end_with_current(true, CORBA::COMPLETED_NO);
        tell_end(info, flow);
        ClientSpares::give_back(std::move(taken));
        flow.raise_if_changed();
    }
    call.state_of(this) = std::move(taken);
}

/// What end() does, for the end that most calls have.
void ClientInterceptors::receive_reply(orb::ObservedCall& call)
{
    std::shared_ptr<void>& state = call.state_of(this);
    ClientInfo& info = *static_cast<ClientInfo*>(state.get());
    info.ends(call.ending());
    try {
        while (info.told != 0) {
            PortableInterceptor::ClientRequestInterceptor* const interceptor =
                info.clients()[--info.told].in();
            at(info, Point::receive_reply, [&] { interceptor->receive_reply(&info); });
        }
    } catch (...) {
        Flow flow(call.ending());
        flow.end_with_current(false, flow.completion());
        tell_end(info, flow);
        ClientSpares::give_back(std::static_pointer_cast<ClientInfo>(std::move(state)));
        flow.raise_if_changed();
        return;
    }
    ClientSpares::give_back(std::static_pointer_cast<ClientInfo>(std::move(state)));
}

void ClientInterceptors::end(orb::ObservedCall& call)
{
    ClientSpares::Pointer taken =
        std::static_pointer_cast<ClientInfo>(std::move(call.state_of(this)));
    Flow flow(call.ending());
    tell_end(*taken, flow);
    ClientSpares::give_back(std::move(taken));
    if (flow.has_changed()) [[unlikely]]
        flow.raise_if_changed();
}

void ClientInterceptors::tell_end(ClientInfo& info, Flow& flow) const
{
    info.ends(flow.ending());
    while (info.told != 0) {
        PortableInterceptor::ClientRequestInterceptor* const interceptor =
            info.clients()[--info.told].in();
        const bool has_results =
            flow.ending().status == Status::successful && flow.ending().has_reply;
        try {
            if (flow.has_exception())
                at(info, Point::receive_exception, [&] { interceptor->receive_exception(&info); });
            else if (has_results)
                at(info, Point::receive_reply, [&] { interceptor->receive_reply(&info); });
            else
                at(info, Point::receive_other, [&] { interceptor->receive_other(&info); });
        } catch (...) {
            flow.end_with_current(!has_results, flow.completion());
        }
    }
}

} // namespace kairos::interceptors
