// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of listen points with arbitrary contexts. What is found is bounded, and is
// found again when it is written.
#include "kairos/base/check.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/listen_points.h"
#include "kairos/orb/service_contexts_fuzz.h"

using namespace kairos;
using namespace kairos::orb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Bytes context(reinterpret_cast<const std::byte*>(data), size);
    const auto points = decode_listen_points(context);
    if (!points) return 0;
    KAIROS_CHECK(points->size() <= listen_points_max);
    ContextList list;
    append_listen_points(list, *points);
    const auto again =
        found_in(list.bytes(), native_little_endian, [](const giop::ServiceContexts& contexts) {
            const auto found = contexts.find(listen_points_context_id);
            KAIROS_CHECK(found.has_value());
            return decode_listen_points(*found);
        });
    KAIROS_CHECK(again == points);
    return 0;
}
