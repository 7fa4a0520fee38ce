// SPDX-License-Identifier: Apache-2.0
//
// The throughput ladder: one sequence of bench.idl, encoded and decoded again and again.
#include "bench.h"
#include "bench/marshal_engine.h"
#include "bench/marshal_peer.h"
#include "bench/marshal_timing.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kairos::bench {
namespace {

using std::size_t;

/// Elements by the sizes of the primitives in them.
template <typename Number>
struct Numbers {
    static constexpr size_t primitives[] = {sizeof(Number)};
    static Number at(CORBA::ULong i) { return static_cast<Number>(i); }
    static bool equal(Number a, Number b) { return a == b; }
};

struct BinStructs {
    static constexpr size_t primitives[] = {2, 1, 4, 1, 8};
    static Bench::BinStruct at(CORBA::ULong i)
    {
        Bench::BinStruct value;
        value.s = static_cast<CORBA::Short>(i);
        value.c = 'k';
        value.l = static_cast<CORBA::Long>(i);
        value.o = 7;
        value.d = i + 0.5;
        return value;
    }
    static bool equal(const Bench::BinStruct& a, const Bench::BinStruct& b)
    {
        return a.s == b.s && a.c == b.c && a.l == b.l && a.o == b.o && a.d == b.d;
    }
};

template <typename Sequence>
std::vector<std::byte> encoded(const Sequence& sequence)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    engine::encode(out, sequence);
    return {out.contiguous().begin(), out.contiguous().end()};
}

/// The message as a machine of the other byte order would have sent it.
template <typename Elements>
std::vector<std::byte> swapped(std::vector<std::byte> bytes, size_t count)
{
    size_t at = 0;
    const auto swap = [&](size_t size) {
        at = (at + size - 1) / size * size; // aligned to its own size
        std::reverse(bytes.data() + at, bytes.data() + at + size);
        at += size;
    };
    swap(sizeof(CORBA::ULong));
    for (size_t i = 0; i < count; ++i)
        for (const size_t size : Elements::primitives)
            swap(size);
    return bytes;
}

template <typename Elements, typename Sequence>
void expect_decoded(const std::vector<std::byte>& message, bool little_endian,
                    const Sequence& original)
{
    cdr::Reader in(message, little_endian);
    Sequence decoded;
    engine::decode(in, decoded);
    bool same = in.ok() && decoded.length() == original.length();
    for (CORBA::ULong i = 0; same && i < decoded.length(); ++i)
        same = Elements::equal(decoded[i], original[i]);
    if (!same) throw std::runtime_error("what was decoded is not what was encoded");
}

/// What is timed, on one sequence and its two messages. memcpy moves the same bytes between the
/// same places as what it is compared with: their alignment alone makes a third of its speed.
template <typename Elements, typename Sequence>
class Ladder {
  public:
    explicit Ladder(CORBA::ULong count)
    {
        sequence_.length(count);
        for (CORBA::ULong i = 0; i < count; ++i)
            sequence_[i] = Elements::at(i);
        bytes_ = count * sizeof(sequence_[0]);
        native_ = encoded(sequence_);
        swapped_ = swapped<Elements>(native_, count);
        expect_decoded<Elements>(native_, native_little_endian, sequence_);
        expect_decoded<Elements>(swapped_, !native_little_endian, sequence_);
        decoded_.length(count);
        buffer_.reserve(native_.size() + 64, 0);
        received_ = native_;
    }

    [[nodiscard]] std::string timed(std::uint32_t times)
    {
        const auto speed = [&](double ns) { return static_cast<double>(bytes_) * 1000 / ns; };
        const double out = speed(copy_out(times));
        const double encode_copied = speed(encode(times));
        const double in_place = speed(encode_in_place(times));
        const double in = speed(copy_in(times));
        const double decode_native = speed(decode(times, native_, native_little_endian));
        const double decode_swapped = speed(decode(times, swapped_, !native_little_endian));
        const double viewed = speed(view(times));
        char text[400];
        std::snprintf(text, sizeof text,
                      "{\"memcpy_mbyte_s\":%.1f,\"encode_mbyte_s\":%.1f,"
                      "\"gather_mbyte_s\":%.1f,\"memcpy_in_mbyte_s\":%.1f,"
                      "\"decode_mbyte_s\":%.1f,\"swapped_mbyte_s\":%.1f,"
                      "\"view_mbyte_s\":%.1f}",
                      out, encode_copied, in_place, in, decode_native, decode_swapped, viewed);
        return text;
    }

