// SPDX-License-Identifier: Apache-2.0
//
// A call that observers hear of (orb/call_observer.h), beside the Invocation, on the way of calls
// that are not plain. Used by one thread at a time.
#pragma once

#include "kairos/giop/reply.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/call_observer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace kairos::orb {

class Route;

class CallObservation final : public ObservedCall {
  public:
    /// `response_flags` are the request's.
    CallObservation(Reference& target, const Operation& operation, std::uint8_t response_flags,
                    SyncScope sync_scope);
    /// Tells of an attempt whose end nobody waits for.
    ~CallObservation()
    {
        if (has_told()) abandon();
        if (request_contexts_) give_back_contexts();
    }

    /// Tells that an attempt at where the route leads now begins; of the attempt before, if its end
    /// was not told, that the call goes on. Throws what an observer throws.
    void begin(const Route& route);
    /// Tells that an attempt at `place` now begins, by this profile of it or none; of the attempt
    /// before, if its end was not told, that the call goes on. Throws what an observer throws.
    void begin(Reference& place, const ior::TaggedProfile* profile);
    /// Returns the service contexts that observers have added to the request, as an encoded list.
    [[nodiscard]] Bytes added_contexts() const noexcept
    {
        return request_contexts_ ? request_contexts_->bytes() : Bytes();
    }
    /// Notes the reply, of which the end is about to tell; it lasts until then, or unanswered().
    void answered(const giop::Reply& reply) noexcept { reply_contexts_ = reply.contexts; }
    /// Notes that there is no reply any more.
    void unanswered() noexcept { reply_contexts_ = {}; }
    /// Tells how the attempt ended, unless that was told. Throws what an observer throws.
    void end(const Ending& ending)
    {
        if (has_told()) tell(ending);
    }
    /// Tells of the end of a oneway that nobody answers. Throws what an observer throws.
    void end_unanswered() { end({.status = Ending::Status::successful, .has_reply = false}); }

    /// Does `work`, returns what it returns and tells of what it throws, if that is the attempt's
    /// end. Throws what it throws, or an observer throws instead.
    template <typename Work>
    auto during(Work&& work)
    {
        try {
            return work();
        } catch (const LocationForward& elsewhere) {
            end({.status = Ending::Status::location_forward, .forward = &elsewhere.target});
            throw;
        } catch (const CORBA::SystemException& exception) {
            end({.status = Ending::Status::system_exception, .exception = &exception});
            throw;
        } catch (const CORBA::UserException& exception) {
            end({.status = Ending::Status::user_exception, .exception = &exception});
            throw;
        }
    }

  private:
    void tell(const Ending& ending);
    void tell_end(std::size_t observer);
    [[gnu::cold]] void abandon() noexcept;
    void give_back_contexts() noexcept;

    const std::span<const std::unique_ptr<CallObserver>> observers_;
};

} // namespace kairos::orb
