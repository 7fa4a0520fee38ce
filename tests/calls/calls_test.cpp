// SPDX-License-Identifier: Apache-2.0
//
// Every check of the suite, over every server architecture, GIOP version and with fragments; and
// the same calls from many threads.
#include "fixture.h"

#include <atomic>
#include <thread>

using namespace calls;

namespace {

enum class Place { thread_per_connection, reactor, collocated };

struct Way {
    Place place;
    std::string version;
    bool fragments;

    [[nodiscard]] std::vector<std::string> options() const
    {
        std::vector<std::string> options{"-ORBGIOPVersion", version};
        if (fragments) options.insert(options.end(), {"-ORBFragmentSize", "256"});
        return options;
    }
    [[nodiscard]] std::vector<std::string> server_options() const
    {
        auto all = options();
        if (place == Place::reactor) all.insert(all.end(), {"-ORBConcurrency", "reactor"});
        return all;
    }
};

class EveryCheck : public testing::TestWithParam<Way> {};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    static const char* const places[] = {"thread_per_connection", "reactor", "collocated"};
    std::string name = places[static_cast<int>(info.param.place)];
    name += "_giop_1_";
    name += info.param.version.back();
    if (info.param.fragments) name += "_fragments";
    return name;
}

std::vector<Way> all_ways()
{
    std::vector<Way> ways;
    for (const Place place : {Place::thread_per_connection, Place::reactor})
        for (const char* version : {"1.0", "1.1", "1.2"})
            for (const bool fragments : {false, true})
                if (!fragments || version[2] != '0') ways.push_back({place, version, fragments});
    ways.push_back({Place::collocated, "1.2", false});
    return ways;
}

void run(const Check& check, Context& context)
{
    try {
        check.run(context);
    } catch (const std::exception& exception) {
        ADD_FAILURE() << check.name << ": " << exception.what();
    }
}

} // namespace

TEST_P(EveryCheck, Holds)
{
    const Way& way = GetParam();
    std::unique_ptr<Server> server;
    const TestOrb orb(way.options());
    Types::Echo_var echo;
    if (way.place == Place::collocated) {
        echo = orb.make_echo();
    } else {
        server = std::make_unique<Server>(way.server_options());
        echo = orb.echo(server->reference);
    }
    const Types::Echo_var own = orb.make_echo();
    Context context = make_context(orb.in(), echo.in(), own.in());
    const auto checks = all_checks();
    EXPECT_EQ(checks.size(), 154u);
    for (const Check& check : checks)
        run(check, context);
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryCheck, testing::ValuesIn(all_ways()), way_name);

// Four threads call the same objects with everything that the suite has and does not disturb its
// own expectations when others do the same.
TEST(Threads, ShareAReference)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var remote = orb.echo(server.reference);
    const Types::Echo_var own = orb.make_echo();
    const Context prepared = make_context(orb.in(), remote.in(), own.in());
    std::atomic<int> calls = 0;
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t number = 0; number < 4; ++number)
            threads.emplace_back([&, number] {
                Context context = prepared;
                context.seed = number * 10000;
                context.server = number % 2 == 0 ? remote.in() : own.in();
                for (const Check& check : value_checks())
                    run(check, context);
                for (CORBA::ULong i = 0; i < 500; ++i, ++calls)
                    if (context.server->sum(i, number) != i + number) ADD_FAILURE() << i;
            });
    }
    EXPECT_EQ(calls, 2000);
}

// Threads that come and go, each with connections of its own, while the object is being released
// and duplicated by all.
TEST(Threads, ComeAndGo)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var echo = orb.echo(server.reference);
    for (int round = 0; round < 10; ++round) {
        std::vector<std::jthread> threads;
        for (CORBA::ULong number = 0; number < 4; ++number)
            threads.emplace_back([&, number] {
                const Types::Echo_var mine = Types::Echo::_duplicate(echo.in());
                EXPECT_EQ(mine->sum(number, 1), number + 1);
                const Types::Echo_var made = mine->make_object();
                EXPECT_EQ(made->sum(1, 1), 2u);
                mine->remove_object(made.in());
            });
    }
}
