// SPDX-License-Identifier: Apache-2.0
//
// Value types and value boxes. CORBA 3.3 part 1, 7.9.
#include "idlc/parse.h"

#include <algorithm>

namespace kairos::idlc {

void Parser::parse_value_type(Annotations annotations, bool is_abstract, bool is_custom)
{
    take();
    const auto name = expect_identifier("the name of the valuetype");
    if (!name) return skip_to_next_declaration();
    const bool forward = peek().is(";");
    const bool full = peek().is("{") || peek().is(":") || peek().is(Keyword::supports_);
    if (!forward && !full) {
        if (is_abstract || is_custom)
            error(name->location, "a value box is neither abstract nor custom");
        return parse_value_box(*name, std::move(annotations));
    }
    ValueType* known = declared_before<ValueType>(*name);
    if (known != nullptr && known->is_abstract != is_abstract) {
        error(name->location,
              "valuetype '" + known->name + "' is declared both abstract and not abstract");
        diagnostics_.note(known->location, "the other declaration is here");
    }
    ValueType& value =
        known != nullptr && (forward || !known->defined) ? *known : unit_.add<ValueType>();
    if (&value != known) {
        value.is_abstract = is_abstract;
        declare(value, *name, annotations);
        if (forward) declarations_->pop_back(); // listed where it is defined
    }
    if (forward) {
        if (is_custom) error(name->location, "'custom' belongs to the definition only");
        declare_forward(value, *name, std::move(annotations));
        return end_declaration("valuetype declaration");
    }
    if (&value == known) {
        describe_declaration(value, *name);
        value.annotations = std::move(annotations);
        declarations_->push_back(&value);
        ids_.add(value, name->location.file);
    }
    value.is_custom = is_custom;
    Scope& inner = names_.open(value, *scope_);
    if (!parse_value_inheritance(value, inner)) return skip_to_next_declaration();
    value.defined = true;
    names_.check_inherited_calls(inner, value.location);
    if (!expect("{", "after the name of the valuetype")) return skip_to_next_declaration();
    {
        const Inside inside(*this, value, value.declarations);
        while (!peek().is("}") && peek().kind != TokenKind::end) {
            const std::uint64_t before = taken_;
            parse_value_element(value);
            if (taken_ == before) take();
        }
    }
    if (!expect("}", "at the end of the valuetype")) return;
    end_declaration("valuetype declaration");
}

void Parser::parse_value_box(const Token& name, Annotations annotations)
{
    ValueBox& box = unit_.add<ValueBox>();
    declare(box, name, std::move(annotations));
    {
        const Inside inside(*this, box, box.declarations);
        const Location location = peek().location;
        box.type = parse_type(TypeUse::member);
        if (box.type != nullptr) {
            const Type& real = resolved(*box.type);
            const bool value =
                real.kind == TypeKind::value_base ||
                (real.kind == TypeKind::declared &&
                 (as<ValueType>(real.declaration) || as<ValueBox>(real.declaration)));
            if (value) error(location, "a value box cannot contain a value");
        }
    }
    if (box.type == nullptr) {
        box.type = simple(TypeKind::long_); // reported; the model has no holes
        return skip_to_next_declaration();
    }
    end_declaration("value box declaration");
}

bool Parser::parse_value_inheritance(ValueType& value, Scope& scope)
{
    if (accept(":")) {
        const Location location = peek().location;
        value.is_truncatable = accept(Keyword::truncatable_);
        do {
            const auto name = parse_scoped_name("the name of a base value");
            if (!name) return false;
            add_value_base(value, scope, *name);
        } while (accept(","));
        if (value.is_truncatable && value.is_custom)
            error(location, "a custom valuetype cannot be truncatable");
        else if (value.is_truncatable && (value.bases.empty() || value.bases[0]->is_abstract))
            error(location, "only a valuetype with a concrete base can be truncatable");
    }
    if (!accept(Keyword::supports_)) return true;
    do {
        const auto name = parse_scoped_name("the name of a supported interface");
        if (!name) return false;
        add_supported(value, scope, *name);
    } while (accept(","));
    return true;
}

void Parser::add_value_base(ValueType& value, Scope& scope, const ScopedName& name)
{
    const Declaration* declaration = behind_alias(names_.resolve(name, *scope_, "valuetype"));
    if (declaration == nullptr) return names_.lose_base(scope);
    const auto* base = as<ValueType>(declaration);
    if (base == nullptr || !base->defined) {
        error(name.location(),
              base == nullptr ? "'" + name.text() + "' is not a valuetype"
                              : "valuetype '" + name.text() + "' is declared but not yet defined");
        if (declaration->location.line != 0)
            diagnostics_.note(declaration->location, "declared here");
        return names_.lose_base(scope);
    }
    if (std::find(value.bases.begin(), value.bases.end(), base) != value.bases.end())
        return error(name.location(), "valuetype '" + name.text() + "' is inherited twice");
    if (value.is_abstract && !base->is_abstract)
        return error(name.location(), "an abstract valuetype inherits from abstract ones only");
    if (!base->is_abstract && !value.bases.empty())
        return error(name.location(), "only the first base of a valuetype can be concrete: '" +
                                          name.text() + "' is not abstract");
    if (!names_.inherit(scope, *names_.scope_of(*base)))
        return error(name.location(), "valuetype '" + value.name + "' has more than " +
                                          std::to_string(Names::ancestors_max) + " ancestors");
    value.bases.push_back(base);
}

void Parser::add_supported(ValueType& value, Scope& scope, const ScopedName& name)
{
    const Declaration* declaration = behind_alias(names_.resolve(name, *scope_, "interface"));
    if (declaration == nullptr) return names_.lose_base(scope);
    const auto* interface = as<Interface>(declaration);
    if (interface == nullptr || !interface->defined) {
        error(name.location(), interface == nullptr ? "'" + name.text() + "' is not an interface"
                                                    : "interface '" + name.text() +
                                                          "' is declared but not yet defined");
        return names_.lose_base(scope);
    }
    const bool concrete_before =
        std::any_of(value.supports.begin(), value.supports.end(),
                    [](const Interface* other) { return !other->is_abstract; });
    if (!interface->is_abstract && concrete_before)
        return error(name.location(),
                     "a valuetype supports at most one interface that is not abstract");
    if (std::find(value.supports.begin(), value.supports.end(), interface) != value.supports.end())
        return error(name.location(), "interface '" + name.text() + "' is supported twice");
    if (!names_.inherit(scope, *names_.scope_of(*interface)))
        return error(name.location(), "valuetype '" + value.name + "' has more than " +
                                          std::to_string(Names::ancestors_max) + " ancestors");
    value.supports.push_back(interface);
}

void Parser::parse_value_element(ValueType& value)
{
    Annotations annotations = parse_annotations();
    if (peek().is(Keyword::public_) || peek().is(Keyword::private_)) {
        if (value.is_abstract) error(peek().location, "an abstract valuetype has no state");
        return parse_state_member(value, annotations);
    }
    if (peek().is(Keyword::factory_)) {
        if (value.is_abstract) error(peek().location, "an abstract valuetype has no factories");
        return parse_factory(value, std::move(annotations));
    }
    parse_export(std::move(annotations), true);
}

void Parser::parse_state_member(ValueType& value, const Annotations& annotations)
{
    const bool is_public = take().is(Keyword::public_);
    const Type* type = parse_type(TypeUse::member);
    if (type == nullptr) return skip_to_next_declaration();
    do {
        auto member = parse_member_declarator(*type, annotations);
        if (!member) return skip_to_next_declaration();
        value.members.push_back({.is_public = is_public, .member = *std::move(member)});
    } while (accept(","));
    end_declaration("state member");
}

void Parser::parse_factory(ValueType& value, Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the factory");
    if (!name) return skip_to_next_declaration();
    declare_plain(*scope_, *name, "factory");
    Factory factory;
    factory.name = name->text;
    factory.location = name->location;
    factory.annotations = std::move(annotations);
    if (!expect("(", "after the name of the factory")) return skip_to_next_declaration();
    parse_parameters(factory.parameters, true, "a factory has 'in' parameters only");
    if (!expect(")", "after the parameters")) return skip_to_next_declaration();
    if (accept(Keyword::raises_) && !parse_raises(factory.raises))
        return skip_to_next_declaration();
    value.factories.push_back(std::move(factory));
    end_declaration("factory declaration");
}

} // namespace kairos::idlc
