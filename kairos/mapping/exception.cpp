// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/exception.h"

#include "kairos/base/shown.h"

#include <cstdio>

namespace CORBA {

Exception::~Exception() = default;
UserException::~UserException() = default;
SystemException::~SystemException() = default;
SystemException::SystemException(const SystemException&) = default;
SystemException& SystemException::operator=(const SystemException&) = default;

SystemException::SystemException(const char* name, const char* repository_id, ULong minor,
                                 CompletionStatus completed, std::string_view reason)
    : name_(name), repository_id_(repository_id), minor_(minor), completed_(completed)
{
    describe(reason);
}

void SystemException::describe(std::string_view reason)
{
    static constexpr const char* completions[] = {"COMPLETED_YES", "COMPLETED_NO",
                                                  "COMPLETED_MAYBE"};
    char head[96];
    const int size = std::snprintf(head, sizeof head, "CORBA::%s, minor 0x%08x, %s", name_, minor_,
                                   completions[completed_]);
    what_.assign(head, static_cast<std::size_t>(size));
    if (!reason.empty()) what_ += ": ";
    reason_at_ = what_.size();
    // It may tell of what a peer has sent, and programs print what() as it is.
    what_ += kairos::shown(reason);
}

} // namespace CORBA

namespace kairos::mapping {
namespace {

struct Thrower {
    std::string_view repository_id;
    void (*raise)(CORBA::ULong, CORBA::CompletionStatus, std::string_view);
};

template <typename E>
void raise(CORBA::ULong minor, CORBA::CompletionStatus completed, std::string_view reason)
{
    throw E(minor, completed, reason);
}

#define KAIROS_THROWER(exception) {CORBA::exception::kairos_id, &raise<CORBA::exception>},
constexpr Thrower throwers[] = {KAIROS_SYSTEM_EXCEPTIONS(KAIROS_THROWER)};
#undef KAIROS_THROWER

} // namespace

void raise_system_exception(std::string_view repository_id, CORBA::ULong minor,
                            CORBA::CompletionStatus completed, std::string_view reason)
{
    for (const Thrower& thrower : throwers)
        if (thrower.repository_id == repository_id) thrower.raise(minor, completed, reason);
    throw CORBA::UNKNOWN(minor, completed, reason);
}

} // namespace kairos::mapping
