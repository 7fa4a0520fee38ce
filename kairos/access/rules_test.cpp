// SPDX-License-Identifier: Apache-2.0
//
// What rules say of a request, what is wrong with files, and what is remembered of answers.
#include "kairos/access/decisions.h"
#include "kairos/access/rules_file.h"

#include <arpa/inet.h>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace kairos::access {
namespace {

// --- patterns ------------------------------------------------------------------------------------

/// The definition, by trying everything.
bool matches_by_definition(std::string_view pattern, std::string_view name,
                           std::string_view separators)
{
    if (pattern.empty()) return name.empty();
    if (pattern.front() != '*')
        return !name.empty() && name.front() == pattern.front() &&
               matches_by_definition(pattern.substr(1), name.substr(1), separators);
    const bool is_any = pattern.starts_with("**");
    const std::string_view rest = pattern.substr(is_any ? 2 : 1);
    for (std::size_t size = 0; size <= name.size(); ++size) {
        if (size != 0 && !is_any && separators.find(name[size - 1]) != std::string_view::npos)
            return false;
        if (matches_by_definition(rest, name.substr(size), separators)) return true;
    }
    return false;
}

TEST(Pattern, StarsStandForPartsOrAll)
{
    EXPECT_TRUE(Pattern("bind", "").matches("bind"));
    EXPECT_FALSE(Pattern("bind", "").matches("binds"));
    EXPECT_TRUE(Pattern("RootPOA/*", "/").matches("RootPOA/Plant"));
    EXPECT_FALSE(Pattern("RootPOA/*", "/").matches("RootPOA/Plant/Robots"));
    EXPECT_TRUE(Pattern("RootPOA/**", "/").matches("RootPOA/Plant/Robots"));
    EXPECT_FALSE(Pattern("RootPOA/**", "/").matches("RootPOA"));
    EXPECT_TRUE(Pattern("CN=op*", "/,").matches("CN=op7"));
    EXPECT_FALSE(Pattern("CN=op*", "/,").matches("CN=op7,O=Elsewhere"));
    EXPECT_TRUE(Pattern("URI:spiffe://plant/*", "/,").matches("URI:spiffe://plant/press"));
    EXPECT_FALSE(Pattern("URI:spiffe://plant/*", "/,").matches("URI:spiffe://plant/press/7"));
}

TEST(Pattern, IsWhatItsDefinitionSays)
{
    std::mt19937 random(7);
    const auto text = [&](std::string_view letters, unsigned most) {
        std::string made(random() % (most + 1), ' ');
        for (char& c : made)
            c = letters[random() % letters.size()];
        return made;
    };
    int matched = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::string pattern = text("ab/**", 8);
        const std::string name = text("ab/", 8);
        const bool expected = matches_by_definition(pattern, name, "/");
        matched += expected ? 1 : 0;
        ASSERT_EQ(Pattern(pattern, "/").matches(name), expected) << pattern << " " << name;
    }
    EXPECT_GT(matched, 1000);
}

// --- files ---------------------------------------------------------------------------------------

std::optional<uid_t> test_user(const std::string& name)
{
    if (name == "alice") return 1001;
    if (name == "bob") return 1002;
    return std::nullopt;
}
std::optional<Accounts::Group> test_group(const std::string& name)
{
    if (name == "operators") return Accounts::Group{.id = 2000, .members = {1001}};
    return std::nullopt;
}
constexpr Accounts accounts{.user = &test_user, .group = &test_group};

Rules rules_of(std::string_view text)
{
    std::vector<Problem> problems;
    auto rules = parse_rules(text, "r.toml", accounts, problems);
    EXPECT_TRUE(rules) << problems.at(0).text();
    return rules ? std::move(*rules) : Rules();
}

/// The first problem, and how many there are.
std::string problems_of(std::string_view text)
{
    std::vector<Problem> problems;
    EXPECT_FALSE(parse_rules(text, "r.toml", accounts, problems));
    return problems.empty() ? "none"
                            : problems[0].text() + " [" + std::to_string(problems.size()) + "]";
}

