// SPDX-License-Identifier: Apache-2.0
//
// The parser: tokens in, resolved model out, in one pass, because IDL declares before it uses.
// Recursive descent along the grammar of CORBA 3.3 part 1, 7.4, with annotations of IDL 4. Depth
// is bounded, errors are reported where they are and parsing goes on behind the next `;` or `}`.
// Split by area: parse.cpp (files, modules, recovery), parse_type.cpp,
// parse_interface.cpp, parse_value.cpp, parse_expression.cpp.
#pragma once

#include "idlc/constant.h"
#include "idlc/diagnostics.h"
#include "idlc/lex.h"
#include "idlc/model.h"
#include "idlc/names.h"
#include "idlc/repository_id.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc {

class Parser {
  public:
    /// All are borrowed.
    Parser(Unit& unit, Lexer& lexer, Diagnostics& diagnostics);

    /// Reads everything and fills the unit.
    void parse();

  private:
    static constexpr int nesting_max = 100;

    // --- parse.cpp: tokens, recovery, scopes ---
    const Token& peek();
    Token take();
    bool accept(std::string_view punctuator);
    bool accept(Keyword keyword);
    /// Consumes the punctuator or reports "expected …" behind the previous token.
    bool expect(std::string_view punctuator, std::string_view where);
    /// Consumes an identifier or reports what was expected.
    std::optional<Token> expect_identifier(std::string_view what);
    /// The `;` of a declaration. Where it is plainly just missing, parsing goes on.
    void end_declaration(std::string_view what);
    /// Reports "expected …, found …" at the next token; false.
    bool unexpected(std::string_view expected);
    void skip_to_next_declaration();
    /// The same after an error in front of names that it would have declared.
    void skip_lost_names(std::string_view what);
    /// Of a declaration that has its name already, after an error that leaves it incomplete.
    void lose(const Declaration& declaration);
    void skip_to_brace(); ///< behind the next '}' of the enumerators
    [[nodiscard]] bool at_declaration_start();
    Location behind_previous() const;
    void error(Location location, std::string message);

    /// Counts nesting while it lives.
    struct Nesting {
        explicit Nesting(Parser& owner) : parser(owner) { ++parser.depth_; }
        ~Nesting() { --parser.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        /// False, and reported, where it is too deep.
        [[nodiscard]] bool ok();
        Parser& parser;
    };
    /// Declarations belong to `owner` while it lives.
    struct Inside {
        Inside(Parser& owner_parser, const Declaration& owner, Declarations& list);
        ~Inside();
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        Parser& parser;
        Scope* scope;
        const Declaration* parent;
        Declarations* declarations;
    };

    /// Fills what every declaration has, enters its name and lists it in the current scope.
    bool declare(Declaration& declaration, const Token& name, Annotations annotations,
                 std::string_view what = {});
    void describe_declaration(Declaration& declaration, const Token& name);
    bool declare_plain(Scope& scope, const Token& name, std::string_view what);
    [[nodiscard]] std::string scoped(std::string_view name) const;
    template <typename T>
    T& declare_composite(const Token& name, Annotations&& annotations);
    void declare_forward(Declaration& definition, const Token& name, Annotations annotations);
    /// A forward-declared T of this name in this scope that waits for its definition, or any T.
    template <typename T>
    T* declared_before(const Token& name);

    // --- parse.cpp: files, modules ---
    void parse_definition();
    bool parse_type_declaration(Annotations& annotations);
    void parse_module(Annotations annotations);
    void parse_native(Annotations annotations);
    void parse_import();
    void parse_typeid();
    void parse_typeprefix();
    std::optional<ScopedName> parse_scoped_name(std::string_view what);
    std::optional<std::string> parse_string_literal(std::string_view what);
    void check_forwards();

    // --- parse_annotation.cpp ---
    Annotations parse_annotations();
    bool parse_annotation(const Token& at, Annotations& out);
    void parse_annotation_parameters(Annotation& annotation);
    void skip_to_parenthesis();
    void parse_annotation_declaration(const Token& at);

    // --- parse_pragma.cpp ---
    void pragma(const Token& token);
    void pragma_named(std::string_view rest, const Token& token, bool is_id);
    bool pragma_headers(std::string_view rest, const Location& location);
    void pragma_own(std::string_view rest, const Location& location);

