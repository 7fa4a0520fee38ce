// SPDX-License-Identifier: Apache-2.0
//
// CORBA::ORB and ORB_init as users see them (CORBA 3.3 part 1, 8.2 and 8.5; C++ mapping 5.33): a
// thin front of orb::Orb. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/owner.h"
#include "kairos/corba/context.h"
#include "kairos/corba/environment.h"
#include "kairos/corba/object.h"
#include "kairos/corba/typecode_maker.h"
#include "kairos/mapping/marshal.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/user_exception.h"
#include "kairos/values/value_base.h"

#include <string>
#include <string_view>

namespace PortableServer {
class POA;
typedef POA* POA_ptr;
} // namespace PortableServer

namespace kairos::ior {
struct Ior;
struct ObjectUrl;
} // namespace kairos::ior

namespace kairos::orb {
class CallObserver;
class Hooks;
class LateCallHandler;
class Orb;
class RequestDispatcher;
class RequestFilter;
class UpcallObserver;
struct Options;
} // namespace kairos::orb

namespace kairos::corba {
class OrbAttachment;
class Policies;
} // namespace kairos::corba

namespace CORBA {

typedef kairos::mapping::ObjectVar<ORB> ORB_var;
typedef kairos::mapping::ObjectOut<ORB> ORB_out;
typedef char* ORBid;
// CORBA 3.3 part 1, 8.2.4: what services number.
typedef UShort ServiceType;
typedef ULong ServiceOption;
typedef ULong ServiceDetailType;
struct ServiceInformation;
typedef kairos::mapping::VariableOut<ServiceInformation> ServiceInformation_out;
class RequestSeq;
class OperationDef;
typedef OperationDef* OperationDef_ptr;

/// An Object Request Broker as programs see it (CORBA 3.3 part 1, 8.2). TypeCodeMaker adds the
/// operations that make TypeCodes.
class KAIROS_API ORB : public kairos::corba::TypeCodeMaker {
  public:
    typedef ORB_ptr _ptr_type;
    typedef ORB_var _var_type;
    typedef char* ObjectId;
    class ObjectIdList : public kairos::mapping::UnboundedStringSequence<> {
      public:
        using Unbounded::Unbounded;
    };
    typedef kairos::mapping::VariableVar<ObjectIdList> ObjectIdList_var;
    typedef kairos::mapping::VariableOut<ObjectIdList> ObjectIdList_out;
    typedef CORBA::RequestSeq RequestSeq;
    KAIROS_EMPTY_EXCEPTION("CORBA/ORB", InvalidName)

    ORB(const ORB&) = delete;
    ORB& operator=(const ORB&) = delete;

    static ORB_ptr _duplicate(ORB_ptr orb);
    static ORB_ptr _nil() { return nullptr; }

    /// The name that ORB_init knows the ORB by. Owned by the caller.
    char* id();

    /// Returns the reference as text, "IOR:…". Owned by the caller. Throws MARSHAL for local
    /// objects.
    char* object_to_string(Object_ptr object);
    /// Makes a reference from an object URL: IOR:, corbaloc:, corbaname: or file: (a file that
    /// holds one of them). Owned by the caller. Throws BAD_PARAM with the OMG's minor codes 7
    /// (scheme), 9 (the rest of the text) and 10 (a name that is not bound). Only the name of a
    /// corbaname is asked for, at its naming service, which throws what calls throw; all other
    /// addresses are looked up when the first call is made.
    Object_ptr string_to_object(const char* text);

    /// Returns the object of a well-known name: "RootPOA", "POACurrent", "TypeCodeFactory",
    /// "ORBPolicyManager", "PolicyCurrent", "IORTable" (ior_table.h), with kairos/rtcorba linked
    /// "RTORB", "RTCurrent", "PriorityMappingManager" and "PriorityTransformManager", what
    /// -ORBInitRef or register_initial_reference named and, with -ORBDefaultInitRef, any other. The
    /// caller owns the result. Throws InvalidName, and what string_to_object throws.
    Object_ptr resolve_initial_references(const char* name);
    ObjectIdList* list_initial_services();
    /// Returns whether the ORB has a service of this type. It has none of those that are numbered,
    /// of which Security is the only one: then `service_information` is empty, and owned by the
    /// caller all the same. (CORBA 3.3 part 1, 8.2.4.)
    Boolean get_service_information(ServiceType service_type,
                                    ServiceInformation_out service_information);
    void register_initial_reference(const char* name, Object_ptr object);

    /// A policy for create_POA, set_policy_overrides and the like, made of what `value` says. Owned
    /// by the caller. Throws PolicyError.
    Policy_ptr create_policy(PolicyType type, const Any& value);

