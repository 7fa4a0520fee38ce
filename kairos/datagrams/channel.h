// SPDX-License-Identifier: Apache-2.0
//
// The client's end: to the ORB a connection, below it a socket to which each message is one
// datagram. A call that expects an answer gets it here: the exception that says that it was not
// sent, so that it is told to that call and to nobody else, whichever thread writes and reads.
//
//   who drives the connection ── put ──► a oneway ──► the socket for datagrams
//                                   └──► a call with an answer ──► the other end of a pair of
//   sockets ──► the descriptor ── take ──► who reads
#pragma once

#include "kairos/ior/component.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/net/wrapping_channel.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::datagrams {

/// Returns a socket that sends datagrams to this address, blocking. `prepare`, if there is one,
/// sets more of it before it is connected, and returns false, with errno, if that cannot be.
[[nodiscard]] Result<net::Socket>
connect_to(const net::Address& address, const net::SocketOptions& options,
           const std::function<bool(const net::Socket&)>& prepare = {});

/// Where the system heard that nobody takes datagrams. Each is told once: to the next who connects
/// there. Any thread.
class Refusals {
  public:
    static void add(const ior::Address& where) noexcept;
    /// Returns whether it was added since it was asked for last.
    [[nodiscard]] static bool take(const ior::Address& where) noexcept;
};

class Channel : public net::WrappingChannel {
  public:
    /// `descriptor` is one end of a pair of sockets, of which `answers` is the other. `where` is
    /// what has these addresses, of which `datagrams` is connected to the one that is next.
    Channel(int descriptor, net::Socket answers, net::Socket datagrams, ior::Address where,
            std::vector<net::Address> further, const net::SocketOptions& options) noexcept
        : WrappingChannel(descriptor, false), answers_(std::move(answers)),
          datagrams_(std::move(datagrams)), where_(std::move(where)), further_(std::move(further)),
          options_(options)
    {
    }

    /// Makes a socket that has such a channel. `addresses` are those of `where`, one at least; they
    /// are tried in their order, the next one where the system hears that nobody is at the last.
    [[nodiscard]] static Result<net::Socket> connect(const ior::Address& where,
                                                     std::vector<net::Address> addresses,
                                                     const net::SocketOptions& options);

  protected:
    /// The most octets of a message that can be sent.
    [[nodiscard]] virtual std::size_t message_octets_max() const noexcept;
    /// Sends one whole message of `size` octets, of the form that look_at() finds sendable.
    [[nodiscard]] virtual net::IoResult send_message(std::span<const iovec> segments,
                                                     std::size_t size) noexcept;
    /// Makes a socket that has a channel: `make` makes that, from the descriptor and what answers
    /// are written to.
    template <typename Make>
    [[nodiscard]] static Result<net::Socket> with_channel(Make make)
    {
        auto ends = net::socket_pair();
        if (!ends) return ends.error();
        net::Socket socket = std::move(ends->first);
        socket.set_channel(make(socket.descriptor(), std::move(ends->second)));
        return socket;
    }
    /// Says in the log that a message was not sent, or not all of it.
    static void tell(std::size_t size, std::string_view why) noexcept;
    [[nodiscard]] net::Socket& datagrams() noexcept { return datagrams_; }

  private:
    net::IoResult shake_hands() noexcept override { return {}; }
    net::IoResult take(MutableBytes buffer, bool peek) noexcept override
    {
        return receive(buffer, peek);
    }
    /// One message of those that are offered.
    net::IoResult put(std::span<const iovec> segments) noexcept override;
    [[nodiscard]] bool has_at_hand() const noexcept override { return false; }

    [[nodiscard]] net::IoResult answer(Bytes beginning, std::size_t size) noexcept;
    [[nodiscard]] bool go_to_next() noexcept;

    // Of the thread that writes.
    net::Socket answers_;
    net::Socket datagrams_;
    const ior::Address where_;
    std::vector<net::Address> further_; // the next one last
    const net::SocketOptions options_;
    std::size_t offered_in_part_ = 0; // of a message whose rest is to come
};

} // namespace kairos::datagrams
