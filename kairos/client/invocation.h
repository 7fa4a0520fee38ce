// SPDX-License-Identifier: Apache-2.0
//
// One client call, on the stack of its stub: arguments go into `out`, `invoke` sends them, waits
// and follows forwards, results come from `in` (stub_call.h). Station 2 of the request walk
// (docs/TOUR.md). Used by one thread. In the steady state it takes no lock and allocates nothing.
// deferred.h has the call whose reply is fetched later.
//
// A plain call, of an ORB where nobody has ever set a policy, is one straight line: the first
// target, an idle connection, one message each way. Where that is not to be had, or does not end
// the call, it goes on along a Route (route.h), as calls with policies do from the beginning.
#pragma once

#include "kairos/base/export.h"
#include "kairos/client/call_observation.h"
#include "kairos/client/collocated.h"
#include "kairos/client/own_carrier.h"
#include "kairos/client/route.h"
#include "kairos/client/shared_carrier.h"
#include "kairos/client/stub_call.h"
#include "kairos/giop/reply.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/thread_storage.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace kairos::orb {

/// Returns the minor version of GIOP that text of this form is of; null: the newest.
[[nodiscard]] inline std::uint8_t giop_minor_of(const cdr::TextForm* text) noexcept
{
    return text == nullptr ? 2 : text->giop_minor;
}

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
    friend class AsynchronousCall;
    friend class DeferredInvocation;
    using Outcome = giop::Outcome;
    class Request;

    /// Prepares a call with the buffers and connections of `storage`, which must outlive it.
    KAIROS_API Invocation(Reference& target, const Operation& operation, ThreadStorage& storage);

    // --- the plain way ---
    /// Makes a call that is not plain.
    [[gnu::noinline]] void invoke_otherwise();
    /// Makes a plain call within the process.
    [[gnu::noinline]] void invoke_collocated(Reference* forward);
    /// Makes the call along a route where there is no plain way.
    [[gnu::cold]] void go_on(Reference* forward);
    /// Goes on along a route where the plain way has not ended the call: it has tried the first
    /// target of where `forward` leads, with this outcome.
    [[gnu::cold]] void go_on(Reference* forward, Carrier& carrier, Outcome outcome);

    // --- the plain way, of which observers hear ---
    void invoke_observed();
    /// Tries the first target of `place`; returns true if the call is done. Else `outcome` is what
    /// came of it, or nothing if there is no idle connection. Throws what an observer throws.
    [[nodiscard]] bool try_observed(Reference& place, const Target& target, CallObservation& seen,
                                    std::optional<Outcome>& outcome);
    /// Goes on along a route that begins at `forward`, whose first target was tried so far.
    [[gnu::cold]] void go_on(Reference* forward, CallObservation& seen,
                             const std::optional<Outcome>& outcome);
    /// Goes on where an observer of the first attempt sends the call.
    [[gnu::cold]] void go_on(Reference* forward, CallObservation& seen, const ior::Ior& target);
    /// Returns one list of two, until the next call.
    [[nodiscard, gnu::cold]] Bytes both_contexts(Bytes of_connection, Bytes added);

    // --- along a route ---
    /// Makes the call; `seen`, which may be null, hears of it.
    [[gnu::cold]] void invoke_limited(CallObservation* seen);
    [[gnu::cold]] void invoke_limited();
    /// Makes a route of the call, which begins at `forward`, or at its reference if that is null.
    [[nodiscard]] Route route_from(Reference* forward) noexcept;
    /// Goes on from where the route leads now, until the call is done.
    void run(Route& route, CallObservation* seen);
    /// Goes to the next way and tries it; returns true if the call is done.
    [[nodiscard]] bool go_next(Route& route, Request& request, CallObservation* seen);
    /// Tries the way that the route leads now; returns true if the call is done.
    [[nodiscard]] bool attempt(Route& route, Request& request, CallObservation* seen);
    /// Does `work`, which returns whether the call is done, and has observers hear of what it
    /// throws. Returns false also where one of them sends the call elsewhere.
    template <typename Work>
    [[nodiscard]] bool observed(Route& route, CallObservation& seen, Work&& work)
    {
        try {
            return seen.during(std::forward<Work>(work));
        } catch (const LocationForward& elsewhere) { // an observer's
            go_elsewhere(route, elsewhere.target);
            return false;
        }
    }
    void go_elsewhere(Route& route, const ior::Ior& target);
    [[nodiscard]] Carrier& carrier_to(const Route& route);
    /// Tells the route what came of an exchange; returns true if the call is done. Throws what it
    /// ends with.
    [[nodiscard]] bool settle(Route& route, Carrier& carrier, Outcome outcome,
                              CallObservation* seen);
    /// Accepts the reply that is there; returns true if the call is done. Throws what it says.
    [[nodiscard]] bool accept(Route& route, Carrier& carrier, CallObservation* seen);
    void read_results() noexcept
    {
        in_ = reply_.body;
        in_.set_environment(&environment_);
    }
    [[nodiscard]] bool says_unknown() const;

    // --- the request ---
    /// The call as carriers see it.
    class Request final : public Question {
      public:
        Request(Invocation& call, const Route& route) noexcept;
        [[nodiscard]] Bytes header(const giop::RequestTemplate& target, std::uint32_t request_id,
                                   Bytes contexts) override;

      private:
        Invocation& call_;
        const Route& route_;
    };
    /// Returns the request's giop::response_flags; with a bit set there will be a reply.
    [[nodiscard]] std::uint8_t response_flags() const noexcept;
    [[nodiscard]] Bytes header(const giop::RequestTemplate& target, std::uint32_t request_id,
                               std::uint8_t flags, Bytes contexts);
    /// Returns the header of a request with an object key or operation name of hundreds of octets:
    /// a segment of its own.
    [[nodiscard, gnu::cold]] Bytes long_header(const giop::RequestTemplate& target,
                                               std::uint32_t request_id, std::uint8_t flags,
                                               Bytes contexts);
    /// Adds to the contexts that the connection wants in its next request the priority, if `place`
    /// says so, what is left of the deadline of the IDL, and those that observers add.
    [[nodiscard]] Bytes contexts_of_call(const Reference& place, Bytes contexts, Bytes added);
    [[nodiscard]] Priority priority_to_say() const;
    /// Returns whether the arguments, encoded for another target, mean the same at this one. If so,
    /// the results are read as this one sends them.
    [[nodiscard, gnu::cold]] bool text_suits(const cdr::TextForm* text);

    [[noreturn, gnu::cold]] void raise_user_exception();
    [[noreturn, gnu::cold]] void raise_system_exception();

    Reference& reference_;
    const Operation& operation_;
    // Not initialised: whoever receives the reply writes all of it, and nobody reads it before.
    union {
        giop::Reply reply_;
    };
    OwnCarrier own_;
    std::optional<SharedCarrier> shared_;
    std::optional<CollocatedCarrier> collocated_;
    std::unique_ptr<std::byte[]> long_header_;
    CallLimits limits_; // of a limited call; else nobody knows
};

} // namespace kairos::orb
