// SPDX-License-Identifier: Apache-2.0
//
// Lists of revoked certificates: who is refused by them at either end, and what is said of lists
// that cannot be gone by.
#include "kairos/tls/limits.h"
#include "kairos/tls/watched_context.h"
#include "tests/tls/files.h"
#include "tests/tls/pair.h"

#include <chrono>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <optional>
#include <vector>

namespace kairos::tls_testing {
namespace {

using std::chrono::hours;
using tls::Side;
using tls::WatchedContext;

tls::Identity identity(const std::string& name)
{
    const Certificates& all = Certificates::get();
    return tls::read_identity(all.path(name + ".pem"), all.path(name + "-key.pem")).value();
}

std::string text_of(const tls::Identity& identity)
{
    const tls::BioPointer text(BIO_new(BIO_s_mem()));
    EXPECT_EQ(PEM_write_bio_X509(text.get(), identity.certificate.get()), 1);
    char* octets = nullptr;
    const long size = BIO_get_mem_data(text.get(), &octets);
    return {octets, static_cast<std::size_t>(size)};
}

class RevocationLists : public testing::Test {
  protected:
    struct Times {
        hours begins{-1};
        hours ends{24};
    };

    /// Writes a list by which this authority takes these back.
    void write_list(const tls::Identity& authority,
                    const std::vector<const tls::Identity*>& revoked, Times times,
                    const std::string& file = "crl.pem") const
    {
        tls::Revocations what{.begins = times.begins, .ends = times.ends};
        for (const tls::Identity* each : revoked)
            what.certificates.push_back(each->certificate.get());
        const auto list = tls::make_revocations(what, authority);
        ASSERT_TRUE(tls::write_revocations(files.path(file), **list).ok());
    }
    void write_list(const std::vector<const tls::Identity*>& revoked) const
    {
        write_list(ca, revoked, {});
    }
    /// What the server says of the client, or the client of the server; "": both agree.
    [[nodiscard]] std::string said()
    {
        now += files::watch_interval;
        const auto at_client = client->get(now).value();
        const auto at_server = server->get(now).value();
        Pair pair(Pair::What{.check_client = ClientCheck::required}, *at_client.context,
                  at_client.sessions, *at_server.context);
        const bool agree = pair.shake();
        was_resumed = agree && pair.client_channel().is_resumed();
        if (agree) EXPECT_EQ(exchange(pair, pair.server, pair.client, "answer"), "answer");
        const std::string by_client(pair.refusal_of_client());
        return by_client.empty() ? std::string(pair.refusal_of_server()) : by_client;
    }
    /// One end goes by the list.
    void begin(Side side)
    {
        (side == Side::server ? server_options : client_options).revocations =
            files.path("crl.pem");
        server.emplace(Side::server, server_options);
        client.emplace(Side::client, client_options);
    }

