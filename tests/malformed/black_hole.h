// SPDX-License-Identifier: Apache-2.0
//
// A server that answers nobody.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/net/loopback_testing.h"

#include <string>

namespace kairos::orb_testing {

/// Takes connections and what comes by them, and never says a word.
class BlackHole {
  public:
    BlackHole() : acceptor_(net::testing::must(net::Acceptor::open(net::Address::loopback_ipv4())))
    {
    }
    /// Whatever it is taken for.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type object(CORBA::ORB_ptr orb) const
    {
        const std::string url =
            "corbaloc::127.0.0.1:" + std::to_string(acceptor_.address().port()) + "/hole";
        const CORBA::Object_var object = orb->string_to_object(url.c_str());
        return Interface::_unchecked_narrow(object.in());
    }

  private:
    net::Acceptor acceptor_;
};

} // namespace kairos::orb_testing
