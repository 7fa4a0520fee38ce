// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/lane_readers.h"

#include "kairos/server/handover.h"

#include <algorithm>
#include <new>
#include <utility>

namespace kairos::orb {

Result<std::unique_ptr<LaneReaders>> LaneReaders::create()
{
    auto poller = net::SharedPoller::create();
    if (!poller) return poller.error();
    auto unread = net::SharedPoller::create();
    if (!unread) return unread.error();
    auto waker = net::Waker::create();
    if (!waker) return waker.error();
    std::unique_ptr<LaneReaders> readers(new LaneReaders(
        std::move(poller).value(), std::move(unread).value(), std::move(waker).value()));
    const auto added = readers->poller_->add_for_each(readers->waker_.descriptor(), nullptr);
    if (!added) return added.error();
    const auto told =
        readers->unread_->add(readers->poller_->descriptor(), net::Interest::none, readers.get());
    if (!told) return told.error();
    return readers;
}

bool LaneReaders::lend(HandoverConnection& connection) noexcept
{
    try {
        auto place = std::ranges::find(places_, Place::State::free, &Place::state);
        if (place == places_.end()) place = places_.emplace(places_.end());
        place->connection = &connection;
        place->state = Place::State::watched;
        ++lent_;
        if (poller_->add_for_each(connection.descriptor(), &*place).ok()) return true;
        --lent_;
        place->state = Place::State::free;
        place->connection = nullptr;
    } catch (const std::bad_alloc&) { // the server goes on reading it
    }
    return false;
}

bool LaneReaders::begin_to_read(Place& place) noexcept
{
    if (place.state == Place::State::read) place.state = Place::State::again;
    if (place.state != Place::State::watched) return false;
    place.state = Place::State::read;
    ++read_;
    return true;
}

bool LaneReaders::end_reading(Place& place, bool stays) noexcept
{
    if (stays && place.state == Place::State::again) {
        place.state = Place::State::read;
        return false;
    }
    --read_;
    stays = stays && place.state == Place::State::read;
    place.state = Place::State::watched;
    if (!stays) send_back(place);
    return true;
}

void LaneReaders::recall(HandoverConnection& connection) noexcept
{
    for (Place& place : places_) {
        if (place.connection != &connection) continue;
        if (place.state == Place::State::watched) return send_back(place);
        place.state = Place::State::recalled;
        return;
    }
}

void LaneReaders::recall_all() noexcept
{
    if (lent_ == 0) return;
    for (Place& place : places_) {
        if (place.state == Place::State::watched)
            send_back(place);
        else if (place.state != Place::State::free)
            place.state = Place::State::recalled;
    }
}

/// A wake-up that is found here is lost, and missed by nobody: whoever comes to wait looks
/// at the queue first.
void LaneReaders::recall_unread() noexcept
{
    (void)unread_->look();
    tells_ = false;
    if (any_idle_) return;
    while (auto* const place = static_cast<Place*>(poller_->look().token))
        if (place->state == Place::State::watched) send_back(*place);
    note_idle(false);
}

void LaneReaders::tell_server(bool tells) noexcept
{
    if (tells == tells_) return;
    tells_ = tells;
    (void)unread_->watch(poller_->descriptor(),
                         tells ? net::Interest::readable : net::Interest::none, this);
}

void LaneReaders::send_back(Place& place) noexcept
{
    poller_->remove(place.connection->descriptor());
    --lent_;
    place.state = Place::State::free;
    std::exchange(place.connection, nullptr)->come_back();
}

} // namespace kairos::orb
