// SPDX-License-Identifier: Apache-2.0
//
// Answers that are given after their requests were served in place, by whatever thread: the loop's
// own thread sends them.
#include "kairos/server/in_place_server.h"

#include "kairos/server/serving.h"

#include <utility>

namespace kairos::orb {

// --- InPlaceConnection ---------------------------------------------------------------------------

IntrusivePtr<OwedChannel> InPlaceConnection::owe()
{
    if (!owing_) owing_ = std::make_unique<Owing>();
    return IntrusivePtr<OwedChannel>::adopt(
        new PostedAnswer(server_, *this, Serving::of(orb_).account()));
}

void InPlaceConnection::owes_more() noexcept
{
    ++owing_->count;
    server_.note_owed(1);
}

void InPlaceConnection::deliver(const PostedAnswer& answer) noexcept
{
    --owing_->count;
    server_.note_owed(-1);
    if (is_forgotten()) return; // the peer has gone
    try {
        cdr::Buffer buffer;
        answer.pass_on(buffer, [this](Bytes header, const cdr::Writer& body) {
            loop_.note_reply();
            put(header, body);
        });
    } catch (const std::bad_alloc&) {
        log_out_of_memory();
        broken_ = true;
    }
    after_sending();
}

bool InPlaceConnection::become_quiet() noexcept
{
    if (owes()) return false;
    if (owing_ && !owing_->last_words.empty()) put(Bytes(std::exchange(owing_->last_words, {})));
    return true;
}

/// What is sent so is the last: answers that are owed go first.
void InPlaceConnection::send_control(Bytes message) noexcept
{
    if (!owes()) return put(message);
    try {
        owing_->last_words.assign(message.begin(), message.end());
    } catch (const std::bad_alloc&) { // then it ends without a word
    }
}

// --- PostedAnswer --------------------------------------------------------------------------------

void PostedAnswer::over() noexcept { server_.post(*this); }

// --- InPlaceServer -------------------------------------------------------------------------------

void InPlaceServer::post(PostedAnswer& answer) noexcept
{
    posted_.put(answer);
    loop_->wake();
}

void InPlaceServer::on_wake() noexcept
{
    posted_.take(
        [](const BoxedAnswer& answer) { static_cast<const PostedAnswer&>(answer).deliver(); });
}

void InPlaceServer::end_loop() noexcept
{
    if (owes()) loop_->close_when_quiet();
    loop_->close_all();
}

} // namespace kairos::orb
