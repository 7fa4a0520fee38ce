// SPDX-License-Identifier: Apache-2.0
//
// Any text as a file of TAO's service configurator: it is read or refused, and what it becomes is
// options. Files and logs that it names are not opened.
#include "kairos/compat/tao/options.h"
#include "kairos/mapping/exception.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try {
        const std::string text(reinterpret_cast<const char*>(data), size);
        const auto translated = kairos::compat::tao::translate_configuration(text, "svc.conf");
        for (const std::string& ignored : translated.ignored)
            if (ignored.empty()) __builtin_trap();
    } catch (const CORBA::BAD_PARAM&) {
        return 0; // refused
    }
    return 0;
}
