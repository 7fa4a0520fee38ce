// SPDX-License-Identifier: Apache-2.0
#include "kairos/csiv2/settings.h"

#include "kairos/csi/context.h"
#include "kairos/files/toml_dots.h"

#include <algorithm>
#include <fstream>
#include <toml++/toml.h>
#include <utility>

namespace kairos::csiv2 {
namespace {

/// Whether `*`s stand for what they may: nobody is to be charged for the ways in which many do.
bool is_pattern(std::string_view text) { return !text.empty() && text.size() <= 1024; }

class Reader {
  public:
    Reader(std::string folder, std::vector<std::string>& problems)
        : folder_(std::move(folder)), problems_(problems)
    {
    }

    void read(const toml::table& root)
    {
        for (const auto& [key, node] : root) {
            if (key == "server")
                read_server(node);
            else if (key == "client")
                read_client(node);
            else if (key == "trust")
                read_trusts(node);
            else
                unknown(key, "[server], [client] and [[trust]]");
        }
        if (!trusts_.empty() && !settings.server)
            problems_.emplace_back("[[trust]] is of a server: there is no [server]");
        if (settings.server) settings.server->trusts = std::move(trusts_);
    }

    Settings settings;

  private:
    static constexpr std::size_t problems_max = 100;

    void problem(const toml::source_region& where, const std::string& reason)
    {
        if (problems_.size() < problems_max)
            problems_.push_back("line " + std::to_string(where.begin.line) + ": " + reason);
    }
    void unknown(const toml::key& key, const std::string& known)
    {
        problem(key.source(), "unknown key '" + std::string(key.str()) + "': there are " + known);
    }

    void read_text(const toml::node& node, const std::string& what, std::string& text)
    {
        const auto value = node.value_exact<std::string>();
        if (!value || value->size() > csi::limits::name_max ||
            value->find('\0') != std::string::npos)
            return problem(node.source(), what + " is a string of up to " +
                                              std::to_string(csi::limits::name_max) + " octets");
        text = *value;
    }
    void read_name(const toml::node& node, const std::string& what, std::string& name)
    {
        read_text(node, what, name);
        if (!name.empty() && !csi::is_name(name))
            problem(node.source(),
                    what + ": '" + name +
                        "' is no name: '@' stands once, between a user and a scope, '\\' "
                        "in front of '@' and '\\' only, and nothing controls a "
                        "terminal");
    }
    void read_flag(const toml::node& node, const std::string& what, bool& flag)
    {
        const auto value = node.value_exact<bool>();
        if (!value) return problem(node.source(), what + " is true or false");
        flag = *value;
    }
    /// Calls `use` with each string of a node that is one, or an array of them.
    template <typename Use>
    void for_each(const toml::node& node, const std::string& what, Use use)
    {
        const auto one = [&](const toml::node& each) {
            const auto text = each.value_exact<std::string>();
            if (!text || !is_pattern(*text))
                problem(each.source(), what + " is a string, or an array of them");
            else
                use(*text, each);
        };
        const toml::array* const all = node.as_array();
        if (all == nullptr) return one(node);
        for (const toml::node& each : *all)
            one(each);
    }
    [[nodiscard]] std::string path_of(const std::string& name) const
    {
        return name.empty() || name.starts_with('/') ? name : folder_ + name;
    }

    void read_server(const toml::node& node)
    {
        const toml::table* const table = node.as_table();
        if (table == nullptr) return problem(node.source(), "server is a table: [server]");
        ServerSettings server;
        for (const auto& [key, value] : *table) {
            if (key == "users") {
                read_text(value, "users", server.users);
                server.users = path_of(server.users);
            } else if (key == "target") {
                read_name(value, "target", server.target);
            } else if (key == "require") {
                read_flag(value, "require", server.is_required);
            } else if (key == "unprotected") {
                read_flag(value, "unprotected", server.is_unprotected);
            } else {
                unknown(key, "users, target, require and unprotected");
            }
        }
        settings.server = std::move(server);
    }

    void read_client(const toml::node& node)
    {
        const toml::table* const table = node.as_table();
        if (table == nullptr) return problem(node.source(), "client is a table: [client]");
        ClientSettings& client = settings.client;
        for (const auto& [key, value] : *table) {
            if (key == "user") {
                read_name(value, "user", client.user);
            } else if (key == "password_file") {
                std::string file;
                read_text(value, "password_file", file);
                if (file.empty())
                    problem(value.source(), "password_file names a file");
                else
                    read_password(value, path_of(file));
            } else if (key == "hosts") {
                for_each(value, "hosts", [&](const std::string& host, const toml::node&) {
                    client.hosts.push_back(host);
                });
            } else if (key == "unprotected") {
                read_flag(value, "unprotected", client.is_unprotected);
            } else {
                unknown(key, "user, password_file, hosts and unprotected");
            }
        }
        if (client.user.empty() != !table->contains("password_file"))
            problem(table->source(), "a client has user and password_file, or neither");
    }
    /// The first line of the file.
    void read_password(const toml::node& node, const std::string& file)
    {
        auto text = contents_of(file, 4 * csi::limits::name_max);
        if (!text) return problem(node.source(), "password_file: '" + file + "' cannot be read");
        text->resize(std::min(text->find('\n'), text->size()));
        if (text->ends_with('\r')) text->pop_back();
        if (text->empty() || text->size() > csi::limits::name_max)
            return problem(node.source(), "password_file: '" + file + "' has no password of 1 to " +
                                              std::to_string(csi::limits::name_max) + " octets");
        settings.client.password = std::move(*text);
    }

