// SPDX-License-Identifier: Apache-2.0
//
// What a hostile server may send to a client that waits for answers: an arbitrary stream, cut into
// reads by the input. Whatever it is, each request is answered once at most, by an answer of the
// type that was asked for and only if the peer has something of the request; the connection ends
// once, and nothing comes behind its end. Input: which way of waiting and what was sent of each
// request, how to cut, then the stream.
#include "kairos/base/check.h"
#include "kairos/giop/client_session.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

using namespace kairos;
using namespace kairos::giop;

namespace {

using Event = ClientSession::Event;

/// Reads every octet, so that the sanitizer sees each one.
unsigned touch(Bytes bytes)
{
    unsigned sum = 0;
    for (const std::byte octet : bytes)
        sum += std::to_integer<unsigned>(octet);
    return sum;
}

void check_end(const ClientSession& session)
{
    const Outcome outcome = session.outcome();
    KAIROS_CHECK(outcome == Outcome::not_executed || outcome == Outcome::message_error ||
                 outcome == Outcome::malformed || outcome == Outcome::lost);
    KAIROS_CHECK(session.why().empty() == (outcome != Outcome::malformed));
    KAIROS_CHECK(supported(session.peer_version()));
    Message refusal;
    auto octets = session.refusal();
    KAIROS_CHECK(message_of(octets, refusal) == Fault::none &&
                 refusal.type == MessageType::message_error);
}

/// One call after the other waits, as over a connection of a thread's own.
class Alone {
  public:
    explicit Alone(ClientSession& session, unsigned shape) : session_(session), locates_(shape & 1)
    {
        id_ = session_.next_request_id();
        if ((shape & 2) == 0) return;
        (void)session_.give_up(version_1_2); // the first one, and a second waits
        drops_ = true;
        id_ = session_.next_request_id();
    }

    /// Returns false when the connection has ended.
    bool drain()
    {
        for (;;) {
            const Event event = drops_ ? session_.drop_late() : wait();
            if (event == Event::need_bytes) return true;
            if (event == Event::ended) return false;
            drops_ = false;
        }
    }

  private:
    Event wait()
    {
        const Event event = locates_ ? wait_for(locate_reply_) : wait_for(reply_);
        if (event != Event::answer) return event;
        id_ = session_.next_request_id(); // and so does the next one
        locates_ = !locates_;
        return event;
    }
    template <typename Found>
    Event wait_for(Found& answer)
    {
        const Event event = session_.next(id_, answer);
        if (event != Event::answer) return event;
        KAIROS_CHECK(answer.request_id == id_);
        (void)touch(answer.body.bytes());
        return event;
    }

    ClientSession& session_;
    bool locates_;
    bool drops_ = false;
    std::uint32_t id_;
    Reply reply_;
    LocateReply locate_reply_;
};

/// Several calls wait at the same time, as over a connection that threads share.
class Together {
  public:
    explicit Together(ClientSession& session, unsigned shape) : session_(session)
    {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            PendingRequest& request = requests_[i];
            request.answer = i % 2 == 0 ? MessageType::reply : MessageType::locate_reply;
            request.sent = static_cast<Sent>((shape + i) % 3);
            KAIROS_CHECK(pending_.add(request));
        }
    }

    bool drain()
    {
        for (Answer answer;;) {
            const Event event = session_.next(answer);
            if (event == Event::need_bytes) return true;
            if (event == Event::ended) break;
            (void)touch(answer.message.bytes);
            const PendingRequest* const request = pending_.claim(answer);
            if (request == nullptr) continue;
            KAIROS_CHECK(request->request_id == answer.request_id);
            KAIROS_CHECK(request->answer == answer.message.type && request->sent != Sent::no);
            KAIROS_CHECK(answered_.insert(request->request_id).second);
        }
        std::size_t left = 0;
        pending_.take_all([&](const PendingRequest& request) {
            ++left;
            KAIROS_CHECK(!answered_.contains(request.request_id));
        });
        KAIROS_CHECK(left + answered_.size() == requests_.size() && pending_.empty());
        return false;
    }

  private:
    ClientSession& session_;
    // Two buckets hold several.
    std::array<PendingRequest, 6> requests_{PendingRequest(1),   PendingRequest(2),
                                            PendingRequest(257), PendingRequest(258),
                                            PendingRequest(513), PendingRequest(0xffffffff)};
    PendingRequests pending_;
    std::set<std::uint32_t> answered_;
};

template <typename Waiting>
void play(Bytes stream, unsigned shape, std::uint8_t cuts)
{
    ClientSession session((shape & 4) != 0 ? 256 : limits::message_size_max,
                          ReadSizes::of((shape & 8) == 0));
    Waiting waiting(session, shape >> 4);
    std::uint32_t cut = cuts;
    bool goes_on = true;
    while (!stream.empty()) {
        const MutableBytes space = session.space();
        cut = cut * 1664525 + 1013904223; // cuts of 0 read as much as there is room for
        const std::size_t wish = cuts == 0 ? space.size() : 1 + (cut >> 24) % cuts;
        const std::size_t step = std::min({wish, space.size(), stream.size()});
        std::memcpy(space.data(), stream.data(), step);
        session.received(step);
        stream = stream.subspan(step);
        if (goes_on) {
            goes_on = waiting.drain();
            if (!goes_on) check_end(session);
        } else if (session.connection().ended()) {
            Answer answer;
            KAIROS_CHECK(session.next(answer) == Event::need_bytes);
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) return 0;
    const Bytes stream = std::as_bytes(std::span(data, size)).subspan(2);
    if ((data[0] & 1) != 0)
        play<Together>(stream, data[0], data[1]);
    else
        play<Alone>(stream, data[0], data[1]);
    return 0;
}
