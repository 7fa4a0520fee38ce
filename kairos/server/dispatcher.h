// SPDX-License-Identifier: Apache-2.0
//
// Whoever serves requests that another thread has read: one implementation an architecture. A
// request owns its bytes and its answer's way, so it may be served by any thread at any time.
#pragma once

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

    /// Becomes a copy of `message`. Its arguments are not looked at. `text` of a request is set by
    /// the connection, which knows.
    [[nodiscard]] cdr::Fault fill(HandoverConnection& connection, const giop::Message& message);
    /// Its octets count as queued from here on; false: too many are (Account::queue).
    [[nodiscard]] bool count() noexcept;
    [[nodiscard]] bool is_request() const noexcept
    {
        return message_.type == giop::MessageType::request;
    }
    [[nodiscard]] const giop::Request& request() const noexcept { return request_; }
    void set_text(const cdr::TextForm* text) noexcept { text_ = text; }
    /// How urgent the request is: by its operation's timing, which may be null, and by what its
    /// caller says of its release.
    void order_by(Dispatching dispatching, const OperationTiming* timing) noexcept;
    /// However GIOP addressed the target. `arena` may hold it.
    [[nodiscard]] Bytes object_key(Arena& arena) const;

    /// Serves and answers it. False: the adapter holds it, or its peer does not take its replies.
    [[nodiscard]] bool serve(UpcallMemory& memory) noexcept;
    /// After that: whether to serve it again may help.
    [[nodiscard]] bool may_go_on() const noexcept;
    /// Answers with an exception instead of serving it.
    void refuse(const CORBA::SystemException& exception, UpcallMemory& memory) noexcept;
    /// With that of requests which nobody serves for the time being.
    void refuse_for_now(UpcallMemory& memory) noexcept;

    void send(Bytes header, const cdr::Writer& body) noexcept override;

    /// Whoever had it has let it go.
    [[nodiscard]] QueuedRequestPtr take_ownership() noexcept
    {
        return {this, RecycleRequest{store_}};
    }

    [[nodiscard]] const net::Address& peer() const noexcept;
    /// Where it came from.
    [[nodiscard]] RequestSource& source() const noexcept;
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_.bytes.size(); }
    /// Somebody who is told when the request was answered, or dropped.
    class Watcher {
      public:
        virtual void on_done() noexcept = 0;

      protected:
        ~Watcher() = default;
    };
    Watcher* watcher = nullptr;
    std::size_t pool = 0; ///< which is to serve it, where there are several
    /// The threads of its object's adapter that are to serve it, and their priority.
    Adapter::OwnThreads own_threads{};
    bool counted = false; ///< by its connection, as one under way
    Urgency urgency{};    ///< where requests are ordered; see order_by

  private:
    friend class FairQueue;
    friend class RequestList;
    friend class RequestQueue;
    friend class RequestStore;

    IntrusivePtr<HandoverConnection> connection_;
    cdr::Buffer bytes_;
    std::optional<giop::Connection::Kept> kept_; // where a large message is instead
    bool is_queued_ = false;                     // in the account
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

/// Requests that are not in use. Any thread.
class RequestStore {
  public:
    /// Keeps so many.
    explicit RequestStore(std::size_t spares_max) noexcept : spares_max_(spares_max) {}
    RequestStore(const RequestStore&) = delete;
    RequestStore& operator=(const RequestStore&) = delete;

    [[nodiscard]] QueuedRequestPtr take();

  private:
    friend struct RecycleRequest;
    void give_back(QueuedRequest* request) noexcept;

    const std::size_t spares_max_;
    std::mutex mutex_; // guards spares_; inside those of dispatchers and thread pools
    std::vector<std::unique_ptr<QueuedRequest>> spares_;
};

/// Requests in the order in which they are to be served. Takes no memory.
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
    /// Empties it when the server ends. What is left out so is told by CloseConnection, where that
    /// is the last message; on a connection of which others are being served, the servants of these
    /// may be waiting for who waits for it: there it is answered with TRANSIENT. Tells others.
    void discard() noexcept;
    /// All of `earlier` in front of what is here.
    void put_in_front(RequestList& earlier) noexcept;
    void clear() noexcept;

  private:
    QueuedRequest* first_ = nullptr;
    QueuedRequest* last_ = nullptr;
    std::size_t size_ = 0;
};

/// Requests that could not be served, until it is said that they may be again. Guarded by whoever
/// has it.
class HeldRequests {
  public:
    /// False if that is now.
    [[nodiscard]] bool add(QueuedRequestPtr& request) noexcept;
    [[nodiscard]] RequestList& list() noexcept { return held_; }
    [[nodiscard]] bool empty() const noexcept { return held_.empty(); }

  private:
    RequestList held_;
};

/// One that could not be served when the server ends, as RequestList::discard. Without the lock,
/// which is held before and afterwards.
template <typename Lock>
void discard(QueuedRequestPtr request, Lock& lock) noexcept
{
    RequestList discarded;
    discarded.push_back(std::move(request));
    lock.unlock();
    discarded.discard();
    lock.lock();
}

/// Where a dispatcher's requests come from.
class RequestSource {
  public:
    /// Any thread: what a full dispatcher did not take may be offered again.
    virtual void on_space() noexcept = 0;

  protected:
    ~RequestSource() = default;
};

/// Whether a queue that is full still takes a request of a connection that has none in it: so
/// nobody waits outside because of what others have sent. Not where requests are refused rather
/// than left to wait.
[[nodiscard]] bool each_has_place(const Options& options) noexcept;

class Dispatcher {
  public:
    virtual ~Dispatcher() = default;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    /// Once, before the first request.
    [[nodiscard]] virtual Result<void> start() = 0;
    /// Takes a request over, or leaves it where it is if the queue is full: then on_space() follows
    /// when there is room. The thread that reads.
    virtual void take(QueuedRequestPtr& request, UpcallMemory& memory) = 0;
    /// What requests that are left where they are wait for, if that is the same for all: then they
    /// find it in the order in which they came. Null: it is not, or nobody need wait for others.
    [[nodiscard]] virtual const void* place() const noexcept { return nullptr; }
    /// Any thread: what could not be served is to be tried again.
    virtual void resume() noexcept = 0;
    /// Once more is nothing. Requests in progress are finished, others discarded, and those that
    /// still come refused. Does not wait: also what the first wait for may be among the others.
    virtual void begin_to_end() noexcept = 0;
    /// The same, and waits for the first.
    virtual void end() noexcept = 0;

  protected:
    Dispatcher() = default;
};

} // namespace kairos::orb
