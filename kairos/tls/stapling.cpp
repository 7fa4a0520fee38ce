// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/stapling.h"

#include "kairos/base/log.h"
#include "kairos/tls/channel.h"
#include "kairos/tls/limits.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <string_view>
#include <vector>

namespace kairos::tls {
namespace {

using ResponsePointer = Owned<OCSP_RESPONSE, &OCSP_RESPONSE_free>;
using AnswersPointer = Owned<OCSP_BASICRESP, &OCSP_BASICRESP_free>;
using IdPointer = Owned<OCSP_CERTID, &OCSP_CERTID_free>;
using MomentPointer = Owned<ASN1_GENERALIZEDTIME, &ASN1_GENERALIZEDTIME_free>;

/// How far clocks may differ.
constexpr long skew_s = 300;

/// What is said of one certificate. Views of the answers.
struct Answer {
    int status = V_OCSP_CERTSTATUS_UNKNOWN;
    ASN1_GENERALIZEDTIME* begins = nullptr;
    ASN1_GENERALIZEDTIME* ends = nullptr; // null: it does not say
};

Answer answer_in(OCSP_SINGLERESP& single) noexcept
{
    Answer answer;
    int reason = 0;
    ASN1_GENERALIZEDTIME* revoked = nullptr;
    answer.status =
        OCSP_single_get0_status(&single, &reason, &revoked, &answer.begins, &answer.ends);
    return answer;
}

/// Reads answers that somebody gives; what is wrong with them otherwise.
Result<AnswersPointer> read_answers(const unsigned char* octets, std::size_t size)
{
    const auto wrong = [](const std::string& why) {
        ERR_clear_error();
        return Error{ErrorCode::malformed, why};
    };
    const unsigned char* at = octets;
    const ResponsePointer response(d2i_OCSP_RESPONSE(nullptr, &at, static_cast<long>(size)));
    if (!response || at != octets + size) return wrong("cannot be read");
    const int status = OCSP_response_status(response.get());
    if (status != OCSP_RESPONSE_STATUS_SUCCESSFUL)
        return wrong(std::string("is only '") + OCSP_response_status_str(status) + "'");
    AnswersPointer answers(OCSP_response_get1_basic(response.get()));
    if (!answers) return wrong("cannot be read");
    return answers;
}

/// Returns what is said of the certificate that this issuer has signed; null if nothing is.
OCSP_SINGLERESP* find_answer(OCSP_BASICRESP& answers, const X509& certificate, const X509& issuer)
{
    for (int i = 0; i < OCSP_resp_count(&answers); ++i) {
        OCSP_SINGLERESP* const single = OCSP_resp_get0(&answers, i);
        // It is not changed.
        auto* const id = const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(single));
        ASN1_OBJECT* digest = nullptr;
        OCSP_id_get0_info(nullptr, &digest, nullptr, nullptr, id);
        const EVP_MD* const known = EVP_get_digestbyobj(digest);
        if (known == nullptr) continue;
        const IdPointer wanted(OCSP_cert_to_id(known, &certificate, &issuer));
        if (wanted && OCSP_id_cmp(wanted.get(), id) == 0) return single;
    }
    return nullptr;
}

// --- servers -------------------------------------------------------------------------------------

/// Of a context. Constant, but for what was said of it.
struct Staple {
    std::string file;
    std::vector<unsigned char> octets;
    int status = V_OCSP_CERTSTATUS_UNKNOWN;
    MomentPointer ends;
    mutable std::atomic_flag end_was_said{}; // in the log; by any thread

    [[nodiscard]] bool is_old() const noexcept { return X509_cmp_current_time(ends.get()) < 0; }
};

void free_staple(void*, void* staple, CRYPTO_EX_DATA*, int, long, void*) noexcept
{
    delete static_cast<Staple*>(staple);
}

/// Where contexts have theirs.
int staple_index() noexcept
{
    static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, &free_staple);
    return index;
}

const Staple* staple_of(const SSL_CTX& context) noexcept
{
    return static_cast<const Staple*>(SSL_CTX_get_ex_data(&context, staple_index()));
}

/// By whoever shakes hands with a client that asks.
int show_to_client(SSL* ssl, void*) noexcept
{
    const Staple* const staple = staple_of(*SSL_get_SSL_CTX(ssl));
    if (staple == nullptr) return SSL_TLSEXT_ERR_NOACK;
    if (staple->is_old()) {
        // Once: whoever renews it does not, and clients that want it are refused from now on.
        if (!staple->end_was_said.test_and_set(std::memory_order_relaxed))
            log::warning(log::Line() << "-ORBTlsStaple " << staple->file
                                     << ": it has expired, and is shown no more");
        return SSL_TLSEXT_ERR_NOACK;
    }
    const std::size_t size = staple->octets.size();
    void* const copy = OPENSSL_malloc(size); // OpenSSL's, as soon as it has it
    if (copy == nullptr) return SSL_TLSEXT_ERR_NOACK;
    std::memcpy(copy, staple->octets.data(), size);
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(size));
    return SSL_TLSEXT_ERR_OK;
}

// --- clients -------------------------------------------------------------------------------------

std::string of_authority(std::string_view what)
{
    return "what its authority says of it " + std::string(what);
}

/// Returns what is wrong with what the server has shown; empty if nothing is.
std::string fault_of_server(SSL& ssl, bool is_required)
{
    const unsigned char* octets = nullptr;
    const long size = SSL_get_tlsext_status_ocsp_resp(&ssl, &octets);
    if (size <= 0 || octets == nullptr)
        return is_required ? of_authority("is not shown") : std::string();
    STACK_OF(X509)* const chain = SSL_get0_verified_chain(&ssl);
    if (chain == nullptr || sk_X509_num(chain) == 0) return of_authority("is said of nobody");
    return fault_of_answer(
        Bytes(reinterpret_cast<const std::byte*>(octets), static_cast<std::size_t>(size)), *chain,
        *SSL_CTX_get_cert_store(SSL_get_SSL_CTX(&ssl)));
}

