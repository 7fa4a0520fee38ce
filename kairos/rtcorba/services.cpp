// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtcorba/services.h"

#include "kairos/corba/policies.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"

#include <cstring>

namespace kairos::rtcorba {

namespace {

/// What a program gives the core by a mapping of its own.
class Mapping final : public orb::PriorityMapping {
  public:
    explicit Mapping(RTCORBA::PriorityMapping* mapping) : mapping_(mapping) {}

    bool to_native(orb::Priority priority, int& native) const noexcept override
    {
        RTCORBA::NativePriority found = 0;
        if (!mapping_->to_native(priority, found)) return false;
        native = found;
        return native >= 0 && native <= orb::native_priority_max;
    }
    bool to_corba(int native, orb::Priority& priority) const noexcept override
    {
        return mapping_->to_CORBA(static_cast<RTCORBA::NativePriority>(native), priority) &&
               priority >= 0;
    }

  private:
    const std::unique_ptr<RTCORBA::PriorityMapping> mapping_;
};

/// The other way round: the core's own as programs see it. That lives as long as the ORB.
class CoreMapping final : public RTCORBA::PriorityMapping {
  public:
    explicit CoreMapping(const orb::PriorityMapping& mapping) : mapping_(mapping) {}

    CORBA::Boolean to_native(RTCORBA::Priority priority, RTCORBA::NativePriority& native) override
    {
        int found = 0;
        if (!mapping_.to_native(priority, found)) return false;
        native = static_cast<RTCORBA::NativePriority>(found);
        return true;
    }
    CORBA::Boolean to_CORBA(RTCORBA::NativePriority native, RTCORBA::Priority& priority) override
    {
        return mapping_.to_corba(native, priority);
    }

  private:
    const orb::PriorityMapping& mapping_;
};

PortableServer::ObjectId object_id_of(Bytes octets)
{
    PortableServer::ObjectId id;
    id.length(static_cast<CORBA::ULong>(octets.size()));
    if (!octets.empty()) std::memcpy(id.get_buffer(), octets.data(), octets.size());
    return id;
}

std::shared_ptr<corba::OrbAttachment> make_services(CORBA::ORB& orb)
{
    return std::make_shared<Services>(orb);
}

} // namespace

/// A program's transform as the core calls it.
class Services::Transform final : public orb::PriorityTransform {
  public:
    explicit Transform(RTCORBA::PriorityTransform* transform) : transform_(transform) {}

    bool inbound(orb::Priority& priority, Bytes object_id) noexcept override
    {
        return transform_->inbound(priority, object_id_of(object_id)) && priority >= 0;
    }
    /// Outside of requests there is no object to name, and nothing to transform.
    bool outbound(orb::Priority& priority) noexcept override
    {
        const poa::Calling* calling = poa::Calling::innermost();
        if (calling == nullptr || calling->servant() == nullptr) return true;
        const poa::Identity called = calling->adapter().called(*calling);
        return transform_->outbound(priority, object_id_of(called.id)) && priority >= 0;
    }
    [[nodiscard]] RTCORBA::PriorityTransform* of_program() const noexcept
    {
        return transform_.get();
    }

  private:
    const std::unique_ptr<RTCORBA::PriorityTransform> transform_;
};

Services::Services(CORBA::ORB& orb) : core_(&orb._kairos_core()) {}

Services::~Services() { core_->set_priority_transform(nullptr); }

std::shared_ptr<Services> Services::of(CORBA::ORB& orb)
{
    return std::static_pointer_cast<Services>(corba::real_time_of(orb, make_services));
}

void Services::end() noexcept
{
    core_->set_priority_transform(nullptr);
    std::map<std::string, RTCORBA::Mutex_var, std::less<>> mutexes; // released without the lock
    const std::lock_guard lock(mutex_);
    mutexes.swap(mutexes_);
}

// --- mutexes -------------------------------------------------------------------------------------

RTCORBA::Mutex_ptr Services::named_mutex(const char* name, bool& created)
{
    const std::lock_guard lock(mutex_);
    RTCORBA::Mutex_var& known = mutexes_[name];
    created = CORBA::is_nil(known.in());
    if (created) known = make_mutex();
    return RTCORBA::Mutex::_duplicate(known.in());
}

RTCORBA::Mutex_ptr Services::find_mutex(const char* name)
{
    const std::lock_guard lock(mutex_);
    const auto known = mutexes_.find(name);
    return known == mutexes_.end() ? nullptr : RTCORBA::Mutex::_duplicate(known->second.in());
}

void Services::forget(RTCORBA::Mutex_ptr mutex)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(mutexes_, [mutex](const auto& known) { return known.second.in() == mutex; });
}

// --- mappings and transforms ---------------------------------------------------------------------

void Services::set_mapping(RTCORBA::PriorityMapping* mapping)
{
    const std::lock_guard lock(mutex_);
    core_->set_priority_mapping(std::make_unique<Mapping>(mapping));
    mapping_ = mapping;
}

RTCORBA::PriorityMapping* Services::mapping()
{
    const std::lock_guard lock(mutex_);
    if (mapping_ == nullptr) {
        auto own = std::make_unique<CoreMapping>(core_->priority_mapping());
        mapping_ = own.get();
        core_->set_priority_mapping(std::make_unique<Mapping>(own.release()));
    }
    return mapping_;
}

void Services::set_transform(RTCORBA::PriorityTransform* transform)
{
    const std::lock_guard lock(mutex_);
    if (transform == nullptr) return core_->set_priority_transform(nullptr);
    transforms_.push_back(std::make_unique<Transform>(transform));
    core_->set_priority_transform(transforms_.back().get());
}

RTCORBA::PriorityTransform* Services::transform()
{
    auto* present = static_cast<Transform*>(core_->priority_transform());
    return present == nullptr ? nullptr : present->of_program();
}

} // namespace kairos::rtcorba

namespace kairos::corba {

CORBA::Object_ptr real_time_service(CORBA::ORB& orb, std::string_view name)
{
    auto services = rtcorba::Services::of(orb);
    if (name == "RTCurrent") return rtcorba::make_current(*services);
    if (name == "PriorityMappingManager") return rtcorba::make_mapping_manager(std::move(services));
    if (name == "PriorityTransformManager")
        return rtcorba::make_transform_manager(std::move(services));
    return rtcorba::make_rtorb(std::move(services));
}

} // namespace kairos::corba
