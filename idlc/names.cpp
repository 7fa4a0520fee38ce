// SPDX-License-Identifier: Apache-2.0
//
// Name resolution, collisions and suggestions.
#include "idlc/names.h"

#include "idlc/lex.h"

#include <algorithm>
#include <array>

namespace kairos::idlc {
namespace {

/// Edits that turn one identifier into the other, up to `most` + 1. Case counts nothing.
std::size_t distance(std::string_view left, std::string_view right, std::size_t most)
{
    constexpr std::size_t length_max = 64;
    if (left.size() > length_max || right.size() > length_max) return most + 1;
    if (std::max(left.size(), right.size()) - std::min(left.size(), right.size()) > most)
        return most + 1;
    std::array<std::size_t, length_max + 1> row{};
    for (std::size_t j = 0; j <= right.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t above = row[j];
            const std::size_t change = left[i - 1] == right[j - 1] ? 0 : 1;
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + change});
            diagonal = above;
        }
    }
    return row[right.size()];
}

std::string quoted(std::string_view text)
{
    std::string out = "'";
    out.append(text.substr(0, 200));
    return out + "'";
}

/// "interface 'A'", or "file scope".
std::string owner_text(const Scope& scope)
{
    if (scope.owner() == nullptr) return "the file scope";
    return std::string(to_string(scope.owner()->kind)) + " " + quoted(scope.owner()->scoped_name);
}

/// Whether the declaration may be what was looked for; else a report of its case says enough.
bool may_be(std::string_view what, const Declaration* declaration)
{
    if (declaration == nullptr) return false;
    switch (declaration->kind) {
    case DeclarationKind::constant:
    case DeclarationKind::enumerator:
        return what == "constant" || what == "name";
    case DeclarationKind::module:
    case DeclarationKind::operation:
    case DeclarationKind::attribute:
        return what == "module or interface" || what == "name";
    case DeclarationKind::exception:
        return what == "exception" || what == "name";
    default:
        return what != "constant" && what != "exception";
    }
}

} // namespace

const NameEntry* Scope::find(const std::string& folded_name) const
{
    const auto found = entries_.find(folded_name);
    return found == entries_.end() ? nullptr : &found->second;
}

std::string ScopedName::text() const
{
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0 || absolute) out += "::";
        out += parts[i].text;
    }
    return out;
}

Names::Names(Unit& unit, Diagnostics& diagnostics)
    : diagnostics_(diagnostics), uses_pseudo_types_(unit.uses_pseudo_types),
      file_scope_(std::make_unique<Scope>(nullptr, nullptr))
{
    add_pseudo_objects(unit);
}

void Names::add_pseudo_objects(Unit& unit)
{
    Module& corba = unit.add<Module>();
    corba.name = corba.scoped_name = "CORBA";
    corba.first = &corba;
    corba.in_main_file = corba.generated = false;
    corba.repository_id = "IDL:omg.org/CORBA:1.0";
    pseudo_scope_ = std::make_unique<Scope>(nullptr, &corba);
    pseudo_module_ = {.name = "CORBA", .declaration = &corba, .what = "module"};
    const auto enter = [&](Declaration& declaration, std::string_view name) {
        declaration.name = name;
        declaration.scoped_name = "CORBA::" + std::string(name);
        declaration.repository_id = "IDL:omg.org/CORBA/" + std::string(name) + ":1.0";
        declaration.parent = &corba;
        declaration.in_main_file = declaration.generated = false;
        pseudo_scope_->entries_[folded(name)] = {
            .name = std::string(name), .declaration = &declaration, .what = "type"};
    };
    // CORBA 3.3 part 1, 8: pseudo objects, known without an #include. TypeCode, Object,
    // ValueBase and InterfaceDef become types of their own kind where they are used.
    for (const std::string_view name :
         {"TypeCode", "Object", "ValueBase", "Principal", "Environment", "Context", "NamedValue",
          "NVList", "Request", "ServerRequest", "ORB", "InterfaceDef"}) {
        Native& native = unit.add<Native>();
        native.built_in = true;
        enter(native, name);
    }
    const Type& unsigned_short = unit.add_type({.kind = TypeKind::unsigned_short});
    const Type& unsigned_long = unit.add_type({.kind = TypeKind::unsigned_long});
    const std::array<std::pair<std::string_view, const Type*>, 4> aliases{
        {{"ServiceType", &unsigned_short},
         {"ServiceOption", &unsigned_long},
         {"ServiceDetailType", &unsigned_long},
         {"PolicyType", &unsigned_long}}};
    for (const auto& [name, type] : aliases) {
        Alias& alias = unit.add<Alias>();
        alias.type = type;
        enter(alias, name);
    }
    add_pseudo_interfaces(unit, enter);
}

