// SPDX-License-Identifier: Apache-2.0
//
// Answers to the questions that back ends ask about the model.
#include "idlc/model.h"

#include "idlc/composition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <unordered_set>

namespace kairos::idlc {
namespace {

std::string escaped(std::uint32_t character, char quote)
{
    switch (character) {
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\\':
        return "\\\\";
    default:
        break;
    }
    if (character == static_cast<unsigned char>(quote)) return {'\\', quote};
    if (character >= 0x20 && character < 0x7F) return {static_cast<char>(character)};
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    if (character < 0x100) {
        // Octal: always three digits, so a digit that follows is not taken for part of it.
        for (int shift = 6; shift >= 0; shift -= 3)
            out += digits[(character >> shift) & 7];
        return "\\" + out;
    }
    for (int shift = character > 0xFFFF ? 28 : 12; shift >= 0; shift -= 4)
        out += digits[(character >> shift) & 0xF];
    return "\\u" + out;
}

template <typename Text>
std::string literal(const Text& text, char quote, std::string out = {})
{
    out += quote;
    for (const auto character : text)
        out += escaped(
            static_cast<std::make_unsigned_t<std::remove_cv_t<decltype(character)>>>(character),
            quote);
    return out + quote;
}

struct ValuePrinter {
    std::string operator()(std::monostate) const { return "?"; }
    std::string operator()(bool value) const { return value ? "TRUE" : "FALSE"; }
    std::string operator()(char value) const { return literal(std::string(1, value), '\''); }
    std::string operator()(char32_t value) const
    {
        return "L'" + escaped(static_cast<std::uint32_t>(value), '\'') + "'";
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(std::uint64_t value) const { return std::to_string(value); }
    std::string operator()(long double value) const
    {
        std::array<char, 64> text{};
        const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value);
        std::string out(text.data(), end);
        if (failure == std::errc{} && out.find_first_of(".eni") == std::string::npos) out += ".0";
        return out;
    }
    std::string operator()(const FixedValue& value) const { return value.text + "d"; }
    std::string operator()(const std::string& value) const { return literal(value, '"'); }
    std::string operator()(const std::u32string& value) const
    {
        std::string out = "L\"";
        for (const char32_t character : value)
            out += escaped(static_cast<std::uint32_t>(character), '"');
        return out + '"';
    }
    std::string operator()(const Enumerator* value) const { return value->scoped_name; }
};

/// By TypeKind. CORBA has no TypeCodes for int8 and uint8.
constexpr std::array<BasicType, 26> basic_types{{
    {"void", "", "void", 0},
    {"boolean", "Boolean", "boolean", 1},
    {"char", "Char", "char", 1},
    {"wchar", "WChar", "wchar", 2}, // GIOP 1.2: a length and at least one octet
    {"octet", "Octet", "octet", 1, Integer::unsigned_},
    {"int8", "Int8", "octet", 1, Integer::signed_},
    {"uint8", "UInt8", "octet", 1, Integer::unsigned_},
    {"short", "Short", "short", 2, Integer::signed_},
    {"unsigned short", "UShort", "ushort", 2, Integer::unsigned_},
    {"long", "Long", "long", 4, Integer::signed_},
    {"unsigned long", "ULong", "ulong", 4, Integer::unsigned_},
    {"long long", "LongLong", "longlong", 8, Integer::signed_},
    {"unsigned long long", "ULongLong", "ulonglong", 8, Integer::unsigned_},
    {"float", "Float", "float", 4},
    {"double", "Double", "double", 8},
    {"long double", "LongDouble", "longdouble", 16},
    {"any", "Any", "any", 4},
    {"Object", "Object", "Object", 8},
    {"ValueBase", "ValueBase", "ValueBase", 4},
    {"CORBA::TypeCode", "TypeCode", "TypeCode", 4},
    {"string", "", "string", 5},
    {"wstring", "", "wstring", 4},
    {"fixed", "", "void", 0},
    {"", "", "void", 4}, // sequence
    {"", "", "void", 0}, // array
    {"", "", "void", 0}, // declared
}};
static_assert(basic_types.size() == static_cast<std::size_t>(TypeKind::declared) + 1);

/// Of one part, whatever it consists of itself.
bool owns_no_more_than_text(const Type& part)
{
    switch (part.kind) {
    case TypeKind::any:
    case TypeKind::object:
    case TypeKind::value_base:
    case TypeKind::type_code:
        return false;
    case TypeKind::declared:
        return part.declaration->kind == DeclarationKind::struct_ ||
               part.declaration->kind == DeclarationKind::enum_ ||
               part.declaration->kind == DeclarationKind::alias;
    default:
        return true;
    }
}

Value label_value(const Type& discriminator, std::int64_t code)
{
    switch (discriminator.kind) {
    case TypeKind::boolean:
        return code != 0;
    case TypeKind::char_:
        return static_cast<char>(code);
    case TypeKind::wchar:
        return static_cast<char32_t>(code);
    case TypeKind::declared:
        return as<Enum>(discriminator.declaration)->enumerators[static_cast<std::size_t>(code)];
    default:
        break;
    }
    if (basic_type(discriminator.kind).integer == Integer::signed_) return code;
    return static_cast<std::uint64_t>(code);
}

/// How many values the discriminator has, as far as that matters: no union has 2^31 labels.
std::int64_t value_count(const Type& discriminator)
{
    if (discriminator.kind == TypeKind::boolean) return 2;
    if (discriminator.kind == TypeKind::char_) return 256;
    if (discriminator.kind == TypeKind::declared) {
        const auto* enumeration = as<Enum>(discriminator.declaration);
        return enumeration == nullptr ? 0
                                      : static_cast<std::int64_t>(enumeration->enumerators.size());
    }
    const BasicType& basic = basic_type(discriminator.kind);
    const bool small = basic.integer != Integer::no && basic.wire_bytes_min <= 2;
    return std::int64_t{1} << (small ? 8 * basic.wire_bytes_min : 31);
}

bool is_call(const Declaration& declaration)
{
    return as<Operation>(&declaration) != nullptr || as<Attribute>(&declaration) != nullptr;
}

bool has_calls(const Declarations& declarations)
{
    return std::ranges::any_of(declarations,
                               [](const Declaration* each) { return is_call(*each); });
}

/// Interfaces whose operations the class of the value declares, so do not those of its bases: the
/// supported ones that are not abstract, with their ancestors.
void collect_supported(const ValueType& value, std::vector<const Interface*>& found)
{
    const auto add = [&found](const Interface* interface) {
        if (!interface->is_abstract && std::ranges::find(found, interface) == found.end())
            found.push_back(interface);
    };
    for (const Interface* interface : value.supports) {
        std::ranges::for_each(interface->ancestors, add);
        add(interface);
    }
}

} // namespace

const BasicType& basic_type(TypeKind kind) noexcept
{
    return basic_types[static_cast<std::size_t>(kind)];
}

bool declares_type(const Declaration& declaration) noexcept
{
    switch (declaration.kind) {
    case DeclarationKind::interface:
    case DeclarationKind::value_type:
    case DeclarationKind::value_box:
    case DeclarationKind::struct_:
    case DeclarationKind::union_:
    case DeclarationKind::enum_:
    case DeclarationKind::alias:
    case DeclarationKind::native:
        return true;
    default:
        return false;
    }
}

const Type& resolved(const Type& type) noexcept
{
    const Type* at = &type;
    while (at->kind == TypeKind::declared) {
        const auto* alias = as<Alias>(at->declaration);
        if (alias == nullptr) break;
        at = alias->type;
    }
    return *at;
}

Composition compose(const Type& type)
{
    switch (type.kind) {
    case TypeKind::any:
    case TypeKind::object:
    case TypeKind::value_base:
    case TypeKind::type_code:
    case TypeKind::string:
    case TypeKind::wstring:
        return {.variable_length = true};
    case TypeKind::sequence: {
        Composition out = compose(*type.element);
        out.variable_length = true;
        ++out.depth;
        return out;
    }
    case TypeKind::array: {
        Composition out = compose(*type.element);
        ++out.depth;
        return out;
    }
    case TypeKind::declared:
        break;
    default:
        return {};
    }
    switch (type.declaration->kind) {
    case DeclarationKind::struct_:
        return as<Struct>(type.declaration)->composition;
    case DeclarationKind::union_:
        return as<Union>(type.declaration)->composition;
    case DeclarationKind::alias:
        return as<Alias>(type.declaration)->composition;
    case DeclarationKind::enum_:
        return {};
    case DeclarationKind::interface:
        return {.variable_length = true, .local = as<Interface>(type.declaration)->is_local};
    default:
        return {.variable_length = true};
    }
}

void add_part(Composition& whole, const Type& part)
{
    const Composition inner = compose(part);
    whole.variable_length = whole.variable_length || inner.variable_length;
    whole.local = whole.local || inner.local;
    whole.depth = std::max(whole.depth, static_cast<std::uint16_t>(inner.depth + 1));
}

void add_parts(const Declaration& declaration, std::vector<const Type*>& out)
{
    const auto push_members = [&out](const std::vector<Member>& members) {
        for (const Member& member : members)
            out.push_back(member.type);
    };
    if (const auto* structure = as<Struct>(&declaration)) {
        push_members(structure->members);
    } else if (const auto* union_type = as<Union>(&declaration)) {
        for (const UnionCase& one : union_type->cases)
            out.push_back(one.member.type);
    } else if (const auto* value = as<ValueType>(&declaration)) {
        for (const StateMember* member : all_members(*value))
            out.push_back(member->member.type);
    } else if (const auto* box = as<ValueBox>(&declaration)) {
        out.push_back(box->type);
    } else if (const auto* alias = as<Alias>(&declaration)) {
        out.push_back(alias->type);
    } else if (const auto* exception = as<Exception>(&declaration)) {
        push_members(exception->members);
    }
}

bool all_parts(std::vector<const Type*> open, const std::function<bool(const Type&)>& holds)
{
    std::unordered_set<const Declaration*> seen;
    while (!open.empty()) {
        const Type* type = open.back();
        open.pop_back();
        if (!holds(*type)) return false;
        if (type->element != nullptr) open.push_back(type->element);
        if (type->kind == TypeKind::declared && seen.insert(type->declaration).second)
            add_parts(*type->declaration, open);
    }
    return true;
}

bool is_variable_length(const Type& type) { return compose(type).variable_length; }
bool is_variable_length(const Struct& type) { return type.composition.variable_length; }
bool is_variable_length(const Union& type) { return type.composition.variable_length; }
bool is_variable_length(const Exception& type) { return type.composition.variable_length; }
bool is_local(const Type& type) { return compose(type).local; }

bool is_recursive(const Declaration& declaration)
{
    std::vector<const Type*> parts;
    add_parts(declaration, parts);
    return !all_parts(std::move(parts), [&declaration](const Type& part) {
        return part.kind != TypeKind::declared || part.declaration != &declaration;
    });
}

bool is_viewable(const Type& type) { return all_parts({&type}, owns_no_more_than_text); }
bool is_viewable(const Struct& type)
{
    std::vector<const Type*> parts;
    add_parts(type, parts);
    return all_parts(std::move(parts), owns_no_more_than_text);
}

bool holds_values(const Type& type)
{
    return !all_parts({&type}, [](const Type& part) {
        if (part.kind != TypeKind::declared)
            return part.kind != TypeKind::any && part.kind != TypeKind::value_base;
        const auto* interface = as<Interface>(part.declaration);
        if (interface != nullptr) return !interface->is_abstract;
        return as<ValueType>(part.declaration) == nullptr &&
               as<ValueBox>(part.declaration) == nullptr;
    });
}

bool is_pseudo_object(const Type& type)
{
    const Type& actual = resolved(type);
    const auto* named =
        as<Native>(actual.kind == TypeKind::declared ? actual.declaration : nullptr);
    return named != nullptr && named->built_in && named->name != "Principal";
}

const Declarations& within(const Declaration& declaration) noexcept
{
    static const Declarations nothing;
    if (const auto* module = as<Module>(&declaration)) return module->declarations;
    if (const auto* interface = as<Interface>(&declaration)) return interface->declarations;
    if (const auto* value = as<ValueType>(&declaration)) return value->declarations;
    if (const auto* box = as<ValueBox>(&declaration)) return box->declarations;
    if (const auto* composite = as<Struct>(&declaration)) return composite->declarations;
    if (const auto* choice = as<Union>(&declaration)) return choice->declarations;
    if (const auto* exception = as<Exception>(&declaration)) return exception->declarations;
    return nothing;
}

Declarations all_operations(const Interface& interface)
{
    Declarations out;
    const auto add = [&out](const Interface& from) {
        for (const Declaration* declaration : from.declarations)
            if (declaration->kind == DeclarationKind::operation ||
                declaration->kind == DeclarationKind::attribute)
                out.push_back(declaration);
    };
    for (const Interface* ancestor : interface.ancestors)
        add(*ancestor);
    add(interface);
    return out;
}

const ValueType* concrete_base(const ValueType& value)
{
    // Only the first base can be concrete, so the state is that of one chain.
    return value.bases.empty() || value.bases[0]->is_abstract ? nullptr : value.bases[0];
}

std::vector<const Interface*> newly_supported(const ValueType& value)
{
    std::vector<const Interface*> all;
    std::vector<const Interface*> known;
    std::vector<const ValueType*> open(value.bases.begin(), value.bases.end());
    while (!open.empty()) {
        const ValueType* base = open.back();
        open.pop_back();
        open.insert(open.end(), base->bases.begin(), base->bases.end());
        collect_supported(*base, known);
    }
    collect_supported(value, all);
    std::erase_if(all, [&known](const Interface* interface) {
        return std::ranges::find(known, interface) != known.end();
    });
    return all;
}

std::vector<const Interface*> abstract_supports(const ValueType& value)
{
    std::vector<const Interface*> found;
    const auto add = [&found](const Interface* interface) {
        if (interface->is_abstract && std::ranges::find(found, interface) == found.end())
            found.push_back(interface);
    };
    for (const Interface* interface : value.supports) {
        add(interface);
        if (!interface->is_abstract) std::ranges::for_each(interface->ancestors, add);
    }
    return found;
}

bool supports_abstract(const ValueType& value)
{
    return !abstract_supports(value).empty() ||
           std::ranges::any_of(value.bases,
                               [](const ValueType* base) { return supports_abstract(*base); });
}

bool needs_implementation(const ValueType& value)
{
    const auto has_operations = [](const Interface* interface) {
        return !all_operations(*interface).empty();
    };
    return value.is_custom || has_calls(value.declarations) ||
           std::ranges::any_of(value.supports, has_operations) ||
           std::ranges::any_of(value.bases,
                               [](const ValueType* base) { return needs_implementation(*base); });
}

std::vector<const StateMember*> all_members(const ValueType& value)
{
    std::vector<const ValueType*> chain{&value};
    while (const ValueType* base = concrete_base(*chain.back()))
        chain.push_back(base);
    std::vector<const StateMember*> out;
    for (auto at = chain.rbegin(); at != chain.rend(); ++at)
        for (const StateMember& member : (*at)->members)
            out.push_back(&member);
    return out;
}

std::optional<std::int64_t> label_code(const Value& value)
{
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(&value))
        return static_cast<std::int64_t>(*number); // 2^63 and more: as their two's complement
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    if (const auto* c = std::get_if<char>(&value)) return static_cast<unsigned char>(*c);
    if (const auto* c = std::get_if<char32_t>(&value)) return static_cast<std::int64_t>(*c);
    if (const auto* e = std::get_if<const Enumerator*>(&value)) return (*e)->ordinal;
    return std::nullopt;
}

