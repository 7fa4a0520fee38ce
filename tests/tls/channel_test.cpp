// SPDX-License-Identifier: Apache-2.0
//
// TLS on one connection, between two ends in one thread, whose octets the test carries to and fro:
// whatever comes, and wherever it stops, nothing waits. And between ends of several threads.
#include "kairos/base/log.h"
#include "kairos/tls/limits.h"
#include "kairos/tls/priority_word.h"
#include "tests/tls/pair.h"

#include <mutex>
#include <openssl/ssl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kairos::tls_testing {
namespace {

using Status = IoResult::Status;

TEST(Channel, CarriesDataOfEverySize)
{
    Pair pair({});
    ASSERT_TRUE(pair.shake()) << pair.refusal_of_client() << pair.refusal_of_server();
    for (const std::size_t size : {1, 2, 12, 1000, 16'383, 16'384, 16'385, 32'769, 300'000}) {
        std::string text(size, 'a');
        for (std::size_t i = 0; i < size; ++i)
            text[i] = static_cast<char>(i * 7 % 251);
        EXPECT_EQ(exchange(pair, pair.client, pair.server, text), text) << size;
        EXPECT_EQ(exchange(pair, pair.server, pair.client, text), text) << size;
    }
}

/// Half a record is nothing to be read, and nobody is told that it is.
TEST(Channel, HalfARecordIsNotAtHand)
{
    Pair pair({});
    ASSERT_TRUE(pair.shake());
    (void)exchange(pair, pair.server, pair.client, "x"); // and the ticket
    ASSERT_TRUE(pair.client.write(as_bytes("hello")).ok());
    std::array<std::byte, 16> buffer;
    const std::size_t before = pair.to_server;
    ASSERT_TRUE(pair.carry(before + 10));
    EXPECT_EQ(pair.server.read(buffer).status, Status::would_block);
    EXPECT_EQ(pair.server_channel().prepare_poll(net::Interest::readable), net::Interest::readable);
    ASSERT_TRUE(pair.carry());
    EXPECT_EQ(pair.server.read(MutableBytes(buffer).first(2)).bytes, 2u);
    EXPECT_EQ(pair.server_channel().prepare_poll(net::Interest::readable), net::Interest::none);
    EXPECT_EQ(pair.server.read(buffer, net::ReadFlags::peek).bytes, 3u);
    EXPECT_EQ(pair.server.read(buffer).bytes, 3u);
    EXPECT_EQ(pair.server.read(buffer).status, Status::would_block);
    EXPECT_EQ(pair.server_channel().prepare_poll(net::Interest::readable), net::Interest::readable);
}

/// A peer that does not read: whoever writes hears so before all has gone out, and what was
/// encrypted goes out once.
TEST(Channel, WhatIsEncryptedIsNotTakenForSentNorSentTwice)
{
    Pair pair({});
    ASSERT_TRUE(pair.shake());
    const std::string block(10'000, 'z');
    std::size_t sent = 0;
    IoResult last;
    do {
        last = pair.client.write(as_bytes(block), net::WriteFlags::do_not_wait);
        sent += last.bytes;
    } while (last.ok() && last.bytes == block.size());
    ASSERT_TRUE(last.bytes < block.size());
    const std::size_t rest = block.size() - last.bytes;
    if (last.bytes != 0) {
        EXPECT_EQ(pair.client
                      .write(as_bytes(std::string_view(block).substr(last.bytes)),
                             net::WriteFlags::do_not_wait)
                      .status,
                  Status::would_block);
    }
    std::string got(sent + rest + 1, '\0');
    std::size_t received = 0;
    std::size_t offered = last.bytes == 0 ? block.size() : last.bytes;
    while (pair.carry() || received < sent) {
        if (offered < block.size()) {
            const IoResult more = pair.client.write(
                as_bytes(std::string_view(block).substr(offered)), net::WriteFlags::do_not_wait);
            offered += more.bytes;
            sent += more.bytes;
        }
        received +=
            pair.server.read(std::as_writable_bytes(std::span(got)).subspan(received)).bytes;
    }
    EXPECT_EQ(received, sent);
    EXPECT_EQ(sent % block.size(), 0u);
    EXPECT_EQ(got.find_first_not_of('z'), received);
}

TEST(Channel, SaysGoodbyeBeforeNothingMoreCanBeSent)
{
    Pair pair({});
    ASSERT_TRUE(pair.shake());
    (void)pair.carry();
    const std::size_t before = pair.to_client;
    pair.server.shutdown_write();
    ASSERT_TRUE(pair.carry());
    EXPECT_GT(pair.to_client, before);
    std::array<std::byte, 1> buffer;
    EXPECT_EQ(pair.client.read(buffer).status, Status::closed);
}

TEST(Channel, SessionsAreResumedOnce)
{
    const auto sessions = std::make_shared<tls::Sessions>();
    const Pair::What what;
    const auto context = Pair::server_context(what);
    for (const bool is_resumed : {false, true, true}) {
        Pair pair(what, sessions, *context);
        ASSERT_TRUE(pair.shake());
        EXPECT_EQ(pair.client_channel().is_resumed(), is_resumed);
        EXPECT_EQ(exchange(pair, pair.server, pair.client, "answer"), "answer"); // and a ticket
    }
    Pair elsewhere({.host = "localhost"}, sessions, *context);
    ASSERT_TRUE(elsewhere.shake());
    EXPECT_FALSE(elsewhere.client_channel().is_resumed());
}

/// A session says who the peer was, which is not so any more.
TEST(Channel, SessionsWithWhoseCertificateHasExpiredAreNotResumed)
{
    const auto sessions = std::make_shared<tls::Sessions>();
    const Pair::What what{.certificate = "expired", .check_server = ServerCheck::no};
    const auto context = Pair::server_context(what);
    for (int i = 0; i < 2; ++i) {
        Pair pair(what, sessions, *context);
        ASSERT_TRUE(pair.shake());
        EXPECT_FALSE(pair.client_channel().offers_session());
        EXPECT_EQ(exchange(pair, pair.server, pair.client, "answer"), "answer"); // and a ticket
    }
}

// --- who is not believed -------------------------------------------------------------------------

struct Distrusted {
    const char* name;
    Pair::What what;
    std::string client_says; ///< "": it agrees
    std::string server_says; ///< what it begins with
};

std::ostream& operator<<(std::ostream& out, const Distrusted& which) { return out << which.name; }

class ServerIs : public testing::TestWithParam<Distrusted> {};

TEST_P(ServerIs, NotBelieved)
{
    Pair pair(GetParam().what);
    EXPECT_FALSE(pair.shake());
    EXPECT_EQ(pair.refusal_of_client(), GetParam().client_says);
    EXPECT_TRUE(pair.refusal_of_server().starts_with(GetParam().server_says))
        << pair.refusal_of_server();
    EXPECT_TRUE(pair.client_channel().is_distrusted());
}

INSTANTIATE_TEST_SUITE_P(
    Of, ServerIs,
    testing::Values(
        Distrusted{"another name",
                   {.certificate = "elsewhere", .host = "localhost"},
                   "certificate 'CN=elsewhere' of DNS:a.example, IP:192.0.2.7 is not accepted: it "
                   "is not for 'localhost' (-ORBTlsVerifyServer name)",
                   "the peer says 'bad certificate'"},
        Distrusted{"another address",
                   {.certificate = "elsewhere", .host = "127.0.0.1"},
                   "certificate 'CN=elsewhere' of DNS:a.example, IP:192.0.2.7 is not accepted: it "
                   "is not for '127.0.0.1' (-ORBTlsVerifyServer name)",
                   "the peer says 'bad certificate'"},
        Distrusted{"expired",
                   {.certificate = "expired"},
                   "certificate 'CN=expired' is not accepted: certificate has expired",
                   "the peer says 'certificate expired'"},
        Distrusted{"for clients",
                   {.certificate = "client"},
                   "certificate 'CN=client' is not accepted: unsuitable certificate purpose",
                   "the peer says 'unsupported certificate'"},
        Distrusted{"self-signed",
                   {.certificate = "self-signed"},
                   "certificate 'CN=self-signed' is not accepted: self-signed certificate: nobody "
                   "whom -ORBTlsTrust names has signed it",
                   "the peer says 'unknown CA'"},
        Distrusted{"of another authority",
                   {.trust = "other-ca"},
                   "certificate 'CN=server' is not accepted: unable to get local issuer "
                   "certificate: nobody whom -ORBTlsTrust names has signed it",
                   "the peer says 'unknown CA'"}));

TEST(ServerIs, BelievedByWhoDoesNotAskForItsName)
{
    Pair pair({.certificate = "elsewhere", .check_server = ServerCheck::chain});
    EXPECT_TRUE(pair.shake());
    Pair whoever({.certificate = "self-signed", .check_server = ServerCheck::no});
    EXPECT_TRUE(whoever.shake());
    Pair stranger({.certificate = "self-signed", .check_server = ServerCheck::chain});
    EXPECT_FALSE(stranger.shake());
}

TEST(ClientIs, AskedForACertificate)
{
    for (const ClientCheck check : {ClientCheck::optional, ClientCheck::required}) {
        Pair known({.check_client = check, .client_certificate = "client"});
        EXPECT_TRUE(known.shake()) << known.refusal_of_server();
        Pair stranger({.check_client = check, .client_certificate = "stranger"});
        EXPECT_FALSE(stranger.shake());
        EXPECT_EQ(stranger.refusal_of_server(),
                  "certificate 'CN=stranger' is not accepted: unable to get local issuer "
                  "certificate: nobody whom -ORBTlsTrust names has signed it");
    }
    Pair nobody({.check_client = ClientCheck::optional});
    EXPECT_TRUE(nobody.shake());
    Pair refused({.check_client = ClientCheck::required});
    EXPECT_FALSE(refused.shake());
    EXPECT_EQ(refused.refusal_of_server(),
              "the client shows no certificate (-ORBTlsVerifyClient required)");
}

// --- what comes instead of TLS -------------------------------------------------------------------

TEST(Channel, GiopInTheClearIsNamed)
{
    Pair pair({});
    pair.send_to_server(std::string_view("GIOP\1\2\1\0\0\0\0\x10 and so on", 22));
    EXPECT_EQ(pair.server_channel().agree().status, Status::failed);
    EXPECT_EQ(pair.refusal_of_server(),
              "it speaks GIOP in the clear where TLS is expected (ssliop://)");
    Pair other({});
    other.send_to_client(std::string_view("GIOP\1\0\1\6\0\0\0\0", 12));
    (void)other.shake();
    EXPECT_EQ(other.refusal_of_client(),
              "the server speaks GIOP in the clear where TLS is expected");
}

TEST(Channel, OtherThingsAreRefused)
{
    Pair pair({});
    pair.send_to_server("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(pair.server_channel().agree().status, Status::failed);
    EXPECT_EQ(pair.refusal_of_server(), "no TLS: http request");
}

/// Shaking hands stops after every number of octets, in either direction: nobody waits for more
/// than that, and the end is noticed.
TEST(Channel, ShakingHandsStopsAtEveryOctet)
{
    const Pair::What what;
    const auto context = Pair::server_context(what);
    const auto make = [&] { return Pair(what, std::make_shared<tls::Sessions>(), *context); };
    constexpr auto all = ~std::size_t{0};
    std::size_t n = 0;
    for (;; ++n) {
        Pair pair = make();
        if (pair.shake(n, all)) break;
        ASSERT_EQ(pair.by_server.status, Status::would_block) << n;
        pair.end_client();
        ASSERT_NE(pair.server_channel().agree().status, Status::would_block) << n;
        ASSERT_EQ(pair.refusal_of_server(),
                  "the peer has closed the connection while shaking hands");
    }
    EXPECT_GT(n, 200u);
    for (n = 0;; ++n) {
        Pair pair = make();
        (void)pair.shake(all, n);
        if (pair.by_client.ok()) break;
        ASSERT_EQ(pair.by_client.status, Status::would_block) << n;
        pair.end_server();
        (void)pair.shake(all, n);
        ASSERT_EQ(pair.refusal_of_client(),
                  "the peer has closed the connection while shaking hands");
    }
    EXPECT_GT(n, 500u);
}

TEST(Channel, ShakesHandsOctetByOctet)
{
    Pair pair({});
    std::size_t n = 1;
    while (!pair.shake(n, n) && n < 10'000)
        ++n;
    EXPECT_TRUE(pair.by_server.ok()) << pair.refusal_of_server();
    EXPECT_TRUE(pair.by_client.ok()) << pair.refusal_of_client();
    EXPECT_GT(n, 500u);
}

/// A client of TLS that does as it is told, and whose octets the test sends.
class BareClient {
  public:
    explicit BareClient(Pair& pair) : pair_(pair)
    {
        SSL_set_bio(ssl_.get(), from_server_, to_server_);
        SSL_set_connect_state(ssl_.get());
    }
    /// Returns whether the two have agreed.
    [[nodiscard]] bool shake()
    {
        for (int i = 0; i < 10; ++i) {
            (void)SSL_do_handshake(ssl_.get());
            send();
            (void)pair_.server_channel().agree();
            pair_.take_from_server([&](Bytes octets) {
                (void)BIO_write(from_server_, octets.data(), static_cast<int>(octets.size()));
            });
        }
        return SSL_is_init_finished(ssl_.get()) == 1 && !pair_.server_channel().is_agreeing();
    }
    void change_keys(int times)
    {
        for (int i = 0; i < times; ++i) {
            ASSERT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
            ASSERT_EQ(SSL_do_handshake(ssl_.get()), 1);
        }
        send();
    }
    void write(std::string_view text)
    {
        ASSERT_EQ(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())),
                  static_cast<int>(text.size()));
        send();
    }

  private:
    void send()
    {
        char* octets = nullptr;
        const long size = BIO_get_mem_data(to_server_, &octets);
        if (size > 0) pair_.send_to_server({octets, static_cast<std::size_t>(size)});
        (void)BIO_reset(to_server_);
    }

    Pair& pair_;
    tls::ContextPointer context_{SSL_CTX_new(TLS_client_method())};
    tls::SslPointer ssl_{SSL_new(context_.get())};
    BIO* const from_server_ = BIO_new(BIO_s_mem()); // both are ssl_'s
    BIO* const to_server_ = BIO_new(BIO_s_mem());
};

/// It is not read on and on, nor anew whenever there is nothing left for the moment.
TEST(Channel, RecordsWithoutDataAreBounded)
{
    static std::vector<std::string> said; // by one thread
    log::set_sink([](log::Level, std::string_view line) { said.emplace_back(line); });
    std::array<std::byte, 16> buffer;
    {
        Pair pair({});
        BareClient client(pair);
        ASSERT_TRUE(client.shake());
        client.change_keys(3000);
        const std::size_t before = pair.left_at_server();
        EXPECT_EQ(pair.server.read(buffer).status, Status::failed);
        EXPECT_GT(pair.left_at_server(), before / 2);
        ASSERT_EQ(said.size(), 1u);
        EXPECT_NE(
            said.front().find("TLS with 127.0.0.1:0 has ended: it sends records without data"),
            std::string::npos)
            << said.front();
    }
    Pair pair({});
    BareClient client(pair);
    ASSERT_TRUE(client.shake());
    for (int i = 0; i < 10; ++i) { // data between them is what real peers have
        client.change_keys(30);
        EXPECT_EQ(pair.server.read(buffer).status, Status::would_block);
        client.write("x");
        EXPECT_EQ(pair.server.read(buffer).bytes, 1u);
    }
    IoResult last;
    for (int i = 0; i < 10 && last.status != Status::failed; ++i) {
        client.change_keys(30);
        last = pair.server.read(buffer);
    }
    EXPECT_EQ(last.status, Status::failed);
    log::set_sink(nullptr);
}

/// Who connects and sends nothing takes no place from others.
TEST(Handshakes, BeginWithTheFirstOctet)
{
    Pair pair({});
    std::vector<tls::Handshakes::Place> places;
    const auto fill = [&] {
        for (;;) {
            auto place = pair.handshakes->begin(pair.peer.host_number());
            if (!place) return;
            places.push_back(std::move(place).value());
        }
    };
    EXPECT_EQ(pair.server_channel().agree().status, Status::would_block);
    fill();
    EXPECT_EQ(places.size(), tls::limits::handshakes_of_host_max);
    places.clear();
    pair.send_to_server("\x16");
    EXPECT_EQ(pair.server_channel().agree().status, Status::would_block);
    fill();
    EXPECT_EQ(places.size(), tls::limits::handshakes_of_host_max - 1);

    Pair late({});
    while (auto place = late.handshakes->begin(late.peer.host_number()))
        places.push_back(std::move(place).value());
    late.send_to_server("\x16");
    EXPECT_EQ(late.server_channel().agree().status, Status::failed);
    EXPECT_EQ(late.refusal_of_server(), "too many TLS handshakes with its host are under way");
}

TEST(Handshakes, AreBounded)
{
    const auto handshakes = std::make_shared<tls::Handshakes>();
    std::vector<tls::Handshakes::Place> places;
    const auto fill = [&](std::uint64_t host) {
        for (;;) {
            auto place = handshakes->begin(host);
            if (!place) return place.error().reason;
            places.push_back(std::move(place).value());
        }
    };
    EXPECT_EQ(fill(1), "too many TLS handshakes with its host are under way");
    EXPECT_TRUE(handshakes->begin(2).ok());
    for (std::uint64_t host = 2; host < 5; ++host)
        (void)fill(host);
    EXPECT_EQ(fill(99), "too many TLS handshakes are under way");
    places.pop_back();
    EXPECT_TRUE(handshakes->begin(99).ok());
    places.clear();
    EXPECT_TRUE(handshakes->begin(1).ok());
}

/// A host may begin so many a second, and some seconds' worth at once; another is not held up.
TEST(Handshakes, OfOneHostHaveAPace)
{
    constexpr std::size_t rate = 10;
    constexpr std::size_t at_once = rate * tls::limits::handshakes_burst;
    const auto handshakes = std::make_shared<tls::Handshakes>(rate);
    const auto began = tls::Handshakes::Clock::now();
    const auto begun_at = [&](std::chrono::milliseconds later, std::uint64_t host) {
        std::size_t begun = 0;
        for (;;) {
            const auto place = handshakes->begin(host, began + later);
            if (!place) {
                EXPECT_EQ(place.error().reason,
                          "its host begins more than -ORBTlsHandshakes a second");
                return begun;
            }
            ++begun;
        }
    };
    using std::chrono::milliseconds;
    EXPECT_EQ(begun_at(milliseconds{0}, 1), at_once);
    EXPECT_EQ(begun_at(milliseconds{0}, 2), at_once);
    EXPECT_EQ(begun_at(milliseconds{50}, 1), 0u);
    EXPECT_EQ(begun_at(milliseconds{1000}, 1), rate);
    EXPECT_EQ(begun_at(milliseconds{1100}, 1), 1u);
    EXPECT_EQ(begun_at(milliseconds{3'600'000}, 1), at_once);
}

/// Whoever is refused has not paid for it: it goes on when there is room.
TEST(Handshakes, ThatAreRefusedPutOffNothing)
{
    const auto handshakes = std::make_shared<tls::Handshakes>(1000);
    const auto began = tls::Handshakes::Clock::now();
    std::vector<tls::Handshakes::Place> places;
    while (auto place = handshakes->begin(1, began))
        places.push_back(std::move(place).value());
    ASSERT_EQ(places.size(), tls::limits::handshakes_of_host_max);
    for (int i = 0; i < 10'000; ++i)
        EXPECT_FALSE(handshakes->begin(1, began).ok());
    places.clear();
    EXPECT_TRUE(handshakes->begin(1, began).ok());
}

/// No host has the pace of another, whatever their addresses are; and of those that have made up
/// for theirs nothing is kept.
TEST(Handshakes, OfEachHostHaveAPaceOfTheirOwn)
{
    constexpr std::uint64_t hosts = 3000;
    const auto handshakes = std::make_shared<tls::Handshakes>(1);
    const auto began = tls::Handshakes::Clock::now();
    for (std::uint64_t host = 0; host < hosts; ++host)
        for (int i = 0; i < tls::limits::handshakes_burst; ++i)
            EXPECT_TRUE(handshakes->begin(host, began).ok()) << host;
    for (std::uint64_t host = 0; host < hosts; ++host)
        EXPECT_FALSE(handshakes->begin(host, began).ok()) << host;
    EXPECT_EQ(handshakes->hosts(), hosts);
    const auto later = began + std::chrono::hours{1};
    for (std::uint64_t i = 0; i < hosts; ++i)
        EXPECT_TRUE(handshakes->begin(hosts, later + i * std::chrono::seconds{1}).ok());
    EXPECT_EQ(handshakes->hosts(), 1u);
    // However many come at once.
    const auto last = later + std::chrono::hours{2};
    for (std::uint64_t host = 0; host < 2 * tls::limits::handshake_hosts_max; ++host)
        EXPECT_TRUE(handshakes->begin(host, last).ok()) << host;
    EXPECT_EQ(handshakes->hosts(), tls::limits::handshake_hosts_max);
}

// --- threads -------------------------------------------------------------------------------------

/// Returns how far threads have counted together, each of which had the word in between while
/// others wanted it.
unsigned counted_by_turns(tls::PriorityWord& word, unsigned threads, unsigned times)
{
    unsigned count = 0; // guarded by the word
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i)
        all.emplace_back([&] {
            for (unsigned n = 0; n < times; ++n) {
                const std::lock_guard turn(word);
                const unsigned before = count;
                if (n % 8 == 0) std::this_thread::yield();
                count = before + 1;
            }
        });
    for (std::thread& each : all)
        each.join();
    return count;
}

TEST(PriorityWord, IsHadByOneThreadAtATime)
{
    tls::PriorityWord word;
    EXPECT_EQ(counted_by_turns(word, 4, 5000), 20'000u);
}

/// The thread that is left there has another number for the kernel than the one that forked.
TEST(PriorityWord, IsHadInAForkedProcess)
{
    tls::PriorityWord word;
    EXPECT_EQ(counted_by_turns(word, 1, 1), 1u);
    {
        const std::lock_guard turn(word);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        std::unique_lock turn(word);
        std::thread other([&] { const std::lock_guard turn_of_other(word); });
        for (int i = 0; i < 1000; ++i)
            std::this_thread::yield(); // so that it waits
        turn.unlock();
        other.join();
        ::_exit(counted_by_turns(word, 2, 1000) == 2000 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Octets that say where in a stream they are.
std::vector<std::byte> stream_at(std::size_t begin, std::size_t size)
{
    std::vector<std::byte> octets(size);
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t at = begin + i;
        octets[i] = static_cast<std::byte>(at * 7 + (at >> 8) * 13);
    }
    return octets;
}

/// Pieces of every size, from an octet to several records.
std::size_t piece(std::size_t at, std::size_t left) { return std::min(left, 1 + at * 31 % 40'000); }

/// Returns how many octets could be written.
std::size_t write_stream(net::Socket& to, std::size_t size)
{
    std::size_t done = 0;
    while (done < size) {
        const std::size_t next = piece(done, size - done);
        if (!to.write_all(stream_at(done, next)).ok()) break;
        done += next;
    }
    return done;
}

/// Returns how many octets came that are the ones that were to come.
std::size_t read_stream(net::Socket& from, std::size_t size)
{
    std::vector<std::byte> buffer(20'000);
    std::size_t done = 0;
    while (done < size) {
        const std::size_t wanted = std::min(buffer.size(), piece(done, size - done));
        const IoResult got = from.read(MutableBytes(buffer).first(wanted));
        const auto expected = stream_at(done, got.bytes);
        if (!got.ok() || !std::equal(expected.begin(), expected.end(), buffer.begin())) break;
        done += got.bytes;
    }
    return done;
}

/// Two ends of one stream, of which the second is a server's, that wait where they may.
struct Ends {
    Ends()
    {
        std::array<int, 2> both{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()), 0);
        client = net::Socket(both[0]);
        server = net::Socket(both[1]);
        server.set_channel(Channel::to_client(server.descriptor(), *server_context, ClientCheck::no,
                                              handshakes, net::Address::loopback_ipv4())
                               .value());
    }

    const tls::ContextPointer server_context = Pair::server_context({});
    const std::shared_ptr<tls::Handshakes> handshakes = std::make_shared<tls::Handshakes>();
    net::Socket client;
    net::Socket server;
};

/// At each end one thread reads while another writes, more than the system has room for.
TEST(Channel, IsReadByOneThreadAndWrittenByAnother)
{
    constexpr std::size_t size = 2'000'000;
    Ends ends;
    const tls::ContextPointer context = Pair::client_context({});
    ends.client.set_channel(Channel::to_server(ends.client.descriptor(), *context, "127.0.0.1",
                                               4711, ServerCheck::name,
                                               std::make_shared<tls::Sessions>())
                                .value());
    std::thread agreeing([&] { EXPECT_TRUE(ends.server.agree({}).ok()); });
    EXPECT_TRUE(ends.client.agree({}).ok());
    agreeing.join();
    std::array<std::size_t, 4> done{};
    std::vector<std::thread> threads;
    threads.emplace_back([&] { done[0] = read_stream(ends.server, size); });
    threads.emplace_back([&] { done[1] = write_stream(ends.client, size); });
    threads.emplace_back([&] { done[2] = read_stream(ends.client, size); });
    threads.emplace_back([&] { done[3] = write_stream(ends.server, size); });
    for (std::thread& each : threads)
        each.join();
    for (const std::size_t each : done)
        EXPECT_EQ(each, size);
}

/// Whoever reads has to answer, while another thread writes and the peer takes nothing for long.
TEST(Channel, ChangesOfKeysAreAnsweredWhileAnotherThreadWrites)
{
    constexpr std::size_t size = 1'000'000;
    constexpr int changes = 200;
    Ends ends;
    tls::ContextPointer context{SSL_CTX_new(TLS_client_method())};
    tls::SslPointer peer{SSL_new(context.get())};
    ASSERT_EQ(SSL_set_fd(peer.get(), ends.client.descriptor()), 1);
    std::size_t read = 0;
    std::size_t written = 0;
    std::thread reader([&] {
        const bool agreed = ends.server.agree({}).ok();
        std::thread writer([&] {
            if (agreed) written = write_stream(ends.server, size);
        });
        read = read_stream(ends.server, changes);
        writer.join();
    });
    const bool has_agreed = SSL_connect(peer.get()) == 1;
    for (std::size_t i = 0; i < changes && has_agreed; ++i) {
        EXPECT_EQ(SSL_key_update(peer.get(), SSL_KEY_UPDATE_REQUESTED), 1);
        EXPECT_EQ(SSL_write(peer.get(), stream_at(i, 1).data(), 1), 1);
    }
    std::vector<std::byte> got(size);
    std::size_t came = 0;
    for (std::size_t some = 0; came < size; came += some)
        if (SSL_read_ex(peer.get(), got.data() + came, size - came, &some) != 1) break;
    reader.join();
    EXPECT_EQ(read, static_cast<std::size_t>(changes));
    EXPECT_EQ(written, size);
    EXPECT_EQ(came, size);
    EXPECT_EQ(got, stream_at(0, size));
}

// --- options -------------------------------------------------------------------------------------

TEST(Context, ErrorsNameTheOptionAndTheFile)
{
    const Certificates& files = Certificates::get();
    const auto why = [](const orb::TlsOptions& options) {
        const auto made = tls::make_context(tls::Side::server, options);
        return made ? std::string("none") : made.error().reason;
    };
    orb::TlsOptions options;
    EXPECT_EQ(why(options), "ssliop:// needs -ORBTlsCertificate");
    options.certificate = "/nowhere.pem";
    EXPECT_EQ(why(options),
              "-ORBTlsCertificate /nowhere.pem: no certificate is read: No such file or directory");
    options.certificate = files.path("server.pem");
    options.key = files.path("client-key.pem");
    EXPECT_EQ(why(options), "-ORBTlsKey " + files.path("client-key.pem") +
                                ": it is not the key of " + files.path("server.pem"));
    options.key = files.path("server-key.pem");
    EXPECT_EQ(why(options), "none");
    options.trust = "/nowhere";
    EXPECT_EQ(why(options), "none"); // of clients nothing is asked
    options.check_client = ClientCheck::required;
    options.trust = "system";
    EXPECT_EQ(why(options), "-ORBTlsVerifyClient needs an -ORBTlsTrust that is not 'system': whose "
                            "certificates clients have to show");
    options.trust = "/nowhere";
    EXPECT_EQ(why(options), "-ORBTlsTrust /nowhere: No such file or directory");
    options.certificate.clear();
    EXPECT_EQ(tls::make_context(tls::Side::client, options).error().reason,
              "-ORBTlsKey needs -ORBTlsCertificate");
}

} // namespace
} // namespace kairos::tls_testing