TEST(RulesFile, SaysWhatIsWrongAndWhere)
{
    struct Wrong {
        const char* text;
        const char* problem;
    };
    const Wrong all[] = {
        {"default = \"maybe\"", R"(line 1: default is "allow" or "deny" [1])"},
        {"\nrules = 7", "line 2: unknown key 'rules': a file has default and [[rule]] [1]"},
        {"[rule]\nwho = \"anyone\"", "line 1: rules are written [[rule]] [1]"},
        {"[[rule]]\nwho = \"anyone\"",
         "line 1: a rule has either allow or deny, which says what operations [1]"},
        {"[[rule]]\nwho = \"anyone\"\nallow = \"*\"\ndeny = \"*\"",
         "line 1: a rule has either allow or deny, which says what operations [1]"},
        {"[[rule]]\nallow = \"*\"", "line 1: a rule says who: \"anyone\" or others [1]"},
        {"[[rule]]\nwho = []\nallow = \"*\"", "line 2: who is a string, or an array of them [1]"},
        {"[[rule]]\nwho = \"anyone\"\nallow = [7]",
         "line 3: operations are a string, or an array of them [1]"},
        {"[[rule]]\nwho = \"anyone\"\nallow = \"\"",
         "line 3: expected a name or a pattern, of 1 to 1000 characters [1]"},
        {"[[rule]]\nwho = \"user:carol\"\nallow = \"*\"",
         "line 2: there is no user 'carol' on this host [1]"},
        {"[[rule]]\nwho = \"group:wheel\"\nallow = \"*\"",
         "line 2: there is no group 'wheel' on this host [1]"},
        {"[[rule]]\nwho = \"network:10.0.0.0/33\"\nallow = \"*\"",
         "line 2: '10.0.0.0/33': a network has 0 to 32 bits [1]"},
        {"[[rule]]\nwho = \"network:::ffff:10.0.0.0/95\"\nallow = \"*\"",
         "line 2: '::ffff:10.0.0.0/95': a network has 96 to 128 bits [1]"},
        {"[[rule]]\nwho = \"anyone\"\nallow = \"*\"\nkey = \"NameService\"",
         "line 4: unknown key 'key': a rule has who, adapter, id, interface, and allow or deny "
         "[1]"},
        {"[[rule]]\nwho = \"network:plant.example\"\nallow = \"*\"",
         "line 2: 'plant.example' is no network, such as 192.0.2.0/24 or 2001:db8::/32 [1]"},
        {"[[rule]]\nwho = \"somebody\"\nallow = \"*\"",
         "line 2: 'somebody' is nobody: \"anyone\", \"local\", \"user:NAME\", \"group:NAME\", "
         "\"network:ADDRESS/BITS\", \"certificate:NAME\", \"login:NAME\" and "
         "\"subject:NAME\" are [1]"},
        {"[[rule]]\nwho = \"anyone\"\nalow = \"*\"\nadapter = \"Plant\"",
         "line 1: a rule has either allow or deny, which says what operations [3]"},
        {"[[rule]]\nwho = \"anyone\"\nallow = \"*\"\nadapter = \"Plant\"",
         "line 4: adapters are named from the root: \"RootPOA/Plant\" [1]"},
    };
    for (const Wrong& wrong : all)
        EXPECT_EQ(problems_of(wrong.text), wrong.problem) << wrong.text;
    EXPECT_TRUE(problems_of("[[rule").starts_with("line 1: "));
    std::string dots = "\na";
    for (int i = 0; i < 1001; ++i)
        dots += ".a";
    EXPECT_EQ(problems_of(dots + " = 1"), "line 2: too many dotted keys [1]");
    std::string many;
    for (std::size_t i = 0; i <= limits::rules_max; ++i)
        many += "[[rule]]\nwho=\"anyone\"\nallow=\"*\"\n";
    EXPECT_TRUE(problems_of(many).ends_with("there are more than 10000 rules [1]"));
}

