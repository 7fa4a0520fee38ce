// SPDX-License-Identifier: Apache-2.0
//
// What Debian's omniORB makes of the messages that calls alone do not send: our CancelRequest.
// (MessageError is not among what it sends: it closes the connection.)
#include "peer.h"

#include "kairos/giop/connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/reply.h"
#include "kairos/ior/profile.h"
#include "kairos/ior/text.h"
#include "tests/malformed/wire.h"

#include <algorithm>

using namespace interop;
using namespace kairos;
using orb_testing::RawPeer;

#ifndef OMNIORB_SERVER // CMake found no omniORB

TEST(OmniOrbControl, IsNotInstalled) { GTEST_SKIP() << "omniORB's packages are not installed"; }

#else

namespace {

class OmniOrbControl : public testing::Test {
  protected:
    OmniOrbControl()
    {
        const auto reference = ior::from_string(server_.reference[0]);
        const ior::Target target = ior::targets(reference.value()).front();
        key_.assign(target.object_key().begin(), target.object_key().end());
        port_ = target.address.port;
    }
    [[nodiscard]] RawPeer connect() const { return RawPeer::connect(port_); }

    [[nodiscard]] orb_testing::WireMessage call(std::uint32_t id) const
    {
        return orb_testing::request(key_, "nothing", id);
    }
    /// The id of the reply that says all is well; 0 for anything else.
    [[nodiscard]] static std::uint32_t answered(RawPeer& peer)
    {
        giop::Connection engine(giop::Connection::Role::client);
        const orb_testing::Octets bytes = peer.read_message();
        const MutableBytes space = engine.space();
        if (bytes.empty() || bytes.size() > space.size()) return 0;
        std::ranges::copy(bytes, space.begin());
        engine.received(bytes.size());
        giop::Message message;
        giop::Reply reply;
        const bool understood = engine.next(message) == giop::Connection::Event::message &&
                                giop::parse(message, reply) == cdr::Fault::none &&
                                reply.status == giop::ReplyStatus::no_exception;
        return understood ? reply.request_id : 0;
    }

    const Peer server_{
        Arguments{OMNIORB_SERVER, "-ORBendPoint", "giop:tcp:127.0.0.1:", "-ORBtraceLevel", "0"}};
    orb_testing::Octets key_;
    std::uint16_t port_ = 0;
};

/// Of GIOP 1.2, that is: within 1.0 and 1.1 omniORB closes the connection that a cancel comes by,
/// and it waits for what a request lacks that is cancelled half sent: our clients close instead.
TEST_F(OmniOrbControl, CancelsAreHeardAndTheConnectionGoesOn)
{
    RawPeer peer = connect();
    peer.send(call(1).finish());
    EXPECT_EQ(answered(peer), 1u);
    peer.send(giop::cancel_request(giop::version_1_2, 1)); // too late
    peer.send(call(2).finish());
    EXPECT_EQ(answered(peer), 2u);
    peer.send(giop::cancel_request(giop::version_1_2, 99)); // never asked
    peer.send(call(3).finish());
    EXPECT_EQ(answered(peer), 3u);
}

} // namespace

#endif
