// SPDX-License-Identifier: Apache-2.0
//
// What one ORB has of Real-Time CORBA beyond its core. Made with the first of its initial
// references; it lives as long as the ORB or whoever has one of its objects. Any thread.
#pragma once

#include "kairos/corba/orb_state.h"
#include "kairos/orb/policies.h"
#include "kairos/orb/real_time.h"
#include "kairos/rtcorba/RTCORBA.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kairos::rtcorba {

class Services final : public corba::OrbAttachment {
  public:
    explicit Services(CORBA::ORB& orb);
    ~Services() override;
    [[nodiscard]] static std::shared_ptr<Services> of(CORBA::ORB& orb);

    [[nodiscard]] orb::Orb& core() const noexcept { return *core_; }

    /// The mutex of this name, made if there is none, as `created` then says. Owned by the caller.
    [[nodiscard]] RTCORBA::Mutex_ptr named_mutex(const char* name, bool& created);
    /// The mutex of this name, owned by the caller; nil if there is none.
    [[nodiscard]] RTCORBA::Mutex_ptr find_mutex(const char* name);
    /// Frees the name of a mutex, if it has one.
    void forget(RTCORBA::Mutex_ptr mutex);

    /// Sets the mapping and takes it over.
    void set_mapping(RTCORBA::PriorityMapping* mapping);
    [[nodiscard]] RTCORBA::PriorityMapping* mapping();
    /// Sets the transform and takes it over; null for none.
    void set_transform(RTCORBA::PriorityTransform* transform);
    [[nodiscard]] RTCORBA::PriorityTransform* transform();

    void end() noexcept override;

  private:
    class Transform;

    const IntrusivePtr<orb::Orb> core_;
    std::mutex mutex_; // guards what follows; outside Orb's
    std::map<std::string, RTCORBA::Mutex_var, std::less<>> mutexes_;
    RTCORBA::PriorityMapping* mapping_ = nullptr; // the core's
    // Every transform there ever was: a call in progress may be using it.
    std::vector<std::unique_ptr<Transform>> transforms_;
};

// Each in the file of its name; owned by the caller.
[[nodiscard]] CORBA::Object_ptr make_current(Services& services);
[[nodiscard]] CORBA::Object_ptr make_rtorb(std::shared_ptr<Services> services);
[[nodiscard]] RTCORBA::Mutex_ptr make_mutex();
[[nodiscard]] CORBA::Object_ptr make_mapping_manager(std::shared_ptr<Services> services);
[[nodiscard]] CORBA::Object_ptr make_transform_manager(std::shared_ptr<Services> services);

// policies.cpp; owned by the caller. Throw BAD_PARAM for values that cannot be.
[[nodiscard]] RTCORBA::PriorityModelPolicy_ptr make_priority_model(RTCORBA::PriorityModel model,
                                                                   RTCORBA::Priority priority);
[[nodiscard]] RTCORBA::ThreadpoolPolicy_ptr make_threadpool(orb::Orb& core,
                                                            RTCORBA::ThreadpoolId id);
[[nodiscard]] RTCORBA::PrivateConnectionPolicy_ptr make_private_connection();
[[nodiscard]] RTCORBA::PriorityBandedConnectionPolicy_ptr
make_priority_bands(const RTCORBA::PriorityBands& bands);

// protocols.cpp; likewise.
[[nodiscard]] RTCORBA::TCPProtocolProperties_ptr
make_tcp_properties(const orb::TcpProperties& properties);
[[nodiscard]] RTCORBA::ClientProtocolPolicy_ptr
make_client_protocols(const RTCORBA::ProtocolList& protocols);
[[nodiscard]] RTCORBA::ClientProtocolPolicy_ptr
make_client_protocols(const orb::TcpProperties& properties);
[[nodiscard]] RTCORBA::ServerProtocolPolicy_ptr
make_server_protocols(const RTCORBA::ProtocolList& protocols);

} // namespace kairos::rtcorba
