// SPDX-License-Identifier: Apache-2.0
//
// One client call, on the stack of its stub: arguments go into `out`, `invoke` sends them, waits
// and follows forwards, results come from `in` (stub_call.h). Station 2 of the request walk
// (docs/TOUR.md). Used by one thread. In the steady state it takes no lock and allocates nothing.
// deferred.h has the call whose reply is fetched later.
#pragma once

#include "kairos/base/export.h"
#include "kairos/client/client_connection.h"
#include "kairos/client/collocated.h"
#include "kairos/client/stub_call.h"
#include "kairos/giop/reply.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/reference.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kairos::orb {

class SharedConnection;

class Invocation : public CallBodies {
  public:
    /// Prepares a call of `operation` on `target`; both must outlive it.
    KAIROS_API Invocation(Reference& target, const Operation& operation);
    KAIROS_API ~Invocation();
    Invocation(const Invocation&) = delete;
    Invocation& operator=(const Invocation&) = delete;

    /// Sends the request and, unless it is oneway, waits for the reply. Throws the exceptions that
    /// the servant or the ORB raised. Follows forwards; sends again only what was not executed.
    KAIROS_API void invoke();
    /// Makes the call of an operation that, by its IDL, must have ended `deadline` after its
    /// release, which is now: sends the request and, unless it is oneway, waits for the reply.
    /// Tells the server how much of that time is left. Ends the call by then only if -ORBLateCalls
    /// says so. Throws the exceptions that the servant or the ORB raised.
    void invoke(std::chrono::nanoseconds deadline);

  private:
    friend class DeferredInvocation;

    /// Prepares a call with the buffers and connections of `lane`, which must outlive it.
    KAIROS_API Invocation(Reference& target, const Operation& operation, Lane& lane);

    /// What one attempt led to.
    enum class Step : std::uint8_t { done, forward, next_target };
    /// Plain calls heed no policies, and do not even look at `limits_`: those of ORBs where nobody
    /// has ever set any. Which of the two a call is, is decided once.
    enum class Way : std::uint8_t { plain, limited };

    [[gnu::cold]] void invoke_limited();
    template <Way way>
    void run();
    template <Way way>
    [[nodiscard]] Step call(Reference& reference);
    template <Way way>
    [[nodiscard]] Step call_remote(Reference& reference);
    [[nodiscard]] Step call_local(Reference& reference);
    /// Makes an attempt over a connection that threads share (shared_call.cpp); returns nothing if
    /// this target could not be reached.
    [[nodiscard, gnu::cold]] std::optional<Step> call_shared(Reference& reference,
                                                             const Target& target);
    [[nodiscard]] ClientConnection::Outcome exchange_shared(SharedConnection& connection,
                                                            const giop::RequestTemplate& header);
    [[nodiscard]] Bytes prepend_shared_header(const giop::RequestTemplate& header,
                                              std::uint32_t request_id, Bytes contexts);
    template <Way way>
    [[nodiscard]] ClientConnection::Outcome exchange(const giop::RequestTemplate& header);
    template <Way way>
    [[nodiscard]] ClientConnection::Outcome send(Bytes prefix);
    /// Waits for the reply to this request: the one place where a thread does, but for connections
    /// that threads share.
    template <Way way>
    [[nodiscard]] ClientConnection::Outcome receive(std::uint32_t request_id);
    /// Returns the request's giop::response_flags; with a bit set there will be a reply.
    template <Way way>
    [[nodiscard]] std::uint8_t response_flags() const noexcept;
    template <Way way>
    [[nodiscard]] bool make_connection(const Target& target);
    [[nodiscard]] bool connect(const Target& target, Deadline deadline);
    void note_end_of_use() noexcept;
    // What Messaging::RebindPolicy says (docs/timeouts.md), of limited calls.
    /// Returns whether the call may make a connection.
    [[nodiscard]] bool may_connect() const noexcept;
    /// Notes that the object has answered, where Messaging::RebindPolicy means something to the
    /// call.
    void note_bound() noexcept;
    /// Throws if the call would have to go on elsewhere than to where the reference is bound.
    void refuse_to_rebind() const;
    /// Throws if there is no connection and none may be made.
    void refuse_to_reconnect() const;
    [[nodiscard]] const std::vector<Target>& targets_by_priority(const Reference& reference) const;
    /// Returns whether the arguments, encoded for another target, mean the same at this one. If so,
    /// the results are read as this one sends them.
    [[nodiscard, gnu::cold]] bool text_suits(const Target& target);
    template <Way way>
    [[nodiscard]] Bytes prepend_header(const giop::RequestTemplate& header,
                                       std::uint32_t request_id);
    /// Adds to the contexts that the connection wants in its next request the priority, if the
    /// reference says so, and what is left of the deadline of the IDL.
    [[nodiscard]] Bytes contexts_of_call(Bytes contexts);
    [[nodiscard]] Step accept();
    [[nodiscard]] giop::RequestTemplate readdressed(const Reference& reference,
                                                    const Target& target);

    [[noreturn, gnu::cold]] void raise_user_exception();
    [[noreturn, gnu::cold]] void raise_system_exception();
    [[noreturn, gnu::cold]] void raise_lost(ClientConnection::Outcome outcome);
    /// Leaves the connection, on which the reply to a request of this version may still come, to
    /// `lane`, and throws TIMEOUT.
    [[noreturn, gnu::cold]] void raise_late(Lane& lane, giop::Version version);
    [[gnu::cold]] void take_forward();
    [[nodiscard, gnu::cold]] bool forward_is_stale();
    /// Returns where the call goes on: where the last reply sent it. Later calls go there, too.
    [[gnu::cold]] ReferencePtr follow_forward();
    /// Returns where the call goes on when a forward led nowhere: the permanent forward, if there
    /// is one; null is the original address.
    [[gnu::cold]] ReferencePtr fall_back();

    Reference& reference_;
    const Operation& operation_;
    giop::Reply reply_;
    std::unique_ptr<ClientConnection> connection_; // busy until the results are read
    // What keeps the reply of a call within the process, or over a connection that is shared.
    std::optional<CollocatedReply> collocated_;
    std::unique_ptr<std::byte[]> long_header_;
    ReferencePtr forward_; // where the last reply sent us
    // Where we were sent before; null: the original address. Set by each attempt, and not before:
    // it is on the call path.
    const Reference* following_;
    CallLimits limits_;        // of a limited call; else nobody knows
    bool propagates_priority_; // likewise: whether this attempt's request says it
    bool asked_again_ = false; // where the object is, after a forward led nowhere
    std::string failure_;      // why the last connection could not be made
};

/// Returns what a call that begins now heeds: the policies of the reference, else those of the
/// calling thread, else those of the ORB.
[[nodiscard]] CallLimits limits_of_call(const Reference& reference);

/// Returns the targets of calls of the thread with this lane, for a reference that has priorities.
/// Throws INV_POLICY if the thread's priority is in none of the bands.
[[nodiscard]] const std::vector<Target>& targets_at_priority(Lane& lane,
                                                             const Reference& reference);

/// Returns whether a call with these limits, of the thread with this lane, goes over a connection
/// that threads share.
[[nodiscard]] bool shares_connections(const CallLimits& limits, const Lane& lane) noexcept;

} // namespace kairos::orb
