// SPDX-License-Identifier: Apache-2.0
//
// Request messages (CORBA 3.3 part 2, 9.4.2): a view of one received, and a template that puts the
// header of one in front of an encoded body. Stations 3 and 7 of the request walk (docs/TOUR.md).
// A template is computed once per reference and immutable: threads may share it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/giop/message.h"

#include <vector>

namespace kairos::giop {

/// How GIOP 1.2 names the target (9.4.2.3). Values as on the wire.
enum class AddressingDisposition : std::uint16_t { key = 0, profile = 1, reference = 2 };

/// The target of a Request or LocateRequest. Always `key` in GIOP 1.0 and 1.1.
struct TargetAddress {
    AddressingDisposition disposition = AddressingDisposition::key;
    Bytes key;                        ///< key: the object key
    std::uint32_t profile_tag = 0;    ///< profile: its tag
    Bytes profile_data;               ///< profile: its data, for IIOP an encapsulation
    std::uint32_t selected_index = 0; ///< reference: which of its profiles was chosen
    Bytes ior;                        ///< reference: the encoded IOR, in the message's byte order
};

/// Bits of response_flags in GIOP 1.2 (9.4.2.1).
namespace response_flags {
inline constexpr std::uint8_t none = 0x00;        ///< SYNC_NONE, SYNC_WITH_TRANSPORT
inline constexpr std::uint8_t sync_server = 0x01; ///< SYNC_WITH_SERVER: reply before the upcall
inline constexpr std::uint8_t sync_target = 0x03; ///< a result, or SYNC_WITH_TARGET
} // namespace response_flags

struct Request {
    Version version;
    bool little_endian = native_little_endian;
    std::uint8_t response_flags = 0; ///< GIOP 1.0/1.1: response_expected as sync_target or none
    std::uint32_t request_id = 0;
    std::string_view operation; ///< a NUL follows it
    TargetAddress target;
    ServiceContexts contexts;
    cdr::Reader body; ///< at the first argument

    [[nodiscard]] bool response_expected() const noexcept { return (response_flags & 1) != 0; }
};

/// Memory for a request that is not initialised: `parse` writes all that there is to know of it, of
/// a target addressed by its key not what other targets have.
union RequestRoom {
    RequestRoom() noexcept {} // NOLINT(modernize-use-equals-default): that would be deleted
    Request request;
};

/// Reads a message of type request. Allocates nothing; `request` borrows the message. After a fault
/// only version, byte order and, if it was read, request_id mean anything.
[[nodiscard]] KAIROS_API cdr::Fault parse(const Message& message, Request& request) noexcept;

/// Reads a target address of GIOP 1.2. Failure is the reader's.
void read_target(cdr::Reader& reader, TargetAddress& target) noexcept;

/// Everything in a Request header that depends only on the reference and the GIOP version.
class KAIROS_API RequestTemplate {
  public:
    /// Makes an empty template, to be assigned before use.
    RequestTemplate() = default;
    /// Makes a template, of any version, that names the target by its object key.
    RequestTemplate(Version version, Bytes object_key);
    /// A template of GIOP 1.2 that names the target by a profile: after NEEDS_ADDRESSING_MODE.
    [[nodiscard]] static RequestTemplate of_profile(std::uint32_t tag, Bytes profile_data);
    /// A template of GIOP 1.2 that names the target by a whole reference, encoded in this machine's
    /// byte order: after NEEDS_ADDRESSING_MODE.
    [[nodiscard]] static RequestTemplate of_reference(std::uint32_t selected_index,
                                                      Bytes encoded_ior);

    [[nodiscard]] Version version() const noexcept { return version_; }

    /// Bytes that `prepend` may need in front of a body: an upper bound, a multiple of eight.
    [[nodiscard]] std::size_t headroom(std::size_t operation_size,
                                       std::size_t contexts_size = 0) const noexcept
    {
        // contexts and their padding; length, terminator and padding of the name; in 1.0 and 1.1
        // the principal's length; padding up to the body
        return align_up(prefix_size_ + align_up(contexts_size, 4) + operation_size + 28, 8);
    }

    /// Writes the header so that it ends where `body` begins, and returns it: the first bytes of
    /// the message. Empty if the headroom does not suffice or the message exceeds GIOP's 4 GiB.
    [[nodiscard]] MutableBytes prepend(const Body& body, std::uint32_t request_id,
                                       std::uint8_t response_flags, std::string_view operation,
                                       Bytes contexts = {}) const noexcept;

    /// Length of a LocateRequest to this target.
    [[nodiscard]] std::size_t locate_size() const noexcept;
    /// Writes a LocateRequest to the front of `place` and returns it; empty if it does not fit.
    [[nodiscard]] MutableBytes locate(MutableBytes place, std::uint32_t request_id) const noexcept;

  private:
    RequestTemplate(Version version, AddressingDisposition disposition);
    void append(Bytes bytes);
    void append(std::uint32_t value);
    void finish();
    [[nodiscard]] MutableBytes prepend_other(const Body& body, std::uint32_t request_id,
                                             std::uint8_t response_flags,
                                             std::string_view operation,
                                             Bytes contexts) const noexcept;

    // The header from the message's start to the padded end of the target. GIOP 1.2: message
    // header, id, flags, target. 1.0 and 1.1: message header, no contexts, id, flags, key. Zeros
    // follow up to a multiple of sixteen, so that it is copied in steps of sixteen.
    std::vector<std::byte> prefix_;
    std::size_t prefix_size_ = 0;
    std::size_t target_size_ = 0; // without padding behind it
    Version version_;
};

} // namespace kairos::giop
