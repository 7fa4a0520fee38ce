// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/omniorb/hooks.h"

#include "kairos/base/log.h"
#include "kairos/compat/omniorb/call_ends.h"
#include "kairos/compat/omniorb/include/omniORB4/internal/giopStream.h"
#include "kairos/compat/omniorb/include/omniORB4/internal/initialiser.h"
#include "kairos/compat/omniorb/include/omniORB4/omniInterceptors.h"
#include "kairos/corba/orb_state.h"
#include "kairos/giop/request.h"
#include "kairos/ior/profile.h"
#include "kairos/net/address.h"
#include "kairos/net/thread_runner.h"
#include "kairos/orb/call_observer.h"
#include "kairos/orb/hooks.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/upcall_observer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Of omnithread, which the program links or not; null then.
[[gnu::weak]] KAIROS_API omni_thread* kairos_omni_self() __asm__("_ZN11omni_thread4selfEv");
[[gnu::weak]] KAIROS_API omni_thread*
kairos_omni_create_dummy() __asm__("_ZN11omni_thread12create_dummyEv");
[[gnu::weak]] KAIROS_API void
kairos_omni_release_dummy() __asm__("_ZN11omni_thread13release_dummyEv");

namespace kairos::omniorb {
namespace {

using omni::omniInterceptors;

/// The functions of all points, for all ORBs of the layer.
class AllFunctions {
  public:
    [[nodiscard]] bool any(Point point) const noexcept
    {
        return list(point).any.load(std::memory_order_acquire);
    }
    void add(Point point, AnyFunction function)
    {
        const std::lock_guard lock(mutex_);
        std::vector<AnyFunction>& all = list(point).functions;
        if (std::ranges::find(all, function) == all.end()) all.push_back(function);
        list(point).any = true;
    }
    void clear()
    {
        const std::lock_guard lock(mutex_);
        for (List& each : lists_) {
            each.any = false;
            each.functions.clear();
        }
    }
    void remove(Point point, AnyFunction function)
    {
        const std::lock_guard lock(mutex_);
        List& of = list(point);
        std::erase(of.functions, function);
        of.any = !of.functions.empty();
    }
    [[nodiscard]] std::vector<AnyFunction> of(Point point) const
    {
        const std::lock_guard lock(mutex_);
        return list(point).functions;
    }
    /// Calls each with `info` until one returns false. Without a lock: it may add another.
    template <typename Interceptor, typename Info>
    void call(Point point, Info& info) const
    {
        for (const AnyFunction each : of(point))
            if (!reinterpret_cast<typename Interceptor::interceptFunc>(each)(info)) return;
    }

  private:
    struct List {
        std::atomic<bool> any = false;
        std::vector<AnyFunction> functions; // guarded by mutex_
    };
    [[nodiscard]] List& list(Point point) { return lists_[static_cast<std::size_t>(point)]; }
    [[nodiscard]] const List& list(Point point) const
    {
        return lists_[static_cast<std::size_t>(point)];
    }

    mutable std::mutex mutex_; // guards the functions of lists_
    std::array<List, point_count> lists_;
};

AllFunctions& all_functions()
{
    static AllFunctions& all = *new AllFunctions; // never destroyed: threads may outlive statics
    return all;
}

void take(IOP::ServiceContextList& into, const giop::ServiceContexts& from)
{
    into.length(from.count());
    CORBA::ULong next = 0;
    from.for_each([&](std::uint32_t id, Bytes data) {
        IOP::ServiceContext& each = into[next++];
        each.context_id = id;
        each.context_data.length(static_cast<CORBA::ULong>(data.size()));
        if (!data.empty()) std::memcpy(each.context_data.get_buffer(), data.data(), data.size());
    });
}

void give(orb::ContextList& into, const IOP::ServiceContextList& from)
{
    for (CORBA::ULong i = 0; i < from.length(); ++i)
        into.append(from[i].context_id,
                    {reinterpret_cast<const std::byte*>(from[i].context_data.get_buffer()),
                     from[i].context_data.length()});
}

// --- requests ------------------------------------------------------------------------------------

std::string omni_text(const net::Address& address)
{
    constexpr std::string_view unix_prefix = "unix:";
    const std::string text = address.to_text();
    if (text.starts_with(unix_prefix)) return "giop:" + text;
    return "giop:tcp:" + text;
}

/// What functions are told of a request.
class Request {
  public:
    explicit Request(orb::ObservedUpcall& upcall)
        : told_(std::string(upcall.operation()),
                upcall.peer() == nullptr ? std::string() : omni_text(*upcall.peer()),
                std::string(as_text(upcall.object_key())), upcall.request().response_expected())
    {
    }
    [[nodiscard]] omni::GIOP_S& told() { return told_; }

