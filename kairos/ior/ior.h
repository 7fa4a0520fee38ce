// SPDX-License-Identifier: Apache-2.0
//
// An object reference as data (CORBA 3.3 part 2, 7.6.2): a repository id and the profiles by which
// the object can be reached, kept byte for byte, understood or not, so that a reference that passes
// through leaves as it came. Here are its CDR and its "IOR:…" form; profile.h looks inside. Plain
// values without a thread of their own; cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <string>
#include <string_view>
#include <vector>

namespace kairos::ior {

using OctetVector = std::vector<std::byte>;

/// One way to reach the object: a protocol's tag and what only that protocol understands.
struct KAIROS_API TaggedProfile {
    std::uint32_t tag = 0;
    OctetVector data; ///< for most tags an encapsulation, byte-order flag first
    friend bool operator==(const TaggedProfile&, const TaggedProfile&) = default;
};

/// One fact about a profile; component.h has the tags.
struct KAIROS_API TaggedComponent {
    std::uint32_t tag = 0;
    OctetVector data; ///< for most tags an encapsulation, byte-order flag first
    friend bool operator==(const TaggedComponent&, const TaggedComponent&) = default;
};

struct KAIROS_API Ior {
    std::string type_id; ///< most derived interface known; "" when the sender did not say
    std::vector<TaggedProfile> profiles;

    /// A reference without profiles is nil, whatever its type id says.
    [[nodiscard]] bool is_nil() const noexcept { return profiles.empty(); }
    /// Whether both are the same data. Whether they lead to one object has no local answer (CORBA's
    /// is_equivalent).
    friend bool operator==(const Ior&, const Ior&) = default;
};

/// Reads a reference. False, with the reader failed and `reference` nil, if the bytes are not one
/// or exceed limits::profiles_max or limits::operation_name_max. A type id of length zero, which
/// some peers send for "", is accepted.
[[nodiscard]] KAIROS_API bool decode(cdr::Reader& reader, Ior& reference);

/// Writes a reference; copies everything, so `reference` may change afterwards.
KAIROS_API void encode(cdr::Writer& writer, const Ior& reference);

/// Reads a sequence of tagged components; as `decode` above, bounded by limits::components_max.
[[nodiscard]] KAIROS_API bool decode(cdr::Reader& reader, std::vector<TaggedComponent>& components);
KAIROS_API void encode(cdr::Writer& writer, const std::vector<TaggedComponent>& components);

/// "IOR:" and the encapsulation of the reference in lower-case hexadecimal (CORBA 3.3 part 2,
/// 7.6.9).
[[nodiscard]] KAIROS_API std::string to_string(const Ior& reference);

/// Parses "IOR:…". Case of prefix and digits does not matter, white space at the ends is ignored.
/// Bytes after the reference are accepted: some ORBs pad.
[[nodiscard]] KAIROS_API Result<Ior> from_string(std::string_view text);

} // namespace kairos::ior
