// SPDX-License-Identifier: Apache-2.0
//
// The resolved model of one IDL translation unit: what the front end hands to back ends and tools.
// Plain structs in source order, names resolved, constants evaluated, repository ids final. All
// objects are owned by the Unit and live as long as it; pointers between them are stable and never
// null unless a comment says so. A back end needs this header alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace kairos::idlc {

struct Declaration;
struct Enumerator;
struct Interface;

/// A place in a source file. `file` indexes Unit::files; lines and columns start at 1.
struct Location {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::uint32_t length = 1; ///< characters of the token there, for the underline
    friend bool operator==(const Location&, const Location&) = default;
};

/// One inclusion of a file (a file included twice is two entries). Entry 0 is the main file.
struct SourceFile {
    std::string path;                   ///< as a user would write it: relative where given so
    std::string include_spelling;       ///< `"x.idl"` or `<x.idl>` as written; empty for entry 0
    std::optional<Location> includer{}; ///< the #include directive; none for entry 0
    /// The installed folder of the C++ of what it declares, where a pragma in it says so.
    std::string headers{};
};

// --- Types -------------------------------------------------------------------------------------

enum class TypeKind {
    void_, ///< result of operations only
    boolean,
    char_,
    wchar,
    octet,
    int8,  ///< IDL 4; distinct from char
    uint8, ///< IDL 4; distinct from octet
    short_,
    unsigned_short,
    long_,
    unsigned_long,
    long_long,
    unsigned_long_long,
    float_,
    double_,
    long_double,
    any,
    object,     ///< CORBA::Object
    value_base, ///< CORBA::ValueBase
    type_code,  ///< CORBA::TypeCode
    string,     ///< `bound`
    wstring,    ///< `bound`
    fixed,      ///< `digits`, `scale`; both 0 where the type of a constant is bare `fixed`
    sequence,   ///< `element`, `bound`
    array,      ///< `element` (never an array itself), `dimensions`
    declared, ///< `declaration`: Struct, Union, Enum, Alias, Interface, ValueType, ValueBox, Native
};

enum class Integer { no, signed_, unsigned_ };

/// What is known of a type by its kind alone: empty or 0 where it takes more.
struct BasicType {
    std::string_view idl_name;  ///< "unsigned long"
    std::string_view name;      ///< "ULong", in module CORBA of the language mappings
    std::string_view type_code; ///< "ulong" of _tc_ulong and tk_ulong
    std::uint64_t wire_bytes_min = 0;
    Integer integer = Integer::no; ///< of as many bytes in memory as on the wire
};
[[nodiscard]] const BasicType& basic_type(TypeKind kind) noexcept;

struct Type {
    TypeKind kind = TypeKind::void_;
    std::uint64_t bound = 0; ///< of string, wstring and sequence; 0 is unbounded
    std::uint16_t digits = 0;
    std::int16_t scale = 0;
    const Type* element = nullptr;            ///< of sequence and array, else null
    const Declaration* declaration = nullptr; ///< of declared, else null
    std::vector<std::uint64_t> dimensions{};  ///< of array, outermost first, each at least 1
};

// --- Constant values ---------------------------------------------------------------------------

/// A fixed-point constant: an optional '-', digits, and where scale > 0 a point and `scale` digits.
struct FixedValue {
    std::string text;
    std::uint16_t digits = 0; ///< significant digits as CORBA counts them, 1..31
    std::int16_t scale = 0;
    friend bool operator==(const FixedValue&, const FixedValue&) = default;
};

/// A value of the type it was declared with. Signed integer types (and int8) hold std::int64_t,
/// unsigned ones, octet and uint8 std::uint64_t, char char, wchar char32_t, float, double and long
/// double long double, string std::string (bytes as in the source), wstring std::u32string.
using Value = std::variant<std::monostate, bool, char, char32_t, std::int64_t, std::uint64_t,
                           long double, FixedValue, std::string, std::u32string, const Enumerator*>;

