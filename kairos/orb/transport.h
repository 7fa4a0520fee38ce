// SPDX-License-Identifier: Apache-2.0
//
// How bytes travel between clients and servers, as the rest of the ORB knows it: one object for
// each way, in one file of transports/, or of a program (docs/transports.md, "Adding another").
// Nothing outside that file asks which one it has, only what it can do. No call passes through
// here: what carries a connection's bytes is its net::Socket, or a net::Channel within that.
//
// A Transport does not change. Any thread. One that has settings makes another for each ORB, which
// knows them (of_orb).
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/ior/profile.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/orb/priority.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::orb {

class LocalTransport;
class Transport;
class Ways;
struct Options;

/// Where to listen, and what to publish about it in references.
struct KAIROS_API ListenEndpoint {
    const Transport* transport = nullptr; ///< never null
    std::string text;                     ///< as the user wrote it, for messages
    std::string host;                     ///< "" is every interface
    std::uint16_t port = 0;               ///< 0 lets the system choose
    std::string published_host; ///< `hostname_in_ior`, instead of what -ORBPublish asks for
    /// The path of a local transport's Unix socket, absolute or '@' and an abstract name; "": the
    /// ORB chooses a file.
    std::string path{};
};

class KAIROS_API Transport {
  public:
    /// `scheme` is what -ORBListenEndpoints has before "://", `usage` what may stand behind that;
    /// both live as long as this. `tag` is that of the component of a profile that says its
    /// addresses in references; no_tag: the profile itself, as TCP's. Of the ways that a reference
    /// has, clients try the one of the highest `rank` first: that of TCP is -1, of a Unix socket 0,
    /// of shared memory 1.
    constexpr Transport(std::string_view scheme, std::string_view usage, std::uint32_t tag,
                        int rank) noexcept
        : scheme_(scheme), usage_(usage), tag_(tag), rank_(rank)
    {
    }
    static constexpr std::uint32_t no_tag = ~std::uint32_t{0};
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    [[nodiscard]] std::string_view scheme() const noexcept { return scheme_; }
    /// Returns how an endpoint of this transport is written, for messages.
    [[nodiscard]] std::string usage() const;
    [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    /// Returns this transport if it leads no further than this host; else null: its addresses are
    /// hosts and ports.
    [[nodiscard]] virtual const LocalTransport* local() const noexcept { return nullptr; }
    /// Returns whether a connection is fastest where a thread blocks in it, as in shared memory.
    /// Servers that serve requests where they read them then give each of these connections a
    /// thread, whatever their architecture; clients whose threads share connections first try the
    /// other ways that a reference has.
    [[nodiscard]] virtual bool prefers_threads() const noexcept { return false; }
    /// Returns whether nobody between the two ends can read or change what is sent, and who
    /// connects knows whom it has reached. What -ORBTlsClient says is of such transports.
    [[nodiscard]] virtual bool protects() const noexcept { return false; }
    /// Returns what an ORB with these options uses in place of this: an object that knows them, of
    /// the same scheme and tags; null: this itself. Called when the ORB is made, which then ends
    /// with the error if there is one. The ORB has it for as long as anything of it is left.
    [[nodiscard]] virtual Result<std::shared_ptr<const Transport>>
    of_orb(const Options& options) const;

    /// Returns whether a server accepts connections at endpoints of this transport. Others are for
    /// whoever serves beside it (datagrams.h).
    [[nodiscard]] virtual bool has_connections() const noexcept { return true; }

    /// Parses what stands behind "://" into `endpoint`. The error says what is wrong with it.
    [[nodiscard]] virtual Result<void> parse(std::string_view text,
                                             ListenEndpoint& endpoint) const = 0;
    /// Returns the address to listen at for this endpoint.
    [[nodiscard]] virtual Result<net::Address> address(const ListenEndpoint& endpoint) const = 0;

    /// The priority of an address for requests of every priority.
    static constexpr Priority any_priority = -1;
    /// Returns the component that tells clients of these addresses, at which a server listens for
    /// requests of these priorities; called of transports beyond the host that have a tag.
    [[nodiscard]] virtual std::optional<ior::TaggedComponent>
    component(std::span<const ior::PriorityAddress> addresses) const;
    /// Returns all components that tell clients of these addresses in a profile of this host: by
    /// default the one of component(). `has_plain_address` says whether that profile has an address
    /// of its own, at which others than those who are protected are served.
    [[nodiscard]] virtual std::vector<ior::TaggedComponent>
    components(const std::string& host, bool has_plain_address,
               std::span<const ior::PriorityAddress> addresses) const;
    /// Returns whether its component says a port only, at the host of the profile: then each host
    /// of its addresses has a profile.
    [[nodiscard]] virtual bool is_at_profile() const noexcept { return false; }
    /// Returns whether it reads components of this tag.
    [[nodiscard]] virtual bool reads(std::uint32_t tag) const noexcept { return tag == tag_; }
    /// Adds the ways that a component of a tag which this transport reads says to `ways`; none if
    /// it is malformed. It is of the profile of `target`.
    virtual void read(const ior::TaggedComponent& component, const ior::Target& target,
                      Ways& ways) const;
    /// Returns this address as it is written in messages.
    [[nodiscard]] virtual std::string describe(const ior::Address& address) const;

    /// Returns a connection that a client may use, made, prepared and agreed on by the deadline.
    [[nodiscard]] virtual Result<net::Socket> connect(const ior::Address& address,
                                                      const net::SocketOptions& options,
                                                      Deadline deadline) const;
    enum class Side : std::uint8_t { client, server };
    /// Gives a connection that was just made its channel, if it is to have one; called for every
    /// connection, at both ends, before anything is read or written. A client's blocks then; a
    /// server's does if a thread is to block in it. Both ends may first have to agree
    /// (net::Channel::is_agreeing): whoever drives the connection sees to that, and a server ends
    /// one that takes longer than -ORBReceiveTimeout. `spin` is how long who waits may look for
    /// itself first.
    [[nodiscard]] virtual Result<void> prepare(net::Socket& socket, Side side,
                                               const net::SpinRule& spin) const;

  protected:
    ~Transport() = default; // they are never destroyed

    /// Prepares a connection that a client has just made to `where`, and agrees with the server.
    [[nodiscard]] Result<net::Socket> agree(Result<net::Socket> made, const std::string& where,
                                            const net::SocketOptions& options,
                                            Deadline deadline) const;

  private:
    std::string_view scheme_;
    std::string_view usage_;
    std::uint32_t tag_;
    int rank_;
};

/// What Error::system_errno is where a connection was not made because a peer did not prove who it
/// is: calls then end with NO_PERMISSION, not with TRANSIENT, for another attempt is no help.
inline constexpr int not_trusted = EKEYREJECTED;

/// Parses "[host][:port]", what endpoints of transports beyond the host begin with, into
/// `endpoint`.
[[nodiscard]] KAIROS_API Result<void> parse_internet_endpoint(std::string_view text,
                                                              ListenEndpoint& endpoint);
/// Returns the address to listen at for such an endpoint.
[[nodiscard]] KAIROS_API Result<net::Address> internet_address(const ListenEndpoint& endpoint);

/// A transport by which processes of one host meet at a Unix socket, whose path their references
/// say beside an IIOP address. As it is here, bytes then go through that socket.
class KAIROS_API LocalTransport : public Transport {
  public:
    using Number = ior::LocalAddress::Transport;

    /// `number` stands for it in references: clients that know none of that number pass its
    /// addresses over. From 128 on they are for programs.
    constexpr LocalTransport(std::string_view scheme, Number number, int rank) noexcept
        : Transport(scheme, "[path]", ior::tag_local_addresses, rank), number_(number)
    {
    }

    [[nodiscard]] Number number() const noexcept { return number_; }
    [[nodiscard]] const LocalTransport* local() const noexcept final { return this; }
    [[nodiscard]] Result<void> parse(std::string_view text, ListenEndpoint& endpoint) const final;
    [[nodiscard]] Result<net::Address> address(const ListenEndpoint& endpoint) const final;
    /// Reads the addresses of all transports within the host.
    void read(const ior::TaggedComponent& component, const ior::Target& target,
              Ways& ways) const final;
    [[nodiscard]] std::string describe(const ior::Address& address) const final;
    [[nodiscard]] Result<net::Socket> connect(const ior::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override;

  protected:
    ~LocalTransport() = default;

  private:
    Number number_;
};

/// Adds a transport, which must live as long as the process, before the first ORB that is to have
/// it. An error if there is one of its scheme, number or tag already.
[[nodiscard]] KAIROS_API Result<void> add_transport(const Transport& transport);

/// Returns the transport of this scheme; null if there is none.
[[nodiscard]] KAIROS_API const Transport* find_transport(std::string_view scheme);
[[nodiscard]] KAIROS_API const LocalTransport* find_transport(LocalTransport::Number number);
/// Returns the transport that reads components of this tag, and for Transport::no_tag that of the
/// addresses of profiles, which is TCP; null if there is none.
[[nodiscard]] const Transport* transport_reading(std::uint32_t tag);

/// Returns the usages of all transports for messages, such as "iiop://[host]…, uiop://[path] or
/// shmiop://[path]".
[[nodiscard]] KAIROS_API std::string transport_usages();
/// Takes the lock of the list of transports before fork(), behind those of ORBs;
/// unlock_transports_after_fork() follows in parent and child.
void lock_transports_for_fork() noexcept;
void unlock_transports_after_fork() noexcept;

} // namespace kairos::orb
