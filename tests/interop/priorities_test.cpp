// SPDX-License-Identifier: Apache-2.0
//
// What Wireshark's GIOP dissector, which knows of Real-Time CORBA's priorities, reads in requests
// and their replies.
#include "captured.h"
#include "process.h"
#include "tap.h"
#include "tests/rtcorba/fixture.h"

#ifndef TSHARK

TEST(Priorities, AreNotDissected) { GTEST_SKIP() << "tshark is not installed"; }

#else

namespace kairos::rtcorba_testing {
namespace {

/// The versions whose references say the model: GIOP 1.0's have no place for it.
class Priorities : public testing::TestWithParam<const char*> {};

TEST_P(Priorities, AreInRequestsAndReplies)
{
    const interop::TemporaryFile file(std::string("kairos-priorities-") + GetParam());
    std::uint16_t port = 0;
    {
        World world({"-ORBGIOPVersion", GetParam()});
        Servant& servant = world.make_servant();
        const RTPortableServer::POA_var poa = world.make_poa("rt", {world.client_propagated(12)});
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        world.activate();
        const CORBA::String_var text = world.orb()->object_to_string(object);
        calls::Tap tap(interop::port_of(text.in()), file.path);
        port = tap.port();
        {
            Client client{{"-ORBDebug", "0"}};
            const Probe::Target_var target = client.target(interop::at_port(text.in(), port));
            in_thread([&] {
                for (const orb::Priority priority :
                     std::initializer_list<orb::Priority>{77, 32767}) {
                    orb::ThreadStorage::current().priority = priority;
                    EXPECT_EQ(target->add(40, 2), 42);
                }
            });
        }
        tap.stop();
    }
    calls::Process tshark({TSHARK, "-n", "-r", file.path, "-d",
                           "tcp.port==" + std::to_string(port) + ",giop", "-Y", "giop.type <= 1",
                           "-T", "fields", "-E", "separator=;", "-e", "giop.type", "-e",
                           "giop.rt_corba_priority", "-e", "_ws.malformed"});
    EXPECT_EQ(tshark.read_all(), "0;77;\n1;77;\n0;32767;\n1;32767;\n");
    EXPECT_EQ(tshark.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Versions, Priorities, testing::Values("1.1", "1.2"),
                         [](const auto& tested) {
                             return std::string("giop_1_") + tested.param[2];
                         });

} // namespace
} // namespace kairos::rtcorba_testing

#endif
