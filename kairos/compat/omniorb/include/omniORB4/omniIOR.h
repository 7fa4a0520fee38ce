// SPDX-License-Identifier: Apache-2.0
//
// What programs have omniORB add to all references: options say it here.
#pragma once

#include "omniORB4/IIOP.h"

class KAIROS_API omniIOR {
  public:
    /// Raise NO_IMPLEMENT: -ORBPublish says what addresses references have.
    [[noreturn]] static void add_IIOP_ADDRESS(const IIOP::Address& address,
                                              void* publish = nullptr);
    [[noreturn]] static void add_TAG_ALTERNATE_IIOP_ADDRESS(const IIOP::Address& address,
                                                            void* publish = nullptr);
};
