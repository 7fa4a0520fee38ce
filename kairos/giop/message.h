// SPDX-License-Identifier: Apache-2.0
//
// What all messages share: a whole message as received, the service contexts in it, and the encoded
// body that a header is built in front of. Views: they borrow the bytes of a connection's receive
// buffer until the connection is asked for more, or those of a cdr::Writer.
//
// A message body always begins at a multiple of eight of its message, in every GIOP version (except
// that of a LocateReply, which holds nothing that would need it); so an encoded body can be sent
// again under another header: to another profile, after a forward, in another version.
#pragma once

#include "kairos/cdr/reader.h"

#include "kairos/cdr/writer.h"
#include "kairos/giop/header.h"
#include <span>

#include <optional>

namespace kairos::giop {

/// A whole message as Connection hands it out, fragments put together.
struct Message {
    Version version;
    MessageType type = MessageType::request;
    bool little_endian = native_little_endian;
    MutableBytes bytes; ///< header included, so that offsets align as they did on the wire
    /// Where the Fragments of a GIOP 1.1 message begin that did not continue the alignment of what
    /// was before them. Borrowed.
    std::span<const std::uint32_t> part_begins{};

    /// Reads from behind the twelve-byte header on.
    [[nodiscard]] cdr::Reader reader() const noexcept
    {
        return {bytes, little_endian, header_size, part_begins};
    }
};

/// Memory for a message that is not initialised: Connection writes all of each that it hands out.
union MessageRoom {
    MessageRoom() noexcept {} // NOLINT(modernize-use-equals-default): that would be deleted
    Message message;
};

/// A view of a complete message in memory; its fault if `bytes` is anything else. For tests and
/// tools: on a connection, messages come from Connection.
[[nodiscard]] Fault message_of(MutableBytes bytes, Message& message) noexcept;

/// The service contexts of one message, checked when it was parsed, read lazily.
class ServiceContexts {
  public:
    ServiceContexts() = default;

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// The data of the first context with this id: an encapsulation, its flag first.
    [[nodiscard]] std::optional<Bytes> find(std::uint32_t id) const noexcept;

    /// Calls `visit(std::uint32_t id, Bytes data)` for each context in order.
    template <typename Visitor>
    void for_each(Visitor&& visit) const
    {
        cdr::Reader reader(bytes_, little_endian_);
        for (std::uint32_t i = 0; i < count_; ++i) {
            const auto id = reader.read<std::uint32_t>();
            visit(id, reader.read_octets());
        }
    }

    /// Reads a list from a message and leaves `reader` behind it. Lists longer than
    /// limits::service_contexts_max are refused. Failure is the reader's.
    [[nodiscard]] static ServiceContexts read(cdr::Reader& reader) noexcept
    {
        const std::uint32_t count = reader.read_length(8);
        return count == 0 ? ServiceContexts() : walk(reader, count);
    }

  private:
    [[gnu::noinline]] static ServiceContexts walk(cdr::Reader& reader,
                                                  std::uint32_t count) noexcept;

    Bytes bytes_; // from the first context on; the list begins at a multiple of four
    std::uint32_t count_ = 0;
    bool little_endian_ = native_little_endian;
};

/// Where an encoded body lies and how much room for a header is in front of it. The header need
/// not be sent from there: with `begin` at the end of some other memory it becomes a segment of its
/// own.
struct Body {
    std::byte* begin = nullptr;
    std::size_t headroom = 0; ///< writable bytes in front of `begin`
    std::size_t size = 0;     ///< of the body, external bytes included

    /// The body that `writer`, reset with this headroom, holds.
    [[nodiscard]] static Body of(const cdr::Writer& writer, std::size_t headroom) noexcept
    {
        return {writer.buffer().data() + headroom, headroom, writer.size()};
    }
};

/// Marks a service context that only fills space, so that the body of a GIOP 1.0 or 1.1 reply
/// begins at a multiple of eight; receivers skip contexts that they do not know.
inline constexpr std::uint32_t filler_context_id = 0x4B414900; // "KAI\0"

// Lists of service contexts for the functions below are encoded with a cdr::Writer of their own, in
// this machine's byte order: the count, then for each its id and write_octets(encapsulation). No
// bytes at all mean an empty list. They hold nothing aligned beyond four, so they fit everywhere.

} // namespace kairos::giop
