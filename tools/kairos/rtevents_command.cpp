// SPDX-License-Identifier: Apache-2.0
//
// `kairos rtevents`: real-time event channels in the foreground, and gateways between them; and of
// any that run, TAO's too, what is wanted and supplied, the events that pass, and events of one's
// own.
#include "kairos/base/shown.h"
#include "kairos/rtevents/RtecEventChannelAdmin_skel.h"
#include "kairos/rtevents/channel.h"
#include "kairos/rtevents/event_types.h"
#include "tools/kairos/channels.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/names.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/service.h"
#include "tools/kairos/value_json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <unistd.h>

namespace kairos::tools {
namespace {

namespace Rtec = RtecEventChannelAdmin;
using RealTimeJson = nlohmann::json;

struct RealTimeArguments {
    ChannelArguments channels;
    rtevents::ChannelOptions options;
    std::string dispatching = "reactive";
    std::vector<std::string> priorities; // RT_INFO=PRIORITY
    double timeout_s = 3;
    std::string reference;
    std::string other; // gateway: where to
    std::string endpoint;
    bool is_json = false;
    std::vector<CORBA::Long> types;
    CORBA::Long type = 0;
    CORBA::Long source = 0;
    CORBA::Long ttl = 1;
    std::string payload;
    std::string value;
    unsigned count = 0;
};

/// Calls it, whatever comes of that: who leaves says so if anybody listens.
template <typename Call>
void leave(Call&& call) noexcept
{
    try {
        call();
    } catch (const std::exception&) { // there is nobody to be told
    }
}

/// What calls channels, and is called by them.
class RealTimeSession {
  public:
    RealTimeSession(const std::string& endpoint, const std::vector<std::string>& orb_options)
        : orb_(make_service_orb("kairos-rtevents", endpoint,
                                {"-ORBNativeCharCodeSet", "UTF-8", "-ORBClientTimeout", "10000"},
                                orb_options))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
    }
    RealTimeSession(const RealTimeSession&) = delete;
    RealTimeSession& operator=(const RealTimeSession&) = delete;
    ~RealTimeSession()
    {
        leave([this] { orb_->destroy(); });
    }

    [[nodiscard]] CORBA::ORB_ptr orb() const noexcept { return orb_.in(); }
    [[nodiscard]] Rtec::EventChannel_ptr channel(const std::string& reference) const
    {
        const CORBA::Object_var object = orb_->string_to_object(url_of_object(reference).c_str());
        Rtec::EventChannel_var found = Rtec::EventChannel::_narrow(object.in());
        if (CORBA::is_nil(found.in())) fail("that is no real-time event channel");
        return found._retn();
    }
    /// An object of this session, which outlives it.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type activate(PortableServer::Servant servant) const
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return Interface::_unchecked_narrow(object.in());
    }

  private:
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
};

// --- serve and gateway ---------------------------------------------------------------------------

/// "RT_INFO=PRIORITY", each.
std::map<RtecBase::handle_t, CORBA::Short> priorities_of(const std::vector<std::string>& texts)
{
    std::map<RtecBase::handle_t, CORBA::Short> all;
    for (const std::string& text : texts) {
        int handle = 0;
        int priority = 0;
        int end = 0;
        if (std::sscanf(text.c_str(), "%d=%d%n", &handle, &priority, &end) != 2 ||
            end != static_cast<int>(text.size()) || priority < 0 || priority > 32767)
            fail("a priority is RT_INFO=PRIORITY, from 0 to 32767: " + text);
        all[handle] = static_cast<CORBA::Short>(priority);
    }
    return all;
}

