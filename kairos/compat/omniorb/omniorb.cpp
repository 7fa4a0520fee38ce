// SPDX-License-Identifier: Apache-2.0
//
// omniORB's own functions that need no ORB: versions, messages of the program, names of minor
// codes, and what there is of its policies.
#include "kairos/compat/omniorb/include/omniORB4/omniORB.h"
#include "kairos/compat/omniorb/include/omniORB4/omniZIOP.h"
#include "kairos/compat/omniorb/include/omniORB4/sslContext.h"
#include "kairos/corba/poa_policies.h"

#include <atomic>
#include <charconv>
#include <cstdio>

namespace {

std::atomic<omniORB::logFunction> log_function = nullptr;

/// A local-shortcut policy, which POAs take without doing anything about it.
class LocalShortcutPolicy final : public CORBA::Policy, public kairos::corba::AdapterPolicy {
  public:
    explicit LocalShortcutPolicy(omniPolicy::LocalShortcutPolicyValue value) : value_(value) {}

    CORBA::PolicyType policy_type() override { return omniPolicy::LOCAL_SHORTCUT_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new LocalShortcutPolicy(value_); }
    void destroy() override {}
    bool add_to(kairos::poa::Policies& /*policies*/, kairos::orb::Orb& /*orb*/) const override
    {
        return true;
    }

  private:
    const omniPolicy::LocalShortcutPolicyValue value_;
};

[[noreturn]] void no_compression()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "Kairos has no ZIOP: nothing is compressed");
}

struct MinorName {
    const char* exception;
    CORBA::ULong minor;
    const char* name;
};

constexpr MinorName minor_names[] = {
    {"TRANSIENT", omni::TRANSIENT_ConnectFailed, "TRANSIENT_ConnectFailed"},
    {"TRANSIENT", omni::TRANSIENT_ConnectionClosed, "TRANSIENT_ConnectionClosed"},
    {"TRANSIENT", omni::TRANSIENT_CallTimedout, "TRANSIENT_CallTimedout"},
    {"TRANSIENT", omni::TRANSIENT_FailedOnForwarded, "TRANSIENT_FailedOnForwarded"},
    {"TRANSIENT", omni::TRANSIENT_NoUsableProfile, "TRANSIENT_NoUsableProfile"},
    {"TRANSIENT", omni::TRANSIENT_POANoResource, "TRANSIENT_POANoResource"},
    {"TIMEOUT", omni::TIMEOUT_CallTimedOutOnClient, "TIMEOUT_CallTimedOutOnClient"},
    {"COMM_FAILURE", omni::COMM_FAILURE_WaitingForReply, "COMM_FAILURE_WaitingForReply"},
    {"OBJECT_NOT_EXIST", omni::OBJECT_NOT_EXIST_NoMatch, "OBJECT_NOT_EXIST_NoMatch"},
    {"OBJ_ADAPTER", omni::OBJ_ADAPTER_POAUnknownAdapter, "OBJ_ADAPTER_POAUnknownAdapter"},
    {"INITIALIZE", omni::INITIALIZE_InvalidORBInitArgs, "INITIALIZE_InvalidORBInitArgs"},
    {"INITIALIZE", omni::INITIALIZE_ConfigFileError, "INITIALIZE_ConfigFileError"},
    {"BAD_INV_ORDER", omni::BAD_INV_ORDER_WouldDeadLock, "BAD_INV_ORDER_WouldDeadLock"},
    {"BAD_INV_ORDER", omni::BAD_INV_ORDER_ORBHasShutdown, "BAD_INV_ORDER_ORBHasShutdown"},
    {"BAD_INV_ORDER", omni::BAD_INV_ORDER_RequestNotSentYet, "BAD_INV_ORDER_RequestNotSentYet"},
    {"BAD_PARAM", omni::BAD_PARAM_BadSchemeName, "BAD_PARAM_BadSchemeName"},
    {"BAD_PARAM", omni::BAD_PARAM_BadAddress, "BAD_PARAM_BadAddress"},
    {"BAD_PARAM", omni::BAD_PARAM_BadSchemeSpecificPart, "BAD_PARAM_BadSchemeSpecificPart"},
    {"BAD_PARAM", omni::BAD_PARAM_BadURIOther, "BAD_PARAM_BadURIOther"},
};

