// SPDX-License-Identifier: Apache-2.0
#include "kairos/access/rules.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

namespace kairos::access {
namespace {

bool is_within(const Host& host, const Host& network, unsigned bits)
{
    if (host.family != network.family) return false;
    const std::size_t whole = bits / 8;
    if (!std::equal(host.octets.begin(), host.octets.begin() + whole, network.octets.begin()))
        return false;
    if (bits % 8 == 0) return true;
    const std::byte differ = host.octets[whole] ^ network.octets[whole];
    return std::to_integer<unsigned>(differ) >> (8 - bits % 8) == 0;
}

} // namespace

Host Host::of(const sockaddr& address) noexcept
{
    Host host{.family = address.sa_family};
    if (address.sa_family == AF_INET) {
        std::memcpy(host.octets.data(), &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    } else if (address.sa_family == AF_INET6) {
        const in6_addr& octets = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&octets);
        if (is_mapped) host.family = AF_INET;
        std::memcpy(host.octets.data(), octets.s6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 16);
    } else if (address.sa_family != AF_UNIX) {
        host.family = AF_UNSPEC;
    }
    return host;
}

std::optional<Host> Host::parse(const std::string& text)
{
    Host host{.family = AF_INET};
    if (::inet_pton(AF_INET, text.c_str(), host.octets.data()) == 1) return host;
    sockaddr_in6 native{};
    native.sin6_family = AF_INET6;
    if (::inet_pton(AF_INET6, text.c_str(), &native.sin6_addr) != 1) return std::nullopt;
    return of(reinterpret_cast<const sockaddr&>(native));
}

bool Host::is_loopback() const noexcept
{
    if (family == AF_INET) return octets[0] == std::byte{127};
    in6_addr address{};
    std::memcpy(&address, octets.data(), sizeof address);
    return family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address);
}

std::string Host::text() const
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (family == AF_UNIX) return "this host";
    if (family == AF_UNSPEC) return "somewhere";
    return ::inet_ntop(family, octets.data(), text.data(), text.size());
}

std::string written(Bytes octets)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const std::byte octet : octets) {
        const auto c = std::to_integer<unsigned char>(octet);
        if (c > ' ' && c <= '~' && c != '%' && c != '/') {
            text += static_cast<char>(c);
            continue;
        }
        text += '%';
        text += digits[c >> 4];
        text += digits[c & 15];
    }
    return text;
}

std::string written_subject(std::string_view subject)
{
    constexpr std::string_view escaped_alone = ",+\"\\<>;=# ";
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (std::size_t at = 0; at < subject.size(); ++at) {
        text += subject[at];
        if (subject[at] != '\\' || at + 1 == subject.size()) continue;
        const char next = subject[++at]; // taken with the backslash, whatever it is
        if (escaped_alone.find(next) == std::string_view::npos) {
            text += next;
            continue;
        }
        const auto c = static_cast<unsigned char>(next);
        text += digits[c >> 4];
        text += digits[c & 15];
    }
    return text;
}

namespace {

/// The first name that it has; empty for none.
std::string name_of(const orb::PeerCertificate& certificate)
{
    if (!certificate.subject.empty() || certificate.names.empty()) return certificate.subject;
    return certificate.names.front();
}

bool has_name(const orb::PeerCertificate& certificate, const Pattern& pattern)
{
    return certificate.is_shown && (pattern.matches(certificate.subject) ||
                                    std::ranges::any_of(certificate.names, [&](const auto& each) {
                                        return pattern.matches(each);
                                    }));
}

} // namespace

std::string Caller::text() const
{
    if (is_unknown) return "an unreadable certificate";
    if (!login.empty()) return "login " + login; // which nobody else's text begins with
    if (subject.is_shown) return "subject " + name_of(subject);
    if (certificate.is_shown && !name_of(certificate).empty()) return name_of(certificate);
    if (process) return "user " + std::to_string(process->uid);
    return host.text();
}

