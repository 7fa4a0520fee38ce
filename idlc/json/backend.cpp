// SPDX-License-Identifier: Apache-2.0
#include "idlc/json/backend.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace kairos::idlc {
namespace {

using Json = nlohmann::ordered_json;

/// Grows when something that was there means something else, or is there no longer.
constexpr int format_version = 1;
constexpr std::string_view format_name = "kairos-idl";
constexpr std::string_view origin_key = "generated_from";

/// By DeclarationKind.
constexpr std::array<const char*, 16> kind_names{
    "module",    "forward",   "interface",  "valuetype", "valuebox", "struct",
    "union",     "enum",      "enumerator", "typedef",   "constant", "exception",
    "attribute", "operation", "native",     "annotation"};

void append_utf8(std::string& text, char32_t character)
{
    constexpr char32_t replacement = 0xFFFD;
    if (character > 0x10FFFF || (character >= 0xD800 && character < 0xE000))
        character = replacement;
    const auto tail = [&text, character](unsigned shift) {
        text += static_cast<char>(0x80 | ((character >> shift) & 0x3F));
    };
    if (character < 0x80) {
        text += static_cast<char>(character);
    } else if (character < 0x800) {
        text += static_cast<char>(0xC0 | (character >> 6));
        tail(0);
    } else if (character < 0x10000) {
        text += static_cast<char>(0xE0 | (character >> 12));
        tail(6), tail(0);
    } else {
        text += static_cast<char>(0xF0 | (character >> 18));
        tail(12), tail(6), tail(0);
    }
}

/// IDL is written in ISO 8859-1: each octet is a character.
std::string latin_to_utf8(std::string_view octets)
{
    std::string text;
    for (const char octet : octets)
        append_utf8(text, static_cast<unsigned char>(octet));
    return text;
}

class Writer {
  public:
    explicit Writer(const Model& model) : unit_(model.unit)
    {
        for (const Timing& timing : model.timings)
            timings_.emplace(timing.operation, &timing);
    }

    Json document()
    {
        Json document{{"format", format_name},
                      {"version", format_version},
                      {origin_key, unit_.files[0].path},
                      {"generator", "kairos-idl " KAIROS_VERSION},
                      {"files", list(unit_.files, file)},
                      {"declarations", declarations(unit_.declarations)}};
        // What is referred to, but stands in no scope: pseudo objects, and types that are declared
        // forward only. They may refer to others.
        Json elsewhere = Json::array();
        while (!waiting_.empty()) {
            const Declaration* next = waiting_.begin()->second;
            elsewhere.push_back(declaration(*next));
        }
        document["elsewhere"] = std::move(elsewhere);
        return document;
    }

  private:
    template <typename List, typename Function>
    static Json list(const List& elements, const Function& function)
    {
        Json array = Json::array();
        for (const auto& element : elements)
            array.push_back(function(element));
        return array;
    }

    /// Of a declaration, wherever it is written.
    std::size_t id(const Declaration& declaration)
    {
        const auto [known, fresh] = ids_.try_emplace(&declaration, ids_.size() + 1);
        if (fresh) waiting_.emplace(known->second, &declaration);
        return known->second;
    }
    template <typename List>
    Json ids(const List& declarations)
    {
        return list(declarations, [this](const Declaration* each) { return id(*each); });
    }

    static Json place(const Location& location)
    {
        return {{"file", location.file}, {"line", location.line}, {"column", location.column}};
    }
    static Json file(const SourceFile& file)
    {
        Json json{{"path", file.path}};
        if (file.includer)
            json.update(
                {{"spelling", file.include_spelling}, {"included_at", place(*file.includer)}});
        return json;
    }

    Json type(const Type& type)
    {
        switch (type.kind) {
        case TypeKind::declared:
            return {{"kind", "declared"}, {"declaration", id(*type.declaration)}};
        case TypeKind::string:
        case TypeKind::wstring:
            return bounded({{"kind", type.kind == TypeKind::string ? "string" : "wstring"}}, type);
        case TypeKind::fixed:
            if (type.digits == 0) return {{"kind", "fixed"}}; // of a constant
            return {{"kind", "fixed"}, {"digits", type.digits}, {"scale", type.scale}};
        case TypeKind::sequence:
            return bounded({{"kind", "sequence"}, {"element", this->type(*type.element)}}, type);
        case TypeKind::array:
            return {{"kind", "array"},
                    {"element", this->type(*type.element)},
                    {"dimensions", type.dimensions}};
        default:
            return {{"kind", to_string(type)}};
        }
    }
    static Json bounded(Json json, const Type& type)
    {
        if (type.bound != 0) json["bound"] = type.bound;
        return json;
    }