/// Current and Policy, from which many OMG interfaces derive without an #include.
template <typename Enter>
void Names::add_pseudo_interfaces(Unit& unit, const Enter& enter)
{
    Interface& current = unit.add<Interface>();
    Interface& policy = unit.add<Interface>();
    for (Interface* interface : {&current, &policy}) {
        interface->defined = true;
        interface->is_local = true;
        enter(*interface, interface == &current ? "Current" : "Policy");
        static_cast<void>(open(*interface, *pseudo_scope_));
    }
    const auto add = [&](Declaration& member, std::string_view name) {
        member.name = name;
        member.scoped_name = policy.scoped_name + "::" + std::string(name);
        member.repository_id = "IDL:omg.org/CORBA/Policy/" + std::string(name) + ":1.0";
        member.parent = &policy;
        member.in_main_file = member.generated = false;
        policy.declarations.push_back(&member);
        scope_of(policy)->entries_[folded(name)] = {.name = std::string(name),
                                                    .declaration = &member,
                                                    .what = to_string(member.kind),
                                                    .is_call = true};
    };
    Attribute& type = unit.add<Attribute>();
    type.type = &unit.add_type({.kind = TypeKind::declared,
                                .declaration = pseudo_scope_->find("policytype")->declaration});
    type.readonly = true;
    add(type, "policy_type");
    Operation& copy = unit.add<Operation>();
    copy.result = &unit.add_type({.kind = TypeKind::declared, .declaration = &policy});
    add(copy, "copy");
    Operation& destroy = unit.add<Operation>();
    destroy.result = &unit.add_type({.kind = TypeKind::void_});
    add(destroy, "destroy");
}

Scope& Names::open(const Declaration& owner, Scope& parent)
{
    const Declaration* key = &owner;
    if (const auto* module = as<Module>(key)) key = module->first;
    std::unique_ptr<Scope>& scope = scopes_[key];
    if (scope == nullptr) {
        scope = std::make_unique<Scope>(&parent, key);
        // 7.20.2: the name of a scope cannot be redefined immediately within it.
        scope->entries_[folded(owner.name)] = {.name = owner.name,
                                               .declaration = const_cast<Declaration*>(key),
                                               .what = to_string(owner.kind),
                                               .location = owner.location};
    }
    return *scope;
}

Scope* Names::scope_of(const Declaration& declaration) const
{
    const Declaration* key = &declaration;
    if (const auto* module = as<Module>(key)) key = module->first;
    if (key == pseudo_scope_->owner()) return pseudo_scope_.get();
    const auto found = scopes_.find(key);
    return found == scopes_.end() ? nullptr : found->second.get();
}

