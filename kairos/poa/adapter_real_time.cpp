// SPDX-License-Identifier: Apache-2.0
//
// Adapter: at which priority, and by whose threads, requests are served where Real-Time CORBA's
// policies say so (1.2, 5.7 and 5.12). Where the server declares priorities, the key of an object
// says its own in front of the id: so it is known before anything is looked for, and outlives the
// server as references do.
#include "kairos/base/assert_held.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/real_time.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/adapters.h"
#include "kairos/server/thread_pool.h"

namespace kairos::poa {

namespace {

/// Most significant octet first.
constexpr std::size_t priority_size = 2;

orb::Priority priority_at(Bytes octets) noexcept
{
    return static_cast<orb::Priority>(std::to_integer<unsigned>(octets[0]) << 8 |
                                      std::to_integer<unsigned>(octets[1]));
}

} // namespace

// --- requests ------------------------------------------------------------------------------------

std::optional<Wanted> Adapter::understood(const Wanted& wanted) const noexcept
{
    if (!policies_.real_time.declares()) return wanted;
    if (wanted.id_is_place || wanted.id.size() < priority_size) return std::nullopt;
    const orb::Priority priority = priority_at(wanted.id);
    if (!may_be_declared(priority)) return std::nullopt;
    return Wanted{
        .id = wanted.id.subspan(priority_size), .place = wanted.place, .priority = priority};
}

/// What a client sends as a key must not get it a priority that the program has given to nobody. Of
/// persistent objects another run may have declared it: there the lanes alone can tell.
bool Adapter::may_be_declared(orb::Priority priority) const noexcept
{
    const orb::ThreadPool* pool = policies_.real_time.pool;
    if (priority < 0 || (pool != nullptr && !pool->has_lane(priority))) return false;
    const std::size_t count = priorities_.load(std::memory_order_acquire);
    if (policies_.persistent() || count > priorities_known_max) return true;
    for (std::size_t i = 0; i < count; ++i)
        if (priorities_known_[i].load(std::memory_order_relaxed) == priority) return true;
    return false;
}

/// Must hold mutex_.
void Adapter::note_declared(orb::Priority priority) noexcept
{
    assert_held(mutex_);
    const std::size_t count = priorities_.load(std::memory_order_relaxed);
    if (count > priorities_known_max) return;
    for (std::size_t i = 0; i < count; ++i)
        if (priorities_known_[i].load(std::memory_order_relaxed) == priority) return;
    if (count < priorities_known_max)
        priorities_known_[count].store(priority, std::memory_order_relaxed);
    priorities_.store(count + 1, std::memory_order_release);
}

std::optional<orb::Priority> Adapter::priority_of(const std::optional<orb::Priority>& of_client,
                                                  const Wanted& wanted) const noexcept
{
    const auto& model = policies_.real_time.priority_model;
    if (!model) return std::nullopt;
    if (model->client_propagated) return of_client.value_or(model->server_priority);
    if (const auto scheduled = scheduled_.find(wanted.id)) return scheduled;
    return wanted.priority.value_or(model->server_priority);
}

orb::Adapter::OwnThreads Adapter::threads_for(const giop::Request& request, std::uint32_t key_id,
                                              const Wanted& asked)
{
    const Use use(*this, key_id);
    if (!use || policies_.real_time.pool == nullptr) return {};
    const auto wanted = understood(asked);
    if (!wanted) return {}; // whoever serves it says so
    const auto priority = priority_of(orb::priority_in(request.contexts), *wanted);
    return {policies_.real_time.pool, priority.value_or(0)};
}

void Adapter::serve_in_real_time(Request& request, const Wanted& wanted)
{
    orb::ThreadPool* const pool = policies_.real_time.pool;
    const auto asked = priority_of(request.priority(), wanted);
    if (const auto& model = policies_.real_time.priority_model; model && model->client_propagated)
        request.return_priority();
    const auto work = [&] {
        auto priority = asked;
        if (orb::PriorityTransform* transform = orb().priority_transform();
            transform != nullptr && priority && !transform->inbound(*priority, id_of(wanted)))
            orb::raise<CORBA::DATA_CONVERSION>(0, CORBA::COMPLETED_NO,
                                               "the priority transform has none for this request");
        std::optional<orb::PriorityScope> scope;
        if (priority) scope.emplace(orb(), *priority);
        serve_alone(request, wanted);
    };
    if (pool == nullptr || pool->is_current()) return work();
    pool->run(asked, std::ref(work)); // a copy would be allocated
}

// --- declared priorities -------------------------------------------------------------------------

Outcome Adapter::declare(Bytes id, orb::Priority priority)
{
    if (!policies_.real_time.declares()) return Outcome::wrong_policy;
    if (priority < 0 || !policies_.real_time.allows(priority)) return Outcome::bad_priority;
    Id wanted(id.begin(), id.end());
    const std::lock_guard lock(mutex_);
    if (const auto known = declared_.find(wanted); known != declared_.end())
        return known->second == priority ? Outcome::ok : Outcome::other_priority;
    note_declared(priority);
    // What is the same without being declared takes no memory.
    if (priority != policies_.real_time.priority_model->server_priority)
        declared_.emplace(std::move(wanted), priority);
    return Outcome::ok;
}

Outcome Adapter::reschedule(Bytes id, orb::Priority priority)
{
    if (!policies_.real_time.declares()) return Outcome::wrong_policy;
    if (priority < 0 || !policies_.real_time.allows(priority)) return Outcome::bad_priority;
    const std::lock_guard lock(mutex_);
    note_declared(priority);
    declared_.insert_or_assign(Id(id.begin(), id.end()), priority);
    scheduled_.set(id, priority);
    return Outcome::ok;
}

bool Adapter::has_declared(Bytes id) const
{
    const std::lock_guard lock(mutex_);
    return declared_.contains(Id(id.begin(), id.end()));
}

void Adapter::forget_declared(Bytes id) noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase_if(declared_,
                  [id](const auto& known) { return as_text(known.first) == as_text(id); });
}

std::vector<ior::TaggedComponent> Adapter::components_of(Bytes id) const
{
    const RealTimePolicies& real_time = policies_.real_time;
    ior::ExposedPolicies exposed{.priority_model = real_time.priority_model,
                                 .bands = real_time.bands,
                                 .tcp = real_time.client_tcp};
    if (exposed.is_empty()) return {};
    if (real_time.declares()) exposed.priority_model->server_priority = declared_priority(id);
    return {ior::make_policies(exposed)};
}

orb::Priority Adapter::declared_priority(Bytes id) const
{
    const std::lock_guard lock(mutex_);
    const auto known = declared_.find(Id(id.begin(), id.end()));
    return known != declared_.end() ? known->second
                                    : policies_.real_time.priority_model->server_priority;
}

} // namespace kairos::poa
