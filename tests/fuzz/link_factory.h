// SPDX-License-Identifier: Apache-2.0
//
// Makes the values of requests.idl.
#pragma once

#include "requests.h"

namespace kairos::fuzz {

class LinkImpl : public virtual OBV_Fuzz::Link, public virtual CORBA::DefaultValueRefCountBase {};

class LinkFactory final : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new LinkImpl; }
};

inline void add_link_factory(CORBA::ORB_ptr orb)
{
    const CORBA::ValueFactoryBase_var factory = new LinkFactory;
    const CORBA::ValueFactoryBase_var former =
        orb->register_value_factory(Fuzz::Link::_kairos_id, factory.in());
}

} // namespace kairos::fuzz
