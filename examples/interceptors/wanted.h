// SPDX-License-Identifier: Apache-2.0
//
// References that say whether their server wants a token: the server's program need not be asked.
#pragma once

#include "interceptor.h"

/// A component of this program's own: the OMG assigns ranges to who asks.
inline constexpr IOP::ComponentId wants_token = 0x56415502;

/// Has all references of the ORB say so.
class TokenWanter final : public PortableInterceptor::IORInterceptor {
  public:
    char* name() override { return CORBA::string_dup("token"); }
    void destroy() override {}
    void establish_components(PortableInterceptor::IORInfo_ptr info) override
    {
        IOP::TaggedComponent component;
        component.tag = wants_token;
        info->add_ior_component(component);
    }
};

/// Returns whether the reference by which the call is made says so.
inline bool is_token_wanted(PortableInterceptor::ClientRequestInfo_ptr request)
try {
    const IOP::TaggedComponent_var component = request->get_effective_component(wants_token);
    return true;
} catch (const CORBA::BAD_PARAM&) {
    return false;
}
