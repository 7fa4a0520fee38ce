// SPDX-License-Identifier: Apache-2.0
//
// What TAO's exceptions have beside the mapping's.
#include "kairos/mapping/exception.h"

#include <cstdio>
#include <string>

namespace CORBA {

std::string Exception::_info() const
{
    std::string text = _rep_id();
    const auto* const system = dynamic_cast<const SystemException*>(this);
    if (system == nullptr) return "user exception, ID '" + text + "'";
    return "system exception, ID '" + text + "': " + system->what();
}

void Exception::_tao_print_exception(const char* text, std::FILE* stream) const
{
    (void)std::fprintf(stream == nullptr ? stdout : stream, "EXCEPTION, %s\n%s\n",
                       text == nullptr ? "" : text, _info().c_str());
}

} // namespace CORBA
