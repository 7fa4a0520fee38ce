// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/processing_mode.h"

#include "kairos/corba/policies.h"

#include <optional>

namespace kairos::interceptors {

namespace {

using PortableInterceptor::ProcessingMode;

class ModePolicy final : public PortableInterceptor::ProcessingModePolicy {
  public:
    explicit ModePolicy(ProcessingMode mode) : mode_(mode) {}
    CORBA::PolicyType policy_type() override
    {
        return PortableInterceptor::PROCESSING_MODE_POLICY_TYPE;
    }
    ProcessingMode processing_mode() override { return mode_; }
    CORBA::Policy_ptr copy() override { return new ModePolicy(mode_); }
    void destroy() override {}

  private:
    const ProcessingMode mode_;
};

} // namespace

void know_processing_modes(CORBA::ORB& orb)
{
    orb._kairos_policies().add_factory(
        PortableInterceptor::PROCESSING_MODE_POLICY_TYPE,
        [](CORBA::PolicyType, const CORBA::Any& value) -> CORBA::Policy_ptr {
            ProcessingMode mode = PortableInterceptor::LOCAL_AND_REMOTE;
            if (!(value >>= mode)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
            if (mode < PortableInterceptor::LOCAL_AND_REMOTE ||
                mode > PortableInterceptor::LOCAL_ONLY)
                throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
            return new ModePolicy(mode);
        });
}

ProcessingMode processing_mode_of(const CORBA::PolicyList& policies)
{
    std::optional<ProcessingMode> mode;
    for (const CORBA::Policy_ptr policy : policies) {
        if (CORBA::is_nil(policy)) continue;
        const auto known = PortableInterceptor::ProcessingModePolicy::_narrow(policy);
        const PortableInterceptor::ProcessingModePolicy_var owner = known;
        if (CORBA::is_nil(known)) throw CORBA::PolicyError(CORBA::UNSUPPORTED_POLICY);
        if (mode) throw CORBA::INV_POLICY(0, CORBA::COMPLETED_NO, "two processing modes of one");
        mode = known->processing_mode();
    }
    return mode.value_or(PortableInterceptor::LOCAL_AND_REMOTE);
}

} // namespace kairos::interceptors
