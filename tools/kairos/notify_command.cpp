// SPDX-License-Identifier: Apache-2.0
//
// `kairos notify`: notification channels in the foreground; and of any that run, of whichever ORB,
// what there is in them, the events that pass, and events of one's own.
#include "kairos/base/shown.h"
#include "kairos/eventstore/open_store.h"
#include "kairos/notification/service.h"
#include "kairos/notification/shared_service.h"
#include "tools/kairos/channels.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/names.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/value_json.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace kairos::tools {
namespace {

using namespace CosNotifyChannelAdmin;
using nlohmann::json;

struct ServeLimits : notification::NotificationLimits {
    std::string store; // its name; empty for none
    unsigned shares = eventstore::shares_usual;
    std::string address; // of this process, for others of the database
    // For the service to take: one of them, where there is a store.
    std::shared_ptr<std::unique_ptr<notification::Store>> opened{};
    std::shared_ptr<std::unique_ptr<notification::Shares>> opened_shares{};
    std::vector<std::string> channels{}; // of the shares
};

struct NotifyArguments {
    ChannelArguments channels;
    ServeLimits limits;
    std::string reference;
    bool is_json = false;
    std::vector<std::string> types;
    std::string filter;
    unsigned count = 0;
    std::string type;
    std::string name;
    std::vector<std::string> fields;
    std::string body;
    int priority = 0;
};

constexpr ChannelTexts notify_texts{.first = "NotifyChannel", .factory = "NotificationService"};

/// What calls others.
struct NotifySession {
    explicit NotifySession(const std::vector<std::string>& orb_options)
    {
        std::vector<std::string> texts{"kairos"};
        texts.insert(texts.end(), orb_options.begin(), orb_options.end());
        std::vector<char*> argv;
        for (std::string& text : texts)
            argv.push_back(text.data());
        int argc = static_cast<int>(texts.size());
        orb = CORBA::ORB_init(argc, argv.data(), "kairos-notify");
    }
    NotifySession(const NotifySession&) = delete;
    NotifySession& operator=(const NotifySession&) = delete;
    ~NotifySession() { orb->destroy(); }

    [[nodiscard]] CORBA::Object_ptr find(const std::string& reference) const
    {
        return orb->string_to_object(url_of_object(reference).c_str());
    }
    [[nodiscard]] EventChannel_ptr channel(const std::string& reference) const
    {
        const CORBA::Object_var object = find(reference);
        EventChannel_var found = EventChannel::_narrow(object.in());
        if (CORBA::is_nil(found.in())) fail("that is no notification channel");
        return found._retn();
    }

    CORBA::ORB_var orb;
};

/// "domain::type", or a type of any domain.
CosNotification::EventType type_of_text(const std::string& text)
{
    CosNotification::EventType type;
    const std::size_t colons = text.find("::");
    type.domain_name = colons == std::string::npos ? "*" : text.substr(0, colons).c_str();
    type.type_name = colons == std::string::npos ? text.c_str() : text.substr(colons + 2).c_str();
    return type;
}

/// Does at its end what leaves nothing behind at the channel, however it comes there; what is gone
/// by itself needs none of it.
template <typename Undo>
class Undone {
  public:
    explicit Undone(Undo undo) : undo_(std::move(undo)) {}
    Undone(const Undone&) = delete;
    Undone& operator=(const Undone&) = delete;
    ~Undone()
    {
        try {
            undo_();
        } catch (const std::exception&) { // there is nobody to be told
        }
    }

  private:
    const Undo undo_;
};

// --- serve ---------------------------------------------------------------------------------------

CosNotification::QoSProperties qos_of_served(bool is_kept)
{
    CosNotification::QoSProperties qos;
    for (const char* const property :
         {CosNotification::EventReliability, CosNotification::ConnectionReliability}) {
        if (!is_kept) break;
        qos.length(qos.length() + 1);
        qos[qos.length() - 1].name = property;
        qos[qos.length() - 1].value <<= CosNotification::Persistent;
    }
    return qos;
}

/// A notification service whose first channels are kept, where it has a store.
class ServedNotifications {
  public:
    ServedNotifications(CORBA::ORB_ptr orb, const ServeLimits& limits)
        : is_kept_(!limits.store.empty()), service_(orb, limits, std::move(*limits.opened))
    {
    }
    void begin_to_end() noexcept { service_.begin_to_end(); }
    [[nodiscard]] CORBA::Object_ptr create_channel(const std::string& name)
    {
        return service_.create_channel(name, qos_of_served(is_kept_));
    }

