// SPDX-License-Identifier: Apache-2.0
//
// CORBA's exceptions as users catch them (C++ mapping, 5.19 "Mapping for exception types"): the
// three base classes and every standard system exception of CORBA 3.3. They also derive from
// std::exception, and what() says name, minor code, completion and reason. Values; any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/types.h"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace kairos::cdr {
class Writer;
}

namespace CORBA {

enum CompletionStatus : ULong { COMPLETED_YES, COMPLETED_NO, COMPLETED_MAYBE };
typedef CompletionStatus& CompletionStatus_out;

/// Upper 20 bits of the minor codes that the OMG assigns: 'O', 'M', 0, 0.
inline constexpr ULong OMGVMCID = 0x4f4d0000;

class KAIROS_API Exception : public std::exception {
  public:
    /// Out of line, as those of the other base classes: so their tables are in the library, and not
    /// in every object file that knows an exception.
    ~Exception() override;

    /// Throws a copy of the most derived exception.
    [[noreturn]] virtual void _raise() const = 0;
    /// The IDL identifier, "Overflow".
    [[nodiscard]] virtual const char* _name() const noexcept = 0;
    /// The repository id, "IDL:Demo/Overflow:1.0".
    [[nodiscard]] virtual const char* _rep_id() const noexcept = 0;
    /// A copy of the most derived exception, owned by the caller.
    [[nodiscard]] virtual Exception* _duplicate() const = 0;

    // Of TAO, for programs written for it: defined in Kairos::tao (kairos/compat/tao).
    /// What happened, in one line.
    [[nodiscard]] std::string _info() const;
    /// Writes `EXCEPTION, <text>` and _info() to `stream`: standard output, if that is null.
    void _tao_print_exception(const char* text, std::FILE* stream = nullptr) const;

  protected:
    Exception() = default;
    Exception(const Exception&) = default;
    Exception& operator=(const Exception&) = default;
};

class KAIROS_API UserException : public Exception {
  public:
    ~UserException() override;

    static UserException* _downcast(Exception* exception)
    {
        return dynamic_cast<UserException*>(exception);
    }
    static const UserException* _downcast(const Exception* exception)
    {
        return dynamic_cast<const UserException*>(exception);
    }

    /// The repository id: it is unambiguous, the name is not.
    [[nodiscard]] const char* what() const noexcept override { return _rep_id(); }

    /// Writes the repository id and the members: the body of a USER_EXCEPTION reply.
    virtual void _marshal(kairos::cdr::Writer& out) const = 0;

  protected:
    UserException() = default;
    UserException(const UserException&) = default;
    UserException& operator=(const UserException&) = default;
};

class KAIROS_API SystemException : public Exception {
  public:
    ~SystemException() override;

    [[nodiscard]] ULong minor() const noexcept { return minor_; }
    void minor(ULong minor)
    {
        minor_ = minor;
        describe(std::string(reason()));
    }
    [[nodiscard]] CompletionStatus completed() const noexcept { return completed_; }
    void completed(CompletionStatus completed)
    {
        completed_ = completed;
        describe(std::string(reason()));
    }
    /// Why the exception was thrown, for people, where the thrower knew; else empty. Does not cross
    /// the wire.
    [[nodiscard]] std::string_view reason() const noexcept
    {
        return std::string_view(what_).substr(reason_at_);
    }

