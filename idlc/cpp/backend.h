// SPDX-License-Identifier: Apache-2.0
//
// The back end that writes C++ in the classic mapping: what command/main.cpp sees of this folder.
#pragma once

#include "idlc/backend.h"
#include "idlc/cpp/options.h"
#include "idlc/profile.h"

namespace kairos::idlc {

class CppBackEnd final : public BackEnd {
  public:
    [[nodiscard]] std::string_view name() const noexcept override { return "cpp"; }
    void add_options(CLI::App& app) override { add_cpp_options(app, options_); }
    /// Reads the files of --profile.
    [[nodiscard]] bool prepare(const Show& show) override;
    /// Refuses what the back end has no code for; tells what --profile made it choose.
    void run(const Model& model, Outputs& outputs, Diagnostics& diagnostics) const override;
    [[nodiscard]] std::string generated_from(std::string_view text) const override;

  private:
    CppOptions options_;
    ProfileFiles profiles_;
};

} // namespace kairos::idlc
