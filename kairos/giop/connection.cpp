// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/connection.h"

#include "kairos/giop/control.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace kairos::giop {

namespace {

constexpr std::uint8_t permission(MessageType type)
{
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(type));
}

} // namespace

/// What was taken. A block belongs to the message at begin_, as soon as that is wholly there to the
/// last that was handed out, and then until memory is asked for.
struct Connection::Lent final : BlockTaker {
    explicit Lent(Connection& its) noexcept : connection(its) {}
    [[gnu::cold]] bool take(Bytes octets, std::shared_ptr<const void> its_lease) noexcept override;
    /// Gives back what was handed out, if anything was.
    [[gnu::cold, gnu::noinline]] void drop() noexcept
    {
        if (handed_out) (void)connection.end_gap();
    }

    Connection& connection;
    Bytes block;
    std::shared_ptr<const void> lease; // while it is not handed out
    std::size_t begin = 0;             // of the block in the message
    std::unique_ptr<Block> handed_out;
    Message whole; // that was handed out, its block perhaps not in its place
    // What is changed meanwhile, so that the usual way leads nowhere.
    std::uint8_t permitted = 0;
    std::size_t kept_max = 0;
};

Connection::~Connection() = default;

Connection::Connection(Role role, std::size_t message_size_max,
                       const ReadSizes& read_sizes) noexcept
    : size_max_(std::min(message_size_max, std::size_t{std::numeric_limits<std::uint32_t>::max()})),
      read_sizes_(read_sizes), first_read_(read_sizes.at_once),
      permitted_(role == Role::server
                     ? permission(MessageType::request) | permission(MessageType::locate_request)
                     : permission(MessageType::reply) | permission(MessageType::locate_reply)),
      role_(role)
{
}

void Connection::accept_replies() noexcept
{
    std::uint8_t& permitted = lent_ && lent_->lease ? lent_->permitted : permitted_;
    permitted = static_cast<std::uint8_t>(permitted | permission(MessageType::reply) |
                                          permission(MessageType::locate_reply));
}

MutableBytes Connection::space()
{
    const bool kept = buffer_.capacity() != 0 && buffer_.capacity() <= kept_max_;
    if (begin_ == end_ && kept && !reassembly_) [[likely]] {
        passed_ += end_;
        begin_ = end_ = 0;
        return {buffer_.data(), std::min(buffer_.capacity(), first_read_)};
    }
    return space_other();
}

MutableBytes Connection::space_other()
{
    if (lent_) lent_->drop();
    if (reassembly_) reassembly_->trim();
    if (ended_) begin_ = end_ = message_size_ = 0;
    const bool is_short = kept_max_ < limits::receive_buffer_kept; // of memory for all
    if (is_short) rest();
    const std::size_t partial = end_ - begin_;
    received_at_once_ = std::max(received_at_once_, begin_);
    // What fills the buffer probably has more behind it, and a read costs as much as a message.
    const bool filled = end_ != 0 && end_ == buffer_.capacity();
    const std::size_t usual =
        std::clamp(buffer_.capacity() * (filled ? limits::receive_buffer_growth : 1),
                   limits::receive_buffer_initial, is_short ? kept_max_ : read_sizes_.buffered);
    if (begin_ != 0) {
        // In front, so that what follows has the most room and the message is aligned in memory.
        if (partial != 0) std::memmove(buffer_.data(), buffer_.data() + begin_, partial);
        passed_ += begin_;
        begin_ = 0;
        end_ = partial;
    }
    // At least some room also for a caller that reads on without having asked for all messages.
    const std::size_t wanted = std::max({usual, message_size_ + read_ahead, partial + read_ahead});
    if (message_size_ != 0) {
        // Most streams are of equal messages. Whole ones leave nothing to be moved, and a read that
        // finds all of them also finds whether there is another.
        const std::size_t whole = std::max(read_sizes_.at_once / message_size_, std::size_t{1});
        first_read_ = whole * message_size_ + header_size;
    }
    // A length that a peer claims is not believed: memory is four times what it really sent, or as
    // much as it sent before, so that a stream of large messages is not copied as the buffer grows.
    // Pages that nothing is read into are never touched.
    const std::size_t capacity =
        std::min(wanted, std::max({usual, 4 * partial, partial != 0 ? received_at_once_ : 0}));
    if (buffer_.capacity() < capacity) [[unlikely]]
        buffer_.reserve(capacity, partial);
    else if (buffer_.capacity() > limits::receive_buffer_kept && wanted < buffer_.capacity() / 2)
        [[unlikely]]
        replace_buffer(capacity);
    const std::size_t room = std::min(buffer_.capacity(), wanted) - end_;
    // Perhaps there are whole messages, which nobody has asked for.
    const bool unseen = partial >= (message_size_ != 0 ? message_size_ : header_size);
    const std::size_t rest = unseen ? read_sizes_.at_once : first_read_ - partial;
    std::size_t size = std::min(room, rest);
    if (keeper_ != nullptr) {
        size = std::min(size, limits::receive_buffer_kept);
        count(end_ + size);
    }
    return {buffer_.data() + end_, size};
}

