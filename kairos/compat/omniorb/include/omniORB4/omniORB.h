// SPDX-License-Identifier: Apache-2.0
//
// omniORB's own functions on Kairos: what is declared here does what it says, or raises
// NO_IMPLEMENT with the reason. docs/from-omniorb.md lists which.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "omniORB4/minorCode.h"

#include <cstdint>
#include <string>

#define HAS_omniORB4 1 // NOLINT(modernize-macro-to-enum): asked for by #ifdef

typedef CORBA::Boolean _CORBA_Boolean;
typedef CORBA::Char _CORBA_Char;
typedef CORBA::Octet _CORBA_Octet;
typedef CORBA::Short _CORBA_Short;
typedef CORBA::UShort _CORBA_UShort;
typedef CORBA::Long _CORBA_Long;
typedef CORBA::ULong _CORBA_ULong;
typedef CORBA::LongLong _CORBA_LongLong;
typedef CORBA::ULongLong _CORBA_ULongLong;
typedef CORBA::Float _CORBA_Float;
typedef CORBA::Double _CORBA_Double;

namespace CORBA {

/// What members and elements of string types are.
typedef kairos::mapping::TextOwner<char, true> String_member;
typedef kairos::mapping::TextOwner<wchar_t, true> WString_member;

} // namespace CORBA

namespace kairos::mapping {

// What an Any takes and gives as a member, through an Any_var, which omniORB's converts to one.
template <typename Value>
    requires requires(CORBA::Any& any, Value value) { any.operator<<=(value); }
void operator<<=(VariableVar<CORBA::Any>& any, Value value)
{
    any.inout().operator<<=(value);
}
template <typename Value>
    requires requires(const CORBA::Any& any, Value value) { any.operator>>=(value); }
CORBA::Boolean operator>>=(const VariableVar<CORBA::Any>& any, Value value)
{
    return any.in().operator>>=(value);
}

} // namespace kairos::mapping

typedef CORBA::String_member _CORBA_String_member;
typedef CORBA::WString_member _CORBA_WString_member;
/// What an element of a sequence of strings is.
typedef kairos::mapping::PointerElement<kairos::mapping::TextElements<char, 0>>
    _CORBA_String_element;

namespace CORBA {

/// ORB_init as omniORB has it; programs say ORB_init, which the layer's headers make this. Heeds
/// omniORB's options (docs/from-omniorb.md) of, the first counts: the command line, `options`
/// (pairs of a name without -ORB and a value, the last one null), the environment, and the file
/// that OMNIORB_CONFIG or -ORBconfigFile names; and those of Kairos in `argv`. Throws INITIALIZE
/// with the reason, which is in the log as well, for options that are unknown or wrong.
KAIROS_API ORB_ptr _omni_ORB_init(int& argc, char** argv, const char* orb_identifier = "",
                                  const char* options[][2] = nullptr);

} // namespace CORBA

#define ORB_init _omni_ORB_init

/// A key of omniORB's BOA, which is not here: programs ask for its size.
struct omniOrbBoaKey {
    CORBA::ULong hi;
    CORBA::ULong med;
    CORBA::ULong lo;
};

namespace omni {
class omniInterceptors;
} // namespace omni

