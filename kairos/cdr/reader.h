// SPDX-License-Identifier: Apache-2.0
//
// Decodes CDR (CORBA 3.3 part 2, 9.3) from bytes that a peer sent: stations 7 and 10 of the request
// walk (docs/TOUR.md). Every read checks the bytes left; the first failure sticks, later reads give
// zeros, and the caller asks once, at the end. Never allocates, never throws, but for blocks that
// the chunks of a valuetype cut. Borrows its bytes.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/base/limits.h"
#include "kairos/cdr/writer.h"

#include <span>
#include <string_view>

namespace kairos::cdr {

/// Why a message was refused.
enum class Fault : std::uint8_t {
    none,
    truncated,             ///< fewer bytes left than a value needs
    length_beyond_end,     ///< a length that the bytes left cannot hold
    string_not_terminated, ///< a string without its NUL, or of length zero
    invalid_value,         ///< a boolean, enumerator or flag outside its range
    bound_exceeded,        ///< more elements or characters than the IDL type allows
    nesting_too_deep,      ///< encapsulations or types deeper than limits::nesting_max
    unconvertible_text,    ///< text that is not valid in its code set, or not in the program's
    characters_refused,    ///< char or string without a code set agreed on (codeset.h)
    wide_text_refused,     ///< wchar or wstring without a code set agreed on (codeset.h)
};

/// The fault in words, for a log line or an exception's reason.
[[nodiscard]] constexpr std::string_view describe(Fault fault) noexcept
{
    switch (fault) {
    case Fault::none:
        return "no fault";
    case Fault::truncated:
        return "data ends before the value";
    case Fault::length_beyond_end:
        return "length exceeds the data";
    case Fault::string_not_terminated:
        return "string is not terminated";
    case Fault::invalid_value:
        return "value is outside its type";
    case Fault::bound_exceeded:
        return "length exceeds the bound of its type";
    case Fault::nesting_too_deep:
        return "nested too deeply";
    case Fault::unconvertible_text:
        return "text has no meaning in its code set or in the program's";
    case Fault::characters_refused:
        return "characters without a code set that both sides know";
    case Fault::wide_text_refused:
        return "wide characters without a code set that both sides know";
    }
    return "unknown fault";
}

struct Environment; // environment.h
class Gap;
class Reader;

/// Where data come in chunks, as those of some valuetypes do: who knows what follows the chunk that
/// is used up. Called when a value does not fit into what is left of it.
class KAIROS_API ChunkSource {
  public:
    /// Makes the reader enter the next chunk, or fails it.
    virtual void next_chunk(Reader& in) noexcept = 0;
    /// Memory for a block that chunks cut, to last as long as the message.
    [[nodiscard]] virtual std::byte* gathered(std::size_t size) = 0;
    /// Returns the gap in front of which reading ends; null where chunks follow.
    [[nodiscard]] virtual Gap* gap() noexcept { return nullptr; }
    /// Called when the reader leaves the chunk for what follows in the message.
    virtual void leave() noexcept {}

  protected:
    ~ChunkSource() = default;
};

/// Octets of a message that lie elsewhere, where who has written them may change them at any time:
/// memory shared with the peer. A reader ends in front of their place in the message, which is
/// empty. Whoever can do with them where they are gets them there (Reader::lent_block); for
/// everybody else they are copied to their place first.
class KAIROS_API Gap final : public ChunkSource {
  public:
    Gap(std::byte* place, Bytes octets) noexcept : place_(place), octets_(octets) {}
    Gap(const Gap&) = delete;
    Gap& operator=(const Gap&) = delete;
    ~Gap() = default;

    [[nodiscard]] Bytes octets() const noexcept { return octets_; }
    void next_chunk(Reader& in) noexcept override;
    [[nodiscard]] std::byte* gathered(std::size_t) override { return place_; }
    [[nodiscard]] Gap* gap() noexcept override { return this; }
    /// Copies the octets to their place, once.
    void leave() noexcept override;

  private:
    std::byte* const place_;
    const Bytes octets_;
    bool is_filled_ = false;
};

class KAIROS_API Reader {
  public:
    Reader() = default;