void serve_real_time(RealTimeArguments& arguments, const std::vector<std::string>& orb_options)
{
    ChannelArguments& named = arguments.channels;
    if (named.channels.empty()) named.channels.emplace_back("EventService");
    require_channels(named);
    if (!arguments.options.multicast.empty() && named.channels.size() != 1)
        fail("--multicast is for one channel: two in one group are given each other's events");
    rtevents::ChannelOptions& options = arguments.options;
    options.call_timeout = std::chrono::milliseconds(std::llround(arguments.timeout_s * 1000));
    if (arguments.dispatching == "priorities")
        options.dispatching = rtevents::Dispatching::priorities;
    options.priority_of = [all = priorities_of(arguments.priorities)](RtecBase::handle_t handle) {
        const auto found = all.find(handle);
        return found == all.end() ? CORBA::Short{0} : found->second;
    };
    const EndSignals signals;
    const CORBA::ORB_var orb = make_service_orb("kairos-rtevents", named.endpoint,
                                                {"-ORBNativeCharCodeSet", "UTF-8"}, orb_options);
    std::vector<std::unique_ptr<rtevents::RealTimeEventChannel>> channels;
    ServiceRun run(signals, orb.in(), [] {});
    for (std::size_t i = 0; i < named.channels.size(); ++i) {
        channels.push_back(
            std::make_unique<rtevents::RealTimeEventChannel>(orb.in(), options, named.channels[i]));
        const Rtec::EventChannel_var channel = channels.back()->reference();
        publish_channel(orb.in(), named, i, channel.in());
    }
    std::fflush(stdout);
    run.run();
    channels.clear(); // before the run, which watches how long that takes
}

void run_gateway(const RealTimeArguments& arguments, const std::vector<std::string>& orb_options)
{
    const EndSignals signals;
    const RealTimeSession session(arguments.endpoint, orb_options);
    std::optional<rtevents::Gateway> gateway;
    std::exception_ptr failure;
    std::thread beginning; // channels that do not answer are no reason not to end
    ServiceRun run(signals, session.orb(), [&] {
        beginning.join();
        gateway.reset();
    });
    beginning = std::thread([&] {
        try {
            const Rtec::EventChannel_var from = session.channel(arguments.reference);
            const Rtec::EventChannel_var to = session.channel(arguments.other);
            gateway.emplace(session.orb(), from.in(), to.in());
            fmt::print("forwarding\n");
            std::fflush(stdout);
        } catch (...) {
            failure = std::current_exception();
            ::kill(::getpid(), SIGTERM); // which the run waits for
        }
    });
    run.run();
    if (failure) std::rethrow_exception(failure);
}

// --- ls ------------------------------------------------------------------------------------------

RealTimeJson header_json(const RtecEventComm::EventHeader& header)
{
    return {{"type", header.type}, {"source", header.source}};
}

/// Hears of a channel once what an observer hears.
class Listing final : public POA_RtecEventChannelAdmin::Observer {
  public:
    void update_consumer(const Rtec::ConsumerQOS& wanted) override
    {
        RealTimeJson all = RealTimeJson::array();
        for (CORBA::ULong i = 0; i < wanted.dependencies.length(); ++i) {
            const RtecEventComm::EventHeader& header = wanted.dependencies[i].event.header;
            if (header.type == rtevents::disjunction_group || header.type == rtevents::global_group)
                continue; // all of them are one
            all.push_back(header_json(header));
        }
        note("wanted", std::move(all));
    }
    void update_supplier(const Rtec::SupplierQOS& supplied) override
    {
        RealTimeJson all = RealTimeJson::array();
        for (CORBA::ULong i = 0; i < supplied.publications.length(); ++i)
            all.push_back(header_json(supplied.publications[i].event.header));
        note("supplied", std::move(all));
    }
    /// Returns null where not all comes in time.
    [[nodiscard]] RealTimeJson wait()
    {
        constexpr std::chrono::seconds patience{10};
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return heard_.size() == 2; })) return {};
        return heard_;
    }

  private:
    void note(const char* what, RealTimeJson all)
    {
        const std::lock_guard lock(mutex_);
        heard_[what] = std::move(all);
        changed_.notify_one();
    }

    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    RealTimeJson heard_ = RealTimeJson::object();
};

