// SPDX-License-Identifier: Apache-2.0
//
// Lists of revoked certificates: who is refused by them at either end, and what is said of lists
// that cannot be gone by. And answers of authorities that servers show (OCSP).
#include "kairos/base/log.h"
#include "kairos/tls/limits.h"
#include "kairos/tls/stapling.h"
#include "kairos/tls/watched_context.h"
#include "tests/tls/files.h"
#include "tests/tls/pair.h"

#include <chrono>
#include <ctime>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::tls_testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
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

// --- what servers show of themselves -------------------------------------------------------------

using AnswersPointer = tls::Owned<OCSP_BASICRESP, &OCSP_BASICRESP_free>;
using ResponsePointer = tls::Owned<OCSP_RESPONSE, &OCSP_RESPONSE_free>;
using IdPointer = tls::Owned<OCSP_CERTID, &OCSP_CERTID_free>;
using TimePointer = tls::Owned<ASN1_GENERALIZEDTIME, &ASN1_GENERALIZEDTIME_free>;

TimePointer from_now(seconds time)
{
    return TimePointer(ASN1_GENERALIZEDTIME_adj(nullptr, std::time(nullptr), 0, time.count()));
}

/// What is said of a certificate.
struct Word {
    int status = V_OCSP_CERTSTATUS_GOOD;
    hours begins{-1};
    std::optional<seconds> ends = hours{24};
    const EVP_MD* digest = EVP_sha1();
};

std::string octets_of(OCSP_RESPONSE& response)
{
    std::string octets(static_cast<std::size_t>(i2d_OCSP_RESPONSE(&response, nullptr)), '\0');
    auto* at = reinterpret_cast<unsigned char*>(octets.data());
    EXPECT_GT(i2d_OCSP_RESPONSE(&response, &at), 0);
    return octets;
}

/// What a context shows that is told to show these octets, whatever they are.
int show_octets(SSL* ssl, void* octets)
{
    const auto& shown = *static_cast<const std::string*>(octets);
    void* const copy = OPENSSL_memdup(shown.data(), shown.size());
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(shown.size()));
    return SSL_TLSEXT_ERR_OK;
}

class Staples : public RevocationLists {
  protected:
    Staples()
    {
        client_options.check_staple = ClientCheck::required;
        lines().clear();
        log::set_sink([](log::Level level, std::string_view line) {
            if (level == log::Level::warning && line.starts_with("-ORBTlsStaple "))
                lines().emplace_back(line);
        });
    }
    ~Staples() override { log::set_sink(nullptr); }
    /// What the log says of the server's file. The test's thread does all there is.
    [[nodiscard]] static std::vector<std::string>& lines()
    {
        static std::vector<std::string> lines;
        return lines;
    }
    /// The one line that was written since this was asked last, without the file; all otherwise.
    [[nodiscard]] std::string logged() const
    {
        std::string all;
        for (const std::string& line : std::exchange(lines(), {}))
            all += (all.empty() ? "" : " | ") + line;
        const std::string file = "-ORBTlsStaple " + server_options.staple + ": ";
        return all.starts_with(file) ? all.substr(file.size()) : all;
    }
    /// What the authority says of this certificate, or somebody else in its place.
    [[nodiscard]] std::string answer(const tls::Identity& about, const Word& word,
                                     const tls::Identity& signer) const
    {
        const AnswersPointer answers(OCSP_BASICRESP_new());
        const IdPointer id(
            OCSP_cert_to_id(word.digest, about.certificate.get(), ca.certificate.get()));
        const TimePointer begins = from_now(word.begins);
        const TimePointer ends = word.ends ? from_now(*word.ends) : TimePointer();
        const bool is_revoked = word.status == V_OCSP_CERTSTATUS_REVOKED;
        EXPECT_NE(OCSP_basic_add1_status(
                      answers.get(), id.get(), word.status, OCSP_REVOKED_STATUS_KEYCOMPROMISE,
                      is_revoked ? begins.get() : nullptr, begins.get(), ends.get()),
                  nullptr);
        EXPECT_EQ(OCSP_basic_sign(answers.get(), signer.certificate.get(), signer.key.get(),
                                  EVP_sha256(), nullptr, 0),
                  1);
        const ResponsePointer response(
            OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, answers.get()));
        return octets_of(*response);
    }
    [[nodiscard]] std::string answer(const Word& word) const { return answer(of_server, word, ca); }
    /// What a client says of a server that shows these octets; "": it believes it.
    [[nodiscard]] std::string said_of(std::string octets, int version = TLS1_3_VERSION) const
    {
        const auto at_client = tls::make_context(Side::client, client_options).value();
        const auto at_server = tls::make_context(Side::server, server_options).value();
        SSL_CTX_set_max_proto_version(at_server.get(), version);
        SSL_CTX_set_tlsext_status_cb(at_server.get(), &show_octets);
        (void)SSL_CTX_set_tlsext_status_arg(at_server.get(), &octets);
        Pair pair({}, *at_client, std::make_shared<tls::Sessions>(), *at_server);
        (void)pair.shake();
        return std::string(pair.refusal_of_client());
    }
    [[nodiscard]] static std::string refused(const std::string& why)
    {
        return "certificate 'CN=server' is not accepted: " + why +
               " (-ORBTlsVerifyStaple required)";
    }
    /// Shows what the file has from now on.
    void begin_with_file(const std::string& octets)
    {
        files.replace_by_text("staple.der", octets);
        server_options.staple = files.path("staple.der");
        server.emplace(Side::server, server_options);
        client.emplace(Side::client, client_options);
    }

    static constexpr const char* not_shown = "what its authority says of it is not shown";
};

