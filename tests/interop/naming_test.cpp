// SPDX-License-Identifier: Apache-2.0
//
// Our tool `kairos names` and our ORB against omniORB's name server, with omniORB's tool beside
// ours.
#include "naming_server.h"

#include "kairos/ior/object_url.h"
#include "kairos/naming/listing.h"
#include "kairos/naming/name.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

using namespace interop;

namespace {

constexpr const char* echo = "corbaloc:iiop:1.2@127.0.0.1:9/Echo"; // nobody asks it anything

std::string omni_names() { return kairos::bench::find_program("omniNames"); }
std::string nameclt() { return kairos::bench::find_program("nameclt"); }

/// What every name server has to do.
class Names : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override
    {
        if (nameclt().empty() || (GetParam() == "omniNames" && omni_names().empty()))
            GTEST_SKIP() << "Debian's omniorb-nameserver or omniorb is not installed";
        start();
    }

    void start()
    {
        if (GetParam() == "kairos") {
            server_.emplace(Command{KAIROS_TOOL, "naming", "--store", folder_.path() / "names",
                                    "--listen", "iiop://127.0.0.1"});
        } else {
            // It writes where it is to its standard error.
            const std::string command = "exec " + omni_names() + " -start -nohostname -datadir " +
                                        folder_.path().string() +
                                        " -ORBendPoint giop:tcp:127.0.0.1: 2>&1";
            server_.emplace(Command{"/bin/sh", "-c", command});
        }
    }

    [[nodiscard]] Remains names(Command arguments) const
    {
        const Command service{KAIROS_TOOL, "names", "--service", server_->reference};
        arguments.insert(arguments.begin(), service.begin(), service.end());
        return kairos::bench::run_to_end(process_options(std::move(arguments)), patience).value();
    }
    /// What it prints, if it succeeds.
    [[nodiscard]] std::string done(Command arguments) const
    {
        const Remains remains = names(std::move(arguments));
        EXPECT_EQ(remains.exit_status, 0) << remains.errors;
        EXPECT_EQ(remains.errors, "");
        return remains.output;
    }
    [[nodiscard]] nlohmann::json json(Command arguments) const
    {
        arguments.emplace_back("--json");
        return nlohmann::json::parse(done(std::move(arguments)), nullptr, false);
    }
    /// What it says when it fails.
    [[nodiscard]] std::string refused(Command arguments) const
    {
        const Remains remains = names(std::move(arguments));
        EXPECT_EQ(remains.exit_status, 1);
        EXPECT_EQ(remains.output, "");
        return remains.errors;
    }
    [[nodiscard]] std::string with_nameclt(Command arguments) const
    {
        const Command before{nameclt(), "-advanced", "-ior", server_->reference};
        arguments.insert(arguments.begin(), before.begin(), before.end());
        const Remains remains =
            kairos::bench::run_to_end(process_options(std::move(arguments)), patience).value();
        EXPECT_EQ(remains.exit_status, 0) << remains.errors;
        return remains.output;
    }

    /// Its address in a URL, without a key.
    [[nodiscard]] std::string corbaloc(const std::string& version = "1.2") const
    {
        const auto ior = kairos::ior::from_string(server_->reference).value();
        return "corbaloc::" + version + '@' +
               kairos::ior::to_string(kairos::ior::targets(ior).front().address);
    }

    TemporaryFolder folder_;
    std::optional<NamingServer> server_;
};

INSTANTIATE_TEST_SUITE_P(Servers, Names, testing::Values("omniNames", "kairos"),
                         [](const auto& server) { return server.param; });

} // namespace

TEST_P(Names, BindsResolvesListsAndUnbinds)
{
    EXPECT_EQ(done({"ls"}), "");
    EXPECT_EQ(done({"mkdir", "dev"}), "made dev\n");
    EXPECT_EQ(done({"bind", "dev/echo.obj", echo}), "bound dev/echo.obj\n");
    EXPECT_EQ(done({"ls"}), "dev/\n");
    EXPECT_EQ(done({"ls", "dev"}), "echo.obj\n");
    EXPECT_EQ(done({"tree"}), "dev/\n  echo.obj\n");
    const std::string reference = done({"resolve", "dev/echo.obj"});
    EXPECT_TRUE(reference.starts_with("IOR:")) << reference;
    EXPECT_NE(done({"ls", "-l", "dev"}).find("127.0.0.1:9"), std::string::npos);
    EXPECT_EQ(done({"unbind", "dev/echo.obj"}), "unbound dev/echo.obj\n");
    EXPECT_EQ(done({"unbind", "--destroy", "dev"}), "unbound dev\n");
    EXPECT_EQ(done({"ls"}), "");
}

