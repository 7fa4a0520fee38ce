// SPDX-License-Identifier: Apache-2.0
//
// TLS on one connection, by OpenSSL: what is read and written goes through an SSL object, whose
// octets go through the socket. Whoever drives the connection shakes hands without waiting
// (net/wrapping_channel.h), and one thread may read while another writes: an SSL object is for one
// thread at a time, so they take turns at it, by a word that costs who is alone no lock. What
// comes out of the descriptor is the reader's business alone, so that it waits without the word.
#pragma once

#include "kairos/net/address.h"
#include "kairos/net/wrapping_channel.h"
#include "kairos/orb/options.h"
#include "kairos/orb/tls_peers.h"
#include "kairos/tls/handshakes.h"
#include "kairos/tls/limits.h"
#include "kairos/tls/openssl.h"
#include "kairos/tls/peer.h"
#include "kairos/tls/priority_word.h"
#include "kairos/tls/sessions.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace kairos::tls {

class Channel final : public net::WrappingChannel {
  public:
    /// Makes the client's end of a connection to this server. `host` is the name or address that
    /// the reference has. The context may end before this.
    [[nodiscard]] static Result<std::unique_ptr<Channel>>
    to_server(int descriptor, SSL_CTX& context, const std::string& host, std::uint16_t port,
              orb::ServerCheck check, std::shared_ptr<Sessions> sessions);
    /// Makes the server's end of a connection that a client has made. It takes a place among the
    /// handshakes when the first octet has come.
    [[nodiscard]] static Result<std::unique_ptr<Channel>>
    to_client(int descriptor, SSL_CTX& context, orb::ClientCheck check,
              std::shared_ptr<Handshakes> handshakes, const net::Address& peer);
    ~Channel() override;
    void shut_writing() noexcept override;

    /// Returns whether the two do not agree because one does not believe who the other is.
    [[nodiscard]] bool is_distrusted() const noexcept { return is_distrusted_; }
    /// Returns whether this is a client's that has offered to resume a session.
    [[nodiscard]] bool offers_session() const noexcept { return offers_session_; }
    /// Returns whether shaking hands was cut short by a session that was resumed.
    [[nodiscard]] bool is_resumed() const noexcept;
    /// Returns who is at the other end, once the two have agreed; an error where a name in its
    /// certificate cannot be written. Any thread, as what follows.
    [[nodiscard]] Result<Peer> peer() const;
    /// Returns the peer's certificate, and behind it those that lead from it to one that is
    /// trusted, that included; only the first where a session was resumed, and nothing where the
    /// peer has shown none.
    [[nodiscard]] std::vector<CertificatePointer> peer_certificates() const;
    /// Returns the peer's certificate if somebody trusted was found to have signed it; an error
    /// where a name in it cannot be written.
    [[nodiscard]] Result<orb::PeerCertificate> trusted_certificate() const;
    /// Notes, while hands are shaken, why the server is not believed where its chain is good.
    static void distrust(SSL& ssl, std::string why);
    /// Returns a number that no other channel of the process has or will have; not 0.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    /// What somebody with this number, not 0, has found of the peer's certificate and remembered;
    /// nothing where that is not known any more: few are remembered. The certificate of a
    /// connection does not change.
    [[nodiscard]] std::optional<bool> judgement(std::uint64_t by) const noexcept
    {
        const std::uint64_t remembered = judgement_of(by).load(std::memory_order_relaxed);
        if (remembered >> 1 != by) return std::nullopt;
        return (remembered & 1) != 0;
    }
    void remember(std::uint64_t by, bool judgement) const noexcept
    {
        judgement_of(by).store(by << 1 | (judgement ? 1u : 0u), std::memory_order_relaxed);
    }

  private:
    using IoResult = net::IoResult;
    using Turn = std::lock_guard<PriorityWord>;

    Channel(int descriptor, bool is_server) noexcept;
    [[nodiscard]] Result<void> open(SSL_CTX& context);
    [[nodiscard]] Result<void> expect(const std::string& host);

    // --- what a WrappingChannel asks ---
    IoResult shake_hands() noexcept override;
    IoResult take(MutableBytes buffer, bool peek) noexcept override;
    IoResult put(std::span<const iovec> segments) noexcept override;
    [[nodiscard]] bool has_at_hand() const noexcept override { return has_at_hand_; }
    void await_octets() noexcept override;