/// "16", or "any" for what stands for all.
std::string number_text(const RealTimeJson& number) { return number == 0 ? "any" : number.dump(); }

void list_real_time(const RealTimeArguments& arguments, const std::vector<std::string>& orb_options)
{
    Listing listing;
    RealTimeJson all;
    {
        const RealTimeSession session(arguments.endpoint, orb_options);
        const Rtec::EventChannel_var channel = session.channel(arguments.reference);
        const Rtec::Observer_var own = session.activate<Rtec::Observer>(&listing);
        const Rtec::Observer_Handle handle = channel->append_observer(own.in());
        all = listing.wait();
        leave([&] { channel->remove_observer(handle); });
    }
    if (all.is_null()) fail("the channel does not call back: --listen says where it may");
    if (arguments.is_json) return fmt::print("{}\n", all.dump());
    for (const char* const side : {"wanted", "supplied"})
        for (const RealTimeJson& each : all[side])
            fmt::print("{}: type {}, source {}\n", side, number_text(each["type"]),
                       number_text(each["source"]));
}

// --- watch ---------------------------------------------------------------------------------------

/// Waits for the signal that ends the command, from the first call of a channel on. What is not
/// over in time then, calls that are not answered and lines that nobody reads, ends with the
/// process.
class RealTimeEnd {
  public:
    explicit RealTimeEnd(const EndSignals& signals)
        : thread_([this, &signals] {
              signals.wait();
              std::unique_lock lock(mutex_);
              is_told_ = true;
              changed_.notify_all();
              if (!changed_.wait_for(lock, end_within, [this] { return is_over_; })) end_at_once();
          })
    {
    }
    RealTimeEnd(const RealTimeEnd&) = delete;
    RealTimeEnd& operator=(const RealTimeEnd&) = delete;
    ~RealTimeEnd()
    {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
            changed_.notify_all();
            if (!is_told_) ::kill(::getpid(), SIGTERM);
        }
        thread_.join();
    }
    void wait()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_told_; });
    }

  private:
    std::mutex mutex_; // guards what follows, up to the thread; inside nobody's
    std::condition_variable changed_;
    bool is_told_ = false;
    bool is_over_ = false;
    std::thread thread_;
};

std::string hexadecimal(const EventPayload& octets)
{
    std::string text;
    for (CORBA::ULong i = 0; i < octets.length(); ++i)
        text += fmt::format("{:02x}", octets[i]);
    return text;
}

bool is_text(const EventPayload& octets)
{
    for (CORBA::ULong i = 0; i < octets.length(); ++i)
        if (octets[i] < 0x20 || octets[i] > 0x7e) return false;
    return true;
}

/// Prints what it is given, until there was enough of it. Any thread.
class Printing final : public POA_RtecEventComm::PushConsumer {
  public:
    Printing(const RealTimeArguments& arguments, const ValueJson& forms)
        : arguments_(arguments), forms_(forms)
    {
    }
    void push(const RtecEventComm::EventSet& events) override
    {
        const std::lock_guard lock(mutex_);
        for (CORBA::ULong i = 0; i < events.length() && !has_enough(); ++i) {
            print(events[i]);
            ++count_;
        }
        std::fflush(stdout);
        if (has_enough()) end();
    }
    void disconnect_push_consumer() override
    {
        const std::lock_guard lock(mutex_);
        was_disconnected_ = true;
        end();
    }
    [[nodiscard]] bool was_disconnected()
    {
        const std::lock_guard lock(mutex_);
        return was_disconnected_;
    }

  private:
    /// Must hold mutex_.
    [[nodiscard]] bool has_enough() const
    {
        return arguments_.count != 0 && count_ >= arguments_.count;
    }
    /// The main thread waits for signals.
    static void end() { ::kill(::getpid(), SIGTERM); }

