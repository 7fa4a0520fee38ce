// SPDX-License-Identifier: Apache-2.0
//
// The Notification Service (CosNotification 1.1) as objects of an ORB: embedded in any process by
// making one of these, or alone as `kairos notify serve`. Any number of channels, each with admins,
// proxies and filters. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/notification/KairosNotification.h"
#include "kairos/notification/recorder.h"
#include "kairos/notification/service_limits.h"
#include "kairos/notification/store.h"

#include <memory>
#include <string>

namespace kairos::notification {

class ServiceState;

class KAIROS_API NotificationService {
  public:
    /// Its objects can be called from now on. The ORB must outlive it. Throws what create_POA
    /// throws: AdapterAlreadyExists for a second one in the same ORB; and BAD_PARAM for limits with
    /// which nothing would be done, such as no threads.
    explicit NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits = {});
    /// As the one above, with a store: channels whose ConnectionReliability is Persistent are there
    /// again, with what was in them, when it is made again with that store at the same address.
    /// Also throws PERSIST_STORE where the store cannot be read, or has what the limits do not
    /// permit.
    NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                        std::unique_ptr<Store> store);
    /// Makes a service without a factory, for one whose objects are channels as well. Its POA has
    /// this name, so that several may be in an ORB; else it is as the first of these.
    NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits, const char* adapter);
    NotificationService(const NotificationService&) = delete;
    NotificationService& operator=(const NotificationService&) = delete;
    /// Ends all channels, without a word to who is connected; those in a store stay there. Waits
    /// for the calls in progress. Not within a call on one of its objects.
    ~NotificationService();

    /// From here on no consumer or supplier is called, and pulls that wait end: for who is about to
    /// end. Any thread.
    void begin_to_end() noexcept;

    /// Makes a channel. One with a name can be called as "corbaloc::host:port/name", and its
    /// reference is valid in later runs of the program that make it again at the same address;
    /// those of its admins, filters and proxies are not. Owned by the caller. Throws
    /// KairosEvents::NameInUse, InvalidName for more than 255 octets; IMP_LIMIT where there are as
    /// many as may be.
    [[nodiscard]] KairosNotification::Channel_ptr create_channel(const std::string& name = {});
    /// Makes one with these properties; also throws UnsupportedQoS. The first time that one is
    /// asked for by the name of a channel that came from the store, it is that one, as it was.
    [[nodiscard]] KairosNotification::Channel_ptr
    create_channel(const std::string& name, const CosNotification::QoSProperties& qos);
    /// Makes one without a name whose events somebody else sees first. `front`, which may be nil,
    /// is the object that clients know as the channel: its admins say that they are that one's, and
    /// those of nil refuse to be destroyed (NO_PERMISSION). `recorder` is not null. Owned by the
    /// caller. Throws UnsupportedQoS, UnsupportedAdmin; IMP_LIMIT where there are as many as may
    /// be.
    [[nodiscard]] KairosNotification::RecordedChannel_ptr
    create_channel(const CosNotification::QoSProperties& qos,
                   const CosNotification::AdminProperties& administration,
                   std::shared_ptr<Recorder> recorder, CORBA::Object_ptr front);
    /// The object by which clients make channels, also as
    /// "corbaloc::host:port/NotificationService", which is what the ORB option -ORBInitRef
    /// NotificationService= wants. Owned by the caller.
    [[nodiscard]] CosNotifyChannelAdmin::EventChannelFactory_ptr factory() const;

  private:
    const std::unique_ptr<ServiceState> state_;
};

} // namespace kairos::notification
