// SPDX-License-Identifier: Apache-2.0
//
// The store's promise: a change that was acknowledged is there after the process was killed, at any
// moment, many times over one store. What was under way may be there or not, but not in part.
// KAIROS_CRASHES is the number of times, for a long run. A backend is what
// store_conformance_testing.h says; `settle` waits for what the killed process left behind to do.
#pragma once

#include "kairos/nameserver/store_testing.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace kairos::nameserver {

/// One change, drawn from a seed, so that parent and child draw the same ones.
struct Change {
    unsigned kind = 0;
    std::size_t context = 0; // index of those known
    ior::NameComponent name;
    int number = 0;
};

inline Change draw(std::mt19937& random)
{
    Change change;
    change.kind = static_cast<unsigned>(random() % 5);
    change.context = random();
    change.name = component(std::to_string(random() % 20));
    change.number = static_cast<int>(random() % 100'000);
    return change;
}

/// Made in a store or, to know what to expect, in a model. `known` grows with the contexts.
inline StoreStatus make(Store& store, std::vector<ContextId>& known, const Change& change)
{
    const ContextId context = known[change.context % known.size()];
    ContextId created = 0;
    StoreStatus status = StoreStatus::done;
    switch (change.kind) {
    case 0:
        return store.bind(context, change.name, object_entry(change.number));
    case 1:
        return store.rebind(context, change.name, object_entry(change.number));
    case 2:
        return store.unbind(context, change.name);
    case 3:
        return store.rebind(context, change.name, foreign_entry(change.number));
    default:
        status = store.bind_new_context(context, change.name, created);
        if (status == StoreStatus::done) known.push_back(created);
        return status;
    }
}

inline void make(StoreModel& model, std::vector<ContextId>& known, const Change& change,
                 ContextId created)
{
    const ContextId context = known[change.context % known.size()];
    switch (change.kind) {
    case 0:
        (void)model.bind(context, change.name, object_entry(change.number));
        break;
    case 1:
        (void)model.rebind(context, change.name, object_entry(change.number));
        break;
    case 2:
        (void)model.unbind(context, change.name);
        break;
    case 3:
        (void)model.rebind(context, change.name, foreign_entry(change.number));
        break;
    default:
        if (model.bind(context, change.name, foreign_entry(0)) != StoreStatus::done) break;
        model.make(created);
        model.contexts[context][{change.name.id, change.name.kind}] = context_entry(created);
        known.push_back(created);
    }
}

/// What the child says of each change when it is durable.
struct Acknowledged {
    StoreStatus status;
    ContextId created;
};

template <typename Backend>
[[noreturn]] void change_until_killed(const Backend& backend, unsigned seed,
                                      std::vector<ContextId> known, int output)
{
    const auto store = backend.open();
    std::mt19937 random(seed);
    for (;;) {
        const std::size_t before = known.size();
        const StoreStatus status = make(*store, known, draw(random));
        const Acknowledged said{status, known.size() > before ? known.back() : 0};
        if (write(output, &said, sizeof said) != sizeof said) _exit(1);
    }
}

inline bool read_one(int input, Acknowledged& said)
{
    std::size_t done = 0;
    while (done < sizeof said) {
        const ssize_t count =
            read(input, reinterpret_cast<char*>(&said) + done, sizeof said - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}

template <typename Backend>
class Crash : public testing::Test {
  protected:
    /// As many as `count`, and a new store after every 25: comparing takes the longer the
    /// more a store has.
    void crash_often(unsigned count)
    {
        constexpr unsigned crashes_of_store = 25;
        for (unsigned i = 0; i < count && !HasFatalFailure() && !HasNonfatalFailure(); ++i) {
            if (i % crashes_of_store == 0) begin();
            crash(i);
        }
    }
    void begin()
    {
        backend_ = std::make_unique<const Backend>();
        (void)backend_->open(); // so that no child is killed before there is a store
        model_ = {};
        known_ = {root_context};
    }
    /// Few, so that many crashes take little time; now and then so many that what was written is
    /// moved from a log to where it belongs.
    unsigned changes_until_crash()
    {
        return static_cast<unsigned>(chance_() % 32 == 0 ? chance_() % 800 : chance_() % 12);
    }

    /// One child, killed after some changes and a moment more, and what it left.
    void crash(unsigned seed)
    {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            change_until_killed(*backend_, seed, known_, ends[1]);
        }
        close(ends[1]);
        std::mt19937 random(seed);
        const unsigned changes = changes_until_crash();
        unsigned acknowledged = 0;
        Acknowledged said{};
        while (acknowledged < changes && read_one(ends[0], said)) {
            ++acknowledged;
            make(model_, known_, draw(random), said.created);
        }
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds(chance_() % 1500);
        while (std::chrono::steady_clock::now() < until) {
        }
        kill(child, SIGKILL);
        while (read_one(ends[0], said))
            make(model_, known_, draw(random), said.created);
        close(ends[0]);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
        expect_all_of(draw(random));
    }

    /// Everything acknowledged is there; beyond it at most the next change, whole.
    void expect_all_of(const Change& next)
    {
        backend_->settle();
        const auto store = backend_->open();
        if (is_there(*store, next)) {
            ContextId created = 0;
            if (next.kind == 4)
                created = bound(*store, known_[next.context % known_.size()], next.name).context;
            make(model_, known_, next, created);
        }
        expect_same(*store, model_);
    }

    /// Whether the change after the acknowledged ones was made, too.
    bool is_there(Store& store, const Change& next) const
    {
        const ContextId context = known_[next.context % known_.size()];
        const auto& bindings = model_.contexts.at(context);
        const auto old = bindings.find({next.name.id, next.name.kind});
        Resolution now;
        const StoreStatus status = store.resolve(context, {&next.name, 1}, now);
        if (old == bindings.end()) return status == StoreStatus::done;
        return status != StoreStatus::done || !(now.entry == old->second);
    }

    std::unique_ptr<const Backend> backend_;
    StoreModel model_;
    std::vector<ContextId> known_;
    std::mt19937 chance_{std::random_device{}()};
};

/// As many as the environment says.
inline unsigned crashes(unsigned otherwise)
{
    const char* text = std::getenv("KAIROS_CRASHES");
    return text == nullptr ? otherwise : static_cast<unsigned>(std::atoi(text));
}

} // namespace kairos::nameserver
