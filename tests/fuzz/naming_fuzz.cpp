// SPDX-License-Identifier: Apache-2.0
//
// A stream of messages through the name server: its servants, its listings and its references,
// over a store in memory that begins empty. The first octet says in which pieces it is read. The
// contexts' keys are plain ones: "NameService/", the store's identity, 1, and the context's number,
// which is 1 for the root and 2, 3 … for those that are made, as eight octets each, escaped.
#include "fuzz/bounds.h"
#include "kairos/nameserver/portion.h"
#include "kairos/nameserver/service.h"
#include "tests/faults/faults.h"
#include "tests/fuzz/socketless.h"

#include <map>
#include <memory>

namespace {

using namespace kairos;
using namespace kairos::nameserver;

/// What store.h says, without a file.
class MemoryStore final : public Store {
  public:
    [[nodiscard]] std::uint64_t identity() const noexcept override { return 1; }
    [[nodiscard]] std::uint64_t changes() const noexcept override { return changes_; }
    StoreStatus resolve(ContextId start, std::span<const ior::NameComponent> name,
                        Resolution& resolution) override
    {
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
        changes_ += 2;
        if (!exists(context) || !exists(entry)) return StoreStatus::no_context;
        return contexts_[context].emplace(key_of(component), entry).second
                   ? StoreStatus::done
                   : StoreStatus::already_bound;
    }
    StoreStatus rebind(ContextId context, const ior::NameComponent& component,
                       const Entry& entry) override
    {
        changes_ += 2;
        if (!exists(context) || !exists(entry)) return StoreStatus::no_context;
        const auto found = contexts_[context].find(key_of(component));
        if (found != contexts_[context].end() && found->second.is_context() != entry.is_context())
            return StoreStatus::wrong_type;
        contexts_[context][key_of(component)] = entry;
        return StoreStatus::done;
    }
    StoreStatus unbind(ContextId context, const ior::NameComponent& component) override
    {
        changes_ += 2;
        if (!exists(context)) return StoreStatus::no_context;
        return contexts_[context].erase(key_of(component)) != 0 ? StoreStatus::done
                                                                : StoreStatus::not_bound;
    }
    StoreStatus new_context(ContextId& created) override
    {
        changes_ += 2;
        created = ++last_;
        contexts_[created];
        return StoreStatus::done;
    }
    StoreStatus bind_new_context(ContextId context, const ior::NameComponent& component,
                                 ContextId& created) override
    {
        if (!exists(context)) return StoreStatus::no_context;
        if (contexts_[context].contains(key_of(component))) return StoreStatus::already_bound;
        (void)new_context(created);
        return bind(context, component,
                    {.kind = Entry::Kind::context, .context = created, .reference = {}});
    }
    StoreStatus destroy_context(ContextId context) override
    {
        changes_ += 2;
        if (!exists(context)) return StoreStatus::no_context;
        if (!contexts_[context].empty()) return StoreStatus::not_empty;
        contexts_.erase(context);
        return StoreStatus::done;
    }
    StoreStatus find_context(ContextId context) override
    {
        return exists(context) ? StoreStatus::done : StoreStatus::no_context;
    }
    StoreStatus list(ContextId context, const ior::NameComponent* after,
                     const PortionBounds& bounds, Portion& portion) override
    {
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

    // One thread serves.
    std::map<ContextId, std::map<Key, Entry>> contexts_{{root_context, {}}};
    ContextId last_ = root_context;
    std::uint64_t changes_ = 0;
};

/// While it lives nothing connects.
net::testing::FaultPlan refusals()
{
    net::testing::FaultPlan plan;
    plan.seed = 1;
    plan.of(net::testing::SystemCall::connect) = 1000;
    plan.of(net::testing::SystemCall::resolve) = 1000;
    return plan;
}

} // namespace

// A service for each input. What is bound is kept, and what `list` answers is a copy of it.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {
        .octets_each = 64, .octets_beside = std::size_t{512} << 10, .comparisons_beside = 500'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const net::testing::Faults faults(refusals());
    static const CORBA::ORB_var orb =
        kairos::fuzz::make_orb({"-ORBPlainKeys", "1", "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    if (size == 0) return 0;
    const NamingService service(orb.in(), std::make_unique<MemoryStore>());
    kairos::fuzz::SocketlessConnection connection(orb->_kairos_core());
    connection.serve(std::as_bytes(std::span(data, size)).subspan(1), data[0]);
    return 0;
}
