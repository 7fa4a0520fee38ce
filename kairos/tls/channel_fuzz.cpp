// SPDX-License-Identifier: Apache-2.0
//
// A hostile peer of TLS, in front of a server or of a client: octets of any kind before, while and
// after hands are shaken, and what a real peer says, which is altered, cut, left out, sent twice or
// stopped on its way. Whatever comes, nobody waits for it; and what is read is what the real peer
// has written, in its order. Keys and random numbers are the same for each input.
#define OPENSSL_SUPPRESS_DEPRECATED // who else makes random numbers is asked in the old way

#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/base/log.h"
#include "kairos/tls/certificates.h"
#include "kairos/tls/channel.h"
#include "kairos/tls/context.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace kairos;
using namespace kairos::tls;

using Status = net::IoResult::Status;

/// Two ends of TLS, what they have queued for each other, and copies of that.
fuzz::Bounds fuzz::bounds() { return {.octets_each = 256, .octets_beside = std::size_t{2} << 20}; }

namespace {

/// Random numbers that are none, and begin anew with each input.
class FixedNumbers {
  public:
    static void install()
    {
        static const RAND_METHOD method{.seed = nullptr,
                                        .bytes = &fill,
                                        .cleanup = nullptr,
                                        .add = nullptr,
                                        .pseudorand = &fill,
                                        .status = [] { return 1; }};
        KAIROS_CHECK(RAND_set_rand_method(&method) == 1);
    }
    static void begin() { state_ = 1; }

  private:
    static int fill(unsigned char* octets, int size)
    {
        for (int i = 0; i < size; ++i) {
            state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
            octets[i] = static_cast<unsigned char>(state_ >> 56);
        }
        return 1;
    }

    static inline std::uint64_t state_ = 1;
};

/// What all inputs have in common.
struct Fixed {
    static const Fixed& get()
    {
        static const Fixed fixed;
        return fixed;
    }

    ContextPointer server; // both as an ORB has them
    ContextPointer client;
    ContextPointer bare_server; // of a peer
    ContextPointer bare_client;

  private:
    Fixed()
    {
        FixedNumbers::install();
        log::set_sink([](log::Level, std::string_view) {});
        std::string folder = std::filesystem::temp_directory_path() / "kairos-tls-fuzz-XXXXXX";
        KAIROS_CHECK(::mkdtemp(folder.data()) != nullptr);
        using Kind = CertificateRequest::Kind;
        const Identity ca = make_identity({.kind = Kind::authority, .name = "ca"}, nullptr).value();
        const Identity own = make_identity({.name = "peer", .hosts = {"127.0.0.1"}}, &ca).value();
        orb::TlsOptions options{.certificate = folder + "/peer.pem",
                                .key = folder + "/key.pem",
                                .trust = folder + "/ca.pem",
                                .check_client = orb::ClientCheck::optional};
        KAIROS_CHECK(write_certificate(options.trust, ca).ok() &&
                     write_certificate(options.certificate, own).ok() &&
                     write_key(options.key, own).ok());
        server = make_context(Side::server, options).value();
        client = make_context(Side::client, options).value();
        watch_sessions(*client);
        bare_server = bare(TLS_server_method(), own);
        bare_client = bare(TLS_client_method(), own);
        std::filesystem::remove_all(folder);
    }
    static ContextPointer bare(const SSL_METHOD* method, const Identity& own)
    {
        ContextPointer context(SSL_CTX_new(method));
        KAIROS_CHECK(SSL_CTX_use_certificate(context.get(), own.certificate.get()) == 1 &&
                     SSL_CTX_use_PrivateKey(context.get(), own.key.get()) == 1);
        return context;
    }
};

/// The octets of the input, one after the other; zeros at its end.
class Input {
  public:
    explicit Input(Bytes data) : data_(data) {}
    [[nodiscard]] bool at_end() const { return at_ >= data_.size(); }
    [[nodiscard]] unsigned octet()
    {
        return at_end() ? 0 : std::to_integer<unsigned>(data_[at_++]);
    }
    [[nodiscard]] Bytes take(std::size_t size)
    {
        const Bytes taken = data_.subspan(at_, std::min(size, data_.size() - at_));
        at_ += taken.size();
        return taken;
    }

