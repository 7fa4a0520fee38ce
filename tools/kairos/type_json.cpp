// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/type_json.h"

#include "kairos/types/typecode_factory.h"
#include "kairos/types/typecode_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::tools {
namespace {

using json = Json;

struct Word {
    CORBA::TCKind kind;
    std::string_view idl;
};

/// The types that IDL has a word for, and those that any has besides.
constexpr std::array plain_kinds{
    Word{CORBA::tk_null, "null"},
    Word{CORBA::tk_void, "void"},
    Word{CORBA::tk_short, "short"},
    Word{CORBA::tk_long, "long"},
    Word{CORBA::tk_ushort, "unsigned short"},
    Word{CORBA::tk_ulong, "unsigned long"},
    Word{CORBA::tk_float, "float"},
    Word{CORBA::tk_double, "double"},
    Word{CORBA::tk_boolean, "boolean"},
    Word{CORBA::tk_char, "char"},
    Word{CORBA::tk_octet, "octet"},
    Word{CORBA::tk_any, "any"},
    Word{CORBA::tk_TypeCode, "CORBA::TypeCode"},
    Word{CORBA::tk_Principal, "CORBA::Principal"},
    Word{CORBA::tk_longlong, "long long"},
    Word{CORBA::tk_ulonglong, "unsigned long long"},
    Word{CORBA::tk_longdouble, "long double"},
    Word{CORBA::tk_wchar, "wchar"},
};

/// The predefined type of a kind that is a whole type.
CORBA::TypeCode_ptr predefined(CORBA::TCKind kind)
{
    switch (kind) {
#define KAIROS_CASE(kind_name, name)                                                               \
    case CORBA::kind_name:                                                                         \
        return CORBA::TypeCode::_duplicate(CORBA::_tc_##name);
        KAIROS_BASIC_TYPES(KAIROS_CASE)
#undef KAIROS_CASE
    default:
        return CORBA::TypeCode::_nil();
    }
}

/// The kinds that have an id and a name, and are an object of JSON.
constexpr std::array named_kinds{
    Word{CORBA::tk_objref, "interface"},
    Word{CORBA::tk_abstract_interface, "abstract interface"},
    Word{CORBA::tk_local_interface, "local interface"},
    Word{CORBA::tk_native, "native"},
    Word{CORBA::tk_component, "component"},
    Word{CORBA::tk_home, "home"},
    Word{CORBA::tk_struct, "struct"},
    Word{CORBA::tk_except, "exception"},
    Word{CORBA::tk_union, "union"},
    Word{CORBA::tk_enum, "enum"},
    Word{CORBA::tk_alias, "typedef"},
    Word{CORBA::tk_value, "valuetype"},
    Word{CORBA::tk_event, "eventtype"},
    Word{CORBA::tk_value_box, "valuebox"},
};

template <typename Words>
std::string_view kind_word(const Words& among, CORBA::TCKind kind)
{
    const auto* const found = std::ranges::find(among, kind, &Word::kind);
    return found == among.end() ? std::string_view() : found->idl;
}

template <typename Words>
std::optional<CORBA::TCKind> kind_of(const Words& among, std::string_view word)
{
    const auto* const found = std::ranges::find(among, word, &Word::idl);
    return found == among.end() ? std::nullopt : std::optional(found->kind);
}

constexpr std::array modifiers{"none", "custom", "abstract", "truncatable"};

struct KnownId {
    std::string_view word;
    const char* id;
    const CORBA::TypeCode& type;
};
const std::array known_ids{
    KnownId{"Object", "IDL:omg.org/CORBA/Object:1.0", CORBA::_kairos_tc_Object},
    KnownId{"ValueBase", "IDL:omg.org/CORBA/ValueBase:1.0", CORBA::_kairos_tc_ValueBase},
    KnownId{"CORBA::AbstractBase", "IDL:omg.org/CORBA/AbstractBase:1.0",
            CORBA::_kairos_tc_AbstractBase},
};

// --- Types to JSON -------------------------------------------------------------------------------

class TypeWriter {
  public:
    explicit TypeWriter(JsonBudget& budget) : budget_(budget) {}

    json of(const CORBA::TypeCode& type)
    {
        budget_.take(type_octets);
        if (std::string word = idl_word(type); !word.empty()) return word;
        switch (type.kind()) {
        case CORBA::tk_sequence: {
            json sequence{{"kind", "sequence"}, {"element", of_content(type)}};
            if (type.length() != 0) sequence["bound"] = type.length();
            return sequence;
        }
        case CORBA::tk_array:
            return {{"kind", "array"}, {"element", of_content(type)}, {"length", type.length()}};
        default:
            return of_named(type);
        }
    }

  private:
    /// With the words of its form, and the numbers that it may have.
    static constexpr std::size_t type_octets = 4 * JsonBudget::value_octets;

    json of_content(const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var content = type.content_type();
        return of(*content.in());
    }

    /// The name of a type or of a part of one.
    json of_name(const char* name)
    {
        budget_.take_value();
        budget_.take_text(name);
        return name;
    }

    json of_named(const CORBA::TypeCode& type)
    {
        const std::string id = type.id();
        budget_.take_text(id);
        if (!id.empty() && std::ranges::find(open_, id) != open_.end()) return {{"recursive", id}};
        json object{{"kind", kind_word(named_kinds, type.kind())},
                    {"id", id},
                    {"name", of_name(type.name())}};
        open_.push_back(id);
        add_parts(type, object);
        open_.pop_back();
        return object;
    }

    void add_parts(const CORBA::TypeCode& type, json& parts)
    {
        switch (type.kind()) {
        case CORBA::tk_struct:
        case CORBA::tk_except:
            parts["members"] = members_of(type, [](json&, CORBA::ULong) {});
            break;
        case CORBA::tk_union: {
            const CORBA::TypeCode_var discriminator = type.discriminator_type();
            parts["discriminator"] = of(*discriminator.in());
            parts["cases"] = members_of(type, [&](json& member, CORBA::ULong i) {
                if (type.default_index() == static_cast<CORBA::Long>(i))
                    member["default"] = true;
                else
                    member["label"] = label_json(*discriminator.in(), type._kairos_label(i));
            });
            break;
        }
        case CORBA::tk_enum:
            parts["enumerators"] = json::array();
            for (CORBA::ULong i = 0; i < type.member_count(); ++i)
                parts["enumerators"].push_back(of_name(type.member_name(i)));
            break;
        case CORBA::tk_alias:
        case CORBA::tk_value_box:
            parts["type"] = of_content(type);
            break;
        case CORBA::tk_value:
        case CORBA::tk_event: {
            parts["modifier"] = modifiers.at(static_cast<std::size_t>(type.type_modifier()));
            const CORBA::TypeCode_var base = type.concrete_base_type();
            if (!CORBA::is_nil(base.in())) parts["base"] = of(*base.in());
            parts["members"] = members_of(type, [&](json& member, CORBA::ULong i) {
                member["public"] = type.member_visibility(i) == CORBA::PUBLIC_MEMBER;
            });
            break;
        }
        default:
            break;
        }
    }

    template <typename More>
    json members_of(const CORBA::TypeCode& type, const More& more)
    {
        json members = json::array();
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            const CORBA::TypeCode_var member_type = type.member_type(i);
            json member{{"name", of_name(type.member_name(i))}, {"type", of(*member_type.in())}};
            more(member, i);
            members.push_back(std::move(member));
        }
        return members;
    }

    JsonBudget& budget_;
    std::vector<std::string> open_;
};

// --- Types from JSON -----------------------------------------------------------------------------

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error(what); }

