// SPDX-License-Identifier: Apache-2.0
//
// A transport in one file: keyiop://. Every process of the host can connect to a socket in the
// abstract namespace, which has no file and so no permissions. Here who connects has to show a key
// first, and gets an octet in return; from then on messages go through the socket as they would
// with uiop://. Nothing here waits: whoever drives the connection does, in every architecture.
#pragma once

#include <kairos/net/wrapping_channel.h>
#include <kairos/orb/transport.h>

#include <array>
#include <cstddef>
#include <memory>

class KeyedTransport final : public kairos::orb::LocalTransport {
  public:
    using Key = std::array<std::byte, 16>;

    /// The key that clients of this process show, and its servers want. Whoever gives the servers
    /// of a host one key, out of a file that others cannot read, has a group that keeps to itself.
    explicit KeyedTransport(const Key& key) noexcept
        : LocalTransport("keyiop", Number{128}, 0), key_(key)
    {
    }

    [[nodiscard]] kairos::Result<void> prepare(kairos::net::Socket& socket, Side side,
                                               const kairos::net::SpinRule&) const override
    {
        socket.set_channel(
            std::make_unique<Channel>(socket.descriptor(), key_, side == Side::server));
        return {};
    }

  private:
    class Channel final : public kairos::net::WrappingChannel {
      public:
        Channel(int descriptor, const Key& key, bool is_server) noexcept
            : WrappingChannel(descriptor, is_server), key_(key), is_server_(is_server)
        {
        }

      private:
        using IoResult = kairos::net::IoResult;

        /// Called until it is done, whenever there may be more to read or room to write.
        IoResult shake_hands() noexcept override
        {
            for (; done_ < key_.size(); done_ += step_.bytes) {
                const auto rest = kairos::MutableBytes(shown_).subspan(done_);
                if (!is_server_) want(kairos::net::Interest::writable);
                step_ = is_server_ ? receive(rest) : send(kairos::Bytes(key_).subspan(done_));
                if (!step_.ok()) return step_;
            }
            want(kairos::net::Interest::readable);
            if (!is_server_) return receive(kairos::MutableBytes(shown_).first(1));
            // However much of it is right: how long this takes says nothing about the key.
            std::byte difference{};
            for (std::size_t i = 0; i < key_.size(); ++i)
                difference |= key_[i] ^ shown_[i];
            if (difference != std::byte{}) return refuse("another key was shown");
            return send(kairos::Bytes(key_).first(1));
        }
        IoResult take(kairos::MutableBytes buffer, bool peek) noexcept override
        {
            return receive(buffer, peek);
        }
        IoResult put(std::span<const iovec> segments) noexcept override { return send(segments); }
        [[nodiscard]] bool has_at_hand() const noexcept override { return false; }

        const Key& key_;
        const bool is_server_;
        Key shown_{};
        std::size_t done_ = 0; // octets of the key
        IoResult step_;
    };

    const Key key_;
};
