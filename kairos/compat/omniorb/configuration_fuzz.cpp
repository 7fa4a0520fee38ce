// SPDX-License-Identifier: Apache-2.0
//
// Configuration files of omniORB: any text is read or refused, and what is read has a meaning or is
// refused.
#include "kairos/compat/omniorb/arguments.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto given = kairos::omniorb::parse_configuration(text);
    if (given) static_cast<void>(kairos::omniorb::settings_of(*given));
    return 0;
}
