// SPDX-License-Identifier: Apache-2.0
//
// A set of properties as data: what the Property Service 1.0 says of names, types and modes. Knows
// nothing of objects and calls. Where it is kept, a change is made when the journal has it. Any
// thread.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/octet_charge.h"
#include "kairos/properties/CosPropertyService.h"
#include "kairos/properties/service_limits.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::properties {

using Mode = CosPropertyService::PropertyModeType;
/// Why something was not done; none where it was.
using Failure = std::optional<CosPropertyService::ExceptionReason>;

/// A property at one time. Immutable: a set that changes gets others, and iterators keep theirs.
struct Record {
    /// Throws NO_RESOURCES.
    Record(std::string_view its_name, const CORBA::Any& its_value, Mode its_mode,
           std::shared_ptr<corba::Octets> of, std::size_t count)
        : name(its_name), value(its_value), mode(its_mode), octets(std::move(of), count)
    {
    }

    const std::string name;
    const CORBA::Any value;
    Mode mode; // of one that is in a set already, nobody changes it
    const corba::Charge octets;
};
using RecordPtr = std::shared_ptr<const Record>;
using Records = std::vector<RecordPtr>;

/// What properties a set may have. Immutable.
class Rules {
  public:
    Rules() = default; ///< whatever somebody defines
    /// Empty lists allow everything. A mode `undefined` allows every mode, a value without a type
    /// every type. Throws CosPropertyService::ConstraintNotSupported where they contradict
    /// themselves or each other, or are too many; NO_RESOURCES.
    Rules(const CosPropertyService::PropertyTypes& types,
          const CosPropertyService::PropertyDefs& properties, const ServiceLimits& limits,
          const std::shared_ptr<corba::Octets>& octets);

    /// Says what is wrong with such a property. Where no mode is said, it becomes the one that the
    /// rules prescribe, if any.
    [[nodiscard]] Failure check(std::string_view name, CORBA::TypeCode_ptr type,
                                std::optional<Mode>& mode) const;
    /// Says what is wrong with such a mode of a property that there is.
    [[nodiscard]] Failure check_mode(std::string_view name, Mode mode) const;
    [[nodiscard]] const CosPropertyService::PropertyTypes& types() const noexcept { return types_; }
    [[nodiscard]] const CosPropertyService::PropertyDefs& properties() const noexcept
    {
        return properties_;
    }

  private:
    [[nodiscard]] bool allows(CORBA::TypeCode_ptr type) const;

    CosPropertyService::PropertyTypes types_;
    CosPropertyService::PropertyDefs properties_;
    std::map<std::string, CORBA::ULong, std::less<>> by_name_; // places in properties_
    std::shared_ptr<const corba::Charge> charge_;
};

class PropertySet {
  public:
    using Clock = std::chrono::steady_clock;

    /// Borrows the limits, which must outlive it.
    PropertySet(const ServiceLimits& limits, std::shared_ptr<corba::Octets> octets,
                Rules rules = {});
    PropertySet(const PropertySet&) = delete;
    PropertySet& operator=(const PropertySet&) = delete;

    /// From here on changes are rows of the journal, which is borrowed, of the set of this number.
    /// Before anybody else has the set; its first properties, that it has by then, are rows of
    /// whoever calls this.
    void keep(Journal& journal, CORBA::ORB_ptr orb, std::uint64_t number);
    /// The number, or 0: it is not kept.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    /// It is kept no more: from here on it has nothing, and nothing can be changed.
    void forget();
    /// Enters a property as the journal has it, or takes one out. False: nobody has written it.
    /// Throws IMP_LIMIT and NO_RESOURCES for more than may be.
    [[nodiscard]] bool restore(std::string_view name, const CORBA::Any& value, Mode mode);
    void forget(std::string_view name);

    // Changes: each is made, and is in the journal, when it returns. They throw what the journal
    // has for clients, too, and OBJECT_NOT_EXIST where it has forgotten the set.
    /// Adds or changes a property; without a mode it keeps the one that it has, or is normal.
    /// Throws IMP_LIMIT and NO_RESOURCES for more than may be.
    [[nodiscard]] Failure define(std::string_view name, const CORBA::Any& value,
                                 std::optional<Mode> mode);
    [[nodiscard]] Failure set_mode(std::string_view name, Mode mode);
    [[nodiscard]] Failure remove(std::string_view name);
    /// Removes what is not fixed; false if something is.
    [[nodiscard]] bool remove_all();
    /// Returns the property; null, and why, if there is none.
    [[nodiscard]] RecordPtr find(std::string_view name, Failure& failure) const;
    /// Returns all properties, in the order of their names.
    [[nodiscard]] Records all() const;
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] const Rules& rules() const noexcept { return rules_; }

    void note_use(Clock::time_point now = Clock::now()) noexcept { used_ = now; }
    [[nodiscard]] bool is_idle(Clock::time_point now) const
    {
        return now - used_.load() > limits_.idle_max && size() == 0;
    }

  private:
    struct ByName {
        using is_transparent = void;
        static std::string_view name(const RecordPtr& record) noexcept { return record->name; }
        static std::string_view name(std::string_view name) noexcept { return name; }
        bool operator()(const auto& a, const auto& b) const noexcept { return name(a) < name(b); }
    };

    [[nodiscard]] bool is_valid(std::string_view name) const noexcept
    {
        return !name.empty() && name.size() <= limits_.name_octets_max;
    }
    [[nodiscard]] std::shared_ptr<Record> make(std::string_view name, const CORBA::Any& value,
                                               Mode mode) const;
    /// Where `check`, which says by false that there is nothing to do, has found that it may be,
    /// `rows` says what the journal is to have, and `apply` makes it. `check` and `apply` must hold
    /// mutex_.
    void change(const std::function<bool()>& check, const std::function<void(JournalChange&)>& rows,
                const std::function<void()>& apply);
    void enter(const RecordPtr& record);

    const ServiceLimits& limits_;
    const std::shared_ptr<corba::Octets> octets_;
    const Rules rules_;
    std::atomic<Clock::time_point> used_{Clock::now()};
    Journal* journal_ = nullptr; // this and what follows from keep() on
    CORBA::ORB_var orb_;
    std::uint64_t number_ = 0;
    mutable std::mutex mutex_; // guards what follows; nothing is called while it is held
    std::set<RecordPtr, ByName> records_;
    bool is_forgotten_ = false;
};

} // namespace kairos::properties
