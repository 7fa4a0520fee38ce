// SPDX-License-Identifier: Apache-2.0
//
// Drives a Reader over arbitrary bytes by a script that is itself part of the input: no sequence of
// reads may leave the bytes, and after a failure every read gives zeros.
#include "kairos/base/check.h"
#include "kairos/cdr/reader.h"

#include <algorithm>

using kairos::cdr::Reader;

namespace {

void step(Reader& reader, std::uint8_t instruction, int depth)
{
    switch (instruction % 9) {
    case 0:
        (void)reader.read<std::uint8_t>();
        break;
    case 1:
        (void)reader.read<std::uint16_t>();
        break;
    case 2:
        (void)reader.read<std::uint32_t>();
        break;
    case 3:
        (void)reader.read<double>();
        break;
    case 4:
        (void)reader.read<bool>();
        break;
    case 5: {
        const auto text = reader.read_string();
        KAIROS_CHECK(text.data()[text.size()] == '\0');
        break;
    }
    case 6: {
        std::size_t sum = 0;
        for (const std::byte octet : reader.read_octets())
            sum += std::to_integer<unsigned>(octet);
        KAIROS_CHECK(sum <= 255 * reader.bytes().size());
        break;
    }
    case 7: {
        Reader inner = reader.read_encapsulation();
        if (depth < 8) step(inner, static_cast<std::uint8_t>(instruction / 9), depth + 1);
        break;
    }
    default: {
        const std::uint32_t length = reader.read_length(4);
        KAIROS_CHECK(length <= reader.left() / 4);
        break;
    }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) return 0;
    const std::size_t script_size = std::min<std::size_t>(data[0], size - 1);
    const auto* script = data + 1;
    const std::span<const std::uint8_t> input(script + script_size, size - 1 - script_size);
    Reader reader(std::as_bytes(input), (script_size & 1) != 0);
    for (std::size_t i = 0; i < script_size; ++i) {
        step(reader, script[i], 0);
        KAIROS_CHECK(reader.offset() <= input.size());
        if (!reader.ok()) KAIROS_CHECK(reader.left() == 0 && reader.read<std::uint8_t>() == 0);
    }
    return 0;
}
