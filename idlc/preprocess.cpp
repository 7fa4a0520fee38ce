// SPDX-License-Identifier: Apache-2.0
//
// Directives, files that include each other, and the text that comes of it. Tokens keep their lines
// and columns, so that diagnostics need not look for them.
#include "idlc/preprocess.h"

#include "idlc/condition.h"
#include "idlc/macros.h"
#include "idlc/scan.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace kairos::idlc {
namespace {

namespace fs = std::filesystem;
using pp::Kind;
using pp::Token;

/// Preprocessed text beyond this is an include bomb, not an interface.
constexpr std::size_t output_size_max = std::size_t{1} << 30;
/// So is more than this many inclusions,
constexpr std::size_t inclusions_max = 1'000'000;
/// and a file that is open this often includes itself for ever.
constexpr std::size_t same_file_max = 200;

struct Marker {
    std::uint32_t line = 0;
    std::string path; ///< empty where the marker has none
};

/// `#line 3 "x.idl"`, `# 3 "x.idl" 2`. Nothing else.
std::optional<Marker> parse_marker(std::string_view line)
{
    const auto skip_blanks = [&line] {
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
            line.remove_prefix(1);
    };
    skip_blanks();
    if (line.empty() || line.front() != '#') return std::nullopt;
    line.remove_prefix(1);
    skip_blanks();
    if (line.starts_with("line")) line.remove_prefix(4);
    skip_blanks();
    Marker marker;
    const auto [end, failure] =
        std::from_chars(line.data(), line.data() + line.size(), marker.line);
    if (failure != std::errc{}) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    skip_blanks();
    if (line.empty() || line.front() != '"') return marker;
    line.remove_prefix(1);
    for (std::size_t i = 0; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) ++i;
        marker.path += line[i];
    }
    return marker;
}

bool same_file(const fs::path& left, const fs::path& right)
{
    std::error_code ignored;
    return left == right || fs::equivalent(left, right, ignored);
}

/// For text without directives but these: which entry of the files each line belongs to.
class MarkerReader {
  public:
    MarkerReader(const std::string& main_path, std::vector<SourceFile>& files, SourceTexts& texts)
        : files_(files), texts_(texts)
    {
        files_.assign(1, SourceFile{.path = main_path, .include_spelling = {}});
        raw_paths_.emplace_back();
    }

    PreprocessedText read(std::string text)
    {
        PreprocessedText out;
        std::size_t begin = 0;
        while (begin < text.size()) {
            std::size_t end = text.find('\n', begin);
            if (end == std::string::npos) end = text.size();
            const auto marker = parse_marker(std::string_view(text).substr(begin, end - begin));
            out.origins.push_back({current_, line_});
            if (marker) {
                follow(*marker);
                std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                          text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
            } else {
                ++line_;
            }
            begin = end + 1;
        }
        out.origins.push_back({current_, line_}); // the end of the input is somewhere, too
        out.text = std::move(text);
        return out;
    }

  private:
    static constexpr std::size_t files_max = 100'000; ///< inclusions of one unit

    void follow(const Marker& marker)
    {
        const std::uint32_t line_before = line_;
        line_ = marker.line;
        if (marker.path.empty()) return;
        if (!started_) { // the first marker names the main file
            started_ = true;
            raw_paths_[0] = marker.path;
            return;
        }
        // Line 1 of a file is where an inclusion starts; the line after an #include is never 1.
        if (marker.line == 1 && files_.size() < files_max) {
            enter(marker.path, line_before);
            return;
        }
        for (std::uint32_t file = current_;; file = files_[file].includer->file) {
            if (raw_paths_[file] == marker.path) {
                current_ = file;
                return;
            }
            if (!files_[file].includer) return;
        }
    }

    void enter(const std::string& path, std::uint32_t line)
    {
        SourceFile file{.path = path, .include_spelling = {}};
        file.includer = Location{.file = current_, .line = line, .column = 1, .length = 1};
        const SourceText* text = texts_.find(files_[current_].path);
        const std::string_view directive = text != nullptr ? text->line(line) : std::string_view();
        const std::size_t open = directive.find_first_of("\"<", directive.find("include"));
        const std::size_t close =
            open == std::string_view::npos ? open : directive.find_first_of("\">", open + 1);
        if (close != std::string_view::npos) {
            file.include_spelling = directive.substr(open, close - open + 1);
            file.includer->column = static_cast<std::uint32_t>(open + 1);
            file.includer->length = static_cast<std::uint32_t>(close - open + 1);
        } else { // an #include through a macro
            file.include_spelling = '"' + fs::path(path).filename().string() + '"';
        }
        files_.push_back(std::move(file));
        raw_paths_.push_back(path);
        current_ = static_cast<std::uint32_t>(files_.size() - 1);
    }

