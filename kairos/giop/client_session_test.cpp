// SPDX-License-Identifier: Apache-2.0
//
// A client's and a server's protocol joined by memory, without a socket: which calls are answered,
// which may be sent again and which are lost, wherever the connection ends and whatever comes in
// between. First at every octet of one conversation, then by seeds: KAIROS_SIM_SEED=<n> repeats
// one seed, KAIROS_SIM_SEEDS=<n> runs so many.
#include "kairos/giop/client_session.h"
#include "kairos/giop/request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>

namespace kairos::giop {
namespace {

using Event = ClientSession::Event;
using Octets = std::vector<std::byte>;

constexpr std::array versions{version_1_0, version_1_1, version_1_2};

/// A message of either byte order, as a server may send it.
class Wire {
  public:
    Wire(Version version, MessageType type, bool little, bool more_fragments = false)
        : little_(little)
    {
        for (const char letter : {'G', 'I', 'O', 'P'})
            octets_.push_back(static_cast<std::byte>(letter));
        octets_.push_back(std::byte{version.major});
        octets_.push_back(std::byte{version.minor});
        octets_.push_back(static_cast<std::byte>((little ? 1 : 0) | (more_fragments ? 2 : 0)));
        octets_.push_back(static_cast<std::byte>(type));
        add(0);
    }
    Wire& add(std::uint32_t value)
    {
        for (unsigned i = 0; i < 4; ++i)
            octets_.push_back(static_cast<std::byte>(value >> 8 * (little_ ? i : 3 - i)));
        return *this;
    }
    Wire& add(Bytes bytes)
    {
        octets_.insert(octets_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    Octets done()
    {
        const auto size = static_cast<std::uint32_t>(octets_.size() - header_size);
        for (unsigned i = 0; i < 4; ++i)
            octets_[8 + i] = static_cast<std::byte>(size >> 8 * (little_ ? i : 3 - i));
        return octets_;
    }

  private:
    Octets octets_;
    bool little_;
};

/// Octets that say which request's they are.
Octets body_of(std::uint32_t id, std::size_t size)
{
    Octets body(size);
    for (std::size_t i = 0; i < size; ++i)
        body[i] = static_cast<std::byte>(id * 31 + i);
    return body;
}

Octets reply_to(std::uint32_t id, Version version, bool little, std::size_t size)
{
    Wire wire(version, MessageType::reply, little);
    if (version >= version_1_2)
        wire.add(id).add(0).add(0);
    else
        wire.add(0).add(id).add(0);
    return wire.add(body_of(id, size)).done();
}

Octets locate_reply_to(std::uint32_t id, Version version, bool little)
{
    return Wire(version, MessageType::locate_reply, little).add(id).add(1).done();
}

/// A GIOP 1.2 reply in parts of so many octets, a multiple of eight.
std::vector<Octets> parts_of(const Octets& reply, std::uint32_t id, bool little, std::size_t size)
{
    std::vector<Octets> parts;
    Bytes left = Bytes(reply).subspan(header_size);
    bool first = true;
    while (!left.empty()) {
        const std::size_t step = std::min(left.size(), first ? size - header_size : size);
        const bool more = step < left.size();
        Wire wire(version_1_2, first ? MessageType::reply : MessageType::fragment, little, more);
        if (!first) wire.add(id);
        parts.push_back(wire.add(left.first(step)).done());
        left = left.subspan(step);
        first = false;
    }
    return parts;
}

Octets request_of(std::uint32_t id, Version version, std::uint8_t flags, std::size_t size)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer, 128);
    writer.write_bytes(body_of(id, size));
    const RequestTemplate target(version, as_bytes("key"));
    Octets octets(target.headroom(4), std::byte{});
    const auto header = target.prepend(Body::of(writer, 128), id, flags, "call");
    octets.assign(header.begin(), header.end());
    octets.insert(octets.end(), writer.contiguous().begin(), writer.contiguous().end());
    return octets;
}

Octets locate_request_of(std::uint32_t id, Version version)
{
    const RequestTemplate target(version, as_bytes("key"));
    Octets octets(target.locate_size());
    octets.resize(target.locate(octets, id).size());
    return octets;
}

/// Gives a session or connection what it has room for; returns how much that is.
template <typename Receiver>
std::size_t feed(Receiver& receiver, Bytes bytes)
{
    const MutableBytes space = receiver.space();
    const std::size_t size = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), size);
    receiver.received(size);
    return size;
}

// --- every octet ---------------------------------------------------------------------------------

