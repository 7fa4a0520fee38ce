// SPDX-License-Identifier: Apache-2.0
//
// Macros: their table and their expansion, as C has it (C11 6.10.3). Calls within arguments are
// bounded in depth, the whole in tokens; definitions may be of any length and depend on each other
// in chains of any length.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/scan.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kairos::idlc::pp {

/// Where expansion takes the tokens behind the first from: a call may go on over several lines.
class TokenSource {
  public:
    [[nodiscard]] virtual Token pull() = 0;
    /// Gives tokens back; they come again, in this order.
    virtual void unread(std::vector<Token> tokens) = 0;
    /// For messages, and for __FILE__ and __LINE__.
    [[nodiscard]] virtual Location locate(const Token& token) const = 0;
    [[nodiscard]] virtual std::string_view file_name() const = 0;

  protected:
    ~TokenSource() = default;
};

class Macros {
  public:
    explicit Macros(Diagnostics& diagnostics);
    Macros(const Macros&) = delete;
    Macros& operator=(const Macros&) = delete;

    /// Of `#define`: the name, what is behind it in the line, without its end.
    void define(const Token& name, const std::vector<Token>& rest, const TokenSource& source);
    /// Of -D: "NAME" or "NAME=VALUE".
    void define_option(const std::string& text);
    void undefine(std::string_view name) { table_.erase(name); }
    [[nodiscard]] bool is_defined(std::string_view name) const { return table_.contains(name); }
    /// __FILE__ and the like, which say something new each time.
    [[nodiscard]] bool is_built_in(std::string_view name) const;

    /// Appends what the token becomes to `out`, and takes more from the source where it begins a
    /// call.
    void expand(const Token& first, TokenSource& source, std::vector<Token>& out);
    /// All of a line that ends where the list does.
    [[nodiscard]] std::vector<Token> expand_line(const std::vector<Token>& line,
                                                 const TokenSource& source);
    /// After an error that makes going on useless.
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

    /// A text that lives as long as this.
    [[nodiscard]] std::string_view keep(std::string text);

  private:
    /// Of one expansion together; more is a macro that doubles itself, not an interface.
    static constexpr std::size_t tokens_max = std::size_t{1} << 22;
    static constexpr int depth_max = 200; ///< calls within arguments

    enum class BuiltIn : std::uint8_t { none, file, line, date, time };
    struct Macro {
        std::vector<std::string_view> parameters{};
        std::vector<Token> body{};
        Location location{};
        bool is_function = false;
        bool is_variadic = false; ///< the last parameter takes all that is left
        BuiltIn built_in = BuiltIn::none;
        int busy = 0; ///< how often its replacement is being read
    };
    /// Tokens that are read before the source; those of a macro's replacement keep it busy.
    struct Context {
        std::vector<Token> tokens;
        std::size_t at = 0;
        Macro* macro = nullptr;
    };
    struct Argument {
        std::vector<Token> tokens{};
        std::vector<Token> expanded{};
        bool is_expanded = false;
    };
    class Run;

    bool parse_parameters(Macro& macro, const std::vector<Token>& rest, std::size_t& at,
                          const TokenSource& source);
    bool check_body(const Macro& macro, const TokenSource& source);
    [[nodiscard]] static bool same(const Macro& left, const Macro& right);
    [[nodiscard]] static std::size_t parameter(const Macro& macro, const Token& token);
    [[nodiscard]] Token stringified(const std::vector<Token>& tokens);
    [[nodiscard]] Token pasted(const Token& left, const Token& right);
    [[nodiscard]] Token built_in(const Macro& macro, const Token& name, const TokenSource& source);
    void stop(Location location, std::string_view message);

    Diagnostics& diagnostics_;
    std::unordered_map<std::string_view, Macro> table_;
    std::deque<std::string> texts_;
    std::deque<Spliced> option_texts_;
    std::size_t made_ = 0; ///< tokens, in this expansion
    int depth_ = 0;
    bool stopped_ = false;
};

} // namespace kairos::idlc::pp