// --- Annotations -------------------------------------------------------------------------------

/// `@name(parameter=value, …)`, IDL 4. A single unnamed value has the parameter name "value".
struct AnnotationParameter {
    std::string name;
    std::string text; ///< the value's tokens as written, separated by spaces
    Value value{};    ///< set where the value is one literal, perhaps with a sign
};
struct Annotation {
    std::string name; ///< as written, e.g. "key" or "Module::custom"
    std::vector<AnnotationParameter> parameters{};
    Location location{};
    bool by_pragma = false; ///< a pragma says the same
};
using Annotations = std::vector<Annotation>;

// --- Declarations ------------------------------------------------------------------------------

enum class DeclarationKind {
    module,
    forward,
    interface,
    value_type,
    value_box,
    struct_,
    union_,
    enum_,
    enumerator,
    alias,
    constant,
    exception,
    attribute,
    operation,
    native,
    annotation,
};

/// What every declaration has. The kind says which of the structs below it is; use as<T>().
struct Declaration {
    DeclarationKind kind;
    std::string name;          ///< the IDL identifier, without an escaping underscore
    std::string scoped_name;   ///< "A::B::name", without a leading "::"
    std::string repository_id; ///< after #pragma prefix/ID/version, typeid and typeprefix
    /// The module, interface, value type, struct, union or exception it is declared in; null at
    /// file scope. Of an enumerator: what the enum is declared in. A module is the opening meant.
    const Declaration* parent = nullptr;
    Location location{};      ///< of its name, in the definition if there is one
    bool in_main_file = true; ///< location.file == 0
    /// Whether it becomes C++ here: in the main file, and not what the run time declares itself
    /// (provider.h).
    bool generated = true;
    Annotations annotations{};

    explicit Declaration(DeclarationKind which) : kind(which) {}
    virtual ~Declaration() = default;
    Declaration(const Declaration&) = delete;
    Declaration& operator=(const Declaration&) = delete;
};

template <DeclarationKind which>
struct DeclarationOf : Declaration {
    static constexpr DeclarationKind this_kind = which;
    DeclarationOf() : Declaration(which) {}
};

/// The declaration as its own struct, or null where it is of another kind or null.
template <typename T>
[[nodiscard]] const T* as(const Declaration* declaration) noexcept
{
    if (declaration == nullptr || declaration->kind != T::this_kind) return nullptr;
    return static_cast<const T*>(declaration);
}
template <typename T>
[[nodiscard]] T* as(Declaration* declaration) noexcept
{
    return const_cast<T*>(as<T>(static_cast<const Declaration*>(declaration)));
}

/// What a scope contains, in source order: everything declared directly in it.
using Declarations = std::vector<const Declaration*>;

/// One opening of a module. A reopened module has several, which share one naming scope.
struct Module : DeclarationOf<DeclarationKind::module> {
    Declarations declarations{};
    const Module* first = nullptr; ///< the first opening; itself where it is the first
};

/// A forward declaration of a struct, union, interface or value type. Types never refer to this
/// but to `definition`, which exists from here on and may never become `defined`.
struct Forward : DeclarationOf<DeclarationKind::forward> {
    const Declaration* definition = nullptr;
};

/// What the front end found out about a type while it was built; see the questions below.
struct Composition {
    bool variable_length = false;
    bool local = false;
    std::uint16_t depth = 0; ///< of types within types; the front end bounds it
};

struct Member {
    std::string name;
    const Type* type = nullptr;
    Location location{};
    Annotations annotations{};
};

struct Struct : DeclarationOf<DeclarationKind::struct_> {
    bool defined = false;
    Declarations declarations{};   ///< types declared within, e.g. `struct A { enum B {b} c; };`
    std::vector<Member> members{}; ///< one per declarator
    const Struct* base = nullptr;  ///< IDL 4 inheritance; null for none (always, in CORBA 3.3)
    Composition composition{};
};

