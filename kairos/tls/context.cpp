// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/context.h"

#include "kairos/base/log.h"
#include "kairos/tls/limits.h"
#include "kairos/tls/stapling.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <openssl/err.h>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace kairos::tls {
namespace {

constexpr std::array<unsigned char, 5> giop_protocol{4, 'g', 'i', 'o', 'p'};

Error bad_file(std::string_view option, const std::string& file, const std::string& why)
{
    return Error{ErrorCode::invalid_argument, std::string(option) + " " + file + ": " + why};
}

/// Nobody is there to be asked for a passphrase.
int no_passphrase(char*, int, int, void*) { return -1; }

/// Clients that say which protocols they speak have to speak ours; others are not asked.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*)
{
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, size, giop_protocol.data(), giop_protocol.size(), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

/// Whoever resumes a session shows no certificate: the one that it has shown must be in force, and
/// what says that it was not taken back as well.
SSL_TICKET_RETURN look_at_ticket(SSL* ssl, SSL_SESSION* session, const unsigned char*, std::size_t,
                                 SSL_TICKET_STATUS status, void*)
{
    switch (status) {
    case SSL_TICKET_SUCCESS:
    case SSL_TICKET_SUCCESS_RENEW:
        if (has_expired(SSL_SESSION_get0_peer(session)) ||
            has_old_revocations(*SSL_get_SSL_CTX(ssl)))
            return SSL_TICKET_RETURN_IGNORE_RENEW;
        return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
    default:
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
}

Result<ContextPointer> make_bare_context(const SSL_METHOD* method)
{
    begin();
    ERR_clear_error();
    ContextPointer context(SSL_CTX_new(method));
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        return Error{ErrorCode::system, "TLS cannot be used: " + take_error()};
    // GIOP says itself when a connection ends, and where a message does.
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_IGNORE_UNEXPECTED_EOF |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
    // What is read carries data, or the caller hears that it does not.
    SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(context.get(), 1);
    SSL_CTX_set_max_cert_list(context.get(), limits::certificates_max);
    SSL_CTX_set_default_passwd_cb(context.get(), &no_passphrase);
    return context;
}

void warn_of(const X509& certificate, const orb::TlsOptions& options)
{
    const bool has_own_file = !options.key.empty();
    const std::string& key = has_own_file ? options.key : options.certificate;
    if (has_expired(&certificate))
        log::warning("-ORBTlsCertificate " + options.certificate + ": it has expired");
    struct stat file {};
    if (::stat(key.c_str(), &file) == 0 && (file.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        log::warning((has_own_file ? "-ORBTlsKey " : "-ORBTlsCertificate ") + key +
                     ": it has a key, and others than its owner may use the file");
}

Result<void> use_certificate(SSL_CTX& context, const orb::TlsOptions& options)
{
    const bool has_own_file = !options.key.empty();
    const std::string& key = has_own_file ? options.key : options.certificate;
    const std::string_view key_option = has_own_file ? "-ORBTlsKey" : "-ORBTlsCertificate";
    if (options.certificate.empty() && !has_own_file) return {};
    if (options.certificate.empty())
        return Error{ErrorCode::invalid_argument, "-ORBTlsKey needs -ORBTlsCertificate"};
    if (SSL_CTX_use_certificate_chain_file(&context, options.certificate.c_str()) != 1)
        return bad_file("-ORBTlsCertificate", options.certificate,
                        "no certificate is read: " + take_error());
    if (SSL_CTX_use_PrivateKey_file(&context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        const unsigned long error = ERR_peek_last_error();
        if (ERR_GET_LIB(error) == ERR_LIB_X509 &&
            ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH) {
            ERR_clear_error();
            return bad_file(key_option, key, "it is not the key of " + options.certificate);
        }
        return bad_file(key_option, key,
                        "no private key without a passphrase is read: " + take_error());
    }
    if (SSL_CTX_check_private_key(&context) != 1) {
        ERR_clear_error();
        return bad_file(key_option, key, "it is not the key of " + options.certificate);
    }
    return {};
}

Result<void> use_trust(SSL_CTX& context, const orb::TlsOptions& options, bool tells_whom)
{
    if (options.trust == "system") {
        if (SSL_CTX_set_default_verify_paths(&context) == 1) return {};
        return bad_file("-ORBTlsTrust", options.trust, take_error());
    }
    struct stat file {};
    if (::stat(options.trust.c_str(), &file) != 0)
        return bad_file("-ORBTlsTrust", options.trust, std::strerror(errno));
    if (S_ISDIR(file.st_mode)) {
        if (SSL_CTX_load_verify_dir(&context, options.trust.c_str()) == 1) return {};
        return bad_file("-ORBTlsTrust", options.trust, take_error());
    }
    if (SSL_CTX_load_verify_file(&context, options.trust.c_str()) != 1)
        return bad_file("-ORBTlsTrust", options.trust, "no certificate is read: " + take_error());
    if (!tells_whom) return {};
    STACK_OF(X509_NAME)* const whom = SSL_load_client_CA_file(options.trust.c_str());
    if (whom == nullptr)
        return bad_file("-ORBTlsTrust", options.trust, "no certificate is read: " + take_error());
    SSL_CTX_set_client_CA_list(&context, whom);
    return {};
}

/// Lists of revoked certificates, which everybody in a peer's chain is looked up in.
Result<void> use_revocations(SSL_CTX& context, const orb::TlsOptions& options)
{
    if (options.revocations.empty()) return {};
    X509_STORE* const store = SSL_CTX_get_cert_store(&context);
    X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (lookup == nullptr ||
        X509_load_crl_file(lookup, options.revocations.c_str(), X509_FILETYPE_PEM) < 1)
        return bad_file("-ORBTlsRevocations", options.revocations,
                        "no revocation list is read: " + take_error());
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return {};
}

Result<ContextPointer> make_client_context(const orb::TlsOptions& options)
{
    auto context = make_bare_context(TLS_client_method());
    if (!context) return context;
    SSL_CTX& made = **context;
    SSL_CTX_set_alpn_protos(&made, giop_protocol.data(), giop_protocol.size());
    SSL_CTX_set_session_cache_mode(&made, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    if (const auto used = use_certificate(made, options); !used) return used.error();
    if (options.check_server == orb::ServerCheck::no) return context;
    if (const auto used = use_trust(made, options, false); !used) return used.error();
    if (const auto used = use_revocations(made, options); !used) return used.error();
    if (options.check_staple != orb::ClientCheck::no)
        ask_for_staples(made, options.check_staple == orb::ClientCheck::required);
    return context;
}

Result<ContextPointer> make_server_context(const orb::TlsOptions& options)
{
    auto context = make_bare_context(TLS_server_method());
    if (!context) return context;
    SSL_CTX& made = **context;
    if (options.certificate.empty())
        return Error{ErrorCode::invalid_argument, "ssliop:// needs -ORBTlsCertificate"};
    SSL_CTX_set_alpn_select_cb(&made, &choose_protocol, nullptr);
    SSL_CTX_set_session_cache_mode(&made, SSL_SESS_CACHE_OFF); // tickets need none
    SSL_CTX_set_num_tickets(&made, 1);
    if (SSL_CTX_set_session_ticket_cb(&made, nullptr, &look_at_ticket, nullptr) != 1 ||
        SSL_CTX_set_session_id_context(&made, giop_protocol.data(), giop_protocol.size()) != 1)
        return Error{ErrorCode::system, "TLS cannot be used: " + take_error()};
    if (const auto used = use_certificate(made, options); !used) return used.error();
    if (options.check_client == orb::ClientCheck::no) return context;
    // Everybody can have a certificate of those whom systems trust.
    if (options.trust == "system")
        return Error{ErrorCode::invalid_argument,
                     "-ORBTlsVerifyClient needs an -ORBTlsTrust that is not 'system': whose "
                     "certificates clients have to show"};
    if (const auto used = use_trust(made, options, true); !used) return used.error();
    if (const auto used = use_revocations(made, options); !used) return used.error();
    return context;
}

/// A certificate that was renewed is used also while nobody has asked for an answer about it yet:
/// clients that do not want one need not wait for that.
void begin_to_show(SSL_CTX& context, const std::string& staple)
{
    const auto shown = show_staple(context, staple);
    const std::string doubt =
        shown ? std::string(doubt_of_staple(context)) : shown.error().reason + ", and is not shown";
    if (!doubt.empty()) log::warning("-ORBTlsStaple " + staple + ": " + doubt);
}

/// Whether that side wants to know who the peer is.
bool checks_peer(Side side, const orb::TlsOptions& options)
{
    return side == Side::client ? options.check_server != orb::ServerCheck::no
                                : options.check_client != orb::ClientCheck::no;
}

/// Where the system has those whom it trusts: a variable of the environment says so, or OpenSSL.
std::string place_of_system(const char* variable, const char* otherwise)
{
    const char* const given = ::secure_getenv(variable);
    return given != nullptr ? given : otherwise;
}

} // namespace

Result<ContextPointer> make_context(Side side, const orb::TlsOptions& options)
{
    if (side == Side::client) return make_client_context(options);
    auto made = make_server_context(options);
    // Here only: clients have that too. And when all can be used: what cannot is read again.
    if (!made) return made;
    warn_of(*SSL_CTX_get0_certificate(made->get()), options);
    if (!options.staple.empty()) begin_to_show(**made, options.staple);
    return made;
}

std::vector<std::string> files_of(Side side, const orb::TlsOptions& options)
{
    std::vector<std::string> files;
    if (!options.certificate.empty()) files.push_back(options.certificate);
    if (!options.key.empty()) files.push_back(options.key);
    if (side == Side::server && !options.staple.empty()) files.push_back(options.staple);
    if (!checks_peer(side, options)) return files;
    if (!options.revocations.empty()) files.push_back(options.revocations);
    if (options.trust == "system") {
        files.push_back(
            place_of_system(X509_get_default_cert_file_env(), X509_get_default_cert_file()));
        // Folders, with colons between them.
        std::string folders =
            place_of_system(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
        for (std::size_t end = 0; !folders.empty();
             folders.erase(0, end == folders.npos ? end : end + 1)) {
            end = folders.find(':');
            if (end != 0) files.push_back(folders.substr(0, end));
        }
    } else {
        files.push_back(options.trust);
    }
    return files;
}

} // namespace kairos::tls
