// SPDX-License-Identifier: Apache-2.0
//
// The ways that a call may take, one after the other: forwards, the targets of each place, attempts
// at each target, and how that wants objects to be named. Whoever carries something out goes to
// the next way, tries it, and tells what came of it; the route throws when no way is left. Calls,
// deferred calls, LocateRequests and early binding take the same. Used by one thread.
#pragma once

#include "kairos/base/result.h"
#include "kairos/giop/client_session.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/transport.h"

#include <optional>
#include <string>
#include <vector>

namespace kairos::orb {

class ThreadStorage;

/// Returns whether client and server have no code set in common for one kind of text.
[[nodiscard]] inline bool is_incompatible(const cdr::TextForm* form) noexcept
{
    return form != nullptr && (form->characters_refused == cdr::TextError::incompatible ||
                               form->wide_refused == cdr::TextError::incompatible);
}

class Route {
  public:
    /// What is on its way. Only calls heed Messaging::RebindPolicy; binding goes nowhere but to the
    /// targets of the reference.
    enum class Purpose : std::uint8_t { call, location, binding };

    /// Begins at `forward`, or at `reference` itself if that is null. The reference, the limits and
    /// the storage of the calling thread must outlive the route.
    Route(Reference& reference, Reference* forward, const CallLimits& limits,
          ThreadStorage& storage, Purpose purpose) noexcept
        : reference_(reference), place_(forward), limits_(limits), storage_(storage),
          purpose_(purpose)
    {
    }

    // --- going ---
    /// Goes to the next way. Throws if there is none: TRANSIENT or TIMEOUT, REBIND if the policies
    /// forbid it, CODESET_INCOMPATIBLE if text could be exchanged with nobody.
    void next();
    /// Goes to the next way at the same place; returns false if there is none.
    [[nodiscard]] bool next_here();
    /// Ends where this outcome is final: throws what it means for who called.
    [[noreturn, gnu::cold]] void raise(giop::Outcome outcome) const;

    // --- where it leads now ---
    [[nodiscard]] Reference& place() const noexcept { return place_ ? *place_ : reference_; }
    /// Returns whether the place is in this process; else there is a target.
    [[nodiscard]] bool is_local() const noexcept { return place().is_local(); }
    [[nodiscard]] const Target& target() const noexcept { return (*targets_)[index_]; }
    [[nodiscard]] Endpoint& endpoint() const noexcept { return *target().endpoint; }
    /// Returns the requests' header for the target, which names the object as that wants it.
    [[nodiscard]] const giop::RequestTemplate& header() const noexcept
    {
        return readdressed_ ? *readdressed_ : target().by_key;
    }
    [[nodiscard]] bool is_readdressed() const noexcept { return readdressed_.has_value(); }
    [[nodiscard]] Orb& orb() const noexcept { return reference_.orb(); }
    [[nodiscard]] const CallLimits& limits() const noexcept { return limits_; }
    /// Returns whether a connection may be made.
    [[nodiscard]] bool may_connect() const noexcept
    {
        return purpose_ != Purpose::call || limits_.rebind != RebindMode::no_reconnect ||
               !reference_.is_bound();
    }

    // --- what came of the way that it leads now ---
    /// The target could not be reached, or did not answer. At each place it counts most who was
    /// not trusted first.
    void unreachable(std::string why)
    {
        if (!not_trusted_) failure_ = std::move(why);
    }
    void unreachable(const Error& why)
    {
        if (not_trusted_) return;
        failure_ = why.reason;
        not_trusted_ = why.system_errno == orb::not_trusted;
    }
    /// The connection was closed before anything was executed: in order, or because it had been
    /// idle for long. The target is tried once more, on a new one.
    void closed();
    /// What was encoded for other targets cannot be sent to this one, because of its code sets.
    void unsuitable();
    /// The target wants the object to be named in another way, as `answer` says (CORBA 3.3 part 2,
    /// 9.4.3.3 and 9.4.6.2). Throws MARSHAL if there is no such way, or if it has said so before.
    void readdress(cdr::Reader answer);
    /// The object is elsewhere, where later calls go, too.
    void forwarded(ReferencePtr to, bool permanent);
    /// The object is not known here. Returns whether there is anybody to be asked again: whoever
    /// sent us here may know better by now. Once only.
    [[nodiscard]] bool unknown();

  private:
    [[nodiscard]] const std::vector<Target>& targets_here() const;
    void leave();
    void arrive(ReferencePtr place);
    void check_limits(bool elsewhere) const;
    [[noreturn]] void raise_other_text() const;
    [[noreturn]] void raise_no_way() const;

    Reference& reference_;
    ReferencePtr place_; // where we were sent; null: the original address
    const CallLimits& limits_;
    ThreadStorage& storage_;
    const Purpose purpose_;
    std::size_t places_ = 1;                       // that were visited
    const std::vector<Target>* targets_ = nullptr; // of the place; null: not begun
    std::size_t index_ = 0;
    bool again_ = false;       // the target is next once more
    bool was_closed_ = false;  // the first attempt at the target
    bool asked_again_ = false; // where the object is, after a forward led nowhere
    std::optional<giop::RequestTemplate> readdressed_;
    const Target* other_text_ = nullptr; // the first that was unsuitable
    std::string failure_;                // why the last way led nowhere
    bool not_trusted_ = false;           // that was because of who is there
};

/// Decodes where a forward leads. Throws MARSHAL or INV_OBJREF if it is no valid reference.
[[nodiscard]] ReferencePtr decode_forward(Orb& orb, cdr::Reader& body);

/// Returns what a call that begins now heeds: the policies of the reference, else those of the
/// calling thread, else those of the ORB.
[[nodiscard]] CallLimits limits_of_call(const Reference& reference);

/// Returns the targets of calls of the thread with this storage, for a reference that has
/// priorities. Throws INV_POLICY if the thread's priority is in none of the bands.
[[nodiscard]] const std::vector<Target>& targets_at_priority(ThreadStorage& storage,
                                                             const Reference& reference);

} // namespace kairos::orb