const char* minor_name_of(std::string_view exception, CORBA::ULong minor)
{
    for (const MinorName& each : minor_names)
        if (each.minor == minor && each.exception == exception) return each.name;
    return nullptr;
}

} // namespace

/// The text is "CORBA::NAME, minor 0x12345678, …".
const char* kairos::omniorb::operator%(const char* what, MinorNames)
{
    constexpr std::string_view before_name = "CORBA::";
    constexpr std::string_view before_minor = ", minor 0x";
    const std::string_view text = what;
    const std::size_t end = text.find(before_minor);
    if (!text.starts_with(before_name) || end == std::string_view::npos) return nullptr;
    const std::string_view digits = text.substr(end + before_minor.size(), 8);
    CORBA::ULong minor = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), minor, 16);
    return minor_name_of(text.substr(before_name.size(), end - before_name.size()), minor);
}

namespace omniORB {

CORBA::ULong traceLevel = 1;

const char* versionString() { return "4.2.5"; }
CORBA::ULong versionHex() { return 0x04020500; }

void setLogFunction(logFunction function) { log_function = function; }

void do_logs(const char* text) { logger() << text << "\n"; }

logger::logger(const char* prefix) : prefix_(prefix == nullptr ? "" : prefix) {}

logger::~logger() { flush(); }

logger& logger::operator<<(char character)
{
    text_ += character;
    return *this;
}

logger& logger::operator<<(const char* text)
{
    text_ += text == nullptr ? "(null)" : text;
    return *this;
}

logger& logger::operator<<(const void* address)
{
    char text[32];
    std::snprintf(text, sizeof text, "%p", address);
    return *this << text;
}

logger& logger::operator<<(long number)
{
    text_ += std::to_string(number);
    return *this;
}

logger& logger::operator<<(unsigned long number)
{
    text_ += std::to_string(number);
    return *this;
}

logger& logger::operator<<(double number)
{
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return *this << text;
}

logger& logger::operator<<(const CORBA::SystemException& exception)
{
    const char* const minor = minorString(exception);
    *this << exception._name() << '(';
    if (minor != nullptr)
        *this << minor;
    else
        *this << static_cast<unsigned long>(exception.minor());
    return *this << ')';
}

void logger::flush()
{
    if (text_.empty()) return;
    const std::string whole = prefix_ + text_;
    text_.clear();
    if (const logFunction function = log_function)
        function(whole.c_str());
    else
        std::fwrite(whole.data(), 1, whole.size(), stderr);
}

const char* minorString(const CORBA::SystemException& exception)
{
    return minor_name_of(exception._name(), exception.minor());
}

} // namespace omniORB

namespace omniPolicy {

CORBA::Policy_ptr create_local_shortcut_policy(LocalShortcutPolicyValue value)
{
    if (value > LOCAL_CALLS_SHORTCUT) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
    return new LocalShortcutPolicy(value);
}

} // namespace omniPolicy

const char* sslContext::certificate_authority_file = nullptr;
const char* sslContext::certificate_authority_path = nullptr;
const char* sslContext::key_file = nullptr;
const char* sslContext::key_file_password = nullptr;
int sslContext::verify_mode = 1 | 2;

namespace omniZIOP {

void setGlobalPolicies(const CORBA::PolicyList& /*policies*/) { no_compression(); }

CORBA::Policy_ptr create_compression_enabling_policy(CORBA::Boolean /*enabled*/)
{
    no_compression();
}

CORBA::Policy_ptr
create_compression_id_level_list_policy(const Compression::CompressorIdLevelList& /*levels*/)
{
    no_compression();
}

} // namespace omniZIOP
