// SPDX-License-Identifier: Apache-2.0
//
// What every store of a repository has to do: what one run keeps, the next one has; one server at a
// time; what nobody wrote is refused. A backend makes stores: each backend object has an empty one,
// which `open` opens, again and again, and whose definitions `damage` makes something else.
#pragma once

#include "kairos/repository/store_testing.h"

#include <memory>
#include <stdexcept>

namespace kairos::repository {

template <typename Backend>
class StoreConformance : public testing::Test {
  protected:
    StoreConformance() { reopen(); }

    void reopen()
    {
        store_.reset();
        auto opened = backend_.open();
        if (!opened) throw std::runtime_error(opened.error().reason);
        store_ = std::move(opened).value();
    }

    const Backend backend_;
    std::unique_ptr<Store> store_;
};

TYPED_TEST_SUITE_P(StoreConformance);

TYPED_TEST_P(StoreConformance, BeginsEmptyWithANumberOfItsOwn)
{
    const auto kept = this->store_->read();
    ASSERT_TRUE(kept);
    EXPECT_TRUE(kept->definitions.empty());
    EXPECT_EQ(kept->next, first_free);
    EXPECT_NE(this->store_->identity(), 0U);
    const TypeParam another;
    EXPECT_NE((*another.open())->identity(), this->store_->identity());
}

TYPED_TEST_P(StoreConformance, KeepsWhatIsWritten)
{
    const Definition one = module_of(first_free, "One");
    const Definition two = module_of(first_free + 1, "Two");
    const Definition renamed = module_of(first_free + 1, "Renamed");
    const std::uint64_t identity = this->store_->identity();
    ASSERT_TRUE(this->store_->check());
    ASSERT_TRUE(this->store_->write({&one, &two}, {}, first_free + 2));
    ASSERT_TRUE(this->store_->check());
    ASSERT_TRUE(this->store_->write({&renamed}, {first_free}, first_free + 2));
    this->reopen();
    EXPECT_EQ(this->store_->identity(), identity);
    const auto kept = this->store_->read();
    ASSERT_TRUE(kept);
    ASSERT_EQ(kept->definitions.size(), 1U);
    EXPECT_EQ(kept->definitions.front(), renamed);
    EXPECT_EQ(kept->next, first_free + 2); // the number of what was erased is not used again
}

TYPED_TEST_P(StoreConformance, KeepsManyAndLargeOnes)
{
    constexpr Key count = 9000;
    std::vector<Definition> definitions;
    for (Key key = first_free; key < first_free + count; ++key)
        definitions.push_back(module_of(key, "M" + std::to_string(key)));
    for (Key i = 0; i < 40; ++i) {
        std::string name(300'000, static_cast<char>(i)); // every octet counts
        definitions.push_back(module_of(first_free + count + i, std::move(name)));
    }
    std::vector<const Definition*> written;
    written.reserve(definitions.size());
    for (const Definition& definition : definitions)
        written.push_back(&definition);
    ASSERT_TRUE(this->store_->write(written, {}, first_free + count + 40));
    this->reopen();
    EXPECT_EQ(definitions_in(*this->store_), definitions);

    std::vector<Key> erased;
    for (Key key = first_free; key < first_free + count; ++key)
        erased.push_back(key);
    ASSERT_TRUE(this->store_->write({}, erased, first_free + count + 40));
    definitions.erase(definitions.begin(), definitions.begin() + count);
    EXPECT_EQ(definitions_in(*this->store_), definitions);
}

TYPED_TEST_P(StoreConformance, IsOfOneServerAtATime)
{
    const auto second = this->backend_.open();
    ASSERT_FALSE(second);
    // The first one noticed nothing, and the next one is welcome.
    const Definition one = module_of(first_free, "One");
    EXPECT_TRUE(this->store_->write({&one}, {}, first_free + 1));
    this->reopen();
    EXPECT_EQ(definitions_in(*this->store_), std::vector{one});
}

TYPED_TEST_P(StoreConformance, RefusesWhatNobodyWrote)
{
    const Definition one = module_of(first_free, "One");
    ASSERT_TRUE(this->store_->write({&one}, {}, first_free + 1));
    this->store_.reset();
    this->backend_.damage();
    this->reopen();
    const auto kept = this->store_->read();
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::malformed);
    EXPECT_EQ(kept.error().reason, "a definition in the store is damaged");
}

REGISTER_TYPED_TEST_SUITE_P(StoreConformance, BeginsEmptyWithANumberOfItsOwn, KeepsWhatIsWritten,
                            KeepsManyAndLargeOnes, IsOfOneServerAtATime, RefusesWhatNobodyWrote);

} // namespace kairos::repository
