// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/reference.h"

#include "kairos/base/limits.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/ways.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace kairos::orb {

[[gnu::weak]] const Datagrams& datagrams();

namespace {

std::vector<ior::Target> targets_of(const ior::Ior& reference)
{
    return &datagrams != nullptr ? datagrams().targets(reference)
                                 : ior::targets_by_any_way(reference);
}

/// The version to speak: what the profile offers, but no more than the options allow.
giop::Version usable_version(ior::IiopVersion offered, ior::IiopVersion highest)
{
    const ior::IiopVersion version = std::min({offered, highest, ior::IiopVersion{1, 2}});
    return {version.major, version.minor};
}

/// Keys of this run are of no other server; those that last, and those that people write, are of
/// whoever is at the address.
bool is_served_by(const Orb& orb, Bytes object_key, const WayList& ways)
{
    if (const auto key = ior::ObjectKey::parse(object_key))
        return key->incarnation == orb.incarnation();
    return orb.has_own_way(ways);
}

} // namespace

Reference::Reference(IntrusivePtr<Orb> orb, ior::Ior ior, PolicyOverridesPtr overrides)
    : orb_(std::move(orb)), ior_(std::move(ior)), overrides_(std::move(overrides)),
      binding_(orb_->binding_policies())
{
    if (overrides_) binding_ = binding_.overridden_by(overrides_->binding());
    if (overrides_ && !overrides_->calls().is_empty()) orb_->note_call_policies();
    value_factories_ = orb_->value_factories();
    std::size_t last_profile = ior_.profiles.size();
    const std::vector<ior::Target> targets = targets_of(ior_);
    const WayChoice choice = way_choice(targets);
    for (const ior::Target& target : targets) {
        const Ways ways(target, orb_->transports(), choice);
        // Only with the first address: when that has failed, so have all others.
        const bool first = target.profile_index != last_profile;
        last_profile = target.profile_index;
        const WayList here = first ? ways.lowest(target.address) : ways.further(target.address);
        if (here.empty()) continue;
        if (targets_.empty()) {
            read_policies(target);
            value_factories_ = orb_->value_factories(quirks_of(target.profile->components));
        }
        targets_.push_back(make_target(target, here));
        if (!object_key_.empty()) continue;
        object_key_.assign(target.object_key().begin(), target.object_key().end());
        is_local_ = serves_itself(here);
        add_priorities(target, ways);
    }
    if (!is_local_ && choice.takes_unprotected &&
        orb_->options().tls.client == Protection::required)
        drop_targets();
    if (!is_local_ && !targets_.empty()) text_form_ = targets_.front().text;
    const Collocation collocation = orb_->options().collocation;
    calls_directly_ = is_local_ && collocation != Collocation::no && !orb_->observes_local_calls();
    links_servants_ = is_local_ && collocation == Collocation::direct;
    orb_->note_reference(); // last: a reference whose constructor threw never was
}

/// It leads nowhere then, whichever of its targets made it look like one of this process.
void Reference::drop_targets() noexcept
{
    targets_.clear();
    by_priority_.clear();
    has_bands_ = false;
}

/// Where a reference offers protection, it is not called without: whoever keeps protected
/// connections from being made must not have it called in the clear.
WayChoice Reference::way_choice(std::span<const ior::Target> targets) const
{
    WayChoice choice{.prefers_local = orb_->options().prefer_local};
    const Protection wanted = orb_->options().tls.client;
    choice.takes_protected = wanted != Protection::never;
    const OrbTransports& transports = orb_->transports();
    if (wanted == Protection::required) {
        // What is in this process needs none. Whose it is, the first target seems to say; where
        // the first that can be used does not, nothing of the reference is (is_local()).
        choice.takes_unprotected =
            !targets.empty() &&
            is_served_by(*orb_, targets.front().object_key(),
                         Ways(targets.front(), transports, choice).lowest(targets.front().address));
        choice.takes_local = choice.takes_unprotected;
        return choice;
    }
    if (!transports.has_protection()) return choice;
    const auto is_protected = [&](const Way& way) { return way.transport->protects(); };
    choice.takes_unprotected = std::ranges::none_of(targets, [&](const ior::Target& target) {
        return std::ranges::any_of(Ways(target, transports, choice).lowest(target.address),
                                   is_protected);
    });
    return choice;
}

Reference::~Reference()
{
    orb_->note_end_of_reference();
    for (const DirectLink* link = links_.load(); link != nullptr;)
        delete std::exchange(link, link->next);
}

Target Reference::make_target(const ior::Target& target, const WayList& ways,
                              const ior::PriorityBand* band) const
{
    const giop::Version version = usable_version(target.version(), orb_->options().giop_version);
    const Agreement agreement = orb_->code_sets().agree(version.minor, target.profile->components);
    const bool is_private = binding_.private_connection || binding_.tcp;
    EndpointUse endpoint;
    if (band == nullptr && !is_private) {
        endpoint = orb_->endpoint(ways, agreement);
    } else {
        ContextList contexts;
        if (agreement.context) contexts.append(encode_contexts(*agreement.context));
        if (band != nullptr) append_priority_range(contexts, *band);
        const Bytes list = contexts.bytes();
        auto own = make_intrusive<Endpoint>(orb_->client_side(), ways,
                                            std::vector(list.begin(), list.end()), binding_.tcp);
        own->retire(); // no other reference will have it
        endpoint = EndpointUse(std::move(own));
    }
    return {.endpoint = std::move(endpoint),
            .text = agreement.form,
            .by_key = giop::RequestTemplate(version, target.object_key()),
            .profile_index = target.profile_index};
}

