// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/bidirectional_connections.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/giop/header.h"
#include "kairos/orb/listen_points.h"
#include "kairos/orb/object_key_of.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/handover.h"

#include <condition_variable>
#include <cstring>
#include <new>
#include <utility>

namespace kairos::orb {

std::optional<std::vector<ior::Address>>
offered_listen_points(Orb& orb, const giop::Request& request, const ReplyChannel& from)
{
    if (request.version < giop::version_1_2) return std::nullopt; // it means nothing there
    const auto context = request.contexts.find(listen_points_context_id);
    Adapter* const adapter = orb.adapter();
    if (!context || adapter == nullptr) return std::nullopt;
    Arena arena;
    const Bytes key = object_key_of(request.target, request.little_endian, arena);
    if (!adapter->permits_bidirectional(key, from)) return std::nullopt;
    auto points = decode_listen_points(*context);
    if (!points)
        log::write_limited(log::Level::warning, 0,
                           log::Line() << "listen points refused: malformed, or more than "
                                       << listen_points_max);
    if (!points || points->empty()) return std::nullopt;
    return points;
}

std::vector<std::byte> whole(const giop::Message& message)
{
    constexpr std::size_t flags_at = 6;
    constexpr std::size_t size_at = 8;
    std::vector<std::byte> bytes(message.bytes.begin(), message.bytes.end());
    auto size = static_cast<std::uint32_t>(bytes.size() - giop::header_size);
    if (message.little_endian != native_little_endian) size = __builtin_bswap32(size);
    bytes[flags_at] = static_cast<std::byte>(message.little_endian ? 1 : 0);
    std::memcpy(bytes.data() + size_at, &size, sizeof size);
    return bytes;
}

namespace {

/// Has the program's thread serve that is in ORB::run or perform_work, or that waits for an answer
/// where none is.
class MainThreadDispatcher final : public Dispatcher {
  public:
    MainThreadDispatcher(Orb& orb, RequestSource& source)
        : orb_(orb), source_(source), queued_max_(orb.options().requests_queued_max)
    {
    }
    ~MainThreadDispatcher() override { end(); }

    [[nodiscard]] Result<void> start() override { return {}; }

    void take(QueuedRequestPtr& request, UpcallMemory& memory) override
    {
        std::unique_lock lock(mutex_);
        if (ended_) {
            lock.unlock(); // it tells others
            request->refuse_for_now(memory);
            return request.reset();
        }
        if (waiting_.size() >= queued_max_) {
            source_waits_ = true;
            return;
        }
        waiting_.push_back(std::move(request));
        lock.unlock();
        call_thread();
    }

    [[nodiscard]] const void* place() const noexcept override { return this; }

    void resume() noexcept override
    {
        std::size_t resumed = 0;
        {
            const std::lock_guard lock(mutex_);
            resumed = held_.list().size();
            waiting_.put_in_front(held_.list());
        }
        for (; resumed != 0; --resumed)
            call_thread();
    }

    void begin_to_end() noexcept override
    {
        RequestList dropped;
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            dropped.put_in_front(held_.list());
            dropped.put_in_front(waiting_);
        }
        dropped.discard(); // without the lock: that tells others
    }

    void end() noexcept override
    {
        begin_to_end();
        std::unique_lock lock(mutex_);
        all_done_.wait(lock, [this] { return calls_ == 0; });
    }

  private:
    /// Asks the thread to serve the request that has waited longest. Ends with that.
    struct Call final : MainThread::Posted {
        explicit Call(MainThreadDispatcher& by) noexcept : dispatcher(by) {}
        void work() noexcept override
        {
            dispatcher.serve_next();
            refused();
        }
        void refused() noexcept override
        {
            MainThreadDispatcher& by = dispatcher;
            delete this;
            by.note_done();
        }
        MainThreadDispatcher& dispatcher;
    };

    void call_thread() noexcept
    {
        {
            const std::lock_guard lock(mutex_);
            ++calls_;
        }
        auto* const call = new (std::nothrow) Call(*this);
        if (call == nullptr) return note_done(); // the next call serves this request, too
        if (orb_.main_thread().post(*call) == MainThread::Accepted::no) return call->refused();
        // Also behind other work: what is being served may be waiting for this request.
        orb_.resume_held_requests();
    }

    void note_done() noexcept
    {
        const std::lock_guard lock(mutex_);
        if (--calls_ == 0) all_done_.notify_all();
    }

    void serve_next() noexcept
    {
        bool more = true;
        while (more) {
            QueuedRequestPtr request;
            bool tell = false;
            {
                const std::lock_guard lock(mutex_);
                if (waiting_.empty()) return;
                request = waiting_.pop_front();
                tell = std::exchange(source_waits_, false);
                more = waiting_.size() >= calls_;
            }
            if (tell) source_.on_space();
            serve(std::move(request));
        }
    }

    void serve(QueuedRequestPtr request) noexcept
    {
        UpcallMemory memory;
        while (!request->serve(memory)) {
            std::unique_lock lock(mutex_);
            if (ended_) return discard(std::move(request), lock);
            if (held_.add(request)) return; // else it may go on already
        }
    }

    Orb& orb_;
    RequestSource& source_;
    const std::size_t queued_max_;
    std::mutex mutex_; // guards what follows; not held while a request is served
    std::condition_variable all_done_;
    RequestList waiting_;
    HeldRequests held_;
    std::size_t calls_ = 0; // of the main thread, that are not over
    bool source_waits_ = false;
    bool ended_ = false;
};

} // namespace

std::unique_ptr<Dispatcher> make_bidirectional_dispatcher(Orb& orb, RequestSource& source)
{
    if (!orb.options().concurrency->is_served_by_run) return make_worker_pool(orb, source);
    return std::make_unique<MainThreadDispatcher>(orb, source);
}

} // namespace kairos::orb
