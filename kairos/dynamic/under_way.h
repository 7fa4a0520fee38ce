// SPDX-License-Identifier: Apache-2.0
//
// What a Request keeps of its call. As a Request, used by one thread at a time.
#pragma once

#include "kairos/client/deferred.h"
#include "kairos/corba/request.h"

#include <memory>
#include <vector>

namespace CORBA {

struct Request::UnderWay {
    kairos::orb::Operation operation{};
    std::vector<TypeCode_var> listed;
    std::vector<kairos::orb::ExceptionType> exception_types;
    /// Null when no reply is waited for: also where poll_response has taken it already.
    std::unique_ptr<kairos::orb::DeferredInvocation> deferred;

    /// Whether the reply is there, or was; reads what has come.
    [[nodiscard]] bool is_answered() const { return deferred == nullptr || deferred->poll(); }
};

} // namespace CORBA
