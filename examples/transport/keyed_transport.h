// SPDX-License-Identifier: Apache-2.0
//
// A transport in one file: keyiop://. Every process of the host can connect to a socket in the
// abstract namespace, which has no file and so no permissions. Here who connects has to show a key
// first, and gets an octet in return; from then on messages go through the socket as they would
// with uiop://.
#pragma once

#include <kairos/orb/transport.h>

#include <array>
#include <cstddef>

class KeyedTransport final : public kairos::orb::LocalTransport {
  public:
    using Key = std::array<std::byte, 16>;

    /// The key that clients of this process show, and its servers want. Whoever gives the servers
    /// of a host one key, out of a file that others cannot read, has a group that keeps to itself.
    explicit KeyedTransport(const Key& key) noexcept
        : LocalTransport("keyiop", Number{128}, 0), key_(key)
    {
    }

    /// A server that waits for a key can do nothing else meanwhile.
    [[nodiscard]] bool needs_threads() const noexcept override { return true; }

    [[nodiscard]] kairos::Result<kairos::net::Socket>
    connect(const kairos::net::Address& address, const kairos::net::SocketOptions& options,
            kairos::Deadline deadline) const override
    {
        auto socket = LocalTransport::connect(address, options, deadline);
        if (!socket) return socket;
        std::byte answer{};
        if (!socket->write_all(key_).ok() ||
            !socket->read(kairos::MutableBytes(&answer, 1), deadline).ok())
            return kairos::Error{kairos::ErrorCode::unreachable,
                                 address.to_text() + " does not take our key"};
        return socket;
    }

    [[nodiscard]] kairos::Result<void> accept(kairos::net::Socket& socket,
                                              kairos::Deadline deadline) const override
    {
        Key shown{};
        const kairos::MutableBytes all(shown);
        for (std::size_t had = 0; had < all.size();) {
            const auto got = socket.read(all.subspan(had), deadline);
            if (!got.ok()) return refused("no key was shown");
            had += got.bytes;
        }
        // However much of it is right: how long this takes says nothing about the key.
        std::byte difference{};
        for (std::size_t i = 0; i < key_.size(); ++i)
            difference |= key_[i] ^ shown[i];
        if (difference != std::byte{}) return refused("another key was shown");
        if (!socket.write_all(all.first(1)).ok()) return refused("it has gone");
        return {};
    }

  private:
    static kairos::Error refused(const char* why)
    {
        return {kairos::ErrorCode::invalid_argument, why};
    }

    const Key key_;
};
