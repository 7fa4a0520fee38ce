// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/model.h"

#include <algorithm>
#include <optional>

namespace kairos::repository {
namespace {

/// Names are compared as IDL does: case does not tell them apart (CORBA 3.3 part 1, 7.2.3).
std::string lower_case(std::string_view name)
{
    std::string lower(name);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

bool is_identifier(std::string_view name)
{
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (name.empty() || !(is_letter(name.front()) || name.front() == '_')) return false;
    return std::ranges::all_of(
        name, [&](char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

/// "format:anything" (CORBA 3.3 part 1, 14.7).
bool is_repository_id(std::string_view id)
{
    const std::size_t colon = id.find(':');
    return colon != std::string_view::npos && colon != 0 && colon + 1 < id.size();
}

bool is_primitive(Key key) noexcept
{
    return key >= first_primitive && key < first_primitive + primitives;
}

bool has_operations(Kind kind) noexcept { return is_interface(kind) || kind == Kind::value; }

bool matches(Kind kind, Kind limit) noexcept
{
    return limit == Kind::all || kind == limit || (limit == Kind::any_typedef && is_typedef(kind));
}

/// A TypeCode can lead back to these.
bool may_recur(Kind kind) noexcept
{
    return kind == Kind::struct_ || kind == Kind::union_ || kind == Kind::value;
}

/// Whether a value of one of these need not have a value of what it refers to.
bool may_be_empty(Kind kind) noexcept
{
    return kind == Kind::sequence || kind == Kind::value || kind == Kind::value_box;
}

} // namespace

bool is_interface(Kind kind) noexcept
{
    return kind == Kind::interface || kind == Kind::abstract_interface ||
           kind == Kind::local_interface;
}

bool is_anonymous(Kind kind) noexcept
{
    return kind == Kind::string || kind == Kind::wstring || kind == Kind::fixed ||
           kind == Kind::sequence || kind == Kind::array;
}

bool is_typedef(Kind kind) noexcept
{
    return kind == Kind::alias || kind == Kind::struct_ || kind == Kind::union_ ||
           kind == Kind::enum_ || kind == Kind::native || kind == Kind::value_box;
}

bool is_type(Kind kind) noexcept
{
    return is_typedef(kind) || is_anonymous(kind) || is_interface(kind) || kind == Kind::value ||
           kind == Kind::primitive;
}

bool is_container(Kind kind) noexcept
{
    return kind == Kind::repository || kind == Kind::module || has_operations(kind) ||
           kind == Kind::struct_ || kind == Kind::union_ || kind == Kind::exception;
}

bool may_contain(Kind container, Kind contained) noexcept
{
    switch (container) {
    case Kind::repository:
    case Kind::module:
        return contained == Kind::constant || is_typedef(contained) ||
               contained == Kind::exception || has_operations(contained) ||
               contained == Kind::module;
    case Kind::value:
        if (contained == Kind::value_member) return true;
        [[fallthrough]];
    case Kind::interface:
    case Kind::abstract_interface:
    case Kind::local_interface:
        return contained == Kind::constant || is_typedef(contained) ||
               contained == Kind::exception || contained == Kind::attribute ||
               contained == Kind::operation;
    case Kind::struct_:
    case Kind::union_:
    case Kind::exception:
        return contained == Kind::struct_ || contained == Kind::union_ || contained == Kind::enum_;
    default:
        return false;
    }
}

Model::Model(const Limits& limits) : limits_(limits)
{
    Definition repository;
    repository.key = root;
    repository.kind = Kind::repository;
    definitions_.emplace(root, Node{.definition = std::move(repository)});
    for (Key key = first_primitive; key < first_primitive + primitives; ++key) {
        Definition primitive;
        primitive.key = key;
        primitive.kind = Kind::primitive;
        definitions_.emplace(key, Node{.definition = std::move(primitive)});
    }
}

// --- Questions -----------------------------------------------------------------------------------

const Model::Node* Model::node(Key key) const noexcept
{
    const auto found = definitions_.find(key);
    return found == definitions_.end() ? nullptr : &found->second;
}

const Definition* Model::find(Key key) const noexcept
{
    const Node* const found = node(key);
    return found == nullptr ? nullptr : &found->definition;
}

Key Model::find_id(std::string_view id) const
{
    const auto found = ids_.find(std::string(id));
    return found == ids_.end() ? nothing : found->second;
}

Key Model::find_name(Key container, std::string_view scoped_name) const
{
    if (scoped_name.starts_with("::")) {
        container = root;
        scoped_name.remove_prefix(2);
    }
    while (true) {
        const std::size_t end = std::min(scoped_name.find("::"), scoped_name.size());
        const std::string_view name = scoped_name.substr(0, end);
        const std::string lower = lower_case(name);
        const auto in = [&](Key scope) {
            const auto found = names_.find({scope, lower});
            // IDL that differs in case alone does not mean it.
            return found != names_.end() && find(found->second)->name == name ? found->second
                                                                              : nothing;
        };
        Key found = in(container);
        if (found == nothing)
            for (const Key ancestor : ancestors(container))
                if (const Key inherited = in(ancestor); inherited != nothing) found = inherited;
        if (found == nothing || end == scoped_name.size()) return found;
        container = found;
        scoped_name.remove_prefix(end + 2);
    }
}

std::vector<Key> Model::contents(Key container, Kind limit, bool with_inherited) const
{
    std::vector<Key> found;
    const auto add = [&](Key scope) {
        if (const Node* const within = node(scope); within != nullptr)
            for (const Key key : within->contents)
                if (matches(find(key)->kind, limit)) found.push_back(key);
    };
    add(container);
    if (with_inherited)
        for (const Key ancestor : ancestors(container))
            add(ancestor);
    return found;
}

std::vector<Key> Model::find_all(Key container, std::string_view name, std::int32_t levels,
                                 Kind limit, bool with_inherited) const
{
    std::vector<Key> found;
    std::unordered_set<Key> seen;
    std::vector<Key> level{container};
    while (!level.empty() && levels != 0) {
        std::vector<Key> next;
        for (const Key scope : level) {
            if (!seen.insert(scope).second) continue;
            for (const Key key : contents(scope, Kind::all, with_inherited)) {
                const Definition& contained = *find(key);
                if (contained.name == name && matches(contained.kind, limit) &&
                    std::ranges::find(found, key) == found.end())
                    found.push_back(key);
                if (is_container(contained.kind)) next.push_back(key);
            }
        }
        level = std::move(next);
        if (levels > 0) --levels;
    }
    return found;
}

std::string Model::absolute_name(Key key) const
{
    std::string name;
    for (const Definition* at = find(key); at != nullptr && at->container != nothing;
         at = find(at->container))
        name.insert(0, "::" + at->name);
    return name;
}

void Model::add_ancestors(const Definition& definition, std::vector<Key>& found,
                          std::unordered_set<Key>& seen) const
{
    // Not by recursion: nothing bounds how long a line of bases may be.
    const auto bases_of = [](const Definition& of) {
        std::vector<Key> bases;
        if (of.base_value != nothing) bases.push_back(of.base_value);
        bases.insert(bases.end(), of.bases.begin(), of.bases.end());
        bases.insert(bases.end(), of.supported.begin(), of.supported.end());
        std::ranges::reverse(bases);
        return bases;
    };
    struct Open {
        Key key;
        std::vector<Key> bases; // that are left, the next one at the end
    };
    std::vector<Open> open{{.key = nothing, .bases = bases_of(definition)}};
    while (!open.empty()) {
        if (open.back().bases.empty()) {
            if (open.back().key != nothing) found.push_back(open.back().key);
            open.pop_back();
            continue;
        }
        const Key base = open.back().bases.back();
        open.back().bases.pop_back();
        const Definition* const known = find(base);
        if (known != nullptr && seen.insert(base).second)
            open.push_back({.key = base, .bases = bases_of(*known)});
    }
}

std::vector<Key> Model::ancestors(Key key) const
{
    std::vector<Key> found;
    std::unordered_set<Key> seen{key};
    if (const Definition* const definition = find(key)) add_ancestors(*definition, found, seen);
    return found;
}

bool Model::is_a(Key key, std::string_view id) const
{
    const Definition* const own = find(key);
    if (own == nullptr) return false;
    if (own->id == id) return true;
    if (id == (own->kind == Kind::value ? "IDL:omg.org/CORBA/ValueBase:1.0"
                                        : "IDL:omg.org/CORBA/Object:1.0"))
        return own->kind != Kind::abstract_interface;
    return std::ranges::any_of(ancestors(key),
                               [&](Key ancestor) { return find(ancestor)->id == id; });
}

Key Model::resolved(Key type) const
{
    // Aliases are bounded in their depth, see check_size().
    for (const Definition* at = find(type); at != nullptr && at->kind == Kind::alias;
         at = find(type))
        type = at->type;
    return type;
}

// --- Rules ---------------------------------------------------------------------------------------

Refusal Model::check(const Definition& definition) const
{
    if (Refusal refusal = check_parts(definition); refusal != Refusal::none) return refusal;
    if (Refusal refusal = check_references(definition); refusal != Refusal::none) return refusal;
    if (!is_anonymous(definition.kind))
        if (Refusal refusal = check_place(definition); refusal != Refusal::none) return refusal;
    if (definition.kind == Kind::union_)
        if (Refusal refusal = check_union(definition); refusal != Refusal::none) return refusal;
    return check_size(definition);
}

Refusal Model::check_place(const Definition& definition) const
{
    if (!is_identifier(definition.name)) return Refusal::invalid_name;
    if (!is_repository_id(definition.id)) return Refusal::invalid_id;
    const Definition* const container = find(definition.container);
    if (container == nullptr || !may_contain(container->kind, definition.kind))
        return Refusal::not_a_container;
    if (const Key other = find_id(definition.id); other != nothing && other != definition.key)
        return Refusal::id_in_use;
    const auto named = names_.find({definition.container, lower_case(definition.name)});
    if (named != names_.end() && named->second != definition.key) return Refusal::name_in_use;
    return check_inherited(definition);
}

/// No two operations or attributes of one name from different interfaces (CORBA 3.3 part 1,
/// 7.8.5); what is declared must not be called like an inherited one.
bool Model::clashes(const std::vector<Key>& bases, const Definition& definition) const
{
    std::unordered_map<std::string, Key> inherited;
    for (const Key base : bases)
        for (const Key key : node(base)->contents) {
            const Definition& contained = *find(key);
            if (contained.kind != Kind::operation && contained.kind != Kind::attribute) continue;
            const auto [other, is_new] = inherited.emplace(lower_case(contained.name), key);
            if (!is_new && other->second != key) return true;
        }
    if (inherited.empty()) return false;
    const Node* const own = node(definition.key);
    return own != nullptr && std::ranges::any_of(own->contents, [&](Key key) {
               return inherited.contains(lower_case(find(key)->name));
           });
}

Refusal Model::check_inherited(const Definition& definition) const
{
    const Node* const before = node(definition.key);
    if (has_operations(definition.kind) &&
        (before == nullptr || before->definition.bases != definition.bases ||
         before->definition.supported != definition.supported ||
         before->definition.base_value != definition.base_value)) {
        std::vector<Key> bases;
        std::unordered_set<Key> seen{definition.key};
        add_ancestors(definition, bases, seen);
        if (clashes(bases, definition)) return Refusal::inherited_clash;
    }
    if (before != nullptr && before->definition.name == definition.name &&
        before->definition.container == definition.container)
        return Refusal::none;
    const std::string lower = lower_case(definition.name);
    const bool is_called = definition.kind == Kind::operation || definition.kind == Kind::attribute;
    for (const Key ancestor : ancestors(definition.container)) {
        const auto found = names_.find({ancestor, lower});
        if (found == names_.end()) continue;
        const Kind other = find(found->second)->kind;
        if (is_called || other == Kind::operation || other == Kind::attribute)
            return Refusal::inherited_clash;
    }
    return Refusal::none;
}

Refusal Model::check_parts(const Definition& definition) const
{
    const auto too_many = [this](const auto& list) { return list.size() > limits_.parts_max; };
    for (const std::string* text :
         {&definition.id, &definition.name, &definition.version, &definition.value})
        if (text->size() > limits_.text_max) return Refusal::too_much;
    if (too_many(definition.members) || too_many(definition.parameters) ||
        too_many(definition.contexts) || too_many(definition.exceptions) ||
        too_many(definition.set_exceptions) || too_many(definition.bases) ||
        too_many(definition.supported) || too_many(definition.initializers))
        return Refusal::too_much;
    const auto check_names = [this](const auto& list, bool may_repeat) {
        std::unordered_set<std::string> names;
        const std::string* last = nullptr;
        for (const auto& each : list) {
            if (each.name.size() > limits_.text_max) return Refusal::too_much;
            if (!is_identifier(each.name)) return Refusal::invalid_member;
            // Neighbours of the same name are labels of one member of a union.
            if (may_repeat && last != nullptr && *last == each.name) continue;
            if (!names.insert(lower_case(each.name)).second) return Refusal::invalid_member;
            last = &each.name;
        }
        return Refusal::none;
    };
    Refusal refusal = check_names(definition.members, definition.kind == Kind::union_);
    if (refusal == Refusal::none) refusal = check_names(definition.parameters, false);
    if (refusal == Refusal::none) refusal = check_names(definition.initializers, false);
    for (const Initializer& initializer : definition.initializers) {
        if (too_many(initializer.members) || too_many(initializer.exceptions))
            return Refusal::too_much;
        if (refusal == Refusal::none) refusal = check_names(initializer.members, false);
    }
    for (const std::string& context : definition.contexts)
        if (context.size() > limits_.text_max) return Refusal::too_much;
    if (refusal != Refusal::none) return refusal;
    if (definition.kind == Kind::array && definition.bound == 0) return Refusal::wrong_reference;
    if (definition.kind == Kind::fixed &&
        (definition.digits == 0 || definition.digits > 31 || definition.scale < 0 ||
         definition.scale > static_cast<std::int16_t>(definition.digits)))
        return Refusal::wrong_reference;
    if (definition.is_oneway &&
        (definition.type != first_primitive + 1 || !definition.exceptions.empty() ||
         std::ranges::any_of(definition.parameters, [](const Parameter& parameter) {
             return parameter.direction != Direction::in;
         })))
        return Refusal::not_oneway;
    return Refusal::none;
}

Refusal Model::check_union(const Definition& definition) const
{
    const Definition* const discriminator = find(resolved(definition.type));
    const auto is_discriminator = [](Key key) {
        switch (key - first_primitive) { // PrimitiveKind
        case 2:                          // short
        case 3:                          // long
        case 4:                          // unsigned short
        case 5:                          // unsigned long
        case 8:                          // boolean
        case 9:                          // char
        case 16:                         // long long
        case 17:                         // unsigned long long
        case 19:                         // wchar
            return true;
        default:
            return false;
        }
    };
    if (discriminator->kind != Kind::enum_ &&
        !(is_primitive(discriminator->key) && is_discriminator(discriminator->key)))
        return Refusal::no_discriminator;
    std::unordered_set<std::int64_t> labels;
    bool has_default = false;
    for (const Member& member : definition.members) {
        if (member.is_default ? std::exchange(has_default, true)
                              : !labels.insert(member.label).second)
            return Refusal::duplicate_label;
        if (!member.is_default && discriminator->kind == Kind::enum_ &&
            (member.label < 0 ||
             static_cast<std::uint64_t>(member.label) >= discriminator->members.size()))
            return Refusal::duplicate_label;
    }
    return Refusal::none;
}

Refusal Model::check_references(const Definition& definition) const
{
    bool good = true;
    const auto type = [&](Key key, bool may_be_void = false) {
        const Definition* const found = find(key);
        good = good && found != nullptr && is_type(found->kind) && key != first_primitive &&
               (may_be_void || key != first_primitive + 1);
    };
    const auto all = [&](const std::vector<Key>& keys, const auto& is_right) {
        std::unordered_set<Key> seen;
        for (const Key key : keys) {
            const Definition* const found = find(key);
            good = good && found != nullptr && is_right(*found) && seen.insert(key).second;
        }
    };
    const auto is_exception = [](const Definition& found) {
        return found.kind == Kind::exception || found.kind == Kind::native;
    };
    switch (definition.kind) {
    case Kind::operation:
        type(definition.type, true);
        break;
    case Kind::attribute:
    case Kind::constant:
    case Kind::value_member:
    case Kind::alias:
    case Kind::value_box:
    case Kind::union_:
    case Kind::sequence:
    case Kind::array:
        type(definition.type);
        break;
    default:
        good = definition.type == nothing;
    }
    for (const Member& member : definition.members)
        if (definition.kind == Kind::enum_)
            good = good && member.type == nothing;
        else
            type(member.type);
    for (const Parameter& parameter : definition.parameters)
        type(parameter.type);
    for (const Initializer& initializer : definition.initializers) {
        for (const Member& member : initializer.members)
            type(member.type);
        all(initializer.exceptions, is_exception);
    }
    all(definition.exceptions, is_exception);
    all(definition.set_exceptions, is_exception);
    good = good && has_good_bases(definition);
    if (!good) return Refusal::wrong_reference;
    if (has_operations(definition.kind) && inherits_itself(definition))
        return Refusal::contains_itself;
    if (definition.key != nothing && is_type(definition.kind) &&
        (leads_to_itself(definition, true) || leads_to_itself(definition, false)))
        return Refusal::contains_itself;
    return Refusal::none;
}

/// Whether what an interface or valuetype inherits from, each once, is of a kind that it may.
bool Model::has_good_bases(const Definition& definition) const
{
    bool good = true;
    const auto all = [&](const std::vector<Key>& keys, const auto& is_right) {
        std::unordered_set<Key> seen;
        for (const Key key : keys) {
            const Definition* const found = find(key);
            good = good && found != nullptr && is_right(*found) && seen.insert(key).second;
        }
    };
    if (is_interface(definition.kind)) {
        all(definition.bases, [&](const Definition& base) {
            return is_interface(base.kind) &&
                   (definition.kind != Kind::abstract_interface ||
                    base.kind == Kind::abstract_interface) &&
                   (definition.kind != Kind::interface || base.kind != Kind::local_interface);
        });
    } else {
        all(definition.bases, [&](const Definition& base) {
            return definition.kind == Kind::value && base.kind == Kind::value && base.is_abstract;
        });
    }
    all(definition.supported, [&](const Definition& supported) {
        return definition.kind == Kind::value && is_interface(supported.kind);
    });
    if (definition.base_value != nothing) {
        const Definition* const base = find(definition.base_value);
        good = good && definition.kind == Kind::value && base != nullptr &&
               base->kind == Kind::value && !base->is_abstract && !definition.is_abstract;
    }
    return good;
}

bool Model::inherits_itself(const Definition& definition) const
{
    if (definition.key == nothing) return false;
    std::vector<Key> found;
    std::unordered_set<Key> seen;
    add_ancestors(definition, found, seen);
    return seen.contains(definition.key);
}

/// Whether a value would contain another of the same type, always (`by_value`); or a type be made
/// of itself with nothing between that a TypeCode can lead back to.
bool Model::leads_to_itself(const Definition& definition, bool by_value) const
{
    const auto is_end = [by_value](Kind kind) {
        return is_interface(kind) || (by_value ? may_be_empty(kind) : may_recur(kind));
    };
    if (is_end(definition.kind)) return false;
    std::unordered_set<Key> seen;
    std::vector<Key> open;
    const auto add = [&](Key key) { open.push_back(key); };
    for_each_reference(definition, add);
    while (!open.empty()) {
        const Key key = open.back();
        open.pop_back();
        if (key == definition.key) return true;
        const Definition& part = *find(key);
        if (!is_end(part.kind) && seen.insert(key).second) for_each_reference(part, add);
    }
    return false;
}

/// How large the TypeCode is of a type, or of the types of an operation, with what is changed in
/// its place. What is being measured already is a place holder within itself.
Model::Size Model::measure(const Definition& definition, const Definition& changed,
                           std::unordered_map<Key, Size>& known, std::size_t level) const
{
    Size size;
    if (level > limits_.depth_max) return {.depth = limits_.depth_max + 1, .parts = 1};
    if (is_interface(definition.kind) || definition.kind == Kind::primitive) return size;
    if (definition.key != nothing) {
        const auto [place, is_new] = known.emplace(definition.key, Size{});
        if (!is_new) return place->second;
    }
    const auto add = [&](Key key) {
        const Definition& part = key == changed.key ? changed : *find(key);
        const Size other = measure(part, changed, known, level + 1);
        size.depth = std::max(size.depth, other.depth + 1);
        size.parts = std::min(size.parts + other.parts, limits_.parts_of_type_max + 1);
    };
    if (definition.type != nothing) add(definition.type);
    for (const Member& member : definition.members)
        if (member.type != nothing) add(member.type);
    if (definition.base_value != nothing) add(definition.base_value);
    if (definition.kind == Kind::value && definition.key != nothing) {
        for (const Key key : node(definition.key)->contents)
            if (find(key)->kind == Kind::value_member) add(key);
        if (changed.key == nothing && changed.kind == Kind::value_member &&
            changed.container == definition.key)
            add(changed.type);
    }
    if (definition.key != nothing) known[definition.key] = size;
    return size;
}

/// What is within the limits may still make something else too large that it is part of. Most
/// changes are of what nothing uses yet.
Refusal Model::check_size(const Definition& definition) const
{
    const auto is_too_much = [&](const Definition& of) {
        std::unordered_map<Key, Size> known;
        const Size size = measure(of, definition, known, 1);
        return size.depth > limits_.depth_max || size.parts > limits_.parts_of_type_max;
    };
    if (is_too_much(definition)) return Refusal::too_much;
    const Node* const before = node(definition.key);
    if (before != nullptr && before->definition.type == definition.type &&
        before->definition.members == definition.members &&
        before->definition.base_value == definition.base_value)
        return Refusal::none;
    std::vector<Key> open;
    std::unordered_set<Key> seen{definition.key};
    const auto add = [&](Key user) {
        if (seen.insert(user).second) open.push_back(user);
    };
    const auto add_users = [&](const Node& of) {
        for (const auto& [user, times] : of.users)
            add(user);
        if (of.definition.kind == Kind::value_member) add(of.definition.container);
    };
    if (before != nullptr) add_users(*before);
    if (definition.kind == Kind::value_member) add(definition.container);
    while (!open.empty()) {
        const Node& user = *node(open.back());
        open.pop_back();
        if (is_interface(user.definition.kind) || user.definition.kind == Kind::operation) continue;
        if (is_too_much(user.definition)) return Refusal::too_much;
        add_users(user);
    }
    return Refusal::none;
}

// --- Changes -------------------------------------------------------------------------------------

Refusal Model::create(Definition definition, Key& created)
{
    if (definitions_.size() >= limits_.definitions_max) return Refusal::too_much;
    definition.key = nothing;
    if (is_anonymous(definition.kind)) definition.container = nothing;
    if (Refusal refusal = check(definition); refusal != Refusal::none) return refusal;
    created = definition.key = next_++;
    Node& made = definitions_[created];
    made.definition = std::move(definition);
    if (!is_anonymous(made.definition.kind)) put_in_place(made.definition);
    use(made.definition);
    written_.insert(created);
    return Refusal::none;
}

Refusal Model::change(const Definition& changed)
{
    const auto found = definitions_.find(changed.key);
    if (found == definitions_.end()) return Refusal::not_there;
    Definition& own = found->second.definition;
    if (changed.kind != own.kind || changed.container != own.container ||
        own.kind == Kind::primitive || own.kind == Kind::repository)
        return Refusal::wrong_reference;
    if (Refusal refusal = check(changed); refusal != Refusal::none) return refusal;
    std::vector<Key> unused;
    use(changed); // first: what stays is not unused between
    release(own, unused);
    if (!is_anonymous(own.kind)) {
        ids_.erase(own.id);
        names_.erase({own.container, lower_case(own.name)});
        ids_.emplace(changed.id, changed.key);
        names_.emplace(std::pair(changed.container, lower_case(changed.name)), changed.key);
    }
    own = changed;
    written_.insert(changed.key);
    collect(std::move(unused));
    return Refusal::none;
}

Refusal Model::move(Key key, Key container, std::string_view name, std::string_view version)
{
    const Definition* const own = find(key);
    if (own == nullptr) return Refusal::not_there;
    if (own->container == nothing || is_anonymous(own->kind)) return Refusal::wrong_reference;
    Definition moved = *own;
    moved.container = container;
    moved.name = name;
    moved.version = version;
    for (const Definition* at = find(container); at != nullptr; at = find(at->container))
        if (at->key == key) return Refusal::not_a_container;
    if (Refusal refusal = check(moved); refusal != Refusal::none) return refusal;
    take_from_place(*own);
    definitions_[key].definition = moved;
    put_in_place(moved);
    written_.insert(key);
    return Refusal::none;
}

Refusal Model::destroy(Key key)
{
    const Definition* const own = find(key);
    if (own == nullptr) return Refusal::not_there;
    if (own->kind == Kind::repository || own->kind == Kind::primitive)
        return Refusal::indestructible;
    std::vector<Key> within;
    add_within(key, within);
    const std::unordered_set<Key> all(within.begin(), within.end());
    // Anonymous types that are part of nothing but what is destroyed go with it.
    const auto is_needed = [&](Key part) {
        std::vector<Key> open{part};
        std::unordered_set<Key> seen{part};
        while (!open.empty()) {
            const Node& used = *node(open.back());
            open.pop_back();
            for (const auto& [user, times] : used.users) {
                if (all.contains(user)) continue;
                if (!is_anonymous(find(user)->kind)) return true;
                // One that nothing uses is a client's, who made it a moment ago.
                if (node(user)->users.empty()) return true;
                if (seen.insert(user).second) open.push_back(user);
            }
        }
        return false;
    };
    if (std::ranges::any_of(within, is_needed)) return Refusal::in_use;
    std::vector<Key> unused;
    for (const Key each : within)
        release(node(each)->definition, unused);
    for (const Key each : within)
        erase(each);
    collect(std::move(unused));
    return Refusal::none;
}

void Model::add_within(Key key, std::vector<Key>& found) const
{
    found.push_back(key);
    for (std::size_t i = found.size() - 1; i < found.size(); ++i)
        for (const Key contained : node(found[i])->contents)
            found.push_back(contained);
}

void Model::put_in_place(const Definition& definition)
{
    ids_.emplace(definition.id, definition.key);
    names_.emplace(std::pair(definition.container, lower_case(definition.name)), definition.key);
    definitions_[definition.container].contents.push_back(definition.key);
}

void Model::take_from_place(const Definition& definition)
{
    ids_.erase(definition.id);
    names_.erase({definition.container, lower_case(definition.name)});
    if (const auto found = definitions_.find(definition.container); found != definitions_.end())
        std::erase(found->second.contents, definition.key);
}

void Model::use(const Definition& definition)
{
    for_each_reference(definition, [&](Key used) {
        if (!is_primitive(used)) ++definitions_[used].users[definition.key];
    });
}

void Model::release(const Definition& definition, std::vector<Key>& unused)
{
    for_each_reference(definition, [&](Key used) {
        // A type within itself may have gone before what leads back to it.
        const auto found = definitions_.find(used);
        if (is_primitive(used) || found == definitions_.end()) return;
        auto& users = found->second.users;
        const auto user = users.find(definition.key);
        if (user == users.end() || --user->second != 0) return;
        users.erase(user);
        if (users.empty()) unused.push_back(used);
    });
}

void Model::collect(std::vector<Key> unused)
{
    while (!unused.empty()) {
        const Key key = unused.back();
        unused.pop_back();
        const Node* const found = node(key);
        if (found == nullptr || !is_anonymous(found->definition.kind) || !found->users.empty())
            continue;
        release(found->definition, unused);
        erase(key);
    }
}

void Model::erase(Key key)
{
    const auto found = definitions_.find(key);
    if (!is_anonymous(found->second.definition.kind)) take_from_place(found->second.definition);
    definitions_.erase(found);
    written_.erase(key);
    erased_.push_back(key);
}

Model::Changes Model::take_changes()
{
    Changes changes;
    changes.written.assign(written_.begin(), written_.end());
    std::ranges::sort(changes.written);
    changes.erased = std::move(erased_);
    written_.clear();
    erased_.clear();
    return changes;
}

bool Model::restore(std::vector<Definition> kept, Key next)
{
    // In the order in which they were made, which is that of what contains them as well, unless
    // something was moved: so all are there before any is checked.
    std::ranges::sort(kept, {}, &Definition::key);
    if (kept.size() > limits_.definitions_max) return false;
    for (const Definition& each : kept)
        if (each.key < first_free || each.key >= next ||
            !definitions_.emplace(each.key, Node{.definition = each}).second)
            return false;
    for (const Definition& each : kept) {
        bool good = is_anonymous(each.kind) == (each.container == nothing);
        for_each_reference(each, [&](Key used) { good = good && find(used) != nullptr; });
        if (!good || (each.container != nothing && find(each.container) == nullptr) ||
            each.kind == Kind::repository || each.kind == Kind::primitive)
            return false;
        if (!is_anonymous(each.kind)) {
            const bool is_new =
                ids_.emplace(each.id, each.key).second &&
                names_.emplace(std::pair(each.container, lower_case(each.name)), each.key).second;
            if (!is_new) return false;
            definitions_[each.container].contents.push_back(each.key);
        }
    }
    // Containers within themselves would be in no container.
    std::vector<Key> within;
    add_within(root, within);
    const auto named = std::ranges::count_if(
        kept, [](const Definition& each) { return !is_anonymous(each.kind); });
    if (within.size() != static_cast<std::size_t>(named) + 1) return false;
    next_ = next;
    for (const Definition& each : kept)
        use(each);
    // measure() follows types within types: their depth is known to be bounded only afterwards.
    if (!is_bounded()) return false;
    return std::ranges::all_of(
        kept, [this](const Definition& each) { return check(each) == Refusal::none; });
}

/// Whether no chain of references, but for those that may lead back, is longer than the limit.
bool Model::is_bounded() const
{
    // From what refers to nothing upwards: each round is one more step of depth.
    std::unordered_map<Key, std::size_t> left; // references that are not known to be bounded
    std::vector<Key> known;
    const auto is_end = [](Kind kind) { return may_recur(kind) || is_interface(kind); };
    for (const auto& [key, node] : definitions_) {
        std::size_t open = 0;
        for_each_reference(node.definition, [&](Key used) {
            if (!is_primitive(used) && !is_end(find(used)->kind)) ++open;
        });
        if (open == 0 && !is_end(node.definition.kind)) known.push_back(key);
        left[key] = open;
    }
    std::size_t rounds = 0;
    std::size_t reached = known.size();
    while (!known.empty() && rounds++ <= limits_.depth_max) {
        std::vector<Key> next;
        for (const Key key : known)
            for (const auto& [user, times] : node(key)->users) {
                left[user] -= times;
                if (left[user] == 0 && !is_end(find(user)->kind)) next.push_back(user);
            }
        known = std::move(next);
        reached += known.size();
    }
    const auto ends = std::ranges::count_if(
        definitions_, [&](const auto& each) { return is_end(each.second.definition.kind); });
    return reached + static_cast<std::size_t>(ends) == definitions_.size();
}

} // namespace kairos::repository