struct Exception : DeclarationOf<DeclarationKind::exception> {
    Declarations declarations{};
    std::vector<Member> members{};
    Composition composition{};
};

struct CaseLabel {
    bool is_default = false;
    Value value{}; ///< of the discriminator's type; monostate for default
    Location location{};
};
struct UnionCase {
    std::vector<CaseLabel> labels{}; ///< at least one
    Member member{};
};
struct Union : DeclarationOf<DeclarationKind::union_> {
    bool defined = false;
    Declarations declarations{}; ///< types declared within, the discriminator's enum included
    const Type* discriminator = nullptr; ///< null until defined; may be an Alias: see resolved()
    std::vector<UnionCase> cases{};
    bool has_default = false; ///< an explicit `default:`
    Annotations discriminator_annotations{};
    Composition composition{};
};

struct Enum : DeclarationOf<DeclarationKind::enum_> {
    std::vector<const Enumerator*> enumerators{};
};
/// Also named in the scope that contains the enum, where it is not listed among the declarations.
struct Enumerator : DeclarationOf<DeclarationKind::enumerator> {
    const Enum* type = nullptr;
    std::uint32_t ordinal = 0;
};

/// One declarator of a typedef.
struct Alias : DeclarationOf<DeclarationKind::alias> {
    const Type* type = nullptr;
    Composition composition{};
};

struct Constant : DeclarationOf<DeclarationKind::constant> {
    const Type* type = nullptr;
    Value value{};
};

struct Attribute : DeclarationOf<DeclarationKind::attribute> {
    const Type* type = nullptr;
    bool readonly = false;
    Declarations get_raises{}; ///< Exception, or Native
    Declarations set_raises{};
};

enum class Direction { in, out, inout };
struct Parameter {
    Direction direction = Direction::in;
    std::string name;
    const Type* type = nullptr;
    Location location{};
    Annotations annotations{};
};

struct Operation : DeclarationOf<DeclarationKind::operation> {
    bool oneway = false;
    const Type* result = nullptr;
    std::vector<Parameter> parameters{};
    Declarations raises{}; ///< Exception, or Native
    std::vector<std::string> context{};
};

struct Interface : DeclarationOf<DeclarationKind::interface> {
    bool defined = false;
    bool is_abstract = false;
    bool is_local = false;
    std::vector<const Interface*> bases{}; ///< direct ones as written
    /// All bases, direct and indirect, each once, every one after its own bases: leftmost first.
    std::vector<const Interface*> ancestors{};
    Declarations declarations{}; ///< operations and attributes among types, constants, exceptions
};

struct StateMember {
    bool is_public = true;
    Member member{};
};
struct Factory {
    std::string name;
    std::vector<Parameter> parameters{}; ///< all `in`
    Declarations raises{};
    Location location{};
    Annotations annotations{};
};
struct ValueType : DeclarationOf<DeclarationKind::value_type> {
    bool defined = false;
    bool is_abstract = false;
    bool is_custom = false;
    bool is_truncatable = false;           ///< to bases[0]
    std::vector<const ValueType*> bases{}; ///< a concrete one, if any, is the first
    std::vector<const Interface*> supports{};
    Declarations declarations{}; ///< operations and attributes among types, constants, exceptions
    std::vector<StateMember> members{}; ///< its own, not those of its bases
    std::vector<Factory> factories{};
};

struct ValueBox : DeclarationOf<DeclarationKind::value_box> {
    const Type* type = nullptr;
    Declarations declarations{}; ///< types declared within the boxed type
};

/// A type known by name only. Pseudo objects of module CORBA that no file declared are natives
/// with `built_in` set ("CORBA::Principal", "CORBA::Environment", …); no scope lists them.
struct Native : DeclarationOf<DeclarationKind::native> {
    bool built_in = false;
};

