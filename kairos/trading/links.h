// SPDX-License-Identifier: Apache-2.0
//
// Links to other traders as data, the rules by which they are followed (CosTrading 1.0, 2.2.5), and
// the ids by which a trader knows a query that comes back to it. Knows nothing of calls. Any
// thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/octet_charge.h"
#include "kairos/trading/CosTrading.h"
#include "kairos/trading/service_limits.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::trading {

using LinkInfo = CosTrading::Link::LinkInfo;

/// When a link is followed, and what the trader behind it is told of its own links.
struct Following {
    CosTrading::FollowOption when = CosTrading::local_only;
    CosTrading::FollowOption passed_on = CosTrading::local_only;
};
/// Returns what a trader with these attributes does with a link where the importer has asked for
/// this rule, or for none.
[[nodiscard]] Following following(const LinkInfo& link,
                                  std::optional<CosTrading::FollowOption> asked,
                                  CosTrading::FollowOption def_follow_policy,
                                  CosTrading::FollowOption max_follow_policy) noexcept;

/// Returns whether a text is a good name for a link: letters, digits and `_ . : -`.
[[nodiscard]] bool is_link_name(std::string_view name, const ServiceLimits& limits) noexcept;

class Links {
  public:
    /// Borrows the limits, which must outlive it.
    Links(const ServiceLimits& limits, std::shared_ptr<corba::Octets> octets)
        : limits_(limits), octets_(std::move(octets))
    {
    }
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;

    /// Throws IllegalLinkName.
    void check_name(const char* name) const;
    /// Enters a link. Throws DuplicateLinkName; IMP_LIMIT, NO_RESOURCES for too many.
    void add(const char* name, const LinkInfo& info);
    /// Enters a link, or what has become of it: what add and modify come to, and what a trader that
    /// has kept its links begins with. Throws IMP_LIMIT, NO_RESOURCES.
    void put(const std::string& name, const LinkInfo& info);
    /// What a link has of the memory of all, until it ends. Throws IMP_LIMIT, NO_RESOURCES.
    [[nodiscard]] std::shared_ptr<const corba::Charge> charge_of(const LinkInfo& info) const;
    /// Enters a link that has been charged. Throws IMP_LIMIT for too many.
    void put(const std::string& name, const LinkInfo& info,
             std::shared_ptr<const corba::Charge> charge);
    /// Changes its rules. Throws UnknownLinkName.
    void modify(const char* name, CosTrading::FollowOption def_pass_on,
                CosTrading::FollowOption limiting);
    /// Throws UnknownLinkName.
    void remove(const char* name);
    /// Returns what the link is; nothing if there is none.
    [[nodiscard]] std::optional<LinkInfo> find(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> names() const;

    struct Known {
        std::string name;
        LinkInfo info;
        bool rests = false; ///< was silent, and is not to be asked again yet
    };
    /// Returns all links, in the order of their names, but those last whose traders did not answer
    /// when they were last asked.
    [[nodiscard]] std::vector<Known> all() const;

    /// The linked trader has a Register, which it could not tell before.
    void note_register(std::string_view name, CosTrading::Register_ptr target_register);
    /// Notes whether a linked trader has answered; returns true if that has changed.
    bool note_answer(std::string_view name, bool answers);

  private:
    struct Entry {
        LinkInfo info;
        bool is_silent = false;
        std::chrono::steady_clock::time_point silent_since{};
        std::shared_ptr<const corba::Charge> charge{};
    };

    void enter(const std::string& name, Entry entry);

    const ServiceLimits& limits_;
    const std::shared_ptr<corba::Octets> octets_;
    mutable std::mutex mutex_; // guards what follows; nothing is called while it is held
    std::map<std::string, Entry, std::less<>> entries_;
};

/// The ids of queries that this trader has seen, so many and so long.
class RequestIds {
  public:
    using Clock = std::chrono::steady_clock;

    /// Borrows the limits, which must outlive it.
    explicit RequestIds(const ServiceLimits& limits) : limits_(limits) {}
    RequestIds(const RequestIds&) = delete;
    RequestIds& operator=(const RequestIds&) = delete;

    /// Notes an id; returns false if it is there already.
    [[nodiscard]] bool note(const std::string& id, Clock::time_point now = Clock::now());
    /// Returns an id behind this stem that nobody has, or can foretell, and notes it.
    [[nodiscard]] std::string make(std::string_view stem);

  private:
    const ServiceLimits& limits_;
    std::mutex mutex_; // guards what follows; nothing is called while it is held
    std::map<std::string, Clock::time_point, std::less<>> seen_;
    std::deque<std::map<std::string, Clock::time_point, std::less<>>::iterator> by_age_;
};

} // namespace kairos::trading
