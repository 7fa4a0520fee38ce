// SPDX-License-Identifier: Apache-2.0
//
// What the POAs of one ORB share: the tree of their cores, the root, the managers, and the locks by
// which servant activators are called one at a time. Made with the first RootPOA. Any thread.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/corba/adapter_listener.h"
#include "kairos/corba/orb_state.h"
#include "kairos/corba/poa.h"
#include "kairos/poa/adapters.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::corba {

class PoaServices final : public AdapterServices, public std::enable_shared_from_this<PoaServices> {
  public:
    /// Gives the core its adapters, of which `listener` hears; null: nobody.
    PoaServices(IntrusivePtr<orb::Orb> core, std::shared_ptr<AdapterListener> listener);
    ~PoaServices() override;

    [[nodiscard]] poa::Adapters& adapters() const noexcept { return adapters_; }
    [[nodiscard]] orb::Orb& core() const noexcept { return *core_; }
    /// Returns who hears of the POAs; null if nobody does.
    [[nodiscard]] AdapterListener* listener() const noexcept { return listener_.get(); }

    /// What -ORBDemux says.
    [[nodiscard]] poa::IdStrategy strategy() const noexcept;

    /// Made anew after it was destroyed. Owned by the caller.
    [[nodiscard]] PortableServer::POA_ptr root_poa();
    /// A POA without an adapter yet. Owned by the caller.
    [[nodiscard]] PortableServer::POA_ptr make_poa();
    void deactivate_all() noexcept override;
    void destroy_all() noexcept override;
    [[nodiscard]] bool is_in_use() override;

    // --- managers; owned by the caller ---
    /// Makes a POAManager, owned by the caller; nil if there is one of this id. An empty id is
    /// replaced by one that is not in use.
    [[nodiscard]] PortableServer::POAManager_ptr create_manager(std::string id);
    [[nodiscard]] PortableServer::POAManager_ptr find_manager(std::string_view id);
    [[nodiscard]] std::vector<PortableServer::POAManager_var> managers();
    /// Notes that a POA has this manager, or is about to.
    void keep_manager(PortableServer::POAManager_ptr manager);
    /// Notes that a POA has this manager no more. A manager without POAs is forgotten, unless it
    /// never had any.
    void let_manager_go(const PortableServer::POAManager& manager);

    /// One lock for each activator, whatever POAs it serves.
    [[nodiscard]] std::shared_ptr<std::recursive_mutex>
    serial_of(PortableServer::ServantActivator_ptr activator);

  private:
    struct Known {
        PortableServer::POAManager_var manager;
        std::size_t adapters = 0;
    };
    /// Must hold mutex_.
    [[nodiscard]] bool knows(std::string_view id) const;

    const IntrusivePtr<orb::Orb> core_;
    const std::shared_ptr<AdapterListener> listener_;
    poa::Adapters& adapters_; // the core's
    std::mutex mutex_;        // guards what follows
    std::vector<Known> managers_;
    std::uint64_t last_manager_ = 0;
    std::map<PortableServer::ServantActivator_ptr, std::weak_ptr<std::recursive_mutex>> serials_;
};

} // namespace kairos::corba