bool Names::declare(Scope& scope, NameEntry entry)
{
    const std::string key = folded(entry.name);
    const auto [found, fresh] = scope.entries_.try_emplace(key, entry);
    if (fresh) {
        for (const Scope* ancestor : scope.ancestors_) {
            const NameEntry* inherited = ancestor->find(key);
            if (inherited == nullptr || inherited->only_used) continue;
            if (!inherited->is_call && !(entry.is_call && inherited->declaration == nullptr))
                continue;
            diagnostics_.error(entry.location, std::string(entry.what) + " " + quoted(entry.name) +
                                                   " redefines an inherited " +
                                                   std::string(inherited->what));
            diagnostics_.note(inherited->location, quoted(inherited->name) + " is inherited from " +
                                                       owner_text(*ancestor));
            return false;
        }
        return true;
    }
    NameEntry& other = found->second;
    if (other.is_lost && other.declaration == nullptr) {
        other = std::move(entry);
        return true;
    }
    if (other.only_used && other.name != entry.name &&
        (entry.declaration == nullptr || entry.is_call)) {
        // `Point point;` is against 7.20.3, and in very many people's files.
        other = std::move(entry);
        return true;
    }
    const std::string name = std::string(entry.what) + " " + quoted(entry.name);
    if (other.only_used) {
        diagnostics_.error(entry.location, name + " is declared after its name was used in " +
                                               owner_text(scope) + " for something else");
        diagnostics_.note(other.location, quoted(other.name) + " is used here");
    } else if (other.name != entry.name && other.declaration != nullptr &&
               other.declaration == scope.owner_ && entry.declaration == nullptr) {
        // `struct Right { string right; };` is against 7.20.2, and in the OMG's own files.
        if (entry.location.file == 0)
            diagnostics_.warning(entry.location, name + " differs only in case from the " +
                                                     std::string(other.what) + " it is in");
        return true;
    } else if (other.name != entry.name) {
        diagnostics_.error(entry.location, name + " differs only in case from " +
                                               std::string(other.what) + " " + quoted(other.name));
        diagnostics_.note(other.location, quoted(other.name) + " is declared here");
        scope.clashing_.try_emplace(entry.name, entry);
    } else if (other.declaration != nullptr && other.declaration == scope.owner_) {
        diagnostics_.error(entry.location, name + " has the name of the " +
                                               std::string(other.what) + " it is declared in");
        diagnostics_.note(other.location, quoted(other.name) + " is declared here");
    } else {
        diagnostics_.error(entry.location, "redefinition of " + quoted(entry.name));
        diagnostics_.note(other.location, "previously declared here as " + std::string(other.what));
    }
    return false;
}

void Names::lose(Scope& scope, NameEntry entry)
{
    const auto [held, fresh] = scope.entries_.try_emplace(folded(entry.name), entry);
    // What another declaration of the name said is right.
    if (fresh || (entry.declaration != nullptr && held->second.declaration == entry.declaration))
        held->second.is_lost = true;
}

const NameEntry* Names::declared(const Scope& scope, std::string_view name) const
{
    const NameEntry* entry = scope.find(folded(name));
    return entry == nullptr || entry->only_used ? nullptr : entry;
}

Names::Wanted Names::wanted(std::string_view text)
{
    return {.text = text, .folded = folded(text)};
}

Names::Found Names::find_in(const Scope& scope, const Wanted& name) const
{
    const std::string& folded_name = name.folded;
    const NameEntry* own = scope.find(folded_name);
    if (own != nullptr && own->name != name.text)
        if (const auto clashing = scope.clashing_.find(std::string(name.text));
            clashing != scope.clashing_.end())
            own = &clashing->second;
    if (own != nullptr && !own->only_used) return {.entry = own, .scope = &scope};
    Found found;
    // Ancestors come after their own bases, so the last to hold it is not hidden by another; a
    // second one that the first does not derive from makes the name ambiguous.
    for (auto at = scope.ancestors_.rbegin(); at != scope.ancestors_.rend(); ++at) {
        const NameEntry* entry = (*at)->find(folded_name);
        if (entry == nullptr || entry->only_used || entry->declaration == (*at)->owner()) continue;
        if (found.entry == nullptr) {
            found.entry = entry;
            found.scope = *at;
        } else if (std::find(found.scope->ancestors_.begin(), found.scope->ancestors_.end(), *at) ==
                   found.scope->ancestors_.end()) {
            found.rival = entry;
            found.rival_scope = *at;
        }
    }
    if (found.entry == nullptr && scope.owner() != nullptr &&
        scope.owner()->kind == DeclarationKind::module && scope.owner()->scoped_name == "CORBA") {
        found.entry = pseudo_scope_->find(folded_name);
        found.scope = pseudo_scope_.get();
    }
    return found;
}

