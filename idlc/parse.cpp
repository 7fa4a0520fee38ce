// SPDX-License-Identifier: Apache-2.0
//
// The parser's tokens, recovery and scopes; files, modules, native types, imports and pragmas.
#include "idlc/parse.h"

#include "idlc/provider.h"

#include <algorithm>

namespace kairos::idlc {

Parser::Parser(Unit& unit, Lexer& lexer, Diagnostics& diagnostics)
    : unit_(unit), lexer_(lexer), diagnostics_(diagnostics), names_(unit, diagnostics),
      ids_(diagnostics), arithmetic_(diagnostics), scope_(&names_.file_scope()),
      declarations_(&unit.declarations)
{
}

// --- Tokens ------------------------------------------------------------------------------------

const Token& Parser::peek()
{
    // Fetched only when looked at, so a pragma takes effect after the declaration before it.
    while (!have_next_) {
        next_ = lexer_.next();
        if (stopped_ || diagnostics_.full()) next_.kind = TokenKind::end;
        if (next_.kind == TokenKind::pragma)
            pragma(next_);
        else
            have_next_ = true;
    }
    return next_;
}

Token Parser::take()
{
    previous_ = peek();
    if (previous_.kind != TokenKind::end) have_next_ = false;
    ++taken_;
    return previous_;
}

bool Parser::accept(std::string_view punctuator)
{
    if (!peek().is(punctuator)) return false;
    take();
    return true;
}

bool Parser::accept(Keyword keyword)
{
    if (!peek().is(keyword)) return false;
    take();
    return true;
}

void Parser::error(Location location, std::string message)
{
    if (!stopped_) diagnostics_.error(location, std::move(message));
}

Location Parser::behind_previous() const
{
    Location location = previous_.location;
    // Of a string literal the quotes are not in its text, but in its length.
    location.column += location.length;
    location.length = 1;
    return location;
}

bool Parser::expect(std::string_view punctuator, std::string_view where)
{
    if (accept(punctuator)) return true;
    std::string message = "expected '" + std::string(punctuator) + "' " + std::string(where);
    // A missing `;` belongs to the line before; anything else is about what stands there instead.
    if (punctuator == ";" && taken_ > 0) {
        error(behind_previous(), std::move(message));
    } else {
        error(peek().location, message + ", found " + describe(peek()));
    }
    return false;
}

std::optional<Token> Parser::expect_identifier(std::string_view what)
{
    if (peek().kind == TokenKind::identifier) return take();
    const Token& token = peek();
    if (token.is(Keyword::component_model)) {
        error(token.location, "'" + std::string(token.text) +
                                  "' is a keyword of the component model, which is not supported; "
                                  "write '_" +
                                  std::string(token.text) + "' to use it as a name");
    } else if (token.kind == TokenKind::keyword) {
        error(token.location, "expected " + std::string(what) + ", found the keyword '" +
                                  std::string(token.text) + "'; write '_" +
                                  std::string(token.text) + "' to use it as a name");
    } else {
        unexpected(what);
    }
    return std::nullopt;
}

bool Parser::unexpected(std::string_view expected)
{
    error(peek().location, "expected " + std::string(expected) + ", found " + describe(peek()));
    return false;
}

bool Parser::at_declaration_start()
{
    switch (peek().kind == TokenKind::keyword ? peek().keyword : Keyword::none) {
    case Keyword::module_:
    case Keyword::interface_:
    case Keyword::struct_:
    case Keyword::union_:
    case Keyword::enum_:
    case Keyword::typedef_:
    case Keyword::const_:
    case Keyword::exception_:
    case Keyword::valuetype_:
    case Keyword::abstract_:
    case Keyword::local_:
    case Keyword::custom_:
    case Keyword::native_:
    case Keyword::attribute_:
    case Keyword::readonly_:
    case Keyword::oneway_:
        return true;
    default:
        return false;
    }
}

void Parser::end_declaration(std::string_view what)
{
    if (expect(";", "after " + std::string(what))) return;
    const Token& token = peek();
    const bool new_line = token.location.line != previous_.location.line ||
                          token.location.file != previous_.location.file;
    if (token.is("}") || at_declaration_start() || new_line) return;
    skip_to_next_declaration();
}

void Parser::skip_to_next_declaration()
{
    int braces = 0;
    for (;;) {
        const Token& token = peek();
        if (token.kind == TokenKind::end) return;
        if (braces == 0) {
            if (token.is("}")) return;
            const bool new_line = token.location.line != previous_.location.line;
            if (new_line && at_declaration_start()) return;
            if (token.is(";")) {
                take();
                return;
            }
        }
        if (token.is("{")) ++braces;
        if (token.is("}") && --braces == 0) {
            take();
            accept(";");
            return;
        }
        take();
    }
}

void Parser::skip_lost_names(std::string_view what)
{
    while (!peek().is(";") && !peek().is("{") && !peek().is("}") && peek().kind != TokenKind::end &&
           !at_declaration_start()) {
        const Token token = take();
        if (token.kind == TokenKind::identifier &&
            (peek().is(";") || peek().is(",") || peek().is("[") || peek().is("=")))
            names_.lose(
                *scope_,
                {.name = std::string(token.text), .what = what, .location = token.location});
    }
    skip_to_next_declaration();
}

void Parser::lose(const Declaration& declaration)
{
    names_.lose(*scope_, {.name = declaration.name,
                          .declaration = const_cast<Declaration*>(&declaration),
                          .what = to_string(declaration.kind),
                          .location = declaration.location});
}

bool Parser::Nesting::ok()
{
    if (parser.depth_ <= nesting_max) return true;
    // Not worth going on: every level above would complain as well.
    parser.error(parser.peek().location,
                 "nested more than " + std::to_string(nesting_max) + " levels deep");
    parser.stopped_ = true;
    parser.have_next_ = false;
    return false;
}

// --- Scopes ------------------------------------------------------------------------------------

Parser::Inside::Inside(Parser& owner_parser, const Declaration& owner, Declarations& list)
    : parser(owner_parser), scope(owner_parser.scope_), parent(owner_parser.parent_),
      declarations(owner_parser.declarations_)
{
    parser.scope_ = &parser.names_.open(owner, *scope);
    parser.parent_ = &owner;
    parser.declarations_ = &list;
    parser.ids_.open_scope(owner.name, owner.location.file);
}

Parser::Inside::~Inside()
{
    parser.ids_.close_scope();
    parser.scope_ = scope;
    parser.parent_ = parent;
    parser.declarations_ = declarations;
}

std::string Parser::scoped(std::string_view name) const
{
    if (parent_ == nullptr) return std::string(name);
    return parent_->scoped_name + "::" + std::string(name);
}

void Parser::describe_declaration(Declaration& declaration, const Token& name)
{
    declaration.name = name.text;
    declaration.scoped_name = scoped(name.text);
    declaration.parent = parent_;
    declaration.location = name.location;
    declaration.in_main_file = name.location.file == 0;
    const Provider provider = provider_of(declaration);
    const bool emitted =
        provider == Provider::program || (unit_.of_run_time && provider != Provider::facade);
    declaration.generated = declaration.in_main_file && emitted;
}

bool Parser::declare(Declaration& declaration, const Token& name, Annotations annotations,
                     std::string_view what)
{
    describe_declaration(declaration, name);
    declaration.annotations = std::move(annotations);
    ids_.add(declaration, name.location.file);
    declarations_->push_back(&declaration);
    const bool is_call = declaration.kind == DeclarationKind::operation ||
                         declaration.kind == DeclarationKind::attribute;
    return names_.declare(*scope_, {.name = declaration.name,
                                    .declaration = &declaration,
                                    .what = what.empty() ? to_string(declaration.kind) : what,
                                    .location = name.location,
                                    .is_call = is_call});
}

bool Parser::declare_plain(Scope& scope, const Token& name, std::string_view what)
{
    return names_.declare(
        scope, {.name = std::string(name.text), .what = what, .location = name.location});
}

void Parser::declare_forward(Declaration& definition, const Token& name, Annotations annotations)
{
    Forward& forward = unit_.add<Forward>();
    describe_declaration(forward, name);
    forward.annotations = std::move(annotations);
    forward.definition = &definition;
    ids_.add_same(forward, definition);
    declarations_->push_back(&forward);
}

template <typename T>
T* Parser::declared_before(const Token& name)
{
    const NameEntry* entry = names_.declared(*scope_, name.text);
    if (entry == nullptr || entry->name != name.text) return nullptr;
    if (entry->declaration == nullptr || entry->declaration == scope_->owner()) return nullptr;
    return as<T>(entry->declaration);
}
template Struct* Parser::declared_before<Struct>(const Token&);
template Union* Parser::declared_before<Union>(const Token&);
template Interface* Parser::declared_before<Interface>(const Token&);
template ValueType* Parser::declared_before<ValueType>(const Token&);

// --- Files and modules -------------------------------------------------------------------------

void Parser::parse()
{
    while (peek().kind != TokenKind::end) {
        const std::uint64_t before = taken_;
        if (peek().is("}")) {
            error(peek().location, "'}' without '{'");
            take();
            accept(";");
        } else {
            parse_definition();
        }
        if (taken_ == before) take(); // whatever it is, it was reported
    }
    check_forwards();
    ids_.finish();
}

void Parser::check_forwards()
{
    for (const auto& [declaration, location] : forwards_) {
        const auto* structure = as<Struct>(declaration);
        const auto* union_type = as<Union>(declaration);
        if ((structure && structure->defined) || (union_type && union_type->defined)) continue;
        error(location, std::string(to_string(declaration->kind)) + " '" +
                            declaration->scoped_name + "' is declared but never defined");
    }
}

bool Parser::parse_type_declaration(Annotations& annotations)
{
    switch (peek().kind == TokenKind::keyword ? peek().keyword : Keyword::none) {
    case Keyword::typedef_:
        parse_typedef(std::move(annotations));
        return true;
    case Keyword::struct_:
        if (parse_struct(std::move(annotations)) != nullptr)
            end_declaration("struct declaration");
        else
            skip_to_next_declaration();
        return true;
    case Keyword::union_:
        if (parse_union(std::move(annotations)) != nullptr)
            end_declaration("union declaration");
        else
            skip_to_next_declaration();
        return true;
    case Keyword::enum_:
        if (parse_enum(std::move(annotations)) != nullptr)
            end_declaration("enum declaration");
        else
            skip_to_next_declaration();
        return true;
    case Keyword::const_:
        parse_constant(std::move(annotations));
        return true;
    case Keyword::exception_:
        parse_exception(std::move(annotations));
        return true;
    case Keyword::native_:
        parse_native(std::move(annotations));
        return true;
    case Keyword::typeid_:
        parse_typeid();
        return true;
    case Keyword::typeprefix_:
        parse_typeprefix();
        return true;
    default:
        return false;
    }
}

void Parser::parse_definition()
{
    Nesting nesting(*this);
    if (!nesting.ok()) return skip_to_next_declaration();
    if (peek().is(";")) {
        error(peek().location, "stray ';'");
        take();
        return;
    }
    Annotations annotations = parse_annotations();
    if (peek().is(";") && previous_.is("}")) { // `@annotation x { };`
        take();
        return;
    }
    if (parse_type_declaration(annotations)) return;
    switch (peek().kind == TokenKind::keyword ? peek().keyword : Keyword::none) {
    case Keyword::module_:
        return parse_module(std::move(annotations));
    case Keyword::interface_:
        return parse_interface(std::move(annotations), false, false);
    case Keyword::valuetype_:
        return parse_value_type(std::move(annotations), false, false);
    case Keyword::import_:
        return parse_import();
    case Keyword::local_:
        take();
        if (peek().is(Keyword::interface_))
            return parse_interface(std::move(annotations), false, true);
        unexpected("'interface' after 'local'");
        break;
    case Keyword::abstract_:
        take();
        if (peek().is(Keyword::interface_))
            return parse_interface(std::move(annotations), true, false);
        if (peek().is(Keyword::valuetype_))
            return parse_value_type(std::move(annotations), true, false);
        unexpected("'interface' or 'valuetype' after 'abstract'");
        break;
    case Keyword::custom_:
        take();
        if (peek().is(Keyword::valuetype_))
            return parse_value_type(std::move(annotations), false, true);
        unexpected("'valuetype' after 'custom'");
        break;
    case Keyword::component_model:
        error(peek().location, "'" + std::string(peek().text) +
                                   "' belongs to the component model, which is not supported");
        take();
        break;
    default:
        unexpected("a declaration");
        break;
    }
    skip_to_next_declaration();
}

void Parser::parse_module(Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the module");
    if (!name) return skip_to_next_declaration();
    Module& module = unit_.add<Module>();
    module.first = &module;
    const NameEntry* before = names_.declared(*scope_, name->text);
    const Module* first =
        before != nullptr && before->name == name->text && before->declaration != scope_->owner()
            ? as<Module>(before->declaration)
            : nullptr;
    if (first != nullptr) {
        describe_declaration(module, *name);
        module.annotations = std::move(annotations);
        module.first = first;
        declarations_->push_back(&module);
        ids_.add_same(module, *first);
        const std::string id = ids_.default_id(module.name, name->location.file);
        if (const std::string old = ids_.current_id(*first); old != id && old.ends_with(":1.0")) {
            diagnostics_.warning(name->location, "module '" + module.scoped_name +
                                                     "' is reopened with the prefix of \"" + id +
                                                     "\"; its own id stays \"" + old + "\"");
            diagnostics_.note(first->location, "it was first opened here");
        }
    } else {
        declare(module, *name, std::move(annotations));
    }
    if (!expect("{", "after the name of the module")) return skip_to_next_declaration();
    {
        const Inside inside(*this, module, module.declarations);
        if (peek().is("}")) error(peek().location, "module '" + module.name + "' is empty");
        while (!peek().is("}") && peek().kind != TokenKind::end) {
            const std::uint64_t taken_before = taken_;
            parse_definition();
            if (taken_ == taken_before) take();
        }
    }
    if (!accept("}")) {
        error(peek().location, "expected '}' at the end of module '" + module.name + "'");
        if (!stopped_) diagnostics_.note(module.location, "the module begins here");
        return;
    }
    end_declaration("module declaration");
}

void Parser::parse_native(Annotations annotations)
{
    take();
    const auto name = expect_identifier("the name of the native type");
    if (!name) return skip_to_next_declaration();
    declare(unit_.add<Native>(), *name, std::move(annotations));
    end_declaration("native declaration");
}

void Parser::parse_import()
{
    take();
    if (peek().kind == TokenKind::string) {
        const Location location = peek().location;
        const auto id = parse_string_literal("a repository id");
        bool known = !id;
        const auto search = [&](auto& self, const Declarations& list, int depth) -> void {
            for (const Declaration* declaration : list) {
                known = known || ids_.current_id(*declaration) == *id;
                if (const auto* module = as<Module>(declaration); module && depth < nesting_max)
                    self(self, module->declarations, depth + 1);
            }
        };
        if (!known) search(search, unit_.declarations, 0);
        if (!known) error(location, "nothing with the repository id \"" + *id + "\" to import");
    } else {
        const auto name = parse_scoped_name("the name of a scope to import");
        if (!name) return skip_to_next_declaration();
        const Declaration* declaration = names_.resolve(*name, *scope_, "module or interface");
        if (declaration != nullptr && names_.scope_of(*declaration) == nullptr)
            error(name->location(), "'" + name->text() + "' is not a scope");
    }
    end_declaration("import");
}

void Parser::parse_typeid()
{
    take();
    const auto name = parse_scoped_name("the name that gets the id");
    if (!name) return skip_to_next_declaration();
    const Declaration* declaration = names_.resolve(*name, *scope_, "name");
    const Location location = peek().location;
    const auto id = parse_string_literal("the repository id, a string");
    if (!id) return skip_to_next_declaration();
    if (declaration != nullptr) ids_.set_id(*declaration, *id, location);
    end_declaration("typeid declaration");
}

void Parser::parse_typeprefix()
{
    take();
    const Declaration* declaration = nullptr;
    const Location at = peek().location;
    const bool absolute = accept("::"); // alone it stands for the file scope
    if (!absolute || peek().kind != TokenKind::string) {
        auto name = parse_scoped_name("the scope that gets the prefix");
        if (!name) return skip_to_next_declaration();
        name->absolute = absolute;
        declaration = names_.resolve(*name, *scope_, "module or interface");
        if (declaration != nullptr && names_.scope_of(*declaration) == nullptr) {
            error(at, "'" + name->text() + "' is not a scope");
            declaration = nullptr;
        }
    }
    const bool file = absolute && peek().kind == TokenKind::string && previous_.is("::");
    const Location location = peek().location;
    const auto prefix = parse_string_literal("the prefix, a string");
    if (!prefix) return skip_to_next_declaration();
    if (file)
        ids_.set_file_type_prefix(*prefix);
    else if (declaration != nullptr)
        ids_.set_type_prefix(*declaration, *prefix, location);
    end_declaration("typeprefix declaration");
}

std::optional<ScopedName> Parser::parse_scoped_name(std::string_view what)
{
    constexpr std::size_t parts_max = 64;
    ScopedName name;
    name.absolute = accept("::");
    do {
        // CORBA::Object and CORBA::ValueBase end in keywords.
        const bool pseudo = name.parts.size() == 1 && name.parts[0].text == "CORBA" &&
                            (peek().is(Keyword::object_) || peek().is(Keyword::value_base_));
        const auto part = pseudo ? take() : expect_identifier(what);
        if (!part) return std::nullopt;
        if (name.parts.size() == parts_max) {
            error(part->location, "name has more than 64 parts");
            return std::nullopt;
        }
        name.parts.push_back({part->text, part->location});
    } while (accept("::"));
    return name;
}

std::optional<std::string> Parser::parse_string_literal(std::string_view what)
{
    if (peek().kind != TokenKind::string) {
        unexpected(what);
        return std::nullopt;
    }
    Operand text = arithmetic_.literal(take());
    while (peek().kind == TokenKind::string)
        text = arithmetic_.concatenate(std::move(text), take());
    if (auto* value = std::get_if<std::string>(&text)) return std::move(*value);
    return std::nullopt;
}

} // namespace kairos::idlc