    std::vector<SourceFile>& files_;
    SourceTexts& texts_;
    bool started_ = false;
    std::vector<std::string> raw_paths_; ///< of each entry of files_, as the markers spell it
    std::uint32_t current_ = 0;
    std::uint32_t line_ = 1;
};

/// The text that is written, token by token.
class Output {
  public:
    void put(const Token& token, LineOrigin origin)
    {
        if (!at(origin)) begin_line(origin);
        if (token.expanded) {
            if ((token.blank && column_ > 1) || must_be_apart(token)) blanks(1);
        } else {
            // What stands in the file keeps its column. Where a macro in front of it has become
            // longer than it was, the line goes on in another one.
            if (token.column < column_ || (token.column == column_ && must_be_apart(token)))
                begin_line(origin);
            blanks(token.column - column_);
        }
        last_expanded_ = token.expanded;
        text_.text += token.text;
        column_ += static_cast<std::uint32_t>(token.text.size());
    }
    [[nodiscard]] std::size_t size() const noexcept { return text_.text.size(); }
    PreprocessedText finish(LineOrigin end)
    {
        if (!text_.origins.empty()) text_.text += '\n';
        text_.origins.push_back(end);
        return std::move(text_);
    }

  private:
    void blanks(std::uint32_t count)
    {
        text_.text.append(count, ' ');
        column_ += count;
    }
    [[nodiscard]] bool at(LineOrigin origin) const
    {
        return !text_.origins.empty() && text_.origins.back().file == origin.file &&
               text_.origins.back().line == origin.line;
    }
    void begin_line(LineOrigin origin)
    {
        if (!text_.origins.empty()) text_.text += '\n';
        text_.origins.push_back(origin);
        column_ = 1;
        last_expanded_ = false;
    }
    /// Whether it would become one with what stands in front of it.
    [[nodiscard]] bool must_be_apart(const Token& token) const
    {
        // What stands together in the file was two tokens there, too.
        if (column_ == 1 || token.text.empty() || (!token.expanded && !last_expanded_))
            return false;
        const char last = text_.text.back();
        const char next = token.text.front();
        if (pp::is_word(last) || last == '.')
            return pp::is_word(next) || next == '.' || next == '"' || next == '\'';
        return (last == next && std::string_view(":<>").find(last) != std::string_view::npos) ||
               (last == '/' && (next == '/' || next == '*'));
    }

    PreprocessedText text_;
    std::uint32_t column_ = 1; ///< of what comes next
    bool last_expanded_ = false;
};

class Preprocessor final : public pp::TokenSource {
  public:
    Preprocessor(const Options& options, std::vector<SourceFile>& files, SourceTexts& texts,
                 Diagnostics& diagnostics)
        : options_(options), files_(files), texts_(texts), diagnostics_(diagnostics),
          macros_(diagnostics)
    {
    }

    PreprocessedText run(const SourceText& main, const std::string& path);

    // Of the file that is read: calls of macros do not go beyond its end.
    Token pull() override;
    void unread(std::vector<Token> tokens) override
    {
        Open& file = *open_.back();
        file.waiting.insert(file.waiting.begin(), tokens.begin(), tokens.end());
    }
    [[nodiscard]] Location locate(const Token& token) const override
    {
        const LineOrigin origin = origin_of(token);
        return {.file = origin.file,
                .line = origin.line,
                .column = token.column,
                .length = static_cast<std::uint32_t>(std::max<std::size_t>(token.text.size(), 1))};
    }
    [[nodiscard]] std::string_view file_name() const override
    {
        return files_[open_.back()->file].path;
    }

