// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/orb.h"

#include "kairos/base/export.h"
#include "kairos/base/log.h"
#include "kairos/client/client.h"
#include "kairos/client/connection_thread.h"
#include "kairos/client/early_binding.h"
#include "kairos/corba/access_control.h"
#include "kairos/corba/corbaname.h"
#include "kairos/corba/counters.h"
#include "kairos/corba/csi_service.h"
#include "kairos/corba/orb_state.h"
#include "kairos/corba/valuetypes.h"
#include "kairos/ior/object_url.h"
#include "kairos/ior/reference_file.h"
#include "kairos/orb/call_observer.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/late_calls.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/owed_answer.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall_observer.h"
#include "kairos/types/profile.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::corba {
/// Of policies.cpp, which is linked by programs that name a policy or a manager of policies. Others
/// can do nothing with these services, so they do without.
[[gnu::weak]] CORBA::Object_ptr policy_service(CORBA::ORB& orb, bool of_thread);
/// Likewise of poa_services.cpp, which is linked by programs that name PortableServer.
[[gnu::weak]] CORBA::Object_ptr adapter_service(CORBA::ORB& orb, bool is_current);
/// Likewise of ior_table.cpp.
[[gnu::weak]] CORBA::Object_ptr ior_table_service(CORBA::ORB& orb);
/// Likewise of kairos/rtcorba; `name` is one of real_time_services.
[[gnu::weak]] KAIROS_API CORBA::Object_ptr real_time_service(CORBA::ORB& orb,
                                                             std::string_view name);
/// Likewise of kairos/dynany and kairos/codec.
[[gnu::weak]] KAIROS_API CORBA::Object_ptr dynamic_any_service(CORBA::ORB& orb);
[[gnu::weak]] KAIROS_API CORBA::Object_ptr codec_service(CORBA::ORB& orb);
/// Likewise of kairos/ssliop.
[[gnu::weak]] KAIROS_API CORBA::Object_ptr ssliop_service(CORBA::ORB& orb);
/// Likewise of kairos/access.
[[gnu::weak]] KAIROS_API const AccessControl& access_control();
/// Likewise of kairos/csiv2.
[[gnu::weak]] KAIROS_API void prepare_csi(const std::string& file);
/// Likewise of kairos/interceptors. The arguments of ORB_init end with a null pointer.
[[gnu::weak]] KAIROS_API CORBA::Object_ptr slots_service(CORBA::ORB& orb);
[[gnu::weak]] KAIROS_API void initialize_interceptors(CORBA::ORB& orb,
                                                      const char* const* arguments);
/// Likewise of kairos/compat/tao: puts our options in the place of TAO's, and returns a line for
/// the log about those that mean nothing here. Throws BAD_PARAM for what cannot be had here.
[[gnu::weak]] KAIROS_API std::string translate_tao_options(std::vector<std::string>& arguments);
[[gnu::weak]] KAIROS_API CORBA::Object_ptr tao_ior_manipulation_service(CORBA::ORB& orb);
[[gnu::weak]] KAIROS_API CORBA::Object_ptr omni_ins_poa_service(CORBA::ORB& orb);
} // namespace kairos::corba

namespace kairos::orb {
[[gnu::weak]] const Datagrams& datagrams();
} // namespace kairos::orb

