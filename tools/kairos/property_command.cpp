// SPDX-License-Identifier: Apache-2.0
//
// `kairos property serve|ls|get|set|rm`: sets of properties, served in the foreground, and those of
// any ORB's Property Service shown and changed.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/journal/open_store.h"
#include "kairos/properties/service.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/service.h"
#include "tools/kairos/value_json.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>

namespace kairos::tools {
namespace {

struct PropertyArguments {
    std::string reference;
    std::string name;
    std::string value;
    std::string type;
    std::string mode;
    bool json = false;
    std::vector<std::string> sets;  // serve: names
    std::vector<std::string> files; // serve: of the sets, in their order
    std::string endpoint;
    std::string store;
};

constexpr std::array<const char*, 4> mode_names{"normal", "read_only", "fixed_normal",
                                                "fixed_readonly"};
constexpr CORBA::ULong properties_a_call = 1000;

// --- Serving -------------------------------------------------------------------------------------

void serve_properties(const PropertyArguments& arguments,
                      const std::vector<std::string>& orb_options)
{
    if (arguments.files.size() > arguments.sets.size())
        fail("there are fewer sets than files for them");
    const EndSignals signals; // before there is a thread of the store's
    std::unique_ptr<Journal> store;
    if (!arguments.store.empty()) {
        auto opened = journal::open_store(arguments.store, properties::store_kind);
        if (!opened) fail(opened.error().reason);
        store = std::move(opened).value();
    }
    const CORBA::ORB_var orb =
        make_service_orb("kairos-property", arguments.endpoint, {}, orb_options);
    {
        std::optional<properties::PropertyService> service;
        ServiceRun run(signals, orb.in(), [] {});
        service.emplace(orb.in(), properties::ServiceLimits(), std::move(store));
        const auto print = [&](CORBA::Object_ptr object) {
            const CORBA::String_var reference = orb->object_to_string(object);
            fmt::print("{}\n", reference.in());
            return std::string(reference.in());
        };
        for (std::size_t i = 0; i < arguments.sets.size(); ++i) {
            const CosPropertyService::PropertySetDef_var set =
                service->create_set(arguments.sets[i]);
            const std::string reference = print(set.in());
            if (i < arguments.files.size()) write_reference(arguments.files[i], reference);
        }
        if (arguments.sets.empty())
            print(CosPropertyService::PropertySetDefFactory_var(service->def_factory()).in());
        std::fflush(stdout);
        run.run();
        service.reset(); // before the run, which watches how long that takes
    }
}

// --- Showing and changing ------------------------------------------------------------------------

struct PropertySession {
    CORBA::ORB_var orb;
    CosPropertyService::PropertySet_var set;
    CosPropertyService::PropertySetDef_var def; // nil for a set that knows no modes
};

PropertySession open_set(const PropertyArguments& arguments,
                         const std::vector<std::string>& orb_options)
{
    PropertySession session;
    session.orb = make_client_orb("kairos-property", orb_options);
    const CORBA::Object_var object =
        session.orb->string_to_object(url_of_object(arguments.reference).c_str());
    session.def = CosPropertyService::PropertySetDef::_narrow(object.in());
    session.set = CORBA::is_nil(session.def.in())
                      ? CosPropertyService::PropertySet::_narrow(object.in())
                      : CosPropertyService::PropertySet::_duplicate(session.def.in());
    if (CORBA::is_nil(session.set.in())) fail(arguments.reference + " is not a PropertySet");
    return session;
}

Json json_of_property(const ValueJson& forms, const CosPropertyService::Property& property)
{
    const CORBA::TypeCode_var type = property.property_value.type();
    return {{"name", property.property_name.in()},
            {"type", tools::json_of(*type.in())},
            {"value", forms.json_of(property.property_value)}};
}

/// Adds the modes to what is about to be printed; who has changed something meanwhile has none.
void add_modes(const PropertySession& session, const CosPropertyService::Properties& properties,
               std::vector<Json>& all)
{
    if (CORBA::is_nil(session.def.in()) || properties.length() == 0) return;
    CosPropertyService::PropertyNames names;
    names.length(properties.length());
    for (CORBA::ULong i = 0; i < names.length(); ++i)
        names[i] = properties[i].property_name;
    CosPropertyService::PropertyModes_var modes;
    (void)session.def->get_property_modes(names, modes.out());
    const std::size_t first = all.size() - properties.length();
    for (CORBA::ULong i = 0; i < modes->length() && i < properties.length(); ++i)
        if (const auto mode = static_cast<std::size_t>(modes[i].property_mode);
            mode < mode_names.size())
            all[first + i]["mode"] = mode_names[mode];
}

std::string one_line(const Json& document)
{
    return shown(document.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void print_one(const Json& property)
{
    fmt::print("{}\t{}\t{}\t{}\n", shown(property["name"].get<std::string>()),
               property.value("mode", "-"),
               property["type"].is_string() ? shown(property["type"].get<std::string>())
                                            : one_line(property["type"]),
               one_line(property["value"]));
}

void list_properties(const PropertySession& session, const PropertyArguments& arguments)
{
    const ValueJson forms(session.orb.in(), {});
    CosPropertyService::Properties_var properties;
    CosPropertyService::PropertiesIterator_var rest;
    session.set->get_all_properties(properties_a_call, properties.out(), rest.out());
    std::vector<Json> all;
    bool has_more = true;
    while (has_more) {
        for (CORBA::ULong i = 0; i < properties->length(); ++i)
            all.push_back(json_of_property(forms, properties[i]));
        add_modes(session, properties.in(), all);
        has_more = !CORBA::is_nil(rest.in()) && rest->next_n(properties_a_call, properties.out()) &&
                   properties->length() != 0;
    }
    if (!CORBA::is_nil(rest.in())) rest->destroy();
    if (arguments.json)
        fmt::print("{}\n", one_line(Json(all)));
    else
        for (const Json& property : all)
            print_one(property);
}

void get_one(const PropertySession& session, const PropertyArguments& arguments)
{
    const CORBA::Any_var value = session.set->get_property_value(arguments.name.c_str());
    const ValueJson forms(session.orb.in(), {});
    if (!arguments.json) {
        fmt::print("{}\n", one_line(forms.json_of(value.in())));
        return;
    }
    CosPropertyService::Property property;
    property.property_name = arguments.name.c_str();
    property.property_value = value.in();
    fmt::print("{}\n", one_line(json_of_property(forms, property)));
}

/// The type that the property has already, or that the text has as JSON; text that is none is a
/// string.
CORBA::TypeCode_var type_of_value(const PropertySession& session,
                                  const PropertyArguments& arguments)
{
    if (!arguments.type.empty()) return type_of(Json(arguments.type), {});
    try {
        const CORBA::Any_var value = session.set->get_property_value(arguments.name.c_str());
        return value->type();
    } catch (const CosPropertyService::PropertyNotFound&) {
        // It is a new one.
    }
    const Json document = Json::parse(arguments.value, nullptr, false);
    if (document.is_boolean()) return CORBA::TypeCode::_duplicate(CORBA::_tc_boolean);
    if (document.is_number_float()) return CORBA::TypeCode::_duplicate(CORBA::_tc_double);
    if (document.is_number_integer()) {
        using Long = std::numeric_limits<CORBA::Long>;
        const bool is_long = document >= Json(Long::min()) && document <= Json(Long::max());
        return CORBA::TypeCode::_duplicate(is_long ? CORBA::_tc_long : CORBA::_tc_longlong);
    }
    if (document.is_object() || document.is_array()) fail("a value of this form needs --type");
    return CORBA::TypeCode::_duplicate(CORBA::_tc_string);
}

CORBA::Any_var value_of(const PropertySession& session, const PropertyArguments& arguments)
{
    const CORBA::TypeCode_var type = type_of_value(session, arguments);
    const ValueJson forms(session.orb.in(), {});
    if (type->kind() != CORBA::tk_string)
        return forms.value_of(parse_json(arguments.value), type.in());
    const Json document = Json::parse(arguments.value, nullptr, false);
    return forms.value_of(document.is_string() ? document : Json(arguments.value), type.in());
}

void set_one(const PropertySession& session, const PropertyArguments& arguments)
{
    const CORBA::Any_var value = value_of(session, arguments);
    if (arguments.mode.empty())
        return session.set->define_property(arguments.name.c_str(), value.in());
    if (CORBA::is_nil(session.def.in())) fail("this set knows no modes");
    const auto mode = std::ranges::find(mode_names, arguments.mode) - mode_names.begin();
    session.def->define_property_with_mode(arguments.name.c_str(), value.in(),
                                           static_cast<CosPropertyService::PropertyModeType>(mode));
}

void remove_one(const PropertySession& session, const PropertyArguments& arguments)
{
    session.set->delete_property(arguments.name.c_str());
}

// --- From arguments to a command -----------------------------------------------------------------

using PropertyCommand = void (*)(const PropertySession& session,
                                 const PropertyArguments& arguments);

/// The exit status.
template <typename Work>
int run_property(Work work)
{
    try {
        work();
        return 0;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "kairos property: {}\n", shown(failure.what()));
        return 1;
    }
}

class PropertyParser {
  public:
    PropertyParser(CLI::App& property, const std::vector<std::string>& orb_options, int& status)
        : property_(property), orb_options_(orb_options), status_(status)
    {
    }

    void add_serving()
    {
        auto* serve = property_.add_subcommand(
            "serve",
            "Serve sets until told to end; prints a reference for each. They are in memory only, "
            "unless there is a store");
        serve
            ->add_option("-s,--set", arguments_->sets,
                         "A set, which clients also find as corbaloc:…/NAME; may be repeated. "
                         "Without any the reference is that of the factory, by which clients make "
                         "sets, as corbaloc:…/PropertySetDefFactory and …/PropertySetFactory")
            ->type_name("NAME")
            ->allow_extra_args(false);
        serve
            ->add_option("-l,--listen", arguments_->endpoint,
                         "Where clients find them; iiop://:0 is on every interface")
            ->type_name("ENDPOINT")
            ->default_val("iiop://localhost:0");
        serve
            ->add_option("-d,--store", arguments_->store,
                         "What keeps the sets: a file, or postgresql://USER@HOST/DATABASE, which "
                         "servers may share")
            ->type_name("STORE");
        serve
            ->add_option("--ior", arguments_->files,
                         "A file that the set's reference is written to; may be repeated, for the "
                         "sets in their order")
            ->type_name("FILE")
            ->allow_extra_args(false);
        serve->callback([arguments = arguments_, &orb_options = orb_options_, &status = status_] {
            status = run_property([&] { serve_properties(*arguments, orb_options); });
        });
    }

    void add_calling()
    {
        auto* ls =
            add("ls", "List the properties of a set: name, mode, type, value", &list_properties);
        ls->add_flag("--json", arguments_->json, "Print JSON");
        auto* get = add("get", "Print the value of a property, as JSON", &get_one);
        add_name(get);
        get->add_flag("--json", arguments_->json, "Print name and type, too");
        auto* set = add("set", "Define a property, or change it", &set_one);
        add_name(set);
        set->add_option("value", arguments_->value, "Text, a number, or JSON (docs/values-json.md)")
            ->required()
            ->type_name("VALUE");
        set->add_option("--type", arguments_->type,
                        "An IDL type such as short; else the one that the property has, or that "
                        "the value looks like")
            ->type_name("TYPE");
        set->add_option("--mode", arguments_->mode, "Its mode; else it keeps that, or is normal")
            ->check(CLI::IsMember(std::vector<std::string>(mode_names.begin(), mode_names.end())));
        add_name(add("rm", "Delete a property", &remove_one));
    }

  private:
    CLI::App* add(const char* verb, const char* help, PropertyCommand command)
    {
        auto* one = property_.add_subcommand(verb, help);
        one->add_option("set", arguments_->reference,
                        "The set: IOR:…, corbaloc:…, corbaname:…, name:…, a file with one, or -")
            ->required()
            ->type_name("REFERENCE");
        one->callback([command, arguments = arguments_, &orb_options = orb_options_,
                       &status = status_] {
            status = run_property([&] { command(open_set(*arguments, orb_options), *arguments); });
        });
        return one;
    }
    void add_name(CLI::App* one)
    {
        one->add_option("name", arguments_->name, "The property")->required()->type_name("NAME");
    }

    CLI::App& property_;
    const std::vector<std::string>& orb_options_;
    int& status_;
    const std::shared_ptr<PropertyArguments> arguments_ = std::make_shared<PropertyArguments>();
};

} // namespace

void add_property_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto* property =
        app.add_subcommand("property", "Serve sets of properties; show and change them");
    property->require_subcommand(1);
    property->footer(orb_options_footer);
    PropertyParser parser(*property, orb_options, status);
    parser.add_serving();
    parser.add_calling();
}

} // namespace kairos::tools
