// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/handover.h"

#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/serving.h"
#include "kairos/server/thread_pool.h"

#include <algorithm>
#include <cstring>
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

giop::Outcome HandoverConnection::send_message(Bytes header, const cdr::Writer* body) noexcept
{
    bool needs_attention = false;
    {
        const std::lock_guard lock(send_mutex_);
        if (broken_ || said_last_words_) return giop::Outcome::not_executed;
        if (output_.size() > orb_.options().oneways_unsent_max) return giop::Outcome::no_room;
        const bool was_congested = congested_;
        if (body != nullptr)
            put(header, *body);
        else
            put(header);
        needs_attention = broken_ || congested_ != was_congested;
    }
    if (needs_attention) server_.attend(*this);
    return giop::Outcome::ok;
}

void HandoverConnection::go_on_with(const Adopted& adopted)
{
    go_on_from(adopted.code_sets);
    Bytes left = adopted.received;
    while (!left.empty()) {
        const MutableBytes space = protocol_.space();
        const std::size_t size = std::min(space.size(), left.size());
        std::memcpy(space.data(), left.data(), size);
        protocol_.received(size);
        left = left.subspan(size);
    }
}

BidirectionalLinkPtr HandoverConnection::become_bidirectional(End end)
{
    if (!link_) link_ = make_intrusive<BidirectionalLink>(orb_, end, *this);
    if (end == End::maker) share_.is_ours();
    protocol_.accept_replies();
    is_bidirectional_ = true;
    return link_;
}

/// The peer offers its connection for calls back. Whoever has made it is the only one who may.
void HandoverConnection::look_for_offer(const giop::Request& request)
{
    if (link_ && link_->own_end() == End::maker) return;
    const auto points = offered_listen_points(orb_, request, *this);
    if (!points || socket_.bypasses_descriptor()) return;
    Bidirectional& all = Serving::of(orb_).bidirectional();
    if (link_) {
        (void)all.claim(*points, link_, peer_);
        return;
    }
    auto link = make_intrusive<BidirectionalLink>(orb_, End::accepter, *this);
    if (all.claim(*points, link, peer_) == 0) return link->end(giop::Outcome::not_executed);
    link_ = std::move(link);
    (void)become_bidirectional(End::accepter);
}

HandoverConnection::Next HandoverConnection::take_answer(const giop::Message& message)
{
    const cdr::Fault fault = link_->deliver(message, protocol_);
    return fault == cdr::Fault::none ? Next::read : refuse(cdr::describe(fault));
}

