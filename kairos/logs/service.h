// SPDX-License-Identifier: Apache-2.0
//
// The Telecom Log Service (OMG, 1.1.2) as objects of an ORB: embedded in any process by making one
// of these, or alone as `kairos log serve`. Any number of logs, in memory or in a file. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/logs/DsEventLogAdmin.h"
#include "kairos/logs/DsLogAdmin.h"
#include "kairos/logs/DsNotifyLogAdmin.h"
#include "kairos/logs/service_limits.h"
#include "kairos/logs/store.h"

#include <cstdint>
#include <memory>

namespace kairos::logs {

class ServiceState;

/// Tells the time: the system's, unless a program says otherwise. Any thread.
class KAIROS_API Clock {
  public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;
    /// The time as TimeBase::TimeT has it: 100 ns from the 15th of October 1582, in UTC.
    [[nodiscard]] virtual std::uint64_t now() const noexcept;
};

class KAIROS_API LogService {
  public:
    /// Its objects can be called from now on, and so can the logs that the store has, by the
    /// references that they had where the process has the same address again. Without a store logs
    /// are in memory. The ORB must outlive it. Throws what create_POA throws: AdapterAlreadyExists
    /// for a second one in the same ORB; PERSIST_STORE where the store cannot be read.
    explicit LogService(CORBA::ORB_ptr orb, std::unique_ptr<Store> store = nullptr,
                        const ServiceLimits& limits = {},
                        std::shared_ptr<const Clock> clock = nullptr);
    LogService(const LogService&) = delete;
    LogService& operator=(const LogService&) = delete;
    /// Waits for the calls in progress. Not within a call on one of its objects.
    ~LogService();

    /// The object by which clients make logs and find them, also as
    /// "corbaloc::host:port/BasicLogFactory". Owned by the caller.
    [[nodiscard]] DsLogAdmin::BasicLogFactory_ptr basic_logs() const;

    /// The object by which clients make and find logs that are event channels, also as
    /// "corbaloc::host:port/EventLogFactory"; where those are connected that want to hear what
    /// happens to them. Owned by the caller.
    [[nodiscard]] DsEventLogAdmin::EventLogFactory_ptr event_logs() const;

    /// The object by which clients make and find logs that are notification channels, also as
    /// "corbaloc::host:port/NotifyLogFactory"; where those are connected that want to hear what
    /// happens to them. Owned by the caller.
    [[nodiscard]] DsNotifyLogAdmin::NotifyLogFactory_ptr notify_logs() const;
    /// From here on no consumer or supplier of events is called, and pulls that wait end: for who
    /// is about to end. Any thread.
    void begin_to_end() noexcept;

  private:
    const std::unique_ptr<ServiceState> state_;
};

} // namespace kairos::logs
