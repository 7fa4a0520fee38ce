// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/collocated.h"

#include "kairos/base/deadline.h"
#include "kairos/giop/fragments.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {
namespace {

/// `header` and body as one piece of `buffer`.
MutableBytes gathered(Bytes header, const cdr::Writer& writer, cdr::Buffer& buffer)
{
    const giop::Segments segments = giop::gather(header, writer);
    const std::size_t size = segments.size();
    buffer.reserve(size, 0);
    std::byte* place = buffer.data();
    for (const Bytes segment : segments.view()) {
        std::memcpy(place, segment.data(), segment.size());
        place += segment.size();
    }
    return {buffer.data(), size};
}

giop::ServiceContexts parsed(Bytes contexts)
{
    if (contexts.empty()) return {};
    cdr::Reader reader(contexts, native_little_endian);
    return giop::ServiceContexts::read(reader);
}

/// Says, while it lives, how long the caller waits for a servant that answers later.
class AnswerDue {
  public:
    AnswerDue(UpcallMemory& memory, const Deadline& due) noexcept : memory_(memory)
    {
        memory_.answer_due = &due;
    }
    ~AnswerDue() { memory_.answer_due = nullptr; }
    AnswerDue(const AnswerDue&) = delete;
    AnswerDue& operator=(const AnswerDue&) = delete;

  private:
    UpcallMemory& memory_;
};

} // namespace

giop::Outcome CollocatedCarrier::exchange(Question& question, const Route& route)
{
    const Reference& place = route.place();
    if (question.locate_reply == nullptr) {
        giop::Reply none; // of a oneway
        const AnswerDue due(*memory_, route.limits().reply);
        call(place.orb(), place.object_key(), *question.operation, *question.arguments,
             question.reply != nullptr ? *question.reply : none, question.added_contexts);
        return Outcome::ok;
    }
    cdr::Writer body(reply_);
    question.locate_reply->status =
        location_of(place.orb(), place.object_key(), giop::version_1_2, body);
    question.locate_reply->body = cdr::Reader(body.contiguous(), native_little_endian);
    return Outcome::ok;
}

void CollocatedCarrier::call(Orb& orb, Bytes object_key, const Operation& operation,
                             const cdr::Writer& arguments, giop::Reply& reply, Bytes contexts)
{
    const Bytes body = arguments.externals().empty() ? arguments.contiguous()
                                                     : gathered({}, arguments, arguments_);
    const giop::Request request{.version = giop::version_1_2,
                                .little_endian = native_little_endian,
                                .response_flags = operation.response() == Response::required
                                                      ? giop::response_flags::sync_target
                                                      : giop::response_flags::none,
                                .request_id = 0,
                                .operation = operation.name(),
                                .target = {.disposition = giop::AddressingDisposition::key,
                                           .key = object_key,
                                           .profile_data = {},
                                           .ior = {}},
                                .contexts = parsed(contexts),
                                .body = cdr::Reader(body, native_little_endian)};
    while (dispatch(orb, request, nullptr, *this, *memory_) == Served::held)
        hold.wait();
    if (operation.response() == Response::none) return;
    giop::Message message;
    if (giop::message_of(message_, message) != giop::Fault::none ||
        giop::parse(message, reply) != cdr::Fault::none)
        raise<CORBA::INTERNAL>(minor_code::malformed_reply, CORBA::COMPLETED_MAYBE);
}

void CollocatedCarrier::send(Bytes header, const cdr::Writer& body) noexcept
{
    const bool is_one_block = header.data() + header.size() == body.contiguous().data();
    if (body.externals().empty() && is_one_block) {
        // In the memory of the upcall, which this object keeps.
        message_ = {const_cast<std::byte*>(header.data()), header.size() + body.size()};
    } else {
        message_ = gathered(header, body, reply_);
    }
}

} // namespace kairos::orb
