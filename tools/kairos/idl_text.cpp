// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/idl_text.h"

#include "tools/kairos/type_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::tools {
namespace {

/// The words of IDL, which a name may be if an underscore escapes it, whatever their case.
const std::set<std::string_view> idl_words{
    "abstract",   "any",       "alias",      "attribute",   "bitfield",  "bitmask", "bitset",
    "boolean",    "case",      "char",       "component",   "connector", "const",   "consumes",
    "context",    "custom",    "default",    "double",      "emits",     "enum",    "eventtype",
    "exception",  "factory",   "false",      "finder",      "fixed",     "float",   "getraises",
    "home",       "import",    "in",         "inout",       "int8",      "int16",   "int32",
    "int64",      "interface", "local",      "long",        "manages",   "map",     "mirrorport",
    "module",     "multiple",  "native",     "object",      "octet",     "oneway",  "out",
    "port",       "porttype",  "primarykey", "private",     "provides",  "public",  "publishes",
    "raises",     "readonly",  "sequence",   "setraises",   "short",     "string",  "struct",
    "supports",   "switch",    "true",       "truncatable", "typedef",   "typeid",  "typename",
    "typeprefix", "uint8",     "uint16",     "uint32",      "uint64",    "union",   "unsigned",
    "uses",       "valuebase", "valuetype",  "void",        "wchar",     "wstring"};

std::string escaped(std::string_view name)
{
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return idl_words.contains(lower) ? "_" + std::string(name) : std::string(name);
}

/// "omg.org" of "IDL:omg.org/CosNaming/Name:1.0"; empty where there is none.
std::string prefix_of(std::string_view id)
{
    const std::size_t slash = id.find('/');
    if (!id.starts_with("IDL:") || slash == std::string_view::npos) return {};
    const std::string_view first = id.substr(4, slash - 4);
    return std::string(first.find_first_of(".-") == std::string_view::npos ? "" : first);
}

std::string joined(const std::vector<std::string>& path)
{
    std::string text;
    for (const std::string& part : path)
        text += (text.empty() ? "" : "::") + escaped(part);
    return text;
}

/// Without escaping underscores, as the model of the IDL has names.
std::string scope_name(const std::vector<std::string>& path)
{
    std::string text;
    for (const std::string& part : path)
        text += (text.empty() ? "" : "::") + part;
    return text;
}

/// How IDL calls what has a TypeCode.
class Names {
  public:
    Names() = default;
    /// Types that are declared within another type, or an interface that is not `own`, are to be
    /// declared beside it: Root::Color as Root_Color. Borrows `known`.
    Names(const Interfaces& known, std::vector<std::string> own)
        : known_(&known), own_(std::move(own))
    {
    }

    /// Where IDL declares what has this repository id: modules, then its own name.
    [[nodiscard]] std::vector<std::string> path(std::string_view id, std::string_view name) const
    {
        const std::size_t version = id.rfind(':');
        if (!id.starts_with("IDL:") || version <= 4) return {std::string(name)};
        std::vector<std::string> path;
        std::string_view rest = id.substr(4, version - 4);
        while (!rest.empty()) {
            const std::size_t slash = std::min(rest.find('/'), rest.size());
            path.emplace_back(rest.substr(0, slash));
            rest.remove_prefix(std::min(slash + 1, rest.size()));
        }
        // A prefix such as omg.org is no module.
        std::erase_if(path, [](const std::string& part) {
            return part.empty() || part.find_first_of(".-") != std::string::npos;
        });
        if (path.empty() || path.back() != name) return {std::string(name)};
        for (std::size_t i = 1; known_ != nullptr && i < path.size();) {
            const std::vector<std::string> scope(path.begin(),
                                                 path.begin() + static_cast<std::ptrdiff_t>(i));
            if (scope == own_ || !known_->declares(scope_name(scope))) {
                ++i;
                continue;
            }
            path[i] = path[i - 1] + '_' + path[i];
            path.erase(path.begin() + static_cast<std::ptrdiff_t>(i - 1));
        }
        return path;
    }
    [[nodiscard]] std::vector<std::string> path(const CORBA::TypeCode& type) const
    {
        return path(type.id(), type.name());
    }

    /// "long", "sequence<Demo::Point, 4>", "Demo::Point".
    [[nodiscard]] std::string of(const CORBA::TypeCode& type) const
    {
        switch (type.kind()) {
        case CORBA::tk_sequence: {
            const CORBA::TypeCode_var content = type.content_type();
            return type.length() == 0
                       ? fmt::format("sequence<{}>", of(*content.in()))
                       : fmt::format("sequence<{}, {}>", of(*content.in()), type.length());
        }
        case CORBA::tk_array: { // IDL has no name for one by itself
            const CORBA::TypeCode_var content = type.content_type();
            return fmt::format("{}[{}]", of(*content.in()), type.length());
        }
        default:
            const std::string word = idl_word(type);
            return word.empty() ? joined(path(type)) : word;
        }
    }

