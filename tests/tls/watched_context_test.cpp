// SPDX-License-Identifier: Apache-2.0
//
// Files that change while an ORB uses them: what new connections are made with, and what is left in
// force where the files cannot be used.
#include "kairos/base/log.h"
#include "kairos/files/limits.h"
#include "kairos/tls/watched_context.h"
#include "tests/tls/files.h"
#include "tests/tls/pair.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <openssl/ssl.h>
#include <optional>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace kairos::tls_testing {
namespace {

using tls::Side;
using tls::WatchedContext;

constexpr const char* servers_have_new_files =
    "TLS: the files of -ORBTls… have changed and are in force for new connections of servers";

/// No file can be opened for as long as it lives.
class WithoutDescriptors {
  public:
    WithoutDescriptors()
    {
        if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) throw std::runtime_error("no limit");
        rlimit none = before_;
        none.rlim_cur = 0;
        if (::setrlimit(RLIMIT_NOFILE, &none) != 0) throw std::runtime_error("no limit");
    }
    ~WithoutDescriptors() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }
    WithoutDescriptors(const WithoutDescriptors&) = delete;
    WithoutDescriptors& operator=(const WithoutDescriptors&) = delete;

  private:
    rlimit before_{};
};

/// A server and a client whose files are the test's, on whose clock time passes.
class WatchedFiles : public testing::Test {
  protected:
    WatchedFiles()
    {
        said().clear();
        log::set_sink([](log::Level level, std::string_view line) {
            if (level == log::Level::warning) said().emplace_back(line);
        });
    }
    ~WatchedFiles() override { log::set_sink(nullptr); }

    /// A connection that begins when so much time has passed that files are looked at.
    [[nodiscard]] Pair& connect()
    {
        now += files::watch_interval;
        return connect_at_once();
    }
    [[nodiscard]] Pair& connect_at_once()
    {
        const auto at_client = client.get(now).value();
        const auto at_server = server.get(now).value();
        pair.emplace(Pair::What{.check_client = ClientCheck::required}, *at_client.context,
                     at_client.sessions, *at_server.context);
        if (pair->shake())
            EXPECT_EQ(exchange(*pair, pair->server, pair->client, "answer"), "answer"); // a ticket
        return *pair;
    }
    [[nodiscard]] bool agrees() { return connect().by_server.ok() && pair->by_client.ok(); }
    /// What has been written into the log, which forgets it.
    [[nodiscard]] static std::vector<std::string> take_said() { return std::exchange(said(), {}); }
    static std::vector<std::string>& said()
    {
        static std::vector<std::string> lines; // by one thread
        return lines;
    }

    Files files;
    orb::TlsOptions server_options{.certificate = files.path("server.pem"),
                                   .key = files.path("server-key.pem"),
                                   .trust = files.path("clients-ca.pem"),
                                   .check_client = ClientCheck::required};
    orb::TlsOptions client_options{.certificate = files.path("client.pem"),
                                   .key = files.path("client-key.pem"),
                                   .trust = files.path("servers-ca.pem")};
    WatchedContext::Clock::time_point now{};
    WatchedContext server{Side::server, server_options};
    WatchedContext client{Side::client, client_options};
    std::optional<Pair> pair;
};

TEST_F(WatchedFiles, AreNotReadAgainWhileTheyAreTheSame)
{
    const auto first = server.get(now).value();
    now += files::watch_interval;
    EXPECT_EQ(server.get(now)->context, first.context);
    EXPECT_TRUE(agrees());
    EXPECT_TRUE(agrees());
    EXPECT_TRUE(pair->client_channel().is_resumed());
}

