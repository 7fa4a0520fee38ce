// SPDX-License-Identifier: Apache-2.0
//
// The tagged components that Kairos makes or understands (CORBA 3.3 part 2, 7.6.6), with the tags
// of the profiles and components it can name. Built and read when references are made and
// received; cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/cdr/codeset_conversion.h"
#include "kairos/ior/ior.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kairos::ior {

inline constexpr std::uint32_t tag_internet_iop = 0;
inline constexpr std::uint32_t tag_multiple_components = 1;

inline constexpr std::uint32_t tag_orb_type = 0;
inline constexpr std::uint32_t tag_code_sets = 1;
inline constexpr std::uint32_t tag_policies = 2;
inline constexpr std::uint32_t tag_alternate_iiop_address = 3;
inline constexpr std::uint32_t tag_ssl_sec_trans = 20;
inline constexpr std::uint32_t tag_csi_sec_mech_list = 33;
inline constexpr std::uint32_t tag_tls_sec_trans = 36;
/// Of Kairos, not registered: where requests of each priority go.
inline constexpr std::uint32_t tag_priority_addresses = 0x4B524F01;
/// Of Kairos, not registered: where requests of each priority go by TLS.
inline constexpr std::uint32_t tag_secure_priority_addresses = 0x4B524F03;
/// Of Kairos, not registered: where clients on the server's own host go.
inline constexpr std::uint32_t tag_local_addresses = 0x4B524F02;

/// TAO's, whose OMG range is 0x54414F00 to 0x54414F0F: where requests of each priority go.
inline constexpr std::uint32_t tag_tao_endpoints = 0x54414F02;

/// The vendor ids that ORBs put into TAG_ORB_TYPE.
namespace orb_type {
inline constexpr std::uint32_t kairos = 0x4B524F00; // "KRO\0"; not registered
inline constexpr std::uint32_t omniorb = 0x41545400;
inline constexpr std::uint32_t tao = 0x54414F00;
inline constexpr std::uint32_t jacorb = 0x4A414300;
} // namespace orb_type

namespace code_set {
using cdr::code_set::iso_8859_1;
using cdr::code_set::ucs_2;
using cdr::code_set::ucs_4;
using cdr::code_set::utf_16;
using cdr::code_set::utf_8;
/// The registry's name, or "" for an id that is not among those in use.
[[nodiscard]] std::string_view name(std::uint32_t id) noexcept;
} // namespace code_set

/// A host and a port. An IPv6 address stands without brackets.
struct Address {
    std::string host;
    std::uint16_t port = 0;
    friend auto operator<=>(const Address&, const Address&) = default;
};

/// `host` as it is passed to a resolver: without the brackets that some ORBs write around IPv6.
[[nodiscard]] std::string_view without_brackets(std::string_view host) noexcept;
/// An address for the requests of one priority (Real-Time CORBA's, 0 to 32767).
struct PriorityAddress {
    std::int16_t priority = 0;
    Address address;
    friend bool operator==(const PriorityAddress&, const PriorityAddress&) = default;
};
/// An address that a TAO server lists with its priority; the profile's own is among them.
struct TaoEndpoint {
    /// The priority of an address for requests of every priority.
    static constexpr std::int16_t any_priority = -1;

    std::int16_t priority = any_priority; ///< of the lane that serves whatever comes there
    Address address;                      ///< perhaps without a host, or with port zero
    friend bool operator==(const TaoEndpoint&, const TaoEndpoint&) = default;
};
/// An address that means something within one host only.
struct LocalAddress {
    /// The priority of an address for requests of every priority.
    static constexpr std::int16_t any_priority = -1;
    enum class Transport : std::uint8_t {
        unix_socket = 0,   ///< a stream of GIOP messages as over TCP
        shared_memory = 1, ///< GIOP messages through rings, handed over at the socket `path`
    };

