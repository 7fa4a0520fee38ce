// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/repository.h"

#include "kairos/repository/state.h"

#include <utility>

namespace kairos::repository {

InterfaceRepository::InterfaceRepository(CORBA::ORB_ptr orb, std::unique_ptr<Store> store,
                                         const Limits& limits)
    : state_(std::make_unique<State>(orb, std::move(store), limits))
{
}

InterfaceRepository::~InterfaceRepository() = default;

CORBA::Repository_ptr InterfaceRepository::reference() const { return state_->repository(); }

Model InterfaceRepository::model() const { return state_->copy(); }

} // namespace kairos::repository
