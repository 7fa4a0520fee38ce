// SPDX-License-Identifier: Apache-2.0
//
// What an authority says of a server's certificate (OCSP, RFC 6960), shown by the server itself
// while hands are shaken (RFC 6066, 8): so that clients learn what was taken back and need ask
// nobody, who would hear whom they call.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/result.h"
#include "kairos/tls/openssl.h"

#include <string>
#include <string_view>

namespace kairos::tls {

/// Has a server's context, which has its certificate, show the answer in a file to clients that
/// ask, as long as it is in force; when it is no more, the log says so once. An error says why it
/// is none about that certificate, of which the context then shows nothing.
[[nodiscard]] Result<void> show_staple(SSL_CTX& context, const std::string& file);
/// Returns for what a context's answer will not be believed: it is in force no longer, or not good.
/// Empty for none, and for a good one.
[[nodiscard]] std::string_view doubt_of_staple(const SSL_CTX& context) noexcept;

/// Returns what is wrong with an answer, in DER, about the first certificate of a chain, which was
/// found good by the certificates of the store; empty if nothing is.
[[nodiscard]] std::string fault_of_answer(Bytes answer, STACK_OF(X509) & chain, X509_STORE& store);

/// Has a client's context ask for answers and believe no server whose answer is not good, or, if
/// `is_required`, that shows none. Its connections are Channels, and resume no sessions: an answer
/// comes when a certificate does.
void ask_for_staples(SSL_CTX& context, bool is_required) noexcept;

} // namespace kairos::tls
