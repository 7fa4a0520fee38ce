// SPDX-License-Identifier: Apache-2.0
//
// CORBA::Environment (C++ mapping, "Environment"): holds the exception that a dynamic invocation
// ended with, for programs that look rather than catch. Pseudo object, counted; not shared by
// threads that change it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/owner.h"
#include "kairos/corba/nvlist.h"
#include "kairos/mapping/exception.h"

namespace CORBA {

class Environment;
typedef Environment* Environment_ptr;
typedef kairos::mapping::ObjectVar<Environment> Environment_var;
typedef kairos::mapping::ObjectOut<Environment> Environment_out;

class KAIROS_API Environment final : public kairos::corba::PseudoObject {
  public:
    typedef Environment_ptr _ptr_type;
    typedef Environment_var _var_type;

    /// Makes an Environment that holds nothing. Programs get one from ORB::create_environment.
    Environment() = default;

    static Environment_ptr _duplicate(Environment_ptr environment);
    static Environment_ptr _nil() { return nullptr; }

    /// Sets the exception and takes it over; null is as `clear`.
    void exception(Exception* exception) { exception_.reset(exception); }
    /// The exception, null if there is none. Stays the Environment's, until another is set.
    [[nodiscard]] Exception* exception() const noexcept { return exception_.get(); }
    void clear() noexcept { exception_.reset(); }

  private:
    ~Environment() override = default;

    kairos::Owner<Exception> exception_;
};

inline Boolean is_nil(Environment_ptr environment) { return environment == nullptr; }
KAIROS_API void release(Environment_ptr environment);

} // namespace CORBA
