// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes in the walk of copy.h: tags, repository ids, indirections, chunks.
#include "kairos/types/copy_walk.h"

#include <algorithm>
#include <utility>

namespace kairos::types {

using cdr::Fault;

namespace {

// CORBA 3.3 part 2, 9.3.4.
constexpr std::uint32_t null_tag = 0;
constexpr std::uint32_t indirection_tag = 0xFFFF'FFFF;
constexpr std::uint32_t value_tag_min = 0x7FFF'FF00; // below: sizes of chunks
constexpr std::uint32_t value_tag_max = 0x7FFF'FFFF; // above: end tags
constexpr std::uint32_t has_codebase = 1;
constexpr std::uint32_t type_info_mask = 6;
constexpr std::uint32_t single_id = 2;
constexpr std::uint32_t id_list = 6;
constexpr std::uint32_t is_chunked = 8;
constexpr std::uint32_t unknown_flags = 0xF0;

} // namespace

/// Whether an object or a value follows.
void Walk::abstract_interface()
{
    if (number<bool>()) return reference();
    value_or_null(nullptr);
}

void Walk::value_or_null(const TypeCodeData* formal)
{
    if (!in_.is_whole() && !in_.in_chunk())
        return in_.fail(Fault::invalid_value); // offsets would count padding
    const std::uint32_t tag = read_value_tag();
    if (!in_.ok()) return;
    if (tag == indirection_tag) return shared_value();
    if (tag == null_tag) {
        open_chunk();
        if (out_ != nullptr) out_->write(null_tag);
        return;
    }
    if (tag < value_tag_min || tag > value_tag_max || (tag & unknown_flags) != 0)
        return in_.fail(Fault::invalid_value);
    if (value_depth_ == limits::values_nesting_max || !is_above(stack_end_))
        return in_.fail(Fault::nesting_too_deep);
    ++value_depth_;
    new_value(tag, formal);
    --value_depth_;
}

/// Within a chunked value, null and indirections may be in a chunk and new values never are.
std::uint32_t Walk::read_value_tag()
{
    if (reading_level_ == 0) return in_.read<std::uint32_t>();
    if (align_up(in_.offset(), 4) < in_.offset() + in_.chunk_left())
        return in_.read<std::uint32_t>();
    if (level_ != reading_level_) { // an end tag has ended the value around, too
        in_.fail(Fault::truncated);
        return 0;
    }
    in_.leave_chunk();
    const auto tag = in_.read<std::uint32_t>();
    if (tag == indirection_tag || tag >= value_tag_min) return tag;
    in_.enter_chunk(tag, *this); // of size zero for null: the next one is looked for
    return tag == null_tag ? tag : in_.read<std::uint32_t>();
}

const std::byte* Walk::target()
{
    in_.align(4);
    const std::byte* from = here();
    const auto offset = in_.read<std::int32_t>();
    if (!in_.ok() || offset >= -4) return nullptr;
    const auto place = reinterpret_cast<std::uintptr_t>(from) +
                       static_cast<std::uintptr_t>(static_cast<std::intptr_t>(offset));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): only ever looked up, and may be anywhere
    return reinterpret_cast<const std::byte*>(place);
}

/// Only values within the walk are known: what refers to others of its message stands not alone.
void Walk::shared_value()
{
    const auto known = values_.find(target());
    if (!in_.ok() || known == values_.end()) return in_.fail(Fault::invalid_value);
    if (reading_level_ != 0 && !in_.in_chunk()) in_.enter_chunk(0, *this);
    open_chunk();
    if (out_ == nullptr) return;
    write_again(known->second);
}

Walk::Chosen Walk::choose(std::span<const std::string_view> ids, const TypeCodeData* formal) const
{
    if (ids.empty()) return {formal, 0};
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (formal != nullptr && ids[i] == formal->id) return {formal, i};
        if (rules_ == nullptr) continue;
        const CORBA::TypeCode* const type = rules_->value_type(ids[i]);
        if (type == nullptr) continue;
        const TypeCodeData& data = resolved(*type)._kairos_data();
        if (data.kind == CORBA::tk_value || data.kind == CORBA::tk_value_box ||
            data.kind == CORBA::tk_event)
            return {&data, i};
    }
    return {nullptr, 0};
}

