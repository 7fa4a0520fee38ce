// SPDX-License-Identifier: Apache-2.0
//
// Kairos's own object keys. Those of transient objects say which slot of which adapter of which run
// of the server, so that a request finds its servant by two array accesses (station 8 of the
// request walk, docs/TOUR.md); the object's id follows where the program or the adapter chose one.
// Those of persistent objects name the adapter by its path, and mean the same in every run.
// A peer can forge one: everything is checked again when used, and a key gives access, not rights.
// Hot path: constant time, nothing allocated. Any thread.
#pragma once

#include "kairos/base/bytes.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kairos::ior {

struct ObjectKey {
    static constexpr std::size_t size = 24;
    /// The slot of keys that do not say one: the object is found by its id.
    static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

    std::uint64_t incarnation =
        0;                     ///< run of the server, so that old references do not hit new slots
    std::uint32_t adapter = 0; ///< which object adapter of that run
    std::uint32_t slot = 0;    ///< index in the adapter's table
    std::uint32_t generation = 0; ///< how often the slot had been reused

    friend bool operator==(const ObjectKey&, const ObjectKey&) = default;

    /// Nothing for shorter keys and those of another origin: they belong to persistent objects or
    /// other ORBs. What follows the first `size` octets is the object's id.
    [[nodiscard]] static std::optional<ObjectKey> parse(Bytes octets) noexcept
    {
        if (octets.size() < size) return std::nullopt;
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

    /// The id that follows in a key that was parsed; empty where slot and generation say all.
    [[nodiscard]] static Bytes id_in(Bytes octets) noexcept { return octets.subspan(size); }

    /// Whether two keys of one server mean the same object: where both have an id, the slots may
    /// differ, since they only tell where the object was found at the time.
    [[nodiscard]] static bool same_object(Bytes left, Bytes right) noexcept
    {
        return identity(left) == identity(right) && tail(left) == tail(right);
    }
    /// A hash of a key (FNV-1a); equal for keys of the same object.
    [[nodiscard]] static std::uint32_t hash(Bytes octets) noexcept
    {
        std::uint32_t hash = 2166136261u;
        for (const std::string_view part : {identity(octets), tail(octets)})
            for (const char octet : part)
                hash = (hash ^ static_cast<unsigned char>(octet)) * 16777619u;
        return hash;
    }

  private:
    /// NUL "KRO" on the wire: no text that a person would choose as a key begins with NUL.
    static constexpr std::uint32_t magic = 0x4F524B00;
    /// Octets of a key up to the adapter, that included.
    static constexpr std::size_t identity_size = 16;

    [[nodiscard]] static bool has_id(Bytes octets) noexcept
    {
        return octets.size() > size && load<std::uint32_t>(octets.data()) == magic;
    }
    [[nodiscard]] static std::string_view identity(Bytes octets) noexcept
    {
        return as_text(has_id(octets) ? octets.first(identity_size) : octets);
    }
    [[nodiscard]] static std::string_view tail(Bytes octets) noexcept
    {
        return has_id(octets) ? as_text(octets.subspan(size)) : std::string_view();
    }

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

/// A key of a persistent object: NUL "KRP", the adapter's path, and what is left is the id. A path
/// is the names of the adapter and of those above it, the RootPOA's first child at the front: their
/// number, then for each its length, in two octets each, and its octets.
struct PersistentKey {
    static constexpr std::size_t name_size_max = 0xFFFF;
    static constexpr std::size_t names_max = 0xFFFF;

    Bytes path; ///< with the number of its names
    Bytes id;

    /// Nothing for keys of another kind, and for a path that does not fit.
    [[nodiscard]] static std::optional<PersistentKey> parse(Bytes octets) noexcept
    {
        if (octets.size() < magic.size() + 2 || as_text(octets.first(magic.size())) != magic)
            return std::nullopt;
        const Bytes rest = octets.subspan(magic.size());
        std::size_t size = 2;
        for (std::size_t left = number_at(rest, 0); left != 0; --left) {
            if (rest.size() - size < 2) return std::nullopt;
            const std::size_t name = number_at(rest, size);
            if (rest.size() - size - 2 < name) return std::nullopt;
            size += 2 + name;
        }
        return PersistentKey{rest.first(size), rest.subspan(size)};
    }

    /// The names of a path that was parsed or made by `path_of`.
    [[nodiscard]] static std::vector<std::string_view> names_of(Bytes path)
    {
        std::vector<std::string_view> names;
        for (std::size_t at = 2; at < path.size();) {
            const std::size_t name = number_at(path, at);
            names.push_back(as_text(path.subspan(at + 2, name)));
            at += 2 + name;
        }
        return names;
    }

    /// The path of a child of the adapter with path `parent`, which is empty for the RootPOA.
    [[nodiscard]] static std::vector<std::byte> path_of(Bytes parent, std::string_view name)
    {
        std::vector<std::byte> path(parent.begin(), parent.end());
        if (path.empty()) path.resize(2);
        set_number(path.data(), number_at(path, 0) + 1);
        path.resize(path.size() + 2);
        set_number(path.data() + path.size() - 2, name.size());
        const Bytes octets = as_bytes(name);
        path.insert(path.end(), octets.begin(), octets.end());
        return path;
    }

    [[nodiscard]] std::vector<std::byte> encode() const
    {
        const Bytes head = as_bytes(magic);
        std::vector<std::byte> octets(head.begin(), head.end());
        octets.insert(octets.end(), path.begin(), path.end());
        octets.insert(octets.end(), id.begin(), id.end());
        return octets;
    }

    /// As the number and the lengths of names are written.
    static void set_number(std::byte* at, std::size_t number) noexcept
    {
        at[0] = static_cast<std::byte>(number >> 8);
        at[1] = static_cast<std::byte>(number);
    }

  private:
    static constexpr std::string_view magic{"\0KRP", 4};

    [[nodiscard]] static std::size_t number_at(Bytes octets, std::size_t at) noexcept
    {
        return std::to_integer<std::size_t>(octets[at]) << 8 |
               std::to_integer<std::size_t>(octets[at + 1]);
    }
};

} // namespace kairos::ior
