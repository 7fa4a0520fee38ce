// SPDX-License-Identifier: Apache-2.0
//
// `kairos ifr`: an Interface Repository in the foreground, and what fills and prints one.
#include "idlc/frontend.h"
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/repository/open_store.h"
#include "kairos/repository/repository.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/repository_load.h"
#include "tools/kairos/repository_text.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kairos::tools {
namespace {

struct RepositoryArguments {
    std::string state;
    std::string endpoint;
    std::string reference;
    std::string wanted;
    std::vector<std::string> files;
    std::vector<std::string> include_directories;
    std::vector<std::string> defines;
    bool is_long = false;
};

/// Adds one file after the other, and says on standard error what the compiler says.
std::size_t load_files(const RepositoryArguments& arguments, CORBA::Repository_ptr repository,
                       CORBA::ORB_ptr orb)
{
    std::size_t created = 0;
    for (const std::string& file : arguments.files) {
        idlc::Options options;
        options.include_directories = arguments.include_directories;
        options.defines = arguments.defines;
        idlc::Compilation compilation(options);
        const bool good = compilation.compile_file(file);
        fmt::print(stderr, "{}", shown_lines(compilation.diagnostics().render(false)));
        if (!good) throw std::runtime_error(file + " has errors");
        try {
            created += load(compilation.unit(), repository, orb);
        } catch (const std::exception& failure) {
            throw std::runtime_error(fmt::format("{}: {}", file, failure.what()));
        }
    }
    return created;
}

void serve_repository(const RepositoryArguments& arguments,
                      const std::vector<std::string>& orb_options)
{
    const EndSignals signals;
    std::unique_ptr<repository::Store> store;
    if (!arguments.state.empty()) {
        auto opened = repository::open_store(arguments.state);
        if (!opened) throw std::runtime_error(opened.error().reason);
        store = std::move(opened).value();
    }
    // What constants are is kept as UTF-8, unless an option says otherwise.
    const CORBA::ORB_var orb = make_service_orb("kairos-ifr", arguments.endpoint,
                                                {"-ORBNativeCharCodeSet", "UTF-8"}, orb_options);
    {
        std::optional<repository::InterfaceRepository> service;
        ServiceRun run(signals, orb.in(), [] {});
        service.emplace(orb.in(), std::move(store));
        const CORBA::Repository_var root = service->reference();
        load_files(arguments, root.in(), orb.in());
        const CORBA::String_var reference = orb->object_to_string(root.in());
        fmt::print("{}\n", reference.in());
        std::fflush(stdout);
        run.run();
        service.reset(); // before the run, which watches how long that takes
    }
}

/// An ORB, and the repository that a command is about.
struct RepositorySession {
    RepositorySession(const RepositoryArguments& arguments,
                      const std::vector<std::string>& orb_options)
    {
        std::string program = "kairos";
        std::vector<char*> options{program.data()};
        for (const std::string& option : orb_options)
            options.push_back(const_cast<char*>(option.c_str()));
        int count = static_cast<int>(options.size());
        options.push_back(nullptr);
        orb = CORBA::ORB_init(count, options.data(), "kairos-ifr-client");
        CORBA::Object_var object;
        if (arguments.reference.empty()) {
            try {
                object = orb->resolve_initial_references("InterfaceRepository");
            } catch (const CORBA::ORB::InvalidName&) {
                object = orb->string_to_object("corbaloc::localhost:2808/InterfaceRepository");
            }
        } else {
            auto url = url_of(arguments.reference);
            if (!url) throw std::runtime_error(url.error().reason);
            object = orb->string_to_object(url->c_str());
        }
        repository = CORBA::Repository::_narrow(object.in());
        if (CORBA::is_nil(repository.in()))
            throw std::runtime_error("the reference is not of an Interface Repository");
    }

