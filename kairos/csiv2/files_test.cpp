// SPDX-License-Identifier: Apache-2.0
//
// Files of settings and of users, and passwords against them.
#include "kairos/csiv2/passwords.h"
#include "kairos/csiv2/settings.h"
#include "kairos/csiv2/users.h"

#include <array>
#include <atomic>
#include <crypt.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <semaphore>
#include <stdlib.h>
#include <string>
#include <thread>
#include <vector>

namespace kairos::csiv2 {
namespace {

/// A folder of the test's own.
class Folder {
  public:
    Folder()
    {
        std::string pattern = std::filesystem::temp_directory_path() / "kairos-csiv2-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = pattern + "/";
    }
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const
    {
        std::ofstream file(path_ + name, std::ios::trunc);
        if (!(file << text).flush()) throw std::runtime_error("no file written");
        return path_ + name;
    }

  private:
    std::string path_;
};

std::string first_problem(const std::string& text)
{
    std::vector<std::string> problems;
    const auto settings = parse_settings(text, "", problems);
    EXPECT_EQ(settings.has_value(), problems.empty());
    return problems.empty() ? "" : problems.front();
}

TEST(CsiSettings, SayWhoIsWho)
{
    const Folder folder;
    (void)folder.write("secret", "pass word\nand more\n");
    const std::string file = folder.write("csi.toml", R"(
[server]
users = "users"
target = "plant"
require = true
[[trust]]
who = ["user:gateway", "certificate:CN=gateway"]
names = "*@plant"
[[trust]]
who = "user:web"
anonymous = true
subjects = ["CN=*,O=Plant", "DNS:*"]
[client]
user = "alice"
password_file = "secret"
hosts = ["*.plant.example", "plant"]
)");
    const auto settings = read_settings(file);
    ASSERT_TRUE(settings.ok()) << settings.error().reason;
    ASSERT_TRUE(settings->server.has_value());
    const ServerSettings& server = *settings->server;
    EXPECT_EQ(server.users, file.substr(0, file.size() - 8) + "users");
    EXPECT_EQ(server.target, "plant");
    EXPECT_TRUE(server.is_required);
    EXPECT_FALSE(server.is_unprotected);
    ASSERT_EQ(server.trusts.size(), 2u);
    EXPECT_EQ(server.trusts[0].users, std::vector<std::string>{"gateway"});
    EXPECT_EQ(server.trusts[0].certificates, std::vector<std::string>{"CN=gateway"});
    EXPECT_EQ(server.trusts[0].names, std::vector<std::string>{"*@plant"});
    EXPECT_FALSE(server.trusts[0].anonymous);
    EXPECT_TRUE(server.trusts[1].anonymous);
    EXPECT_EQ(server.trusts[1].subjects, (std::vector<std::string>{"CN=*,O=Plant", "DNS:*"}));
    EXPECT_EQ(settings->client.user, "alice");
    EXPECT_EQ(settings->client.password, "pass word");
    EXPECT_EQ(settings->client.hosts.size(), 2u);
    EXPECT_FALSE(parse_settings("", "", *std::make_unique<std::vector<std::string>>())->server);
}

TEST(CsiSettings, HavePatternsOfSubjectsWhoseStarsEndWithParts)
{
    EXPECT_TRUE(matches_subject("CN=*,O=Plant", "CN=press,O=Plant"));
    EXPECT_FALSE(matches_subject("CN=*,O=Plant", "CN=press,O=Mill,O=Plant"));
    EXPECT_FALSE(matches_subject("CN=*,O=Plant", R"(CN=press\,O=Plant)"));
    EXPECT_FALSE(matches_subject("CN=*", "CN=press+OU=web"));
    EXPECT_TRUE(matches_subject("URI:spiffe://plant/*", "URI:spiffe://plant/press"));
    EXPECT_FALSE(matches_subject("URI:spiffe://plant/*", "URI:spiffe://plant/press/1"));
    EXPECT_TRUE(matches_subject("**", R"(CN=press\,O=Plant)"));
    EXPECT_FALSE(matches_subject("**,O=Plant", "CN=press+OU=a,O=Plant"));
    EXPECT_FALSE(matches_subject("*", "CN=press,O=Plant"));
}

TEST(CsiSettings, AreRefusedWithAReason)
{
    struct Case {
        const char* text;
        const char* reason;
    };
    for (const Case& each :
         {Case{"[server]\nuser = 1", "line 2: unknown key 'user'"},
          Case{"[server]\nrequire = 1", "line 2: require is true or false"},
          Case{"[servers]", "line 1: unknown key 'servers'"},
          Case{"server = 1", "line 1: server is a table"},
          Case{"[client]\nuser = 'a'", "line 1: a client has user and password_file, or neither"},
          Case{"[client]\nuser = 'a@b@c'", "line 2: user: 'a@b@c' is no name"},
          Case{"[client]\npassword_file = '/nowhere'", "line 2: password_file: '/nowhere' cannot"},
          Case{"[[trust]]\nwho = 'user:a'\nnames = 'b'", "[[trust]] is of a server"},
          Case{"[client]\nuser = 'a'\npassword_file = ''", "line 3: password_file names a file"},
          Case{"[server]\n[[trust]]\nwho = 'user:a'", "line 2: a trust says for whom"},
          Case{"[server]\n[[trust]]\nnames = 'a'", "line 2: a trust says who"},
          Case{"[server]\n[[trust]]\nwho = 'anyone'\nnames = 'a'", "line 3: 'anyone' is nobody"},
          Case{"[server", "line 1: "}})
        EXPECT_TRUE(first_problem(each.text).starts_with(each.reason))
            << each.text << ": " << first_problem(each.text);
    EXPECT_NE(read_settings("/nowhere").error().reason.find("-ORBCsi /nowhere: it cannot be read"),
              std::string::npos);
}

TEST(CsiSettings, AreReadUpToABound)
{
    const Folder folder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{65'536},
                                   std::size_t{65'537}, std::size_t{200'000}}) {
        const std::string text(size, 'x');
        const std::string file = folder.write("file", text);
        EXPECT_EQ(contents_of(file, size), text) << size;
        EXPECT_EQ(contents_of(file, size + 1), text) << size;
        if (size != 0) EXPECT_FALSE(contents_of(file, size - 1).has_value()) << size;
    }
    EXPECT_FALSE(contents_of("/nowhere", 1).has_value());
}

TEST(CsiSettings, HavePatterns)
{
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("alice", "alice"));
    EXPECT_TRUE(matches("*@plant", "alice@plant"));
    EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
    EXPECT_FALSE(matches("*@plant", "alice@plants"));
    EXPECT_FALSE(matches("alice", "alice2"));
    EXPECT_FALSE(matches("", "a"));
    EXPECT_FALSE(matches("?", "a"));
    // Work grows with the product of both sizes, not with the number of ways.
    EXPECT_FALSE(matches(std::string(500, '*') + "b", std::string(1000, 'a')));
}

