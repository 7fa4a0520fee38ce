// SPDX-License-Identifier: Apache-2.0
//
// Service types and offers as data: the rules of the Trading Object Service 1.0 for both, and an
// index over the properties that types define. Knows nothing of objects and calls. What it hands
// out is immutable. Where it is kept, a change is made when the journal has it. Any thread.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/constraints/constraint.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/octet_charge.h"
#include "kairos/trading/CosTrading.h"
#include "kairos/trading/CosTradingDynamic.h"
#include "kairos/trading/CosTradingRepos.h"
#include "kairos/trading/service_limits.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::trading {

using Repository = CosTradingRepos::ServiceTypeRepository;

/// A type, with what it inherits.
struct ServiceType {
    struct Property {
        CORBA::TypeCode_var type;
        Repository::PropertyMode mode;
        [[nodiscard]] bool is_readonly() const noexcept { return (mode & 1U) != 0; }
        [[nodiscard]] bool is_mandatory() const noexcept { return (mode & 2U) != 0; }
    };

    std::string name;
    Repository::TypeStruct own; // as add_type had it
    std::map<std::string, Property, std::less<>> properties{};
    std::set<std::string, std::less<>> ancestors{}; // itself, too
    std::unique_ptr<const corba::Charge> charge{};
};
using TypePtr = std::shared_ptr<const ServiceType>;

/// An offer at one time: what is modified is another one of the same number.
struct Offer : std::enable_shared_from_this<Offer> {
    struct Property {
        std::string name;
        CORBA::Any value;
        bool is_dynamic;
    };

    std::uint64_t number = 0; // from the catalog
    TypePtr type;
    CORBA::Object_var reference;
    std::vector<Property> properties; // in the order of their names
    std::unique_ptr<const corba::Charge> charge;

    /// Null if it has none of this name.
    [[nodiscard]] const Property* find(std::string_view name) const noexcept;
};
using OfferPtr = std::shared_ptr<const Offer>;

// Throw CosTrading's exceptions for names that are none.
void check_type_name(const char* name, const ServiceLimits& limits);
void check_property_name(const char* name, const ServiceLimits& limits);

/// Returns how many octets a value has, encoded with its type.
[[nodiscard]] std::size_t encoded_octets(const CORBA::Any& value);

/// Makes an offer of properties that fit the type. Throws CosTrading's exceptions where they do
/// not; IMP_LIMIT, NO_RESOURCES.
[[nodiscard]] std::shared_ptr<Offer> make_offer(TypePtr type, CORBA::Object_ptr reference,
                                                const CosTrading::PropertySeq& properties,
                                                const ServiceLimits& limits,
                                                const std::shared_ptr<corba::Octets>& octets);
/// Makes the offer that another becomes when it is modified. Throws CosTrading's and Register's
/// exceptions; IMP_LIMIT, NO_RESOURCES.
[[nodiscard]] std::shared_ptr<Offer> modified(const Offer& offer,
                                              const CosTrading::PropertyNameSeq& removed,
                                              const CosTrading::PropertySeq& changed,
                                              const ServiceLimits& limits,
                                              const std::shared_ptr<corba::Octets>& octets);

/// What an index has of one property of the offers of one type.
class PropertyIndex {
  public:
    void add(const Offer& offer, const Offer::Property& property);
    void remove(const Offer& offer, const Offer::Property& property);

    /// Orders by keys, and looks for them alone.
    template <typename Key>
    struct ByKey {
        using is_transparent = void;
        using Entry = std::pair<Key, const Offer*>;
        bool operator()(const Entry& a, const Entry& b) const noexcept { return a < b; }
        bool operator()(const Entry& a, Key b) const noexcept { return a.first < b; }
        bool operator()(Key a, const Entry& b) const noexcept { return a < b.first; }
    };
    using Numbers = std::set<std::pair<double, const Offer*>, ByKey<double>>;
    using Texts = std::set<std::pair<std::size_t, const Offer*>, ByKey<std::size_t>>;
    /// The offers that may fulfil a condition: those in the range, and all others.
    struct Range {
        Numbers::const_iterator number{}, number_end{};
        Texts::const_iterator text{}, text_end{};
        bool is_text = false;
        const std::set<const Offer*>* others = nullptr;
        [[nodiscard]] bool at_end() const noexcept
        {
            return is_text ? text == text_end : number == number_end;
        }
        const Offer* next() { return is_text ? text++->second : number++->second; }
    };
    /// False: the index says nothing about such a condition.
    [[nodiscard]] bool find(const constraints::Condition& condition, Range& range) const;

  private:
    Numbers numbers_;
    Texts texts_;                   // by their hashes: who has the same is evaluated, too
    std::set<const Offer*> others_; // whose value is none of these, or not known
};

class Catalog {
  public:
    /// Borrows the limits, which must outlive it.
    Catalog(const ServiceLimits& limits, std::shared_ptr<corba::Octets> octets)
        : limits_(limits), octets_(std::move(octets))
    {
    }
    Catalog(const Catalog&) = delete;
    Catalog& operator=(const Catalog&) = delete;