/// `@annotation name { … };` of IDL 4.
struct AnnotationDeclaration : DeclarationOf<DeclarationKind::annotation> {
    struct Element {
        std::string name;
        const Type* type = nullptr; ///< null for `any`-typed IDL 4 elements
        Value default_value{};
    };
    Declarations declarations{};
    std::vector<Element> elements{};
};

/// Calls the function with the declaration as its own struct.
template <typename Function>
void visit(const Declaration& declaration, const Function& function)
{
    const auto as_one_of = [&]<typename... T>(const std::tuple<T...>*) {
        const auto call = [&](const auto& own) { return function(own), true; };
        static_cast<void>((
            (declaration.kind == T::this_kind && call(static_cast<const T&>(declaration))) || ...));
    };
    using All =
        std::tuple<Module, Forward, Interface, ValueType, ValueBox, Struct, Union, Enum, Enumerator,
                   Alias, Constant, Exception, Attribute, Operation, Native, AnnotationDeclaration>;
    as_one_of(static_cast<const All*>(nullptr));
}

// --- The unit ----------------------------------------------------------------------------------

/// One main file with everything it includes. Owns the model.
struct Unit {
    std::vector<SourceFile> files{};
    Declarations declarations{}; ///< of file scope, those of included files in their place
    /// Whether names of module CORBA are used that no file declares: Current, Policy, PolicyType.
    bool uses_pseudo_types = false;
    /// Whether the main file is the IDL of the run time itself.
    bool of_run_time = false;
    bool has_awaited_calls = false; ///< --async: see is_awaited (implied_ami.h)
    /// With --ami: the reply handlers of the interfaces that have asynchronous calls
    /// (implied_ami.h).
    std::unordered_map<const Interface*, const Interface*> reply_handlers{};
    std::unordered_map<const Interface*, const ValueType*> pollers{}; ///< likewise
    /// With --amh: the response handlers of the interfaces whose servants may answer later
    /// (implied_amh.h).
    std::unordered_map<const Interface*, const Interface*> response_handlers{};
    std::unordered_map<const Interface*, const ValueType*> response_holders{}; ///< likewise
    /// The files that the main file itself includes, in order: indices of `files`.
    std::vector<std::uint32_t> direct_includes{};

    template <typename T>
    T& add()
    {
        owned_declarations_.push_back(std::make_unique<T>());
        return static_cast<T&>(*owned_declarations_.back());
    }
    const Type& add_type(Type type)
    {
        owned_types_.push_back(std::move(type));
        return owned_types_.back();
    }

  private:
    std::vector<std::unique_ptr<Declaration>> owned_declarations_;
    std::deque<Type> owned_types_;
};

// --- Questions about the model -----------------------------------------------------------------

/// Whether it is the declaration of a type: not of a module, constant, exception, operation or the
/// like, nor a forward one.
[[nodiscard]] bool declares_type(const Declaration& declaration) noexcept;
/// The type behind any chain of typedefs. An array of aliases stays an array of aliases.
[[nodiscard]] const Type& resolved(const Type& type) noexcept;

/// Whether the C++ mapping treats the type as of variable length: it is or contains any, object
/// references, values, TypeCodes, strings or sequences, bounded or not.
[[nodiscard]] bool is_variable_length(const Type& type);
[[nodiscard]] bool is_variable_length(const Struct& type);
[[nodiscard]] bool is_variable_length(const Union& type);
[[nodiscard]] bool is_variable_length(const Exception& type);

/// Whether a value of this struct, union or value type can contain another of the same type.
[[nodiscard]] bool is_recursive(const Declaration& declaration);

/// Whether a value owns nothing but texts and sequences, so that one whose texts and sequences lie
/// elsewhere need not be destroyed (kairos::mapping::Viewable).
[[nodiscard]] bool is_viewable(const Type& type);
[[nodiscard]] bool is_viewable(const Struct& type);