/// Up to here the buffer is about to be filled. The rest of a large one is not touched yet.
void Connection::count(std::size_t end)
{
    const std::size_t capacity = buffer_.capacity();
    const std::size_t touched = capacity <= limits::receive_buffer_kept ? capacity : end;
    const std::size_t parts = reassembly_ ? reassembly_->memory_held() : 0;
    if (!keeper_->hold(touched + parts)) throw std::bad_alloc();
    kept_max_ = keeper_->may_keep()
                    ? limits::receive_buffer_kept
                    : limits::receive_buffer_initial * limits::receive_buffer_growth;
}

void Connection::rest() noexcept
{
    if (lent_) lent_->drop();
    if (begin_ != end_ || buffer_.capacity() <= kept_max_) return;
    buffer_.clear();
    received_at_once_ = std::max(received_at_once_, end_);
    passed_ += end_;
    begin_ = end_ = 0;
    if (keeper_ != nullptr) (void)keeper_->hold(memory_held()); // else found at the next read
}

/// Gives a buffer back that grew for one large message.
void Connection::replace_buffer(std::size_t capacity)
{
    cdr::Buffer smaller(capacity);
    if (end_ != 0) std::memcpy(smaller.data(), buffer_.data(), end_);
    buffer_ = std::move(smaller);
}

Connection::Kept Connection::keep_messages()
{
    const std::size_t partial = end_ - begin_;
    cdr::Buffer next;
    if (partial != 0) {
        next.reserve(partial, 0);
        std::memcpy(next.data(), buffer_.data() + begin_, partial);
    }
    passed_ += begin_;
    begin_ = 0;
    end_ = partial;
    Kept kept{.buffer = std::exchange(buffer_, std::move(next)), .whole = {}, .block = {}};
    if (lent_ && lent_->handed_out) {
        lent_->handed_out->gap.leave(); // whoever looks at the message later finds it whole
        kept.block = end_gap();
    }
    if (reassembly_) kept.whole = reassembly_->take_whole();
    return kept;
}

Connection::Event Connection::next_received(Message& message)
{
    // Nearly every message: 1.2, this machine's byte order, in one part, complete, not unexpected.
    constexpr std::uint64_t type_mask =
        native_little_endian ? std::uint64_t{0xff} << 56 : std::uint64_t{0xff};
    constexpr std::uint64_t ordinary =
        detail::header_word(version_1_2, MessageType::request, false);
    const std::size_t available = end_ - begin_;
    if (available >= header_size && !ended_) [[likely]] {
        std::byte* const at = buffer_.data() + begin_;
        std::uint64_t word;
        std::uint32_t size;
        std::memcpy(&word, at, sizeof word);
        std::memcpy(&size, at + sizeof word, sizeof size);
        const auto type = std::to_integer<unsigned>(at[7]);
        if ((word & ~type_mask) == ordinary && type < message_type_count &&
            (permitted_ >> type & 1) != 0 && size <= size_max_ && size <= available - header_size)
            [[likely]] {
            message = {version_1_2,
                       static_cast<MessageType>(type),
                       native_little_endian,
                       {at, header_size + size}};
            begin_ += header_size + size;
            message_size_ = 0;
            error_version_ = version_1_2;
            return Event::message;
        }
    }
    return next_other(message);
}

