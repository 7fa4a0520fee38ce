// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/object_map.h"

#include "kairos/base/heap_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace kairos::poa {
namespace {

namespace heap = heap_testing;

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
    const auto activated = map.activate(servant, true);
    ASSERT_TRUE(activated);
    const auto entry = map.enter(activated.place);
    ASSERT_TRUE(entry);
    EXPECT_EQ(&entry->servant(), &servant);
    EXPECT_EQ(entry->place(), activated.place);
    EXPECT_TRUE(entry->id().empty());
    EXPECT_EQ(servant.owners, 1);
    EXPECT_EQ(map.find(servant), activated.place);
}

TEST(ObjectMap, AUniqueServantIsActivatedOnce)
{
    CountedServant servant;
    ObjectMap map;
    ASSERT_TRUE(map.activate(servant, true));
    EXPECT_EQ(map.activate(servant, true).status, Activation::servant_active);
    EXPECT_TRUE(map.activate(servant, false));
    EXPECT_EQ(map.size(), 2u);
}

TEST(ObjectMap, APlaceIsNeverReusedThoughItsSlotIs)
{
    CountedServant servant;
    ObjectMap map;
    const Place first = map.activate(servant, true).place;
    ASSERT_TRUE(map.deactivate(first));
    EXPECT_FALSE(map.deactivate(first));
    const Place second = map.activate(servant, true).place;
    EXPECT_EQ(second.slot, first.slot);
    EXPECT_NE(second.generation, first.generation);
    EXPECT_FALSE(map.enter(first));
    EXPECT_TRUE(map.enter(second));
}

/// After 2^32 activations a slot is out of use, so that its first place never comes again.
TEST(ObjectMap, ASlotWhoseGenerationsAreUsedUpIsNotUsedAgain)
{
    CountedServant servant;
    ObjectMap map({.first_generation = 0xfffffffe});
    std::vector<Place> past;
    for (int i = 0; i < 6; ++i) {
        const Place place = map.activate(servant, true).place;
        EXPECT_EQ(std::count(past.begin(), past.end(), place), 0);
        for (const Place old : past)
            EXPECT_FALSE(map.enter(old));
        ASSERT_TRUE(map.enter(place));
        ASSERT_TRUE(map.deactivate(place));
        past.push_back(place);
    }
    EXPECT_EQ(past[1].slot, past[0].slot);
    EXPECT_EQ(past[1].generation, 0xffffffffu);
    EXPECT_NE(past[2].slot, past[0].slot);
    EXPECT_FALSE(map.enter({past[0].slot, 0})); // as it would be if they began again
}

TEST(ObjectMap, ForgedPlacesAreNotFound)
{
    CountedServant servant;
    ObjectMap map;
    const Place place = map.activate(servant, true).place;
    for (const std::uint32_t slot : {1u, 63u, 64u, 1'000'000u, 0x7fffffffu, 0xffffffffu})
        EXPECT_FALSE(map.enter(Place{slot, 0})) << slot;
    EXPECT_FALSE(map.enter({place.slot, place.generation + 1}));
    EXPECT_FALSE(map.deactivate({0xffffffffu, 0}));
}

