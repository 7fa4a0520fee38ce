// SPDX-License-Identifier: Apache-2.0
//
// What programs tell an ORB about how it is to serve. Apart from orb.cpp: who only calls does not
// link what serves.
#include "kairos/corba/orb.h"
#include "kairos/orb/orb.h"
#include "kairos/server/serving.h"

#include <memory>

namespace CORBA {

void ORB::_kairos_add_request_filter(kairos::Owner<kairos::orb::RequestFilter> filter)
{
    require_running();
    if (filter == nullptr || !kairos::orb::Serving::of(*core_).add_request_filter(
                                 std::unique_ptr<kairos::orb::RequestFilter>(filter.release())))
        throw BAD_INV_ORDER(0, COMPLETED_NO,
                            "filters are for -ORBConcurrency filter-chain, before it serves");
}

void ORB::_kairos_set_request_dispatcher(kairos::Owner<kairos::orb::RequestDispatcher> dispatcher)
{
    require_running();
    if (dispatcher == nullptr ||
        !kairos::orb::Serving::of(*core_).set_request_dispatcher(
            std::unique_ptr<kairos::orb::RequestDispatcher>(dispatcher.release())))
        throw BAD_INV_ORDER(0, COMPLETED_NO,
                            "a dispatcher is for -ORBConcurrency custom, before it serves");
}

} // namespace CORBA
