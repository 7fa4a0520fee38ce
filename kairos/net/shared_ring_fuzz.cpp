// SPDX-License-Identifier: Apache-2.0
//
// A hostile process at the other end of a ring, and of the blocks beside it: between the steps of
// ours it writes what it likes into every word and octet of the memory. Nothing is read or written
// outside of it, nothing is said to have moved that cannot have, and what was broken stays so.
#include "kairos/base/check.h"
#include "kairos/net/shared_blocks.h"
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

/// Memory for blocks of one direction, two units, which one end writes and the other reads. Made
/// once; what says where blocks are is zero at first.
class Blocks {
  public:
    explicit Blocks(RingControl& ring)
        : ring_(ring), writer_(std::make_shared<BlockWriter>(ring, *part())), reader_(ring, *part())
    {
        std::memset(part_of().data(), 0, BlockMemory::unit_size);
    }

    void step(Input& input)
    {
        const std::uint8_t what = input.octet();
        switch (what % 5) {
        case 0: {
            const std::size_t size = 1 + input.word() % (3 * BlockMemory::unit_size);
            const bool is_of_loan = loan_ != nullptr && (what & 0x80) != 0;
            const Bytes octets(is_of_loan ? loan_.get() : source().data(), size);
            if (is_of_loan && size > BlockMemory::unit_size) break;
            const auto place = writer_->put(octets);
            if (!place) break;
            KAIROS_CHECK(place->size != 0 && place->size <= size);
            KAIROS_CHECK(place->unit * BlockMemory::unit_size + place->size <=
                         2 * BlockMemory::unit_size);
            writer_->announce(*place, input.word() % 2);
            break;
        }
        case 1:
            loan_ = (what & 0x80) != 0 ? nullptr : BlockWriter::loan(writer_, 1);
            break;
        case 2:
            read(input);
            break;
        case 3: // announced by somebody else
            ring_.head.blocks += 1;
            control().entries[ring_.head.blocks % 4].unit = input.octet() % 3;
            control().entries[ring_.head.blocks % 4].size = input.word();
            break;
        default:
            std::memset(part_of().data() + input.word() % part_of().size(), what, 1);
        }
    }

  private:
    static MutableBytes part_of()
    {
        static const auto memory = std::make_shared<const SharedMemory>(
            SharedMemory::make(4096, 2 * SharedMemory::more_grain).value());
        return memory->more().first(3 * BlockMemory::unit_size);
    }
    static std::optional<BlockMemory> part() { return BlockMemory::open(nullptr, part_of()); }
    static BlockControl& control() { return *reinterpret_cast<BlockControl*>(part_of().data()); }
    static const std::array<std::byte, 3 * BlockMemory::unit_size>& source()
    {
        static const std::array<std::byte, 3 * BlockMemory::unit_size> octets{};
        return octets;
    }

    void read(Input& input)
    {
        if (!reader_.inside()) {
            if (reader_.ahead(0) != 0 || !reader_.enter()) return;
            const auto whole = reader_.whole();
            KAIROS_CHECK(whole && !whole->empty());
            KAIROS_CHECK(whole->data() >= part_of().data() + BlockMemory::unit_size);
            KAIROS_CHECK(whole->data() + whole->size() <= part_of().data() + part_of().size());
            if (input.octet() % 2 == 0) {
                lease_ = reader_.lease();
                reader_.pass();
                KAIROS_CHECK(!reader_.inside());
                return;
            }
        }
        std::array<std::byte, 1000> octets;
        const std::size_t size = input.word() % octets.size() + 1;
        const std::size_t got = reader_.read(MutableBytes(octets).first(size), size % 2 == 0);
        KAIROS_CHECK(got != 0 && got <= size);
    }

    RingControl& ring_;
    std::shared_ptr<BlockWriter> writer_;
    BlockReader reader_;
    std::shared_ptr<std::byte> loan_;
    std::shared_ptr<const void> lease_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Input input(std::as_bytes(std::span(data, size)));
    Ring ring;
    RingWriter writer(ring.control, ring.octets.data(), capacity);
    RingReader reader(ring.control, ring.octets.data(), capacity);
    std::array<std::byte, 2 * std::size_t{capacity}> memory{};
    std::optional<Blocks> blocks; // of the inputs that ask for them
    while (!input.at_end()) {
        const std::uint8_t step = input.octet();
        if (step >= 0xE0) {
            if (!blocks) blocks.emplace(ring.control);
            blocks->step(input);
            continue;
        }
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
