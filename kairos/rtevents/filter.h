// SPDX-License-Identifier: Apache-2.0
//
// Which events a consumer gets. Its dependencies are a tree, written from the top: a group's
// designator stands in front of its members. The source in a group's designator says how many
// members follow, themselves groups perhaps; where that is 0, they are all that follow up to the
// next group. Several trees side by side are a disjunction. A conjunction collects events until
// each of its members has taken one, and gives them together.
#pragma once

#include "kairos/rtevents/RtecEventChannelAdmin.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kairos::rtevents {

/// Immutable; any thread.
class Filter {
  public:
    /// Dependencies of one consumer, how deep their groups go, and its timeouts, at most.
    static constexpr std::size_t dependencies_max = 1000;
    static constexpr unsigned depth_max = 16;
    static constexpr std::size_t timeouts_max = 16;
    /// Members of its conjunctions altogether; events that each of them keeps, and octets of all
    /// that they keep, about. The oldest goes for another.
    static constexpr std::size_t members_max = 64;
    static constexpr std::size_t collected_max = 100;
    static constexpr std::size_t octets_max = std::size_t{1} << 20;

    /// Throws BAD_PARAM, with the reason, for dependencies that are none.
    explicit Filter(const RtecEventChannelAdmin::DependencySet& dependencies);

    struct Timeout {
        std::size_t node = 0;
        CORBA::Long type = 0;
        std::chrono::nanoseconds after{};
    };
    [[nodiscard]] std::span<const Timeout> timeouts() const noexcept { return timeouts_; }
    /// Whether `accepts` says all there is to say: nothing is collected or timed.
    [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }
    /// Of a plain one.
    [[nodiscard]] bool accepts(const RtecEventComm::EventHeader& header) const noexcept;

    using EventPtr = std::shared_ptr<const RtecEventComm::Event>;
    /// What was collected, of one consumer. Used by one thread at a time.
    class Collected {
      private:
        friend class Filter;
        std::vector<std::deque<EventPtr>> of_nodes_;
        std::size_t octets_ = 0;
    };
    /// An event that several may collect, of which there is one copy for all. Used by one thread.
    class Shared {
      public:
        explicit Shared(const RtecEventComm::Event& event) noexcept : event_(event) {}
        [[nodiscard]] const RtecEventComm::Event& operator*() const noexcept { return event_; }
        [[nodiscard]] const EventPtr& copy()
        {
            if (!copy_) copy_ = std::make_shared<const RtecEventComm::Event>(event_);
            return copy_;
        }

      private:
        const RtecEventComm::Event& event_;
        EventPtr copy_;
    };
    /// What an event, or the end of a time, leads to.
    struct Outcome {
        std::vector<EventPtr> events;          ///< for the consumer
        std::vector<std::size_t> begin_anew{}; ///< deadlines of timeouts(), by their numbers
    };
    [[nodiscard]] Collected begin() const;
    [[nodiscard]] Outcome take(Collected& collected, Shared& event) const;
    /// `event` is what is given for a timeout that has ended, by its number.
    [[nodiscard]] Outcome end_time(Collected& collected, std::size_t timeout, Shared& event) const;
    /// The types and sources that it waits for, for who forwards events to it: 0 and 0 where that
    /// is more than one.
    struct Wish {
        CORBA::Long type = any_of_them;
        CORBA::Long source = any_of_them;
        static constexpr CORBA::Long any_of_them = 0;
        friend auto operator<=>(const Wish&, const Wish&) = default;
    };
    void add_wishes(std::vector<Wish>& wishes) const;

  private:
    enum class Kind : std::uint8_t {
        type,
        masked,
        everything,
        timeout,
        conjunction,
        disjunction,
        logical_and,
        negation,
        bitmask,
    };
    struct Node {
        Kind kind{};
        CORBA::Long type = 0;   // or a mask, or what is to be left
        CORBA::Long source = 0; // likewise
        CORBA::Long type_mask = 0;
        CORBA::Long source_mask = 0;
        std::size_t timeout = 0; // its number
        std::size_t end = 0;     // behind all that belongs to it
    };
    class Builder;
    class Run;

    [[nodiscard]] bool matches(const Node& node,
                               const RtecEventComm::EventHeader& header) const noexcept;
    [[nodiscard]] bool accepts(std::size_t at,
                               const RtecEventComm::EventHeader& header) const noexcept;
    [[nodiscard]] bool is_plain(std::size_t at) const noexcept;

    std::vector<Node> nodes_; // the first is the whole
    std::vector<Timeout> timeouts_;
    bool is_plain_ = true;
};

} // namespace kairos::rtevents
