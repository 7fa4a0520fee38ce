// SPDX-License-Identifier: Apache-2.0
//
// CosNaming::BindingIterator: all listings of a service, served by one servant.
#include "kairos/nameserver/service_state.h"
#include "kairos/naming/CosNaming_skel.h"

#include <utility>

namespace kairos::nameserver {
namespace {

class IteratorServant final : public POA_CosNaming::BindingIterator {
  public:
    explicit IteratorServant(ServiceState& state) : state_(state) {}

    CORBA::Boolean next_one(CosNaming::Binding_out binding) override
    {
        const CosNaming::BindingList_var list = to_idl(next(1));
        binding = new CosNaming::Binding;
        if (list->length() == 1)
            *binding.ptr() = list[0];
        else
            binding->binding_type = CosNaming::nobject; // the name is empty
        return list->length() == 1;
    }

    CORBA::Boolean next_n(CORBA::ULong how_many, CosNaming::BindingList_out list) override
    {
        if (how_many == 0) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "next_n of no bindings");
        const std::vector<Listed> listed = next(how_many);
        list = to_idl(listed);
        return !listed.empty();
    }

    void destroy() override
    {
        if (!state_.iterators.end(state_.called_listing())) raise_not_there();
    }

  private:
    [[nodiscard]] std::vector<Listed> next(std::size_t count)
    {
        const auto listing =
            state_.iterators.find(state_.called_listing(), Iterators::Clock::now());
        if (!listing) raise_not_there();
        const std::lock_guard lock(listing->mutex);
        Portion portion;
        raise_store_failure(state_.store->list(listing->context,
                                               listing->after ? &*listing->after : nullptr,
                                               state_.portion_of(count), portion));
        if (!portion.bindings.empty()) listing->after = portion.bindings.back().component;
        return std::move(portion.bindings);
    }

    ServiceState& state_;
};

} // namespace

PortableServer::Servant make_iterator_servant(ServiceState& state)
{
    return new IteratorServant(state);
}

} // namespace kairos::nameserver