  private:
    Bytes data_;
    std::size_t at_ = 0;
};

/// Data that goes one way: whoever reads can tell whether it is what was to be written.
class Stream {
  public:
    /// Returns so much more, if nothing is left that was not taken, and what is left otherwise.
    [[nodiscard]] Bytes next(std::size_t size)
    {
        if (offered_ == taken_) offered_ += size;
        return at(taken_, offered_ - taken_);
    }
    /// So much of that was taken.
    void note_taken(std::size_t size)
    {
        taken_ += size;
        KAIROS_CHECK(taken_ <= offered_);
    }
    /// Peeked at, or read. An octet may be on its way of which the writer says otherwise.
    void check(Bytes octets, bool peeked)
    {
        KAIROS_CHECK(read_ + octets.size() <= offered_);
        const Bytes expected = at(read_, octets.size());
        KAIROS_CHECK(std::memcmp(octets.data(), expected.data(), octets.size()) == 0);
        if (!peeked) read_ += octets.size();
    }
    static constexpr std::size_t at_once_max = 0xFF * 67;

  private:
    static constexpr std::size_t period = 1 << 16;

    static Bytes at(std::size_t begin, std::size_t size)
    {
        static const std::vector<std::byte> all = [] {
            std::vector<std::byte> octets(period + at_once_max);
            for (std::size_t i = 0; i < octets.size(); ++i)
                octets[i] = static_cast<std::byte>(i * 7 + (i >> 8) * 13);
            return octets;
        }();
        return Bytes(all).subspan(begin % period, size);
    }

    std::size_t offered_ = 0;
    std::size_t taken_ = 0;
    std::size_t read_ = 0;
};

/// A real peer, whose octets go through the hands of the input.
class Peer {
  public:
    Peer(bool is_server, bool is_old)
        : ssl_(SSL_new(is_server ? Fixed::get().bare_server.get() : Fixed::get().bare_client.get()))
    {
        SSL_set_bio(ssl_.get(), in_, out_);
        if (is_old) SSL_set_max_proto_version(ssl_.get(), TLS1_2_VERSION);
        if (is_server)
            SSL_set_accept_state(ssl_.get());
        else
            SSL_set_connect_state(ssl_.get());
    }
    /// Octets that it has for the other end.
    std::vector<std::byte> sent;