TEST_P(Names, ContextsWithBindingsAreNotLostUnawares)
{
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
        (void)done({"bind", "-p", std::string("dev/") + name, echo});
    (void)done({"mkdir", "empty"});
    const std::string refusal = refused({"unbind", "dev"});
    EXPECT_NE(refusal.find("dev: is a naming context with 6 bindings ("), std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find(", …)"), std::string::npos) << refusal; // five by name
    EXPECT_NE(refusal.find("--force"), std::string::npos) << refusal;
    EXPECT_EQ(json({"ls"}).size(), 2u); // nothing happened
    EXPECT_EQ(done({"unbind", "empty"}), "unbound empty\n");
    const std::string unbound = done({"unbind", "--force", "dev"});
    EXPECT_TRUE(unbound.starts_with("unbound dev\nwith 6 bindings (")) << unbound;
    EXPECT_EQ(done({"ls"}), "");
    // What it printed is the way back.
    const std::string reference = unbound.substr(unbound.find("IOR:"));
    EXPECT_EQ(done({"bind", "-c", "again", reference}), "bound again\n");
    (void)done({"unbind", "again/a"});
    const nlohmann::json lost = json({"unbind", "--force", "again"});
    EXPECT_EQ(lost["unbound"], "again");
    EXPECT_EQ(lost["bindings"], 5);
    EXPECT_TRUE(lost["reference"].get<std::string>().starts_with("IOR:"));
    // Objects go without being asked, whether they are there or not.
    (void)done({"bind", "gone", echo});
    EXPECT_EQ(done({"unbind", "gone"}), "unbound gone\n");
}

TEST_P(Names, JsonSaysTheSame)
{
    (void)done({"bind", "-p", "dev/echo.obj", echo});
    EXPECT_EQ(
        json({"ls"}),
        nlohmann::json::parse(R"([{"name": "dev", "id": "dev", "kind": "", "type": "context"}])"));
    EXPECT_EQ(json({"tree"})[0]["bindings"][0]["kind"], "obj");
    EXPECT_EQ(json({"resolve", "dev/echo.obj"})["address"], "127.0.0.1:9");
    EXPECT_EQ(json({"ls", "--long", "dev"})[0]["address"], "127.0.0.1:9");
    EXPECT_EQ(json({"unbind", "dev/echo.obj"}),
              nlohmann::json::parse(R"({"unbound": "dev/echo.obj"})"));
    EXPECT_EQ(json({"ls", "dev"}), nlohmann::json::array());
}

TEST_P(Names, SaysWhatIsWrong)
{
    (void)done({"mkdir", "dev"});
    (void)done({"bind", "echo", echo});
    const auto expect = [&](Command arguments, const std::string& message) {
        EXPECT_EQ(refused(std::move(arguments)), "kairos names: " + message + "\n");
    };
    expect({"resolve", "dev/missing"}, "dev/missing: not found: there is no 'missing'");
    expect({"bind", "no/such/context", echo}, "no/such/context: not found: there is no 'no'");
    expect({"bind", "echo", echo}, "echo: already bound");
    expect({"mkdir", "dev"}, "dev: already bound");
    (void)done({"mkdir", "dev/inner"});
    expect({"unbind", "--destroy", "dev"}, "dev: the context is not empty");
    EXPECT_NE(refused({"bind", "x", "no such file"}).find("no such file"), std::string::npos);
}

TEST_P(Names, MalformedNamesAreRefused)
{
    for (const char* name : {"", "/", "/a", "a/", "a//b", "a.", "a.b.c", "a\\", "\\a"})
        for (const Command& command :
             {Command{"resolve", name}, Command{"unbind", name}, Command{"mkdir", name},
              Command{"bind", name, echo}, Command{"rebind", name, echo}}) {
            const std::string message = refused(command);
            EXPECT_NE(message.find("name"), std::string::npos) << message;
        }
    EXPECT_EQ(refused({"ls", "a//b"}),
              "kairos names: a//b: name: component is empty at character 3\n");
    EXPECT_EQ(done({"ls"}), ""); // nothing else happened
}

