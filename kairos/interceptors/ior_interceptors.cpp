// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/ior_interceptors.h"

#include "kairos/base/log.h"
#include "kairos/interceptors/ior_info.h"
#include "kairos/interceptors/reference_template.h"

#include <algorithm>
#include <cstring>

namespace kairos::interceptors {

using mapping::omg_minor;

namespace {

using Newer = PortableInterceptor::IORInterceptor_3_0;

/// Calls `tell` for each interceptor that hears of more than establish_components.
template <typename Tell>
void for_each_newer(const Interceptors& all, Tell tell)
{
    for (const auto& interceptor : all.iors)
        if (auto* const newer = dynamic_cast<Newer*>(interceptor.in())) tell(*newer);
}

bool any_newer(const Interceptors& all)
{
    bool any = false;
    for_each_newer(all, [&any](Newer&) { any = true; });
    return any;
}

/// Has the points of an IorInfo end, however they end.
class AtIorPoint {
  public:
    AtIorPoint(IorInfo& info, IorInfo::Point point) noexcept : info_(info) { info_.at(point); }
    AtIorPoint(const AtIorPoint&) = delete;
    AtIorPoint& operator=(const AtIorPoint&) = delete;
    ~AtIorPoint() { info_.at(IorInfo::Point::none); }

  private:
    IorInfo& info_;
};

void warn_of(const char* point)
{
    log::warning(std::string("an IOR interceptor threw from ") + point);
}

/// What the references of one POA say.
class References final : public corba::AdapterReferences {
  public:
    References(std::shared_ptr<const Interceptors> all, PortableServer::POA& poa)
        : all_(std::move(all)), poa_(std::make_shared<TemplatePoa>(&poa)),
          info_(new IorInfo(poa, components))
    {
        for (const auto& interceptor : all_->iors) {
            const AtIorPoint at(*info_.in(), IorInfo::Point::establish_components);
            try {
                interceptor->establish_components(info_.in());
            } catch (...) {
                warn_of("establish_components");
            }
        }
    }

    void complete() override
    {
        if (any_newer(*all_)) {
            template_ = new ReferenceTemplate(poa_, all_->orb_id, all_->server_id);
            info_->set_template(template_.in());
            for_each_newer(*all_, [this](Newer& interceptor) { tell_established(interceptor); });
            if (PortableInterceptor::ObjectReferenceFactory* const other = info_->other_factory())
                factory_ = counted(other);
        }
        info_ = nullptr;
        is_complete_ = true;
    }

    [[nodiscard]] bool makes_references() const noexcept override
    {
        return factory_.in() != nullptr;
    }

    [[nodiscard]] CORBA::Object_ptr make_reference(const char* repository_id,
                                                   Bytes id) const override
    {
        PortableInterceptor::ObjectId octets;
        octets.length(static_cast<CORBA::ULong>(id.size()));
        if (!id.empty()) std::memcpy(octets.get_buffer(), id.data(), id.size());
        return factory_->make_object(repository_id, octets);
    }

    /// A POA that was never made complete is told of to nobody.
    void end() noexcept override
    {
        poa_->end();
        if (!is_complete_ || template_.in() == nullptr) return;
        for_each_newer(*all_, [this](Newer& interceptor) {
            try {
                PortableInterceptor::ObjectReferenceTemplateSeq templates;
                templates.length(1);
                templates[0] = counted(
                    static_cast<PortableInterceptor::ObjectReferenceTemplate*>(template_.in()));
                interceptor.adapter_state_changed(templates, PortableInterceptor::NON_EXISTENT);
            } catch (...) {
                warn_of("adapter_state_changed");
            }
        });
    }

  private:
    void tell_established(Newer& interceptor)
    {
        const AtIorPoint at(*info_.in(), IorInfo::Point::components_established);
        try {
            interceptor.components_established(info_.in());
        } catch (...) {
            throw CORBA::OBJ_ADAPTER(omg_minor(6), CORBA::COMPLETED_NO,
                                     "an IOR interceptor threw from components_established");
        }
    }

    const std::shared_ptr<const Interceptors> all_;
    const std::shared_ptr<TemplatePoa> poa_;
    mapping::ObjectVar<IorInfo> info_; // until complete
    values::Var<ReferenceTemplate> template_;
    PortableInterceptor::ObjectReferenceFactory_var factory_; // null where that is the template
    bool is_complete_ = false;
};

} // namespace

bool IorInterceptors::establishes() const noexcept { return !all_->iors.empty(); }

std::unique_ptr<corba::AdapterReferences> IorInterceptors::adapter_made(PortableServer::POA& poa)
{
    return std::make_unique<References>(all_, poa);
}

bool IorInterceptors::keeps_policy(CORBA::PolicyType type) const noexcept
{
    return std::ranges::find(all_->policy_types, type) != all_->policy_types.end();
}

void IorInterceptors::manager_changed(const std::string& id, State state) noexcept
{
    for_each_newer(*all_, [&](Newer& interceptor) {
        try {
            interceptor.adapter_manager_state_changed(
                id.c_str(), static_cast<PortableInterceptor::AdapterState>(state));
        } catch (...) {
            warn_of("adapter_manager_state_changed");
        }
    });
}

} // namespace kairos::interceptors
