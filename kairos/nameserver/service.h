// SPDX-License-Identifier: Apache-2.0
//
// The Naming Service (CosNaming 1.3) as objects of an ORB, over a store: embedded in any process by
// making one of these, or alone as `kairos naming`. One default servant serves all contexts,
// however many there are; a context's reference is valid as long as the context, also in later runs
// of the server at the same address. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/nameserver/store.h"
#include "kairos/nameserver/sweeper.h"
#include "kairos/naming/CosNaming.h"

#include <chrono>
#include <cstddef>
#include <memory>

namespace kairos::nameserver {

struct KAIROS_API ServiceLimits {
    /// Listings that clients may have begun and neither finished nor destroyed. The one that was
    /// not used for the longest time makes room for another.
    std::size_t iterators_max = 1000;
    /// A listing that nobody went on with for so long is given up when another one begins.
    std::chrono::seconds iterator_idle_max{600};
    /// Bindings in one reply, whatever the client asks for.
    CORBA::ULong portion_max = 1000;
    /// Components of a name, and octets of their ids and kinds together.
    CORBA::ULong components_max = 1000;
    std::size_t name_octets_max = std::size_t{64} << 10;
    /// Answers of `resolve` that are kept in memory, about; 0: none.
    std::size_t answers_max = 4096;
    /// Calls to other servers' contexts, through which names lead: at the same time, to the same
    /// address, and how long each may take. What is beyond is CannotProceed.
    std::size_t foreign_calls_max = 32;
    std::size_t foreign_calls_per_address_max = 8;
    std::chrono::milliseconds foreign_call_timeout{3000};
    /// Octets of what is bound, names and references, that are looked through for one reply of a
    /// listing, unless a single binding has more.
    std::size_t portion_octets_max = std::size_t{1} << 20;
};

class ServiceState;

class KAIROS_API NamingService {
  public:
    /// Its contexts can be called from now on, the root also by "corbaloc::host:port/NameService",
    /// unless that is bound in the ORB's IORTable. The ORB must outlive it. Throws what create_POA
    /// throws: AdapterAlreadyExists for a second one in the same ORB.
    NamingService(CORBA::ORB_ptr orb, std::unique_ptr<Store> store,
                  const ServiceLimits& limits = {}, const SweepOptions& sweep = {});
    NamingService(const NamingService&) = delete;
    NamingService& operator=(const NamingService&) = delete;
    /// Waits for the calls in progress. Not within a call on one of its contexts.
    ~NamingService();

    /// From here on no other server is asked for anything, and who waits for one gets
    /// CannotProceed: for who is about to end. Any thread.
    void stop_asking() noexcept;

    /// The root context. Owned by the caller.
    [[nodiscard]] CosNaming::NamingContextExt_ptr root() const;
    /// Finds out now what is dead, beside what SweepOptions say. Blocks.
    void sweep();

  private:
    const std::unique_ptr<ServiceState> state_;
};

} // namespace kairos::nameserver
