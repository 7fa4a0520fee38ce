// SPDX-License-Identifier: Apache-2.0
//
// libmcpp's command line, output and messages, translated.
#include "idlc/preprocess.h"

// The header does not say so itself.
extern "C" {
#include <mcpp_lib.h>
}

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KAIROS_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define KAIROS_ADDRESS_SANITIZER 1
#endif
#ifdef KAIROS_ADDRESS_SANITIZER
// libmcpp compares a name with memcmp() over the length of another one, which may be longer. The
// comparison ends at the terminator, but AddressSanitizer wants the whole length to be there.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "strict_memcmp=0"; }
// It also forgets some small pieces of memory in every run.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libmcpp"; }
#endif

namespace kairos::idlc {
namespace {

namespace fs = std::filesystem;

/// Preprocessed text beyond this is an include bomb, not an interface.
constexpr std::size_t output_size_max = std::size_t{256} << 20;

// libmcpp writes through C callbacks without a context argument, and is not re-entrant: one run at
// a time, its output in these two.
std::mutex run_mutex;
std::string* run_output = nullptr;
std::string* run_messages = nullptr;

std::string* sink(OUTDEST destination) noexcept
{
    std::string* out = destination == OUT ? run_output : run_messages;
    return out != nullptr && out->size() < output_size_max ? out : nullptr;
}

extern "C" {
int put_character(int c, OUTDEST destination)
{
    if (std::string* out = sink(destination)) out->push_back(static_cast<char>(c));
    return c;
}
int put_string(const char* text, OUTDEST destination)
{
    if (std::string* out = sink(destination)) out->append(text);
    return 0;
}
[[gnu::format(printf, 2, 3)]] int put_formatted(OUTDEST destination, const char* format, ...)
{
    std::va_list arguments;
    va_start(arguments, format);
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    if (std::string* out = sink(destination); out != nullptr && length > 0) {
        const std::size_t before = out->size();
        out->resize(before + static_cast<std::size_t>(length) + 1);
        std::vsnprintf(out->data() + before, static_cast<std::size_t>(length) + 1, format, again);
        out->pop_back();
    }
    va_end(again);
    return length;
}
}

std::vector<std::string> arguments_for(const std::string& path, const Options& options)
{
    // -e latin1: bytes pass unchanged whatever the locale. -N: no `unix` or `linux` macro, they are
    // fine identifiers. -I-: not the C headers. -2: no digraphs, `sequence<::A>` is not one.
    // -k: white space stays, so columns do. -j: one line per message.
    std::vector<std::string> arguments{
        "kairos-idl", "-e", "latin1", "-N", "-I-", "-2", "-k", "-j", "-W1",
    };
    arguments.emplace_back("-D__KAIROS_IDL=1");
    for (const std::string& define : options.defines)
        arguments.push_back("-D" + define);
    for (const std::string& undefine : options.undefines)
        arguments.push_back("-U" + undefine);
    for (const std::string& directory : options.include_directories)
        arguments.push_back("-I" + directory);
    arguments.push_back(path);
    return arguments;
}

/// What libmcpp wrote.
struct Run {
    std::string output;
    std::string messages;
};

Run run_preprocessor(const std::string& path, const Options& options)
{
    Run run;
    std::vector<std::string> arguments = arguments_for(path, options);
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments)
        pointers.push_back(argument.data());
    pointers.push_back(nullptr);

