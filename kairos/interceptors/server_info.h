// SPDX-License-Identifier: Apache-2.0
//
// What server interceptors are told of a request (CORBA 3.3 part 1, 16.3.14).
#pragma once

#include "kairos/corba/poa.h"
#include "kairos/interceptors/request_info.h"
#include "kairos/orb/upcall_observer.h"

#include <optional>
#include <string>
#include <vector>

namespace kairos::interceptors {

class ServerInfo final : public virtual PortableInterceptor::ServerRequestInfo, public RequestInfo {
  public:
    CORBA::Any* sending_exception() override;
    char* server_id() override;
    char* orb_id() override;
    PortableInterceptor::AdapterName* adapter_name() override;
    PortableInterceptor::ObjectId* object_id() override;
    PortableInterceptor::AdapterId* adapter_id() override;
    char* target_most_derived_interface() override;
    CORBA::Policy_ptr get_server_policy(CORBA::PolicyType type) override;
    void set_slot(PortableInterceptor::SlotId id, const CORBA::Any& data) override;
    CORBA::Boolean target_is_a(const char* id) override;
    void add_reply_service_context(const IOP::ServiceContext& service_context,
                                   CORBA::Boolean replace) override;

    /// Tells of this request until leave().
    void begin(orb::ObservedUpcall& upcall, const Interceptors& all) noexcept
    {
        RequestInfo::begin(all);
        upcall_ = &upcall;
        servers_ = &all.servers.of(upcall.is_local());
    }
    /// Returns those who are told of this request.
    [[nodiscard]] const Interceptors::Servers::List& servers() const noexcept { return *servers_; }
    /// Notes the object, in receive_request, within its upcall; it is known from there on.
    void found(const orb::ServedObject& object);
    void leave() noexcept
    {
        RequestInfo::leave();
        is_found_ = false;
        poa_ = nullptr;
        slots_before.reset();
    }

    /// Returns where the request came from, as text; empty if the caller is in this process. Throws
    /// BAD_INV_ORDER 14 outside of points.
    [[nodiscard]] std::string peer() const;

    /// What the thread's slots were before they became those of the request; nothing otherwise.
    std::optional<Slots> slots_before;

  private:
    [[nodiscard]] orb::Orb& orb() const override { return upcall_->orb(); }
    [[nodiscard]] std::string_view operation_name() const override { return upcall_->operation(); }
    [[nodiscard]] bool has_response() const override;
    [[nodiscard]] orb::SyncScope scope() const override;
    [[nodiscard]] giop::ServiceContexts request_contexts() const override;
    [[nodiscard]] giop::ServiceContexts reply_contexts() const override
    {
        return upcall_->reply_contexts().contexts();
    }
    /// Throws NO_RESOURCES 1 if the request has ended before its object was found.
    void require_object(Item item) const;

    orb::ObservedUpcall* upcall_ = nullptr;
    const Interceptors::Servers::List* servers_ = nullptr;
    bool is_found_ = false;
    PortableServer::POA_var poa_; // nil until it is known, and where nobody can ask it anything
    Bytes adapter_path_;
    Bytes object_id_;
    std::optional<std::size_t> id_at_; // in the object key, if it lies there
    std::vector<std::byte> path_kept_; // copies: what they are of may be gone when it ends
    std::vector<std::byte> id_kept_;
};

} // namespace kairos::interceptors
