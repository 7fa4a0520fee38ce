// SPDX-License-Identifier: Apache-2.0
//
// `kairos ior` and `kairos ping` as their users meet them: what they print of a reference in each
// of its forms, and of a server that is there, without the object, and gone.
#include "bench/process.h"
#include "kairos/base/shown.h"
#include "kairos/ior/profile.h"
#include "kairos/ior/sample_references_testing.h"
#include "tests/malformed/fixture.h"

#include <fstream>
#include <optional>

namespace kairos {
namespace {

using orb_testing::RunningServer;

bench::ChildProcess::Remains run(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), KAIROS_TOOL);
    return bench::run_to_end(
               {.command = arguments, .environment = {}, .cpu = {}, .inherited_descriptor = -1},
               std::chrono::seconds(60))
        .value();
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

TEST(Ior, PrintsGroups)
{
    const auto url = run({"ior", "corbaloc:miop:1.0@1.0-Plant-7-2/[ff15::7]:5007"});
    ASSERT_EQ(url.exit_status, 0) << url.errors;
    const std::string group = "TAG_UIPMC of profile 1:\n"
                              "  address: [ff15::7]:5007\n"
                              "  group: 7 of Plant\n"
                              "  version of the reference: 2\n";
    EXPECT_TRUE(contains(url.output, group)) << url.output;
    const std::size_t at = url.output.find("IOR:0");
    ASSERT_NE(at, std::string::npos) << url.output;
    const auto same = run({"ior", url.output.substr(at, url.output.find('\n', at) - at)});
    EXPECT_TRUE(contains(same.output, group)) << same.output;
    const auto none = run({"ior", "corbaloc:miop:1.0-Plant-7/10.0.0.1:5007"});
    EXPECT_EQ(none.exit_status, 1);
    EXPECT_TRUE(contains(none.errors, "no multicast address")) << none.errors;
}

TEST(Ior, PrintsEveryFormOfAReference)
{
    const auto url =
        run({"ior", "corbaloc:iiop:1.2@127.0.0.1:4711,iiop:1.2@[::1]:4712/Some%20Key"});
    ASSERT_EQ(url.exit_status, 0) << url.errors;
    EXPECT_TRUE(contains(url.output, "127.0.0.1:4711")) << url.output;
    EXPECT_TRUE(contains(url.output, "[::1]:4712")) << url.output;
    EXPECT_TRUE(contains(url.output, "\"Some Key\"")) << url.output;
    const std::size_t at = url.output.find("IOR:0");
    ASSERT_NE(at, std::string::npos) << url.output;
    const std::string ior = url.output.substr(at, url.output.find('\n', at) - at);

    const auto text = run({"ior", ior});
    ASSERT_EQ(text.exit_status, 0) << text.errors;
    EXPECT_EQ(text.output, url.output.substr(0, url.output.find("as IOR: ")));

    const std::string path =
        testing::TempDir() + "kairos_reference_" + std::to_string(getpid()) + ".ior";
    std::ofstream(path) << ior << '\n';
    const auto file = run({"ior", path});
    std::filesystem::remove(path);
    EXPECT_EQ(file.exit_status, 0) << file.errors;
    EXPECT_EQ(file.output, text.output);

    const auto name = run({"ior", "corbaname::127.0.0.1:2809#lab/motor"});
    EXPECT_EQ(name.exit_status, 0) << name.errors;
    EXPECT_TRUE(contains(name.output, "name to be resolved there: 'lab/motor'")) << name.output;
    const auto initial = run({"ior", "corbaloc:rir:/NameService"});
    EXPECT_EQ(initial.exit_status, 0) << initial.errors;
    EXPECT_TRUE(contains(initial.output, "'NameService'")) << initial.output;
}

/// What a shell says of a command line.
bench::ChildProcess::Remains shell(const std::string& line)
{
    return bench::run_to_end({.command = {"/bin/sh", "-c", line},
                              .environment = {},
                              .cpu = {},
                              .inherited_descriptor = -1},
                             std::chrono::seconds(60))
        .value();
}

TEST(Ior, ReadsStandardInputAndOddFiles)
{
    const std::string tool = KAIROS_TOOL;
    const std::string ior(ior::sample::omniorb_little_endian);
    const auto expected = run({"ior", ior});
    ASSERT_EQ(expected.exit_status, 0) << expected.errors;
    for (const std::string& made : {"echo " + ior, "echo " + ior + " | fold -w 72",
                                    "printf '\\357\\273\\277%s\\r\\n' " + ior}) {
        const auto read = shell(made + " | " + tool + " ior -");
        EXPECT_EQ(read.exit_status, 0) << read.errors;
        EXPECT_EQ(read.output, expected.output) << made;
    }
    const auto nothing = shell(tool + " ior - </dev/null");
    EXPECT_EQ(nothing.exit_status, 1);
    EXPECT_EQ(nothing.errors, "kairos ior: standard input is empty\n");
    for (const char* command : {"ior", "ping"}) {
        const auto folder = run({command, "/"});
        EXPECT_EQ(folder.exit_status, 1);
        EXPECT_EQ(folder.errors, std::string("kairos ") + command + ": file / is a folder\n");
    }
    const auto other = run({"ior", tool}); // a program
    EXPECT_EQ(other.exit_status, 1);
    EXPECT_TRUE(contains(other.errors, tool)) << other.errors;
}

/// Nothing of what is inside a reference reaches the terminal as what it would obey.
TEST(Tools, ShowWhatOthersWroteAndDoNotPassItOn)
{
    const std::string evil = "\x1b]0;owned\x07\xc2\x9b"
                             "31m\x9b";
    const auto octets = [](const std::string& text) {
        const Bytes bytes = as_bytes(text);
        return ior::OctetVector(bytes.begin(), bytes.end());
    };
    ior::IiopProfile profile;
    profile.host = "no" + evil + "host";
    profile.port = 1;
    profile.object_key = octets(evil);
    for (const std::uint32_t tag : {0u, 1u, 3u, 25u, 33u, 0x41545402u, 0x4b520001u, 0x12345678u})
        profile.components.push_back({tag, octets(evil + evil)});
    ior::Ior reference;
    reference.type_id = "IDL:" + evil + ":1.0";
    reference.profiles.push_back(ior::encode_iiop(profile));
    reference.profiles.push_back({0x54414F00, octets(evil)});
    const std::string text = ior::to_string(reference);
    const std::string path =
        testing::TempDir() + "kairos_evil_" + std::to_string(getpid()) + ".ior";
    std::ofstream(path) << evil;
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"ior", text},
          {"ping", "-n", "1", text},
          {"ior", evil},
          {"ior", path},
          {"ping", path},
          {"names", "--service", text, "ls"},
          {"names", "--service", path, "ls"},
          {"names", "--service", "corbaloc::h/" + evil, "ls"},
          {"ior", "corbaloc:rir:/" + evil},
          {"ior", "corbaname::host#" + evil},
          {"naming", "--store", "/no/such/" + evil + "/store"},
          {"sched", path},
          {"scheduler", "--tasks", path},
          {"report", path}}) {
        const auto said = run(command);
        for (const std::string& output : {said.output, said.errors})
            EXPECT_TRUE(output == shown_lines(output)) << command[0] << ": " << shown(output);
        EXPECT_FALSE(said.output.empty() && said.errors.empty()) << command[0];
    }
    std::filesystem::remove(path);
}

