// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/kept_object.h"

#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"
#include "kairos/poa/servant.h"

#include <optional>

namespace kairos::poa {
namespace {

/// Counted as a request is: by the adapter, and in the object's slot if it has one.
class KeptObject final : public orb::OwedAnswer::Kept {
  public:
    explicit KeptObject(const Calling& calling) noexcept
        : use_(calling.adapter(), calling.adapter().key_id())
    {
        if (const ObjectMap::Entry* const entry = calling.entry()) entry_.emplace(entry->again());
    }

  private:
    const Adapter::Use use_; // released last: an adapter ends with its objects
    std::optional<ObjectMap::Entry> entry_;
};

} // namespace

std::unique_ptr<orb::OwedAnswer::Kept> keep_called()
{
    const Calling* const calling = Calling::innermost();
    if (calling == nullptr || calling->servant() == nullptr) return nullptr;
    return std::make_unique<KeptObject>(*calling);
}

CalledServant::CalledServant()
    : servant_(Calling::innermost() == nullptr ? nullptr : Calling::innermost()->servant())
{
    if (servant_ != nullptr) servant_->_add_ref();
}

void CalledServant::let_go() noexcept
{
    if (Servant* const servant = std::exchange(servant_, nullptr)) servant->_remove_ref();
}

} // namespace kairos::poa
