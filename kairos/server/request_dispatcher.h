// SPDX-License-Identifier: Apache-2.0
//
// Requests served by threads of the program's choice (-ORBConcurrency custom): its own pool, the
// thread of its event loop, a queue that knows what is urgent.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"

#include <memory>
#include <string_view>

namespace kairos::orb {

/// A request that was read and waits to be served. Movable; used by one thread at a time. Dropped
/// unserved, its caller gets TRANSIENT. It may outlive the ORB's end, and does nothing then.
class KAIROS_API WaitingRequest {
  public:
    class Queue;

    WaitingRequest(WaitingRequest&& other) noexcept;
    WaitingRequest& operator=(WaitingRequest&& other) noexcept;
    WaitingRequest(const WaitingRequest&) = delete;
    WaitingRequest& operator=(const WaitingRequest&) = delete;
    ~WaitingRequest();

    /// Returns the operation's name, which lasts as long as this object; empty for a question where
    /// the object is.
    [[nodiscard]] std::string_view operation() const noexcept;
    /// Returns the object key of the target, which lasts as long as this object.
    [[nodiscard]] Bytes object_key() const noexcept;

    /// Calls the servant and answers, in the calling thread; to be called once. A request that a
    /// POAManager holds comes to the dispatcher again when it may go on.
    void serve() noexcept;

  private:
    struct Entry;

    WaitingRequest(std::shared_ptr<Queue> queue, Entry& entry) noexcept;
    void drop() noexcept;

    std::shared_ptr<Queue> queue_; // null when moved from
    Entry* entry_;                 // the queue's, until this gives it back
};

class KAIROS_API RequestDispatcher {
  public:
    RequestDispatcher() = default;
    RequestDispatcher(const RequestDispatcher&) = delete;
    RequestDispatcher& operator=(const RequestDispatcher&) = delete;
    virtual ~RequestDispatcher() = default;

    /// Has the request served, now or later, by this thread or another. Called in the one thread
    /// that reads, or in the one that lets held requests go on: nothing is read while it runs. At
    /// most -ORBQueue requests wait at the same time.
    virtual void dispatch(WaitingRequest request) noexcept = 0;
};

} // namespace kairos::orb
