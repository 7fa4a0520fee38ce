// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/ring_channel.h"

#include <algorithm>
#include <array>
#include <climits>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <new>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace kairos::net {
namespace {

/// ThreadSanitizer cannot see that what one end writes the other reads: each has mapped the memory
/// for itself, at its own address. As it does for sockets, whatever was sent counts as before
/// whatever is received afterwards.
#ifdef __SANITIZE_THREAD__
char between_ends;
void note_sending() noexcept { __tsan_release(&between_ends); }
void note_receipt() noexcept { __tsan_acquire(&between_ends); }
#else
void note_sending() noexcept {}
void note_receipt() noexcept {}
#endif

/// A hostile peer could make a sleeper miss that the connection has ended: it looks now and then.
constexpr std::chrono::seconds look_up{1};
/// The server's answer; a message of GIOP begins otherwise.
constexpr std::byte memory_taken{1};
constexpr std::byte blocks_taken{2}; // as well
/// Looks at the memory for each at the clock.
constexpr int looks = 64;

/// A word in memory that processes share: not FUTEX_PRIVATE.
void sleep_on(std::atomic<std::uint32_t>& bell, std::uint32_t rung,
              std::chrono::nanoseconds time) noexcept
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{.tv_sec = static_cast<std::time_t>(seconds.count()),
                         .tv_nsec = static_cast<long>((time - seconds).count())};
    ::syscall(SYS_futex, &bell, FUTEX_WAIT, rung, &limit, nullptr, 0);
}

void ring(std::atomic<std::uint32_t>& bell) noexcept
{
    bell.fetch_add(1, std::memory_order_seq_cst);
    ::syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

IoResult ended() noexcept { return {.status = IoResult::Status::closed}; }

} // namespace

/// What the client writes is in the first half.
struct RingChannel::Memory {
    struct Ring {
        RingControl control;
        std::array<std::byte, capacity> octets;
    };
    Ring to_server;
    Ring to_client;
};