namespace CORBA {

using kairos::mapping::omg_minor;
namespace minor_code = kairos::orb::minor_code;

namespace {

constexpr std::string_view root_poa = "RootPOA";
constexpr std::string_view poa_current = "POACurrent";
constexpr std::string_view type_code_factory = "TypeCodeFactory";
constexpr std::string_view policy_manager = "ORBPolicyManager";
constexpr std::string_view policy_current = "PolicyCurrent";
constexpr std::string_view ior_table = "IORTable";
/// What every ORB has, and nobody can register.
constexpr std::string_view own_services[] = {root_poa,       poa_current,    type_code_factory,
                                             policy_manager, policy_current, ior_table};

/// What it has as well where kairos/rtcorba is linked.
constexpr std::string_view real_time_services[] = {"RTORB", "RTCurrent", "PriorityMappingManager",
                                                   "PriorityTransformManager"};

bool is_real_time_service(std::string_view name)
{
    return &kairos::corba::real_time_service != nullptr &&
           std::ranges::find(real_time_services, name) != std::end(real_time_services);
}

using MakeService = Object_ptr (*)(ORB& orb);

/// What an ORB has as well where a library with it is linked; else there is no function.
struct LinkedService {
    std::string_view name;
    MakeService make;
};
constexpr LinkedService linked_services[] = {
    {"DynAnyFactory", &kairos::corba::dynamic_any_service},
    {"CodecFactory", &kairos::corba::codec_service},
    {"PICurrent", &kairos::corba::slots_service},
    {"IORManipulation", &kairos::corba::tao_ior_manipulation_service},
    {"SSLIOPCurrent", &kairos::corba::ssliop_service},
    {"omniINSPOA", &kairos::corba::omni_ins_poa_service}};

/// Makes the service of this name; null if it is none of these, or not linked.
MakeService linked_service(std::string_view name)
{
    for (const LinkedService& each : linked_services)
        if (each.name == name) return each.make;
    return nullptr;
}

bool has_own_service(std::string_view name)
{
    if (name == root_poa || name == poa_current) return &kairos::corba::adapter_service != nullptr;
    return std::ranges::find(own_services, name) != std::end(own_services);
}

/// Every ORB that was not destroyed, oldest first: ORB_init must find it by name.
struct OrbTable {
    // guards what follows; outside an ORB's State::mutex; held while the process forks
    std::mutex mutex;
    std::vector<ORB_ptr> orbs; // each counted once, until it is destroyed
    // Those whose ORB_init has not returned yet: only the thread that is in it has them.
    std::vector<std::pair<ORB_ptr, std::thread::id>> initializing;
    std::condition_variable initialized; // or no more
    std::uint64_t given_out = 0;         // how often one of them was
    std::atomic<pid_t> process{0};       // whose ORBs end at its exit; not those that it inherited
};

OrbTable& orb_table()
{
    // Never destroyed: ORBs may outlive static objects.
    static OrbTable& table = *new OrbTable;
    return table;
}

/// Takes the locks of the table and of its ORBs, which are outside all of the cores'.
extern "C" void lock_orbs_for_fork() noexcept
{
    OrbTable& table = orb_table();
    table.mutex.lock();
    for (const ORB_ptr orb : table.orbs)
        orb->_kairos_state().mutex.lock();
}

extern "C" void unlock_orbs_after_fork() noexcept
{
    OrbTable& table = orb_table();
    for (const ORB_ptr orb : table.orbs)
        orb->_kairos_state().mutex.unlock();
    table.mutex.unlock();
}

/// To be called behind the making of the first core, which registers for its own: what is
/// registered last is called first.
void watch_forks()
{
    static const int registered =
        ::pthread_atfork(&lock_orbs_for_fork, &unlock_orbs_after_fork, &unlock_orbs_after_fork);
    (void)registered;
}

/// Returns one of the table's ORBs, counted once more. Must hold the table's lock.
ORB_ptr give_out(OrbTable& table, ORB_ptr orb)
{
    ++table.given_out;
    return ORB::_duplicate(orb);
}

/// Null if nobody has asked for them.
template <typename State>
auto adapters_if_made(State& state)
{
    const std::lock_guard lock(state.mutex);
    return state.adapters;
}

bool serves(ORB& orb)
{
    const kairos::orb::Orb& core = orb._kairos_core();
    if (core.is_inherited() || core.is_served_by_parent()) return false;
    const auto services = adapters_if_made(orb._kairos_state());
    return services && services->is_in_use();
}

/// Whether to wait for the end of an ORB would be to wait for the calling thread.
bool would_deadlock() noexcept
{
    return kairos::orb::in_upcall() || kairos::orb::OwedAnswer::is_being_given_here() ||
           kairos::orb::ConnectionThread::is_telling();
}

/// The same, and where requests are about to be served.
bool must_go_on() noexcept
{
    return would_deadlock() || kairos::orb::ThreadStorage::current().serving_thread != nullptr;
}

/// Whether an ORB that nobody holds has work to do, or may not be destroyed here. Not with the
/// table locked: it may end the last use of a POA.
bool is_in_use(ORB& orb)
{
    if (must_go_on()) return true;
    const kairos::orb::Orb& core = orb._kairos_core();
    return !core.is_shut_down() && (core.has_references() || serves(orb));
}

/// Of BAD_PARAM, CORBA 3.3 part 2, annex A.3: 7 is a bad scheme, 8 a bad address, 9 what is
/// specific to the scheme.
std::uint32_t minor_of_bad_url(kairos::ErrorCode code)
{
    switch (code) {
    case kairos::ErrorCode::not_found:
        return 7;
    case kairos::ErrorCode::unreachable:
        return 8;
    default:
        return 9;
    }
}

std::vector<std::string> arguments_of(int argc, char** argv)
{
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i)
        arguments.emplace_back(argv[i]);
    return arguments;
}

/// Leaves in argv what is left in `arguments`, by moving the pointers.
void keep_arguments(int& argc, char** argv, const std::vector<std::string>& arguments)
{
    int kept = 1;
    std::size_t next = 0;
    for (int i = 1; i < argc && next < arguments.size(); ++i) {
        if (arguments[next] != argv[i]) continue;
        argv[kept++] = argv[i];
        ++next;
    }
    if (argc > 0) {
        for (int i = kept; i < argc; ++i)
            argv[i] = nullptr;
        argc = kept;
    }
}

using Initializing = std::pair<ORB_ptr, std::thread::id>;

/// To be called with the table locked. Null if there is none.
ORB_ptr find_named(const OrbTable& table, std::string_view id)
{
    const auto found = std::ranges::find_if(table.orbs, [id](ORB_ptr orb) {
        const String_var its_id = orb->id();
        return id == its_id.in();
    });
    return found == table.orbs.end() ? nullptr : *found;
}

/// Whoever waits for the ORB has it, or makes one of its own.
void end_initialization(OrbTable& table, ORB_ptr orb, bool done)
{
    ORB_var forgotten; // the table's count, given back without the lock
    const std::lock_guard lock(table.mutex);
    if (!done && std::erase(table.orbs, orb) != 0) forgotten = orb;
    std::erase_if(table.initializing,
                  [orb](const Initializing& each) { return each.first == orb; });
    table.initialized.notify_all();
}

/// For the whole process, once and for all. Throws NO_RESOURCES where it must be and may not.
void lock_memory(bool required)
{
    const auto locked = kairos::net::lock_memory();
    if (locked) return;
    const std::string reason = "-ORBLockMemory: " + locked.error().reason;
    if (required) throw NO_RESOURCES(0, COMPLETED_NO, "-ORBRealTime required: " + reason);
    kairos::log::warning(reason);
}

/// Throws BAD_PARAM: an option is for a library that the program does not have.
[[noreturn]] void raise_not_linked(const char* reason)
{
    throw BAD_PARAM(minor_code::bad_option, COMPLETED_NO, reason);
}

/// Who asks the rules of -ORBAccess; null without that option.
std::unique_ptr<kairos::orb::UpcallObserver> read_access(const std::string& file)
{
    if (file.empty()) return nullptr;
    if (&kairos::corba::access_control == nullptr)
        raise_not_linked("-ORBAccess: the program is not linked with libkairos-access");
    return kairos::corba::access_control().read(file);
}

/// Has interceptors do what -ORBCsi says.
void read_csi(const std::string& file)
{
    if (file.empty()) return;
    if (&kairos::corba::prepare_csi == nullptr)
        raise_not_linked("-ORBCsi: the program is not linked with libkairos-csiv2");
    kairos::corba::prepare_csi(file);
}

} // namespace

