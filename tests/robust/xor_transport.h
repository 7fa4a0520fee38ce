// SPDX-License-Identifier: Apache-2.0
//
// xoriop:// and, beyond the host, xoriops://: a transport that does everything that one may do
// (docs/transports.md, "Adding another"). Every octet is changed on its way, as a cipher would, by
// its place in the stream and by what both ends have said first, in two round trips:
//
//   client ── 8 octets ──► server ── 8 octets ──► client ── what both make ──► server ── likewise
//   ──►
//
// What comes is read in larger portions than it is handed out, so that there is always something at
// hand which no descriptor tells of. It protects nothing.
#pragma once

#include "kairos/net/wrapping_channel.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/ways.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

namespace kairos::orb_testing {

class XorChannel final : public net::WrappingChannel {
  public:
    XorChannel(int descriptor, bool is_server)
        : WrappingChannel(descriptor, is_server), is_server_(is_server), step_(is_server ? 1 : 0)
    {
        std::random_device random;
        for (std::byte& octet : mine_)
            octet = static_cast<std::byte>(random());
    }

  private:
    using Word = std::array<std::byte, 8>;

    /// What the octets of a direction are changed by, which begins anew every so often. Eight at a
    /// time: it is most of what the tests compute, and nobody optimises them.
    class Pad {
      public:
        Pad() = default;
        explicit Pad(const Word& said) noexcept
        {
            for (std::size_t place = 0; place < octets_.size(); ++place)
                octets_[place] =
                    said[place % said.size()] ^ static_cast<std::byte>(place * 7 + 0x5a);
        }
        void change(MutableBytes octets, std::size_t place) const noexcept
        {
            std::size_t i = 0;
            for (; octets.size() - i >= sizeof(std::uint64_t); i += sizeof(std::uint64_t)) {
                std::uint64_t some = 0;
                std::uint64_t by = 0;
                std::memcpy(&some, octets.data() + i, sizeof some);
                std::memcpy(&by, octets_.data() + (place + i) % period, sizeof by);
                some ^= by;
                std::memcpy(octets.data() + i, &some, sizeof some);
            }
            for (; i < octets.size(); ++i)
                octets[i] ^= octets_[(place + i) % period];
        }

      private:
        static constexpr std::size_t period = 256;
        std::array<std::byte, period + sizeof(std::uint64_t)> octets_{};
    };

    /// Even steps send, odd ones receive; a server begins with the second.
    net::IoResult shake_hands() noexcept override
    {
        for (const int last = is_server_ ? 4 : 3; step_ <= last; ++step_, done_ = 0) {
            const bool is_first_round = step_ < (is_server_ ? 3 : 2);
            if (step_ % 2 == 0) {
                if (const auto sent = send_word(is_first_round ? mine_ : both()); !sent.ok())
                    return sent;
                continue;
            }
            if (const auto got = receive_word(); !got.ok()) return got;
            if (is_first_round)
                theirs_ = came_;
            else if (came_ != both())
                return refuse("the peer has made something else of what both said");
        }
        of_what_comes_ = Pad(theirs_);
        of_what_goes_ = Pad(mine_);
        return {};
    }

    net::IoResult take(MutableBytes buffer, bool peek) noexcept override
    {
        if (!has_at_hand()) {
            const net::IoResult got = receive(portion_);
            if (!got.ok()) return got;
            of_what_comes_.change(MutableBytes(portion_).first(got.bytes), read_);
            read_ += got.bytes;
            at_ = 0;
            end_ = got.bytes;
        }
        const std::size_t size = std::min({buffer.size(), end_ - at_, handed_out_max});
        std::memcpy(buffer.data(), portion_.data() + at_, size);
        if (!peek) at_ += size;
        return {.bytes = size};
    }
    bool has_at_hand() const noexcept override { return at_ != end_; }