  private:
    [[nodiscard]] size_t begin() const { return native_.size() - bytes_; }

    double copy_out(std::uint32_t times)
    {
        std::byte* to = buffer_.data() + begin();
        return ns_per(times, [&] {
            std::memcpy(to, std::as_const(sequence_).get_buffer(), bytes_);
            touch(to);
        });
    }
    double encode(std::uint32_t times)
    {
        return ns_per(times, [&] {
            cdr::Writer out(buffer_);
            const cdr::Writer::CopyAll copies(out);
            engine::encode(out, sequence_);
            touch(buffer_.data());
        });
    }
    double encode_in_place(std::uint32_t times)
    {
        return ns_per(times, [&] {
            cdr::Writer out(buffer_);
            engine::encode(out, sequence_);
            touch(buffer_.data());
        });
    }
    double copy_in(std::uint32_t times)
    {
        return ns_per(times, [&] {
            std::memcpy(static_cast<void*>(decoded_.get_buffer()), received_.data() + begin(),
                        bytes_);
            touch(decoded_.get_buffer());
        });
    }
    double decode(std::uint32_t times, const std::vector<std::byte>& message, bool little_endian)
    {
        std::copy(message.begin(), message.end(), received_.begin());
        return ns_per(times, [&] {
            cdr::Reader in(received_, little_endian);
            engine::decode(in, decoded_);
            touch(decoded_.get_buffer());
            if (!in.ok()) throw std::runtime_error("a message of its own was refused");
        });
    }
    double view(std::uint32_t times)
    {
        Arena arena;
        // A view may move the first element within the message; each message is read once.
        std::vector<std::byte> message = native_;
        const size_t touched = std::min(message.size(), 2 * sizeof(sequence_[0]) + 8);
        return ns_per(times, [&] {
            std::memcpy(message.data(), native_.data(), touched);
            cdr::Reader in(message, native_little_endian);
            {
                Sequence seen;
                engine::decode(in, seen, &arena);
                touch(std::as_const(seen).get_buffer());
            }
            if (!in.ok()) throw std::runtime_error("a message of its own was refused");
            arena.reset();
        });
    }

    Sequence sequence_;
    Sequence decoded_;
    size_t bytes_ = 0;
    std::vector<std::byte> native_;
    std::vector<std::byte> swapped_;
    std::vector<std::byte> received_;
    cdr::Buffer buffer_;
};

} // namespace

std::string time_sequence(const Exercise& exercise)
{
    const std::uint32_t count = exercise.units;
    const std::uint32_t times = exercise.calls;
    if (count == 0 || times == 0) throw std::invalid_argument("how many units and how often?");
    switch (exercise.payload) {
    case Payload::octet:
        return Ladder<Numbers<CORBA::Octet>, Bench::OctetSeq>(count).timed(times);
    case Payload::character:
        return Ladder<Numbers<CORBA::Char>, Bench::CharSeq>(count).timed(times);
    case Payload::int16:
        return Ladder<Numbers<CORBA::Short>, Bench::ShortSeq>(count).timed(times);
    case Payload::int32:
        return Ladder<Numbers<CORBA::Long>, Bench::LongSeq>(count).timed(times);
    case Payload::float64:
        return Ladder<Numbers<CORBA::Double>, Bench::DoubleSeq>(count).timed(times);
    case Payload::bin_struct:
        return Ladder<BinStructs, Bench::StructSeq>(count).timed(times);
    default:
        throw std::invalid_argument("the ladder has no such sequence");
    }
}

} // namespace kairos::bench
