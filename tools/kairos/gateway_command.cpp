// SPDX-License-Identifier: Apache-2.0
//
// `kairos gateway`: leads to objects of other ORBs, by other transports, versions of GIOP or code
// sets, until it is told to end. Types are from IDL files, or from the Interface Repositories that
// objects name.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"
#include "kairos/corba/portable_server.h"
#include "kairos/gateway/gateway.h"
#include "kairos/orb/reference.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/interfaces.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace kairos::tools {
namespace {

struct GatewayArguments {
    std::string endpoint;
    std::vector<std::string> targets;
    std::vector<std::string> idl_files;
    std::vector<std::string> include_directories;
    std::string key_file;
    double timeout_s = 30;
    bool verbatim = false;
};

// --- Types ---------------------------------------------------------------------------------------

gateway::Operation passed_on(const KnownOperation& known)
{
    using Direction = gateway::Operation::Direction;
    gateway::Operation operation(known.result.in());
    for (const KnownParameter& parameter : known.parameters)
        operation.add(parameter.direction == KnownParameter::Direction::in    ? Direction::in
                      : parameter.direction == KnownParameter::Direction::out ? Direction::out
                                                                              : Direction::inout,
                      parameter.type.in());
    for (const CORBA::TypeCode_var& exception : known.raises)
        operation.add_exception(exception.in());
    if (!known.contexts.empty()) operation.set_context();
    return operation;
}

std::shared_ptr<const gateway::Interface> passed_on(const KnownInterface& known)
{
    auto interface = std::make_shared<gateway::Interface>();
    interface->id = known.id;
    for (const KnownOperation& operation : known.operations)
        interface->operations.emplace(operation.wire_name, passed_on(operation));
    return interface;
}

/// What the IDL files say; of objects with other interfaces, what they say themselves.
class TypesOfFiles final : public gateway::Interfaces {
  public:
    explicit TypesOfFiles(const tools::Interfaces& files) : files_(files)
    {
        for (const auto& [id, known] : files.all())
            by_id_.emplace(id, passed_on(known));
    }

    std::shared_ptr<const gateway::Interface> interface_of(CORBA::Object_ptr target) override
    {
        if (const KnownInterface* const known = files_.find_of(target)) return by_id_.at(known->id);
        tools::Interfaces asked; // of its own: nobody waits for what another thread asks
        try {
            const KnownInterface* const known = asked.add_interface_of(target);
            return known == nullptr ? nullptr : passed_on(*known);
        } catch (const CORBA::INTF_REPOS&) {
        } catch (const CORBA::NO_IMPLEMENT&) {
        } catch (const CORBA::BAD_OPERATION&) {
        }
        return nullptr;
    }
    CORBA::TypeCode_ptr type(std::string_view repository_id) override
    {
        return files_.type(std::string(repository_id))._retn();
    }

  private:
    const tools::Interfaces& files_;
    std::map<std::string, std::shared_ptr<const gateway::Interface>> by_id_; // never changes
};

void read_idl(tools::Interfaces& interfaces, const GatewayArguments& arguments)
{
    for (const std::string& file : arguments.idl_files) {
        std::string said;
        const bool good = interfaces.add_idl(file, arguments.include_directories, said);
        fmt::print(stderr, "{}", shown_lines(said));
        if (!good) fail(file + " has errors");
    }
}

// --- The key -------------------------------------------------------------------------------------

class Descriptor {
  public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (descriptor_ >= 0) close(descriptor_);
    }
    [[nodiscard]] int get() const { return descriptor_; }

  private:
    const int descriptor_;
};

using Key = std::vector<std::byte>;
constexpr std::size_t key_size = 32;

/// Nothing where the file is there already.
std::optional<Key> new_key(const std::string& path)
{
    const Descriptor file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.get() < 0) return std::nullopt;
    Key key(key_size);
    if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()) ||
        write(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
        fail("cannot write a key to " + path);
    return key;
}

