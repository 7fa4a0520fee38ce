// SPDX-License-Identifier: Apache-2.0
//
// What every store has to do: what it answers, also against a model, and that it keeps it. The
// tests are the same for all of them. A backend makes stores: each backend object has an empty one,
// which `open` opens, again and again.
#pragma once

#include "kairos/nameserver/store_testing.h"

#include <atomic>
#include <random>
#include <thread>

namespace kairos::nameserver {

template <typename Backend>
class StoreConformance : public testing::Test {
  protected:
    StoreConformance() : store_(backend_.open()) {}

    void reopen()
    {
        store_.reset();
        store_ = backend_.open();
    }

    const Backend backend_;
    std::unique_ptr<Store> store_;
};

TYPED_TEST_SUITE_P(StoreConformance);

TYPED_TEST_P(StoreConformance, BindsResolvesRebindsAndUnbinds)
{
    const auto name = component("a", "b");
    EXPECT_EQ(this->store_->bind(root_context, name, object_entry(1)), StoreStatus::done);
    EXPECT_EQ(bound(*this->store_, root_context, name), object_entry(1));
    EXPECT_EQ(this->store_->bind(root_context, name, object_entry(2)), StoreStatus::already_bound);
    EXPECT_EQ(bound(*this->store_, root_context, name), object_entry(1));
    EXPECT_EQ(this->store_->rebind(root_context, name, object_entry(2)), StoreStatus::done);
    EXPECT_EQ(bound(*this->store_, root_context, name), object_entry(2));
    EXPECT_EQ(this->store_->unbind(root_context, name), StoreStatus::done);
    EXPECT_EQ(this->store_->unbind(root_context, name), StoreStatus::not_bound);
    EXPECT_EQ(this->store_->rebind(root_context, name, object_entry(3)), StoreStatus::done);
}

TYPED_TEST_P(StoreConformance, EveryOctetOfANameCounts)
{
    const std::vector<ior::NameComponent> names{
        component("a", ""),    component("", "a"),    component("", ""),
        component("A", ""),    component("a ", ""),   component("a", " "),
        component("\xff", ""), component("a\n", "'"), component(std::string(5000, 'x'), "%")};
    for (std::size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(this->store_->bind(root_context, names[i], object_entry(static_cast<int>(i))),
                  StoreStatus::done);
    for (std::size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(bound(*this->store_, root_context, names[i]), object_entry(static_cast<int>(i)));
    EXPECT_EQ(list_all(*this->store_, root_context, 2).size(), names.size());
}

TYPED_TEST_P(StoreConformance, FollowsNamesAndSaysHowFarTheyLed)
{
    ContextId a = 0;
    ContextId b = 0;
    ASSERT_EQ(this->store_->bind_new_context(root_context, component("a"), a), StoreStatus::done);
    ASSERT_EQ(this->store_->bind_new_context(a, component("b"), b), StoreStatus::done);
    ASSERT_EQ(this->store_->bind(b, component("object"), object_entry(1)), StoreStatus::done);
    ASSERT_EQ(this->store_->bind(a, component("other server"), foreign_entry(2)),
              StoreStatus::done);

    const auto led = [&](const char* text, std::size_t resolved, ContextId context) {
        Resolution resolution;
        const StoreStatus status =
            resolve(*this->store_, root_context, ior::parse_name(text).value(), resolution);
        EXPECT_EQ(resolution.resolved, resolved) << text;
        EXPECT_EQ(resolution.context, context) << text;
        return std::pair(status, resolution.entry);
    };
    EXPECT_EQ(led("a/b/object", 3, b), std::pair(StoreStatus::done, object_entry(1)));
    EXPECT_EQ(led("a/b", 2, a), std::pair(StoreStatus::done, context_entry(b)));
    EXPECT_EQ(led("a/other server", 2, a), std::pair(StoreStatus::done, foreign_entry(2)));
    EXPECT_EQ(led("a/missing/x", 1, a).first, StoreStatus::not_bound);
    EXPECT_EQ(led("a/b/object/x", 3, b).first, StoreStatus::wrong_type);
    EXPECT_EQ(led("a/other server/x", 2, a), std::pair(StoreStatus::foreign, foreign_entry(2)));
}

TYPED_TEST_P(StoreConformance, ObjectsAndContextsDoNotReplaceEachOther)
{
    ContextId context = 0;
    ASSERT_EQ(this->store_->bind_new_context(root_context, component("c"), context),
              StoreStatus::done);
    EXPECT_EQ(this->store_->rebind(root_context, component("c"), object_entry(1)),
              StoreStatus::wrong_type);
    EXPECT_EQ(this->store_->rebind(root_context, component("c"), foreign_entry(1)),
              StoreStatus::done);
    ASSERT_EQ(this->store_->bind(root_context, component("o"), object_entry(1)), StoreStatus::done);
    EXPECT_EQ(this->store_->rebind(root_context, component("o"), context_entry(context)),
              StoreStatus::wrong_type);
}

TYPED_TEST_P(StoreConformance, ContextsAreDestroyedEmptyAndTheirNumbersAreNotUsedAgain)
{
    ContextId first = 0;
    ASSERT_EQ(this->store_->new_context(first), StoreStatus::done);
    ASSERT_EQ(this->store_->bind(first, component("x"), object_entry(1)), StoreStatus::done);
    ASSERT_EQ(this->store_->bind(root_context, component("c"), context_entry(first)),
              StoreStatus::done);
    EXPECT_EQ(this->store_->destroy_context(first), StoreStatus::not_empty);
    ASSERT_EQ(this->store_->unbind(first, component("x")), StoreStatus::done);
    EXPECT_EQ(this->store_->destroy_context(first), StoreStatus::done);
    EXPECT_EQ(this->store_->destroy_context(first), StoreStatus::no_context);
    EXPECT_EQ(this->store_->find_context(first), StoreStatus::no_context);
    EXPECT_EQ(this->store_->bind(first, component("x"), object_entry(1)), StoreStatus::no_context);
    EXPECT_EQ(this->store_->unbind(first, component("x")), StoreStatus::no_context);
    EXPECT_EQ(this->store_->bind(root_context, component("d"), context_entry(first)),
              StoreStatus::no_context);
    Resolution resolution;
    EXPECT_EQ(resolve(*this->store_, root_context, {component("c"), component("x")}, resolution),
              StoreStatus::no_context);
    this->reopen();
    ContextId second = 0;
    ASSERT_EQ(this->store_->new_context(second), StoreStatus::done);
    EXPECT_GT(second, first);
}

TYPED_TEST_P(StoreConformance, KeepsItsIdentityWhichIsNoOthers)
{
    const std::uint64_t identity = this->store_->identity();
    this->reopen();
    EXPECT_EQ(this->store_->identity(), identity);
    const TypeParam other;
    EXPECT_NE(other.open()->identity(), identity);
}

TYPED_TEST_P(StoreConformance, DoesWhatTheModelDoes)
{
    std::mt19937 random(11);
    StoreModel model;
    std::vector<ContextId> known{root_context};
    for (int step = 0; step < 2000; ++step) {
        const ContextId context = known[random() % known.size()];
        const ContextId other = known[random() % known.size()];
        const auto name = component(std::string(1, static_cast<char>('a' + random() % 4)),
                                    random() % 2 == 0 ? "" : "k");
        const int number = static_cast<int>(random() % 1000);
        const Entry entry = random() % 3 == 0   ? context_entry(other)
                            : random() % 3 == 0 ? foreign_entry(number)
                                                : object_entry(number);
        switch (random() % 6) {
        case 0:
            ASSERT_EQ(this->store_->bind(context, name, entry), model.bind(context, name, entry));
            break;
        case 1:
            ASSERT_EQ(this->store_->rebind(context, name, entry),
                      model.rebind(context, name, entry));
            break;
        case 2:
            ASSERT_EQ(this->store_->unbind(context, name), model.unbind(context, name));
            break;
        case 3: {
            ContextId created = 0;
            const StoreStatus status = this->store_->bind_new_context(context, name, created);
            if (status == StoreStatus::done) {
                known.push_back(created);
                model.make(created);
                ASSERT_EQ(model.bind(context, name, context_entry(created)), StoreStatus::done);
            } else {
                ASSERT_EQ(status, model.bind(context, name, foreign_entry(0)));
            }
            break;
        }
        case 4:
            if (context == root_context) break;
            ASSERT_EQ(this->store_->destroy_context(context), model.destroy_context(context));
            break;
        default:
            if (step % 100 == 0) this->reopen();
        }
    }
    expect_same(*this->store_, model);
    this->reopen();
    expect_same(*this->store_, model);
}

TYPED_TEST_P(StoreConformance, ListsInPortionsWhileNamesComeAndGo)
{
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(
            this->store_->bind(root_context, component(std::to_string(1000 + i)), object_entry(i)),
            StoreStatus::done);
    for (const std::size_t portion : {1u, 7u, 99u, 100u, 101u})
        EXPECT_EQ(list_all(*this->store_, root_context, portion).size(), 100u);
    Portion some;
    const auto last = component("1049");
    ASSERT_EQ(this->store_->unbind(root_context, last), StoreStatus::done); // the cursor's own
    ASSERT_EQ(this->store_->list(root_context, &last, {.count = 1000}, some), StoreStatus::done);
    ASSERT_EQ(some.bindings.size(), 50u);
    EXPECT_FALSE(some.more);
    EXPECT_EQ(some.bindings[0].component.id, "1050");
    ASSERT_EQ(this->store_->list(root_context, &last, {.count = 0}, some), StoreStatus::done);
    EXPECT_TRUE(some.bindings.empty());
    EXPECT_TRUE(some.more);
    EXPECT_EQ(this->store_->list(12345, nullptr, {.count = 10}, some), StoreStatus::done);
    EXPECT_TRUE(some.bindings.empty());
    EXPECT_FALSE(some.more);
}

TYPED_TEST_P(StoreConformance, APortionIsBoundedInOctets)
{
    const std::string long_kind(1000, 'k');
    Entry large = object_entry(1);
    large.reference.profiles[0].data.resize(5000); // of no server
    for (int i = 0; i < 10; ++i)
        ASSERT_EQ(this->store_->bind(root_context, component(std::to_string(i), long_kind),
                                     i < 5 ? object_entry(i) : large),
                  StoreStatus::done);
    Portion portion;
    const auto count_of = [&](std::size_t octets, const ior::NameComponent* after) {
        EXPECT_EQ(
            this->store_->list(root_context, after, {.count = 100, .octets = octets}, portion),
            StoreStatus::done);
        return portion.bindings.size();
    };
    EXPECT_EQ(count_of(1, nullptr), 1u);
    EXPECT_TRUE(portion.more);
    EXPECT_EQ(count_of(3500, nullptr), 3u);
    EXPECT_TRUE(portion.more);
    const auto middle = component("4", long_kind);
    EXPECT_EQ(count_of(3500, &middle), 1u);
    EXPECT_EQ(count_of(13'000, &middle), 2u);
    EXPECT_TRUE(portion.more);
    EXPECT_EQ(count_of(100'000, &middle), 5u);
    EXPECT_FALSE(portion.more);
    EXPECT_EQ(count_of(100'000, nullptr), 10u);
    EXPECT_FALSE(portion.more);
}

TYPED_TEST_P(StoreConformance, ManyThreadsReadAndChange)
{
    constexpr int threads_count = 4;
    constexpr int steps = 50;
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < threads_count; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < steps; ++i) {
                const auto name = component(std::to_string(t), std::to_string(i));
                if (this->store_->bind(root_context, name, object_entry(i)) != StoreStatus::done)
                    ++wrong;
                Resolution resolution;
                if (this->store_->resolve(root_context, {&name, 1}, resolution) !=
                        StoreStatus::done ||
                    resolution.entry != object_entry(i))
                    ++wrong;
                Portion listed;
                if (this->store_->list(root_context, nullptr, {.count = 10}, listed) !=
                    StoreStatus::done)
                    ++wrong;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(list_all(*this->store_, root_context, 30).size(),
              static_cast<std::size_t>(threads_count * steps));
}

REGISTER_TYPED_TEST_SUITE_P(StoreConformance, BindsResolvesRebindsAndUnbinds,
                            EveryOctetOfANameCounts, FollowsNamesAndSaysHowFarTheyLed,
                            ObjectsAndContextsDoNotReplaceEachOther,
                            ContextsAreDestroyedEmptyAndTheirNumbersAreNotUsedAgain,
                            KeepsItsIdentityWhichIsNoOthers, DoesWhatTheModelDoes,
                            ListsInPortionsWhileNamesComeAndGo, APortionIsBoundedInOctets,
                            ManyThreadsReadAndChange);

} // namespace kairos::nameserver
