// SPDX-License-Identifier: Apache-2.0
//
// Any text as a file of settings, and as one of users: it is taken, or something is wrong with it.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/csiv2/settings.h"
#include "kairos/csiv2/users.h"

#include <cstddef>
#include <cstdint>

using namespace kairos;

// As of kairos/access.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 512,
            .octets_beside = std::size_t{1} << 20,
            .comparisons_each = 2'000,
            .comparisons_beside = 2'000'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::vector<std::string> problems;
    if (data[0] % 2 == 0) {
        const auto users = csiv2::Users::parse(text, problems);
        KAIROS_CHECK(users.has_value() == problems.empty());
        KAIROS_CHECK(!users || !users->has(""));
        return 0;
    }
    // A file that a password would be read from is nothing that every input may have opened.
    if (text.find("password") != std::string_view::npos || text.find('\\') != text.npos) return 0;
    const auto settings = csiv2::parse_settings(text, "", problems);
    KAIROS_CHECK(settings.has_value() == problems.empty());
    if (settings) KAIROS_CHECK(settings->server || settings->client.password.empty());
    return 0;
}
