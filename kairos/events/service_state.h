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
#include "kairos/events/typed_channel.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace kairos::events {

/// The servants, with a count of their own.
struct ChannelServants {
    PortableServer::Servant_var<PortableServer::ServantBase> channel, consumers, suppliers;
    /// Has the channel answer these for its admins; to be called before it is.
    std::function<void(CORBA::Object_ptr consumers, CORBA::Object_ptr suppliers)> set_admins;
};

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
    [[nodiscard]] KairosEvents::TypedChannel_ptr create_typed(const std::string& name,
                                                              const char* place);
    /// A channel, typed or not. Throws NotFound.
    [[nodiscard]] CORBA::Object_ptr find(const std::string& name, bool is_typed);
    [[nodiscard]] KairosEvents::NameList* names(bool is_typed);
    [[nodiscard]] KairosEvents::ChannelFactory_ptr factory() const;
    [[nodiscard]] KairosEvents::TypedChannelFactory_ptr typed_factory() const;

    /// Ends a channel, by its number, and tells who is connected. Throws OBJECT_NOT_EXIST if it has
    /// ended.
    void destroy(std::uint64_t channel);

  private:
    using Lock = std::unique_lock<std::mutex>;
    struct Objects {
        PortableServer::ObjectId_var channel, consumers, suppliers;
    };
    struct Entry {
        std::shared_ptr<Members> channel;
        bool is_typed = false;
        Objects objects{};
        std::string in_table{}; // its name there; empty for one that is not
    };
    /// Makes the servants of a channel of that number.
    using MakeServants = std::function<ChannelServants(std::uint64_t number)>;

    [[nodiscard]] CORBA::Object_ptr create(Entry entry, const char* place,
                                           const MakeServants& make);
    [[nodiscard]] std::uint64_t enter(const Entry& entry);
    [[nodiscard]] CORBA::Object_ptr make_objects(const ChannelServants& servants, Entry& entry,
                                                 const char* place);
    [[nodiscard]] CORBA::Object_ptr named(const char* id) const;
    void end(Entry& entry, bool tells) noexcept;
    void begin(PortableServer::Servant factory, const char* name, bool& has_table_entry);

    const CORBA::ORB_var orb_;
    const ServiceLimits limits_;
    const std::shared_ptr<ServiceBudget> budget_;
    const std::shared_ptr<Couriers> couriers_;
    ServiceAdapters adapters_;     // `named` are the factories, and channels with names
    bool has_table_entry_ = false; // of the factory
    bool has_typed_table_entry_ = false;
    std::mutex mutex_; // guards what follows; not held while anything is called
    std::map<std::uint64_t, Entry> channels_;
    std::uint64_t last_ = 0; // number of a channel
    bool has_ended_ = false;
};

// `state` must outlive what these return.
/// `number` is the channel's.
[[nodiscard]] ChannelServants make_servants(ServiceState& state, std::uint64_t number,
                                            const std::shared_ptr<Channel>& channel);
[[nodiscard]] ChannelServants make_typed_servants(ServiceState& state,
                                                  const ServiceAdapters& adapters,
                                                  CORBA::ORB_ptr orb, std::uint64_t number,
                                                  const std::shared_ptr<TypedChannel>& channel);
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
make_factory_servant(ServiceState& state);
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
make_typed_factory_servant(ServiceState& state);

} // namespace kairos::events