    [[nodiscard]] IoResult put_record(std::span<const iovec> segments,
                                      std::size_t skipped) noexcept;

    // --- by who has the turn ---
    [[nodiscard]] IoResult flush() noexcept;
    [[nodiscard]] IoResult next_octets(MutableBytes buffer) noexcept;
    [[nodiscard]] IoResult take_octets(MutableBytes buffer, bool peek) noexcept;
    [[nodiscard]] bool begin_handshake() noexcept;
    void end_handshake() noexcept;
    [[nodiscard]] IoResult refuse_handshake(int error) noexcept;
    [[nodiscard]] std::string why_refused(int error);
    [[nodiscard]] std::string why_distrusted() const;
    [[nodiscard]] std::string alert_received(int alert);
    [[nodiscard]] IoResult end_of_reading(int error) noexcept;
    [[nodiscard]] IoResult fail(std::string_view known = {}) noexcept;
    [[nodiscard]] bool may_say_goodbye() const noexcept;
    [[nodiscard]] bool sends_no_data() const noexcept
    {
        return without_data_ > limits::without_data_max;
    }

    // --- what OpenSSL calls, from within what is above ---
    static const BIO_METHOD* bio_method();
    static int bio_read(BIO* bio, char* buffer, std::size_t size, std::size_t* got);
    static int bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* written);
    static long bio_control(BIO* bio, int command, long number, void* pointer);
    static int look_at_certificate(int accepted, X509_STORE_CTX* store);
    static void count_without_data(int is_sent, int version, int type, const void* octets,
                                   std::size_t size, SSL* ssl, void* argument);
    static int keep_session(SSL* ssl, SSL_SESSION* session);
    friend void watch_sessions(SSL_CTX& context);

    [[nodiscard]] std::atomic<std::uint64_t>& judgement_of(std::uint64_t by) const noexcept
    {
        return judgements_[by % judgements_.size()];
    }

    static inline std::atomic<std::uint64_t> last_number_{0};

    const std::uint64_t number_ = ++last_number_;
    // Each is the number of who has judged, and in the last bit what. Any thread.
    mutable std::array<std::atomic<std::uint64_t>, 8> judgements_{};
    const bool is_server_;
    const pid_t process_; // only who made it says anything to the peer
    SslPointer ssl_;
    std::string peer_; // "host:port": as the reference has it, or where a client connects from
    std::uint64_t peer_number_ = 0; // net::Address::host_number, of a server's
    std::string host_;              // the name or address that is expected; empty: any
    std::shared_ptr<Sessions> sessions_;
    std::shared_ptr<Handshakes> handshakes_; // of a server's that has not begun; else null
    Handshakes::Place place_;                // while shaking hands
    std::string why_;                        // the two do not agree
    bool offers_session_ = false;
    bool is_distrusted_ = false;
    bool has_agreed_ = false;

    // Of who reads. What it has waited for and OpenSSL has not taken yet: a short message, or the
    // beginning of a longer one.
    std::array<std::byte, 512> ahead_{};
    std::size_t ahead_at_ = 0;
    std::size_t ahead_size_ = 0;        // where they end
    std::optional<IoResult> ahead_end_; // instead of them
    bool is_drained_ = false;           // all that has come was taken
    bool has_at_hand_ = false;

    // Of who writes. Data that is on its way but for which the caller still waits: an octet of what
    // unsent_ carries, so that it does not take the connection for one on which all has gone out.
    std::size_t owed_ = 0;

    mutable PriorityWord turn_;      // guards ssl_ once hands are shaken, and what follows
    bool is_putting_ = false;        // so it reads nothing: that is for who reads
    bool is_blocked_ = false;        // the descriptor had nothing more to read
    bool is_at_end_ = false;         // and never will
    std::optional<IoResult> broken_; // by the descriptor
    std::size_t without_data_ = 0;   // records in a row, and what is in them
    std::array<char, 4> first_{};    // octets that came
    std::size_t first_size_ = 0;
    int distrust_ = 0; // X509_V_ERR…
    std::string distrusted_;
    std::string why_distrusted_;    // where the number does not say it
    std::vector<std::byte> unsent_; // octets for the descriptor; its memory goes with them
};

/// Has the sessions of this context's connections kept for resumption.
void watch_sessions(SSL_CTX& context);

} // namespace kairos::tls
