// SPDX-License-Identifier: Apache-2.0
//
// The managers of mappings and transforms.
#include "kairos/rtcorba/priority_mapping.h"

#include "kairos/rtcorba/services.h"

namespace kairos::rtcorba {

namespace {

class MappingObject final : public RTCORBA::PriorityMappingManager {
  public:
    explicit MappingObject(std::shared_ptr<Services> services) : services_(std::move(services)) {}

    void mapping(RTCORBA::PriorityMapping* mapping) override
    {
        if (mapping == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null mapping");
        services_->set_mapping(mapping);
    }
    RTCORBA::PriorityMapping* mapping() override { return services_->mapping(); }

  private:
    const std::shared_ptr<Services> services_;
};

class TransformObject final : public RTCORBA::PriorityTransformManager {
  public:
    explicit TransformObject(std::shared_ptr<Services> services) : services_(std::move(services)) {}

    void transform(RTCORBA::PriorityTransform* transform) override
    {
        services_->set_transform(transform);
    }
    RTCORBA::PriorityTransform* transform() override { return services_->transform(); }

  private:
    const std::shared_ptr<Services> services_;
};

} // namespace

CORBA::Object_ptr make_mapping_manager(std::shared_ptr<Services> services)
{
    return new MappingObject(std::move(services));
}

CORBA::Object_ptr make_transform_manager(std::shared_ptr<Services> services)
{
    return new TransformObject(std::move(services));
}

} // namespace kairos::rtcorba