    /// "long name[3][4]".
    [[nodiscard]] std::string declarator(const CORBA::TypeCode& type, const std::string& name) const
    {
        std::string dimensions;
        CORBA::TypeCode_var element = CORBA::TypeCode::_duplicate(types::pointer(type));
        while (element->kind() == CORBA::tk_array) {
            dimensions += fmt::format("[{}]", element->length());
            element = element->content_type();
        }
        return fmt::format("{} {}{}", of(*element.in()), escaped(name), dimensions);
    }

    [[nodiscard]] const std::vector<std::string>& own() const noexcept { return own_; }

  private:
    const Interfaces* known_ = nullptr;
    std::vector<std::string> own_;
};

bool is_named(CORBA::TCKind kind)
{
    switch (kind) {
    case CORBA::tk_objref:
    case CORBA::tk_abstract_interface:
    case CORBA::tk_local_interface:
    case CORBA::tk_native:
    case CORBA::tk_component:
    case CORBA::tk_home:
    case CORBA::tk_struct:
    case CORBA::tk_except:
    case CORBA::tk_union:
    case CORBA::tk_enum:
    case CORBA::tk_alias:
    case CORBA::tk_value:
    case CORBA::tk_event:
    case CORBA::tk_value_box:
        return true;
    default:
        return false;
    }
}

/// Declares types, each behind those that it is made of.
class Declarations {
  public:
    /// What is declared within the interface that the names know is declared within it again.
    explicit Declarations(const Names& names) : names_(names) {}

    void add(const CORBA::TypeCode& type)
    {
        const CORBA::TCKind kind = type.kind();
        if (kind == CORBA::tk_sequence || kind == CORBA::tk_array) return add_content(type);
        if (!is_named(kind) || !idl_word(type).empty()) return;
        const std::vector<std::string> path = names_.path(type);
        if (path.front() == "CORBA") {
            uses_orb_ = true;
            return;
        }
        const auto [place, is_new] = known_.emplace(type.id(), State::open);
        if (!is_new) {
            if (place->second == State::open && forward_.insert(type.id()).second)
                needs_forward(type);
            return;
        }
        switch (kind) {
        case CORBA::tk_objref:
            declare(type, "interface " + own_name(type));
            break;
        case CORBA::tk_abstract_interface:
            declare(type, "abstract interface " + own_name(type));
            break;
        case CORBA::tk_local_interface:
            declare(type, "local interface " + own_name(type));
            break;
        case CORBA::tk_struct:
        case CORBA::tk_except:
            add_struct(type);
            break;
        case CORBA::tk_union:
            add_union(type);
            break;
        case CORBA::tk_enum:
            add_enum(type);
            break;
        case CORBA::tk_alias: {
            const CORBA::TypeCode_var original = type.content_type();
            add(*original.in());
            declare(type, "typedef " + names_.declarator(*original.in(), names_.path(type).back()));
            break;
        }
        case CORBA::tk_value_box: {
            const CORBA::TypeCode_var boxed = type.content_type();
            add(*boxed.in());
            declare(type, fmt::format("valuetype {} {}", own_name(type), names_.of(*boxed.in())));
            break;
        }
        case CORBA::tk_value:
        case CORBA::tk_event:
            add_value(type);
            break;
        default:
            declare(type, "native " + own_name(type));
            break;
        }
        known_[type.id()] = State::done;
    }

    /// Declares something in the modules of `path`, whose last part is its name.
    void declare(const std::vector<std::string>& path, const std::string& id,
                 const std::string& text)
    {
        const std::string prefix = prefix_of(id);
        place(path, prefix, text);
        std::string usual = prefix;
        for (const std::string& part : path)
            usual += (usual.empty() ? "" : "/") + part;
        if (id != fmt::format("IDL:{}:1.0", usual) && ids_.insert(id).second)
            ids_text_ += fmt::format("typeid {} \"{}\";\n", joined(path), id);
    }

    /// Returns what is declared within the interface.
    [[nodiscard]] std::string within() const { return within_; }
    [[nodiscard]] std::string text() const
    {
        return (uses_orb_ ? "#include <orb.idl>\n\n" : "") + text_ + ids_text_;
    }

  private:
    enum class State { open, done };

