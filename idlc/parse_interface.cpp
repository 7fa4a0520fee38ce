// SPDX-License-Identifier: Apache-2.0
//
// Interfaces, their inheritance, attributes and operations. CORBA 3.3 part 1, 7.8, 7.14 and 7.15.
#include "idlc/parse.h"

#include "idlc/composition.h"
#include "idlc/provider.h"

#include <algorithm>

namespace kairos::idlc {

void Parser::parse_interface(Annotations annotations, bool is_abstract, bool is_local)
{
    take();
    const auto name = expect_identifier("the name of the interface");
    if (!name) return skip_to_next_declaration();
    Interface* known = declared_before<Interface>(*name);
    if (known != nullptr && is_locality_constrained(*known)) is_local = known->is_local;
    if (known != nullptr && (known->is_abstract != is_abstract || known->is_local != is_local)) {
        error(name->location, "interface '" + known->name +
                                  "' is declared abstract, local or neither in different ways");
        diagnostics_.note(known->location, "the other declaration is here");
    }
    const bool forward = peek().is(";");
    Interface& interface =
        known != nullptr && (forward || !known->defined) ? *known : unit_.add<Interface>();
    if (&interface != known) {
        interface.is_abstract = is_abstract;
        interface.is_local = is_local;
        declare(interface, *name, annotations);
        if (is_locality_constrained(interface)) interface.is_local = true;
        if (forward) declarations_->pop_back(); // listed where it is defined
    }
    if (forward) {
        declare_forward(interface, *name, std::move(annotations));
        return end_declaration("interface declaration");
    }
    if (&interface == known) {
        describe_declaration(interface, *name);
        interface.annotations = std::move(annotations);
        declarations_->push_back(&interface);
        ids_.add(interface, name->location.file);
    }
    // Bases are looked up outside: the interface's own names are not in sight yet.
    Scope& outer = *scope_;
    Scope& inner = names_.open(interface, outer);
    if (accept(":") && !parse_bases(interface, inner)) return skip_to_next_declaration();
    interface.defined = true;
    names_.check_inherited_calls(inner, interface.location);
    if (!expect("{", "after the name of the interface")) return skip_to_next_declaration();
    {
        const Inside inside(*this, interface, interface.declarations);
        while (!peek().is("}") && peek().kind != TokenKind::end) {
            const std::uint64_t before = taken_;
            parse_export(parse_annotations(), interface.is_local);
            if (taken_ == before) take();
        }
    }
    if (!accept("}")) {
        error(peek().location, "expected '}' at the end of interface '" + interface.name + "'");
        if (!stopped_) diagnostics_.note(interface.location, "the interface begins here");
        return;
    }
    end_declaration("interface declaration");
}

/// A typedef of what can be a base is as good.
const Declaration* Parser::behind_alias(const Declaration* declaration)
{
    const auto* alias = as<Alias>(declaration);
    if (alias == nullptr) return declaration;
    const Type& type = resolved(*alias->type);
    return type.kind == TypeKind::declared ? type.declaration : declaration;
}

bool Parser::parse_bases(Interface& interface, Scope& scope)
{
    do {
        const auto name = parse_scoped_name("the name of a base interface");
        if (!name) return false;
        add_base(interface, scope, *name);
    } while (accept(","));
    return true;
}

void Parser::add_base(Interface& interface, Scope& scope, const ScopedName& name)
{
    const Declaration* declaration = behind_alias(names_.resolve(name, *scope_, "interface"));
    if (declaration == nullptr) return names_.lose_base(scope);
    const auto* base = as<Interface>(declaration);
    if (base == nullptr || !base->defined) {
        error(name.location(),
              base == nullptr ? "'" + name.text() + "' is not an interface"
                              : "interface '" + name.text() + "' is declared but not yet defined");
        if (declaration->location.line != 0)
            diagnostics_.note(declaration->location, "declared here");
        return names_.lose_base(scope);
    }
    if (std::find(interface.bases.begin(), interface.bases.end(), base) != interface.bases.end())
        return error(name.location(), "interface '" + name.text() + "' is inherited twice");
    if (interface.is_abstract && !base->is_abstract)
        return error(name.location(), "an abstract interface inherits from abstract ones only");
    if (!interface.is_local && is_locality_constrained(*base)) make_local(interface, name);
    if (!interface.is_local && base->is_local)
        return error(name.location(),
                     "an interface that is not local cannot inherit from a local one");
    if (!names_.inherit(scope, *names_.scope_of(*base)))
        return error(name.location(), "interface '" + interface.name + "' has more than " +
                                          std::to_string(Names::ancestors_max) + " ancestors");
    interface.bases.push_back(base);
    add_missing(interface.ancestors, base->ancestors);
    add_missing(interface.ancestors, {base});
}

/// IDL of before CORBA 2.4 could only say so in a comment: "locality constrained".
void Parser::make_local(Interface& interface, const ScopedName& base)
{
    interface.is_local = true;
    if (interface.location.file != 0) return;
    diagnostics_.warning(base.location(), "interface '" + interface.name +
                                              "' is taken for a local "
                                              "one, as '" +
                                              base.text() + "' is");
}

void Parser::parse_export(Annotations annotations, bool local)
{
    if (peek().is(";")) {
        error(peek().location, "stray ';'");
        take();
        return;
    }
    if (parse_type_declaration(annotations)) return;
    if (peek().is(Keyword::attribute_) || peek().is(Keyword::readonly_))
        return parse_attribute(annotations, local);
    switch (peek().kind == TokenKind::keyword ? peek().keyword : Keyword::none) {
    case Keyword::module_:
    case Keyword::interface_:
    case Keyword::valuetype_:
    case Keyword::local_:
    case Keyword::abstract_:
        error(peek().location, "'" + std::string(peek().text) + "' cannot be declared within " +
                                   with_article(to_string(parent_->kind)));
        take();
        return skip_to_next_declaration();
    default:
        break;
    }
    parse_operation(std::move(annotations), local);
}

void Parser::check_remote(const Type& type, Location location, bool local)
{
    // 7.8.6: local types appear in local interfaces and in values only.
    // The OMG's own DomainManager gives policies. Sending one raises MARSHAL.
    const auto* interface =
        as<Interface>(type.kind == TypeKind::declared ? type.declaration : nullptr);
    if (interface != nullptr && interface->scoped_name == "CORBA::Policy") return;
    if (!local && is_local(type))
        error(location, "the local type '" + to_string(type) +
                            "' cannot be used in an interface that is not local");
}

void Parser::parse_attribute(const Annotations& annotations, bool local)
{
    const bool readonly = accept(Keyword::readonly_);
    if (!accept(Keyword::attribute_)) {
        unexpected("'attribute' after 'readonly'");
        return skip_to_next_declaration();
    }
    const Location type_location = peek().location;
    const Type* type = parse_type(TypeUse::parameter);
    if (type == nullptr) return skip_to_next_declaration();
    check_remote(*type, type_location, local);
    std::vector<Attribute*> attributes;
    do {
        const auto name = expect_identifier("the name of the attribute");
        if (!name) return skip_to_next_declaration();
        Attribute& attribute = unit_.add<Attribute>();
        attribute.type = type;
        attribute.readonly = readonly;
        declare(attribute, *name, annotations);
        attributes.push_back(&attribute);
    } while (accept(","));
    const Location raises_location = peek().location;
    Declarations get_raises;
    Declarations set_raises;
    if (!readonly && peek().is(Keyword::raises_))
        error(raises_location, "an attribute that is not readonly has getraises and setraises");
    bool good = true;
    if (accept(Keyword::raises_)) good = parse_raises(get_raises);
    if (good && !readonly && accept(Keyword::getraises_)) good = parse_raises(get_raises);
    if (good && !readonly && accept(Keyword::setraises_)) good = parse_raises(set_raises);
    if (!good) return skip_to_next_declaration();
    if (attributes.size() > 1 && (!get_raises.empty() || !set_raises.empty()))
        error(raises_location, "exceptions can be given for a single attribute only");
    for (Attribute* attribute : attributes) {
        attribute->get_raises = get_raises;
        attribute->set_raises = set_raises;
    }
    end_declaration("attribute declaration");
}

void Parser::parse_operation(Annotations annotations, bool local)
{
    const bool oneway = accept(Keyword::oneway_);
    const Location result_location = peek().location;
    const Type* result = nullptr;
    if (accept(Keyword::void_))
        result = simple(TypeKind::void_);
    else
        result = parse_type(TypeUse::parameter);
    if (result == nullptr) return skip_to_next_declaration();
    const auto name = expect_identifier("the name of the operation");
    if (!name) return skip_to_next_declaration();
    Operation& operation = unit_.add<Operation>();
    operation.oneway = oneway;
    operation.result = result;
    check_remote(*result, result_location, local);
    declare(operation, *name, std::move(annotations));
    if (!expect("(", "after the name of the operation")) return skip_to_next_declaration();
    parse_parameters(operation.parameters, oneway, "a oneway operation has 'in' parameters only");
    for (const Parameter& parameter : operation.parameters)
        check_remote(*parameter.type, parameter.location, local);
    if (!expect(")", "after the parameters")) return skip_to_next_declaration();
    const Location raises_location = peek().location;
    if (accept(Keyword::raises_) && !parse_raises(operation.raises))
        return skip_to_next_declaration();
    if (oneway && result->kind != TypeKind::void_)
        error(result_location, "a oneway operation has the result void");
    if (oneway && !operation.raises.empty())
        error(raises_location, "a oneway operation raises no exceptions");
    if (accept(Keyword::context_) && !parse_context(operation)) return skip_to_next_declaration();
    end_declaration("operation declaration");
}

void Parser::parse_parameters(std::vector<Parameter>& parameters, bool only_in,
                              std::string_view where)
{
    if (peek().is(")")) return;
    // Parameters have a scope of their own, which lives as long as the list.
    Scope scope(nullptr, nullptr);
    do {
        auto parameter = parse_parameter(only_in, where);
        if (!parameter) {
            skip_to_next_parameter();
            continue;
        }
        Token name;
        name.text = parameter->name;
        name.location = parameter->location;
        declare_plain(scope, name, "parameter");
        parameters.push_back(*std::move(parameter));
    } while (accept(","));
}

/// So that the others of the same operation are read.
void Parser::skip_to_next_parameter()
{
    int nested = 0;
    while (peek().kind != TokenKind::end) {
        const bool closes = peek().is(")") || peek().is("}") || peek().is(">");
        if (nested == 0 && (closes || peek().is(",") || peek().is(";"))) return;
        if (closes) --nested;
        if (peek().is("(") || peek().is("{") || peek().is("<")) ++nested;
        take();
    }
}

std::optional<Parameter> Parser::parse_parameter(bool only_in, std::string_view where)
{
    Parameter parameter;
    parameter.annotations = parse_annotations();
    const Location location = peek().location;
    if (accept(Keyword::in_))
        parameter.direction = Direction::in;
    else if (accept(Keyword::out_))
        parameter.direction = Direction::out;
    else if (accept(Keyword::inout_))
        parameter.direction = Direction::inout;
    else {
        unexpected("'in', 'out' or 'inout' before the type of the parameter");
        return std::nullopt;
    }
    if (only_in && parameter.direction != Direction::in) error(location, std::string(where));
    parameter.type = parse_type(TypeUse::parameter);
    if (parameter.type == nullptr) return std::nullopt;
    const auto name = expect_identifier("the name of the parameter");
    if (!name) return std::nullopt;
    parameter.name = name->text;
    parameter.location = name->location;
    return parameter;
}

bool Parser::parse_raises(Declarations& raises)
{
    if (!expect("(", "after 'raises'")) return false;
    do {
        const auto name = parse_scoped_name("the name of an exception");
        if (!name) return false;
        const Declaration* declaration = names_.resolve(*name, *scope_, "exception");
        if (declaration == nullptr) continue;
        if (declaration->kind != DeclarationKind::exception &&
            declaration->kind != DeclarationKind::native) {
            error(name->location(), "'" + name->text() + "' is not an exception but " +
                                        with_article(to_string(declaration->kind)));
            diagnostics_.note(declaration->location, "declared here");
        } else if (std::find(raises.begin(), raises.end(), declaration) != raises.end()) {
            error(name->location(), "exception '" + name->text() + "' is raised twice");
        } else {
            raises.push_back(declaration);
        }
    } while (accept(","));
    return expect(")", "after the exceptions");
}

bool Parser::parse_context(Operation& operation)
{
    if (!expect("(", "after 'context'")) return false;
    do {
        auto name = parse_string_literal("the name of a context property, a string");
        if (!name) return false;
        operation.context.push_back(*std::move(name));
    } while (accept(","));
    return expect(")", "after the context");
}

} // namespace kairos::idlc