Names::Found Names::find_outward(const Scope& scope, const Wanted& name) const
{
    for (const Scope* at = &scope; at != nullptr; at = at->parent())
        if (const Found found = find_in(*at, name); found.entry != nullptr) return found;
    if (name.folded == "corba") return {.entry = &pseudo_module_, .scope = file_scope_.get()};
    return {};
}

/// `Outer outer(in Outer a);` hides Outer, once; what follows means the one outside all the same.
void Names::prefer_same_case(Found& found, const ScopedName::Part& part)
{
    if (found.entry->name == part.text || found.rival != nullptr || found.scope->owner() == nullptr)
        return;
    const Scope* outside = found.scope->parent();
    if (outside == nullptr) return;
    const Found other = find_outward(*outside, wanted(part.text));
    if (other.entry == nullptr || other.entry->name != part.text) return;
    if (reported_.insert(found.entry).second) static_cast<void>(check_found(found, part));
    found = other;
}

/// Whether some name may be unknown only because what would hold it was refused.
bool Names::lacks_names(const Scope& scope, bool outward)
{
    for (const Scope* at = &scope; at != nullptr; at = outward ? at->parent() : nullptr) {
        if (at->lacks_names_) return true;
        for (const Scope* ancestor : at->ancestors())
            if (ancestor->lacks_names_) return true;
    }
    return false;
}

bool Names::check_found(const Found& found, const ScopedName::Part& part)
{
    if (found.rival != nullptr) {
        diagnostics_.error(part.location, quoted(part.text) + " is ambiguous: inherited from " +
                                              owner_text(*found.scope) + " and from " +
                                              owner_text(*found.rival_scope));
        diagnostics_.note(found.entry->location, "one is declared here");
        diagnostics_.note(found.rival->location, "another is declared here");
        return false;
    }
    if (found.entry->name != part.text) {
        diagnostics_.error(part.location, quoted(part.text) + " differs in case from " +
                                              quoted(found.entry->name));
        diagnostics_.note(found.entry->location, quoted(found.entry->name) + " is declared here");
    }
    return true;
}

void Names::mark_used(Scope& scope, const Found& found, const ScopedName::Part& part)
{
    if (found.scope == &scope) return;
    scope.entries_.try_emplace(folded(part.text), NameEntry{.name = std::string(part.text),
                                                            .what = found.entry->what,
                                                            .location = part.location,
                                                            .only_used = true});
}

Declaration* Names::resolve(const ScopedName& name, Scope& scope, std::string_view what)
{
    const Scope* at = &scope;
    Declaration* declaration = nullptr;
    for (std::size_t i = 0; i < name.parts.size(); ++i) {
        const ScopedName::Part& part = name.parts[i];
        const Wanted key = wanted(part.text);
        const bool first = i == 0 && !name.absolute;
        if (i == 0 && name.absolute) at = file_scope_.get();
        Found found = first ? find_outward(*at, key) : find_in(*at, key);
        if (found.entry == nullptr && i == 0 && key.folded == "corba")
            found = find_outward(*at, key);
        if (found.entry == nullptr) {
            report_unknown(name, i, *at, what);
            return nullptr;
        }
        if (found.entry->is_lost) return nullptr;
        if (first) prefer_same_case(found, part);
        if (!check_found(found, part)) return nullptr;
        declaration = found.entry->declaration;
        const bool last = i + 1 == name.parts.size();
        if (last && found.entry->name != part.text && !may_be(what, declaration)) return nullptr;
        if (declaration == nullptr) {
            diagnostics_.error(part.location, quoted(part.text) + " is " +
                                                  with_article(found.entry->what) + ", not " +
                                                  with_article(what));
            diagnostics_.note(found.entry->location, "declared here");
            return nullptr;
        }
        if (found.scope == pseudo_scope_.get() && as<Native>(declaration) == nullptr)
            uses_pseudo_types_ = true;
        if (first) mark_used(scope, found, part);
        if (last) break;
        at = scope_of(*declaration);
        if (at == nullptr) {
            diagnostics_.error(part.location, std::string(found.entry->what) + " " +
                                                  quoted(part.text) +
                                                  " has no scope that could hold " +
                                                  quoted(name.parts[i + 1].text));
            return nullptr;
        }
    }
    return declaration;
}

