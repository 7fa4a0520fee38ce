// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/filter.h"

#include "kairos/rtevents/event_types.h"

#include <algorithm>
#include <string>

namespace kairos::rtevents {
namespace {

using RtecEventChannelAdmin::DependencySet;
using RtecEventComm::Event;
using RtecEventComm::EventHeader;

[[noreturn]] void refuse(std::size_t at, const char* why)
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "dependency " + std::to_string(at) + ": " + why);
}

bool is_group(CORBA::Long type)
{
    return type == global_group || type == conjunction_group || type == disjunction_group ||
           type == logical_and_group;
}

/// TimeT counts 100 ns.
std::chrono::nanoseconds time_of(std::size_t at, RtecEventComm::Time time)
{
    constexpr RtecEventComm::Time unit_ns = 100;
    constexpr RtecEventComm::Time least = 10'000;                  // a millisecond
    constexpr RtecEventComm::Time most = 864'000'000'000ull * 365; // a year
    if (time < least || time > most) refuse(at, "a time of 1 ms to a year is wanted");
    return std::chrono::nanoseconds(time * unit_ns);
}

} // namespace

/// Reads dependencies from the first on.
class Filter::Builder {
  public:
    Builder(Filter& filter, const DependencySet& dependencies)
        : filter_(filter), dependencies_(dependencies)
    {
    }
    /// All that there are are members of the disjunction that is the first node.
    void read_all()
    {
        filter_.nodes_.push_back({.kind = Kind::disjunction});
        while (at_ < dependencies_.length())
            read({});
        filter_.nodes_.front().end = filter_.nodes_.size();
    }

  private:
    [[nodiscard]] const EventHeader& header() const
    {
        return dependencies_[static_cast<CORBA::ULong>(at_)].event.header;
    }
    void require_more(const char* why) const
    {
        if (at_ == dependencies_.length()) refuse(at_, why);
    }
    Node& add(const Node& node)
    {
        filter_.nodes_.push_back(node);
        filter_.nodes_.back().end = filter_.nodes_.size();
        return filter_.nodes_.back();
    }

    /// Where a dependency is.
    struct Place {
        unsigned depth = 0;
        bool is_member = false;    // of a conjunction
        bool is_collected = false; // somewhere in a conjunction
        [[nodiscard]] Place below() const
        {
            return {.depth = depth + 1, .is_collected = is_collected || is_member};
        }
    };

    void read(const Place& place)
    {
        if (place.depth == depth_max) refuse(at_, "groups are nested too deeply");
        const EventHeader& own = header();
        const std::size_t first = at_++;
        switch (own.type) {
        case global_group:
        case disjunction_group:
            return read_group(Kind::disjunction, own, place);
        case conjunction_group:
            return read_group(Kind::conjunction, own, place);
        case logical_and_group:
            return read_group(Kind::logical_and, own, place);
        case negation:
            return read_one({.kind = Kind::negation}, place);
        case bitmask: {
            require_more("masks are wanted");
            const EventHeader& masks = header();
            ++at_;
            return read_one(
                {.kind = Kind::bitmask, .type_mask = masks.type, .source_mask = masks.source},
                place);
        }
        case masked_type: {
            require_more("masks are wanted");
            const EventHeader& masks = header();
            ++at_;
            require_more("what is to be left is wanted");
            const EventHeader& left = header();
            ++at_;
            add({.kind = Kind::masked,
                 .type = left.type,
                 .source = left.source,
                 .type_mask = masks.type,
                 .source_mask = masks.source});
            return;
        }
        case everything:
            add({.kind = Kind::everything});
            return;
        case timeout_type:
        case interval_timeout_type:
        case deadline_timeout_type:
            if (filter_.timeouts_.size() == timeouts_max) refuse(first, "too many timeouts");
            if (own.type == deadline_timeout_type && place.is_collected)
                refuse(first, "a deadline in a conjunction is a member of it itself");
            filter_.timeouts_.push_back({.node = filter_.nodes_.size(),
                                         .type = own.type,
                                         .after = time_of(first, own.creation_time)});
            add({.kind = Kind::timeout, .timeout = filter_.timeouts_.size() - 1});
            return;
        default:
            add({.kind = Kind::type, .type = own.type, .source = own.source});
        }
    }
    void read_group(Kind kind, const EventHeader& own, const Place& place)
    {
        const std::size_t group = filter_.nodes_.size();
        const std::size_t first = at_ - 1;
        filter_.nodes_.push_back({.kind = kind});
        const bool is_counted = own.type != global_group && own.source != 0;
        if (own.source < 0) refuse(first, "a group has no fewer members than none");
        CORBA::Long count = 0;
        Place below = place.below();
        below.is_member = kind == Kind::conjunction;
        bool has_others = false; // than deadlines
        for (; is_counted ? count < own.source
                          : at_ < dependencies_.length() && !is_group(header().type);
             ++count) {
            require_more("members of a group are wanted");
            has_others = has_others || header().type != deadline_timeout_type;
            if (below.is_member && ++members_ > members_max)
                refuse(at_, "conjunctions have too many members");
            read(below);
        }
        if (count == 0) refuse(first, "a group has members");
        filter_.nodes_[group].end = filter_.nodes_.size();
        if (kind == Kind::conjunction && !has_others)
            refuse(first, "a conjunction has members that are no deadlines");
        if (kind == Kind::logical_and) require_plain(group, first);
    }
    void read_one(const Node& node, const Place& place)
    {
        const std::size_t own = filter_.nodes_.size();
        const std::size_t first = at_ - 1;
        filter_.nodes_.push_back(node);
        require_more("a member is wanted");
        read(place.below());
        filter_.nodes_[own].end = filter_.nodes_.size();
        if (node.kind == Kind::negation) require_plain(own, first);
    }
    /// Whether one event is taken must be known at once.
    void require_plain(std::size_t node, std::size_t first) const
    {
        if (!filter_.is_plain(node)) refuse(first, "nothing in it may be collected or timed");
    }

