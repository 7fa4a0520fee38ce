// SPDX-License-Identifier: Apache-2.0
//
// Ids of objects that a gateway leads to: the target's reference, and a code that only who has the
// key can make (HMAC-SHA-256, FIPS 198-1, of which 16 octets are kept). So a gateway needs no table
// of what it has published, and nobody else can make it call an address. Immutable; any thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/ior/ior.h"

#include <array>
#include <optional>
#include <vector>

namespace kairos::gateway {

class Seal {
  public:
    static constexpr std::size_t key_size = 32;
    /// Octets of an id: well below limits::object_key_max, for the key has more in it.
    static constexpr std::size_t id_size_max = std::size_t{32} << 10;

    /// Takes a secret of any length; one that is drawn at random for an empty one. Throws
    /// CORBA::INITIALIZE where the system has no random numbers.
    explicit Seal(Bytes secret);
    Seal(const Seal&) = delete;
    Seal& operator=(const Seal&) = delete;
    /// Overwrites the secret.
    ~Seal();

    /// Returns the id of an object: equal for equal references. Throws CORBA::IMP_LIMIT where it
    /// would be longer than id_size_max.
    [[nodiscard]] std::vector<std::byte> id_of(const ior::Ior& target) const;
    /// Returns the reference that an id of this seal is of; nothing for any other octets.
    [[nodiscard]] std::optional<ior::Ior> open(Bytes id) const;

  private:
    static constexpr std::size_t code_size = 16;

    [[nodiscard]] std::array<std::byte, code_size> code_of(Bytes target) const;

    std::vector<std::byte> secret_;
};

} // namespace kairos::gateway