Declaration* Names::probe(const ScopedName& name, const Scope& scope) const
{
    const Scope* at = name.absolute ? file_scope_.get() : &scope;
    Declaration* declaration = nullptr;
    for (std::size_t i = 0; i < name.parts.size(); ++i) {
        if (at == nullptr) return nullptr;
        const Wanted key = wanted(name.parts[i].text);
        const Found found = i == 0 && !name.absolute ? find_outward(*at, key) : find_in(*at, key);
        if (found.entry == nullptr || found.rival != nullptr) return nullptr;
        declaration = found.entry->declaration;
        if (declaration == nullptr) return nullptr;
        at = scope_of(*declaration);
    }
    return declaration;
}

std::string Names::suggestion(std::string_view wanted, const Scope& scope, bool outward) const
{
    const std::string key = folded(wanted);
    std::size_t best = wanted.size() < 3 ? 0 : wanted.size() == 3 ? 1 : 2;
    std::string out;
    const auto consider = [&](const Scope& candidate_scope) {
        for (const auto& [candidate, entry] : candidate_scope.entries()) {
            if (entry.only_used || entry.declaration == nullptr) continue;
            const std::size_t edits = distance(key, candidate, best);
            // The order of a hash table must not show: of equals, the first by name.
            if (edits < best || (edits == best && (out.empty() || entry.name < out))) {
                best = edits;
                out = entry.name;
            }
        }
    };
    for (const Scope* at = &scope; at != nullptr; at = outward ? at->parent() : nullptr) {
        consider(*at);
        for (const Scope* ancestor : at->ancestors())
            consider(*ancestor);
    }
    return out;
}

void Names::report_unknown(const ScopedName& name, std::size_t part, const Scope& scope,
                           std::string_view what)
{
    if (lacks_names(scope, part == 0 && !name.absolute)) return; // what is wrong was reported
    const bool last = part + 1 == name.parts.size();
    const std::string_view wanted = name.parts[part].text;
    std::string message;
    if (part == 0) {
        message =
            "unknown " + std::string(last ? what : "module or interface") + " " + quoted(wanted);
    } else {
        message = "no " + quoted(wanted) + " in " + owner_text(scope);
    }
    const bool outward = part == 0 && !name.absolute;
    if (const std::string other = suggestion(wanted, scope, outward); !other.empty())
        message += "; did you mean " + quoted(other) + "?";
    diagnostics_.error(name.parts[part].location, std::move(message));
}

bool Names::inherit(Scope& derived, const Scope& base)
{
    add_missing(derived.ancestors_, base.ancestors_);
    add_missing(derived.ancestors_, {&base});
    return derived.ancestors_.size() <= ancestors_max;
}

void Names::check_inherited_calls(const Scope& derived, Location location)
{
    std::unordered_map<std::string_view, std::pair<const NameEntry*, const Scope*>> calls;
    std::vector<std::pair<const NameEntry*, const Scope*>> inherited;
    for (const Scope* ancestor : derived.ancestors_)
        for (const auto& [key, entry] : ancestor->entries()) {
            if (!entry.is_call) continue;
            const auto [other, fresh] = calls.try_emplace(key, &entry, ancestor);
            if (fresh) continue;
            inherited.emplace_back(&entry, ancestor);
        }
    std::sort(inherited.begin(), inherited.end(), [](const auto& left, const auto& right) {
        return left.first->name < right.first->name;
    });
    for (const auto& [entry, ancestor] : inherited) {
        const auto& [first, first_scope] = calls.at(folded(entry->name));
        diagnostics_.error(location, owner_text(derived) + " inherits " + quoted(entry->name) +
                                         " from " + owner_text(*first_scope) + " and from " +
                                         owner_text(*ancestor));
        diagnostics_.note(first->location, "one is declared here");
        diagnostics_.note(entry->location, "another is declared here");
    }
}

} // namespace kairos::idlc