    Filter& filter_;
    const DependencySet& dependencies_;
    std::size_t at_ = 0;
    std::size_t members_ = 0; // of conjunctions
};

Filter::Filter(const DependencySet& dependencies)
{
    if (dependencies.length() > dependencies_max)
        refuse(dependencies_max, "a consumer has fewer of them");
    Builder(*this, dependencies).read_all();
    is_plain_ = is_plain(0);
}

bool Filter::is_plain(std::size_t at) const noexcept
{
    return std::none_of(nodes_.begin() + static_cast<std::ptrdiff_t>(at),
                        nodes_.begin() + static_cast<std::ptrdiff_t>(nodes_[at].end),
                        [](const Node& node) {
                            return node.kind == Kind::timeout || node.kind == Kind::conjunction;
                        });
}

/// Where either end says 0 it means all.
bool Filter::matches(const Node& node, const EventHeader& header) const noexcept
{
    const auto is_like = [](CORBA::Long wanted, CORBA::Long had) {
        return wanted == 0 || had == 0 || wanted == had;
    };
    switch (node.kind) {
    case Kind::type:
        return is_like(node.type, header.type) && is_like(node.source, header.source);
    case Kind::masked:
        return (header.type & node.type_mask) == node.type &&
               (header.source & node.source_mask) == node.source;
    case Kind::bitmask:
        return (header.type & node.type_mask) != 0 && (header.source & node.source_mask) != 0;
    case Kind::everything:
        return true;
    default:
        return false;
    }
}

bool Filter::accepts(const EventHeader& header) const noexcept { return accepts(0, header); }

bool Filter::accepts(std::size_t at, const EventHeader& header) const noexcept
{
    const Node& node = nodes_[at];
    switch (node.kind) {
    case Kind::disjunction:
        for (std::size_t member = at + 1; member < node.end; member = nodes_[member].end)
            if (accepts(member, header)) return true;
        return false;
    case Kind::logical_and:
        for (std::size_t member = at + 1; member < node.end; member = nodes_[member].end)
            if (!accepts(member, header)) return false;
        return true;
    case Kind::negation:
        return !accepts(at + 1, header);
    case Kind::bitmask:
        return matches(node, header) && accepts(at + 1, header);
    default:
        return matches(node, header);
    }
}

/// One event, or the end of one time, on its way through the tree.
class Filter::Run {
  public:
    using Events = std::vector<EventPtr>;

    Run(const Filter& filter, Collected& collected, Shared& event, std::optional<std::size_t> ended)
        : filter_(filter), collected_(collected), event_(event), ended_(ended)
    {
    }
    [[nodiscard]] Outcome run()
    {
        Outcome outcome;
        give(0, outcome.events);
        if (!outcome.events.empty()) restart_deadlines(0);
        std::ranges::sort(begin_anew_);
        const auto repeated = std::ranges::unique(begin_anew_);
        begin_anew_.erase(repeated.begin(), repeated.end());
        outcome.begin_anew = std::move(begin_anew_);
        return outcome;
    }

