// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/omniorb/call_ends.h"

#include "kairos/compat/omniorb/include/omniORB4/omniORB.h"
#include "kairos/corba/object.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/reference.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace kairos::omniorb {
namespace {

/// What ended, and how often it was made again.
struct EndedCall {
    orb::ObservedCall& call;
    CORBA::ULong retries;
};

/// A handler of the program's, which may be one that is told of the call as well, and what it is to
/// be given.
template <typename Exception>
class Handler {
  public:
    using Function = CORBA::Boolean (*)(void*, CORBA::ULong, const Exception&);
    using FunctionExt = CORBA::Boolean (*)(void*, CORBA::ULong, const Exception&, CORBA::Object_ptr,
                                           const char*);

    void set(void* cookie, Function function) { set(cookie, function, nullptr); }
    void set(void* cookie, FunctionExt function) { set(cookie, nullptr, function); }
    [[nodiscard]] bool is_set()
    {
        const std::lock_guard lock(mutex_);
        return function_ != nullptr || function_ext_ != nullptr;
    }
    /// Asks the handler, if there is one: nothing if there is none. Calls it without the lock: it
    /// may install another.
    [[nodiscard]] std::optional<bool> wants_retry(const EndedCall& ended,
                                                  const Exception& exception)
    {
        std::unique_lock lock(mutex_);
        void* const cookie = cookie_;
        const Function function = function_;
        const FunctionExt function_ext = function_ext_;
        lock.unlock();
        if (function != nullptr) return function(cookie, ended.retries, exception);
        if (function_ext == nullptr) return std::nullopt;
        const CORBA::Object_var object =
            corba::StubFactory::make<CORBA::Object>(orb::ReferencePtr(&ended.call.target()));
        const std::string operation(ended.call.operation().name());
        return function_ext(cookie, ended.retries, exception, object.in(), operation.c_str());
    }

  private:
    void set(void* cookie, Function function, FunctionExt function_ext)
    {
        const std::lock_guard lock(mutex_);
        cookie_ = cookie, function_ = function, function_ext_ = function_ext;
    }

    std::mutex mutex_; // guards what follows
    void* cookie_ = nullptr;
    Function function_ = nullptr; // one of the two at most is there
    FunctionExt function_ext_ = nullptr;
};

struct Handlers {
    Handler<CORBA::TRANSIENT> transient;
    Handler<CORBA::TIMEOUT> timeout;
    Handler<CORBA::COMM_FAILURE> comm_failure;
    Handler<CORBA::SystemException> others;

    [[nodiscard]] bool any_is_set()
    {
        return transient.is_set() || timeout.is_set() || comm_failure.is_set() || others.is_set();
    }
    /// Hands the exception, as the program sees it, to the handler of its class.
    [[nodiscard]] std::optional<bool> want_retry(const EndedCall& ended,
                                                 const CORBA::SystemException& exception)
    {
        if (const auto* is = dynamic_cast<const CORBA::TRANSIENT*>(&exception))
            return transient.wants_retry(ended, *is);
        if (const auto* is = dynamic_cast<const CORBA::TIMEOUT*>(&exception))
            return timeout.wants_retry(ended, *is);
        if (const auto* is = dynamic_cast<const CORBA::COMM_FAILURE*>(&exception))
            return comm_failure.wants_retry(ended, *is);
        return others.wants_retry(ended, exception);
    }
};

Handlers& handlers()
{
    static Handlers& all = *new Handlers; // never destroyed: calls may outlive static objects
    return all;
}

/// The handlers of single objects, by what the first profile of their references says.
class ObjectHandlers {
  public:
    /// Sets a member of Handlers for this object.
    template <typename Member, typename Function>
    void set(const orb::Reference& object, Member member, void* cookie, Function function)
    {
        const std::string name = name_of(object);
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Handlers>& its = all_[name];
        if (!its) its = std::make_shared<Handlers>();
        ((*its).*member).set(cookie, function);
        if (!its->any_is_set()) all_.erase(name);
        any_ = !all_.empty();
    }
    /// Returns those of this object; null if it has none.
    [[nodiscard]] std::shared_ptr<Handlers> of(const orb::Reference& object)
    {
        if (!any_) return nullptr;
        const std::string name = name_of(object);
        const std::lock_guard lock(mutex_);
        const auto found = all_.find(name);
        return found == all_.end() ? nullptr : found->second;
    }

  private:
    static std::string name_of(const orb::Reference& object)
    {
        const auto& profiles = object.ior().profiles;
        return profiles.empty() ? std::string() : std::string(as_text(profiles.front().data));
    }

    std::atomic<bool> any_ = false;
    std::mutex mutex_; // guards what follows; outside those of Handler
    std::map<std::string, std::shared_ptr<Handlers>> all_;
};

ObjectHandlers& object_handlers()
{
    static ObjectHandlers& all = *new ObjectHandlers; // as handlers()
    return all;
}

/// Sets a handler for one object.
template <typename Member, typename Function>
void set_for(CORBA::Object_ptr object, Member member, void* cookie, Function function)
{
    if (CORBA::is_nil(object) || !object->_kairos_reference())
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a reference is wanted that is not nil");
    object_handlers().set(*object->_kairos_reference(), member, cookie, function);
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

/// Asks the object's handler for the exception, or else that for all objects.
bool wants_retry(const EndedCall& ended, const CORBA::SystemException& exception)
{
    if (const std::shared_ptr<Handlers> its = object_handlers().of(ended.call.target()))
        if (const std::optional<bool> wants = its->want_retry(ended, exception)) return *wants;
    return handlers().want_retry(ended, exception).value_or(false);
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
    tell_reply(call);
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
        if (wants_retry({call, retries}, seen) && seen.completed() == CORBA::COMPLETED_NO) {
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

void installTransientExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                      transientExceptionHandler_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::transient, cookie, handler);
}

void installTimeoutExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                    timeoutExceptionHandler_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::timeout, cookie, handler);
}

void installCommFailureExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                        commFailureExceptionHandler_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::comm_failure, cookie, handler);
}

void installSystemExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                   systemExceptionHandler_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::others, cookie, handler);
}

void installTransientExceptionHandlerExt(void* cookie, transientExceptionHandlerExt_t handler)
{
    kairos::omniorb::handlers().transient.set(cookie, handler);
}

void installTransientExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                         transientExceptionHandlerExt_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::transient, cookie, handler);
}

void installTimeoutExceptionHandlerExt(void* cookie, timeoutExceptionHandlerExt_t handler)
{
    kairos::omniorb::handlers().timeout.set(cookie, handler);
}

void installTimeoutExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                       timeoutExceptionHandlerExt_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::timeout, cookie, handler);
}

void installCommFailureExceptionHandlerExt(void* cookie, commFailureExceptionHandlerExt_t handler)
{
    kairos::omniorb::handlers().comm_failure.set(cookie, handler);
}

void installCommFailureExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                           commFailureExceptionHandlerExt_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::comm_failure, cookie, handler);
}

void installSystemExceptionHandlerExt(void* cookie, systemExceptionHandlerExt_t handler)
{
    kairos::omniorb::handlers().others.set(cookie, handler);
}

void installSystemExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                      systemExceptionHandlerExt_t handler)
{
    using namespace kairos::omniorb;
    set_for(object, &Handlers::others, cookie, handler);
}

} // namespace omniORB
