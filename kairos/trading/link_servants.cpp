// SPDX-License-Identifier: Apache-2.0
//
// Link and Proxy as servants.
#include "kairos/trading/component.h"
#include "kairos/trading/federation.h"

namespace kairos::trading {
namespace {

using CosTrading::FollowOption;

// --- Link ----------------------------------------------------------------------------------------

class LinkServant final : public Component<POA_CosTrading::Link> {
  public:
    using Component::Component;
    using Idl = CosTrading::Link;

    FollowOption max_link_follow_policy() override
    {
        return state().attributes().max_link_follow_policy;
    }

    void add_link(const char* name, CosTrading::Lookup_ptr target, FollowOption def_pass_on,
                  FollowOption limiting) override
    {
        state().links.check_name(name);
        if (state().links.find(name)) throw Idl::DuplicateLinkName(name);
        if (CORBA::is_nil(target)) throw CosTrading::InvalidLookupRef(target);
        check_rules(def_pass_on, limiting);
        LinkInfo info;
        info.target = CosTrading::Lookup::_duplicate(target);
        info.target_reg = known_register(target);
        info.def_pass_on_follow_rule = def_pass_on;
        info.limiting_follow_rule = limiting;
        state().add_link(name, info);
    }
    void remove_link(const char* name) override
    {
        state().links.check_name(name);
        state().remove_link(name);
    }
    LinkInfo* describe_link(const char* name) override
    {
        state().links.check_name(name);
        const std::optional<LinkInfo> info = state().links.find(name);
        if (!info) throw Idl::UnknownLinkName(name);
        return new LinkInfo(*info);
    }
    CosTrading::LinkNameSeq* list_links() override
    {
        const std::vector<std::string> names = state().links.names();
        CosTrading::LinkNameSeq_var list = new CosTrading::LinkNameSeq;
        list->length(static_cast<CORBA::ULong>(names.size()));
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            list[i] = names[i].c_str();
        return list._retn();
    }
    void modify_link(const char* name, FollowOption def_pass_on, FollowOption limiting) override
    {
        state().links.check_name(name);
        if (!state().links.find(name)) throw Idl::UnknownLinkName(name);
        check_rules(def_pass_on, limiting);
        state().modify_link(name, def_pass_on, limiting);
    }

  private:
    void check_rules(FollowOption def_pass_on, FollowOption limiting) const
    {
        if (def_pass_on > limiting) throw Idl::DefaultFollowTooPermissive(def_pass_on, limiting);
        const FollowOption most = state().attributes().max_link_follow_policy;
        if (limiting > most) throw Idl::LimitingFollowTooPermissive(limiting, most);
    }
    /// Nil where the target does not answer now: traders that name each other cannot all be there
    /// first. Throws InvalidLookupRef for who answers, and is no Lookup.
    [[nodiscard]] CosTrading::Register_ptr known_register(CosTrading::Lookup_ptr target) const
    {
        try {
            return register_of(state(), target);
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
        } catch (const CORBA::BAD_OPERATION&) {
        } catch (const CORBA::INV_OBJREF&) {
        } catch (const CORBA::MARSHAL&) {
        } catch (const CORBA::SystemException&) {
            return CosTrading::Register::_nil();
        }
        throw CosTrading::InvalidLookupRef(target);
    }
};

// --- Proxy ---------------------------------------------------------------------------------------

class ProxyServant final : public Component<POA_CosTrading::Proxy> {
  public:
    using Component::Component;
    using Idl = CosTrading::Proxy;

    char* export_proxy(CosTrading::Lookup_ptr target, const char* type,
                       const CosTrading::PropertySeq& properties, CORBA::Boolean if_match_all,
                       const char* recipe, const CosTrading::PolicySeq& policies) override
    {
        Idl::ProxyInfo info;
        info.type = type;
        info.target = CosTrading::Lookup::_duplicate(target);
        info.properties = properties;
        info.if_match_all = if_match_all;
        info.recipe = recipe;
        info.policies_to_pass_on = policies;
        const TypePtr service_type = state().catalog.type(type, true);
        const std::shared_ptr<ProxyOffer> proxy =
            make_proxy(service_type, info, state().limits, state().octets);
        refuse_dynamic(*proxy->offer, properties);
        return state().proxy_id_of(state().add_proxy(proxy));
    }
    void withdraw_proxy(const char* id) override
    {
        if (!state().withdraw_proxy(number_of(id))) throw CosTrading::UnknownOfferId(id);
    }
    Idl::ProxyInfo* describe_proxy(const char* id) override
    {
        const ProxyPtr proxy = state().proxies.find(number_of(id));
        if (proxy == nullptr) throw CosTrading::UnknownOfferId(id);
        return new Idl::ProxyInfo(proxy->info);
    }

  private:
    [[nodiscard]] std::uint64_t number_of(const char* id) const
    {
        if (const std::optional<std::uint64_t> number = state().proxy_number_of(id)) return *number;
        if (state().catalog.find(state().number_of(id)) == nullptr)
            throw CosTrading::UnknownOfferId(id);
        throw Idl::NotProxyOfferId(id);
    }
    void refuse_dynamic(const Offer& offer, const CosTrading::PropertySeq& given) const
    {
        if (state().attributes().supports_dynamic_properties) return;
        for (CORBA::ULong i = 0; i < given.length(); ++i) {
            const Offer::Property* const property = offer.find(given[i].name.in());
            if (property != nullptr && property->is_dynamic)
                throw CosTrading::PropertyTypeMismatch(offer.type->name.c_str(), given[i]);
        }
    }
};

} // namespace

PortableServer::Servant make_link_servant(TraderState& state) { return new LinkServant(state); }

PortableServer::Servant make_proxy_servant(TraderState& state) { return new ProxyServant(state); }

} // namespace kairos::trading
