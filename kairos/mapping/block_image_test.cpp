// SPDX-License-Identifier: Apache-2.0
//
// Random layouts, sizes and places: whatever vectors this machine has, images become what a loop
// over their numbers makes of them, and not a byte around them is read (sanitizers look) or
// written.
#include "kairos/base/tries_testing.h"
#include "kairos/mapping/block_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kairos::mapping {
namespace {

struct Number {
    std::size_t offset;
    std::size_t size;
};

/// A block as fixed_layout.h would store it, and where its numbers are.
class RandomLayout {
  public:
    explicit RandomLayout(std::mt19937& random) : random_(random)
    {
        const std::size_t runs = 1 + random_() % 6;
        for (std::size_t i = 0; i < runs; ++i) {
            if (random_() % 8 == 0) {
                append_repeat();
            } else {
                append_run(steps_, 0, numbers_, end_);
            }
        }
        store(align_up(end_, alignment_), false);
    }
    /// `count` numbers of one size.
    RandomLayout(std::mt19937& random, std::size_t size, std::size_t count) : random_(random)
    {
        for (std::size_t i = 0; i < count; ++i)
            numbers_.push_back({i * size, size});
        steps_ = {Step::make(0, count, kind_of(size))};
        alignment_ = size;
        end_ = count * size;
        store(end_, true);
    }

    [[nodiscard]] const Block& block() const
    {
        return *reinterpret_cast<const Block*>(storage_.data());
    }
    [[nodiscard]] const std::vector<Number>& numbers() const { return numbers_; }

  private:
    static Step::Kind kind_of(std::size_t size)
    {
        return size == 1   ? Step::Kind::number1
               : size == 2 ? Step::Kind::number2
               : size == 4 ? Step::Kind::number4
                           : Step::Kind::number8;
    }

    void append_run(std::vector<Step>& steps, std::size_t base, std::vector<Number>& numbers,
                    std::size_t& end)
    {
        const std::size_t size = std::size_t{1} << random_() % 4;
        const std::size_t count = random_() % 4 == 0 ? 1 + random_() % 40 : 1;
        const std::size_t at = align_up(end, size);
        steps.push_back(Step::make(at - base, count, kind_of(size)));
        for (std::size_t i = 0; i < count; ++i)
            numbers.push_back({at + i * size, size});
        end = at + count * size;
        alignment_ = std::max(alignment_, size);
    }
    /// An array of structs.
    void append_repeat()
    {
        const std::size_t begin = align_up(end_, 8);
        std::vector<Step> inner;
        std::vector<Number> once;
        std::size_t end = begin;
        append_run(inner, begin, once, end);
        append_run(inner, begin, once, end);
        alignment_ = 8;
        const std::size_t stride = align_up(end, 8) - begin;
        const std::size_t count = 1 + random_() % 3;
        steps_.push_back(Step::make(begin, count, Step::Kind::repeat, inner.size() + 1));
        steps_.push_back(Step::make(stride, 0, Step::Kind::stride));
        steps_.insert(steps_.end(), inner.begin(), inner.end());
        for (std::size_t i = 0; i < count; ++i)
            for (const Number& number : once)
                numbers_.push_back({number.offset + i * stride, number.size});
        end_ = end + (count - 1) * stride;
    }
    void store(std::size_t size, bool is_number)
    {
        std::vector<std::byte> mask(size);
        for (const Number& number : numbers_)
            std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(number.offset), number.size,
                        std::byte{0xFF});
        Block block{};
        block.size = static_cast<std::uint32_t>(size);
        block.last_size = static_cast<std::uint32_t>(end_);
        block.step_count = static_cast<std::uint32_t>(steps_.size());
        block.host_alignment = static_cast<std::uint8_t>(alignment_);
        block.is_bulk = true;
        block.has_mask = true;
        block.is_number = is_number;
        storage_.resize(sizeof block + steps_.size() * sizeof(Step) + mask.size());
        std::memcpy(storage_.data(), &block, sizeof block);
        std::memcpy(storage_.data() + sizeof block, steps_.data(), steps_.size() * sizeof(Step));
        std::memcpy(storage_.data() + storage_.size() - mask.size(), mask.data(), mask.size());
    }

    std::mt19937& random_;
    std::vector<Step> steps_;
    std::vector<Number> numbers_;
    std::size_t end_ = 0;
    std::size_t alignment_ = 1;
    std::vector<std::byte> storage_;
};

