// SPDX-License-Identifier: Apache-2.0
//
// Keys of persistent objects as people write them, for corbaloc (-ORBPlainKeys): "Factory/Robots/7"
// is the object 7 of the adapter Robots in the adapter Factory. It says what a PersistentKey says,
// and is read into one: behind station 8 of the request walk (docs/TOUR.md) there is no difference.
// A peer can write any: what does not parse is no key of ours. Any thread.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/base/export.h"
#include "kairos/ior/object_key.h"

#include <optional>
#include <vector>

namespace kairos::ior {

/// A key that people can read: the names of the path and the id, '/' between them. In each of them
/// '/', '%' and what is not printable ASCII is %xx. The path has a name at least.
[[nodiscard]] KAIROS_API std::vector<std::byte> plain_key(const PersistentKey& key);

/// What a key made by plain_key says, in `arena`; nothing for octets without '/', for '%' without
/// two hexadecimal digits and for names that no adapter can have. What need not be escaped may be.
[[nodiscard]] KAIROS_API std::optional<PersistentKey> parse_plain_key(Bytes octets, Arena& arena);

} // namespace kairos::ior