ORB_ptr ORB_init(int& argc, char** argv, const char* orb_identifier)
{
    std::vector<std::string> arguments = arguments_of(argc, argv);
    std::string ignored; // for the log, whose level the options say
    if (&kairos::corba::translate_tao_options != nullptr)
        ignored = kairos::corba::translate_tao_options(arguments);
    auto options = kairos::orb::parse_options(arguments);
    if (!options) throw BAD_PARAM(minor_code::bad_option, COMPLETED_NO, options.error().reason);
    auto access = read_access(options->access); // files are read before anything is locked
    read_csi(options->csi);
    if (&kairos::orb::datagrams == nullptr && !options->multicast.empty())
        raise_not_linked("-ORBMulticast: the program is not linked with libkairos-datagrams");
    std::string id = orb_identifier == nullptr ? "" : orb_identifier;
    if (id.empty()) id = options->orb_id;
    std::vector<const char*> given;
    if (&kairos::corba::initialize_interceptors != nullptr) given.assign(argv, argv + argc);
    given.push_back(nullptr);
    keep_arguments(argc, argv, arguments);

    OrbTable& table = orb_table();
    bool looked_at = false;
    std::unique_lock lock(table.mutex);
    while (const ORB_ptr known = find_named(table, id)) {
        const auto open = std::ranges::find(table.initializing, known, &Initializing::first);
        if (open == table.initializing.end() || open->second == std::this_thread::get_id()) {
            ORB_var found = give_out(table, known);
            // One that was in use when its last holder let it go, and is not any more, ends now.
            if (!known->state_->is_forgotten.exchange(false) || std::exchange(looked_at, true))
                return found._retn();
            lock.unlock();
            found = ORB::_nil();
            lock.lock();
            continue;
        }
        table.initialized.wait(lock);
    }
    kairos::log::set_level(static_cast<kairos::log::Level>(options->log_level));
    if (kairos::log::enabled(kairos::log::Level::info))
        kairos::log::info("ORB '" + id +
                          "': options in force: " + kairos::orb::options_in_force(*options));
    if (!ignored.empty()) kairos::log::info(ignored);
    if (options->lock_memory) lock_memory(options->real_time_required);
    ORB_var made = new ORB(std::move(id), std::move(options).value());
    if (access) (void)made->core_->add_observer(std::move(access));
    watch_forks();
    table.orbs.push_back(made.in());
    made->_add_ref();
    if (&kairos::corba::initialize_interceptors == nullptr) return made._retn();
    table.initializing.emplace_back(made.in(), std::this_thread::get_id());
    lock.unlock(); // initializers are the program's, and may ask for ORBs
    try {
        kairos::corba::initialize_interceptors(*made.in(), given.data());
    } catch (...) {
        end_initialization(table, made.in(), false);
        if (kairos::orb::in_upcall())
            made->shutdown(false); // all that is possible there
        else
            made->destroy();
        throw;
    }
    end_initialization(table, made.in(), true);
    return made._retn();
}

