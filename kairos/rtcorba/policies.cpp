// SPDX-License-Identifier: Apache-2.0
//
// The policies of Real-Time CORBA 1.2 as objects: what they say, and what that means to object
// adapters and to references. Immutable.
#include "kairos/corba/policies.h"
#include "kairos/corba/poa_policies.h"
#include "kairos/orb/orb.h"
#include "kairos/rtcorba/services.h"
#include "kairos/server/serving.h"
#include "kairos/server/thread_pools.h"

namespace kairos::rtcorba {

namespace {

void require(bool valid, const char* what)
{
    if (!valid) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, what);
}

class PriorityModelPolicy final : public RTCORBA::PriorityModelPolicy,
                                  public corba::AdapterPolicy,
                                  public corba::OrbPolicy {
  public:
    PriorityModelPolicy(RTCORBA::PriorityModel model, RTCORBA::Priority priority)
        : model_(model), priority_(priority)
    {
    }
    RTCORBA::PriorityModel priority_model() override { return model_; }
    RTCORBA::Priority server_priority() override { return priority_; }
    CORBA::PolicyType policy_type() override { return RTCORBA::PRIORITY_MODEL_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new PriorityModelPolicy(model_, priority_); }
    void destroy() override {}

    bool add_to(poa::Policies& policies, orb::Orb& /*orb*/) const override
    {
        policies.real_time.priority_model =
            ior::PriorityModel{model_ == RTCORBA::CLIENT_PROPAGATED, priority_};
        return true;
    }
    [[nodiscard]] Use use() const noexcept override { return Use::by_poas; }

  private:
    const RTCORBA::PriorityModel model_;
    const RTCORBA::Priority priority_;
};

class ThreadpoolPolicy final : public RTCORBA::ThreadpoolPolicy,
                               public corba::AdapterPolicy,
                               public corba::OrbPolicy {
  public:
    ThreadpoolPolicy(orb::Orb& core, RTCORBA::ThreadpoolId id) : core_(&core), id_(id) {}
    RTCORBA::ThreadpoolId threadpool() override { return id_; }
    CORBA::PolicyType policy_type() override { return RTCORBA::THREADPOOL_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new ThreadpoolPolicy(*core_, id_); }
    void destroy() override {}

    /// The pool must be there still, and the ORB's.
    bool add_to(poa::Policies& policies, orb::Orb& orb) const override
    {
        if (&orb != core_.get()) return false;
        policies.real_time.pool = orb::Serving::of(*core_).thread_pools().find(id_);
        return policies.real_time.pool != nullptr;
    }
    [[nodiscard]] Use use() const noexcept override { return Use::by_poas; }

  private:
    const IntrusivePtr<orb::Orb> core_;
    const RTCORBA::ThreadpoolId id_;
};

class PrivateConnectionPolicy final : public RTCORBA::PrivateConnectionPolicy,
                                      public corba::BindingPolicy {
  public:
    CORBA::PolicyType policy_type() override { return RTCORBA::PRIVATE_CONNECTION_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new PrivateConnectionPolicy; }
    void destroy() override {}
    void add_to(orb::BindingPolicies& policies) const override
    {
        policies.private_connection = true;
    }
};

class BandsPolicy final : public RTCORBA::PriorityBandedConnectionPolicy,
                          public corba::AdapterPolicy,
                          public corba::BindingPolicy {
  public:
    explicit BandsPolicy(const RTCORBA::PriorityBands& bands) : bands_(bands) {}
    RTCORBA::PriorityBands* priority_bands() override { return new RTCORBA::PriorityBands(bands_); }
    CORBA::PolicyType policy_type() override
    {
        return RTCORBA::PRIORITY_BANDED_CONNECTION_POLICY_TYPE;
    }
    CORBA::Policy_ptr copy() override { return new BandsPolicy(bands_); }
    void destroy() override {}

    bool add_to(poa::Policies& policies, orb::Orb& /*orb*/) const override
    {
        policies.real_time.bands = values();
        return true;
    }
    void add_to(orb::BindingPolicies& policies) const override { policies.bands = values(); }

    [[nodiscard]] std::vector<ior::PriorityBand> values() const
    {
        std::vector<ior::PriorityBand> bands;
        for (const RTCORBA::PriorityBand& band : bands_)
            bands.push_back({band.low, band.high});
        return bands;
    }

  private:
    const RTCORBA::PriorityBands bands_;
};

/// For ORB::create_policy, of what programs put into the Any.
CORBA::Policy_ptr create(CORBA::PolicyType type, const CORBA::Any& value)
{
    try {
        if (type == RTCORBA::PRIVATE_CONNECTION_POLICY_TYPE) return make_private_connection();
        if (type == RTCORBA::PRIORITY_MODEL_POLICY_TYPE) {
            RTCORBA::PriorityModel model = RTCORBA::CLIENT_PROPAGATED;
            RTCORBA::Priority priority = 0;
            if (value >>= model) return make_priority_model(model, 0);
            if (value >>= priority) return make_priority_model(RTCORBA::SERVER_DECLARED, priority);
        } else {
            const RTCORBA::PriorityBands* bands = nullptr;
            if (value >>= bands) return make_priority_bands(*bands);
        }
    } catch (const CORBA::BAD_PARAM&) {
        throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
    }
    throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
}

/// What a reference says.
CORBA::Policy_ptr make_exposed(CORBA::PolicyType type, const ior::ExposedPolicies& exposed)
{
    if (type == RTCORBA::PRIORITY_MODEL_POLICY_TYPE && exposed.priority_model)
        return new PriorityModelPolicy(exposed.priority_model->client_propagated
                                           ? RTCORBA::CLIENT_PROPAGATED
                                           : RTCORBA::SERVER_DECLARED,
                                       exposed.priority_model->server_priority);
    if (type == RTCORBA::PRIORITY_BANDED_CONNECTION_POLICY_TYPE && !exposed.bands.empty()) {
        RTCORBA::PriorityBands bands;
        bands.length(static_cast<CORBA::ULong>(exposed.bands.size()));
        for (CORBA::ULong i = 0; i < bands.length(); ++i)
            bands[i] = {exposed.bands[i].low, exposed.bands[i].high};
        return new BandsPolicy(bands);
    }
    if (type == RTCORBA::CLIENT_PROTOCOL_POLICY_TYPE && exposed.tcp)
        return make_client_protocols(*exposed.tcp);
    return CORBA::Policy::_nil();
}

} // namespace

