// SPDX-License-Identifier: Apache-2.0
//
// ORB_init as omniORB has it, and the timeouts that programs set for whole ORBs and threads.
#include "kairos/base/limits.h"
#include "kairos/base/log.h"
#include "kairos/compat/omniorb/arguments.h"
#include "kairos/compat/omniorb/call_ends.h"
#include "kairos/compat/omniorb/hooks.h"
#include "kairos/compat/omniorb/include/omniORB4/omniORB.h"
#include "kairos/compat/omniorb/include/omniORB4/sslContext.h"
#include "kairos/corba/BiDirPolicy.h"
#include "kairos/corba/KairosPolicies.h"
#include "kairos/corba/Messaging.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"

#undef ORB_init

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::omniorb {
namespace {

/// Has static libraries be linked with it.
[[gnu::used]] CORBA::Object_ptr (*const ins_poa_is_linked)(CORBA::ORB&) =
    &corba::omni_ins_poa_service;

/// What the program has set. -1: nothing.
std::atomic<std::int64_t> call_timeout = -1;
std::atomic<std::int64_t> connect_timeout = -1;
/// That of the last ORB that was made.
std::atomic<std::size_t> message_size_max = limits::message_size_max;

[[noreturn]] void refuse(const std::string& reason, CORBA::ULong minor)
{
    log::error("omniORB's ORB_init: " + reason);
    throw CORBA::INITIALIZE(minor, CORBA::COMPLETED_NO, reason);
}

template <typename Value>
Value good(Result<Value> result, CORBA::ULong minor = omni::INITIALIZE_InvalidORBInitArgs)
{
    if (!result) refuse(result.error().reason, minor);
    return std::move(result).value();
}

/// Takes "-ORBconfigFile FILE" out.
std::optional<std::string> take_file_name(std::vector<std::string>& arguments)
{
    for (auto each = arguments.begin(); each != arguments.end(); ++each) {
        if (*each != "-ORBconfigFile") continue;
        if (each + 1 == arguments.end())
            refuse("-ORBconfigFile lacks its value", omni::INITIALIZE_InvalidORBInitArgs);
        std::string name = *(each + 1);
        arguments.erase(each, each + 2);
        return name;
    }
    return std::nullopt;
}

Given configuration(std::vector<std::string>& arguments)
{
    std::optional<std::string> name = take_file_name(arguments);
    const bool asked_for = name.has_value();
    if (const char* said = std::getenv("OMNIORB_CONFIG"); !name && said != nullptr) name = said;
    std::ifstream file(name.value_or("/etc/omniORB.cfg"));
    if (!file) {
        if (asked_for)
            refuse("-ORBconfigFile: '" + *name + "' cannot be read",
                   omni::INITIALIZE_ConfigFileError);
        return {};
    }
    constexpr std::size_t size_max = (1 << 20) + 1;
    std::string text(size_max, '\0');
    file.read(text.data(), size_max);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return good(parse_configuration(text), omni::INITIALIZE_ConfigFileError);
}

Given of_program(const char* options[][2])
{
    Given given;
    for (; options != nullptr && (*options)[0] != nullptr; ++options)
        given.emplace_back((*options)[0], (*options)[1] == nullptr ? "" : (*options)[1]);
    return given;
}

/// A C command line of strings.
class CommandLine {
  public:
    CommandLine(const char* program, const std::vector<std::string>& arguments)
        : strings_(arguments)
    {
        strings_.insert(strings_.begin(), program == nullptr ? "" : program);
        for (std::string& each : strings_)
            pointers_.push_back(each.data());
        pointers_.push_back(nullptr);
        count_ = static_cast<int>(strings_.size());
    }
    [[nodiscard]] int& count() noexcept { return count_; }
    [[nodiscard]] char** pointers() noexcept { return pointers_.data(); }

  private:
    std::vector<std::string> strings_;
    std::vector<char*> pointers_;
    int count_ = 0;
};

/// Leaves in the program's own argv what is left of the command line.
void keep(CommandLine& left, int& argc, char** argv)
{
    int kept = argc > 0 ? 1 : 0;
    int next = 1;
    for (int i = 1; i < argc && next < left.count(); ++i) {
        if (std::strcmp(argv[i], left.pointers()[next]) != 0) continue;
        argv[kept++] = argv[i];
        ++next;
    }
    for (int i = kept; i < argc; ++i)
        argv[i] = nullptr;
    argc = kept;
}

CORBA::PolicyList one(CORBA::Policy_ptr policy)
{
    CORBA::PolicyList list;
    list.length(1);
    list[0] = policy;
    return list;
}

/// Has an ORB heed one policy more.
void add_policy(CORBA::ORB_ptr orb, CORBA::PolicyType type, const CORBA::Any& value)
{
    CORBA::Object_var object = orb->resolve_initial_references("ORBPolicyManager");
    CORBA::PolicyManager_var manager = CORBA::PolicyManager::_narrow(object.in());
    manager->set_policy_overrides(one(orb->create_policy(type, value)), CORBA::ADD_OVERRIDE);
}

CORBA::Any time_of(std::int64_t milliseconds)
{
    CORBA::Any value;
    value <<= static_cast<TimeBase::TimeT>(milliseconds) * 10'000; // units of 100 ns
    return value;
}

/// What overrides are with this timeout, or with none if it is 0.
CORBA::PolicyList with_timeout(CORBA::ORB_ptr orb, const CORBA::PolicyList& had,
                               CORBA::PolicyType type, CORBA::ULong milliseconds)
{
    CORBA::PolicyList list;
    for (CORBA::ULong i = 0; i < had.length(); ++i) {
        if (had[i]->policy_type() == type) continue;
        list.length(list.length() + 1);
        list[list.length() - 1] = CORBA::Policy::_duplicate(had[i]);
    }
    if (milliseconds != 0) {
        list.length(list.length() + 1);
        list[list.length() - 1] = orb->create_policy(type, time_of(milliseconds));
    }
    return list;
}

/// What sslContext says, as options.
void add_tls(Given& given)
{
    const std::size_t before = given.size();
    const auto add = [&given](const char* name, const char* value) {
        if (value != nullptr && *value != '\0') given.emplace_back(name, value);
    };
    add("sslCAFile", sslContext::certificate_authority_file);
    add("sslCAPath", sslContext::certificate_authority_path);
    add("sslKeyFile", sslContext::key_file);
    add("sslKeyPassword", sslContext::key_file_password);
    if (given.size() == before) return;
    constexpr const char* modes[] = {"none", "peer", "none", "peer,fail"};
    given.emplace_back("sslVerifyMode", modes[sslContext::verify_mode & 3]);
}

/// What the program has set already, as options: what is given counts instead of it.
Given set_before()
{
    Given given;
    const auto add = [&given](const char* name, std::int64_t milliseconds) {
        constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
        if (milliseconds >= 0)
            given.emplace_back(name, std::to_string(std::min(milliseconds, max)));
    };
    add("clientCallTimeOutPeriod", call_timeout);
    add("clientConnectTimeOutPeriod", connect_timeout);
    add_tls(given);
    return given;
}

void set_up(CORBA::ORB_ptr orb, const Settings& settings)
{
    if (settings.trace_level)
        omniORB::traceLevel = static_cast<CORBA::ULong>(*settings.trace_level);
    const orb::Orb& core = orb->_kairos_core();
    message_size_max = core.options().message_size_max; // Kairos's own options may have said it
    for (const std::string& each : settings.ignored)
        log::info("ignored: " + each);
    add_hooks(orb);
    orb->_kairos_add_call_observer(std::make_unique<CallEnds>(core, settings.transient_on_timeout));
    if (settings.offers_bidirectional) {
        CORBA::Any both;
        both <<= BiDirPolicy::BOTH;
        add_policy(orb, BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
    }
}

/// What is said in all places, the first counts. Takes its own out of `arguments`.
Settings settings_from(std::vector<std::string>& arguments, const char* options[][2])
{
    Given all = set_before();
    add_over(all, configuration(arguments));
    add_over(all, take_environment(environ));
    add_over(all, of_program(options));
    add_over(all, good(take_arguments(arguments)));
    return good(settings_of(all));
}

/// Held while an ORB is looked for, made and set up, so that whoever gets it has it set up, and as
/// its maker said. Recursive: initializers of interceptors may ask for ORBs.
std::recursive_mutex& making()
{
    static std::recursive_mutex& mutex = *new std::recursive_mutex; // as long as there are threads
    return mutex;
}

} // namespace
} // namespace kairos::omniorb

namespace CORBA {

ORB_ptr _omni_ORB_init(int& argc, char** argv, const char* orb_identifier, const char* options[][2])
{
    using namespace kairos::omniorb;
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i)
        arguments.emplace_back(argv[i]);
    const Settings settings = settings_from(arguments, options);
    arguments.insert(arguments.begin(), settings.arguments.begin(), settings.arguments.end());
    CommandLine line(argc > 0 ? argv[0] : nullptr, arguments);
    const char* const id =
        orb_identifier != nullptr && is_only_orb(orb_identifier) ? "" : orb_identifier;
    const std::lock_guard lock(making());
    ORB_var orb;
    try {
        orb = ORB_init(line.count(), line.pointers(), id);
    } catch (const BAD_PARAM& wrong) {
        refuse(std::string(wrong.reason()), omni::INITIALIZE_InvalidORBInitArgs);
    }
    keep(line, argc, argv);
    // One that is there already is as it was made: its options are only taken out of argv.
    if (!CallEnds::has(orb->_kairos_core())) {
        set_up(orb.in(), settings);
        attach_initialisers(orb.in());
    }
    return orb._retn();
}

} // namespace CORBA

