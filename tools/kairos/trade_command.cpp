// SPDX-License-Identifier: Apache-2.0
//
// `kairos trade serve|ls|query|types|link`: a trader in the foreground, what any ORB's trader has,
// and which others it asks.
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
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

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
    std::optional<CosTrading::FollowOption> follow;
    std::optional<CORBA::ULong> hops;
    std::string starting_trader; ///< names of links, with '/' between them
    std::string link;
    std::string target;
    CosTrading::FollowOption pass_on = CosTrading::always;
    CosTrading::FollowOption limit = CosTrading::always;
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

/// The object that a reference leads to, if it is a trader's Lookup.
CosTrading::Lookup_ptr lookup_at(CORBA::ORB_ptr orb, const std::string& reference)
{
    const CORBA::Object_var object = orb->string_to_object(url_of_object(reference).c_str());
    CosTrading::Lookup_var lookup = CosTrading::Lookup::_narrow(object.in());
    if (CORBA::is_nil(lookup.in())) fail(reference + " is not the Lookup of a trader");
    return lookup._retn();
}

TradeSession open_trader(const TradeArguments& arguments,
                         const std::vector<std::string>& orb_options)
{
    TradeSession session;
    session.orb = make_client_orb("kairos-trade", orb_options);
    session.lookup = lookup_at(session.orb.in(), arguments.reference);
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

/// A trader's name, of the names of links that lead to it.
CosTrading::TraderName trader_name(std::string_view path)
{
    CosTrading::TraderName name;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        name.length(name.length() + 1);
        name[name.length() - 1] = std::string(path.substr(begin, end - begin)).c_str();
        begin = end + 1;
    }
    return name;
}

CosTrading::PolicySeq query_policies(const TradeArguments& arguments)
{
    CosTrading::PolicySeq policies;
    const auto add_policy = [&](const char* name) -> CORBA::Any& {
        policies.length(policies.length() + 1);
        policies[policies.length() - 1].name = name;
        return policies[policies.length() - 1].value;
    };
    if (!arguments.starting_trader.empty())
        add_policy("starting_trader") <<= trader_name(arguments.starting_trader);
    if (arguments.is_exact) add_policy("exact_type_match") <<= CORBA::Any::from_boolean(true);
    if (arguments.follow) add_policy("link_follow_rule") <<= *arguments.follow;
    if (arguments.hops) add_policy("hop_count") <<= *arguments.hops;
    return policies;
}