    void take(Bytes octets)
    {
        (void)BIO_write(in_, octets.data(), static_cast<int>(octets.size()));
    }
    void forget(std::size_t size)
    {
        sent.erase(sent.begin(),
                   sent.begin() + static_cast<std::ptrdiff_t>(std::min(size, sent.size())));
    }
    void repeat(std::size_t size)
    {
        const std::vector<std::byte> again(
            sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(std::min(size, sent.size())));
        if (sent.size() <= sent_max) sent.insert(sent.begin(), again.begin(), again.end());
    }
    void go_on(Stream& from_other)
    {
        if (SSL_is_init_finished(ssl_.get()) != 1) (void)SSL_do_handshake(ssl_.get());
        std::array<std::byte, 4096> octets;
        std::size_t got = 0;
        while (SSL_read_ex(ssl_.get(), octets.data(), octets.size(), &got) == 1)
            from_other.check(Bytes(octets).first(got), false);
        collect();
    }
    void write(Stream& stream, std::size_t size)
    {
        if (SSL_is_init_finished(ssl_.get()) != 1 || size == 0 || sent.size() > sent_max) return;
        const Bytes octets = stream.next(size);
        std::size_t written = 0;
        if (SSL_write_ex(ssl_.get(), octets.data(), octets.size(), &written) == 1)
            stream.note_taken(written);
        collect();
    }
    /// Or, where there is no such thing, shakes hands anew.
    void change_keys(bool both)
    {
        if (SSL_is_init_finished(ssl_.get()) != 1 || sent.size() > sent_max) return;
        if (SSL_version(ssl_.get()) == TLS1_3_VERSION)
            (void)SSL_key_update(ssl_.get(),
                                 both ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
        else
            (void)SSL_renegotiate(ssl_.get());
        (void)SSL_do_handshake(ssl_.get());
        collect();
    }
    void shut_down()
    {
        if (SSL_is_init_finished(ssl_.get()) == 1) (void)SSL_shutdown(ssl_.get());
        collect();
    }

  private:
    /// What the input has it queue is no memory of the end that is looked at.
    static constexpr std::size_t sent_max = 32'768;

    void collect()
    {
        std::byte* octets = nullptr;
        const long size = BIO_get_mem_data(out_, &octets);
        if (size > 0) sent.insert(sent.end(), octets, octets + size);
        (void)BIO_reset(out_);
        ERR_clear_error();
    }

    SslPointer ssl_;
    BIO* const in_ = BIO_new(BIO_s_mem()); // both are ssl_'s
    BIO* const out_ = BIO_new(BIO_s_mem());
};

/// One end as an ORB has it, and the peer in front of it.
class Attack {
  public:
    Attack(bool on_client, bool by_old_peer) : peer_(on_client, by_old_peer)
    {
        std::array<int, 2> ends{};
        KAIROS_CHECK(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
        end_ = net::Socket(ends[0]);
        hostile_ = net::Socket(ends[1]);
        auto made =
            on_client
                ? Channel::to_server(end_.descriptor(), *Fixed::get().client, "127.0.0.1", 684,
                                     orb::ServerCheck::name, std::make_shared<Sessions>())
                : Channel::to_client(end_.descriptor(), *Fixed::get().server,
                                     orb::ClientCheck::optional, std::make_shared<Handshakes>(),
                                     net::Address::loopback_ipv4());
        channel_ = made.value().get();
        end_.set_channel(std::move(made).value());
    }

    void follow(Input& input)
    {
        while (!input.at_end())
            step(input);
        carry();
        go_on();
    }

  private:
    void step(Input& input)
    {
        const unsigned command = input.octet() % 12;
        const unsigned first = command == 0 || command == 8 || command == 11 ? 0 : input.octet();
        switch (command) {
        case 0:
            return carry();
        case 1:
            (void)deliver(first + 1);
            return;
        case 2:
            (void)send(input.take(first));
            return go_on();
        case 3: {
            const std::size_t at = first * 256 + input.octet();
            const auto change = static_cast<std::byte>(input.octet() | 1);
            if (!peer_.sent.empty()) peer_.sent[at % peer_.sent.size()] ^= change;
            return;
        }
        case 4:
            return peer_.forget(first + 1);
        case 5:
            return peer_.repeat(first);
        case 6:
            return peer_.write(to_end_, first * 67);
        case 7:
            return peer_.change_keys((first & 1) != 0);
        case 8:
            return peer_.shut_down();
        case 9:
            return write(first * 67);
        case 10:
            (void)read(first / 2 * 67 + 1, (first & 1) != 0);
            return;
        default:
            hostile_.shutdown_write();
            return go_on();
        }
    }

    /// All that both have for each other, until they have nothing more.
    void carry()
    {
        for (int i = 0; i < 20; ++i) {
            peer_.go_on(from_end_);
            const bool some = deliver(peer_.sent.size());
            if (!take_from_end() && !some) return;
        }
    }
    bool deliver(std::size_t size)
    {
        size = std::min(size, peer_.sent.size());
        const std::size_t done = send(Bytes(peer_.sent).first(size));
        peer_.forget(done);
        go_on();
        return done != 0;
    }
    std::size_t send(Bytes octets) { return octets.empty() ? 0 : hostile_.write(octets).bytes; }
    bool take_from_end()
    {
        bool some = false;
        std::array<std::byte, 8192> octets;
        for (;;) {
            const net::IoResult got = hostile_.read(octets);
            if (!got.ok() || got.bytes == 0) return some;
            peer_.take(Bytes(octets).first(got.bytes));
            some = true;
        }
    }

    void go_on()
    {
        if (channel_->is_agreeing()) {
            const net::IoResult agreed = channel_->agree();
            KAIROS_CHECK(agreed.ok() == !channel_->is_agreeing());
            if (agreed.status == Status::failed) KAIROS_CHECK(!channel_->refusal().empty());
            // Waits are for the descriptor only.
            if (agreed.status == Status::would_block)
                KAIROS_CHECK(channel_->prepare_poll(net::Interest::readable) !=
                             net::Interest::none);
            return;
        }
        // Ends with what is there, or the connection.
        for (int i = 0; i < 10'000; ++i)
            if (!read(8192, false)) return;
        KAIROS_CHECK(false);
    }
    bool read(std::size_t size, bool peeks)
    {
        std::vector<std::byte> octets(size);
        const net::IoResult got =
            end_.read(octets, peeks ? net::ReadFlags::peek : net::ReadFlags::none);
        if (!got.ok()) return false;
        KAIROS_CHECK(got.bytes != 0 && got.bytes <= size);
        to_end_.check(Bytes(octets).first(got.bytes), peeks);
        return true;
    }
    /// As an ORB does it: what was not taken is offered again.
    void write(std::size_t size)
    {
        if (size == 0 || channel_->is_agreeing()) return;
        from_end_.note_taken(end_.write(from_end_.next(size), net::WriteFlags::do_not_wait).bytes);
    }

    Peer peer_;
    net::Socket end_;
    net::Socket hostile_;
    Channel* channel_ = nullptr; // end_'s
    Stream to_end_;
    Stream from_end_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)Fixed::get();
    FixedNumbers::begin();
    Input input(std::as_bytes(std::span(data, size)));
    const unsigned who = input.octet();
    Attack attack((who & 1) != 0, (who & 2) != 0);
    attack.follow(input);
    return 0;
}
