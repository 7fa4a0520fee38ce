// SPDX-License-Identifier: Apache-2.0
//
// Where a reply lies that does not stay in the receive buffer of a connection of the caller's own:
// of a call within the process, or over a connection that threads share. Belongs to the call; while
// that waits, whoever reads the shared connection fills it.
#pragma once

#include "kairos/base/limits.h"
#include "kairos/giop/connection.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall.h"

#include <optional>

namespace kairos::orb {

class ReplyMemory {
  public:
    explicit ReplyMemory(ThreadStorage& storage)
        : storage_(storage), memory_(storage.upcall_memory.take())
    {
    }
    ~ReplyMemory()
    {
        if (memory_->reply.capacity() > limits::receive_buffer_kept) memory_->reply.clear();
        storage_.upcall_memory.give_back(std::move(memory_));
    }
    ReplyMemory(const ReplyMemory&) = delete;
    ReplyMemory& operator=(const ReplyMemory&) = delete;

    /// Takes a message over from `connection`, which has just handed it out: copies it or, if it is
    /// large, takes the memory that it is in. Throws std::bad_alloc.
    void take(const giop::Message& message, giop::Connection& connection);
    /// Returns the message that was taken last.
    [[nodiscard]] const giop::Message& taken() const noexcept { return taken_; }

  protected:
    ThreadStorage& storage_;
    std::unique_ptr<UpcallMemory> memory_;

  private:
    giop::Message taken_;
    std::optional<giop::Connection::Kept> kept_; // what a large message is in
};

} // namespace kairos::orb