RingChannel::RingChannel(int descriptor, const SpinRule& spin, std::size_t loans)
    : descriptor_(descriptor), blocks_((::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0),
      loans_(loans), reading_(spin), writing_(spin)
{
}

[[gnu::cold]] RingChannel::~RingChannel()
{
    if (watch_) watch_->remove(descriptor_);
}

[[gnu::cold]] Result<void> RingChannel::open(SharedMemory memory, bool is_client)
{
    auto watch = PeerWatch::get();
    if (!watch) return watch.error();
    // Made by the client, and zero: the beginning of every word in it.
    auto* const shared = reinterpret_cast<Memory*>(memory.data());
    Memory::Ring& mine = is_client ? shared->to_server : shared->to_client;
    Memory::Ring& theirs = is_client ? shared->to_client : shared->to_server;
    memory_ = std::make_shared<const SharedMemory>(std::move(memory));
    outgoing_ = &mine.control;
    incoming_ = &theirs.control;
    writer_.emplace(*outgoing_, mine.octets.data(), capacity);
    reader_.emplace(*incoming_, theirs.octets.data(), capacity);
    is_open_ = true;
    if (const auto added = (*watch)->add(descriptor_, *this); !added) return added.error();
    watch_ = std::move(watch).value();
    return {};
}

/// A half of the memory beside the rings for each direction. False where that cannot be used.
[[gnu::cold]] bool RingChannel::open_blocks(bool is_client)
{
    const MutableBytes all = memory_->more();
    const MutableBytes to_server = all.first(all.size() / 2);
    const MutableBytes to_client = all.subspan(all.size() / 2);
    auto mine = BlockMemory::open(memory_, is_client ? to_server : to_client);
    auto theirs = BlockMemory::open(memory_, is_client ? to_client : to_server);
    if (!mine || !theirs) return false;
    block_writer_ = std::make_shared<BlockWriter>(*outgoing_, std::move(*mine));
    block_reader_ = std::make_unique<BlockReader>(*incoming_, std::move(*theirs));
    return true;
}

[[gnu::cold]] std::shared_ptr<std::byte> RingChannel::loan(std::size_t size)
{
    if (size < BlockMemory::block_min || !is_open_ || !block_writer_) return nullptr;
    return BlockWriter::loan(block_writer_, size);
}

[[gnu::cold]] Result<std::unique_ptr<RingChannel>>
RingChannel::connect(Socket& socket, const SpinRule& spin, Deadline deadline, std::size_t loans)
{
    loans = loans / SharedMemory::more_grain * SharedMemory::more_grain;
    auto memory = SharedMemory::make(sizeof(Memory), loans);
    if (!memory) return memory.error();
    if (const auto sent = memory->send(socket); !sent) return sent.error();
    std::byte agreed{};
    const IoResult answer = deadline.is_never() ? socket.read(MutableBytes(&agreed, 1))
                                                : socket.read(MutableBytes(&agreed, 1), deadline);
    const bool has_blocks = agreed == blocks_taken && !memory->more().empty();
    if (!answer.ok() || (agreed != memory_taken && !has_blocks))
        return Error{ErrorCode::unreachable, "the server does not take shared memory",
                     answer.error};
    if (const auto secured = memory->secure(); !secured) return secured.error();
    SpinRule rule = spin;
    rule.moves = true;
    auto channel = std::make_unique<RingChannel>(socket.descriptor(), rule);
    if (const auto opened = channel->open(std::move(memory).value(), true); !opened)
        return opened.error();
    if (has_blocks && !channel->open_blocks(true))
        return Error{ErrorCode::unreachable, "no memory for blocks"};
    return channel;
}

[[gnu::cold]] Result<void> RingChannel::take_memory()
{
    auto memory = SharedMemory::receive(descriptor_, sizeof(Memory), loans_);
    if (!memory) return memory.error();
    if (const auto opened = open(std::move(memory).value(), false); !opened) return opened.error();
    const std::byte& answer =
        !memory_->more().empty() && open_blocks(false) ? blocks_taken : memory_taken;
    if (::send(descriptor_, &answer, 1, MSG_NOSIGNAL) != 1)
        return Error{ErrorCode::closed, "the client has gone"};
    return {};
}

IoResult RingChannel::agree() noexcept
{
    if (!refusal_.empty()) return ended();
    if (is_open_) return {};
    // What comes of taking it does not tell: a thread that cannot be started is EAGAIN as well.
    const IoResult came = wait_at(descriptor_, POLLIN, std::chrono::nanoseconds(0));
    if (came.status == IoResult::Status::would_block) return came;
    try {
        const auto taken = take_memory();
        if (taken) return {};
        refusal_ = taken.error().reason;
    } catch (const std::bad_alloc&) {
        refusal_ = "no memory"; // short enough to need none
    }
    if (is_open_) note_end();
    return ended();
}

/// Before anything can be read.
IoResult RingChannel::agree_by(Deadline deadline) noexcept
{
    for (;;) {
        const IoResult agreed = agree();
        if (agreed.status != IoResult::Status::would_block || deadline.has_passed()) return agreed;
        if (const IoResult came = wait_at(descriptor_, POLLIN, deadline.left()); !came.ok())
            return came;
    }
}

// --- The end -------------------------------------------------------------------------------------

void RingChannel::note_end() noexcept
{
    peer_gone_ = true;
    ring(incoming_->reader_bell.word);
    ring(outgoing_->writer_bell.word);
}

/// The peer has written what cannot be: it is as good as gone, for who reads and for who writes.
IoResult RingChannel::broken() noexcept
{
    if (is_open_) note_end();
    return {.error = EPROTO, .status = IoResult::Status::failed};
}

bool RingChannel::shut_reading() noexcept
{
    reading_shut_ = true;
    if (!is_open_) return false;
    ring(incoming_->reader_bell.word);
    return true;
}

void RingChannel::shut_writing() noexcept
{
    writing_shut_ = true;
    if (is_open_) ring(outgoing_->writer_bell.word);
}

std::optional<std::uint64_t> RingChannel::stuck_at() const noexcept
{
    const std::uint64_t at = stuck_at_.load(std::memory_order_relaxed);
    return at == not_stuck ? std::nullopt : std::optional(at);
}

// --- Waiting -------------------------------------------------------------------------------------

/// What the peer has written, or that it is broken.
inline bool RingChannel::is_anything_there() noexcept
{
    if (reader_->available() != 0 || reader_->broken()) return true;
    if (!block_reader_) return false;
    return block_reader_->inside() || block_reader_->ahead(reader_->position()) == 0;
}

bool RingChannel::has_something() noexcept { return is_anything_there() || no_more_reading(); }

bool RingChannel::has_room() noexcept
{
    return writer_->room() != 0 || writer_->broken() || no_more_writing();
}

void RingChannel::wake(RingWait wish, std::atomic<std::uint32_t>& bell) noexcept
{
    if (wish == RingWait::no) return;
    if (wish == RingWait::sleeps) return ring(bell);
    // A full socket has enough in it to wake anybody.
    constexpr std::byte knock{1};
    (void)::send(descriptor_, &knock, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// False at the deadline.
template <typename Ready>
bool RingChannel::wait_for(Spin& spin, std::atomic<std::uint32_t>& waits,
                           std::atomic<std::uint32_t>& bell, Deadline deadline,
                           Ready ready) noexcept
{
    if (ready() || (!deadline.has_passed() && spin.until(ready, looks))) return true;
    for (;;) {
        const std::uint32_t rung = bell.load(std::memory_order_seq_cst);
        waits.store(static_cast<std::uint32_t>(RingWait::sleeps), std::memory_order_seq_cst);
        // In this order: who makes it ready looks afterwards whether anybody waits.
        const bool is_ready = ready();
        const auto left = deadline.left();
        if (!is_ready && left != std::chrono::nanoseconds(0))
            sleep_on(bell, rung,
                     std::min<std::chrono::nanoseconds>(left.value_or(look_up), look_up));
        waits.store(0, std::memory_order_relaxed);
        if (is_ready || ready()) return true;
        if (left == std::chrono::nanoseconds(0)) return false;
        pollfd socket{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
        if (::poll(&socket, 1, 0) > 0) peer_gone_ = true;
    }
}

IoResult RingChannel::wait_readable(Deadline deadline) noexcept
{
    if (!is_open_) {
        const IoResult agreed = agree_by(deadline);
        if (agreed.status == IoResult::Status::would_block) return agreed;
        if (!agreed.ok()) return {}; // a read says so
    }
    stop_polling(polls_to_read_, incoming_->reader_waits.word);
    const bool ready = wait_for(reading_, incoming_->reader_waits.word, incoming_->reader_bell.word,
                                deadline, [this] { return has_something(); });
    if (ready) return {};
    return {.error = ETIMEDOUT, .status = IoResult::Status::would_block};
}

IoResult RingChannel::wait_writable(Deadline deadline) noexcept
{
    if (!is_open_) return broken();
    stop_polling(polls_to_write_, outgoing_->writer_waits.word);
    stuck_at_.store(writer_->position(), std::memory_order_relaxed);
    const bool ready = wait_for(writing_, outgoing_->writer_waits.word, outgoing_->writer_bell.word,
                                deadline, [this] { return has_room(); });
    stuck_at_.store(not_stuck, std::memory_order_relaxed);
    if (ready) return {};
    return {.error = ETIMEDOUT, .status = IoResult::Status::would_block};
}

Interest RingChannel::prepare_poll(Interest wish) noexcept
{
    if (!is_open_) return refusal_.empty() ? Interest::readable : Interest::none;
    const bool writes = wish == Interest::writable;
    (writes ? polls_to_write_ : polls_to_read_) = true;
    std::atomic<std::uint32_t>& waits =
        writes ? outgoing_->writer_waits.word : incoming_->reader_waits.word;
    // In this order: as in wait_for.
    waits.store(static_cast<std::uint32_t>(RingWait::polls), std::memory_order_seq_cst);
    const bool is_ready = writes ? has_room() : is_anything_there() || peer_gone_;
    return is_ready ? Interest::none : Interest::readable;
}

/// Takes the wish to be woken back, and what has come of it.
void RingChannel::stop_polling(bool& polls, std::atomic<std::uint32_t>& waits) noexcept
{
    if (!std::exchange(polls, false)) return;
    waits.store(0, std::memory_order_relaxed);
    std::array<std::byte, 64> knocks;
    if (::recv(descriptor_, knocks.data(), knocks.size(), MSG_DONTWAIT) == 0) peer_gone_ = true;
}

// --- Reading and writing -------------------------------------------------------------------------

/// What is in the ring up to the next block, or that.
std::size_t RingChannel::read_blocks(MutableBytes buffer, RingWait& writer, bool peek) noexcept
{
    BlockReader& blocks = *block_reader_;
    if (reader_->broken()) return 0;
    if (!blocks.inside()) {
        // In this order: a block is announced before what follows it is in the ring.
        const std::size_t there = reader_->available();
        const std::size_t ahead = blocks.ahead(reader_->position());
        if (ahead != 0) [[likely]]
            return reader_->read(buffer.first(std::min({buffer.size(), there, ahead})), writer,
                                 peek);
    }
    try {
        if (!blocks.inside() && !blocks.enter()) {
            reader_->give_up();
            return 0;
        }
        const auto block = taker_ != nullptr && !peek ? blocks.whole() : std::nullopt;
        if (block && block->size() >= BlockMemory::block_min) {
            std::shared_ptr<const void> lease = blocks.lease();
            if (taker_->take(*block, lease)) {
                blocks.pass();
                return block->size();
            }
            blocks.keep(std::move(lease)); // and `buffer` is what it was: who refuses leaves it so
        }
    } catch (const std::bad_alloc&) { // for a lease: it does without
        if (!blocks.inside()) return 0;
    }
    return blocks.read(buffer, peek);
}

/// Large segments become blocks as long as there are free ones, what is between them and behind
/// goes through the ring. The reader is to be woken for all of it together.
[[gnu::cold]] std::size_t RingChannel::write_blocks(std::span<const iovec> segments,
                                                    RingWait& reader) noexcept
{
    std::size_t written = 0;
    std::size_t room = writer_->room();
    if (writer_->broken()) return 0;
    std::size_t first = 0; // segment that is to go through the ring
    std::size_t ahead = 0; // octets from there on
    bool is_told = true;
    const auto write_ring = [&](std::size_t end) {
        RingWait wish = RingWait::no;
        const std::size_t size = writer_->write(segments.subspan(first, end - first), wish);
        if (wish != RingWait::no) reader = wish;
        is_told = is_told || size != 0;
        written += size;
        room = writer_->room();
    };
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Bytes segment(static_cast<const std::byte*>(segments[i].iov_base),
                            segments[i].iov_len);
        std::optional<BlockWriter::Place> place;
        if (segment.size() >= BlockMemory::block_min && ahead <= room) {
            try {
                place = block_writer_->put(segment);
            } catch (const std::bad_alloc&) { // then not
            }
        }
        if (!place) {
            ahead += segment.size();
            continue;
        }
        block_writer_->announce(*place, writer_->position() + static_cast<std::uint32_t>(ahead));
        is_told = false;
        if (ahead != 0) write_ring(i);
        written += place->size;
        first = i + 1;
        ahead = 0;
        if (place->size != segment.size()) break;
    }
    if (ahead != 0) write_ring(segments.size());
    if (!is_told && reader == RingWait::no) reader = writer_->waiting_reader();
    return written;
}

IoResult RingChannel::read(MutableBytes buffer, ReadFlags flags) noexcept
{
    if (buffer.empty()) return {};
    const auto has = [flags](ReadFlags flag) {
        return (static_cast<int>(flags) & static_cast<int>(flag)) != 0;
    };
    const bool waits = blocks_ && !has(ReadFlags::do_not_wait);
    if (!is_open_) [[unlikely]] {
        const Deadline deadline = !waits                     ? Deadline::after({})
                                  : read_limit_.count() != 0 ? Deadline::after(read_limit_)
                                                             : Deadline();
        if (const IoResult agreed = agree_by(deadline); !agreed.ok()) return agreed;
    }
    if (polls_to_read_) stop_polling(polls_to_read_, incoming_->reader_waits.word);
    for (;;) {
        // In this order: what the peer wrote before it ended is still read.
        const bool no_more = no_more_reading();
        RingWait writer = RingWait::no;
        const bool peeks = has(ReadFlags::peek);
        const std::size_t size = block_reader_ ? read_blocks(buffer, writer, peeks)
                                               : reader_->read(buffer, writer, peeks);
        wake(writer, incoming_->writer_bell.word);
        if (size != 0) {
            note_receipt();
            return {.bytes = size};
        }
        if (reader_->broken()) return broken();
        if (no_more) return ended();
        if (!waits) return {.error = EAGAIN, .status = IoResult::Status::would_block};
        const bool limited = read_limit_.count() != 0;
        const IoResult waited = wait_readable(limited ? Deadline::after(read_limit_) : Deadline());
        if (limited && waited.status == IoResult::Status::would_block) return waited;
    }
}

IoResult RingChannel::write(std::span<const iovec> segments, WriteFlags flags) noexcept
{
    const bool waits =
        blocks_ && (static_cast<int>(flags) & static_cast<int>(WriteFlags::do_not_wait)) == 0;
    for (;;) {
        if (!is_open_ || no_more_writing())
            return {.error = EPIPE, .status = IoResult::Status::closed};
        if (polls_to_write_) stop_polling(polls_to_write_, outgoing_->writer_waits.word);
        RingWait reader = RingWait::no;
        note_sending();
        const bool has_blocks =
            block_writer_ && std::ranges::any_of(segments, [](const iovec& segment) {
                return segment.iov_len >= BlockMemory::block_min;
            });
        const std::size_t size =
            has_blocks ? write_blocks(segments, reader) : writer_->write(segments, reader);
        wake(reader, outgoing_->reader_bell.word);
        if (size != 0) return {.bytes = size};
        if (writer_->broken()) return broken();
        const bool is_empty = std::ranges::all_of(
            segments, [](const iovec& segment) { return segment.iov_len == 0; });
        if (is_empty) return {};
        if (!waits) return {.error = EAGAIN, .status = IoResult::Status::would_block};
        const bool limited = write_limit_.count() != 0;
        const IoResult waited = wait_writable(limited ? Deadline::after(write_limit_) : Deadline());
        if (limited && waited.status == IoResult::Status::would_block) return waited;
    }
}

} // namespace kairos::net
