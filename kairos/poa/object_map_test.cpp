// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/object_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

namespace kairos::poa {
namespace {

class CountedServant : public Servant {
  public:
    void _kairos_dispatch(orb::Upcall&) override {}
    [[nodiscard]] bool _kairos_supports(std::string_view) const override { return false; }
    [[nodiscard]] const char* _kairos_id() const override { return ""; }
    void _add_ref() override { ++owners; }
    void _remove_ref() override { --owners; }

    std::atomic<int> owners{0};
};

TEST(ObjectMap, AnActivatedServantIsFoundAtItsPlace)
{
    CountedServant servant;
    ObjectMap map;
    const auto place = map.activate(servant, true);
    ASSERT_TRUE(place);
    const auto entry = map.enter(*place);
    ASSERT_TRUE(entry);
    EXPECT_EQ(&entry->servant(), &servant);
    EXPECT_EQ(servant.owners, 1);
    EXPECT_EQ(map.find(servant), place);
}

TEST(ObjectMap, AUniqueServantIsActivatedOnce)
{
    CountedServant servant;
    ObjectMap map;
    ASSERT_TRUE(map.activate(servant, true));
    EXPECT_FALSE(map.activate(servant, true));
    EXPECT_TRUE(map.activate(servant, false));
    EXPECT_EQ(map.size(), 2u);
}

TEST(ObjectMap, APlaceIsNeverReusedThoughItsSlotIs)
{
    CountedServant servant;
    ObjectMap map;
    const auto first = map.activate(servant, true);
    ASSERT_TRUE(map.deactivate(*first));
    EXPECT_FALSE(map.deactivate(*first));
    const auto second = map.activate(servant, true);
    EXPECT_EQ(second->slot, first->slot);
    EXPECT_NE(second->generation, first->generation);
    EXPECT_FALSE(map.enter(*first));
    EXPECT_TRUE(map.enter(*second));
}

TEST(ObjectMap, ForgedPlacesAreNotFound)
{
    CountedServant servant;
    ObjectMap map;
    const auto place = map.activate(servant, true);
    for (const std::uint32_t slot : {1u, 63u, 64u, 1'000'000u, 0x7fffffffu, 0xffffffffu})
        EXPECT_FALSE(map.enter({slot, 0})) << slot;
    EXPECT_FALSE(map.enter({place->slot, place->generation + 1}));
    EXPECT_FALSE(map.deactivate({0xffffffffu, 0}));
}

TEST(ObjectMap, AServantStaysUntilTheLastRequestHasLeft)
{
    CountedServant servant;
    ObjectMap map;
    const auto place = map.activate(servant, true);
    {
        const auto inside = map.enter(*place);
        ASSERT_TRUE(map.deactivate(*place));
        EXPECT_FALSE(map.enter(*place));
        EXPECT_EQ(servant.owners, 1); // still being called
        EXPECT_TRUE(map.busy());
    }
    EXPECT_EQ(servant.owners, 0);
    EXPECT_FALSE(map.busy());
}

TEST(ObjectMap, DestructionGivesTheServantsBack)
{
    CountedServant servant;
    {
        ObjectMap map;
        ASSERT_TRUE(map.activate(servant, true));
    }
    EXPECT_EQ(servant.owners, 0);
}

/// Random activations and deactivations against a std::map that does the same.
TEST(ObjectMap, BehavesLikeAnOrdinaryMap)
{
    std::mt19937 random(20261121);
    std::vector<std::unique_ptr<CountedServant>> servants;
    ObjectMap map;
    std::map<std::pair<std::uint32_t, std::uint32_t>, CountedServant*> model;
    std::vector<ObjectMap::Place> past;
    for (int step = 0; step < 20'000; ++step) {
        if (model.empty() || random() % 5 < 3) {
            servants.push_back(std::make_unique<CountedServant>());
            const auto place = map.activate(*servants.back(), true);
            ASSERT_TRUE(place);
            ASSERT_TRUE(
                model.emplace(std::pair(place->slot, place->generation), servants.back().get())
                    .second);
            past.push_back(*place);
        } else {
            const ObjectMap::Place place = past[random() % past.size()];
            ASSERT_EQ(map.deactivate(place), model.erase({place.slot, place.generation}) == 1);
        }
        const ObjectMap::Place place = past[random() % past.size()];
        const auto known = model.find({place.slot, place.generation});
        const auto entry = map.enter(place);
        ASSERT_EQ(entry.has_value(), known != model.end());
        const Servant* servant = entry ? &entry->servant() : nullptr;
        ASSERT_EQ(servant, known == model.end() ? nullptr : known->second);
        ASSERT_EQ(map.size(), model.size());
    }
}

/// Callers and one thread that activates and deactivates the same objects: whoever is inside an
/// object finds a servant that is alive, and every servant is given back exactly once.
TEST(ObjectMap, CallsRunBesideDeactivation)
{
    constexpr std::size_t objects = 4;
    constexpr int rounds = 2'000;
    std::array<CountedServant, objects> servants;
    ObjectMap map;
    std::array<std::atomic<std::uint64_t>, objects> places{}; // slot and generation + 1
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> entered{0};
    std::vector<std::thread> callers;
    for (int thread = 0; thread < 3; ++thread) {
        callers.emplace_back([&] {
            std::uint64_t found = 0;
            for (std::size_t i = 0; !done; ++i) {
                const std::uint64_t packed = places[i % objects];
                const auto entry = map.enter(
                    {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)});
                if (!entry) continue;
                ++found;
                auto& servant = static_cast<CountedServant&>(entry->servant());
                if (servant.owners < 1) std::abort();
            }
            entered += found;
        });
    }
    // At least so many rounds, and until somebody was inside at all.
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < objects; ++i) {
            const auto place = map.activate(servants[i], false);
            places[i] = std::uint64_t{place->slot} << 32 | place->generation;
            ASSERT_TRUE(map.deactivate(*place));
        }
    }
    done = true;
    for (std::thread& caller : callers)
        caller.join();
    for (const CountedServant& servant : servants)
        EXPECT_EQ(servant.owners, 0);
    EXPECT_EQ(map.size(), 0u);
}

} // namespace
} // namespace kairos::poa
