// SPDX-License-Identifier: Apache-2.0
//
// What ORB initializers are given (CORBA 3.3 part 1, 16.7.2). Belongs to the thread that is in
// ORB_init, and answers until that returns.
#pragma once

#include "kairos/interceptors/interceptors.h"

#include <memory>

namespace kairos::interceptors {

class InitInfo final : public PortableInterceptor::ORBInitInfo_3_1 {
  public:
    /// `arguments` end with a null pointer, and outlive the initialization as `orb` does.
    InitInfo(CORBA::ORB& orb, std::shared_ptr<Interceptors> all, const char* const* arguments);

    CORBA::StringSeq* arguments() override;
    char* orb_id() override;
    IOP::CodecFactory_ptr codec_factory() override;
    void register_initial_reference(const char* id, CORBA::Object_ptr obj) override;
    CORBA::Object_ptr resolve_initial_references(const char* id) override;
    void add_client_request_interceptor(
        PortableInterceptor::ClientRequestInterceptor_ptr interceptor) override;
    void add_server_request_interceptor(
        PortableInterceptor::ServerRequestInterceptor_ptr interceptor) override;
    void add_ior_interceptor(PortableInterceptor::IORInterceptor_ptr interceptor) override;
    void add_client_request_interceptor_with_policy(
        PortableInterceptor::ClientRequestInterceptor_ptr interceptor,
        const CORBA::PolicyList& policies) override;
    void add_server_request_interceptor_with_policy(
        PortableInterceptor::ServerRequestInterceptor_ptr interceptor,
        const CORBA::PolicyList& policies) override;
    void add_ior_interceptor_with_policy(PortableInterceptor::IORInterceptor_ptr interceptor,
                                         const CORBA::PolicyList& policies) override;
    PortableInterceptor::SlotId allocate_slot_id() override;
    void register_policy_factory(CORBA::PolicyType type,
                                 PortableInterceptor::PolicyFactory_ptr policy_factory) override;

    /// Returns the ORB that is being made, which makes policies already; owned by the caller.
    CORBA::ORB_ptr _get_orb() override;

    /// All pre_init are done.
    void begin_post_init() noexcept { is_post_init_ = true; }
    /// All post_init are done: the ORB's calls and requests are told of from here on.
    void complete();
    /// ORB_init returns, or throws.
    void end() noexcept { orb_ = nullptr; }

  private:
    /// Throws OBJECT_NOT_EXIST after end().
    [[nodiscard]] CORBA::ORB& orb() const;
    void observe(bool calls, bool requests);

    CORBA::ORB* orb_;
    const std::shared_ptr<Interceptors> all_;
    const char* const* const arguments_;
    bool is_post_init_ = false;
    bool observes_calls_ = false;
    bool observes_requests_ = false;
};

} // namespace kairos::interceptors
