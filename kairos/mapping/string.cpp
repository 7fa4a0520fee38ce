// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/string.h"

namespace kairos::mapping {

char shared_empty_string[1] = {'\0'};
wchar_t shared_empty_wstring[1] = {L'\0'};

} // namespace kairos::mapping
