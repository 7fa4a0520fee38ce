// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/string.h"

namespace kairos::mapping {

char shared_empty_string[1] = {'\0'};
wchar_t shared_empty_wstring[1] = {L'\0'};

template char* duplicate<char>(std::string_view);
template char* duplicate_text<char>(const char*);
template void free_text<char>(char*) noexcept;
template class TextOwner<char, false>;
template class TextOwner<char, true>;

} // namespace kairos::mapping
