// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/owed_answer.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/bytes.h"
#include "kairos/base/deadline.h"
#include "kairos/base/limits.h"
#include "kairos/giop/request.h"
#include "kairos/net/socket.h"
#include "kairos/net/waker.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/kept_answer.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/owed_answers.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_observation.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace kairos::orb {

IntrusivePtr<OwedChannel> ReplyChannel::owe() { return {}; }

namespace {

/// The way of an answer that nobody waits for.
class NobodysAnswer final : public OwedChannel {
  public:
    void send(Bytes, const cdr::Writer&) noexcept override {}
    void fail() noexcept override {}
};

/// Memory of the thread for one upcall.
class BorrowedMemory {
  public:
    BorrowedMemory() : memory_(ThreadStorage::current().upcall_memory.take()) {}
    ~BorrowedMemory()
    {
        memory_->arena.reset();
        memory_->observation = nullptr;
        if (memory_->reply.capacity() > limits::receive_buffer_kept) memory_->reply.clear();
        ThreadStorage::current().upcall_memory.give_back(std::move(memory_));
    }
    BorrowedMemory(const BorrowedMemory&) = delete;
    BorrowedMemory& operator=(const BorrowedMemory&) = delete;
    [[nodiscard]] UpcallMemory& operator*() const noexcept { return *memory_; }

  private:
    std::unique_ptr<UpcallMemory> memory_;
};

} // namespace

/// The way of an answer that only the thread which serves the request can send: it waits for it.
class AwaitedAnswer final : public KeptAnswer {
  public:
    /// `peer` is where the request came from, as long as somebody waits. Throws NO_RESOURCES.
    explicit AwaitedAnswer(const net::Address* peer)
        : peer_(peer), waker_(made()), socket_(::fcntl(waker_.descriptor(), F_DUPFD_CLOEXEC, 0))
    {
        if (socket_.descriptor() < 0) raise_no_descriptor();
    }

    [[nodiscard]] const net::Address* peer_address() const noexcept override { return peer_; }

    void over() noexcept override
    {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        waker_.wake();
    }

    // --- by the thread that serves ---
    [[nodiscard]] bool is_over() const noexcept
    {
        const std::lock_guard lock(mutex_);
        return is_over_;
    }
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }

  private:
    [[noreturn]] static void raise_no_descriptor()
    {
        raise<CORBA::NO_RESOURCES>(0, CORBA::COMPLETED_NO,
                                   "no descriptor to wait for an answer with");
    }
    static net::Waker made()
    {
        auto waker = net::Waker::create();
        if (!waker) raise_no_descriptor();
        return std::move(waker).value();
    }

    const net::Address* const peer_;
    net::Waker waker_;
    const net::Socket socket_; // readable once the waker was woken
    mutable std::mutex mutex_; // guards is_over_; inside nobody's
    bool is_over_ = false;
};

// --- OwedAnswers ---------------------------------------------------------------------------------

namespace {

/// Says that the thread gives an answer of this ORB.
class Giving {
  public:
    explicit Giving(const Orb& orb) noexcept : orb_(orb), outer_(std::exchange(innermost_, this)) {}
    ~Giving() { innermost_ = outer_; }
    Giving(const Giving&) = delete;
    Giving& operator=(const Giving&) = delete;

    [[nodiscard]] static const Giving* innermost() noexcept { return innermost_; }
    [[nodiscard]] const Giving* outer() const noexcept { return outer_; }
    [[nodiscard]] const Orb& orb() const noexcept { return orb_; }

  private:
    static thread_local constinit const Giving* innermost_;
    const Orb& orb_;
    const Giving* const outer_;
};
thread_local constinit const Giving* Giving::innermost_ = nullptr;

} // namespace

void OwedAnswers::close() noexcept
{
    std::unique_lock lock(mutex_);
    closed_ = true;
    while (OwedAnswer* const answer = first_) {
        answer->leave_list();
        lock.unlock();
        answer->answer_no_response(); // and it may be gone
        lock.lock();
    }
    changed_.wait(lock, [this] { return being_given_ == 0; });
}

// --- OwedAnswer ----------------------------------------------------------------------------------

bool OwedAnswer::is_being_given_here(const Orb* orb) noexcept
{
    for (const Giving* giving = Giving::innermost(); giving != nullptr; giving = giving->outer())
        if (orb == nullptr || &giving->orb() == orb) return true;
    return false;
}

