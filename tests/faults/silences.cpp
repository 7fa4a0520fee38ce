// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/silences.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <iterator>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace kairos::net::testing {
namespace {

/// A Socket closes any descriptor.
using Descriptor = Socket;

/// One way through a carrier.
class SilentStream {
  public:
    SilentStream(Socket& source, Socket& sink, std::uint64_t silent_at) noexcept
        : source_(source), sink_(sink), silent_at_(silent_at)
    {
    }

    [[nodiscard]] bool wants_to_read() const noexcept { return !has_ended_ && pending_ == 0; }
    [[nodiscard]] bool wants_to_write() const noexcept { return pending_ != 0; }
    [[nodiscard]] bool is_over() const noexcept { return has_ended_ && pending_ == 0; }
    [[nodiscard]] bool is_silent(bool stopped) const noexcept
    {
        return !stopped && carried_ >= silent_at_;
    }

    /// As far as it goes without waiting. False: the connection has broken.
    bool read(bool stopped) noexcept;
    bool write() noexcept;

  private:
    static constexpr std::size_t descriptors_max = 4;

    void take_descriptors(msghdr& message);

    Socket& source_;
    Socket& sink_;
    const std::uint64_t silent_at_;
    std::uint64_t carried_ = 0;
    std::array<std::byte, 8192> octets_;
    std::size_t begin_ = 0;
    std::size_t pending_ = 0;
    std::vector<Descriptor> descriptors_; ///< go with the next octet
    bool has_ended_ = false;              ///< the source
};

bool SilentStream::read(bool stopped) noexcept
{
    const std::uint64_t left = stopped ? octets_.size() : silent_at_ - carried_;
    iovec segment{octets_.data(), static_cast<std::size_t>(std::min<std::uint64_t>(
                                      octets_.size(), std::max<std::uint64_t>(left, 1)))};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(descriptors_max * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &segment;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count =
        ::recvmsg(source_.descriptor(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    take_descriptors(message);
    begin_ = 0;
    pending_ = static_cast<std::size_t>(count);
    has_ended_ = count == 0;
    if (has_ended_) sink_.shutdown_write();
    return true;
}

void SilentStream::take_descriptors(msghdr& message)
{
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
            descriptors_.emplace_back(descriptor);
        }
    }
}

bool SilentStream::write() noexcept
{
    iovec segment{octets_.data() + begin_, pending_};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(descriptors_max * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &segment;
    message.msg_iovlen = 1;
    if (!descriptors_.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors_.size() * sizeof(int));
        cmsghdr* const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors_.size() * sizeof(int));
        for (std::size_t i = 0; i < descriptors_.size(); ++i) {
            const int descriptor = descriptors_[i].descriptor();
            std::memcpy(CMSG_DATA(part) + i * sizeof(int), &descriptor, sizeof descriptor);
        }
    }
    const ssize_t count = ::sendmsg(sink_.descriptor(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    descriptors_.clear();
    begin_ += static_cast<std::size_t>(count);
    pending_ -= static_cast<std::size_t>(count);
    carried_ += static_cast<std::uint64_t>(count);
    return true;
}

/// Two sockets that are connected with each other: with the options, and without. Not by listen()
/// and connect(), which are what fails here.
std::optional<std::pair<Socket, Socket>> connected_pair(Address::Family family,
                                                        const SocketOptions& options)
{
    if (family != Address::Family::ipv4 && family != Address::Family::ipv6) {
        int descriptors[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) != 0) return {};
        std::pair pair{Socket(descriptors[0]), Socket(descriptors[1])};
        if (!apply_options(pair.first, options, family)) return {};
        return pair;
    }
    const Address any =
        family == Address::Family::ipv4 ? Address::loopback_ipv4() : Address::loopback_ipv6();
    const auto make = [&any] {
        return Socket(::socket(any.native_family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    };
    const Socket listener = make();
    Socket near = make();
    // Small queues, so that they are soon full.
    if (!apply_options(listener, {.receive_queue_bytes = 8192}, family) ||
        !apply_options(near, options, family) ||
        ::bind(listener.descriptor(), any.native(), any.native_size()) != 0 ||
        ::listen(listener.descriptor(), 1) != 0)
        return {};
    const auto address = listener.local_address();
    if (!address || ::connect(near.descriptor(), address->native(), address->native_size()) != 0)
        return {};
    Socket other(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!other.is_open()) return {};
    return std::pair(std::move(near), std::move(other));
}

} // namespace

/// One connection: between its near and its far socket.
class Silences::Carrier {
  public:
    Carrier(Socket near, Socket far, Place place)
        : near_(std::move(near)), far_(std::move(far)), to_server_(near_, far_, place.to_server),
          to_client_(far_, near_, place.to_client)
    {
    }

    /// Whether it is carried no more; told once when that begins.
    [[nodiscard]] bool is_silent() const noexcept { return is_silent_; }
    [[nodiscard]] bool falls_silent(bool stopped) noexcept
    {
        if (is_silent_ || !(to_server_.is_silent(stopped) || to_client_.is_silent(stopped)))
            return false;
        return is_silent_ = true;
    }
    void fill(pollfd* entries) const
    {
        fill(entries[0], near_, to_server_, to_client_);
        fill(entries[1], far_, to_client_, to_server_);
    }
    /// False when it has ended.
    [[nodiscard]] bool go_on(const pollfd* entries, bool stopped)
    {
        if (!go_on(entries[0].revents, to_server_, to_client_, stopped) ||
            !go_on(entries[1].revents, to_client_, to_server_, stopped)) {
            reset();
            return false;
        }
        return !to_server_.is_over() || !to_client_.is_over();
    }

  private:
    /// Who is waited for in vain is not waited for: that it has gone is heard when it matters.
    static void fill(pollfd& entry, const Socket& socket, const SilentStream& incoming,
                     const SilentStream& outgoing)
    {
        entry.events = static_cast<short>((incoming.wants_to_read() ? POLLIN : 0) |
                                          (outgoing.wants_to_write() ? POLLOUT : 0));
        entry.fd = entry.events != 0 ? socket.descriptor() : -1;
        entry.revents = 0;
    }
    [[nodiscard]] static bool go_on(short events, SilentStream& incoming, SilentStream& outgoing,
                                    bool stopped)
    {
        if (events == 0) return true;
        const bool has_gone = (events & (POLLERR | POLLHUP)) != 0;
        const bool reads = incoming.wants_to_read() && ((events & POLLIN) != 0 || has_gone);
        const bool writes = outgoing.wants_to_write() && ((events & POLLOUT) != 0 || has_gone);
        return (!reads || incoming.read(stopped)) && (!writes || outgoing.write());
    }
    /// As a peer that breaks off.
    void reset()
    {
        constexpr linger at_once{.l_onoff = 1, .l_linger = 0};
        for (const Socket* socket : {&near_, &far_})
            (void)::setsockopt(socket->descriptor(), SOL_SOCKET, SO_LINGER, &at_once,
                               sizeof at_once);
    }

    Socket near_;
    Socket far_;
    SilentStream to_server_;
    SilentStream to_client_;
    bool is_silent_ = false;
};

Silences::Silences(const std::atomic<bool>& stopped, std::atomic<std::uint64_t>& count) noexcept
    : stopped_(stopped), count_(count)
{
}

Silences::~Silences() { end(); }

void Silences::come_between(Socket& socket, const SocketOptions& options, Place place)
{
    const auto address = socket.local_address();
    if (!address) return;
    auto pair = connected_pair(address->family(), options);
    if (!pair) return;
    add(std::make_unique<Carrier>(std::move(pair->second),
                                  std::exchange(socket, std::move(pair->first)), place));
}

void Silences::add(std::unique_ptr<Carrier> carrier)
{
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    added_.push_back(std::move(carrier));
    if (thread_.joinable()) return waker_->wake();
    auto waker = Waker::create();
    if (!waker) return added_.clear();
    waker_.emplace(std::move(waker).value());
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    thread_ = std::thread([this] { carry(); });
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

void Silences::end() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        if (waker_) waker_->wake();
    }
    if (thread_.joinable()) thread_.join();
    added_.clear();
}

void Silences::carry()
{
    std::vector<std::unique_ptr<Carrier>> carriers;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            waker_->clear();
            if (ended_) return;
            std::ranges::move(added_, std::back_inserter(carriers));
            added_.clear();
        }
        wait(carriers);
    }
}

/// Waits for any of them, or the waker, and goes on with those that can.
void Silences::wait(std::vector<std::unique_ptr<Carrier>>& carriers)
{
    for (const auto& carrier : carriers)
        if (carrier->falls_silent(stopped_)) ++count_;
    // Those that are silent are at the end, and stay there.
    const auto silent =
        std::ranges::partition(carriers, [](const auto& each) { return !each->is_silent(); });
    const std::size_t count = carriers.size() - silent.size();
    std::vector<pollfd> entries(1 + 2 * count);
    entries[0] = {waker_->descriptor(), POLLIN, 0};
    for (std::size_t i = 0; i < count; ++i)
        carriers[i]->fill(&entries[1 + 2 * i]);
    if (::poll(entries.data(), entries.size(), -1) <= 0) return;
    for (std::size_t i = 0; i < count; ++i)
        if (!carriers[i]->go_on(&entries[1 + 2 * i], stopped_)) carriers[i].reset();
    std::erase(carriers, nullptr);
}

} // namespace kairos::net::testing
