// SPDX-License-Identifier: Apache-2.0
//
// Kairos's own object keys: which slot of which adapter of which run of the server, so that a
// request finds its servant by two array accesses (station 8 of the request walk, docs/TOUR.md).
// A peer can forge one: slot and generation are checked again when used, and a key gives access,
// not rights. Hot path: constant time, nothing allocated. Any thread.
#pragma once

#include "kairos/base/bytes.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kairos::ior {

struct ObjectKey {
    static constexpr std::size_t size = 24;

    std::uint64_t incarnation =
        0;                     ///< run of the server, so that old references do not hit new slots
    std::uint32_t adapter = 0; ///< index of the object adapter
    std::uint32_t slot = 0;    ///< index in the adapter's table
    std::uint32_t generation = 0; ///< how often the slot had been reused

    friend bool operator==(const ObjectKey&, const ObjectKey&) = default;

    /// Nothing for keys of another length or origin: those belong to named objects or other ORBs.
    [[nodiscard]] static std::optional<ObjectKey> parse(Bytes octets) noexcept
    {
        if (octets.size() != size) return std::nullopt;
        const std::byte* at = octets.data();
        if (load<std::uint32_t>(at) != magic) return std::nullopt;
        return ObjectKey{.incarnation = load<std::uint64_t>(at + 4),
                         .adapter = load<std::uint32_t>(at + 12),
                         .slot = load<std::uint32_t>(at + 16),
                         .generation = load<std::uint32_t>(at + 20)};
    }

    [[nodiscard]] std::array<std::byte, size> encode() const noexcept
    {
        std::array<std::byte, size> octets;
        store(octets.data(), magic);
        store(octets.data() + 4, incarnation);
        store(octets.data() + 12, adapter);
        store(octets.data() + 16, slot);
        store(octets.data() + 20, generation);
        return octets;
    }

  private:
    /// NUL "KRO" on the wire: no text that a person would choose as a key begins with NUL.
    static constexpr std::uint32_t magic = 0x4F524B00;

    // The same octets on every machine, so that servers of different byte orders can share keys.
    template <typename T>
    [[nodiscard]] static T load(const std::byte* at) noexcept
    {
        T value;
        std::memcpy(&value, at, sizeof value);
        return native_little_endian ? value : byteswap(value);
    }
    template <typename T>
    static void store(std::byte* at, T value) noexcept
    {
        if constexpr (!native_little_endian) value = byteswap(value);
        std::memcpy(at, &value, sizeof value);
    }
};

} // namespace kairos::ior