    const std::lock_guard lock(run_mutex);
    run_output = &run.output;
    run_messages = &run.messages;
    mcpp_set_out_func(put_character, put_string, put_formatted);
    // The result is not to be trusted (0 after some errors); the messages say it.
    static_cast<void>(mcpp_lib_main(static_cast<int>(arguments.size()), pointers.data()));
    mcpp_reset_def_out_func();
    run_output = run_messages = nullptr;
    return run;
}

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

bool same_file(const std::string& left, const std::string& right)
{
    std::error_code ignored;
    return left == right || fs::equivalent(left, right, ignored);
}

/// Follows the markers: which entry of the files each line belongs to.
class MarkerReader {
  public:
    MarkerReader(const std::string& main_path, const Options& options,
                 std::vector<SourceFile>& files, SourceTexts& texts, bool disk)
        : options_(options), files_(files), texts_(texts), disk_(disk)
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
            if (is_file(file, marker.path)) {
                current_ = file;
                return;
            }
            if (!files_[file].includer) return;
        }
    }

    [[nodiscard]] bool is_file(std::uint32_t file, const std::string& path) const
    {
        return raw_paths_[file] == path || (disk_ && same_file(files_[file].path, path));
    }

    void enter(const std::string& raw_path, std::uint32_t line)
    {
        SourceFile file{.path = raw_path, .include_spelling = {}};
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
            file.path = as_user_writes(raw_path, file.include_spelling);
        } else { // an #include through a macro
            file.include_spelling = '"' + fs::path(raw_path).filename().string() + '"';
        }
        files_.push_back(std::move(file));
        raw_paths_.push_back(raw_path);
        current_ = static_cast<std::uint32_t>(files_.size() - 1);
    }

    /// libmcpp reports a file's first inclusion by the name as written and later ones by absolute
    /// paths; people know it by the directory they gave.
    [[nodiscard]] std::string as_user_writes(const std::string& raw_path,
                                             const std::string& spelling) const
    {
        if (!disk_) return raw_path;
        const fs::path name(spelling.substr(1, spelling.size() - 2));
        std::vector<fs::path> candidates;
        if (spelling.front() == '"')
            candidates.push_back(fs::path(files_[current_].path).parent_path() / name);
        for (const std::string& directory : options_.include_directories)
            candidates.push_back(fs::path(directory) / name);
        std::error_code ignored;
        for (const fs::path& candidate : candidates)
            if (raw_path == name.string() ? fs::exists(candidate, ignored)
                                          : same_file(candidate.string(), raw_path))
                return candidate.lexically_normal().string();
        return raw_path;
    }

    const Options& options_;
    std::vector<SourceFile>& files_;
    SourceTexts& texts_;
    bool disk_;
    bool started_ = false;
    std::vector<std::string> raw_paths_; ///< of each entry of files_, as libmcpp spells it
    std::uint32_t current_ = 0;
    std::uint32_t line_ = 1;
};

/// One line of libmcpp's messages: `path:line: error: text`.
class MessageReader {
  public:
    MessageReader(const std::vector<SourceFile>& files, SourceTexts& texts,
                  Diagnostics& diagnostics)
        : files_(files), texts_(texts), diagnostics_(diagnostics)
    {
    }

    void read(std::string_view messages)
    {
        while (!messages.empty()) {
            const std::size_t end = std::min(messages.find('\n'), messages.size());
            read_line(messages.substr(0, end));
            messages.remove_prefix(std::min(end + 1, messages.size()));
        }
    }

  private:
    void read_line(std::string_view line)
    {
        if (line.starts_with("Can't open input file")) {
            diagnostics_.error({.file = 0, .line = 0}, "cannot open the file");
            return;
        }
        for (const std::string_view kind : {": fatal error: ", ": error: ", ": warning: "}) {
            const std::size_t found = line.find(kind);
            if (found == std::string_view::npos) continue;
            report(line.substr(0, found), kind, line.substr(found + kind.size()));
            return;
        }
    }

