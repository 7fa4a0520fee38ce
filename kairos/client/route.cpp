// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/route.h"

#include "kairos/base/limits.h"
#include "kairos/ior/component.h"
#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>

namespace kairos::orb {

using Outcome = giop::Outcome;

namespace {

[[noreturn]] void raise_other_code_set()
{
    raise<CORBA::TRANSIENT>(minor_code::other_code_set, CORBA::COMPLETED_NO,
                            "text was encoded for a server with other code sets; call again");
}

} // namespace

CallLimits limits_of_call(const Reference& reference)
{
    Orb& orb = reference.orb();
    if (orb.is_inherited()) [[unlikely]]
        orb.start_over();
    CallPolicies policies = orb.call_policies();
    if (const CallPolicies* of_thread = ThreadStorage::current().call_policies(orb);
        of_thread != nullptr)
        policies = policies.overridden_by(*of_thread);
    if (reference.overrides()) policies = policies.overridden_by(reference.overrides()->calls());
    return CallLimits::of(policies);
}

const std::vector<Target>& targets_at_priority(ThreadStorage& storage, const Reference& reference)
{
    const Priority priority = thread_priority(storage, reference.orb().priority_mapping());
    const auto& targets = reference.targets_at(priority);
    if (targets.empty()) [[unlikely]]
        raise<CORBA::INV_POLICY>(0, CORBA::COMPLETED_NO,
                                 "the priority is in none of the bands of the connection");
    return targets;
}

// --- going ---------------------------------------------------------------------------------------

void Route::next()
{
    while (!next_here()) {
        if (other_text_ != nullptr) raise_other_text();
        if (!may_connect())
            orb::raise<CORBA::REBIND>(
                minor_code::connect_refused, CORBA::COMPLETED_NO,
                "this thread has no connection to where the reference is bound");
        leave();
    }
}

bool Route::next_here()
{
    if (std::exchange(again_, false)) return true;
    if (targets_ == nullptr) {
        targets_ = &targets_here();
        index_ = 0;
        if (is_local()) return true;
    } else {
        ++index_;
    }
    was_closed_ = false;
    readdressed_.reset();
    return !is_local() && index_ < targets_->size();
}

const std::vector<Target>& Route::targets_here() const
{
    const Reference& here = place();
    if (!here.has_priorities() || is_local()) return here.targets();
    if (purpose_ != Purpose::binding) return targets_at_priority(storage_, here);
    return here.targets_at(thread_priority(storage_, orb().priority_mapping()));
}

/// Nothing is left to be tried at this place.
void Route::leave()
{
    check_limits(false);
    if (!place_ && not_trusted_)
        orb::raise<CORBA::NO_PERMISSION>(minor_code::not_trusted, CORBA::COMPLETED_NO, failure_);
    if (!place_ && failure_.empty()) raise_no_way();
    if (!place_)
        orb::raise<CORBA::TRANSIENT>(minor_code::connect_failed, CORBA::COMPLETED_NO, failure_);
    // The place we were sent to is gone: ask again where the object is now.
    arrive(reference_.fall_back(place_.get()));
}

/// The reference has nothing that the ORB may connect to.
void Route::raise_no_way() const
{
    const Protection wanted = orb().options().tls.client;
    const std::vector<ior::Target> all = ior::targets_by_any_way(reference_.ior());
    if (!all.empty() && wanted == Protection::required)
        orb::raise<CORBA::NO_PERMISSION>(
            minor_code::not_protected, CORBA::COMPLETED_NO,
            "-ORBTlsClient required: the reference offers no TLS that can be used");
    const bool offers_tls = std::ranges::any_of(all, [](const ior::Target& target) {
        return ior::find(target.profile->components, ior::tag_ssl_sec_trans) != nullptr;
    });
    std::string_view why;
    if (offers_tls && !orb().transports().has_protection())
        why = "the server wants TLS: the program is not linked with libkairos-tls";
    else if (offers_tls && wanted == Protection::never)
        why = "the server wants TLS, and -ORBTlsClient is never";
    orb::raise<CORBA::TRANSIENT>(minor_code::no_usable_profile, CORBA::COMPLETED_NO, why);
}

void Route::arrive(ReferencePtr place)
{
    place_ = std::move(place);
    targets_ = nullptr;
    again_ = false;
    readdressed_.reset();
    other_text_ = nullptr;
    not_trusted_ = false;
    if (places_++ <= limits::forwards_max) return;
    reference_.forget_forwards();
    orb::raise<CORBA::TRANSIENT>(minor_code::forward_loop, CORBA::COMPLETED_NO,
                                 "too many location forwards");
}

/// Throws if a call may not go on at another place.
void Route::check_limits(bool elsewhere) const
{
    if (purpose_ == Purpose::location) {
        if (!elsewhere && limits_.reply.has_passed())
            orb::raise<CORBA::TIMEOUT>(minor_code::no_reply_in_time, CORBA::COMPLETED_NO, failure_);
        return;
    }
    if (limits_.request.has_passed()) raise(Outcome::not_sent);
    if (!elsewhere && !place_) return;
    if (limits_.rebind == RebindMode::transparent || !reference_.is_bound()) return;
    orb::raise<CORBA::REBIND>(minor_code::forward_refused, CORBA::COMPLETED_NO,
                              "the object is no longer where its reference is bound");
}

// --- what came of it -----------------------------------------------------------------------------

void Route::closed()
{
    unreachable("connection to " + endpoint().text() + " was closed");
    readdressed_.reset();
    again_ = !std::exchange(was_closed_, true);
}

void Route::unsuitable()
{
    if (is_local()) raise_other_code_set();
    if (other_text_ == nullptr) other_text_ = &target();
}

void Route::readdress(cdr::Reader answer)
{
    if (readdressed_ || is_local())
        orb::raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                                   "the peer asks for another addressing mode again");
    const auto disposition = answer.read<std::uint16_t>();
    const auto& profile = place().ior().profiles[target().profile_index];
    again_ = true;
    switch (static_cast<giop::AddressingDisposition>(disposition)) {
    case giop::AddressingDisposition::key:
        if (!answer.ok()) break;
        readdressed_ = target().by_key;
        return;
    case giop::AddressingDisposition::profile:
        readdressed_ = giop::RequestTemplate::of_profile(profile.tag, profile.data);
        return;
    case giop::AddressingDisposition::reference: {
        cdr::Buffer buffer;
        cdr::Writer encoded(buffer);
        ior::encode(encoded, place().ior());
        readdressed_ = giop::RequestTemplate::of_reference(
            static_cast<std::uint32_t>(target().profile_index), encoded.contiguous());
        return;
    }
    }
    orb::raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                               "the peer asks for an unknown addressing mode");
}