    void print(const RtecEventComm::Event& event) const
    {
        RealTimeJson value;
        const CORBA::TypeCode_var type = event.data.any_value.type();
        if (type->kind() != CORBA::tk_null && type->kind() != CORBA::tk_void) {
            try {
                value = forms_.json_of(event.data.any_value);
            } catch (const std::exception& failure) {
                value = {{"not shown", failure.what()}};
            }
        }
        const EventPayload& payload = event.data.payload;
        if (arguments_.is_json) {
            RealTimeJson all = header_json(event.header);
            all["ttl"] = event.header.ttl;
            all["creation_time"] = event.header.creation_time;
            all["payload"] = hexadecimal(payload);
            all["value"] = std::move(value);
            return fmt::print("{}\n", dump(all));
        }
        fmt::print("type {} source {}", event.header.type, event.header.source);
        if (payload.length() != 0 && is_text(payload))
            fmt::print(" \"{}\"",
                       std::string_view(reinterpret_cast<const char*>(payload.get_buffer()),
                                        payload.length()));
        else if (payload.length() != 0)
            fmt::print(" {}", hexadecimal(payload));
        if (!value.is_null()) fmt::print(" value {}", dump(value));
        fmt::print("\n");
    }

    const RealTimeArguments& arguments_;
    const ValueJson& forms_; // used with mutex_
    std::mutex mutex_;       // guards what follows, and that lines are whole
    unsigned count_ = 0;
    bool was_disconnected_ = false;
};

Rtec::ConsumerQOS wishes_of(const RealTimeArguments& arguments)
{
    Rtec::ConsumerQOS wishes;
    wishes.is_gateway = false;
    std::vector<CORBA::Long> types = arguments.types;
    if (types.empty()) types.push_back(rtevents::any_type);
    wishes.dependencies.length(static_cast<CORBA::ULong>(types.size() + 1));
    for (CORBA::ULong i = 0; i < wishes.dependencies.length(); ++i)
        wishes.dependencies[i] = {};
    wishes.dependencies[0].event.header.type = rtevents::disjunction_group;
    wishes.dependencies[0].event.header.source = static_cast<CORBA::Long>(types.size());
    for (CORBA::ULong i = 0; i < types.size(); ++i) {
        wishes.dependencies[i + 1].event.header.type = types[i];
        wishes.dependencies[i + 1].event.header.source = arguments.source;
    }
    return wishes;
}

void watch_real_time(const RealTimeArguments& arguments,
                     const std::vector<std::string>& orb_options)
{
    const EndSignals signals;
    RealTimeEnd end(signals);
    const CORBA::ORB_var forms_orb = make_client_orb("kairos-rtevents-values", orb_options);
    const ValueJson forms(forms_orb.in(),
                          [](const std::string&) { return CORBA::TypeCode::_nil(); });
    Printing printing(arguments, forms);
    {
        const RealTimeSession session(arguments.endpoint, orb_options);
        const Rtec::EventChannel_var channel = session.channel(arguments.reference);
        const Rtec::ConsumerAdmin_var admin = channel->for_consumers();
        const Rtec::ProxyPushSupplier_var proxy = admin->obtain_push_supplier();
        const auto own = session.activate<RtecEventComm::PushConsumer>(&printing);
        try {
            proxy->connect_push_consumer(own.in(), wishes_of(arguments));
            end.wait();
        } catch (...) {
            leave([&] { proxy->disconnect_push_supplier(); });
            throw;
        }
        leave([&] { proxy->disconnect_push_supplier(); });
    }
    forms_orb->destroy();
    if (printing.was_disconnected()) fail("the channel has ended");
}

// --- push ----------------------------------------------------------------------------------------

class Supplying final : public POA_RtecEventComm::PushSupplier {
  public:
    void disconnect_push_supplier() override {}
};