void Walk::new_value(std::uint32_t tag, const TypeCodeData* formal)
{
    const std::byte* place = here() - sizeof tag;
    const bool chunked = (tag & is_chunked) != 0;
    // Whatever is within a chunked value is chunked itself, and in no chunk of the other.
    if (level_ != 0 && (!chunked || in_.in_chunk())) return in_.fail(Fault::invalid_value);
    if ((tag & has_codebase) != 0) (void)read_id();
    const Ids types = read_ids(tag);
    if (!in_.ok()) return;
    const std::span<const std::string_view> ids = types.all();
    const auto [type, chosen] = choose(ids, formal);
    const bool known =
        type != nullptr && !(type->kind != CORBA::tk_value_box && type->detail == CORBA::VM_CUSTOM);
    // State that the TypeCode does not describe can be passed over by its chunks, but not copied:
    // nobody knows what in it is a number.
    if (!known && (!chunked || out_ != nullptr)) return in_.fail(Fault::invalid_value);
    if (chosen != 0 && known && !chunked) return in_.fail(Fault::invalid_value);
    if (chosen != 0 && known) found_.is_truncated = true;

    close_chunk();
    if (out_ != nullptr) {
        // What is truncated is of one type from now on.
        out_->write((tag & ~(has_codebase | type_info_mask)) |
                    (chosen == 0 ? tag & type_info_mask : single_id));
        values_[place] = out_->position() - sizeof tag;
        if (chosen != 0) {
            write_id(ids[chosen]);
        } else {
            write_ids(types);
        }
    } else {
        values_[place] = 0;
    }
    if (chunked) return chunked_state(known ? type : nullptr, !known || chosen != 0);
    state(*type);
}

std::string_view Walk::read_id()
{
    in_.align(4);
    const std::byte* place = here();
    cdr::Reader ahead = in_;
    if (ahead.read<std::uint32_t>() == indirection_tag) {
        in_ = ahead;
        const auto known = ids_.find(target());
        if (known != ids_.end()) return known->second;
        in_.fail(Fault::invalid_value);
        return {};
    }
    const std::string_view id = in_.read_string();
    if (in_.ok()) ids_.emplace(place, id);
    return id;
}

/// The ids of the value's type and of those it may be truncated to; none if it says nothing.
Walk::Ids Walk::read_ids(std::uint32_t tag)
{
    switch (tag & type_info_mask) {
    case 0:
        return {};
    case single_id:
        return {.single = read_id(), .is_single = true};
    case id_list:
        break;
    default:
        in_.fail(Fault::invalid_value);
        return {};
    }
    in_.align(4);
    const std::byte* place = here();
    const auto count = in_.read<std::uint32_t>();
    if (count == indirection_tag) {
        place = target();
        const auto known = id_lists_.find(place);
        if (known != id_lists_.end()) return {.list = &known->second};
        in_.fail(Fault::invalid_value);
        return {};
    }
    if (count == 0 || count > limits::value_ids_max || count > in_.left() / 5) {
        in_.fail(Fault::length_beyond_end);
        return {};
    }
    IdList& list = id_lists_[place];
    list.ids.resize(count);
    for (std::string_view& id : list.ids)
        id = read_id();
    return {.list = &list};
}

/// What occurs again is written as where it was, as in what came: copies are never much larger.
void Walk::write_again(std::size_t written_at)
{
    out_->write(indirection_tag);
    const auto offset =
        static_cast<std::int64_t>(written_at) - static_cast<std::int64_t>(out_->position());
    out_->write(static_cast<std::int32_t>(offset));
}

void Walk::write_id(std::string_view id)
{
    const auto [known, is_new] = ids_written_.try_emplace(id, 0);
    if (!is_new) return write_again(known->second);
    out_->write_string(id);
    known->second = out_->position() - id.size() - 1 - sizeof(std::uint32_t);
}