RTCORBA::PriorityModelPolicy_ptr make_priority_model(RTCORBA::PriorityModel model,
                                                     RTCORBA::Priority priority)
{
    require(model <= RTCORBA::SERVER_DECLARED, "no priority model");
    require(priority >= RTCORBA::minPriority, "no priority of CORBA's");
    return new PriorityModelPolicy(model, priority);
}

RTCORBA::ThreadpoolPolicy_ptr make_threadpool(orb::Orb& core, RTCORBA::ThreadpoolId id)
{
    return new ThreadpoolPolicy(core, id);
}

RTCORBA::PrivateConnectionPolicy_ptr make_private_connection()
{
    return new PrivateConnectionPolicy;
}

RTCORBA::PriorityBandedConnectionPolicy_ptr make_priority_bands(const RTCORBA::PriorityBands& bands)
{
    require(bands.length() != 0 && bands.length() <= limits::priority_bands_max,
            "no bands, or too many");
    auto* made = new BandsPolicy(bands);
    const RTCORBA::PriorityBandedConnectionPolicy_var owned = made;
    require(ior::are_bands(made->values()), "bands that overlap, or do not go upwards from 0");
    return RTCORBA::PriorityBandedConnectionPolicy::_duplicate(owned.in());
}

} // namespace kairos::rtcorba

namespace kairos::corba {

/// For policies.cpp, which knows it by this name only.
KAIROS_API void add_real_time_policies(Policies& policies);

/// A thread pool is the ORB's: its policy is made by RTORB, which knows of which.
void add_real_time_policies(Policies& policies)
{
    for (const CORBA::PolicyType type :
         {RTCORBA::PRIORITY_MODEL_POLICY_TYPE, RTCORBA::PRIVATE_CONNECTION_POLICY_TYPE,
          RTCORBA::PRIORITY_BANDED_CONNECTION_POLICY_TYPE})
        (void)policies.add_factory(type, rtcorba::create);
    policies.set_exposed_factory(rtcorba::make_exposed);
}

} // namespace kairos::corba
