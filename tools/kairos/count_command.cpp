// SPDX-License-Identifier: Apache-2.0
//
// `kairos count -- PROGRAM`: runs a program as it is and says at its end how many requests its ORB
// has served and what that took: allocations, locks, context switches or system calls.
#include "bench/counting.h"
#include "bench/process.h"
#include "bench/systems.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kairos::tools {
namespace {

struct CountArguments {
    bool system_calls = false;
    std::vector<std::string> command;
};

int failed(const std::string& reason)
{
    fmt::print(stderr, "kairos count: {}\n", reason);
    return 1;
}

/// What the program is started with: the page, and the library or the tracer.
struct Instruments {
    std::vector<std::string> command;
    std::string page_variable; ///< "KAIROS_COUNT_FD=…"
    std::string library;       ///< its path
    const char* library_variable = "LD_PRELOAD";
    int page_descriptor = -1;
};

Result<Instruments> instruments_of(const CountArguments& arguments, const bench::CountedPage& page)
{
    const std::filesystem::path folder = bench::default_program_directory();
    Instruments instruments{.command = arguments.command,
                            .page_variable = page.environment(),
                            .library = (folder / "libkairos_count.so").string(),
                            .page_descriptor = page.descriptor()};
    const std::string tracer = (folder / "kairos-bench-syscalls").string();
    for (const std::string& needed : {instruments.library, tracer})
        if (::access(needed.c_str(), R_OK) != 0)
            return Error{ErrorCode::not_found, needed + " is not there", errno};
    if (arguments.system_calls) {
        // The tracer loads the library into the program, not into itself.
        instruments.command.insert(instruments.command.begin(), tracer);
        instruments.library_variable = "KAIROS_COUNT_LIBRARY";
    } else if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr) {
        instruments.library += std::string(":") + others;
    }
    return instruments;
}

/// In the child: becomes the program.
[[noreturn]] void become(Instruments& instruments)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    fcntl(instruments.page_descriptor, F_SETFD, 0);
    putenv(instruments.page_variable.data());
    setenv(instruments.library_variable, instruments.library.c_str(), 1);
    std::vector<char*> pointers;
    for (std::string& word : instruments.command)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    fmt::print(stderr, "kairos count: {}: {}\n", pointers[0], strerrordesc_np(errno));
    _exit(127);
}

/// Per request, where there was one.
void say(const char* what, std::int64_t count, std::int64_t requests)
{
    fmt::print(stderr, "  {:<26}{:>14}", what, count);
    if (requests > 0)
        fmt::print(stderr, "{:>14.2f}", static_cast<double>(count) / static_cast<double>(requests));
    fmt::print(stderr, "\n");
}

void say_counts(const CountArguments& arguments, const bench::Counts& counts, const rusage& usage)
{
    const std::int64_t requests = counts.requests_served;
    fmt::print(stderr, "kairos count: {}\n", arguments.command.front());
    fmt::print(stderr, "  {:<26}{:>14}{:>14}\n", "", "in all", requests > 0 ? "per request" : "");
    fmt::print(stderr, "  {:<26}{:>14}\n", "requests served", requests);
    say("allocations", counts.allocations, requests);
    say("locks", counts.locks, requests);
    say("condition actions", counts.condition_actions, requests);
    if (!arguments.system_calls) { // a tracer makes most of them
        say("voluntary switches", usage.ru_nvcsw, requests);
        say("involuntary switches", usage.ru_nivcsw, requests);
        return;
    }
    std::int64_t all = 0;
    for (const std::int64_t count : counts.syscalls)
        all += count;
    say("system calls", all, requests);
    for (std::size_t number = 0; number < counts.syscalls.size(); ++number)
        if (counts.syscalls[number] > 0)
            say(("  " + bench::syscall_name(number)).c_str(), counts.syscalls[number], requests);
}

int count_program(const CountArguments& arguments)
{
    const auto page = bench::CountedPage::create();
    if (!page) return failed(page.error().reason);
    auto instruments = instruments_of(arguments, *page);
    if (!instruments) return failed(instruments.error().reason);
    // What the terminal sends is for the program; we have still to say what it did.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    const pid_t program = fork();
    if (program < 0)
        return failed(std::string("cannot start a program: ") + strerrordesc_np(errno));
    if (program == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        become(*instruments);
    }
    int status = 0;
    rusage usage{};
    while (wait4(program, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    say_counts(arguments, page->read(), usage);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

void add_count_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<CountArguments>();
    CLI::App* command =
        app.add_subcommand("count", "Run a program and say what its requests cost it");
    command->add_flag("--system-calls", arguments->system_calls,
                      "Count system calls, which slows the program, instead of context switches");
    command->add_option("command", arguments->command, "-- PROGRAM [ARGUMENT…]")
        ->required()
        ->type_name("PROGRAM");
    command->callback([arguments, &status] { status = count_program(*arguments); });
}

} // namespace kairos::tools