namespace omniORB {

using namespace kairos::omniorb;

CORBA::ULong giopMaxMsgSize()
{
    constexpr std::size_t max = std::numeric_limits<CORBA::ULong>::max();
    return static_cast<CORBA::ULong>(std::min(message_size_max.load(), max));
}

void setClientCallTimeout(CORBA::ULong milliseconds)
{
    call_timeout = milliseconds;
    if (CORBA::ORB_ptr orb = kairos::corba::default_orb())
        add_policy(orb, Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, time_of(milliseconds));
}

void setClientConnectTimeout(CORBA::ULong milliseconds)
{
    connect_timeout = milliseconds;
    if (CORBA::ORB_ptr orb = kairos::corba::default_orb())
        add_policy(orb, KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE, time_of(milliseconds));
}

void setClientCallTimeout(CORBA::Object_ptr object, CORBA::ULong milliseconds)
{
    if (CORBA::is_nil(object))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a reference is wanted that is not nil");
    const kairos::corba::ReferencePtr& reference = object->_kairos_reference();
    if (!reference || reference->is_local()) return;
    const CORBA::PolicyType type = Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE;
    const CORBA::PolicyList_var had = object->_get_policy_overrides(CORBA::PolicyTypeSeq());
    const CORBA::ORB_var orb = object->_get_orb();
    if (CORBA::is_nil(orb.in())) // which was destroyed
        throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "the reference's ORB was destroyed");
    const CORBA::Object_var with = object->_set_policy_overrides(
        with_timeout(orb.in(), had.in(), type, milliseconds), CORBA::SET_OVERRIDE);
    // What an object calls by never changes; here another takes its place, which C++20 allows of a
    // constant member (basic.life).
    auto* const place = const_cast<kairos::corba::ReferencePtr*>(&reference);
    kairos::corba::ReferencePtr old = reference;
    std::destroy_at(place);
    std::construct_at(place, with->_kairos_reference());
}

void setClientThreadCallDeadline(unsigned long /*seconds*/, unsigned long /*nanoseconds*/)
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO,
                              "threads have no deadline: setClientThreadCallTimeout, or "
                              "RequestEndTimePolicy of the reference");
}

void setClientThreadCallTimeout(CORBA::ULong milliseconds)
{
    CORBA::ORB_ptr orb = kairos::corba::default_orb();
    if (orb == nullptr) throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "there is no ORB yet");
    CORBA::Object_var object = orb->resolve_initial_references("PolicyCurrent");
    CORBA::PolicyCurrent_var current = CORBA::PolicyCurrent::_narrow(object.in());
    const CORBA::PolicyType type = Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE;
    const CORBA::PolicyList_var had = current->get_policy_overrides(CORBA::PolicyTypeSeq());
    const CORBA::PolicyList list = with_timeout(orb, had.in(), type, milliseconds);
    current->set_policy_overrides(list, CORBA::SET_OVERRIDE);
}

} // namespace omniORB