std::optional<Value> unlabelled_discriminator(const Union& type)
{
    if (type.discriminator == nullptr) return std::nullopt;
    const Type& discriminator = resolved(*type.discriminator);
    std::set<std::int64_t> taken;
    for (const UnionCase& one : type.cases)
        for (const CaseLabel& label : one.labels)
            if (const auto code = label_code(label.value)) taken.insert(*code);
    const std::int64_t count = value_count(discriminator);
    // Signed types: from 0 up to the greatest, then down from -1.
    const bool is_signed = basic_type(discriminator.kind).integer == Integer::signed_;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t code = is_signed && i >= count / 2 ? count / 2 - 1 - i : i;
        if (!taken.contains(code)) return label_value(discriminator, code);
    }
    return std::nullopt;
}

std::string to_string(const Type& type)
{
    std::string out(basic_type(type.kind).idl_name);
    switch (type.kind) {
    case TypeKind::string:
    case TypeKind::wstring:
        if (type.bound != 0) out += '<' + std::to_string(type.bound) + '>';
        break;
    case TypeKind::fixed:
        if (type.digits != 0)
            out += '<' + std::to_string(type.digits) + ", " + std::to_string(type.scale) + '>';
        break;
    case TypeKind::sequence:
        out = "sequence<" + to_string(*type.element);
        if (type.bound != 0) out += ", " + std::to_string(type.bound);
        out += '>';
        break;
    case TypeKind::array:
        out = to_string(*type.element);
        for (const std::uint64_t dimension : type.dimensions)
            out += '[' + std::to_string(dimension) + ']';
        break;
    case TypeKind::declared:
        return type.declaration->scoped_name;
    default:
        break;
    }
    return out;
}