ORB::ORB(std::string id, kairos::orb::Options options)
    : core_(
          kairos::make_intrusive<kairos::orb::Orb>(std::move(options), &kairos::orb::Client::make)),
      state_(new State(std::move(id)))
{
    std::unique_ptr<kairos::cdr::Attachment> factories(
        kairos::corba::make_value_factories(core_->options().quirks.tao_chunks).release());
    std::unique_ptr<kairos::cdr::Attachment> for_tao(
        kairos::corba::make_tao_value_factories(*factories).release());
    core_->set_value_factories(std::move(factories), std::move(for_tao));
    if (core_->options().profile_types.empty()) return;
    if (&kairos::types::start_profile == nullptr) {
        kairos::log::warning("-ORBProfileTypes: nothing will be measured: the program has no code "
                             "from kairos-idl --instrument");
        return;
    }
    if (const auto started = kairos::types::start_profile(core_->options().profile_types); !started)
        throw BAD_PARAM(minor_code::bad_option, COMPLETED_NO, started.error().reason);
    state_->is_profiled = true;
}

ORB::~ORB() = default;

namespace {

/// At the end of the process: ORBs that serve and that nobody holds, so that no request comes while
/// the program's objects go. Those that only call are left alone: destructors may call.
void end_served_orbs() noexcept
{
    OrbTable& table = orb_table();
    // In a child of theirs nothing serves, and locks may be held by threads that are not there. Who
    // waited for this thread would wait for ever.
    if (table.process.load() != ::getpid() || must_go_on()) return;
    std::vector<ORB_var> forgotten;
    {
        const std::lock_guard lock(table.mutex);
        for (const ORB_ptr orb : table.orbs)
            if (orb->_kairos_state().is_forgotten) forgotten.emplace_back(ORB::_duplicate(orb));
    }
    for (const ORB_var& orb : forgotten)
        if (!orb->_kairos_core().is_shut_down() && serves(*orb.in())) orb->destroy();
}

/// Has the end of the process end this ORB, before static objects that are there by now go: those
/// that were made since ORB_init, too. Must hold the table's lock.
void end_at_exit(OrbTable& table, ORB::State& state) noexcept
{
    table.process = ::getpid();
    if (std::exchange(state.ends_at_exit, true)) return;
    (void)std::atexit([] { end_served_orbs(); });
}

} // namespace

