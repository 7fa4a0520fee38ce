// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynamic/responses.h"

#include "kairos/dynamic/under_way.h"
#include "kairos/net/socket.h"

#include <algorithm>
#include <chrono>

namespace kairos::dynamic {

namespace {

constexpr std::chrono::milliseconds ask_again_after{20};

} // namespace

/// Takes no reply: that is done by the thread whose request it is.
CORBA::Request_ptr Responses::ready_among(const Requests& requests)
{
    for (const CORBA::Request_var& request : requests)
        if (request->call_->is_answered()) return request.in();
    return nullptr;
}

void Responses::add(CORBA::Request_ptr request)
{
    const std::lock_guard lock(mutex_);
    requests_.emplace_back(CORBA::Request::_duplicate(request));
}

void Responses::end() noexcept
{
    Requests requests;
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
}

/// Without those that were fetched one by one.
Responses::Requests Responses::outstanding()
{
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [](const CORBA::Request_var& request) {
        return request->state_ != CORBA::Request::State::outstanding;
    });
    return requests_;
}

void Responses::remove(CORBA::Request_ptr request)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [&](const CORBA::Request_var& one) { return one.in() == request; });
}

CORBA::Request_ptr Responses::wait()
{
    const std::lock_guard waiting(waiting_mutex_);
    const Requests requests = outstanding();
    if (requests.empty())
        throw CORBA::BAD_INV_ORDER(mapping::omg_minor(11), CORBA::COMPLETED_NO,
                                   "no request is outstanding");
    CORBA::Request_ptr ready = ready_among(requests);
    while (ready == nullptr) {
        await_any(requests, {}, nullptr);
        ready = ready_among(requests);
    }
    remove(ready);
    return CORBA::Request::_duplicate(ready);
}

void Responses::await_any(const Requests& requests, Deadline deadline, const net::Socket* wake)
{
    std::vector<const net::Socket*> sockets;
    for (const CORBA::Request_var& request : requests) {
        sockets.push_back(request->socket());
        deadline = earlier(deadline, request->deadline());
    }
    if (wake != nullptr) sockets.push_back(wake);
    net::wait_any_readable(sockets, deadline);
}

bool Responses::await(Deadline deadline, const net::Socket* wake)
{
    const std::unique_lock waiting(waiting_mutex_, std::try_to_lock);
    if (!waiting) { // another thread waits for the next response: whether it left one nobody says
        await_any({}, earlier(deadline, Deadline::after(ask_again_after)), wake);
        return true;
    }
    const Requests requests = outstanding();
    if (requests.empty() && wake == nullptr) return false;
    if (ready_among(requests) == nullptr) await_any(requests, deadline, wake);
    return true;
}

bool Responses::poll()
{
    const std::unique_lock waiting(waiting_mutex_, std::try_to_lock);
    return waiting && ready_among(outstanding()) != nullptr;
}

} // namespace kairos::dynamic

namespace CORBA {

using kairos::dynamic::Responses;

namespace {

/// Sends each, and only then says what went wrong first.
template <typename Send>
void send_all(const RequestSeq& requests, Send send)
{
    std::exception_ptr first;
    for (ULong i = 0; i < requests.length(); ++i) {
        try {
            if (is_nil(requests[i])) throw BAD_PARAM(0, COMPLETED_NO, "a nil request");
            send(*requests[i]);
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

} // namespace

kairos::corba::OrbAttachment& ORB::responses()
{
    require_running();
    const std::lock_guard lock(state_->mutex);
    if (state_->responses == nullptr) state_->responses = std::make_unique<Responses>();
    return *state_->responses;
}

void ORB::send_multiple_requests_oneway(const RequestSeq& requests)
{
    require_running();
    send_all(requests, [](Request& request) { request.send_oneway(); });
}

void ORB::send_multiple_requests_deferred(const RequestSeq& requests)
{
    auto& list = static_cast<Responses&>(responses());
    send_all(requests, [&](Request& request) {
        request.send_deferred();
        list.add(&request);
    });
}

Boolean ORB::poll_next_response() { return static_cast<Responses&>(responses()).poll(); }

void ORB::get_next_response(Request_out request)
{
    Request_var next = static_cast<Responses&>(responses()).wait();
    try {
        next->get_response();
    } catch (const SystemException&) { // Request::env has it
    }
    request = next._retn();
}

} // namespace CORBA