    /// Reads `bytes`, whose first byte is stream offset `begin`'s origin: alignment counts from
    /// `bytes.data()`, reading starts at offset `begin` ≤ size.
    Reader(Bytes bytes, bool little_endian, std::size_t begin = 0) noexcept
        : data_(bytes.data()), size_(bytes.size()), offset_(begin),
          swap_(little_endian != native_little_endian)
    {
    }

    /// Reads bytes that came in parts, each aligned for itself, as GIOP 1.1 does with Fragments:
    /// `part_begins` are the offsets, in order, whose bytes were at 4 modulo 8 when they were
    /// written. Borrowed.
    Reader(Bytes bytes, bool little_endian, std::size_t begin,
           std::span<const std::uint32_t> part_begins) noexcept;

    template <Primitive T>
    [[nodiscard]] T read() noexcept
    {
        const std::size_t at = align_up(offset_, sizeof(T));
        if (at + sizeof(T) > size_) [[unlikely]] // offsets stay below 2^33: no overflow
            return enter_part_with(sizeof(T)) ? read<T>() : T{};
        offset_ = at + sizeof(T);
        if constexpr (std::same_as<T, bool>) {
            const auto octet = std::to_integer<std::uint8_t>(data_[at]);
            if (octet > 1) [[unlikely]]
                fail(Fault::invalid_value);
            return octet == 1;
        } else {
            T value;
            std::memcpy(&value, data_ + at, sizeof(T));
            if constexpr (sizeof(T) > 1) {
                if (swap_) [[unlikely]]
                    value = byteswap(value);
            }
            return value;
        }
    }

    /// The next `size` bytes from a multiple of `alignment` on, or null when they are not there.
    /// Where parts meet, a block goes on with the next part's first byte, and so does one that had
    /// no room before: CORBA does not say; omniORB, the only sender of such parts known, does so.
    [[nodiscard]] const std::byte* block(std::size_t size, std::size_t alignment)
    {
        const std::size_t at = align_up(offset_, alignment);
        if (at > size_ || size > size_ - at) [[unlikely]]
            return block_across_parts(size, alignment);
        offset_ = at + size;
        return data_ + at;
    }

    /// A sequence's length, believed only if as many elements of at least `element_bytes_min`
    /// bytes can be in the bytes that nobody has claimed; otherwise zero, and the reader has
    /// failed.
    [[nodiscard]] std::uint32_t read_length(std::size_t element_bytes_min) noexcept
    {
        const auto length = read<std::uint32_t>();
        if (element_bytes_min == 0 ? length > limits::empty_elements_max
                                   : length > unclaimed() / element_bytes_min) [[unlikely]] {
            fail(Fault::length_beyond_end);
            return 0;
        }
        return length;
    }

    // Whoever makes room for elements because of a length claims the bytes that they are at least,
    // and gives back an element's share before he reads it. So no byte justifies elements of two
    // sequences that lie within each other, and what is made of a message is bounded by its size.
    void claim(std::size_t bytes) noexcept { claimed_ += static_cast<std::uint32_t>(bytes); }
    void unclaim(std::size_t bytes) noexcept { claimed_ -= static_cast<std::uint32_t>(bytes); }
    /// Bytes not read yet that no length read before speaks for.
    [[nodiscard]] std::size_t unclaimed() const noexcept
    {
        return left() > claimed_ ? left() - claimed_ : 0;
    }

    // Elements may take far more memory than bytes. Where more than `spare` would be spent on those
    // that may not be there, they are read twice, the first time without keeping any.
    /// Whether `memory` may be spent on what is not known to be there. If so it has been, until it
    /// is refunded.
    [[nodiscard]] bool spend(std::size_t memory) noexcept
    {
        if (memory > spare_) return false;
        spare_ -= static_cast<std::uint32_t>(memory);
        return true;
    }
    void refund(std::size_t memory) noexcept { spare_ += static_cast<std::uint32_t>(memory); }
    /// Whether the next byte belongs to values that are there.
    [[nodiscard]] bool is_proven() const noexcept { return data_ + offset_ < proven_; }
    /// Whether values are only read to see whether they are there: what takes far more memory than
    /// bytes is not kept.
    [[nodiscard]] bool proving() const noexcept { return proving_; }
    /// A reader that goes on from here only to see whether values are there (`proving`). Values
    /// that it makes are not the message's.
    [[nodiscard]] Reader proof() const noexcept
    {
        Reader ahead = *this;
        ahead.proving_ = true;
        return ahead;
    }
    /// Takes the values up to where `proof` has read as known to be there.
    void set_proven(const Reader& proof) noexcept { proven_ = proof.data_ + proof.offset_; }

