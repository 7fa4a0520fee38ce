// SPDX-License-Identifier: Apache-2.0
//
// What programs set for omniORB's TLS. Kairos has none: an endpoint giop:ssl: is refused, and these
// are not read.
#pragma once

#include "kairos/base/export.h"
#include "omniORB4/omniORB.h"

/// Where omniORB's TLS finds its certificates and keys.
class KAIROS_API sslContext {
  public:
    static const char* certificate_authority_file;
    static const char* certificate_authority_path;
    static const char* key_file;
    static const char* key_file_password;
    static int verify_mode;
};
