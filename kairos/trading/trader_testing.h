// SPDX-License-Identifier: Apache-2.0
//
// What the tests of traders share: ORBs, types, offers and queries in few words.
#pragma once

#include "kairos/trading/service.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kairos::trading {

using Repository = CosTradingRepos::ServiceTypeRepository;
using Names = std::vector<std::string>;
using Values = std::vector<std::pair<std::string, CORBA::Any>>;

template <typename T>
CORBA::Any any_of(const T& value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

inline CORBA::Any truth(bool value)
{
    CORBA::Any any;
    any <<= CORBA::Any::from_boolean(value);
    return any;
}

template <typename List>
List list_of(const Names& names)
{
    List list;
    list.length(static_cast<CORBA::ULong>(names.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i)
        list[i] = names[i].c_str();
    return list;
}

inline CosTrading::PropertySeq properties_of(const Values& values)
{
    CosTrading::PropertySeq list;
    list.length(static_cast<CORBA::ULong>(values.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        list[i].name = values[i].first.c_str();
        list[i].value = values[i].second;
    }
    return list;
}

struct Definition {
    const char* name;
    CORBA::TypeCode_ptr type;
    Repository::PropertyMode mode = Repository::PROP_NORMAL;
};

inline Repository::PropStructSeq definitions_of(const std::vector<Definition>& all)
{
    Repository::PropStructSeq list;
    list.length(static_cast<CORBA::ULong>(all.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        list[i].name = all[i].name;
        list[i].value_type = CORBA::TypeCode::_duplicate(all[i].type);
        list[i].mode = all[i].mode;
    }
    return list;
}

inline CORBA::ORB_ptr make_orb(const Names& more = {})
{
    static int count = 0;
    Names options{"test", "-ORBListenEndpoints", "iiop://127.0.0.1"};
    options.insert(options.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("trading " + std::to_string(++count)).c_str());
}

/// A trader, and a client of it over loopback.
class TraderTest : public ::testing::Test {
  protected:
    explicit TraderTest(const ServiceLimits& limits = {})
        : server_(make_orb()), client_(make_orb()), service_(std::in_place, server_.in(), limits)
    {
        const CosTrading::Lookup_var made = service_->lookup();
        const CORBA::String_var text = server_->object_to_string(made.in());
        const CORBA::Object_var object = client_->string_to_object(text.in());
        lookup_ = CosTrading::Lookup::_narrow(object.in());
        register_ = lookup_->register_if();
        admin_ = lookup_->admin_if();
        const CORBA::Object_var types = lookup_->type_repos();
        types_ = Repository::_narrow(types.in());
    }
    ~TraderTest() override
    {
        service_.reset();
        server_->destroy();
        client_->destroy();
    }

    void add_type(const char* name, const std::vector<Definition>& properties,
                  const Names& supers = {}, const char* interface = "") const
    {
        (void)types_->add_type(name, interface, definitions_of(properties),
                               list_of<Repository::ServiceTypeNameSeq>(supers));
    }
    /// Of an object that nobody calls: the trader's own Lookup.
    std::string offer(const char* type, const Values& values) const
    {
        return CORBA::String_var(register_->_cxx_export(lookup_.in(), type, properties_of(values)))
            .in();
    }

    struct Query {
        const char* type = "";
        const char* constraint = "";
        const char* preference = "";
        Values policies{};
        CORBA::ULong how_many = 1'000'000;
    };
    /// The longs that the property "id" has in each offer, and then the limits that were applied.
    [[nodiscard]] std::string ask(const Query& query) const
    {
        CosTrading::PolicySeq policies;
        policies.length(static_cast<CORBA::ULong>(query.policies.size()));
        for (CORBA::ULong i = 0; i < policies.length(); ++i) {
            policies[i].name = query.policies[i].first.c_str();
            policies[i].value = query.policies[i].second;
        }
        CosTrading::Lookup::SpecifiedProps desired;
        desired.prop_names(list_of<CosTrading::PropertyNameSeq>({"id"}));
        CosTrading::OfferSeq_var offers;
        CosTrading::OfferIterator_var rest;
        CosTrading::PolicyNameSeq_var limits;
        lookup_->query(query.type, query.constraint, query.preference, policies, desired,
                       query.how_many, offers.out(), rest.out(), limits.out());
        std::string all = ids_in(offers.in());
        if (!CORBA::is_nil(rest.in())) all += " ...";
        for (CORBA::ULong i = 0; i < limits->length(); ++i)
            all += std::string(" ") + limits[i].in();
        return all;
    }
    [[nodiscard]] static std::string ids_in(const CosTrading::OfferSeq& offers)
    {
        std::string all;
        for (CORBA::ULong i = 0; i < offers.length(); ++i) {
            CORBA::Long id = -1;
            if (offers[i].properties.length() == 1) (void)(offers[i].properties[0].value >>= id);
            all += (all.empty() ? "" : " ") + std::to_string(id);
        }
        return all;
    }

    CORBA::ORB_var server_;
    CORBA::ORB_var client_;
    std::optional<TradingService> service_;
    CosTrading::Lookup_var lookup_;
    CosTrading::Register_var register_;
    CosTrading::Admin_var admin_;
    Repository::_var_type types_;
};

} // namespace kairos::trading