    /// Makes an empty list. `count` tells how many items are expected.
    void create_list(Long count, NVList_out list);
    /// Makes a list with an item for each parameter of an operation that an Interface Repository
    /// knows: its name, its type without a value, and its direction as the flags. It asks the
    /// repository. Throws BAD_PARAM for nil. Programs that call this link Kairos::ir, which defines
    /// it. (CORBA 3.3 part 1, 8.2.5.)
    void create_operation_list(OperationDef_ptr operation, NVList_out list);
    /// Makes a NamedValue without name, value and flags.
    void create_named_value(NamedValue_out value);
    /// Gives out the root of all contexts, which has no properties at first.
    void get_default_context(Context_out context);
    /// Makes an Environment without an exception.
    void create_environment(Environment_out environment);

    // Dynamic invocations (request.h), defined in the library of kairos/dynamic.
    void create_exception_list(ExceptionList_out list);
    void create_context_list(ContextList_out list);
    /// Sends all requests that can be sent, none of which is answered; then throws what the first
    /// of the others threw.
    void send_multiple_requests_oneway(const RequestSeq& requests);
    /// Sends all requests that can be sent, without waiting for replies (get_next_response); then
    /// throws what the first of the others threw.
    void send_multiple_requests_deferred(const RequestSeq& requests);
    /// Whether `get_next_response` would not wait.
    Boolean poll_next_response();
    /// Waits for the next reply to a request of `send_multiple_requests_deferred`. An exception in
    /// the reply is not thrown: Request::env has it. Throws BAD_INV_ORDER 11 if no reply is
    /// outstanding.
    void get_next_response(Request_out request);

    /// Has the factory, which gains an owner, make values of this repository id from now on.
    /// Returns the factory that did it before, owned by the caller, or null.
    ValueFactory register_value_factory(const char* id, ValueFactory factory);
    /// Forgets the factory for this repository id. Throws BAD_PARAM if there is none.
    void unregister_value_factory(const char* id);
    /// Returns the factory for this repository id, owned by the caller, or null.
    ValueFactory lookup_value_factory(const char* id);

    /// Blocks until shutdown. With -ORBConcurrency reactor the calling thread serves requests.
    void run();
    Boolean work_pending();
    void perform_work();

    // Of TAO, for programs written for it; Time is ACE_Time_Value or what is like it.
    /// As run(), but returns after this time at the latest. `time` becomes what is left of it. On
    /// one thread at a time: throws BAD_INV_ORDER while another one is in `run`.
    template <typename Time>
        requires requires(Time& time) { time.set(time.sec(), time.usec()); }
    void run(Time& time)
    {
        const LongLong left = _kairos_run_for(_kairos_microseconds(time.sec(), time.usec()), false);
        time.set(left / 1'000'000, left % 1'000'000);
    }
    template <typename Time>
        requires requires(Time& time) { time.set(time.sec(), time.usec()); }
    void run(Time* time)
    {
        if (time == nullptr) return run();
        run(*time);
    }
    /// Waits for work for this time at the most, and does what there is then. `time` becomes what
    /// is left of it. Throws as run(time).
    template <typename Time>
        requires requires(Time& time) { time.set(time.sec(), time.usec()); }
    void perform_work(Time& time)
    {
        const LongLong left = _kairos_run_for(_kairos_microseconds(time.sec(), time.usec()), true);
        time.set(left / 1'000'000, left % 1'000'000);
    }
    template <typename Time>
        requires requires(Time& time) { time.set(time.sec(), time.usec()); }
    void perform_work(Time* time)
    {
        if (time == nullptr) return perform_work();
        perform_work(*time);
    }
    /// Returns a time in microseconds, of which a year is as good as more: programs say "for ever"
    /// by the greatest time there is.
    static constexpr LongLong _kairos_microseconds(LongLong seconds, LongLong microseconds) noexcept
    {
        constexpr LongLong year = LongLong{365} * 24 * 3600;
        if (seconds >= year) return year * 1'000'000;
        return seconds < 0 ? 0 : seconds * 1'000'000 + microseconds;
    }
    /// Serves on the calling thread, as perform_work() does, until the ORB is shut down or
    /// `microseconds` have passed; `once`: or something was done. Returns what is left of the time.
    /// Throws as _kairos_descriptor().
    LongLong _kairos_run_for(LongLong microseconds, bool once);
    /// For a foreign event loop: a descriptor that is readable when perform_work has something to
    /// do, and when the ORB was shut down (docs/event-loops.md). Each call returns the same one,
    /// which is the ORB's until the ORB is destroyed. With -ORBConcurrency reactor it stands for
    /// all work, elsewhere for that of POAs of the main thread. To be called once the RootPOA was
    /// resolved: throws BAD_INV_ORDER earlier, or while another thread is in `run`.
    [[nodiscard]] int _kairos_descriptor();
    /// Ends serving and calling. With `wait_for_completion` returns when requests in progress have
    /// ended and the POAs are destroyed; throws BAD_INV_ORDER 3 for that within an upcall.
    void shutdown(Boolean wait_for_completion = false);
    /// Shuts the ORB down, if nobody has, and gives back what it holds. Throws BAD_INV_ORDER 3
    /// within an upcall.
    void destroy();