std::string text_at(const json& object, const char* key)
{
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string())
        wrong(fmt::format("a type lacks its '{}', a string", key));
    return found->get<std::string>();
}

const json& part_at(const json& object, const char* key)
{
    const auto found = object.find(key);
    if (found == object.end()) wrong(fmt::format("a type lacks its '{}'", key));
    return *found;
}

CORBA::ULong number_at(const json& object, const char* key)
{
    const json& number = part_at(object, key);
    if (!number.is_number_unsigned() ||
        number.get<std::uint64_t>() > std::numeric_limits<CORBA::ULong>::max())
        wrong(fmt::format("'{}' of a type is no unsigned long", key));
    return number.get<CORBA::ULong>();
}

/// "8" and "5,2" of string<8> and fixed<5,2>.
template <typename Number>
Number parse_parameter(std::string_view text, const std::string& type)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        wrong(fmt::format("there is no type '{}'", type));
    return number;
}

CORBA::TypeCode_ptr parametrised(const std::string& text)
{
    const std::size_t opens = text.find('<');
    if (opens == std::string::npos || text.back() != '>') return nullptr;
    const std::string_view word = std::string_view(text).substr(0, opens);
    const std::string_view inside =
        std::string_view(text).substr(opens + 1, text.size() - opens - 2);
    if (word == "string" || word == "wstring")
        return types::make_text(word == "string" ? CORBA::tk_string : CORBA::tk_wstring,
                                parse_parameter<CORBA::ULong>(inside, text));
    const std::size_t comma = inside.find(',');
    if (word != "fixed" || comma == std::string_view::npos) return nullptr;
    return types::make_fixed(parse_parameter<CORBA::UShort>(inside.substr(0, comma), text),
                             parse_parameter<CORBA::Short>(inside.substr(comma + 1), text));
}