    /// Numbers with a fraction are texts: JSON readers would round them.
    Json value(const Value& value)
    {
        if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
        if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
        if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
        if (const auto* character = std::get_if<char>(&value)) return latin_to_utf8({character, 1});
        if (const auto* text = std::get_if<std::string>(&value)) return latin_to_utf8(*text);
        if (const auto* fixed = std::get_if<FixedValue>(&value)) return fixed->text;
        if (const auto* const* enumerator = std::get_if<const Enumerator*>(&value))
            return {{"enumerator", id(**enumerator)}};
        std::string wide;
        if (const auto* character = std::get_if<char32_t>(&value)) {
            append_utf8(wide, *character);
        } else if (const auto* text = std::get_if<std::u32string>(&value)) {
            for (const char32_t each : *text)
                append_utf8(wide, each);
        } else {
            return latin_to_utf8(to_string(value));
        }
        return wide;
    }

    Json annotations(const Annotations& annotations)
    {
        return list(annotations, [this](const Annotation& annotation) {
            const auto parameter = [this](const AnnotationParameter& each) {
                Json json{{"name", each.name}, {"text", latin_to_utf8(each.text)}};
                if (each.value.index() != 0) json["value"] = value(each.value);
                return json;
            };
            return Json{{"name", annotation.name},
                        {"parameters", list(annotation.parameters, parameter)},
                        {"by_pragma", annotation.by_pragma},
                        {"location", place(annotation.location)}};
        });
    }

    /// What members, parameters and factories have in common.
    Json named(const std::string& name, const Location& location, const Annotations& annotations)
    {
        Json json{{"name", name}, {"location", place(location)}};
        if (!annotations.empty()) json["annotations"] = this->annotations(annotations);
        return json;
    }
    Json member(const Member& member)
    {
        Json json = named(member.name, member.location, member.annotations);
        json["type"] = type(*member.type);
        return json;
    }
    Json members(const std::vector<Member>& members)
    {
        return list(members, [this](const Member& each) { return member(each); });
    }
    Json parameters(const std::vector<Parameter>& parameters)
    {
        return list(parameters, [this](const Parameter& each) {
            constexpr std::array<const char*, 3> directions{"in", "out", "inout"};
            Json json = named(each.name, each.location, each.annotations);
            json["direction"] = directions[static_cast<std::size_t>(each.direction)];
            json["type"] = type(*each.type);
            return json;
        });
    }

    Json declarations(const Declarations& declarations)
    {
        return list(declarations, [this](const Declaration* each) { return declaration(*each); });
    }
    Json declaration(const Declaration& declaration)
    {
        Json json{{"id", id(declaration)},
                  {"kind", kind_names[static_cast<std::size_t>(declaration.kind)]}};
        waiting_.erase(id(declaration));
        json.update(named(declaration.name, declaration.location, declaration.annotations));
        json["scoped_name"] = declaration.scoped_name;
        if (!declaration.repository_id.empty()) json["repository_id"] = declaration.repository_id;
        add_content(declaration, json);
        const Declarations& inner = within(declaration);
        if (!inner.empty()) json["declarations"] = declarations(inner);
        return json;
    }

    void add_content(const Declaration& declaration, Json& json)
    {
        if (const auto* forward = as<Forward>(&declaration)) {
            if (forward->definition != nullptr) json["definition"] = id(*forward->definition);
        } else if (const auto* enumeration = as<Enum>(&declaration)) {
            json["enumerators"] = list(enumeration->enumerators, [this](const Enumerator* each) {
                return this->declaration(*each);
            });
        } else if (const auto* alias = as<Alias>(&declaration)) {
            json["type"] = type(*alias->type);
        } else if (const auto* box = as<ValueBox>(&declaration)) {
            json["type"] = type(*box->type);
        } else if (const auto* constant = as<Constant>(&declaration)) {
            json["type"] = type(*constant->type);
            json["value"] = value(constant->value);
        } else if (const auto* exception = as<Exception>(&declaration)) {
            json["members"] = members(exception->members);
        } else if (const auto* native = as<Native>(&declaration)) {
            json["built_in"] = native->built_in;
        } else if (const auto* composite = as<Struct>(&declaration)) {
            json["defined"] = composite->defined;
            if (composite->base != nullptr) json["base"] = id(*composite->base);
            json["members"] = members(composite->members);
        } else if (const auto* choice = as<Union>(&declaration)) {
            add(*choice, json);
        } else if (const auto* attribute = as<Attribute>(&declaration)) {
            add(*attribute, json);
        } else if (const auto* operation = as<Operation>(&declaration)) {
            add(*operation, json);
        } else if (const auto* interface = as<Interface>(&declaration)) {
            json.update({{"defined", interface->defined},
                         {"abstract", interface->is_abstract},
                         {"local", interface->is_local},
                         {"bases", ids(interface->bases)}});
        } else if (const auto* valuetype = as<ValueType>(&declaration)) {
            add(*valuetype, json);
        } else if (const auto* annotation = as<AnnotationDeclaration>(&declaration)) {
            add(*annotation, json);
        }
    }

