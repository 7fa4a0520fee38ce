// SPDX-License-Identifier: Apache-2.0
//
// Whoever serves requests that another thread has read: one implementation an architecture. A
// request owns its bytes and its answer's way, so it may be served by any thread at any time.
#pragma once

#include "kairos/base/assert_held.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/buffer.h"
#include "kairos/giop/connection.h"
#include "kairos/giop/locate.h"
#include "kairos/giop/request.h"
#include "kairos/net/address.h"
#include "kairos/net/thread.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/urgency.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::orb {

class HandoverConnection;
struct Options;
class RequestSource;
class RequestStore;

class QueuedRequest;

struct RecycleRequest {
    RequestStore* store = nullptr;
    void operator()(QueuedRequest* request) const noexcept;
};
using QueuedRequestPtr = std::unique_ptr<QueuedRequest, RecycleRequest>;

/// A Request or LocateRequest outside its connection's buffer. Used by one thread at a time.
class QueuedRequest final : public ReplyChannel {
  public:
    ~QueuedRequest();

    /// Becomes a request with a copy of `message`, or with its memory if it is large, whose header
    /// it reads; does not look at the arguments. The connection, which knows how text travels in
    /// it, calls set_text() next. Throws std::bad_alloc.
    [[nodiscard]] cdr::Fault fill(HandoverConnection& connection, const giop::Message& message);
    /// Counts the request as one of its peer's that wait, if there is a limit to these, and its
    /// octets as queued, from here on; returns false if too many are already (account.h).
    [[nodiscard]] bool count() noexcept;
    /// Returns whether it is counted as one of its peer's that wait.
    [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }
    [[nodiscard]] bool is_request() const noexcept
    {
        return message_.type == giop::MessageType::request;
    }
    [[nodiscard]] const giop::Request& request() const noexcept { return request_; }
    void set_text(const cdr::TextForm* text) noexcept { text_ = text; }
    /// Sets how urgent the request is: by its operation's timing, which may be null, and by what
    /// its caller says of its release.
    void order_by(Dispatching dispatching, const OperationTiming* timing) noexcept;
    /// Returns the object key of the target, however GIOP addressed it; it may lie in `arena`.
    [[nodiscard]] Bytes object_key(Arena& arena) const;

    /// Serves the request and answers it. Returns false, with nothing done, if the adapter holds it
    /// or its peer does not take its replies.
    [[nodiscard]] bool serve(UpcallMemory& memory) noexcept;
    /// Returns, after serve() has returned false, whether calling it again may help.
    [[nodiscard]] bool may_go_on() const noexcept;
    /// Answers with this exception instead of serving the request; a LocateRequest is answered as
    /// usual.
    void refuse(const CORBA::SystemException& exception, UpcallMemory& memory) noexcept;
    /// Answers with TRANSIENT instead of serving the request: nobody serves it for the time being.
    /// A LocateRequest is answered as usual.
    void refuse_for_now(UpcallMemory& memory) noexcept;

    void send(Bytes header, const cdr::Writer& body) noexcept override;
    [[nodiscard]] const net::Address* peer_address() const noexcept override { return &peer(); }
    [[nodiscard]] const net::Channel* peer_channel() const noexcept override;
    [[nodiscard]] IntrusivePtr<OwedChannel> owe() override;

    /// What the request is counted as.
    struct Counts {
        std::size_t octets = 0;
        bool is_queued = false;    ///< in the account, with these octets
        bool is_under_way = false; ///< by its connection
    };
    /// Leaves what is counted to the caller.
    [[nodiscard]] Counts give_counts() noexcept;

    /// Returns a pointer that owns the request, to be called when whoever owned it before has let
    /// it go.
    [[nodiscard]] QueuedRequestPtr take_ownership() noexcept
    {
        return {this, RecycleRequest{store_}};
    }

    [[nodiscard]] const net::Address& peer() const noexcept;
    /// Returns where the request came from.
    [[nodiscard]] RequestSource& source() const noexcept;
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_.bytes.size(); }
    /// Hears once when the request was answered or dropped.
    class Watcher {
      public:
        virtual void on_done() noexcept = 0;

      protected:
        ~Watcher() = default;
    };
    Watcher* watcher = nullptr;
    std::size_t pool = 0; ///< which is to serve the request, where there are several
    /// The threads that are to serve the request, and their priority, if its object's adapter has
    /// some of its own.
    Adapter::OwnThreads own_threads{};
    bool counted = false; ///< whether its connection counts it as under way
    Urgency urgency{};    ///< where requests are ordered; set by order_by

  private:
    void end_waiting() noexcept;

    friend class FairQueue;
    friend class RequestList;
    friend class RequestQueue;
    friend class RequestStore;

    IntrusivePtr<HandoverConnection> connection_;
    cdr::Buffer bytes_;
    std::optional<giop::Connection::Kept> kept_; // where a large message is instead
    bool is_queued_ = false;                     // in the account
    bool is_waiting_ = false;                    // likewise, as one of its peer's
    std::vector<std::uint32_t> part_begins_;
    giop::Message message_;
    giop::Request request_;
    giop::LocateRequest locate_;
    const cdr::TextForm* text_ = nullptr;
    bool waits_for_peer_ = false;
    std::chrono::steady_clock::time_point arrived_; // when it was read
    QueuedRequest* next_ = nullptr;                 // in a list
    // In a fair queue: whether it has its connection's turn there, and then those of other
    // connections in the same place, the next one of its own, and the last if there are several.
    bool has_turn_ = false;
    QueuedRequest* beside_ = nullptr;
    QueuedRequest* next_of_connection_ = nullptr;
    QueuedRequest* last_of_connection_ = nullptr;
    // In an ordered queue: those behind it, and how near they end.
    QueuedRequest* behind_left_ = nullptr;
    QueuedRequest* behind_right_ = nullptr;
    int rank_ = 0;
    RequestStore* store_ = nullptr; // where it goes when it is done
};

