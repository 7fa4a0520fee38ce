// SPDX-License-Identifier: Apache-2.0
#include "idlc/macros.h"

#include <algorithm>
#include <ctime>

namespace kairos::idlc::pp {
namespace {

/// The tokens of a list and no more.
class NoSource final : public TokenSource {
  public:
    explicit NoSource(const TokenSource& outer) : outer_(outer) {}
    Token pull() override { return {}; }
    void unread(std::vector<Token> /*tokens*/) override {}
    [[nodiscard]] Location locate(const Token& token) const override
    {
        return outer_.locate(token);
    }
    [[nodiscard]] std::string_view file_name() const override { return outer_.file_name(); }

  private:
    const TokenSource& outer_;
};

std::string quoted(std::string_view name)
{
    std::string out = "'";
    out.append(name.substr(0, 200));
    return out + "'";
}

std::string as_literal(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

} // namespace

Macros::Macros(Diagnostics& diagnostics) : diagnostics_(diagnostics)
{
    table_["__FILE__"].built_in = BuiltIn::file;
    table_["__LINE__"].built_in = BuiltIn::line;
    table_["__DATE__"].built_in = BuiltIn::date;
    table_["__TIME__"].built_in = BuiltIn::time;
}

std::string_view Macros::keep(std::string text) { return texts_.emplace_back(std::move(text)); }

bool Macros::is_built_in(std::string_view name) const
{
    const auto found = table_.find(name);
    return found != table_.end() && found->second.built_in != BuiltIn::none;
}

void Macros::stop(Location location, std::string_view message)
{
    if (!stopped_) diagnostics_.error(location, std::string(message));
    stopped_ = true;
}

// --- Definitions -------------------------------------------------------------------------------

std::size_t Macros::parameter(const Macro& macro, const Token& token)
{
    if (token.kind != Kind::identifier) return macro.parameters.size();
    const auto found = std::ranges::find(macro.parameters, token.text);
    return static_cast<std::size_t>(found - macro.parameters.begin());
}

bool Macros::parse_parameters(Macro& macro, const std::vector<Token>& rest, std::size_t& at,
                              const TokenSource& source)
{
    const auto fail = [&](std::string_view message) {
        const Token& token = rest[std::min(at, rest.size() - 1)];
        diagnostics_.error(source.locate(token), std::string(message));
        return false;
    };
    ++at; // the '('
    if (at < rest.size() && rest[at].is(")")) {
        ++at;
        return true;
    }
    for (;;) {
        if (at >= rest.size()) return fail("expected ')' after the parameters of the macro");
        const Token& token = rest[at];
        if (token.is("...")) {
            macro.is_variadic = true;
            macro.parameters.emplace_back("__VA_ARGS__");
        } else if (token.kind != Kind::identifier) {
            return fail("expected a parameter of the macro");
        } else if (parameter(macro, token) != macro.parameters.size()) {
            return fail("two parameters of the macro have the same name");
        } else {
            macro.parameters.push_back(token.text);
        }
        ++at;
        if (at < rest.size() && rest[at].is(")")) break;
        if (macro.is_variadic || at >= rest.size() || !rest[at].is(","))
            return fail("expected ')' after the parameters of the macro");
        ++at;
    }
    ++at;
    return true;
}

bool Macros::check_body(const Macro& macro, const TokenSource& source)
{
    if (macro.body.empty()) return true;
    for (const Token* end : {&macro.body.front(), &macro.body.back()})
        if (end->is("##")) {
            diagnostics_.error(source.locate(*end), "'##' must have something on both sides");
            return false;
        }
    for (std::size_t i = 0; macro.is_function && i < macro.body.size(); ++i) {
        if (!macro.body[i].is("#")) continue;
        if (i + 1 < macro.body.size() &&
            parameter(macro, macro.body[i + 1]) != macro.parameters.size())
            continue;
        diagnostics_.error(source.locate(macro.body[i]), "'#' must be before a parameter");
        return false;
    }
    return true;
}

bool Macros::same(const Macro& left, const Macro& right)
{
    return left.is_function == right.is_function && left.parameters == right.parameters &&
           std::ranges::equal(left.body, right.body, [](const Token& a, const Token& b) {
               return a.text == b.text && a.blank == b.blank;
           });
}

void Macros::define(const Token& name, const std::vector<Token>& rest, const TokenSource& source)
{
    if (is_built_in(name.text) || name.text == "defined")
        return diagnostics_.error(source.locate(name),
                                  quoted(name.text) + " cannot be defined anew");
    Macro macro;
    macro.location = source.locate(name);
    std::size_t at = 0;
    if (!rest.empty() && rest[0].is("(") && !rest[0].blank) {
        macro.is_function = true;
        if (!parse_parameters(macro, rest, at, source)) return;
    }
    macro.body.assign(rest.begin() + static_cast<std::ptrdiff_t>(at), rest.end());
    if (!macro.body.empty()) macro.body.front().blank = false;
    if (!check_body(macro, source)) return;
    const auto [old, fresh] = table_.try_emplace(name.text, macro);
    if (fresh) return;
    if (!same(old->second, macro)) {
        diagnostics_.warning(macro.location, "macro " + quoted(name.text) + " is redefined");
        if (old->second.location.line != 0)
            diagnostics_.note(old->second.location, "it was defined here");
    }
    old->second = std::move(macro);
}

void Macros::define_option(const std::string& text)
{
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = keep(text.substr(0, equals));
    const std::string_view value =
        keep(equals < text.size() ? text.substr(equals + 1) : std::string("1"));
    Macro macro;
    Scanner scanner(option_texts_.emplace_back(value));
    for (Token token = scanner.next(); token.kind != Kind::end; token = scanner.next())
        if (token.kind != Kind::newline) macro.body.push_back(token);
    table_.insert_or_assign(name, std::move(macro));
}

// --- Expansion ---------------------------------------------------------------------------------

Token Macros::built_in(const Macro& macro, const Token& name, const TokenSource& source)
{
    Token token = name;
    token.expanded = true;
    token.kind = Kind::quoted;
    const auto now = [](const char* format) {
        const std::time_t seconds = std::time(nullptr);
        std::tm parts{};
        char text[32] = "";
        if (localtime_r(&seconds, &parts) != nullptr)
            static_cast<void>(std::strftime(text, sizeof text, format, &parts));
        return std::string(text);
    };
    switch (macro.built_in) {
    case BuiltIn::line:
        token.kind = Kind::number;
        token.text = keep(std::to_string(source.locate(name).line));
        break;
    case BuiltIn::date:
        token.text = keep(as_literal(now("%b %e %Y")));
        break;
    case BuiltIn::time:
        token.text = keep(as_literal(now("%H:%M:%S")));
        break;
    default:
        token.text = keep(as_literal(source.file_name()));
        break;
    }
    return token;
}

Token Macros::stringified(const std::vector<Token>& tokens)
{
    std::string text;
    for (const Token& token : tokens) {
        if (token.blank && !text.empty()) text += ' ';
        text += token.text;
    }
    std::string escaped = "\"";
    bool within = false; // a literal, where backslashes are escaped, too
    char open = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' || (within && c == '\\')) escaped += '\\';
        escaped += c;
        if (within && c == '\\' && i + 1 < text.size()) {
            const char next = text[++i];
            if (next == '"' || next == '\\') escaped += '\\';
            escaped += next;
        } else if (within ? c == open : (c == '"' || c == '\'')) {
            within = !within;
            open = c;
        }
    }
    return {.text = keep(escaped + '"'), .kind = Kind::quoted, .expanded = true};
}

Token Macros::pasted(const Token& left, const Token& right)
{
    if (right.kind == Kind::nothing) return left;
    Token out = left.kind == Kind::nothing ? right : left;
    out.blank = left.blank;
    if (left.kind == Kind::nothing) return out;
    std::string text(left.text);
    text += right.text;
    out.text = keep(std::move(text));
    out.painted = false;
    if (left.kind == Kind::identifier && out.text.find_first_of("\"'") != out.text.npos)
        out.kind = Kind::quoted; // L ## "text"
    else if (left.kind == Kind::punctuator)
        out.kind =
            out.text[0] == '.' && is_digit(out.text.back()) ? Kind::number : Kind::punctuator;
    return out;
}

/// One expansion: the contexts in front of its source.
class Macros::Run {
  public:
    Run(Macros& macros, TokenSource& source) : macros_(macros), source_(source) {}
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run()
    {
        while (!contexts_.empty())
            pop();
    }

