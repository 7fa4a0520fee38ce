// SPDX-License-Identifier: Apache-2.0
#include "kairos/values/output.h"

#include "kairos/base/limits.h"
#include "kairos/base/stack.h"
#include "kairos/values/marshal.h"
#include "kairos/values/registry.h"
#include "kairos/values/tags.h"

#include <memory>
#include <utility>

namespace kairos::values {

namespace {

[[noreturn, gnu::cold]] void raise_without_message()
{
    throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "a value outside any message");
}

} // namespace

void encode(cdr::Writer& out, const CORBA::ValueBase* value, const Type* formal)
{
    Output::of(out).write(out, value, formal);
}

Output& Output::of(cdr::Writer& out)
{
    if (out.environment() == nullptr) raise_without_message();
    auto& attachment = out.environment()->values_written;
    if (attachment == nullptr) {
        auto output = std::make_unique<Output>();
        output->tao_chunks_ = Registry::says_tao_chunks(*out.environment());
        attachment = std::move(output);
    }
    return static_cast<Output&>(*attachment);
}

Output::~Output()
{
    for (CORBA::ValueBase* value : counted_)
        value->_remove_ref();
}

void Output::write(cdr::Writer& out, const CORBA::ValueBase* value, const Type* formal)
{
    if (value == nullptr) return out.write(null_tag); // part of the chunk, if one is open
    const void* whole = dynamic_cast<const void*>(value);
    if (const auto known = values_.find(whole); known != values_.end())
        return write_indirection(out, known->second);
    if (depth_ == limits::values_nesting_max || !is_above(stack_limit()))
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "values are nested too deeply");
    auto* counted = const_cast<CORBA::ValueBase*>(value);
    counted_.push_back(counted);
    counted->_add_ref();

    const Type& type = value->_kairos_type();
    const bool in_chunk = level_ != 0 && tao_chunks_;
    const bool within = level_ != 0 && !tao_chunks_;
    if (within) close_chunk(out);
    const bool chunked = within || type.is_chunked();
    (void)out.claim(0, 4);
    values_.emplace(whole, out.size());
    write_tag(out, type, formal, chunked);
    ++depth_;
    if (in_chunk && chunked)
        write_state_in_chunk(out, *value);
    else
        write_state(out, *value, chunked);
    --depth_;
    if (within) open_chunk(out);
}

void Output::write_state(cdr::Writer& out, const CORBA::ValueBase& value, bool chunked)
{
    if (!chunked) return value._kairos_encode(out);
    ++level_;
    open_chunk(out);
    value._kairos_encode(out);
    close_chunk(out);
    out.write(-level_);
    --level_;
}

void Output::write_state_in_chunk(cdr::Writer& out, const CORBA::ValueBase& value)
{
    const std::int32_t level = std::exchange(level_, 0);
    const Chunk around = std::exchange(chunk_, {});
    write_state(out, value, true);
    level_ = level;
    chunk_ = around;
}

void Output::open_chunk(cdr::Writer& out)
{
    chunk_.before = out.position();
    out.write(std::uint32_t{0});
    chunk_.length_at = out.position() - 4;
    chunk_.begin = out.size();
    chunk_.is_open = true;
}

void Output::close_chunk(cdr::Writer& out)
{
    if (!chunk_.is_open) return;
    chunk_.is_open = false;
    const std::size_t size = out.size() - chunk_.begin;
    if (size == 0) return out.take_back(chunk_.before); // there are no empty chunks
    if (size >= value_tag_min)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a value's state exceeds 2 GiB");
    out.patch(chunk_.length_at, static_cast<std::uint32_t>(size));
}

void Output::write_tag(cdr::Writer& out, const Type& type, const Type* formal, bool chunked)
{
    const std::uint32_t flags = value_tag_min | (chunked ? is_chunked : 0);
    // The receiver knows the type that IDL has there.
    if (&type == formal) return out.write(flags | no_type_info);
    if (type.truncated == nullptr) {
        out.write(flags | single_id);
        return write_id(out, type.id);
    }
    out.write(flags | id_list);
    write_ids(out, type);
}

void Output::write_id(cdr::Writer& out, std::string_view id)
{
    if (const auto known = ids_.find(id); known != ids_.end())
        return write_indirection(out, known->second);
    (void)out.claim(0, 4);
    ids_.emplace(id, out.size());
    out.write_string(id);
}

/// The most derived one first, and whatever the value may be truncated to. A list is not meant by
/// an indirection, though it might be: JacORB reads none. Those in it are.
void Output::write_ids(cdr::Writer& out, const Type& type)
{
    std::uint32_t count = 0;
    for (const Type* each = &type; each != nullptr; each = each->truncated)
        ++count;
    out.write(count);
    for (const Type* each = &type; each != nullptr; each = each->truncated)
        write_id(out, each->id);
}

void Output::write_indirection(cdr::Writer& out, std::size_t position)
{
    out.write(indirection_tag);
    // From where the offset is (CORBA 3.3 part 2, 9.3.4.3).
    const auto offset = static_cast<std::int64_t>(position) - static_cast<std::int64_t>(out.size());
    if (offset < INT32_MIN)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "shared values are 2 GiB apart");
    out.write(static_cast<std::int32_t>(offset));
}

} // namespace kairos::values