class TypeReader {
  public:
    explicit TypeReader(const FindType& find) : find_(find) {}

    CORBA::TypeCode_var of(const json& type)
    {
        if (type.is_string()) return of_word(type.get<std::string>());
        if (!type.is_object()) wrong("a type is a string or an object");
        if (type.contains("recursive"))
            return types::make_recursive(text_at(type, "recursive").c_str());
        return of_object(type);
    }

  private:
    CORBA::TypeCode_var of_word(const std::string& word) const
    {
        if (const auto kind = kind_of(plain_kinds, word)) return predefined(*kind);
        if (word == "string" || word == "wstring")
            return types::make_text(word == "string" ? CORBA::tk_string : CORBA::tk_wstring, 0);
        for (const KnownId& known : known_ids)
            if (word == known.word || word == known.id)
                return CORBA::TypeCode::_duplicate(types::pointer(known.type));
        CORBA::TypeCode_var type = parametrised(word);
        if (CORBA::is_nil(type.in()) && find_) type = find_(word);
        if (CORBA::is_nil(type.in())) wrong(fmt::format("there is no type '{}'", word));
        return type;
    }

    CORBA::TypeCode_var of_object(const json& object)
    {
        const std::string word = text_at(object, "kind");
        if (word == "sequence") {
            const CORBA::TypeCode_var element = of(part_at(object, "element"));
            const CORBA::ULong bound = object.contains("bound") ? number_at(object, "bound") : 0;
            return types::make_elements(CORBA::tk_sequence, bound, element.in());
        }
        if (word == "array") {
            const CORBA::TypeCode_var element = of(part_at(object, "element"));
            return types::make_elements(CORBA::tk_array, number_at(object, "length"), element.in());
        }
        const auto kind = kind_of(named_kinds, word);
        if (!kind) wrong(fmt::format("there is no kind of type '{}'", word));
        return of_named(*kind, object, text_at(object, "id"), text_at(object, "name"));
    }