bool Who::is(const Caller& caller) const
{
    switch (kind) {
    case Kind::anyone:
        return true;
    case Kind::local:
        return caller.host.family == AF_UNIX || caller.host.is_loopback();
    case Kind::user:
        return caller.process && caller.process->uid == id;
    case Kind::group:
        return caller.process && (caller.process->gid == id ||
                                  std::ranges::binary_search(members, caller.process->uid));
    case Kind::network:
        return is_within(caller.host, address, bits);
    case Kind::certificate:
        return has_name(caller.certificate, *name);
    case Kind::login:
        return !caller.login.empty() && name->matches(written_login(caller.login));
    case Kind::subject:
        return has_name(caller.subject, *name);
    }
    return false;
}

Rule::Match Rule::match(const Caller& caller, const Target& target) const
{
    Match match;
    // Whoever may be anywhere gets in by no place, and out by each.
    const auto is_meant = [&](const Who& each) {
        return each.is(caller) || (caller.is_from_nowhere && !allows && each.is_a_place());
    };
    if (std::ranges::none_of(who, is_meant)) {
        if (std::ranges::none_of(who, [&](const Who& each) { return each.may_be(caller); }))
            return {.other = Part::who};
        match.unknown = Part::who;
    }
    if (std::ranges::none_of(operations,
                             [&](const Pattern& each) { return each.matches(target.operation); }))
        return {.other = Part::operation};
    const auto look = [&](Part part, const std::optional<Pattern>& wanted,
                          const std::optional<std::string>& known) {
        if (!wanted) return true;
        if (!known)
            match.unknown = part;
        else if (!wanted->matches(*known))
            match.other = part;
        return match.other == Part::none;
    };
    if (!look(Part::adapter, adapter, target.adapter) || !look(Part::id, id, target.id) ||
        !interface)
        return match;
    match.by_interface = true;
    if (target.interface && interface->matches(*target.interface)) return match;
    if (!target.interface || (interface->is_plain() && !target.supports))
        match.unknown = Part::interface; // what it is derived from is not known, either
    else if (!interface->is_plain() || !target.supports(interface->text()))
        match.other = Part::interface;
    return match;
}

Rules::Rules(std::vector<Rule> rules, bool allows_others, std::string file)
    : rules_(std::move(rules)), allows_others_(allows_others), file_(std::move(file))
{
    for (const Rule& rule : rules_)
        names_logins_ = names_logins_ || std::ranges::any_of(rule.who, [](const Who& who) {
                            return who.kind == Who::Kind::login || who.kind == Who::Kind::subject;
                        });
}

Rules::Answer Rules::answer(const Caller& caller, const Target& target) const
{
    using Kind = Answer::Kind;
    // Whoever looks for an operation as text that ends with its first NUL calls another one.
    if (caller.is_unknown || target.operation.size() > limits::name_max ||
        target.operation.find('\0') != std::string_view::npos)
        return {};
    Answer answer;
    bool may_be_denied = false;
    for (const Rule& rule : rules_) {
        const Rule::Match match = rule.match(caller, target);
        answer.by_interface = answer.by_interface || match.by_interface;
        if (match.other != Rule::Part::none) continue;
        const bool may_match = match.unknown != Rule::Part::none;
        if (may_match && !rule.allows) { // what follows may deny it as well, and then does
            may_be_denied = true;
            continue;
        }
        answer.kind = !rule.allows                 ? Kind::deny
                      : may_match || may_be_denied ? Kind::open
                                                   : Kind::allow;
        answer.rule = &rule;
        return answer;
    }
    answer.kind = !allows_others_ ? Kind::deny : may_be_denied ? Kind::open : Kind::allow;
    return answer;
}

std::string Rules::name_of(const Answer& answer) const
{
    return answer.rule == nullptr ? file_ + ": default"
                                  : file_ + ":" + std::to_string(answer.rule->line);
}

} // namespace kairos::access
