// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/kept_rows.h"

#include "kairos/trading/trader_state.h"

#include <algorithm>

namespace kairos::trading {
namespace {

// What a row has of all that Admin sets, in this order.
constexpr CORBA::ULong Attributes::*kept_numbers[] = {
    &Attributes::def_search_card, &Attributes::max_search_card, &Attributes::def_match_card,
    &Attributes::max_match_card,  &Attributes::def_return_card, &Attributes::max_return_card,
    &Attributes::max_list,        &Attributes::def_hop_count,   &Attributes::max_hop_count};
constexpr CosTrading::FollowOption Attributes::*kept_policies[] = {
    &Attributes::def_follow_policy, &Attributes::max_follow_policy,
    &Attributes::max_link_follow_policy};

/// What `read` makes of a row; none where that is malformed.
template <typename Kept, typename Read>
std::optional<Kept> kept_in(std::string_view row, CORBA::ORB_ptr orb, Read read)
{
    try {
        Kept kept;
        corba::RowReader in(row, orb);
        read(in, kept);
        if (in.is_whole()) return kept;
    } catch (const CORBA::SystemException&) { // of a type or value that is none
    }
    return std::nullopt;
}

} // namespace

std::string type_key(std::uint64_t incarnation) { return corba::row_key(type_rows, incarnation); }

std::string offer_key(std::uint64_t number) { return corba::row_key(offer_rows, number); }

std::string row_of(const ServiceType& type, bool masked, CORBA::ORB_ptr orb)
{
    Repository::TypeStruct kept = type.own;
    kept.masked = masked;
    kept.incarnation = Repository::IncarnationNumber();
    return corba::RowWriter(orb).put(type.name).put(kept).row();
}

std::string row_of(const Offer& offer, CORBA::ORB_ptr orb)
{
    const Repository::IncarnationNumber& number = offer.type->own.incarnation;
    CosTrading::PropertySeq properties;
    properties.length(static_cast<CORBA::ULong>(offer.properties.size()));
    for (CORBA::ULong i = 0; i < properties.length(); ++i) {
        properties[i].name = offer.properties[i].name.c_str();
        properties[i].value = offer.properties[i].value;
    }
    return corba::RowWriter(orb)
        .put(CORBA::ULongLong{std::uint64_t{number.high} << 32 | number.low})
        .put(offer.reference)
        .put(properties)
        .row();
}

std::string link_key(std::string_view name) { return std::string(link_rows).append(name); }

std::string proxy_key(std::uint64_t number) { return corba::row_key(proxy_rows, number); }

std::string row_of(const CosTrading::Link::LinkInfo& link, CORBA::ORB_ptr orb)
{
    return corba::RowWriter(orb).put(link).row();
}

std::string row_of(const CosTrading::Proxy::ProxyInfo& proxy, CORBA::ORB_ptr orb)
{
    return corba::RowWriter(orb).put(proxy).row();
}

std::optional<CosTrading::Link::LinkInfo> kept_link(std::string_view row, CORBA::ORB_ptr orb)
{
    return kept_in<CosTrading::Link::LinkInfo>(
        row, orb, [](corba::RowReader& in, CosTrading::Link::LinkInfo& kept) { in.get(kept); });
}

std::optional<CosTrading::Proxy::ProxyInfo> kept_proxy(std::string_view row, CORBA::ORB_ptr orb)
{
    return kept_in<CosTrading::Proxy::ProxyInfo>(
        row, orb, [](corba::RowReader& in, CosTrading::Proxy::ProxyInfo& kept) { in.get(kept); });
}

std::string row_of(const Attributes& attributes)
{
    CosTrading::Admin::OctetSeq stem;
    stem.length(static_cast<CORBA::ULong>(attributes.request_id_stem.size()));
    std::ranges::copy(attributes.request_id_stem, stem.get_buffer());
    corba::RowWriter out(nullptr);
    for (const CORBA::ULong Attributes::*const number : kept_numbers)
        out.put(attributes.*number);
    for (const CosTrading::FollowOption Attributes::*const policy : kept_policies)
        out.put(attributes.*policy);
    return out.put(static_cast<CORBA::Boolean>(attributes.supports_modifiable_properties))
        .put(static_cast<CORBA::Boolean>(attributes.supports_dynamic_properties))
        .put(static_cast<CORBA::Boolean>(attributes.supports_proxy_offers))
        .put(stem)
        .row();
}

std::optional<Attributes> kept_attributes(std::string_view row)
{
    return kept_in<Attributes>(row, nullptr, [](corba::RowReader& in, Attributes& kept) {
        for (CORBA::ULong Attributes::*const number : kept_numbers)
            in.get(kept.*number);
        for (CosTrading::FollowOption Attributes::*const policy : kept_policies)
            in.get(kept.*policy);
        CORBA::Boolean has_modifiable = false;
        CORBA::Boolean has_dynamic = false;
        CORBA::Boolean has_proxies = false;
        CosTrading::Admin::OctetSeq stem;
        in.get(has_modifiable).get(has_dynamic).get(has_proxies).get(stem);
        kept.supports_modifiable_properties = has_modifiable;
        kept.supports_dynamic_properties = has_dynamic;
        kept.supports_proxy_offers = has_proxies;
        kept.request_id_stem.assign(stem.get_buffer(), stem.get_buffer() + stem.length());
    });
}

std::optional<KeptType> kept_type(std::string_view row, CORBA::ORB_ptr orb)
{
    return kept_in<KeptType>(
        row, orb, [](corba::RowReader& in, KeptType& kept) { in.get(kept.name).get(kept.type); });
}

std::optional<KeptOffer> kept_offer(std::string_view row, CORBA::ORB_ptr orb)
{
    return kept_in<KeptOffer>(row, orb, [](corba::RowReader& in, KeptOffer& kept) {
        in.get(kept.type).get(kept.reference).get(kept.properties);
    });
}

} // namespace kairos::trading