void OwedAnswer::lock_for_fork(Orb& orb) noexcept { orb.owed_answers().mutex_.lock(); }
void OwedAnswer::unlock_after_fork(Orb& orb) noexcept { orb.owed_answers().mutex_.unlock(); }

OwedAnswer::OwedAnswer(Upcall& upcall, std::unique_ptr<Kept> kept,
                       IntrusivePtr<OwedChannel> channel)
    : orb_(&upcall.orb()), text_(upcall.environment_.text), exceptions_(upcall.exceptions_),
      request_id_(upcall.request_.request_id), giop_minor_(upcall.request_.version.minor),
      response_flags_(upcall.replied() ? giop::response_flags::none
                                       : upcall.request_.response_flags),
      operation_(upcall.operation_), kept_(std::move(kept)), channel_(std::move(channel))
{
    if (upcall.has_contexts_) reply_contexts_.append(upcall.memory_.contexts.bytes());
    if (upcall.memory_.observation == nullptr) return;
    object_key_.assign(upcall.object_key_.begin(), upcall.object_key_.end());
    upcall.request_.contexts.for_each(
        [this](std::uint32_t id, Bytes data) { request_contexts_.append(id, data); });
}

OwedAnswer::~OwedAnswer()
{
    if (is_of_parent()) {
        leave_to_parent();
        return;
    }
    OwedAnswers& all = orb_->owed_answers();
    {
        std::unique_lock lock(all.mutex_);
        // Who ends the ORB may be giving it.
        all.changed_.wait(lock, [this] { return state_ != State::being_given; });
        if (state_ == State::given) return;
        leave_list();
    }
    answer_no_response();
}

/// Whether it is owed by a process that this one is a fork of.
bool OwedAnswer::is_of_parent() const noexcept { return process_ != ::getpid(); }

/// Without a word: what belongs to it may be in any state, and its threads are not there.
void OwedAnswer::leave_to_parent() noexcept
{
    (void)observation_.release();
    (void)kept_.release();
    (void)channel_.detach();
}

/// From here on it is owed. Nothing is done where it may not be. No connection has more than there
/// are left for others.
void OwedAnswer::enlist(Upcall& upcall)
{
    OwedAnswers& all = orb_->owed_answers();
    const std::lock_guard lock(all.mutex_);
    if (all.closed_)
        raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO,
                                    "the ORB was destroyed");
    const std::size_t most = orb_->options().asynchronous_calls_max;
    if (all.count_ >= most || channel_->owed_already() > most - all.count_)
        raise<CORBA::TRANSIENT>(minor_code::too_many_calls, CORBA::COMPLETED_NO,
                                "as many answers are owed as -ORBAsynchronousCalls allows");
    channel_->begin();
    observation_.reset(std::exchange(upcall.memory_.observation, nullptr));
    upcall.stage_ = Upcall::Stage::replied;
    state_ = State::owed;
    next_ = all.first_;
    if (next_ != nullptr) next_->previous_ = this;
    all.first_ = this;
    ++all.count_;
}

/// Begins to give it. Must hold the mutex of all.
void OwedAnswer::leave_list() noexcept
{
    OwedAnswers& all = orb_->owed_answers();
    assert_held(all.mutex_);
    (previous_ == nullptr ? all.first_ : previous_->next_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    --all.count_;
    ++all.being_given_;
    state_ = State::being_given;
}

void OwedAnswer::give_by(WriteReply write, void* called)
{
    if (is_of_parent())
        raise<CORBA::BAD_INV_ORDER>(minor_code::request_is_over, CORBA::COMPLETED_NO,
                                    "the request is that of the process that has forked");
    const IntrusivePtr<OwedAnswer> self(this); // whoever is told of it may release the last
    OwedAnswers& all = orb_->owed_answers();
    {
        const std::lock_guard lock(all.mutex_);
        if (all.closed_)
            raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO,
                                        "the ORB was destroyed");
        if (state_ != State::owed)
            raise<CORBA::BAD_INV_ORDER>(minor_code::request_is_over, CORBA::COMPLETED_NO,
                                        "the request was answered already");
        leave_list();
    }
    answer(write, called);
}

void OwedAnswer::give_exception(const std::exception_ptr& exception)
{
    give([&exception](Upcall& upcall) { orb::answer(upcall, exception); });
}

void OwedAnswer::answer_no_response() noexcept
{
    answer(
        [](Upcall& upcall, void*) {
            upcall.reply(CORBA::NO_RESPONSE(minor_code::answer_lost, CORBA::COMPLETED_MAYBE));
        },
        nullptr);
}