void ORB::_remove_ref() noexcept
{
    OrbTable& table = orb_table();
    const auto is_known = [&] { return std::ranges::find(table.orbs, this) != table.orbs.end(); };
    for (;;) {
        std::uint64_t given_out = 0;
        {
            // Under the table's lock, so that ORB_init does not find one on its way out.
            const std::lock_guard lock(table.mutex);
            if (count_.drop()) break; // and destroyed, or never finished
            if (!count_.is_one() || !is_known()) return;
            count_.add(); // the table has the only other one
            given_out = table.given_out;
        }
        const bool in_use = is_in_use(*this);
        const std::lock_guard lock(table.mutex);
        if (table.given_out != given_out) continue; // somebody may have begun to use it
        if (count_.drop()) break;                   // somebody has destroyed it meanwhile
        if (!count_.is_one() || !is_known()) return;
        state_->is_forgotten = in_use;
        if (in_use) return end_at_exit(table, *state_);
        std::erase(table.orbs, this); // what was the table's count is this function's
        break;
    }
    if (!state_->is_destroyed && !would_deadlock()) destroy();
    delete this;
}

void release(ORB_ptr orb)
{
    if (orb != nullptr) orb->_remove_ref();
}

ORB_ptr ORB::_duplicate(ORB_ptr orb)
{
    if (orb != nullptr) orb->_add_ref();
    return orb;
}

char* ORB::id() { return string_dup(state_->id.c_str()); }

void ORB::require_running() const
{
    // CORBA 3.3 part 1, 8.2.3.4: "Any operation invoked on a destroyed ORB reference will raise the
    // OBJECT_NOT_EXIST exception", whose minor codes of the OMG are about other things.
    if (state_->is_destroyed) throw OBJECT_NOT_EXIST(0, COMPLETED_NO, "the ORB was destroyed");
    if (core_->is_shut_down())
        throw BAD_INV_ORDER(minor_code::orb_shut_down, COMPLETED_NO, "the ORB was shut down");
}

// --- pseudo objects ------------------------------------------------------------------------------

void ORB::create_list(Long, NVList_out list)
{
    require_running();
    list = new NVList;
}

void ORB::create_named_value(NamedValue_out value)
{
    require_running();
    value = new NamedValue(string_dup(""), new Any, 0);
}

void ORB::create_environment(Environment_out environment)
{
    require_running();
    environment = new Environment;
}

void ORB::get_default_context(Context_out context)
{
    require_running();
    const std::lock_guard lock(state_->mutex);
    if (is_nil(state_->default_context.in())) state_->default_context = new Context;
    context = state_->default_context;
}

// --- references and their texts ------------------------------------------------------------------

char* ORB::object_to_string(Object_ptr object)
{
    require_running();
    kairos::ior::Ior ior;
    if (object != nullptr) {
        if (!object->_kairos_reference())
            throw MARSHAL(omg_minor(4), COMPLETED_NO, "a local object has no text");
        ior = object->_kairos_reference()->ior();
    }
    return string_dup(kairos::ior::to_string(ior).c_str());
}

Object_ptr ORB::string_to_object(const char* text)
{
    require_running();
    if (text == nullptr) throw BAD_PARAM(omg_minor(10), COMPLETED_NO, "null object URL");
    return object_from_url(text, 0);
}

Object_ptr ORB::make_object(kairos::ior::Ior ior)
{
    if (ior.is_nil()) return nullptr;
    auto reference = core_->make_reference(std::move(ior));
    if (core_->options().binds_early) kairos::orb::bind_early(*reference);
    return kairos::corba::StubFactory::make<Object>(reference);
}

Object_ptr ORB::object_from_url(std::string_view text, int depth)
{
    kairos::ior::Ior group;
    if (&kairos::orb::datagrams != nullptr && kairos::orb::datagrams().read_url(text, group))
        return make_object(std::move(group));
    using Scheme = kairos::ior::ObjectUrl::Scheme;
    // Files name files, initial references others: a few, or it is a circle.
    constexpr int depth_max = 8;
    if (depth == depth_max)
        throw BAD_PARAM(omg_minor(9), COMPLETED_NO,
                        "object URLs lead to each other: " + std::string(text.substr(0, 200)));
    auto url = kairos::ior::parse_object_url(text);
    if (!url)
        throw BAD_PARAM(omg_minor(minor_of_bad_url(url.error().code)), COMPLETED_NO,
                        url.error().reason);
    switch (url->scheme) {
    case Scheme::ior:
        return make_object(std::move(url->reference));
    case Scheme::corbaloc:
        if (url->initial) return initial_reference(url->service, depth + 1);
        return make_object(std::move(url->reference));
    case Scheme::file:
        return object_from_file(url->path, depth);
    case Scheme::corbaname:
        return object_from_name(std::move(url).value(), depth);
    }
    return nullptr;
}