TEST(RulesFile, ThatIsNotThereOrTooLargeIsAProblem)
{
    std::vector<Problem> problems;
    EXPECT_FALSE(read_rules("/nowhere/rules.toml", problems));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].text(), "it cannot be read");
    problems.clear();
    EXPECT_FALSE(read_rules("/dev/zero", problems));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].text(), "it is larger than 1 MiB");
}

TEST(RulesFile, KnowsTheSystemsAccounts)
{
    const auto user = parse_who("user:root", Accounts::of_system());
    ASSERT_TRUE(user);
    EXPECT_EQ(user->id, 0u);
    const auto group = parse_who("group:root", Accounts::of_system());
    ASSERT_TRUE(group);
    EXPECT_EQ(group->id, 0u);
    EXPECT_FALSE(parse_who("user:nobody has such a name", Accounts::of_system()));
}

// --- answers -------------------------------------------------------------------------------------

Caller from(const char* address) { return {.host = *Host::parse(address)}; }
Caller user(uid_t uid, gid_t gid)
{
    return {.host = {.family = AF_UNIX}, .process = ucred{.pid = 1, .uid = uid, .gid = gid}};
}
Caller shows(std::string subject, std::vector<std::string> names = {})
{
    Caller caller = from("192.0.2.1");
    caller.certificate = {
        .is_shown = true, .subject = std::move(subject), .names = std::move(names)};
    return caller;
}

TEST(Who, IsWhoTheRuleNames)
{
    const auto is = [](const char* who, const Caller& caller) {
        return parse_who(who, accounts).value().is(caller);
    };
    struct Case {
        const char* who;
        std::vector<Caller> they;
        std::vector<Caller> others;
    };
    Caller unsigned_one = from("192.0.2.1");
    unsigned_one.certificate.subject = "CN=press"; // that nobody has looked at
    const Case cases[] = {
        {"anyone", {from("192.0.2.1"), user(1, 1), shows("")}, {}},
        {"local",
         {from("127.0.0.1"), from("127.9.9.9"), from("::1"), user(1, 1)},
         {from("192.0.2.1"), from("::2"), {}}},
        {"user:alice", {user(1001, 1)}, {user(1002, 2000), from("127.0.0.1"), shows("CN=alice")}},
        {"user:7", {user(7, 1)}, {user(1, 7)}},
        {"group:operators", {user(1001, 1), user(5, 2000)}, {user(1002, 1), from("127.0.0.1")}},
        {"network:192.0.2.0/24",
         {from("192.0.2.0"), from("192.0.2.255"), shows("CN=press")},
         {from("192.0.3.0"), from("::1"), user(1, 1)}},
        {"network:192.0.2.128/25", {from("192.0.2.128")}, {from("192.0.2.127")}},
        {"network:192.0.2.1", {from("192.0.2.1")}, {from("192.0.2.2")}},
        {"network:::ffff:192.0.2.1", {from("192.0.2.1")}, {from("192.0.2.2")}},
        {"network:::ffff:10.0.0.0/104", {from("10.9.9.9")}, {from("11.0.0.0"), from("::1")}},
        {"network:0.0.0.0/0", {from("192.0.2.1")}, {from("::1"), user(1, 1)}},
        {"network:2001:db8::/33", {from("2001:db8:7fff::1")}, {from("2001:db8:8000::1")}},
        {"certificate:CN=press",
         {shows("CN=press")},
         {shows("CN=press,O=Plant"), from("192.0.2.1"), unsigned_one}},
        {"certificate:CN=*,O=Plant",
         {shows("CN=press,O=Plant"), shows(written_subject("CN=a\\+b\\\\,O=Plant"))},
         {shows(written_subject("CN=evil\\,O=Plant")),
          shows(written_subject("CN=evil\\\\\\,O=Plant"))}},
        {"certificate:CN=press\\, Inc,O=Plant",
         {shows(written_subject("CN=press\\, Inc,O=Plant"))},
         {shows("CN=press, Inc,O=Plant")}},
        {"certificate:URI:spiffe://plant/*",
         {shows("", {"DNS:a.example", "URI:spiffe://plant/press"})},
         {shows("CN=URI:spiffe://plant"), shows("", {"URI:spiffe://plant/press/7"})}},
    };
    for (const Case& each : cases) {
        for (const Caller& caller : each.they)
            EXPECT_TRUE(is(each.who, caller)) << each.who << " " << caller.text();
        for (const Caller& caller : each.others)
            EXPECT_FALSE(is(each.who, caller)) << each.who << " " << caller.text();
    }
}