  private:
    const bool is_kept_;
    notification::NotificationService service_;
};

/// One of several that have a database together.
class SharedNotifications {
  public:
    SharedNotifications(CORBA::ORB_ptr orb, const ServeLimits& limits)
        : service_(
              orb, limits, std::move(*limits.opened_shares),
              {.address = limits.address, .channels = limits.channels, .qos = qos_of_served(true)})
    {
    }
    void begin_to_end() noexcept { service_.begin_to_end(); }
    [[nodiscard]] CORBA::Object_ptr create_channel(const std::string& name)
    {
        return service_.channel(name);
    }

  private:
    notification::SharedNotificationService service_;
};

/// "host:port" of an endpoint that says both; else empty.
std::string address_of_endpoint(const std::string& endpoint)
{
    constexpr std::string_view scheme = "iiop://";
    if (!endpoint.starts_with(scheme)) return {};
    std::string address = endpoint.substr(scheme.size());
    if (address.find_first_of(";/") != std::string::npos) return {};
    if (address.starts_with("0.0.0.0:") || address.starts_with("[::]:")) return {}; // every one
    const std::size_t colon = address.rfind(':');
    const bool says_both =
        colon != std::string::npos && colon != 0 && colon + 1 != address.size() &&
        address.find_first_not_of("0123456789", colon + 1) == std::string::npos &&
        address.substr(colon + 1) != "0";
    return says_both ? address : std::string();
}

/// Which of the addresses that references say is this service's: empty where all of them are.
std::string own_address(const NotifyArguments& arguments,
                        const std::vector<std::string>& orb_options)
{
    if (!arguments.limits.address.empty()) return arguments.limits.address;
    unsigned hosts = 0;
    for (std::size_t i = 0; i < orb_options.size(); ++i)
        if (orb_options[i] == "-ORBPublish" && i + 1 < orb_options.size())
            for (std::size_t at = orb_options[i + 1].find("host="); at != std::string::npos;
                 at = orb_options[i + 1].find("host=", at + 1))
                ++hosts;
    if (hosts < 2) return {};
    std::string address = address_of_endpoint(arguments.channels.endpoint);
    if (address.empty())
        fail("-ORBPublish says several hosts: --address says which one is this service's");
    return address;
}

void serve_notified(const NotifyArguments& arguments, const std::vector<std::string>& orb_options)
{
    const EndSignals signals; // before there is a thread of the store's
    Standby standby(signals, "kairos notify");
    ServeLimits limits = arguments.limits;
    limits.opened = std::make_shared<std::unique_ptr<notification::Store>>();
    limits.opened_shares = std::make_shared<std::unique_ptr<notification::Shares>>();
    if (!limits.store.empty()) {
        auto shares = eventstore::open_shares(limits.store, limits.shares);
        if (!shares) fail(shares.error().reason);
        *limits.opened_shares = std::move(shares).value();
    }
    if (*limits.opened_shares) {
        limits.channels = arguments.channels.channels;
        limits.address = own_address(arguments, orb_options);
        return serve_channels<SharedNotifications>("kairos-notify", arguments.channels, limits,
                                                   orb_options);
    }
    if (!limits.store.empty()) {
        auto opened =
            eventstore::open_store(limits.store, {.stand_by = [&] { return standby.stand_by(); },
                                                  .lost = [&] { standby.lose(); }});
        if (standby.was_told_to_end()) return;
        if (!opened) fail(opened.error().reason);
        *limits.opened = std::move(opened).value();
    }
    serve_channels<ServedNotifications>("kairos-notify", arguments.channels, limits, orb_options);
    standby.require_not_lost();
}

// --- ls ------------------------------------------------------------------------------------------

const char* name_of(ProxyType type)
{
    static constexpr const char* names[] = {"push any",        "pull any",      "push structured",
                                            "pull structured", "push sequence", "pull sequence",
                                            "push typed",      "pull typed"};
    return type <= PULL_TYPED ? names[type] : "unknown";
}

bool is_persistent(const CosNotification::QoSProperties& qos, std::string_view which)
{
    for (CORBA::ULong i = 0; i < qos.length(); ++i) {
        CORBA::Short value = CosNotification::BestEffort;
        if (which == qos[i].name.in() && (qos[i].value >>= value))
            return value == CosNotification::Persistent;
    }
    return false;
}

template <typename Proxy>
json proxy_json(ProxyID id, Proxy* proxy)
{
    const CosNotifyFilter::FilterIDSeq_var filters = proxy->get_all_filters();
    const CosNotification::QoSProperties_var qos = proxy->get_qos();
    return {{"id", id},
            {"type", name_of(proxy->MyType())},
            {"filters", filters->length()},
            {"persistent", is_persistent(qos.in(), CosNotification::ConnectionReliability)}};
}

/// `find` gives a proxy of the admin by its id, for the caller.
template <typename Admin, typename Find>
json admin_json(Admin* admin, const ProxyIDSeq& pulling, const ProxyIDSeq& pushing, Find&& find)
{
    const CosNotifyFilter::FilterIDSeq_var filters = admin->get_all_filters();
    json proxies = json::array();
    for (const ProxyIDSeq* ids : {&pushing, &pulling})
        for (CORBA::ULong i = 0; i < ids->length(); ++i) {
            try {
                const auto proxy = find((*ids)[i]);
                proxies.push_back(proxy_json((*ids)[i], proxy.in()));
            } catch (const ProxyNotFound&) { // disconnected since
            } catch (const CORBA::OBJECT_NOT_EXIST&) {
            }
        }
    return {{"id", admin->MyID()},
            {"operator", admin->MyOperator() == AND_OP ? "and" : "or"},
            {"filters", filters->length()},
            {"proxies", std::move(proxies)}};
}

/// Appends what `json_of` makes of each admin, but those that have ended since they were listed.
template <typename Make>
void append_admins(json& all, const AdminIDSeq& ids, Make&& json_of)
{
    for (CORBA::ULong i = 0; i < ids.length(); ++i) {
        try {
            all.push_back(json_of(ids[i]));
        } catch (const AdminNotFound&) { // ended since
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
        }
    }
}

json channel_json(ChannelID id, EventChannel_ptr channel)
{
    json all{{"id", id}, {"consumer_admins", json::array()}, {"supplier_admins", json::array()}};
    const CosNotification::QoSProperties_var qos = channel->get_qos();
    all["persistent"] = is_persistent(qos.in(), CosNotification::ConnectionReliability);
    all["persistent_events"] = is_persistent(qos.in(), CosNotification::EventReliability);
    const AdminIDSeq_var consumers = channel->get_all_consumeradmins();
    append_admins(all["consumer_admins"], consumers.in(), [&](AdminID which) {
        const ConsumerAdmin_var admin = channel->get_consumeradmin(which);
        const ProxyIDSeq_var pulling = admin->pull_suppliers();
        const ProxyIDSeq_var pushing = admin->push_suppliers();
        return admin_json(admin.in(), pulling.in(), pushing.in(), [&](ProxyID proxy) {
            return ProxySupplier_var(admin->get_proxy_supplier(proxy));
        });
    });
    const AdminIDSeq_var suppliers = channel->get_all_supplieradmins();
    append_admins(all["supplier_admins"], suppliers.in(), [&](AdminID which) {
        const SupplierAdmin_var admin = channel->get_supplieradmin(which);
        const ProxyIDSeq_var pulling = admin->pull_consumers();
        const ProxyIDSeq_var pushing = admin->push_consumers();
        return admin_json(admin.in(), pulling.in(), pushing.in(), [&](ProxyID proxy) {
            return ProxyConsumer_var(admin->get_proxy_consumer(proxy));
        });
    });
    const auto own = KairosNotification::Channel_var(KairosNotification::Channel::_narrow(channel));
    if (CORBA::is_nil(own.in())) return all; // another ORB's
    all["name"] = CORBA::String_var(own->name()).in();
    const KairosEvents::Figures figures = own->figures();
    all["figures"] = {{"suppliers", figures.suppliers}, {"consumers", figures.consumers},
                      {"received", figures.received},   {"delivered", figures.delivered},
                      {"dropped", figures.dropped},     {"lost", figures.lost},
                      {"given_up", figures.given_up}};
    return all;
}

void print_channel(const json& channel)
{
    fmt::print("channel {}", channel["id"].dump());
    if (const std::string name = channel.value("name", ""); !name.empty())
        fmt::print(" {}", shown(name));
    if (channel["persistent"].get<bool>())
        fmt::print(" (persistent{})",
                   channel["persistent_events"].get<bool>() ? ", with its events" : "");
    if (channel.contains("figures")) {
        const json& figures = channel["figures"];
        fmt::print(": received {}, delivered {}, dropped {}, lost {}, given up {}",
                   figures["received"].dump(), figures["delivered"].dump(),
                   figures["dropped"].dump(), figures["lost"].dump(), figures["given_up"].dump());
    }
    fmt::print("\n");
    for (const char* const side : {"consumer", "supplier"})
        for (const json& admin : channel[std::string(side) + "_admins"]) {
            fmt::print("  {} admin {} ({}), {} filters\n", side, admin["id"].dump(),
                       admin["operator"].get<std::string>(), admin["filters"].dump());
            for (const json& proxy : admin["proxies"])
                fmt::print("    proxy {}: {}, {} filters{}\n", proxy["id"].dump(),
                           proxy["type"].get<std::string>(), proxy["filters"].dump(),
                           proxy["persistent"].get<bool>() ? ", persistent" : "");
        }
}

void list_notified(const NotifyArguments& arguments, const std::vector<std::string>& orb_options)
{
    const NotifySession session(orb_options);
    const CORBA::Object_var object = session.find(arguments.reference);
    const EventChannelFactory_var factory = EventChannelFactory::_narrow(object.in());
    json channels = json::array();
    if (CORBA::is_nil(factory.in())) {
        const EventChannel_var channel = session.channel(arguments.reference);
        const auto own =
            KairosNotification::Channel_var(KairosNotification::Channel::_narrow(channel.in()));
        channels.push_back(channel_json(CORBA::is_nil(own.in()) ? 0 : own->MyID(), channel.in()));
    } else {
        const ChannelIDSeq_var ids = factory->get_all_channels();
        for (CORBA::ULong i = 0; i < ids->length(); ++i) {
            try {
                const EventChannel_var channel = factory->get_event_channel(ids[i]);
                channels.push_back(channel_json(ids[i], channel.in()));
            } catch (const ChannelNotFound&) { // destroyed since
            } catch (const CORBA::OBJECT_NOT_EXIST&) {
            }
        }
    }
    if (arguments.is_json) return fmt::print("{}\n", dump(channels));
    for (const json& channel : channels)
        print_channel(channel);
}

// --- watch ---------------------------------------------------------------------------------------

json event_json(const CosNotification::StructuredEvent& event, const ValueJson& forms)
{
    const auto value = [&forms](const CORBA::Any& any) -> json {
        const CORBA::TypeCode_var type = any.type();
        if (type->kind() == CORBA::tk_null || type->kind() == CORBA::tk_void) return nullptr;
        try {
            return forms.json_of(any);
        } catch (const std::exception& failure) {
            return {{"not shown", failure.what()}};
        }
    };
    const auto properties = [&value](const CosNotification::PropertySeq& all) {
        json made = json::object();
        for (CORBA::ULong i = 0; i < all.length(); ++i)
            made[all[i].name.in()] = value(all[i].value);
        return made;
    };
    const CosNotification::FixedEventHeader& header = event.header.fixed_header;
    return {{"domain", header.event_type.domain_name.in()},
            {"type", header.event_type.type_name.in()},
            {"name", header.event_name.in()},
            {"header", properties(event.header.variable_header)},
            {"data", properties(event.filterable_data)},
            {"body", value(event.remainder_of_body)}};
}

void print_event(const json& event, bool is_json)
{
    if (is_json) return fmt::print("{}\n", dump(event));
    fmt::print("{}::{} {}", shown(event["domain"].get<std::string>()),
               shown(event["type"].get<std::string>()), shown(event["name"].get<std::string>()));
    for (const char* const part : {"header", "data"})
        for (const auto& [name, value] : event[part].items())
            fmt::print(" {}={}", shown(name), dump(value));
    if (!event["body"].is_null()) fmt::print(" body {}", dump(event["body"]));
    fmt::print("\n");
}

CosNotifyFilter::Filter_ptr make_filter(EventChannel_ptr channel, const NotifyArguments& arguments)
{
    const CosNotifyFilter::FilterFactory_var factory = channel->default_filter_factory();
    CosNotifyFilter::Filter_var filter = factory->create_filter("EXTENDED_TCL");
    CosNotifyFilter::ConstraintExpSeq constraints;
    constraints.length(1);
    constraints[0].constraint_expr = arguments.filter.c_str();
    for (const std::string& text : arguments.types) {
        constraints[0].event_types.length(constraints[0].event_types.length() + 1);
        constraints[0].event_types[constraints[0].event_types.length() - 1] = type_of_text(text);
    }
    try {
        const CosNotifyFilter::ConstraintInfoSeq_var added = filter->add_constraints(constraints);
    } catch (const CosNotifyFilter::InvalidConstraint&) {
        filter->destroy();
        fail("the filter is no constraint of the extended trader constraint language");
    } catch (const CORBA::Exception&) {
        filter->destroy();
        throw;
    }
    return filter._retn();
}

/// Disconnects when the process is told to end, so that what waits in a pull hears of it.
class Farewell {
  public:
    Farewell(const EndSignals& signals, SequenceProxyPullSupplier_ptr proxy)
        : proxy_(SequenceProxyPullSupplier::_duplicate(proxy)), thread_([this, &signals] {
              signals.wait();
              is_told_ = true;
              try {
                  proxy_->disconnect_sequence_pull_supplier();
              } catch (const CORBA::Exception&) { // which is gone by itself
              }
          })
    {
    }
    Farewell(const Farewell&) = delete;
    Farewell& operator=(const Farewell&) = delete;
    ~Farewell()
    {
        if (!is_told_) ::kill(::getpid(), SIGTERM);
        thread_.join();
    }
    [[nodiscard]] bool is_told() const noexcept { return is_told_; }

