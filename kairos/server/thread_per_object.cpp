// SPDX-License-Identifier: Apache-2.0
//
// The thread-per-object architecture: each object has a thread of its own, which serves its
// requests one after the other; those of different objects run side by side. The thread begins with
// the object's first request. -ORBThreads bounds how many there are: for one more, the one that has
// been idle for longest ends. While an object waits for a call of its own, its thread serves what
// comes for it: whoever answers may have to call the object back. Or another one: threads that wait
// do not count.
#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/fair_queue.h"
#include "kairos/server/handover.h"
#include "kairos/server/serve_waiting.h"
#include "kairos/server/thread_set.h"

#include <condition_variable>
#include <map>
#include <string>

namespace kairos::orb {
namespace {

class ThreadPerObject;

/// One object's thread. What the dispatcher's mutex guards is marked.
class ObjectThread final : public ServingThread {
  public:
    ObjectThread(ThreadPerObject& dispatcher, net::Waker wake_up)
        : dispatcher_(dispatcher), wake_up_(std::move(wake_up))
    {
    }

    void serve() noexcept;
    void wait(const Awaited& awaited, Deadline deadline) noexcept override;
    /// There is something new in the queue, or it ended. Must hold the dispatcher's mutex.
    void wake() noexcept;
    /// Guarded.
    [[nodiscard]] bool is_idle() const noexcept { return !busy && queue.empty() && held.empty(); }

    FairQueue queue;           // guarded
    HeldRequests held;         // guarded
    bool busy = false;         // guarded
    bool ended = false;        // guarded
    std::uint64_t used_at = 0; // guarded: the higher, the later

  private:
    void serve_next(std::unique_lock<std::mutex>& lock, UpcallMemory& memory) noexcept;
    void serve_nested(UpcallMemory& memory) noexcept;

    ThreadPerObject& dispatcher_;
    std::condition_variable changed_;
    int waits_nested_ = 0; // guarded: how deep
    net::Waker wake_up_;   // of these: woken while there is something in the queue
};

class ThreadPerObject final : public Dispatcher {
  public:
    ThreadPerObject(Orb& orb, RequestSource& source)
        : orb_(orb), source_(source), threads_max_(orb.options().threads),
          queued_max_(orb.options().requests_queued_max),
          each_has_place_(each_has_place(orb.options()))
    {
    }
    ~ThreadPerObject() override { end(); }

    [[nodiscard]] Result<void> start() override { return {}; }

    void take(QueuedRequestPtr& request, UpcallMemory& memory) override
    {
        memory.arena.reset();
        const Bytes key = request->object_key(memory.arena);
        const std::string name(reinterpret_cast<const char*>(key.data()), key.size());
        std::unique_lock lock(mutex_);
        if (ended_) {
            lock.unlock(); // it tells others
            request->refuse_for_now(memory);
            return request.reset();
        }
        auto object = objects_.find(name);
        if (object == objects_.end()) {
            while (objects_.size() - waiting_ >= threads_max_) {
                if (end_idle_thread()) continue;
                source_waits_ = true;
                return;
            }
            object = start_thread(name);
            if (object == objects_.end()) {
                request->refuse(CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO), memory);
                return request.reset();
            }
        }
        ObjectThread& thread = *object->second;
        const bool has_place = each_has_place_ && !thread.queue.has_others_of(*request);
        if (thread.queue.size() >= queued_max_ && !has_place) {
            source_waits_ = true;
            return;
        }
        thread.used_at = ++uses_;
        thread.queue.push_back(std::move(request));
        thread.wake();
    }

