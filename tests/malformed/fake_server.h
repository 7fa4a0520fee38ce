// SPDX-License-Identifier: Apache-2.0
//
// A server that is a script: it accepts connections, reads requests and answers with the bytes of
// the test, in a thread of its own. What it was asked is counted; the test ends it before looking.
#pragma once

#include "tests/malformed/fixture.h"

#include "kairos/giop/control.h"
#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"
#include "kairos/net/acceptor.h"

namespace kairos::orb_testing {

/// A request as the script sees it.
struct ReceivedRequest {
    Octets bytes;
    giop::Message message;
    giop::Request request;
    [[nodiscard]] std::uint32_t id() const { return request.request_id; }
};

[[nodiscard]] inline ior::TaggedProfile
profile_at(std::uint16_t port, std::string_view key = "fake", ior::IiopVersion version = {1, 2})
{
    const Bytes octets = as_bytes(key);
    return ior::encode_iiop({.version = version,
                             .host = "127.0.0.1",
                             .port = port,
                             .object_key = {octets.begin(), octets.end()},
                             .components = {}});
}

[[nodiscard]] inline ior::Ior reference_of(std::vector<ior::TaggedProfile> profiles)
{
    return {.type_id = Probe::Target::_kairos_id, .profiles = std::move(profiles)};
}

/// A port of this machine on which nobody listens.
[[nodiscard]] inline std::uint16_t dead_port()
{
    // Bound but not listening: it stays ours, and refuses.
    static const net::Socket reserved = [] {
        net::Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const net::Address any = net::Address::loopback_ipv4();
        (void)::bind(socket.descriptor(), any.native(), any.native_size());
        return socket;
    }();
    return reserved.local_address()->port();
}

constexpr const char* not_sent = "TIMEOUT 0x4b52000f NO";
constexpr const char* no_reply = "TIMEOUT 0x4b520010 MAYBE";

/// What a call with a time limit ends with that was sent in its time: on a busy machine not every
/// one is, and then nothing has happened.
template <typename Call>
std::string outcome_once_sent(Call call)
{
    std::string how = not_sent;
    while (how == not_sent)
        how = outcome(call);
    return how;
}

/// The id in a CancelRequest; nothing for what is none.
[[nodiscard]] inline std::optional<std::uint32_t> cancelled_by(Octets& bytes)
{
    giop::Message message;
    giop::CancelRequest cancel;
    if (bytes.empty() || giop::message_of(bytes, message) != giop::Fault::none ||
        message.type != giop::MessageType::cancel_request)
        return std::nullopt;
    EXPECT_EQ(giop::parse(message, cancel), cdr::Fault::none);
    return cancel.request_id;
}

class FakeServer {
  public:
    /// A connection to the client under test.
    class Peer : public RawPeer {
      public:
        Peer(net::Socket socket, FakeServer& server) : RawPeer(std::move(socket)), server_(server)
        {
        }
        /// The next Request, or one without bytes when the client closed. A CancelRequest before it
        /// is noted.
        [[nodiscard]] ReceivedRequest read_request()
        {
            ReceivedRequest received;
            received.bytes = read_message();
            while (std::optional<std::uint32_t> id = cancelled_by(received.bytes)) {
                server_.cancelled_ = *id;
                received.bytes = read_message();
            }
            if (received.bytes.empty()) return received;
            ++server_.requests_;
            EXPECT_EQ(giop::message_of(received.bytes, received.message), giop::Fault::none);
            EXPECT_EQ(giop::parse(received.message, received.request), cdr::Fault::none);
            return received;
        }
        /// Reads a request and answers it as a server would.
        void serve_one()
        {
            const ReceivedRequest request = read_request();
            if (!request.bytes.empty()) send(reply(request.id(), 0).finish());
        }
        /// Serves until the client closes.
        void serve_all()
        {
            serve_all_with([](std::uint32_t id) { return reply(id, 0).finish(); });
        }
        /// The same, with what `answer` says of a request's id.
        template <typename Answer>
        void serve_all_with(Answer answer)
        {
            for (;;) {
                const ReceivedRequest request = read_request();
                if (request.bytes.empty()) return;
                send(answer(request.id()));
            }
        }

      private:
        FakeServer& server_;
    };
    using Script = std::function<void(FakeServer&)>;

    explicit FakeServer(Script script)
        : acceptor_(open()), thread_([this, script = std::move(script)] {
              try {
                  script(*this);
              } catch (NobodyComes) {
              } catch (const std::exception& exception) {
                  ADD_FAILURE() << "the script ended with " << exception.what();
              }
          })
    {
    }
    ~FakeServer() { end(); }
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    /// For the script: the next connection. When the test waits for the end of the script and there
    /// is none, the script ends: whose time was over before it had connected does not come any
    /// more.
    [[nodiscard]] Peer accept()
    {
        auto accepted = acceptor_.accept();
        if (accepted.status != net::Acceptor::Status::accepted)
            throw std::runtime_error("nobody connected");
        if (accepted.peer.port() == last_port_) throw NobodyComes{};
        ++connections_;
        return {std::move(accepted.socket), *this};
    }
    /// For the test: waits for the end of the script. Whatever it waits for must have happened.
    void end()
    {
        if (!thread_.joinable()) return;
        // Behind all who have connected.
        const net::Socket last(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const net::Address any = net::Address::loopback_ipv4();
        if (::bind(last.descriptor(), any.native(), any.native_size()) == 0) {
            last_port_ = last.local_address()->port();
            const net::Address& to = acceptor_.address();
            (void)::connect(last.descriptor(), to.native(), to.native_size());
        }
        thread_.join();
    }

    [[nodiscard]] std::uint16_t port() const { return acceptor_.address().port(); }
    [[nodiscard]] std::string reference() const
    {
        return ior::to_string(reference_of({profile_at(port())}));
    }
    [[nodiscard]] int connections() const { return connections_; }
    [[nodiscard]] int requests() const { return requests_; }
    /// Whose id the last CancelRequest that came before a Request had; 0 if there was none.
    [[nodiscard]] std::uint32_t cancelled() const { return cancelled_; }

  private:
    struct NobodyComes {};

    static net::Acceptor open()
    {
        auto acceptor = net::Acceptor::open(net::Address::loopback_ipv4());
        if (!acceptor) throw std::runtime_error(acceptor.error().reason);
        return std::move(acceptor).value();
    }

    net::Acceptor acceptor_;
    std::atomic<int> connections_{0};
    std::atomic<int> requests_{0};
    std::atomic<std::uint32_t> cancelled_{0};
    std::atomic<std::uint16_t> last_port_{0}; // of who says that nobody comes any more
    std::thread thread_;                      // last: uses the others
};

/// The body of a LOCATION_FORWARD.
[[nodiscard]] inline Octets forward(std::uint32_t request_id, const ior::Ior& target,
                                    std::uint32_t status = 3)
{
    WireMessage message = reply(request_id, status);
    message.string(target.type_id).u32(static_cast<std::uint32_t>(target.profiles.size()));
    for (const ior::TaggedProfile& profile : target.profiles)
        message.u32(profile.tag).octets(profile.data);
    return message.finish();
}

[[nodiscard]] inline Octets system_exception(std::uint32_t request_id, std::string_view id,
                                             std::uint32_t minor, std::uint32_t completion)
{
    return reply(request_id, 2).string(id).u32(minor).u32(completion).finish();
}

} // namespace kairos::orb_testing
