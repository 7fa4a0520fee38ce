// SPDX-License-Identifier: Apache-2.0
//
// `kairos trade serve|ls|query|types`: a trader in the foreground, and what any ORB's trader has.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/journal/open_store.h"
#include "kairos/trading/service.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/service.h"
#include "tools/kairos/value_json.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kairos::tools {
namespace {

using TypeRepository = CosTradingRepos::ServiceTypeRepository;

struct TradeArguments {
    std::string reference;
    std::string type;
    std::string constraint;
    std::string preference;
    std::vector<std::string> properties;
    bool is_exact = false;
    bool json = false;
    std::string endpoint;
    std::string file;
    std::string store;
};

/// Offers, or ids of some, in one reply.
constexpr CORBA::ULong offers_a_call = 1000;

// --- Serving -------------------------------------------------------------------------------------

void serve_trader(const TradeArguments& arguments, const std::vector<std::string>& orb_options)
{
    const EndSignals signals; // before there is a thread of the store's
    std::unique_ptr<Journal> store;
    if (!arguments.store.empty()) {
        auto opened = journal::open_store(arguments.store, trading::store_kind);
        if (!opened) fail(opened.error().reason);
        store = std::move(opened).value();
    }
    const CORBA::ORB_var orb =
        make_service_orb("kairos-trade", arguments.endpoint, {}, orb_options);
    {
        std::optional<trading::TradingService> service;
        ServiceRun run(signals, orb.in(), [] {});
        service.emplace(orb.in(), trading::ServiceLimits(), std::move(store));
        const CosTrading::Lookup_var lookup = service->lookup();
        const CORBA::String_var reference = orb->object_to_string(lookup.in());
        if (!arguments.file.empty()) write_reference(arguments.file, reference.in());
        fmt::print("{}\n", reference.in());
        std::fflush(stdout);
        run.run();
        service.reset(); // before the run, which watches how long that takes
    }
}

// --- Showing -------------------------------------------------------------------------------------

struct TradeSession {
    CORBA::ORB_var orb;
    CosTrading::Lookup_var lookup;

