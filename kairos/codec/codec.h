// SPDX-License-Identifier: Apache-2.0
//
// One encoding: values to octets and back. Immutable but for what the ORB it belongs to says of
// itself; any thread.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/text_form.h"
#include "kairos/codec/Codec.h"
#include "kairos/orb/orb.h"

namespace kairos::codec {

/// Encapsulations (CORBA 3.3 part 2, 9.3.3) of one version of GIOP, with text in one form.
class Codec final : public IOP::Codec {
  public:
    Codec(orb::Orb& core, const cdr::TextForm& form) : core_(&core), form_(form) {}

    CORBA::OctetSeq* encode(const CORBA::Any& data) override;
    CORBA::Any* decode(const CORBA::OctetSeq& data) override;
    CORBA::OctetSeq* encode_value(const CORBA::Any& data) override;
    CORBA::Any* decode_value(const CORBA::OctetSeq& data, CORBA::TypeCode_ptr tc) override;

  private:
    [[nodiscard]] cdr::Environment environment() const;
    template <typename Write>
    [[nodiscard]] CORBA::OctetSeq* written(Write&& write) const;

    const IntrusivePtr<orb::Orb> core_;
    const cdr::TextForm form_;
};

} // namespace kairos::codec