TEST(ObjectMap, AServantStaysUntilTheLastRequestHasLeft)
{
    CountedServant servant;
    ObjectMap map;
    const Place place = map.activate(servant, true).place;
    {
        const auto inside = map.enter(place);
        ASSERT_TRUE(map.deactivate(place));
        EXPECT_FALSE(map.enter(place));
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

TEST(ObjectMap, AServantOfManyObjectsIsFoundWhileOneIsActive)
{
    CountedServant servant;
    CountedServant other;
    ObjectMap map;
    ASSERT_TRUE(map.activate(other, true));
    std::vector<Place> places;
    for (int i = 0; i < 100; ++i)
        places.push_back(map.activate(servant, false).place);
    std::shuffle(places.begin(), places.end(), std::mt19937(4));
    while (!places.empty()) {
        const auto found = map.find(servant);
        ASSERT_TRUE(found);
        EXPECT_EQ(std::count(places.begin(), places.end(), *found), 1);
        ASSERT_TRUE(map.deactivate(places.back()));
        places.pop_back();
    }
    EXPECT_FALSE(map.find(servant));
    EXPECT_TRUE(map.find(other));
}

// --- skeletons -----------------------------------------------------------------------------------

void serve_nothing(void*, orb::Upcall&) {}

/// A servant whose skeleton is told apart by its own operations.
class ServantWithSkeleton : public CountedServant {
  public:
    [[nodiscard]] Skeleton _kairos_skeleton() noexcept override { return {&operations, &object}; }

    const Operations operations{nullptr, nullptr, 0, 0, serve_nothing};
    int object = 0;
};

/// Whether it is called without layers.
bool is_known(const ObjectMap::Entry& entry)
{
    const Skeleton skeleton = entry.skeleton();
    const bool layered = skeleton.object == static_cast<Servant*>(&entry.servant());
    EXPECT_EQ(skeleton.operations->others == serve_nothing, !layered);
    for (const std::string_view name : {"", "any"}) // no other servant's dispatch would be told
        EXPECT_TRUE(!layered || skeleton.operations->find(name) == skeleton.operations->others);
    if (layered) return false;
    EXPECT_EQ(skeleton.object, &static_cast<ServantWithSkeleton&>(entry.servant()).object);
    return true;
}

/// Of each of so many classes of servants; what they are, and their slots, changes.
TEST(ObjectMap, KnowsTheSkeletonsOfItsServants)
{
    std::array<ServantWithSkeleton, 60> servants;
    std::array<CountedServant, 60> others;
    ObjectMap map({.knows_skeletons = true});
    for (int round = 0; round < 3; ++round) {
        std::vector<Place> places;
        for (std::size_t i = 0; i < servants.size(); ++i) {
            places.push_back(map.activate(servants[i], true).place);
            places.push_back(map.activate(others[i], true).place);
            ASSERT_TRUE(i % 3 != 0 || map.deactivate(places[i]));
        }
        std::size_t known = 0;
        for (const Place place : places) {
            const auto entry = map.enter(place);
            if (entry && is_known(*entry)) ++known;
        }
        EXPECT_EQ(known, 50u);
        map.deactivate_all();
    }
}

/// Beyond what the slots have bits for, servants are called as they always can be.
TEST(ObjectMap, ServantsOfClassesTooManyAreCalledInLayers)
{
    std::array<ServantWithSkeleton, 100> servants;
    ObjectMap map({.knows_skeletons = true});
    std::size_t known = 0;
    for (auto& servant : servants) {
        const auto entry = map.enter(map.activate(servant, true).place);
        ASSERT_TRUE(entry);
        EXPECT_EQ(&entry->servant(), &servant);
        known += is_known(*entry) ? 1 : 0;
    }
    EXPECT_EQ(known, 63u);
}

/// Whether skeletons are known changes from life to life.
TEST(ObjectMap, LearnsOfSkeletonsWhenItIsReset)
{
    std::array<ServantWithSkeleton, 60> servants;
    ObjectMap map;
    for (auto& servant : servants)
        ASSERT_TRUE(map.activate(servant, true));
    map.deactivate_all();
    map.reset({.knows_skeletons = true});
    for (auto& servant : servants) {
        const auto entry = map.enter(map.activate(servant, true).place);
        ASSERT_TRUE(entry);
        EXPECT_TRUE(is_known(*entry));
    }
}

// --- ids -----------------------------------------------------------------------------------------

constexpr IdStrategy strategies[] = {IdStrategy::linear, IdStrategy::hash, IdStrategy::perfect,
                                     IdStrategy::active, IdStrategy::delayered};

/// Ids that a search could confuse: the empty one, prefixes, equal ends, NULs.
std::vector<std::string> sample_ids(std::size_t count)
{
    using namespace std::string_literals;
    std::vector<std::string> ids{"",
                                 "a",
                                 "ab",
                                 "abc",
                                 "\0"s,
                                 "\0\0"s,
                                 "account/0001",
                                 "account/0002",
                                 "other/0001",
                                 std::string(300, 'x')};
    for (std::size_t i = 0; ids.size() < count; ++i)
        ids.push_back("object" + std::to_string(i));
    ids.resize(count);
    return ids;
}

std::vector<Bytes> as_ids(const std::vector<std::string>& texts)
{
    std::vector<Bytes> ids;
    for (const std::string& text : texts)
        ids.push_back(as_bytes(text));
    return ids;
}

class WithIds : public testing::TestWithParam<IdStrategy> {
  protected:
    explicit WithIds(std::size_t count = 10) : texts(sample_ids(count)), ids(as_ids(texts)) {}

    [[nodiscard]] ObjectMap::Options options(Retiring* retiring = nullptr) const
    {
        return {.user_ids = true, .strategy = GetParam(), .known_ids = ids, .retiring = retiring};
    }

    const std::vector<std::string> texts;
    const std::vector<Bytes> ids;
};

std::string strategy_name(const testing::TestParamInfo<IdStrategy>& info)
{
    constexpr const char* names[] = {"linear", "hash", "perfect", "active", "delayered"};
    return names[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(ObjectMap, WithIds, testing::ValuesIn(strategies), strategy_name);

TEST_P(WithIds, EveryObjectIsFoundByItsId)
{
    std::vector<CountedServant> servants(ids.size());
    ObjectMap map(options());
    for (std::size_t i = 0; i < ids.size(); ++i)
        ASSERT_TRUE(map.activate(servants[i], ids[i], true)) << texts[i];
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto entry = map.enter(ids[i]);
        ASSERT_TRUE(entry) << texts[i];
        EXPECT_EQ(&entry->servant(), &servants[i]);
        EXPECT_EQ(as_text(entry->id()), texts[i]);
        const auto same = map.enter(entry->place());
        ASSERT_TRUE(same);
        EXPECT_EQ(as_text(same->id()), texts[i]);
    }
    for (const std::string_view stranger : {"b", "account/0003", "xaccount/0001", "object"})
        EXPECT_FALSE(map.enter(as_bytes(stranger))) << stranger;
}

TEST_P(WithIds, AnIdIsTakenUntilItsObjectIsGone)
{
    CountedServant first;
    CountedServant second;
    ObjectMap map(options());
    const Place place = map.activate(first, ids[1], true).place;
    EXPECT_EQ(map.activate(second, ids[1], true).status, Activation::id_active);
    EXPECT_EQ(map.activate(first, ids[2], true).status, Activation::servant_active);
    {
        const auto inside = map.enter(ids[1]);
        ASSERT_TRUE(map.deactivate(place));
        EXPECT_FALSE(map.enter(ids[1]));
        EXPECT_EQ(map.activate(second, ids[1], true).status, Activation::id_leaving);
        EXPECT_EQ(as_text(inside->id()), texts[1]);
    }
    EXPECT_EQ(second.owners, 0); // refusals take nothing
    ASSERT_TRUE(map.activate(second, ids[1], true));
    EXPECT_EQ(&map.enter(ids[1])->servant(), &second);
    EXPECT_FALSE(map.enter(place));
}

TEST_P(WithIds, OnlyAPerfectHashRefusesUnknownIds)
{
    CountedServant servant;
    ObjectMap map(options());
    const Activation status = map.activate(servant, as_bytes("stranger"), true).status;
    EXPECT_EQ(status,
              GetParam() == IdStrategy::perfect ? Activation::id_unknown : Activation::activated);
    EXPECT_EQ(map.enter(as_bytes("stranger")).has_value(), status == Activation::activated);
}

TEST_P(WithIds, AnEmptiedMapServesAnother)
{
    std::vector<CountedServant> servants(ids.size());
    ObjectMap map(options());
    std::vector<Place> past;
    for (std::size_t i = 0; i < ids.size(); ++i)
        past.push_back(map.activate(servants[i], ids[i], true).place);
    map.deactivate_all();
    map.wait_until_empty();

    map.reset({});
    for (CountedServant& servant : servants)
        ASSERT_TRUE(map.activate(servant, true));
    for (const Place place : past)
        EXPECT_FALSE(map.enter(place));
    EXPECT_FALSE(map.enter(ids[1]));
    map.deactivate_all();

    const std::vector<Bytes> fewer(ids.begin(), ids.begin() + 3);
    map.reset({.user_ids = true, .strategy = GetParam(), .known_ids = fewer});
    ASSERT_TRUE(map.activate(servants[7], ids[2], true));
    EXPECT_EQ(&map.enter(ids[2])->servant(), &servants[7]);
    EXPECT_FALSE(map.enter(ids[4]));
    for (const Place place : past)
        EXPECT_FALSE(map.enter(place));
}

/// Ids come and go in tables that are kept: the tables must be used again.
TEST_P(WithIds, ComingAndGoingTakesNoMemory)
{
    CountedServant servant;
    std::vector<std::string> all;
    for (int i = 0; i < 400; ++i)
        all.push_back("object" + std::to_string(i));
    const std::vector<Bytes> known = as_ids(all);
    ObjectMap map({.user_ids = true, .strategy = GetParam(), .known_ids = known});
    std::size_t held = 0;
    for (std::size_t i = 0; i < 20'000; ++i) {
        const auto activated = map.activate(servant, known[i % known.size()], false);
        ASSERT_TRUE(activated);
        ASSERT_TRUE(map.enter(known[i % known.size()]));
        ASSERT_TRUE(map.deactivate(activated.place));
        if (i == 1'000) held = heap::held;
    }
    EXPECT_EQ(heap::held, held);
    for (int round = 0; round < 100; ++round) {
        map.reset({.user_ids = true, .strategy = GetParam(), .known_ids = known});
        if (round == 2) held = heap::held;
    }
    EXPECT_EQ(heap::held, held);
}

TEST_P(WithIds, SearchesAllocateNothingAndFailuresChangeNothing)
{
    std::vector<std::string> all;
    for (int i = 0; i < 100; ++i)
        all.push_back("object" + std::to_string(i));
    const std::vector<Bytes> known = as_ids(all);
    std::vector<CountedServant> servants(known.size());
    ObjectMap map({.user_ids = true, .strategy = GetParam(), .known_ids = known});
    for (std::size_t i = 0; i < known.size(); ++i) {
        // What is larger than this fails: in some rounds a table, in others slots, or the id.
        for (const std::size_t limit : {0u, 15u, 100u, 600u}) {
            heap::largest_permitted = limit;
            try {
                const auto activated = map.activate(servants[i], known[i], true);
                heap::largest_permitted = SIZE_MAX;
                ASSERT_TRUE(activated);
                break;
            } catch (const std::bad_alloc&) {
                ASSERT_FALSE(map.enter(known[i])); // would end the process if it allocated
                heap::largest_permitted = SIZE_MAX;
                ASSERT_EQ(map.size(), i);
                ASSERT_EQ(servants[i].owners, 0);
                ASSERT_FALSE(map.find(servants[i]));
                if (limit == 600) {
                    ASSERT_TRUE(map.activate(servants[i], known[i], true));
                }
            }
        }
        const auto entry = map.enter(known[i]);
        ASSERT_TRUE(entry);
        ASSERT_EQ(&entry->servant(), &servants[i]);
    }
}

TEST(ObjectMap, AnyNumberOfIdsIsHashedPerfectly)
{
    for (const std::size_t count : {0u, 1u, 2u, 3u, 13u, 500u, 20'000u}) {
        std::vector<std::string> texts = sample_ids(count);
        texts.insert(texts.end(), texts.begin(), texts.begin() + (count > 2 ? 2 : 0)); // again
        const std::vector<Bytes> ids = as_ids(texts);
        CountedServant servant;
        ObjectMap map({.user_ids = true,
                       .strategy = IdStrategy::perfect,
                       .known_ids = ids,
                       .find_servants = false});
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_TRUE(map.activate(servant, ids[i], false)) << texts[i];
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(as_text(map.enter(ids[i])->id()), texts[i]);
        EXPECT_EQ(map.activate(servant, as_bytes("stranger"), false).status,
                  Activation::id_unknown);
    }
}

// --- what it costs -------------------------------------------------------------------------------

/// Beside the servant, in requested octets; at any number of objects.
TEST(ObjectMap, AnObjectCostsLittle)
{
    constexpr std::size_t count = 100'000;
    constexpr std::size_t octets_max = 64;
    std::vector<CountedServant> servants(count);
    const std::size_t before = heap::held;
    ObjectMap map;
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(map.activate(servants[i], true));
        if (i + 1 < 1'000) continue;
        ASSERT_LE(heap::held - before, octets_max * (i + 1)) << i;
    }
    RecordProperty("octets_per_object", std::to_string((heap::held - before) / count));
}

TEST(ObjectMap, AnIdCostsAFewWordsMore)
{
    constexpr std::size_t count = 100'000;
    constexpr std::size_t octets_max = 160;
    CountedServant servant;
    const std::size_t before = heap::held;
    ObjectMap map({.user_ids = true, .find_servants = false});
    for (std::size_t i = 0; i < count; ++i) {
        const auto id = std::bit_cast<std::array<std::byte, 8>>(i);
        ASSERT_TRUE(map.activate(servant, id, false));
    }
    EXPECT_LE(heap::held - before, octets_max * count);
    RecordProperty("octets_per_object", std::to_string((heap::held - before) / count));
}

// --- retiring ------------------------------------------------------------------------------------

/// Remembers what it is told and checks that calls never overlap.
class Witness final : public Retiring {
  public:
    struct Event {
        Servant* servant;
        std::string id;
        Place place;
        bool remaining;
        friend bool operator==(const Event&, const Event&) = default;
    };

    void retired(Servant& servant, Bytes id, Place place, bool remaining) noexcept override
    {
        if (running.exchange(true)) std::abort();
        events.push_back({&servant, std::string(as_text(id)), place, remaining});
        if (during) std::exchange(during, nullptr)();
        servant._remove_ref();
        running = false;
    }

    std::atomic<bool> running{false};
    std::vector<Event> events;
    std::function<void()> during;
};

TEST_P(WithIds, TheLastToLeaveRetiresAnObjectOnce)
{
    CountedServant servant;
    Witness witness;
    ObjectMap map(options(&witness));
    const Place place = map.activate(servant, ids[3], true).place;
    {
        const auto first = map.enter(ids[3]);
        const auto second = map.enter(place);
        ASSERT_TRUE(map.deactivate(place));
        EXPECT_TRUE(witness.events.empty());
    }
    EXPECT_EQ(witness.events, (std::vector<Witness::Event>{{&servant, texts[3], place, false}}));
    EXPECT_EQ(servant.owners, 0);
}

TEST_P(WithIds, AnIdIsTakenWhileItsObjectIsRetired)
{
    CountedServant servant;
    Witness witness;
    ObjectMap map(options(&witness));
    const Place place = map.activate(servant, ids[3], true).place;
    const Place other = map.activate(servant, ids[4], false).place;
    Activation status = Activation::activated;
    witness.during = [&] {
        status = map.activate(servant, ids[3], false).status;
        map.deactivate(other); // waits until this one is done
    };
    ASSERT_TRUE(map.deactivate(place));
    EXPECT_EQ(status, Activation::id_leaving);
    EXPECT_EQ(witness.events, (std::vector<Witness::Event>{{&servant, texts[3], place, true},
                                                           {&servant, texts[4], other, false}}));
    EXPECT_TRUE(map.activate(servant, ids[3], true));
}

TEST(ObjectMap, OneOfAServantsObjectsIsTheLast)
{
    CountedServant servant;
    Witness witness;
    ObjectMap map({.find_servants = false, .retiring = &witness});
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(map.activate(servant, false));
    map.deactivate_all();
    ASSERT_EQ(witness.events.size(), 100u);
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ(witness.events[i].remaining, i != 99);
    EXPECT_EQ(servant.owners, 0);
}

TEST_P(WithIds, WhoWaitsForAnIdGetsIt)
{
    CountedServant servant;
    ObjectMap map(options());
    const Place place = map.activate(servant, ids[3], true).place;
    auto inside = map.enter(place);
    ASSERT_TRUE(map.deactivate(place));
    std::thread waiting([&] {
        map.wait_while_leaving(ids[3]);
        ASSERT_TRUE(map.activate(servant, ids[3], true));
    });
    inside.reset();
    waiting.join();
    EXPECT_TRUE(map.enter(ids[3]));
    map.deactivate_all();
    map.wait_until_empty();
    EXPECT_EQ(servant.owners, 0);
}

// --- model ---------------------------------------------------------------------------------------

/// Random steps, and a std::map that says what each must do.
class Model {
  public:
    Model(IdStrategy strategy, unsigned seed)
        : random_(seed), texts_(sample_ids(60)), ids_(as_ids(texts_)), servants_(20),
          map_({.user_ids = true, .strategy = strategy, .known_ids = ids_, .retiring = &witness_})
    {
    }

    void step()
    {
        switch (random_() % 8) {
        case 0:
        case 1:
            return activate();
        case 2:
            return deactivate();
        case 3:
            return leave();
        case 4:
            return enter_place();
        default:
            return enter_id();
        }
    }

    void end()
    {
        map_.deactivate_all();
        for (auto& [id, object] : objects_)
            object.active = false;
        while (!inside_.empty())
            leave();
        retire_idle();
        EXPECT_TRUE(objects_.empty());
        for (const CountedServant& servant : servants_)
            EXPECT_EQ(servant.owners, 0);
    }

  private:
    struct Object {
        CountedServant* servant;
        Place place;
        bool active = true;
        int inside = 0;
    };

    [[nodiscard]] std::size_t any_id() { return random_() % ids_.size(); }

    [[nodiscard]] long slots_of(const CountedServant& servant, bool only_active) const
    {
        return std::count_if(objects_.begin(), objects_.end(), [&](const auto& known) {
            return known.second.servant == &servant && (known.second.active || !only_active);
        });
    }

    void activate()
    {
        const std::size_t id = any_id();
        CountedServant& servant = servants_[random_() % servants_.size()];
        const bool unique = random_() % 2 != 0;
        const auto known = objects_.find(texts_[id]);
        const auto activated = map_.activate(servant, ids_[id], unique);
        if (unique && slots_of(servant, true) != 0) {
            ASSERT_EQ(activated.status, Activation::servant_active);
        } else if (known != objects_.end()) {
            ASSERT_EQ(activated.status,
                      known->second.active ? Activation::id_active : Activation::id_leaving);
        } else {
            ASSERT_EQ(activated.status, Activation::activated);
            objects_.emplace(texts_[id], Object{.servant = &servant, .place = activated.place});
            past_.push_back(activated.place);
        }
        ASSERT_EQ(map_.find(servant).has_value(), slots_of(servant, true) != 0);
    }

    void deactivate()
    {
        const auto known = objects_.find(texts_[any_id()]);
        if (known == objects_.end()) {
            if (past_.empty()) return;
            const Place place = past_[random_() % past_.size()];
            const auto found = at(place);
            ASSERT_EQ(map_.deactivate(place), found != objects_.end() && found->second.active);
            if (found != objects_.end()) found->second.active = false;
        } else {
            ASSERT_EQ(map_.deactivate(known->second.place), known->second.active);
            known->second.active = false;
        }
        retire_idle();
    }

    /// The model's part of what happens when the last has left.
    void retire_idle()
    {
        for (auto known = objects_.begin(); known != objects_.end();) {
            const Object object = known->second;
            if (object.active || object.inside != 0) {
                ++known;
                continue;
            }
            const bool remaining = slots_of(*object.servant, false) > 1;
            const Witness::Event expected{object.servant, known->first, object.place, remaining};
            // Several go at once only at the end, in the map's order.
            ASSERT_TRUE(std::any_of(
                witness_.events.begin(), witness_.events.end(), [&](const Witness::Event& event) {
                    return event.id == expected.id && event.place == expected.place &&
                           event.servant == expected.servant &&
                           (event.remaining == remaining || witness_.events.size() > 1);
                }));
            known = objects_.erase(known);
        }
        witness_.events.clear();
    }

    [[nodiscard]] std::map<std::string, Object>::iterator at(Place place)
    {
        return std::find_if(objects_.begin(), objects_.end(),
                            [&](const auto& known) { return known.second.place == place; });
    }

    void enter_id()
    {
        const std::size_t id = any_id();
        check(map_.enter(ids_[id]), objects_.find(texts_[id]));
    }

    void enter_place()
    {
        if (past_.empty()) return;
        const Place place = past_[random_() % past_.size()];
        check(map_.enter(place), at(place));
    }

    void check(std::optional<ObjectMap::Entry> entry, std::map<std::string, Object>::iterator known)
    {
        ASSERT_EQ(entry.has_value(), known != objects_.end() && known->second.active);
        if (!entry) return;
        ASSERT_EQ(&entry->servant(), known->second.servant);
        ASSERT_EQ(as_text(entry->id()), known->first);
        ASSERT_EQ(entry->place(), known->second.place);
        if (inside_.size() == 10 || random_() % 2 != 0) return;
        ++known->second.inside;
        inside_.emplace_back(known->first, std::move(*entry));
    }

    void leave()
    {
        if (inside_.empty()) return;
        --objects_.at(inside_.front().first).inside;
        inside_.pop_front();
        retire_idle();
    }

    std::mt19937 random_;
    const std::vector<std::string> texts_;
    const std::vector<Bytes> ids_;
    std::vector<CountedServant> servants_;
    Witness witness_;
    ObjectMap map_;
    std::map<std::string, Object> objects_;
    std::vector<Place> past_;
    std::list<std::pair<std::string, ObjectMap::Entry>> inside_;
};

TEST_P(WithIds, BehavesLikeAnOrdinaryMap)
{
    for (const unsigned seed : {20261121u, 1u, 2u}) {
        Model model(GetParam(), seed);
        for (int step = 0; step < 10'000 && !testing::Test::HasFatalFailure(); ++step)
            model.step();
        model.end();
    }
}

/// The same for objects that have places only, in larger numbers.
TEST(ObjectMap, BehavesLikeAnOrdinaryMap)
{
    std::mt19937 random(20261121);
    std::vector<std::unique_ptr<CountedServant>> servants;
    ObjectMap map;
    std::map<std::pair<std::uint32_t, std::uint32_t>, CountedServant*> model;
    std::vector<Place> past;
    for (int step = 0; step < 20'000; ++step) {
        if (model.empty() || random() % 5 < 3) {
            servants.push_back(std::make_unique<CountedServant>());
            const auto [status, place] = map.activate(*servants.back(), true);
            ASSERT_EQ(status, Activation::activated);
            ASSERT_TRUE(
                model.emplace(std::pair(place.slot, place.generation), servants.back().get())
                    .second);
            past.push_back(place);
        } else {
            const Place place = past[random() % past.size()];
            ASSERT_EQ(map.deactivate(place), model.erase({place.slot, place.generation}) == 1);
        }
        const Place place = past[random() % past.size()];
        const auto known = model.find({place.slot, place.generation});
        const auto entry = map.enter(place);
        ASSERT_EQ(entry.has_value(), known != model.end());
        const Servant* servant = entry ? &entry->servant() : nullptr;
        ASSERT_EQ(servant, known == model.end() ? nullptr : known->second);
        ASSERT_EQ(map.size(), model.size());
    }
}

// --- concurrency ---------------------------------------------------------------------------------

/// Callers and one thread that activates and deactivates the same objects: whoever is inside an
/// object finds a servant that is alive, and every servant is given back exactly once.
TEST(ObjectMap, CallsRunBesideDeactivation)
{
    constexpr std::size_t objects = 4;
    constexpr int rounds = 2'000;
    std::array<ServantWithSkeleton, objects> servants;
    ObjectMap map({.knows_skeletons = true});
    std::array<std::atomic<std::uint64_t>, objects> places{}; // slot and generation
    std::atomic<bool> done{false};
    std::vector<std::thread> callers;
    for (int thread = 0; thread < 3; ++thread) {
        callers.emplace_back([&] {
            for (std::size_t i = 0; !done; ++i) {
                const std::uint64_t packed = places[i % objects];
                const auto entry = map.enter(
                    {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)});
                if (!entry) continue;
                auto& servant = static_cast<ServantWithSkeleton&>(entry->servant());
                if (servant.owners < 1) std::abort();
                if (entry->skeleton().object != &servant.object) std::abort();
            }
        });
    }
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < objects; ++i) {
            const Place place = map.activate(servants[i], false).place;
            places[i] = std::uint64_t{place.slot} << 32 | place.generation;
            ASSERT_TRUE(map.deactivate(place));
        }
    }
    done = true;
    for (std::thread& caller : callers)
        caller.join();
    for (const CountedServant& servant : servants)
        EXPECT_EQ(servant.owners, 0);
    EXPECT_EQ(map.size(), 0u);
}

/// Two threads activate and deactivate, tables are rebuilt, two look for ids: objects that stay are
/// found in every search, and whoever is inside an object is inside the one meant.
TEST_P(WithIds, SearchesRunBesideEverything)
{
    constexpr std::size_t count = 64;
    constexpr std::size_t residents = 8;
    constexpr int rounds = 60;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back("object" + std::to_string(i));
    const std::vector<Bytes> known = as_ids(all);
    std::vector<CountedServant> servants(count);
    Witness witness;
    ObjectMap map(
        {.user_ids = true, .strategy = GetParam(), .known_ids = known, .retiring = &witness});
    for (std::size_t i = 0; i < residents; ++i)
        ASSERT_TRUE(map.activate(servants[i], known[i], true));
    std::atomic<int> changing{2};
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < 2; ++thread) {
        threads.emplace_back([&, thread] {
            for (int round = 0; round < rounds; ++round) {
                std::vector<Place> places;
                for (std::size_t i = residents + thread; i < count; i += 2) {
                    // A caller that is inside still may keep the id for a while.
                    map.wait_while_leaving(known[i]);
                    const auto activated = map.activate(servants[i], known[i], true);
                    if (!activated) std::abort();
                    places.push_back(activated.place);
                }
                for (const Place place : places)
                    if (!map.deactivate(place)) std::abort();
            }
            --changing;
        });
        threads.emplace_back([&, thread] {
            for (std::size_t i = thread; changing != 0; ++i) {
                const auto entry = map.enter(known[i % count]);
                if (!entry && i % count < residents) std::abort();
                if (!entry) continue;
                if (&entry->servant() != &servants[i % count]) std::abort();
                if (as_text(entry->id()) != all[i % count]) std::abort();
                if (servants[i % count].owners < 1) std::abort();
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    map.deactivate_all();
    map.wait_until_empty();
    EXPECT_EQ(witness.events.size(), residents + (count - residents) * rounds);
    for (const CountedServant& servant : servants)
        EXPECT_EQ(servant.owners, 0);
}

} // namespace
} // namespace kairos::poa