  private:
    [[nodiscard]] const Node& node(std::size_t at) const { return filter_.nodes_[at]; }
    [[nodiscard]] bool is_deadline(std::size_t at) const
    {
        return node(at).kind == Kind::timeout &&
               filter_.timeouts_[node(at).timeout].type == deadline_timeout_type;
    }

    /// Adds what the node gives.
    void give(std::size_t at, Events& given)
    {
        const Node& here = node(at);
        switch (here.kind) {
        case Kind::timeout:
            if (ended_ == here.timeout) given.push_back(event_.copy());
            return;
        case Kind::disjunction:
            return give_any(at, given);
        case Kind::conjunction:
            return give_together(at, given);
        case Kind::bitmask:
            if (ended_ || filter_.matches(here, (*event_).header)) give(at + 1, given);
            return;
        default:
            if (!ended_ && filter_.accepts(at, (*event_).header)) given.push_back(event_.copy());
        }
    }
    /// What several members take as it is, is given once.
    void give_any(std::size_t at, Events& given)
    {
        bool has_event = false;
        for (std::size_t member = at + 1; member < node(at).end; member = node(member).end) {
            const bool is_plain = filter_.is_plain(member);
            if (is_plain && has_event) continue;
            const std::size_t before = given.size();
            give(member, given);
            has_event = has_event || (is_plain && given.size() != before);
        }
    }
    void give_together(std::size_t at, Events& given)
    {
        bool is_complete = true;
        Events taken;
        for (std::size_t member = at + 1; member < node(at).end; member = node(member).end) {
            if (is_deadline(member)) {
                if (ended_ != node(member).timeout) continue;
                forget(at); // they have not come together in time
                given.push_back(event_.copy());
                return;
            }
            taken.clear();
            give(member, taken);
            for (EventPtr& event : taken)
                keep(member, std::move(event));
            is_complete = is_complete && !collected_.of_nodes_[member].empty();
        }
        if (!is_complete) return;
        for (std::size_t member = at + 1; member < node(at).end; member = node(member).end)
            given.insert(given.end(), collected_.of_nodes_[member].begin(),
                         collected_.of_nodes_[member].end());
        forget(at);
        restart_deadlines(at);
    }

    /// About: what an Any has is not counted.
    static std::size_t octets_of(const EventPtr& event)
    {
        return sizeof *event + event->data.payload.length();
    }
    void drop_oldest(std::deque<EventPtr>& kept)
    {
        collected_.octets_ -= octets_of(kept.front());
        kept.pop_front();
    }
    /// One at least stays.
    void keep(std::size_t member, EventPtr event)
    {
        std::deque<EventPtr>& kept = collected_.of_nodes_[member];
        collected_.octets_ += octets_of(event);
        kept.push_back(std::move(event));
        while (kept.size() > collected_max || (kept.size() > 1 && collected_.octets_ > octets_max))
            drop_oldest(kept);
    }
    void forget(std::size_t at)
    {
        for (std::size_t below = at + 1; below < node(at).end; ++below)
            while (!collected_.of_nodes_[below].empty())
                drop_oldest(collected_.of_nodes_[below]);
    }
    /// Those that are not a conjunction's own further down.
    void restart_deadlines(std::size_t at)
    {
        for (std::size_t member = at + 1; member < node(at).end;) {
            if (is_deadline(member)) begin_anew_.push_back(node(member).timeout);
            member = node(member).kind == Kind::conjunction ? node(member).end : member + 1;
        }
    }

    const Filter& filter_;
    Collected& collected_;
    Shared& event_;
    const std::optional<std::size_t> ended_;
    std::vector<std::size_t> begin_anew_;
};

Filter::Collected Filter::begin() const
{
    Collected collected;
    collected.of_nodes_.resize(nodes_.size());
    return collected;
}

Filter::Outcome Filter::take(Collected& collected, Shared& event) const
{
    return Run(*this, collected, event, std::nullopt).run();
}

Filter::Outcome Filter::end_time(Collected& collected, std::size_t timeout, Shared& event) const
{
    return Run(*this, collected, event, timeout).run();
}

void Filter::add_wishes(std::vector<Wish>& wishes) const
{
    for (const Node& node : nodes_) {
        if (node.kind == Kind::type)
            wishes.push_back({.type = node.type, .source = node.source});
        else if (node.kind == Kind::masked || node.kind == Kind::everything ||
                 node.kind == Kind::negation)
            wishes.emplace_back();
    }
}

} // namespace kairos::rtevents
