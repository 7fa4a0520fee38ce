// SPDX-License-Identifier: Apache-2.0
//
// CORBA 3.3 part 2, 9.3.4, in the form of kairos/values.
#include "kairos/dynany/output.h"

#include "kairos/base/limits.h"
#include "kairos/dynany/value_state.h"
#include "kairos/values/tags.h"

#include <string_view>
#include <utility>

namespace kairos::dynany {

namespace {

bool is_chunked_type(const types::TypeCodeData& type) noexcept
{
    return type.kind != CORBA::tk_value_box &&
           (type.detail == CORBA::VM_CUSTOM || type.detail == CORBA::VM_TRUNCATABLE);
}

/// What a receiver may truncate a value to; null for nothing.
const types::TypeCodeData* truncated(const types::TypeCodeData& type)
{
    if (type.kind == CORBA::tk_value_box || type.detail != CORBA::VM_TRUNCATABLE ||
        type.content == nullptr)
        return nullptr;
    return &types::resolved(*type.content)._kairos_data();
}

} // namespace

cdr::Writer& Output::data()
{
    if (level_ != 0 && !has_chunk_) {
        out_.write(std::uint32_t{0});
        chunk_at_ = out_.position() - sizeof(std::uint32_t);
        has_chunk_ = true;
    }
    return out_;
}

void Output::close_chunk()
{
    if (!has_chunk_) return;
    has_chunk_ = false;
    out_.patch(chunk_at_,
               static_cast<std::uint32_t>(out_.position() - chunk_at_ - sizeof(std::uint32_t)));
}

void Output::value(const ValueState* state, const types::TypeCodeData& formal)
{
    if (state == nullptr) return data().write(values::null_tag);
    if (const auto known = written_.find(state); known != written_.end()) {
        data().write(values::indirection_tag);
        const auto offset =
            static_cast<std::int64_t>(known->second) - static_cast<std::int64_t>(out_.size());
        return out_.write(static_cast<std::int32_t>(offset));
    }
    require_stack();
    if (depth_ == limits::values_nesting_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "values are nested too deeply");
    close_chunk();
    const bool chunked = level_ != 0 || is_chunked_type(state->type);
    (void)out_.claim(0, 4);
    const bool typed = std::exchange(is_typed_, false) ||
                       std::string_view(state->type.id) != std::string_view(formal.id);
    written_.emplace(state, out_.size());
    write_tag(state->type, typed, chunked);
    ++depth_;
    write_state(*state, chunked);
    --depth_;
}

void Output::write_tag(const types::TypeCodeData& type, bool typed, bool chunked)
{
    const std::uint32_t flags = values::value_tag_min | (chunked ? values::is_chunked : 0);
    if (!typed) return out_.write(flags | values::no_type_info);
    if (truncated(type) == nullptr) {
        out_.write(flags | values::single_id);
        return out_.write_string(type.id);
    }
    out_.write(flags | values::id_list);
    write_ids(type);
}

void Output::write_ids(const types::TypeCodeData& type)
{
    std::uint32_t count = 0;
    for (const types::TypeCodeData* each = &type; each != nullptr; each = truncated(*each))
        ++count;
    out_.write(count);
    for (const types::TypeCodeData* each = &type; each != nullptr; each = truncated(*each))
        out_.write_string(each->id);
}

void Output::write_state(const ValueState& state, bool chunked)
{
    if (chunked) ++level_;
    for (const Component& member : state.members)
        member->write(*this);
    if (!chunked) return;
    close_chunk();
    out_.write(-level_);
    --level_;
}

} // namespace kairos::dynany