/// What a server sends to the requests 1 (a call), 2 (a LocateRequest), 3 (a call given up) and 4
/// (a call that it does not serve), and behind which octet each is answered.
struct Conversation {
    Octets stream;
    std::map<std::uint32_t, std::size_t> answered_behind;
    std::size_t closed_behind = 0;

    Conversation(Version version, bool little)
    {
        const Octets reply = reply_to(1, version, little, 120);
        const auto parts = parts_of(reply, 1, little, 48);
        if (version >= version_1_2) add(parts[0]);
        add(reply_to(3, version, little, 9)); // late
        add(locate_reply_to(2, version, little));
        answered_behind[2] = stream.size();
        for (std::size_t i = 1; version >= version_1_2 && i < parts.size(); ++i)
            add(parts[i]);
        if (version < version_1_2) add(reply);
        answered_behind[1] = stream.size();
        add(reply_to(77, version, little, 4)); // to nothing that was ever asked
        add(Wire(version, MessageType::close_connection, little).done());
        closed_behind = stream.size();
        add(reply_to(4, version, little, 8)); // too late for a server to say
    }

    void add(Bytes octets) { stream.insert(stream.end(), octets.begin(), octets.end()); }
};

/// All of them wait together, as over a shared connection.
void check_together(const Conversation& talk, std::size_t end, std::size_t step)
{
    ClientSession session;
    PendingRequests pending;
    std::deque<PendingRequest> requests;
    for (std::uint32_t id = 1; id <= 4; ++id) {
        PendingRequest& request = requests.emplace_back(session.next_shared_request_id());
        request.answer = id == 2 ? MessageType::locate_reply : MessageType::reply;
        request.sent = Sent::wholly;
        ASSERT_TRUE(pending.add(request));
    }
    pending.remove(requests[2]); // given up
    std::map<std::uint32_t, std::size_t> answered;
    Outcome outcome = Outcome::lost; // the end, if nothing has been said before
    for (std::size_t at = 0; at < end && outcome == Outcome::lost;) {
        at += feed(session, Bytes(talk.stream).subspan(at, std::min(step, end - at)));
        for (Answer answer;;) {
            const Event event = session.next(answer);
            if (event == Event::ended) outcome = session.outcome();
            if (event != Event::answer) break;
            if (pending.claim(answer) == nullptr) continue;
            EXPECT_TRUE(answered.emplace(answer.request_id, at).second);
        }
    }
    for (const auto& [id, behind] : talk.answered_behind) {
        ASSERT_EQ(answered.contains(id), end >= behind) << "request " << id << ", " << end;
        if (step == 1 && end >= behind) {
            EXPECT_EQ(answered[id], behind);
        }
    }
    EXPECT_EQ(answered.size(), (end >= talk.answered_behind.at(1) ? 1u : 0u) +
                                   (end >= talk.answered_behind.at(2) ? 1u : 0u));
    // What waits still was not executed only where the server has said so.
    EXPECT_EQ(outcome, end >= talk.closed_behind ? Outcome::not_executed : Outcome::lost);
}

TEST(ClientSession, end_of_a_shared_connection_at_every_octet)
{
    for (const Version version : versions) {
        for (const bool little : {false, true}) {
            const Conversation talk(version, little);
            for (std::size_t end = 0; end <= talk.stream.size(); ++end)
                for (const std::size_t step : {std::size_t{1}, std::size_t{7}, end + 1})
                    check_together(talk, end, step);
        }
    }
}