TEST_P(Names, OmniOrbsToolSeesTheSameNames)
{
    (void)done({"bind", "-p", "dev/echo.obj", echo});
    EXPECT_NE(with_nameclt({"list", "dev"}).find("echo.obj"), std::string::npos);
    const std::string reference = done({"resolve", "dev/echo.obj"});
    EXPECT_NE((with_nameclt({"resolve", "dev/echo.obj"}) + "\n").find(reference.substr(0, 80)),
              std::string::npos);
    (void)with_nameclt({"bind_new_context", "theirs"});
    (void)with_nameclt({"bind", "theirs/object.kind", server_->reference});
    EXPECT_EQ(done({"ls", "theirs"}), "object.kind\n");
}

TEST_P(Names, EscapesAndOtherAlphabets)
{
    for (const char* name : {"a\\.b\\/c\\\\d.kind",
                             "Gr\xc3\xb6\xc3\x9f"
                             "e",
                             ".only kind", "."}) {
        (void)done({"bind", name, echo});
        EXPECT_EQ(json({"ls"})[0]["name"], name);
        EXPECT_EQ(done({"ls"}), std::string(name) + "\n");
        (void)done({"unbind", name});
    }
    (void)done({"bind", "colour\x1b[31m", echo});
    EXPECT_EQ(done({"ls"}), "colour\\x1b[31m\n"); // the terminal does not obey it
    (void)done({"bind",
                "c1\xc2\x9b"
                "31m",
                echo});
    const std::string as_json = done({"ls", "--json"});
    EXPECT_EQ(as_json.find("\xc2\x9b"), std::string::npos) << as_json;
    std::set<std::string> names;
    for (const nlohmann::json& binding : nlohmann::json::parse(as_json))
        names.insert(binding["name"]);
    EXPECT_EQ(names, (std::set<std::string>{"c1\xc2\x9b"
                                            "31m",
                                            "colour\x1b[31m"}));
}

TEST_P(Names, ListsMoreThanOnePortion)
{
    constexpr int count = 1010; // more than our server puts into one reply
    const std::string service = server_->reference;
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "portions");
    const CORBA::Object_var object = orb->string_to_object(service.c_str());
    const auto root = CosNaming::NamingContext_var(CosNaming::NamingContext::_narrow(object.in()));
    for (int i = 0; i < count; ++i)
        root->bind(kairos::naming::to_name("n" + std::to_string(i)), root.in());
    for (const char* portion : {"40", "1010", "100000"})
        EXPECT_EQ(json({"ls", "--portion", portion}).size(), std::size_t{count});
    const std::string theirs = with_nameclt({"list"});
    EXPECT_EQ(std::ranges::count(theirs, 'n'), count) << theirs.substr(0, 100);
    orb->destroy();
}

TEST_P(Names, ATreeWithACircleEnds)
{
    (void)done({"mkdir", "-p", "a/b"});
    (void)done({"bind", "--context", "a/b/up", "corbaname:rir:#a", "-ORBInitRef",
                "NameService=" + server_->reference});
    EXPECT_EQ(done({"tree"}), "a/\n  b/\n    up/\n      (listed above)\n");
    EXPECT_EQ(done({"tree", "--depth", "1"}), "a/\n  (not listed: --depth)\n");
}

TEST_P(Names, WatchPrintsWhatChanges)
{
    (void)done({"bind", "-p", "dev/old", echo});
    auto watch = kairos::bench::ChildProcess::start(
        process_options({KAIROS_TOOL, "names", "watch", "dev", "--interval", "0.01", "--references",
                         "--service", server_->reference}));
    ASSERT_TRUE(watch.ok());
    EXPECT_EQ(watch->read_line(patience).value(), "watching 1 bindings, asking every 0.01 s");
    (void)done({"mkdir", "dev/new"});
    EXPECT_EQ(watch->read_line(patience).value(), "+ new/");
    (void)done({"rebind", "dev/old", "corbaloc::127.0.0.1:9/Other"});
    EXPECT_EQ(watch->read_line(patience).value(), "~ old");
    (void)done({"unbind", "dev/old"});
    EXPECT_EQ(watch->read_line(patience).value(), "- old");
}

