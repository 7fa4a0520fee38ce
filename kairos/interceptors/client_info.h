// SPDX-License-Identifier: Apache-2.0
//
// What client interceptors are told of an attempt at a call (CORBA 3.3 part 1, 16.3.13).
#pragma once

#include "kairos/interceptors/request_info.h"
#include "kairos/orb/call_observer.h"

namespace kairos::interceptors {

class ClientInfo final : public virtual PortableInterceptor::ClientRequestInfo, public RequestInfo {
  public:
    CORBA::Object_ptr target() override;
    CORBA::Object_ptr effective_target() override;
    IOP::TaggedProfile* effective_profile() override;
    CORBA::Any* received_exception() override;
    char* received_exception_id() override;
    IOP::TaggedComponent* get_effective_component(IOP::ComponentId id) override;
    IOP::TaggedComponentSeq* get_effective_components(IOP::ComponentId id) override;
    CORBA::Policy_ptr get_request_policy(CORBA::PolicyType type) override;
    void add_request_service_context(const IOP::ServiceContext& service_context,
                                     CORBA::Boolean replace) override;

    /// Tells of this attempt until leave().
    void begin(orb::ObservedCall& call, const Interceptors& all) noexcept
    {
        RequestInfo::begin(all);
        call_ = &call;
        clients_ = &all.clients.of(call.place().is_local());
    }
    /// Returns those who are told of this attempt.
    [[nodiscard]] const Interceptors::Clients::List& clients() const noexcept { return *clients_; }
    void leave() noexcept { RequestInfo::leave(); }

  private:
    [[nodiscard]] orb::Orb& orb() const override { return call_->orb(); }
    [[nodiscard]] std::string_view operation_name() const override
    {
        return call_->operation().name();
    }
    [[nodiscard]] bool has_response() const override { return call_->response_expected(); }
    [[nodiscard]] orb::SyncScope scope() const override { return call_->sync_scope(); }
    [[nodiscard]] giop::ServiceContexts request_contexts() const override
    {
        return call_->request_contexts().contexts();
    }
    [[nodiscard]] giop::ServiceContexts reply_contexts() const override
    {
        return call_->reply_contexts();
    }

    orb::ObservedCall* call_ = nullptr;
    const Interceptors::Clients::List* clients_ = nullptr;
};

} // namespace kairos::interceptors