/// One after the other, as over a connection of a thread's own: a call that is given up, whose
/// answer must come before the connection is used again, then a LocateRequest and a call.
TEST(ClientSession, end_of_an_own_connection_at_every_octet)
{
    for (const Version version : versions) {
        const bool little = version.minor != 1;
        std::array<std::size_t, 3> behind{};
        Octets stream = reply_to(1, version, little, 100);
        behind[0] = stream.size();
        const Octets located = locate_reply_to(2, version, little);
        stream.insert(stream.end(), located.begin(), located.end());
        behind[1] = stream.size();
        const Octets reply = reply_to(3, version, little, 40);
        stream.insert(stream.end(), reply.begin(), reply.end());
        behind[2] = stream.size();
        for (std::size_t end = 0; end <= stream.size(); ++end) {
            ClientSession session;
            EXPECT_EQ(session.next_request_id(), 1u);
            Message cancel;
            auto octets = session.give_up(version);
            ASSERT_EQ(message_of(octets, cancel), Fault::none);
            CancelRequest cancelled;
            ASSERT_EQ(parse(cancel, cancelled), cdr::Fault::none);
            EXPECT_EQ(cancelled.request_id, 1u);
            EXPECT_EQ(cancel.version, version);
            std::size_t fed = 0;
            const auto await = [&](auto&& next) {
                for (;;) {
                    const Event event = next();
                    if (event != Event::need_bytes || fed == end) return event;
                    fed += feed(session, Bytes(stream).subspan(fed, 1));
                }
            };
            LocateReply located_at;
            Reply answer;
            std::size_t answered = 0;
            EXPECT_TRUE(session.expects_late());
            if (await([&] { return session.drop_late(); }) == Event::answer) {
                EXPECT_FALSE(session.expects_late());
                ++answered;
                const auto id = session.next_request_id();
                if (await([&] { return session.next(id, located_at); }) == Event::answer) {
                    EXPECT_EQ(located_at.status, LocateStatus::object_here);
                    ++answered;
                    const auto next = session.next_request_id();
                    if (await([&] { return session.next(next, answer); }) == Event::answer) {
                        const Bytes body = answer.body.bytes().subspan(answer.body.offset());
                        EXPECT_EQ(Octets(body.begin(), body.end()), body_of(3, 40));
                        ++answered;
                    }
                }
            }
            EXPECT_EQ(answered, static_cast<std::size_t>(std::ranges::count_if(
                                    behind, [&](std::size_t b) { return end >= b; })));
        }
    }
}

TEST(ClientSession, bytes_behind_a_late_answer_keep_the_connection_from_use)
{
    ClientSession session;
    (void)session.next_request_id();
    (void)session.give_up(version_1_2);
    Octets stream = reply_to(1, version_1_2, true, 8);
    stream.push_back(std::byte{'G'});
    ASSERT_EQ(feed(session, stream), stream.size());
    EXPECT_EQ(session.drop_late(), Event::ended);
    EXPECT_EQ(session.outcome(), Outcome::lost);
}

TEST(ClientSession, says_what_a_malformed_answer_is_refused_with)
{
    for (const bool locates : {false, true}) {
        ClientSession session;
        const auto id = session.next_request_id();
        Octets stream =
            locates ? locate_reply_to(id, version_1_1, true) : reply_to(id, version_1_1, true, 8);
        stream[16 + (locates ? 0 : 4)] = std::byte{99}; // the status
        ASSERT_EQ(feed(session, stream), stream.size());
        Reply reply;
        LocateReply locate_reply;
        EXPECT_EQ(locates ? session.next(id, locate_reply) : session.next(id, reply), Event::ended);
        EXPECT_EQ(session.outcome(), Outcome::malformed);
        EXPECT_FALSE(session.why().empty());
        EXPECT_EQ(session.refusal(), message_error(version_1_1));
    }
}

TEST(ClientSession, contexts_go_out_once_and_only_1_2_says_goodbye)
{
    ClientSession session;
    const Octets contexts(8);
    EXPECT_EQ(session.contexts(contexts).size(), 8u);
    EXPECT_EQ(session.contexts(contexts).size(), 8u); // until they are sent
    session.note_contexts_sent();
    EXPECT_TRUE(session.contexts(contexts).empty());
    EXPECT_EQ(session.peer_version(), version_1_0);
    EXPECT_FALSE(ClientSession::farewell(version_1_0));
    EXPECT_FALSE(ClientSession::farewell(version_1_1));
    EXPECT_EQ(ClientSession::farewell(version_1_2), close_connection(version_1_2));
}

TEST(PendingRequests, claim_only_what_the_peer_can_answer)
{
    PendingRequests pending;
    std::deque<PendingRequest> requests;
    for (const std::uint32_t id : {1u, 257u, 513u}) { // of one bucket
        PendingRequest& request = requests.emplace_back(id);
        request.answer = MessageType::reply;
        ASSERT_TRUE(pending.add(request));
    }
    PendingRequest same(257);
    same.answer = MessageType::reply;
    EXPECT_FALSE(pending.add(same));
    const auto claim = [&](std::uint32_t id, MessageType type) {
        Answer answer{.message = {.version = version_1_2, .type = type, .bytes = {}},
                      .request_id = id};
        return pending.claim(answer);
    };
    EXPECT_EQ(claim(257, MessageType::reply), nullptr); // nothing of it was sent
    requests[1].sent = Sent::partly;
    EXPECT_EQ(claim(257, MessageType::locate_reply), nullptr);
    EXPECT_EQ(claim(257, MessageType::reply), &requests[1]);
    EXPECT_EQ(claim(257, MessageType::reply), nullptr); // once
    pending.remove(requests[1]);
    pending.remove(requests[0]);
    std::vector<std::uint32_t> left;
    pending.take_all([&](PendingRequest& request) { left.push_back(request.request_id); });
    EXPECT_EQ(left, std::vector<std::uint32_t>{513});
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(outcome_when_late(Sent::no), Outcome::not_sent);
    EXPECT_EQ(outcome_when_late(Sent::partly), Outcome::late);
    EXPECT_EQ(outcome_when_late(Sent::wholly), Outcome::late);
}

