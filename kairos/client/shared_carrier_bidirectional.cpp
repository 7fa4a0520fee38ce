// SPDX-License-Identifier: Apache-2.0
//
// Calls over connections that carry requests in both directions, which the serving half reads.
#include "kairos/client/client.h"
#include "kairos/client/shared_carrier.h"

namespace kairos::orb {
namespace {

struct Call final : BidirectionalCall {
    Call(std::uint32_t id, ReplyMemory& answer_in) noexcept
        : BidirectionalCall(id), memory(answer_in)
    {
    }
    void take(const giop::Message& message, giop::Connection& connection) override
    {
        memory.take(message, connection);
    }
    ReplyMemory& memory;
};

} // namespace

Result<void> SharedCarrier::reach_both_ways(const Route& route)
{
    auto taken = Client::of(route.orb()).bidirectional().take(route);
    if (!taken) return taken.error();
    both_ways_ = std::make_unique<BidirectionalWay>(std::move(taken).value());
    return {};
}

giop::Outcome SharedCarrier::exchange_both_ways(Question& question, const Route& route)
{
    BidirectionalLink& link = *both_ways_->link;
    Call call(link.next_request_id(), memory_);
    const bool is_request = question.operation != nullptr; // LocateRequests have no contexts
    call.header = question.header(route.header(), call.request_id,
                                  is_request ? Bytes(both_ways_->contexts) : Bytes());
    call.body = question.arguments;
    call.answer_by = route.limits().reply;
    if (question.is_answered())
        call.answer = is_request ? giop::MessageType::reply : giop::MessageType::locate_reply;
    const Outcome outcome = link.exchange(call);
    if (outcome != Outcome::ok) return outcome;
    if (is_request) link.note_contexts_sent();
    if (!question.is_answered()) return Outcome::ok;
    const cdr::Fault fault = is_request ? giop::parse(memory_.taken(), *question.reply)
                                        : giop::parse(memory_.taken(), *question.locate_reply);
    return fault == cdr::Fault::none ? Outcome::ok : Outcome::malformed;
}

} // namespace kairos::orb
