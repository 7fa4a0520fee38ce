// SPDX-License-Identifier: Apache-2.0
//
// `kairos ifr serve --state postgresql://…` as a process: what one that was killed has kept, the
// next one serves; a second one is refused.
#include "bench/process.h"
#include "kairos/postgres/postgres_testing.h"

#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kairos::tools {
namespace {

constexpr std::chrono::seconds patience{60};

bench::ChildProcess start(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {KAIROS_TOOL, "ifr"});
    return bench::ChildProcess::start({.command = std::move(arguments),
                                       .environment = {},
                                       .cpu = {},
                                       .inherited_descriptor = -1})
        .value();
}

TEST(RepositoryState, OutlivesAServerThatIsKilled)
{
    const postgres::Schema database;
    const std::vector<std::string> serve{"serve", "--state", database.url(), "--listen",
                                         "iiop://127.0.0.1:0"};
    {
        std::vector<std::string> with_idl = serve;
        with_idl.emplace_back(HELLO_IDL);
        bench::ChildProcess server = start(with_idl);
        ASSERT_TRUE(server.read_line(patience)) << "no reference";

        bench::ChildProcess second = start(serve);
        const auto remains = second.finish(patience);
        EXPECT_EQ(remains.exit_status, 1);
        EXPECT_NE(remains.errors.find("another server has the Interface Repository"),
                  std::string::npos)
            << remains.errors;
    } // killed
    bench::ChildProcess server = start(serve);
    const auto reference = server.read_line(patience);
    ASSERT_TRUE(reference) << "no reference";
    bench::ChildProcess listing = start({"ls", "-r", *reference});
    const auto first = listing.read_line(patience);
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, "interface Hello");
    EXPECT_EQ(listing.finish(patience).exit_status, 0);
}

} // namespace
} // namespace kairos::tools

int main(int argc, char** argv) { return kairos::postgres::run_tests(argc, argv); }
