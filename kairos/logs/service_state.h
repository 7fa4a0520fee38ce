// SPDX-License-Identifier: Apache-2.0
//
// What the objects of a log service share: its POAs, which logs there are, and the iterators that
// clients have begun. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"
#include "kairos/corba/numbered_objects.h"
#include "kairos/logs/event_logs.h"
#include "kairos/logs/record_search.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::logs {

class ServiceState {
  public:
    ServiceState(CORBA::ORB_ptr orb, std::unique_ptr<Store> store, const ServiceLimits& limits,
                 std::shared_ptr<const Clock> clock);
    ServiceState(const ServiceState&) = delete;
    ServiceState& operator=(const ServiceState&) = delete;
    ~ServiceState();

    /// Makes a log, with this id or with one that no log had. Throws LogIdAlreadyExists, IMP_LIMIT;
    /// what Log::change throws for a store that fails.
    [[nodiscard]] LogPtr create(Kind kind, std::optional<DsLogAdmin::LogId> id,
                                const KairosLogs::Settings& settings);
    /// Null if there is none.
    [[nodiscard]] LogPtr find(LogKey key) const;
    /// The log whose object the calling thread serves. Throws OBJECT_NOT_EXIST if there is none.
    [[nodiscard]] LogPtr called(Kind kind) const;
    [[nodiscard]] std::vector<LogPtr> logs(Kind kind) const;
    /// Throws OBJECT_NOT_EXIST if it has ended.
    void destroy(const LogPtr& log);

    // References, owned by the caller.
    template <typename Interface>
    [[nodiscard]] typename Interface::_ptr_type object(LogKey key) const
    {
        return corba::numbered_reference<Interface>(adapter(kind_of(key)), key);
    }
    [[nodiscard]] DsLogAdmin::Log_ptr reference(LogKey key) const;
    [[nodiscard]] CORBA::Object_ptr factory(Kind kind) const;

    [[nodiscard]] Surroundings& around() const noexcept { return *around_; }
    /// What a log has that nobody has set anything of.
    [[nodiscard]] KairosLogs::Settings first_settings() const;
    /// Begins an iterator: its reference, owned by the caller.
    [[nodiscard]] DsLogAdmin::Iterator_ptr begin(const LogPtr& log, Numbers numbers);

    corba::NumberedThings<RecordIteration> iterations;
    EventLogs event_logs;

  private:
    void load();
    void begin_to_serve();
    void bind(Kind kind);
    void destroy_adapters() noexcept;
    [[nodiscard]] PortableServer::POA_ptr adapter(Kind kind) const
    {
        return adapters_[static_cast<std::size_t>(kind)].in();
    }

    const std::shared_ptr<Surroundings> around_;
    const std::shared_ptr<corba::Octets> found_; // numbers that iterators have
    PortableServer::POA_var factories_;          // what follows is set before anything is called
    std::array<PortableServer::POA_var, kind_count> adapters_;
    PortableServer::POA_var iterators_;
    IORTable::Table_var table_;
    std::array<bool, kind_count> is_bound_{}; // the factory, in the table
    mutable std::mutex mutex_;      // guards what follows; nothing is called while it is held
    std::map<LogKey, LogPtr> logs_; // null: it is being made
    std::array<DsLogAdmin::LogId, kind_count> last_ids_{};
};

// The servants, with a count of their own. `state` must outlive them.
[[nodiscard]] PortableServer::Servant make_factory_servant(ServiceState& state, Kind kind);
/// For all logs of a kind.
[[nodiscard]] PortableServer::Servant make_log_servant(ServiceState& state, Kind kind);
[[nodiscard]] PortableServer::Servant make_notify_factory_servant(ServiceState& state);
[[nodiscard]] PortableServer::Servant make_notify_log_servant(ServiceState& state);
[[nodiscard]] PortableServer::Servant make_iterator_servant(ServiceState& state);

} // namespace kairos::logs
