// SPDX-License-Identifier: Apache-2.0
//
// A client's and a server's GIOP engine joined by memory that cuts reads anywhere, sends parts of
// messages in any order, cancels, closes, ends in the middle and lies. Whatever the seed: messages
// arrive whole, once, in the order of their last part, or the connection ends, once, and after its
// end nothing arrives; memory follows what was sent.
// KAIROS_SIM_SEED=<n> repeats one seed, KAIROS_SIM_SEEDS=<n> runs so many.
#include "kairos/giop/connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>

namespace kairos::giop {
namespace {

using Octets = std::vector<std::byte>;
using Event = Connection::Event;

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t bound) { return engine_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    /// Mostly small, now and then beyond every buffer.
    std::size_t body_size()
    {
        const std::size_t kind = below(100);
        if (kind < 15) return 0;
        if (kind < 90) return below(300);
        return kind < 99 ? below(20'000) : below(200'000);
    }

  private:
    std::mt19937_64 engine_;
};

Octets join(const Segments& segments)
{
    Octets whole;
    for (const Bytes segment : segments.view())
        whole.insert(whole.end(), segment.begin(), segment.end());
    return whole;
}

/// Octets of a body that say which body it is.
Octets body_octets(std::uint32_t id, std::size_t size)
{
    Octets octets(size);
    for (std::size_t i = 0; i < size; ++i)
        octets[i] = static_cast<std::byte>(id * 31 + i + i / 251);
    return octets;
}

/// One direction: messages are cut into parts, parts become a stream, an engine reads the stream.
class Flow {
  public:
    Flow(Connection::Role receiver, Random& random) : engine_(receiver), random_(random) {}

    void submit(const Segments& message, std::uint32_t id)
    {
        Outgoing out{.whole = join(message), .parts = {}, .id = id};
        const bool cut = random_.chance(40);
        Fragmenter fragmenter(message, cut ? 1 + random_.below(out.whole.size() + 40) : ~0u);
        for (Segments part; fragmenter.next(part);)
            out.parts.push_back(join(part));
        outgoing_.push_back(std::move(out));
    }

    bool sending() const { return !outgoing_.empty(); }

    /// Puts one part of one message into the stream, of any message that may go next.
    void send_part()
    {
        Outgoing& out = outgoing_[random_.below(outgoing_.size())];
        const bool starts_1_1 = out.next == 0 && out.parts.size() > 1 && minor(out) == 1;
        if (starts_1_1 && fragments_1_1_) return; // one at a time: they carry no id
        append(out.parts[out.next++]);
        if (minor(out) == 1 && out.parts.size() > 1) fragments_1_1_ = out.next < out.parts.size();
        if (out.next == out.parts.size()) finish(out);
    }

    /// Gives up a message of which some part was sent: its id, if there is one.
    std::optional<std::uint32_t> cancel_one(bool send_rest)
    {
        for (Outgoing& out : outgoing_) {
            if (out.next == 0 || minor(out) != 2) continue;
            const std::uint32_t id = out.id;
            const auto message = cancel_request(version_1_2, id);
            append(message);
            expected_.emplace_back(message.begin(), message.end());
            if (send_rest) // fragments that were under way
                for (; out.next < out.parts.size(); ++out.next)
                    append(out.parts[out.next]);
            outgoing_.erase(outgoing_.begin() + (&out - outgoing_.data()));
            return id;
        }
        return std::nullopt;
    }

    /// Something after which the stream means nothing any more.
    void end_with(Bytes octets, Event event)
    {
        append(octets);
        ending_ = event;
        outgoing_.clear();
        const Octets noise = body_octets(7, random_.below(100));
        append(noise);
    }

    /// The peer is gone: only part of the stream arrives.
    void cut_off()
    {
        stream_.resize(read_ + random_.below(stream_.size() - read_ + 1));
        outgoing_.clear();
        cut_ = true;
    }