/// CORBA 3.3 part 2, 9.6: a client may replace the old reference by a permanent one, but both stay
/// valid. Only the reference itself, or what has replaced it, can say that it is replaced: what
/// another place says for good lasts no longer than the forward to that place.
void Route::forwarded(ReferencePtr to, bool permanent)
{
    check_limits(true);
    permanent = permanent && place_.get() == reference_.permanent_forward();
    arrive(reference_.set_forward(std::move(to), permanent));
}

/// The place that has replaced the original address is believed, but by LocateRequests.
bool Route::unknown()
{
    if (!place_ || asked_again_) return false;
    if (purpose_ == Purpose::call && place_.get() == reference_.permanent_forward()) return false;
    asked_again_ = true;
    if (purpose_ == Purpose::call) check_limits(false);
    arrive(reference_.fall_back(place_.get()));
    return true;
}

void Route::raise_other_text() const
{
    const cdr::TextForm* const text = other_text_->text;
    if (is_incompatible(text))
        orb::raise<CORBA::CODESET_INCOMPATIBLE>(mapping::omg_minor(1), CORBA::COMPLETED_NO,
                                                "no code set in common with " +
                                                    other_text_->endpoint->text());
    // docs/decisions/0005: the next call is encoded for where this one should have gone.
    place().set_text_form(text);
    raise_other_code_set();
}

void Route::raise(Outcome outcome) const
{
    switch (outcome) {
    case Outcome::message_error:
        orb::raise<CORBA::COMM_FAILURE>(minor_code::message_error, CORBA::COMPLETED_MAYBE,
                                        "the peer answered MessageError");
    case Outcome::malformed:
        orb::raise<CORBA::COMM_FAILURE>(minor_code::malformed_reply, CORBA::COMPLETED_MAYBE,
                                        "the peer sent a malformed message");
    case Outcome::not_sent:
        orb::raise<CORBA::TIMEOUT>(minor_code::not_sent_in_time, CORBA::COMPLETED_NO,
                                   failure_.empty() ? "the request could not be sent in time"
                                                    : failure_);
    case Outcome::no_memory:
        orb::raise<CORBA::NO_MEMORY>(0, CORBA::COMPLETED_MAYBE, "no memory for the reply");
    case Outcome::no_room:
        orb::raise<CORBA::TRANSIENT>(minor_code::no_room_for_oneway, CORBA::COMPLETED_NO,
                                     "the peer does not take what it is sent");
    case Outcome::late:
        orb::raise<CORBA::TIMEOUT>(minor_code::no_reply_in_time, CORBA::COMPLETED_MAYBE,
                                   "no reply in time");
    default:
        orb::raise<CORBA::COMM_FAILURE>(minor_code::connection_closed, CORBA::COMPLETED_MAYBE,
                                        "the connection was closed before the reply");
    }
}

ReferencePtr decode_forward(Orb& orb, cdr::Reader& body)
{
    ior::Ior ior;
    if (!ior::decode(body, ior))
        raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                              "location forward without a valid reference");
    if (ior.is_nil())
        raise<CORBA::INV_OBJREF>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                                 "location forward to nil");
    return orb.make_reference(std::move(ior));
}

} // namespace kairos::orb