  private:
    omni::GIOP_S told_;
};

/// The ORBs that have observers of one kind.
class ObservedOrbs {
  public:
    void add(const orb::Orb& orb)
    {
        const std::lock_guard lock(mutex_);
        orbs_.insert(&orb);
    }
    void remove(const orb::Orb& orb)
    {
        const std::lock_guard lock(mutex_);
        orbs_.erase(&orb);
    }
    [[nodiscard]] bool has(const orb::Orb& orb)
    {
        const std::lock_guard lock(mutex_);
        return orbs_.contains(&orb);
    }

  private:
    std::mutex mutex_; // guards what follows
    std::set<const orb::Orb*> orbs_;
};

/// Calls the functions of serverReceiveRequest. Requests stay plain.
class Arrivals final : public orb::UpcallObserver {
  public:
    explicit Arrivals(const orb::Orb& orb) : UpcallObserver(Hears::arrivals), orb_(orb)
    {
        observed().add(orb_);
    }
    ~Arrivals() override { observed().remove(orb_); }
    static ObservedOrbs& observed()
    {
        static ObservedOrbs& all =
            *new ObservedOrbs; // never destroyed: ORBs may outlive static objects
        return all;
    }

    void receive_request_service_contexts(orb::ObservedUpcall& upcall) override
    {
        constexpr Point point = Point::server_receive_request;
        // omniORB's interceptors do not hear of calls within the process.
        if (upcall.is_local() || !all_functions().any(point)) return;
        Request request(upcall);
        take(request.told().service_contexts(), upcall.request().contexts);
        omniInterceptors::RequestInfo info(request.told());
        all_functions().call<omniInterceptors::serverReceiveRequest_T>(point, info);
    }

  private:
    const orb::Orb& orb_;
};

/// Calls the functions of serverSendReply and serverSendException.
class Ends final : public orb::UpcallObserver {
  public:
    explicit Ends(const orb::Orb& orb) : orb_(orb) { observed().add(orb_); }
    ~Ends() override { observed().remove(orb_); }
    static ObservedOrbs& observed()
    {
        static ObservedOrbs& all =
            *new ObservedOrbs; // never destroyed: ORBs may outlive static objects
        return all;
    }

    void send_reply(orb::ObservedUpcall& upcall) override
    {
        constexpr Point point = Point::server_send_reply;
        if (is_quiet(upcall, point)) return;
        Request request(upcall);
        omniInterceptors::RequestInfo info(request.told());
        all_functions().call<omniInterceptors::serverSendReply_T>(point, info);
        give(upcall.reply_contexts(), request.told().service_contexts());
    }
    void send_exception(orb::ObservedUpcall& upcall) override
    {
        constexpr Point point = Point::server_send_exception;
        if (is_quiet(upcall, point)) return;
        Request request(upcall);
        omniInterceptors::SendExceptionInfo info(request.told(), upcall.ending().exception);
        all_functions().call<omniInterceptors::serverSendException_T>(point, info);
        give(upcall.reply_contexts(), request.told().service_contexts());
    }

  private:
    /// Whether nobody is told: of oneways there is no reply either.
    static bool is_quiet(const orb::ObservedUpcall& upcall, Point point)
    {
        return upcall.is_local() || !upcall.ending().has_reply || !all_functions().any(point);
    }

    const orb::Orb& orb_;
};

/// Adds an observer of this kind to an ORB, unless it has one.
template <typename Observer>
void observe(CORBA::ORB_ptr orb)
{
    const orb::Orb& core = orb->_kairos_core();
    if (!Observer::observed().has(core))
        orb->_kairos_add_upcall_observer(std::make_unique<Observer>(core));
}

void observe(CORBA::ORB_ptr orb, Point point)
{
    if (point == Point::server_receive_request)
        observe<Arrivals>(orb);
    else if (point == Point::server_send_reply || point == Point::server_send_exception)
        observe<Ends>(orb);
}

// --- threads -------------------------------------------------------------------------------------

/// The functions around what one thread does, on its stack. Everything here is done by it.
class Around {
  public:
    Around(std::vector<AnyFunction> functions, const std::function<void()>& body)
        : functions_(std::move(functions)), body_(body)
    {
    }
    Around(const Around&) = delete;
    Around& operator=(const Around&) = delete;