Key key_in(const std::string& path)
{
    if (auto made = new_key(path)) return std::move(*made);
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Key key(key_size);
    if (file.get() < 0 ||
        read(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
        fail(fmt::format("{} has no key: {} octets that nobody else knows", path, key_size));
    return key;
}

// --- Targets -------------------------------------------------------------------------------------

/// Prints a reference through the gateway, and serves it by the target's name.
void publish(CORBA::ORB_ptr orb, gateway::Gateway& gateway, const NamedTarget& target)
{
    const CORBA::Object_var object = orb->string_to_object(target.url.c_str());
    if (CORBA::is_nil(object.in())) fail("a target is nil");
    const CORBA::Object_var published = gateway.publish(object.in());
    const CORBA::String_var reference = orb->object_to_string(published.in());
    if (!target.name.empty()) {
        const CORBA::Object_var service = orb->resolve_initial_references("IORTable");
        const IORTable::Table_var table = IORTable::Table::_narrow(service.in());
        table->bind(target.name.c_str(), reference.in());
    }
    fmt::print("{}\n", reference.in());
}

std::vector<std::string> orb_defaults(const GatewayArguments& arguments)
{
    const auto timeout_ms = std::llround(arguments.timeout_s * 1000);
    // What asks for types has the same limit as calls have.
    return {"-ORBClientTimeout", std::to_string(timeout_ms)};
}

void serve(const GatewayArguments& arguments, const std::vector<std::string>& orb_options)
{
    std::vector<NamedTarget> targets;
    for (const std::string& text : arguments.targets)
        targets.push_back(named_target_of(text));
    tools::Interfaces files;
    read_idl(files, arguments);
    TypesOfFiles types(files);
    Key key;
    if (!arguments.key_file.empty()) key = key_in(arguments.key_file);
    const EndSignals signals;
    const CORBA::ORB_var orb = make_service_orb("kairos-gateway", arguments.endpoint,
                                                orb_defaults(arguments), orb_options);
    {
        ServiceRun run(signals, orb.in(), [] {});
        gateway::Gateway gateway(
            orb.in(), types,
            {.timeout = std::chrono::milliseconds(std::llround(arguments.timeout_s * 1000)),
             .passes_unknown = arguments.verbatim,
             .secret = key});
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        for (const NamedTarget& target : targets)
            publish(orb.in(), gateway, target);
        std::fflush(stdout);
        run.run();
    }
}

void add_options(CLI::App& command, GatewayArguments& arguments)
{
    command
        .add_option("targets", arguments.targets,
                    "What it leads to: IOR:…, corbaloc:…, corbaname:…, name:… in the Naming "
                    "Service, a file with one; with NAME= in front, clients also find it as "
                    "corbaloc:…/NAME")
        ->required()
        ->type_name("[NAME=]REFERENCE");
    command
        .add_option("-l,--listen", arguments.endpoint,
                    "Where clients find it; iiop://:0 is on every interface")
        ->type_name("ENDPOINT")
        ->default_val("iiop://localhost:0");
    command
        .add_option("--idl", arguments.idl_files,
                    "An IDL file that declares interfaces of what it leads to; may be repeated. "
                    "Other objects are asked for theirs, which they have if their servers use an "
                    "Interface Repository")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        .add_option("-I", arguments.include_directories,
                    "A folder with IDL files that those include; may be repeated")
        ->type_name("DIR")
        ->allow_extra_args(false);
    command
        .add_option("--timeout", arguments.timeout_s, "Seconds that a target has for its answer")
        ->check(CLI::Range(0.001, 86'400.0))
        ->default_val(30.0);
    command
        .add_option("--key", arguments.key_file,
                    "A file with the secret that references are made with, which is written if it "
                    "is not there: references then mean the same in every run that listens at the "
                    "same address")
        ->type_name("FILE");
    command.add_flag("--verbatim", arguments.verbatim,
                     "Let requests pass as they are where nobody knows their types: references in "
                     "them then lead past the gateway");
}

} // namespace

void add_gateway_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<GatewayArguments>();
    auto* command = app.add_subcommand(
        "gateway", "Lead to objects of any interface; prints a reference for each");
    add_options(*command, *arguments);
    command->footer(orb_options_footer);
    command->callback([arguments, &orb_options, &status] {
        try {
            serve(*arguments, orb_options);
        } catch (const CORBA::Exception& exception) {
            fmt::print(stderr, "kairos gateway: {}\n", shown(exception.what()));
            status = 1;
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos gateway: {}\n", shown_lines(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