    CORBA::TypeCode_var of_named(CORBA::TCKind kind, const json& object, const std::string& id,
                                 const std::string& name)
    {
        switch (kind) {
        case CORBA::tk_struct:
        case CORBA::tk_except: {
            const Members members(*this, part_at(object, "members"));
            return types::make_struct(kind, id.c_str(), name.c_str(), members.list);
        }
        case CORBA::tk_union: {
            const CORBA::TypeCode_var discriminator = of(part_at(object, "discriminator"));
            CORBA::Long default_index = -1;
            Members members(*this, part_at(object, "cases"));
            for (std::size_t i = 0; i < members.list.size(); ++i) {
                const json& member = object["cases"][i];
                if (member.contains("default"))
                    default_index = static_cast<CORBA::Long>(i);
                else
                    members.list[i].number =
                        label_of(*discriminator.in(), part_at(member, "label"));
            }
            return types::make_union(id.c_str(), name.c_str(), discriminator.in(), members.list,
                                     default_index);
        }
        case CORBA::tk_enum: {
            std::vector<std::string> names;
            for (const json& enumerator : part_at(object, "enumerators")) {
                if (!enumerator.is_string()) wrong("an enumerator is a string");
                names.push_back(enumerator.get<std::string>());
            }
            std::vector<types::NewMember> members;
            for (const std::string& enumerator : names)
                members.push_back({.name = enumerator.c_str()});
            return types::make_enum(id.c_str(), name.c_str(), members);
        }
        case CORBA::tk_alias:
        case CORBA::tk_value_box: {
            const CORBA::TypeCode_var original = of(part_at(object, "type"));
            return types::make_alias(kind, id.c_str(), name.c_str(), original.in());
        }
        case CORBA::tk_value:
        case CORBA::tk_event:
            return of_value(kind, object, id, name);
        default:
            return types::make_named(kind, id.c_str(), name.c_str());
        }
    }

    CORBA::TypeCode_var of_value(CORBA::TCKind kind, const json& object, const std::string& id,
                                 const std::string& name)
    {
        const std::string word = text_at(object, "modifier");
        const auto* const modifier = std::ranges::find(modifiers, word);
        if (modifier == modifiers.end())
            wrong(fmt::format("there is no modifier '{}' of a valuetype", word));
        CORBA::TypeCode_var base;
        if (object.contains("base")) base = of(object["base"]);
        Members members(*this, part_at(object, "members"));
        for (std::size_t i = 0; i < members.list.size(); ++i) {
            const json& is_public = part_at(object["members"][i], "public");
            if (!is_public.is_boolean()) wrong("'public' of a member is a boolean");
            members.list[i].number =
                is_public.get<bool>() ? CORBA::PUBLIC_MEMBER : CORBA::PRIVATE_MEMBER;
        }
        return types::make_value(kind, id.c_str(), name.c_str(),
                                 static_cast<CORBA::ValueModifier>(modifier - modifiers.begin()),
                                 base.in(), members.list);
    }

    /// Members, and what they borrow.
    struct Members {
        Members(TypeReader& reader, const json& members)
        {
            if (!members.is_array()) wrong("the members of a type are an array");
            for (const json& member : members) {
                if (!member.is_object()) wrong("a member of a type is an object");
                names.push_back(text_at(member, "name"));
                types.push_back(reader.of(part_at(member, "type")));
            }
            for (std::size_t i = 0; i < names.size(); ++i)
                list.push_back({.name = names[i].c_str(), .type = types[i].in()});
        }
        std::vector<std::string> names;
        std::vector<CORBA::TypeCode_var> types;
        std::vector<types::NewMember> list;
    };

    const FindType& find_;
};

/// Notes how deep a text is nested, without keeping any of it.
class Depth final : public nlohmann::json_sax<json> {
  public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return ++depth_ <= json_depth_max; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return --depth_, true; }
    bool start_array(std::size_t) override { return ++depth_ <= json_depth_max; }
    bool end_array() override { return --depth_, true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override
    {
        return true; // json::parse says it better
    }
    [[nodiscard]] bool is_too_deep() const noexcept { return depth_ > json_depth_max; }

  private:
    std::size_t depth_ = 0;
};

} // namespace