namespace omniORB {

/// Returns the interceptors of all ORBs of the layer (omniORB4/omniInterceptors.h).
KAIROS_API omni::omniInterceptors* getInterceptors();

/// What the option traceLevel said last; may be set, for `trace` and `logs` of the program. An
/// ORB_init without that option leaves it.
KAIROS_API extern CORBA::ULong traceLevel;
KAIROS_API const char* versionString();
/// The version of omniORB that the layer is like: 4.2.5.
KAIROS_API CORBA::ULong versionHex();
/// The largest message that is accepted, by the ORB that the last ORB_init made. Octets; what an
/// ORB without options would accept if there has been none.
KAIROS_API CORBA::ULong giopMaxMsgSize();

/// Sets how long calls of the process's ORB may take, in milliseconds, and of ORBs that are made
/// later, unless their options say otherwise; 0: no limit.
KAIROS_API void setClientCallTimeout(CORBA::ULong milliseconds);
/// Sets the same for this reference and those that are duplicated or narrowed from it afterwards;
/// 0: what the thread or the ORB says. No call by the reference may be under way meanwhile.
/// Objects of this process have no timeouts. Throws BAD_PARAM for nil, and BAD_INV_ORDER where
/// the ORB was destroyed.
KAIROS_API void setClientCallTimeout(CORBA::Object_ptr object, CORBA::ULong milliseconds);
/// Sets the same for the calling thread; 0: what the ORB says.
KAIROS_API void setClientThreadCallTimeout(CORBA::ULong milliseconds);
/// Raises NO_IMPLEMENT: a thread has timeouts, but no deadline.
[[noreturn]] KAIROS_API void setClientThreadCallDeadline(unsigned long seconds,
                                                         unsigned long nanoseconds);
/// Sets how long making a connection may take, for the same ORBs, in milliseconds; 0: no limit.
KAIROS_API void setClientConnectTimeout(CORBA::ULong milliseconds);

inline bool trace(CORBA::ULong level) { return traceLevel >= level; }
typedef void (*logFunction)(const char* text);
/// Has `function` get what the program logs by `logger` and `logs`, null the standard error output.
/// The log of Kairos itself stays where it is.
KAIROS_API void setLogFunction(logFunction function);
KAIROS_API void do_logs(const char* text);
inline void logs(CORBA::ULong level, const char* text)
{
    if (trace(level)) do_logs(text);
}

/// A message of the program, which goes to the log when the object dies or is flushed.
class KAIROS_API logger {
  public:
    explicit logger(const char* prefix = "omniORB: ");
    logger(const logger&) = delete;
    logger& operator=(const logger&) = delete;
    ~logger();

    logger& operator<<(char character);
    logger& operator<<(const char* text);
    logger& operator<<(const void* address);
    logger& operator<<(bool value) { return *this << static_cast<long>(value); }
    logger& operator<<(short number) { return *this << static_cast<long>(number); }
    logger& operator<<(unsigned short number) { return *this << static_cast<long>(number); }
    logger& operator<<(int number) { return *this << static_cast<long>(number); }
    logger& operator<<(unsigned number) { return *this << static_cast<unsigned long>(number); }
    logger& operator<<(long number);
    logger& operator<<(unsigned long number);
    logger& operator<<(double number);
    logger& operator<<(const CORBA::SystemException& exception);
    void flush();

  private:
    std::string prefix_;
    std::string text_;
};

/// What omniORB throws when it finds itself in a state that must not be. Nothing of Kairos does.
class KAIROS_API fatalException {
  public:
    fatalException(const char* file, int line, const char* message)
        : file_(file), line_(line), message_(message)
    {
    }
    [[nodiscard]] const char* file() const { return file_; }
    [[nodiscard]] int line() const { return line_; }
    [[nodiscard]] const char* errmsg() const { return message_; }

  private:
    const char* file_;
    int line_;
    const char* message_;
};

// Handlers of what ends a call: one that returns true has the call made once more, as long as
// nothing can have been executed (COMPLETED_NO). They hear of calls of all ORBs of the layer, null
// is none. Any thread.
typedef CORBA::Boolean (*transientExceptionHandler_t)(void* cookie, CORBA::ULong retries,
                                                      const CORBA::TRANSIENT& exception);
typedef CORBA::Boolean (*timeoutExceptionHandler_t)(void* cookie, CORBA::ULong retries,
                                                    const CORBA::TIMEOUT& exception);
typedef CORBA::Boolean (*commFailureExceptionHandler_t)(void* cookie, CORBA::ULong retries,
                                                        const CORBA::COMM_FAILURE& exception);
typedef CORBA::Boolean (*systemExceptionHandler_t)(void* cookie, CORBA::ULong retries,
                                                   const CORBA::SystemException& exception);
KAIROS_API void installTransientExceptionHandler(void* cookie, transientExceptionHandler_t handler);
KAIROS_API void installTimeoutExceptionHandler(void* cookie, timeoutExceptionHandler_t handler);
KAIROS_API void installCommFailureExceptionHandler(void* cookie,
                                                   commFailureExceptionHandler_t handler);
/// Hears of those that none of the three above is for.
KAIROS_API void installSystemExceptionHandler(void* cookie, systemExceptionHandler_t handler);
// The same for calls by references to one object, whichever have the same first profile, until null
// is installed for it: they are asked instead of those for all. Throw BAD_PARAM for nil.
KAIROS_API void installTransientExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                                 transientExceptionHandler_t handler);
KAIROS_API void installTimeoutExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                               timeoutExceptionHandler_t handler);
KAIROS_API void installCommFailureExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                                   commFailureExceptionHandler_t handler);
KAIROS_API void installSystemExceptionHandler(CORBA::Object_ptr object, void* cookie,
                                              systemExceptionHandler_t handler);
