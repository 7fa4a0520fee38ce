// SPDX-License-Identifier: Apache-2.0
//
// Values of fixed length (numbers, enums, arrays and structs of them) as data: where the numbers
// are in the host's image and whether CDR has them at the same places. The functions here move such
// values by these descriptions: compiled and interpreted code share them, so that a type costs its
// description and no code. Native images are copied whole, foreign byte order is swapped by the
// vector, padding is masked to zero on the way out, so no host memory reaches the wire
// (docs/marshalling.md). Constant data; any thread.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/base/export.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kairos::mapping {

/// A run of equal numbers in the image of a value, or a repeated part of it.
struct KAIROS_API Step {
    enum class Kind : std::uint32_t {
        number1, ///< octets
        number2,
        number4,
        number8,
        boolean,    ///< one byte, 0 or 1
        enumerator, ///< four bytes, below detail()
        character,  ///< one byte of text
        quad,       ///< long double: sixteen bytes that differ from the host's
        repeat,     ///< `count` times the detail() steps that follow
        stride,     ///< the first of a repeat's steps: `offset` is from one repetition to the next
    };
    std::uint32_t offset; ///< from the start of the value or of the repetition it is part of
    std::uint32_t count;
    std::uint32_t kind_and_detail;

    static constexpr std::uint32_t detail_max = (1U << 28) - 1;
    [[nodiscard]] static constexpr Step make(std::size_t offset, std::size_t count, Kind kind,
                                             std::size_t detail = 0)
    {
        return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(count),
                static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(detail) << 4};
    }
    [[nodiscard]] constexpr Kind kind() const noexcept { return Kind{kind_and_detail & 15}; }
    [[nodiscard]] constexpr std::uint32_t detail() const noexcept { return kind_and_detail >> 4; }
};

/// What fixed_layout.h finds out about a type. Its steps follow it in memory, and behind them,
/// where it has padding, the mask of one image: 0xFF for what is no padding (StoredBlock).
struct KAIROS_API Block {
    std::uint32_t size;      ///< of the host's image, and from one element to the next
    std::uint32_t last_size; ///< of the last element, up to its last number
    std::uint32_t data_size; ///< bytes that are not padding: CDR never needs fewer
    std::uint32_t step_count;
    std::uint16_t first_checked;  ///< where in the steps the first boolean or enum is
    std::uint8_t first_alignment; ///< what CDR aligns the first number to
    std::uint8_t host_alignment;  ///< the largest of any number
    bool is_bulk : 1;        ///< CDR has elements as the host has, if they start at host_alignment
    bool is_sent_whole : 1;  ///< and padding, if any, can be masked
    bool has_mask : 1;       ///< there is padding within, and a mask
    bool is_number : 1;      ///< one number, or an array of them
    bool has_characters : 1; ///< chars are among the numbers
    bool is_checked : 1;     ///< some values are invalid: booleans, enums

    [[nodiscard]] const Step* steps() const noexcept
    {
        return reinterpret_cast<const Step*>(this + 1);
    }
    [[nodiscard]] const std::byte* mask() const noexcept
    {
        return reinterpret_cast<const std::byte*>(steps() + step_count);
    }
};

template <std::size_t step_count, std::size_t mask_size>
struct KAIROS_API StoredBlock {
    Block block;
    std::array<Step, step_count> steps;
    std::array<std::byte, mask_size> mask;
};
template <std::size_t step_count>
struct KAIROS_API StoredBlock<step_count, 0> {
    Block block;
    std::array<Step, step_count> steps;
};
static_assert(sizeof(Block) == 24 && sizeof(Step) == 12);
static_assert(sizeof(StoredBlock<2, 8>) == sizeof(Block) + 2 * sizeof(Step) + 8,
              "steps() and mask() find what follows the block");

/// Writes `count` elements, one behind the other in memory. Throws std::bad_alloc.
KAIROS_API void encode_block(cdr::Writer& out, const Block& block, const void* elements,
                             std::size_t count);
/// Reads `count` elements, one behind the other in memory. Never throws but std::bad_alloc; the
/// elements are unspecified when the reader has failed.
KAIROS_API void decode_block(cdr::Reader& in, const Block& block, void* elements,
                             std::size_t count);
/// The next `count` (≥ 1) elements in place if they can be used where they are, else copied into
/// the arena; null when the input is refused. To be called right behind a sequence's length.
[[nodiscard]] KAIROS_API void* view_block(cdr::Reader& in, const Block& block, Arena& arena,
                                          std::size_t count);

} // namespace kairos::mapping
