// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/repository_text.h"

#include "tools/kairos/constant_text.h"
#include "tools/kairos/idl_text.h"
#include "tools/kairos/type_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace kairos::tools {
namespace {

constexpr std::size_t definitions_max = 1'000'000;
constexpr std::size_t depth_max = 64;

template <typename T>
const T* extracted(const Described& described)
{
    const T* value = nullptr;
    return (described.value >>= value) ? value : nullptr;
}

/// What every description begins with, whatever it is of.
template <typename T>
bool read_names(Described& described)
{
    const T* const value = extracted<T>(described);
    if (value == nullptr) return false;
    described.name = value->name.in();
    described.id = value->id.in();
    described.version = value->version.in();
    return true;
}

bool read_names(Described& described)
{
    return read_names<CORBA::TypeDescription>(described) ||
           read_names<CORBA::OperationDescription>(described) ||
           read_names<CORBA::AttributeDescription>(described) ||
           read_names<CORBA::ModuleDescription>(described) ||
           read_names<CORBA::InterfaceDescription>(described) ||
           read_names<CORBA::ExceptionDescription>(described) ||
           read_names<CORBA::ConstantDescription>(described) ||
           read_names<CORBA::ValueDescription>(described) ||
           read_names<CORBA::ValueMember>(described) ||
           read_names<CORBA::ExtAttributeDescription>(described);
}

bool is_interface(CORBA::DefinitionKind kind)
{
    return kind == CORBA::dk_Interface || kind == CORBA::dk_AbstractInterface ||
           kind == CORBA::dk_LocalInterface;
}

bool is_container(CORBA::DefinitionKind kind)
{
    return kind == CORBA::dk_Module || is_interface(kind) || kind == CORBA::dk_Value ||
           kind == CORBA::dk_Struct || kind == CORBA::dk_Union || kind == CORBA::dk_Exception;
}

/// Asks for what only CORBA 3's interfaces have; a repository without them has none.
template <typename Ask>
void ask_extended(const Ask& ask)
{
    try {
        ask();
    } catch (const CORBA::BAD_OPERATION&) {
    } catch (const CORBA::NO_IMPLEMENT&) {
    }
}

using Descriptions = CORBA::Container::DescriptionSeq;

/// Asks for each definition on its own.
Descriptions* each_described(CORBA::Container_ptr container)
{
    const CORBA::ContainedSeq_var contents = container->contents(CORBA::dk_all, true);
    const CORBA::ULong count = contents->length();
    if (count > definitions_max) throw CORBA::IMP_LIMIT();
    CORBA::Container::DescriptionSeq_var all = new Descriptions(count);
    all->length(count);
    for (CORBA::ULong i = 0; i < count; ++i) {
        const CORBA::Contained::Description_var one = contents[i]->describe();
        all[i].contained_object = contents[i];
        all[i].kind = one->kind;
        all[i].value = one->value;
    }
    return all._retn();
}

/// What a container holds. Not every repository can describe all of it at once: JacORB's answers
/// UNKNOWN for a module.
Descriptions* all_described(CORBA::Container_ptr container)
{
    try {
        return container->describe_contents(CORBA::dk_all, true, -1);
    } catch (const CORBA::UNKNOWN&) {
    } catch (const CORBA::NO_IMPLEMENT&) {
    }
    return each_described(container);
}

} // namespace

RepositoryContents::RepositoryContents(CORBA::Repository_ptr repository)
{
    read(repository, nullptr, top_, 0);
}