    net::IoResult put(std::span<const iovec> segments) noexcept override
    {
        std::array<std::byte, 5000> some; // the caller goes on with the rest
        std::size_t count = 0;
        for (const iovec& segment : segments) {
            const std::size_t size = std::min(segment.iov_len, some.size() - count);
            if (size != 0) std::memcpy(some.data() + count, segment.iov_base, size);
            count += size;
        }
        if (count == 0) return {};
        of_what_goes_.change(MutableBytes(some).first(count), written_);
        const net::IoResult sent = send(Bytes(some).first(count));
        written_ += sent.bytes;
        return sent;
    }

    [[nodiscard]] Word both() const noexcept
    {
        Word word;
        for (std::size_t i = 0; i < word.size(); ++i)
            word[i] = mine_[i] ^ theirs_[i];
        return word;
    }
    net::IoResult send_word(const Word& word) noexcept
    {
        while (done_ < word.size()) {
            const net::IoResult sent = send(Bytes(word).subspan(done_));
            if (sent.status == net::IoResult::Status::would_block) want(net::Interest::writable);
            if (!sent.ok()) return sent;
            done_ += sent.bytes;
        }
        return {};
    }
    net::IoResult receive_word() noexcept
    {
        while (done_ < came_.size()) {
            const net::IoResult got = receive(MutableBytes(came_).subspan(done_));
            if (!got.ok()) return got;
            done_ += got.bytes;
        }
        return {};
    }

    static constexpr std::size_t handed_out_max = 3000;
    const bool is_server_;
    int step_;             // of shaking hands
    std::size_t done_ = 0; // octets of that
    Word mine_{};
    Word theirs_{};
    Word came_{};
    Pad of_what_comes_;
    Pad of_what_goes_;
    std::size_t read_ = 0;
    std::size_t written_ = 0;
    std::array<std::byte, 8192> portion_; // that was read, of which some is at hand
    std::size_t at_ = 0;
    std::size_t end_ = 0;
};

class XorTransport final : public orb::LocalTransport {
  public:
    constexpr XorTransport() noexcept : LocalTransport("xoriop", Number{200}, 2) {}

    [[nodiscard]] Result<void> prepare(net::Socket& socket, Side side,
                                       const net::SpinRule&) const override
    {
        socket.set_channel(std::make_unique<XorChannel>(socket.descriptor(), side == Side::server));
        return {};
    }
};

/// The same over TCP, whose addresses are in a component of its own.
class XorBeyondHost final : public orb::Transport {
  public:
    static constexpr std::uint32_t own_tag = 0x4B525F58;
    static constexpr orb::Priority said_for_any = 32767; // a list of priorities knows no other
    constexpr XorBeyondHost() noexcept : Transport("xoriops", "[host][:port]", own_tag, 3) {}

    [[nodiscard]] Result<void> parse(std::string_view text,
                                     orb::ListenEndpoint& endpoint) const override
    {
        return orb::parse_internet_endpoint(text, endpoint);
    }
    [[nodiscard]] Result<net::Address> address(const orb::ListenEndpoint& endpoint) const override
    {
        return orb::internet_address(endpoint);
    }
    [[nodiscard]] std::optional<ior::TaggedComponent>
    component(std::span<const ior::PriorityAddress> addresses) const override
    {
        std::vector<ior::PriorityAddress> all(addresses.begin(), addresses.end());
        for (ior::PriorityAddress& each : all)
            if (each.priority == any_priority) each.priority = said_for_any;
        ior::TaggedComponent component = ior::make_priority_addresses(all);
        component.tag = own_tag;
        return component;
    }
    void read(const ior::TaggedComponent& component, const ior::Target&,
              orb::Ways& ways) const override
    {
        const auto addresses = ior::decode_priority_addresses(component);
        if (!addresses) return;
        for (const ior::PriorityAddress& each : *addresses)
            ways.add({this, each.address},
                     each.priority == said_for_any ? any_priority : each.priority);
    }
    [[nodiscard]] Result<void> prepare(net::Socket& socket, Side side,
                                       const net::SpinRule&) const override
    {
        socket.set_channel(std::make_unique<XorChannel>(socket.descriptor(), side == Side::server));
        return {};
    }
};

} // namespace kairos::orb_testing
