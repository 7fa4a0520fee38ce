// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/upcalls.h"

#include "kairos/base/log.h"
#include "kairos/datagrams/datagrams.h"
#include "kairos/net/address.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <cstdint>
#include <new>
#include <optional>
#include <poll.h>

namespace kairos::datagrams {

namespace {

// Of all ORBs. Any thread.
std::atomic<std::uint64_t> requests_served{0};
std::atomic<std::uint64_t> datagrams_dropped{0};
std::atomic<std::uint64_t> packets_repeated{0};

/// The way of an answer that nobody waits for. Who has sent the request is somebody in the network,
/// and nobody knows who: what a datagram says of that proves nothing.
class Sender final : public orb::ReplyChannel {
  public:
    void send(Bytes, const cdr::Writer&) noexcept override {}
    [[nodiscard]] const net::Address* peer_address() const noexcept override { return &nowhere_; }

  private:
    const net::Address nowhere_ = net::Address::from_native(nullptr, 0);
};

} // namespace

Figures figures() noexcept
{
    return {.requests = requests_served.load(),
            .dropped = datagrams_dropped.load(),
            .repeated = packets_repeated.load()};
}

Upcalls::Upcalls(orb::Orb& orb, net::Waker& waker, const std::atomic<bool>& ends)
    : orb_(orb), waker_(waker), ends_(ends),
      memory_(orb::ThreadStorage::await_current().upcall_memory.take())
{
}

Upcalls::~Upcalls() = default;

void Upcalls::serve(const giop::Request& request)
{
    Sender sender;
    // Nothing that was agreed on lasts from one datagram to the next.
    std::optional<orb::CodeSetContext> announced;
    if (request.version.minor != 0)
        request.contexts.for_each([&](std::uint32_t id, Bytes data) {
            if (id == orb::code_sets_context_id) announced = orb::decode_code_set_context(data);
        });
    const cdr::TextForm*& usual = usual_texts_[request.version.minor];
    if (usual == nullptr) usual = orb_.code_sets().form_of(request.version.minor, std::nullopt);
    const cdr::TextForm* const text =
        announced ? orb_.code_sets().form_of(request.version.minor, announced) : usual;
    while (orb::dispatch(orb_, request, text, sender, *memory_) == orb::Served::held) {
        if (!sender.hold.tell(waker_)) throw std::bad_alloc();
        while (!is_ending() && !sender.hold.may_go_on()) {
            pollfd polled{.fd = waker_.descriptor(), .events = POLLIN, .revents = 0};
            (void)::poll(&polled, 1, -1);
            waker_.clear();
        }
        if (is_ending()) return;
    }
    requests_served.fetch_add(1);
}

void drop(std::string_view place, const net::Address* from, std::string_view why) noexcept
{
    datagrams_dropped.fetch_add(1);
    log::Line line;
    line << "a datagram to " << place;
    try {
        if (from != nullptr) line << " from " << from->to_text();
    } catch (const std::bad_alloc&) { // then it is not said
    }
    log::write_limited(log::Level::warning, from != nullptr ? from->host_number() : 0,
                       line << " was dropped: " << why);
}

void count_repeated() noexcept { packets_repeated.fetch_add(1); }

} // namespace kairos::datagrams
