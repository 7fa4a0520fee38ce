// SPDX-License-Identifier: Apache-2.0
//
// Drives the parser of configuration files with arbitrary text. What it has read, written again,
// says the same.
#include "kairos/base/bytes.h"
#include "kairos/base/check.h"
#include "kairos/orb/configuration.h"

using namespace kairos;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto settings = orb::parse_configuration(as_text(std::as_bytes(std::span(data, size))));
    if (!settings) {
        KAIROS_CHECK(settings.error().reason.starts_with("line "));
        return 0;
    }
    std::string text;
    for (const orb::Setting& setting : *settings)
        text += setting.option + "=" + setting.value + "\n";
    const auto again = orb::parse_configuration(text);
    KAIROS_CHECK(again.ok() && again->size() == settings->size());
    for (std::size_t i = 0; i < again->size(); ++i) {
        KAIROS_CHECK((*again)[i].option == (*settings)[i].option);
        KAIROS_CHECK((*again)[i].value == (*settings)[i].value);
    }
    return 0;
}