    void expand(std::vector<Token> tokens, std::vector<Token>& out)
    {
        push(std::move(tokens), nullptr);
        while (in_context() && !macros_.stopped_) {
            Token token = pull();
            if (!replace(token)) out.push_back(token);
        }
    }

  private:
    void push(std::vector<Token> tokens, Macro* macro)
    {
        if (macro != nullptr) ++macro->busy;
        contexts_.push_back({.tokens = std::move(tokens), .macro = macro});
    }
    void pop()
    {
        if (contexts_.back().macro != nullptr) --contexts_.back().macro->busy;
        contexts_.pop_back();
    }
    /// Whether there is something in front of the source; drops what was read.
    bool in_context()
    {
        while (!contexts_.empty() && contexts_.back().at == contexts_.back().tokens.size())
            pop();
        return !contexts_.empty();
    }
    Token pull()
    {
        if (!in_context()) return source_.pull();
        Context& context = contexts_.back();
        return context.tokens[context.at++];
    }

    /// True if the token was a macro's name and is now a context.
    bool replace(Token& token)
    {
        if (token.kind != Kind::identifier || token.painted) return false;
        const auto found = macros_.table_.find(token.text);
        if (found == macros_.table_.end()) return false;
        Macro& macro = found->second;
        if (macro.built_in != BuiltIn::none) {
            token = macros_.built_in(macro, token, source_);
            return false;
        }
        if (macro.busy > 0) {
            token.painted = true;
            return false;
        }
        std::vector<Argument> arguments;
        if (macro.is_function) {
            if (!begins_call()) return false;
            if (!read_arguments(macro, token, arguments)) return true;
        }
        push(replacement(macro, token, arguments), &macro);
        return true;
    }