Connection::Event Connection::next_other(Message& message)
{
    if (lent_ && lent_->lease) return next_with_gap(message);
    for (;;) {
        const std::size_t available = end_ - begin_;
        message_size_ = 0;
        if (available < header_size || ended_) return Event::need_bytes;
        MessageHeader header;
        const Fault fault = parse_header(buffer_.data() + begin_, header);
        if (fault != Fault::none) [[unlikely]] {
            if (fault != Fault::bad_magic)
                error_version_ = supported(header.version) ? header.version : version_1_2;
            return end_with(Event::fault, fault);
        }
        const bool ordinary = (permitted_ >> static_cast<unsigned>(header.type) & 1) != 0;
        if (!ordinary || header.size > size_max_) [[unlikely]] {
            if (const auto event = refuse(header)) return *event;
        }
        error_version_ = header.version;
        const std::size_t size = header_size + header.size;
        if (available < size) {
            message_size_ = size;
            return Event::need_bytes;
        }
        message = {
            header.version, header.type, header.little_endian, {buffer_.data() + begin_, size}};
        begin_ += size;
        if (ordinary && !header.more_fragments) [[likely]]
            return Event::message;
        if (const auto event = take_special(message, header)) return *event;
    }
}

// --- Blocks that lie elsewhere -------------------------------------------------------------------

BlockTaker& Connection::block_taker()
{
    if (!lent_) lent_ = std::make_unique<Lent>(*this);
    return *lent_;
}

bool Connection::has_block() const noexcept { return lent_->lease || lent_->handed_out; }

/// Only a whole block of a message that has no other, and that is looked at: its header is here.
/// Of the length that this claims half must have come with the block, for there will be room for
/// all.
bool Connection::Lent::take(Bytes octets, std::shared_ptr<const void> its_lease) noexcept
{
    Connection& its = connection;
    const std::size_t size = its.message_size_;
    if (lease || handed_out || its.ended_ || its.begin_ != 0 || its.end_ < header_size ||
        its.end_ > size || octets.size() > size - its.end_ || size / 2 > its.end_ + octets.size())
        return false;
    MessageHeader header;
    if (parse_header(its.buffer_.data(), header) != Fault::none || header.more_fragments ||
        header.type == MessageType::fragment ||
        (its.permitted_ >> static_cast<unsigned>(header.type) & 1) == 0)
        return false;
    // In this order: after a refusal the octets are read to where space() has said, and the next
    // space() says so.
    const std::size_t wanted = size + read_ahead;
    const std::size_t touched =
        std::max(its.end_ + octets.size(), std::min(wanted, limits::receive_buffer_kept));
    const std::size_t parts = its.reassembly_ ? its.reassembly_->memory_held() : 0;
    if (its.keeper_ != nullptr && !its.keeper_->hold(touched + parts)) return false;
    try {
        its.buffer_.reserve(wanted, its.end_);
    } catch (const std::bad_alloc&) {
        return false;
    }
    block = octets;
    lease = std::move(its_lease);
    begin = its.end_;
    permitted = std::exchange(its.permitted_, std::uint8_t{0});
    return true;
}

