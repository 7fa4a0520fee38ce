// SPDX-License-Identifier: Apache-2.0
//
// The exceptions without members that the OMG's own interfaces raise (InvalidName, WrongPolicy, …).
// Exceptions of users' IDL are generated.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/writer.h"
#include "kairos/mapping/exception.h"

namespace kairos::mapping {

/// A user exception without members. E says its names: `kairos_name` and `_kairos_id`.
template <typename E>
class KAIROS_API EmptyException : public CORBA::UserException {
  public:
    [[noreturn]] void _raise() const override { throw E(static_cast<const E&>(*this)); }
    [[nodiscard]] const char* _name() const noexcept override { return E::kairos_name; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return E::_kairos_id; }
    [[nodiscard]] CORBA::Exception* _duplicate() const override
    {
        return new E(static_cast<const E&>(*this));
    }
    void _marshal(cdr::Writer& out) const override { out.write_string(E::_kairos_id); }
    static E* _downcast(CORBA::Exception* exception) { return dynamic_cast<E*>(exception); }
    static const E* _downcast(const CORBA::Exception* exception)
    {
        return dynamic_cast<const E*>(exception);
    }
};

} // namespace kairos::mapping

/// Declares an exception without members in the class or namespace it is nested in; `scope` as in
/// its repository id.
#define KAIROS_EMPTY_EXCEPTION(scope, exception)                                                   \
    class KAIROS_API exception final : public kairos::mapping::EmptyException<exception> {         \
      public:                                                                                      \
        static constexpr const char* kairos_name = #exception;                                     \
        static constexpr const char* _kairos_id = "IDL:omg.org/" scope "/" #exception ":1.0";      \
    };
