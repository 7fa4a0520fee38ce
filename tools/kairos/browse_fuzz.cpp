// SPDX-License-Identifier: Apache-2.0
//
// Any octets as what a browser sends to `kairos browse`: as the head of a request, as who asks, and
// as the JSON of a call. The first octet says which. Whatever is let in keeps the limits.
#include "tools/kairos/browse_guard.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace kairos::tools;

void judge_asked(std::string_view text)
{
    static const BrowseGuard guard({"127.0.0.1", "localhost"}, 8080, "secret");
    std::array<std::string, 7> parts;
    for (std::string& part : parts) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    const Refusal refusal =
        guard.judge({parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]});
    // A call that is let in is the page's, whatever else was sent.
    if (!refusal && BrowseGuard::is_call(parts[1]) &&
        (parts[6] != "secret" || parts[0] != "POST" || !parts[2].ends_with(":8080")))
        std::abort();
}

void decode(std::uint8_t number, const std::string& body)
{
    constexpr std::array paths{"/api/roots", "/api/names", "/api/open", "/api/call", "/api/read"};
    try {
        const BrowseCall call = browse_call_of(paths[number % paths.size()], body);
        if (call.attributes.size() > browse_attributes_max ||
            call.object.size() > browse_reference_octets_max)
            std::abort();
    } catch (const std::runtime_error&) { // it says why
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 3 == 0)
        (void)judge_head(text);
    else if (data[0] % 3 == 1)
        judge_asked(text);
    else
        decode(static_cast<std::uint8_t>(data[0] / 3), text);
    return 0;
}