std::string idl_word(const CORBA::TypeCode& type)
{
    const CORBA::TCKind kind = type.kind();
    switch (kind) {
    case CORBA::tk_string:
    case CORBA::tk_wstring: {
        const char* const word = kind == CORBA::tk_string ? "string" : "wstring";
        return type.length() == 0 ? word : fmt::format("{}<{}>", word, type.length());
    }
    case CORBA::tk_fixed:
        return fmt::format("fixed<{},{}>", type.fixed_digits(), type.fixed_scale());
    case CORBA::tk_objref:
    case CORBA::tk_value:
    case CORBA::tk_abstract_interface:
        for (const KnownId& known : known_ids)
            if (std::string_view(type.id()) == known.id) return std::string(known.word);
        return {};
    default:
        return std::string(kind_word(plain_kinds, kind));
    }
}

void JsonBudget::take(std::size_t octets)
{
    if (octets > left_) {
        left_ = 0;
        throw std::runtime_error(fmt::format("it has more than {} octets as JSON", octets_max_));
    }
    left_ -= octets;
}

void JsonBudget::take_text(std::string_view text)
{
    constexpr std::size_t marks = 4; // around it, and behind it
    std::size_t octets = text.size() + marks;
    for (const char character : text)
        if (static_cast<unsigned char>(character) < ' ')
            octets += 5; // \u001f
        else if (character == '"' || character == '\\')
            octets += 1;
    take(octets);
}

json json_of(const CORBA::TypeCode& type)
{
    JsonBudget without_end;
    return json_of(type, without_end);
}

json json_of(const CORBA::TypeCode& type, JsonBudget& budget)
{
    return TypeWriter(budget).of(type);
}

CORBA::TypeCode_var type_of(const json& json, const FindType& find)
{
    try {
        return TypeReader(find).of(json);
    } catch (const CORBA::SystemException& exception) { // names, ids and labels that IDL has not
        throw std::runtime_error(fmt::format("a type that cannot be: {}", exception.what()));
    }
}

json label_json(const CORBA::TypeCode& discriminator, std::int64_t label)
{
    const CORBA::TypeCode& type = types::resolved(discriminator);
    switch (type.kind()) {
    case CORBA::tk_boolean:
        return label != 0;
    case CORBA::tk_enum:
        return type.member_name(static_cast<CORBA::ULong>(label));
    case CORBA::tk_ulonglong:
        return static_cast<std::uint64_t>(label);
    case CORBA::tk_char:
        if (label > ' ' && label < 0x7f) return std::string(1, static_cast<char>(label));
        return label;
    default:
        return label;
    }
}

std::int64_t label_of(const CORBA::TypeCode& discriminator, const json& label)
{
    const CORBA::TypeCode& type = types::resolved(discriminator);
    if (type.kind() == CORBA::tk_boolean && label.is_boolean()) return label.get<bool>() ? 1 : 0;
    if (type.kind() == CORBA::tk_char && label.is_string() &&
        label.get_ref<const std::string&>().size() == 1)
        return static_cast<unsigned char>(label.get_ref<const std::string&>().front());
    if (type.kind() == CORBA::tk_enum && label.is_string()) {
        const auto& name = label.get_ref<const std::string&>();
        for (CORBA::ULong i = 0; i < type.member_count(); ++i)
            if (name == type.member_name(i)) return i;
    } else if (label.is_number_integer()) {
        return label.is_number_unsigned() ? static_cast<std::int64_t>(label.get<std::uint64_t>())
                                          : label.get<std::int64_t>();
    }
    throw std::runtime_error(
        fmt::format("{} is no value of a union's discriminator", label.dump()));
}

json parse_json(const std::string& text)
{
    Depth depth;
    (void)json::sax_parse(text, &depth);
    if (depth.is_too_deep())
        throw std::runtime_error(fmt::format("JSON is nested more than {} deep", json_depth_max));
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        throw std::runtime_error(fmt::format("no JSON: {}", error.what()));
    }
}

} // namespace kairos::tools
