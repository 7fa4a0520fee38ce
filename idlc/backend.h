// SPDX-License-Identifier: Apache-2.0
//
// What a back end is: one way of writing down what an IDL file says. The front end knows of none;
// command/main.cpp lists them all and runs the one that --backend names. A back end has a folder
// here, reads the model (model.h) and hands over the texts of its files (outputs.h).
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"
#include "idlc/outputs.h"
#include "idlc/timing.h"

#include <functional>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace kairos::idlc {

/// One main file with what it includes, checked: there was no error in it.
struct Model {
    const Unit& unit;
    /// What the IDL says about the timing of operations.
    const std::vector<Timing>& timings;
};

class BackEnd {
  public:
    BackEnd() = default;
    BackEnd(const BackEnd&) = delete;
    BackEnd& operator=(const BackEnd&) = delete;
    virtual ~BackEnd() = default;

    /// What --backend calls it: "cpp".
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Adds the options that this back end alone understands, with the text that --help, manual
    /// page and completion show. The command line writes into the back end, which must live as
    /// long.
    virtual void add_options(CLI::App& app);

    using Show = std::function<void(const Diagnostics&)>;
    /// Reads the files that those options name, once, behind the command line. Returns false after
    /// errors. Whatever is to be said about the files goes to `show`.
    [[nodiscard]] virtual bool prepare(const Show& show);

    /// Puts what the main file becomes into `outputs`. Nothing is written where errors are
    /// reported.
    virtual void run(const Model& model, Outputs& outputs, Diagnostics& diagnostics) const = 0;

    /// Returns the IDL file that a text of this back end was generated from, as its first lines
    /// say; empty where they do not say it.
    [[nodiscard]] virtual std::string generated_from(std::string_view text) const = 0;
};

} // namespace kairos::idlc
