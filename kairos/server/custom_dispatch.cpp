// SPDX-License-Identifier: Apache-2.0
//
// The custom architecture: one thread reads, the program says who serves.
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/handover.h"
#include "kairos/server/request_dispatcher.h"
#include "kairos/server/serving.h"

#include <condition_variable>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#include <utility>

namespace kairos::orb {

struct WaitingRequest::Entry {
    QueuedRequestPtr request; // null once it is served, or the ORB has ended
    std::string operation;
    std::string object_key;
    std::list<Entry>::iterator position;
};

/// All that the program has. Shared by the ORB and the requests: a program may keep those longer.
/// Any thread.
class WaitingRequest::Queue : public std::enable_shared_from_this<Queue> {
  public:
    Queue(RequestSource& source, RequestDispatcher& dispatcher, std::size_t entries_max)
        : source_(&source), dispatcher_(&dispatcher), entries_max_(entries_max)
    {
    }

    /// False if there is no room: then the source is told when there is.
    [[nodiscard]] bool add(QueuedRequestPtr& request, UpcallMemory& memory)
    {
        memory.arena.reset();
        const Bytes key = request->object_key(memory.arena);
        Entry entry{.request = nullptr,
                    .operation = request->is_request() ? std::string(request->request().operation)
                                                       : std::string(),
                    .object_key = {reinterpret_cast<const char*>(key.data()), key.size()},
                    .position = {}};
        std::unique_lock lock(mutex_);
        if (ended_) {
            lock.unlock(); // it tells others
            request->refuse_for_now(memory);
            return true; // the caller drops it
        }
        if (entries_.size() >= entries_max_) {
            source_waits_ = true;
            return false;
        }
        Entry& added = entries_.emplace_back(std::move(entry));
        added.position = std::prev(entries_.end());
        added.request = std::move(request);
        lock.unlock();
        dispatcher_->dispatch(WaitingRequest(shared_from_this(), added));
        return true;
    }

    void serve(Entry& entry) noexcept
    {
        QueuedRequestPtr request = take(entry);
        if (!request) return;
        try {
            ThreadStorage& storage = ThreadStorage::current();
            auto memory = storage.upcall_memory.take();
            const bool served = request->serve(*memory);
            storage.upcall_memory.give_back(std::move(memory));
            if (!served) return hold(std::move(request));
        } catch (const std::bad_alloc&) { // its caller gets CloseConnection, at last
        }
        request.reset();
        done();
    }

    void refuse(Entry& entry) noexcept
    {
        QueuedRequestPtr request = take(entry);
        if (!request) return;
        try {
            UpcallMemory memory;
            request->refuse_for_now(memory);
        } catch (const std::bad_alloc&) {
        }
        request.reset();
        done();
    }

    /// The program has no more use for it.
    void forget(Entry& entry) noexcept
    {
        std::list<Entry> forgotten;
        const std::lock_guard lock(mutex_);
        forgotten.splice(forgotten.end(), entries_, entry.position);
        if (ended_ || !std::exchange(source_waits_, false)) return;
        source_->on_space();
    }

    /// What could not be served is given to the program again.
    void resume() noexcept
    {
        RequestList held;
        {
            const std::lock_guard lock(mutex_);
            if (!ended_) held.put_in_front(held_.list());
        }
        while (!held.empty())
            offer_again(held.pop_front());
    }

    /// Begins to end, without waiting: discards what is not being served.
    void begin_to_end() noexcept
    {
        RequestList dropped;
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            for (Entry& entry : entries_)
                if (entry.request) dropped.push_back(std::move(entry.request));
            dropped.put_in_front(held_.list());
        }
        dropped.discard(); // without the lock: that tells others
    }
    /// Begins to end, and waits until what is being served is finished.
    void end() noexcept
    {
        begin_to_end();
        std::unique_lock lock(mutex_);
        none_served_.wait(lock, [this] { return serving_ == 0; });
    }

  private:
    [[nodiscard]] QueuedRequestPtr take(Entry& entry) noexcept
    {
        const std::lock_guard lock(mutex_);
        if (entry.request) ++serving_;
        return std::move(entry.request);
    }

