// SPDX-License-Identifier: Apache-2.0
//
// Servers with as few threads as their architecture can have: whoever waits where somebody else
// should serve is found out.
#pragma once

#include "tests/malformed/fixture.h"

namespace kairos::orb_testing {

class SmallestServers : public EveryArchitecture {
  protected:
    /// One thread, and a queue of one, where the architecture has them.
    static std::vector<std::string> smallest()
    {
        const std::string_view architecture = GetParam();
        if (architecture == "reactor-per-priority") return {"-ORBLanes", "0"};
        if (architecture == "thread-per-connection" || architecture == "reactor" ||
            architecture == "reactor-per-priority-each")
            return {};
        std::vector<std::string> options{"-ORBThreads", "1"};
        if (architecture == "leader-followers" || architecture == "thread-per-request")
            return options;
        options.insert(options.end(), {"-ORBQueue", "1"});
        return options;
    }
    static std::vector<std::string> smallest_with(const std::vector<std::string>& more)
    {
        std::vector<std::string> options = smallest();
        options.insert(options.end(), more.begin(), more.end());
        return options;
    }
    /// What this server's ORB calls there.
    [[nodiscard]] static Probe::Target_ptr target_in(RunningServer& caller,
                                                     const std::string& reference)
    {
        const CORBA::Object_var object = caller.orb()->string_to_object(reference.c_str());
        return Probe::Target::_unchecked_narrow(object);
    }
};

} // namespace kairos::orb_testing
