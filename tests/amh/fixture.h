// SPDX-License-Identifier: Apache-2.0
//
// What the tests of servants that answer later share: a server whose POA has one, and calls of it
// that wait for their answers in threads of their own.
#pragma once

#include "tests/malformed/fixture.h"

#include "amh_skel.h"

#include <future>
#include <string>
#include <utility>
#include <vector>

namespace kairos::amh_testing {

using orb_testing::Event;
using orb_testing::EveryArchitecture;
using orb_testing::make_orb;
using orb_testing::outcome;
using orb_testing::patience;
using orb_testing::RunningServer;

/// A client's ORB, destroyed at the end.
class Caller {
  public:
    explicit Caller(std::vector<std::string> options = {}) : orb(make_orb(std::move(options))) {}
    ~Caller() { orb->destroy(); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    [[nodiscard]] Amh::Target_var target(const std::string& reference) const
    {
        const CORBA::Object_var object = orb->string_to_object(reference.c_str());
        return Amh::Target::_unchecked_narrow(object);
    }
    CORBA::ORB_var orb;
};

/// Makes a servant an object of the server; returns its reference.
inline std::string activate(RunningServer& server, PortableServer::Servant servant)
{
    const PortableServer::ObjectId_var id = server.poa()->activate_object(servant);
    const CORBA::Object_var object = server.poa()->id_to_reference(id);
    const CORBA::String_var text = server.orb()->object_to_string(object);
    return text.in();
}

/// What a call ends with, in a thread of its own.
template <typename Call>
[[nodiscard]] std::future<std::string> begin(Call call)
{
    return std::async(std::launch::async, [call = std::move(call)] { return outcome(call); });
}

} // namespace kairos::amh_testing
