// SPDX-License-Identifier: Apache-2.0
//
// What the tests of several traders share: traders with ORBs of their own, and queries in few
// words.
#pragma once

#include "kairos/trading/federation.h"
#include "kairos/trading/trader_testing.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::trading {

using CosTrading::Admin;
using CosTrading::Admin_var;
using CosTrading::always;
using CosTrading::FollowOption;
using CosTrading::Link_var;
using CosTrading::Lookup;
using CosTrading::Lookup_ptr;
using CosTrading::Lookup_var;
using CosTrading::OfferIterator_var;
using CosTrading::OfferSeq;
using CosTrading::OfferSeq_var;
using CosTrading::PolicyNameSeq_var;
using CosTrading::PropertyNameSeq;
using CosTrading::Register_var;
using CosTrading::TraderName;
using Policies = Values;

/// A trader with an ORB of its own.
class Node {
  public:
    explicit Node(CORBA::ORB_ptr client, const ServiceLimits& limits = {},
                  const Names& options = {})
        : orb_(make_orb(options)), service_(std::in_place, orb_.in(), limits)
    {
        if (!options.empty()) thread_ = std::thread([this] { orb_->run(); });
        const Lookup_var made = service_->lookup();
        const CORBA::String_var text = orb_->object_to_string(made.in());
        const CORBA::Object_var object = client->string_to_object(text.in());
        lookup = Lookup::_narrow(object.in());
        offers = lookup->register_if();
        admin = lookup->admin_if();
        links = lookup->link_if();
        proxies = lookup->proxy_if();
        const CORBA::Object_var repository = lookup->type_repos();
        types = Repository::_narrow(repository.in());
    }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { end(); }

    /// As if its process had ended.
    void end()
    {
        if (!service_) return;
        service_.reset();
        orb_->shutdown(false);
        if (thread_.joinable()) thread_.join();
        orb_->destroy();
    }
    void add_type(const char* name, const std::vector<Definition>& properties) const
    {
        (void)types->add_type(name, "", definitions_of(properties), {});
    }
    void offer(CORBA::Long id, const char* type = "Printer") const
    {
        (void)CORBA::String_var(offers->_cxx_export(
            lookup.in(), type,
            properties_of({{"id", any_of(id)}, {"speed", any_of(CORBA::Double(id * 7 % 5))}})));
    }
    void link(const char* name, Lookup_ptr target, FollowOption def_pass_on = always,
              FollowOption limiting = always) const
    {
        links->add_link(name, target, def_pass_on, limiting);
    }

    Lookup_var lookup;
    Register_var offers;
    Admin_var admin;
    Link_var links;
    CosTrading::Proxy_var proxies;
    Repository::_var_type types;

  private:
    CORBA::ORB_var orb_;
    std::optional<TradingService> service_;
    std::thread thread_; // that serves, where the ORB has none of its own for that
};

/// Limits under which no busy machine is late.
inline ServiceLimits patient()
{
    ServiceLimits limits;
    limits.hop_time = limits.hops_time_max = std::chrono::seconds(60);
    limits.link_connect_timeout = std::chrono::seconds(60);
    limits.query_time_max = std::chrono::seconds(60);
    return limits;
}

inline CosTrading::PolicySeq policies_of(const Policies& values)
{
    CosTrading::PolicySeq policies;
    policies.length(static_cast<CORBA::ULong>(values.size()));
    for (CORBA::ULong i = 0; i < policies.length(); ++i) {
        policies[i].name = values[i].first.c_str();
        policies[i].value = values[i].second;
    }
    return policies;
}

inline TraderName path_of(const Names& names) { return list_of<TraderName>(names); }

inline CORBA::Any id_of(std::string_view text)
{
    Admin::OctetSeq id;
    id.length(static_cast<CORBA::ULong>(text.size()));
    for (CORBA::ULong i = 0; i < id.length(); ++i)
        id[i] = static_cast<CORBA::Octet>(text[i]);
    return any_of(id);
}

/// Several traders of the same type, each with an offer whose id is its number, and their client.
class Federations : public ::testing::Test {
  protected:
    Federations() : client_(make_orb()) {}
    ~Federations() override
    {
        nodes_.clear();
        client_->destroy();
    }

    Node& add(const ServiceLimits& limits = patient(), const Names& options = {})
    {
        nodes_.push_back(std::make_unique<Node>(client_.in(), limits, options));
        Node& node = *nodes_.back();
        node.add_type("Printer", {{"id", CORBA::_tc_long}, {"speed", CORBA::_tc_double}});
        node.offer(static_cast<CORBA::Long>(nodes_.size() - 1));
        return node;
    }
    /// Links each to the next one, and the last to the first.
    void add_ring(std::size_t count, const Names& options = {})
    {
        for (std::size_t i = 0; i < count; ++i)
            (void)add(patient(), options);
        for (std::size_t i = 0; i < count; ++i)
            nodes_[i]->link("next", nodes_[(i + 1) % count]->lookup.in());
    }
    Node& node(std::size_t place) { return *nodes_[place]; }

    struct Query {
        Policies policies{};
        const char* constraint = "";
        const char* preference = "min id";
        CORBA::ULong how_many = 1'000'000;
        const char* type = "Printer";
    };
    /// The ids of what is found, " ..." if there is more, and the limits that were applied.
    static std::string ask(const Node& node, const Query& query)
    {
        Lookup::SpecifiedProps desired;
        desired.prop_names(list_of<PropertyNameSeq>({"id"}));
        OfferSeq_var offers;
        OfferIterator_var rest;
        PolicyNameSeq_var limits;
        node.lookup->query(query.type, query.constraint, query.preference,
                           policies_of(query.policies), desired, query.how_many, offers.out(),
                           rest.out(), limits.out());
        std::string all = ids_in(offers.in());
        if (!CORBA::is_nil(rest.in())) {
            for (bool has_more = true; has_more;) {
                has_more = rest->next_n(query.how_many + 1, offers.out());
                all += "; " + ids_in(offers.in());
            }
            rest->destroy();
        }
        for (CORBA::ULong i = 0; i < limits->length(); ++i)
            all += std::string(" ") + limits[i].in();
        return all;
    }
    static std::string ids_in(const OfferSeq& offers)
    {
        std::string all;
        for (CORBA::ULong i = 0; i < offers.length(); ++i) {
            CORBA::Long id = -1;
            if (offers[i].properties.length() == 1) (void)(offers[i].properties[0].value >>= id);
            all += (all.empty() ? "" : " ") + std::to_string(id);
        }
        return all;
    }
    static std::pair<std::string, CORBA::Any> follow(FollowOption rule)
    {
        return {"link_follow_rule", any_of(rule)};
    }
    static std::pair<std::string, CORBA::Any> hops(CORBA::ULong count)
    {
        return {"hop_count", any_of(count)};
    }
    static std::pair<std::string, CORBA::Any> start(const Names& path)
    {
        return {"starting_trader", any_of(path_of(path))};
    }

    CORBA::ORB_var client_;
    std::vector<std::unique_ptr<Node>> nodes_;
};

} // namespace kairos::trading