TEST(Host, OfIpv4WithinIpv6IsOfIpv4)
{
    sockaddr_in6 native{};
    native.sin6_family = AF_INET6;
    ASSERT_EQ(::inet_pton(AF_INET6, "::ffff:192.0.2.1", &native.sin6_addr), 1);
    EXPECT_EQ(Host::of(reinterpret_cast<const sockaddr&>(native)).text(), "192.0.2.1");
    EXPECT_EQ(Host::parse("::ffff:192.0.2.1")->text(), "192.0.2.1");
}

constexpr const char* plant = R"(
[[rule]]
who = "certificate:CN=stranger"
deny = "**"

[[rule]]
who = ["user:alice", "certificate:CN=press"]
adapter = "RootPOA/Plant/**"
id = "7"
allow = ["start", "set_*"]

[[rule]]
who = "anyone"
interface = "IDL:Plant/Machine:1.0"
allow = ["_is_a", "_get_*"]

[[rule]]
who = "network:192.0.2.0/24"
id = "NameService"
allow = "resolve"
)";

/// "allow 7" by the rule in line 7; "deny 0" by the default.
std::string answer(const Rules& rules, const Caller& caller, const Target& target)
{
    const Rules::Answer answer = rules.answer(caller, target);
    constexpr const char* kinds[] = {"allow ", "deny ", "open "};
    return kinds[static_cast<int>(answer.kind)] +
           std::to_string(answer.rule == nullptr ? 0 : answer.rule->line);
}

TEST(Rules, TheFirstThatMatchesDecides)
{
    const Rules rules = rules_of(plant);
    const Target seven{
        .operation = "start",
        .adapter = "RootPOA/Plant/Presses",
        .id = "7",
        .interface = "IDL:Plant/Press:1.0",
        .supports = [](std::string_view id) { return id == "IDL:Plant/Machine:1.0"; }};
    Target eight = seven;
    eight.id = "8";
    Target getter = seven;
    getter.operation = "_get_speed";
    Target foreign = getter;
    foreign.supports = [](std::string_view) { return false; };
    Target vague = getter; // what it is derived from is not known
    vague.supports = {};
    Target initial{.operation = "resolve", .adapter = "RootPOA", .id = "NameService"};
    EXPECT_EQ(answer(rules, user(1001, 1), seven), "allow 6");
    EXPECT_EQ(answer(rules, shows("CN=press"), seven), "allow 6");
    EXPECT_EQ(answer(rules, user(1002, 1), seven), "deny 0");
    EXPECT_EQ(answer(rules, user(1001, 1), eight), "deny 0");
    EXPECT_EQ(answer(rules, user(1002, 1), getter), "allow 12");
    EXPECT_EQ(answer(rules, user(1002, 1), foreign), "deny 0");
    EXPECT_EQ(answer(rules, user(1002, 1), vague), "open 12");
    EXPECT_EQ(answer(rules, shows("CN=stranger"), getter), "deny 2");
    EXPECT_EQ(answer(rules, from("192.0.2.9"), initial), "allow 17");
    EXPECT_EQ(answer(rules, from("192.0.3.9"), initial), "deny 0");
    EXPECT_TRUE(rules.answer(user(1002, 1), getter).by_interface);
    EXPECT_FALSE(rules.answer(user(1001, 1), seven).by_interface);
    EXPECT_EQ(rules.name_of(rules.answer(user(1001, 1), seven)), "r.toml:6");
    EXPECT_EQ(rules.name_of(rules.answer(user(1002, 1), seven)), "r.toml: default");
}

