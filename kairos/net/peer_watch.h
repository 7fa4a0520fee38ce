// SPDX-License-Identifier: Apache-2.0
//
// Notices at once when the peers of sockets end that nobody reads: a thread that waits for nothing
// else. There is one in the process, made for the first such socket and gone with the last.
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/forks.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace kairos::net {

class PeerWatch {
  public:
    class Watched {
      public:
        /// Called when the peer has closed or sends no more, by the watch's thread under its lock:
        /// short.
        virtual void note_end() noexcept = 0;

      protected:
        ~Watched() = default;
    };

    /// The watch of the process. Whoever has sockets watched keeps it.
    [[nodiscard]] static Result<std::shared_ptr<PeerWatch>> get();
    PeerWatch(const PeerWatch&) = delete;
    PeerWatch& operator=(const PeerWatch&) = delete;
    ~PeerWatch();

    [[nodiscard]] Result<void> add(int descriptor, Watched& watched);
    /// Whether this is the process that the watch was made in. In a child its thread is not there,
    /// and what the system knows of the sockets is the parent's.
    [[nodiscard]] bool is_of_here() const noexcept { return made_.here(); }
    /// Ends the watching of a descriptor, before that is closed. Afterwards `watched` is not called
    /// any more.
    void remove(int descriptor) noexcept;

  private:
    PeerWatch(int epoll, Waker waker) : epoll_(epoll), waker_(std::move(waker)) {}
    void run() noexcept;
    void note(int descriptor) noexcept;

    const int epoll_;
    Waker waker_;      // woken once: the thread is to end
    std::mutex mutex_; // guards what follows; note_end is called under it
    std::unordered_map<int, Watched*> watched_;
    Thread thread_;
    MadeHere made_;
};

} // namespace kairos::net