Object_ptr ORB::object_from_name(kairos::ior::ObjectUrl url, int depth)
{
    kairos::ior::Name name;
    if (!url.name.empty()) { // else the context itself is meant
        auto parsed = kairos::ior::parse_name(url.name);
        if (!parsed) throw BAD_PARAM(omg_minor(9), COMPLETED_NO, parsed.error().reason);
        name = std::move(parsed).value();
    }
    const Object_var context = url.initial ? initial_reference(url.service, depth + 1)
                                           : make_object(std::move(url.reference));
    if (is_nil(context))
        throw BAD_PARAM(omg_minor(10), COMPLETED_NO, "corbaname: the naming context is nil");
    return name.empty() ? Object::_duplicate(context)
                        : kairos::corba::resolve_name(*context.in(), name);
}

Object_ptr ORB::object_from_file(const std::string& path, int depth)
{
    const auto url = kairos::ior::url_in_file(path);
    if (!url) throw BAD_PARAM(omg_minor(9), COMPLETED_NO, url.error().reason);
    return object_from_url(*url, depth + 1);
}

// --- initial references --------------------------------------------------------------------------

Object_ptr ORB::resolve_initial_references(const char* name)
{
    require_running();
    return initial_reference(name == nullptr ? "" : name, 0);
}

Object_ptr ORB::initial_reference(std::string_view wanted, int depth)
{
    if (wanted == root_poa || wanted == poa_current) {
        if (!has_own_service(wanted)) throw InvalidName();
        return kairos::corba::adapter_service(*this, wanted == poa_current);
    }
    if (wanted == type_code_factory) return new TypeCodeFactory;
    if (wanted == policy_manager || wanted == policy_current) {
        if (&kairos::corba::policy_service == nullptr) throw InvalidName();
        return kairos::corba::policy_service(*this, wanted == policy_current);
    }
    if (wanted == ior_table) {
        if (&kairos::corba::ior_table_service == nullptr) throw InvalidName();
        return kairos::corba::ior_table_service(*this);
    }
    if (is_real_time_service(wanted)) return kairos::corba::real_time_service(*this, wanted);
    if (const MakeService make = linked_service(wanted)) return make(*this);
    {
        const std::lock_guard lock(state_->mutex);
        const auto known = state_->registered.find(wanted);
        if (known != state_->registered.end()) return Object::_duplicate(known->second.in());
    }
    const kairos::orb::Options& options = core_->options();
    const auto url = options.initial_references.find(wanted);
    if (url != options.initial_references.end()) return object_from_url(url->second, depth);
    if (options.default_initial_reference.empty() || wanted.empty()) throw InvalidName();
    return object_from_url(kairos::orb::default_reference(options, wanted), depth);
}