TEST(Rules, WhatIsNotKnownYetIsLeftOpenWhereItMatters)
{
    const Rules rules = rules_of(plant);
    const Target unknown{.operation = "start"};
    EXPECT_EQ(answer(rules, user(1001, 1), unknown), "open 6");
    EXPECT_EQ(answer(rules, user(1002, 1), unknown), "deny 0"); // whatever the object is
    EXPECT_EQ(answer(rules, shows("CN=stranger"), unknown), "deny 2");
    const Rules but = rules_of("default = \"allow\"\n[[rule]]\nwho = \"anyone\"\nid = \"7\"\n"
                               "deny = \"start\"");
    EXPECT_EQ(answer(but, user(1, 1), unknown), "open 0");
    EXPECT_EQ(answer(but, user(1, 1), {.operation = "stop"}), "allow 0");
}

TEST(Rules, WhatNobodyCouldSayIsDenied)
{
    const Rules all = rules_of("default = \"allow\"");
    Caller unknown = from("192.0.2.1");
    EXPECT_EQ(answer(all, unknown, {.operation = "start"}), "allow 0");
    unknown.is_unknown = true;
    EXPECT_EQ(answer(all, unknown, {.operation = "start"}), "deny 0");
    const std::string name(limits::name_max + 1, 'a');
    EXPECT_EQ(answer(all, from("192.0.2.1"), {.operation = name}), "deny 0");
    // What is shorter for whoever reads it as C does.
    for (const std::string_view operation :
         {std::string_view("start\0_read", 11), std::string_view("start\0", 6),
          std::string_view("\0", 1)})
        EXPECT_EQ(answer(all, from("192.0.2.1"), {.operation = operation}), "deny 0");
    EXPECT_EQ(answer(rules_of(""), from("192.0.2.1"), {.operation = "start"}), "deny 0");
}

TEST(Rules, WhoseOriginNothingProvesIsLetInByNoPlaceAndKeptOutByEach)
{
    Caller nobody;
    nobody.is_from_nowhere = true;
    for (const char* place : {"local", "network:0.0.0.0/0", "network:192.0.2.1"}) {
        const std::string who = "[[rule]]\nwho = \"" + std::string(place) + "\"\n";
        EXPECT_EQ(answer(rules_of(who + "allow = \"**\""), nobody, {.operation = "start"}),
                  "deny 0");
        const Rules but = rules_of("default = \"allow\"\n" + who + "deny = \"start\"");
        EXPECT_EQ(answer(but, nobody, {.operation = "start"}), "deny 2");
        EXPECT_EQ(answer(but, nobody, {.operation = "stop"}), "allow 0");
        EXPECT_EQ(answer(but, from("198.51.100.7"), {.operation = "start"}),
                  std::string_view(place) == "network:0.0.0.0/0" ? "deny 2" : "allow 0");
    }
    const Rules anyone = rules_of("[[rule]]\nwho = \"anyone\"\nallow = \"start\"");
    EXPECT_EQ(answer(anyone, nobody, {.operation = "start"}), "allow 1");
}

TEST(Rules, GroupsThatAreNotKnownLeaveItOpen)
{
    const Rules rules = rules_of("[[rule]]\nwho = \"group:operators\"\nallow = \"start\"");
    Caller bob = user(1002, 1);
    EXPECT_EQ(answer(rules, bob, {.operation = "start"}), "deny 0");
    bob.has_other_groups = true;
    EXPECT_EQ(answer(rules, bob, {.operation = "start"}), "open 1");
    EXPECT_EQ(answer(rules, bob, {.operation = "stop"}), "deny 0");
}

