// SPDX-License-Identifier: Apache-2.0
//
// Writes TypeCodes (CORBA 3.3 part 2, 9.3.5.1).
#include "kairos/types/typecode_wire.h"

#include "kairos/cdr/environment.h"
#include "kairos/types/typecode_kinds.h"

#include <array>
#include <unordered_map>

namespace kairos::types {
namespace {

using CORBA::TCKind;

/// Beyond what any decoder accepts; below what the stack holds.
constexpr std::size_t depth_max = 4 * limits::nesting_max;

/// Where TypeCodes began in the stream. Most are small, and need no map.
class Positions {
  public:
    void add(const CORBA::TypeCode* type, std::size_t position)
    {
        if (count_ < few_.size()) {
            few_[count_++] = {type, position};
        } else {
            many_.emplace(type, position);
        }
    }
    /// Null for what was not written.
    [[nodiscard]] const std::size_t* find(const CORBA::TypeCode* type) const
    {
        for (std::size_t i = 0; i < count_; ++i)
            if (few_[i].type == type) return &few_[i].position;
        const auto found = many_.find(type);
        return found == many_.end() ? nullptr : &found->second;
    }

  private:
    struct Entry {
        const CORBA::TypeCode* type;
        std::size_t position;
    };
    std::array<Entry, 16> few_;
    std::size_t count_ = 0;
    std::unordered_map<const CORBA::TypeCode*, std::size_t> many_;
};

class Encoder {
  public:
    explicit Encoder(cdr::Writer& out) : out_(out) {}

    void write(const CORBA::TypeCode& type);

  private:
    [[nodiscard]] bool write_indirection(const CORBA::TypeCode& type);
    void write_parameters(const TypeCodeData& data);
    void write_member(const TypeCodeData& data, CORBA::ULong index);
    void write_label(const CORBA::TypeCode& discriminator, std::int64_t label);
    void write_wide_label(std::uint32_t character);

    cdr::Writer& out_;
    Positions positions_;
    std::size_t depth_ = 0;
};

/// Whether the type may contain itself: then it can be meant while it is being written.
bool may_contain_itself(TCKind kind) { return is_aggregate(kind) && kind != CORBA::tk_except; }

/// Sequences and arrays are never meant by an indirection, though they might be: there are peers
/// that take it for nothing but types with an id.
void Encoder::write(const CORBA::TypeCode& any_type)
{
    const CORBA::TypeCode& type =
        any_type._kairos_is_recursive() ? any_type._kairos_bound() : any_type;
    const TypeCodeData& data = type._kairos_raw();
    const Parameters parameters = parameters_of(data.kind);
    if (parameters == Parameters::encapsulated && write_indirection(type)) return;
    out_.write(static_cast<std::uint32_t>(data.kind));
    const std::size_t position = out_.position() - sizeof(std::uint32_t);
    switch (parameters) {
    case Parameters::bound:
        return out_.write(data.count);
    case Parameters::fixed:
        out_.write(static_cast<std::uint16_t>(data.count));
        return out_.write(static_cast<std::int16_t>(data.detail));
    case Parameters::encapsulated:
        break;
    default:
        return;
    }
    if (++depth_ > depth_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a TypeCode is nested too deeply");
    if (may_contain_itself(data.kind)) positions_.add(&type, position);
    const cdr::Writer::Encapsulation scope = out_.begin_encapsulation();
    write_parameters(data);
    out_.end_encapsulation(scope);
    if (has_id(data.kind) && !may_contain_itself(data.kind)) positions_.add(&type, position);
    --depth_;
}

/// Offsets count from where they stand themselves, whatever encapsulations are between (CORBA 3.3
/// part 2, 9.3.5.1.3).
bool Encoder::write_indirection(const CORBA::TypeCode& type)
{
    const std::size_t* const position = positions_.find(&type);
    if (position == nullptr) return false;
    out_.write(static_cast<std::uint32_t>(CORBA::TypeCode::recursive));
    out_.write(static_cast<std::int32_t>(*position) - static_cast<std::int32_t>(out_.position()));
    return true;
}

void Encoder::write_parameters(const TypeCodeData& data)
{
    if (has_id(data.kind)) {
        out_.write_string(data.id);
        out_.write_string(data.name);
    }
    switch (data.kind) {
    case CORBA::tk_sequence:
    case CORBA::tk_array:
        write(*data.content);
        return out_.write(data.count);
    case CORBA::tk_alias:
    case CORBA::tk_value_box:
        return write(*data.content);
    case CORBA::tk_union:
        write(*data.content);
        out_.write(data.detail);
        break;
    case CORBA::tk_value:
    case CORBA::tk_event:
        out_.write(static_cast<std::int16_t>(data.detail));
        write(data.content == nullptr ? CORBA::_kairos_tc_null : *data.content);
        break;
    default:
        break;
    }
    if (!has_members(data.kind)) return;
    out_.write(data.count);
    for (CORBA::ULong i = 0; i < data.count; ++i)
        write_member(data, i);
}

void Encoder::write_member(const TypeCodeData& data, CORBA::ULong index)
{
    if (data.kind == CORBA::tk_union) write_label(resolved(*data.content), data.numbers[index]);
    out_.write_string(data.members[index].name);
    if (data.kind == CORBA::tk_enum) return;
    write(*data.members[index].type);
    if (is_value(data.kind)) out_.write(static_cast<std::int16_t>(data.numbers[index]));
}

void Encoder::write_label(const CORBA::TypeCode& discriminator, std::int64_t label)
{
    switch (discriminator._kairos_raw().kind) {
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return out_.write(static_cast<std::uint8_t>(label));
    case CORBA::tk_short:
    case CORBA::tk_ushort:
        return out_.write(static_cast<std::uint16_t>(label));
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
        return out_.write(label);
    case CORBA::tk_wchar:
        return write_wide_label(static_cast<std::uint32_t>(label));
    default:
        return out_.write(static_cast<std::uint32_t>(label));
    }
}

/// UTF-16 in the form of the message's GIOP version; big-endian where that has a length in front
/// (CORBA 3.3 part 2, 9.3.1.6 and 9.3.2.7).
void Encoder::write_wide_label(std::uint32_t character)
{
    const bool old = out_.environment() != nullptr && out_.environment()->giop_minor < 2;
    if (old) return out_.write(static_cast<std::uint16_t>(character));
    const bool pair = character > 0xFFFF;
    const std::uint32_t beyond = character - 0x1'0000;
    const std::uint32_t units =
        pair ? (0xD800 + (beyond >> 10)) << 16 | (0xDC00 + (beyond & 0x3FF)) : character;
    out_.write(static_cast<std::uint8_t>(pair ? 4 : 2));
    for (int shift = pair ? 24 : 8; shift >= 0; shift -= 8)
        out_.write(static_cast<std::uint8_t>(units >> shift));
}

} // namespace

void encode_type_code(cdr::Writer& out, const CORBA::TypeCode& type) { Encoder(out).write(type); }

} // namespace kairos::types

namespace kairos::mapping {

void encode_object(cdr::Writer& out, const CORBA::TypeCode* type)
{
    if (type == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil TypeCode");
    types::encode_type_code(out, *type);
}

} // namespace kairos::mapping