/// Reads the policies that the first usable profile exposes.
void Reference::read_policies(const ior::Target& target)
{
    const auto* component = ior::find(target.profile->components, ior::tag_policies);
    if (component == nullptr) return;
    auto policies = ior::decode_policies(*component);
    if (!policies) return;
    policies_ = std::move(*policies);
    if (!binding_.tcp) binding_.tcp = policies_.tcp;
    if (propagates_priority()) orb_->note_call_policies(); // so that calls look for it
}

/// Adds the addresses by priority, and the bands, that the first usable profile says.
void Reference::add_priorities(const ior::Target& target, const Ways& ways)
{
    for (const ior::PriorityAddress& each : ior::priority_addresses(*target.profile))
        add_at(each.priority, make_target(target, ways.at(each.priority, each.address)));
    if (target.address.port == 0) // a server that has nothing else
        for (const Priority priority : ways.priorities())
            add_at(priority, make_target(target, ways.at(priority, target.address)));
    const auto& bands = binding_.bands.empty() ? policies_.bands : binding_.bands;
    if (!bands.empty()) add_bands(target, bands);
}

void Reference::add_at(Priority priority, Target target)
{
    const auto at = std::ranges::lower_bound(by_priority_, priority, {}, &TargetsAt::priority);
    const auto place = at != by_priority_.end() && at->priority == priority
                           ? at
                           : by_priority_.insert(at, {priority, {}});
    place->targets.push_back(std::move(target));
}

/// In place of the addresses by priority: each band has the one for its highest.
void Reference::add_bands(const ior::Target& target, std::span<const ior::PriorityBand> bands)
{
    std::vector<TargetsAt> by_band;
    for (const ior::PriorityBand& band : bands) {
        const auto& shared = by_priority_.empty() ? targets_ : targets_not_above(band.high);
        std::vector<Target> targets;
        targets.reserve(shared.size());
        for (const Target& each : shared)
            targets.push_back(make_target(target, each.endpoint->ways(), &band));
        const auto at = std::ranges::lower_bound(by_band, band.low, {}, &TargetsAt::priority);
        by_band.insert(at, {band.low, std::move(targets), band.high});
    }
    by_priority_ = std::move(by_band);
    has_bands_ = true;
}

const std::vector<Target>& Reference::targets_not_above(Priority priority) const noexcept
{
    const auto above = std::ranges::upper_bound(by_priority_, priority, {}, &TargetsAt::priority);
    return above == by_priority_.begin() ? above->targets : std::prev(above)->targets;
}

const std::vector<Target>& Reference::targets_at(Priority priority) const noexcept
{
    if (policies_.priority_model && !policies_.priority_model->client_propagated)
        priority = policies_.priority_model->server_priority;
    if (!has_bands_) return targets_not_above(priority);
    union Never { // destroyed, for static objects of the program may call
        constexpr Never() noexcept : targets() {}
        ~Never() {} // NOLINT(modernize-use-equals-default): that would be deleted
        std::vector<Target> targets;
    };
    static constinit const Never none;
    for (const TargetsAt& band : by_priority_)
        if (band.priority <= priority && priority <= band.highest) return band.targets;
    return none.targets;
}

bool Reference::serves_itself(const WayList& ways) const
{
    return is_served_by(*orb_, object_key_, ways);
}

ReferencePtr Reference::with(PolicyOverridesPtr overrides) const
{
    return make_intrusive<Reference>(orb_, ior_, std::move(overrides));
}

ReferencePtr Reference::set_forward(ReferencePtr target, bool permanent)
{
    const std::lock_guard lock(mutex_);
    // A server that forwards to and fro must not fill the memory: each address is kept once.
    const auto known = std::find_if(forwards_.begin(), forwards_.end(),
                                    [&](const auto& old) { return old->ior() == target->ior(); });
    if (known != forwards_.end())
        target = *known;
    else
        forwards_.push_back(target);
    if (permanent) permanent_forward_.store(target.get(), std::memory_order_release);
    forward_.store(target.get(), std::memory_order_release);
    return target;
}

void Reference::forget_forwards()
{
    const std::lock_guard lock(mutex_);
    permanent_forward_.store(nullptr, std::memory_order_release);
    forward_.store(nullptr, std::memory_order_release);
}

IntrusivePtr<Reference> Reference::fall_back(const Reference* following)
{
    Reference* const permanent = permanent_forward();
    if (permanent != nullptr && following != permanent)
        return set_forward(IntrusivePtr<Reference>(permanent), false);
    forget_forwards();
    return {};
}

/// An object that is activated again and again has a link each time, and they are kept: after so
/// many its calls go through the adapter.
void Reference::link(const DirectLink& servant) noexcept
{
    const std::lock_guard lock(mutex_);
    if (linked(servant.interface) != nullptr) return; // another thread was faster
    const DirectLink* newest = links_.load(std::memory_order_relaxed);
    auto* link = new (std::nothrow) DirectLink(servant);
    if (link == nullptr) return;
    link->next = newest;
    links_.store(link, std::memory_order_release);
    if (++links_made_ == limits::direct_links_max) links_servants_ = false;
}

bool Reference::is_equivalent(const Reference& other) const noexcept
{
    if (ior_ == other.ior_) return true;
    if (targets_.empty() || other.targets_.empty()) return false;
    return targets_[0].endpoint->same_address(*other.targets_[0].endpoint) &&
           ior::ObjectKey::same_object(object_key_, other.object_key_);
}

std::uint32_t Reference::hash() const noexcept
{
    return ior::ObjectKey::hash(object_key_); // equivalent references have the same
}

} // namespace kairos::orb
