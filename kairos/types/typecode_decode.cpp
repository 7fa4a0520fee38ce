// SPDX-License-Identifier: Apache-2.0
//
// Reads TypeCodes from bytes that a peer sent (CORBA 3.3 part 2, 9.3.5.1). Nothing is believed: see
// decode_type_code.
#include "kairos/types/typecode_wire.h"

#include "kairos/base/stack.h"
#include "kairos/cdr/environment.h"
#include "kairos/types/typecode_graph.h"
#include "kairos/types/typecode_kinds.h"

#include <algorithm>
#include <utility>

namespace kairos::types {
namespace {

using CORBA::TCKind;

#define KAIROS_BASIC_TYPE_CASE(kind, name)                                                         \
    case CORBA::kind:                                                                              \
        return &CORBA::_kairos_tc_##name;

/// The constant that is the whole of a kind without parameters.
const CORBA::TypeCode* basic_constant(TCKind kind)
{
    switch (kind) {
        KAIROS_BASIC_TYPES(KAIROS_BASIC_TYPE_CASE)
    default:
        return nullptr;
    }
}
#undef KAIROS_BASIC_TYPE_CASE

/// Every type is a node once, however often it is meant: what is read costs memory in proportion
/// to its bytes, and no type is nested deeper than nesting_max but by recursion.
class TypeCodeDecoder {
  public:
    explicit TypeCodeDecoder(cdr::Reader& in)
        : giop_minor_(in.environment() == nullptr ? 2 : in.environment()->giop_minor)
    {
    }
    [[nodiscard]] CORBA::TypeCode_ptr read_outermost(cdr::Reader& in);

  private:
    /// `type` is null where reading failed.
    struct Result {
        const CORBA::TypeCode* type = nullptr;
        TCKind kind = CORBA::tk_null;
        std::size_t height = 0; ///< types nested in it
    };
    /// What began at a position. While it is being read its TypeCode is a blank.
    struct Known {
        std::size_t position;
        Result result;
        bool complete = true;
        bool reading_base = false;
    };
    /// What is being read.
    struct Building {
        TypeCodeData data;
        std::size_t known; ///< its index
        std::size_t height = 0;
    };

    [[nodiscard]] Result read(cdr::Reader& in);
    [[nodiscard]] Result read_simple(cdr::Reader& in, TCKind kind);
    [[nodiscard]] Result read_complex(cdr::Reader& in, TCKind kind);
    [[nodiscard]] Result read_indirection(cdr::Reader& in);
    [[nodiscard]] bool is_legal_recursion(std::size_t known) const;
    void read_parameters(cdr::Reader& in, Building& building);
    void read_base(cdr::Reader& in, Building& building);
    void read_members(cdr::Reader& in, Building& building);
    [[nodiscard]] std::int64_t read_label(cdr::Reader& in, const TypeCodeData& discriminator,
                                          bool matters);
    [[nodiscard]] std::int64_t read_wide_label(cdr::Reader& in);
    /// The content or a member's type: one that has values.
    [[nodiscard]] const CORBA::TypeCode* read_part(cdr::Reader& in, Building& building);

    [[nodiscard]] TypeCodeGraph& graph()
    {
        if (!graph_) graph_.reset(new TypeCodeGraph);
        return *graph_;
    }
    /// Where in the outermost TypeCode's bytes the reader is: all encapsulations lie within them.
    [[nodiscard]] std::size_t position(const cdr::Reader& in) const
    {
        return static_cast<std::size_t>(in.bytes().data() + in.offset() - begin_);
    }

