// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/handover.h"

#include "kairos/base/log.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/orb.h"
#include "kairos/server/serving.h"
#include "kairos/server/thread_pool.h"

#include <utility>

namespace kairos::orb {

// --- HandoverConnection --------------------------------------------------------------------------

void HandoverConnection::send(Bytes header, const cdr::Writer& body) noexcept
{
    bool needs_attention = false;
    {
        const std::lock_guard lock(send_mutex_);
        const bool was_broken = broken_;
        const bool was_congested = congested_;
        put(header, body);
        needs_attention = broken_ != was_broken || congested_ != was_congested;
    }
    if (needs_attention) server_.attend(*this);
}

void HandoverConnection::fail(std::string_view why) noexcept
{
    log::write_limited(log::Level::error, peer_.host_number(),
                       log::Line() << why << " to " << peer_ << "; connection closed");
    {
        const std::lock_guard lock(send_mutex_);
        broken_ = true;
    }
    server_.attend(*this);
}

HandoverConnection::Next HandoverConnection::take_received(UpcallMemory& memory)
{
    if (waiting_ && (offer(memory) == Next::hold || gives_way())) return Next::hold;
    return take_messages([&](const giop::Message& message) {
        const Next next = hand_over(message, memory);
        return next == Next::read && gives_way() ? Next::hold : next;
    });
}

/// Whether others are before the next request of this connection, which goes on behind them.
bool HandoverConnection::gives_way() noexcept
{
    if (server_.dispatcher().place() == nullptr || !loop_.has_holders() ||
        protocol_.between_messages())
        return false;
    loop_.resume();
    return true;
}

const void* HandoverConnection::place_awaited() const noexcept
{
    const bool has_own = waiting_ && waiting_->own_threads.pool != nullptr;
    return has_own ? nullptr : server_.dispatcher().place();
}

HandoverConnection::Next HandoverConnection::hand_over(const giop::Message& message,
                                                       UpcallMemory& memory)
{
    if (message.type == giop::MessageType::cancel_request) return Next::read; // it is too late
    waiting_ = server_.requests().take();
    if (const cdr::Fault fault = waiting_->fill(*this, message); fault != cdr::Fault::none) {
        waiting_.reset();
        return refuse(cdr::describe(fault));
    }
    if (waiting_->is_request()) waiting_->set_text(text_form(waiting_->request()));
    ask_adapter(memory);
    return offer(memory);
}

/// Whose threads are to serve it, and how urgently.
void HandoverConnection::ask_adapter(UpcallMemory& memory)
{
    waiting_->own_threads = {};
    Adapter* adapter = orb_.adapter();
    if (adapter == nullptr || !waiting_->is_request()) return;
    memory.arena.reset();
    const giop::Request& request = waiting_->request();
    const Bytes object_key = waiting_->object_key(memory.arena);
    waiting_->own_threads = adapter->threads_for(request, object_key);
    const Dispatching dispatching = orb_.options().dispatching;
    if (dispatching == Dispatching::fifo) return;
    waiting_->order_by(dispatching, adapter->timing_for(request.operation, object_key));
}

HandoverConnection::Next HandoverConnection::offer(UpcallMemory& memory)
{
    ++under_way_;
    waiting_->counted = true;
    ThreadPool* const own = waiting_->own_threads.pool;
    Dispatcher& dispatcher = own != nullptr ? *own : server_.dispatcher();
    (void)share_.hold(protocol_.memory_held()); // without what is the request's now
    if (waiting_->count())
        dispatcher.take(waiting_, memory);
    else
        (void)share_.hold(protocol_.memory_held() + waiting_->message_bytes());
    if (!waiting_) {
        note_going_on();
        return Next::read;
    }
    waiting_->counted = false;
    --under_way_;
    if (own != nullptr || orb_.options().when_queue_full == WhenQueueFull::block) return Next::hold;
    waiting_->refuse_for_now(memory);
    waiting_.reset();
    return Next::read;
}

void HandoverConnection::abandon() noexcept
{
    waiting_.reset();
    {
        const std::lock_guard lock(send_mutex_);
        broken_ = true; // answers still to come have nowhere to go
        socket_.shutdown_both();
    }
    // What was put aside is to be served, though nobody hears of it.
    if (congested_) server_.resume();
}

void HandoverConnection::flush() noexcept
{
    {
        const std::lock_guard lock(send_mutex_);
        ReactorConnection::flush();
    }
    if (!is_congested()) server_.resume();
}

RequestSource& HandoverConnection::source() const noexcept { return server_; }

/// What is sent so is the last: replies still to come go first.
void HandoverConnection::send_control(Bytes message) noexcept
{
    const std::lock_guard lock(send_mutex_);
    if (under_way_ == 0)
        put(message);
    else
        last_words_.assign(message.begin(), message.end());
}

bool HandoverConnection::become_quiet() noexcept
{
    is_to_end_ = true; // before looking: whoever is done later says so
    if (under_way_ != 0) return false;
    const std::lock_guard lock(send_mutex_);
    if (!last_words_.empty()) put(Bytes(last_words_));
    last_words_.clear();
    return true;
}

void HandoverConnection::request_done() noexcept
{
    if (--under_way_ == 0 && is_to_end_) server_.attend(*this);
}

// --- HandoverServer ------------------------------------------------------------------------------

HandoverServer::HandoverServer(Orb& orb, std::vector<Listener> listeners, ServingThreads reader)
    : Server(orb, std::move(listeners)), reader_(std::move(reader)),
      requests_(orb.options().requests_queued_max + orb.options().threads)
{
}

HandoverServer::~HandoverServer()
{
    if (!loop_) return;
    stop();
    join();
}

Result<void> HandoverServer::open(std::unique_ptr<Dispatcher> dispatcher)
{
    dispatcher_ = std::move(dispatcher);
    auto loop = ReactorLoop::create(orb_, all_listeners(), *this);
    if (!loop) return loop.error();
    loop_ = std::move(loop).value();
    return {};
}

Result<void> HandoverServer::start()
{
    has_started_ = true;
    if (auto started = dispatcher_->start(); !started) return started;
    loop_->start();
    auto thread = net::Thread::start(reader_.options, [this] { serve(); });
    if (!thread) return thread.error();
    thread_ = std::move(thread).value();
    return {};
}

void HandoverServer::resume() noexcept
{
    dispatcher_->resume();
    Serving::of(orb_).thread_pools().resume();
}

void HandoverServer::serve() noexcept
{
    Lane::await_current().priority = reader_.priority;
    loop_->run();
    // What is being served may wait for calls back, which nobody will serve: their callers are told
    // so, for as long as it takes.
    dispatcher_->begin_to_end();
    Serving::of(orb_).thread_pools().begin_to_end();
    loop_->close_when_quiet();
    dispatcher_->end();
    Serving::of(orb_).thread_pools().end();
    loop_->close_all();
}

void HandoverServer::join() noexcept
{
    const std::lock_guard joining(join_mutex_);
    thread_.join();
    dispatcher_->end();
    // One that has handed nothing over may leave them to another (Server::open_handing_over).
    if (has_started_) Serving::of(orb_).thread_pools().end();
    loop_->bind_to_this_thread();
    loop_->close_all();
    std::vector<IntrusivePtr<HandoverConnection>> ended; // nobody looks at them any more
    const std::lock_guard lock(attention_mutex_);
    ended.swap(attention_);
}

IntrusivePtr<ReactorConnection> HandoverServer::make(ReactorLoop& loop, net::Socket socket,
                                                     const net::Address& peer)
{
    return IntrusivePtr<ReactorConnection>::adopt(
        new HandoverConnection(*this, loop, orb_, std::move(socket), peer));
}

void HandoverServer::attend(HandoverConnection& connection) noexcept
{
    try {
        const std::lock_guard lock(attention_mutex_);
        attention_.emplace_back(&connection);
    } catch (const std::bad_alloc&) { // the peer's next message will show it, or the server's end
    }
    loop_->wake();
}

void HandoverServer::on_wake() noexcept
{
    std::vector<IntrusivePtr<HandoverConnection>> connections;
    {
        const std::lock_guard lock(attention_mutex_);
        connections.swap(attention_);
    }
    for (const auto& connection : connections)
        connection->after_sending();
}

Result<std::unique_ptr<Server>> make_handover(Orb& orb, std::vector<Listener> listeners,
                                              MakeDispatcher make)
{
    auto server = std::make_unique<HandoverServer>(
        orb, std::move(listeners), ServingThreads{.options = orb.thread_options("kairos-read")});
    if (const auto opened = server->open(make(orb, *server)); !opened) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
}

} // namespace kairos::orb