    /// The core, for layers of Kairos.
    [[nodiscard]] kairos::orb::Orb& _kairos_core() noexcept { return *core_; }
    /// Sets what is called where the ORB makes threads and sockets. To be called before the RootPOA
    /// is resolved and the first call is made; throws BAD_INV_ORDER later.
    void _kairos_set_hooks(kairos::Owner<kairos::orb::Hooks> hooks);
    /// Adds an observer of calls (kairos/orb/call_observer.h) behind those added before. To be
    /// called before the RootPOA is resolved and the first call is made; throws BAD_INV_ORDER
    /// later.
    void _kairos_add_call_observer(kairos::Owner<kairos::orb::CallObserver> observer);
    /// Adds an observer of requests (kairos/orb/upcall_observer.h) behind those added before. To be
    /// called before the RootPOA is resolved; throws BAD_INV_ORDER later.
    void _kairos_add_upcall_observer(kairos::Owner<kairos::orb::UpcallObserver> observer);
    /// With -ORBConcurrency filter-chain: adds a filter that every request passes, behind the
    /// filters added before (kairos/server/filter.h). To be called before the first POAManager is
    /// activated; throws BAD_INV_ORDER later, or without a filter chain.
    void _kairos_add_request_filter(kairos::Owner<kairos::orb::RequestFilter> filter);
    /// With -ORBConcurrency custom: sets what serves the requests. To be called before the first
    /// POAManager is activated; throws BAD_INV_ORDER later, or with another architecture.
    void _kairos_set_request_dispatcher(kairos::Owner<kairos::orb::RequestDispatcher> dispatcher);
    /// Sets what is called for each operation that ended after the deadline of its IDL
    /// (docs/scheduling.md). To be called before the first POAManager is activated.
    void _kairos_set_late_call_handler(kairos::orb::LateCallHandler handler);
    /// How many operations ended after the deadlines of their IDL.
    [[nodiscard]] ULongLong _kairos_late_calls() const noexcept;
    [[nodiscard]] kairos::corba::Policies& _kairos_policies();
    /// What layers of Kairos keep with an ORB (orb_state.h).
    struct State;
    [[nodiscard]] State& _kairos_state() noexcept { return *state_; }
    /// Throws BAD_INV_ORDER 4 after shutdown.
    void _kairos_require_running() const { require_running(); }
    /// The RootPOA, owned by the caller; made at the first call.
    [[nodiscard]] PortableServer::POA_ptr _kairos_root_poa();

    void _add_ref() noexcept { count_.add(); }
    void _remove_ref() noexcept;

  private:
    friend ORB_ptr ORB_init(int& argc, char** argv, const char* orb_identifier);

    ORB(std::string id, kairos::orb::Options options);
    ~ORB();

    void require_running() const;
    [[nodiscard]] kairos::corba::OrbAttachment& responses();
    void require_serving_possible() const;
    Object_ptr object_from_url(std::string_view text, int depth);
    Object_ptr object_from_file(const std::string& path, int depth);
    Object_ptr object_from_name(kairos::ior::ObjectUrl url, int depth);
    Object_ptr initial_reference(std::string_view name, int depth);
    Object_ptr make_object(kairos::ior::Ior ior);

    const kairos::IntrusivePtr<kairos::orb::Orb> core_;
    const kairos::Owner<State> state_;
    kairos::RefCount count_;
};

inline Boolean is_nil(ORB_ptr orb) { return orb == nullptr; }
KAIROS_API void release(ORB_ptr orb);

/// Takes the -ORB… options out of `argv` (docs/options.md lists them). The same identifier gives
/// the same ORB until that is destroyed. Throws BAD_PARAM naming the option that is unknown or
/// wrong.
KAIROS_API ORB_ptr ORB_init(int& argc, char** argv, const char* orb_identifier = "");

} // namespace CORBA

namespace kairos::corba {

/// The façade of a core ORB, counted for the caller; nil after it was destroyed.
[[nodiscard]] KAIROS_API CORBA::ORB_ptr orb_of(orb::Orb& core);
/// The ORB of ORB_init("") or else the oldest one; not counted. Null if there is none.
[[nodiscard]] KAIROS_API CORBA::ORB_ptr default_orb();

} // namespace kairos::corba