TEST(CsiSettings, HavePatternsOfUsersAndScopes)
{
    EXPECT_TRUE(matches_name("*@plant", "alice@plant"));
    EXPECT_TRUE(matches_name("*@*", "alice@plant"));
    EXPECT_TRUE(matches_name("*", "alice"));
    EXPECT_TRUE(matches_name(R"(*\@plant)", R"(mallory\@plant)"));
    EXPECT_FALSE(matches_name("*@plant", R"(mallory\@plant)")) << "of no scope";
    EXPECT_FALSE(matches_name("*", "alice@plant"));
    EXPECT_FALSE(matches_name("*@plant", "alice"));
    EXPECT_FALSE(matches_name("*plant", "alice@plant"));
    EXPECT_FALSE(matches_name("*@*", R"(a\@b)"));
}

TEST(CsiUsers, AreWhoseHashesAreGood)
{
    const std::string hash = hashed("secret", 1).value();
    EXPECT_TRUE(hash.starts_with("$y$")) << hash;
    EXPECT_NE(hash, hashed("secret", 1).value()) << "the same salt twice";
    std::vector<std::string> problems;
    const auto users =
        Users::parse("# who may call\n\nalice:" + hash + "\r\nbob@plant:" + hash, problems);
    ASSERT_TRUE(users.has_value()) << problems.front();
    EXPECT_EQ(users->size(), 2u);
    EXPECT_TRUE(users->is_right("alice", "secret"));
    EXPECT_TRUE(users->is_right("bob@plant", "secret"));
    EXPECT_FALSE(users->is_right("alice", "Secret"));
    EXPECT_FALSE(users->is_right("alice", ""));
    EXPECT_FALSE(users->is_right("alice", std::string("secret\0", 7)));
    EXPECT_FALSE(users->is_right("bob", "secret"));
    EXPECT_FALSE(users->is_right("alice", hash));
    for (const std::string& bad :
         {std::string("alice"), std::string("alice:"), std::string("alice:secret"),
          std::string("alice:*"), std::string("alice:$1$abcdefgh$0123456789012345678901"),
          std::string("alice:$y$"), std::string("alice:$6$abc"), std::string("alice:$2b$12$"),
          "alice:" + hash.substr(0, hash.size() - 1), "alice:" + hash + "x", ":" + hash,
          "a@b@c:" + hash, "alice@:" + hash, "alice:" + hash + "\nalice:" + hash}) {
        problems.clear();
        EXPECT_FALSE(Users::parse(bad, problems).has_value()) << bad;
        ASSERT_EQ(problems.size(), 1u) << bad;
        EXPECT_EQ(problems[0].find(hash), std::string::npos) << "a hash in a message";
    }
    // One of each kind, as other systems make them: "secret" by crypt(5).
    for (const char* prefix : {"$2b$", "$6$", "$7$", "$gy$"}) {
        std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> setting{};
        ASSERT_NE(::crypt_gensalt_rn(prefix, std::string_view(prefix) == "$2b$" ? 4 : 0, nullptr, 0,
                                     setting.data(), static_cast<int>(setting.size())),
                  nullptr);
        const auto place = std::make_unique<crypt_data>();
        const char* const made =
            ::crypt_rn("secret", setting.data(), place.get(), sizeof(crypt_data));
        ASSERT_NE(made, nullptr) << prefix;
        problems.clear();
        const auto one = Users::parse("alice:" + std::string(made), problems);
        ASSERT_TRUE(one.has_value()) << made;
        EXPECT_TRUE(one->is_right("alice", "secret"));
        EXPECT_FALSE(one->is_right("bob", "secret"));
    }
    EXPECT_FALSE(hashed("").ok());
    EXPECT_FALSE(hashed(std::string(limits::password_max + 1, 'p')).ok());
}

