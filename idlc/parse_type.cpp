// SPDX-License-Identifier: Apache-2.0
//
// Types: basic ones, templates, names, structs, unions, enums, exceptions, typedefs and arrays.
// CORBA 3.3 part 1, 7.12.
#include "idlc/parse.h"

#include "idlc/composition.h"

#include <algorithm>
#include <array>

namespace kairos::idlc {
namespace {

/// IDL 4 names of integer types. Not keywords here: much older IDL defines types of these names.
std::optional<TypeKind> idl4_integer(std::string_view name) noexcept
{
    constexpr std::array<std::pair<std::string_view, TypeKind>, 8> names{{
        {"int8", TypeKind::int8},
        {"uint8", TypeKind::uint8},
        {"int16", TypeKind::short_},
        {"uint16", TypeKind::unsigned_short},
        {"int32", TypeKind::long_},
        {"uint32", TypeKind::unsigned_long},
        {"int64", TypeKind::long_long},
        {"uint64", TypeKind::unsigned_long_long},
    }};
    for (const auto& [spelling, kind] : names)
        if (spelling == name) return kind;
    return std::nullopt;
}

std::optional<TypeKind> simple_keyword(Keyword keyword) noexcept
{
    switch (keyword) {
    case Keyword::boolean_:
        return TypeKind::boolean;
    case Keyword::char_:
        return TypeKind::char_;
    case Keyword::wchar_:
        return TypeKind::wchar;
    case Keyword::octet_:
        return TypeKind::octet;
    case Keyword::float_:
        return TypeKind::float_;
    case Keyword::double_:
        return TypeKind::double_;
    case Keyword::any_:
        return TypeKind::any;
    case Keyword::object_:
        return TypeKind::object;
    case Keyword::value_base_:
        return TypeKind::value_base;
    default:
        return std::nullopt;
    }
}

bool may_discriminate(const Type& type)
{
    const Type& real = resolved(type);
    if (is_integer(real.kind)) return true;
    switch (real.kind) {
    case TypeKind::boolean:
    case TypeKind::char_:
    case TypeKind::wchar:
        return true;
    case TypeKind::declared:
        return as<Enum>(real.declaration) != nullptr;
    default:
        return false;
    }
}

} // namespace

// --- Type specifications -----------------------------------------------------------------------

const Type* Parser::parse_type(TypeUse use)
{
    Nesting nesting(*this);
    if (!nesting.ok()) return nullptr;
    const Token& token = peek();
    if (token.kind == TokenKind::identifier || token.is("::")) return parse_named_type(use);
    if (token.kind != TokenKind::keyword) {
        unexpected("a type");
        return nullptr;
    }
    if (const auto kind = simple_keyword(token.keyword)) {
        take();
        return simple(*kind);
    }
    switch (token.keyword) {
    case Keyword::short_:
    case Keyword::long_:
    case Keyword::unsigned_:
        return parse_integer_type();
    case Keyword::string_:
    case Keyword::wstring_:
        return parse_string_type();
    case Keyword::sequence_:
        return parse_sequence_type(use);
    case Keyword::fixed_:
        return parse_fixed_type(use);
    case Keyword::struct_:
    case Keyword::union_:
    case Keyword::enum_:
        return constructed_type(use);
    case Keyword::void_:
        error(token.location, "'void' is only a result of operations");
        break;
    case Keyword::component_model:
        error(token.location, "'" + std::string(token.text) +
                                  "' belongs to the component model, which is not supported");
        break;
    default:
        unexpected("a type");
        break;
    }
    return nullptr;
}

const Type* Parser::parse_integer_type()
{
    if (accept(Keyword::short_)) return simple(TypeKind::short_);
    if (accept(Keyword::unsigned_)) {
        if (accept(Keyword::short_)) return simple(TypeKind::unsigned_short);
        if (!accept(Keyword::long_)) {
            unexpected("'short' or 'long' after 'unsigned'");
            return nullptr;
        }
        return simple(accept(Keyword::long_) ? TypeKind::unsigned_long_long
                                             : TypeKind::unsigned_long);
    }
    take();
    if (accept(Keyword::long_)) return simple(TypeKind::long_long);
    if (accept(Keyword::double_)) return simple(TypeKind::long_double);
    return simple(TypeKind::long_);
}

bool Parser::close_template(std::string_view what)
{
    if (peek().is(">>")) { // two templates close at once: leave the other half
        next_.text.remove_prefix(1);
        previous_ = next_;
        previous_.location.length = 1;
        ++next_.location.column;
        next_.location.length = 1;
        return true;
    }
    return expect(">", "after the " + std::string(what));
}

const Type* Parser::parse_string_type()
{
    Type type{.kind = take().is(Keyword::string_) ? TypeKind::string : TypeKind::wstring};
    if (accept("<")) {
        const bool outer = in_template_;
        in_template_ = true;
        const auto bound = parse_positive("the bound of a string");
        in_template_ = outer;
        if (!bound || !close_template("bound")) return nullptr;
        type.bound = *bound;
    }
    return &unit_.add_type(std::move(type));
}

const Type* Parser::parse_sequence_type(TypeUse use)
{
    const Location location = take().location;
    if (use == TypeUse::parameter || use == TypeUse::constant) {
        error(location, use == TypeUse::parameter ? "a sequence needs a typedef to be used here"
                                                  : "a constant cannot be of a sequence type");
        return nullptr;
    }
    if (!expect("<", "after 'sequence'")) return nullptr;
    const bool outer = in_template_;
    in_template_ = true;
    parse_annotations();
    const Type* element = parse_type(TypeUse::element);
    std::optional<std::uint64_t> bound = 0;
    if (element != nullptr && accept(",")) bound = parse_positive("the bound of a sequence");
    in_template_ = outer;
    if (element == nullptr || !bound || !close_template("element type")) return nullptr;
    return &unit_.add_type({.kind = TypeKind::sequence, .bound = *bound, .element = element});
}

const Type* Parser::parse_fixed_type(TypeUse use)
{
    const Location location = take().location;
    if (!peek().is("<") && use == TypeUse::constant) return simple(TypeKind::fixed);
    if (use == TypeUse::parameter) {
        error(location, "a fixed-point type needs a typedef to be used here");
        return nullptr;
    }
    if (!expect("<", "after 'fixed'")) return nullptr;
    const bool outer = in_template_;
    in_template_ = true;
    const Location digits_location = peek().location;
    const auto digits = parse_positive("the number of digits");
    Value scale;
    Location scale_location = digits_location;
    if (digits && expect(",", "after the number of digits")) {
        scale_location = peek().location;
        const Type wanted{.kind = TypeKind::short_};
        scale = arithmetic_.convert(parse_expression(wanted), wanted, scale_location);
    }
    in_template_ = outer;
    const auto* number = std::get_if<std::int64_t>(&scale);
    if (number == nullptr || !close_template("scale")) return nullptr;
    if (*digits > Decimal::digits_max) {
        error(digits_location, "a fixed-point type has at most 31 digits");
        return nullptr;
    }
    if (*number < 0 || *number > static_cast<std::int64_t>(*digits)) {
        error(scale_location, "the scale must be within 0 and the number of digits");
        return nullptr;
    }
    return &unit_.add_type({.kind = TypeKind::fixed,
                            .digits = static_cast<std::uint16_t>(*digits),
                            .scale = static_cast<std::int16_t>(*number)});
}

const Type* Parser::parse_named_type(TypeUse use)
{
    const auto name = parse_scoped_name("the name of a type");
    if (!name) return nullptr;
    if (name->parts.size() == 1 && !name->absolute)
        if (const auto kind = idl4_integer(name->parts[0].text);
            kind && names_.probe(*name, *scope_) == nullptr)
            return simple(*kind);
    const Declaration* declaration = names_.resolve(*name, *scope_, "type");
    return declaration == nullptr ? nullptr : type_of(*declaration, name->location(), use);
}

const Type* Parser::type_of(const Declaration& declaration, Location location, TypeUse use)
{
    bool incomplete = false;
    switch (declaration.kind) {
    case DeclarationKind::struct_:
        incomplete = !as<Struct>(&declaration)->defined;
        break;
    case DeclarationKind::union_:
        incomplete = !as<Union>(&declaration)->defined;
        break;
    case DeclarationKind::interface:
    case DeclarationKind::value_type:
    case DeclarationKind::value_box:
    case DeclarationKind::enum_:
    case DeclarationKind::alias:
        break;
    case DeclarationKind::native: {
        const auto& native = *as<Native>(&declaration);
        if (!native.built_in) break;
        if (native.name == "TypeCode") return simple(TypeKind::type_code);
        if (native.name == "Object") return simple(TypeKind::object);
        // Without the Interface Repository's own IDL: some object there.
        if (native.name == "InterfaceDef") return simple(TypeKind::object);
        if (native.name == "ValueBase") return simple(TypeKind::value_base);
        break;
    }
    default:
        error(location, "'" + declaration.name + "' is not a type but " +
                            with_article(to_string(declaration.kind)));
        if (declaration.location.line != 0)
            diagnostics_.note(declaration.location, "declared here");
        return nullptr;
    }
    if (incomplete && use != TypeUse::element) {
        const bool within = scope_->owner() == &declaration;
        error(location, within ? std::string(to_string(declaration.kind)) + " '" +
                                     declaration.name + "' contains itself; use a sequence of it"
                               : "'" + declaration.name + "' is declared but not yet defined");
        diagnostics_.note(declaration.location, "declared here");
        return nullptr;
    }
    return &unit_.add_type({.kind = TypeKind::declared, .declaration = &declaration});
}

const Type* Parser::constructed_type(TypeUse use)
{
    if (use != TypeUse::member) {
        error(peek().location, "a type cannot be defined here");
        return nullptr;
    }
    const Declaration* declaration = nullptr;
    if (peek().is(Keyword::struct_))
        declaration = parse_struct({});
    else if (peek().is(Keyword::union_))
        declaration = parse_union({});
    else
        declaration = parse_enum({});
    if (declaration == nullptr) return nullptr;
    return type_of(*declaration, declaration->location, use);
}

const Type* Parser::parse_array(const Type& element)
{
    if (!peek().is("[")) return &element;
    constexpr std::uint64_t elements_max = 0xFFFF'FFFF;
    constexpr std::size_t dimensions_max = 32;
    Type array{.kind = TypeKind::array, .element = &element};
    std::uint64_t elements = 1;
    while (peek().is("[")) {
        const Location location = take().location;
        const bool outer = in_template_;
        in_template_ = false;
        const auto dimension = parse_positive("the dimension of an array");
        in_template_ = outer;
        if (!dimension || !expect("]", "after the dimension")) return nullptr;
        if (array.dimensions.size() == dimensions_max || *dimension > elements_max / elements) {
            error(location, "array is too large");
            return nullptr;
        }
        elements *= *dimension;
        array.dimensions.push_back(*dimension);
    }
    return &unit_.add_type(std::move(array));
}

void Parser::check_depth(const Composition& composition, Location location)
{
    if (composition.depth <= composition_depth_max) return;
    error(location,
          "types are nested more than " + std::to_string(composition_depth_max) + " levels deep");
    stopped_ = true;
    have_next_ = false;
}

// --- Declarations of types ---------------------------------------------------------------------

void Parser::parse_typedef(Annotations annotations)
{
    take();
    for (Annotation& annotation : parse_annotations())
        annotations.push_back(std::move(annotation));
    const Type* type = parse_type(TypeUse::member);
    if (type == nullptr) return skip_lost_names("typedef");
    do {
        const auto name = expect_identifier("the name of the new type");
        const Type* whole = name ? parse_array(*type) : nullptr;
        if (whole == nullptr && name)
            names_.lose(
                *scope_,
                {.name = std::string(name->text), .what = "typedef", .location = name->location});
        if (whole == nullptr) return skip_lost_names("typedef");
        Alias& alias = unit_.add<Alias>();
        alias.type = whole;
        add_part(alias.composition, *whole);
        check_depth(alias.composition, name->location);
        declare(alias, *name, annotations);
    } while (accept(","));
    end_declaration("typedef");
}

std::optional<Member> Parser::parse_member_declarator(const Type& type,
                                                      const Annotations& annotations)
{
    const auto name = expect_identifier("the name of the member");
    if (!name) return std::nullopt;
    const Type* whole = parse_array(type);
    if (whole == nullptr) return std::nullopt;
    declare_plain(*scope_, *name, "member");
    return Member{.name = std::string(name->text),
                  .type = whole,
                  .location = name->location,
                  .annotations = annotations};
}

void Parser::parse_members(std::vector<Member>& members, Composition& composition,
                           std::string_view where)
{
    while (!peek().is("}") && peek().kind != TokenKind::end) {
        const std::uint64_t before = taken_;
        const Annotations annotations = parse_annotations();
        const Type* type = parse_type(TypeUse::member);
        bool good = type != nullptr;
        while (good) {
            auto member = parse_member_declarator(*type, annotations);
            good = member.has_value();
            if (!good) break;
            add_part(composition, *member->type);
            check_depth(composition, member->location);
            members.push_back(*std::move(member));
            if (!accept(",")) break;
        }
        if (good)
            end_declaration(where);
        else
            skip_to_next_declaration();
        if (taken_ == before) take();
    }
}

/// The struct or union of this name: only declared where a ';' follows, else about to be defined.
template <typename T>
T& Parser::declare_composite(const Token& name, Annotations&& annotations)
{
    T* known = declared_before<T>(name);
    if (peek().is(";")) {
        if (known == nullptr) {
            known = &unit_.add<T>();
            declare(*known, name, annotations);
            declarations_->pop_back(); // listed where it is defined
            forwards_.emplace_back(known, name.location);
        }
        declare_forward(*known, name, std::move(annotations));
        return *known;
    }
    if (known == nullptr || known->defined) {
        T& declaration = unit_.add<T>();
        declare(declaration, name, std::move(annotations));
        return declaration;
    }
    describe_declaration(*known, name);
    known->annotations = std::move(annotations);
    declarations_->push_back(known);
    ids_.add(*known, name.location.file);
    return *known;
}

const Declaration* Parser::parse_struct(Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the struct");
    if (!name) return nullptr;
    Struct& declaration = declare_composite<Struct>(*name, std::move(annotations));
    if (peek().is(";")) return &declaration;
    if (accept(":")) { // IDL 4
        const auto base = parse_scoped_name("the base of the struct");
        if (!base) {
            lose(declaration);
            return nullptr;
        }
        const Declaration* resolved_base = names_.resolve(*base, *scope_, "struct");
        declaration.base = as<Struct>(behind_alias(resolved_base));
        if (resolved_base && (declaration.base == nullptr || !declaration.base->defined)) {
            error(base->location(), "'" + base->text() + "' is not a defined struct");
            declaration.base = nullptr;
        }
        if (declaration.base != nullptr) {
            const Type base_type{.kind = TypeKind::declared, .declaration = declaration.base};
            add_part(declaration.composition, base_type);
            check_depth(declaration.composition, base->location());
        }
    }
    if (!expect("{", "after the name of the struct")) {
        lose(declaration);
        return nullptr;
    }
    {
        const Inside inside(*this, declaration, declaration.declarations);
        if (peek().is("}") && declaration.base == nullptr)
            error(peek().location, "struct '" + declaration.name + "' has no members");
        parse_members(declaration.members, declaration.composition, "member");
    }
    declaration.defined = true;
    if (!expect("}", "at the end of the struct")) return nullptr;
    return &declaration;
}

void Parser::parse_exception(Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the exception");
    if (!name) return skip_to_next_declaration();
    Exception& exception = unit_.add<Exception>();
    declare(exception, *name, std::move(annotations));
    if (!expect("{", "after the name of the exception")) return skip_to_next_declaration();
    {
        const Inside inside(*this, exception, exception.declarations);
        parse_members(exception.members, exception.composition, "member");
    }
    if (!expect("}", "at the end of the exception")) return;
    end_declaration("exception declaration");
}

const Declaration* Parser::parse_enum(Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the enum");
    if (!name) return nullptr;
    Enum& declaration = unit_.add<Enum>();
    declare(declaration, *name, std::move(annotations));
    if (!expect("{", "after the name of the enum")) return nullptr;
    do {
        if (peek().is("}")) { // a comma before it: common, and unambiguous
            error(peek().location, declaration.enumerators.empty()
                                       ? "enum '" + declaration.name + "' has no enumerators"
                                       : "expected an enumerator after ','");
            break;
        }
        Annotations own = parse_annotations();
        const auto enumerator_name = expect_identifier("an enumerator");
        if (!enumerator_name) {
            skip_to_brace();
            return nullptr;
        }
        Enumerator& enumerator = unit_.add<Enumerator>();
        describe_declaration(enumerator, *enumerator_name);
        enumerator.annotations = std::move(own);
        enumerator.type = &declaration;
        enumerator.ordinal = static_cast<std::uint32_t>(declaration.enumerators.size());
        declaration.enumerators.push_back(&enumerator);
        names_.declare(*scope_, {.name = enumerator.name,
                                 .declaration = &enumerator,
                                 .what = "enumerator",
                                 .location = enumerator.location});
    } while (accept(","));
    if (!expect("}", "or ',' after the enumerator")) {
        skip_to_brace();
        return nullptr;
    }
    return &declaration;
}

void Parser::skip_to_brace()
{
    while (!accept("}") && !peek().is(";") && !peek().is("{") && peek().kind != TokenKind::end) {
        const Token token = take();
        if (token.kind == TokenKind::identifier)
            names_.lose(*scope_, {.name = std::string(token.text),
                                  .what = "enumerator",
                                  .location = token.location});
    }
}

// --- Unions ------------------------------------------------------------------------------------

const Declaration* Parser::parse_union(Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the union");
    if (!name) return nullptr;
    Union& declaration = declare_composite<Union>(*name, std::move(annotations));
    if (peek().is(";")) return &declaration;
    const auto begin = [&] {
        const Inside inside(*this, declaration, declaration.declarations);
        return parse_discriminator(declaration) && expect("{", "before the cases of the union");
    };
    if (!begin()) {
        lose(declaration);
        return nullptr;
    }
    {
        const Inside inside(*this, declaration, declaration.declarations);
        if (peek().is("}")) error(peek().location, "union '" + declaration.name + "' has no cases");
        while (!peek().is("}") && peek().kind != TokenKind::end) {
            const std::uint64_t before = taken_;
            if (!parse_case(declaration)) skip_to_next_declaration();
            if (taken_ == before) take();
        }
        check_labels(declaration);
    }
    declaration.defined = true;
    if (!expect("}", "at the end of the union")) return nullptr;
    return &declaration;
}

bool Parser::parse_discriminator(Union& declaration)
{
    if (!accept(Keyword::switch_)) return unexpected("'switch' after the name of the union");
    if (!expect("(", "after 'switch'")) return false;
    declaration.discriminator_annotations = parse_annotations();
    const Location location = peek().location;
    const Type* type = parse_type(peek().is(Keyword::enum_) ? TypeUse::member : TypeUse::parameter);
    if (type == nullptr) return false;
    if (!may_discriminate(*type)) {
        error(location, "a union cannot be switched by the type '" + to_string(*type) + "'");
        return false;
    }
    declaration.discriminator = type;
    return expect(")", "after the discriminator");
}

bool Parser::parse_labels(const Union& declaration, UnionCase& one)
{
    while (peek().is(Keyword::case_) || peek().is(Keyword::default_)) {
        CaseLabel label;
        label.is_default = take().is(Keyword::default_);
        label.location = label.is_default ? previous_.location : peek().location;
        if (!label.is_default) {
            const Operand value = parse_expression(*declaration.discriminator);
            if (value.index() == 0 && !peek().is(":")) return false;
            label.value = arithmetic_.convert(value, *declaration.discriminator, label.location);
        }
        one.labels.push_back(std::move(label));
        if (!expect(":", "after the label")) return false;
    }
    return !one.labels.empty() || unexpected("'case' or 'default'");
}

bool Parser::parse_case(Union& declaration)
{
    UnionCase one;
    if (!parse_labels(declaration, one)) return false;
    const Annotations annotations = parse_annotations();
    const Type* type = parse_type(TypeUse::member);
    if (type == nullptr) return false;
    auto member = parse_member_declarator(*type, annotations);
    if (!member) return false;
    add_part(declaration.composition, *member->type);
    check_depth(declaration.composition, member->location);
    one.member = *std::move(member);
    declaration.cases.push_back(std::move(one));
    end_declaration("case of the union");
    return true;
}

namespace {

void leave_out_default(Union& declaration)
{
    for (UnionCase& one : declaration.cases)
        std::erase_if(one.labels, [](const CaseLabel& label) { return label.is_default; });
    std::erase_if(declaration.cases, [](const UnionCase& one) { return one.labels.empty(); });
    declaration.has_default = false;
}

} // namespace

void Parser::check_labels(Union& declaration)
{
    std::unordered_map<std::string, Location> seen;
    Location default_location;
    for (const UnionCase& one : declaration.cases)
        for (const CaseLabel& label : one.labels) {
            if (label.is_default) {
                declaration.has_default = true;
                default_location = label.location;
            } else if (label.value.index() == 0) {
                continue; // reported
            }
            const std::string text = label.is_default ? "default" : to_string(label.value);
            const auto [other, fresh] = seen.try_emplace(text, label.location);
            if (fresh) continue;
            error(label.location,
                  "duplicate label " + text + " in union '" + declaration.name + "'");
            diagnostics_.note(other->second, "it is first used here");
        }
    if (declaration.has_default && !unlabelled_discriminator(declaration)) {
        diagnostics_.warning(default_location,
                             "the default is never selected: the labels cover the whole type; it "
                             "is left out");
        leave_out_default(declaration);
    }
}

} // namespace kairos::idlc
