// SPDX-License-Identifier: Apache-2.0
//
// `kairos browse`: a page with the names of a Naming Service and the objects behind them, which can
// be read, called and watched from there. Types are from IDL files, or from Interface
// Repositories (docs/browser.md).
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "tools/kairos/browse_http.h"
#include "tools/kairos/browse_objects.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/interfaces.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/random.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::tools {
namespace {

struct BrowseArguments {
    std::string host;
    std::uint16_t port = 0;
    std::vector<std::string> hosts;
    std::vector<std::string> targets;
    std::vector<std::string> idl_files;
    std::vector<std::string> include_directories;
    double timeout_s = 10;
};

/// What only this run's page knows.
std::string new_token()
{
    std::array<unsigned char, 24> octets{};
    if (getrandom(octets.data(), octets.size(), 0) != static_cast<ssize_t>(octets.size()))
        fail("the system gives no random numbers");
    std::string token;
    for (const unsigned char octet : octets)
        token += fmt::format("{:02x}", octet);
    return token;
}

/// The folder of the page lies beside the tool, wherever that was installed.
std::string folder_of_page()
{
    const auto tool = std::filesystem::read_symlink("/proc/self/exe");
    return (tool.parent_path() / KAIROS_BROWSE_BESIDE_TOOL).lexically_normal();
}

CORBA::ORB_ptr make_orb(const BrowseArguments& arguments,
                        const std::vector<std::string>& orb_options)
{
    std::vector<std::string> texts{"kairos", "-ORBClientTimeout",
                                   std::to_string(std::llround(arguments.timeout_s * 1000))};
    texts.insert(texts.end(), orb_options.begin(), orb_options.end()); // these win
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    return CORBA::ORB_init(argc, argv.data(), "kairos-browse");
}

/// Serves until a signal comes, or no connections can be accepted any more: then `run` throws
/// std::runtime_error, which says so. What then still waits for an object is not waited for longer
/// than `end_within`: nothing would be lost.
class BrowseRun {
  public:
    explicit BrowseRun(BrowseHttp& http) : http_(http) {}
    BrowseRun(const BrowseRun&) = delete;
    BrowseRun& operator=(const BrowseRun&) = delete;
    ~BrowseRun() = default;

    void run(const EndSignals& signals)
    {
        std::thread server;
        try {
            server = std::thread([this] { serve(); });
        } catch (const std::system_error& wrong) {
            fail(fmt::format("the page cannot be served: {}", wrong.what()));
        }
        signals.wait();
        http_.end();
        std::string failure;
        bool is_over = false;
        {
            std::unique_lock lock(mutex_);
            is_over = changed_.wait_for(lock, end_within, [this] { return is_over_; });
            failure = failure_;
        }
        if (!is_over) {
            if (failure.empty()) ::_exit(0);
            fmt::print(stderr, "kairos browse: {}\n", shown(failure));
            ::_exit(1);
        }
        server.join();
        if (!failure.empty()) fail(failure);
    }

  private:
    void serve()
    {
        try {
            http_.run([this] { lose("no connections can be accepted any more"); });
        } catch (const std::exception& wrong) {
            lose(fmt::format("the page cannot be served: {}", wrong.what()));
        }
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        changed_.notify_all();
    }

    void lose(std::string why)
    {
        {
            const std::lock_guard lock(mutex_);
            if (failure_.empty()) failure_ = std::move(why);
        }
        (void)::kill(::getpid(), SIGTERM); // which every thread blocks, and `run` waits for
    }

    BrowseHttp& http_;
    std::mutex mutex_; // guards is_over_, failure_; inside nothing
    std::condition_variable changed_;
    bool is_over_ = false;
    std::string failure_; // empty: none
};

void serve(const BrowseArguments& arguments, const std::vector<std::string>& orb_options)
{
    std::vector<NamedTarget> targets;
    for (const std::string& text : arguments.targets)
        targets.push_back(named_target_of(text));
    Interfaces files;
    for (const std::string& file : arguments.idl_files) {
        std::string said;
        const bool good = files.add_idl(file, arguments.include_directories, said);
        fmt::print(stderr, "{}", shown_lines(said));
        if (!good) fail(file + " has errors");
    }
    const EndSignals signals; // before there is another thread
    const CORBA::ORB_var orb = make_orb(arguments, orb_options);
    {
        BrowseObjects objects(orb.in(), files, targets);
        BrowseHttpOptions options;
        options.host = arguments.host;
        options.port = arguments.port;
        options.hosts = arguments.hosts;
        options.token = new_token();
        options.files = folder_of_page();
        BrowseHttp http(options, [&](const BrowseCall& call) { return objects.answer(call); });
        const bool is_v6 = arguments.host.find(':') != std::string::npos;
        const std::string host = !arguments.hosts.empty() ? arguments.hosts.front()
                                 : is_v6                  ? "[" + arguments.host + "]"
                                                          : arguments.host;
        // What is behind the # stays in the browser: no log and no other machine sees it.
        const std::string address = host_with_port(host, http.port());
        fmt::print("http://{}/#{}\n", address, options.token);
        if (!address.ends_with(fmt::format(":{}", http.port()))) // somebody has to forward that
            fmt::print("listens at port {}\n", http.port());
        std::fflush(stdout);
        BrowseRun(http).run(signals);
    }
    orb->destroy();
}

void add_options(CLI::App& command, BrowseArguments& arguments)
{
    command
        .add_option("targets", arguments.targets,
                    "Objects that the page begins with, beside the names of the Naming Service: "
                    "IOR:…, corbaloc:…, corbaname:…, name:…, a file with one; with NAME= in front "
                    "that is what the page calls them")
        ->type_name("[NAME=]REFERENCE");
    command
        .add_option("--listen", arguments.host,
                    "The address of this machine that browsers connect to; whoever reaches it and "
                    "knows the printed address can call every object that this machine reaches")
        ->type_name("HOST")
        ->default_val("127.0.0.1");
    command.add_option("-p,--port", arguments.port, "The port; 0 is any that is free")
        ->type_name("PORT")
        ->default_val(0);
    command
        .add_option("--host", arguments.hosts,
                    "Another name by which browsers reach the page, with a port where that is "
                    "another one (a tunnel's); may be repeated. Requests for other hosts are "
                    "refused")
        ->type_name("NAME[:PORT]")
        ->allow_extra_args(false);
    command
        .add_option("--idl", arguments.idl_files,
                    "An IDL file that declares interfaces of the objects; may be repeated. Other "
                    "objects are asked for theirs, which they have if their servers use an "
                    "Interface Repository; then that of -ORBInitRef is")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        .add_option("-I", arguments.include_directories,
                    "A folder with IDL files that those include; may be repeated")
        ->type_name("DIR")
        ->allow_extra_args(false);
    command.add_option("--timeout", arguments.timeout_s, "Seconds that an object has to answer")
        ->check(CLI::Range(0.001, 86'400.0))
        ->default_val(10.0);
}

} // namespace

void add_browse_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<BrowseArguments>();
    auto* command = app.add_subcommand(
        "browse", "Serve a page that shows, calls and watches objects; prints its address");
    add_options(*command, *arguments);
    command->footer(orb_options_footer);
    command->callback([arguments, &orb_options, &status] {
        try {
            serve(*arguments, orb_options);
        } catch (const CORBA::Exception& exception) {
            fmt::print(stderr, "kairos browse: {}\n", shown(exception.what()));
            status = 1;
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos browse: {}\n", shown_lines(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
