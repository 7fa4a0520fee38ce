// SPDX-License-Identifier: Apache-2.0
//
// A skeleton's operations as an adapter finds them by itself: de-layered demultiplexing (paper 000
// §5.3). A slot leads to them, so that one step finds object and operation, and the servant is not
// asked before its operation is called. Stations 9 and 10 of the request walk (docs/TOUR.md).
// Constant data, made by `kairos-idl --operation-demux=delayered`.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/operation_hash.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kairos::orb {
class Upcall;
}

namespace kairos::poa {

struct KAIROS_API Operations {
    /// Decodes the arguments, calls the operation and replies. Throws what the servant throws.
    using Serve = void (*)(void* skeleton, orb::Upcall& upcall);

    struct Entry {
        std::string_view name; ///< as on the wire
        Serve serve;
    };

    const Entry* entries;
    /// By slot of the perfect hash: the index of the only entry that may have the name; any where
    /// no name falls.
    const std::uint16_t* slots;
    std::uint64_t multiplier;
    unsigned bits;
    Serve others; ///< what every object has, and whatever is not known

    [[nodiscard]] Serve find(std::string_view name) const noexcept
    {
        const Entry& entry =
            entries[bits == 0 ? 0
                              : slots[operation_slot(operation_digest(name), multiplier, bits)]];
        return same_operation(entry.name, name) ? entry.serve : others;
    }
};

/// What an adapter knows of a servant that it asked: its operations, and the object that they are
/// to be called with.
struct KAIROS_API Skeleton {
    const Operations* operations = nullptr;
    void* object = nullptr;

    void serve(std::string_view operation, orb::Upcall& upcall) const
    {
        operations->find(operation)(object, upcall);
    }
};

} // namespace kairos::poa