TEST(Rules, SubjectsHaveCommasBetweenNamesAlone)
{
    EXPECT_EQ(written_subject("CN=press,O=Plant"), "CN=press,O=Plant");
    EXPECT_EQ(written_subject(R"(CN=a\,b\+c\\,O=\C3\A4)"), R"(CN=a\2Cb\2Bc\5C,O=\C3\A4)");
    EXPECT_EQ(written_subject(R"(CN=a\\2C)"), R"(CN=a\5C2C)");
    EXPECT_EQ(written_subject("CN=a\\"), "CN=a\\");
}

TEST(Rules, NamesAreWrittenSoThatTheirPartsAreKnown)
{
    EXPECT_EQ(written(as_bytes("a/b%c \n\xFF")), "a%2Fb%25c%20%0A%FF");
    EXPECT_EQ(written(as_bytes("Robot,7*")), "Robot,7*");
}

// --- what is remembered --------------------------------------------------------------------------

TEST(Decisions, AreOfOneCallerObjectOperationAndGeneration)
{
    Decisions decisions;
    const Identity who{.first = 1, .second = 2};
    const std::string key = "a key of 24 octets, so..";
    EXPECT_FALSE(decisions.has(1, who, as_bytes(key), "start"));
    decisions.add(1, who, as_bytes(key), "start");
    EXPECT_TRUE(decisions.has(1, who, as_bytes(key), "start"));
    EXPECT_FALSE(decisions.has(2, who, as_bytes(key), "start"));
    EXPECT_FALSE(decisions.has(1, {.first = 1, .second = 3}, as_bytes(key), "start"));
    EXPECT_FALSE(decisions.has(1, who, as_bytes(key), "stop"));
    EXPECT_FALSE(decisions.has(1, who, as_bytes(key + "."), "start"));
    // Nobody is remembered without an identity, and nothing that is too long.
    decisions.add(1, {}, as_bytes(key), "start");
    EXPECT_FALSE(decisions.has(1, {}, as_bytes(key), "start"));
    const std::string longer(200, 'k');
    decisions.add(1, who, as_bytes(longer), "start");
    EXPECT_FALSE(decisions.has(1, who, as_bytes(longer), "start"));
}

TEST(Decisions, TellAllSizesApart)
{
    // Of each size, each octet counts.
    for (std::size_t size = 0; size <= 40; ++size) {
        Decisions decisions;
        const Identity who{.first = 1, .second = 2};
        const std::string name(size, 'x');
        decisions.add(1, who, as_bytes("key"), name);
        EXPECT_TRUE(decisions.has(1, who, as_bytes("key"), name)) << size;
        EXPECT_FALSE(decisions.has(1, who, as_bytes("key"), name + "x")) << size;
        for (std::size_t at = 0; at < size; ++at) {
            std::string other = name;
            other[at] = 'y';
            EXPECT_FALSE(decisions.has(1, who, as_bytes("key"), other)) << size << " " << at;
        }
    }
}

TEST(Decisions, AreAsManyAsTheTableHas)
{
    Decisions decisions;
    const Identity who{.first = 1, .second = 2};
    const auto key = [](std::size_t i) { return "object number " + std::to_string(i); };
    constexpr std::size_t asked = 100 * Decisions::entries;
    for (std::size_t i = 0; i < asked; ++i)
        decisions.add(1, who, as_bytes(key(i)), "start");
    std::size_t known = 0;
    for (std::size_t i = 0; i < asked; ++i)
        known += decisions.has(1, who, as_bytes(key(i)), "start") ? 1 : 0;
    EXPECT_LE(known, Decisions::entries);
    EXPECT_GT(known, Decisions::entries / 2);
    EXPECT_TRUE(decisions.has(1, who, as_bytes(key(asked - 1)), "start"));
}

