// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/dispatcher.h"

#include "kairos/base/limits.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/object_key_of.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/owed_channel.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/timed_upcall.h"
#include "kairos/orb/timing_context.h"
#include "kairos/server/account.h"
#include "kairos/server/handover.h"
#include "kairos/server/serving.h"

#include <cstring>
#include <utility>

namespace kairos::orb {

// --- QueuedRequest -------------------------------------------------------------------------------

QueuedRequest::~QueuedRequest() = default;

cdr::Fault QueuedRequest::fill(HandoverConnection& connection, const giop::Message& message)
{
    connection_ = IntrusivePtr(&connection);
    arrived_ = std::chrono::steady_clock::now();
    part_begins_.assign(message.part_begins.begin(), message.part_begins.end());
    message_ = message;
    message_.part_begins = part_begins_;
    // Beyond this a new receive buffer for the connection costs less than the copy.
    constexpr std::size_t copied_max = std::size_t{64} << 10;
    if (message.bytes.size() > copied_max) {
        kept_ = connection.keep_messages();
    } else {
        bytes_.reserve(message.bytes.size(), 0);
        std::memcpy(bytes_.data(), message.bytes.data(), message.bytes.size());
        message_.bytes = {bytes_.data(), message.bytes.size()};
    }
    text_ = nullptr;
    urgency = {};
    if (is_request()) return giop::parse(message_, request_);
    return giop::parse(message_, locate_);
}

void QueuedRequest::order_by(Dispatching dispatching, const OperationTiming* timing) noexcept
{
    if (timing == nullptr) return;
    const auto released = release_of(arrived_, *timing, request_.contexts);
    urgency = urgency_of(dispatching, timing, released.time_since_epoch());
}

Bytes QueuedRequest::object_key(Arena& arena) const
{
    return is_request() ? object_key_of(request_.target, request_.little_endian, arena)
                        : object_key_of(locate_.target, locate_.little_endian, arena);
}

bool QueuedRequest::count() noexcept
{
    const std::size_t most = connection_->orb().options().peer_requests_max;
    if (most != 0 && !is_waiting_) [[unlikely]] {
        is_waiting_ = connection_->begin_waiting(most);
        if (!is_waiting_) return false;
    }
    if (!is_queued_) // small ones are not counted, and need not ask
        is_queued_ = message_bytes() <= Account::free_octets ||
                     Serving::of(connection_->orb()).account().queue(message_bytes(), source());
    return is_queued_;
}

bool QueuedRequest::may_go_on() const noexcept
{
    return waits_for_peer_ ? !connection_->is_congested() : hold.may_go_on();
}

void QueuedRequest::end_waiting() noexcept
{
    if (std::exchange(is_waiting_, false)) [[unlikely]]
        connection_->end_waiting();
}

bool QueuedRequest::serve(UpcallMemory& memory) noexcept
{
    end_waiting();
    waits_for_peer_ = connection_->is_congested();
    if (waits_for_peer_) return false;
    try {
        if (!is_request()) {
            answer_locate(connection_->orb(), locate_, *this, memory);
            return true;
        }
        const ArrivalScope waited(arrived_);
        const Served served = dispatch(connection_->orb(), request_, text_, *this, memory);
        if (served == Served::held) return false;
        if (served == Served::malformed) connection_->note_malformed();
        hold.end();
    } catch (const std::bad_alloc&) {
        connection_->fail("out of memory for a reply");
    }
    if (memory.reply.capacity() > limits::receive_buffer_kept) memory.reply.clear();
    return true;
}

void QueuedRequest::refuse(const CORBA::SystemException& exception, UpcallMemory& memory) noexcept
{
    try {
        // Where an object is can still be asked.
        if (!is_request()) return answer_locate(connection_->orb(), locate_, *this, memory);
        if (!request_.response_expected()) return;
        constexpr std::size_t headroom = giop::reply_headroom();
        cdr::Writer body(memory.reply, headroom);
        giop::SystemExceptionBody{exception._rep_id(), exception.minor(),
                                  static_cast<std::uint32_t>(exception.completed())}
            .write(body);
        send(giop::prepend_refusal(giop::Body::of(body, headroom), request_.version,
                                   request_.request_id),
             body);
    } catch (const std::bad_alloc&) {
        connection_->fail("out of memory for a reply");
    }
}

void QueuedRequest::refuse_for_now(UpcallMemory& memory) noexcept
{
    refuse(CORBA::TRANSIENT(minor_code::request_discarded, CORBA::COMPLETED_NO), memory);
}

void QueuedRequest::send(Bytes header, const cdr::Writer& body) noexcept
{
    connection_->send(header, body);
}

namespace {

/// The way of an answer that is given when its QueuedRequest is another one's. What the account and
/// the connection count the request for, they count until then.
class OwedReply final : public OwedChannel {
  public:
    /// Of this request, which outlives begin().
    OwedReply(QueuedRequest& request, IntrusivePtr<HandoverConnection> connection) noexcept
        : request_(&request), connection_(std::move(connection))
    {
    }
    [[nodiscard]] std::size_t owed_already() const noexcept override { return connection_->owed(); }
    /// Takes over what is counted: the connection's request under way, and octets in the account.
    void begin() noexcept override
    {
        counts_ = std::exchange(request_, nullptr)->give_counts();
        connection_->note_owed(1);
        is_owed_ = true;
    }
    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        connection_->send(header, body);
    }
    [[nodiscard]] const net::Address* peer_address() const noexcept override
    {
        return &connection_->peer();
    }
    void fail() noexcept override { connection_->fail("out of memory for a reply"); }