/// This may be gone as soon as it was given.
void OwedAnswer::answer(WriteReply write, void* called) noexcept
{
    const IntrusivePtr<Orb> orb = orb_;
    const Giving giving(*orb);
    try {
        send(write, called);
    } catch (const std::bad_alloc&) {
        channel_->fail();
    }
    observation_.reset();
    std::unique_ptr<Kept> kept = std::move(kept_);
    IntrusivePtr<OwedChannel> channel = std::move(channel_);
    OwedAnswers& all = orb->owed_answers();
    {
        const std::lock_guard lock(all.mutex_);
        state_ = State::given;
        all.changed_.notify_all();
    }
    kept.reset(); // may call the program
    channel->over();
    channel = {};
    const std::lock_guard lock(all.mutex_);
    --all.being_given_;
    all.changed_.notify_all();
}

/// An upcall of its own: the first one is over.
void OwedAnswer::send(WriteReply write, void* called)
{
    const BorrowedMemory memory;
    const giop::Request request{
        .version = {1, giop_minor_},
        .response_flags = response_flags_,
        .request_id = request_id_,
        .operation = operation_,
        .target = {.key = object_key_, .profile_data = {}, .ior = {}},
        .contexts = request_contexts_.contexts(),
        .body = {},
    };
    Upcall upcall(*orb_, request, text_, *channel_, *memory);
    upcall.let_pass(exceptions_);
    if (!reply_contexts_.empty()) upcall.reply_contexts().append(reply_contexts_.bytes());
    if (observation_) {
        observation_->resume(upcall);
        upcall.observe(observation_.get());
    }
    try {
        write(upcall, called);
        if (!upcall.replied()) raise<CORBA::INTERNAL>(minor_code::no_reply, CORBA::COMPLETED_MAYBE);
    } catch (...) {
        orb::answer(upcall, std::current_exception());
    }
}

// --- OwedUpcall ----------------------------------------------------------------------------------

OwedUpcall::OwedUpcall(Upcall& upcall, std::unique_ptr<OwedAnswer::Kept> kept) : upcall_(upcall)
{
    IntrusivePtr<OwedChannel> channel = upcall.channel().owe();
    if (!channel) {
        if (upcall.replied() || !upcall.request().response_expected()) {
            channel = IntrusivePtr<OwedChannel>::adopt(new NobodysAnswer);
        } else {
            awaited_ = make_intrusive<AwaitedAnswer>(upcall.peer());
            channel = IntrusivePtr<OwedChannel>(awaited_.get());
        }
    }
    channel->is_local = upcall.is_local();
    if (!channel->keep(upcall.request().body.left()))
        raise<CORBA::TRANSIENT>(minor_code::too_many_calls, CORBA::COMPLETED_NO,
                                "too many octets of requests wait for answers (-ORBMemory)");
    if (upcall.observation() != nullptr) of_thread_ = upcall.observation()->leave_thread();
    answer_ = IntrusivePtr<OwedAnswer>::adopt(
        new OwedAnswer(upcall, std::move(kept), std::move(channel)));
    answer_->enlist(upcall);
}

OwedUpcall::~OwedUpcall() = default;

void OwedUpcall::finish()
{
    answer_ = {};
    of_thread_.clear();
    if (!awaited_) return;
    const Deadline* const limit = upcall_.memory().answer_due;
    const Deadline due = limit == nullptr ? Deadline() : *limit;
    ServingThread* const thread = ThreadStorage::current().serving_thread;
    const Awaited awaited{.socket = awaited_->socket()};
    while (!awaited_->is_over() && !due.has_passed()) {
        if (thread != nullptr)
            thread->wait(awaited, due);
        else
            (void)wait_either(awaited, nullptr, due);
    }
    if (!awaited_->is_over())
        return refuse(CORBA::TIMEOUT(minor_code::no_reply_in_time, CORBA::COMPLETED_MAYBE));
    try { // from memory of the upcall: a caller in this thread reads it there
        awaited_->pass_on(upcall_.memory().reply, [this](Bytes header, const cdr::Writer& body) {
            upcall_.channel().send(header, body);
        });
    } catch (const std::bad_alloc&) {
        refuse(CORBA::NO_MEMORY(0, CORBA::COMPLETED_MAYBE));
    }
}

void OwedUpcall::refuse(const CORBA::SystemException& exception) noexcept
{
    Upcall upcall(upcall_.orb(), upcall_.request(), nullptr, upcall_.channel(), upcall_.memory());
    upcall.reply(exception);
}

} // namespace kairos::orb
