// SPDX-License-Identifier: Apache-2.0
//
// A channel in a multicast group: the events that its suppliers bring go to the group, and what
// others send there is for its consumers. A message to the group is a `push` of
// RtecEventComm::PushConsumer with an event in front of the others that says who sends it and which
// of his messages it is, so that a channel knows its own and sees what was lost. Whoever else is in
// the group can pass that event over, and push events without it.
#pragma once

#include "kairos/corba/portable_server.h"
#include "kairos/rtevents/channel.h"
#include "kairos/rtevents/event_views.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::rtevents {

/// Who has sent a message to a group.
struct Mark {
    std::uint64_t sender = 0; ///< a random number
    std::uint64_t number = 0; ///< of this message, among those of its sender
    friend bool operator==(const Mark&, const Mark&) = default;
};

/// The header of the event that says so.
[[nodiscard]] RtecEventComm::EventHeader header_of(const Mark& mark) noexcept;
/// Nothing for an event that is another.
[[nodiscard]] std::optional<Mark> mark_of(const RtecEventComm::EventHeader& header) noexcept;

/// Which messages of whom have come. Used by one thread at a time. Whatever anybody sends: it takes
/// no more than 1,000 senders' memory, and keeps nobody's messages out who numbers them anew.
class Senders {
  public:
    static constexpr std::size_t senders_max = 1000;
    /// As many of the latest of each sender are known: older ones are taken for new.
    static constexpr std::uint64_t known_max = 64;
    /// Where more are missing at once than this, they were numbered anew, and none was lost.
    static constexpr std::uint64_t missing_max = std::uint64_t{1} << 20;

    /// Notes a message; returns false for one that has come before. Throws std::bad_alloc.
    [[nodiscard]] bool note(const Mark& mark);
    /// Messages that have not come, of numbers below those of others that have.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  private:
    struct Sender {
        std::uint64_t first = 0; // none is missing below that
        std::uint64_t latest = 0;
        std::uint64_t known = 0; // the bits of the latest one, the one before, and so on
        std::uint64_t heard = 0; // when, in messages
    };
    void forget_one();

    std::map<std::uint64_t, Sender> all_;
    std::uint64_t heard_ = 0;
    std::uint64_t lost_ = 0;
};

/// The channel's own end. Any thread.
class Multicast {
  public:
    /// Events of a message that has several, about; one that is larger goes alone.
    static constexpr std::size_t message_octets = std::size_t{32} << 10;
    /// Octets of an event, at most: what groups take of a message, but for what is around it.
    static constexpr std::size_t event_octets_max = (std::size_t{4} << 20) - 4096;

    /// How many gateways an event may pass that comes from a group, whatever it says itself: who
    /// has forged one has it go round no oftener.
    static constexpr CORBA::Long ttl_max = 16;

    /// `group` is a URL, and `types` are those of the events that are sent; all where it is empty.
    /// Throws BAD_PARAM for what is no group.
    Multicast(CORBA::ORB_ptr orb, const std::string& group, std::vector<CORBA::Long> types);
    Multicast(const Multicast&) = delete;
    Multicast& operator=(const Multicast&) = delete;
    ~Multicast() = default;

    /// Puts an object of this adapter into the group. Throws NO_RESOURCES where that cannot be
    /// joined.
    void join(PortableServer::POA_ptr poa, const PortableServer::ObjectId& id);
    /// Takes it out again.
    void leave() noexcept;

    /// Sends those that may pass a gateway.
    void send(EventViews events) noexcept;
    void send(const RtecEventComm::EventSet& events) noexcept;

    /// What a message is that begins with this event.
    struct Taken {
        bool is_new = true;     ///< else it is the channel's own, or has come before
        bool is_marked = false; ///< that event is none of the sender's
    };
    /// Notes a message of so many events. Throws std::bad_alloc.
    [[nodiscard]] Taken take(const RtecEventComm::EventHeader& first, std::size_t count);

    [[nodiscard]] MulticastFigures figures() const noexcept;

  private:
    template <typename Events>
    void send_all(const Events& events, std::size_t count) noexcept;
    template <typename Events>
    void send_some(const Events& events, std::size_t from, std::size_t to);
    [[nodiscard]] bool is_wanted(const RtecEventComm::EventHeader& header) const noexcept;
    template <typename One>
    [[nodiscard]] bool is_sent(const One& event) const;
    void note_too_large(std::size_t octets);
    void note_not_sent(std::size_t events, std::string_view why) noexcept;

    const std::string url_;
    const std::vector<CORBA::Long> types_;
    const std::uint64_t own_;
    const CORBA::Object_var group_; // oneways to it are over when they were sent
    PortableServer::POA_var poa_;   // with id_, set once, before anything is sent or comes
    PortableServer::ObjectId_var id_;
    std::atomic<std::uint64_t> last_{0}; // of our messages
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> not_sent_{0};
    std::atomic<std::uint64_t> received_{0};
    std::atomic<std::uint64_t> repeated_{0};
    std::atomic<std::uint64_t> own_heard_{0};
    mutable std::mutex mutex_; // guards what follows; inside nobody's, and nothing is called in it
    Senders senders_;
};

} // namespace kairos::rtevents
