// SPDX-License-Identifier: Apache-2.0
//
// CORBA 3.3 part 2, 9.3.4, of which copy_value and Output use less than peers may: every chunked
// value has an end tag of its own, and its chunks end where it ends.
#include "kairos/dynany/input.h"

#include "kairos/dynany/value_node.h"
#include "kairos/values/tags.h"

namespace kairos::dynany {

using cdr::Fault;

void Input::finish() const
{
    if (!in_.ok()) raise_invalid_value();
}

std::shared_ptr<ValueState> Input::value(ValueNode& place)
{
    const std::uint32_t tag = read_tag();
    if (!in_.ok() || tag == values::null_tag) return nullptr;
    if (tag == values::indirection_tag) return shared();
    if (tag < values::value_tag_min || tag > values::value_tag_max) {
        in_.fail(Fault::invalid_value);
        return nullptr;
    }
    const std::size_t begin = in_.offset() - sizeof tag;
    skip_ids(tag);
    std::shared_ptr<ValueState> state = place.make_state();
    known_.emplace(begin, state); // from now on it may be referred to, from within itself, too
    read_state(*state, (tag & values::is_chunked) != 0);
    return in_.ok() ? state : nullptr;
}

/// Within a chunked value, null and indirections are in a chunk and new values never are.
std::uint32_t Input::read_tag()
{
    if (level_ == 0 || align_up(in_.offset(), 4) < in_.offset() + in_.chunk_left())
        return in_.read<std::uint32_t>();
    in_.leave_chunk();
    const auto tag = in_.read<std::uint32_t>();
    if (tag >= values::value_tag_min) return tag;
    in_.enter_chunk(tag, *this);
    return in_.read<std::uint32_t>();
}

std::shared_ptr<ValueState> Input::shared()
{
    in_.align(4);
    const auto from = static_cast<std::int64_t>(in_.offset());
    const std::int64_t begin = from + in_.read<std::int32_t>();
    const auto found = known_.find(static_cast<std::size_t>(begin));
    if (in_.ok() && found != known_.end()) return found->second;
    in_.fail(Fault::invalid_value);
    return nullptr;
}

void Input::skip_id()
{
    cdr::Reader ahead = in_;
    if (ahead.read<std::uint32_t>() == values::indirection_tag) {
        (void)ahead.read<std::int32_t>();
        in_ = ahead;
    } else {
        (void)in_.read_string();
    }
}

void Input::skip_ids(std::uint32_t tag)
{
    const std::uint32_t ids = tag & values::type_info_mask;
    if (ids == values::single_id) return skip_id();
    if (ids != values::id_list) return;
    const auto count = in_.read<std::uint32_t>();
    if (count == values::indirection_tag) return void(in_.read<std::int32_t>());
    for (std::uint32_t i = 0; i < count && in_.ok(); ++i)
        skip_id();
}

void Input::read_state(ValueState& state, bool chunked)
{
    if (chunked) {
        ++level_;
        in_.enter_chunk(0, *this);
    }
    for (Component& member : state.members) {
        member->read(*this);
        if (!in_.ok()) return;
    }
    if (!chunked) return;
    if (in_.chunk_left() != 0 && in_.in_chunk()) return in_.fail(Fault::invalid_value);
    in_.leave_chunk();
    (void)in_.read<std::int32_t>(); // the end tag
    if (--level_ != 0) in_.enter_chunk(0, *this);
}

void Input::next_chunk(cdr::Reader& in) noexcept
{
    in.leave_chunk();
    const auto size = in.read<std::uint32_t>();
    if (size == 0 || size >= values::value_tag_min) return in.fail(Fault::truncated);
    in.enter_chunk(size, *this);
}

std::byte* Input::gathered(std::size_t size)
{
    gathered_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    return gathered_.back().get();
}

} // namespace kairos::dynany