/// Whether the type is local (cannot be marshalled): a local interface or something made of one.
[[nodiscard]] bool is_local(const Type& type);

/// Adds the types that a value of this type, or an exception, may contain, one step down.
void add_parts(const Declaration& declaration, std::vector<const Type*>& types);
/// Whether the predicate holds for all types that the given ones consist of, these among them; what
/// a declared type consists of is asked once.
[[nodiscard]] bool all_parts(std::vector<const Type*> types,
                             const std::function<bool(const Type&)>& holds);
/// Whether something of the type may hold a value of a valuetype.
[[nodiscard]] bool holds_values(const Type& type);
/// Whether it is Environment, Context, ORB or the like of module CORBA: passed like an object, and
/// never to another process.
[[nodiscard]] bool is_pseudo_object(const Type& type);

/// What is declared directly within the declaration, in the order of the IDL: nothing where it is
/// no scope. What an annotation declares for its elements is the annotation's own and not among it.
[[nodiscard]] const Declarations& within(const Declaration& declaration) noexcept;

/// Calls the function for each of the declarations and for what is declared within it, at any
/// depth: what is within comes first, as the C++ of a type comes behind that of its parts.
template <typename Function>
void for_each(const Declarations& declarations, const Function& function)
{
    for (const Declaration* declaration : declarations) {
        for_each(within(*declaration), function);
        function(*declaration);
    }
}

/// Adds the declarations of kind T that something is generated for, at any depth, in their order.
template <typename T>
void collect(const Declarations& declarations, std::vector<const T*>& found)
{
    for_each(declarations, [&found](const Declaration& declaration) {
        if (const auto* wanted = as<T>(&declaration); wanted != nullptr && wanted->generated)
            found.push_back(wanted);
    });
}
template <typename T>
[[nodiscard]] std::vector<const T*> all_of(const Unit& unit)
{
    std::vector<const T*> found;
    collect(unit.declarations, found);
    return found;
}

/// Operations and attributes of the interface and of all its ancestors, ancestors first, each
/// once: what a skeleton must answer.
[[nodiscard]] Declarations all_operations(const Interface& interface);

/// The members that values of this type carry, those of its bases first.
[[nodiscard]] std::vector<const StateMember*> all_members(const ValueType& value);

/// The base that has state; null for none.
[[nodiscard]] const ValueType* concrete_base(const ValueType& value);
/// The interfaces whose operations are the value's, but none of its bases': those of the supported
/// ones that are not abstract, with their ancestors.
[[nodiscard]] std::vector<const Interface*> newly_supported(const ValueType& value);
/// The abstract interfaces that the value supports otherwise than by a base.
[[nodiscard]] std::vector<const Interface*> abstract_supports(const ValueType& value);
/// Whether it or a base does.
[[nodiscard]] bool supports_abstract(const ValueType& value);
/// Whether the program must implement it: it or what it derives from has operations.
[[nodiscard]] bool needs_implementation(const ValueType& value);

/// A label's integer: of characters and booleans their codes, of enumerators their ordinals, of
/// what is 2^63 or more its two's complement. None of a default.
[[nodiscard]] std::optional<std::int64_t> label_code(const Value& value);
/// A discriminator value that selects no labelled case: what an implicit or explicit default may
/// use. None where the labels cover the whole type.
[[nodiscard]] std::optional<Value> unlabelled_discriminator(const Union& type);

/// "unsigned long", "sequence<A::B, 4>", "string": as IDL writes it.
[[nodiscard]] std::string to_string(const Type& type);
/// As an IDL literal.
[[nodiscard]] std::string to_string(const Value& value);
/// "interface", "struct", "valuetype", …: for messages.
[[nodiscard]] std::string_view to_string(DeclarationKind kind) noexcept;
/// "an interface", "a struct", …
[[nodiscard]] std::string with_article(std::string_view noun);

} // namespace kairos::idlc