void HandoverConnection::end_link() noexcept
{
    if (!link_ || link_->has_ended()) return;
    link_->end(outcome_of_end());
    Serving::of(orb_).bidirectional().forget(*link_);
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

/// Nothing of the loop may be touched: its thread is elsewhere.
bool HandoverConnection::read_in_lane(UpcallMemory& memory) noexcept
{
    returned_ = Returned::unread;
    try {
        const MutableBytes space = protocol_.space();
        const net::IoResult got = socket_.read(space);
        if (got.status == net::IoResult::Status::would_block) return true;
        if (!got.ok()) return false; // as the loop will find
        const bool all = got.bytes < space.size();
        protocol_.received(got.bytes);
        const Next next =
            take_messages([&](const giop::Message& message) { return hand_over(message, memory); });
        if (next == Next::close) returned_ = Returned::closing;
        if (next != Next::read || lane_ != reader_ || link_) return false;
        if (!all || congested_ || broken_ || !protocol_.between_messages()) return false;
        if (protocol_.holds_much()) protocol_.rest();
        return true;
    } catch (const std::bad_alloc&) {
        returned_ = Returned::out_of_memory;
        return false;
    }
}

void HandoverConnection::come_back() noexcept { server_.take_back(*this); }

void HandoverConnection::after_sending() noexcept
{
    if (reader_ != nullptr) {
        if (congested_ || broken_) pool_of_reader_->recall(*this, *reader_);
        return;
    }
    ReactorConnection::after_sending();
    if (in_row_ >= lent_after) lend();
}

void HandoverConnection::lend() noexcept
{
    if (link_) return; // its threads may all wait for answers that come on it
    if (waiting_ || pool_ == nullptr || server_.reader_priority() > lane_->lane.priority) return;
    in_row_ = 0;
    if (!may_be_lent() || !server_.watch_unread(*pool_, *lane_)) return;
    pool_of_reader_ = pool_;
    reader_ = lane_;
    stop_listening();
    if (pool_of_reader_->lend(*this, *reader_)) return;
    reader_ = nullptr;
    listen_again(Returned::unread);
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
    if (waiting_ && orb_.options().peer_requests_max != 0 && !waiting_->is_waiting())
        return share_.peer();
    const bool has_own = waiting_ && waiting_->own_threads.pool != nullptr;
    if (!has_own) return server_.dispatcher().place();
    // A pool that counts octets refuses what has no room: what waits does so for any thread.
    return lane_;
}

HandoverConnection::Next HandoverConnection::hand_over(const giop::Message& message,
                                                       UpcallMemory& memory)
{
    if (message.type != giop::MessageType::request &&
        message.type != giop::MessageType::locate_request) {
        if (message.type == giop::MessageType::cancel_request) return Next::read; // it is too late
        return take_answer(message);
    }
    waiting_ = server_.requests().take();
    if (const cdr::Fault fault = waiting_->fill(*this, message); fault != cdr::Fault::none) {
        waiting_.reset();
        return refuse(cdr::describe(fault));
    }
    if (waiting_->is_request()) {
        const giop::Request& request = waiting_->request();
        waiting_->set_text(text_form(request, [&] { look_for_offer(request); }));
    }
    ask_adapter(memory);
    note_lane();
    // Only the loop's thread hands over to those who know but one.
    if (reader_ != nullptr && pool_ == nullptr) return Next::hold;
    return offer(memory);
}

void HandoverConnection::note_lane() noexcept
{
    ThreadPool* const pool = waiting_->own_threads.pool;
    PoolLevel* const lane =
        pool == nullptr ? nullptr : &pool->lane_for(waiting_->own_threads.priority);
    in_row_ = lane == lane_ ? in_row_ + 1 : 0;
    pool_ = pool;
    lane_ = lane;
    // Now and then: where the lane was busy it is asked again.
    if (lane != nullptr && reader_ == nullptr && in_row_ == lent_after && socket_.is_plain())
        server_.attend(*this);
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
    end_link();
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
    if (under_way_ == 0) {
        put(message);
        said_last_words_ = true;
    } else
        last_words_.assign(message.begin(), message.end());
}

bool HandoverConnection::become_quiet() noexcept
{
    is_to_end_ = true;                   // before looking: whoever is done later says so
    if (was_ended_by_peer()) end_link(); // what is under way may wait for answers
    if (under_way_ != 0) return false;
    const std::lock_guard lock(send_mutex_);
    if (!last_words_.empty()) {
        put(Bytes(last_words_));
        said_last_words_ = true;
    }
    last_words_.clear();
    return true;
}

void HandoverConnection::end_waiting() noexcept
{
    if (share_.end_waiting()) source().on_space();
}

void HandoverConnection::request_done() noexcept
{
    if (--under_way_ == 0 && is_to_end_) server_.attend(*this);
}

// --- HandoverServer ------------------------------------------------------------------------------

HandoverServer::HandoverServer(Orb& orb, std::vector<Listener> listeners, ThreadSettings reader)
    : Server(orb, std::move(listeners)), reader_(std::move(reader)),
      requests_(orb.options().requests_queued_max + orb.options().threads)
{
}

HandoverServer::~HandoverServer()
{
    if (!loop_) return;
    stop();
    join();
    Serving::of(orb_).account().forget(*this);
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
    ThreadStorage::await_current().priority = reader_.priority;
    loop_->run();
    // What is being served may wait for calls back, which nobody will serve: their callers are told
    // so, for as long as it takes.
    dispatcher_->begin_to_end();
    Serving::of(orb_).thread_pools().begin_to_end();
    on_wake(); // lanes have given back what they read
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
    std::vector<IntrusivePtr<HandoverConnection>> unread;
    {
        const std::lock_guard lock(attention_mutex_);
        ended.swap(attention_);
        unread.swap(adopted_);
    }
    for (const auto& connection : unread)
        connection->abandon();
}

Result<BidirectionalLinkPtr> HandoverServer::adopt(Adopted adopted)
{
    if (auto set = adopted.socket.set_non_blocking(true); !set) return set.error();
    const auto connection = IntrusivePtr<HandoverConnection>::adopt(
        new HandoverConnection(*this, *loop_, orb_, std::move(adopted.socket), adopted.peer));
    connection->go_on_with(adopted);
    BidirectionalLinkPtr link;
    if (adopted.is_made) link = connection->become_bidirectional(End::maker);
    bool refused = false;
    {
        const std::lock_guard lock(attention_mutex_);
        refused = loop_->stopping();
        if (!refused) adopted_.push_back(connection);
    }
    if (refused) {
        connection->abandon();
        return Error{ErrorCode::unreachable, "the ORB was shut down"};
    }
    loop_->wake();
    return link;
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

void HandoverServer::take_back(HandoverConnection& connection) noexcept
{
    {
        const std::lock_guard lock(attention_mutex_);
        connection.next_back_ = std::exchange(back_, &connection);
    }
    loop_->wake();
}

bool HandoverServer::watch_unread(ThreadPool& pool, PoolLevel& lane) noexcept
{
    for (const auto& unread : unread_)
        if (&unread->lane == &lane) return true;
    try {
        unread_.push_back(std::make_unique<Unread>(pool, lane));
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (loop_->watch(lane.readers->unread_descriptor(), *unread_.back()).ok()) return true;
    unread_.pop_back();
    return false;
}

void HandoverServer::Unread::on_ready(net::Readiness) noexcept { pool.recall_unread(lane); }

void HandoverServer::on_wake() noexcept
{
    std::vector<IntrusivePtr<HandoverConnection>> connections;
    std::vector<IntrusivePtr<HandoverConnection>> adopted;
    HandoverConnection* back = nullptr;
    {
        const std::lock_guard lock(attention_mutex_);
        connections.swap(attention_);
        adopted.swap(adopted_);
        back = std::exchange(back_, nullptr);
    }
    for (const auto& connection : adopted)
        if (!loop_->add(IntrusivePtr<ReactorConnection>(connection.get()))) connection->abandon();
    while (back != nullptr) {
        HandoverConnection& connection = *back; // the loop keeps it
        back = connection.next_back_;
        connection.reader_ = nullptr;
        connection.listen_again(
            std::exchange(connection.returned_, HandoverConnection::Returned::unread));
    }
    for (const auto& connection : connections)
        connection->after_sending();
}

Result<std::unique_ptr<Server>> make_handover(Orb& orb, std::vector<Listener> listeners,
                                              MakeDispatcher make)
{
    auto server = std::make_unique<HandoverServer>(
        orb, std::move(listeners), ThreadSettings{.options = orb.thread_options("kairos-read")});
    if (const auto opened = server->open(make(orb, *server)); !opened) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
}

} // namespace kairos::orb
