// SPDX-License-Identifier: Apache-2.0
//
// What programs set for omniORB's TLS before ORB_init, which takes it as the options sslCAFile and
// so on (docs/from-omniorb.md).
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/base/export.h"
#include "omniORB4/omniORB.h"

/// Where TLS finds its certificates and keys; null: nothing is said. ORB_init reads them in the
/// thread that calls it.
class KAIROS_API sslContext {
  public:
    static const char* certificate_authority_file;
    static const char* certificate_authority_path;
    /// A file with a key and its certificate.
    static const char* key_file;
    /// Not null: ORB_init refuses it, for keys with a password cannot be read.
    static const char* key_file_password;
    /// A sum of OpenSSL's SSL_VERIFY_PEER, 1, and SSL_VERIFY_FAIL_IF_NO_PEER_CERT, 2. Counts where
    /// one of the others is set; both unless set otherwise.
    static int verify_mode;
};

namespace omni {
using ::sslContext;
} // namespace omni