TEST_F(Staples, AreAskedForAndLookedAt)
{
    const std::string is = "what its authority says of it ";
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        EXPECT_EQ(said_of(answer({}), version), "");
        EXPECT_EQ(said_of(answer({.digest = EVP_sha256()}), version), "");
        EXPECT_EQ(said_of(answer({.status = V_OCSP_CERTSTATUS_REVOKED}), version),
                  refused("its authority says that it was revoked"));
        EXPECT_EQ(said_of(answer({.status = V_OCSP_CERTSTATUS_UNKNOWN}), version),
                  refused("its authority does not know it"));
    }
    // Who was revoked stays so.
    EXPECT_EQ(said_of(answer(
                  {.status = V_OCSP_CERTSTATUS_REVOKED, .begins = hours{-48}, .ends = hours{-24}})),
              refused("its authority says that it was revoked"));
    EXPECT_EQ(said_of(answer({.begins = hours{-48}, .ends = hours{-24}})),
              refused(is + "has expired"));
    EXPECT_EQ(said_of(answer({.begins = hours{24}, .ends = hours{48}})),
              refused(is + "is not yet in force"));
    EXPECT_EQ(said_of(answer({.ends = {}})), refused(is + "has no end"));
    EXPECT_EQ(said_of(answer(of_client, {}, ca)), refused(is + "is about another certificate"));
    EXPECT_TRUE(said_of(answer(of_server, {}, of_server))
                    .starts_with("certificate 'CN=server' is not accepted: " + is +
                                 "is not signed by it: "));
    EXPECT_TRUE(said_of(answer(of_server, {}, identity("other-ca")))
                    .starts_with("certificate 'CN=server' is not accepted: " + is +
                                 "is not signed by it: "));
    EXPECT_EQ(said_of("of the plant"), refused(is + "cannot be read"));
    EXPECT_EQ(said_of(answer({}) + "x"), refused(is + "cannot be read"));
    const ResponsePointer later(OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, nullptr));
    EXPECT_EQ(said_of(octets_of(*later)), refused(is + "is only 'trylater'"));
}

