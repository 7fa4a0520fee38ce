// SPDX-License-Identifier: Apache-2.0
//
// What the objects of a trader share: its catalog, the attributes that Admin sets, its POAs, and
// the iterators that clients have begun. Where it is kept, it is what the journal's rows become.
// Any thread.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"
#include "kairos/corba/numbered_objects.h"
#include "kairos/trading/links.h"
#include "kairos/trading/offer_search.h"
#include "kairos/trading/proxies.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::trading {

/// What SupportAttributes, ImportAttributes and LinkAttributes tell (2.4).
struct Attributes {
    CORBA::ULong def_search_card = 100'000;
    CORBA::ULong max_search_card = 1'000'000;
    CORBA::ULong def_match_card = 10'000;
    CORBA::ULong max_match_card = 100'000;
    CORBA::ULong def_return_card = 1000;
    CORBA::ULong max_return_card = 20'000;
    CORBA::ULong max_list = 1000;
    CORBA::ULong def_hop_count = 5;
    CORBA::ULong max_hop_count = 10;
    CosTrading::FollowOption def_follow_policy = CosTrading::if_no_local;
    CosTrading::FollowOption max_follow_policy = CosTrading::always;
    CosTrading::FollowOption max_link_follow_policy = CosTrading::always;
    bool supports_modifiable_properties = true;
    bool supports_dynamic_properties = true;
    bool supports_proxy_offers = true;
    std::vector<CORBA::Octet> request_id_stem;
};

/// Which properties an importer gets with each offer.
struct Selection {
    bool has_all = false;
    std::vector<std::string> names;
};

/// What an OfferIterator goes through.
struct OfferIteration {
    std::vector<OfferPtr> offers;
    Selection selection;
    std::mutex mutex; // guards `at`; nothing is called while it is held
    std::size_t at = 0;
};

/// Where an OfferIdIterator is: not a list, of which there may be many, each of a million ids.
struct IdIteration {
    IdIteration(std::uint64_t end, bool proxies) : last(end), is_of_proxies(proxies) {}
    const std::uint64_t last; // what comes later is not listed
    const bool is_of_proxies;
    std::mutex mutex; // guards `after`; outside the catalog's
    std::uint64_t after = 0;
};

class TraderState final : private JournalReplica {
  public:
    /// Where there is no journal, all is in memory only.
    TraderState(CORBA::ORB_ptr orb, const ServiceLimits& limits, std::unique_ptr<Journal> journal);
    TraderState(const TraderState&) = delete;
    TraderState& operator=(const TraderState&) = delete;
    ~TraderState() override;

    [[nodiscard]] Attributes attributes() const;
    /// Changes one; returns what it was. Throws what the journal has for clients, if there is one.
    template <typename T>
    T set(T Attributes::*attribute, const T& value)
    {
        T before{};
        change([&](Attributes& all) { before = std::exchange(all.*attribute, value); });
        return before;
    }

    // Changes of what links and proxies have, and the journal, if there is one, whose exceptions
    // they throw, too.
    /// Throws as Links::add.
    void add_link(const char* name, const LinkInfo& info);
    /// Throws UnknownLinkName.
    void modify_link(const char* name, CosTrading::FollowOption def_pass_on,
                     CosTrading::FollowOption limiting);
    /// Throws UnknownLinkName.
    void remove_link(const char* name);
    /// Returns its number. Throws UnknownServiceType where its type was removed meanwhile;
    /// IMP_LIMIT.
    [[nodiscard]] std::uint64_t add_proxy(const std::shared_ptr<ProxyOffer>& proxy);
    /// False if there is none of this number.
    [[nodiscard]] bool withdraw_proxy(std::uint64_t number);
    /// Removes a type with its offers and proxy offers. Throws as Catalog::remove_type.
    void remove_type(const char* name);

