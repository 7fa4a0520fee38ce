// SPDX-License-Identifier: Apache-2.0
//
// `kairos call` calls any operation of any object, without stubs; `kairos describe` prints the IDL
// of its interface. Types are from IDL files, or from the Interface Repository that the object
// names.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/ir/ir.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/dynamic_call.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/idl_text.h"
#include "tools/kairos/interfaces.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/value_json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::tools {
namespace {

using json = Json;

/// What an operation's own exception makes of the exit status: not a failure of the call.
constexpr int raised_status = 3;

struct CallArguments {
    std::string reference; ///< of describe: or the name or id of an interface
    std::string operation;
    std::vector<std::string> values;
    std::string json_values; ///< in place of `values`
    std::vector<std::string> idl_files;
    std::vector<std::string> include_directories;
    std::string interface; ///< empty: the object tells
    bool is_json = false;
};

std::string json_text(const json& value, int indent)
{
    return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

// --- Arguments as people type them ---------------------------------------------------------------

std::string octets_in_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string octets(std::istreambuf_iterator<char>(file), {});
    if (!file && octets.empty()) fail("cannot read " + path);
    std::string hex;
    for (const char octet : octets)
        hex += fmt::format("{:02x}", static_cast<unsigned char>(octet));
    return hex;
}

json number_of(const std::string& text)
{
    const std::string_view digits = text;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        std::uint64_t number = 0;
        const char* const end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data() + 2, end, number, 16);
        if (read.ec == std::errc() && read.ptr == end) return number;
    }
    json number = json::parse(text, nullptr, false);
    return number.is_number() ? number : json(text); // such as NaN; or it is refused by its name
}

/// A value of type any: {"type": …, "value": …}, or what says by itself of which type it is.
json any_of(const std::string& text)
{
    json value = json::parse(text, nullptr, false);
    if (value.is_object() || value.is_null()) return value;
    if (value.is_discarded()) value = text;
    const char* const type = value.is_boolean()          ? "boolean"
                             : value.is_string()         ? "string"
                             : value.is_number_float()   ? "double"
                             : value.is_number_integer() ? "long long"
                                                         : nullptr;
    if (type == nullptr) fail("an any is a value or {\"type\": …, \"value\": …}");
    const bool is_long =
        value.is_number_integer() && value >= -2147483648LL && value <= 2147483647LL;
    return {{"type", is_long ? "long" : type}, {"value", value}};
}

/// An argument in the form that value_json.h reads.
json argument_json(const std::string& text, const CORBA::TypeCode& type)
{
    const CORBA::TypeCode& resolved = types::resolved(type);
    switch (resolved.kind()) {
    case CORBA::tk_string:
    case CORBA::tk_wstring:
    case CORBA::tk_char:
    case CORBA::tk_wchar:
    case CORBA::tk_enum:
    case CORBA::tk_fixed:
        return text;
    case CORBA::tk_objref:
        return text == "nil" ? json() : json(url_of_object(text));
    case CORBA::tk_boolean:
        if (text == "1" || text == "0") return text == "1";
        return json::parse(text, nullptr, false);
    case CORBA::tk_any:
        return any_of(text);
    case CORBA::tk_sequence:
    case CORBA::tk_array: {
        const CORBA::TypeCode_var content = resolved.content_type();
        if (types::resolved(*content.in()).kind() != CORBA::tk_octet || text.starts_with(" ["))
            return parse_json(text);
        return text.starts_with('@') ? octets_in_file(text.substr(1)) : text;
    }
    case CORBA::tk_short:
    case CORBA::tk_long:
    case CORBA::tk_ushort:
    case CORBA::tk_ulong:
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_octet:
    case CORBA::tk_float:
    case CORBA::tk_double:
    case CORBA::tk_longdouble:
        return number_of(text);
    default:
        return parse_json(text);
    }
}

std::vector<json> arguments_of(const CallArguments& arguments, const KnownOperation& operation)
{
    if (!arguments.json_values.empty())
        return arguments_in_json(parse_json(arguments.json_values), operation);
    const auto parameters = given(operation);
    if (arguments.values.size() != parameters.size())
        fail(fmt::format("{} takes {} argument{}, not {}", idl_of(operation), parameters.size(),
                         parameters.size() == 1 ? "" : "s", arguments.values.size()));
    std::vector<json> values;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        try {
            values.push_back(argument_json(arguments.values[i], *parameters[i]->type.in()));
        } catch (const std::runtime_error& error) {
            fail(fmt::format("argument '{}': {}", parameters[i]->name, error.what()));
        }
    }
    return values;
}

// --- The call ------------------------------------------------------------------------------------

