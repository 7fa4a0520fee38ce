// SPDX-License-Identifier: Apache-2.0
//
// What `kairos browse` answers to the page: names, interfaces, calls, each as JSON. It knows
// objects and no HTTP. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "tools/kairos/browse_guard.h"
#include "tools/kairos/interfaces.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/value_json.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kairos::tools {

class BrowseObjects {
  public:
    /// Borrows the ORB and what the IDL files say. `targets` are what the page begins with.
    BrowseObjects(CORBA::ORB_ptr orb, const Interfaces& files, std::vector<NamedTarget> targets);

    /// Does what is asked for, and returns the answer. What goes wrong is part of it: `exception`
    /// for one of the operation's own, `failure` for one of CORBA's, `error` for what makes no
    /// sense.
    [[nodiscard]] Json answer(const BrowseCall& call);

  private:
    /// An object whose interface is known.
    struct Opened {
        std::string object; ///< as the page has asked for it
        CORBA::Object_var reference;
        std::shared_ptr<const Interfaces> asked; ///< of whom `interface` is, or null: of the files
        const KnownInterface* interface = nullptr;
    };

    [[nodiscard]] Json roots() const;
    [[nodiscard]] Json names(const std::string& path) const;
    [[nodiscard]] Json open(const std::string& object);
    [[nodiscard]] Json call(const BrowseCall& call);
    [[nodiscard]] Json read(const BrowseCall& call);
    [[nodiscard]] Json invoke(const Opened& opened, const KnownOperation& operation,
                              const Json& arguments, JsonBudget& budget) const;

    [[nodiscard]] CORBA::Object_var object_of(const std::string& text) const;
    [[nodiscard]] CORBA::Object_var argument_of(const std::string& text) const;
    [[nodiscard]] ValueJson values_of(const Opened& opened, JsonBudget& budget) const;
    [[nodiscard]] std::shared_ptr<const Opened> find_opened(const std::string& object);
    [[nodiscard]] std::shared_ptr<const Opened> ask(const std::string& object) const;
    void keep(std::shared_ptr<const Opened> opened);

    const CORBA::ORB_ptr orb_;
    const Interfaces& files_;
    const std::vector<NamedTarget> targets_;
    std::mutex mutex_;                                // guards opened_; inside nothing
    std::list<std::shared_ptr<const Opened>> opened_; // the one that was used last in front
};

} // namespace kairos::tools
