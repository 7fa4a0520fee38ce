// SPDX-License-Identifier: Apache-2.0
//
// `kairos ior` and `kairos ping` as their users meet them: what they print of a reference in each
// of its forms, and of a server that is there, without the object, and gone.
#include "bench/process.h"
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