// --- by seeds ------------------------------------------------------------------------------------

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t bound) { return engine_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }

  private:
    std::mt19937_64 engine_;
};

/// How one call ended, if it has.
struct Call : PendingRequest {
    using PendingRequest::PendingRequest;

    Version version;
    std::size_t size = 0; ///< of its body, both ways
    std::optional<Outcome> outcome;
};

/// Serves requests in any order, and may close in order, in the middle of everything, or lie.
class Server {
  public:
    explicit Server(Random& random) : random_(random) {}

    void receive(Bytes bytes)
    {
        while (!bytes.empty()) {
            const std::size_t size = feed(connection_, bytes);
            bytes = bytes.subspan(size);
            for (Message message; connection_.next(message) == Connection::Event::message;)
                if (!closing_) take(message);
        }
    }
    /// One of the answers, or a part of one.
    void answer(Octets& wire)
    {
        if (parts_.empty() || (random_.chance(50) && !answers_.empty())) begin_answer(wire);
        if (parts_.empty()) return;
        const auto place =
            parts_.begin() + static_cast<std::ptrdiff_t>(random_.below(parts_.size()));
        wire.insert(wire.end(), place->front().begin(), place->front().end());
        place->pop_front();
        if (place->empty()) parts_.erase(place);
    }
    /// What it says to something that was never asked, or of the wrong kind.
    void lie(Octets& wire, std::uint32_t id)
    {
        const Octets lie = random_.chance(50) ? reply_to(id, version_1_2, random_.chance(50), 5)
                                              : locate_reply_to(id, version_1_0, true);
        wire.insert(wire.end(), lie.begin(), lie.end());
    }
    void close() { closing_ = true; }
    /// The last word, when everything that was begun is answered.
    bool say_goodbye(Octets& wire)
    {
        if (!closing_ || !is_idle()) return false;
        const Octets bye =
            Wire(version_1_2, MessageType::close_connection, random_.chance(50)).done();
        wire.insert(wire.end(), bye.begin(), bye.end());
        return true;
    }
    [[nodiscard]] bool is_idle() const { return answers_.empty() && parts_.empty(); }

    std::map<std::uint32_t, int> executed;

  private:
    struct Job {
        std::uint32_t id;
        Version version;
        std::size_t size;
        bool locates;
    };

    void take(const Message& message)
    {
        Request request;
        LocateRequest locate;
        CancelRequest cancel;
        switch (message.type) {
        case MessageType::request: {
            ASSERT_EQ(parse(message, request), cdr::Fault::none);
            const std::size_t size = request.body.left();
            const Bytes body = request.body.bytes().subspan(request.body.offset());
            ASSERT_EQ(Octets(body.begin(), body.end()), body_of(request.request_id, size));
            ++executed[request.request_id];
            if (request.response_expected())
                answers_.push_back({request.request_id, message.version, size, false});
            return;
        }
        case MessageType::locate_request:
            ASSERT_EQ(parse(message, locate), cdr::Fault::none);
            ++executed[locate.request_id];
            answers_.push_back({locate.request_id, message.version, 0, true});
            return;
        case MessageType::cancel_request:
            ASSERT_EQ(parse(message, cancel), cdr::Fault::none);
            if (random_.chance(50)) // else it answers all the same, late
                std::erase_if(answers_,
                              [&](const Job& job) { return job.id == cancel.request_id; });
            return;
        default:
            FAIL() << describe(message.type);
        }
    }
    void begin_answer(Octets& wire)
    {
        if (answers_.empty()) return;
        const auto place =
            answers_.begin() + static_cast<std::ptrdiff_t>(random_.below(answers_.size()));
        const Job job = *place;
        answers_.erase(place);
        const bool little = random_.chance(50);
        const Octets whole = job.locates ? locate_reply_to(job.id, job.version, little)
                                         : reply_to(job.id, job.version, little, job.size);
        if (job.locates || job.version < version_1_2 || random_.chance(40)) {
            wire.insert(wire.end(), whole.begin(), whole.end());
            return;
        }
        const auto parts = parts_of(whole, job.id, little, 8 * (3 + random_.below(20)));
        if (parts_.size() < 5) // limits::fragmented_messages_max is not much more
            parts_.emplace_back(parts.begin(), parts.end());
        else
            wire.insert(wire.end(), whole.begin(), whole.end());
    }

