// SPDX-License-Identifier: Apache-2.0
//
// Encodes CDR (CORBA 3.3 part 2, 9.3) in this machine's byte order into a Buffer: stations 1 and 10
// of the request walk (docs/TOUR.md). The stream starts at a multiple of eight of its message,
// because giop builds the header in front of it afterwards; so what is encoded here can be sent
// again under another header. Owned by one thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/cdr/buffer.h"

#include <array>
#include <concepts>
#include <string_view>
#include <utility>

namespace kairos::cdr {

struct Environment; // environment.h

/// What CDR moves as one value, aligned to its own size.
template <typename T>
concept Primitive = (std::integral<T> || std::floating_point<T>)&&sizeof(T) <= 8;

class KAIROS_API Writer {
  public:
    /// Bytes that belong into the stream at `position` of the buffer but stay where they are.
    struct External {
        std::size_t position;
        Bytes bytes;
    };
    static constexpr std::size_t externals_max = 8;
    /// Below this a copy costs less than one more segment of a gathered write.
    static constexpr std::size_t external_bytes_min = std::size_t{8} << 10;

    /// Starts a stream at `headroom`, a multiple of eight, in `buffer`, which must outlive it.
    explicit Writer(Buffer& buffer, std::size_t headroom = 0) : buffer_(buffer) // reset() the rest
    {
        reset(headroom);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Forgets everything written and starts anew.
    void reset(std::size_t headroom)
    {
        if (buffer_.capacity() < headroom + slack) buffer_.reserve(headroom + initial_size, 0);
        cursor_ = buffer_.data() + headroom;
        end_ = buffer_.data() + buffer_.capacity() - slack;
        begin_ = headroom;
        phase_ = 0;
        external_size_ = 0;
        external_count_ = 0;
    }

    template <Primitive T>
    void write(T value)
    {
        std::memcpy(claim(sizeof(T), sizeof(T)), &value, sizeof(T));
    }

    /// Room for `size` bytes at the next multiple of `alignment` (1, 2, 4 or 8) of the stream;
    /// padding in front is zero. The caller writes every byte before anything else is written.
    [[nodiscard]] std::byte* claim(std::size_t size, std::size_t alignment)
    {
        const std::size_t pad = padding(phase(), alignment);
        if (static_cast<std::size_t>(end_ - cursor_) < pad + size) [[unlikely]]
            grow(pad + size);
        std::byte* const place = cursor_ + pad;
        std::memset(cursor_, 0, 8); // padding without a branch: the slack behind end_ allows it
        cursor_ = place + size;
        return place;
    }

    /// Raw bytes, unaligned, without a length.
    void write_bytes(Bytes bytes)
    {
        if (!bytes.empty()) std::memcpy(claim(bytes.size(), 1), bytes.data(), bytes.size());
    }

    /// Raw bytes aligned to `alignment`, without a length: large ones are not copied but sent from
    /// where they are, so they must not change until the message is sent.
    void write_bulk(Bytes bytes, std::size_t alignment)
    {
        if (bytes.size() >= external_bytes_min && external_count_ < external_limit_) {
            (void)claim(0, alignment);
            externals_.list[external_count_++] = {position(), bytes};
            external_size_ += bytes.size();
            phase_ += bytes.size();
        } else if (!bytes.empty()) {
            std::memcpy(claim(bytes.size(), alignment), bytes.data(), bytes.size());
        }
    }

    /// A CDR string: length with the terminator, characters, terminator. `text` holds no NUL.
    void write_string(std::string_view text)
    {
        write(static_cast<std::uint32_t>(text.size() + 1));
        std::byte* place = claim(text.size() + 1, 1);
        std::memcpy(place, text.data(), text.size());
        place[text.size()] = std::byte{0};
    }

    /// A sequence of octets: length and octets.
    void write_octets(Bytes octets)
    {
        write(static_cast<std::uint32_t>(octets.size()));
        write_bulk(octets, 1);
    }

    /// An encapsulation: its length, a byte-order flag, and then whatever is written until `end`,
    /// aligned from the flag on (CORBA 3.3 part 2, 9.3.3). Nests.
    struct Encapsulation {
        std::size_t length_position;
        std::size_t outer_phase;
        std::size_t outer_external_size;
    };
    [[nodiscard]] Encapsulation begin_encapsulation()
    {
        write(std::uint32_t{0});
        const Encapsulation scope{position() - 4, phase_, external_size_};
        phase_ = 0 - position(); // alignment counts from here
        write(static_cast<std::uint8_t>(native_little_endian));
        return scope;
    }
    void end_encapsulation(const Encapsulation& scope)
    {
        const std::size_t external = external_size_ - scope.outer_external_size;
        const auto size =
            static_cast<std::uint32_t>(position() - scope.length_position - 4 + external);
        std::memcpy(buffer_.data() + scope.length_position, &size, 4);
        phase_ = scope.outer_phase + external;
    }

    /// Length of the stream so far, external bytes included.
    [[nodiscard]] std::size_t size() const noexcept { return position() - begin_ + external_size_; }
    /// Where the next byte goes, from the start of the buffer, headroom included.
    [[nodiscard]] std::size_t position() const noexcept
    {
        return static_cast<std::size_t>(cursor_ - buffer_.data());
    }
    /// The bytes in the buffer from the end of the headroom on. Without external ones.
    [[nodiscard]] Bytes contiguous() const noexcept
    {
        return {buffer_.data() + begin_, position() - begin_};
    }
    [[nodiscard]] std::span<const External> externals() const noexcept
    {
        return {externals_.list.data(), external_count_};
    }
    /// Where the next byte goes, as alignment counts it: modulo eight. All buffers start at a
    /// multiple of that, so its address will do.
    [[nodiscard]] std::size_t phase() const noexcept
    {
        static_assert(Buffer::alignment % 8 == 0);
        return reinterpret_cast<std::uintptr_t>(cursor_) + phase_;
    }
    [[nodiscard]] Buffer& buffer() const noexcept { return buffer_; }

    /// The environment of the message; null unless the layer that made the writer set it. Borrowed.
    [[nodiscard]] const Environment* environment() const noexcept { return environment_; }
    void set_environment(const Environment* environment) noexcept { environment_ = environment; }

    /// Takes back what was written since the buffer's position was this; nothing external was.
    void take_back(std::size_t position_before) noexcept
    {
        cursor_ = buffer_.data() + position_before;
    }

    /// As long as it lives, large bytes are copied, too: they will not be there when the message is
    /// sent.
    class CopyAll {
      public:
        explicit CopyAll(Writer& out) noexcept
            : out_(out), limit_(std::exchange(out.external_limit_, 0))
        {
        }
        CopyAll(const CopyAll&) = delete;
        CopyAll& operator=(const CopyAll&) = delete;
        ~CopyAll() { out_.external_limit_ = limit_; }

      private:
        Writer& out_;
        const std::size_t limit_;
    };

    /// Overwrites four bytes written earlier: lengths that are known only afterwards.
    void patch(std::size_t at, std::uint32_t value) noexcept
    {
        std::memcpy(buffer_.data() + at, &value, sizeof value);
    }

  private:
    static constexpr std::size_t slack = 8;
    static constexpr std::size_t initial_size = 2048;

    [[gnu::cold, gnu::noinline]] void grow(std::size_t needed);

    Buffer& buffer_;
    std::byte* cursor_;
    std::byte* end_;    // `slack` bytes before the end of the buffer
    std::size_t begin_; // the headroom
    std::size_t phase_; // stream position = buffer position + phase, modulo eight
    std::size_t external_size_;
    std::size_t external_count_;
    std::size_t external_limit_ = externals_max;
    const Environment* environment_ = nullptr;
    // Not initialised: a Writer is made for every call, and most calls have none.
    union Externals {
        Externals() {} // NOLINT(modernize-use-equals-default): that would be deleted
        std::array<External, externals_max> list;
    } externals_;
};

} // namespace kairos::cdr