std::vector<Vectors> vectors_here()
{
    std::vector<Vectors> here{Vectors::none};
    if (best_vectors() >= Vectors::of_16) here.push_back(Vectors::of_16);
    if (best_vectors() >= Vectors::of_32) here.push_back(Vectors::of_32);
    if (best_vectors() >= Vectors::of_64) here.push_back(Vectors::of_64);
    return here;
}

/// Random bytes that begin at `skew` of their storage and end with it.
class PlacedBytes {
  public:
    PlacedBytes(std::mt19937& random, std::size_t skew, std::size_t size) : skew_(skew)
    {
        storage_.resize(skew + size);
        std::generate(storage_.begin(), storage_.end(),
                      [&] { return static_cast<std::byte>(random()); });
    }
    [[nodiscard]] std::byte* data() { return storage_.data() + skew_; }
    [[nodiscard]] std::size_t size() const { return storage_.size() - skew_; }

  private:
    std::size_t skew_;
    std::vector<std::byte> storage_;
};

/// `action(to, from)` must make of `from` what `expected` says, byte by byte, where `is_said`.
void expect_image(std::mt19937& random, std::size_t alignment, const std::vector<std::byte>& from,
                  const std::vector<std::byte>& expected, const std::vector<bool>& is_said,
                  const auto& action)
{
    const std::size_t from_skew = random() % 8 * alignment;
    const std::size_t to_skew = random() % 8 * alignment;
    PlacedBytes source(random, from_skew, from.size());
    std::copy(from.begin(), from.end(), source.data());
    constexpr std::size_t guard = 64;
    PlacedBytes target(random, to_skew, from.size() + guard);
    const std::vector<std::byte> before(target.data() - to_skew, target.data() + target.size());
    action(target.data(), source.data());
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (is_said[at]) {
            ASSERT_EQ(target.data()[at], expected[at]) << "at " << at;
        }
    }
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(to_skew),
                           target.data() - to_skew));
    EXPECT_TRUE(std::equal(before.end() - guard, before.end(), target.data() + from.size()));
}

class Images : public ::testing::TestWithParam<Vectors> {
  protected:
    void expect_both(std::mt19937& random, const RandomLayout& layout, std::size_t count)
    {
        const Block& block = layout.block();
        const std::size_t size = image_size(block, count);
        std::vector<std::byte> from(size);
        std::generate(from.begin(), from.end(), [&] { return static_cast<std::byte>(random()); });
        std::vector<std::byte> masked(size);
        std::vector<std::byte> swapped(size);
        std::vector<bool> is_number(size);
        for (std::size_t i = 0; i < count; ++i) {
            for (const Number& number : layout.numbers()) {
                const std::size_t begin = i * block.size + number.offset;
                for (std::size_t at = 0; at < number.size; ++at) {
                    masked[begin + at] = from[begin + at];
                    swapped[begin + at] = from[begin + number.size - 1 - at];
                    is_number[begin + at] = true;
                }
            }
        }
        expect_image(random, block.host_alignment, from, masked, std::vector<bool>(size, true),
                     [&](std::byte* to, const std::byte* source) {
                         copy_masked(to, source, block, count, GetParam());
                     });
        expect_image(random, block.host_alignment, from, swapped, is_number,
                     [&](std::byte* to, const std::byte* source) {
                         copy_swapped(to, source, block, count, GetParam());
                     });
    }
};

TEST_P(Images, OfRandomStructsAreMaskedAndSwapped)
{
    for (unsigned seed = 0; seed < tries(400U) && !HasFailure(); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const RandomLayout layout(random);
        expect_both(random, layout, 1 + random() % 4);
        expect_both(random, layout, 1 + random() % 60);
    }
}

TEST_P(Images, OfNumbersAreSwappedAtEverySize)
{
    std::mt19937 random(1);
    for (const std::size_t size : {1U, 2U, 4U, 8U}) {
        const RandomLayout one(random, size, 1);
        const RandomLayout several(random, size, 3);
        for (std::size_t count = 1; count < 300 && !HasFailure(); ++count) {
            SCOPED_TRACE(::testing::Message() << count << " numbers of " << size);
            expect_both(random, one, count);
        }
        expect_both(random, several, 1);
        expect_both(random, several, 50);
    }
}

constexpr const char* vector_names[] = {"none", "of_16", "of_32", "of_64"};

INSTANTIATE_TEST_SUITE_P(Vectors, Images, ::testing::ValuesIn(vectors_here()),
                         [](const auto& tested) {
                             return vector_names[static_cast<std::size_t>(tested.param)];
                         });

} // namespace
} // namespace kairos::mapping