ORB::ObjectIdList* ORB::list_initial_services()
{
    require_running();
    std::vector<std::string> names;
    for (const std::string_view name : own_services)
        if (has_own_service(name)) names.emplace_back(name);
    for (const std::string_view name : real_time_services)
        if (is_real_time_service(name)) names.emplace_back(name);
    for (const LinkedService& each : linked_services)
        if (each.make != nullptr) names.emplace_back(each.name);
    for (const auto& [name, url] : core_->options().initial_references)
        names.push_back(name);
    {
        const std::lock_guard lock(state_->mutex);
        for (const auto& [name, object] : state_->registered)
            names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    ObjectIdList_var list = new ObjectIdList;
    list->length(static_cast<ULong>(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i)
        list[static_cast<ULong>(i)] = names[i].c_str();
    return list._retn();
}

void ORB::register_initial_reference(const char* name, Object_ptr object)
{
    require_running();
    if (name == nullptr || *name == '\0') throw InvalidName();
    if (object == nullptr) throw BAD_PARAM(omg_minor(27), COMPLETED_NO, "nil initial reference");
    const Object_var kept = Object::_duplicate(object);
    const std::lock_guard lock(state_->mutex);
    const bool added =
        std::ranges::find(own_services, std::string_view(name)) == std::end(own_services) &&
        !is_real_time_service(name) && linked_service(name) == nullptr &&
        !core_->options().initial_references.contains(name) &&
        state_->registered.try_emplace(name, kept).second;
    if (!added) throw InvalidName();
}

// --- life ----------------------------------------------------------------------------------------

void ORB::_kairos_set_late_call_handler(kairos::orb::LateCallHandler handler)
{
    require_running();
    core_->late_calls().set_handler(std::move(handler));
}

ULongLong ORB::_kairos_late_calls() const noexcept { return core_->late_calls().count(); }

namespace {

void require_in_time(bool added)
{
    if (!added)
        throw BAD_INV_ORDER(0, COMPLETED_NO,
                            "observers are to be added before the RootPOA is resolved");
}

} // namespace

void ORB::_kairos_add_call_observer(kairos::Owner<kairos::orb::CallObserver> observer)
{
    require_running();
    require_in_time(
        core_->add_observer(std::unique_ptr<kairos::orb::CallObserver>(observer.release())));
}

void ORB::_kairos_add_upcall_observer(kairos::Owner<kairos::orb::UpcallObserver> observer)
{
    require_running();
    require_in_time(
        core_->add_observer(std::unique_ptr<kairos::orb::UpcallObserver>(observer.release())));
}

void ORB::_kairos_set_hooks(kairos::Owner<kairos::orb::Hooks> hooks)
{
    require_running();
    if (!core_->set_hooks(std::unique_ptr<kairos::orb::Hooks>(hooks.release())))
        throw BAD_INV_ORDER(0, COMPLETED_NO, "hooks are to be set before the RootPOA is resolved");
}

int ORB::_kairos_descriptor()
{
    require_running();
    if (!adapters_if_made(*state_))
        throw BAD_INV_ORDER(0, COMPLETED_NO, "the RootPOA was not resolved: nothing is served");
    const auto descriptor = core_->descriptor();
    if (!descriptor) throw BAD_INV_ORDER(0, COMPLETED_NO, descriptor.error().reason);
    return *descriptor;
}

void ORB::require_serving_possible() const
{
    // The thread would serve its own connection once more, from within.
    if (core_->options().concurrency->is_served_by_run && kairos::orb::in_upcall())
        throw BAD_INV_ORDER(minor_code::would_deadlock, COMPLETED_NO,
                            "-ORBConcurrency " + std::string(core_->options().concurrency->name) +
                                " cannot serve requests within an upcall");
}

void ORB::run()
{
    require_running();
    require_serving_possible();
    core_->run();
}

Boolean ORB::work_pending()
{
    require_running();
    return core_->work_pending();
}

void ORB::perform_work()
{
    require_running();
    require_serving_possible();
    core_->perform_work();
}

LongLong ORB::_kairos_run_for(LongLong microseconds, bool once)
{
    using Clock = std::chrono::steady_clock;
    constexpr LongLong longest = LongLong{365} * 24 * 3600 * 1'000'000; // and no clock overflows
    const auto end =
        Clock::now() + std::chrono::microseconds(std::clamp<LongLong>(microseconds, 0, longest));
    require_running();
    require_serving_possible();
    const auto descriptor = core_->descriptor();
    if (!descriptor) throw BAD_INV_ORDER(0, COMPLETED_NO, descriptor.error().reason);
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        pollfd polled{.fd = *descriptor, .events = POLLIN, .revents = 0};
        constexpr auto slice = std::chrono::milliseconds(60'000); // int holds it
        const int ready =
            poll(&polled, 1, static_cast<int>(std::clamp(left, left.zero(), slice).count()));
        if (ready > 0 && !core_->is_shut_down()) core_->perform_work();
        const auto now = Clock::now();
        if (core_->is_shut_down() || now >= end || (once && ready > 0))
            return std::max<LongLong>(
                0, std::chrono::duration_cast<std::chrono::microseconds>(end - now).count());
    }
}

namespace {

/// What ORB::shutdown does, also where another thread does it as well.
void shut_down(ORB& orb, bool wait_for_completion)
{
    kairos::orb::Orb& core = orb._kairos_core();
    if (core.is_inherited()) core.start_over();
    // In a child of the process that serves nobody is there to wait for.
    const auto services =
        core.is_served_by_parent() ? nullptr : adapters_if_made(orb._kairos_state());
    if (services) services->deactivate_all(); // wakes threads that hold requests
    core.shutdown(wait_for_completion);
    if (services && wait_for_completion) services->destroy_all();
}

} // namespace

void ORB::shutdown(Boolean wait_for_completion)
{
    require_running();
    if (wait_for_completion &&
        (kairos::orb::in_upcall() || kairos::orb::OwedAnswer::is_being_given_here()))
        throw BAD_INV_ORDER(minor_code::would_deadlock, COMPLETED_NO,
                            "waiting for shutdown within an upcall would deadlock");
    shut_down(*this, wait_for_completion);
}

namespace {

void announce_counters(const kairos::orb::Orb& core)
{
    kairos::log::announce("counters: " + to_string(kairos::counters()));
    if (const auto* const server = core.server_side()) server->announce_figures();
}

} // namespace

void ORB::destroy()
{
    if (would_deadlock())
        throw BAD_INV_ORDER(minor_code::would_deadlock, COMPLETED_NO,
                            "destroying the ORB within an upcall would deadlock");
    ORB_var counted; // the table's count: with it may go the last, so it goes behind all else
    if (!core_->is_shut_down()) shut_down(*this, true);
    state_->is_destroyed = true;
    // What nobody has answered until now is: whoever waits for the ORB's end waits for that, too.
    if (!core_->is_served_by_parent()) core_->owed_answers().close();
    core_->destroy();
    core_->take_adapter_away();
    {
        OrbTable& table = orb_table();
        const std::lock_guard lock(table.mutex);
        if (std::erase(table.orbs, this) != 0) counted = this;
    }
    std::shared_ptr<kairos::corba::AdapterServices> services;
    State::Registered registered;
    kairos::corba::OrbAttachment* responses = nullptr;
    std::shared_ptr<kairos::corba::OrbAttachment> real_time;
    std::shared_ptr<kairos::corba::OrbAttachment> interceptors;
    std::shared_ptr<kairos::corba::OrbAttachment> layer;
    {
        const std::lock_guard lock(state_->mutex);
        services.swap(state_->adapters);
        registered.swap(state_->registered);
        if (std::exchange(state_->is_profiled, false)) kairos::types::end_profile();
        responses = state_->responses.get(); // lives as long as this
        real_time = state_->real_time;
        interceptors = state_->interceptors;
        layer = state_->layer;
    }
    if (responses != nullptr) responses->end();
    if (core_->is_served_by_parent()) {
        // Servants, and threads that were within them at the time of fork(), are the parent's.
        [[maybe_unused]] const auto* const kept = new auto(std::pair(real_time, services));
        return;
    }
    if (real_time) real_time->end();
    if (services) services->destroy_all(); // gives the servants back
    if (interceptors) interceptors->end();
    if (core_->options().counters) announce_counters(*core_);
    if (layer) layer->end();
}

} // namespace CORBA

namespace kairos::corba {

std::shared_ptr<OrbAttachment> real_time_of(CORBA::ORB& orb,
                                            std::shared_ptr<OrbAttachment> (*make)(CORBA::ORB& orb))
{
    orb._kairos_require_running();
    CORBA::ORB::State& state = orb._kairos_state();
    const std::lock_guard lock(state.mutex);
    if (!state.real_time) state.real_time = make(orb);
    return state.real_time;
}

CORBA::ORB_ptr orb_of(orb::Orb& core)
{
    auto& table = CORBA::orb_table();
    const std::lock_guard lock(table.mutex);
    for (CORBA::ORB_ptr orb : table.orbs)
        if (&orb->_kairos_core() == &core) {
            orb->_kairos_state().is_forgotten = false;
            return CORBA::give_out(table, orb);
        }
    return nullptr;
}

CORBA::ORB_ptr default_orb()
{
    auto& table = CORBA::orb_table();
    const std::lock_guard lock(table.mutex);
    const auto rank = [](CORBA::ORB_ptr orb) { // the least is the one
        if (orb->_kairos_core().is_shut_down()) return 3;
        if (orb->_kairos_state().id.empty()) return 0;
        return orb->_kairos_state().is_forgotten ? 2 : 1;
    };
    const auto found = std::ranges::min_element(table.orbs, {}, rank);
    return found == table.orbs.end() ? nullptr : *found;
}

} // namespace kairos::corba