    // Where it is kept: changes throw what the journal has for clients, too.
    /// From here on changes are rows of the journal, which is borrowed. Before anybody else has the
    /// catalog. The ORB is what references belong to.
    void keep(Journal& journal, CORBA::ORB_ptr orb);
    /// Takes in what a row says; false: it cannot be. Throws IMP_LIMIT and NO_RESOURCES where there
    /// would be more than may be.
    [[nodiscard]] bool restore_type(std::uint64_t incarnation, const char* name,
                                    const Repository::TypeStruct& type);
    [[nodiscard]] bool restore_offer(std::uint64_t number, std::uint64_t type,
                                     CORBA::Object_ptr reference,
                                     const CosTrading::PropertySeq& properties);
    /// The type is gone, with its offers and the types below it.
    void forget_type(std::uint64_t incarnation);
    void forget_offer(std::uint64_t number);
    /// The numbers of all types, and of all offers, in their order.
    [[nodiscard]] std::vector<std::uint64_t> all_incarnations() const;
    [[nodiscard]] std::vector<std::uint64_t> all_numbers() const;
    /// Numbers up to this one were given, though of some there is nothing left.
    void note_numbers(std::uint64_t last);

    // Types: those of ServiceTypeRepository, with its exceptions; IMP_LIMIT and NO_RESOURCES for
    // too many.
    [[nodiscard]] std::uint64_t add_type(const char* name, const char* interface,
                                         const Repository::PropStructSeq& properties,
                                         const Repository::ServiceTypeNameSeq& supers);
    /// Its offers are withdrawn. What else belongs to it is told: `rows` of the journal, if there
    /// is one, are asked for, and `apply` is called, both while the lock is held.
    void remove_type(const char* name, const std::function<void(JournalChange&)>& rows = {},
                     const std::function<void()>& apply = {});
    [[nodiscard]] std::vector<std::string> types_since(std::uint64_t incarnation) const;
    [[nodiscard]] Repository::TypeStruct describe(const char* name, bool fully) const;
    void set_masked(const char* name, bool masked);
    [[nodiscard]] std::uint64_t incarnation() const;
    /// Throws IllegalServiceType and UnknownServiceType, the latter for a masked type, too, if
    /// `for_export`.
    [[nodiscard]] TypePtr type(const char* name, bool for_export = false) const;

    // Offers
    /// Enters an offer; returns its number. Throws UnknownServiceType if its type was removed
    /// meanwhile; IMP_LIMIT.
    [[nodiscard]] std::uint64_t add(const std::shared_ptr<Offer>& offer);
    /// Null if there is none of this number.
    [[nodiscard]] OfferPtr find(std::uint64_t number) const;
    /// Puts an offer into the place of another; false if that is not there any more.
    [[nodiscard]] bool replace(const OfferPtr& offer, const std::shared_ptr<Offer>& by);
    /// False if there is none of this number.
    bool withdraw(std::uint64_t number);
    /// Withdraws those that are still there as they are here: not what was modified meanwhile.
    /// Returns how many.
    std::size_t withdraw(std::span<const OfferPtr> offers);
    /// Returns the numbers of the first offers behind `after`, up to `last`.
    [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint64_t after, std::uint64_t last,
                                                     std::size_t count_max) const;
    /// Returns the number of the last offer that was ever entered.
    [[nodiscard]] std::uint64_t last_number() const;

    /// Returns offers of the type, and of those below it unless it is to be `exact`, in the order
    /// in which they were exported: all that may fulfil the conditions, or `count_max` of them;
    /// then `was_cut`.
    [[nodiscard]] std::vector<OfferPtr> candidates(const ServiceType& type, bool exact,
                                                   std::span<const constraints::Condition> needs,
                                                   std::size_t count_max, bool& was_cut) const;

  private:
    /// The offers of one type.
    struct Shelf {
        std::map<std::uint64_t, OfferPtr> offers;
        std::map<std::string, PropertyIndex, std::less<>> indexes;
    };
    struct Entry {
        TypePtr type;
        bool masked = false;
        std::set<std::string, std::less<>> descendants{}; // itself, too
        Shelf shelf{};
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    /// Where `decide`, which says by false that there is nothing to do, has found that it may be,
    /// and has said what the journal, if any, is to have, `apply` makes the change. Both must hold
    /// mutex_. `last` is that of the numbers which the change may give.
    void change(const std::uint64_t& last,
                const std::function<bool(std::uint64_t number, JournalChange* rows)>& decide,
                const std::function<void()>& apply);
    [[nodiscard]] std::shared_ptr<ServiceType>
    made_type(const char* name, const char* interface, const Repository::PropStructSeq& properties,
              const Repository::ServiceTypeNameSeq& supers, std::size_t& size) const;
    void complete(ServiceType& made, std::size_t size) const;
    void enter(const std::shared_ptr<ServiceType>& made, std::uint64_t incarnation, bool masked);
    void enter(const std::shared_ptr<Offer>& offer, std::uint64_t number);
    void take_out_type(Entries::iterator place, Entries& gone);
    [[nodiscard]] std::string row_if_kept(const Offer& offer) const;

    [[nodiscard]] const Entry& entry(const char* name) const;
    static void index(Shelf& shelf, const Offer& offer, bool adds);
    static void collect(const Shelf& shelf, std::span<const constraints::Condition> needs,
                        std::size_t count_max, std::vector<OfferPtr>& found);
    void take_out(std::map<std::uint64_t, OfferPtr>::iterator place);

    const ServiceLimits& limits_;
    const std::shared_ptr<corba::Octets> octets_;
    Journal* journal_ = nullptr; // this and what follows from keep() on
    CORBA::ORB_var orb_;
    mutable std::mutex mutex_; // guards what follows; nothing is called while it is held
    Entries entries_;
    std::map<std::uint64_t, std::string> names_; // of types, by their incarnations
    std::map<std::uint64_t, OfferPtr> offers_;
    std::uint64_t incarnation_ = 0;
    std::uint64_t last_number_ = 0;
};

} // namespace kairos::trading