    void declare(const CORBA::TypeCode& type, const std::string& text)
    {
        declare(names_.path(type), type.id(), text);
    }

    void add_content(const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var content = type.content_type();
        add(*content.in());
    }

    /// A type within itself is declared before it is defined.
    void needs_forward(const CORBA::TypeCode& type)
    {
        const char* const word = type.kind() == CORBA::tk_union    ? "union"
                                 : type.kind() == CORBA::tk_struct ? "struct"
                                                                   : "valuetype";
        place(names_.path(type), prefix_of(type.id()), fmt::format("{} {}", word, own_name(type)));
    }

    /// Writes a declaration in the modules, or the interface, that its name begins with.
    void place(const std::vector<std::string>& path, const std::string& prefix,
               const std::string& text)
    {
        if (path.size() == names_.own().size() + 1 &&
            std::equal(names_.own().begin(), names_.own().end(), path.begin())) {
            within_ += text + ";\n";
            return;
        }
        if (prefix != prefix_) text_ += fmt::format("#pragma prefix \"{}\"\n\n", prefix);
        prefix_ = prefix;
        for (std::size_t i = 0; i + 1 < path.size(); ++i)
            text_ += fmt::format("module {} {{\n", escaped(path[i]));
        text_ += text + ";\n";
        for (std::size_t i = 0; i + 1 < path.size(); ++i)
            text_ += "};\n";
        text_ += '\n';
    }

    void add_members(const CORBA::TypeCode& type)
    {
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            const CORBA::TypeCode_var member = type.member_type(i);
            add(*member.in());
        }
    }

    void add_struct(const CORBA::TypeCode& type)
    {
        add_members(type);
        std::string text = fmt::format(
            "{} {} {{\n", type.kind() == CORBA::tk_struct ? "struct" : "exception", own_name(type));
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            const CORBA::TypeCode_var member = type.member_type(i);
            text += fmt::format("    {};\n", names_.declarator(*member.in(), type.member_name(i)));
        }
        declare(type, text + "}");
    }

    void add_enum(const CORBA::TypeCode& type)
    {
        std::string text = fmt::format("enum {} {{ ", own_name(type));
        for (CORBA::ULong i = 0; i < type.member_count(); ++i)
            text += (i == 0 ? "" : ", ") + escaped(type.member_name(i));
        declare(type, text + " }");
    }

    [[nodiscard]] std::string own_name(const CORBA::TypeCode& type) const
    {
        return escaped(names_.path(type).back());
    }

    [[nodiscard]] std::string label_text(const CORBA::TypeCode& discriminator,
                                         const CORBA::TypeCode& type, CORBA::ULong index) const
    {
        if (type.default_index() == static_cast<CORBA::Long>(index)) return "default:";
        const std::int64_t label = type._kairos_label(index);
        const CORBA::TypeCode& resolved = types::resolved(discriminator);
        switch (resolved.kind()) {
        case CORBA::tk_boolean:
            return label != 0 ? "case TRUE:" : "case FALSE:";
        case CORBA::tk_char:
            return fmt::format("case '\\x{:02x}':", static_cast<std::uint64_t>(label));
        case CORBA::tk_wchar:
            return fmt::format("case L'\\u{:04x}':", static_cast<std::uint64_t>(label));
        case CORBA::tk_enum: {
            std::vector<std::string> path = names_.path(resolved);
            path.back() = resolved.member_name(static_cast<CORBA::ULong>(label));
            return fmt::format("case {}:", joined(path));
        }
        case CORBA::tk_ulonglong:
            return fmt::format("case {}:", static_cast<std::uint64_t>(label));
        default:
            return fmt::format("case {}:", label);
        }
    }

    void add_union(const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var discriminator = type.discriminator_type();
        add(*discriminator.in());
        add_members(type);
        std::string text = fmt::format("union {} switch ({}) {{\n", own_name(type),
                                       names_.of(*discriminator.in()));
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            text += "    " + label_text(*discriminator.in(), type, i);
            // Labels of one member follow each other.
            const bool goes_on = i + 1 < type.member_count() &&
                                 std::string_view(type.member_name(i)) == type.member_name(i + 1);
            if (!goes_on) {
                const CORBA::TypeCode_var member = type.member_type(i);
                text += ' ' + names_.declarator(*member.in(), type.member_name(i)) + ';';
            }
            text += '\n';
        }
        declare(type, text + "}");
    }

    void add_value(const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var base = type.concrete_base_type();
        std::string text = type.type_modifier() == CORBA::VM_CUSTOM     ? "custom "
                           : type.type_modifier() == CORBA::VM_ABSTRACT ? "abstract "
                                                                        : "";
        text += "valuetype " + own_name(type);
        if (!CORBA::is_nil(base.in())) {
            add(*base.in());
            text += fmt::format(" : {}{}",
                                type.type_modifier() == CORBA::VM_TRUNCATABLE ? "truncatable " : "",
                                names_.of(*base.in()));
        }
        add_members(type);
        text += " {\n";
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            const CORBA::TypeCode_var member = type.member_type(i);
            text += fmt::format("    {} {};\n",
                                type.member_visibility(i) == CORBA::PUBLIC_MEMBER ? "public"
                                                                                  : "private",
                                names_.declarator(*member.in(), type.member_name(i)));
        }
        declare(type, text + "}");
    }

    const Names& names_;
    std::map<std::string, State> known_; // by id
    std::set<std::string> forward_;
    std::set<std::string> ids_; // that IDL was told of
    std::string text_;
    std::string within_;
    std::string prefix_; // that IDL has at present
    std::string ids_text_;
    bool uses_orb_ = false;
};