/// An authority that OpenSSL's own kind of file trusts for answers as well: nobody below it may
/// answer for it, and nobody of himself.
TEST_F(Staples, AreSignedByTheAuthorityHoweverItIsTrusted)
{
    tls::CertificatePointer trusted(X509_dup(ca.certificate.get()));
    ASSERT_EQ(X509_add1_trust_object(trusted.get(), OBJ_nid2obj(NID_OCSP_sign)), 1);
    ASSERT_EQ(X509_add1_trust_object(trusted.get(), OBJ_nid2obj(NID_server_auth)), 1);
    const tls::BioPointer text(BIO_new(BIO_s_mem()));
    ASSERT_EQ(PEM_write_bio_X509_AUX(text.get(), trusted.get()), 1);
    char* octets = nullptr;
    const long size = BIO_get_mem_data(text.get(), &octets);
    files.replace_by_text("servers-ca.pem", {octets, static_cast<std::size_t>(size)});
    EXPECT_EQ(said_of(answer({})), "");
    EXPECT_TRUE(said_of(answer(of_server, {}, of_server))
                    .starts_with("certificate 'CN=server' is not accepted: what its authority says "
                                 "of it is not signed by it: "));
}

/// Authorities seldom sign answers themselves: they say by a certificate who does.
TEST_F(Staples, MayBeSignedByWhomTheAuthorityHasSignFor)
{
    const auto responder = [&](const tls::Identity& authority, const char* purpose) {
        tls::Identity made =
            tls::make_identity({.kind = Certificates::Kind::client, .name = "responder"},
                               &authority)
                .value();
        X509* const certificate = made.certificate.get();
        const int at = X509_get_ext_by_NID(certificate, NID_ext_key_usage, -1);
        X509_EXTENSION_free(X509_delete_ext(certificate, at));
        using Extension = tls::Owned<X509_EXTENSION, &X509_EXTENSION_free>;
        const Extension use(X509V3_EXT_conf_nid(nullptr, nullptr, NID_ext_key_usage, purpose));
        EXPECT_EQ(X509_add_ext(certificate, use.get(), -1), 1);
        EXPECT_GT(X509_sign(certificate, authority.key.get(), EVP_sha256()), 0);
        return made;
    };
    const tls::Identity own = responder(ca, "OCSPSigning");
    EXPECT_EQ(said_of(answer(of_server, {}, own)), "");
    EXPECT_EQ(said_of(answer(of_server, {.status = V_OCSP_CERTSTATUS_REVOKED}, own)),
              refused("its authority says that it was revoked"));
    const std::string not_signed =
        "certificate 'CN=server' is not accepted: what its authority says of it is not signed by "
        "it: ";
    for (const char* purpose : {"clientAuth", "serverAuth,clientAuth", "timeStamping"})
        EXPECT_TRUE(said_of(answer(of_server, {}, responder(ca, purpose))).starts_with(not_signed))
            << purpose;
    const tls::Identity others = responder(identity("other-ca"), "OCSPSigning");
    EXPECT_TRUE(said_of(answer(of_server, {}, others)).starts_with(not_signed));
}

/// Though that is trusted as well.
TEST_F(Staples, AreNotSignedForOneAuthorityByAnother)
{
    const tls::Identity other = identity("other-ca");
    files.replace_by_text("servers-ca.pem", text_of(ca) + text_of(other));
    EXPECT_EQ(said_of(answer({})), "");
    EXPECT_TRUE(said_of(answer(of_server, {}, other))
                    .starts_with("certificate 'CN=server' is not accepted: what its authority says "
                                 "of it is not signed by it: "));
}

TEST_F(Staples, NeedNotBeShownWhereThatIsSaid)
{
    const std::string revoked = answer({.status = V_OCSP_CERTSTATUS_REVOKED});
    server.emplace(Side::server, server_options);
    client.emplace(Side::client, client_options);
    EXPECT_EQ(said(), refused(not_shown));
    client_options.check_staple = ClientCheck::optional;
    client.emplace(Side::client, client_options);
    EXPECT_EQ(said(), "");
    EXPECT_EQ(said_of(revoked), "certificate 'CN=server' is not accepted: its authority says that "
                                "it was revoked (-ORBTlsVerifyStaple)");
    client_options.check_staple = ClientCheck::no;
    EXPECT_EQ(said_of(revoked), "") << "nobody has asked for it";
}

