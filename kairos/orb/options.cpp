// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/options.h"

#include "kairos/orb/configuration.h"
#include "kairos/orb/option_values.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kairos::orb {
namespace {

/// An option as the ORB knows it: its row of option_list.h without what it means.
struct Known {
    std::string_view name;
    Result<void> (*set)(Options&, std::string_view option, std::string_view value);
    std::string (*show)(const Options&);
    bool Architecture::*needs; ///< else it contradicts -ORBConcurrency; null: any will do
};

constexpr Known known_options[] = {
#define KAIROS_OPTION_TOPIC(title, note)
#define KAIROS_OPTION(name, needs, pages, meaning, ...)                                            \
    {name, &__VA_ARGS__::set, &__VA_ARGS__::show, needs},
#define KAIROS_OPTION_SPELLING(name, option)
#include "kairos/orb/option_list.h"
};

struct Spelling {
    std::string_view name;
    std::string_view option;
};

constexpr Spelling spellings[] = {
#define KAIROS_OPTION_TOPIC(title, note)
#define KAIROS_OPTION(name, needs, pages, meaning, ...)
#define KAIROS_OPTION_SPELLING(name, option) {name, option},
#include "kairos/orb/option_list.h"
};

const Known* find_option(std::string_view name)
{
    for (const Spelling& spelling : spellings)
        if (spelling.name == name) name = spelling.option;
    for (const Known& known : known_options)
        if (known.name == name) return &known;
    return nullptr;
}

/// An option that was given, with its value.
struct Given {
    const Known* known;
    std::string name; ///< as it was spelled
    std::string value;
    std::string where; ///< in which file and line, for messages; empty on the command line
};

Error bad_setting(const Given& given, std::string_view reason)
{
    return Error{ErrorCode::invalid_argument, given.where + std::string(reason)};
}

/// Takes them out of `arguments`, and leaves the others in their order.
Result<std::vector<Given>> take_options(std::vector<std::string>& arguments)
{
    std::vector<Given> given;
    std::vector<std::string> others;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        if (!argument.starts_with("-ORB")) {
            others.push_back(std::move(arguments[i]));
            continue;
        }
        // Only a name may be followed by '=' without a blank: -ORBInitRef's value has one of its
        // own.
        const std::size_t equals = argument.find('=');
        const std::string_view name = argument.substr(0, equals);
        const Known* known = find_option(name);
        if (known == nullptr)
            return Error{ErrorCode::invalid_argument, "unknown option " + std::string(name)};
        if (equals == std::string_view::npos && i + 1 == arguments.size())
            return Error{ErrorCode::invalid_argument, std::string(name) + " needs a value"};
        given.push_back(
            {known,
             std::string(name),
             std::string(equals == std::string_view::npos ? std::string_view(arguments[++i])
                                                          : argument.substr(equals + 1)),
             {}});
    }
    arguments = std::move(others);
    return given;
}

Result<std::vector<Given>> options_of_file(const std::string& file)
{
    const auto text = read_configuration(file);
    if (!text) return text.error();
    const auto settings = parse_configuration(*text);
    if (!settings) return Error{settings.error().code, file + ": " + settings.error().reason};
    std::vector<Given> given;
    for (const Setting& setting : *settings) {
        Given each{find_option(setting.option), setting.option, setting.value,
                   file + ": line " + std::to_string(setting.line) + ": "};
        if (each.known == nullptr) return bad_setting(each, "unknown option " + setting.option);
        if (each.known->set == &ConfigurationFile::set)
            return bad_setting(each, setting.option + " belongs on the command line");
        given.push_back(std::move(each));
    }
    return given;
}

/// Puts in front of what the command line says what the file that it names says, unless the command
/// line says the same otherwise.
Result<void> add_file(std::vector<Given>& given)
{
    const auto is_file = [](const Given& each) {
        return each.known->set == &ConfigurationFile::set;
    };
    const auto file = std::ranges::find_if(given, is_file);
    if (file == given.end()) return {};
    if (std::ranges::count_if(given, is_file) > 1)
        return bad_setting(*file, file->name + " is given twice");
    auto of_file = options_of_file(file->value);
    if (!of_file) return of_file.error();
    std::erase_if(*of_file, [&](const Given& each) {
        return each.known->set != &InitialReferences::set && // which are apart by their names
               std::ranges::any_of(given,
                                   [&](const Given& other) { return other.known == each.known; });
    });
    given.insert(given.begin(), of_file->begin(), of_file->end());
    return {};
}

Result<void> check_meaning(const Given& given, const Architecture& chosen)
{
    if (given.known->needs == nullptr || chosen.*given.known->needs) return {};
    return Error{ErrorCode::invalid_argument,
                 given.name + " contradicts -ORBConcurrency " + std::string(chosen.name)};
}

} // namespace

Result<Options> parse_options(std::vector<std::string>& arguments)
{
    std::vector<std::string> others = arguments;
    auto given = take_options(others);
    if (!given) return given.error();
    if (const auto added = add_file(*given); !added) return added.error();
    Options options;
    for (const Given& each : *given)
        if (const auto set = each.known->set(options, each.name, each.value); !set)
            return bad_setting(each, set.error().reason);
    for (const Given& each : *given)
        if (auto check = check_meaning(each, *options.concurrency); !check) return check.error();
    arguments = std::move(others);
    return options;
}

std::string options_in_force(const Options& options)
{
    const Options by_default;
    std::string text;
    for (const Known& known : known_options) {
        const std::string value = known.show(options);
        if (value == known.show(by_default)) continue;
        text.append(text.empty() ? "" : " ").append(known.name).append(" ").append(value);
    }
    return text;
}

} // namespace kairos::orb