    bool readable() const { return read_ < stream_.size(); }

    /// One read of any size, and every message in it.
    template <typename Deliver>
    void receive(Deliver deliver)
    {
        const MutableBytes space = engine_.space();
        ASSERT_FALSE(space.empty());
        std::size_t size = std::min(space.size(), stream_.size() - read_);
        if (random_.chance(50)) size = std::min(size, engine_.bytes_needed());
        if (random_.chance(30)) size = std::min(size, 1 + random_.below(20));
        std::memcpy(space.data(), stream_.data() + read_, size);
        engine_.received(size);
        read_ += size;
        ASSERT_LE(engine_.memory_held(), 16 * limits::receive_buffer_initial + 8 * stream_.size());
        for (Message message;;) {
            const Event event = engine_.next(message);
            if (event == Event::need_bytes) return;
            ASSERT_FALSE(ended_) << "an event after the end";
            if (event != Event::message) {
                ended_ = true;
                ASSERT_TRUE(ending_ == event) << describe(engine_.fault());
                ASSERT_TRUE(expected_.empty());
                continue;
            }
            ASSERT_FALSE(expected_.empty());
            ASSERT_TRUE(std::equal(message.bytes.begin(), message.bytes.end(),
                                   expected_.front().begin(), expected_.front().end()));
            expected_.pop_front();
            deliver(message);
        }
    }

    void check_end() const
    {
        if (ending_ && !cut_) {
            EXPECT_TRUE(ended_);
        }
        if (cut_) return; // what arrived, arrived whole: nothing more can be known
        EXPECT_TRUE(expected_.empty());
        EXPECT_TRUE(ending_ || engine_.between_messages());
    }
    bool broken() const { return cut_ || ending_; }

  private:
    struct Outgoing {
        Octets whole;
        std::vector<Octets> parts;
        std::uint32_t id = 0;
        std::size_t next = 0;
    };

    static int minor(const Outgoing& out) { return std::to_integer<int>(out.whole[5]); }
    void append(Bytes bytes) { stream_.insert(stream_.end(), bytes.begin(), bytes.end()); }
    void finish(Outgoing& out)
    {
        expected_.push_back(std::move(out.whole));
        outgoing_.erase(outgoing_.begin() + (&out - outgoing_.data()));
    }

    Connection engine_;
    Random& random_;
    std::vector<Outgoing> outgoing_;
    std::deque<Octets> expected_; // whole messages of which every part is in the stream
    Octets stream_;
    std::size_t read_ = 0;
    bool fragments_1_1_ = false;
    bool cut_ = false;
    bool ended_ = false;
    std::optional<Event> ending_;
};

class World {
  public:
    explicit World(std::uint64_t seed) : random_(seed) {}

    void run()
    {
        std::size_t calls = 3 + random_.below(12);
        while (calls > 0 || to_server_.sending() || to_client_.sending() || to_server_.readable() ||
               to_client_.readable()) {
            if (testing::Test::HasFatalFailure()) return;
            step(calls);
        }
        to_server_.check_end();
        to_client_.check_end();
        if (to_server_.broken() || to_client_.broken()) return;
        EXPECT_TRUE(unanswered_.empty());
    }

  private:
    void step(std::size_t& calls)
    {
        const std::size_t choice = random_.below(100);
        Flow& flow = random_.chance(50) ? to_server_ : to_client_;
        if (choice < 15 && calls > 0) {
            --calls;
            if (!to_server_.broken()) call(++last_id_);
        } else if (choice < 60 && flow.sending() && !flow.broken()) {
            flow.send_part();
        } else if (choice < 97 && flow.readable()) {
            receive(flow);
        } else if (choice == 97 && !to_server_.broken()) {
            if (const auto id = to_server_.cancel_one(random_.chance(50))) unanswered_.erase(*id);
        } else if (choice == 98 && random_.chance(20) && !flow.broken()) {
            end(flow);
        } else if (choice == 99 && random_.chance(10) && !flow.broken()) {
            flow.cut_off();
        }
        if (to_server_.broken()) calls = 0;
    }

