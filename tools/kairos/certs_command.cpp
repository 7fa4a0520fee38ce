// SPDX-License-Identifier: Apache-2.0
//
// `kairos certs FOLDER`: an authority, and certificates of a server and a client that it has
// signed, for trying TLS out; and the list of those that it has taken back (--revoke).
#include "kairos/tls/certificates.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::tools {
namespace {

using Kind = tls::CertificateRequest::Kind;

struct CertsArguments {
    std::string folder;
    std::vector<std::string> hosts;
    std::vector<std::string> revoked; // files of certificates; none: all is to be made
    long days = 90;
};

int end_with(const std::string& reason)
{
    fmt::print(stderr, "kairos certs: {}\n", reason);
    return 1;
}

/// The names of this host, unless others are given.
std::vector<std::string> hosts_of(const CertsArguments& arguments)
{
    if (!arguments.hosts.empty()) return arguments.hosts;
    std::vector<std::string> hosts{"localhost", "127.0.0.1", "::1"};
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) == 0 && name.front() != '\0' &&
        std::string_view(name.data()) != "localhost")
        hosts.emplace_back(name.data());
    return hosts;
}

Result<tls::Identity> make(const CertsArguments& arguments, const std::string& file,
                           const tls::CertificateRequest& request, const tls::Identity* issuer)
{
    auto made = tls::make_identity(request, issuer);
    if (!made) return made;
    const std::string path = arguments.folder + "/" + file;
    if (const auto written = tls::write_key(path + "-key.pem", *made); !written)
        return written.error();
    if (const auto written = tls::write_certificate(path + ".pem", *made); !written)
        return written.error();
    return made;
}

/// The list of the authority's, with those that are on it already, and with these.
Result<void> write_list(const CertsArguments& arguments, const tls::Identity& authority,
                        const X509_CRL* before, std::vector<const X509*> revoked)
{
    const auto list = tls::make_revocations({.certificates = std::move(revoked),
                                             .before = before,
                                             .ends = std::chrono::hours{24 * arguments.days}},
                                            authority);
    if (!list) return list.error();
    return tls::write_revocations(arguments.folder + "/crl.pem", **list);
}

Result<void> revoke(const CertsArguments& arguments)
{
    const std::string folder = arguments.folder + "/";
    const auto authority = tls::read_identity(folder + "ca.pem", folder + "ca-key.pem");
    if (!authority) return authority.error();
    tls::RevocationsPointer before;
    if (::access((folder + "crl.pem").c_str(), F_OK) == 0) {
        auto read = tls::read_revocations(folder + "crl.pem");
        if (!read) return read.error();
        before = std::move(read).value();
        if (!tls::has_signed(*authority->certificate, *before))
            return Error{ErrorCode::invalid_argument,
                         folder + "crl.pem: " + folder + "ca.pem has not signed it"};
    }
    std::vector<tls::CertificatePointer> certificates;
    std::vector<const X509*> revoked;
    for (const std::string& file : arguments.revoked) {
        auto read = tls::read_certificate(file);
        if (!read) return read.error();
        if (!tls::has_signed(*authority->certificate, **read))
            return Error{ErrorCode::invalid_argument,
                         file + ": " + folder + "ca.pem has not signed it"};
        revoked.push_back(read->get());
        certificates.push_back(std::move(read).value());
    }
    return write_list(arguments, *authority, before.get(), std::move(revoked));
}

Result<void> make_all(const CertsArguments& arguments, const std::vector<std::string>& hosts)
{
    if (::mkdir(arguments.folder.c_str(), 0755) != 0 && errno != EEXIST)
        return Error{ErrorCode::system, arguments.folder + ": " + std::strerror(errno), errno};
    // Who was taken back must not be forgotten; keys and certificates are not replaced in any case.
    const std::string list = arguments.folder + "/crl.pem";
    if (::access(list.c_str(), F_OK) == 0)
        return Error{ErrorCode::system, list + ": " + std::strerror(EEXIST), EEXIST};
    const std::chrono::hours ends{24 * arguments.days};
    const auto authority = make(arguments, "ca",
                                {.kind = Kind::authority,
                                 .name = "Authority for tests, of Kairos",
                                 .hosts = {},
                                 .ends = ends},
                                nullptr);
    if (!authority) return authority.error();
    const auto server =
        make(arguments, "server",
             {.kind = Kind::server, .name = "server", .hosts = hosts, .ends = ends}, &*authority);
    if (!server) return server.error();
    const auto client =
        make(arguments, "client",
             {.kind = Kind::client, .name = "client", .hosts = {}, .ends = ends}, &*authority);
    if (!client) return client.error();
    return write_list(arguments, *authority, nullptr, {});
}

int run(const CertsArguments& arguments)
{
    if (!arguments.revoked.empty()) {
        if (const auto revoked = revoke(arguments); !revoked)
            return end_with(revoked.error().reason);
        fmt::print("{0}/crl.pem: for -ORBTlsRevocations; there is to be a newer one in {1} days\n",
                   arguments.folder, arguments.days);
        return 0;
    }
    const std::vector<std::string> hosts = hosts_of(arguments);
    if (const auto made = make_all(arguments, hosts); !made) return end_with(made.error().reason);
    std::string named;
    for (const std::string& host : hosts)
        named += (named.empty() ? "" : ", ") + host;
    fmt::print("{0}: ca.pem, and server.pem and client.pem that it has signed, each with its key; "
               "crl.pem, by which it has taken none back\n"
               "the server is {1}; they end in {2} days\n"
               "server: -ORBListenEndpoints ssliop:// -ORBTlsCertificate {0}/server.pem "
               "-ORBTlsKey {0}/server-key.pem\n"
               "client: -ORBTlsTrust {0}/ca.pem\n",
               arguments.folder, named, arguments.days);
    return 0;
}

} // namespace

void add_certs_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<CertsArguments>();
    CLI::App* command = app.add_subcommand(
        "certs", "Make certificates for trying TLS out: an authority, a server and a client");
    command->add_option("folder", arguments->folder, "Where to; it is made if it is not there")
        ->required()
        ->type_name("FOLDER");
    command
        ->add_option("--host", arguments->hosts,
                     "A name or address of the server, as references have it; may be given several "
                     "times. Otherwise those of this host")
        ->type_name("HOST");
    command->add_option("--days", arguments->days, "For how long they are good")
        ->capture_default_str()
        ->check(CLI::Range(1, 3650));
    command
        ->add_option("--revoke", arguments->revoked,
                     "Take back this certificate, which the folder's authority has signed: makes "
                     "nothing but a new crl.pem there, with those before on it as well. One with "
                     "lists of others too is left as it is, which is an error. May be given "
                     "several times")
        ->type_name("FILE");
    command->footer("Keys are readable by you alone. Files that are there are left as they are.");
    command->callback([arguments, &status] { status = run(*arguments); });
}

} // namespace kairos::tools