TEST_F(WatchedFiles, ACertificateThatWasReplacedIsShownToNewConnections)
{
    ASSERT_TRUE(agrees());
    Pair old(Pair::What{.check_client = ClientCheck::required}, *client.get(now)->context,
             client.get(now)->sessions, *server.get(now)->context);
    ASSERT_TRUE(old.shake());
    files.replace("server.pem", "elsewhere.pem");
    files.replace("server-key.pem", "elsewhere-key.pem");
    EXPECT_FALSE(agrees()); // it is not for that address
    EXPECT_EQ(pair->refusal_of_client(),
              "certificate 'CN=elsewhere' of DNS:a.example, IP:192.0.2.7 is not accepted: it is "
              "not for '127.0.0.1' (-ORBTlsVerifyServer name)");
    EXPECT_EQ(exchange(old, old.client, old.server, "goes on"), "goes on");
    files.replace("server.pem", "server.pem");
    files.replace("server-key.pem", "server-key.pem");
    EXPECT_TRUE(agrees());
    EXPECT_TRUE(take_said().empty());
}

/// That costs a few system calls, once in a while, however many connections begin.
TEST_F(WatchedFiles, AreNotLookedAtForEachConnection)
{
    ASSERT_TRUE(agrees());
    const auto before = server.get(now)->context.get();
    files.replace("server.pem", "elsewhere.pem");
    files.replace("server-key.pem", "elsewhere-key.pem");
    EXPECT_EQ(server.get(now)->context.get(), before);
    now += files::watch_interval;
    EXPECT_NE(server.get(now)->context.get(), before);
}

TEST_F(WatchedFiles, ACertificateWithoutItsKeyLeavesTheOldOnesInForce)
{
    ASSERT_TRUE(agrees());
    files.replace("server.pem", "elsewhere.pem");
    EXPECT_TRUE(agrees());
    EXPECT_TRUE(agrees());
    const std::vector<std::string> expected{
        "-ORBTlsKey " + files.path("server-key.pem") + ": it is not the key of " +
        files.path("server.pem") +
        "; what was read before stays in force for connections of servers"};
    EXPECT_EQ(take_said(), expected); // once
    files.replace("server-key.pem", "elsewhere-key.pem");
    EXPECT_FALSE(agrees());
    EXPECT_EQ(take_said(), std::vector<std::string>{servers_have_new_files});
}

/// Without a connection, and without time that passes.
TEST_F(WatchedFiles, AreReadWhenSomebodySaysSo)
{
    EXPECT_FALSE(server.reread()); // they never were
    const auto before = server.get(now)->context;
    files.replace("server.pem", "elsewhere.pem");
    EXPECT_TRUE(server.reread());
    EXPECT_EQ(server.get(now)->context, before);
    EXPECT_TRUE(server.reread());
    EXPECT_EQ(take_said().size(), 2u); // who says so hears of it, each time
    files.replace("server-key.pem", "elsewhere-key.pem");
    EXPECT_TRUE(server.reread());
    const auto after = server.get(now)->context;
    EXPECT_NE(after, before);
    EXPECT_EQ(take_said(), std::vector<std::string>{servers_have_new_files});
    EXPECT_TRUE(server.reread()); // as they are
    EXPECT_NE(server.get(now)->context, after);
    EXPECT_EQ(take_said().size(), 1u);
}

/// What somebody asks for while files are read is done after that.
TEST_F(WatchedFiles, AreReadOnceMoreWhereSomebodySaysSoMeanwhile)
{
    int reads = 0;
    std::function<void()> meanwhile = [] {};
    files::Watched<int> watched({.files = {files.path("server.pem")},
                                 .read = [&]() -> Result<int> {
                                     ++reads;
                                     meanwhile();
                                     return reads;
                                 },
                                 .contents = [] { return std::string("as ever"); },
                                 .changed = "changed",
                                 .kept = "kept",
                                 .failed = "failed",
                                 .reread = "read"});
    EXPECT_EQ(watched.get(now).value(), 1);
    meanwhile = [&] {
        if (reads < 4) EXPECT_TRUE(watched.reread(now));
    };
    EXPECT_TRUE(watched.reread(now));
    EXPECT_EQ(watched.get(now).value(), 4);
    EXPECT_EQ(take_said(), (std::vector<std::string>{"read", "read", "read"}));
    meanwhile = [] {};
    EXPECT_TRUE(watched.reread(now)); // nobody looks any more
    EXPECT_EQ(watched.get(now).value(), 5);
}