class Session {
  public:
    Session(const char* name, const std::vector<std::string>& orb_options)
    {
        std::string program = "kairos"; // which ORB_init does not look at
        std::vector<char*> options{program.data()};
        for (const std::string& option : orb_options)
            options.push_back(const_cast<char*>(option.c_str()));
        int count = static_cast<int>(options.size());
        options.push_back(nullptr);
        orb = CORBA::ORB_init(count, options.data(), name);
    }

    void read_idl(const CallArguments& arguments)
    {
        for (const std::string& file : arguments.idl_files) {
            std::string said;
            const bool good = interfaces.add_idl(file, arguments.include_directories, said);
            fmt::print(stderr, "{}", shown_lines(said));
            if (!good) fail(file + " has errors");
        }
    }

    [[nodiscard]] CORBA::Object_var object(const std::string& reference) const
    {
        CORBA::Object_var found = orb->string_to_object(url_of_object(reference).c_str());
        if (CORBA::is_nil(found.in())) fail("the reference is nil");
        return found;
    }

    const KnownInterface& interface_of(const CallArguments& arguments, CORBA::Object_ptr object)
    {
        const KnownInterface* known = nullptr;
        if (!arguments.interface.empty()) {
            known = interfaces.find(arguments.interface);
            if (known == nullptr)
                fail(fmt::format("no --idl file declares the interface {}", arguments.interface));
            return *known;
        }
        if (arguments.idl_files.empty()) {
            try {
                known = interfaces.add_interface_of(object);
            } catch (const CORBA::SystemException& exception) {
                fail(fmt::format("the object does not say what its interface is ({}): give its IDL "
                                 "by --idl FILE",
                                 exception._name()));
            }
            if (known == nullptr)
                fail("the object's interface is in no repository: give its IDL by --idl FILE");
            return *known;
        }
        known = interfaces.find_of(object);
        if (known == nullptr)
            fail("the object has none of the interfaces in the --idl files; --interface NAME says "
                 "which to take it for");
        return *known;
    }

    CORBA::ORB_var orb;
    Interfaces interfaces;
};

void print_operations(const KnownInterface& interface)
{
    fmt::print("{}:\n", shown(interface.name));
    for (const KnownOperation& operation : interface.operations) {
        const bool is_second_half = operation.is_attribute && !operation.parameters.empty();
        if (!is_second_half) fmt::print("  {}\n", shown(idl_of(operation)));
    }
}

void print_results(const json& results, bool is_json)
{
    if (is_json) {
        fmt::print("{}\n", shown_lines(json_text(results, -1)));
        return;
    }
    if (results.contains("result"))
        fmt::print("{}\n", shown_lines(json_text(results["result"], 2)));
    if (!results.contains("out")) return;
    for (const auto& [name, value] : results["out"].items())
        fmt::print("{}: {}\n", shown(name), shown_lines(json_text(value, 2)));
}

int print_exception(const CORBA::Any& exception, const ValueJson& forms, bool is_json)
{
    const CORBA::TypeCode_var type = exception.type();
    const json members = forms.json_of(exception);
    if (is_json)
        fmt::print("{}\n",
                   shown_lines(json_text({{"exception", type->id()}, {"members", members}}, -1)));
    else
        fmt::print(stderr, "kairos call: exception {} {}\n", shown(idl_name(*type.in())),
                   shown_lines(json_text(members, 2)));
    return raised_status;
}

int call(const CallArguments& arguments, const std::vector<std::string>& orb_options)
{
    Session session("kairos-call", orb_options);
    session.read_idl(arguments);
    const CORBA::Object_var object = session.object(arguments.reference);
    const KnownInterface& interface = session.interface_of(arguments, object.in());
    if (arguments.operation.empty()) {
        print_operations(interface);
        return 0;
    }
    const KnownOperation* const operation =
        interface.find(arguments.operation, arguments.values.size());
    if (operation == nullptr) {
        fmt::print(stderr, "kairos call: {} has no operation {}\n", shown(interface.name),
                   shown(arguments.operation));
        return 2;
    }
    const ValueJson forms(session.orb.in(), [&](const std::string& name) {
        return session.interfaces.type(name)._retn();
    });
    const std::vector<json> values = arguments_of(arguments, *operation);
    const CORBA::Request_var request = request_of(object.in(), *operation, values, forms);
    if (operation->is_oneway) {
        request->send_oneway();
        return 0;
    }
    request->invoke();
    if (CORBA::Exception* exception = request->env()->exception())
        if (auto* user = CORBA::UnknownUserException::_downcast(exception))
            return print_exception(user->exception(), forms, arguments.is_json);
    print_results(results_of(*operation, request.in(), forms), arguments.is_json);
    return 0;
}

