// SPDX-License-Identifier: Apache-2.0
//
// Oneways with SYNC_NONE over a connection that has a thread: they wait for it in a queue of
// octets.
#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/client/shared_connection.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <utility>

namespace kairos::orb {

SharedConnection::Outcome SharedConnection::post(Bytes header, const cdr::Writer& body,
                                                 bool has_contexts)
{
    const Options& options = orb_.options();
    Lock lock(mutex_);
    if (ended_) return Outcome::not_executed;
    const std::size_t left =
        options.oneways_unsent_max - std::min(options.oneways_unsent_max, posted_size());
    if (posted_size() != 0 && header.size() + body.size() > left) return Outcome::no_room;
    posted_.keep_message(header, body, options.fragment_size);
    if (posted_.broken()) { // a part of it may be there: nothing can be sent behind that
        fail_sending();
        return Outcome::no_memory;
    }
    ++posted_count_;
    if (has_contexts) session_.note_contexts_sent();
    last_use_ = coarse_now();
    if (!thread_knows_) call_thread(lock);
    return Outcome::ok;
}

/// Before the calls that wait, once: who posts without end does not keep them from being sent.
void SharedConnection::take_posted() noexcept
{
    assert_held(mutex_);
    output_ = std::exchange(posted_, OutputQueue());
    posted_queued_ = output_.size();
    posted_taken_ = posted_count_;
    output_is_empty_ = false;
}

void SharedConnection::lose_posted() noexcept
{
    assert_held(mutex_);
    if (posted_size() == 0) return;
    log::warning("oneways that their peers did not take are lost");
    posted_ = OutputQueue();
    posted_queued_ = 0;
}

} // namespace kairos::orb
