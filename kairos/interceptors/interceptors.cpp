// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/interceptors.h"

#include "kairos/base/log.h"

#include <mutex>
#include <utility>

namespace kairos::interceptors {

namespace {

std::uint64_t next_serial()
{
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

template <typename List>
void destroy_all(const List& interceptors) noexcept
{
    for (const auto& interceptor : interceptors) {
        try {
            interceptor->destroy();
        } catch (...) {
            log::warning("an interceptor threw from destroy");
        }
    }
}

} // namespace

Interceptors::Interceptors(std::string orb_name, std::string server_name)
    : orb_id(std::move(orb_name)), server_id(std::move(server_name)), serial(next_serial())
{
}

void Interceptors::end() noexcept
{
    destroy_all(clients.all);
    destroy_all(servers.all);
    destroy_all(iors);
}

std::shared_ptr<Interceptors> interceptors_of(CORBA::ORB& orb)
{
    CORBA::ORB::State& state = orb._kairos_state();
    const std::lock_guard lock(state.mutex);
    return std::static_pointer_cast<Interceptors>(state.interceptors); // nobody else makes any
}

void raise_invalid_here()
{
    throw CORBA::BAD_INV_ORDER(mapping::omg_minor(14), CORBA::COMPLETED_NO,
                               "not to be asked for at this point");
}

} // namespace kairos::interceptors