    void add(const Union& choice, Json& json)
    {
        json["defined"] = choice.defined;
        if (choice.discriminator == nullptr) return;
        json["discriminator"] = type(*choice.discriminator);
        if (!choice.discriminator_annotations.empty())
            json["discriminator_annotations"] = annotations(choice.discriminator_annotations);
        json["cases"] = list(choice.cases, [this](const UnionCase& each) {
            const auto label = [this](const CaseLabel& one) {
                return one.is_default ? Json{{"default", true}} : Json{{"value", value(one.value)}};
            };
            return Json{{"labels", list(each.labels, label)}, {"member", member(each.member)}};
        });
    }
    void add(const Attribute& attribute, Json& json)
    {
        json.update({{"type", type(*attribute.type)},
                     {"readonly", attribute.readonly},
                     {"get_raises", ids(attribute.get_raises)},
                     {"set_raises", ids(attribute.set_raises)}});
    }
    void add(const Operation& operation, Json& json)
    {
        json.update({{"oneway", operation.oneway},
                     {"result", type(*operation.result)},
                     {"parameters", parameters(operation.parameters)},
                     {"raises", ids(operation.raises)},
                     {"context", operation.context}});
        if (const auto timed = timings_.find(&operation); timed != timings_.end())
            json["timing"] = timing(*timed->second);
    }
    void add(const ValueType& value, Json& json)
    {
        json.update({{"defined", value.defined},
                     {"abstract", value.is_abstract},
                     {"custom", value.is_custom},
                     {"truncatable", value.is_truncatable},
                     {"bases", ids(value.bases)},
                     {"supports", ids(value.supports)}});
        json["members"] = list(value.members, [this](const StateMember& each) {
            Json state = member(each.member);
            state["public"] = each.is_public;
            return state;
        });
        json["factories"] = list(value.factories, [this](const Factory& each) {
            Json factory = named(each.name, each.location, each.annotations);
            factory["parameters"] = parameters(each.parameters);
            factory["raises"] = ids(each.raises);
            return factory;
        });
    }
    void add(const AnnotationDeclaration& annotation, Json& json)
    {
        json["declarations"] = declarations(annotation.declarations);
        json["elements"] =
            list(annotation.elements, [this](const AnnotationDeclaration::Element& each) {
                Json element{{"name", each.name}};
                element["type"] = each.type == nullptr ? Json{{"kind", "any"}} : type(*each.type);
                if (each.default_value.index() != 0) element["default"] = value(each.default_value);
                return element;
            });
    }

    Json timing(const Timing& timing)
    {
        Json json = Json::object();
        const auto add = [&json](const char* name, const auto& field) {
            if (field) json[name] = *field;
        };
        add("period_ns", timing.period_ns);
        add("worst_case_ns", timing.worst_case_ns);
        add("typical_ns", timing.typical_ns);
        add("cached_ns", timing.cached_ns);
        add("deadline_ns", timing.deadline_ns);
        add("blocking_ns", timing.blocking_ns);
        add("quantum_ns", timing.quantum_ns);
        add("criticality", timing.criticality);
        add("importance", timing.importance);
        add("threads", timing.threads);
        json["calls"] = list(timing.calls, [this](const TimedCall& call) {
            return Json{{"callee", id(*call.callee)}, {"count", call.count}, {"waits", call.waits}};
        });
        return json;
    }

    const Unit& unit_;
    std::map<const Declaration*, const Timing*> timings_;
    std::map<const Declaration*, std::size_t> ids_;
    std::map<std::size_t, const Declaration*> waiting_; ///< have an id and are not written yet
};

} // namespace

void JsonBackEnd::run(const Model& model, Outputs& outputs, Diagnostics& /*diagnostics*/) const
{
    // Paths need not be UTF-8.
    const std::string text =
        Writer(model).document().dump(1, ' ', false, Json::error_handler_t::replace);
    outputs.add(outputs.name(".json"), text + "\n");
}

std::string JsonBackEnd::generated_from(std::string_view text) const
{
    const std::string begin = "{\n \"format\": \"" + std::string(format_name) + "\",\n";
    const std::string key = "\n \"" + std::string(origin_key) + "\": ";
    const std::size_t from = text.find(key);
    if (!text.starts_with(begin) || from == text.npos) return {};
    const std::size_t value = from + key.size();
    const std::size_t end = text.find(",\n", value);
    if (end == text.npos) return {};
    const Json origin = Json::parse(text.substr(value, end - value), nullptr, false);
    return origin.is_string() ? origin.get<std::string>() : std::string();
}

} // namespace kairos::idlc
