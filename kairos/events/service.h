// SPDX-License-Identifier: Apache-2.0
//
// The Event Service (OMG Event Service 1.2, untyped) as objects of an ORB: embedded in any process
// by making one of these, or alone as `kairos events`. Any number of channels, each with suppliers
// and consumers that push or pull in any mix. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/events/KairosEvents.h"
#include "kairos/events/feed.h"
#include "kairos/events/recorder.h"
#include "kairos/events/service_limits.h"

#include <memory>
#include <string>

namespace kairos::events {

class ServiceState;

class KAIROS_API EventService {
  public:
    /// Its objects can be called from now on. The ORB must outlive it. Throws what create_POA
    /// throws: AdapterAlreadyExists for a second one in the same ORB; and BAD_PARAM for limits with
    /// which nothing would be done, such as no threads.
    explicit EventService(CORBA::ORB_ptr orb, const ServiceLimits& limits = {});
    /// Makes a service without a factory, for one whose objects are channels as well. Its POA has
    /// this name, so that several may be in an ORB; else it is as the one above.
    EventService(CORBA::ORB_ptr orb, const ServiceLimits& limits, const char* adapter);
    EventService(const EventService&) = delete;
    EventService& operator=(const EventService&) = delete;
    /// Ends all channels, without a word to who is connected. Waits for the calls in progress. Not
    /// within a call on one of its objects.
    ~EventService();

    /// From here on no consumer or supplier is called, and pulls that wait end: for who is about to
    /// end. Any thread.
    void begin_to_end() noexcept;

    /// Makes a channel. One with a name can be called as "corbaloc::host:port/name", and its
    /// reference is valid in later runs of the program that make it again at the same address;
    /// those of its proxies are not. Owned by the caller. Throws KairosEvents::NameInUse, and
    /// InvalidName for more than 255 octets; IMP_LIMIT where there are as many as may be.
    [[nodiscard]] KairosEvents::Channel_ptr create_channel(const std::string& name = {});
    /// Makes one without a name whose events somebody else sees first. Owned by the caller. Throws
    /// IMP_LIMIT where there are as many as may be.
    [[nodiscard]] KairosEvents::Channel_ptr create_channel(std::shared_ptr<Recorder> recorder);
    /// Makes one that is called by a name, as the first of these, whose events somebody else sees
    /// first, and into which `feed` leads from then on. Owned by the caller.
    [[nodiscard]] KairosEvents::Channel_ptr create_channel(const std::string& name,
                                                           std::shared_ptr<Recorder> recorder,
                                                           std::shared_ptr<Feed>& feed);
    /// Makes a typed channel, as the first of these a channel.
    [[nodiscard]] KairosEvents::TypedChannel_ptr create_typed_channel(const std::string& name = {});
    /// The object by which clients make typed channels and find those with names, also as
    /// "corbaloc::host:port/TypedEventChannelFactory". Those that they make are called as
    /// "corbaloc::host:port/typed/NAME". Owned by the caller.
    [[nodiscard]] KairosEvents::TypedChannelFactory_ptr typed_factory() const;
    /// The object by which clients make channels and find those with names, also as
    /// "corbaloc::host:port/EventChannelFactory". Those that they make are called as
    /// "corbaloc::host:port/events/NAME". Owned by the caller.
    [[nodiscard]] KairosEvents::ChannelFactory_ptr factory() const;

  private:
    const std::unique_ptr<ServiceState> state_;
};

} // namespace kairos::events