    /// One of the trader's objects, owned by the caller.
    template <typename Interface>
    [[nodiscard]] typename Interface::_ptr_type object(const char* name) const
    {
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
        const CORBA::Object_var found = objects_->id_to_reference(id.in());
        return Interface::_unchecked_narrow(found.in());
    }

    /// An offer's id says which run of which trader it is of. Owned by the caller.
    [[nodiscard]] char* id_of(std::uint64_t number) const;
    /// Throws IllegalOfferId, and UnknownOfferId for one of another run.
    [[nodiscard]] std::uint64_t number_of(const char* id) const;
    /// The id of a proxy offer, which looks different. Owned by the caller.
    [[nodiscard]] char* proxy_id_of(std::uint64_t number) const;
    /// The number of a proxy offer; nothing for an id that does not look like one. Throws as
    /// number_of.
    [[nodiscard]] std::optional<std::uint64_t> proxy_number_of(const char* id) const;

    /// How many offers or ids a reply may have: at least one, so that iterators come to an end.
    [[nodiscard]] std::size_t list_max() const;
    /// For one request. Asks nobody where the trader has no dynamic properties.
    [[nodiscard]] DynamicCalls dynamic_calls() const;
    /// The next offers of what was found, as importers get them, and where to go on.
    [[nodiscard]] CosTrading::OfferSeq* portion(const std::vector<OfferPtr>& offers,
                                                std::size_t& at, std::size_t wanted,
                                                const Selection& selection,
                                                DynamicCalls& calls) const;

    const ServiceLimits limits;
    const std::shared_ptr<corba::Octets> octets;
    const std::shared_ptr<corba::Octets> foreign_octets; // of offers of other traders
    Catalog catalog;
    Links links;
    Proxies proxies;
    RequestIds request_ids;
    std::atomic<std::size_t> nested_queries{0}; // which wait for other traders now
    corba::NumberedThings<OfferIteration> offer_iterations;
    corba::NumberedThings<IdIteration> id_iterations;
    std::atomic<std::uint64_t> evaluated{0}; // offers that constraints were asked of
    PortableServer::POA_var offer_iterators; // set before anything is called
    PortableServer::POA_var id_iterators;

    [[nodiscard]] CORBA::ORB_ptr orb() const { return orb_.in(); }

  private:
    void begin();
    void change(const std::function<void(Attributes&)>& make);
    void write(const std::function<bool(JournalChange&)>& decide,
               const std::function<void()>& apply);
    [[nodiscard]] bool is_known(const ServiceType& type) const;
    [[nodiscard]] bool put_proxy(std::uint64_t number, std::string_view value);
    [[nodiscard]] bool put(std::string_view key, std::string_view value) override;
    void erase(std::string_view key) override;
    [[nodiscard]] std::vector<std::string> keys() const override;
    void activate(const char* name, PortableServer::Servant servant);
    void destroy_adapters() noexcept;

    const CORBA::ORB_var orb_;
    const std::unique_ptr<Journal> journal_; // null: nothing is kept
    const std::string run_;                  // what offer ids of this run, or journal, begin with
    PortableServer::POA_var objects_;
    IORTable::Table_var table_; // nil unless the Lookup is in it
    mutable std::mutex mutex_;  // guards attributes_; nothing is called while it is held
    Attributes attributes_;
    bool has_kept_attributes_ = false; // they are a row of the journal
};

// Names of objects in their POA.
inline constexpr const char* lookup_name = "TradingService";
inline constexpr const char* register_name = "Register";
inline constexpr const char* admin_name = "Admin";
inline constexpr const char* link_name = "Link";
inline constexpr const char* proxy_name = "Proxy";
inline constexpr const char* repository_name = "ServiceTypeRepository";

// The servants, with a count of their own. `state` must outlive them.
[[nodiscard]] PortableServer::Servant make_lookup_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_register_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_admin_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_link_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_proxy_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_repository_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_offer_iterator_servant(TraderState& state);
[[nodiscard]] PortableServer::Servant make_id_iterator_servant(TraderState& state);

} // namespace kairos::trading
