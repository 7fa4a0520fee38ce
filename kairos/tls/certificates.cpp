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

long seconds(std::chrono::hours time)
{
    return static_cast<long>(std::chrono::seconds(time).count());
}

using TimePointer = Owned<ASN1_TIME, &ASN1_TIME_free>;

bool add_revoked(X509_CRL& list, const ASN1_INTEGER& serial, const ASN1_TIME& since)
{
    using Entry = Owned<X509_REVOKED, &X509_REVOKED_free>;
    Entry entry(X509_REVOKED_new());
    if (!entry ||
        X509_REVOKED_set_serialNumber(entry.get(), const_cast<ASN1_INTEGER*>(&serial)) != 1 ||
        X509_REVOKED_set_revocationDate(entry.get(), const_cast<ASN1_TIME*>(&since)) != 1 ||
        X509_CRL_add0_revoked(&list, entry.get()) != 1)
        return false;
    (void)entry.release();
    return true;
}

bool add_all(X509_CRL& list, const Revocations& revocations, const ASN1_TIME& now)
{
    if (revocations.before != nullptr) {
        // It is not changed.
        const auto* const entries = X509_CRL_get_REVOKED(const_cast<X509_CRL*>(revocations.before));
        for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i) {
            const X509_REVOKED* const entry = sk_X509_REVOKED_value(entries, i);
            if (!add_revoked(list, *X509_REVOKED_get0_serialNumber(entry),
                             *X509_REVOKED_get0_revocationDate(entry)))
                return false;
        }
    }
    for (const X509* const certificate : revocations.certificates) {
        X509_REVOKED* known = nullptr;
        auto* const serial = const_cast<ASN1_INTEGER*>(X509_get0_serialNumber(certificate));
        if (X509_CRL_get0_by_serial(&list, &known, serial) == 0 && !add_revoked(list, *serial, now))
            return false;
    }
    return X509_CRL_sort(&list) == 1;
}

/// Reads one object of a file in PEM form.
template <auto Read, typename Pointer>
Result<Pointer> read_one(const std::string& path, const char* what)
{
    begin();
    ERR_clear_error();
    const BioPointer file(BIO_new_file(path.c_str(), "r"));
    Pointer made(file ? Read(file.get(), nullptr, nullptr, nullptr) : nullptr);
    if (made) return made;
    return Error{ErrorCode::invalid_argument, path + ": no " + what + " is read: " + take_error()};
}

/// How many objects of whatever kind are in a file in PEM form.
Result<int> count_objects(const std::string& path)
{
    ERR_clear_error();
    const BioPointer file(BIO_new_file(path.c_str(), "r"));
    int count = 0;
    for (bool is_one = file != nullptr; is_one;) {
        char* name = nullptr;
        char* header = nullptr;
        unsigned char* octets = nullptr;
        long size = 0;
        is_one = PEM_read_bio(file.get(), &name, &header, &octets, &size) == 1;
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(octets);
        if (is_one) ++count;
    }
    const unsigned long error = ERR_peek_last_error();
    if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
        return Error{ErrorCode::invalid_argument, path + ": " + take_error()};
    ERR_clear_error();
    return count;
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

Result<RevocationsPointer> make_revocations(const Revocations& revocations, const Identity& issuer)
{
    begin();
    ERR_clear_error();
    RevocationsPointer list(X509_CRL_new());
    const TimePointer now(X509_gmtime_adj(nullptr, 0));
    const TimePointer first(X509_gmtime_adj(nullptr, seconds(revocations.begins)));
    const TimePointer last(X509_gmtime_adj(nullptr, seconds(revocations.ends)));
    if (!list || !now || !first || !last ||
        X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) != 1 ||
        X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(issuer.certificate.get())) !=
            1 ||
        X509_CRL_set1_lastUpdate(list.get(), first.get()) != 1 ||
        X509_CRL_set1_nextUpdate(list.get(), last.get()) != 1 ||
        !add_all(*list, revocations, *now) ||
        X509_CRL_sign(list.get(), issuer.key.get(), EVP_sha256()) == 0)
        return Error{ErrorCode::invalid_argument, "no revocation list: " + take_error()};
    return list;
}

Result<CertificatePointer> read_certificate(const std::string& path)
{
    return read_one<&PEM_read_bio_X509, CertificatePointer>(path, "certificate");
}

Result<RevocationsPointer> read_revocations(const std::string& path)
{
    auto read = read_one<&PEM_read_bio_X509_CRL, RevocationsPointer>(path, "revocation list");
    if (!read) return read;
    const auto objects = count_objects(path);
    if (!objects) return objects.error();
    if (*objects == 1) return read;
    return Error{ErrorCode::invalid_argument, path + ": there is more in it than one list"};
}

Result<Identity> read_identity(const std::string& certificate, const std::string& key)
{
    auto public_part = read_certificate(certificate);
    if (!public_part) return public_part.error();
    auto private_part = read_one<&PEM_read_bio_PrivateKey, KeyPointer>(key, "private key");
    if (!private_part) return private_part.error();
    return Identity{std::move(public_part).value(), std::move(private_part).value()};
}

bool has_signed(const X509& issuer, const X509_CRL& list) noexcept
{
    // It is not changed.
    const bool has = X509_CRL_verify(const_cast<X509_CRL*>(&list), X509_get0_pubkey(&issuer)) == 1;
    ERR_clear_error();
    return has;
}

bool has_signed(const X509& issuer, const X509& certificate) noexcept
{
    // Neither is changed.
    const bool has = X509_verify(const_cast<X509*>(&certificate), X509_get0_pubkey(&issuer)) == 1;
    ERR_clear_error();
    return has;
}

Result<void> write_revocations(const std::string& path, const X509_CRL& list)
{
    const std::string beside = path + ".new";
    (void)::unlink(beside.c_str()); // of one that did not come to its end
    auto written = make_file(beside, 0644,
                             [&](std::FILE* file) { return PEM_write_X509_CRL(file, &list) == 1; });
    if (!written) return written;
    if (::rename(beside.c_str(), path.c_str()) == 0) return {};
    return Error{ErrorCode::system, path + ": " + std::strerror(errno), errno};
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