void RepositoryContents::read(CORBA::Container_ptr from, const Described* container,
                              std::vector<std::unique_ptr<Described>>& to, std::size_t depth)
{
    if (depth > depth_max) throw CORBA::IMP_LIMIT();
    const CORBA::Container::DescriptionSeq_var all = all_described(from);
    for (CORBA::ULong i = 0; i < all->length(); ++i) {
        if (by_id_.size() >= definitions_max) throw CORBA::IMP_LIMIT();
        auto described = std::make_unique<Described>();
        described->kind = all[i].kind;
        described->value = all[i].value;
        described->object = all[i].contained_object;
        described->container = container;
        if (!read_names(*described)) continue; // of a kind that CORBA's core does not have
        if (!by_id_.emplace(described->id, described.get()).second) continue;
        if (described->kind == CORBA::dk_Attribute)
            ask_extended([&] {
                const CORBA::ExtAttributeDef_var attribute =
                    CORBA::ExtAttributeDef::_unchecked_narrow(described->object.in());
                const CORBA::ExtAttributeDescription_var extended = attribute->describe_attribute();
                described->get_exceptions = extended->get_exceptions;
                described->set_exceptions = extended->put_exceptions;
            });
        if (described->kind == CORBA::dk_Value)
            ask_extended([&] {
                const CORBA::ExtValueDef_var value =
                    CORBA::ExtValueDef::_unchecked_narrow(described->object.in());
                const CORBA::ExtInitializerSeq_var initializers = value->ext_initializers();
                described->initializers = initializers.in();
            });
        if (is_container(described->kind)) {
            const CORBA::Container_var within =
                CORBA::Container::_unchecked_narrow(described->object.in());
            read(within.in(), described.get(), described->contents, depth + 1);
        }
        to.push_back(std::move(described));
    }
}

