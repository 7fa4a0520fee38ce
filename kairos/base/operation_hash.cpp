// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/operation_hash.h"

template std::uint64_t kairos::detail::digest_of<char>(std::string_view) noexcept;
