// SPDX-License-Identifier: Apache-2.0
#include "packaging/option_model.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

namespace kairos::packaging {
namespace {

using nlohmann::ordered_json;

ordered_json names_of(const std::set<CLI::Option*>& options)
{
    ordered_json names = ordered_json::array();
    for (const CLI::Option* option : options)
        names.push_back((option->get_lnames().empty() ? "-" : "--") + option->get_single_name());
    std::sort(names.begin(), names.end()); // the set is in the order of addresses
    return names;
}

ordered_json model_of(const CLI::Option& option)
{
    ordered_json names = ordered_json::array();
    for (const std::string& name : option.get_snames())
        names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        names.push_back("--" + name);
    const bool takes_value = option.get_items_expected_max() > 0;
    return {
        {"names", names},
        {"positional", option.get_positional() ? option.get_name(true) : ""},
        {"text", option.get_description()},
        // With what the value must be behind a colon, such as TEXT:{same,split}.
        {"type", takes_value ? option.get_type_name() : ""},
        {"default", option.get_default_str()},
        {"variable", option.get_envname()},
        {"required", option.get_required()},
        {"several", option.get_expected_max() > 1},
        {"needs", names_of(option.get_needs())},
        {"excludes", names_of(option.get_excludes())},
    };
}

ordered_json model_of(const CLI::App& app)
{
    ordered_json options = ordered_json::array();
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) options.push_back(model_of(*option));
    ordered_json commands = ordered_json::array();
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) commands.push_back(model_of(*command));
    return {
        {"name", app.get_name()},
        {"text", app.get_description()},
        {"footer", app.get_footer()},
        // Whether options of the command that it belongs to may stand behind it.
        {"fallthrough", app.get_fallthrough()},
        {"command_required", app.get_require_subcommand_min() > 0},
        {"options", options},
        {"commands", commands},
    };
}

} // namespace

std::string option_model(const CLI::App& app) { return model_of(app).dump(1); }

void add_option_model_flag(CLI::App& app)
{
    app.add_flag_callback("--option-model",
                          [&app] {
                              std::cout << option_model(app) << '\n';
                              throw CLI::Success();
                          })
        ->trigger_on_parse() // before anybody asks for what is required
        ->group("");
}

} // namespace kairos::packaging
