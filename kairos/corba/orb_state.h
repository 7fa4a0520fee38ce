// SPDX-License-Identifier: Apache-2.0
//
// What an ORB keeps for the layers of Kairos that make something of it: behind CORBA::ORB, so that
// programs need not read it. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace kairos::corba {

class AdapterListener;
class PoaServices;

/// The object adapters of an ORB as it knows them when it ends. Any thread.
class AdapterServices {
  public:
    AdapterServices() = default;
    AdapterServices(const AdapterServices&) = delete;
    AdapterServices& operator=(const AdapterServices&) = delete;
    virtual ~AdapterServices() = default;
    /// From now on every request is refused, those that were held included.
    virtual void deactivate_all() noexcept = 0;
    /// Returns whether a POAManager is active, or the program holds the RootPOA.
    [[nodiscard]] virtual bool is_in_use() = 0;
    /// Destroys all POAs, and the table of forwards. Not within an upcall.
    virtual void destroy_all() noexcept = 0;
};

/// What a module above keeps with an ORB. Any thread.
class OrbAttachment {
  public:
    OrbAttachment() = default;
    OrbAttachment(const OrbAttachment&) = delete;
    OrbAttachment& operator=(const OrbAttachment&) = delete;
    virtual ~OrbAttachment() = default;
    /// The ORB was destroyed.
    virtual void end() noexcept = 0;
};

/// What the POAs of an ORB share. The first call opens the listening sockets.
[[nodiscard]] KAIROS_API std::shared_ptr<PoaServices> poa_services_of(CORBA::ORB& orb);

/// What kairos/rtcorba keeps; made at the first call.
[[nodiscard]] KAIROS_API std::shared_ptr<OrbAttachment>
real_time_of(CORBA::ORB& orb, std::shared_ptr<OrbAttachment> (*make)(CORBA::ORB& orb));

} // namespace kairos::corba

struct CORBA::ORB::State {
    using Registered = std::map<std::string, Object_var, std::less<>>;

    explicit State(std::string name) : id(std::move(name)) {}

    const std::string id;
    std::atomic<bool> is_forgotten{false}; // nobody but the table of ORBs holds it, and it is used
    std::atomic<bool> is_destroyed{false};
    bool ends_at_exit = false; // guarded by the lock of the table of ORBs
    std::mutex mutex;          // guards what follows; held while the process forks
    std::shared_ptr<kairos::corba::AdapterServices> adapters; // null until asked for
    Registered registered;                                    // initial references
    Context_var default_context;
    bool is_profiled = false;                                   // -ORBProfileTypes, until destroy()
    std::shared_ptr<kairos::corba::Policies> policies;          // null until asked for
    std::unique_ptr<kairos::corba::OrbAttachment> responses;    // kairos/dynamic's
    std::shared_ptr<kairos::corba::OrbAttachment> real_time;    // kairos/rtcorba's
    std::shared_ptr<kairos::corba::OrbAttachment> interceptors; // kairos/interceptors'
    std::shared_ptr<kairos::corba::AdapterListener> listener;   // likewise, within ORB_init
    std::shared_ptr<kairos::corba::OrbAttachment> layer;        // kairos/compat/omniorb's
};