    /// A CDR string without its terminator, which is in the bytes behind it: `data()` is a C
    /// string. A length of zero, which some peers send for "", is refused. Empty when failed.
    [[nodiscard]] std::string_view read_string() { return read_string_inline(); }
    /// Reads what read_string() reads, compiled into its caller: worth the size in loops.
    [[nodiscard, gnu::always_inline]] std::string_view read_string_inline()
    {
        const std::size_t at = align_up(offset_, sizeof(std::uint32_t)) + sizeof(std::uint32_t);
        if (at < size_) [[likely]] {
            std::uint32_t length = 0;
            std::memcpy(&length, data_ + at - sizeof length, sizeof length);
            const std::size_t last = std::size_t{swap_ ? byteswap(length) : length} - 1;
            if (last < size_ - at && data_[at + last] == std::byte{0}) [[likely]] {
                offset_ = at + last + 1;
                return {reinterpret_cast<const char*>(data_ + at), last};
            }
        }
        return read_other_string();
    }

    /// A sequence of octets, in place.
    [[nodiscard]] Bytes read_octets()
    {
        const std::uint32_t length = read_length(1);
        const std::byte* octets = block(length, 1);
        return octets == nullptr ? Bytes{} : Bytes{octets, length};
    }

    /// A reader of the encapsulation that follows; failed if it is empty or its flag is invalid.
    [[nodiscard]] Reader read_encapsulation()
    {
        const Bytes bytes = read_octets();
        return of_encapsulation(bytes);
    }
    /// A reader of an encapsulation's bytes, flag first. Failed if there is no valid flag.
    [[nodiscard]] static Reader of_encapsulation(Bytes bytes) noexcept
    {
        Reader inner(bytes, native_little_endian);
        const bool little_endian = inner.read<bool>();
        inner.swap_ = little_endian != native_little_endian;
        return inner;
    }

    void align(std::size_t alignment) { (void)block(0, alignment); }

    /// Restricts reading to the next `size` bytes; `source` is asked for what comes then. Fails if
    /// they are not there, or if they came in parts (see above), whose alignment is another. The
    /// source must outlive the reader or `leave_chunk`.
    void enter_chunk(std::size_t size, ChunkSource& source) noexcept
    {
        leave_chunk();
        if (size > size_ - offset_ || later_ != 0) return fail(Fault::length_beyond_end);
        later_ = size_ - offset_ - size;
        size_ = offset_ + size;
        chunks_ = &source;
    }
    /// Reads on without restriction, behind what was read.
    void leave_chunk() noexcept
    {
        if (chunks_ == nullptr) return;
        chunks_->leave();
        size_ += later_;
        later_ = 0;
        chunks_ = nullptr;
    }
    [[nodiscard]] bool in_chunk() const noexcept
    {
        return chunks_ != nullptr && chunks_->gap() == nullptr;
    }
    /// Bytes not read yet of the chunk, or of the present part.
    [[nodiscard]] std::size_t chunk_left() const noexcept { return size_ - offset_; }

    /// Says that the message goes on behind these bytes: with `gap`, which must outlive the reader,
    /// and what follows it, `behind` bytes together. For a reader of bytes that are whole.
    void enter_gap(Gap& gap, std::size_t behind) noexcept
    {
        later_ = behind;
        chunks_ = &gap;
    }
    /// Returns the next `size` bytes from a multiple of `alignment` on where they are the gap's,
    /// and steps over them; else null, and nothing was read. They are to be copied before they are
    /// checked, or to be such as may be anything: who has written them may change them.
    [[nodiscard, gnu::cold]] const std::byte* lent_block(std::size_t size,
                                                         std::size_t alignment) noexcept;
    /// Returns whether a gap is in front.
    [[nodiscard]] bool has_gap() const noexcept
    {
        return chunks_ != nullptr && chunks_->gap() != nullptr;
    }

