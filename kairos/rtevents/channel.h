// SPDX-License-Identifier: Apache-2.0
//
// TAO's Real-time Event Service (RtecEventChannelAdmin): a channel in any process, by making one of
// these. Consumers say by types and sources what they want, in groups and with timeouts (filter.h);
// an event goes on in the thread that has brought it, at that thread's priority, or by a thread of
// its consumer's priority. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/rtevents/RtecEventChannelAdmin.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kairos::rtevents {

/// Who gives events to consumers.
enum class Dispatching : std::uint8_t {
    reactive,  ///< the thread that has brought them
    priorities ///< a thread for each priority that consumers have, 32 of them at most
};

struct ChannelOptions {
    Dispatching dispatching = Dispatching::reactive;
    /// The CORBA priority of a consumer, by the rt_info of its first dependency that is none of a
    /// group; 0 to 32767. Without it all have 0. Where the system does not permit a thread the
    /// priority, that is logged, and it has none.
    std::function<CORBA::Short(RtecBase::handle_t)> priority_of;
    /// Sets of events that wait for one consumer in the queue of its priority. When there are as
    /// many, the oldest is dropped.
    std::size_t queue_max = 1000;
    /// Proxies of consumers, and of suppliers. Where there are as many, one that was never
    /// connected for ten minutes makes room, or one whose client is not there any more.
    std::size_t consumers_max = 1000;
    std::size_t suppliers_max = 1000;
    std::size_t observers_max = 100;
    /// How long a call of a consumer, a supplier or an observer may take. Events are sent without
    /// waiting: they are kept where the connection takes no more (-ORBOnewayQueue).
    std::chrono::milliseconds call_timeout{3000};
    /// Calls of one consumer that fail one after the other, with pauses that double: then it is
    /// disconnected.
    unsigned failures_max = 5;
    /// A multicast group that the channel is in, "corbaloc:miop:1.0@1.0-Plant-7/239.192.7.1:5007":
    /// what its suppliers bring goes to the group, and what others send there to its consumers, as
    /// far as the events' `ttl` says, which counts down. Nothing of that is repeated, and nobody
    /// hears what was lost. Whoever sends packets there is a supplier, whatever he says. "": none.
    std::string multicast{};
    /// The types of the events that go to the group; without any all do.
    std::vector<CORBA::Long> multicast_types{};
};

/// What has happened between a channel and its group since the channel was made.
struct MulticastFigures {
    std::uint64_t sent = 0;     ///< events
    std::uint64_t not_sent = 0; ///< events that are too large, or that there is no way for
    std::uint64_t received = 0; ///< events of others
    std::uint64_t own = 0; ///< messages of the channel's own that it has heard, and passed over
    std::uint64_t repeated = 0; ///< messages that had come before, and were passed over
    std::uint64_t lost = 0;     ///< messages of other channels that have not come
};

/// What has happened since the channel was made.
struct ChannelFigures {
    std::uint64_t received = 0;     ///< events from suppliers, and from the group
    std::uint64_t delivered = 0;    ///< events to consumers, each counted for each
    std::uint64_t dropped = 0;      ///< from queues, and what went in a circle
    std::uint64_t disconnected = 0; ///< consumers that did not answer
    MulticastFigures multicast{};   ///< of a channel in a group
};

class ChannelState;

class KAIROS_API RealTimeEventChannel {
  public:
    /// Its objects can be called from now on. With a name also as "corbaloc::host:port/name", by a
    /// reference that is valid in later runs of the program which make it again at the same
    /// address; those of its proxies are not. The ORB must outlive it. Throws what create_POA
    /// throws: AdapterAlreadyExists for a second one of the name in the same ORB. Of a group, also
    /// BAD_PARAM for what is none, and NO_RESOURCES for one that cannot be joined.
    explicit RealTimeEventChannel(CORBA::ORB_ptr orb, const ChannelOptions& options = {},
                                  const std::string& name = {});
    RealTimeEventChannel(const RealTimeEventChannel&) = delete;
    RealTimeEventChannel& operator=(const RealTimeEventChannel&) = delete;
    /// Ends the channel, without a word to who is connected. Waits for the calls in progress, those
    /// that give events among them. Not while one of its consumers is given events in this thread.
    ~RealTimeEventChannel();

    /// Returns the channel; owned by the caller.
    [[nodiscard]] RtecEventChannelAdmin::EventChannel_ptr reference() const;
    [[nodiscard]] ChannelFigures figures() const;

  private:
    const std::shared_ptr<ChannelState> state_;
};

struct GatewayOptions {
    /// How often a gateway asks whether the channels still know it, where nothing else tells it;
    /// each twelfth time it observes the channel behind it anew, which may have dropped it. At
    /// least a millisecond, as the next.
    std::chrono::milliseconds look_every{5000};
    /// From when a channel has not answered to the next time; twice as long each time, up to
    /// `look_every`. So long there is between two looks, whatever happens.
    std::chrono::milliseconds first_pause{100};
    /// How long a call of a channel may take.
    std::chrono::milliseconds call_timeout{3000};
};

/// What has happened since the gateway was made.
struct GatewayFigures {
    std::uint64_t forwarded = 0;      ///< events
    std::uint64_t connected_anew = 0; ///< to a channel that did not know the gateway any more
};

class GatewayState;

/// Forwards events from one channel to another, wherever they are: those that the consumers of the
/// other have asked for, as often as the events' `ttl` says, which counts down. A channel that ends
/// and comes back by the same reference is connected anew. Two channels may be led to each other by
/// one for each direction, and events that may pass one gateway come to everybody once then: what
/// may pass more comes back. While what is wanted changes an event may come twice. Consumers that
/// are gateways are not asked about.
class KAIROS_API Gateway {
  public:
    /// Calls the channel that events go to. The ORB, whose RootPOA must be active, must outlive it.
    /// Throws what the calls throw; INV_OBJREF where one answers without an object.
    Gateway(CORBA::ORB_ptr orb, RtecEventChannelAdmin::EventChannel_ptr from,
            RtecEventChannelAdmin::EventChannel_ptr to, const GatewayOptions& options = {});
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;
    /// Disconnects from both, as far as they answer: where they do not, it waits for
    /// up to six times `call_timeout`. Not within a call of one of its objects.
    ~Gateway();

    [[nodiscard]] GatewayFigures figures() const;

  private:
    const std::shared_ptr<GatewayState> state_;
};

} // namespace kairos::rtevents