    [[nodiscard]] const char* _name() const noexcept override { return name_; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return repository_id_; }
    [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

    static SystemException* _downcast(Exception* exception)
    {
        return dynamic_cast<SystemException*>(exception);
    }
    static const SystemException* _downcast(const Exception* exception)
    {
        return dynamic_cast<const SystemException*>(exception);
    }

  protected:
    /// `name` and `repository_id` are literals.
    SystemException(const char* name, const char* repository_id, ULong minor,
                    CompletionStatus completed, std::string_view reason);
    SystemException(const SystemException&);
    SystemException& operator=(const SystemException&);

  private:
    void describe(std::string_view reason);

    const char* name_;
    const char* repository_id_;
    ULong minor_;
    CompletionStatus completed_;
    std::string what_;          // ends with the reason
    std::size_t reason_at_ = 0; // where in what_ that starts
};

} // namespace CORBA

namespace kairos::mapping {

/// A minor code that the OMG assigned (CORBA 3.3 part 2, annex A).
[[nodiscard]] constexpr CORBA::ULong omg_minor(CORBA::ULong code) noexcept
{
    return CORBA::OMGVMCID | code;
}

/// What a standard system exception adds to SystemException; E says its names.
template <typename E>
class KAIROS_API StandardException : public CORBA::SystemException {
  public:
    StandardException() : StandardException(0, CORBA::COMPLETED_NO) {}
    StandardException(CORBA::ULong minor, CORBA::CompletionStatus completed,
                      std::string_view reason = {})
        : SystemException(E::kairos_name, E::kairos_id, minor, completed, reason)
    {
    }
    [[noreturn]] void _raise() const override { throw E(static_cast<const E&>(*this)); }
    [[nodiscard]] CORBA::Exception* _duplicate() const override
    {
        return new E(static_cast<const E&>(*this));
    }
    static E* _downcast(CORBA::Exception* exception) { return dynamic_cast<E*>(exception); }
    static const E* _downcast(const CORBA::Exception* exception)
    {
        return dynamic_cast<const E*>(exception);
    }
};

/// Throws the standard system exception of this repository id; UNKNOWN for any other id.
[[noreturn]] KAIROS_API void raise_system_exception(std::string_view repository_id,
                                                    CORBA::ULong minor,
                                                    CORBA::CompletionStatus completed,
                                                    std::string_view reason = {});

} // namespace kairos::mapping

// clang-format off
/// Every standard system exception (CORBA 3.3 part 1, 8.1): one list for the classes and the table.
#define KAIROS_SYSTEM_EXCEPTIONS(apply)                                                            \
    apply(UNKNOWN) apply(BAD_PARAM) apply(NO_MEMORY) apply(IMP_LIMIT) apply(COMM_FAILURE)          \
    apply(INV_OBJREF) apply(OBJECT_NOT_EXIST) apply(NO_PERMISSION) apply(INTERNAL)                 \
    apply(MARSHAL) apply(INITIALIZE) apply(NO_IMPLEMENT) apply(BAD_TYPECODE)                       \
    apply(BAD_OPERATION) apply(NO_RESOURCES) apply(NO_RESPONSE) apply(PERSIST_STORE)               \
    apply(BAD_INV_ORDER) apply(TRANSIENT) apply(FREE_MEM) apply(INV_IDENT) apply(INV_FLAG)         \
    apply(INTF_REPOS) apply(BAD_CONTEXT) apply(OBJ_ADAPTER) apply(DATA_CONVERSION)                 \
    apply(INV_POLICY) apply(REBIND) apply(TIMEOUT) apply(TRANSACTION_UNAVAILABLE)                  \
    apply(TRANSACTION_MODE) apply(TRANSACTION_REQUIRED) apply(TRANSACTION_ROLLEDBACK)              \
    apply(INVALID_TRANSACTION) apply(CODESET_INCOMPATIBLE) apply(BAD_QOS)                          \
    apply(INVALID_ACTIVITY) apply(ACTIVITY_COMPLETED) apply(ACTIVITY_REQUIRED)                     \
    apply(THREAD_CANCELLED)
// clang-format on

#define KAIROS_SYSTEM_EXCEPTION_CLASS(exception)                                                   \
    class KAIROS_API exception final : public kairos::mapping::StandardException<exception> {      \
      public:                                                                                      \
        static constexpr const char* kairos_name = #exception;                                     \
        static constexpr const char* kairos_id = "IDL:omg.org/CORBA/" #exception ":1.0";           \
        using StandardException::StandardException;                                                \
    };

namespace CORBA {
KAIROS_SYSTEM_EXCEPTIONS(KAIROS_SYSTEM_EXCEPTION_CLASS)
} // namespace CORBA

#undef KAIROS_SYSTEM_EXCEPTION_CLASS