std::string to_string(const Value& value) { return std::visit(ValuePrinter(), value); }

std::string with_article(std::string_view noun)
{
    const bool vowel = !noun.empty() && std::string_view("aeio").find(noun[0]) != noun.npos;
    return (vowel ? "an " : "a ") + std::string(noun);
}

std::string_view to_string(DeclarationKind kind) noexcept
{
    switch (kind) {
    case DeclarationKind::module:
        return "module";
    case DeclarationKind::forward:
        return "forward declaration";
    case DeclarationKind::interface:
        return "interface";
    case DeclarationKind::value_type:
        return "valuetype";
    case DeclarationKind::value_box:
        return "value box";
    case DeclarationKind::struct_:
        return "struct";
    case DeclarationKind::union_:
        return "union";
    case DeclarationKind::enum_:
        return "enum";
    case DeclarationKind::enumerator:
        return "enumerator";
    case DeclarationKind::alias:
        return "typedef";
    case DeclarationKind::constant:
        return "constant";
    case DeclarationKind::exception:
        return "exception";
    case DeclarationKind::attribute:
        return "attribute";
    case DeclarationKind::operation:
        return "operation";
    case DeclarationKind::native:
        return "native type";
    case DeclarationKind::annotation:
        return "annotation";
    }
    return "declaration";
}

} // namespace kairos::idlc
