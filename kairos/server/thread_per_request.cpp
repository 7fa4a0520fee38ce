// SPDX-License-Identifier: Apache-2.0
//
// The thread-per-request architecture: each request is served by a thread that is started for it.
// Requests never wait for each other, and each pays for a thread. -ORBThreads bounds how many serve
// at the same time; those that wait for calls of their own do not count.
#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/handover.h"
#include "kairos/server/thread_set.h"

namespace kairos::orb {
namespace {

class ThreadPerRequest final : public Dispatcher, public ServingThread {
  public:
    ThreadPerRequest(Orb& orb, RequestSource& source)
        : orb_(orb), source_(source), threads_max_(orb.options().threads)
    {
    }
    ~ThreadPerRequest() override { end(); }

    [[nodiscard]] Result<void> start() override { return {}; }

    void take(QueuedRequestPtr& request, UpcallMemory& memory) override
    {
        std::unique_lock lock(mutex_);
        if (ended_) {
            lock.unlock(); // it tells others
            request->refuse_for_now(memory);
            return request.reset();
        }
        if (serving_ >= threads_max_) {
            source_waits_ = true;
            return;
        }
        start_thread(request, memory);
    }

    [[nodiscard]] const void* place() const noexcept override { return this; }

    void resume() noexcept override
    {
        const std::lock_guard lock(mutex_);
        resumed_.put_in_front(held_.list());
        start_resumed();
    }

    void begin_to_end() noexcept override
    {
        RequestList dropped;
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            dropped.put_in_front(held_.list());
            dropped.put_in_front(resumed_);
        }
        dropped.discard(); // without the lock: that tells others
    }

    void end() noexcept override
    {
        begin_to_end();
        threads_.join();
    }

    void wait(const Awaited& awaited, Deadline deadline) noexcept override
    {
        leave();
        (void)wait_either(awaited, nullptr, deadline);
        const std::lock_guard lock(mutex_);
        ++serving_;
    }

  private:
    /// Must hold mutex_.
    void start_thread(QueuedRequestPtr& request, UpcallMemory& memory)
    {
        assert_held(mutex_);
        // A function that is copied cannot own the request; and it should take no memory.
        QueuedRequest* const owned = request.get();
        const net::ThreadOptions options = orb_.thread_options("kairos-request");
        ++serving_;
        const auto started =
            threads_.start(options, [this, owned] { serve(owned->take_ownership()); });
        if (started) {
            (void)request.release();
            return;
        }
        --serving_;
        log::write_limited(log::Level::warning, 0,
                           log::Line() << "request refused: " << started.error().reason);
        request->refuse(CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO), memory);
        request.reset();
    }

    void serve(QueuedRequestPtr request) noexcept
    {
        ThreadStorage::await_current().serving_thread = this;
        {
            UpcallMemory memory; // given back before the next thread may start
            while (!request->serve(memory)) {
                std::unique_lock lock(mutex_);
                if (ended_) {
                    discard(std::move(request), lock);
                    break;
                }
                if (held_.add(request)) break; // else it may go on already
            }
        }
        request.reset();
        threads_.join_ended(); // before another may start: the bound is one of threads that exist
        leave();
    }

    /// One thread less serves.
    void leave() noexcept
    {
        bool tell = false;
        {
            const std::lock_guard lock(mutex_);
            --serving_;
            tell = std::exchange(source_waits_, false);
            start_resumed();
        }
        if (tell) source_.on_space();
    }

    /// Must hold mutex_.
    void start_resumed() noexcept
    {
        assert_held(mutex_);
        UpcallMemory memory;
        while (!ended_ && !resumed_.empty() && serving_ < threads_max_) {
            QueuedRequestPtr request = resumed_.pop_front();
            start_thread(request, memory);
        }
    }

    Orb& orb_;
    RequestSource& source_;
    const std::size_t threads_max_;
    std::mutex mutex_;        // guards what follows; not held while a request is served
    std::size_t serving_ = 0; // threads that do not wait for calls of their own
    HeldRequests held_;
    RequestList resumed_; // held before, and more than there may be threads
    bool source_waits_ = false;
    bool ended_ = false;
    ThreadSet threads_;
};

std::unique_ptr<Dispatcher> make_threads(Orb& orb, RequestSource& source)
{
    return std::make_unique<ThreadPerRequest>(orb, source);
}

} // namespace

constinit const Opening opening::thread_per_request{architecture::thread_per_request,
                                                    open_handover<make_threads>};

} // namespace kairos::orb
