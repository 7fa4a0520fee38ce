// SPDX-License-Identifier: Apache-2.0
//
// What an Interface Repository holds, and the rules that keep it consistent (CORBA 3.3 part 1, 14):
// plain definitions that refer to each other by number, without CORBA's calls and types.
#pragma once

#include "kairos/base/export.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kairos::repository {

/// The number of a definition. Never used twice: references to what was destroyed must not find
/// something else.
using Key = std::uint64_t;
inline constexpr Key nothing = 0;
inline constexpr Key root = 1;
/// The primitive type of a kind has this key and the number of its kind on top.
inline constexpr Key first_primitive = 2;
/// As many kinds as CORBA's PrimitiveKind has, pk_null among them.
inline constexpr Key primitives = 22;
inline constexpr Key first_free = 64;

/// CORBA's DefinitionKind, with its numbers.
enum class Kind : std::uint8_t {
    none = 0,
    all = 1,
    attribute = 2,
    constant = 3,
    exception = 4,
    interface = 5,
    module = 6,
    operation = 7,
    any_typedef = 8, ///< of questions only: every kind of TypedefDef
    alias = 9,
    struct_ = 10,
    union_ = 11,
    enum_ = 12,
    primitive = 13,
    string = 14,
    sequence = 15,
    array = 16,
    repository = 17,
    wstring = 18,
    fixed = 19,
    value = 20,
    value_box = 21,
    value_member = 22,
    native = 23,
    abstract_interface = 24,
    local_interface = 25,
};
inline constexpr std::uint8_t kinds_end = 26;

[[nodiscard]] KAIROS_API bool is_interface(Kind kind) noexcept;
/// Whether it is a type that has no name: of strings, sequences and the like.
[[nodiscard]] KAIROS_API bool is_anonymous(Kind kind) noexcept;
[[nodiscard]] KAIROS_API bool is_type(Kind kind) noexcept;
/// Whether it is a kind of TypedefDef.
[[nodiscard]] KAIROS_API bool is_typedef(Kind kind) noexcept;
[[nodiscard]] KAIROS_API bool is_container(Kind kind) noexcept;
/// Whether a container of one kind may contain a definition of the other (CORBA 3.3 part 1, 14.5).
[[nodiscard]] KAIROS_API bool may_contain(Kind container, Kind contained) noexcept;

/// A member of a struct, union or exception; a name alone in an enum. A union's member of several
/// labels is there once a label.
struct KAIROS_API Member {
    std::string name;
    Key type = nothing;
    std::int64_t label = 0;
    bool is_default = false;
    friend bool operator==(const Member&, const Member&) = default;
};

enum class Direction : std::uint8_t { in, out, inout };
struct KAIROS_API Parameter {
    std::string name;
    Key type = nothing;
    Direction direction = Direction::in;
    friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// A factory of a valuetype.
struct KAIROS_API Initializer {
    std::string name;
    std::vector<Member> members{};
    std::vector<Key> exceptions{};
    friend bool operator==(const Initializer&, const Initializer&) = default;
};

/// One definition of any kind. What the kind has no use for is empty.
struct KAIROS_API Definition {
    Key key = nothing;
    Kind kind = Kind::none;
    Key container = nothing;
    std::string id{};
    std::string name{};
    std::string version{};
    /// Of a constant, attribute, value member, alias, value box; the result of an operation, the
    /// discriminator of a union, the element of a sequence or array.
    Key type = nothing;
    std::uint32_t bound = 0; ///< of strings and sequences; an array's length
    std::uint16_t digits = 0;
    std::int16_t scale = 0;
    std::string value{}; ///< a constant's, in CDR
    std::vector<Member> members{};
    std::vector<Parameter> parameters{};
    std::vector<std::string> contexts{};
    std::vector<Key> exceptions{};     ///< of an operation; of reading an attribute
    std::vector<Key> set_exceptions{}; ///< of writing an attribute
    std::vector<Key> bases{};          ///< of an interface; the abstract ones of a valuetype
    std::vector<Key> supported{};
    Key base_value = nothing;
    std::vector<Initializer> initializers{};
    bool is_oneway = false;
    bool is_readonly = false;
    bool is_public = false; ///< of a value member
    bool is_abstract = false;
    bool is_custom = false;
    bool is_truncatable = false;
    friend bool operator==(const Definition&, const Definition&) = default;
};

/// Why a change is refused; then nothing has changed.
enum class Refusal : std::uint8_t {
    none,
    id_in_use,        ///< BAD_PARAM 2
    name_in_use,      ///< BAD_PARAM 3
    not_a_container,  ///< BAD_PARAM 4
    inherited_clash,  ///< BAD_PARAM 5
    invalid_name,     ///< BAD_PARAM 15
    invalid_id,       ///< BAD_PARAM 16
    invalid_member,   ///< BAD_PARAM 17: a member's name that is none or occurs twice
    duplicate_label,  ///< BAD_PARAM 18
    no_discriminator, ///< BAD_PARAM 20: of a type that cannot be a discriminator
    not_oneway,       ///< BAD_PARAM 31: a oneway operation that gives or raises something
    wrong_reference,  ///< BAD_PARAM: refers to what is not there, or is of another kind
    contains_itself,  ///< BAD_PARAM: a type that would be part, or a base, of itself
    in_use,           ///< BAD_INV_ORDER 1: others refer to it
    indestructible,   ///< BAD_INV_ORDER 2
    not_there,        ///< OBJECT_NOT_EXIST
    too_much,         ///< IMP_LIMIT: beyond Limits
};

struct KAIROS_API Limits {
    std::size_t definitions_max = 1'000'000;
    /// Members, parameters, bases and the like of one definition.
    std::size_t parts_max = 65'535;
    /// Octets of a name, an id, a version or a constant's value.
    std::size_t text_max = 4096;
    /// Types within types, and of how many types a TypeCode may be made, each as often as it is
    /// part of another: a hundred small structs could make one that fills the memory.
    std::size_t depth_max = 64;
    std::size_t parts_of_type_max = 65'536;
};

/// Definitions, each in its container. Not shared by threads without a lock.
class KAIROS_API Model {
  public:
    explicit Model(const Limits& limits = {});