/// What the ORB's Interface Repository has of an interface.
const KnownInterface* in_repository(Session& session, const std::string& id)
{
    CORBA::Object_var object;
    try {
        object = session.orb->resolve_initial_references("InterfaceRepository");
    } catch (const CORBA::ORB::InvalidName&) {
        fail(fmt::format("no --idl file declares the interface {}, and -ORBInitRef names no "
                         "InterfaceRepository",
                         id));
    }
    const CORBA::Repository_var repository = CORBA::Repository::_narrow(object.in());
    if (CORBA::is_nil(repository.in())) fail("InterfaceRepository is none");
    const KnownInterface* const found = session.interfaces.add_interface(repository.in(), id);
    if (found == nullptr) fail(fmt::format("the repository has no interface {}", id));
    return found;
}

int describe(const CallArguments& arguments, const std::vector<std::string>& orb_options)
{
    Session session("kairos-describe", orb_options);
    session.read_idl(arguments);
    const KnownInterface* interface = session.interfaces.find(arguments.reference);
    if (interface == nullptr) {
        if (arguments.reference.starts_with("IDL:")) {
            interface = in_repository(session, arguments.reference);
        } else {
            const CORBA::Object_var object = session.object(arguments.reference);
            interface = &session.interface_of(arguments, object.in());
        }
    }
    fmt::print("{}", shown_lines(idl_of(*interface, session.interfaces)));
    return 0;
}

/// Runs the command; what it throws is said to the user.
template <typename Command>
int guarded(const char* name, const Command& command)
{
    try {
        return command();
    } catch (const CORBA::Exception& exception) {
        fmt::print(stderr, "{}: {}\n", name, shown(exception.what()));
    } catch (const std::exception& failure) {
        fmt::print(stderr, "{}: {}\n", name, shown_lines(failure.what()));
    }
    return 1;
}

void add_idl_options(CLI::App& command, CallArguments& arguments)
{
    command
        .add_option("--idl", arguments.idl_files,
                    "An IDL file that declares the interface; may be repeated. Without one the "
                    "object is asked for its interface, which it has if its server uses an "
                    "Interface Repository")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        .add_option("-I", arguments.include_directories,
                    "A folder with IDL files that those include; may be repeated")
        ->type_name("DIR")
        ->allow_extra_args(false);
}

} // namespace

void add_call_commands(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<CallArguments>();

    auto* call_command = app.add_subcommand("call", "Call an operation of any object");
    call_command
        ->add_option("reference", arguments->reference,
                     "IOR:…, corbaloc:…, corbaname:…, name:… in the Naming Service, a file with "
                     "one, or -")
        ->required()
        ->type_name("REFERENCE");
    call_command
        ->add_option("operation", arguments->operation,
                     "The operation, or an attribute: it is read, or set to the argument. Without "
                     "one the operations are printed")
        ->type_name("OPERATION");
    call_command
        ->add_option("arguments", arguments->values,
                     "The in and inout arguments, in their order: text, numbers, names of enum "
                     "values, references; hexadecimal digits or @FILE for sequences of octets; "
                     "JSON for everything else")
        ->type_name("ARGUMENT");
    call_command
        ->add_option("--arguments", arguments->json_values,
                     "The arguments as JSON: an array, or an object by their names")
        ->type_name("JSON");
    call_command
        ->add_option("--interface", arguments->interface,
                     "Take the object for one of this interface, and do not ask it")
        ->type_name("NAME");
    add_idl_options(*call_command, *arguments);
    call_command->add_flag("--json", arguments->is_json,
                           "Print what came back as one line of JSON");
    call_command->footer("Exit status: 3 if the operation raises an exception of its own.\n" +
                         std::string(orb_options_footer));
    call_command->callback([arguments, &orb_options, &status] {
        status = guarded("kairos call", [&] { return call(*arguments, orb_options); });
    });

    auto* describe_command =
        app.add_subcommand("describe", "Print an object's interface, or one by its name, as IDL");
    describe_command
        ->add_option("interface", arguments->reference,
                     "A reference as `kairos call` takes it, or the name or repository id of an "
                     "interface in an IDL file, or the id of one in the ORB's InterfaceRepository")
        ->required()
        ->type_name("REFERENCE|NAME");
    add_idl_options(*describe_command, *arguments);
    describe_command->footer(orb_options_footer);
    describe_command->callback([arguments, &orb_options, &status] {
        status = guarded("kairos describe", [&] { return describe(*arguments, orb_options); });
    });
}

} // namespace kairos::tools