/// As EMFILE: the files are as they were when they could not be read.
TEST_F(WatchedFiles, WhatCouldNotBeReadForAWhileIsReadAfterwards)
{
    ASSERT_TRUE(agrees());
    const auto* const before = server.get(now)->context.get();
    files.replace("clients-ca.pem", "other-ca.pem");
    {
        const WithoutDescriptors without;
        for (int i = 0; i < 2; ++i) {
            now += files::watch_interval;
            EXPECT_EQ(server.get(now)->context.get(), before);
        }
    }
    const auto lines = take_said();
    ASSERT_EQ(lines.size(), 1u); // once
    EXPECT_NE(lines[0].find(std::strerror(EMFILE)), std::string::npos) << lines[0];
    EXPECT_FALSE(agrees());
    EXPECT_NE(server.get(now)->context.get(), before);
    EXPECT_EQ(take_said(), std::vector<std::string>{servers_have_new_files});
    const auto* const after = server.get(now)->context.get();
    EXPECT_FALSE(agrees());
    EXPECT_EQ(server.get(now)->context.get(), after);
}

/// As a sink that sends its lines to somebody by TLS.
TEST_F(WatchedFiles, WhoHearsOfAFailureMayConnect)
{
    ASSERT_TRUE(agrees());
    static std::function<void()> hear;
    const SSL_CTX* had = nullptr;
    hear = [&] { had = server.get(now + 2 * files::watch_interval)->context.get(); };
    log::set_sink([](log::Level, std::string_view) { hear(); });
    const auto* const before = server.get(now)->context.get();
    files.replace("server.pem", "elsewhere.pem");
    now += files::watch_interval;
    EXPECT_EQ(server.get(now)->context.get(), before);
    EXPECT_EQ(had, before);
    had = nullptr;
    files.replace("server-key.pem", "elsewhere-key.pem");
    now += files::watch_interval;
    const auto* const after = server.get(now)->context.get();
    EXPECT_NE(after, before);
    EXPECT_EQ(had, after);
}

TEST_F(WatchedFiles, ThreadsThatBeginAtOnceHaveTheSame)
{
    std::array<std::shared_ptr<SSL_CTX>, 4> had;
    std::vector<std::thread> threads;
    for (auto& mine : had)
        threads.emplace_back([&] { mine = std::move(client.get(now)->context); });
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& each : had)
        EXPECT_EQ(each, had[0]);
    files.replace("client.pem", "server.pem");
    files.replace("client-key.pem", "server-key.pem");
    now += files::watch_interval;
    threads.clear();
    for (auto& mine : had)
        threads.emplace_back([&] { mine = std::move(client.get(now)->context); });
    for (std::thread& thread : threads)
        thread.join();
    const auto* const after = client.get(now)->context.get();
    EXPECT_TRUE(std::ranges::any_of(had, [&](const auto& each) { return each.get() == after; }));
}

TEST_F(WatchedFiles, HalfAFileLeavesTheOldOneInForce)
{
    ASSERT_TRUE(agrees());
    for (const char* name : {"server.pem", "server-key.pem", "clients-ca.pem"}) {
        const std::string whole =
            Files::text_of(name == std::string("clients-ca.pem") ? "ca.pem" : name);
        for (const std::size_t size : {std::size_t{0}, std::size_t{20}, whole.size() / 2}) {
            files.write(name, whole.substr(0, size));
            EXPECT_TRUE(agrees()) << name << ' ' << size << pair->refusal_of_server();
            const auto lines = take_said();
            ASSERT_EQ(lines.size(), 1u) << name << ' ' << size;
            EXPECT_NE(lines[0].find(files.path(name) + ": "), std::string::npos) << lines[0];
        }
        files.write(name, whole);
        EXPECT_TRUE(agrees());
        EXPECT_EQ(take_said(), std::vector<std::string>{servers_have_new_files});
    }
    std::filesystem::remove(files.path("server.pem"));
    EXPECT_TRUE(agrees());
    EXPECT_EQ(take_said().size(), 1u);
}

