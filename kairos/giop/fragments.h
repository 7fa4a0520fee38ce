// SPDX-License-Identifier: Apache-2.0
//
// Messages in several parts (CORBA 3.3 part 2, 9.4.9): `Segments` gathers a message for one write,
// `Fragmenter` cuts it for a peer that wants smaller ones, `Reassembly` puts received parts
// together. Station 4 of the request walk (docs/TOUR.md). Owned by the lane of the connection.
#pragma once

#include "kairos/cdr/buffer.h"
#include "kairos/giop/message.h"

#include <array>
#include <optional>
#include <vector>

namespace kairos::giop {

/// A message or a part of one, in order, still where it was encoded.
struct Segments {
    static constexpr std::size_t count_max = 2 * cdr::Writer::externals_max + 3;

    std::array<Bytes, count_max> list;
    std::size_t count = 0;

    void add(Bytes bytes) noexcept
    {
        if (!bytes.empty()) list[count++] = bytes;
    }
    [[nodiscard]] std::span<const Bytes> view() const noexcept { return {list.data(), count}; }
    [[nodiscard]] std::size_t size() const noexcept
    {
        std::size_t sum = 0;
        for (const Bytes segment : view())
            sum += segment.size();
        return sum;
    }
};

/// Calls `use` with each part of the message made of a header and the body in `writer`, in order,
/// its external bytes in place. One part in the ordinary case: header right in front of the body,
/// nothing external. Parts may be empty.
template <typename Use>
void for_each_part(Bytes header, const cdr::Writer& writer, Use&& use) noexcept
{
    const Bytes body = writer.contiguous();
    const std::byte* const base = writer.buffer().data();
    const std::byte* from = body.data();
    if (header.data() + header.size() == from)
        from = header.data();
    else
        use(header);
    for (const cdr::Writer::External& external : writer.externals()) {
        use(Bytes{from, base + external.position});
        use(external.bytes);
        from = base + external.position;
    }
    use(Bytes{from, body.data() + body.size()});
}

/// Returns the parts, those that are not empty, of the message made of a header and the body in
/// `writer`, in order, its external bytes in place. They stay where they are: borrowed.
[[nodiscard]] Segments gather(Bytes header, const cdr::Writer& writer) noexcept;

/// Cuts one complete message into parts of at most so many bytes: all but the last a multiple of
/// eight long, all but the first with the request id. Messages that are short enough or of a type
/// that may not be cut stay whole, and so do those of GIOP 1.0 and 1.1: 1.1 must not cut through a
/// value of eight bytes, which what is already encoded does not show, and peers lose their way.
class Fragmenter {
  public:
    /// Smallest useful part; smaller wishes are raised to it.
    static constexpr std::size_t part_size_min = 32;

    /// `message` begins with its header, all of it in the first segment; borrowed.
    Fragmenter(const Segments& message, std::size_t part_size_max) noexcept;

    /// The next part, valid until the next call; false when there is none left.
    [[nodiscard]] bool next(Segments& part) noexcept;

  private:
    void take(std::size_t size, Segments& part) noexcept;

    Segments message_;
    std::size_t part_size_ = 0;
    std::size_t left_;
    std::size_t segment_ = 0; // the next byte to send: segment and offset in it
    std::size_t offset_ = 0;
    Version version_;
    bool whole_ = true;
    bool first_ = true;
    std::array<std::byte, 16> header_;
};

/// A message of which a part has come.
struct Unfinished {
    std::uint64_t begins_at = 0; ///< in the stream of octets: each message has its own place
    std::size_t octets = 0;      ///< that have come of it
};

/// The messages of one connection that have begun to arrive in parts. Bounded by
/// limits::fragmented_messages_max and by the bytes that all of them together may hold.
class Reassembly {
  public:
    explicit Reassembly(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

    /// Takes the first part of a message: one whose header says that more follow. It was at
    /// `begins_at` in the stream.
    [[nodiscard]] Fault begin(const Message& part, std::uint64_t begins_at);
    /// Takes a Fragment. When it is the last one, `whole` becomes the message, valid until the
    /// next call of anything here, and `complete` is set.
    [[nodiscard]] Fault append(const Message& fragment, bool more_fragments, Message& whole,
                               bool& complete);
    /// Forgets a message that its sender, or who waits for it, gave up. Fragments of it that still
    /// come are dropped: they may have been under way.
    void cancel(std::uint32_t request_id) noexcept;
    /// Gives memory back that only a large message needed. Invalidates the last `whole`.
    void trim() noexcept;

    /// The memory of the last `whole`, for who needs it longer.
    struct Whole {
        cdr::Buffer buffer;
        std::vector<std::uint32_t> part_begins;
    };
    [[nodiscard]] Whole take_whole() noexcept
    {
        return {std::move(assembled_), std::move(assembled_part_begins_)};
    }

    [[nodiscard]] bool has_whole() const noexcept { return assembled_.capacity() != 0; }

    /// Messages begun, neither complete nor cancelled.
    [[nodiscard]] std::size_t count() const noexcept;
    /// The message that began first of those neither complete nor cancelled.
    [[nodiscard]] std::optional<Unfinished> oldest() const noexcept;
    [[nodiscard]] std::size_t memory_held() const noexcept;

  private:
    struct Partial {
        cdr::Buffer buffer;
        std::size_t size = 0;
        std::uint64_t begins_at = 0;
        std::vector<std::uint32_t> part_begins; // as in Message
        std::uint32_t request_id = 0;           // GIOP 1.2
        Version version;
        bool little_endian = false;
        bool cancelled = false; // keeps no bytes, only swallows what still comes
    };
    [[nodiscard]] Partial* find(Version version, std::uint32_t request_id) noexcept;
    [[nodiscard]] bool make_place() noexcept;
    /// Remembers that a GIOP 1.1 Fragment with so much data comes next; false if it is one too
    /// many.
    [[nodiscard]] bool note_part(Partial& partial, std::size_t size);
    [[nodiscard]] Fault store(Partial& partial, Bytes bytes);
    void remove(Partial& partial) noexcept;

    std::vector<Partial> partials_; // in the order in which they began
    std::vector<std::uint32_t> assembled_part_begins_;
    cdr::Buffer assembled_;      // the last message handed out, then storage for the next one
    std::size_t bytes_held_ = 0; // in partials_
    std::size_t bytes_max_;
};

} // namespace kairos::giop