void Walk::write_ids(const Ids& types)
{
    if (types.is_single) return write_id(types.single);
    if (types.list == nullptr) return;
    if (types.list->written_at != 0) return write_again(types.list->written_at);
    out_->write(static_cast<std::uint32_t>(types.list->ids.size()));
    types.list->written_at = out_->position() - sizeof(std::uint32_t);
    for (const std::string_view id : types.list->ids)
        write_id(id);
}

/// The members of the bases first.
void Walk::state(const TypeCodeData& data)
{
    if (data.kind == CORBA::tk_value_box) return value(*data.content);
    std::vector<const TypeCodeData*> bases{&data};
    while (bases.back()->content != nullptr) {
        if (bases.size() == limits::nesting_max) return in_.fail(Fault::nesting_too_deep);
        bases.push_back(&resolved(*bases.back()->content)._kairos_data());
    }
    for (auto each = bases.rbegin(); each != bases.rend(); ++each)
        members(**each);
}

// --- Chunks --------------------------------------------------------------------------------------

void Walk::chunked_state(const TypeCodeData* data, bool may_be_longer)
{
    const std::int32_t outer = reading_level_;
    const std::int32_t level = ++level_;
    reading_level_ = level;
    in_.enter_chunk(0, *this);
    if (data != nullptr) state(*data);
    if (in_.ok()) end_chunks(level, may_be_longer);
    close_chunk();
    if (out_ != nullptr) out_->write(-level);
    reading_level_ = outer;
    if (!in_.ok()) return;
    in_.leave_chunk();
    if (outer != 0) in_.enter_chunk(0, *this);
}

void Walk::next_chunk(cdr::Reader& in) noexcept
{
    if (level_ != reading_level_) return in.fail(Fault::truncated);
    in.leave_chunk();
    const auto size = in.read<std::uint32_t>();
    if (size == 0 || size >= value_tag_min) return in.fail(Fault::truncated);
    in.enter_chunk(size, *this);
}

std::byte* Walk::gathered(std::size_t size)
{
    gathered_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    return gathered_.back().get();
}

void Walk::end_chunks(std::int32_t level, bool may_be_longer)
{
    if (level_ < level) return; // an end tag within it was its own, too
    if (in_.chunk_left() != 0 && !may_be_longer) return in_.fail(Fault::invalid_value);
    while (in_.ok() && level_ >= level) {
        if (in_.in_chunk()) (void)in_.block(in_.chunk_left(), 1);
        in_.leave_chunk();
        const auto tag = in_.read<std::uint32_t>();
        if (!in_.ok()) return;
        if (tag > value_tag_max) { // -n ends every value from level n on
            const auto end = -static_cast<std::int64_t>(static_cast<std::int32_t>(tag));
            if (end > level_) return in_.fail(Fault::invalid_value);
            level_ = static_cast<std::int32_t>(end - 1);
        } else if (!may_be_longer) {
            in_.fail(Fault::invalid_value);
        } else if (tag >= value_tag_min) {
            if ((tag & unknown_flags) != 0 || (tag & is_chunked) == 0)
                return in_.fail(Fault::invalid_value);
            // Passed over, it may be referred to; a copy does not have it.
            if (out_ == nullptr) values_[here() - sizeof tag] = 0;
            if ((tag & has_codebase) != 0) (void)read_id();
            (void)read_ids(tag);
            if (level_ == INT32_MAX) return in_.fail(Fault::nesting_too_deep);
            ++level_;
        } else if (tag != null_tag) {
            in_.enter_chunk(tag, *this);
        }
    }
}

void Walk::begin_chunk()
{
    out_->write(std::uint32_t{0});
    chunk_at_ = out_->position() - sizeof(std::uint32_t);
}

void Walk::close_chunk()
{
    if (chunk_at_ == 0) return;
    if (out_->position() == chunk_at_ + sizeof(std::uint32_t)) { // a chunk is never empty
        out_->take_back(std::exchange(chunk_at_, 0));
        return;
    }
    const std::size_t size = out_->position() - chunk_at_ - sizeof(std::uint32_t);
    out_->patch(chunk_at_, static_cast<std::uint32_t>(size));
    chunk_at_ = 0;
}

} // namespace kairos::types