    CORBA::ORB_var orb;
    CORBA::Repository_var repository;
};

void print_tree(const std::vector<std::unique_ptr<Described>>& all, const std::string& indent,
                bool is_long)
{
    std::size_t width = 0;
    for (const auto& each : all)
        width = std::max(width, word_of(each->kind).size() + each->name.size() + 1);
    for (const auto& each : all) {
        const std::string line = fmt::format("{} {}", word_of(each->kind), each->name);
        if (is_long)
            fmt::print("{}{:<{}}  {}\n", indent, shown(line), width, shown(each->id));
        else
            fmt::print("{}{}\n", indent, shown(line));
        print_tree(each->contents, indent + "  ", is_long);
    }
}

void list(const RepositoryArguments& arguments, const std::vector<std::string>& orb_options)
{
    const RepositorySession session(arguments, orb_options);
    const RepositoryContents contents(session.repository.in());
    if (arguments.wanted.empty()) return print_tree(contents.top(), "", arguments.is_long);
    const Described* const wanted = contents.find_named(arguments.wanted);
    if (wanted == nullptr) throw std::runtime_error("the repository has no " + arguments.wanted);
    print_tree(wanted->contents, "", arguments.is_long);
}

void show(const RepositoryArguments& arguments, const std::vector<std::string>& orb_options)
{
    const RepositorySession session(arguments, orb_options);
    const RepositoryContents contents(session.repository.in());
    const Described* const wanted = contents.find_named(arguments.wanted);
    if (wanted == nullptr) throw std::runtime_error("the repository has no " + arguments.wanted);
    fmt::print("{}", shown_lines(idl_of(contents, *wanted, session.orb.in())));
}

void dump_repository(const RepositoryArguments& arguments,
                     const std::vector<std::string>& orb_options)
{
    const RepositorySession session(arguments, orb_options);
    const RepositoryContents contents(session.repository.in());
    fmt::print("{}", shown_lines(idl_of(contents, session.orb.in())));
}

void load_into(const RepositoryArguments& arguments, const std::vector<std::string>& orb_options)
{
    const RepositorySession session(arguments, orb_options);
    const std::size_t created = load_files(arguments, session.repository.in(), session.orb.in());
    fmt::print("{} new definition{}\n", created, created == 1 ? "" : "s");
}

void remove(const RepositoryArguments& arguments, const std::vector<std::string>& orb_options)
{
    const RepositorySession session(arguments, orb_options);
    CORBA::Contained_var found = session.repository->lookup_id(arguments.wanted.c_str());
    if (CORBA::is_nil(found.in())) found = session.repository->lookup(arguments.wanted.c_str());
    if (CORBA::is_nil(found.in()))
        throw std::runtime_error("the repository has no " + arguments.wanted);
    found->destroy();
}

void add_idl_options(CLI::App& command, RepositoryArguments& arguments)
{
    command
        .add_option("-I", arguments.include_directories,
                    "A folder with IDL files that others include; may be repeated")
        ->type_name("DIR")
        ->allow_extra_args(false);
    command.add_option("-D", arguments.defines, "A macro for the IDL; may be repeated")
        ->type_name("NAME[=VALUE]")
        ->allow_extra_args(false);
}

void add_reference_option(CLI::App& command, RepositoryArguments& arguments)
{
    command
        .add_option("-r,--repository", arguments.reference,
                    "The repository: IOR:…, corbaloc:…, a file with one, or -. Without this the "
                    "ORB's initial reference InterfaceRepository, or else "
                    "corbaloc::localhost:2808/InterfaceRepository")
        ->type_name("REFERENCE");
}

} // namespace

void add_repository_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<RepositoryArguments>();
    auto* ifr = app.add_subcommand("ifr", "Run, fill and print an Interface Repository");
    ifr->require_subcommand(1);
    ifr->footer(orb_options_footer);
    const auto run = [&status, &orb_options, arguments](CLI::App& command, auto function) {
        command.footer(orb_options_footer);
        command.callback([&status, &orb_options, arguments, function, name = command.get_name()] {
            try {
                function(*arguments, orb_options);
            } catch (const CORBA::Exception& exception) {
                fmt::print(stderr, "kairos ifr {}: {}\n", name, shown(exception.what()));
                status = 1;
            } catch (const std::exception& failure) {
                fmt::print(stderr, "kairos ifr {}: {}\n", name, shown_lines(failure.what()));
                status = 1;
            }
        });
    };

    auto* serving = ifr->add_subcommand(
        "serve", "Run a repository; prints its reference when it has what the files declare");
    serving->add_option("files", arguments->files, "IDL files to load")->type_name("FILE");
    serving
        ->add_option("-d,--state", arguments->state,
                     "What keeps the definitions: a file, or postgresql://USER@HOST/DATABASE, for "
                     "one server at a time; without it they are gone when the server ends")
        ->type_name("STATE");
    serving
        ->add_option("-l,--listen", arguments->endpoint,
                     "Where clients find it; iiop://:2808 is on every interface")
        ->type_name("ENDPOINT")
        ->default_val("iiop://localhost:2808");
    add_idl_options(*serving, *arguments);
    run(*serving, serve_repository);

    auto* loading = ifr->add_subcommand("load", "Add what IDL files declare");
    loading->add_option("files", arguments->files, "IDL files")->required()->type_name("FILE");
    add_idl_options(*loading, *arguments);
    add_reference_option(*loading, *arguments);
    run(*loading, load_into);

    auto* listing = ifr->add_subcommand("ls", "List definitions");
    listing
        ->add_option("container", arguments->wanted,
                     "The name or id of what contains them; without one all are listed")
        ->type_name("NAME|ID");
    listing->add_flag("-l", arguments->is_long, "With their repository ids");
    add_reference_option(*listing, *arguments);
    run(*listing, list);

    auto* showing =
        ifr->add_subcommand("show", "Print IDL that declares something, with what it needs");
    showing->add_option("definition", arguments->wanted, "Its name or id")
        ->required()
        ->type_name("NAME|ID");
    add_reference_option(*showing, *arguments);
    run(*showing, show);

    auto* dumping = ifr->add_subcommand("dump", "Print IDL that declares everything");
    add_reference_option(*dumping, *arguments);
    run(*dumping, dump_repository);

    auto* removing =
        ifr->add_subcommand("rm", "Destroy a definition and what it contains, if nothing needs it");
    removing->add_option("definition", arguments->wanted, "Its name or id")
        ->required()
        ->type_name("NAME|ID");
    add_reference_option(*removing, *arguments);
    run(*removing, remove);
}

} // namespace kairos::tools
