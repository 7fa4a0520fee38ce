// SPDX-License-Identifier: Apache-2.0
//
// Drives the parser of names with arbitrary text. What is accepted is the one text of its name, and
// survives as part of a URL.
#include "kairos/base/bytes.h"
#include "kairos/base/check.h"
#include "kairos/ior/name.h"
#include "kairos/ior/object_url.h"

using namespace kairos;
using namespace kairos::ior;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
    const auto name = parse_name(text);
    if (!name) {
        KAIROS_CHECK(!name.error().reason.empty());
        return 0;
    }
    KAIROS_CHECK(!name->empty() && to_string(name.value()) == text);
    const auto url = to_corbaname(":host", name.value());
    KAIROS_CHECK(url.ok());
    const auto parsed = parse_object_url(url.value());
    KAIROS_CHECK(parsed.ok() && parsed->name == text);
    return 0;
}
