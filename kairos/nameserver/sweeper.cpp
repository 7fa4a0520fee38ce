// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/sweeper.h"

#include "kairos/nameserver/row.h"

#include <algorithm>
#include <atomic>
#include <unordered_set>

namespace kairos::nameserver {
namespace {

constexpr std::size_t portion = 1000; // of a listing

std::string key_of(const Entry& entry) { return columns_of(0, {}, entry).reference; }

/// Whatever is bound in a context goes to `visit`. A store that does not work ends it.
template <typename Visit>
void visit_bindings(Store& store, ContextId context, Visit&& visit)
{
    Portion listed;
    ior::NameComponent last;
    for (bool first = true; first || listed.more; first = false) {
        if (store.list(context, first ? nullptr : &last, {.count = portion}, listed) !=
            StoreStatus::done)
            return;
        for (const Listed& one : listed.bindings) {
            Resolution resolution;
            if (store.resolve(context, {&one.component, 1}, resolution) == StoreStatus::done)
                visit(resolution.entry);
        }
        if (!listed.bindings.empty()) last = listed.bindings.back().component;
    }
}

} // namespace

Sweeper::Sweeper(Store& store, const SweepOptions& options) : store_(store), options_(options)
{
    if (options_.interval.count() != 0) thread_ = std::thread([this] { run(); });
}

Sweeper::~Sweeper()
{
    begin_to_end();
    if (thread_.joinable()) thread_.join();
}

void Sweeper::begin_to_end() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ended_.notify_all();
}

void Sweeper::run()
{
    while (!is_ending()) {
        sweep();
        std::unique_lock lock(mutex_);
        ended_.wait_for(lock, options_.interval, [this] { return ending_; });
    }
}

bool Sweeper::is_ending() const
{
    const std::lock_guard lock(mutex_);
    return ending_;
}

/// Each reference once, also of contexts that contain each other.
std::vector<Entry> Sweeper::gather() const
{
    std::vector<Entry> entries;
    std::unordered_set<std::string> known;
    std::unordered_set<ContextId> contexts{root_context};
    std::vector<ContextId> waiting{root_context};
    while (!waiting.empty() && entries.size() < options_.references_max && !is_ending()) {
        const ContextId context = waiting.back();
        waiting.pop_back();
        visit_bindings(store_, context, [&](const Entry& entry) {
            if (entry.kind == Entry::Kind::context) {
                if (contexts.insert(entry.context).second) waiting.push_back(entry.context);
            } else if (!entry.reference.is_nil() && entries.size() < options_.references_max &&
                       known.insert(key_of(entry)).second) {
                entries.push_back(entry);
            }
        });
    }
    return entries;
}

void Sweeper::sweep()
{
    const std::lock_guard alone(sweeping_mutex_);
    const std::vector<Entry> entries = gather();
    std::vector<Liveness> states(entries.size());
    std::atomic<std::size_t> next = 0;
    const auto probe_some = [&] {
        for (std::size_t i = next++; i < entries.size() && !is_ending(); i = next++)
            states[i] = probe(entries[i].reference, options_.timeout);
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(options_.probes, entries.size()); ++i)
        others.emplace_back(probe_some);
    probe_some();
    others.clear(); // joined

    Found found;
    for (std::size_t i = 0; i < entries.size(); ++i)
        found.emplace(key_of(entries[i]), states[i]);
    const std::lock_guard lock(mutex_);
    found_.swap(found);
}

Liveness Sweeper::of(const Entry& entry) const
{
    const std::string key = key_of(entry);
    const std::lock_guard lock(mutex_);
    const auto known = found_.find(key);
    return known == found_.end() ? Liveness::not_known : known->second;
}

} // namespace kairos::nameserver