  private:
    struct Condition {
        Token directive;
        bool outer = true;   ///< whether the lines around it count
        bool active = false; ///< whether these do
        bool done = false;   ///< one of its parts was active, or is
        bool in_else = false;
    };
    /// A file that is being read.
    struct Open {
        Open(const SourceText& source, const pp::Spliced& spliced, fs::path where,
             std::uint32_t index)
            : text(source), scanner(spliced), path(std::move(where)), file(index)
        {
        }
        const SourceText& text;
        pp::Scanner scanner;
        fs::path path;
        std::uint32_t file;          ///< of files_; #line may name another one
        std::int64_t line_shift = 0; ///< of #line
        std::deque<Token> waiting{}; ///< read, and given back
        std::vector<Condition> conditions{};
    };

    [[nodiscard]] LineOrigin origin_of(const Token& token) const
    {
        const Open& file = *open_.back();
        return {.file = file.file,
                .line = static_cast<std::uint32_t>(token.line + file.line_shift)};
    }
    void error(const Token& token, std::string message)
    {
        diagnostics_.error(locate(token), std::move(message));
    }
    void warning(const Token& token, std::string message)
    {
        diagnostics_.warning(locate(token), std::move(message));
    }
    [[nodiscard]] bool skipping() const
    {
        const auto& conditions = open_.back()->conditions;
        return !conditions.empty() && !conditions.back().active;
    }

    void open(const SourceText& text, fs::path path, std::uint32_t index);
    void close();
    void refuse_null_character(const SourceText& text, std::uint32_t file);
    void directive(const Token& hash);
    void conditional(const Token& name);
    void begin_condition(const Token& name);
    void next_part(const Token& name);
    void define();
    void undefine();
    void include(const Token& hash);
    [[nodiscard]] std::string include_name(const Token& hash, Token& place);
    void enter(const std::string& spelling, const Token& place);
    void line(const Token& hash);
    void pragma(const Token& hash, const Token& word);
    /// The tokens up to the end of the line, which is taken.
    [[nodiscard]] std::vector<Token> rest_of_line();
    void end_of_directive(std::string_view name);

    const Options& options_;
    std::vector<SourceFile>& files_;
    SourceTexts& texts_;
    Diagnostics& diagnostics_;
    pp::Macros macros_;
    Output out_;
    std::vector<std::unique_ptr<Open>> open_;
    std::unordered_map<const SourceText*, std::unique_ptr<pp::Spliced>> spliced_;
    std::unordered_map<const SourceText*, std::size_t> open_count_;
    std::unordered_set<const SourceText*> once_; ///< #pragma once
    bool stopped_ = false;
};

void Preprocessor::open(const SourceText& text, fs::path path, std::uint32_t index)
{
    std::unique_ptr<pp::Spliced>& spliced = spliced_[&text];
    if (spliced == nullptr) {
        spliced = std::make_unique<pp::Spliced>(text.text());
        refuse_null_character(text, index);
    }
    open_.push_back(std::make_unique<Open>(text, *spliced, std::move(path), index));
    ++open_count_[&text];
}

void Preprocessor::refuse_null_character(const SourceText& text, std::uint32_t file)
{
    if (text.text().find('\0') == std::string_view::npos) return;
    for (std::size_t line = 1; line <= text.line_count(); ++line) {
        const std::size_t found = text.line(line).find('\0');
        if (found == std::string_view::npos) continue;
        diagnostics_.error({.file = file,
                            .line = static_cast<std::uint32_t>(line),
                            .column = static_cast<std::uint32_t>(found + 1)},
                           "null character");
        return; // the file may be full of them
    }
}

void Preprocessor::close()
{
    const Open& file = *open_.back();
    if (Token comment = file.scanner.open_comment(); comment.line != 0) {
        comment.text = "/*";
        error(comment, "unterminated comment");
    }
    for (const Condition& condition : file.conditions)
        error(condition.directive, "#" + std::string(condition.directive.text) + " without #endif");
    --open_count_[&file.text];
    open_.pop_back();
}

Token Preprocessor::pull()
{
    Open& file = *open_.back();
    if (!file.waiting.empty()) {
        const Token token = file.waiting.front();
        file.waiting.pop_front();
        return token;
    }
    const Token token = file.scanner.next();
    if (Token comment = file.scanner.take_continued_comment(); comment.line != 0 && !skipping()) {
        comment.text = "//";
        warning(comment, "the comment goes on in the next line, as this one ends in a backslash");
    }
    return token;
}