    /// Takes the '(' if that is next, on whatever line.
    bool begins_call()
    {
        if (in_context()) {
            Context& context = contexts_.back();
            if (!context.tokens[context.at].is("(")) return false;
            ++context.at;
            return true;
        }
        std::vector<Token> seen;
        for (;;) {
            seen.push_back(source_.pull());
            if (seen.back().kind == Kind::newline) continue;
            if (seen.back().is("(")) return true;
            source_.unread(std::move(seen));
            return false;
        }
    }

    bool read_arguments(const Macro& macro, const Token& name, std::vector<Argument>& arguments)
    {
        arguments.emplace_back();
        std::size_t parentheses = 0;
        bool blank = false;
        for (;;) {
            Token token = pull();
            if (token.kind == Kind::end) {
                source_.unread({token});
                macros_.diagnostics_.error(
                    source_.locate(name), "the call of macro " + quoted(name.text) + " has no ')'");
                return false;
            }
            if (token.kind == Kind::newline) {
                blank = true;
                continue;
            }
            if (token.is(")") && parentheses == 0) break;
            if (token.is("(")) ++parentheses;
            if (token.is(")")) --parentheses;
            const bool rest = macro.is_variadic && arguments.size() == macro.parameters.size();
            if (token.is(",") && parentheses == 0 && !rest) {
                arguments.emplace_back();
                blank = false;
                continue;
            }
            token.blank = token.blank || blank;
            blank = false;
            arguments.back().tokens.push_back(token);
            count(name, 1);
            if (macros_.stopped_) return false;
        }
        const std::size_t wanted = macro.parameters.size();
        if (macro.is_variadic && arguments.size() + 1 == wanted) arguments.emplace_back();
        if (wanted == 0 && arguments.size() == 1 && arguments[0].tokens.empty()) arguments.clear();
        if (arguments.size() == wanted) return true;
        macros_.diagnostics_.error(source_.locate(name),
                                   "macro " + quoted(name.text) + " has " + std::to_string(wanted) +
                                       " parameters, not " + std::to_string(arguments.size()));
        macros_.diagnostics_.note(macro.location, "it is defined here");
        return false;
    }

    void count(const Token& name, std::size_t tokens)
    {
        macros_.made_ += tokens;
        if (macros_.made_ > tokens_max)
            macros_.stop(source_.locate(name), "too large after preprocessing");
    }

    const std::vector<Token>& expanded(Argument& argument, const Token& name)
    {
        if (argument.is_expanded) return argument.expanded;
        argument.is_expanded = true;
        if (macros_.depth_ >= depth_max) {
            macros_.stop(source_.locate(name), "calls of macros are nested too deeply");
            return argument.expanded;
        }
        ++macros_.depth_;
        NoSource none(source_);
        Run(macros_, none).expand(argument.tokens, argument.expanded);
        --macros_.depth_;
        return argument.expanded;
    }

    std::vector<Token> replacement(const Macro& macro, const Token& name,
                                   std::vector<Argument>& arguments)
    {
        std::vector<Token> out;
        for (std::size_t i = 0; i < macro.body.size() && !macros_.stopped_; ++i) {
            const Token& token = macro.body[i];
            if (token.is("##")) continue;
            const bool paste_before = i > 0 && macro.body[i - 1].is("##");
            std::vector<Token> piece{token};
            if (macro.is_function && token.is("#")) {
                piece[0] = macros_.stringified(arguments[parameter(macro, macro.body[++i])].tokens);
            } else if (const std::size_t index = parameter(macro, token);
                       macro.is_function && index != macro.parameters.size()) {
                const bool paste =
                    paste_before || (i + 1 < macro.body.size() && macro.body[i + 1].is("##"));
                piece = paste ? arguments[index].tokens : expanded(arguments[index], name);
                if (piece.empty()) piece.push_back({.kind = Kind::nothing});
            }
            piece.front().blank = token.blank;
            count(name, piece.size());
            if (paste_before && !out.empty()) {
                out.back() = macros_.pasted(out.back(), piece.front());
                piece.erase(piece.begin());
            }
            out.insert(out.end(), piece.begin(), piece.end());
        }
        bool blank = name.blank;
        std::erase_if(out, [&](Token& token) {
            token.blank = token.blank || blank;
            blank = token.kind == Kind::nothing && token.blank;
            token.line = name.line;
            token.column = name.column;
            token.expanded = true;
            token.first = false;
            return token.kind == Kind::nothing;
        });
        return out;
    }

    Macros& macros_;
    TokenSource& source_;
    std::vector<Context> contexts_;
};

void Macros::expand(const Token& first, TokenSource& source, std::vector<Token>& out)
{
    made_ = 0;
    Run(*this, source).expand({first}, out);
}

std::vector<Token> Macros::expand_line(const std::vector<Token>& line, const TokenSource& source)
{
    std::vector<Token> out;
    NoSource none(source);
    made_ = 0;
    Run(*this, none).expand(line, out);
    return out;
}

} // namespace kairos::idlc::pp