    void receive(Flow& flow)
    {
        if (&flow == &to_server_)
            flow.receive([this](const Message& message) { serve(message); });
        else
            flow.receive([this](const Message& message) { complete(message); });
    }

    Version version() { return {1, static_cast<std::uint8_t>(random_.below(3))}; }

    /// Contexts that end at any offset, so that bodies need every padding.
    Bytes contexts()
    {
        if (random_.chance(60)) return {};
        contexts_.reset(0);
        contexts_.write(std::uint32_t{1});
        contexts_.write(static_cast<std::uint32_t>(random_.below(1000)));
        contexts_.write_octets(body_octets(3, random_.below(20)));
        return contexts_.contiguous();
    }

    /// Encodes a body as the application would: some of it stays where it is.
    void encode(const Octets& body)
    {
        writer_.reset(headroom);
        const std::size_t split = random_.below(body.size() + 1);
        writer_.write_bytes(Bytes(body).first(split));
        writer_.write_bulk(Bytes(body).subspan(split), 1);
    }

    void call(std::uint32_t id)
    {
        const RequestTemplate target(version(), body_octets(1, 1 + random_.below(30)));
        if (random_.chance(15)) {
            std::array<std::byte, 64> place;
            Segments segments;
            segments.add(target.locate(place, id));
            to_server_.submit(segments, id);
            unanswered_[id] = {};
            return;
        }
        const std::string operation(1 + random_.below(20), 'o');
        const bool oneway = random_.chance(20);
        Octets body = body_octets(id, random_.body_size());
        encode(body);
        const MutableBytes header = target.prepend(
            Body::of(writer_, headroom), id,
            oneway ? response_flags::none : response_flags::sync_target, operation, contexts());
        ASSERT_FALSE(header.empty());
        to_server_.submit(gather(header, writer_), id);
        if (!oneway) unanswered_[id] = std::move(body);
    }

    /// The server: sends back what it got.
    void serve(const Message& message)
    {
        if (to_client_.broken() || message.type == MessageType::cancel_request) return;
        if (message.type == MessageType::locate_request) {
            LocateRequest request;
            ASSERT_EQ(parse(message, request), cdr::Fault::none);
            encode({});
            const MutableBytes header =
                prepend_locate_reply(Body::of(writer_, headroom), message.version,
                                     request.request_id, LocateStatus::object_here);
            return to_client_.submit(gather(header, writer_), request.request_id);
        }
        Request request;
        ASSERT_EQ(parse(message, request), cdr::Fault::none);
        ASSERT_TRUE(request.body.left() == 0 || request.body.offset() % 8 == 0);
        if (!request.response_expected()) return;
        const Bytes body = request.body.bytes().subspan(request.body.offset());
        const Octets kept(body.begin(), body.end());
        encode(kept);
        const MutableBytes header =
            prepend_reply(Body::of(writer_, headroom), message.version, request.request_id,
                          ReplyStatus::no_exception, contexts());
        ASSERT_FALSE(header.empty());
        to_client_.submit(gather(header, writer_), request.request_id);
    }

    void complete(const Message& message)
    {
        std::uint32_t id = 0;
        Octets body;
        if (message.type == MessageType::locate_reply) {
            LocateReply reply;
            ASSERT_EQ(parse(message, reply), cdr::Fault::none);
            id = reply.request_id;
        } else {
            Reply reply;
            ASSERT_EQ(parse(message, reply), cdr::Fault::none);
            ASSERT_TRUE(reply.body.left() == 0 || reply.body.offset() % 8 == 0);
            id = reply.request_id;
            const Bytes octets = reply.body.bytes().subspan(reply.body.offset());
            body.assign(octets.begin(), octets.end());
        }
        const auto call = unanswered_.find(id);
        ASSERT_NE(call, unanswered_.end()) << "a reply to nobody or to a cancelled request";
        ASSERT_EQ(body, call->second);
        unanswered_.erase(call);
    }

