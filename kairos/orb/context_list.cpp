// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/context_list.h"

#include "kairos/base/limits.h"
#include "kairos/giop/message.h"
#include "kairos/orb/failure.h"

#include <cstring>

namespace kairos::orb {
namespace {

constexpr std::size_t count_size = sizeof(std::uint32_t);
constexpr std::size_t head_size = 8; // of a context: its id, and how long its data are
constexpr std::size_t size_max = std::size_t{1} << 30;

std::uint32_t load(const std::byte* place) noexcept
{
    std::uint32_t value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

void store(std::byte* place, std::uint32_t value) noexcept
{
    std::memcpy(place, &value, sizeof value);
}

} // namespace

std::uint32_t ContextList::count() const noexcept { return empty() ? 0 : load(buffer_.data()); }

giop::ServiceContexts ContextList::contexts() const noexcept
{
    if (empty()) return {};
    cdr::Reader reader(bytes(), native_little_endian);
    return giop::ServiceContexts::read(reader);
}

void ContextList::clear() noexcept
{
    size_ = 0;
    if (buffer_.capacity() > limits::receive_buffer_streaming) buffer_.clear();
}

std::byte* ContextList::grow(std::uint32_t count, std::size_t size)
{
    const std::uint32_t all = this->count() + count;
    const std::size_t begin = empty() ? count_size : align_up(size_, 4);
    if (all >= limits::service_contexts_max || size > size_max - begin) // one may be GIOP's filler
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_NO,
                                "too many service contexts");
    buffer_.reserve(begin + size, size_);
    std::memset(buffer_.data() + size_, 0, begin - size_);
    store(buffer_.data(), all);
    size_ = begin + size;
    return buffer_.data() + begin;
}

void ContextList::append(std::uint32_t id, Bytes data)
{
    if (data.size() > size_max)
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_NO,
                                "a service context is too large");
    std::byte* const place = grow(1, head_size + data.size());
    store(place, id);
    store(place + 4, static_cast<std::uint32_t>(data.size()));
    if (!data.empty()) std::memcpy(place + head_size, data.data(), data.size());
}

void ContextList::append(Bytes list)
{
    if (list.size() <= count_size) return;
    const Bytes contexts = list.subspan(count_size);
    std::memcpy(grow(load(list.data()), contexts.size()), contexts.data(), contexts.size());
}

bool ContextList::remove(std::uint32_t id) noexcept
{
    std::byte* const data = buffer_.data();
    std::uint32_t left = count();
    for (std::size_t at = count_size; left > 0; --left) {
        const std::size_t end = at + head_size + load(data + at + 4);
        const std::size_t next = left == 1 ? end : align_up(end, 4);
        if (load(data + at) == id) {
            store(data, count() - 1);
            std::memmove(data + at, data + next, size_ - next);
            size_ = count() == 0 ? 0 : at + (size_ - next);
            return true;
        }
        at = next;
    }
    return false;
}

} // namespace kairos::orb
