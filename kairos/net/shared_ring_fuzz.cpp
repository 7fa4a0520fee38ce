// SPDX-License-Identifier: Apache-2.0
//
// A hostile process at the other end of a ring: between the steps of ours it writes what it likes
// into every word and octet of the memory. Nothing is read or written outside of it, nothing is
// said to have moved that cannot have, and what was broken stays so.
#include "kairos/base/check.h"
#include "kairos/net/shared_ring.h"

#include <array>
#include <cstring>
#include <iterator>

using namespace kairos;
using namespace kairos::net;

namespace {

constexpr std::uint32_t capacity = 64;

struct Ring {
    RingControl control;
    std::array<std::byte, capacity> octets{};
};

/// The octets of the input, one after the other; zeros at its end.
class Input {
  public:
    explicit Input(Bytes data) : data_(data) {}
    [[nodiscard]] bool at_end() const { return at_ >= data_.size(); }
    [[nodiscard]] std::uint8_t octet()
    {
        return at_end() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(data_[at_++]);
    }
    [[nodiscard]] std::uint32_t word()
    {
        std::uint32_t word = 0;
        for (int i = 0; i < 4; ++i)
            word = word << 8 | octet();
        return word;
    }

  private:
    Bytes data_;
    std::size_t at_ = 0;
};

void be_hostile(Ring& ring, Input& input)
{
    RingControl& control = ring.control;
    RingControl::Line* const lines[] = {&control.head,         &control.tail,
                                        &control.reader_waits, &control.writer_waits,
                                        &control.reader_bell,  &control.writer_bell};
    const std::uint8_t which = input.octet();
    if (which < 0x80)
        lines[which % std::size(lines)]->word = input.word();
    else
        ring.octets[which % capacity] = std::byte{input.octet()};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Input input(std::as_bytes(std::span(data, size)));
    Ring ring;
    RingWriter writer(ring.control, ring.octets.data(), capacity);
    RingReader reader(ring.control, ring.octets.data(), capacity);
    std::array<std::byte, 2 * std::size_t{capacity}> memory{};
    while (!input.at_end()) {
        const std::uint8_t step = input.octet();
        const std::size_t wanted = input.octet() % memory.size();
        RingWait wish{};
        const bool was_broken = step % 3 == 0 ? reader.broken() : writer.broken();
        std::size_t moved = 0;
        if (step % 3 == 0) {
            moved = reader.read(MutableBytes(memory).first(wanted), wish, step % 2 == 0);
            KAIROS_CHECK(!was_broken || reader.broken());
        } else if (step % 3 == 1) {
            const std::array segments{iovec{memory.data(), wanted / 2},
                                      iovec{memory.data(), wanted - wanted / 2}};
            moved = writer.write(segments, wish);
            KAIROS_CHECK(!was_broken || writer.broken());
            KAIROS_CHECK(writer.room() <= capacity);
        } else {
            be_hostile(ring, input);
        }
        KAIROS_CHECK(moved <= wanted && moved <= capacity && (!was_broken || moved == 0));
        KAIROS_CHECK(wish == RingWait::no || moved != 0);
    }
    return 0;
}