/// Sessions of before are of those who were believed before.
TEST_F(WatchedFiles, WhoIsNotTrustedAnyMoreDoesNotGetInByAnOldSession)
{
    ASSERT_TRUE(agrees());
    ASSERT_TRUE(agrees());
    ASSERT_TRUE(pair->client_channel().is_resumed());
    files.replace("clients-ca.pem", "other-ca.pem");
    EXPECT_FALSE(agrees());
    EXPECT_TRUE(pair->client_channel().offers_session());
    EXPECT_EQ(pair->refusal_of_server(),
              "certificate 'CN=Authority' is not accepted: self-signed certificate in certificate "
              "chain: nobody whom -ORBTlsTrust names has signed it");
}

TEST_F(WatchedFiles, AServerThatIsNotTrustedAnyMoreIsNotCalledByAnOldSession)
{
    ASSERT_TRUE(agrees());
    ASSERT_TRUE(agrees());
    ASSERT_TRUE(pair->client_channel().is_resumed());
    files.replace("servers-ca.pem", "other-ca.pem");
    EXPECT_FALSE(agrees());
    EXPECT_FALSE(pair->client_channel().offers_session());
    EXPECT_EQ(pair->refusal_of_client(),
              "certificate 'CN=Authority' is not accepted: self-signed certificate in certificate "
              "chain: nobody whom -ORBTlsTrust names has signed it");
    files.replace("servers-ca.pem", "ca.pem");
    EXPECT_TRUE(agrees());
}

/// The system's clock goes on in steps: what is written twice within one of them looks the same. As
/// here what is written through memory, for its time is that of the first octet.
TEST_F(WatchedFiles, WhatWasWrittenJustNowIsReadOnceMore)
{
    std::string one = Files::text_of("ca.pem");
    std::string other = Files::text_of("other-ca.pem");
    one.resize(std::max(one.size(), other.size()), '\n');
    other.resize(one.size(), '\n');
    files.write("clients-ca.pem", one);
    const net::Socket file(::open(files.path("clients-ca.pem").c_str(), O_RDWR | O_CLOEXEC));
    void* const memory =
        ::mmap(nullptr, one.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::memcpy(memory, one.data(), one.size());
    const std::array paths{files.path("clients-ca.pem")};
    const files::Stamps before(paths);
    const auto first = server.get(now).value();
    std::memcpy(memory, other.data(), other.size());
    const bool is_alike = before == files::Stamps(paths);
    now += files::watch_interval;
    const auto second = server.get(now).value();
    EXPECT_NE(second.context, first.context);
    now += files::watch_interval;
    EXPECT_EQ(server.get(now)->context, second.context);
    ::munmap(memory, one.size());
    if (!is_alike) GTEST_SKIP() << "memory that was written twice does not look the same here";
}

TEST_F(WatchedFiles, AFolderIsLookedAtWithWhatIsInIt)
{
    std::filesystem::create_directory(files.path("trusted"));
    server_options.trust = files.path("trusted");
    WatchedContext watched(Side::server, server_options);
    const auto context = [&] {
        now += files::watch_interval;
        return watched.get(now)->context.get();
    };
    const auto* last = context();
    EXPECT_EQ(context(), last);
    const auto expect_change = [&](const char* what) {
        const auto* const next = context();
        EXPECT_NE(next, last) << what;
        EXPECT_EQ(context(), next) << what;
        last = next;
    };
    files.write("trusted/one.pem", Files::text_of("ca.pem"));
    expect_change("a file more");
    files.write("trusted/one.pem", Files::text_of("other-ca.pem") + "\n");
    expect_change("a file that was written to");
    std::filesystem::remove(files.path("trusted/one.pem"));
    expect_change("a file less");
}

TEST_F(WatchedFiles, WhatWasNeverReadIsAnErrorUntilItCanBe)
{
    std::filesystem::remove(files.path("server.pem"));
    EXPECT_EQ(server.get(now).error().reason, "-ORBTlsCertificate " + files.path("server.pem") +
                                                  ": no certificate is read: No such file or "
                                                  "directory");
    files.replace("server.pem", "server.pem");
    EXPECT_TRUE(server.get(now).ok());
}

} // namespace
} // namespace kairos::tls_testing
