// SPDX-License-Identifier: Apache-2.0
//
// Scopes and name resolution: which identifiers a scope holds, what a name means where it is used,
// and every rule about collisions. CORBA 3.3 part 1, 7.20. Filled by the parser as it goes, because
// IDL declares before it uses.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kairos::idlc {

/// One identifier of a scope.
struct NameEntry {
    std::string name;                   ///< as declared
    Declaration* declaration = nullptr; ///< null for members, parameters and the like
    std::string_view what;              ///< "struct", "member", …: static text, for messages
    Location location{};
    bool only_used = false; ///< not declared here, but used unqualified, so no longer declarable
    bool is_call = false;   ///< operation or attribute: inherited names that may not be redefined
    bool is_lost = false;   ///< its declaration was refused: using it is no second mistake
};

class Scope {
  public:
    Scope(Scope* parent, const Declaration* owner) : parent_(parent), owner_(owner) {}

    [[nodiscard]] Scope* parent() const noexcept { return parent_; }
    [[nodiscard]] const Declaration* owner() const noexcept { return owner_; }
    /// Null where the scope does not hold it.
    [[nodiscard]] const NameEntry* find(const std::string& folded_name) const;
    [[nodiscard]] const std::unordered_map<std::string, NameEntry>& entries() const noexcept
    {
        return entries_;
    }
    [[nodiscard]] const std::vector<const Scope*>& ancestors() const noexcept { return ancestors_; }

  private:
    friend class Names;
    Scope* parent_;
    const Declaration* owner_;                           ///< null at file scope
    std::unordered_map<std::string, NameEntry> entries_; ///< by folded name
    std::vector<const Scope*> ancestors_; ///< of base interfaces and values, direct and indirect
    /// By name as written: what was refused because it differs only in case from an entry.
    std::unordered_map<std::string, NameEntry> clashing_;
    bool lacks_names_ = false; ///< a base was refused: what it would have held is not known
};

/// A name as written: `A::b`, `::A::b`.
struct ScopedName {
    struct Part {
        std::string_view text;
        Location location{};
    };
    bool absolute = false;
    std::vector<Part> parts{};

    [[nodiscard]] std::string text() const;
    [[nodiscard]] Location location() const { return parts.back().location; }
};

/// Appends to `all` what it does not hold yet, in order. Neither list holds anything twice.
template <typename T>
void add_missing(std::vector<const T*>& all, const std::vector<const T*>& more)
{
    if (all.empty()) {
        all = more;
    } else if (more.size() < 8) {
        for (const T* one : more)
            if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    } else {
        const std::unordered_set<const T*> known(all.begin(), all.end());
        for (const T* one : more)
            if (!known.contains(one)) all.push_back(one);
    }
}

class Names {
  public:
    /// Ancestors of one interface or value type; far more than any real one, and bounds the work.
    static constexpr std::size_t ancestors_max = 512;

    Names(Unit& unit, Diagnostics& diagnostics);

    [[nodiscard]] Scope& file_scope() noexcept { return *file_scope_; }
    /// The scope that the declaration opens, made on first use inside `parent`.
    [[nodiscard]] Scope& open(const Declaration& owner, Scope& parent);
    /// Null where the declaration opens none.
    [[nodiscard]] Scope* scope_of(const Declaration& declaration) const;

    /// Enters an identifier. Reports a collision, with a note at the other place, and returns
    /// false.
    bool declare(Scope& scope, NameEntry entry);
    /// What was to be declared was refused, and reported: who uses it is told nothing more.
    void lose(Scope& scope, NameEntry entry);
    /// A base of the scope was refused, and reported: so may be names that it would have held.
    void lose_base(Scope& scope) { scope.lacks_names_ = true; }
    /// What the scope itself holds under the name in whatever case; null if nothing was declared.
    [[nodiscard]] const NameEntry* declared(const Scope& scope, std::string_view name) const;

    /// Resolves a name used in `scope`; null and a report where that fails. `what` completes
    /// "unknown …". A name found in an outer scope is marked as used in this one.
    [[nodiscard]] Declaration* resolve(const ScopedName& name, Scope& scope, std::string_view what);
    /// As resolve(), but silent and without marking.
    [[nodiscard]] Declaration* probe(const ScopedName& name, const Scope& scope) const;

    /// Makes the base's names visible in a derived scope. False where there are too many ancestors.
    [[nodiscard]] bool inherit(Scope& derived, const Scope& base);
    /// Reports operations and attributes that reach the scope from two different ancestors.
    void check_inherited_calls(const Scope& derived, Location location);

  private:
    struct Found {
        const NameEntry* entry = nullptr;
        const Scope* scope = nullptr;
        const NameEntry* rival = nullptr; ///< another inherited one: ambiguous
        const Scope* rival_scope = nullptr;
    };
    struct Wanted {
        std::string_view text;
        std::string folded;
    };
    [[nodiscard]] static Wanted wanted(std::string_view text);
    [[nodiscard]] static bool lacks_names(const Scope& scope, bool outward);
    [[nodiscard]] Found find_in(const Scope& scope, const Wanted& name) const;
    [[nodiscard]] Found find_outward(const Scope& scope, const Wanted& name) const;
    void prefer_same_case(Found& found, const ScopedName::Part& part);
    [[nodiscard]] std::string suggestion(std::string_view wanted, const Scope& scope,
                                         bool outward) const;
    void report_unknown(const ScopedName& name, std::size_t part, const Scope& scope,
                        std::string_view what);
    [[nodiscard]] bool check_found(const Found& found, const ScopedName::Part& part);
    void mark_used(Scope& scope, const Found& found, const ScopedName::Part& part);
    void add_pseudo_objects(Unit& unit);
    template <typename Enter>
    void add_pseudo_interfaces(Unit& unit, const Enter& enter);

    Diagnostics& diagnostics_;
    bool& uses_pseudo_types_; // the unit's
    std::unordered_map<const Declaration*, std::unique_ptr<Scope>> scopes_;
    std::unique_ptr<Scope> file_scope_;
    std::unordered_set<const NameEntry*> reported_; ///< to hide a name that is used, in other case
    /// What module CORBA holds without any file saying so; behind whatever files declare there.
    std::unique_ptr<Scope> pseudo_scope_;
    NameEntry pseudo_module_;
};

} // namespace kairos::idlc
