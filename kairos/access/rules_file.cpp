// SPDX-License-Identifier: Apache-2.0
#include "kairos/access/rules_file.h"

#include "kairos/files/toml_dots.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <grp.h>
#include <map>
#include <pwd.h>
#include <toml++/toml.h>
#include <utility>

namespace kairos::access {
namespace {

Error wrong(std::string reason) { return Error{ErrorCode::invalid_argument, std::move(reason)}; }

template <typename Number>
std::optional<Number> number_in(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// --- users and groups ----------------------------------------------------------------------------

/// Has `get` fill an entry, with as much room as it wants.
template <typename Entry, typename Get, typename Use>
auto entry_of(const std::string& name, Get get, Use use)
    -> std::optional<decltype(use(std::declval<const Entry&>()))>
{
    constexpr std::size_t room_max = std::size_t{1} << 20;
    for (std::vector<char> room(4096); room.size() <= room_max; room.resize(room.size() * 4)) {
        Entry entry{};
        Entry* found = nullptr;
        const int error = get(name.c_str(), &entry, room.data(), room.size(), &found);
        if (error == ERANGE) continue;
        if (found == nullptr) return std::nullopt;
        return use(*found);
    }
    return std::nullopt;
}

std::optional<uid_t> user_of_system(const std::string& name)
{
    return entry_of<passwd>(name, &::getpwnam_r, [](const passwd& entry) { return entry.pw_uid; });
}

std::optional<Accounts::Group> group_of_system(const std::string& name)
{
    std::vector<std::string> members;
    const auto id = entry_of<group>(name, &::getgrnam_r, [&](const group& entry) {
        for (char** member = entry.gr_mem; *member != nullptr; ++member)
            members.emplace_back(*member);
        return entry.gr_gid;
    });
    if (!id) return std::nullopt;
    Accounts::Group found{.id = *id};
    for (const std::string& member : members)
        if (const auto user = user_of_system(member)) found.members.push_back(*user);
    std::ranges::sort(found.members);
    return found;
}

// --- who -----------------------------------------------------------------------------------------

Result<Who> network_of(const std::string& text)
{
    const std::size_t slash = text.find('/');
    const auto address = Host::parse(text.substr(0, slash));
    if (!address)
        return wrong("'" + text + "' is no network, such as 192.0.2.0/24 or 2001:db8::/32");
    const bool is_ipv6 = text.find(':') != std::string::npos;
    const unsigned most = is_ipv6 ? 128 : 32;
    const unsigned least = is_ipv6 && address->family == AF_INET ? 96 : 0; // IPv4 within IPv6
    const auto bits = slash == std::string::npos
                          ? std::optional(most)
                          : number_in<unsigned>(std::string_view(text).substr(slash + 1));
    if (!bits || *bits < least || *bits > most)
        return wrong("'" + text + "': a network has " + std::to_string(least) + " to " +
                     std::to_string(most) + " bits");
    return Who{.kind = Who::Kind::network, .address = *address, .bits = *bits - least};
}

Result<Who> account_of(const std::string& name, bool is_group, const Accounts& accounts)
{
    Who who{.kind = is_group ? Who::Kind::group : Who::Kind::user};
    if (const auto id = number_in<std::uint32_t>(name)) {
        who.id = *id;
        return who;
    }
    if (is_group) {
        auto found = accounts.group(name);
        if (!found) return wrong("there is no group '" + name + "' on this host");
        who.id = found->id;
        who.members = std::move(found->members);
        return who;
    }
    const auto found = accounts.user(name);
    if (!found) return wrong("there is no user '" + name + "' on this host");
    who.id = *found;
    return who;
}

// --- the file ------------------------------------------------------------------------------------

class Reader {
  public:
    Reader(const Accounts& accounts, std::vector<Problem>& problems)
        : accounts_(accounts), problems_(problems)
    {
    }

    void read(const toml::table& root)
    {
        for (const auto& [key, node] : root) {
            if (key == "default")
                read_default(node);
            else if (key == "rule")
                read_rules(node);
            else
                problem(key.source(), "unknown key '" + std::string(key.str()) +
                                          "': a file has default and [[rule]]");
        }
    }
    void problem(const toml::source_region& where, std::string reason)
    {
        if (problems_.size() < problems_max)
            problems_.push_back({.line = where.begin.line,
                                 .column = where.begin.column,
                                 .reason = std::move(reason)});
    }

    std::vector<Rule> rules;
    bool allows_others = false;

  private:
    static constexpr std::size_t problems_max = 100;

    void read_default(const toml::node& node)
    {
        const auto text = node.value_exact<std::string>();
        if (!text || (*text != "allow" && *text != "deny"))
            return problem(node.source(), R"(default is "allow" or "deny")");
        allows_others = *text == "allow";
    }

    void read_rules(const toml::node& node)
    {
        const toml::array* all = node.as_array();
        if (all == nullptr || !node.is_array_of_tables())
            return problem(node.source(), "rules are written [[rule]]");
        if (all->size() > limits::rules_max)
            return problem(node.source(),
                           "there are more than " + std::to_string(limits::rules_max) + " rules");
        for (const toml::node& one : *all)
            read_rule(*one.as_table());
    }

    void read_rule(const toml::table& table)
    {
        Rule rule;
        rule.line = table.source().begin.line;
        for (const auto& [key, node] : table) {
            if (key == "who")
                read_who(node, rule);
            else if (key == "allow" || key == "deny")
                read_operations(key == "allow", node, rule);
            else if (key == "adapter")
                rule.adapter = adapter_of(node);
            else if (key == "id")
                rule.id = one_pattern(node, "/");
            else if (key == "interface")
                rule.interface = one_pattern(node, "/");
            else
                problem(key.source(), "unknown key '" + std::string(key.str()) +
                                          "': a rule has who, adapter, id, interface, and "
                                          "allow or deny");
        }
        if (!table.contains("who"))
            problem(table.source(), "a rule says who: \"anyone\" or others");
        if (table.contains("allow") == table.contains("deny"))
            problem(table.source(), "a rule has either allow or deny, which says what operations");
        rules.push_back(std::move(rule));
    }

    /// Calls `use` with each string of a node that is one, or an array of them.
    template <typename Use>
    void for_each_string(const toml::node& node, const char* what, Use use)
    {
        if (const auto* text = node.as_string()) return use(text->get(), node);
        const toml::array* all = node.as_array();
        if (all == nullptr || all->empty()) return problem(node.source(), what);
        for (const toml::node& one : *all) {
            if (const auto* text = one.as_string())
                use(text->get(), one);
            else
                problem(one.source(), what);
        }
    }

    void read_who(const toml::node& node, Rule& rule)
    {
        for_each_string(node, "who is a string, or an array of them",
                        [&](const std::string& text, const toml::node& where) {
                            auto known = who_.find(text);
                            if (known == who_.end())
                                known = who_.emplace(text, parse_who(text, accounts_)).first;
                            const Result<Who>& who = known->second;
                            if (!who) return problem(where.source(), who.error().reason);
                            rule.who.push_back(*who);
                        });
    }

    void read_operations(bool allows, const toml::node& node, Rule& rule)
    {
        rule.allows = allows;
        for_each_string(node, "operations are a string, or an array of them",
                        [&](const std::string&, const toml::node& where) {
                            if (auto pattern = one_pattern(where, ""))
                                rule.operations.push_back(std::move(*pattern));
                        });
    }

    std::optional<Pattern> one_pattern(const toml::node& node, std::string_view separators)
    {
        const auto* text = node.as_string();
        if (text == nullptr || text->get().empty() || text->get().size() > limits::pattern_max) {
            problem(node.source(), "expected a name or a pattern, of 1 to " +
                                       std::to_string(limits::pattern_max) + " characters");
            return std::nullopt;
        }
        return Pattern(text->get(), separators);
    }

    std::optional<Pattern> adapter_of(const toml::node& node)
    {
        auto pattern = one_pattern(node, "/");
        if (pattern && !pattern->text().starts_with("RootPOA") && !pattern->text().starts_with('*'))
            problem(node.source(),
                    "adapters are named from the root: \"RootPOA/" + pattern->text() + "\"");
        return pattern;
    }

    const Accounts& accounts_;
    std::map<std::string, Result<Who>> who_; // the system is asked once for each
    std::vector<Problem>& problems_;
};

} // namespace

std::string Problem::text() const
{
    return line == 0 ? reason : "line " + std::to_string(line) + ": " + reason;
}

const Accounts& Accounts::of_system()
{
    static constexpr Accounts accounts{.user = &user_of_system, .group = &group_of_system};
    return accounts;
}

Result<Who> parse_who(const std::string& text, const Accounts& accounts)
{
    if (text == "anyone") return Who{};
    if (text == "local") return Who{.kind = Who::Kind::local};
    const std::size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    const std::string name = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (!name.empty() && name.size() <= limits::pattern_max) {
        if (kind == "user" || kind == "group") return account_of(name, kind == "group", accounts);
        if (kind == "network") return network_of(name);
        if (kind == "certificate" || kind == "subject")
            return Who{.kind = kind == "subject" ? Who::Kind::subject : Who::Kind::certificate,
                       .name = Pattern(written_subject(name), "/,")};
        if (kind == "login")
            return Who{.kind = Who::Kind::login,
                       .name = Pattern(written_login(name), login_separators)};
    }
    return wrong("'" + text +
                 "' is nobody: \"anyone\", \"local\", \"user:NAME\", \"group:NAME\", "
                 "\"network:ADDRESS/BITS\", \"certificate:NAME\", \"login:NAME\" and "
                 "\"subject:NAME\" are");
}

std::optional<Rules> parse_rules(std::string_view text, const std::string& file,
                                 const Accounts& accounts, std::vector<Problem>& problems)
{
    // The parser's tables are as deep as keys have dots, and it takes them apart by recursion.
    if (const std::size_t line = files::line_with_too_many_dots(text); line != 0) {
        problems.push_back({.line = line, .column = 1, .reason = "too many dotted keys"});
        return std::nullopt;
    }
    Reader reader(accounts, problems);
    try {
        reader.read(toml::parse(text, file));
    } catch (const toml::parse_error& failure) {
        reader.problem(failure.source(), std::string(failure.description()));
    }
    if (!problems.empty()) {
        std::ranges::sort(problems, {},
                          [](const Problem& each) { return std::pair(each.line, each.column); });
        return std::nullopt;
    }
    return Rules(std::move(reader.rules), reader.allows_others, file);
}

std::optional<Rules> read_rules(const std::string& file, std::vector<Problem>& problems)
{
    std::ifstream stream(file, std::ios::binary);
    std::string text(limits::file_max + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (!stream.is_open() || stream.bad() || text.size() > limits::file_max) {
        problems.push_back({.reason = !stream.is_open() || stream.bad()
                                          ? "it cannot be read"
                                          : "it is larger than 1 MiB"});
        return std::nullopt;
    }
    return parse_rules(text, file, Accounts::of_system(), problems);
}

} // namespace kairos::access