    void done() noexcept
    {
        const std::lock_guard lock(mutex_);
        if (--serving_ == 0) none_served_.notify_all();
    }

    void hold(QueuedRequestPtr request) noexcept
    {
        QueuedRequestPtr again;
        {
            std::unique_lock lock(mutex_);
            if (ended_)
                discard(std::move(request), lock);
            else if (!held_.add(request))
                again = std::move(request);
        }
        if (again) offer_again(std::move(again));
        done();
    }

    void offer_again(QueuedRequestPtr request) noexcept
    {
        try {
            UpcallMemory memory;
            if (!add(request, memory)) request->refuse_for_now(memory);
        } catch (const std::bad_alloc&) {
        }
    }

    // Neither is used after end(), which they outlive.
    RequestSource* const source_;
    RequestDispatcher* const dispatcher_;
    const std::size_t entries_max_;
    // guards what follows; wakes a reactor under it; not held while a request is served or
    // dispatched
    std::mutex mutex_;
    std::list<Entry> entries_;
    HeldRequests held_;
    std::size_t serving_ = 0;
    std::condition_variable none_served_;
    bool source_waits_ = false;
    bool ended_ = false;
};

// --- WaitingRequest ------------------------------------------------------------------------------

WaitingRequest::WaitingRequest(std::shared_ptr<Queue> queue, Entry& entry) noexcept
    : queue_(std::move(queue)), entry_(&entry)
{
}

WaitingRequest::WaitingRequest(WaitingRequest&& other) noexcept
    : queue_(std::move(other.queue_)), entry_(other.entry_)
{
}

WaitingRequest& WaitingRequest::operator=(WaitingRequest&& other) noexcept
{
    if (this != &other) {
        drop();
        queue_ = std::move(other.queue_);
        entry_ = other.entry_;
    }
    return *this;
}

WaitingRequest::~WaitingRequest() { drop(); }

void WaitingRequest::drop() noexcept
{
    if (!queue_) return;
    queue_->refuse(*entry_); // unless it was served
    queue_->forget(*entry_);
    queue_.reset();
}

std::string_view WaitingRequest::operation() const noexcept { return entry_->operation; }
Bytes WaitingRequest::object_key() const noexcept { return as_bytes(entry_->object_key); }
void WaitingRequest::serve() noexcept { queue_->serve(*entry_); }

// --- The dispatcher ------------------------------------------------------------------------------

namespace {

class CustomDispatch final : public Dispatcher {
  public:
    CustomDispatch(Orb& orb, RequestSource& source) : orb_(orb), source_(source) {}
    ~CustomDispatch() override { end(); }

    [[nodiscard]] Result<void> start() override
    {
        RequestDispatcher* const dispatcher = Serving::of(orb_).request_dispatcher();
        if (dispatcher == nullptr)
            return Error{ErrorCode::invalid_argument,
                         "-ORBConcurrency custom: the program has set no dispatcher"};
        queue_ = std::make_shared<WaitingRequest::Queue>(source_, *dispatcher,
                                                         orb_.options().requests_queued_max);
        return {};
    }
    void take(QueuedRequestPtr& request, UpcallMemory& memory) override
    {
        if (queue_->add(request, memory)) request.reset(); // gone, or to be dropped
    }
    void resume() noexcept override
    {
        if (queue_) queue_->resume();
    }
    void begin_to_end() noexcept override
    {
        if (queue_) queue_->begin_to_end();
    }
    void end() noexcept override
    {
        if (queue_) queue_->end();
    }

  private:
    Orb& orb_;
    RequestSource& source_;
    std::shared_ptr<WaitingRequest::Queue> queue_; // once it serves
};

std::unique_ptr<Dispatcher> make_custom(Orb& orb, RequestSource& source)
{
    return std::make_unique<CustomDispatch>(orb, source);
}

} // namespace

constinit const Opening opening::custom{architecture::custom, open_handover<make_custom>};

} // namespace kairos::orb