class Counting final : public Authenticator {
  public:
    bool is_right(const std::string& user, const std::string& password) override
    {
        ++asked;
        return user == password;
    }
    std::atomic<int> asked{0};
};

csi::UserAndPassword evidence(const std::string& user, const std::string& password)
{
    return {.user = user, .password = password, .target_name = {}};
}

TEST(CsiPasswords, AreComputedOnce)
{
    using Answer = Passwords::Answer;
    Passwords passwords("");
    EXPECT_FALSE(passwords.are_taken());
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::wrong);
    const auto counting = std::make_shared<Counting>();
    passwords.set_authenticator(counting);
    EXPECT_TRUE(passwords.are_taken());
    for (unsigned host = 0; host < 100; ++host)
        EXPECT_EQ(passwords.ask(host, evidence("u", "u")), Answer::right);
    EXPECT_EQ(counting->asked, 1);
    EXPECT_EQ(passwords.ask(1, evidence("uu", "")), Answer::wrong);
    EXPECT_EQ(passwords.ask(1, evidence("a@b@c", "a@b@c")), Answer::wrong);
    EXPECT_EQ(counting->asked, 2) << "what is no name is nobody's";
}

/// The time of tests, which stands still between what they say.
std::atomic<std::int64_t> seconds_passed{0};
Passwords::Clock::time_point time_of_test()
{
    return Passwords::Clock::time_point(std::chrono::seconds(1'000'000 + seconds_passed.load()));
}

TEST(CsiPasswords, AreNotGuessedForEver)
{
    using Answer = Passwords::Answer;
    Passwords passwords("", &time_of_test);
    const auto counting = std::make_shared<Counting>();
    passwords.set_authenticator(counting);
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::right);
    const auto wrong_ones = [&](std::uint64_t host, const std::string& user) {
        int count = 0;
        while (passwords.ask(host, evidence(user, std::to_string(count))) == Answer::wrong)
            ++count;
        return count;
    };
    EXPECT_EQ(wrong_ones(1, "u"), 10);
    EXPECT_EQ(passwords.ask(1, evidence("v", "v")), Answer::right) << "of another user";
    EXPECT_EQ(passwords.ask(2, evidence("w", "w")), Answer::right) << "of another host";
    EXPECT_EQ(wrong_ones(2, "u"), 10);
    seconds_passed += 3;
    EXPECT_EQ(wrong_ones(1, "u"), 3);
    for (int user = 0; user < 4; ++user)
        EXPECT_EQ(wrong_ones(1, "user" + std::to_string(user)), 10);
    EXPECT_EQ(wrong_ones(1, "another"), 50 - 3 - 40);
    EXPECT_EQ(passwords.ask(1, evidence("x", "x")), Answer::later) << "was never there";
    // Who was let in goes on, also when he has to be asked about again.
    const int asked = counting->asked;
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::right);
    EXPECT_EQ(counting->asked, asked);
    seconds_passed += 120;
    for (int user = 0; user < 6; ++user)
        (void)wrong_ones(1, "again" + std::to_string(user));
    (void)wrong_ones(1, "u");
    EXPECT_EQ(passwords.ask(1, evidence("x", "x")), Answer::later);
    const int asked_again = counting->asked;
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::right);
    EXPECT_EQ(counting->asked, asked_again + 1);
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::right);
    EXPECT_EQ(counting->asked, asked_again + 1);
    seconds_passed += 2 * 3600; // who was not there for long is nobody
    EXPECT_EQ(wrong_ones(1, "u"), 10);
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::later);
}