    // --- parse_type.cpp ---
    enum class TypeUse { member, parameter, element, constant };
    /// Null where it failed, which is reported.
    const Type* parse_type(TypeUse use);
    const Type* parse_integer_type();
    const Type* parse_string_type();
    const Type* parse_sequence_type(TypeUse use);
    const Type* parse_fixed_type(TypeUse use);
    const Type* parse_named_type(TypeUse use);
    const Type* type_of(const Declaration& declaration, Location location, TypeUse use);
    const Type* constructed_type(TypeUse use);
    const Type* simple(TypeKind kind) { return &unit_.add_type({.kind = kind}); }
    const Type* parse_array(const Type& element);
    bool close_template(std::string_view what);
    void parse_typedef(Annotations annotations);
    const Declaration* parse_struct(Annotations annotations);
    const Declaration* parse_union(Annotations annotations);
    const Declaration* parse_enum(Annotations annotations);
    void parse_exception(Annotations annotations);
    void parse_members(std::vector<Member>& members, Composition& composition,
                       std::string_view where);
    std::optional<Member> parse_member_declarator(const Type& type, const Annotations& annotations);
    bool parse_discriminator(Union& declaration);
    bool parse_case(Union& declaration);
    bool parse_labels(const Union& declaration, UnionCase& one);
    void check_labels(Union& declaration);
    void check_depth(const Composition& composition, Location location);

    // --- parse_interface.cpp ---
    void parse_interface(Annotations annotations, bool is_abstract, bool is_local);
    bool parse_bases(Interface& interface, Scope& scope);
    static const Declaration* behind_alias(const Declaration* declaration);
    void add_base(Interface& interface, Scope& scope, const ScopedName& name);
    void make_local(Interface& interface, const ScopedName& base);
    void parse_export(Annotations annotations, bool local);
    void parse_attribute(const Annotations& annotations, bool local);
    void parse_operation(Annotations annotations, bool local);
    void parse_parameters(std::vector<Parameter>& parameters, bool only_in, std::string_view where);
    std::optional<Parameter> parse_parameter(bool only_in, std::string_view where);
    bool parse_raises(Declarations& raises);
    bool parse_context(Operation& operation);
    void skip_to_next_parameter();
    void check_remote(const Type& type, Location location, bool local);

    // --- parse_value.cpp ---
    void parse_value_type(Annotations annotations, bool is_abstract, bool is_custom);
    void parse_value_box(const Token& name, Annotations annotations);
    bool parse_value_inheritance(ValueType& value, Scope& scope);
    void add_value_base(ValueType& value, Scope& scope, const ScopedName& name);
    void add_supported(ValueType& value, Scope& scope, const ScopedName& name);
    void parse_value_element(ValueType& value);
    void parse_state_member(ValueType& value, const Annotations& annotations);
    void parse_factory(ValueType& value, Annotations annotations);

    // --- parse_expression.cpp ---
    void parse_constant(Annotations annotations);
    Operand parse_expression(const Type& wanted);
    Operand parse_binary(const Type& wanted, int level);
    Operand parse_unary(const Type& wanted);
    Operand parse_primary(const Type& wanted);
    /// A bound, a dimension: at least 1, at most 2^32 - 1.
    std::optional<std::uint64_t> parse_positive(std::string_view what);

    Unit& unit_;
    Lexer& lexer_;
    Diagnostics& diagnostics_;
    Names names_;
    RepositoryIds ids_;
    ConstantArithmetic arithmetic_;

    Token next_{};
    bool have_next_ = false;
    Token previous_{};
    std::uint64_t taken_ = 0; ///< tokens consumed, to see whether recovery makes progress
    int depth_ = 0;
    bool stopped_ = false;     ///< after an error that makes all others worthless
    bool in_template_ = false; ///< `>` closes, it does not shift

    Scope* scope_;
    const Declaration* parent_ = nullptr;
    Declarations* declarations_;
    std::vector<std::pair<const Declaration*, Location>> forwards_; ///< structs and unions
};

} // namespace kairos::idlc
