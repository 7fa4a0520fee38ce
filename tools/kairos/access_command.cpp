// SPDX-License-Identifier: Apache-2.0
//
// `kairos access`: what is wrong with a file of rules, and what its rules say of a call.
#include "kairos/access/rules_file.h"
#include "kairos/base/shown.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace kairos::tools {
namespace {

using access::Caller;
using access::Rule;
using access::Rules;
using access::Target;

struct AccessArguments {
    std::string file;
    std::vector<std::string> who;
    std::string what;
    std::string adapter;
    std::string id;
    std::string interface;
    bool json = false;
};

std::optional<Rules> rules_in(const AccessArguments& arguments)
{
    std::vector<access::Problem> problems;
    auto rules = access::read_rules(arguments.file, problems);
    for (const access::Problem& problem : problems) {
        const std::string place =
            problem.line == 0 ? "" : fmt::format("{}:{}:", problem.line, problem.column);
        fmt::print(stderr, "{}:{} error: {}\n", shown(arguments.file), place,
                   shown(problem.reason));
    }
    return rules;
}

int check_rules(const AccessArguments& arguments)
{
    const auto rules = rules_in(arguments);
    if (!rules) return 1;
    fmt::print("{}: {} rule{}; what none of them says is {}\n", shown(arguments.file),
               rules->all().size(), rules->all().size() == 1 ? "" : "s",
               rules->allows_others() ? "allowed" : "denied");
    return 0;
}

/// Adds what is said of who calls. Throws CLI::ValidationError for what nobody is.
void add_to_caller(Caller& caller, const std::string& text)
{
    const auto wrong = [&](const std::string& reason) {
        throw CLI::ValidationError("--who", shown(reason));
    };
    const std::size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    const std::string name = colon == std::string::npos ? "" : text.substr(colon + 1);
    if ((kind == "certificate" || kind == "subject") && !name.empty()) {
        // An alternative name has its kind in front; a subject, the name of an attribute.
        auto& certificate = kind == "subject" ? caller.subject : caller.certificate;
        certificate.is_shown = true;
        const bool is_subject = name.find('=') < name.find(':');
        if (is_subject)
            certificate.subject = access::written_subject(name);
        else
            certificate.names.push_back(name);
        return;
    }
    if (kind == "login" && !name.empty()) return void(caller.login = name);
    if (kind == "address" && !name.empty()) {
        const auto host = access::Host::parse(name);
        if (!host) wrong("'" + name + "' is no address in numbers");
        return void(caller.host = *host);
    }
    if (kind != "user" && kind != "group")
        wrong("'" + text +
              "' is nobody: address:NUMBERS, user:NAME, group:NAME, certificate:NAME, "
              "login:NAME and subject:NAME are");
    const auto account = access::parse_who(text, access::Accounts::of_system());
    if (!account) wrong(account.error().reason);
    caller.host.family = AF_UNIX;
    if (!caller.process) caller.process = ucred{.pid = 0, .uid = ~uid_t{0}, .gid = ~gid_t{0}};
    caller.has_other_groups = true; // the system knows them
    (kind == "user" ? caller.process->uid : caller.process->gid) = account->id;
}

const char* name_of_part(Rule::Part part)
{
    constexpr const char* names[] = {"", "who", "operation", "adapter", "id", "interface"};
    return names[static_cast<int>(part)];
}

/// Why a rule does not decide, or does.
std::string reason_of_match(const Rule& rule, const Rule::Match& match)
{
    if (match.other != Rule::Part::none)
        return fmt::format("{} does not match", name_of_part(match.other));
    if (match.unknown != Rule::Part::none)
        return match.unknown == Rule::Part::who
                   ? "matches if the caller is of its groups, and not all are given"
                   : fmt::format("matches if the object's {} does, which is not known",
                                 name_of_part(match.unknown));
    return rule.allows ? "matches: allowed" : "matches: denied";
}

const char* answer_word(Rules::Answer::Kind kind)
{
    constexpr const char* words[] = {"allow", "deny", "open"};
    return words[static_cast<int>(kind)];
}

int explain_call(const AccessArguments& arguments)
{
    const auto rules = rules_in(arguments);
    if (!rules) return 1;
    Caller caller;
    for (const std::string& who : arguments.who)
        add_to_caller(caller, who);
    const auto given = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional(text);
    };
    const Target target{.operation = arguments.what,
                        .adapter = given(arguments.adapter),
                        .id = given(arguments.id),
                        .interface = given(arguments.interface)};
    const Rules::Answer answer = rules->answer(caller, target);
    nlohmann::json looked_at = nlohmann::json::array();
    std::string lines;
    for (const Rule& rule : rules->all()) {
        const std::string reason = reason_of_match(rule, rule.match(caller, target));
        looked_at.push_back({{"line", rule.line}, {"reason", reason}});
        lines += fmt::format("line {}: {}\n", rule.line, reason);
        if (&rule == answer.rule) break;
    }
    if (arguments.json) {
        const nlohmann::json all{
            {"answer", answer_word(answer.kind)},
            {"decides", rules->name_of(answer)},
            {"line", answer.rule == nullptr ? nlohmann::json() : nlohmann::json(answer.rule->line)},
            {"looked_at", std::move(looked_at)}};
        fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        return 0;
    }
    fmt::print("{}{}: {}\n", lines, answer_word(answer.kind), shown(rules->name_of(answer)));
    return 0;
}

} // namespace

void add_access_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<AccessArguments>();
    CLI::App* command =
        app.add_subcommand("access", "Check files of rules who may call what (-ORBAccess)");
    command->require_subcommand(1);
    const auto add = [&](const char* name, const char* what, int (*run)(const AccessArguments&)) {
        CLI::App* one = command->add_subcommand(name, what);
        one->add_option("file", arguments->file, "The file of rules")
            ->required()
            ->type_name("FILE");
        one->callback([arguments, &status, run] { status = run(*arguments); });
        return one;
    };
    add("check", "Say what is wrong with a file, all at once, each with its place", &check_rules);
    CLI::App* one =
        add("explain", "Say which rule decides on a call, and why those before it do not",
            &explain_call);
    one->add_option(
           "--who", arguments->who,
           "Who calls: address:NUMBERS, user:NAME, group:NAME, login:NAME, "
           "certificate:SUBJECT, or certificate:KIND:NAME of an alternative name, subject: "
           "likewise; several are of the same caller")
        ->type_name("WHO");
    one->add_option("--what", arguments->what, "The operation: 'bind', '_get_speed', '_is_a'")
        ->required()
        ->type_name("OPERATION");
    one->add_option("--adapter", arguments->adapter, "The object's adapter: RootPOA/Plant")
        ->type_name("PATH");
    one->add_option("--id", arguments->id, "The object's id, as the log shows it")->type_name("ID");
    one->add_option("--interface", arguments->interface,
                    "The object's interface: IDL:CosNaming/NamingContext:1.0")
        ->type_name("REPOSITORY-ID");
    one->add_flag("--json", arguments->json, "Print it as JSON");
    one->footer("The answer is 'open' where it depends on what is not given of the object, on what "
                "its interface is derived from, or on which groups a user is in.");
    command->footer("docs/access.md says what a file of rules has.");
}

} // namespace kairos::tools