/// What was never added is never found, whoever writes meanwhile.
TEST(Decisions, AreWholeWhileOthersWrite)
{
    Decisions decisions;
    std::atomic<int> writing{2};
    constexpr Identity who{.first = 1, .second = 2};
    // All have their place by the caller, the operation and the last word: it is the same one.
    const auto key = [](unsigned left, unsigned right) {
        return std::string(8, static_cast<char>('A' + left)) +
               std::string(8, static_cast<char>('A' + right)) + "the same";
    };
    const auto write = [&](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 200'000; ++i) {
            const auto n = static_cast<unsigned>(random() % 26);
            decisions.add(1, who, as_bytes(key(n, n)), "start"); // both halves alike
        }
        --writing;
    };
    std::thread one(write, 1);
    std::thread other(write, 2);
    std::mt19937 random(3);
    unsigned mixed = 0;
    while (writing != 0) {
        const auto left = static_cast<unsigned>(random() % 26);
        const auto right = static_cast<unsigned>((left + 1 + random() % 25) % 26);
        mixed += decisions.has(1, who, as_bytes(key(left, right)), "start") ? 1 : 0;
    }
    one.join();
    other.join();
    EXPECT_EQ(mixed, 0u);
    unsigned known = 0;
    for (unsigned n = 0; n < 26; ++n)
        known += decisions.has(1, who, as_bytes(key(n, n)), "start") ? 1 : 0;
    EXPECT_EQ(known, 1u) << "they have not one place";
}

TEST(RecentDecisions, AreOfOneCallerObjectOperationAndGeneration)
{
    constexpr std::uint64_t first = std::uint64_t{1} << 32;
    constexpr std::uint64_t second = std::uint64_t{2} << 32;
    const std::string key = "a key of 24 octets, so..";
    // Of each size, each octet counts, and all of the size.
    for (std::size_t size = 0; size <= 40; ++size) {
        RecentDecisions recent;
        const std::string name(size, 'x');
        const auto knows = [&](const std::string& asked) {
            return recent.has(first, 7, as_bytes(key), asked);
        };
        EXPECT_FALSE(knows(name)) << size;
        recent.add(first, 7, as_bytes(key), name);
        EXPECT_EQ(knows(name), size <= RecentDecisions::name_max) << size;
        EXPECT_FALSE(knows(name + "x")) << size;
        EXPECT_FALSE(knows(name + std::string(256, 'x'))) << size;
        for (std::size_t at = 0; at < size; ++at) {
            std::string other = name;
            other[at] = 'y';
            EXPECT_FALSE(knows(other)) << size << " " << at;
        }
    }
    RecentDecisions recent;
    recent.add(first, 7, as_bytes(key), "start");
    ASSERT_TRUE(recent.has(first, 7, as_bytes(key), "start"));
    for (std::size_t at = 0; at < key.size(); ++at) {
        std::string other = key;
        other[at] = '!';
        EXPECT_FALSE(recent.has(first, 7, as_bytes(other), "start")) << at;
    }
    EXPECT_FALSE(recent.has(second, 7, as_bytes(key), "start"));
    EXPECT_FALSE(recent.has(0, 7, as_bytes(key), "start"));
    EXPECT_FALSE(recent.has(first, 7 + RecentDecisions::entries, as_bytes(key), "start"));
    EXPECT_FALSE(recent.has(first, 0, as_bytes(key), "start"));
    EXPECT_FALSE(RecentDecisions{}.has(0, 0, as_bytes(std::string(24, '\0')), ""));
    // Another of the same place takes it; its place was free, or is of rules of before.
    EXPECT_TRUE(recent.is_taken(first, 7 + RecentDecisions::entries, as_bytes(key), "start"));
    EXPECT_FALSE(recent.is_taken(second, 7 + RecentDecisions::entries, as_bytes(key), "start"));
    EXPECT_FALSE(recent.is_taken(first, 8, as_bytes(key), "start"));
    EXPECT_FALSE(recent.is_taken(first, 7, as_bytes(key + "id"), "start"));
    recent.add(first, 7 + RecentDecisions::entries, as_bytes(key), "start");
    EXPECT_TRUE(recent.has(first, 7 + RecentDecisions::entries, as_bytes(key), "start"));
    EXPECT_FALSE(recent.has(first, 7, as_bytes(key), "start"));
    // Neither nobody is remembered, nor a key of another size, such as one that has an id.
    recent.add(first, 0, as_bytes(key), "stop");
    EXPECT_FALSE(recent.has(first, 0, as_bytes(key), "stop"));
    recent.add(first, 7, as_bytes(key + "id"), "stop");
    EXPECT_FALSE(recent.has(first, 7, as_bytes(key + "id"), "stop"));
    EXPECT_FALSE(recent.has(first, 7, as_bytes(key), "stop"));
}

