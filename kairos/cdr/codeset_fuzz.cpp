// SPDX-License-Identifier: Apache-2.0
//
// Reads text in a form that is itself part of the input. Whatever is accepted is valid Unicode, no
// longer than announced, and comes back the same when it is written in that form and read again.
#include "kairos/base/check.h"
#include "kairos/cdr/text_testing.h"

namespace {

using namespace kairos;
using namespace kairos::cdr;
using namespace kairos::cdr::testing;

constexpr std::uint32_t wide_sets[] = {code_set::utf_16, code_set::ucs_2, code_set::ucs_4,
                                       code_set::utf_8};
constexpr std::uint32_t character_sets[] = {code_set::iso_8859_1, code_set::utf_8, 0x0001000F,
                                            0x00010020};

void check_wide(Reader& in, const Environment& environment, std::uint32_t bound)
{
    std::wstring text;
    const std::size_t left = in.left();
    read_wide_text(in, text, bound);
    KAIROS_CHECK(text.size() <= left);
    if (!in.ok()) return;
    KAIROS_CHECK(bound == 0 || text.size() <= bound);
    Buffer buffer;
    Writer out(buffer);
    out.set_environment(&environment);
    KAIROS_CHECK(write_wide_text(out, text) == TextError::none);
    Reader again(out.contiguous(), native_little_endian);
    again.set_environment(&environment);
    std::wstring back;
    read_wide_text(again, back, bound);
    KAIROS_CHECK(again.ok() && again.left() == 0 && back == text);
}

void check_narrow(Reader& in, const Environment& environment, std::uint32_t bound)
{
    std::string text;
    read_text(in, text, bound);
    if (!in.ok()) return;
    Buffer buffer;
    Writer out(buffer);
    out.set_environment(&environment);
    KAIROS_CHECK(write_text(out, text) == TextError::none);
    Reader again(out.contiguous(), native_little_endian);
    again.set_environment(&environment);
    std::string back;
    read_text(again, back);
    KAIROS_CHECK(again.ok() && again.left() == 0 && back == text);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 3) return 0;
    const unsigned minor = 1 + (data[0] >> 7);
    // GIOP 1.1 has units of fixed width only.
    const CodeSet* wide = find_code_set(wide_sets[(data[0] & 3) % (minor == 1 ? 3 : 4)]);
    const TextForm form{.giop_minor = static_cast<std::uint8_t>(minor),
                        .native = find_code_set(character_sets[data[0] >> 2 & 3]),
                        .characters = find_code_set(character_sets[data[0] >> 4 & 3]),
                        .wide = wide};
    const Environment environment{.text = &form};
    const std::uint32_t bound = data[1];
    const auto input = std::as_bytes(std::span(data + 2, size - 2));
    Reader in(input, (data[0] & 0x40) != 0);
    in.set_environment(&environment);
    for (unsigned step = 0; in.ok() && in.left() != 0; ++step) {
        switch (step % 4) {
        case 0:
            check_wide(in, environment, bound);
            break;
        case 1:
            (void)read_wide_character(in);
            break;
        case 2:
            check_narrow(in, environment, bound);
            break;
        default:
            (void)read_character(in);
        }
    }
    return 0;
}