    const std::uint8_t giop_minor_;
    const std::byte* begin_ = nullptr;
    GraphPtr graph_;                // none for types without parameters
    std::vector<Known> known_;      // by position
    std::vector<std::size_t> open_; // what is being read, outermost first: indices of known_
    bool recursive_ = false;
};

CORBA::TypeCode_ptr TypeCodeDecoder::read_outermost(cdr::Reader& in)
{
    const Result result = read(in);
    if (recursive_ && in.ok()) {
        std::vector<const CORBA::TypeCode*> types;
        types.reserve(known_.size());
        for (const Known& known : known_)
            types.push_back(known.result.type);
        if (any_contains_itself(types)) in.fail(cdr::Fault::invalid_value);
    }
    if (!in.ok()) return nullptr;
    if (result.type->_kairos_raw().graph != nullptr) (void)graph_.release(); // now the caller's
    return pointer(*result.type);
}

TypeCodeDecoder::Result TypeCodeDecoder::read(cdr::Reader& in)
{
    const TCKind kind{in.read<std::uint32_t>()};
    if (!in.ok()) return {};
    if (begin_ == nullptr) begin_ = in.bytes().data() + in.offset() - sizeof(std::uint32_t);
    if (kind == CORBA::TypeCode::recursive) return read_indirection(in);
    if (parameters_of(kind) == Parameters::encapsulated) return read_complex(in, kind);
    const std::size_t begin = position(in) - sizeof(std::uint32_t);
    const Result result = read_simple(in, kind);
    if (in.ok()) known_.push_back({begin, result});
    return result;
}

TypeCodeDecoder::Result TypeCodeDecoder::read_simple(cdr::Reader& in, TCKind kind)
{
    switch (parameters_of(kind)) {
    case Parameters::none:
        return {basic_constant(kind), kind};
    case Parameters::bound: {
        const auto bound = in.read<std::uint32_t>();
        if (bound != 0) return {graph().make(text_type(kind, bound)), kind};
        return {kind == CORBA::tk_string ? &CORBA::_kairos_tc_string : &CORBA::_kairos_tc_wstring,
                kind};
    }
    case Parameters::fixed: {
        const auto digits = in.read<std::uint16_t>();
        const auto scale = in.read<std::int16_t>();
        if (!in.ok()) return {};
        if (is_fixed(digits, scale)) return {graph().make(fixed_type(digits, scale)), kind};
        break;
    }
    default:
        break;
    }
    in.fail(cdr::Fault::invalid_value);
    return {};
}

TypeCodeDecoder::Result TypeCodeDecoder::read_complex(cdr::Reader& in, TCKind kind)
{
    if (open_.size() == limits::nesting_max || !is_above(stack_limit()))
        in.fail(cdr::Fault::nesting_too_deep);
    const std::size_t begin = position(in) - sizeof(std::uint32_t);
    cdr::Reader inner = in.read_encapsulation();
    CORBA::TypeCode* const place = graph().reserve();
    graph().make(place, basic_type(CORBA::tk_null));
    Building building{{.kind = kind}, known_.size()};
    known_.push_back({begin, {place, kind, 0}, false});
    open_.push_back(building.known);
    if (inner.ok()) read_parameters(inner, building);
    open_.pop_back();
    if (building.height == limits::nesting_max) inner.fail(cdr::Fault::nesting_too_deep);
    if (!inner.ok()) {
        in.fail(inner.fault());
        return {};
    }
    graph().make(place, building.data);
    Known& known = known_[building.known];
    known.complete = true;
    known.result.height = building.height + 1;
    return known.result;
}

/// Only what this TypeCode began with can be meant: an offset into anything else is refused.
TypeCodeDecoder::Result TypeCodeDecoder::read_indirection(cdr::Reader& in)
{
    const auto offset = in.read<std::int32_t>();
    if (!in.ok()) return {};
    const std::size_t here = position(in) - sizeof offset;
    const std::size_t back = 0 - static_cast<std::size_t>(std::int64_t{offset});
    if (offset < 0 && back <= here) {
        const auto known = std::ranges::lower_bound(known_, here - back, {},
                                                    [](const Known& k) { return k.position; });
        const auto index = static_cast<std::size_t>(known - known_.begin());
        if (known != known_.end() && known->position == here - back &&
            (known->complete || is_legal_recursion(index))) {
            if (!known->complete) recursive_ = true;
            return known->result;
        }
    }
    in.fail(cdr::Fault::invalid_value);
    return {};
}

/// Whether a type that is being read may be a part of the innermost one: the way from it to there
/// passes an aggregate, so that it is not an alias, sequence or array of nothing but itself, and a
/// sequence or value, so that it can have values at all; and it is not its own base.
bool TypeCodeDecoder::is_legal_recursion(std::size_t index) const
{
    bool aggregate = false;
    bool indirect = false;
    bool only_bases = true;
    for (auto open = std::ranges::find(open_, index); open != open_.end(); ++open) {
        const Known& known = known_[*open];
        const TCKind kind = known.result.kind;
        aggregate |= is_aggregate(kind);
        indirect |= is_value(kind) || kind == CORBA::tk_sequence || kind == CORBA::tk_value_box;
        only_bases &= known.reading_base;
    }
    return aggregate && indirect && !only_bases;
}

const CORBA::TypeCode* TypeCodeDecoder::read_part(cdr::Reader& in, Building& building)
{
    const Result part = read(in);
    building.height = std::max(building.height, part.height);
    if (in.ok() && !has_values(part.kind)) in.fail(cdr::Fault::invalid_value);
    return part.type;
}

void TypeCodeDecoder::read_parameters(cdr::Reader& in, Building& building)
{
    TypeCodeData& data = building.data;
    if (has_id(data.kind)) {
        data.id = graph().text(in.read_string());
        data.name = graph().text(in.read_string());
    }
    if (has_content(data.kind)) data.content = read_part(in, building);
    switch (data.kind) {
    case CORBA::tk_sequence:
    case CORBA::tk_array:
        data.count = in.read<std::uint32_t>();
        if (data.kind == CORBA::tk_array && data.count == 0) in.fail(cdr::Fault::invalid_value);
        break;
    case CORBA::tk_union:
        data.content = read_part(in, building);
        // omniORB writes -2 where the labels of an enum cover all of it.
        data.detail = std::max(in.read<std::int32_t>(), std::int32_t{-1});
        if (in.ok() && !is_discriminator(resolved(*data.content)._kairos_raw().kind))
            in.fail(cdr::Fault::invalid_value);
        break;
    case CORBA::tk_value:
    case CORBA::tk_event:
        data.detail = in.read<std::int16_t>();
        if (data.detail < CORBA::VM_NONE || data.detail > CORBA::VM_TRUNCATABLE)
            in.fail(cdr::Fault::invalid_value);
        read_base(in, building);
        break;
    default:
        break;
    }
    if (in.ok() && has_members(data.kind)) read_members(in, building);
}

void TypeCodeDecoder::read_base(cdr::Reader& in, Building& building)
{
    known_[building.known].reading_base = true;
    const Result base = read(in);
    known_[building.known].reading_base = false;
    building.height = std::max(building.height, base.height);
    if (base.kind == CORBA::tk_null) return; // none
    building.data.content = base.type;
    if (!is_value(base.kind)) in.fail(cdr::Fault::invalid_value);
}

void TypeCodeDecoder::read_members(cdr::Reader& in, Building& building)
{
    constexpr std::size_t name_bytes_min = sizeof(std::uint32_t) + 1;
    TypeCodeData& data = building.data;
    const bool typed = is_aggregate(data.kind);
    const bool numbered = data.kind == CORBA::tk_union || is_value(data.kind);
    const std::size_t bytes_min = name_bytes_min + (typed ? sizeof(std::uint32_t) : 0);
    data.count = in.read_length(bytes_min);
    in.claim(data.count * bytes_min);
    auto* const members = graph().array<TypeCodeMember>(data.count);
    auto* const numbers = numbered ? graph().array<std::int64_t>(data.count) : nullptr;
    if (data.kind == CORBA::tk_union && data.detail >= std::int64_t{data.count})
        in.fail(cdr::Fault::invalid_value);
    for (CORBA::ULong i = 0; i < data.count && in.ok(); ++i) {
        in.unclaim(bytes_min);
        if (data.kind == CORBA::tk_union)
            numbers[i] =
                read_label(in, resolved(*data.content)._kairos_raw(), !is_default_member(data, i));
        members[i].name = graph().text(in.read_string());
        members[i].type = typed ? read_part(in, building) : nullptr;
        if (!is_value(data.kind)) continue;
        numbers[i] = in.read<std::int16_t>();
        if (numbers[i] != CORBA::PRIVATE_MEMBER && numbers[i] != CORBA::PUBLIC_MEMBER)
            in.fail(cdr::Fault::invalid_value);
    }
    data.members = members;
    data.numbers = numbers;
}

/// A label as a number. That of the default member is there but means nothing.
std::int64_t TypeCodeDecoder::read_label(cdr::Reader& in, const TypeCodeData& discriminator,
                                         bool matters)
{
    std::int64_t label = 0;
    bool valid = true;
    switch (discriminator.kind) {
    case CORBA::tk_boolean:
        label = in.read<std::uint8_t>();
        valid = label <= 1;
        break;
    case CORBA::tk_char:
    case CORBA::tk_octet:
        label = in.read<std::uint8_t>();
        break;
    case CORBA::tk_short:
        label = in.read<std::int16_t>();
        break;
    case CORBA::tk_ushort:
        label = in.read<std::uint16_t>();
        break;
    case CORBA::tk_long:
        label = in.read<std::int32_t>();
        break;
    case CORBA::tk_ulong:
        label = in.read<std::uint32_t>();
        break;
    case CORBA::tk_wchar:
        label = read_wide_label(in);
        break;
    case CORBA::tk_enum:
        label = in.read<std::uint32_t>();
        valid = label < discriminator.count;
        break;
    default: // long long, signed or not
        label = in.read<std::int64_t>();
        break;
    }
    if (!matters) return 0;
    if (!valid) in.fail(cdr::Fault::invalid_value);
    return label;
}

/// As encode_type_code writes it, with or without a byte order mark, or as 32 bits.
std::int64_t TypeCodeDecoder::read_wide_label(cdr::Reader& in)
{
    if (giop_minor_ < 2) return in.read<std::uint16_t>();
    const auto size = in.read<std::uint8_t>();
    const std::byte* const bytes = in.block(size, 1);
    if (bytes == nullptr || (size != 1 && size != 2 && size != 4)) {
        in.fail(cdr::Fault::invalid_value);
        return 0;
    }
    std::uint32_t units = 0;
    for (std::size_t i = 0; i < size; ++i)
        units = units << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    if (size != 4) return units;
    const std::uint32_t high = units >> 16;
    const std::uint32_t low = units & 0xFFFF;
    if (high == 0xFEFF) return low;
    if (high == 0xFFFE) return (low & 0xFF) << 8 | low >> 8;
    if (high >= 0xD800 && high < 0xDC00) return 0x1'0000 + ((high - 0xD800) << 10) + (low & 0x3FF);
    return units;
}

} // namespace

CORBA::TypeCode_ptr decode_type_code(cdr::Reader& in)
{
    // Most are basic types, and nothing can refer to one that stands alone.
    cdr::Reader ahead = in;
    const TCKind kind{ahead.read<std::uint32_t>()};
    if (ahead.ok() && parameters_of(kind) == Parameters::none) {
        in = ahead;
        return pointer(*basic_constant(kind));
    }
    return TypeCodeDecoder(in).read_outermost(in);
}

} // namespace kairos::types
