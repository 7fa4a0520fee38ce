// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/probe.h"

#include "kairos/giop/connection.h"
#include "kairos/giop/locate.h"
#include "kairos/giop/request.h"
#include "kairos/ior/profile.h"
#include "kairos/net/connector.h"
#include "kairos/net/resolver.h"

#include <optional>
#include <span>
#include <vector>

namespace kairos::nameserver {
namespace {

constexpr int forwards_max = 4;
/// A LocateReply holds a reference at most.
constexpr std::size_t reply_size_max = std::size_t{1} << 20;

/// What a server said. Its body, for a forward, as a reference.
struct Answer {
    giop::LocateStatus status = giop::LocateStatus::unknown_object;
    ior::Ior forward;
};

bool is_forward(giop::LocateStatus status)
{
    return status == giop::LocateStatus::object_forward ||
           status == giop::LocateStatus::object_forward_perm;
}

std::optional<Answer> read_answer(net::Socket& socket, Deadline deadline)
{
    giop::Connection connection(giop::Connection::Role::client, reply_size_max);
    for (;;) {
        giop::Message message;
        const giop::Connection::Event event = connection.next(message);
        if (event == giop::Connection::Event::message) {
            giop::LocateReply reply;
            Answer answer;
            if (giop::parse(message, reply) != cdr::Fault::none) return std::nullopt;
            answer.status = reply.status;
            if (is_forward(reply.status) && !ior::decode(reply.body, answer.forward))
                return std::nullopt;
            return answer;
        }
        if (event != giop::Connection::Event::need_bytes) return std::nullopt;
        if (!socket.wait_readable(deadline.left()).ok()) return std::nullopt;
        const net::IoResult got = socket.read(connection.space(), net::ReadFlags::do_not_wait);
        if (got.status == net::IoResult::Status::would_block) continue;
        if (!got.ok()) return std::nullopt;
        connection.received(got.bytes);
    }
}

std::optional<Answer> ask(const ior::Target& target, Deadline deadline)
{
    const auto addresses = net::resolve(target.address.host, target.address.port, deadline);
    if (!addresses) return std::nullopt;
    auto socket = net::connect_any(*addresses, {}, deadline.left());
    if (!socket) return std::nullopt;
    const giop::RequestTemplate request({target.version().major, target.version().minor},
                                        target.object_key());
    std::vector<std::byte> message(request.locate_size());
    const auto question = request.locate(message, 1);
    iovec segment{.iov_base = question.data(), .iov_len = question.size()};
    if (!socket->write_all(std::span(&segment, 1), deadline).ok()) return std::nullopt;
    return read_answer(*socket, deadline);
}

} // namespace

Liveness probe(const ior::Ior& reference, std::chrono::nanoseconds timeout)
{
    const Deadline deadline = Deadline::after(timeout);
    ior::Ior asked = reference;
    for (int forwards = 0; forwards <= forwards_max; ++forwards) {
        const std::vector<ior::Target> targets = ior::targets(asked);
        if (targets.empty()) return forwards == 0 ? Liveness::not_known : Liveness::dead;
        std::optional<Answer> answer;
        for (auto target = targets.begin();
             !answer && target != targets.end() && !deadline.has_passed(); ++target)
            answer = ask(*target, deadline);
        if (!answer || answer->status == giop::LocateStatus::unknown_object) return Liveness::dead;
        if (!is_forward(answer->status)) return Liveness::alive;
        asked = std::move(answer->forward);
    }
    return Liveness::dead;
}

} // namespace kairos::nameserver