    /// Calls the functions and, whatever they do, the body once.
    void run() noexcept
    {
        try {
            call(0);
        } catch (...) {
            log::error("omniORB's createThread: a function has thrown");
        }
        work(); // unless a function has called run()
    }

  private:
    /// What a function is told: run() calls the next one, the last one's lets the thread work.
    class Info final : public ThreadInfo {
      public:
        Info(Around& around, std::size_t next) : around_(around), next_(next) {}
        void run() override { around_.call(next_); }
        omni_thread* self() override
        {
            return &kairos_omni_self == nullptr ? nullptr : kairos_omni_self();
        }

      private:
        Around& around_;
        const std::size_t next_;
    };

    void call(std::size_t next)
    {
        if (next == functions_.size()) {
            work();
            return;
        }
        Info info(*this, next + 1);
        reinterpret_cast<omniInterceptors::createThread_T::interceptFunc>(functions_[next])(info);
    }
    /// Once: whoever calls run() twice has it done once.
    void work() noexcept
    {
        if (!std::exchange(worked_, true)) body_();
    }

    const std::vector<AnyFunction> functions_;
    const std::function<void()>& body_;
    bool worked_ = false;
};

/// The functions of createThread, then those of assignUpcallThread.
std::vector<AnyFunction> thread_functions()
{
    std::vector<AnyFunction> functions;
    for (const Point point : {Point::create_thread, Point::assign_upcall_thread}) {
        if (!all_functions().any(point)) continue; // most programs have none: threads start cheaply
        for (const AnyFunction each : all_functions().of(point))
            functions.push_back(each);
    }
    return functions;
}

/// Gives the calling thread its omni_thread. Returns whether it had none and has now.
bool make_omni_thread() noexcept
{
    try {
        if (&kairos_omni_create_dummy == nullptr || kairos_omni_self() != nullptr) return false;
        kairos_omni_create_dummy();
        return true;
    } catch (...) { // omnithread's own exceptions are of no common class
        log::error("omnithread does not know one of the ORB's threads: it cannot be made");
        return false;
    }
}

/// Gives the ORB's threads their omni_thread, and has the functions of createThread called.
class Threads final : public orb::Hooks, public net::ThreadRunner {
  public:
    void run(const std::string&, const std::function<void()>& body) noexcept override
    {
        const bool made = make_omni_thread();
        std::vector<AnyFunction> functions;
        try {
            functions = thread_functions();
        } catch (const std::bad_alloc&) {
            log::error("omniORB's createThread: there is no memory for its functions");
        }
        Around(std::move(functions), body).run();
        // At the end of the process omnithread may have forgotten all threads before.
        if (made && kairos_omni_self() != nullptr) kairos_omni_release_dummy();
    }
};

// --- initialisers --------------------------------------------------------------------------------

class Initialisers {
  public:
    void add(omni::omniInitialiser* initialiser)
    {
        const std::lock_guard lock(mutex_);
        all_.push_back(initialiser);
    }
    [[nodiscard]] std::vector<omni::omniInitialiser*> all() const
    {
        const std::lock_guard lock(mutex_);
        return all_;
    }

  private:
    mutable std::mutex mutex_; // guards what follows; not held while calling out
    std::vector<omni::omniInitialiser*> all_;
};

Initialisers& initialisers()
{
    static Initialisers& all = *new Initialisers; // never destroyed: ORBs may outlive statics
    return all;
}

/// How many ORBs of the layer there are that were not destroyed.
std::atomic<int> orbs_alive = 0;

/// What an ORB keeps of the layer: the initialisers that were told of it.
class Attached final : public corba::OrbAttachment {
  public:
    Attached() { ++orbs_alive; }

    void attach()
    {
        for (omni::omniInitialiser* each : initialisers().all()) {
            each->attach();
            const std::lock_guard lock(mutex_);
            told_.push_back(each);
        }
    }
    void end() noexcept override
    {
        std::unique_lock lock(mutex_);
        const std::vector<omni::omniInitialiser*> told = std::exchange(told_, {});
        lock.unlock();
        for (omni::omniInitialiser* each : told)
            detach(*each);
        if (--orbs_alive == 0) all_functions().clear(); // programs add them again with the next ORB
    }

