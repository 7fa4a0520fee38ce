// SPDX-License-Identifier: Apache-2.0
//
// What several interfaces of a trader have in common, as bases of their servants. Any thread.
#pragma once

#include "kairos/trading/CosTrading_skel.h"
#include "kairos/trading/trader_state.h"

namespace kairos::trading {

/// TraderComponents and SupportAttributes, which all have.
template <typename Skeleton>
class Component : public Skeleton {
  public:
    explicit Component(TraderState& state) : state_(state) {}

    CosTrading::Lookup_ptr lookup_if() override
    {
        return state_.object<CosTrading::Lookup>(lookup_name);
    }
    CosTrading::Register_ptr register_if() override
    {
        return state_.object<CosTrading::Register>(register_name);
    }
    CosTrading::Link_ptr link_if() override { return state_.object<CosTrading::Link>(link_name); }
    CosTrading::Proxy_ptr proxy_if() override
    {
        return state_.object<CosTrading::Proxy>(proxy_name);
    }
    CosTrading::Admin_ptr admin_if() override
    {
        return state_.object<CosTrading::Admin>(admin_name);
    }
    CORBA::Boolean supports_modifiable_properties() override
    {
        return state_.attributes().supports_modifiable_properties;
    }
    CORBA::Boolean supports_dynamic_properties() override
    {
        return state_.attributes().supports_dynamic_properties;
    }
    CORBA::Boolean supports_proxy_offers() override
    {
        return state_.attributes().supports_proxy_offers;
    }
    CosTrading::TypeRepository_ptr type_repos() override
    {
        return state_.object<CORBA::Object>(repository_name);
    }

  protected:
    [[nodiscard]] TraderState& state() const noexcept { return state_; }

  private:
    TraderState& state_;
};

/// ImportAttributes, too.
template <typename Skeleton>
class ImportComponent : public Component<Skeleton> {
  public:
    using Component<Skeleton>::Component;
    CORBA::ULong def_search_card() override { return all().def_search_card; }
    CORBA::ULong max_search_card() override { return all().max_search_card; }
    CORBA::ULong def_match_card() override { return all().def_match_card; }
    CORBA::ULong max_match_card() override { return all().max_match_card; }
    CORBA::ULong def_return_card() override { return all().def_return_card; }
    CORBA::ULong max_return_card() override { return all().max_return_card; }
    CORBA::ULong max_list() override { return all().max_list; }
    CORBA::ULong def_hop_count() override { return all().def_hop_count; }
    CORBA::ULong max_hop_count() override { return all().max_hop_count; }
    CosTrading::FollowOption def_follow_policy() override { return all().def_follow_policy; }
    CosTrading::FollowOption max_follow_policy() override { return all().max_follow_policy; }

  private:
    [[nodiscard]] Attributes all() const { return this->state().attributes(); }
};

} // namespace kairos::trading