TEST_P(Names, IsFoundByOptionsOfTheOrb)
{
    (void)done({"bind", "echo", echo});
    const auto run = [](Command arguments) {
        arguments.insert(arguments.begin(), {KAIROS_TOOL, "names"});
        return kairos::bench::run_to_end(process_options(std::move(arguments)), patience).value();
    };
    const auto is_found = [&](Command arguments) {
        const Remains remains = run(std::move(arguments));
        EXPECT_EQ(remains.output, "echo\n") << remains.errors;
    };
    is_found({"ls", "-ORBInitRef", "NameService=" + server_->reference});
    is_found({"-ORBInitRef=NameService=" + server_->reference, "ls"});
    std::ofstream(folder_.path() / "root.ior") << server_->reference << '\n';
    is_found({"ls", "--service", folder_.path() / "root.ior"});

    const Remains nowhere = run({"ls"});
    EXPECT_EQ(nowhere.exit_status, 1);
    EXPECT_NE(nowhere.errors.find("no naming service is known"), std::string::npos);
    EXPECT_EQ(run({"ls", "-ORBNoSuchOption", "1"}).exit_status, 1);
    EXPECT_EQ(run({"dance"}).exit_status, 2);
}

TEST_P(Names, CorbanameAndTheDefaultInitialReference)
{
    (void)done({"bind", "-p", "dev/echo.obj", echo});
    const std::string reference = done({"resolve", "dev/echo.obj"});
    const std::string option = "-ORBDefaultInitRef=" + corbaloc();
    std::string program = "test";
    std::string option_text = option;
    char* argv[] = {program.data(), option_text.data(), nullptr};
    int argc = 2;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "corbaname");
    const CORBA::Object_var object = orb->string_to_object("corbaname:rir:#dev/echo.obj");
    const CORBA::String_var text = orb->object_to_string(object.in());
    EXPECT_EQ(std::string(text.in()) + "\n", reference);
    EXPECT_THROW((void)orb->string_to_object("corbaname:rir:#dev/none"), CORBA::BAD_PARAM);
    const CORBA::Object_var root = orb->resolve_initial_references("NameService");
    EXPECT_FALSE(CORBA::is_nil(
        CosNaming::NamingContextExt_var(CosNaming::NamingContextExt::_narrow(root.in())).in()));
    orb->destroy();
}

TEST_P(Names, TheKeyNameServiceLeadsToTheRoot)
{
    (void)done({"bind", "-p", "dev/echo.obj", echo});
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        const std::string url = corbaloc(version) + "/NameService";
        const auto lists = [](Command command) {
            const Remains remains =
                kairos::bench::run_to_end(process_options(std::move(command)), patience).value();
            EXPECT_EQ(remains.exit_status, 0) << remains.errors;
            return remains.output.find("echo.obj") != std::string::npos;
        };
        EXPECT_TRUE(lists({nameclt(), "-ORBInitRef", "NameService=" + url, "list", "dev"}));
        EXPECT_TRUE(lists({KAIROS_TOOL, "names", "ls", "dev", "--service", url}));
    }
}

TEST_P(Names, NamesAndUrlsAreThoseOfTheLibrary)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "texts");
    const CORBA::Object_var object = orb->string_to_object(server_->reference.c_str());
    const auto root =
        CosNaming::NamingContextExt_var(CosNaming::NamingContextExt::_narrow(object.in()));
    for (const char* text : {"a", "a.b/c.d", ".", ".k", "a\\.b/\\\\", "a b"}) {
        const CosNaming::Name name = kairos::naming::to_name(text);
        const CORBA::String_var theirs = root->to_string(name);
        EXPECT_STREQ(theirs.in(), text);
        const CosNaming::Name_var back = root->to_name(text);
        EXPECT_EQ(kairos::naming::from_idl(back.in()), kairos::naming::from_idl(name)) << text;
        const CORBA::String_var url = root->to_url(":h:9/K", text);
        // Either may escape what need not be; both mean the same.
        const auto parsed = kairos::ior::parse_object_url(url.in());
        EXPECT_EQ(
            parsed.value().name,
            kairos::ior::parse_object_url(kairos::naming::to_url(":h:9/K", text)).value().name);
    }
    for (const char* text : {"", "/a", "a//b"})
        EXPECT_THROW((void)root->to_name(text), CosNaming::NamingContext::InvalidName) << text;
    orb->destroy();
}