void push_real_time(const RealTimeArguments& arguments, const std::vector<std::string>& orb_options)
{
    RtecEventComm::EventSet events;
    events.length(1);
    events[0] = {};
    events[0].header.type = arguments.type;
    events[0].header.source = arguments.source;
    events[0].header.ttl = arguments.ttl;
    EventPayload& payload = events[0].data.payload;
    payload.length(static_cast<CORBA::ULong>(arguments.payload.size()));
    std::ranges::copy(arguments.payload, payload.get_buffer());
    if (!arguments.value.empty()) insert_plain(events[0].data.any_value, arguments.value);

    Supplying supplying;
    const RealTimeSession session(arguments.endpoint, orb_options);
    const Rtec::EventChannel_var channel = session.channel(arguments.reference);
    const Rtec::SupplierAdmin_var admin = channel->for_suppliers();
    const Rtec::ProxyPushConsumer_var proxy = admin->obtain_push_consumer();
    Rtec::SupplierQOS publications;
    publications.is_gateway = false;
    publications.publications.length(1);
    publications.publications[0] = {};
    publications.publications[0].event.header = events[0].header;
    const auto own = session.activate<RtecEventComm::PushSupplier>(&supplying);
    proxy->connect_push_supplier(own.in(), publications);
    for (unsigned i = 0; i < arguments.count; ++i)
        proxy->push(events);
    proxy->disconnect_push_consumer(); // which answers when what was pushed was taken
}

// --- The command ---------------------------------------------------------------------------------

CLI::App* add_real_time(CLI::App& command, const char* name, const char* text)
{
    auto* const sub = command.add_subcommand(name, text);
    sub->footer(orb_options_footer);
    return sub;
}

void add_channel_argument(CLI::App& sub, RealTimeArguments& arguments)
{
    sub.add_option("reference", arguments.reference,
                   "A channel: IOR:…, corbaloc:…, a file with one, or -")
        ->required()
        ->type_name("REFERENCE");
}

/// Of what channels call back.
void add_own_endpoint(CLI::App& sub, RealTimeArguments& arguments)
{
    sub.add_option("-l,--listen", arguments.endpoint,
                   "Where the channel calls this; iiop://:0 is on every interface")
        ->type_name("ENDPOINT")
        ->default_val("iiop://localhost:0");
}