TEST(Ior, SaysWhatIsWrong)
{
    for (const char* wrong : {"IOR:0102zz", "IOR:00", "corbaloc:iiop:[::1/key", "/no/such/file"}) {
        const auto remains = run({"ior", wrong});
        EXPECT_EQ(remains.exit_status, 1) << wrong;
        EXPECT_EQ(remains.output, "") << wrong;
        EXPECT_TRUE(contains(remains.errors, "kairos ior: ")) << wrong << remains.errors;
    }
    EXPECT_TRUE(contains(run({"ior", "/no/such/file"}).errors, "there is no file /no/such/file"));
    EXPECT_EQ(run({"ior"}).exit_status, 2);
}

TEST(Ping, OfAnObjectOfNoObjectAndOfNoServer)
{
    std::optional<RunningServer> server("thread-per-connection");
    const std::string reference = server->reference();
    const auto alive = run({"ping", "-n", "3", reference});
    EXPECT_EQ(alive.exit_status, 0) << alive.errors;
    EXPECT_TRUE(contains(alive.output, "ms, connecting included")) << alive.output;
    EXPECT_TRUE(contains(alive.output, "2 calls after the first: min ")) << alive.output;

    server->poa()->deactivate_object(server->id());
    const auto gone = run({"ping", reference});
    EXPECT_EQ(gone.exit_status, 1);
    EXPECT_EQ(gone.output, "the server is there, the object is not\n") << gone.errors;

    server.reset();
    const auto nobody = run({"ping", reference});
    EXPECT_EQ(nobody.exit_status, 1);
    EXPECT_EQ(nobody.output, "");
    EXPECT_TRUE(contains(nobody.errors, "kairos ping: ")) << nobody.errors;
    EXPECT_TRUE(contains(nobody.errors, "TRANSIENT")) << nobody.errors;

    EXPECT_EQ(run({"ping", "nonsense"}).exit_status, 1);
    EXPECT_EQ(run({"ping", "-n", "0", reference}).exit_status, 2);
}

} // namespace
} // namespace kairos