constexpr bool staple_required = true;
constexpr bool staple_optional = false;

/// By whoever shakes hands with a server, when its certificate was found good.
int look_at_answer(SSL* ssl, void* is_required) noexcept
try {
    const std::string fault = fault_of_server(*ssl, *static_cast<const bool*>(is_required));
    ERR_clear_error(); // or what goes on would be taken for it
    if (fault.empty()) return 1;
    Channel::distrust(*ssl, fault + (*static_cast<const bool*>(is_required)
                                         ? " (-ORBTlsVerifyStaple required)"
                                         : " (-ORBTlsVerifyStaple)"));
    return 0;
} catch (const std::bad_alloc&) {
    return -1;
}

} // namespace

Result<void> show_staple(SSL_CTX& context, const std::string& file)
{
    const auto wrong = [](const std::string& why) {
        ERR_clear_error();
        return Error{ErrorCode::invalid_argument, why};
    };
    auto staple = std::make_unique<Staple>();
    staple->file = file;
    staple->octets.resize(limits::staple_max + 1);
    std::ifstream stream(file, std::ios::binary);
    if (!stream.is_open()) return wrong(std::string("it is not read: ") + std::strerror(errno));
    stream.read(reinterpret_cast<char*>(staple->octets.data()),
                static_cast<std::streamsize>(staple->octets.size()));
    staple->octets.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad() || staple->octets.size() > limits::staple_max)
        return wrong("it is not read, or larger than " + std::to_string(limits::staple_max) +
                     " octets");
    const auto answers = read_answers(staple->octets.data(), staple->octets.size());
    if (!answers) return wrong("an answer of OCSP, in DER form, " + answers.error().reason);
    // Who has issued the certificate need not be known here; clients know, and look.
    const ASN1_INTEGER* const own = X509_get0_serialNumber(SSL_CTX_get0_certificate(&context));
    for (int i = 0; i < OCSP_resp_count(answers->get()) && !staple->ends; ++i) {
        OCSP_SINGLERESP* const single = OCSP_resp_get0(answers->get(), i);
        ASN1_INTEGER* serial = nullptr;
        OCSP_id_get0_info(nullptr, nullptr, nullptr, &serial,
                          const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(single)));
        if (ASN1_INTEGER_cmp(serial, own) != 0) continue;
        const Answer answer = answer_in(*single);
        if (answer.ends == nullptr) return wrong("it does not say until when it is in force");
        staple->status = answer.status;
        staple->ends.reset(ASN1_STRING_dup(answer.ends));
    }
    if (!staple->ends) return wrong("it is about another certificate");
    if (SSL_CTX_set_ex_data(&context, staple_index(), staple.get()) != 1)
        return wrong(take_error());
    (void)staple.release(); // the context's
    SSL_CTX_set_tlsext_status_cb(&context, &show_to_client);
    return {};
}

std::string_view doubt_of_staple(const SSL_CTX& context) noexcept
{
    const Staple* const staple = staple_of(context);
    if (staple == nullptr) return {};
    if (staple->is_old()) {
        staple->end_was_said.test_and_set(std::memory_order_relaxed);
        return "it has expired, and is not shown";
    }
    if (staple->status == V_OCSP_CERTSTATUS_REVOKED)
        return "it says that the certificate was revoked";
    return staple->status == V_OCSP_CERTSTATUS_GOOD ? "" : "it does not know the certificate";
}

std::string fault_of_answer(Bytes answer, STACK_OF(X509) & chain, X509_STORE& store)
{
    const auto answers =
        read_answers(reinterpret_cast<const unsigned char*>(answer.data()), answer.size());
    if (!answers) return of_authority(answers.error().reason);
    const X509& own = *sk_X509_value(&chain, 0);
    const X509& issuer = *sk_X509_value(&chain, std::min(1, sk_X509_num(&chain) - 1));
    // Nor by whomever those sign who are trusted for answers as well (TRUSTED CERTIFICATE): that
    // would be anybody below them, of himself too.
    if (OCSP_basic_verify(answers->get(), &chain, &store, OCSP_NOEXPLICIT) != 1)
        return of_authority("is not signed by it: " + take_error());
    OCSP_SINGLERESP* const found = find_answer(**answers, own, issuer);
    if (found == nullptr) return of_authority("is about another certificate");
    const Answer said = answer_in(*found);
    if (said.status == V_OCSP_CERTSTATUS_REVOKED) return "its authority says that it was revoked";
    if (said.ends == nullptr) return of_authority("has no end");
    if (OCSP_check_validity(said.begins, said.ends, skew_s, -1) != 1)
        return of_authority(X509_cmp_current_time(said.ends) < 0 ? "has expired"
                                                                 : "is not yet in force");
    return said.status == V_OCSP_CERTSTATUS_GOOD ? "" : "its authority does not know it";
}

void ask_for_staples(SSL_CTX& context, bool is_required) noexcept
{
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_tlsext_status_type(&context, TLSEXT_STATUSTYPE_ocsp);
    SSL_CTX_set_tlsext_status_cb(&context, &look_at_answer);
    (void)SSL_CTX_set_tlsext_status_arg(
        &context, const_cast<bool*>(is_required ? &staple_required : &staple_optional));
}

} // namespace kairos::tls