    [[nodiscard]] bool ok() const noexcept { return fault_ == Fault::none; }
    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    /// Bytes not read yet; zero after a failure.
    [[nodiscard]] std::size_t left() const noexcept { return size_ - offset_ + later_; }
    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
    /// Whether multi-byte values arrive in the other byte order.
    [[nodiscard]] bool swap() const noexcept { return swap_; }
    /// Whether all values left are as this machine would align and order them.
    [[nodiscard]] bool is_native() const noexcept { return !swap_ && later_ == 0; }
    /// Whether all bytes left are aligned as one stream.
    [[nodiscard]] bool is_whole() const noexcept { return later_ == 0; }
    [[nodiscard]] bool little_endian() const noexcept { return swap_ != native_little_endian; }
    /// What offsets count in: all bytes or, if they came in parts, the present one.
    [[nodiscard]] Bytes bytes() const noexcept { return {data_, size_}; }

    /// The environment of the message; null unless the layer that made the reader set it. Borrowed.
    [[nodiscard]] const Environment* environment() const noexcept { return environment_; }
    void set_environment(const Environment* environment) noexcept { environment_ = environment; }

    /// Marks the input as refused. The first fault is kept.
    [[gnu::cold]] void fail(Fault fault) noexcept
    {
        if (fault_ == Fault::none) fault_ = fault;
        offset_ = size_;
        later_ = 0;
    }

  private:
    /// A string that is not whole in the present part or chunk, or refused.
    [[nodiscard, gnu::cold]] std::string_view read_other_string();
    void enter_next_part() noexcept;
    /// Enters the next part that holds a value of this size; fails if there is none.
    [[gnu::cold]] bool enter_part_with(std::size_t size) noexcept;
    [[gnu::cold]] const std::byte* block_across_parts(std::size_t size, std::size_t alignment);
    [[gnu::cold]] const std::byte* block_across_chunks(std::size_t size, std::size_t alignment);
    /// Enters the next chunk unless more than padding is left of the present one; false: failed.
    bool enter_next_chunk(std::size_t alignment) noexcept;

    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t offset_ = 0; // never above size_
    std::size_t later_ = 0;  // bytes in the parts to come, which follow data_ + size_
    std::span<const std::uint32_t> part_begins_; // of the parts to come
    const Environment* environment_ = nullptr;
    const std::byte* proven_ = nullptr; // the end of what a proof has read
    std::uint32_t claimed_ = 0;         // never more than a message has
    std::uint32_t spare_ = std::uint32_t{64} << 10;
    ChunkSource* chunks_ = nullptr; // then `later_` counts what is behind the present chunk
    bool swap_ = false;
    bool proving_ = false;
    Fault fault_ = Fault::none;
};

// What a compiler does not make inline, as with -Os, it finds in the library.
extern template KAIROS_API bool Reader::read<bool>() noexcept;
extern template KAIROS_API char Reader::read<char>() noexcept;
extern template KAIROS_API std::uint8_t Reader::read<std::uint8_t>() noexcept;
extern template KAIROS_API std::int16_t Reader::read<std::int16_t>() noexcept;
extern template KAIROS_API std::uint16_t Reader::read<std::uint16_t>() noexcept;
extern template KAIROS_API std::int32_t Reader::read<std::int32_t>() noexcept;
extern template KAIROS_API std::uint32_t Reader::read<std::uint32_t>() noexcept;
extern template KAIROS_API std::int64_t Reader::read<std::int64_t>() noexcept;
extern template KAIROS_API std::uint64_t Reader::read<std::uint64_t>() noexcept;
extern template KAIROS_API float Reader::read<float>() noexcept;
extern template KAIROS_API double Reader::read<double>() noexcept;

} // namespace kairos::cdr