TEST(AccessRules, LookForWhomARequestIsMade)
{
    std::vector<Problem> problems;
    const auto rules = parse_rules("[[rule]]\nwho = \"login:bob\"\ndeny = \"stop\"\n"
                                   "[[rule]]\nwho = \"login:*@plant\"\nallow = \"*\"\n"
                                   "[[rule]]\nwho = \"login:bob\"\nallow = \"*\"\n",
                                   "r", Accounts::of_system(), problems);
    ASSERT_TRUE(rules.has_value());
    EXPECT_TRUE(rules->names_logins());
    using Kind = Rules::Answer::Kind;
    const auto answer = [&](const Caller& caller, const char* operation) {
        return rules->answer(caller, {.operation = operation}).kind;
    };
    EXPECT_EQ(answer({.login = "ann@plant"}, "stop"), Kind::allow);
    EXPECT_EQ(answer({.login = "ann@plant@other"}, "stop"), Kind::deny);
    EXPECT_EQ(answer({.login = R"(ann\@plant)"}, "stop"), Kind::deny) << "of no scope";
    EXPECT_EQ(answer({.login = "bob"}, "stop"), Kind::deny);
    EXPECT_EQ(answer({.login = "bob"}, "start"), Kind::allow);
    EXPECT_EQ(answer({}, "start"), Kind::deny);
    EXPECT_EQ(answer({.is_login_open = true}, "start"), Kind::open);
    EXPECT_EQ(answer({.is_login_open = true}, "stop"), Kind::open);
}

TEST(AccessRules, LookForSubjectsARequestIsMadeFor)
{
    std::vector<Problem> problems;
    const auto rules =
        parse_rules("[[rule]]\nwho = \"subject:CN=*,O=Plant\"\nallow = \"stop\"\n"
                    "[[rule]]\nwho = \"subject:URI:spiffe://plant/*\"\nallow = \"*\"\n",
                    "r", Accounts::of_system(), problems);
    ASSERT_TRUE(rules.has_value());
    EXPECT_TRUE(rules->names_logins());
    using Kind = Rules::Answer::Kind;
    const auto answer = [&](const Caller& caller, const char* operation) {
        return rules->answer(caller, {.operation = operation}).kind;
    };
    const orb::PeerCertificate press{.is_shown = true, .subject = "CN=press,O=Plant", .names = {}};
    const orb::PeerCertificate named{
        .is_shown = true, .subject = "", .names = {"DNS:a", "URI:spiffe://plant/press"}};
    EXPECT_EQ(answer({.subject = press}, "stop"), Kind::allow);
    EXPECT_EQ(answer({.subject = press}, "start"), Kind::deny);
    EXPECT_EQ(answer({.subject = named}, "start"), Kind::allow);
    EXPECT_EQ(answer({.certificate = press}, "stop"), Kind::deny) << "who calls is another matter";
    EXPECT_EQ(answer({.login = "CN=press,O=Plant"}, "stop"), Kind::deny);
    EXPECT_EQ(answer({.is_login_open = true}, "start"), Kind::open);
    EXPECT_EQ((Caller{.subject = press}).text(), "subject CN=press,O=Plant");
    EXPECT_EQ((Caller{.subject = named}).text(), "subject DNS:a");
}

} // namespace
} // namespace kairos::access