void query_offers(const TradeSession& session, const TradeArguments& arguments)
{
    const CosTrading::PolicySeq policies = query_policies(arguments);
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

// --- Links ---------------------------------------------------------------------------------------

constexpr const char* follow_names[] = {"local-only", "if-no-local", "always"};

CosTrading::Link_var links_of(const TradeSession& session)
{
    CosTrading::Link_var links = session.lookup->link_if();
    if (CORBA::is_nil(links.in())) fail("this trader has no links");
    return links;
}

void add_link(const TradeSession& session, const TradeArguments& arguments)
{
    const CosTrading::Lookup_var target = lookup_at(session.orb.in(), arguments.target);
    links_of(session)->add_link(arguments.link.c_str(), target.in(), arguments.pass_on,
                                arguments.limit);
}

void remove_link(const TradeSession& session, const TradeArguments& arguments)
{
    links_of(session)->remove_link(arguments.link.c_str());
}

void list_links(const TradeSession& session, const TradeArguments& arguments)
{
    const CosTrading::Link_var links = links_of(session);
    const CosTrading::LinkNameSeq_var names = links->list_links();
    const auto rule = [](CosTrading::FollowOption follow) {
        return follow_names[static_cast<std::size_t>(follow) % std::size(follow_names)];
    };
    std::vector<Json> all;
    for (CORBA::ULong i = 0; i < names->length(); ++i) {
        CosTrading::Link::LinkInfo_var info;
        try {
            info = links->describe_link(names[i].in());
        } catch (const CosTrading::Link::UnknownLinkName&) {
            continue; // removed meanwhile
        }
        const CORBA::String_var target = session.orb->object_to_string(info->target.in());
        if (arguments.json)
            all.push_back({{"name", names[i].in()},
                           {"target", target.in()},
                           {"default_rule", rule(info->def_pass_on_follow_rule)},
                           {"limiting_rule", rule(info->limiting_follow_rule)}});
        else
            fmt::print("{}\t{}\t{}\t{}\n", shown(names[i].in()),
                       rule(info->def_pass_on_follow_rule), rule(info->limiting_follow_rule),
                       target.in());
    }
    if (arguments.json) fmt::print("{}\n", trade_line(Json(all)));
}

// --- From arguments to a command -----------------------------------------------------------------

using TradeCommand = void (*)(const TradeSession& session, const TradeArguments& arguments);

/// What is wrong with a query or a link, in words.
std::string trade_complaint(const TradeArguments& arguments, const std::exception& failure)
{
    if (dynamic_cast<const CosTrading::UnknownServiceType*>(&failure) != nullptr)
        return "there is no type " + arguments.type;
    if (dynamic_cast<const CosTrading::IllegalConstraint*>(&failure) != nullptr)
        return "this is no constraint: " + arguments.constraint;
    if (dynamic_cast<const CosTrading::Lookup::IllegalPreference*>(&failure) != nullptr)
        return "this is no preference: " + arguments.preference;
    if (dynamic_cast<const CosTrading::Lookup::InvalidPolicyValue*>(&failure) != nullptr)
        return "no links lead to a trader " + arguments.starting_trader + ", or it does not answer";
    if (dynamic_cast<const CosTrading::Link::IllegalLinkName*>(&failure) != nullptr)
        return "this is no name of a link: " + arguments.link;
    if (dynamic_cast<const CosTrading::Link::UnknownLinkName*>(&failure) != nullptr)
        return "there is no link " + arguments.link;
    if (dynamic_cast<const CosTrading::Link::DuplicateLinkName*>(&failure) != nullptr)
        return "there is a link " + arguments.link + " already";
    if (dynamic_cast<const CosTrading::Link::DefaultFollowTooPermissive*>(&failure) != nullptr)
        return "--default is more than --limit";
    if (dynamic_cast<const CosTrading::Link::LimitingFollowTooPermissive*>(&failure) != nullptr)
        return "--limit is more than this trader's max_link_follow_policy";
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
        add_rule(*query, "--follow", arguments_->follow,
                 "Whether traders behind links are asked, too: local-only, if-no-local (only where "
                 "the trader has none itself), always");
        query
            ->add_option("--hops", arguments_->hops,
                         "How many links one after the other are followed at most")
            ->type_name("COUNT");
        query
            ->add_option(
                "--starting-trader", arguments_->starting_trader,
                "Which trader is asked: the one to which these links lead, as in north/lab")
            ->type_name("LINK[/LINK]...");
    }

    void add_links()
    {
        auto* links = trade_.add_subcommand("link", "The other traders that a trader asks");
        links->require_subcommand(1);
        auto* one = add("add", "Have a trader ask another one", &add_link, links);
        one->add_option("name", arguments_->link, "The link's name")->required()->type_name("NAME");
        one->add_option("target", arguments_->target, "The Lookup of the other trader")
            ->required()
            ->type_name("REFERENCE");
        add_rule(*one, "--default", arguments_->pass_on,
                 "What the other trader does with its own links where the importer has not said: "
                 "always, unless this says otherwise");
        add_rule(
            *one, "--limit", arguments_->limit,
            "When the link is followed at most, whatever the importer says: always, unless this "
            "says otherwise");
        one = add("rm", "Have a trader ask another one no more", &remove_link, links);
        one->add_option("name", arguments_->link, "The link's name")->required()->type_name("NAME");
        add("ls", "List the links: name, default and limiting rule, target", &list_links, links)
            ->add_flag("--json", arguments_->json, "Print JSON");
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
    template <typename Rule>
    static void add_rule(CLI::App& command, const char* name, Rule& rule, const char* help)
    {
        static const std::map<std::string, CosTrading::FollowOption> rules{
            {follow_names[0], CosTrading::local_only},
            {follow_names[1], CosTrading::if_no_local},
            {follow_names[2], CosTrading::always}};
        command
            .add_option_function<std::string>(
                name, [&rule](const std::string& text) { rule = rules.at(text); }, help)
            ->check(CLI::IsMember(rules))
            ->type_name("RULE");
    }
    CLI::App* add(const char* verb, const char* help, TradeCommand command,
                  CLI::App* group = nullptr)
    {
        auto* one = (group == nullptr ? &trade_ : group)->add_subcommand(verb, help);
        one->add_option("trader", arguments_->reference,
                        "The trader's Lookup: IOR:…, corbaloc:HOST:PORT/TradingService, "
                        "corbaname:…, name:…, a file with one, or -")
            ->required()
            ->type_name("REFERENCE");
        if (group == nullptr) one->add_flag("--json", arguments_->json, "Print JSON");
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
    parser.add_links();
}

} // namespace kairos::tools
