// SPDX-License-Identifier: Apache-2.0
//
// Any text as an IDL file before preprocessing, with a second file, behind the first line "%%",
// that it may include as "other.idl". Nothing may crash, recurse without bound or go on for ever,
// and every line of the result must come from a file.
#include "fuzz/bounds.h"
#include "idlc/diagnostics.h"
#include "idlc/preprocess.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace kairos::idlc;

// Whoever compiles a file has written it: macros of macros make much of a few letters, up to the
// preprocessor's own limits.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 512,
            .octets_beside = std::size_t{64} << 20,
            .comparisons_each = 1'000,
            .comparisons_beside = 50'000'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view separator = "\n%%\n";
    const std::size_t end = std::min(input.find(separator), input.size());
    SourceTexts texts;
    texts.give("in.idl", std::string(input.substr(0, end)));
    if (end < input.size())
        texts.give("other.idl", std::string(input.substr(end + separator.size())));
    std::vector<SourceFile> files;
    Diagnostics diagnostics(files, texts);
    const Options options;
    const PreprocessedText out = preprocess("in.idl", options, files, texts, diagnostics);
    const auto lines = static_cast<std::size_t>(std::ranges::count(out.text, '\n'));
    if (lines + 1 != out.origins.size()) std::abort();
    for (const LineOrigin& origin : out.origins)
        if (origin.file >= files.size()) std::abort();
    static_cast<void>(with_markers(out, files));
    static_cast<void>(diagnostics.render(false));
    return 0;
}