Connection::Event Connection::next_with_gap(Message& message)
{
    Lent& lent = *lent_;
    if (end_ - begin_ < message_size_) return Event::need_bytes;
    MessageHeader header;
    (void)parse_header(buffer_.data() + begin_, header); // it was looked at before
    error_version_ = header.version;
    lent.whole = {header.version,
                  header.type,
                  header.little_endian,
                  {buffer_.data() + begin_, message_size_}};
    begin_ += std::exchange(message_size_, 0);
    permitted_ = lent.permitted;
    lent.handed_out.reset(new (std::nothrow) Block{
        {lent.whole.bytes.data() + lent.begin, lent.block}, std::move(lent.lease)});
    lent.lease = nullptr;
    message = lent.whole;
    if (!lent.handed_out) throw std::bad_alloc();
    lent.kept_max = std::exchange(kept_max_, 0);
    message.bytes = message.bytes.first(lent.begin);
    return Event::message_with_gap;
}

bool Connection::enter_gap(cdr::Reader& body) noexcept
{
    if (body.left() == 0 || !body.is_whole()) return false;
    body.enter_gap(lent_->handed_out->gap, lent_->whole.bytes.size() - lent_->begin);
    return true;
}

Message Connection::filled() noexcept
{
    lent_->handed_out->gap.leave();
    return lent_->whole;
}

std::unique_ptr<Connection::Block> Connection::end_gap() noexcept
{
    kept_max_ = lent_->kept_max;
    return std::move(lent_->handed_out);
}

/// What can be said about a message from its header alone: that it ends the connection.
std::optional<Connection::Event> Connection::refuse(const MessageHeader& header) noexcept
{
    // Whatever their size and version claim, these two mean one thing.
    if (header.type == MessageType::close_connection) return end_with(Event::closed);
    if (header.type == MessageType::message_error) return end_with(Event::message_error);
    error_version_ = header.version;
    if (header.size > size_max_) return end_with(Event::fault, Fault::too_large);
    const bool permitted = (permitted_ >> static_cast<unsigned>(header.type) & 1) != 0 ||
                           header.type == MessageType::fragment ||
                           (header.type == MessageType::cancel_request && role_ == Role::server);
    if (!permitted) return end_with(Event::fault, Fault::not_for_this_role);
    return std::nullopt;
}

/// A part of a message, or a CancelRequest. Nothing when the next message is to be looked at.
std::optional<Connection::Event> Connection::take_special(Message& message,
                                                          const MessageHeader& header)
{
    if (header.type == MessageType::cancel_request) {
        CancelRequest cancel;
        if (parse(message, cancel) == cdr::Fault::none) abandon(cancel.request_id);
        return Event::message;
    }
    if (!reassembly_) reassembly_ = std::make_unique<Reassembly>(size_max_ + header_size);
    bool complete = false;
    const Fault fault =
        header.type == MessageType::fragment
            ? reassembly_->append(Message(message), header.more_fragments, message, complete)
            : reassembly_->begin(message, passed_ + begin_ - message.bytes.size());
    if (fault != Fault::none) return end_with(Event::fault, fault);
    if (complete) return Event::message;
    return std::nullopt;
}

void Connection::abandon(std::uint32_t request_id) noexcept
{
    if (reassembly_) reassembly_->cancel(request_id);
}

Connection::Event Connection::end_with(Event event, Fault fault) noexcept
{
    ended_ = true;
    fault_ = fault;
    reassembly_.reset();
    return event;
}

std::optional<Unfinished> Connection::unfinished() const noexcept
{
    const std::size_t under_way = end_ - begin_;
    if (ended_) return std::nullopt;
    if (const auto oldest = reassembly_ ? reassembly_->oldest() : std::nullopt)
        return Unfinished{oldest->begins_at, oldest->octets + under_way};
    if (under_way == 0) return std::nullopt;
    return Unfinished{passed_ + begin_, under_way};
}

std::size_t Connection::bytes_needed() const noexcept
{
    const std::size_t available = end_ - begin_;
    if (ended_) return 1;
    if (message_size_ > available) return message_size_ - available;
    return available < header_size ? header_size - available : 1;
}

std::size_t Connection::memory_held() const noexcept
{
    return buffer_.capacity() + (reassembly_ ? reassembly_->memory_held() : 0);
}

} // namespace kairos::giop
