// SPDX-License-Identifier: Apache-2.0
//
// The rules by which a message's values are copied on their way through a gateway. Used by one
// thread, for one message.
#pragma once

#include "kairos/gateway/relay.h"
#include "kairos/types/copy.h"

#include <map>

namespace kairos::gateway {

class Rewriting final : public types::CopyRules {
  public:
    explicit Rewriting(Relay& relay) : relay_(relay), references_left_(relay.references_max()) {}

    void copy_reference(cdr::Reader& in, cdr::Writer& out) override;
    [[nodiscard]] const CORBA::TypeCode* value_type(std::string_view repository_id) override;

  private:
    Relay& relay_;
    std::size_t references_left_;
    std::map<std::string, CORBA::TypeCode_var, std::less<>> types_; // asked for; nil: not known
};

} // namespace kairos::gateway
