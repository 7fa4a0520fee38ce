// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/certificates.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace kairos::tls {
namespace {

using Kind = CertificateRequest::Kind;

bool add_extension(X509& certificate, X509& issuer, int id, const std::string& value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
    using Extension = Owned<X509_EXTENSION, &X509_EXTENSION_free>;
    const Extension made(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
    return made && X509_add_ext(&certificate, made.get(), -1) == 1;
}

/// Of what the extension has of them, in OpenSSL's words.
std::string alternative_names(const std::vector<std::string>& hosts)
{
    std::string all;
    for (const std::string& host : hosts) {
        in6_addr address{};
        const bool is_address = ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
                                ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
        all.append(all.empty() ? "" : ",").append(is_address ? "IP:" : "DNS:").append(host);
    }
    return all;
}

bool set_serial(X509& certificate)
{
    using Number = Owned<BIGNUM, &BN_free>;
    const Number number(BN_new());
    return number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
           BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_name(X509& certificate, const std::string& name)
{
    X509_NAME* const subject = X509_get_subject_name(&certificate);
    return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(name.data()),
                                      static_cast<int>(name.size()), -1, 0) == 1;
}

bool add_extensions(X509& certificate, X509& issuer, const CertificateRequest& request)
{
    const bool is_authority = request.kind == Kind::authority;
    if (!add_extension(certificate, issuer, NID_basic_constraints,
                       is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE") ||
        !add_extension(certificate, issuer, NID_subject_key_identifier, "hash") ||
        !add_extension(certificate, issuer, NID_key_usage,
                       is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature"))
        return false;
    if (&certificate != &issuer &&
        !add_extension(certificate, issuer, NID_authority_key_identifier, "keyid"))
        return false;
    if (is_authority) return true;
    // Servers of CORBA call others as well.
    if (!add_extension(certificate, issuer, NID_ext_key_usage,
                       request.kind == Kind::server ? "serverAuth,clientAuth" : "clientAuth"))
        return false;
    return request.hosts.empty() || add_extension(certificate, issuer, NID_subject_alt_name,
                                                  alternative_names(request.hosts));
}

/// Makes a new file with what `write` writes.
template <typename Write>
Result<void> make_file(const std::string& path, mode_t mode, Write write)
{
    const int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (descriptor < 0) return Error{ErrorCode::system, path + ": " + std::strerror(errno), errno};
    using File = Owned<std::FILE, &std::fclose>;
    File file(::fdopen(descriptor, "w"));
    if (!file || !write(file.get()) || std::fflush(file.get()) != 0)
        return Error{ErrorCode::system, path + " could not be written"};
    return {};
}

} // namespace

Result<Identity> make_identity(const CertificateRequest& request, const Identity* issuer)
{
    begin();
    ERR_clear_error();
    Identity made{.certificate = CertificatePointer(X509_new()),
                  .key = KeyPointer(EVP_EC_gen("P-256"))};
    const auto failed = [&] {
        return Error{ErrorCode::invalid_argument,
                     "no certificate for '" + request.name + "': " + take_error()};
    };
    if (!made.certificate || !made.key) return failed();
    X509& certificate = *made.certificate;
    X509& signer = issuer != nullptr ? *issuer->certificate : certificate;
    EVP_PKEY* const key = issuer != nullptr ? issuer->key.get() : made.key.get();
    const auto seconds = [](std::chrono::hours time) {
        return static_cast<long>(std::chrono::seconds(time).count());
    };
    if (X509_set_version(&certificate, X509_VERSION_3) != 1 || !set_serial(certificate) ||
        X509_gmtime_adj(X509_getm_notBefore(&certificate), seconds(request.begins)) == nullptr ||
        X509_gmtime_adj(X509_getm_notAfter(&certificate), seconds(request.ends)) == nullptr ||
        X509_set_pubkey(&certificate, made.key.get()) != 1 ||
        !set_name(certificate, request.name) ||
        X509_set_issuer_name(&certificate, X509_get_subject_name(&signer)) != 1 ||
        !add_extensions(certificate, signer, request) ||
        X509_sign(&certificate, key, EVP_sha256()) == 0)
        return failed();
    return made;
}

Result<void> write_certificate(const std::string& path, const Identity& identity)
{
    return make_file(path, 0644, [&](std::FILE* file) {
        return PEM_write_X509(file, identity.certificate.get()) == 1;
    });
}

Result<void> write_key(const std::string& path, const Identity& identity)
{
    return make_file(path, 0600, [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, identity.key.get(), nullptr, nullptr, 0, nullptr,
                                    nullptr) == 1;
    });
}

} // namespace kairos::tls
