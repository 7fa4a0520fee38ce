// SPDX-License-Identifier: Apache-2.0
//
// `kairos gateway` as a process: what it prints and serves, with and without a key, and what it
// refuses. tests/gateway has what passes through gateways, tests/interop every type.
#include "tests/malformed/fixture.h"

#include "bench/process.h"
#include "kairos/ior/profile.h"

#include <filesystem>
#include <stdlib.h>

namespace kairos::tools {
namespace {

using orb_testing::Client;
using orb_testing::outcome;
using orb_testing::RunningServer;

constexpr std::chrono::seconds start_patience{60};

bench::ChildProcess start(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {KAIROS_TOOL, "gateway"});
    return bench::ChildProcess::start({.command = std::move(arguments),
                                       .environment = {},
                                       .cpu = {},
                                       .inherited_descriptor = -1})
        .value();
}

/// Runs until its end, and returns what it wrote to standard error.
std::string complaint(std::vector<std::string> arguments)
{
    bench::ChildProcess process = start(std::move(arguments));
    const auto remains = process.finish(start_patience);
    EXPECT_NE(0, remains.exit_status);
    return remains.errors;
}

/// One that serves; killed at the end.
struct GatewayProcess {
    explicit GatewayProcess(std::vector<std::string> arguments)
        : process(start(std::move(arguments))), reference(process.read_line(start_patience).value())
    {
    }
    bench::ChildProcess process;
    std::string reference;
};

std::string port_in(const std::string& reference)
{
    const auto ior = ior::from_string(reference);
    return std::to_string(ior::decode_iiop(ior->profiles[0].data)->port);
}

const std::vector<std::string> idl{"--idl", PROBE_IDL};

std::vector<std::string> operator+(std::vector<std::string> left,
                                   const std::vector<std::string>& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

class GatewayCommand : public ::testing::Test {
  protected:
    [[nodiscard]] CORBA::Long sum_through(const std::string& reference)
    {
        const Probe::Target_var target = client_.target(reference);
        return target->add(40, 2);
    }

    orb_testing::LogLines log_;
    RunningServer server_{"thread-per-connection"};
    Client client_;
};

TEST_F(GatewayCommand, LeadsToItsTargets)
{
    const GatewayProcess gateway(idl + std::vector<std::string>{"First=" + server_.reference()});
    EXPECT_EQ(42, sum_through(gateway.reference));
    EXPECT_EQ(42, sum_through("corbaloc::localhost:" + port_in(gateway.reference) + "/First"));
    const Probe::Target_var target = client_.target(gateway.reference);
    EXPECT_TRUE(target->_is_a(Probe::Target::_kairos_id));
}

TEST_F(GatewayCommand, RefusesWhatNobodyKnows)
{
    const GatewayProcess gateway({server_.reference()});
    EXPECT_EQ("INTF_REPOS 0x4f4d0002 NO", outcome([&] { (void)sum_through(gateway.reference); }));
    const GatewayProcess verbatim({"--verbatim", server_.reference()});
    EXPECT_EQ(42, sum_through(verbatim.reference));
}

TEST_F(GatewayCommand, ReferencesLastWithAKey)
{
    std::string folder = std::filesystem::temp_directory_path() / "kairos_gateway_XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder.data()));
    const std::string key = folder + "/key";
    const std::vector<std::string> arguments = idl + std::vector<std::string>{"--key", key};
    std::string reference;
    {
        const GatewayProcess gateway(arguments + std::vector<std::string>{server_.reference()});
        reference = gateway.reference;
        EXPECT_EQ(42, sum_through(reference));
    }
    EXPECT_EQ(std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
              std::filesystem::status(key).permissions());
    const std::string endpoint = "iiop://localhost:" + port_in(reference);
    const GatewayProcess again(arguments +
                               std::vector<std::string>{"--listen", endpoint, server_.reference()});
    EXPECT_EQ(reference, again.reference);
    Client other; // the first one's connection ended with the first gateway
    const Probe::Target_var target = other.target(reference);
    EXPECT_EQ(42, target->add(40, 2));
    std::filesystem::resize_file(key, 5);
    EXPECT_NE(
        std::string::npos,
        complaint(arguments + std::vector<std::string>{server_.reference()}).find("has no key"));
    std::filesystem::remove_all(folder);
}

TEST_F(GatewayCommand, SaysWhatIsWrong)
{
    EXPECT_NE(std::string::npos,
              complaint({"--idl", "/nowhere.idl", server_.reference()}).find("/nowhere.idl"));
    EXPECT_NE(std::string::npos, complaint({"nonsense:"}).find("kairos gateway: "));
}

} // namespace
} // namespace kairos::tools
