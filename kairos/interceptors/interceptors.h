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

/// Interceptors of calls or of requests, in the order in which they are told.
template <typename Interceptor>
class Told {
  public:
    using List = std::vector<mapping::ObjectVar<Interceptor>>;

    /// Has the last of all told of what has this mode.
    void tell_last(PortableInterceptor::ProcessingMode mode)
    {
        const auto tell = [&](bool is_local) {
            told_[is_local].push_back(Interceptor::_duplicate(all.back().in()));
        };
        if (mode != PortableInterceptor::LOCAL_ONLY) tell(false);
        if (mode != PortableInterceptor::REMOTE_ONLY) tell(true);
    }
    /// Returns those that are told of what stays within the process, or of what leaves it.
    [[nodiscard]] const List& of(bool is_local) const noexcept { return told_[is_local]; }

    List all;

  private:
    List told_[2];
};

class Interceptors final : public corba::OrbAttachment {
  public:
    Interceptors(std::string orb_name, std::string server_name);

    /// Tells the interceptors that the ORB was destroyed.
    void end() noexcept override;

    const std::string orb_id;
    const std::string server_id;
    const std::uint64_t serial; ///< which no two ORBs of the process ever share

    using Clients = Told<PortableInterceptor::ClientRequestInterceptor>;
    using Servers = Told<PortableInterceptor::ServerRequestInterceptor>;
    using Iors = std::vector<PortableInterceptor::IORInterceptor_var>;
    Clients clients;
    Servers servers;
    Iors iors;                                   ///< in the order in which they are told
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