TEST(CsiPasswords, OfManyHostsHaveABoundTogether)
{
    using Answer = Passwords::Answer;
    Passwords passwords("", &time_of_test);
    const auto counting = std::make_shared<Counting>();
    passwords.set_authenticator(counting);
    EXPECT_EQ(passwords.ask(1, evidence("u", "u")), Answer::right);
    const auto hosts = static_cast<std::uint64_t>(Passwords::guessers_max);
    for (std::uint64_t host = 2; host < 2 + hosts; ++host)
        (void)passwords.ask(host, evidence("u", "wrong"));
    EXPECT_EQ(passwords.ask(1'000'000, evidence("v", "v")), Answer::later);
    EXPECT_LE(counting->asked, static_cast<int>(hosts / 2 + 200));
    EXPECT_EQ(passwords.ask(1'000'000, evidence("u", "u")), Answer::right) << "is remembered";
    seconds_passed += 60;
    EXPECT_EQ(passwords.ask(1'000'000, evidence("v", "v")), Answer::right);
}

/// Answers when the test says so.
class Waiting final : public Authenticator {
  public:
    bool is_right(const std::string&, const std::string&) override
    {
        const int now = ++inside;
        int most_until_now = most;
        while (now > most_until_now && !most.compare_exchange_weak(most_until_now, now)) {
        }
        entered.release();
        go.acquire();
        --inside;
        return true;
    }
    std::counting_semaphore<> entered{0};
    std::counting_semaphore<> go{0};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
};

TEST(CsiPasswords, AreComputedByAFewThreadsOnly)
{
    Passwords passwords("");
    const auto waiting = std::make_shared<Waiting>();
    passwords.set_authenticator(waiting);
    waiting->go.release();
    ASSERT_EQ(passwords.ask(0, evidence("known", "u")), Passwords::Answer::right);
    waiting->entered.acquire();
    const auto few = static_cast<unsigned>(passwords.computing_max() - 1);
    const unsigned count = 2 * few;
    std::vector<std::thread> threads;
    std::atomic<unsigned> right{0};
    for (unsigned i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            if (passwords.ask(i, evidence("u" + std::to_string(i), "u")) ==
                Passwords::Answer::right)
                ++right;
        });
    for (unsigned i = 0; i < few; ++i)
        waiting->entered.acquire();
    for (unsigned i = 0; i < count; ++i)
        waiting->go.release();
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_LE(waiting->most, static_cast<int>(few));
    EXPECT_GE(right, few);
}

TEST(CsiPasswords, AreComputedOnceForAllWhoAskMeanwhile)
{
    Passwords passwords("");
    const auto waiting = std::make_shared<Waiting>();
    passwords.set_authenticator(waiting);
    std::vector<std::thread> threads;
    std::atomic<unsigned> right{0};
    for (unsigned i = 0; i < 16; ++i)
        threads.emplace_back([&] {
            if (passwords.ask(1, evidence("u", "u")) == Passwords::Answer::right) ++right;
        });
    waiting->entered.acquire();
    waiting->go.release(16); // should there be more that compute
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(right, 16u);
    EXPECT_FALSE(waiting->entered.try_acquire()) << "it was computed once more";
}

TEST(CsiPasswords, AreThoseOfTheFileAsItIsNow)
{
    using Answer = Passwords::Answer;
    const Folder folder;
    const std::string file = folder.write("users", "alice:" + hashed("one", 1).value() + "\n");
    Passwords passwords(file);
    EXPECT_TRUE(passwords.are_taken());
    EXPECT_EQ(passwords.ask(1, evidence("alice", "one")), Answer::right);
    (void)folder.write("users", "alice:" + hashed("two", 1).value() + "\n# anew\n");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    Answer answer = Answer::right;
    // What is remembered goes with the file of before.
    while ((answer = passwords.ask(1, evidence("alice", "one"))) == Answer::right &&
           std::chrono::steady_clock::now() < end) {
    }
    EXPECT_EQ(answer, Answer::wrong);
    EXPECT_EQ(passwords.ask(1, evidence("alice", "two")), Answer::right);
    EXPECT_THROW(Passwords("/nowhere"), CORBA::BAD_PARAM);
}

} // namespace
} // namespace kairos::csiv2