    std::int16_t priority = any_priority;
    Transport transport = Transport::unix_socket; ///< perhaps one that is not known here
    std::string path; ///< absolute; or '@' and a name of the abstract namespace
    friend bool operator==(const LocalAddress&, const LocalAddress&) = default;
};
/// What a server on this host offers to clients there (docs/transports.md).
struct LocalAddresses {
    std::array<std::uint64_t, 2> host{}; ///< which: net::HostIdentity
    std::vector<LocalAddress> addresses;
    friend bool operator==(const LocalAddresses&, const LocalAddresses&) = default;
};
/// What the server does of what SSLIOP knows, and wants of clients (CORBA 3.3 part 2, 10.5.1, whose
/// words these are; SSLIOP.idl).
namespace association {
inline constexpr std::uint16_t no_protection = 1;
inline constexpr std::uint16_t integrity = 2;
inline constexpr std::uint16_t confidentiality = 4;
inline constexpr std::uint16_t detect_replay = 8;
inline constexpr std::uint16_t detect_misordering = 16;
inline constexpr std::uint16_t trust_in_target = 32;
inline constexpr std::uint16_t trust_in_client = 64;
} // namespace association
/// TAG_SSL_SEC_TRANS: a port at the host of the profile where the server speaks TLS.
struct SecureAddress {
    std::uint16_t supports = 0; ///< association options
    std::uint16_t requires_ = 0;
    std::uint16_t port = 0;
    friend bool operator==(const SecureAddress&, const SecureAddress&) = default;
};
/// "host:port", with brackets around IPv6.
[[nodiscard]] KAIROS_API std::string to_string(const Address& address);
/// "unix:path" or "memory:path" or "transport number: path".
[[nodiscard]] KAIROS_API std::string to_string(const LocalAddress& address);

/// What a server can do with one kind of character (CORBA 3.3 part 2, 7.10.2.4).
struct CodeSetComponent {
    std::uint32_t native = 0; ///< zero: not said
    std::vector<std::uint32_t> conversions;
    friend bool operator==(const CodeSetComponent&, const CodeSetComponent&) = default;
};
struct CodeSets {
    CodeSetComponent characters;      ///< char and string
    CodeSetComponent wide_characters; ///< wchar and wstring
    friend bool operator==(const CodeSets&, const CodeSets&) = default;
};

/// The first component with this tag, or null. Borrows.
[[nodiscard]] const TaggedComponent* find(std::span<const TaggedComponent> components,
                                          std::uint32_t tag) noexcept;

[[nodiscard]] TaggedComponent make_orb_type(std::uint32_t type);
[[nodiscard]] TaggedComponent make_code_sets(const CodeSets& sets);
[[nodiscard]] TaggedComponent make_alternate_address(const Address& address);
[[nodiscard]] KAIROS_API TaggedComponent
make_priority_addresses(std::span<const PriorityAddress> addresses);
[[nodiscard]] TaggedComponent make_tao_endpoints(std::span<const TaoEndpoint> endpoints);
[[nodiscard]] TaggedComponent make_local_addresses(const LocalAddresses& addresses);
[[nodiscard]] KAIROS_API TaggedComponent make_secure_address(const SecureAddress& address);

/// The contents of one component, the tag of which the caller has looked at; nothing if it is
/// malformed, which a client treats as absent.
[[nodiscard]] std::optional<std::uint32_t> decode_orb_type(const TaggedComponent& component);
[[nodiscard]] std::optional<CodeSets> decode_code_sets(const TaggedComponent& component);
[[nodiscard]] std::optional<Address> decode_alternate_address(const TaggedComponent& component);
[[nodiscard]] KAIROS_API std::optional<std::vector<PriorityAddress>>
decode_priority_addresses(const TaggedComponent& component);
[[nodiscard]] std::optional<std::vector<TaoEndpoint>>
decode_tao_endpoints(const TaggedComponent& component);
[[nodiscard]] std::optional<LocalAddresses>
decode_local_addresses(const TaggedComponent& component);
/// A port of zero counts as malformed.
[[nodiscard]] KAIROS_API std::optional<SecureAddress>
decode_secure_address(const TaggedComponent& component);

/// The well-formed TAG_ALTERNATE_IIOP_ADDRESS components in order. An address may have port zero.
[[nodiscard]] std::vector<Address> alternate_addresses(std::span<const TaggedComponent> components);

} // namespace kairos::ior