  private:
    static void detach(omni::omniInitialiser& initialiser) noexcept
    {
        try {
            initialiser.detach();
        } catch (...) {
            log::error("omniORB's detach: an initialiser has thrown");
        }
    }

    std::mutex mutex_; // guards what follows; not held while calling out
    std::vector<omni::omniInitialiser*> told_;
};

// --- calls ---------------------------------------------------------------------------------------

omni::GIOP_C call_of(const orb::ObservedCall& call)
{
    std::string peer;
    if (const ior::TaggedProfile* profile = call.profile(); profile != nullptr)
        if (const auto read = ior::decode_iiop(profile->data))
            peer = "giop:tcp:" + read->host + ":" + std::to_string(read->port);
    return {std::string(call.operation().name()), std::move(peer)};
}

} // namespace

void add_hooks(CORBA::ORB_ptr orb)
{
    orb->_kairos_set_hooks(std::make_unique<Threads>());
    for (const Point point :
         {Point::server_receive_request, Point::server_send_reply, Point::server_send_exception})
        if (all_functions().any(point)) observe(orb, point);
}

void attach_initialisers(CORBA::ORB_ptr orb)
{
    const auto attached = std::make_shared<Attached>();
    {
        CORBA::ORB::State& state = orb->_kairos_state();
        const std::lock_guard lock(state.mutex);
        state.layer = attached;
    }
    attached->attach();
}

void tell_sending(orb::ObservedCall& call)
{
    constexpr Point point = Point::client_send_request;
    if (!all_functions().any(point) || call.place().is_local()) return;
    omni::GIOP_C told = call_of(call);
    omniInterceptors::SendRequestInfo info(told);
    all_functions().call<omniInterceptors::clientSendRequest_T>(point, info);
    give(call.request_contexts(), info.service_contexts);
}

void tell_reply(orb::ObservedCall& call)
{
    constexpr Point point = Point::client_receive_reply;
    if (!all_functions().any(point) || call.place().is_local()) return;
    using Status = orb::Ending::Status;
    const Status status = call.ending().status;
    const bool is_reply = (status == Status::successful && call.ending().has_reply) ||
                          status == Status::user_exception || !call.reply_contexts().empty();
    if (!is_reply) return;
    omni::GIOP_C told = call_of(call);
    IOP::ServiceContextList contexts;
    take(contexts, call.reply_contexts());
    omniInterceptors::ReceiveReplyInfo info(told, contexts);
    all_functions().call<omniInterceptors::clientReceiveReply_T>(point, info);
}

void add_function(Point point, AnyFunction function)
{
    CORBA::ORB_ptr orb = corba::default_orb();
    if (orb != nullptr && CallEnds::has(orb->_kairos_core())) observe(orb, point);
    all_functions().add(point, function);
}

void remove_function(Point point, AnyFunction function) { all_functions().remove(point, function); }

void refuse_function(const char* instead)
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, std::string("omniInterceptors.") + instead);
}

} // namespace kairos::omniorb

namespace omniORB {

omni::omniInterceptors* getInterceptors()
{
    static omni::omniInterceptors& all = *new omni::omniInterceptors; // as those that it names
    return &all;
}

} // namespace omniORB

namespace omni {

void omniInitialiser::install(omniInitialiser* initialiser)
{
    kairos::omniorb::initialisers().add(initialiser);
}

const char* giopConnection::myaddress() const
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "the address at this end is not told");
}

void giopStream::dumpbuf(unsigned char* octets, std::size_t size)
{
    constexpr std::size_t in_line = 16;
    constexpr const char* digits = "0123456789abcdef";
    for (std::size_t at = 0; at < size; at += in_line) {
        std::string numbers;
        std::string text;
        for (std::size_t i = at; i < std::min(size, at + in_line); ++i) {
            numbers += {digits[octets[i] >> 4], digits[octets[i] & 15], ' '};
            text += octets[i] >= ' ' && octets[i] <= '~' ? static_cast<char>(octets[i]) : '.';
        }
        numbers.resize(3 * in_line, ' ');
        omniORB::logger("") << numbers.c_str() << ' ' << text.c_str() << '\n';
    }
}

} // namespace omni