    [[nodiscard]] TypeRepository::_var_type types() const
    {
        const CORBA::Object_var object = lookup->type_repos();
        TypeRepository::_var_type types = TypeRepository::_narrow(object.in());
        if (CORBA::is_nil(types.in())) fail("this trader has no types");
        return types;
    }
};

TradeSession open_trader(const TradeArguments& arguments,
                         const std::vector<std::string>& orb_options)
{
    TradeSession session;
    session.orb = make_client_orb("kairos-trade", orb_options);
    const CORBA::Object_var object =
        session.orb->string_to_object(url_of_object(arguments.reference).c_str());
    session.lookup = CosTrading::Lookup::_narrow(object.in());
    if (CORBA::is_nil(session.lookup.in()))
        fail(arguments.reference + " is not the Lookup of a trader");
    return session;
}

std::string trade_line(const Json& json)
{
    return shown(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::vector<std::string> type_names(const TradeSession& session)
{
    TypeRepository::SpecifiedServiceTypes which;
    which._d(TypeRepository::all);
    const TypeRepository::ServiceTypeNameSeq_var list = session.types()->list_types(which);
    std::vector<std::string> names;
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        names.emplace_back(list[i].in());
    return names;
}

Json json_of_type(const std::string& name, const TypeRepository::TypeStruct& type)
{
    constexpr const char* modes[] = {"normal", "readonly", "mandatory", "mandatory_readonly"};
    Json properties = Json::array();
    for (CORBA::ULong i = 0; i < type.props.length(); ++i) {
        const TypeRepository::PropStruct& property = type.props[i];
        properties.push_back({{"name", property.name.in()},
                              {"type", tools::json_of(*property.value_type.in())},
                              {"mode", modes[static_cast<std::size_t>(property.mode) % 4]}});
    }
    Json supers = Json::array();
    for (CORBA::ULong i = 0; i < type.super_types.length(); ++i)
        supers.push_back(type.super_types[i].in());
    return {{"name", name},
            {"interface", type.if_name.in()},
            {"super_types", supers},
            {"masked", static_cast<bool>(type.masked)},
            {"properties", properties}};
}

void print_service_type(const Json& type)
{
    std::string above;
    for (const Json& super : type["super_types"])
        above += (above.empty() ? " : " : ", ") + super.get<std::string>();
    fmt::print("{}{}{}\n", shown(type["name"].get<std::string>()), shown(above),
               type["masked"].get<bool>() ? " (masked)" : "");
    for (const Json& property : type["properties"])
        fmt::print("    {} {}: {}\n", property["mode"].get<std::string>(),
                   shown(property["name"].get<std::string>()),
                   property["type"].is_string() ? shown(property["type"].get<std::string>())
                                                : trade_line(property["type"]));
}

void list_types(const TradeSession& session, const TradeArguments& arguments)
{
    const auto types = session.types();
    std::vector<Json> all;
    for (const std::string& name : type_names(session)) {
        if (!arguments.type.empty() && arguments.type != name) continue;
        const TypeRepository::TypeStruct_var type = types->fully_describe_type(name.c_str());
        all.push_back(json_of_type(name, type.in()));
    }
    if (!arguments.type.empty() && all.empty()) fail("there is no type " + arguments.type);
    if (arguments.json)
        fmt::print("{}\n", trade_line(Json(all)));
    else
        for (const Json& type : all)
            print_service_type(type);
}

/// Ids, types and properties as JSON, or as lines of text.
class OfferPrinter {
  public:
    OfferPrinter(const TradeSession& session, bool is_json)
        : orb_(session.orb.in()), forms_(session.orb.in(), {}), is_json_(is_json)
    {
    }
    void print(Json offer, CORBA::Object_ptr reference, const CosTrading::PropertySeq& properties)
    {
        Json values = Json::object();
        for (CORBA::ULong i = 0; i < properties.length(); ++i)
            values[properties[i].name.in()] = forms_.json_of(properties[i].value);
        if (!is_json_) {
            for (const auto& [key, value] : offer.items())
                fmt::print("{}\t", shown(value.get<std::string>()));
            fmt::print("{}\n", trade_line(values));
            return;
        }
        const CORBA::String_var text = orb_->object_to_string(reference);
        offer["reference"] = text.in();
        offer["properties"] = values;
        all_.push_back(std::move(offer));
    }
    void end() const
    {
        if (is_json_) fmt::print("{}\n", trade_line(Json(all_)));
    }

  private:
    const CORBA::ORB_ptr orb_;
    const ValueJson forms_;
    const bool is_json_;
    std::vector<Json> all_;
};

void list_offers(const TradeSession& session, const TradeArguments& arguments)
{
    const CosTrading::Admin_var admin = session.lookup->admin_if();
    const CosTrading::Register_var offers = session.lookup->register_if();
    if (CORBA::is_nil(admin.in()) || CORBA::is_nil(offers.in()))
        fail("this trader does not say what it has: ask it by 'query'");
    CosTrading::OfferIdSeq_var ids;
    CosTrading::OfferIdIterator_var rest;
    admin->list_offers(offers_a_call, ids.out(), rest.out());
    OfferPrinter printer(session, arguments.json);
    for (bool has_more = true; has_more;) {
        for (CORBA::ULong i = 0; i < ids->length(); ++i) {
            CosTrading::Register::OfferInfo_var info;
            try {
                info = offers->describe(ids[i].in());
            } catch (const CosTrading::UnknownOfferId&) {
                continue; // withdrawn meanwhile
            }
            if (!arguments.type.empty() && arguments.type != info->type.in()) continue;
            printer.print({{"id", ids[i].in()}, {"type", info->type.in()}}, info->reference.in(),
                          info->properties);
        }
        has_more = !CORBA::is_nil(rest.in());
        if (has_more && !rest->next_n(offers_a_call, ids.out())) {
            has_more = ids->length() != 0;
            rest->destroy();
            rest = CosTrading::OfferIdIterator::_nil();
        } else if (has_more && ids->length() == 0) {
            fail("the trader says that it has more, and tells nothing");
        }
    }
    printer.end();
}

void query_offers(const TradeSession& session, const TradeArguments& arguments)
{
    CosTrading::PolicySeq policies;
    if (arguments.is_exact) {
        policies.length(1);
        policies[0].name = "exact_type_match";
        policies[0].value <<= CORBA::Any::from_boolean(true);
    }
    CosTrading::Lookup::SpecifiedProps wanted;
    wanted._d(CosTrading::Lookup::all);
    if (!arguments.properties.empty()) {
        CosTrading::PropertyNameSeq names;
        names.length(static_cast<CORBA::ULong>(arguments.properties.size()));
        for (CORBA::ULong i = 0; i < names.length(); ++i)
            names[i] = arguments.properties[i].c_str();
        wanted.prop_names(names);
    }
    CosTrading::OfferSeq_var offers;
    CosTrading::OfferIterator_var rest;
    CosTrading::PolicyNameSeq_var limits;
    session.lookup->query(arguments.type.c_str(), arguments.constraint.c_str(),
                          arguments.preference.c_str(), policies, wanted, offers_a_call,
                          offers.out(), rest.out(), limits.out());
    OfferPrinter printer(session, arguments.json);
    for (bool has_more = true; has_more;) {
        for (CORBA::ULong i = 0; i < offers->length(); ++i) {
            const CORBA::String_var text = session.orb->object_to_string(offers[i].reference.in());
            Json offer = Json::object();
            if (!arguments.json) offer["reference"] = text.in();
            printer.print(std::move(offer), offers[i].reference.in(), offers[i].properties);
        }
        has_more = !CORBA::is_nil(rest.in());
        if (has_more && !rest->next_n(offers_a_call, offers.out())) {
            has_more = offers->length() != 0;
            rest->destroy();
            rest = CosTrading::OfferIterator::_nil();
        } else if (has_more && offers->length() == 0) {
            fail("the trader says that it has more, and tells nothing");
        }
    }
    printer.end();
    for (CORBA::ULong i = 0; i < limits->length(); ++i)
        fmt::print(stderr, "kairos trade: there may be more offers: {} ended the query\n",
                   shown(limits[i].in()));
}

// --- From arguments to a command -----------------------------------------------------------------

using TradeCommand = void (*)(const TradeSession& session, const TradeArguments& arguments);

/// What is wrong with a query, in words.
std::string trade_complaint(const TradeArguments& arguments, const std::exception& failure)
{
    if (dynamic_cast<const CosTrading::UnknownServiceType*>(&failure) != nullptr)
        return "there is no type " + arguments.type;
    if (dynamic_cast<const CosTrading::IllegalConstraint*>(&failure) != nullptr)
        return "this is no constraint: " + arguments.constraint;
    if (dynamic_cast<const CosTrading::Lookup::IllegalPreference*>(&failure) != nullptr)
        return "this is no preference: " + arguments.preference;
    return failure.what();
}

class TradeParser {
  public:
    TradeParser(CLI::App& trade, const std::vector<std::string>& orb_options, int& status)
        : trade_(trade), orb_options_(orb_options), status_(status)
    {
    }

    void add_serving()
    {
        auto* serve = trade_.add_subcommand(
            "serve", "Run a trader until it is told to end; prints the reference of its Lookup. "
                     "Types and offers are in memory only, unless there is a store");
        serve
            ->add_option("-l,--listen", arguments_->endpoint,
                         "Where clients find it, also as corbaloc:…/TradingService; iiop://:0 is "
                         "on every interface")
            ->type_name("ENDPOINT")
            ->default_val("iiop://localhost:0");
        serve
            ->add_option("-d,--store", arguments_->store,
                         "What keeps types and offers: a file, or postgresql://USER@HOST/DATABASE, "
                         "which traders may share")
            ->type_name("STORE");
        serve->add_option("--ior", arguments_->file, "A file that the reference is written to")
            ->type_name("FILE");
        serve->callback([arguments = arguments_, &orb_options = orb_options_, &status = status_] {
            status = run(*arguments, [&] { serve_trader(*arguments, orb_options); });
        });
    }

    void add_showing()
    {
        auto* types = add("types", "List the service types, with what they inherit", &list_types);
        types->add_option("type", arguments_->type, "Only this type")->type_name("TYPE");
        auto* ls = add("ls", "List all offers: id, type, properties", &list_offers);
        ls->add_option("type", arguments_->type, "Only those of this type")->type_name("TYPE");
        auto* query =
            add("query", "Ask for offers of a type, and of those below it: reference, properties",
                &query_offers);
        query->add_option("type", arguments_->type, "The service type")
            ->required()
            ->type_name("TYPE");
        query
            ->add_option("constraint", arguments_->constraint,
                         "What offers must be, such as \"floor == 2 and pages > 20\" "
                         "(docs/constraints.md); all without it")
            ->type_name("CONSTRAINT");
        query
            ->add_option("--prefer", arguments_->preference,
                         "Their order: max, min or with, and an expression; random; first")
            ->type_name("PREFERENCE");
        query
            ->add_option("--property", arguments_->properties,
                         "Only this property of each; may be repeated")
            ->type_name("NAME")
            ->allow_extra_args(false);
        query->add_flag("--exact", arguments_->is_exact, "Only offers of exactly this type");
    }

  private:
    template <typename Work>
    static int run(const TradeArguments& arguments, Work work)
    {
        try {
            work();
            return 0;
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos trade: {}\n", shown(trade_complaint(arguments, failure)));
            return 1;
        }
    }
    CLI::App* add(const char* verb, const char* help, TradeCommand command)
    {
        auto* one = trade_.add_subcommand(verb, help);
        one->add_option("trader", arguments_->reference,
                        "The trader's Lookup: IOR:…, corbaloc:HOST:PORT/TradingService, "
                        "corbaname:…, name:…, a file with one, or -")
            ->required()
            ->type_name("REFERENCE");
        one->add_flag("--json", arguments_->json, "Print JSON");
        one->callback([command, arguments = arguments_, &orb_options = orb_options_,
                       &status = status_] {
            status =
                run(*arguments, [&] { command(open_trader(*arguments, orb_options), *arguments); });
        });
        return one;
    }

    CLI::App& trade_;
    const std::vector<std::string>& orb_options_;
    int& status_;
    const std::shared_ptr<TradeArguments> arguments_ = std::make_shared<TradeArguments>();
};

} // namespace

void add_trade_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto* trade = app.add_subcommand("trade", "Run a trader; show what traders have, and ask them");
    trade->require_subcommand(1);
    trade->footer(orb_options_footer);
    TradeParser parser(*trade, orb_options, status);
    parser.add_serving();
    parser.add_showing();
}

} // namespace kairos::tools
