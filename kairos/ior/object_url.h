// SPDX-License-Identifier: Apache-2.0
//
// The texts from which string_to_object makes references (CORBA 3.3 part 2, 7.6.10): "IOR:",
// "corbaloc:", "corbaname:" and "file:". Only parsing is done here: who opens the file, asks for an
// initial reference or resolves the name is a layer above. Cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/ior/profile.h"

#include <string>
#include <string_view>
#include <vector>

namespace kairos::ior {

/// The IANA port of corbaloc addresses that name none.
inline constexpr std::uint16_t corbaloc_port = 2809;
/// The IANA port (corba-iiop-ssl) of corbaloc addresses with ssliop that name none.
inline constexpr std::uint16_t ssliop_port = 684;

struct ObjectUrl {
    enum class Scheme {
        ior,       ///< `reference` is the result
        corbaloc,  ///< `reference`, or with `initial` the service called `service`
        corbaname, ///< as corbaloc for the naming context in which `name` is to be resolved
        file,      ///< `path` names a file whose text is again an object URL
    };

    Scheme scheme = Scheme::ior;
    /// IOR: the reference. corbaloc and corbaname: one IIOP profile per address, type id "".
    /// One each, not one with alternates, because every address has a version of its own and a
    /// profile of version 1.0, corbaloc's default, cannot carry alternates. Nil when `initial`.
    Ior reference;
    /// "rir:": ask resolve_initial_references for `service`.
    bool initial = false;
    std::string service; ///< "NameService" when the URL has no key
    std::string name;    ///< corbaname: stringified name, unescaped; "" is the context itself
    std::string path;    ///< file: as written; relative paths are what "file://x.ior" is used for
};

/// Parses any of the schemes, in any case, white space at the ends ignored. Errors say what is
/// wrong and at which character, counted from 1; not_found is an unknown scheme, unreachable an
/// address that can be none, invalid_argument anything else that does not parse.
[[nodiscard]] KAIROS_API Result<ObjectUrl> parse_object_url(std::string_view text);

/// A corbaloc URL for every target that has the first target's object key, with ssliop addresses of
/// those that have none in the clear; invalid_argument for a reference without an IIOP address. The
/// type id and components are lost. Versions are written out because the default is 1.0.
[[nodiscard]] Result<std::string> to_corbaloc(const Ior& reference);

/// RFC 2396 escapes as corbaloc keys and corbaname names use them: everything but letters, digits
/// and ;/:?@&=+$,-_.!~*'() becomes %xx.
[[nodiscard]] std::string escape_key(Bytes octets);
/// Takes back the escapes of a corbaloc key or corbaname name (RFC 2396). `offset` is added to
/// positions in errors. A printable character that should have been escaped is taken as it is; '#',
/// blanks, control and non-ASCII characters are refused.
[[nodiscard]] Result<OctetVector> unescape_key(std::string_view text, std::size_t offset = 0);

} // namespace kairos::ior
