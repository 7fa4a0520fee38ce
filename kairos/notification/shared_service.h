// SPDX-License-Identifier: Apache-2.0
//
// A notification service of several processes that have one database: each has some of the channels
// and sends those who call another on to where it is (shares.h). Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/notification/KairosNotification.h"
#include "kairos/notification/service_limits.h"
#include "kairos/notification/shares.h"

#include <memory>
#include <string>
#include <vector>

namespace kairos::notification {

class SharedState;

struct SharedOptions {
    /// Where this process is, and no other, "host:port"; empty: where the ORB's references say, all
    /// of whose addresses are this process's then, not those of others, too.
    std::string address{};
    /// The channels that are to be there, by name, which is the same in all the processes, and what
    /// they are made with.
    std::vector<std::string> channels{};
    CosNotification::QoSProperties qos{};
};

class KAIROS_API SharedNotificationService {
  public:
    /// Begins to take shares; what it has can be called from now on, and what others have by it.
    /// The limits are those of each share. The ORB must outlive it. Throws what create_POA throws;
    /// BAD_PARAM for an address that is none, and one beside TLS; UnsupportedQoS.
    SharedNotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                              std::unique_ptr<Shares> shares, const SharedOptions& options);
    SharedNotificationService(const SharedNotificationService&) = delete;
    SharedNotificationService& operator=(const SharedNotificationService&) = delete;
    /// Ends the channels that are here, without a word to who is connected; those that are kept
    /// stay in the database. Waits for the calls in progress. Not within a call on one of its
    /// objects.
    ~SharedNotificationService();

    /// From here on no consumer or supplier is called from here, and pulls that wait end: for who
    /// is about to end. Any thread.
    void begin_to_end() noexcept;
    /// A channel of the options, wherever it is. Owned by the caller. The process itself reaches
    /// one that is elsewhere only if it publishes no addresses of others: it takes what it
    /// publishes for its own, and calls are TRANSIENT then.
    [[nodiscard]] KairosNotification::Channel_ptr channel(const std::string& name) const;
    /// The object by which clients make channels and find those of all shares, also as
    /// "corbaloc::host:port/NotificationService". Owned by the caller.
    [[nodiscard]] CosNotifyChannelAdmin::EventChannelFactory_ptr factory() const;

  private:
    const std::unique_ptr<SharedState> state_;
};

} // namespace kairos::notification