namespace {
/// Asks until what is bound to `name` is said to be `expected`.
nlohmann::json list_until(const Command& list, const std::string& name, const std::string& expected)
{
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
        const Remains remains = kairos::bench::run_to_end(process_options(list), patience).value();
        const nlohmann::json bindings = nlohmann::json::parse(remains.output, nullptr, false);
        for (const nlohmann::json& binding : bindings)
            if (binding["name"] == name && binding.value("liveness", "") == expected)
                return bindings;
    }
    ADD_FAILURE() << name << " is not said to be " << expected;
    return {};
}
} // namespace

TEST(KairosNaming, SaysWhatIsAliveAndDead)
{
    const TemporaryFolder folder;
    const auto server = [&](const std::string& store, Command options = {}) {
        options.insert(options.begin(), {KAIROS_TOOL, "naming", "--store", folder.path() / store,
                                         "--listen", "iiop://127.0.0.1"});
        return options;
    };
    const NamingServer sweeping(server("names", {"--sweep", "0.001"}));
    std::optional<NamingServer> object(server("other"));
    const auto names = [&](Command arguments) {
        arguments.insert(arguments.begin(),
                         {KAIROS_TOOL, "names", "--service", sweeping.reference});
        return arguments;
    };
    const auto output = [&](Command arguments) {
        return kairos::bench::run_to_end(process_options(names(std::move(arguments))), patience)
            .value()
            .output;
    };
    (void)output({"bind", "gone", "corbaloc::127.0.0.1:1/Gone"});
    (void)output({"bind", "here", object->reference});
    (void)output({"mkdir", "within"});
    const Command list = names({"ls", "-l", "--json"});
    (void)list_until(list, "gone", "dead");
    const nlohmann::json bindings = list_until(list, "here", "alive");
    ASSERT_EQ(bindings.size(), 3u);
    EXPECT_EQ(bindings[2].value("liveness", ""), "alive") << "the server's own need not be asked";
    const std::string lines = output({"ls", "-l"});
    EXPECT_NE(lines.find("  127.0.0.1:1  dead\n"), std::string::npos) << lines;
    EXPECT_NE(lines.find("  alive\n"), std::string::npos) << lines;
    EXPECT_EQ(output({"tree", "-l"}), "gone  dead\nhere\nwithin/\n");
    EXPECT_EQ(output({"ls"}), "gone\nhere\nwithin/\n");

    object.reset(); // by SIGKILL
    (void)list_until(list, "here", "dead");
    (void)output({"rebind", "here", sweeping.reference});
    (void)list_until(list, "here", "alive");
}

TEST(KairosNaming, KilledAndStartedAgainItKeepsItsNamesAndSecondsAreRefused)
{
    const TemporaryFolder folder;
    const Command command{KAIROS_TOOL, "naming",          "--store", folder.path() / "names",
                          "--listen",  "iiop://127.0.0.1"};
    const auto names = [](const NamingServer& server, Command arguments) {
        const Command before{KAIROS_TOOL, "names", "--service", server.reference};
        arguments.insert(arguments.begin(), before.begin(), before.end());
        return kairos::bench::run_to_end(process_options(std::move(arguments)), patience).value();
    };
    {
        const NamingServer server(command);
        EXPECT_EQ(names(server, {"bind", "-p", "dev/echo", echo}).exit_status, 0);
        const Remains second =
            kairos::bench::run_to_end(process_options(command), patience).value();
        EXPECT_EQ(second.exit_status, 1);
        EXPECT_NE(second.errors.find("another name server has the store"), std::string::npos);
    } // by SIGKILL
    const NamingServer server(command);
    EXPECT_EQ(names(server, {"tree"}).output, "dev/\n  echo\n");
}