    /// Null for none. Valid until the next change.
    [[nodiscard]] const Definition* find(Key key) const noexcept;
    [[nodiscard]] Key find_id(std::string_view id) const;
    /// Follows a name from a container: "::A::B" from the root, inherited names too.
    [[nodiscard]] Key find_name(Key container, std::string_view scoped_name) const;
    /// Returns what is in the container, in the order in which it came there; then what it
    /// inherits.
    [[nodiscard]] std::vector<Key> contents(Key container, Kind limit, bool with_inherited) const;
    /// Returns what is called so in the container and, `levels` deep, in what it contains; -1 for
    /// any depth.
    [[nodiscard]] std::vector<Key> find_all(Key container, std::string_view name,
                                            std::int32_t levels, Kind limit,
                                            bool with_inherited) const;
    [[nodiscard]] std::string absolute_name(Key key) const;
    /// Returns the interfaces, or valuetypes and supported interfaces, that it inherits from: each
    /// once, behind its own bases, the leftmost first.
    [[nodiscard]] std::vector<Key> ancestors(Key key) const;
    [[nodiscard]] bool is_a(Key key, std::string_view id) const;
    /// Returns the type behind aliases.
    [[nodiscard]] Key resolved(Key type) const;
    [[nodiscard]] std::size_t size() const noexcept { return definitions_.size(); }

    /// Adds a definition in its container, or an anonymous type, and gives it its key.
    [[nodiscard]] Refusal create(Definition definition, Key& created);
    /// Replaces what has the same key; not its container.
    [[nodiscard]] Refusal change(const Definition& changed);
    [[nodiscard]] Refusal move(Key key, Key container, std::string_view name,
                               std::string_view version);
    /// Destroys it with all it contains, and anonymous types that nothing refers to any more.
    [[nodiscard]] Refusal destroy(Key key);

    /// What was changed, and what was destroyed, since this was called last: for what keeps it.
    struct Changes {
        std::vector<Key> written{};
        std::vector<Key> erased{};
    };
    [[nodiscard]] Changes take_changes();
    [[nodiscard]] Key next_key() const noexcept { return next_; }

    /// Fills an empty model with what was kept, in any order. False where that breaks a rule: the
    /// model is then useless.
    [[nodiscard]] bool restore(std::vector<Definition> kept, Key next);

  private:
    struct Node {
        Definition definition;
        std::vector<Key> contents{};
        std::unordered_map<Key, std::size_t> users{}; // how often each refers to it
    };
    struct Size {
        std::size_t depth = 1;
        std::size_t parts = 1;
    };

    [[nodiscard]] const Node* node(Key key) const noexcept;
    [[nodiscard]] Refusal check(const Definition& definition) const;
    [[nodiscard]] Refusal check_place(const Definition& definition) const;
    [[nodiscard]] Refusal check_parts(const Definition& definition) const;
    [[nodiscard]] Refusal check_union(const Definition& definition) const;
    [[nodiscard]] Refusal check_references(const Definition& definition) const;
    [[nodiscard]] Refusal check_inherited(const Definition& definition) const;
    [[nodiscard]] Refusal check_size(const Definition& definition) const;
    [[nodiscard]] bool leads_to_itself(const Definition& definition, bool by_value) const;
    [[nodiscard]] bool has_good_bases(const Definition& definition) const;
    [[nodiscard]] bool inherits_itself(const Definition& definition) const;
    [[nodiscard]] bool clashes(const std::vector<Key>& bases, const Definition& definition) const;
    [[nodiscard]] Size measure(const Definition& definition, const Definition& changed,
                               std::unordered_map<Key, Size>& known, std::size_t level) const;
    [[nodiscard]] bool is_bounded() const;
    void add_ancestors(const Definition& definition, std::vector<Key>& found,
                       std::unordered_set<Key>& seen) const;
    void put_in_place(const Definition& definition);
    void take_from_place(const Definition& definition);
    void use(const Definition& definition);
    void release(const Definition& definition, std::vector<Key>& unused);
    void collect(std::vector<Key> unused);
    void erase(Key key);
    void add_within(Key key, std::vector<Key>& found) const;

    Limits limits_;
    std::unordered_map<Key, Node> definitions_;
    std::unordered_map<std::string, Key> ids_;
    std::map<std::pair<Key, std::string>, Key> names_; // by container, and in lower case
    std::unordered_set<Key> written_;
    std::vector<Key> erased_;
    Key next_ = first_free;
};

/// Calls the function with each key that the definition refers to, nothing left out.
template <typename Function>
void for_each_reference(const Definition& definition, const Function& function)
{
    const auto each = [&function](const auto& keys) {
        for (const Key key : keys)
            function(key);
    };
    if (definition.type != nothing) function(definition.type);
    for (const Member& member : definition.members)
        if (member.type != nothing) function(member.type);
    for (const Parameter& parameter : definition.parameters)
        function(parameter.type);
    each(definition.exceptions);
    each(definition.set_exceptions);
    each(definition.bases);
    each(definition.supported);
    if (definition.base_value != nothing) function(definition.base_value);
    for (const Initializer& initializer : definition.initializers) {
        for (const Member& member : initializer.members)
            function(member.type);
        each(initializer.exceptions);
    }
}

} // namespace kairos::repository
