// SPDX-License-Identifier: Apache-2.0
//
// What the objects of a property service share: its POAs, its sets, and the iterators that clients
// have begun. Where sets are kept, it is what the journal's rows become. Any thread.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"
#include "kairos/corba/numbered_objects.h"
#include "kairos/properties/property_set.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kairos::properties {

/// What an iterator goes through: the properties as they were when it began.
struct Iteration {
    explicit Iteration(Records all) : records(std::move(all)) {}
    const Records records;
    std::mutex mutex; // guards `at`; nothing is called while it is held
    std::size_t at = 0;
};

class ServiceState final : private JournalReplica {
  public:
    /// Where there is no journal, sets are in memory only.
    ServiceState(CORBA::ORB_ptr orb, const ServiceLimits& limits, std::unique_ptr<Journal> journal);
    ServiceState(const ServiceState&) = delete;
    ServiceState& operator=(const ServiceState&) = delete;
    ~ServiceState() override;

    enum class Kind : std::uint8_t { plain, with_modes };
    /// Makes an object for the set, which is a PropertySet or a PropertySetDef. Owned by the
    /// caller.
    [[nodiscard]] CORBA::Object_ptr enter(std::shared_ptr<PropertySet> set, Kind kind,
                                          const std::string& name = {});
    /// Makes a PropertySetDef of this name; where sets are kept and one is there that has it, that
    /// is the object. Owned by the caller.
    [[nodiscard]] CORBA::Object_ptr enter_named(const std::string& name);
    [[nodiscard]] std::shared_ptr<PropertySet> make_set(Rules rules = {}) const;
    /// An object of the service by its name, owned by the caller.
    [[nodiscard]] CORBA::Object_ptr named(const char* name) const;

    const ServiceLimits limits;
    const std::shared_ptr<corba::Octets> octets;
    corba::NumberedThings<Iteration> iterations;
    PortableServer::POA_var name_iterators; // set before anything is called
    PortableServer::POA_var property_iterators;

  private:
    struct Entry {
        std::shared_ptr<PropertySet> set;
        PortableServer::ObjectId_var id; // of objects_; null for one that has a name
        std::string name;
    };
    using Entries = std::vector<Entry>;

    void begin();
    void serve(const PortableServer::POA_var& poa);
    [[nodiscard]] CORBA::Object_ptr activate_named(PortableServer::Servant servant,
                                                   const std::string& name);
    [[nodiscard]] CORBA::Object_ptr activate(const Entry& entry, Kind kind);
    void make_room(Entries& gone);
    void deactivate(const Entry& entry) noexcept;
    void unbind_names() noexcept;
    void destroy_adapters() noexcept;

    // Where sets are kept
    [[nodiscard]] CORBA::Object_ptr enter_kept(const std::shared_ptr<PropertySet>& set, Kind kind,
                                               const std::string& name, bool may_be_there);
    [[nodiscard]] Entry kept_entry(std::shared_ptr<PropertySet> set, const std::string& name) const;
    [[nodiscard]] std::shared_ptr<PropertySet> kept_set(std::uint64_t number) const;
    [[nodiscard]] bool has_name(const std::string& name) const;
    [[nodiscard]] Entries rooms_for_one() const;
    void take_out(std::uint64_t number);
    [[nodiscard]] bool put(std::string_view key, std::string_view value) override;
    [[nodiscard]] bool put_set(std::uint64_t number, std::string_view value);
    void erase(std::string_view key) override;
    [[nodiscard]] std::vector<std::string> keys() const override;

    const CORBA::ORB_var orb_;
    const std::unique_ptr<Journal> journal_; // null: nothing is kept
    PortableServer::POA_var named_;          // of the factories, and of sets with names
    PortableServer::POA_var objects_;        // of all other sets
    IORTable::Table_var table_;
    mutable std::mutex mutex_; // guards what follows; nothing is called while it is held
    Entries entries_;
    std::map<std::uint64_t, std::shared_ptr<PropertySet>> kept_; // by their numbers
    std::vector<std::string> in_table_;                          // names that are bound there
};

// The servants, with a count of their own. `state` must outlive them.
[[nodiscard]] PortableServer::Servant make_factory_servant(ServiceState& state,
                                                           ServiceState::Kind kind);
[[nodiscard]] PortableServer::Servant
make_set_servant(ServiceState& state, std::shared_ptr<PropertySet> set, ServiceState::Kind kind);
[[nodiscard]] PortableServer::Servant make_name_iterator_servant(ServiceState& state);
[[nodiscard]] PortableServer::Servant make_property_iterator_servant(ServiceState& state);

} // namespace kairos::properties