PreprocessedText Preprocessor::run(const SourceText& main, const std::string& path)
{
    macros_.define_option("__KAIROS_IDL=1");
    for (const std::string& define : options_.defines)
        macros_.define_option(define);
    for (const std::string& undefine : options_.undefines)
        macros_.undefine(undefine);
    open(main, path, 0);
    if (options_.ami) enter("<MessagingAMI.idl>", Token{.line = 1, .column = 1});
    std::vector<Token> tokens;
    for (;;) {
        const Token token = pull();
        if (token.kind == Kind::newline) continue;
        if (stopped_ || macros_.stopped() || diagnostics_.full())
            return out_.finish(origin_of(token));
        if (token.kind == Kind::end) {
            const LineOrigin end = origin_of(token);
            close();
            if (open_.empty()) return out_.finish(end);
        } else if (token.first && token.is("#")) {
            directive(token);
        } else if (skipping()) {
            open_.back()->scanner.skip_line();
        } else {
            tokens.clear();
            if (token.kind == Kind::identifier)
                macros_.expand(token, *this, tokens);
            else
                tokens.push_back(token);
            for (const Token& one : tokens)
                out_.put(one, origin_of(one));
            if (out_.size() > output_size_max) {
                diagnostics_.error({.file = 0, .line = 0}, "too large after preprocessing");
                stopped_ = true;
            }
        }
    }
}

// --- Directives --------------------------------------------------------------------------------

std::vector<Token> Preprocessor::rest_of_line()
{
    std::vector<Token> tokens;
    for (Token token = pull(); token.kind != Kind::newline; token = pull()) {
        if (token.kind == Kind::end) {
            unread({token});
            break;
        }
        tokens.push_back(token);
    }
    return tokens;
}

/// What is left is against C, and in many people's files: `#endif GUARD`.
void Preprocessor::end_of_directive(std::string_view name)
{
    const std::vector<Token> rest = rest_of_line();
    if (!rest.empty()) warning(rest.front(), "text after #" + std::string(name));
}

void Preprocessor::directive(const Token& hash)
{
    const Token name = pull();
    if (name.kind == Kind::newline || name.kind == Kind::end)
        return unread({name}); // the null directive
    const std::string_view text = name.kind == Kind::identifier ? name.text : std::string_view();
    if (text == "if" || text == "ifdef" || text == "ifndef" || text == "elif" || text == "else" ||
        text == "endif")
        return conditional(name);
    if (skipping()) {
        open_.back()->scanner.skip_line();
    } else if (text == "include") {
        include(hash);
    } else if (text == "define") {
        define();
    } else if (text == "undef") {
        undefine();
    } else if (text == "pragma") {
        pragma(hash, name);
    } else if (text == "line") {
        line(hash);
    } else if (name.kind == Kind::number) { // as preprocessors write it
        unread({name});
        line(hash);
    } else if (text == "error") {
        std::string message = "#error";
        for (const Token& token : rest_of_line())
            message += (token.blank ? " " : "") + std::string(token.text);
        error(hash, message);
    } else {
        // Directives that other preprocessors know and that say nothing about the interfaces.
        const std::string message =
            "unknown #directive \"" + std::string(name.text.substr(0, 64)) + '"';
        if (text == "warning" || text == "ident" || text == "sccs")
            warning(name, message);
        else
            error(name, message);
        open_.back()->scanner.skip_line();
    }
}

void Preprocessor::conditional(const Token& name)
{
    if (name.text == "if" || name.text == "ifdef" || name.text == "ifndef")
        return begin_condition(name);
    std::vector<Condition>& conditions = open_.back()->conditions;
    if (conditions.empty()) {
        error(name, "#" + std::string(name.text) + " without #if");
        return open_.back()->scanner.skip_line();
    }
    if (name.text != "endif") return next_part(name);
    const bool outer = conditions.back().outer;
    conditions.pop_back();
    if (outer)
        end_of_directive("endif");
    else
        open_.back()->scanner.skip_line();
}

