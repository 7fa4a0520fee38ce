// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/forget.h"

#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/poa/adapters.h"

#include <mutex>
#include <vector>

namespace kairos::poa {
namespace {

struct Everybody {
    // guards what follows; recursive, for what an adapter gives up with its last object may own
    // another servant
    std::recursive_mutex mutex;
    std::vector<Adapters*> adapters;
};

/// Never destroyed: servants may be static objects.
Everybody& everybody()
{
    static Everybody& all = *new Everybody;
    return all;
}

class GoneServant final : public Servant {
    void _kairos_dispatch(orb::Upcall&) override
    {
        orb::raise<CORBA::OBJECT_NOT_EXIST>(orb::minor_code::no_such_object, CORBA::COMPLETED_NO,
                                            "the servant was destroyed");
    }
    [[nodiscard]] bool _kairos_supports(std::string_view) const override { return false; }
    [[nodiscard]] const char* _kairos_id() const override { return ""; }
    void _add_ref() override {}
    void _remove_ref() override {}
};

} // namespace

Servant& gone_servant()
{
    static Servant& gone = *new GoneServant;
    return gone;
}

void ask_to_forget(Adapters& adapters)
{
    const std::lock_guard lock(everybody().mutex);
    everybody().adapters.push_back(&adapters);
}

void ask_no_more(Adapters& adapters) noexcept
{
    const std::lock_guard lock(everybody().mutex);
    std::erase(everybody().adapters, &adapters);
}

void forget(Servant& servant) noexcept
{
    bool known = false;
    const std::lock_guard lock(everybody().mutex);
    const std::vector<Adapters*>& all = everybody().adapters;
    for (std::size_t i = 0; i < all.size(); ++i) // they may become fewer meanwhile
        known |= all[i]->abandon(servant);
    if (known)
        log::info("a servant was destroyed while it was active: its objects are deactivated");
}

} // namespace kairos::poa