const Described* RepositoryContents::find(const std::string& id) const
{
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

const Described* RepositoryContents::find_named(const std::string& id_or_name) const
{
    if (const Described* found = find(id_or_name)) return found;
    std::string_view name = id_or_name;
    if (name.starts_with("::")) name.remove_prefix(2);
    const auto found = std::ranges::find_if(
        by_id_, [&](const auto& each) { return scoped_name(*each.second) == name; });
    return found == by_id_.end() ? nullptr : found->second;
}

std::string scoped_name(const Described& described)
{
    const std::string own = described.name;
    return described.container == nullptr ? own : scoped_name(*described.container) + "::" + own;
}

std::string word_of(CORBA::DefinitionKind kind)
{
    switch (kind) {
    case CORBA::dk_Attribute:
        return "attribute";
    case CORBA::dk_Constant:
        return "const";
    case CORBA::dk_Exception:
        return "exception";
    case CORBA::dk_Interface:
        return "interface";
    case CORBA::dk_AbstractInterface:
        return "abstract interface";
    case CORBA::dk_LocalInterface:
        return "local interface";
    case CORBA::dk_Module:
        return "module";
    case CORBA::dk_Operation:
        return "operation";
    case CORBA::dk_Alias:
        return "typedef";
    case CORBA::dk_Struct:
        return "struct";
    case CORBA::dk_Union:
        return "union";
    case CORBA::dk_Enum:
        return "enum";
    case CORBA::dk_Value:
    case CORBA::dk_ValueBox:
        return "valuetype";
    case CORBA::dk_ValueMember:
        return "member";
    case CORBA::dk_Native:
        return "native";
    default:
        return "definition";
    }
}

namespace {

/// Pseudo objects that IDL knows without a declaration.
bool is_pseudo(const Described& described)
{
    static const std::set<std::string_view> names{
        "CORBA::TypeCode",    "CORBA::Object",        "CORBA::ValueBase",  "CORBA::Principal",
        "CORBA::Environment", "CORBA::Context",       "CORBA::NamedValue", "CORBA::NVList",
        "CORBA::Request",     "CORBA::ServerRequest", "CORBA::ORB",        "CORBA::InterfaceDef"};
    return described.kind == CORBA::dk_Native && names.contains(scoped_name(described));
}

/// The types that a TypeCode names, not what these are made of.
void add_named(const CORBA::TypeCode& type, std::vector<std::string>& ids)
{
    switch (type.kind()) {
    case CORBA::tk_sequence:
    case CORBA::tk_array: {
        const CORBA::TypeCode_var content = type.content_type();
        return add_named(*content.in(), ids);
    }
    case CORBA::tk_objref:
    case CORBA::tk_abstract_interface:
    case CORBA::tk_local_interface:
    case CORBA::tk_native:
    case CORBA::tk_struct:
    case CORBA::tk_except:
    case CORBA::tk_union:
    case CORBA::tk_enum:
    case CORBA::tk_alias:
    case CORBA::tk_value:
    case CORBA::tk_value_box:
        ids.emplace_back(type.id());
        return;
    default:
        return;
    }
}

class Printer {
  public:
    Printer(const RepositoryContents& contents, CORBA::ORB_ptr orb) : contents_(contents), orb_(orb)
    {
        for (const auto& each : contents.top())
            collect(*each);
    }

    void print_all()
    {
        std::vector<const Described*> items;
        for (const auto& each : contents_.top())
            add_items(*each, items);
        const std::set<const Described*> siblings(items.begin(), items.end());
        for (const Described* item : items)
            place(*item, siblings, Scope::modules);
        close_to({});
    }

    void print(const Described& wanted)
    {
        std::vector<const Described*> items;
        for (const auto& each : contents_.top())
            add_items(*each, items);
        const std::set<const Described*> siblings(items.begin(), items.end());
        std::vector<const Described*> own;
        if (wanted.kind == CORBA::dk_Module)
            add_items(wanted, own);
        else
            own.push_back(sibling_of(&wanted, siblings));
        for (const Described* item : own)
            place(*item, siblings, Scope::modules);
        close_to({});
    }

    [[nodiscard]] std::string text() const { return text_ + (ids_.empty() ? "" : "\n" + ids_); }

  private:
    enum class Scope { modules, within };
    enum class State { open, done };
    using Siblings = std::set<const Described*>;

    // --- What there is ---------------------------------------------------------------------------

    void collect(const Described& described)
    {
        for (const auto& each : described.contents)
            collect(*each);
        if (described.container == nullptr) return;
        inner_names_.insert(lower(described.name));
        if (const auto* type = extracted<CORBA::TypeDescription>(described))
            for (CORBA::ULong i = 0;
                 has_members(*type->type.in()) && i < type->type->member_count(); ++i)
                inner_names_.insert(lower(type->type->member_name(i)));
    }

    static bool has_members(const CORBA::TypeCode& type)
    {
        return type.kind() == CORBA::tk_struct || type.kind() == CORBA::tk_union ||
               type.kind() == CORBA::tk_enum || type.kind() == CORBA::tk_except;
    }

    static std::string lower(std::string name)
    {
        std::ranges::transform(name, name.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        return name;
    }

    static void add_items(const Described& described, std::vector<const Described*>& items)
    {
        if (is_pseudo(described)) return;
        if (described.kind != CORBA::dk_Module) return items.push_back(&described);
        for (const auto& each : described.contents)
            add_items(*each, items);
    }

    /// What of the siblings something is, or is within; null for none.
    static const Described* sibling_of(const Described* described, const Siblings& siblings)
    {
        while (described != nullptr && !siblings.contains(described))
            described = described->container;
        return described;
    }

    // --- What needs what -------------------------------------------------------------------------

    struct Needs {
        std::vector<std::string> whole; // must be declared before
        std::vector<std::string> names; // their names at least, of interfaces and valuetypes
    };

    void add_needs(const Described& described, Needs& needs) const
    {
        const auto type = [&](const CORBA::TypeCode_ptr code) { add_named(*code, needs.names); };
        const auto exceptions = [&](const CORBA::ExcDescriptionSeq& list) {
            for (CORBA::ULong i = 0; i < list.length(); ++i)
                needs.whole.emplace_back(list[i].id.in());
        };
        const auto ids = [&](const CORBA::RepositoryIdSeq& list) {
            for (CORBA::ULong i = 0; i < list.length(); ++i)
                needs.whole.emplace_back(list[i].in());
        };
        if (const auto* own = extracted<CORBA::TypeDescription>(described)) {
            add_parts(*own->type.in(), needs);
        }
        if (const auto* own = extracted<CORBA::ExceptionDescription>(described)) {
            add_parts(*own->type.in(), needs);
        }
        if (const auto* own = extracted<CORBA::ConstantDescription>(described)) {
            type(own->type.in());
        }
        if (const auto* own = extracted<CORBA::AttributeDescription>(described)) {
            type(own->type.in());
            exceptions(described.get_exceptions);
            exceptions(described.set_exceptions);
        }
        if (const auto* own = extracted<CORBA::OperationDescription>(described)) {
            type(own->result.in());
            for (CORBA::ULong i = 0; i < own->parameters.length(); ++i)
                type(own->parameters[i].type.in());
            exceptions(own->exceptions);
        }
        if (const auto* own = extracted<CORBA::InterfaceDescription>(described)) {
            ids(own->base_interfaces);
        }
        if (const auto* own = extracted<CORBA::ValueMember>(described)) {
            type(own->type.in());
        }
        if (const auto* own = extracted<CORBA::ValueDescription>(described)) {
            if (*own->base_value.in() != '\0') needs.whole.emplace_back(own->base_value.in());
            ids(own->abstract_base_values);
            ids(own->supported_interfaces);
            for (CORBA::ULong i = 0; i < described.initializers.length(); ++i) {
                exceptions(described.initializers[i].exceptions);
                for (CORBA::ULong j = 0; j < described.initializers[i].members.length(); ++j)
                    type(described.initializers[i].members[j].type.in());
            }
        }
        for (const auto& each : described.contents)
            add_needs(*each, needs);
    }

    static void add_parts(const CORBA::TypeCode& type, Needs& needs)
    {
        switch (type.kind()) {
        case CORBA::tk_union: {
            const CORBA::TypeCode_var discriminator = type.discriminator_type();
            add_named(*discriminator.in(), needs.whole);
            [[fallthrough]];
        }
        case CORBA::tk_struct:
        case CORBA::tk_except:
            for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
                const CORBA::TypeCode_var member = type.member_type(i);
                add_named(*member.in(), needs.names);
            }
            break;
        case CORBA::tk_alias:
        case CORBA::tk_value_box: {
            const CORBA::TypeCode_var content = type.content_type();
            add_named(*content.in(), needs.names);
            break;
        }
        default:
            break;
        }
    }

    static bool can_be_forward(CORBA::DefinitionKind kind)
    {
        return is_interface(kind) || kind == CORBA::dk_Value || kind == CORBA::dk_Struct ||
               kind == CORBA::dk_Union;
    }

    void place(const Described& item, const Siblings& siblings, Scope scope)
    {
        if (!state_.emplace(&item, State::open).second) return;
        Needs needs;
        add_needs(item, needs);
        const auto need = [&](const std::string& id, bool whole) {
            const Described* const used = contents_.find(id);
            const Described* const sibling = sibling_of(used, siblings);
            if (sibling == nullptr || sibling == &item) return;
            const bool name_will_do = !whole && sibling == used &&
                                      (is_interface(used->kind) || used->kind == CORBA::dk_Value);
            const auto known = state_.find(sibling);
            if (known == state_.end() && !name_will_do) return place(*sibling, siblings, scope);
            const bool is_declared = known != state_.end() && known->second == State::done;
            if (is_declared || !can_be_forward(sibling->kind)) return;
            if (!forward_.insert(sibling).second) return;
            begin_line(*sibling, scope);
            add(prefix_words(*sibling) + idl_identifier(sibling->name) + ";\n");
        };
        for (const std::string& id : needs.whole)
            need(id, true);
        for (const std::string& id : needs.names)
            need(id, false);
        begin_line(item, scope);
        print_own(item);
        state_[&item] = State::done;
    }

    // --- Modules ---------------------------------------------------------------------------------

    static std::vector<const Described*> modules_of(const Described& item)
    {
        std::vector<const Described*> path;
        for (const Described* at = item.container; at != nullptr; at = at->container)
            path.insert(path.begin(), at);
        return path;
    }

    /// The prefix that IDL must have for the id; nothing where none gives it.
    static std::optional<std::string> prefix_for(const Described& item)
    {
        std::string path;
        for (const Described* at = &item; at != nullptr; at = at->container)
            path.insert(0, "/" + at->name);
        std::string id = item.id;
        if (!id.starts_with("IDL:") || !id.ends_with(":1.0")) return std::nullopt;
        id = id.substr(3, id.size() - 7);
        id.front() = '/';
        if (!id.ends_with(path)) return std::nullopt;
        id.erase(id.size() - path.size());
        return id.empty() ? std::string() : id.substr(1);
    }

    void begin_line(const Described& item, Scope scope)
    {
        if (scope == Scope::within) return;
        const std::vector<const Described*> path = modules_of(item);
        const std::optional<std::string> prefix = prefix_for(item);
        if (prefix && *prefix != prefix_) {
            close_to({});
            if (!text_.empty()) text_ += '\n';
            text_ += fmt::format("#pragma prefix \"{}\"\n", *prefix);
            prefix_ = *prefix;
        }
        close_to(path);
        while (open_.size() < path.size())
            open(path[open_.size()]);
    }

    void open(const Described* module)
    {
        if (open_.empty() && !text_.empty()) text_ += '\n';
        add(fmt::format("module {} {{\n", idl_identifier(module->name)));
        open_.push_back(module);
        indent_ += 4;
        // The first opening gives the module its id.
        if (opened_.insert(module).second) note_id(*module);
    }

    void close_to(const std::vector<const Described*>& path)
    {
        std::size_t common = 0;
        while (common < open_.size() && common < path.size() && open_[common] == path[common])
            ++common;
        while (open_.size() > common) {
            open_.pop_back();
            indent_ -= 4;
            add("};\n");
        }
    }

    /// Says the id at the end where the prefix does not make it.
    void note_id(const Described& item)
    {
        const std::optional<std::string> prefix = prefix_for(item);
        if (!prefix || *prefix != prefix_)
            ids_ += fmt::format("typeid {} \"{}\";\n", name_of(item), item.id);
    }

    void add(const std::string& line)
    {
        text_.append(indent_, ' ');
        text_ += line;
    }

    // --- Names and types -------------------------------------------------------------------------

    /// With "::" in front where a name nearer by might be taken for its first part.
    [[nodiscard]] std::string name_of(const Described& described) const
    {
        std::string name = idl_identifier(described.name);
        const Described* outermost = &described;
        for (const Described* at = described.container; at != nullptr; at = at->container) {
            name.insert(0, idl_identifier(at->name) + "::");
            outermost = at;
        }
        return inner_names_.contains(lower(outermost->name)) ? "::" + name : name;
    }

    [[nodiscard]] std::string type_name(const CORBA::TypeCode& type) const
    {
        switch (type.kind()) {
        case CORBA::tk_sequence: {
            const CORBA::TypeCode_var content = type.content_type();
            const std::string element = type_name(*content.in());
            return type.length() == 0 ? fmt::format("sequence<{}>", element)
                                      : fmt::format("sequence<{}, {}>", element, type.length());
        }
        default:
            break;
        }
        if (std::string word = idl_word(type); !word.empty()) return word;
        const Described* const described = contents_.find(type.id());
        return described == nullptr ? idl_name(type) : name_of(*described);
    }

    /// "long name[3][4]"; a type that is declared within `owner` is declared with its first member.
    [[nodiscard]] std::string declarator(const CORBA::TypeCode& type, const std::string& name,
                                         const Described* owner = nullptr)
    {
        std::string dimensions;
        CORBA::TypeCode_var element = CORBA::TypeCode::_duplicate(types::pointer(type));
        while (element->kind() == CORBA::tk_array) {
            dimensions += fmt::format("[{}]", element->length());
            element = element->content_type();
        }
        return fmt::format("{} {}{}", inner_type(*element.in(), owner), idl_identifier(name),
                           dimensions);
    }

    [[nodiscard]] std::string inner_type(const CORBA::TypeCode& type, const Described* owner)
    {
        std::vector<std::string> ids;
        add_named(type, ids);
        const Described* const inner = ids.empty() ? nullptr : contents_.find(ids.front());
        if (owner == nullptr || inner == nullptr || inner->container != owner ||
            type.kind() == CORBA::tk_sequence || !state_.emplace(inner, State::done).second)
            return type_name(type);
        std::string outer;
        std::swap(outer, text_);
        const std::size_t indent = std::exchange(indent_, indent_ + 4);
        print_type(*inner, type);
        indent_ = indent;
        std::swap(outer, text_);
        outer.erase(0, outer.find_first_not_of(' '));
        outer.erase(outer.find_last_not_of("\n;") + 1);
        return outer;
    }

    // --- Declarations ----------------------------------------------------------------------------

    static std::string prefix_words(const Described& described)
    {
        if (described.kind == CORBA::dk_Value) {
            const auto* own = extracted<CORBA::ValueDescription>(described);
            return own->is_abstract ? "abstract valuetype " : "valuetype ";
        }
        return word_of(described.kind) + ' ';
    }

    void print_own(const Described& item)
    {
        // IDL gives the members of valuetypes no ids of their own.
        if (item.kind != CORBA::dk_ValueMember) note_id(item);
        if (const auto* own = extracted<CORBA::TypeDescription>(item)) {
            print_type(item, *own->type.in());
        }
        if (const auto* own = extracted<CORBA::ExceptionDescription>(item)) {
            print_type(item, *own->type.in());
        }
        if (const auto* own = extracted<CORBA::ConstantDescription>(item)) {
            print_constant(*own);
        }
        if (const auto* own = extracted<CORBA::AttributeDescription>(item)) {
            print_attribute(item, *own);
        }
        if (const auto* own = extracted<CORBA::OperationDescription>(item)) {
            print_operation(*own);
        }
        if (const auto* own = extracted<CORBA::InterfaceDescription>(item)) {
            const std::string bases = names_of(own->base_interfaces);
            print_body(item, prefix_words(item) + idl_identifier(item.name) +
                                 (bases.empty() ? "" : " : " + bases));
        }
        if (const auto* own = extracted<CORBA::ValueMember>(item)) {
            add(fmt::format("{} {};\n", own->access == CORBA::PUBLIC_MEMBER ? "public" : "private",
                            declarator(*own->type.in(), item.name)));
        }
        if (const auto* own = extracted<CORBA::ValueDescription>(item)) {
            print_value(item, *own);
        }
    }

    void print_body(const Described& item, const std::string& head,
                    const std::vector<std::string>& more = {})
    {
        if (item.contents.empty() && more.empty()) return add(head + " {};\n");
        add(head + " {\n");
        indent_ += 4;
        Siblings siblings;
        for (const auto& each : item.contents)
            siblings.insert(each.get());
        for (const auto& each : item.contents)
            place(*each, siblings, Scope::within);
        for (const std::string& line : more)
            add(line);
        indent_ -= 4;
        add("};\n");
    }

    void print_type(const Described& item, const CORBA::TypeCode& type)
    {
        const std::string name = idl_identifier(item.name);
        switch (type.kind()) {
        case CORBA::tk_struct:
        case CORBA::tk_except: {
            const char* const word = type.kind() == CORBA::tk_struct ? "struct" : "exception";
            // A struct without members is one that was never defined.
            if (type.member_count() == 0 && type.kind() == CORBA::tk_struct) {
                if (forward_.insert(&item).second) add(fmt::format("struct {};\n", name));
                return;
            }
            std::vector<std::string> lines;
            for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
                const CORBA::TypeCode_var member = type.member_type(i);
                lines.push_back(declarator(*member.in(), type.member_name(i), &item) + ";\n");
            }
            return print_lines(fmt::format("{} {}", word, name), lines);
        }
        case CORBA::tk_union:
            return print_union(item, type);
        case CORBA::tk_enum: {
            std::string members;
            for (CORBA::ULong i = 0; i < type.member_count(); ++i)
                members += (i == 0 ? "" : ", ") + idl_identifier(type.member_name(i));
            return add(fmt::format("enum {} {{ {} }};\n", name, members));
        }
        case CORBA::tk_alias: {
            const CORBA::TypeCode_var original = type.content_type();
            return add(fmt::format("typedef {};\n", declarator(*original.in(), item.name)));
        }
        case CORBA::tk_value_box: {
            const CORBA::TypeCode_var boxed = type.content_type();
            return add(fmt::format("valuetype {} {};\n", name, type_name(*boxed.in())));
        }
        default:
            return add(fmt::format("native {};\n", name));
        }
    }

    void print_lines(const std::string& head, const std::vector<std::string>& lines)
    {
        if (lines.empty()) return add(head + " {};\n");
        add(head + " {\n");
        indent_ += 4;
        for (const std::string& line : lines)
            add(line);
        indent_ -= 4;
        add("};\n");
    }

    void print_union(const Described& item, const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var discriminator = type.discriminator_type();
        if (type.member_count() == 0) { // never defined
            if (forward_.insert(&item).second)
                add(fmt::format("union {};\n", idl_identifier(item.name)));
            return;
        }
        const std::string head = fmt::format("union {} switch ({})", idl_identifier(item.name),
                                             inner_type(*discriminator.in(), &item));
        std::vector<std::string> lines;
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            std::string line = label_text(item, *discriminator.in(), type, i);
            // Labels of one member follow each other.
            const bool goes_on = i + 1 < type.member_count() &&
                                 std::string_view(type.member_name(i)) == type.member_name(i + 1);
            if (!goes_on) {
                const CORBA::TypeCode_var member = type.member_type(i);
                line += ' ' + declarator(*member.in(), type.member_name(i), &item) + ';';
            }
            lines.push_back(line + '\n');
        }
        print_lines(head, lines);
    }

    [[nodiscard]] std::string label_text(const Described& item,
                                         const CORBA::TypeCode& discriminator,
                                         const CORBA::TypeCode& type, CORBA::ULong index) const
    {
        if (type.default_index() == static_cast<CORBA::Long>(index)) return "default:";
        const CORBA::Any_var label = type.member_label(index);
        const CORBA::TypeCode& resolved = types::resolved(discriminator);
        std::string text = literal_of(label.in(), orb_);
        if (resolved.kind() == CORBA::tk_enum) text = enumerator(resolved.id(), text, &item);
        return fmt::format("case {}:", text);
    }

    /// An enumerator's name is one of the scope that its enum is in.
    [[nodiscard]] std::string enumerator(const std::string& enum_id, const std::string& name,
                                         const Described* from) const
    {
        const Described* const type = contents_.find(enum_id);
        if (type == nullptr || type->container == nullptr) return "::" + idl_identifier(name);
        if (type->container == from) return idl_identifier(name);
        return name_of(*type->container) + "::" + idl_identifier(name);
    }

    void print_constant(const CORBA::ConstantDescription& constant)
    {
        const CORBA::TypeCode& resolved = types::resolved(*constant.type.in());
        std::string literal = literal_of(constant.value, orb_);
        if (resolved.kind() == CORBA::tk_enum)
            literal = enumerator(resolved.id(), literal, nullptr);
        const std::string type =
            constant.type->kind() == CORBA::tk_fixed ? "fixed" : type_name(*constant.type.in());
        add(fmt::format("const {} {} = {};\n", type, idl_identifier(constant.name.in()), literal));
    }

    [[nodiscard]] std::string raises(const CORBA::ExcDescriptionSeq& exceptions,
                                     const char* word) const
    {
        std::string names;
        for (CORBA::ULong i = 0; i < exceptions.length(); ++i)
            if (const Described* exception = contents_.find(exceptions[i].id.in()))
                names += (names.empty() ? "" : ", ") + name_of(*exception);
        return names.empty() ? names : fmt::format(" {}({})", word, names);
    }

    void print_attribute(const Described& item, const CORBA::AttributeDescription& attribute)
    {
        const bool is_readonly = attribute.mode == CORBA::ATTR_READONLY;
        add(fmt::format("{}attribute {} {}{}{};\n", is_readonly ? "readonly " : "",
                        type_name(*attribute.type.in()), idl_identifier(item.name),
                        raises(item.get_exceptions, is_readonly ? "raises" : "getraises"),
                        is_readonly ? "" : raises(item.set_exceptions, "setraises")));
    }

    void print_operation(const CORBA::OperationDescription& operation)
    {
        std::string parameters;
        for (CORBA::ULong i = 0; i < operation.parameters.length(); ++i) {
            const CORBA::ParameterDescription& parameter = operation.parameters[i];
            parameters +=
                fmt::format("{}{} {} {}", i == 0 ? "" : ", ",
                            parameter.mode == CORBA::PARAM_IN    ? "in"
                            : parameter.mode == CORBA::PARAM_OUT ? "out"
                                                                 : "inout",
                            type_name(*parameter.type.in()), idl_identifier(parameter.name.in()));
        }
        std::string contexts;
        for (CORBA::ULong i = 0; i < operation.contexts.length(); ++i)
            contexts += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", operation.contexts[i].in());
        if (!contexts.empty()) contexts = fmt::format(" context({})", contexts);
        add(fmt::format("{}{} {}({}){}{};\n", operation.mode == CORBA::OP_ONEWAY ? "oneway " : "",
                        type_name(*operation.result.in()), idl_identifier(operation.name.in()),
                        parameters, raises(operation.exceptions, "raises"), contexts));
    }

    [[nodiscard]] std::string names_of(const CORBA::RepositoryIdSeq& ids) const
    {
        std::string names;
        for (CORBA::ULong i = 0; i < ids.length(); ++i)
            if (const Described* described = contents_.find(ids[i].in()))
                names += (names.empty() ? "" : ", ") + name_of(*described);
        return names;
    }

    void print_value(const Described& item, const CORBA::ValueDescription& value)
    {
        std::string head = value.is_custom ? "custom " : "";
        head += prefix_words(item) + idl_identifier(item.name);
        std::string bases;
        if (const Described* base = contents_.find(value.base_value.in()))
            bases = (value.is_truncatable ? "truncatable " : "") + name_of(*base);
        if (const std::string others = names_of(value.abstract_base_values); !others.empty())
            bases += (bases.empty() ? "" : ", ") + others;
        if (!bases.empty()) head += " : " + bases;
        if (const std::string supported = names_of(value.supported_interfaces); !supported.empty())
            head += " supports " + supported;
        std::vector<std::string> factories;
        for (CORBA::ULong i = 0; i < item.initializers.length(); ++i) {
            const CORBA::ExtInitializer& factory = item.initializers[i];
            std::string parameters;
            for (CORBA::ULong j = 0; j < factory.members.length(); ++j)
                parameters += fmt::format("{}in {} {}", j == 0 ? "" : ", ",
                                          type_name(*factory.members[j].type.in()),
                                          idl_identifier(factory.members[j].name.in()));
            factories.push_back(fmt::format("factory {}({}){};\n",
                                            idl_identifier(factory.name.in()), parameters,
                                            raises(factory.exceptions, "raises")));
        }
        print_body(item, head, factories);
    }

    const RepositoryContents& contents_;
    const CORBA::ORB_ptr orb_;
    std::set<std::string> inner_names_; // in lower case, of what is not at the top
    std::map<const Described*, State> state_;
    std::set<const Described*> forward_;
    std::set<const Described*> opened_;
    std::vector<const Described*> open_; // modules at present
    std::string prefix_;                 // that IDL has at present
    std::string text_;
    std::string ids_;
    std::size_t indent_ = 0;
};

} // namespace

std::string idl_of(const RepositoryContents& contents, CORBA::ORB_ptr orb)
{
    Printer printer(contents, orb);
    printer.print_all();
    return printer.text();
}

std::string idl_of(const RepositoryContents& contents, const Described& wanted, CORBA::ORB_ptr orb)
{
    Printer printer(contents, orb);
    printer.print(wanted);
    return printer.text();
}

} // namespace kairos::tools
