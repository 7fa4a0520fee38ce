// SPDX-License-Identifier: Apache-2.0
//
// Certificates for tests, in a folder that is there as long as the program runs.
#pragma once

#include "kairos/tls/certificates.h"

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <vector>

namespace kairos::tls_testing {

class Certificates {
  public:
    using Kind = tls::CertificateRequest::Kind;

    static const Certificates& get()
    {
        static const Certificates all;
        return all;
    }
    ~Certificates()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Certificates(const Certificates&) = delete;
    Certificates& operator=(const Certificates&) = delete;

    /// The path of a file, such as "ca.pem".
    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    /// Options with which an ORB shows this certificate.
    [[nodiscard]] std::vector<std::string> shows(const std::string& name) const
    {
        return {"-ORBTlsCertificate", path(name + ".pem"), "-ORBTlsKey", path(name + "-key.pem")};
    }
    /// Options with which an ORB believes what this authority has signed.
    [[nodiscard]] std::vector<std::string> trusts(const std::string& name) const
    {
        return {"-ORBTlsTrust", path(name + ".pem")};
    }

  private:
    Certificates()
    {
        std::string pattern = std::filesystem::temp_directory_path() / "kairos-tls-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = pattern;
        const std::vector<std::string> here{"localhost", "127.0.0.1", "::1"};
        const tls::Identity ca = make("ca", {.kind = Kind::authority, .name = "Authority"});
        const tls::Identity other = make("other-ca", {.kind = Kind::authority, .name = "Other"});
        (void)make("server", {.name = "server", .hosts = here}, &ca);
        (void)make("elsewhere", {.name = "elsewhere", .hosts = {"a.example", "192.0.2.7"}}, &ca);
        (void)make("expired",
                   {.name = "expired",
                    .hosts = here,
                    .begins = std::chrono::hours{-48},
                    .ends = std::chrono::hours{-24}},
                   &ca);
        (void)make("self-signed", {.name = "self-signed", .hosts = here});
        (void)make("client", {.kind = Kind::client, .name = "client"}, &ca);
        (void)make("comma",
                   {.kind = Kind::client, .name = "evil,O=Plant", .hosts = {"a.plant.example"}},
                   &ca);
        (void)make("stranger", {.kind = Kind::client, .name = "stranger"}, &other);
    }
    [[nodiscard]] tls::Identity make(const std::string& file,
                                     const tls::CertificateRequest& request,
                                     const tls::Identity* issuer = nullptr) const
    {
        auto made = tls::make_identity(request, issuer);
        if (!made) throw std::runtime_error(made.error().reason);
        if (!tls::write_certificate(path(file + ".pem"), *made) ||
            !tls::write_key(path(file + "-key.pem"), *made))
            throw std::runtime_error("no certificate written");
        return std::move(made).value();
    }

    std::string folder_;
};

} // namespace kairos::tls_testing
