// SPDX-License-Identifier: Apache-2.0
//
// Who a request says that it is from, for those who do not know CSIv2: kairos/csiv2 has the
// function `caller_names`, and who asks refers to it by a weak symbol.
#pragma once

#include "kairos/base/export.h"

#include <string>

namespace kairos::orb {

class ObservedUpcall;
struct PeerCertificate;

struct CallerNames {
    /// Returns for whom a request is made that all observers were told of: a user whose password
    /// was right, or whom somebody trusted speaks for; empty if that is nobody. Lasts as long as
    /// the request.
    const std::string& (*name_of)(ObservedUpcall& upcall);
    /// Returns for whom such a request is made where that is a name of X.509's, or those of a
    /// certificate, and not a user; else null. Lasts as long as the request.
    const PeerCertificate* (*subject_of)(ObservedUpcall& upcall);
};

/// Of kairos/csiv2.
KAIROS_API const CallerNames& caller_names();

} // namespace kairos::orb