    void end(Flow& flow)
    {
        const bool to_server = &flow == &to_server_;
        std::array<std::byte, 24> bad{};
        write_header(bad.data(), version_1_2, to_server ? MessageType::request : MessageType::reply,
                     12);
        switch (random_.below(7)) {
        case 0:
            return flow.end_with(close_connection(version()), Event::closed);
        case 1:
            return flow.end_with(message_error({1, 3}), Event::message_error);
        case 2:
            bad[random_.below(4)] ^= std::byte{1}; // magic
            break;
        case 3:
            bad[5] = std::byte{9}; // version
            break;
        case 4:
            bad[7] = std::byte(to_server ? 1 : 0); // the other's messages
            break;
        case 5:
            bad[10] = bad[11] = std::byte{0x7f}; // size
            break;
        default:
            bad[7] = std::byte{7}; // a Fragment of nothing
            bad[12] = bad[13] = bad[14] = bad[15] = std::byte{0xff};
        }
        flow.end_with(bad, Event::fault);
    }

    static constexpr std::size_t headroom = 256;

    Random random_;
    Flow to_server_{Connection::Role::server, random_};
    Flow to_client_{Connection::Role::client, random_};
    cdr::Buffer buffer_, context_list_;
    cdr::Writer writer_{buffer_, headroom}, contexts_{context_list_};
    std::uint32_t last_id_ = 0;
    std::map<std::uint32_t, Octets> unanswered_;
};

std::uint64_t setting(const char* name, std::uint64_t otherwise)
{
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

TEST(GiopSimulation, whatever_the_seed)
{
    const std::uint64_t only = setting("KAIROS_SIM_SEED", 0);
    const std::uint64_t first = only != 0 ? only : 1;
    const std::uint64_t last = only != 0 ? only : setting("KAIROS_SIM_SEEDS", 3000);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SCOPED_TRACE("KAIROS_SIM_SEED=" + std::to_string(seed));
        World(seed).run();
        if (HasFailure()) return;
    }
}

// Every place at which a stream of all kinds of messages can end.
TEST(GiopSimulation, closed_at_every_octet)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer, 64);
    writer.write_bytes(body_octets(1, 50));
    const RequestTemplate target(version_1_2, body_octets(2, 7));
    const MutableBytes header = target.prepend(Body::of(writer, 64), 1, 3, "operation");
    const Octets whole = join(gather(header, writer));
    Octets stream = whole;
    std::vector<std::size_t> ends{whole.size()};
    Segments segments;
    segments.add(whole);
    Fragmenter fragmenter(segments, 40);
    for (Segments part; fragmenter.next(part);) {
        const Octets octets = join(part);
        stream.insert(stream.end(), octets.begin(), octets.end());
    }
    ends.push_back(stream.size());
    const auto cancel = cancel_request(version_1_2, 1);
    stream.insert(stream.end(), cancel.begin(), cancel.end());
    ends.push_back(stream.size());

    for (std::size_t size = 0; size <= stream.size(); ++size) {
        Connection connection(Connection::Role::server);
        std::memcpy(connection.space().data(), stream.data(), size);
        connection.received(size);
        std::size_t count = 0;
        Message message;
        Event event;
        while ((event = connection.next(message)) == Event::message)
            ++count;
        EXPECT_EQ(event, Event::need_bytes);
        const auto complete = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin();
        EXPECT_EQ(count, static_cast<std::size_t>(complete));
        const bool at_an_end = size == 0 || (complete > 0 && size == ends[count - 1]);
        EXPECT_EQ(connection.between_messages(), at_an_end) << size;
    }
}

} // namespace
} // namespace kairos::giop