    Random& random_;
    Connection connection_{Connection::Role::server};
    std::vector<Job> answers_;
    std::vector<std::deque<Octets>> parts_; // of answers that have begun
    bool closing_ = false;
};

class World {
  public:
    using Tally = std::map<Outcome, int>;

    explicit World(std::uint64_t seed) : random_(seed), server_(random_) {}

    void play()
    {
        const std::size_t steps = 20 + random_.below(300);
        const bool ends_badly = random_.chance(40);
        for (std::size_t i = 0; i < steps && !ended_; ++i)
            step();
        if (!ended_ && ends_badly) {
            end(Outcome::lost); // in the middle of whatever there is
        } else {
            if (random_.chance(50)) server_.close();
            finish();
        }
        check(ends_badly);
    }
    /// Adds how the calls ended.
    void count(Tally& tally) const
    {
        for (const Call& call : calls_)
            if (call.outcome) ++tally[*call.outcome];
    }

  private:
    struct Outgoing {
        Octets octets;
        std::size_t written = 0;
        Call* call = nullptr;
    };

    void step()
    {
        const std::size_t what = random_.below(100);
        if (what < 25)
            begin_call();
        else if (what < 50)
            write();
        else if (what < 65)
            deliver_requests();
        else if (what < 80)
            server_.answer(to_client_);
        else if (what < 94)
            deliver_answers();
        else if (what < 98)
            give_up();
        else if (what < 99)
            server_.lie(to_client_, static_cast<std::uint32_t>(1'000 + random_.below(9)));
        else if (random_.chance(10))
            server_.close();
    }

    void begin_call()
    {
        Call& call = calls_.emplace_back(session_.next_shared_request_id());
        call.version = versions[random_.below(versions.size())];
        const std::size_t kind = random_.below(10);
        call.size = kind < 8 ? random_.below(200) : random_.below(20'000);
        Outgoing out;
        out.call = &call;
        const std::uint32_t id = call.request_id;
        if (kind == 0) {
            call.answer = MessageType::locate_reply;
            out.octets = locate_request_of(id, call.version);
        } else {
            const bool oneway = kind == 1;
            if (!oneway) call.answer = MessageType::reply;
            out.octets =
                request_of(id, call.version,
                           oneway ? response_flags::none : response_flags::sync_target, call.size);
        }
        if (call.answer) {
            ASSERT_TRUE(pending_.add(call));
        }
        outgoing_.push_back(std::move(out));
    }
    /// As much as the system takes.
    void write()
    {
        std::size_t room = random_.chance(70) ? 1 + random_.below(300) : 30'000;
        while (room != 0 && !outgoing_.empty()) {
            Outgoing& out = outgoing_.front();
            const std::size_t size = std::min(room, out.octets.size() - out.written);
            const Bytes part = Bytes(out.octets).subspan(out.written, size);
            to_server_.insert(to_server_.end(), part.begin(), part.end());
            out.written += size;
            room -= size;
            const bool whole = out.written == out.octets.size();
            if (out.call != nullptr) {
                out.call->sent = whole ? Sent::wholly : Sent::partly;
                if (whole && !out.call->answer) out.call->outcome = Outcome::ok;
            }
            if (whole) outgoing_.pop_front();
        }
    }
    void deliver_requests()
    {
        const std::size_t size = std::min(to_server_.size(), 1 + random_.below(500));
        server_.receive(Bytes(to_server_).first(size));
        to_server_.erase(to_server_.begin(),
                         to_server_.begin() + static_cast<std::ptrdiff_t>(size));
    }
    void deliver_answers()
    {
        const std::size_t wish = std::min(to_client_.size(), 1 + random_.below(500));
        if (wish == 0) return;
        const std::size_t size = feed(session_, Bytes(to_client_).first(wish));
        to_client_.erase(to_client_.begin(),
                         to_client_.begin() + static_cast<std::ptrdiff_t>(size));
        for (Answer answer; !ended_;) {
            const Event event = session_.next(answer);
            if (event == Event::ended) end(session_.outcome());
            if (event != Event::answer) return;
            if (PendingRequest* const request = pending_.claim(answer)) take(*request, answer);
        }
    }
    void take(PendingRequest& request, const Answer& answer)
    {
        Call& call = static_cast<Call&>(request);
        ASSERT_FALSE(call.outcome);
        EXPECT_EQ(server_.executed[request.request_id], 1);
        call.outcome = Outcome::ok;
        if (answer.message.type != MessageType::reply) return;
        Reply reply;
        ASSERT_EQ(parse(answer.message, reply), cdr::Fault::none);
        const Bytes body = reply.body.bytes().subspan(reply.body.offset());
        EXPECT_EQ(Octets(body.begin(), body.end()), body_of(request.request_id, call.size));
    }
    void give_up()
    {
        if (calls_.empty()) return;
        Call& call = calls_[random_.below(calls_.size())];
        if (call.outcome || !call.answer) return;
        pending_.remove(call);
        call.outcome = outcome_when_late(call.sent);
        if (call.sent == Sent::no)
            std::erase_if(outgoing_, [&](const Outgoing& out) { return out.call == &call; });
        if (call.sent != Sent::wholly || call.answer != MessageType::reply) return;
        const auto cancel = cancel_request(call.version, call.request_id);
        outgoing_.push_back({.octets = Octets(cancel.begin(), cancel.end()), .call = nullptr});
    }
    void end(Outcome outcome)
    {
        ended_ = true;
        outcome_ = outcome;
        pending_.take_all([&](PendingRequest& request) {
            Call& call = static_cast<Call&>(request);
            EXPECT_FALSE(call.outcome);
            call.outcome = request.sent == Sent::wholly ? outcome : Outcome::not_executed;
        });
    }
    /// Everything that is under way arrives.
    void finish()
    {
        for (int i = 0; i < 100'000 && !ended_; ++i) {
            write();
            deliver_requests();
            server_.answer(to_client_);
            deliver_answers();
            if (outgoing_.empty() && to_server_.empty() && to_client_.empty() &&
                server_.is_idle() && !server_.say_goodbye(to_client_))
                return;
        }
        EXPECT_TRUE(ended_);
    }
    void check(bool ends_badly)
    {
        for (const Call& call : calls_) {
            const std::uint32_t id = call.request_id;
            const auto found = server_.executed.find(id);
            const int executed = found == server_.executed.end() ? 0 : found->second;
            EXPECT_LE(executed, 1) << id;
            if (!call.answer) continue;
            ASSERT_TRUE(call.outcome || !ended_) << id;
            // What may be sent again was not executed, and will not be.
            if (call.outcome == Outcome::not_executed || call.outcome == Outcome::not_sent) {
                EXPECT_EQ(executed, 0) << id;
            }
            if (call.outcome == Outcome::ok) {
                EXPECT_EQ(executed, 1) << id;
            }
            if (call.outcome == Outcome::lost) {
                EXPECT_TRUE(ends_badly);
            }
            // Nobody waits for ever where everything has arrived.
            if (!ended_) {
                EXPECT_TRUE(call.outcome) << id;
            }
        }
        if (ended_ && !ends_badly) {
            EXPECT_EQ(outcome_, Outcome::not_executed);
        }
    }

    Random random_;
    Server server_;
    ClientSession session_;
    PendingRequests pending_;
    std::deque<Call> calls_;
    std::deque<Outgoing> outgoing_;
    Octets to_server_;
    Octets to_client_;
    bool ended_ = false;
    Outcome outcome_ = Outcome::ok;
};

TEST(ClientSession, pair_simulation)
{
    const char* const one = std::getenv("KAIROS_SIM_SEED");
    const char* const many = std::getenv("KAIROS_SIM_SEEDS");
    const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
    const std::uint64_t count = one != nullptr    ? 1
                                : many != nullptr ? std::strtoull(many, nullptr, 10)
                                                  : 400;
    World::Tally tally;
    for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World world(seed);
        world.play();
        world.count(tally);
    }
    if (one != nullptr) return;
    for (const Outcome outcome :
         {Outcome::ok, Outcome::not_executed, Outcome::lost, Outcome::not_sent, Outcome::late})
        EXPECT_GE(tally[outcome], 10) << static_cast<int>(outcome);
}

} // namespace
} // namespace kairos::giop