  private:
    ~OwedReply() override
    {
        if (!is_owed_) return;
        connection_->note_owed(-1);
        if (counts_.is_queued) Serving::of(connection_->orb()).account().unqueue(counts_.octets);
        if (counts_.is_under_way) connection_->request_done();
    }

    QueuedRequest* request_; // null: it goes its own way
    const IntrusivePtr<HandoverConnection> connection_;
    QueuedRequest::Counts counts_;
    bool is_owed_ = false;
};

} // namespace

IntrusivePtr<OwedChannel> QueuedRequest::owe()
{
    return IntrusivePtr<OwedChannel>::adopt(new OwedReply(*this, connection_));
}

QueuedRequest::Counts QueuedRequest::give_counts() noexcept
{
    return {.octets = message_bytes(),
            .is_queued = std::exchange(is_queued_, false),
            .is_under_way = std::exchange(counted, false)};
}

const net::Address& QueuedRequest::peer() const noexcept { return connection_->peer(); }

const net::Channel* QueuedRequest::peer_channel() const noexcept
{
    return connection_->peer_channel();
}

RequestSource& QueuedRequest::source() const noexcept { return connection_->source(); }

// --- RequestStore --------------------------------------------------------------------------------

void RecycleRequest::operator()(QueuedRequest* request) const noexcept
{
    store->give_back(request);
}

QueuedRequestPtr RequestStore::take()
{
    {
        const std::lock_guard lock(mutex_);
        if (!spares_.empty()) {
            QueuedRequest* spare = spares_.back().release();
            spares_.pop_back();
            return {spare, RecycleRequest{this}};
        }
    }
    QueuedRequestPtr made(new QueuedRequest, RecycleRequest{this});
    made->store_ = this;
    return made;
}

void RequestStore::give_back(QueuedRequest* request) noexcept
{
    std::unique_ptr<QueuedRequest> spare(request);
    spare->hold.end();
    if (QueuedRequest::Watcher* watcher = std::exchange(spare->watcher, nullptr))
        watcher->on_done();
    spare->end_waiting();
    if (std::exchange(spare->counted, false)) spare->connection_->request_done();
    if (std::exchange(spare->is_queued_, false))
        Serving::of(spare->connection_->orb()).account().unqueue(spare->message_bytes());
    spare->kept_.reset();
    spare->connection_ = {};
    if (spare->bytes_.capacity() > limits::receive_buffer_initial) spare->bytes_.clear();
    const std::lock_guard lock(mutex_);
    if (spares_.size() >= spares_max_) return;
    try {
        spares_.push_back(std::move(spare));
    } catch (const std::bad_alloc&) { // then it is not kept
    }
}

// --- Lists ---------------------------------------------------------------------------------------

void RequestList::push_back(QueuedRequestPtr request) noexcept
{
    QueuedRequest* added = request.release();
    added->next_ = nullptr;
    if (first_ == nullptr)
        first_ = added;
    else
        last_->next_ = added;
    last_ = added;
    ++size_;
}

QueuedRequestPtr RequestList::pop_front() noexcept
{
    if (first_ == nullptr) return {};
    QueuedRequest* taken = std::exchange(first_, first_->next_);
    --size_;
    return {taken, RecycleRequest{taken->store_}};
}

void RequestList::discard() noexcept
{
    UpcallMemory memory;
    const auto note = [this](int change) {
        for (QueuedRequest* each = first_; each != nullptr; each = each->next_)
            each->connection_->note_discarded(change);
    };
    note(1);
    for (QueuedRequest* each = first_; each != nullptr; each = each->next_)
        if (each->connection_->serves_others()) each->refuse_for_now(memory);
    note(-1);
    clear();
}

void RequestList::put_in_front(RequestList& earlier) noexcept
{
    if (earlier.first_ == nullptr) return;
    earlier.last_->next_ = first_;
    if (first_ == nullptr) last_ = earlier.last_;
    first_ = std::exchange(earlier.first_, nullptr);
    size_ += std::exchange(earlier.size_, 0);
}

void RequestList::clear() noexcept
{
    while (!empty())
        (void)pop_front();
}

bool each_has_place(const Options& options) noexcept
{
    return options.when_queue_full == WhenQueueFull::block;
}

bool HeldRequests::add(QueuedRequestPtr& request) noexcept
{
    if (request->may_go_on()) return false;
    held_.push_back(std::move(request));
    return true;
}

} // namespace kairos::orb