TEST_F(Staples, AreReadFromTheFileAndAgainWhenThatChanges)
{
    begin_with_file(answer({}));
    EXPECT_EQ(said(), "");
    EXPECT_EQ(said(), "");
    EXPECT_FALSE(was_resumed) << "or nothing would be shown";
    EXPECT_EQ(logged(), "");
    files.replace_by_text("staple.der", answer({.status = V_OCSP_CERTSTATUS_REVOKED}));
    EXPECT_EQ(said(), refused("its authority says that it was revoked"));
    EXPECT_EQ(logged(), "it says that the certificate was revoked");
    files.replace_by_text("staple.der", answer({.status = V_OCSP_CERTSTATUS_UNKNOWN}));
    EXPECT_EQ(said(), refused("its authority does not know it"));
    EXPECT_EQ(logged(), "it does not know the certificate");
    files.replace_by_text("staple.der", answer({.begins = hours{-2}, .ends = hours{24}}));
    EXPECT_EQ(said(), "");
    EXPECT_EQ(logged(), "");
    files.replace_by_text("staple.der", answer({.begins = hours{-48}, .ends = hours{-24}}));
    EXPECT_EQ(said(), refused(not_shown)) << "it helps nobody any more";
    EXPECT_EQ(said(), refused(not_shown)) << "said once";
    EXPECT_EQ(logged(), "it has expired, and is not shown");
}

/// Time passes meanwhile. On a machine that is slow it may have run out when it is read.
TEST_F(Staples, ThatRunOutAreSaidOnce)
{
    begin_with_file(answer({.ends = seconds{2}}));
    std::string last;
    while ((last = said()).empty()) {
    }
    EXPECT_EQ(last, refused(not_shown));
    EXPECT_EQ(said(), refused(not_shown));
    const std::string line = logged();
    EXPECT_TRUE(line == "it has expired, and is shown no more" ||
                line == "it has expired, and is not shown")
        << line;
}

TEST_F(Staples, ThatAreNoneAreNotShown)
{
    const auto said_at_start = [&](const std::string& octets) {
        begin_with_file(octets);
        EXPECT_EQ(said(), refused(not_shown));
        return logged();
    };
    EXPECT_EQ(said_at_start(""),
              "an answer of OCSP, in DER form, cannot be read, and is not shown");
    EXPECT_EQ(said_at_start(std::string(tls::limits::staple_max + 1, 'x')),
              "it is not read, or larger than 15360 octets, and is not shown");
    EXPECT_EQ(said_at_start(answer(of_client, {}, ca)),
              "it is about another certificate, and is not shown");
    EXPECT_EQ(said_at_start(answer({.ends = {}})),
              "it does not say until when it is in force, and is not shown");
    server_options.staple = files.path("later.der");
    server.emplace(Side::server, server_options);
    EXPECT_EQ(said(), refused(not_shown));
    EXPECT_EQ(logged(), "it is not read: No such file or directory, and is not shown");
    files.replace_by_text("later.der", answer({}));
    EXPECT_EQ(said(), "");
    EXPECT_EQ(logged(), "");
}

/// A certificate is renewed before anybody can ask for an answer about it.
TEST_F(Staples, OfTheCertificateBeforeKeepNobodyFromTheNewOne)
{
    begin_with_file(answer({}));
    EXPECT_EQ(said(), "");
    const auto renewed = tls::make_identity({.name = "renewed", .hosts = {"127.0.0.1"}}, &ca);
    files.replace_by_text("server.pem", text_of(*renewed));
    ASSERT_TRUE(tls::write_key(files.path("renewed-key.pem"), *renewed).ok());
    files.replace_by_text("server-key.pem", files.own_text_of("renewed-key.pem"));
    EXPECT_EQ(said(), "certificate 'CN=renewed' is not accepted: " + std::string(not_shown) +
                          " (-ORBTlsVerifyStaple required)");
    EXPECT_EQ(logged(), "it is about another certificate, and is not shown");
    client_options.check_staple = ClientCheck::optional;
    client.emplace(Side::client, client_options);
    EXPECT_EQ(said(), "");
    client_options.check_staple = ClientCheck::required;
    client.emplace(Side::client, client_options);
    files.replace_by_text("staple.der", answer(*renewed, {}, ca));
    EXPECT_EQ(said(), "");
}

} // namespace
} // namespace kairos::tls_testing