// The same, told of the object and the operation as well, which last as long as they are called; of
// each kind the handler that was installed last is asked.
typedef CORBA::Boolean (*transientExceptionHandlerExt_t)(void* cookie, CORBA::ULong retries,
                                                         const CORBA::TRANSIENT& exception,
                                                         CORBA::Object_ptr object,
                                                         const char* operation);
KAIROS_API void installTransientExceptionHandlerExt(void* cookie,
                                                    transientExceptionHandlerExt_t handler);
KAIROS_API void installTransientExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                                    transientExceptionHandlerExt_t handler);
typedef CORBA::Boolean (*timeoutExceptionHandlerExt_t)(void* cookie, CORBA::ULong retries,
                                                       const CORBA::TIMEOUT& exception,
                                                       CORBA::Object_ptr object,
                                                       const char* operation);
KAIROS_API void installTimeoutExceptionHandlerExt(void* cookie,
                                                  timeoutExceptionHandlerExt_t handler);
KAIROS_API void installTimeoutExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                                  timeoutExceptionHandlerExt_t handler);
typedef CORBA::Boolean (*commFailureExceptionHandlerExt_t)(void* cookie, CORBA::ULong retries,
                                                           const CORBA::COMM_FAILURE& exception,
                                                           CORBA::Object_ptr object,
                                                           const char* operation);
KAIROS_API void installCommFailureExceptionHandlerExt(void* cookie,
                                                      commFailureExceptionHandlerExt_t handler);
KAIROS_API void installCommFailureExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                                      commFailureExceptionHandlerExt_t handler);
typedef CORBA::Boolean (*systemExceptionHandlerExt_t)(void* cookie, CORBA::ULong retries,
                                                      const CORBA::SystemException& exception,
                                                      CORBA::Object_ptr object,
                                                      const char* operation);
KAIROS_API void installSystemExceptionHandlerExt(void* cookie, systemExceptionHandlerExt_t handler);
KAIROS_API void installSystemExceptionHandlerExt(CORBA::Object_ptr object, void* cookie,
                                                 systemExceptionHandlerExt_t handler);

/// The names of minor codes: "TRANSIENT_ConnectFailed"; null for others.
KAIROS_API const char* minorString(const CORBA::SystemException& exception);

} // namespace omniORB

namespace kairos::omniorb {

struct MinorNames {};
inline constexpr MinorNames minor_names{};
/// Returns what omniORB::minorString does, by the text of a CORBA::SystemException's what().
KAIROS_API const char* operator%(const char* what, MinorNames);

} // namespace kairos::omniorb

// The repository id of an interface's class: `Bank::Account::_PD_repoId`.
#define _PD_repoId _kairos_id
// A member of omniORB's system exceptions: the name of the minor code, null for others.
#define NP_minorString() what() % ::kairos::omniorb::minor_names

/// A policy of omniORB's POAs: whether calls within the process may go around the POA.
namespace omniPolicy {

typedef CORBA::UShort LocalShortcutPolicyValue;
inline constexpr LocalShortcutPolicyValue LOCAL_CALLS_THROUGH_POA = 0;
inline constexpr LocalShortcutPolicyValue LOCAL_CALLS_SHORTCUT = 1;
inline constexpr CORBA::PolicyType LOCAL_SHORTCUT_POLICY_TYPE = 0x41545401;

/// Makes one, owned by the caller. POAs take it; -ORBCollocation direct says the same of a whole
/// ORB, and only that has an effect.
KAIROS_API CORBA::Policy_ptr create_local_shortcut_policy(LocalShortcutPolicyValue value);

} // namespace omniPolicy