template <typename Run>
void run_real_time(CLI::App& sub, int& status, Run&& run)
{
    sub.callback([run, &status] {
        try {
            run();
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos rtevents: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

void add_real_time_serve(CLI::App& command, const std::vector<std::string>& orb_options,
                         int& status)
{
    const auto arguments = std::make_shared<RealTimeArguments>();
    rtevents::ChannelOptions& options = arguments->options;
    auto* const sub = add_real_time(command, "serve", "Run channels; prints a reference for each");
    add_channel_places(*sub, arguments->channels,
                       "A channel, which clients also find as corbaloc:…/NAME; may be repeated. "
                       "Without any there is one, EventService");
    sub->add_option("--dispatching", arguments->dispatching,
                    "Who gives events to consumers: reactive, the thread that has brought them; "
                    "priorities, a thread for each priority of consumers")
        ->check(CLI::IsMember({"reactive", "priorities"}))
        ->capture_default_str();
    sub->add_option("--priority", arguments->priorities,
                    "RT_INFO=PRIORITY: consumers that name this rt_info have this CORBA priority, "
                    "all others 0; may be repeated")
        ->type_name("PRIORITY")
        ->allow_extra_args(false);
    sub->add_option("--queue", options.queue_max,
                    "Sets of events that wait for one consumer, by priorities; when there are "
                    "more, the oldest is dropped")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    sub->add_option("--consumers", options.consumers_max, "Consumers of each channel")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    sub->add_option("--suppliers", options.suppliers_max, "Suppliers of each channel")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    sub->add_option("--timeout", arguments->timeout_s,
                    "Seconds that a consumer or a supplier has for its answer")
        ->check(CLI::Range(0.001, 86'400.0))
        ->capture_default_str();
    sub->add_option("--failures", options.failures_max,
                    "Calls of one consumer that fail one after the other, until it is "
                    "disconnected")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_option(
           "--multicast", options.multicast,
           "A multicast group that the channel is in, with whatever others are, such as "
           "corbaloc:miop:1.0@1.0-Plant-7/239.192.7.1:5007: its suppliers' events go there, "
           "and theirs to its consumers; -ORBMulticast says by which interface")
        ->type_name("GROUP");
    sub->add_option("--multicast-type", options.multicast_types,
                    "Only events of this type go to the group; may be repeated. Without any: all")
        ->type_name("TYPE")
        ->allow_extra_args(false);
    run_real_time(*sub, status,
                  [arguments, &orb_options] { serve_real_time(*arguments, orb_options); });
}

void add_real_time_watch(CLI::App& command, const std::vector<std::string>& orb_options,
                         int& status)
{
    const auto arguments = std::make_shared<RealTimeArguments>();
    auto* const sub = add_real_time(command, "watch", "Print the events that pass, as they come");
    add_channel_argument(*sub, *arguments);
    sub->add_flag("--json", arguments->is_json, "Each as an object, one a line");
    sub->add_option("--type", arguments->types,
                    "Only events of this type; may be repeated. Without any: all")
        ->type_name("TYPE")
        ->allow_extra_args(false);
    sub->add_option("--source", arguments->source, "Only events from there; 0: from anywhere")
        ->type_name("SOURCE")
        ->capture_default_str();
    sub->add_option("-n,--count", arguments->count, "End after so many; 0: when it is told to")
        ->capture_default_str();
    add_own_endpoint(*sub, *arguments);
    run_real_time(*sub, status,
                  [arguments, &orb_options] { watch_real_time(*arguments, orb_options); });
}

void add_real_time_push(CLI::App& command, const std::vector<std::string>& orb_options, int& status)
{
    const auto arguments = std::make_shared<RealTimeArguments>();
    auto* const sub = add_real_time(command, "push", "Push an event");
    add_channel_argument(*sub, *arguments);
    sub->add_option("--type", arguments->type, "What it is: 16 and more are free")
        ->required()
        ->type_name("TYPE");
    sub->add_option("--source", arguments->source, "Who it is from")
        ->type_name("SOURCE")
        ->capture_default_str();
    sub->add_option("--ttl", arguments->ttl, "Gateways that it may pass")->capture_default_str();
    sub->add_option("--payload", arguments->payload, "Its octets, as text")->type_name("TEXT");
    sub->add_option("--value", arguments->value, "Its Any: a number, true, false, or text")
        ->type_name("VALUE");
    sub->add_option("-n,--count", arguments->count, "So many of it")
        ->check(CLI::Range(1U, 1'000'000U))
        ->default_val(1U);
    add_own_endpoint(*sub, *arguments);
    run_real_time(*sub, status,
                  [arguments, &orb_options] { push_real_time(*arguments, orb_options); });
}

} // namespace

void add_rtevents_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto* const command = app.add_subcommand(
        "rtevents", "Real-time event channels: run them, look into them, use them");
    command->require_subcommand(1);
    add_real_time_serve(*command, orb_options, status);
    const auto listed = std::make_shared<RealTimeArguments>();
    auto* const ls =
        add_real_time(*command, "ls", "What types and sources consumers want and suppliers have");
    add_channel_argument(*ls, *listed);
    ls->add_flag("--json", listed->is_json, "As an object");
    add_own_endpoint(*ls, *listed);
    run_real_time(*ls, status, [listed, &orb_options] { list_real_time(*listed, orb_options); });
    add_real_time_watch(*command, orb_options, status);
    add_real_time_push(*command, orb_options, status);
    const auto led = std::make_shared<RealTimeArguments>();
    auto* const gateway = add_real_time(
        *command, "gateway", "Forward what one channel's consumers want from another channel");
    add_channel_argument(*gateway, *led);
    gateway->add_option("to", led->other, "The channel whose consumers are to get the events")
        ->required()
        ->type_name("TO");
    add_own_endpoint(*gateway, *led);
    run_real_time(*gateway, status, [led, &orb_options] { run_gateway(*led, orb_options); });
}

} // namespace kairos::tools