    void report(std::string_view place, std::string_view kind, std::string_view text)
    {
        const Location location = locate(place, text);
        std::string message(text);
        if (message.starts_with("Can't open include file ")) {
            message = "cannot find the included file " + message.substr(24);
        } else if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1]))) {
            message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
        }
        if (const std::size_t skipped = message.find(", skipped the line");
            skipped != std::string::npos)
            message.erase(skipped);
        if (message.starts_with("empty character constant")) message = "empty character literal";
        // Directives that other preprocessors know and that say nothing about the interfaces.
        const bool harmless = text.starts_with("Unknown #directive \"warning\"") ||
                              text.starts_with("Unknown #directive \"ident\"") ||
                              text.starts_with("Unknown #directive \"sccs\"");
        // Limits of C that IDL does not have, and line ends that nobody need care about.
        if (text.starts_with("Converted [CR+LF]") || text.find("got beyond range") != text.npos ||
            text.starts_with("End of input with no newline") || text == "null character ignored")
            return;
        // It goes on, and what the author wrote is not what is compiled.
        const bool unterminated = text.ends_with("unterminated comment, terminated the comment");
        if (unterminated) message.erase(message.rfind(','));
        const bool loses = unterminated || text.starts_with("Too long identifier truncated");
        if ((kind == ": warning: " && !loses) || harmless)
            diagnostics_.warning(location, message);
        else
            diagnostics_.error(location, message);
    }

    Location locate(std::string_view place, std::string_view text)
    {
        Location location;
        const std::size_t colon = place.rfind(':');
        const std::string path(place.substr(0, colon));
        if (colon != std::string_view::npos)
            std::from_chars(place.data() + colon + 1, place.data() + place.size(), location.line);
        for (std::uint32_t i = 0; i < files_.size(); ++i)
            if (same_file(files_[i].path, path)) {
                location.file = i;
                break;
            }
        const SourceText* source = texts_.find(files_[location.file].path);
        if (source == nullptr) return location;
        const std::string_view line = source->line(location.line);
        // What the message quotes is what it is about; else the first word of the line.
        const std::size_t open = text.find('"');
        const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
        std::size_t column = line.find_first_not_of(" \t");
        std::size_t length = 1;
        if (close != std::string_view::npos) {
            const std::string_view word = text.substr(open + 1, close - open - 1);
            if (const std::size_t at = line.find(word); at != std::string_view::npos) {
                column = at;
                length = word.size();
            }
        }
        location.column =
            column == std::string_view::npos ? 1 : static_cast<std::uint32_t>(column + 1);
        location.length = static_cast<std::uint32_t>(length);
        return location;
    }

    const std::vector<SourceFile>& files_;
    SourceTexts& texts_;
    Diagnostics& diagnostics_;
};

/// libmcpp drops what is behind one in its line, mostly without a word.
void refuse_null_characters(const std::vector<SourceFile>& files, SourceTexts& texts,
                            Diagnostics& diagnostics)
{
    for (std::uint32_t i = 0; i < files.size(); ++i) {
        const SourceText* source = texts.find(files[i].path);
        const auto before = files.begin() + i;
        const bool included_before =
            std::any_of(files.begin(), before,
                        [&](const SourceFile& file) { return file.path == before->path; });
        if (source == nullptr || included_before) continue;
        for (std::uint32_t line = 1; line <= source->line_count(); ++line) {
            const std::size_t found = source->line(line).find('\0');
            if (found == std::string_view::npos) continue;
            const auto column = static_cast<std::uint32_t>(found + 1);
            diagnostics.error({.file = i, .line = line, .column = column}, "null character");
            break; // the file may be full of them
        }
    }
}

} // namespace

PreprocessedText preprocess(const std::string& path, const Options& options,
                            std::vector<SourceFile>& files, SourceTexts& texts,
                            Diagnostics& diagnostics)
{
    files.assign(1, SourceFile{.path = path, .include_spelling = {}});
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (!fs::exists(status)) {
        diagnostics.error({.file = 0, .line = 0}, "no such file");
        return {};
    }
    if (fs::is_directory(status)) {
        diagnostics.error({.file = 0, .line = 0}, "is a directory");
        return {};
    }
    Run run = run_preprocessor(path, options);
    const bool too_large = run.output.size() >= output_size_max;
    PreprocessedText out =
        MarkerReader(path, options, files, texts, true).read(std::move(run.output));
    MessageReader(files, texts, diagnostics).read(run.messages);
    refuse_null_characters(files, texts, diagnostics);
    if (too_large) diagnostics.error({.file = 0, .line = 0}, "too large after preprocessing");
    return out;
}

PreprocessedText interpret_markers(std::string text, const std::string& path,
                                   const Options& options, std::vector<SourceFile>& files,
                                   SourceTexts& texts)
{
    return MarkerReader(path, options, files, texts, false).read(std::move(text));
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
        if (line.find_first_not_of(' ') == std::string_view::npos) continue;
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
