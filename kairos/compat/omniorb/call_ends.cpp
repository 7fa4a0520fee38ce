// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/omniorb/call_ends.h"

#include "kairos/compat/omniorb/include/omniORB4/omniORB.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/failure.h"

#include <atomic>
#include <mutex>
#include <set>

namespace kairos::omniorb {
namespace {

/// A handler of the program's and what it is to be given.
template <typename Exception>
class Handler {
  public:
    using Function = CORBA::Boolean (*)(void*, CORBA::ULong, const Exception&);

    void set(void* cookie, Function function)
    {
        const std::lock_guard lock(mutex_);
        cookie_ = cookie, function_ = function;
    }
    /// Asks the handler, if there is one. Calls it without the lock: it may install another.
    [[nodiscard]] bool wants_retry(CORBA::ULong retries, const Exception& exception)
    {
        std::unique_lock lock(mutex_);
        void* const cookie = cookie_;
        const Function function = function_;
        lock.unlock();
        return function != nullptr && function(cookie, retries, exception);
    }

  private:
    std::mutex mutex_; // guards what follows
    void* cookie_ = nullptr;
    Function function_ = nullptr;
};

struct Handlers {
    Handler<CORBA::TRANSIENT> transient;
    Handler<CORBA::TIMEOUT> timeout;
    Handler<CORBA::COMM_FAILURE> comm_failure;
    Handler<CORBA::SystemException> others;
};

Handlers& handlers()
{
    static Handlers& all = *new Handlers; // never destroyed: calls may outlive static objects
    return all;
}

/// The ORBs that have a CallEnds.
struct Observed {
    std::mutex mutex; // guards what follows
    std::set<const orb::Orb*> orbs;
};

Observed& observed()
{
    static Observed& all = *new Observed; // never destroyed: ORBs may outlive static objects
    return all;
}

struct Translation {
    CORBA::ULong ours;
    CORBA::ULong theirs;
};

/// One list for all exceptions: no code of ours means two things.
constexpr Translation translations[] = {
    {orb::minor_code::connect_failed, omni::TRANSIENT_ConnectFailed},
    {orb::minor_code::forward_loop, omni::TRANSIENT_FailedOnForwarded},
    {orb::minor_code::not_sent_in_time, omni::TIMEOUT_CallTimedOutOnClient},
    {orb::minor_code::no_reply_in_time, omni::TIMEOUT_CallTimedOutOnClient},
};

/// What omniORB's minor code is for this exception; its own where there is none.
CORBA::ULong minor_of(const CORBA::SystemException& exception)
{
    if (exception.minor() == orb::minor_code::connection_closed)
        return dynamic_cast<const CORBA::COMM_FAILURE*>(&exception) != nullptr
                   ? omni::COMM_FAILURE_WaitingForReply
                   : omni::TRANSIENT_ConnectionClosed;
    for (const Translation& each : translations)
        if (each.ours == exception.minor()) return each.theirs;
    return exception.minor();
}

/// Hands the exception, as the program sees it, to the handler of its class.
bool wants_retry(CORBA::ULong retries, const CORBA::SystemException& exception)
{
    Handlers& all = handlers();
    if (const auto* transient = dynamic_cast<const CORBA::TRANSIENT*>(&exception))
        return all.transient.wants_retry(retries, *transient);
    if (const auto* timeout = dynamic_cast<const CORBA::TIMEOUT*>(&exception))
        return all.timeout.wants_retry(retries, *timeout);
    if (const auto* failure = dynamic_cast<const CORBA::COMM_FAILURE*>(&exception))
        return all.comm_failure.wants_retry(retries, *failure);
    return all.others.wants_retry(retries, exception);
}

} // namespace

CallEnds::CallEnds(const orb::Orb& orb, bool transient_on_timeout)
    : orb_(orb), transient_on_timeout_(transient_on_timeout)
{
    const std::lock_guard lock(observed().mutex);
    observed().orbs.insert(&orb_);
}

CallEnds::~CallEnds()
{
    const std::lock_guard lock(observed().mutex);
    observed().orbs.erase(&orb_);
}

bool CallEnds::has(const orb::Orb& orb)
{
    const std::lock_guard lock(observed().mutex);
    return observed().orbs.contains(&orb);
}

void CallEnds::receive_exception(orb::ObservedCall& call)
{
    const auto* const ended = dynamic_cast<const CORBA::SystemException*>(call.ending().exception);
    if (ended == nullptr) return;
    const bool is_timeout = dynamic_cast<const CORBA::TIMEOUT*>(ended) != nullptr;
    const CORBA::ULong minor = minor_of(*ended);
    const char* const id =
        is_timeout && transient_on_timeout_ ? "IDL:omg.org/CORBA/TRANSIENT:1.0" : ended->_rep_id();
    try {
        mapping::raise_system_exception(id, minor, ended->completed(), ended->reason());
    } catch (const CORBA::SystemException& seen) {
        std::shared_ptr<void>& state = call.state_of(this);
        if (!state) state = std::make_shared<CORBA::ULong>(0);
        auto& retries = *static_cast<CORBA::ULong*>(state.get());
        // Once it may have been executed, a call is not made again, whatever the handler says.
        if (wants_retry(retries, seen) && seen.completed() == CORBA::COMPLETED_NO) {
            ++retries;
            throw orb::LocationForward{call.target().ior()};
        }
        throw;
    }
}

} // namespace kairos::omniorb

namespace omniORB {

void installTransientExceptionHandler(void* cookie, transientExceptionHandler_t handler)
{
    kairos::omniorb::handlers().transient.set(cookie, handler);
}

void installTimeoutExceptionHandler(void* cookie, timeoutExceptionHandler_t handler)
{
    kairos::omniorb::handlers().timeout.set(cookie, handler);
}

void installCommFailureExceptionHandler(void* cookie, commFailureExceptionHandler_t handler)
{
    kairos::omniorb::handlers().comm_failure.set(cookie, handler);
}

void installSystemExceptionHandler(void* cookie, systemExceptionHandler_t handler)
{
    kairos::omniorb::handlers().others.set(cookie, handler);
}

} // namespace omniORB