  private:
    const SequenceProxyPullSupplier_var proxy_;
    std::atomic<bool> is_told_{false};
    std::thread thread_;
};

/// Pulls, so that it needs no address that the channel can reach.
void print_events(SequenceProxyPullSupplier_ptr proxy, const EndSignals& signals,
                  const ValueJson& forms, const NotifyArguments& arguments)
{
    constexpr CORBA::Long batch_max = 100;
    const Farewell farewell(signals, proxy);
    for (unsigned printed = 0; arguments.count == 0 || printed < arguments.count;) {
        try {
            const CosNotification::EventBatch_var events = proxy->pull_structured_events(
                arguments.count == 0 ? batch_max
                                     : static_cast<CORBA::Long>(std::min<unsigned>(
                                           batch_max, arguments.count - printed)));
            for (CORBA::ULong i = 0; i < events->length(); ++i, ++printed)
                print_event(event_json(events[i], forms), arguments.is_json);
            std::fflush(stdout);
        } catch (const CORBA::TIMEOUT&) { // there was none for so long
        } catch (const CosEventComm::Disconnected&) {
            if (farewell.is_told()) return;
            throw;
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
            if (farewell.is_told()) return;
            fail("the channel is gone");
        }
    }
}

void watch_notified(const NotifyArguments& arguments, const std::vector<std::string>& orb_options)
{
    const EndSignals signals;
    const NotifySession session(orb_options);
    const EventChannel_var channel = session.channel(arguments.reference);
    const ConsumerAdmin_var admin = channel->default_consumer_admin();
    ProxyID id = 0;
    const ProxySupplier_var made = admin->obtain_notification_pull_supplier(SEQUENCE_EVENT, id);
    const auto proxy =
        SequenceProxyPullSupplier_var(SequenceProxyPullSupplier::_unchecked_narrow(made.in()));
    CosNotifyFilter::Filter_var filter;
    const Undone left([&] {
        const Undone destroyed([&] {
            if (!CORBA::is_nil(filter.in())) filter->destroy();
        });
        proxy->disconnect_sequence_pull_supplier();
    });
    if (!arguments.types.empty() || !arguments.filter.empty()) {
        filter = make_filter(channel.in(), arguments);
        proxy->add_filter(filter.in());
    }
    proxy->connect_sequence_pull_consumer(CosNotifyComm::SequencePullConsumer::_nil());
    const ValueJson forms(session.orb.in(),
                          [](const std::string&) { return CORBA::TypeCode::_nil(); });
    print_events(proxy.in(), signals, forms, arguments);
}

// --- push ----------------------------------------------------------------------------------------

void push_notified(const NotifyArguments& arguments, const std::vector<std::string>& orb_options)
{
    CosNotification::StructuredEvent event;
    event.header.fixed_header.event_type = type_of_text(arguments.type);
    if (arguments.type.find("::") == std::string::npos)
        event.header.fixed_header.event_type.domain_name = "";
    event.header.fixed_header.event_name = arguments.name.c_str();
    if (arguments.priority != 0) {
        event.header.variable_header.length(1);
        event.header.variable_header[0].name = CosNotification::Priority;
        event.header.variable_header[0].value <<= static_cast<CORBA::Short>(arguments.priority);
    }
    for (const std::string& field : arguments.fields) {
        const std::size_t equals = field.find('=');
        if (equals == std::string::npos) fail("a field is NAME=VALUE: " + field);
        event.filterable_data.length(event.filterable_data.length() + 1);
        CosNotification::Property& made = event.filterable_data[event.filterable_data.length() - 1];
        made.name = field.substr(0, equals).c_str();
        insert_plain(made.value, field.substr(equals + 1));
    }
    if (!arguments.body.empty()) insert_plain(event.remainder_of_body, arguments.body);

    const NotifySession session(orb_options);
    const EventChannel_var channel = session.channel(arguments.reference);
    const SupplierAdmin_var admin = channel->default_supplier_admin();
    ProxyID id = 0;
    const ProxyConsumer_var made = admin->obtain_notification_push_consumer(STRUCTURED_EVENT, id);
    const auto proxy =
        StructuredProxyPushConsumer_var(StructuredProxyPushConsumer::_unchecked_narrow(made.in()));
    const Undone left([&] { proxy->disconnect_structured_push_consumer(); });
    proxy->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
    for (unsigned i = 0; i < arguments.count; ++i)
        proxy->push_structured_event(event);
}

// --- The command ---------------------------------------------------------------------------------

CLI::App* add_sub(CLI::App& command, const char* name, const char* text, NotifyArguments& arguments,
                  const char* of)
{
    auto* const sub = command.add_subcommand(name, text);
    if (of != nullptr)
        sub->add_option("reference", arguments.reference, of)->required()->type_name("REFERENCE");
    sub->footer(orb_options_footer);
    return sub;
}

template <typename Run>
void run_on(CLI::App& sub, int& status, Run&& run)
{
    sub.callback([run, &status] {
        try {
            run();
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos notify: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

void add_serve(CLI::App& command, const std::shared_ptr<NotifyArguments>& arguments,
               const std::vector<std::string>& orb_options, int& status)
{
    auto* const serve =
        add_sub(command, "serve", "Run channels; prints a reference for each", *arguments, nullptr);
    add_channel_options(*serve, arguments->channels, arguments->limits, notify_texts);
    serve
        ->add_option("--filters", arguments->limits.filters_max,
                     "Filters of all channels, those included that nobody uses any more")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    serve
        ->add_option(
            "--store", arguments->limits.store,
            "A file, made if it is not there, or postgresql://USER@HOST/DATABASE, which several "
            "services may have together: these channels, who is "
            "connected to them and what they have still to get are there again after a "
            "restart, at the same address: --listen says which")
        ->type_name("STORE");
    serve
        ->add_option("--shares", arguments->limits.shares,
                     "Into how many shares a database is divided that has nothing yet, each of "
                     "which one service at a time has; 1: one service has all, while others stand "
                     "by")
        ->check(CLI::Range(1, 63))
        ->capture_default_str();
    serve
        ->add_option("--address", arguments->limits.address,
                     "HOST:PORT where this service is, and no other of the same database: where "
                     "clients are sent for the channels that it has. Unless given, that of "
                     "--listen where -ORBPublish says several hosts, else what references say")
        ->type_name("HOST:PORT");
    const CLI::Option* const listen = serve->get_option("--listen");
    run_on(*serve, status, [arguments, listen, &orb_options] {
        ChannelArguments& channels = arguments->channels;
        if (channels.channels.empty()) channels.channels.emplace_back(notify_texts.first);
        if (!arguments->limits.store.empty() && listen->count() == 0)
            fmt::print(stderr, "kairos notify: what is kept in the store has another address after "
                               "a restart: --listen gives it one that stays\n");
        serve_notified(*arguments, orb_options);
    });
}

void add_watch(CLI::App& command, const std::shared_ptr<NotifyArguments>& arguments,
               const std::vector<std::string>& orb_options, int& status)
{
    auto* const sub = add_sub(command, "watch", "Print the events that pass, as they come",
                              *arguments, "A channel: IOR:…, corbaloc:…, a file with one, or -");
    sub->add_flag("--json", arguments->is_json, "Each as an object, one a line");
    sub->add_option("--type", arguments->types,
                    "Only events of this type, DOMAIN::TYPE or TYPE, where * stands for anything; "
                    "may be repeated")
        ->type_name("TYPE")
        ->allow_extra_args(false);
    sub->add_option("--filter", arguments->filter,
                    "Only events that fulfil a constraint, as \"$severity > 3\"")
        ->type_name("CONSTRAINT");
    sub->add_option("-n,--count", arguments->count, "End after so many; 0: when it is told to")
        ->default_val(0U);
    run_on(*sub, status, [arguments, &orb_options] { watch_notified(*arguments, orb_options); });
}

void add_push(CLI::App& command, const std::shared_ptr<NotifyArguments>& arguments,
              const std::vector<std::string>& orb_options, int& status)
{
    auto* const sub = add_sub(command, "push", "Push a structured event", *arguments,
                              "A channel: IOR:…, corbaloc:…, a file with one, or -");
    sub->add_option("--type", arguments->type, "DOMAIN::TYPE, or TYPE of no domain")
        ->required()
        ->type_name("TYPE");
    sub->add_option("--name", arguments->name, "What the event is called")->type_name("NAME");
    sub->add_option("-f,--field", arguments->fields,
                    "NAME=VALUE of what filters look at: a number, true, false, or text; may be "
                    "repeated")
        ->type_name("FIELD")
        ->allow_extra_args(false);
    sub->add_option("--body", arguments->body, "The rest, such a value, too")->type_name("VALUE");
    sub->add_option("--priority", arguments->priority, "From -32767 to 32767")
        ->check(CLI::Range(-32767, 32767))
        ->default_val(0);
    sub->add_option("-n,--count", arguments->count, "So many of it")
        ->check(CLI::Range(1U, 1'000'000U))
        ->default_val(1U);
    run_on(*sub, status, [arguments, &orb_options] { push_notified(*arguments, orb_options); });
}

} // namespace

void add_notify_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto* const command =
        app.add_subcommand("notify", "Notification channels: run them, look into them, use them");
    command->require_subcommand(1);
    add_serve(*command, std::make_shared<NotifyArguments>(), orb_options, status);
    const auto listed = std::make_shared<NotifyArguments>();
    auto* const ls =
        add_sub(*command, "ls", "What channels there are, with admins and proxies", *listed,
                "A channel, or what makes them: corbaloc:…/NotificationService");
    ls->add_flag("--json", listed->is_json, "As an array of channels");
    run_on(*ls, status, [listed, &orb_options] { list_notified(*listed, orb_options); });
    add_watch(*command, std::make_shared<NotifyArguments>(), orb_options, status);
    add_push(*command, std::make_shared<NotifyArguments>(), orb_options, status);
}

} // namespace kairos::tools