    Files files;
    const tls::Identity ca = identity("ca");
    const tls::Identity of_server = identity("server");
    const tls::Identity of_client = identity("client");
    orb::TlsOptions server_options{.certificate = files.path("server.pem"),
                                   .key = files.path("server-key.pem"),
                                   .trust = files.path("clients-ca.pem"),
                                   .check_client = ClientCheck::required};
    orb::TlsOptions client_options{.certificate = files.path("client.pem"),
                                   .key = files.path("client-key.pem"),
                                   .trust = files.path("servers-ca.pem")};
    WatchedContext::Clock::time_point now{};
    std::optional<WatchedContext> server;
    std::optional<WatchedContext> client;
    bool was_resumed = false;
};

class RevocationListsAt : public RevocationLists, public testing::WithParamInterface<Side> {
  protected:
    /// The one whose peer goes by the list, and the other.
    [[nodiscard]] const tls::Identity& judged() const
    {
        return GetParam() == Side::server ? of_client : of_server;
    }
    [[nodiscard]] const tls::Identity& judge() const
    {
        return GetParam() == Side::server ? of_server : of_client;
    }
    [[nodiscard]] std::string refused(const std::string& why) const
    {
        const char* const name = GetParam() == Side::server ? "client" : "server";
        return std::string("certificate 'CN=") + name + "' is not accepted: " + why;
    }
};

TEST_P(RevocationListsAt, RefuseWhoIsOnThem)
{
    write_list({&judge()});
    begin(GetParam());
    EXPECT_EQ(said(), "");
    EXPECT_EQ(said(), "");
    EXPECT_TRUE(was_resumed);
    write_list({&judge(), &judged()});
    EXPECT_EQ(said(), refused("it was revoked (-ORBTlsRevocations)")); // nor by an old session
    write_list({});
    EXPECT_EQ(said(), "");
    EXPECT_FALSE(was_resumed);
}

TEST_P(RevocationListsAt, AreToBeInForce)
{
    write_list(ca, {}, {.begins = hours{-48}, .ends = hours{-24}});
    begin(GetParam());
    EXPECT_EQ(said(), refused("the list of who has signed it is too old (-ORBTlsRevocations)"));
    write_list(ca, {}, {.begins = hours{24}, .ends = hours{48}});
    EXPECT_EQ(said(), refused("CRL is not yet valid (-ORBTlsRevocations)"));
    write_list(identity("other-ca"), {}, {});
    EXPECT_EQ(said(), refused("-ORBTlsRevocations has no list of who has signed it"));
}

INSTANTIATE_TEST_SUITE_P(, RevocationListsAt, testing::Values(Side::server, Side::client),
                         [](const auto& side) {
                             return side.param == Side::server ? "Server" : "Client";
                         });

/// Who resumes a session is looked up in no list: one that is too old says nothing for him.
TEST_F(RevocationLists, AreLookedAtForTheirAge)
{
    write_list({});
    begin(Side::server);
    EXPECT_FALSE(tls::has_old_revocations(*server->get(now)->context));
    write_list(ca, {}, {.begins = hours{-48}, .ends = hours{-24}});
    now += files::watch_interval;
    EXPECT_TRUE(tls::has_old_revocations(*server->get(now)->context));
    // An authority's newer list makes up for its old one, and nobody else's does.
    const std::string old = files.own_text_of("crl.pem");
    const auto is_old_beside = [&](const tls::Identity& authority) {
        write_list(authority, {}, {}, "other.pem");
        files.replace_by_text("crl.pem", old + files.own_text_of("other.pem"));
        now += files::watch_interval;
        return tls::has_old_revocations(*server->get(now)->context);
    };
    EXPECT_FALSE(is_old_beside(ca));
    EXPECT_TRUE(is_old_beside(of_server));
    // What is in the file of trust is not gone by unless the option is given.
    files.replace_by_text("clients-ca.pem", Files::text_of("ca.pem") + old);
    server_options.revocations.clear();
    now += files::watch_interval;
    EXPECT_FALSE(tls::has_old_revocations(*server->get(now)->context));
}

/// Everybody up to the one who is trusted is looked up.
TEST_F(RevocationLists, AreOfEveryAuthority)
{
    const auto between = tls::make_identity(
        {.kind = tls::CertificateRequest::Kind::authority, .name = "Between"}, &ca);
    const auto leaf =
        tls::make_identity({.name = "leaf", .hosts = {"127.0.0.1"}}, &between.value());
    files.replace_by_text("server.pem", text_of(*leaf) + text_of(*between));
    ASSERT_TRUE(tls::write_key(files.path("leaf-key.pem"), *leaf).ok());
    server_options.key = files.path("leaf-key.pem");
    write_list({});
    begin(Side::client);
    EXPECT_EQ(said(), "certificate 'CN=leaf' is not accepted: -ORBTlsRevocations has no list of "
                      "who has signed it");
    const auto both = [&](const std::vector<const tls::Identity*>& revoked) {
        write_list(ca, revoked, {}, "one.pem");
        write_list(*between, {}, {}, "two.pem");
        files.replace_by_text("crl.pem",
                              files.own_text_of("one.pem") + files.own_text_of("two.pem"));
    };
    both({});
    EXPECT_EQ(said(), "");
    both({&*between});
    EXPECT_EQ(said(), "certificate 'CN=Between' is not accepted: it was revoked "
                      "(-ORBTlsRevocations)");
}

TEST_F(RevocationLists, ThatAreNoneAreErrors)
{
    begin(Side::server);
    EXPECT_EQ(server->get(now).error().reason, "-ORBTlsRevocations " + files.path("crl.pem") +
                                                   ": no revocation list is read: No such file or "
                                                   "directory");
    files.replace("crl.pem", "ca.pem");
    EXPECT_TRUE(server->get(now).error().reason.starts_with(
        "-ORBTlsRevocations " + files.path("crl.pem") + ": no revocation list is read: "));
}

/// What was taken back once stays so.
TEST_F(RevocationLists, HaveThoseOfTheListBefore)
{
    write_list({&of_client});
    const auto before = tls::read_revocations(files.path("crl.pem"));
    const auto after = tls::make_revocations(
        {.certificates = {of_server.certificate.get(), of_client.certificate.get()},
         .before = before->get()},
        ca);
    ASSERT_TRUE(tls::write_revocations(files.path("crl.pem"), **after).ok());
    EXPECT_EQ(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(after->get())), 2);
    begin(Side::server);
    EXPECT_EQ(said(), "certificate 'CN=client' is not accepted: it was revoked "
                      "(-ORBTlsRevocations)");
}

/// One that is to be written anew: nothing in the file may be lost, or signed by another.
TEST_F(RevocationLists, AreReadAloneAndOfTheirAuthority)
{
    write_list(ca, {&of_client}, {}, "one.pem");
    write_list(identity("other-ca"), {}, {}, "two.pem");
    const auto one = tls::read_revocations(files.path("one.pem"));
    const auto two = tls::read_revocations(files.path("two.pem"));
    EXPECT_TRUE(tls::has_signed(*ca.certificate, **one));
    EXPECT_FALSE(tls::has_signed(*ca.certificate, **two));
    const std::string first = files.own_text_of("one.pem");
    const std::string second = files.own_text_of("two.pem");
    for (const std::string& more :
         {first + second, second + first, first + text_of(ca), text_of(ca) + first}) {
        files.replace_by_text("crl.pem", more);
        EXPECT_EQ(tls::read_revocations(files.path("crl.pem")).error().reason,
                  files.path("crl.pem") + ": there is more in it than one list");
    }
    files.replace_by_text("crl.pem", first + second.substr(0, second.size() / 2));
    EXPECT_FALSE(tls::read_revocations(files.path("crl.pem")).ok());
    files.replace_by_text("crl.pem", "of the plant\n" + first + "\n");
    EXPECT_TRUE(tls::read_revocations(files.path("crl.pem")).ok());
}

TEST_F(RevocationLists, AreForCertificatesOfTheAuthority)
{
    EXPECT_TRUE(tls::has_signed(*ca.certificate, *of_client.certificate));
    EXPECT_FALSE(tls::has_signed(*ca.certificate, *identity("stranger").certificate));
}

} // namespace
} // namespace kairos::tls_testing
