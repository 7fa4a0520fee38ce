// SPDX-License-Identifier: Apache-2.0
//
// That the harness of the fuzz targets (fuzz/bounds.h) notices what it is there for.
#include "fuzz/bounds.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::function<void(std::size_t)> target;

/// What becomes of an input of `size` octets.
void run(std::size_t size)
{
    const std::vector<std::uint8_t> octets(size);
    (void)LLVMFuzzerTestOneInput(octets.data(), octets.size());
}

TEST(FuzzBounds, HoldForWhatIsHeldAtTheSameTime)
{
    target = [](std::size_t size) {
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(std::vector<char>(4 * size + 60'000).back(), 0);
    };
    run(0);
    run(100'000);
}

TEST(FuzzBounds, EndAProgramThatHoldsMore)
{
    const kairos::fuzz::Bounds usual;
    target = [usual](std::size_t size) {
        const std::vector<char> more(usual.octets_each * size + usual.octets_beside + 1);
        EXPECT_EQ(more.back(), 0);
    };
    EXPECT_DEATH(run(0), "an input of 0 octets took [0-9]+ octets of memory");
    EXPECT_DEATH(run(100'000), "an input of 100000 octets took [0-9]+ octets of memory");
    target = [](std::size_t size) { // in small blocks
        std::vector<std::unique_ptr<int>> blocks(1'000 + size);
        for (auto& block : blocks)
            block = std::make_unique<int>(0);
    };
    EXPECT_DEATH(run(10'000), "an input of 10000 octets took [0-9]+ octets of memory");
}

TEST(FuzzBounds, DoNotCountWhatIsMadeOnce)
{
    target = [](std::size_t) {
        static const std::vector<char> kept(1'000'000);
        EXPECT_EQ(kept.back(), 0);
    };
    run(0);
}

} // namespace

extern "C" int kairos_fuzz_input(const std::uint8_t*, std::size_t size)
{
    target(size);
    return 0;
}
