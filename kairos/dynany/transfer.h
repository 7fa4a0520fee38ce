// SPDX-License-Identifier: Apache-2.0
//
// A value in CDR on its way between DynAnys, Anys and sequences of the program's.
#pragma once

#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/dynany/tree.h"
#include "kairos/types/any.h"

namespace kairos::dynany {

class Transfer {
  public:
    explicit Transfer(const Tree& tree) : environment_(tree.environment())
    {
        out_.set_environment(&environment_);
    }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }
    /// Of all that was written. Not to be written meanwhile.
    [[nodiscard]] cdr::Reader reader() const
    {
        cdr::Reader in(out_.contiguous(), native_little_endian);
        in.set_environment(&environment_);
        return in;
    }
    /// An Any with what was written as its value. Throws MARSHAL for what is no value of the type.
    [[nodiscard]] CORBA::Any any(CORBA::TypeCode& type) const;

  private:
    const cdr::Environment environment_;
    cdr::Buffer buffer_;
    cdr::Writer out_{buffer_};
    const cdr::Writer::CopyAll copies_{out_};
};

} // namespace kairos::dynany
