// SPDX-License-Identifier: Apache-2.0
//
// What the objects of an event service share: its POAs, its couriers, and which channels there are.
// Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/KairosEvents.h"
#include "kairos/events/channel.h"
#include "kairos/events/service_adapters.h"
#include "kairos/events/service_limits.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace kairos::events {

class ServiceState {
  public:
    /// With a factory, unless its POA is to have another name than usual.
    ServiceState(CORBA::ORB_ptr orb, const ServiceLimits& limits, const char* adapter = nullptr);
    ServiceState(const ServiceState&) = delete;
    ServiceState& operator=(const ServiceState&) = delete;
    ~ServiceState();

    void begin_to_end() noexcept;

    // Those of EventService and of the factory. What they return the caller owns.
    /// `place` is what stands before its name in the table; a `feed` that is not null will lead
    /// into the channel.
    [[nodiscard]] KairosEvents::Channel_ptr create(const std::string& name, const char* place,
                                                   std::shared_ptr<Recorder> recorder = nullptr,
                                                   std::shared_ptr<Feed>* feed = nullptr);
    [[nodiscard]] KairosEvents::Channel_ptr find(const std::string& name);
    [[nodiscard]] KairosEvents::NameList* names();
    [[nodiscard]] KairosEvents::ChannelFactory_ptr factory() const;

    /// Ends a channel, by its number, and tells who is connected. Throws OBJECT_NOT_EXIST if it has
    /// ended.
    void destroy(std::uint64_t channel);

  private:
    using Lock = std::unique_lock<std::mutex>;
    struct Objects {
        PortableServer::ObjectId_var channel, consumers, suppliers;
    };
    struct Entry {
        std::shared_ptr<Channel> channel;
        Objects objects;
        std::string in_table{}; // its name there; empty for one that is not
    };

    [[nodiscard]] std::uint64_t enter(const std::string& name, std::shared_ptr<Recorder> recorder,
                                      std::shared_ptr<Channel>& channel);
    [[nodiscard]] CORBA::Object_ptr make_objects(std::uint64_t number, Entry& entry,
                                                 const char* place);
    void end(Entry& entry, bool tells) noexcept;
    void begin();

    const ServiceLimits limits_;
    const std::shared_ptr<ServiceBudget> budget_;
    const std::shared_ptr<Couriers> couriers_;
    ServiceAdapters adapters_;     // `named` are the factory, and channels with names
    bool has_table_entry_ = false; // of the factory
    std::mutex mutex_;             // guards what follows; not held while anything is called
    std::map<std::uint64_t, Entry> channels_;
    std::uint64_t last_ = 0; // number of a channel
    bool has_ended_ = false;
};

/// The servants, with a count of their own. `state` must outlive them.
struct ChannelServants {
    PortableServer::Servant_var<PortableServer::ServantBase> channel, consumers, suppliers;
};
/// `number` is the channel's; `objects` the POA of its admins.
[[nodiscard]] ChannelServants make_servants(ServiceState& state, std::uint64_t number,
                                            const std::shared_ptr<Channel>& channel);
/// What the channel's servant answers for its admins; before it is called.
void set_admins(const ChannelServants& servants, CORBA::Object_ptr consumers,
                CORBA::Object_ptr suppliers);
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
make_factory_servant(ServiceState& state);

} // namespace kairos::events
