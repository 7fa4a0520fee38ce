// SPDX-License-Identifier: Apache-2.0
//
// The back end that writes the checked model as JSON, for editors and tools: docs/idl-json.md says
// what is in it.
#pragma once

#include "idlc/backend.h"

namespace kairos::idlc {

class JsonBackEnd final : public BackEnd {
  public:
    [[nodiscard]] std::string_view name() const noexcept override { return "json"; }
    void run(const Model& model, Outputs& outputs, Diagnostics& diagnostics) const override;
    [[nodiscard]] std::string generated_from(std::string_view text) const override;
};

} // namespace kairos::idlc
