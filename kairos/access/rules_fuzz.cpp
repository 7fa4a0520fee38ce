// SPDX-License-Identifier: Apache-2.0
//
// Any text as a file of rules: it is refused, with at least one problem that has a place, or else
// answers every request, the same each time; and what it leaves open without the object it decides
// with it, never otherwise than without.
#include "fuzz/bounds.h"
#include "kairos/access/rules_file.h"
#include "kairos/base/check.h"

#include <cstddef>
#include <cstdint>

using namespace kairos;

namespace {

constexpr access::Accounts accounts{
    .user = [](const std::string& name) -> std::optional<uid_t> {
        return name.size() % 2 == 0 ? std::optional<uid_t>(7) : std::nullopt;
    },
    .group = [](const std::string& name) -> std::optional<access::Accounts::Group> {
        if (name.size() % 2 != 0) return std::nullopt;
        return access::Accounts::Group{.id = 8, .members = {7}};
    }};

void ask(const access::Rules& rules, const access::Caller& caller)
{
    using Kind = access::Rules::Answer::Kind;
    for (const char* operation : {"start", "_get_speed", "_is_a"}) {
        const access::Target vague{.operation = operation};
        const access::Target whole{
            .operation = operation,
            .adapter = "RootPOA/Plant",
            .id = "7",
            .interface = "IDL:Plant/Press:1.0",
            .supports = [](std::string_view id) { return id == "IDL:Plant/Machine:1.0"; }};
        const auto first = rules.answer(caller, vague);
        const auto then = rules.answer(caller, whole);
        KAIROS_CHECK(then.kind != Kind::open);
        KAIROS_CHECK(first.kind == Kind::open || first.kind == then.kind);
        KAIROS_CHECK(!rules.name_of(then).empty());
    }
}

} // namespace

// Whoever runs the program has written the file; what is read of it is a tree with positions.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 512,
            .octets_beside = std::size_t{1} << 20,
            .comparisons_each = 2'000,
            .comparisons_beside = 2'000'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::vector<access::Problem> problems;
    const auto rules = access::parse_rules(text, "in.toml", accounts, problems);
    KAIROS_CHECK(rules.has_value() == problems.empty());
    for (const access::Problem& problem : problems)
        KAIROS_CHECK(problem.line != 0 && !problem.reason.empty());
    if (!rules) return 0;
    ask(*rules, {});
    ask(*rules, {.host = *access::Host::parse("192.0.2.1")});
    ask(*rules, {.host = {.family = AF_UNIX}, .process = ucred{.pid = 1, .uid = 7, .gid = 8}});
    access::Caller shows{.host = *access::Host::parse("::1")};
    shows.certificate = {.is_shown = true,
                         .subject = "CN=press,O=Plant",
                         .names = {"DNS:a.example", "URI:spiffe://plant/press"}};
    ask(*rules, shows);
    ask(*rules, {.login = "ann@plant"});
    return 0;
}