void Preprocessor::begin_condition(const Token& name)
{
    Condition condition{.directive = name, .outer = !skipping()};
    if (!condition.outer) {
        open_.back()->scanner.skip_line();
    } else if (name.text == "if") {
        condition.active =
            pp::evaluate(rest_of_line(), name, macros_, *this, diagnostics_).value_or(false);
    } else if (const Token macro = pull(); macro.kind == Kind::identifier) {
        condition.active = macros_.is_defined(macro.text) == (name.text == "ifdef");
        end_of_directive(name.text);
    } else {
        unread({macro});
        error(name, "expected the name of a macro after #" + std::string(name.text));
        static_cast<void>(rest_of_line());
    }
    condition.done = condition.active;
    open_.back()->conditions.push_back(condition);
}

/// #elif and #else.
void Preprocessor::next_part(const Token& name)
{
    Condition& condition = open_.back()->conditions.back();
    if (condition.in_else) error(name, "#" + std::string(name.text) + " after #else");
    const bool is_else = name.text == "else";
    condition.in_else = condition.in_else || is_else;
    condition.active = false;
    if (!condition.outer || (condition.done && !is_else)) return open_.back()->scanner.skip_line();
    if (is_else) end_of_directive("else");
    condition.active =
        !condition.done &&
        (is_else ||
         pp::evaluate(rest_of_line(), name, macros_, *this, diagnostics_).value_or(false));
    condition.done = condition.done || condition.active;
}

void Preprocessor::define()
{
    const Token name = pull();
    if (name.kind == Kind::identifier) return macros_.define(name, rest_of_line(), *this);
    unread({name});
    error(name, "expected the name of a macro after #define");
    static_cast<void>(rest_of_line());
}

void Preprocessor::undefine()
{
    const Token name = pull();
    if (name.kind != Kind::identifier) {
        unread({name});
        error(name, "expected the name of a macro after #undef");
        static_cast<void>(rest_of_line());
        return;
    }
    if (macros_.is_built_in(name.text))
        error(name, "'" + std::string(name.text) + "' cannot be undefined");
    else
        macros_.undefine(name.text);
    end_of_directive("undef");
}

void Preprocessor::pragma(const Token& hash, const Token& word)
{
    std::vector<Token> line{hash, word};
    for (const Token& token : rest_of_line())
        line.push_back(token);
    if (line.size() == 3 && line[2].text == "once") {
        once_.insert(&open_.back()->text);
        return;
    }
    const LineOrigin origin = origin_of(hash);
    for (Token& token : line) {
        if (token.line != hash.line) token.expanded = token.blank = true; // joined to the first
        out_.put(token, origin);
    }
}

void Preprocessor::line(const Token& hash)
{
    const std::vector<Token> rest = macros_.expand_line(rest_of_line(), *this);
    Open& file = *open_.back();
    std::uint32_t number = 0;
    const std::string_view digits = rest.empty() ? std::string_view() : rest[0].text;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || failure != std::errc{} || end != digits.data() + digits.size())
        return error(hash, "expected a number after #line");
    const std::uint32_t before = origin_of(hash).line;
    file.line_shift = std::int64_t{number} - (std::int64_t{hash.line} + 1);
    if (rest.size() < 2 || rest[1].kind != Kind::quoted) return;
    const auto marker = parse_marker("#1 " + std::string(rest[1].text));
    if (!marker || marker->path.empty() || files_[file.file].path == marker->path) return;
    // Line 1 is where an inclusion starts; what it returns to is one of those around it.
    for (std::uint32_t index = file.file; number != 1 && files_[index].includer;) {
        index = files_[index].includer->file;
        if (files_[index].path != marker->path) continue;
        file.file = index;
        return;
    }
    if (files_.size() >= inclusions_max) return;
    SourceFile named{.path = marker->path,
                     .include_spelling = '"' + fs::path(marker->path).filename().string() + '"'};
    named.includer = Location{.file = file.file, .line = before, .column = hash.column};
    files_.push_back(std::move(named));
    file.file = static_cast<std::uint32_t>(files_.size() - 1);
}

// --- Inclusion ---------------------------------------------------------------------------------

