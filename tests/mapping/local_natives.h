// SPDX-License-Identifier: Apache-2.0
//
// What a program defines for the native types of its IDL.
#pragma once

#include <string>

namespace Here {
typedef std::string Ticket;
} // namespace Here
