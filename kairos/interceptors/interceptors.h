// SPDX-License-Identifier: Apache-2.0
//
// The interceptors of one ORB: what its initializers have added. Constant once ORB_init has
// returned; then any thread.
#pragma once

#include "kairos/corba/orb_state.h"
#include "kairos/interceptors/PortableInterceptor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kairos::interceptors {

class Interceptors final : public corba::OrbAttachment {
  public:
    explicit Interceptors(std::string orb_name);

    /// Tells the interceptors that the ORB was destroyed.
    void end() noexcept override;

    const std::string orb_id;
    const std::uint64_t serial; ///< which no two ORBs of the process ever share

    using Clients = std::vector<PortableInterceptor::ClientRequestInterceptor_var>;
    using Servers = std::vector<PortableInterceptor::ServerRequestInterceptor_var>;
    using Iors = std::vector<PortableInterceptor::IORInterceptor_var>;
    Clients clients;                             ///< in the order in which they are told
    Servers servers;                             ///< likewise
    Iors iors;                                   ///< likewise
    std::vector<CORBA::PolicyType> policy_types; ///< those with a factory of the program's

    [[nodiscard]] std::size_t slot_count() const noexcept { return slot_count_; }
    [[nodiscard]] bool has_slots() const noexcept { return slot_count_ != 0; }
    [[nodiscard]] PortableInterceptor::SlotId allocate_slot() noexcept { return slot_count_++; }

    /// Returns whether ORB_init has not returned yet.
    [[nodiscard]] bool is_initializing() const noexcept
    {
        return is_initializing_.load(std::memory_order_acquire);
    }
    void initialized() noexcept { is_initializing_.store(false, std::memory_order_release); }

  private:
    PortableInterceptor::SlotId slot_count_ = 0;
    std::atomic<bool> is_initializing_{true};
};

/// Returns the ORB's interceptors; null if no initializer was registered when it was made.
[[nodiscard]] std::shared_ptr<Interceptors> interceptors_of(CORBA::ORB& orb);

/// Throws BAD_INV_ORDER 14: not at this point.
[[noreturn]] void raise_invalid_here();

} // namespace kairos::interceptors