/// With its quotes or angles; empty where there is none. The line is taken.
std::string Preprocessor::include_name(const Token& hash, Token& place)
{
    place = open_.back()->scanner.header_name();
    if (!place.text.empty()) {
        end_of_directive("include");
        return std::string(place.text);
    }
    const std::vector<Token> line = macros_.expand_line(rest_of_line(), *this);
    place = line.empty() ? hash : line.front();
    if (line.empty()) return {};
    if (line.front().kind == Kind::quoted && line.front().text.front() == '"')
        return std::string(line.front().text);
    std::string name;
    if (!line.front().is("<")) return name;
    for (const Token& token : line) {
        if (token.blank && name.size() > 1 && !token.is(">")) name += ' ';
        name += token.text;
        if (token.is(">")) return name;
    }
    return {};
}

void Preprocessor::include(const Token& hash)
{
    Token place;
    const std::string name = include_name(hash, place);
    if (name.size() < 3) return error(place, "expected the name of a file after #include");
    enter(name, place);
}

/// As people know it: by the folder they gave. Behind a folder that is a link ".." is not what it
/// seems.
std::string shown(const fs::path& path)
{
    const fs::path normal = path.lexically_normal();
    std::error_code ignored;
    return !same_file(path, normal) && fs::exists(path, ignored) ? path.string() : normal.string();
}

void Preprocessor::enter(const std::string& spelling, const Token& place)
{
    const fs::path name(spelling.substr(1, spelling.size() - 2));
    std::vector<fs::path> candidates;
    if (spelling.front() == '"') candidates.push_back(open_.back()->path.parent_path() / name);
    for (const std::string& directory : options_.include_directories)
        candidates.push_back(fs::path(directory) / name);
    for (const fs::path& candidate : candidates) {
        const std::string path = shown(candidate);
        const SourceText* text = texts_.find(path);
        if (text == nullptr) continue;
        if (once_.contains(text)) return;
        const bool endless = open_count_[text] >= same_file_max;
        if (endless || files_.size() >= inclusions_max) {
            stopped_ = true;
            return error(place, endless ? "'" + path + "' includes itself without end"
                                        : std::string("too many inclusions"));
        }
        SourceFile file{.path = path, .include_spelling = spelling};
        file.includer = locate(place);
        files_.push_back(std::move(file));
        return open(*text, candidate, static_cast<std::uint32_t>(files_.size() - 1));
    }
    Location location = locate(place);
    if (!place.expanded) { // without the quotes
        ++location.column;
        location.length -= 2;
    }
    diagnostics_.error(location, "cannot find the included file \"" + name.string() + '"');
}

} // namespace

PreprocessedText preprocess(const std::string& path, const Options& options,
                            std::vector<SourceFile>& files, SourceTexts& texts,
                            Diagnostics& diagnostics)
{
    files.assign(1, SourceFile{.path = path, .include_spelling = {}});
    const SourceText* main = texts.find(path);
    if (main == nullptr) {
        std::error_code failure;
        const fs::file_status status = fs::status(path, failure);
        diagnostics.error({.file = 0, .line = 0}, fs::is_directory(status) ? "is a directory"
                                                  : fs::exists(status)     ? "cannot open the file"
                                                                           : "no such file");
        return {};
    }
    return Preprocessor(options, files, texts, diagnostics).run(*main, path);
}

PreprocessedText interpret_markers(std::string text, const std::string& path,
                                   std::vector<SourceFile>& files, SourceTexts& texts)
{
    return MarkerReader(path, files, texts).read(std::move(text));
}

std::string with_markers(const PreprocessedText& preprocessed, const std::vector<SourceFile>& files)
{
    std::string out;
    LineOrigin expected{.file = 0, .line = 0};
    std::string_view rest = preprocessed.text;
    for (std::size_t i = 0; i < preprocessed.origins.size() && !rest.empty(); ++i) {
        const LineOrigin origin = preprocessed.origins[i];
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t first = line.find_first_not_of(' ');
        if (first == std::string_view::npos) continue;
        if (origin.file == expected.file && origin.line + 1 == expected.line && !out.empty()) {
            out.back() = ' '; // the rest of the same line
            out.append(line.substr(first));
            out += '\n';
            continue;
        }
        if (origin.file != expected.file || origin.line != expected.line)
            out +=
                "#line " + std::to_string(origin.line) + " \"" + files[origin.file].path + "\"\n";
        out.append(line);
        out += '\n';
        expected = {.file = origin.file, .line = origin.line + 1};
    }
    return out;
}

} // namespace kairos::idlc
