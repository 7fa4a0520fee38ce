// SPDX-License-Identifier: Apache-2.0
#include "kairos/gateway/gateway.h"

#include "kairos/gateway/relay.h"
#include "kairos/orb/reference.h"

namespace kairos::gateway {

Gateway::Gateway(CORBA::ORB_ptr orb, Interfaces& interfaces, const Options& options)
    : relay_(new Relay(orb, interfaces, options))
{
    relay_->serve(make_adapter(orb, options));
}

Gateway::~Gateway()
{
    try {
        relay_->poa()->destroy(false, true);
    } catch (const CORBA::Exception&) { // the ORB is gone, or is waited for within an upcall
    }
}

CORBA::Object_ptr Gateway::publish(CORBA::Object_ptr target)
{
    if (CORBA::is_nil(target)) return CORBA::Object::_nil();
    const auto& reference = target->_kairos_reference();
    if (!reference)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a local object cannot be called from afar");
    if (relay_->unwrapped(reference->ior())) return CORBA::Object::_duplicate(target);
    return relay_->published(reference->ior());
}

} // namespace kairos::gateway
