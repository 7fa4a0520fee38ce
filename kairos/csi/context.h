// SPDX-License-Identifier: Apache-2.0
//
// The messages of the Security Attribute Service, which travel in the service contexts of requests
// and replies (CORBA 3.3 part 2, 10.2 and 10.3, module CSI), and what is in them: user and password
// in a token of GSSUP's (10.4), names as the GSS-API exports them (RFC 2743, 3.2).
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/csi/mechanisms.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace kairos::csi {

/// The id of the service context.
inline constexpr std::uint32_t service_context = 15;

namespace limits {
/// Octets of a user's name, of a password and of the name of a target.
inline constexpr std::size_t name_max = 1024;
/// Octets of a service context that is looked into: certificate chains are its largest part.
inline constexpr std::size_t context_max = std::size_t{64} << 10;
/// Octets of a chain of certificates, and how many it has; octets of a distinguished name,
/// in DER and as it is written.
inline constexpr std::size_t chain_max = std::size_t{48} << 10;
inline constexpr std::size_t certificates_max = 8;
inline constexpr std::size_t distinguished_name_max = 4096;
/// Octets of an alternative name as it is written, and how many a certificate has.
inline constexpr std::size_t alternative_name_max = 1024;
inline constexpr std::size_t alternative_names_max = 64;
/// Bits of the key of RSA's that has signed a certificate, of its exponent, of an elliptic curve,
/// and of a key of another kind: what it costs to look at a signature grows with them.
inline constexpr int rsa_bits_max = 8192;
inline constexpr int rsa_exponent_bits_max = 64;
inline constexpr int curve_bits_max = 521;
inline constexpr int other_key_bits_max = 4096;
} // namespace limits

/// 2.23.130.1.1.1, user and password, as DER has it.
inline constexpr std::array<std::byte, 8> gssup_mechanism{
    std::byte{0x06}, std::byte{0x06}, std::byte{0x67}, std::byte{0x81},
    std::byte{0x02}, std::byte{0x01}, std::byte{0x01}, std::byte{0x01}};

// --- messages ------------------------------------------------------------------------------------

/// For whom the caller speaks. The values are CSI's, and bits of Mechanism::identity_types.
enum class IdentityType : std::uint32_t {
    absent = 0, ///< for itself
    anonymous = 1,
    principal_name = 2,     ///< a GSS exported name
    certificates = 4,       ///< a chain, in DER: the subject's first, behind each who signed it
    distinguished_name = 8, ///< in DER
};

struct Identity {
    IdentityType type = IdentityType::absent; ///< perhaps one that is not known here
    OctetVector token{};                      ///< of all but absent and anonymous
    friend bool operator==(const Identity&, const Identity&) = default;
};

struct EstablishContext {
    std::uint64_t client_context_id = 0; ///< 0: the context is of this request only
    std::uint32_t authorizations = 0;    ///< how many elements there are, which nobody reads here
    Identity identity{};
    OctetVector authentication{}; ///< a token of the client's mechanism; empty: none
    friend bool operator==(const EstablishContext&, const EstablishContext&) = default;
};
struct CompleteEstablishContext {
    std::uint64_t client_context_id = 0;
    bool is_stateful = false;
    OctetVector token{};
    friend bool operator==(const CompleteEstablishContext&,
                           const CompleteEstablishContext&) = default;
};
struct ContextError {
    std::uint64_t client_context_id = 0;
    std::int32_t major = 0;
    std::int32_t minor = 0;
    OctetVector token{};
    friend bool operator==(const ContextError&, const ContextError&) = default;
};
struct MessageInContext {
    std::uint64_t client_context_id = 0;
    bool discards_context = false;
    friend bool operator==(const MessageInContext&, const MessageInContext&) = default;
};

using Message =
    std::variant<EstablishContext, CompleteEstablishContext, ContextError, MessageInContext>;

/// What servers say is wrong (CORBA 3.3 part 2, 10.3.5): a major status; the minor one is 1.
enum class Refusal : std::int32_t {
    invalid_evidence = 1,
    invalid_mechanism = 2,
    conflicting_evidence = 3,
    no_context = 4,
};
[[nodiscard]] std::string_view text_of(Refusal refusal) noexcept;

/// Returns the data of the service context.
[[nodiscard]] OctetVector encode(const Message& message);
/// Returns the message in the data of a service context; nothing if it is malformed.
[[nodiscard]] std::optional<Message> decode_message(Bytes data);

/// Returns the token of an identity that is a chain: a sequence of these certificates, each in DER.
[[nodiscard]] OctetVector chain_of(std::span<const Bytes> certificates);

// --- user and password ---------------------------------------------------------------------------

struct UserAndPassword {
    std::string user;
    std::string password;
    OctetVector target_name{}; ///< a GSS exported name; may be empty
    friend bool operator==(const UserAndPassword&, const UserAndPassword&) = default;
};

/// Returns the token that a client sends: an encapsulation of GSSUP::InitialContextToken, framed as
/// the GSS-API wants it (RFC 2743, 3.1).
[[nodiscard]] OctetVector encode(const UserAndPassword& evidence);
/// What a token was found to be.
struct DecodedToken {
    bool is_gssup = false;                     ///< else of another mechanism, or no token
    std::optional<UserAndPassword> evidence{}; ///< nothing where it is malformed
};
[[nodiscard]] DecodedToken decode_token(Bytes token);

/// What GSSUP::ErrorToken has (10.4.3).
enum class GssupError : std::uint32_t {
    unspecified = 1,
    no_user = 2,
    bad_password = 3,
    bad_target = 4,
};
/// Returns the framed token of a refusal.
[[nodiscard]] OctetVector encode(GssupError error);

// --- names ---------------------------------------------------------------------------------------

/// Returns a name of GSSUP's as the GSS-API exports it.
[[nodiscard]] OctetVector exported_name(std::string_view name);
/// Returns the name in an exported one; nothing if it is malformed or of another mechanism.
[[nodiscard]] std::optional<std::string> decode_exported_name(Bytes exported);
/// Returns whether a name may be a user's: 1 to limits::name_max octets of UTF-8 without control
/// characters, where "@" stands at most once, between a user and a scope that are not empty, and
/// "\" only in front of "\" and "@": no two texts then are one name (10.4.4, scoped user names).
[[nodiscard]] bool is_name(std::string_view name) noexcept;
/// A name, or a pattern of names, taken apart at the "@" that no "\" stands in front of. Views.
struct ScopedName {
    std::string_view user; ///< as it was, quoted
    std::optional<std::string_view> scope{};
};
[[nodiscard]] ScopedName scoped_name(std::string_view name) noexcept;

} // namespace kairos::csi
