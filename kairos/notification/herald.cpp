// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/herald.h"

#include "kairos/corba/invocation.h"
#include "kairos/mapping/marshal.h"
#include "kairos/notification/CosNotifyComm.h"
#include "kairos/orb/operation.h"

#include <utility>

namespace kairos::notification {
namespace {

constexpr orb::ExceptionType invalid_type[] = {
    corba::exception_type<CosNotifyComm::InvalidEventType>()};
constexpr orb::Operation offer_change("offer_change", orb::Response::required, invalid_type);
constexpr orb::Operation subscription_change("subscription_change", orb::Response::required,
                                             invalid_type);

} // namespace

Herald::Herald(const std::shared_ptr<events::Couriers>& couriers, CORBA::Object_ptr client,
               bool of_offers, bool speaks, std::chrono::milliseconds timeout,
               std::size_t changes_max)
    : Courier(couriers, events::Lane::patient), client_(CORBA::Object::_duplicate(client)),
      of_offers_(of_offers), timeout_(timeout), changes_max_(changes_max), speaks_(speaks)
{
}

void Herald::speak(bool speaks)
{
    const std::lock_guard lock(mutex_);
    speaks_ = speaks;
    added_.clear();
    removed_.clear();
}

/// What came and has gone since is not worth a word.
void Herald::tell(const std::set<TypePattern>& added, const std::set<TypePattern>& removed)
{
    {
        const std::lock_guard lock(mutex_);
        if (!speaks_) return;
        for (const TypePattern& type : added)
            if (removed_.erase(type) == 0) added_.insert(type);
        for (const TypePattern& type : removed)
            if (added_.erase(type) == 0) removed_.insert(type);
        if (added_.size() + removed_.size() > changes_max_) {
            speaks_ = false;
            added_.clear();
            removed_.clear();
        }
        if (added_.empty() && removed_.empty()) return;
    }
    wake();
}

void Herald::called(orb::AsynchronousCall& call)
{
    if (call.failure()) speak(false);
}

void Herald::idle()
{
    CosNotification::EventTypeSeq added;
    CosNotification::EventTypeSeq removed;
    {
        const std::lock_guard lock(mutex_);
        if (!speaks_ || (added_.empty() && removed_.empty())) return;
        added = sequence_of(std::exchange(added_, {}));
        removed = sequence_of(std::exchange(removed_, {}));
    }
    try {
        orb::AsynchronousCall& call = orb::AsynchronousCall::make(
            corba::reference_of(*client_.in()), of_offers_ ? offer_change : subscription_change);
        try {
            call.limit(Deadline::after(timeout_));
            mapping::encode(call.out(), added);
            mapping::encode(call.out(), removed);
        } catch (...) {
            call.abandon();
            throw;
        }
        send(call);
    } catch (const CORBA::Exception&) {
        speak(false); // it finds out by asking
    }
}

} // namespace kairos::notification