std::string raises_of(const KnownOperation& operation, const char* word, const Names& names)
{
    std::string text;
    for (const CORBA::TypeCode_var& exception : operation.raises)
        text += (text.empty() ? "" : ", ") + names.of(*exception.in());
    return text.empty() ? text : fmt::format(" {}({})", word, text);
}

std::string_view direction_word(KnownParameter::Direction direction)
{
    switch (direction) {
    case KnownParameter::Direction::in:
        return "in";
    case KnownParameter::Direction::out:
        return "out";
    default:
        return "inout";
    }
}

std::string idl_of(const KnownOperation& operation, const Names& names)
{
    if (operation.is_attribute) {
        const CORBA::TypeCode& type = operation.parameters.empty()
                                          ? *operation.result.in()
                                          : *operation.parameters.front().type.in();
        return fmt::format(
            "{}attribute {} {}{}", operation.is_readonly ? "readonly " : "", names.of(type),
            escaped(operation.name),
            raises_of(operation, operation.is_readonly ? "raises" : "getraises", names));
    }
    std::string text = operation.is_oneway ? "oneway " : "";
    text += fmt::format("{} {}(", names.of(*operation.result.in()), escaped(operation.name));
    for (const KnownParameter& parameter : operation.parameters)
        text += fmt::format("{}{} {} {}", &parameter == operation.parameters.data() ? "" : ", ",
                            direction_word(parameter.direction), names.of(*parameter.type.in()),
                            escaped(parameter.name));
    text += ')' + raises_of(operation, "raises", names);
    std::string contexts;
    for (const std::string& context : operation.contexts)
        contexts += fmt::format("{}\"{}\"", contexts.empty() ? "" : ", ", context);
    return contexts.empty() ? text : text + fmt::format(" context({})", contexts);
}

} // namespace

std::string idl_identifier(std::string_view name) { return escaped(name); }

std::string idl_name(const CORBA::TypeCode& type) { return Names().of(type); }

std::string idl_of(const KnownOperation& operation) { return idl_of(operation, Names()); }

std::string idl_of(const KnownInterface& interface, const Interfaces& others)
{
    const std::size_t colons = interface.name.rfind("::");
    const std::string name =
        colons == std::string::npos ? interface.name : interface.name.substr(colons + 2);
    const std::vector<std::string> path = Names().path(interface.id, name);
    const Names names(others, path);
    Declarations declarations(names);
    for (const KnownOperation& operation : interface.operations) {
        declarations.add(*operation.result.in());
        for (const KnownParameter& parameter : operation.parameters)
            declarations.add(*parameter.type.in());
        for (const CORBA::TypeCode_var& exception : operation.raises)
            declarations.add(*exception.in());
    }
    std::string text = fmt::format("interface {} {{\n{}", escaped(name), declarations.within());
    std::string from = interface.name;
    for (const KnownOperation& operation : interface.operations) {
        // An attribute's other half says what raises there.
        if (operation.is_attribute && !operation.parameters.empty()) continue;
        if (operation.declared_in != from) {
            from = operation.declared_in;
            text += fmt::format("    // of {}\n", from);
        }
        text += fmt::format("    {}", idl_of(operation, names));
        if (operation.is_attribute && !operation.is_readonly)
            if (const KnownOperation* set = interface.find("_set_" + operation.name, 1))
                text += raises_of(*set, "setraises", names);
        text += ";\n";
    }
    declarations.declare(path, interface.id, text + "}");
    return declarations.text();
}

} // namespace kairos::tools