    void read_trusts(const toml::node& node)
    {
        const toml::array* const all = node.as_array();
        if (all == nullptr || !node.is_array_of_tables() || all->size() > limits::trusts_max)
            return problem(node.source(), "who is trusted is written [[trust]], up to " +
                                              std::to_string(limits::trusts_max) + " times");
        for (const toml::node& one : *all)
            read_trust(*one.as_table());
    }
    void read_trust(const toml::table& table)
    {
        Trust trust;
        for (const auto& [key, value] : table) {
            if (key == "who")
                for_each(value, "who", [&](const std::string& who, const toml::node& where) {
                    read_who(who, where, trust);
                });
            else if (key == "names")
                for_each(value, "names", [&](const std::string& name, const toml::node&) {
                    trust.names.push_back(name);
                });
            else if (key == "subjects")
                for_each(value, "subjects", [&](const std::string& name, const toml::node&) {
                    trust.subjects.push_back(name);
                });
            else if (key == "anonymous")
                read_flag(value, "anonymous", trust.anonymous);
            else
                unknown(key, "who, names, subjects and anonymous");
        }
        if (trust.users.empty() && trust.certificates.empty())
            problem(table.source(), R"(a trust says who: "user:NAME" or "certificate:NAME")");
        if (trust.names.empty() && trust.subjects.empty() && !trust.anonymous)
            problem(table.source(), "a trust says for whom: names, subjects, or anonymous = true");
        trusts_.push_back(std::move(trust));
    }
    void read_who(const std::string& who, const toml::node& where, Trust& trust)
    {
        constexpr std::string_view user = "user:";
        constexpr std::string_view certificate = "certificate:";
        if (who.starts_with(user) && csi::is_name(std::string_view(who).substr(user.size())))
            trust.users.push_back(who.substr(user.size()));
        else if (who.starts_with(certificate) && who.size() > certificate.size())
            trust.certificates.push_back(who.substr(certificate.size()));
        else
            problem(where.source(), "'" + who +
                                        "' is nobody: \"user:NAME\" and "
                                        "\"certificate:NAME\" are");
    }

    const std::string folder_;
    std::vector<std::string>& problems_;
    std::vector<Trust> trusts_;
};

/// `ends` are the characters that `*` does not stand for.
bool matches_within(std::string_view pattern, std::string_view text, std::string_view ends) noexcept
{
    std::size_t star = std::string_view::npos; // the last one, and what it stands for until now
    std::size_t stands_until = 0;
    std::size_t at = 0;
    std::size_t in_text = 0;
    while (in_text < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            stands_until = in_text;
        } else if (at < pattern.size() && pattern[at] == text[in_text]) {
            ++at;
            ++in_text;
        } else if (star != std::string_view::npos &&
                   ends.find(text[stands_until]) == std::string_view::npos) {
            at = star + 1;
            in_text = ++stands_until;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*')
        ++at;
    return at == pattern.size();
}

} // namespace

bool matches(std::string_view pattern, std::string_view text) noexcept
{
    return matches_within(pattern, text, "");
}

bool matches_subject(std::string_view pattern, std::string_view name) noexcept
{
    return pattern == "**" || matches_within(pattern, name, ",+/\\");
}

bool matches_name(std::string_view pattern, std::string_view name) noexcept
{
    const csi::ScopedName wanted = csi::scoped_name(pattern);
    const csi::ScopedName found = csi::scoped_name(name);
    return wanted.scope.has_value() == found.scope.has_value() &&
           matches(wanted.user, found.user) &&
           (!wanted.scope || matches(*wanted.scope, *found.scope));
}

std::optional<std::string> contents_of(const std::string& file, std::size_t max)
{
    constexpr std::size_t step = std::size_t{64} << 10; // no more memory than there is to read
    std::ifstream stream(file, std::ios::binary);
    std::string text;
    while (stream && text.size() <= max) {
        const std::size_t before = text.size();
        text.resize(std::min(before + step, max + 1));
        stream.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
        text.resize(before + static_cast<std::size_t>(stream.gcount()));
    }
    if (!stream.is_open() || stream.bad() || text.size() > max) return std::nullopt;
    return text;
}

std::optional<Settings> parse_settings(std::string_view text, const std::string& folder,
                                       std::vector<std::string>& problems)
{
    // As in kairos/access: the parser takes tables apart by recursion.
    if (const std::size_t line = files::line_with_too_many_dots(text); line != 0) {
        problems.push_back("line " + std::to_string(line) + ": too many dotted keys");
        return std::nullopt;
    }
    Reader reader(folder, problems);
    try {
        reader.read(toml::parse(text));
    } catch (const toml::parse_error& failure) {
        problems.push_back("line " + std::to_string(failure.source().begin.line) + ": " +
                           std::string(failure.description()));
    }
    if (!problems.empty()) return std::nullopt;
    return std::move(reader.settings);
}

Result<Settings> read_settings(const std::string& file)
{
    const auto wrong = [&](const std::string& reason) {
        return Error{ErrorCode::invalid_argument, "-ORBCsi " + file + ": " + reason};
    };
    const auto text = contents_of(file, limits::file_max);
    if (!text) return wrong("it cannot be read, or is larger than 1 MiB");
    std::vector<std::string> problems;
    const std::size_t slash = file.rfind('/');
    auto settings = parse_settings(
        *text, slash == std::string::npos ? "" : file.substr(0, slash + 1), problems);
    if (!settings) return wrong(problems.front());
    return std::move(*settings);
}

} // namespace kairos::csiv2
