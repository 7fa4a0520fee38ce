// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/environment.h"

namespace CORBA {

Environment_ptr Environment::_duplicate(Environment_ptr environment)
{
    if (environment != nullptr) environment->_add_ref();
    return environment;
}

void release(Environment_ptr environment)
{
    if (environment != nullptr) environment->_remove_ref();
}

} // namespace CORBA
