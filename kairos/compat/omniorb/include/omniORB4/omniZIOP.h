// SPDX-License-Identifier: Apache-2.0
//
// omniORB's compression of messages (ZIOP). Kairos has none: its functions raise NO_IMPLEMENT.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/base/export.h"
#include "omniORB4/omniORB.h"

namespace Compression {

typedef CORBA::UShort CompressorId;
typedef CORBA::UShort CompressionLevel;
inline constexpr CompressorId COMPRESSORID_NONE = 0;
inline constexpr CompressorId COMPRESSORID_GZIP = 1;
inline constexpr CompressorId COMPRESSORID_ZLIB = 4;
struct CompressorIdLevel {
    CompressorId compressor_id;
    CompressionLevel compression_level;
};
typedef kairos::mapping::UnboundedSequence<CompressorIdLevel> CompressorIdLevelList;

} // namespace Compression

namespace omniZIOP {

[[noreturn]] KAIROS_API void setGlobalPolicies(const CORBA::PolicyList& policies);
[[noreturn]] KAIROS_API CORBA::Policy_ptr
create_compression_enabling_policy(CORBA::Boolean enabled);
[[noreturn]] KAIROS_API CORBA::Policy_ptr
create_compression_id_level_list_policy(const Compression::CompressorIdLevelList& levels);

} // namespace omniZIOP