    void resume() noexcept override
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, thread] : objects_) {
            thread->queue.put_in_front(thread->held.list());
            thread->wake();
        }
    }

    void begin_to_end() noexcept override
    {
        RequestList dropped;
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            for (const auto& [name, thread] : objects_) {
                thread->queue.move_to(dropped);
                dropped.put_in_front(thread->held.list());
                thread->ended = true;
                thread->wake();
            }
            objects_.clear();
        }
        dropped.discard(); // without the lock: that tells others
    }

    void end() noexcept override
    {
        begin_to_end();
        threads_.join();
    }

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    /// Must not hold mutex_: what the source waits for may have a place now.
    void tell_source() noexcept
    {
        {
            const std::lock_guard lock(mutex_);
            if (!source_has_waited()) return;
        }
        tell_of_space();
    }
    /// Whether the source is to be told of the place that there is now. Must hold mutex_.
    [[nodiscard]] bool source_has_waited() noexcept
    {
        assert_held(mutex_);
        return std::exchange(source_waits_, false);
    }
    /// Must not hold mutex_.
    void tell_of_space() noexcept
    {
        assert_not_held(mutex_);
        source_.on_space();
    }
    /// The thread of an object that is one of `objects_` waits for a call, until `rejoin`. Must not
    /// hold mutex_.
    void leave() noexcept
    {
        {
            const std::lock_guard lock(mutex_);
            ++waiting_;
        }
        tell_source();
    }
    /// Must hold mutex_.
    void rejoin() noexcept
    {
        assert_held(mutex_);
        --waiting_;
    }

  private:
    using Objects = std::map<std::string, std::shared_ptr<ObjectThread>, std::less<>>;

    /// Must hold mutex_.
    [[nodiscard]] Objects::iterator start_thread(const std::string& name)
    {
        assert_held(mutex_);
        auto thread = make_thread();
        if (thread) return objects_.emplace(name, std::move(thread).value()).first;
        log::write_limited(log::Level::warning, 0,
                           log::Line() << "request refused: " << thread.error().reason);
        return objects_.end();
    }

    /// Must hold mutex_.
    [[nodiscard]] Result<std::shared_ptr<ObjectThread>> make_thread()
    {
        assert_held(mutex_);
        auto waker = net::Waker::create();
        if (!waker) return waker.error();
        auto thread = std::make_shared<ObjectThread>(*this, std::move(waker).value());
        const auto started =
            threads_.start(orb_.thread_options("kairos-object"), [thread] { thread->serve(); });
        if (!started) return started.error();
        return thread;
    }

    /// Must hold mutex_.
    [[nodiscard]] bool end_idle_thread() noexcept
    {
        assert_held(mutex_);
        auto oldest = objects_.end();
        for (auto object = objects_.begin(); object != objects_.end(); ++object)
            if (object->second->is_idle() &&
                (oldest == objects_.end() || object->second->used_at < oldest->second->used_at))
                oldest = object;
        if (oldest == objects_.end()) return false;
        oldest->second->ended = true;
        oldest->second->wake();
        objects_.erase(oldest);
        return true;
    }

    Orb& orb_;
    RequestSource& source_;
    const std::size_t threads_max_;
    const std::size_t queued_max_;
    const bool each_has_place_;
    std::mutex mutex_; // guards what follows, and of the objects what is marked
    Objects objects_;  // by object key
    std::uint64_t uses_ = 0;
    std::size_t waiting_ = 0; // threads of them that wait for calls, and serve nothing meanwhile
    bool source_waits_ = false;
    bool ended_ = false;
    ThreadSet threads_;
};

void ObjectThread::serve() noexcept
{
    ThreadStorage::await_current().serving_thread = this;
    UpcallMemory memory;
    std::unique_lock lock(dispatcher_.mutex());
    for (;;) {
        changed_.wait(lock, [this] { return ended || !queue.empty(); });
        if (queue.empty()) return; // ended
        busy = true;
        serve_next(lock, memory);
        busy = false;
        lock.unlock();
        dispatcher_.tell_source();
        lock.lock();
    }
}

/// Must hold the dispatcher's mutex; does not while it is served.
void ObjectThread::serve_next(std::unique_lock<std::mutex>& lock, UpcallMemory& memory) noexcept
{
    assert_held(dispatcher_.mutex());
    QueuedRequestPtr request = queue.pop_front();
    // At once: what waits for the place may be what this request waits for.
    const bool tells = dispatcher_.source_has_waited();
    lock.unlock();
    if (tells) dispatcher_.tell_of_space();
    const bool served = request->serve(memory);
    if (served) request.reset();
    lock.lock();
    if (!served && ended)
        discard(std::move(request), lock);
    else if (!served && !held.add(request))
        queue.push_back(std::move(request));
}

void ObjectThread::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    {
        const std::lock_guard lock(dispatcher_.mutex());
        ++waits_nested_;
        if (!queue.empty()) wake_up_.wake();
    }
    dispatcher_.leave();
    serve_waiting(awaited, wake_up_, deadline,
                  [this](UpcallMemory& memory) { serve_nested(memory); });
    const std::lock_guard lock(dispatcher_.mutex());
    dispatcher_.rejoin();
    --waits_nested_;
}

void ObjectThread::serve_nested(UpcallMemory& memory) noexcept
{
    {
        std::unique_lock lock(dispatcher_.mutex());
        dispatcher_.rejoin();
        if (!queue.empty()) serve_next(lock, memory);
        queue.empty() ? wake_up_.clear() : wake_up_.wake();
    }
    dispatcher_.leave();
}

void ObjectThread::wake() noexcept
{
    assert_held(dispatcher_.mutex());
    changed_.notify_one();
    if (waits_nested_ != 0) wake_up_.wake();
}

std::unique_ptr<Dispatcher> make_queues(Orb& orb, RequestSource& source)
{
    return std::make_unique<ThreadPerObject>(orb, source);
}

} // namespace

constinit const Opening opening::thread_per_object{architecture::thread_per_object,
                                                   open_handover<make_queues>};

} // namespace kairos::orb
