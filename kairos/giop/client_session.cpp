// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/client_session.h"

#include <utility>

namespace kairos::giop {

ClientSession::Event ClientSession::next(Answer& answer)
{
    const auto event = connection_.next(answer.message);
    if (event == Connection::Event::need_bytes) return Event::need_bytes;
    if (event == Connection::Event::message_with_gap)
        answer.message = connection_.filled();
    else if (event != Connection::Event::message)
        return end(event);
    const auto look = [&](auto&& found) {
        const cdr::Fault fault = parse(answer.message, found);
        if (fault != cdr::Fault::none) return refuse(fault);
        answer.request_id = found.request_id;
        return Event::answer;
    };
    return answer.message.type == MessageType::reply ? look(Reply()) : look(LocateReply());
}

ClientSession::Event ClientSession::drop_late()
{
    for (Message message; late_ != 0; --late_) {
        const auto event = connection_.next(message);
        if (event == Connection::Event::need_bytes) return Event::need_bytes;
        if (event != Connection::Event::message && event != Connection::Event::message_with_gap)
            return end(event);
    }
    if (connection_.between_messages()) return Event::answer;
    outcome_ = Outcome::lost;
    return Event::ended;
}

bool ClientSession::look_before_gap(Message& message, Reply& reply) noexcept
{
    if (message.type == MessageType::reply && parse(message, reply) == cdr::Fault::none &&
        connection_.enter_gap(reply.body))
        return true;
    message = connection_.filled();
    return false;
}

bool ClientSession::look_before_gap(Message& message, LocateReply&) noexcept
{
    message = connection_.filled();
    return false;
}

ClientSession::Event ClientSession::end(Connection::Event event) noexcept
{
    switch (event) {
    case Connection::Event::closed:
        outcome_ = Outcome::not_executed;
        break;
    case Connection::Event::message_error:
        outcome_ = Outcome::message_error;
        break;
    default:
        outcome_ = Outcome::malformed;
        why_ = describe(connection_.fault());
    }
    return Event::ended;
}

ClientSession::Event ClientSession::refuse(cdr::Fault fault) noexcept
{
    outcome_ = Outcome::malformed;
    why_ = cdr::describe(fault);
    return Event::ended;
}

bool PendingRequests::add(PendingRequest& request) noexcept
{
    if (*find(request.request_id) != nullptr) return false;
    PendingRequest*& bucket = buckets_[request.request_id % bucket_count];
    request.next_ = std::exchange(bucket, &request);
    ++count_;
    return true;
}

void PendingRequests::remove(PendingRequest& request) noexcept
{
    PendingRequest** const place = find(request.request_id);
    if (*place != &request) return;
    *place = request.next_;
    --count_;
}

PendingRequest* PendingRequests::claim(const Answer& answer) noexcept
{
    PendingRequest* const request = *find(answer.request_id);
    if (request == nullptr) return nullptr;
    if (request->answer != answer.message.type || request->sent == Sent::no) return nullptr;
    remove(*request);
    return request;
}

} // namespace kairos::giop
