// SPDX-License-Identifier: Apache-2.0
//
// Wide strings of the C++ mapping (5.8): the classes of string.h with wchar_t, which holds one
// Unicode code point. Values; not shared between threads.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/string.h"

namespace CORBA {

/// Room for `length` characters and the terminator, which the caller writes.
[[nodiscard]] inline WChar* wstring_alloc(ULong length)
{
    return kairos::mapping::allocate_text<WChar>(length);
}

/// A copy of the text, owned by the caller; null for null.
[[nodiscard]] inline WChar* wstring_dup(const WChar* text)
{
    return kairos::mapping::duplicate_text(text);
}

inline void wstring_free(WChar* text) noexcept { kairos::mapping::free_text(text); }

} // namespace CORBA

namespace kairos::mapping {

using WStringMember = TextOwner<wchar_t, true>;

/// A member of type wstring<bound>. The bound is checked when it is encoded or decoded.
template <CORBA::ULong bound>
class KAIROS_API BoundedWStringMember : public WStringMember {
  public:
    using WStringMember::WStringMember;
    using WStringMember::operator=;
};

} // namespace kairos::mapping

namespace CORBA {

using WString_var = kairos::mapping::TextOwner<WChar, false>;
using WString_out = kairos::mapping::TextOut<WChar>;
/// What wstring members of structs and wstring elements of arrays are.
using WString_mgr = kairos::mapping::WStringMember;

} // namespace CORBA
