// SPDX-License-Identifier: Apache-2.0
//
// Any text as a profile: it is read or refused at a place that can be shown, and what is kept of it
// is no more than it says.
#include "idlc/profile.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace kairos::idlc;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::vector<SourceFile> files{{.path = "in.profile", .include_spelling = {}}};
    SourceTexts texts;
    texts.give("in.profile", text);
    Diagnostics diagnostics(files, texts);
    Profile profile;
    profile.read(text, 0, diagnostics);
    static_cast<void>(diagnostics.render(false));
    std::size_t bytes = 0;
    for (const auto* entries : {&profile.types(), &profile.operations()})
        for (const auto& [name, measured] : *entries)
            bytes += name.size();
    if (bytes > size) std::abort();
    return 0;
}
