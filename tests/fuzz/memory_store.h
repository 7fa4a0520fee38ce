// SPDX-License-Identifier: Apache-2.0
//
// A name server's store in memory, which begins empty.
#pragma once

#include "kairos/nameserver/portion.h"
#include "kairos/nameserver/store.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kairos::nameserver {

/// What store.h says, without a file.
class MemoryStore final : public Store {
  public:
    /// Changes beyond so many that may have made it larger are `full`.
    static constexpr std::size_t entries_max = 100'000;

    [[nodiscard]] std::uint64_t identity() const noexcept override { return 1; }
    [[nodiscard]] std::uint64_t changes() const noexcept override
    {
        const std::lock_guard lock(mutex_);
        return changes_;
    }
    StoreStatus resolve(ContextId start, std::span<const ior::NameComponent> name,
                        Resolution& resolution) override
    {
        const std::lock_guard lock(mutex_);
        resolution = {.resolved = 0, .context = start, .entry = {}};
        for (std::size_t i = 0;; ++i) {
            const auto context = contexts_.find(resolution.context);
            if (context == contexts_.end()) return StoreStatus::no_context;
            const auto found = context->second.find(key_of(name[i]));
            if (found == context->second.end()) return StoreStatus::not_bound;
            resolution.resolved = i + 1;
            resolution.entry = found->second;
            if (i + 1 == name.size()) return StoreStatus::done;
            if (found->second.kind == Entry::Kind::object) return StoreStatus::wrong_type;
            if (found->second.kind == Entry::Kind::foreign_context) return StoreStatus::foreign;
            resolution.context = found->second.context;
        }
    }
    StoreStatus bind(ContextId context, const ior::NameComponent& component,
                     const Entry& entry) override
    {
        const std::lock_guard lock(mutex_);
        changes_ += 2;
        if (!exists(context) || !exists(entry)) return StoreStatus::no_context;
        if (++entries_ > entries_max) return StoreStatus::full;
        return contexts_[context].emplace(key_of(component), entry).second
                   ? StoreStatus::done
                   : StoreStatus::already_bound;
    }
    StoreStatus rebind(ContextId context, const ior::NameComponent& component,
                       const Entry& entry) override
    {
        const std::lock_guard lock(mutex_);
        changes_ += 2;
        if (!exists(context) || !exists(entry)) return StoreStatus::no_context;
        const auto found = contexts_[context].find(key_of(component));
        if (found != contexts_[context].end() && found->second.is_context() != entry.is_context())
            return StoreStatus::wrong_type;
        if (++entries_ > entries_max) return StoreStatus::full;
        contexts_[context][key_of(component)] = entry;
        return StoreStatus::done;
    }
    StoreStatus unbind(ContextId context, const ior::NameComponent& component) override
    {
        const std::lock_guard lock(mutex_);
        changes_ += 2;
        if (!exists(context)) return StoreStatus::no_context;
        return contexts_[context].erase(key_of(component)) != 0 ? StoreStatus::done
                                                                : StoreStatus::not_bound;
    }
    StoreStatus new_context(ContextId& created) override
    {
        const std::lock_guard lock(mutex_);
        changes_ += 2;
        if (++entries_ > entries_max) return StoreStatus::full;
        created = ++last_;
        contexts_[created];
        return StoreStatus::done;
    }
    StoreStatus bind_new_context(ContextId context, const ior::NameComponent& component,
                                 ContextId& created) override
    {
        const std::lock_guard lock(mutex_);
        changes_ += 4;
        if (!exists(context)) return StoreStatus::no_context;
        if (++entries_ > entries_max) return StoreStatus::full;
        const Entry entry{.kind = Entry::Kind::context, .context = last_ + 1, .reference = {}};
        if (!contexts_[context].emplace(key_of(component), entry).second)
            return StoreStatus::already_bound;
        created = ++last_;
        contexts_[created];
        return StoreStatus::done;
    }
    StoreStatus destroy_context(ContextId context) override
    {
        const std::lock_guard lock(mutex_);
        changes_ += 2;
        if (!exists(context)) return StoreStatus::no_context;
        if (!contexts_[context].empty()) return StoreStatus::not_empty;
        contexts_.erase(context);
        return StoreStatus::done;
    }
    StoreStatus find_context(ContextId context) override
    {
        const std::lock_guard lock(mutex_);
        return exists(context) ? StoreStatus::done : StoreStatus::no_context;
    }
    StoreStatus list(ContextId context, const ior::NameComponent* after,
                     const PortionBounds& bounds, Portion& portion) override
    {
        const std::lock_guard lock(mutex_);
        Portioning portioning(bounds, portion);
        if (!exists(context)) return StoreStatus::done;
        const auto& bound = contexts_[context];
        auto at = after == nullptr ? bound.begin() : bound.upper_bound(key_of(*after));
        while (at != bound.end() &&
               portioning.take(at->first.first, at->first.second, 0, at->second.is_context()))
            ++at;
        return StoreStatus::done;
    }

  private:
    using Key = std::pair<std::string, std::string>;
    static Key key_of(const ior::NameComponent& component)
    {
        return {component.id, component.kind};
    }
    [[nodiscard]] bool exists(ContextId context) const { return contexts_.contains(context); }
    [[nodiscard]] bool exists(const Entry& entry) const
    {
        return entry.kind != Entry::Kind::context || exists(entry.context);
    }

    mutable std::mutex mutex_; // guards what follows
    std::map<ContextId, std::map<Key, Entry>> contexts_{{root_context, {}}};
    ContextId last_ = root_context;
    std::uint64_t changes_ = 0;
    std::size_t entries_ = 0; // that may be there
};

} // namespace kairos::nameserver
