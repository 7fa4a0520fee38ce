// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/fragments.h"

#include "kairos/base/limits.h"

#include <algorithm>
#include <limits>

namespace kairos::giop {

namespace {

constexpr std::byte more_fragments_flag{2};

std::uint32_t load(const std::byte* place, bool little_endian) noexcept
{
    std::uint32_t value;
    std::memcpy(&value, place, sizeof value);
    return little_endian == native_little_endian ? value : byteswap(value);
}

void store(std::byte* place, std::uint32_t value, bool little_endian) noexcept
{
    if (little_endian != native_little_endian) value = byteswap(value);
    std::memcpy(place, &value, sizeof value);
}

constexpr bool may_be_cut(Version version, MessageType type) noexcept
{
    return version >= version_1_2 &&
           (type == MessageType::request || type == MessageType::reply ||
            type == MessageType::locate_request || type == MessageType::locate_reply);
}

/// The longest part that is not the last one.
constexpr std::size_t part_size_of(std::size_t size_max) noexcept
{
    const std::size_t size = std::clamp(size_max, Fragmenter::part_size_min,
                                        std::size_t{std::numeric_limits<std::uint32_t>::max()});
    return size / 8 * 8;
}

} // namespace

Segments gather(Bytes header, const cdr::Writer& writer) noexcept
{
    Segments segments;
    for_each_part(header, writer, [&](Bytes part) { segments.add(part); });
    return segments;
}

Fragmenter::Fragmenter(const Segments& message, std::size_t part_size_max) noexcept
    : message_(message), left_(message.size())
{
    if (message.count == 0 || message.list[0].size() < header_.size()) return; // too short to cut
    std::memcpy(header_.data(), message.list[0].data(), header_.size());
    version_ = {std::to_integer<std::uint8_t>(header_[4]),
                std::to_integer<std::uint8_t>(header_[5])};
    part_size_ = part_size_of(part_size_max);
    whole_ = left_ <= std::max(part_size_max, part_size_min) ||
             !may_be_cut(version_, static_cast<MessageType>(header_[7]));
}

bool Fragmenter::next(Segments& part) noexcept
{
    part.count = 0;
    if (left_ == 0) return false;
    if (whole_) {
        part = message_;
        left_ = 0;
        return true;
    }
    // Request id and byte order of the first part stay in header_ for all others.
    const bool little_endian = (header_[6] & std::byte{1}) != std::byte{0};
    const std::size_t own_size = first_ ? giop::header_size : header_.size();
    if (first_) {
        offset_ = giop::header_size;
        left_ -= giop::header_size;
    } else {
        header_[7] = static_cast<std::byte>(MessageType::fragment);
    }
    const std::size_t size = std::min(left_, part_size_ - own_size);
    const bool last = size == left_;
    header_[6] = last ? header_[6] & ~more_fragments_flag : header_[6] | more_fragments_flag;
    store(header_.data() + 8, static_cast<std::uint32_t>(own_size - giop::header_size + size),
          little_endian);
    part.add({header_.data(), own_size});
    take(size, part);
    first_ = false;
    return true;
}

void Fragmenter::take(std::size_t size, Segments& part) noexcept
{
    left_ -= size;
    while (size > 0) {
        const Bytes rest = message_.list[segment_].subspan(offset_);
        const std::size_t taken = std::min(size, rest.size());
        part.add(rest.first(taken));
        size -= taken;
        offset_ += taken;
        if (taken == rest.size()) {
            ++segment_;
            offset_ = 0;
        }
    }
}

Fault Reassembly::begin(const Message& part, std::uint64_t begins_at)
{
    const bool is_1_2 = part.version >= version_1_2;
    if (is_1_2 && (part.bytes.size() < header_size + 4 || part.bytes.size() % 8 != 0))
        return Fault::malformed_fragment;
    const std::uint32_t id = is_1_2 ? load(part.bytes.data() + header_size, part.little_endian) : 0;
    if (Partial* same = find(part.version, id)) {
        if (!same->cancelled) return Fault::repeated_first_part;
        remove(*same);
    }
    if (!make_place()) return Fault::too_many_fragmented;
    partials_.reserve(limits::fragmented_messages_max); // nothing below leaves half a change
    Partial partial;
    partial.buffer = std::move(assembled_);
    partial.begins_at = begins_at;
    partial.request_id = id;
    partial.version = part.version;
    partial.little_endian = part.little_endian;
    const Fault fault = store(partial, part.bytes);
    if (fault == Fault::none) partials_.push_back(std::move(partial));
    return fault;
}

Fault Reassembly::append(const Message& fragment, bool more_fragments, Message& whole,
                         bool& complete)
{
    complete = false;
    const bool is_1_2 = fragment.version >= version_1_2;
    const std::size_t own_size = is_1_2 ? header_size + 4 : header_size;
    if (fragment.bytes.size() < own_size) return Fault::malformed_fragment;
    const std::uint32_t id =
        is_1_2 ? load(fragment.bytes.data() + header_size, fragment.little_endian) : 0;
    Partial* partial = find(fragment.version, id);
    if (partial == nullptr) return Fault::unexpected_fragment;
    if (partial->little_endian != fragment.little_endian) return Fault::malformed_fragment;
    if (is_1_2 && more_fragments && fragment.bytes.size() % 8 != 0)
        return Fault::malformed_fragment;
    if (!partial->cancelled) {
        if (!is_1_2 && !note_part(*partial, fragment.bytes.size() - own_size))
            return Fault::too_large;
        const Fault fault = store(*partial, fragment.bytes.subspan(own_size));
        if (fault != Fault::none || more_fragments) return fault;
        assembled_ = std::move(partial->buffer);
        assembled_part_begins_ = std::move(partial->part_begins);
        std::byte* const bytes = assembled_.data();
        bytes[6] &= ~more_fragments_flag;
        giop::store(bytes + 8, static_cast<std::uint32_t>(partial->size - header_size),
                    partial->little_endian);
        whole = {partial->version,
                 static_cast<MessageType>(bytes[7]),
                 partial->little_endian,
                 {bytes, partial->size},
                 assembled_part_begins_};
        complete = true;
    }
    if (!more_fragments) remove(*partial);
    return Fault::none;
}

bool Reassembly::note_part(Partial& partial, std::size_t size)
{
    // CORBA 3.3 part 2, 9.4.9: in 1.1, "the data in a fragment is marshaled with alignment relative
    // to its position in the fragment", which is behind a header of twelve bytes.
    const bool continues = partial.part_begins.empty() && partial.size % 8 == header_size % 8;
    if (continues || size == 0) return true;
    if (partial.part_begins.size() == limits::misaligned_parts_max) return false;
    partial.part_begins.push_back(static_cast<std::uint32_t>(partial.size));
    return true;
}

void Reassembly::cancel(std::uint32_t request_id) noexcept
{
    for (Partial& partial : partials_) {
        if (partial.cancelled) continue;
        std::uint32_t id = partial.request_id;
        if (partial.version < version_1_2) { // its id lies behind contexts, if it came at all
            cdr::Reader reader({partial.buffer.data(), partial.size}, partial.little_endian,
                               header_size);
            (void)ServiceContexts::read(reader);
            id = reader.read<std::uint32_t>();
            if (!reader.ok()) continue;
        }
        if (id != request_id) continue;
        bytes_held_ -= partial.size;
        partial.size = 0;
        partial.buffer.clear();
        partial.part_begins = {};
        partial.cancelled = true;
    }
}

void Reassembly::trim() noexcept
{
    if (assembled_.capacity() > limits::receive_buffer_kept) assembled_.clear();
}

std::size_t Reassembly::count() const noexcept
{
    return static_cast<std::size_t>(std::count_if(partials_.begin(), partials_.end(),
                                                  [](const Partial& p) { return !p.cancelled; }));
}

std::optional<Unfinished> Reassembly::oldest() const noexcept
{
    for (const Partial& partial : partials_)
        if (!partial.cancelled) return Unfinished{partial.begins_at, partial.size};
    return std::nullopt;
}

std::size_t Reassembly::memory_held() const noexcept
{
    std::size_t sum = assembled_.capacity();
    for (const Partial& partial : partials_)
        sum += partial.buffer.capacity();
    return sum;
}

Reassembly::Partial* Reassembly::find(Version version, std::uint32_t request_id) noexcept
{
    // Few at a time, and only for large messages: a search costs less than a table.
    for (Partial& partial : partials_) {
        if (partial.version == version && partial.request_id == request_id) return &partial;
    }
    return nullptr;
}

/// Whether one more message may begin, if need be in place of the oldest cancelled one.
bool Reassembly::make_place() noexcept
{
    if (partials_.size() < limits::fragmented_messages_max) return true;
    const auto oldest = std::find_if(partials_.begin(), partials_.end(),
                                     [](const Partial& partial) { return partial.cancelled; });
    if (oldest == partials_.end()) return false;
    remove(*oldest);
    return true;
}

Fault Reassembly::store(Partial& partial, Bytes bytes)
{
    if (bytes.size() > bytes_max_ - bytes_held_) return Fault::too_large;
    partial.buffer.reserve(partial.size + bytes.size(), partial.size);
    if (!bytes.empty())
        std::memcpy(partial.buffer.data() + partial.size, bytes.data(), bytes.size());
    partial.size += bytes.size();
    bytes_held_ += bytes.size();
    return Fault::none;
}

void Reassembly::remove(Partial& partial) noexcept
{
    bytes_held_ -= partial.size;
    partials_.erase(partials_.begin() + (&partial - partials_.data()));
}

} // namespace kairos::giop
