// SPDX-License-Identifier: Apache-2.0
//
// `kairos options [NAME]`: the options of the ORB, which programs take as -ORBName VALUE: what each
// means, which values it takes and which it has when it is not given. With --markdown it writes
// docs/options.md. All of it is said in kairos/orb/option_list.h.
#include "kairos/base/shown.h"
#include "kairos/orb/architecture.h"
#include "kairos/orb/option_values.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <strings.h>
#include <vector>

namespace kairos::tools {
namespace {

using namespace orb; // what the list names

/// A topic, an option of it, or another name of the option in front.
struct Row {
    std::string title{}; ///< of a topic
    std::string note{};
    std::string name{};   ///< of an option
    std::string option{}; ///< the option that `name` is a spelling of
    std::string form{};
    std::string expected{}; ///< what values must be, where the form does not say it
    std::string by_default{};
    bool is_size = false;
    bool Architecture::*needs = nullptr;
    std::string pages{};
    std::string meaning{};
};

template <typename Kind>
Row option_row(const char* name, bool Architecture::*needs, const char* pages, const char* meaning)
{
    const Options by_default;
    Row row;
    row.name = name;
    row.form = Kind::form();
    row.by_default = Kind::show(by_default);
    if constexpr (requires { Kind::range; }) row.expected = Kind::range.expected;
    row.is_size = row.form == "bytes";
    row.needs = needs;
    row.pages = pages;
    row.meaning = meaning;
    return row;
}

std::vector<Row> all_rows()
{
    return {
#define KAIROS_OPTION_TOPIC(title_, note_) Row{.title = (title_), .note = (note_)},
#define KAIROS_OPTION(name, needs, pages, meaning, ...)                                            \
    option_row<__VA_ARGS__>(name, needs, pages, meaning),
#define KAIROS_OPTION_SPELLING(name_, option_) Row{.name = (name_), .option = (option_)},
#include "kairos/orb/option_list.h"
    };
}

// --- what both forms say -------------------------------------------------------------------------

std::vector<std::string> words_of(const std::string& text, char separator)
{
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        if (end > at) words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

/// "a, b or c", each between two marks.
std::string alternatives(const std::vector<std::string>& words, std::string_view mark = "")
{
    std::string list;
    for (const std::string& word : words)
        add_alternative(list, fmt::format("{0}{1}{0}", mark, word), &word == &words.back());
    return list;
}

/// Sizes that are whole MiB are said in these, too.
std::string default_of(const Row& row)
{
    constexpr std::size_t mebi = std::size_t{1} << 20;
    const auto number = row.is_size ? parse_number<std::size_t>(row.by_default).value_or(0) : 0;
    if (number == 0 || number % mebi != 0) return row.by_default;
    return fmt::format("{} ({} MiB)", row.by_default, number / mebi);
}

/// Those with which the option means something.
std::vector<std::string> architectures_of(const Row& row)
{
    std::vector<std::string> names;
    for (const Architecture* each : architectures())
        if (row.needs != nullptr && each->*row.needs) names.emplace_back(each->name);
    return names;
}

std::vector<std::string> spellings_of(const Row& row, const std::vector<Row>& rows)
{
    std::vector<std::string> names;
    for (const Row& other : rows)
        if (other.option == row.name) names.push_back(other.name);
    return names;
}

// --- for terminals -------------------------------------------------------------------------------

/// Paragraphs of at most 80 columns; the marks of code are for Markdown.
void print_wrapped(const std::string& text, std::size_t indent)
{
    std::string line(indent, ' ');
    std::size_t width = indent;
    bool begun = false;
    for (std::string word : words_of(text, ' ')) {
        std::erase(word, '`');
        const auto columns = static_cast<std::size_t>(std::ranges::count_if(
            word, [](char each) { return (static_cast<unsigned char>(each) & 0xC0) != 0x80; }));
        if (begun && width + 1 + columns > 80) {
            fmt::print("{}\n", line);
            line.assign(indent, ' ');
            width = indent;
            begun = false;
        }
        line.append(begun ? " " : "").append(word);
        width += columns + (begun ? 1 : 0);
        begun = true;
    }
    fmt::print("{}\n", line);
}

void print_list(const std::vector<Row>& rows)
{
    const char* between = "";
    for (const Row& row : rows) {
        if (!row.title.empty()) {
            fmt::print("{}{}\n\n", between, row.title);
            between = "\n";
        } else if (!row.option.empty()) {
            fmt::print("  {}\n      The same as {}.\n", row.name, row.option);
        } else {
            fmt::print("  {} {}\n", row.name, row.form);
            const std::string by_default = default_of(row);
            print_wrapped(by_default.empty() ? row.meaning
                                             : row.meaning + " Default: " + by_default + ".",
                          6);
        }
    }
}

void print_entry(const Row& row, const std::vector<Row>& rows)
{
    fmt::print("{} {}\n", row.name, row.form);
    print_wrapped(row.meaning, 4);
    const auto say = [](const char* what, const std::string& text) {
        if (!text.empty()) fmt::print("    {:<12}{}\n", what, text);
    };
    say("Value:", row.expected);
    say("Default:", default_of(row));
    if (row.needs != nullptr)
        say("Only with:", "-ORBConcurrency " + alternatives(architectures_of(row)));
    say("Also named:", alternatives(spellings_of(row, rows)));
    std::string pages;
    for (const std::string& page : words_of(row.pages, ' '))
        pages += (pages.empty() ? "docs/" : ", docs/") + page + ".md";
    say("More:", pages);
}

/// Whether somebody who asks for `asked` means it: with -ORB or without, in any case.
bool is_named(const Row& row, std::string asked)
{
    asked.erase(0, asked.find_first_not_of('-'));
    const char* const name = row.name.c_str() + 1;
    return !row.name.empty() &&
           (strcasecmp(asked.c_str(), name) == 0 ||
            strcasecmp(asked.c_str(), name + std::string_view("ORB").size()) == 0);
}

int print_named(const std::string& asked, const std::vector<Row>& rows)
{
    const auto is_asked = [&](const Row& row) { return is_named(row, asked); };
    auto found = std::ranges::find_if(rows, is_asked);
    if (found != rows.end() && !found->option.empty())
        found = std::ranges::find(rows, found->option, &Row::name);
    if (found == rows.end()) {
        fmt::print(stderr, "kairos options: the ORB has no option {}\n", shown(asked));
        return 2;
    }
    print_entry(*found, rows);
    return 0;
}

// --- docs/options.md -----------------------------------------------------------------------------

constexpr const char* page_opening = R"(# Options

What an ORB does otherwise than by default, it is told by options when it is made. Programs need
none of them. They say it in three places:

- the command line, `server -ORBName value` or `server -ORBName=value`: `ORB_init(argc, argv)` takes
  these out of the program's arguments and leaves the others;
- the program: `ORB_init` with an `argc` and `argv` of the program's own making;
- a file, `server -ORBConfigFile FILE`: an option on each line, as on the command line; the value is
  the rest of the line without the blanks around it. Empty lines and lines that begin with `#` mean
  nothing.

```
# telescope.conf
-ORBListenEndpoints iiop://:2809
-ORBConcurrency     worker-pool
-ORBThreads         4
-ORBClientTimeout   3000
```

What the command line says takes precedence over the file. An option that is not known, lacks its
value or has one that means nothing is refused: `ORB_init` raises `BAD_PARAM`, and says which
option, with the file and line where there is one. So is an option that means nothing with the
architecture chosen: `-ORBThreads` with `-ORBConcurrency reactor`, say. `0|1` is no or yes; names
are spelled as they are here. `-ORBListenEndpoints` and `-ORBInitRef` may be given several times,
`-ORBConfigFile` once; of the others the last one counts.

An option holds for one ORB. Several of them are defaults of policies, which say the same of one
POA, reference or thread: where there is such a policy, the page in the last column names it.

`kairos options` prints these tables in a terminal, `kairos options NAME` all there is to know of
one option. With `-ORBDebug 2` an ORB writes into the log, when it starts, which options are in
force that are not as by default. This page is what `kairos options --markdown` writes.
)";

std::string cell(std::string text)
{
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, "\\");
    return text;
}

std::string markdown_default(const Row& row)
{
    const std::string text = default_of(row);
    const bool is_number = !text.empty() && text.find_first_not_of("0123456789") != 0;
    return text.empty() || is_number ? text : "`" + text + "`";
}

/// With what the columns beside it do not say.
std::string markdown_meaning(const Row& row, const std::vector<std::string>& values,
                             const std::vector<Row>& rows)
{
    std::string text = row.meaning;
    if (!values.empty()) text += " One of " + alternatives(values, "`") + ".";
    if (const auto names = spellings_of(row, rows); !names.empty())
        text += " Also named " + alternatives(names, "`") + ".";
    if (row.needs != nullptr)
        text += " Only with `-ORBConcurrency` " + alternatives(architectures_of(row), "`") + ".";
    return text;
}

std::string markdown_pages(const Row& row)
{
    std::string links;
    for (const std::string& page : words_of(row.pages, ' '))
        links += fmt::format("{}[{}]({}.md)", links.empty() ? "" : ", ", page, page);
    return links;
}

void print_markdown(const std::vector<Row>& rows)
{
    constexpr std::size_t form_most =
        60; // longer ones are lists, which a narrow column cannot have
    fmt::print("{}", page_opening);
    for (const Row& row : rows) {
        if (!row.title.empty()) {
            fmt::print("\n## {}\n\n", row.title);
            if (!row.note.empty()) fmt::print("{}\n\n", row.note);
            fmt::print("| option | meaning | default | more |\n|---|---|---|---|\n");
        } else if (row.option.empty()) {
            const bool is_list = row.form.size() > form_most;
            fmt::print(
                "| `{} {}` | {} | {} | {} |\n", row.name, is_list ? "name" : cell(row.form),
                cell(markdown_meaning(
                    row, is_list ? words_of(row.form, '|') : std::vector<std::string>{}, rows)),
                cell(markdown_default(row)), markdown_pages(row));
        }
    }
}

struct OptionsArguments {
    std::string name;
    bool markdown = false;
};

int print_options(const OptionsArguments& arguments)
{
    const std::vector<Row> rows = all_rows();
    if (!arguments.name.empty()) return print_named(arguments.name, rows);
    if (arguments.markdown)
        print_markdown(rows);
    else
        print_list(rows);
    return 0;
}

} // namespace

void add_options_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<OptionsArguments>();
    CLI::App* command =
        app.add_subcommand("options", "Print the options that every program of the ORB takes");
    auto* name = command->add_option("name", arguments->name,
                                     "All there is to know of one, by its name: -ORBThreads, or "
                                     "Threads");
    name->type_name("NAME");
    command->add_flag("--markdown", arguments->markdown, "As the page docs/options.md")
        ->excludes(name);
    command->callback([arguments, &status] { status = print_options(*arguments); });
}

} // namespace kairos::tools