/// The QueuedRequests that are not in use, kept for the next ones. Any thread.
class RequestStore {
  public:
    /// Makes a store that keeps at most `spares_max` requests that are not in use.
    explicit RequestStore(std::size_t spares_max) noexcept : spares_max_(spares_max) {}
    RequestStore(const RequestStore&) = delete;
    RequestStore& operator=(const RequestStore&) = delete;

    /// Returns a request that is not in use, or a new one. Throws std::bad_alloc.
    [[nodiscard]] QueuedRequestPtr take();

  private:
    friend struct RecycleRequest;
    void give_back(QueuedRequest* request) noexcept;

    const std::size_t spares_max_;
    std::mutex mutex_; // guards spares_; inside those of dispatchers and thread pools
    std::vector<std::unique_ptr<QueuedRequest>> spares_;
};

/// Requests in the order in which they are to be served, linked through themselves: takes no
/// memory. Guarded by whoever has it.
class RequestList {
  public:
    RequestList() = default;
    RequestList(const RequestList&) = delete;
    RequestList& operator=(const RequestList&) = delete;
    ~RequestList() { clear(); }

    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    void push_back(QueuedRequestPtr request) noexcept;
    [[nodiscard]] QueuedRequestPtr pop_front() noexcept;
    /// Drops all requests when the server ends. CloseConnection tells the peers that these were not
    /// executed, where it is the last message; but on a connection of which other requests are
    /// still being served, their servants may be waiting for a caller of these: there each is
    /// answered with TRANSIENT. To be called without locks, for it tells others.
    void discard() noexcept;
    /// Moves all requests of `earlier` in front of those that are here.
    void put_in_front(RequestList& earlier) noexcept;
    void clear() noexcept;

  private:
    QueuedRequest* first_ = nullptr;
    QueuedRequest* last_ = nullptr;
    std::size_t size_ = 0;
};

/// Requests that QueuedRequest::serve could not serve, until somebody says that they may be tried
/// again. Guarded by whoever has it.
class HeldRequests {
  public:
    /// Keeps a request that could not be served; returns false, and leaves it where it is, if it
    /// may be tried again at once.
    [[nodiscard]] bool add(QueuedRequestPtr& request) noexcept;
    [[nodiscard]] RequestList& list() noexcept { return held_; }
    [[nodiscard]] bool empty() const noexcept { return held_.empty(); }

  private:
    RequestList held_;
};

/// Drops a request that could not be served when the server ends, as RequestList::discard does.
/// `lock` is held before and afterwards, but not meanwhile.
template <typename Lock>
void discard(QueuedRequestPtr request, Lock& lock) noexcept
{
    assert_held(*lock.mutex());
    RequestList discarded;
    discarded.push_back(std::move(request));
    lock.unlock();
    discarded.discard();
    lock.lock();
}

/// Where a dispatcher's requests come from.
class RequestSource {
  public:
    /// Notes that what a full dispatcher did not take may be offered again. Any thread.
    virtual void on_space() noexcept = 0;

    /// Its place among those that wait for octets in the account, which guards it (account.h).
    struct Waiting {
        bool waits = false;
        RequestSource* next = nullptr;
    };
    Waiting waiting{};

  protected:
    ~RequestSource() = default;
};

/// Returns whether a full queue still takes a request of a connection that has none in it, so that
/// nobody waits outside because of what others have sent: true unless requests are refused rather
/// than left to wait.
[[nodiscard]] bool each_has_place(const Options& options) noexcept;

class Dispatcher {
  public:
    virtual ~Dispatcher() = default;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    /// Starts what serves; to be called once, before the first request.
    [[nodiscard]] virtual Result<void> start() = 0;
    /// Takes a request over, or leaves it in `request` if the queue is full: then on_space() of its
    /// source follows when there is room. Called by the thread that reads.
    virtual void take(QueuedRequestPtr& request, UpcallMemory& memory) = 0;
    /// Returns something that stands for the place that all requests wait for which take() has left
    /// where they were, so that they are offered again in the order in which they came. Null if
    /// they wait for different things, or need not wait for each other.
    [[nodiscard]] virtual const void* place() const noexcept { return nullptr; }
    /// Has requests that could not be served tried again. Any thread.
    virtual void resume() noexcept = 0;
    /// Begins to end, without waiting: requests in progress are finished, others discarded, and
    /// those that still come refused. Calling it again does nothing.
    virtual void begin_to_end() noexcept = 0;
    /// Ends: discards requests that wait, refuses those that still come, and waits until those in
    /// progress are finished.
    virtual void end() noexcept = 0;

  protected:
    Dispatcher() = default;
};

} // namespace kairos::orb
