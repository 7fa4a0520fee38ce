// SPDX-License-Identifier: Apache-2.0
//
// `kairos log`: a log service in the foreground; and of any that runs, of whichever ORB, which logs
// there are, what is in them, and records of one's own.
#include "kairos/base/shown.h"
#include "kairos/logs/open_store.h"
#include "kairos/logs/service.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/names.h"
#include "tools/kairos/reference_argument.h"
#include "tools/kairos/service.h"
#include "tools/kairos/value_json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace kairos::tools {
namespace {

using namespace DsLogAdmin;

struct LogArguments {
    std::string reference;
    std::optional<CORBA::ULong> id;
    bool is_json = false;
    // serve
    std::string endpoint;
    std::string file;
    std::string store;
    unsigned memory_mib = 256;
    // create, set
    std::optional<std::uint64_t> max_size;
    std::string full;
    std::optional<CORBA::ULong> life;
    std::string state;
    std::string forwarding;
    std::string qos;
    std::vector<unsigned> thresholds;
    // write
    std::vector<std::string> values;
    std::vector<std::string> attributes;
    // query, tail, rm
    std::string constraint;
    const CLI::Option* where = nullptr; // the constraint was given, be it empty
    unsigned count = 0;
    unsigned tail = 10;
    bool follows = false;
};

/// Records in one reply.
constexpr CORBA::ULong records_a_call = 1000;

// --- Serving -------------------------------------------------------------------------------------

void serve_logs(const LogArguments& arguments, const std::vector<std::string>& orb_options)
{
    const EndSignals signals;
    Standby standby(signals, "kairos log"); // outlives the store
    logs::ServiceLimits limits;
    limits.memory_octets_max = std::size_t{arguments.memory_mib} << 20;
    std::unique_ptr<logs::Store> store;
    if (!arguments.store.empty()) {
        auto opened = logs::open_named_store(arguments.store,
                                             {.stand_by = [&standby] { return standby.stand_by(); },
                                              .lost = [&standby] { standby.lose(); }});
        if (standby.was_told_to_end()) return;
        if (!opened) fail(opened.error().reason);
        store = std::move(opened).value();
    }
    const CORBA::ORB_var orb = make_service_orb("kairos-log", arguments.endpoint, {}, orb_options);
    {
        std::optional<logs::LogService> service;
        ServiceRun run(signals, orb.in(), [&service] { service->begin_to_end(); });
        service.emplace(orb.in(), std::move(store), limits);
        const BasicLogFactory_var factory = service->basic_logs();
        const CORBA::String_var reference = orb->object_to_string(factory.in());
        if (!arguments.file.empty()) write_reference(arguments.file, reference.in());
        const DsEventLogAdmin::EventLogFactory_var events = service->event_logs();
        const CORBA::String_var channels = orb->object_to_string(events.in());
        const DsNotifyLogAdmin::NotifyLogFactory_var notifications = service->notify_logs();
        const CORBA::String_var notified = orb->object_to_string(notifications.in());
        fmt::print("{}\n{}\n{}\n", reference.in(), channels.in(), notified.in());
        std::fflush(stdout);
        run.run();
        service.reset(); // before the run, which watches how long that takes
    }
    standby.require_not_lost();
}

// --- Clients -------------------------------------------------------------------------------------

std::string log_line(const Json& json)
{
    return shown(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// "2026-11-30T02:59:10.025Z" of a TimeBase::TimeT.
std::string text_of_time(TimeT time)
{
    constexpr TimeT epoch_ticks = 0x01B2'1DD2'1381'4000;
    constexpr TimeT ticks_a_second = 10'000'000;
    if (time < epoch_ticks) return std::to_string(time);
    const auto seconds = static_cast<std::time_t>((time - epoch_ticks) / ticks_a_second);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) == nullptr) return std::to_string(time);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return fmt::format("{}.{:03}Z", std::string_view(text, size),
                       (time - epoch_ticks) % ticks_a_second / 10'000);
}

class LogSession {
  public:
    LogSession(const LogArguments& arguments, const std::vector<std::string>& orb_options)
        : arguments_(arguments), orb_(make_client_orb("kairos-log", orb_options)),
          forms_(orb_.in(), {})
    {
        const CORBA::Object_var object =
            orb_->string_to_object(url_of_object(arguments.reference).c_str());
        factory_ = LogMgr::_narrow(object.in());
        if (CORBA::is_nil(factory_.in())) log_ = Log::_narrow(object.in());
        if (CORBA::is_nil(factory_.in()) && CORBA::is_nil(log_.in()))
            fail(arguments.reference + " is neither a log nor what makes logs");
    }

    [[nodiscard]] const LogArguments& arguments() const noexcept { return arguments_; }
    [[nodiscard]] CORBA::ORB_ptr orb() const noexcept { return orb_.in(); }
    [[nodiscard]] LogMgr_ptr factory() const
    {
        if (CORBA::is_nil(factory_.in())) fail(arguments_.reference + " is a log, and makes none");
        return factory_.in();
    }
    /// The log that the arguments name.
    [[nodiscard]] Log_var log() const
    {
        if (CORBA::is_nil(factory_.in())) return Log::_duplicate(log_.in());
        if (!arguments_.id) fail("which log? --id says it; ls lists them");
        Log_var found = factory_->find_log(*arguments_.id);
        if (CORBA::is_nil(found.in())) fail(fmt::format("there is no log {}", *arguments_.id));
        return found;
    }
    /// All of a factory, or the one.
    [[nodiscard]] std::vector<Log_var> logs() const
    {
        std::vector<Log_var> all;
        if (CORBA::is_nil(factory_.in()) || arguments_.id) {
            all.push_back(log());
            return all;
        }
        const LogList_var list = factory_->list_logs();
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            all.emplace_back(Log::_duplicate(list[i]));
        return all;
    }
    [[nodiscard]] Json json_of(const CORBA::Any& value) const
    {
        const CORBA::TypeCode_var type = value.type();
        if (type->kind() == CORBA::tk_null || type->kind() == CORBA::tk_void) return nullptr;
        try {
            return forms_.json_of(value);
        } catch (const std::exception& failure) {
            return {{"not shown", failure.what()}};
        }
    }
    void print(const LogRecord& record) const
    {
        Json attributes = Json::object();
        for (CORBA::ULong i = 0; i < record.attr_list.length(); ++i)
            attributes[record.attr_list[i].name.in()] = json_of(record.attr_list[i].value);
        const Json info = json_of(record.info);
        if (arguments_.is_json) {
            fmt::print("{}\n", log_line({{"id", record.id},
                                         {"time", text_of_time(record.time)},
                                         {"info", info},
                                         {"attributes", attributes}}));
            return;
        }
        fmt::print("{}\t{}\t{}", record.id, text_of_time(record.time), log_line(info));
        fmt::print("{}\n", attributes.empty() ? "" : "\t" + log_line(attributes));
    }

  private:
    const LogArguments& arguments_;
    const CORBA::ORB_var orb_;
    const ValueJson forms_;
    LogMgr_var factory_; // one of these is not nil
    Log_var log_;
};

// --- ls, stats -----------------------------------------------------------------------------------

Json json_of_log(Log_ptr log)
{
    const AvailabilityStatus status = log->get_availability_status();
    return {{"id", log->id()},
            {"records", log->get_n_records()},
            {"octets", log->get_current_size()},
            {"max_size", log->get_max_size()},
            {"full_action", log->get_log_full_action() == wrap ? "wrap" : "halt"},
            {"log_full", static_cast<bool>(status.log_full)},
            {"off_duty", static_cast<bool>(status.off_duty)},
            {"locked", log->get_administrative_state() == locked},
            {"enabled", log->get_operational_state() == enabled}};
}

std::string summary_of(const Json& log)
{
    std::string text = fmt::format("log {}: {} records, {} octets", log["id"].dump(),
                                   log["records"].dump(), log["octets"].dump());
    if (log["max_size"] != 0)
        text += fmt::format(" of {} ({})", log["max_size"].dump(),
                            log["full_action"].get<std::string>());
    if (log["log_full"].get<bool>()) text += ", full";
    if (log["off_duty"].get<bool>()) text += ", off duty";
    if (log["locked"].get<bool>()) text += ", locked";
    if (!log["enabled"].get<bool>()) text += ", disabled";
    return text;
}

void list_the_logs(const LogSession& session)
{
    Json all = Json::array();
    for (const Log_var& log : session.logs()) {
        try {
            all.push_back(json_of_log(log.in()));
        } catch (const CORBA::OBJECT_NOT_EXIST&) { // destroyed since
        }
    }
    if (session.arguments().is_json) return fmt::print("{}\n", log_line(all));
    for (const Json& log : all)
        fmt::print("{}\n", summary_of(log));
}

Json json_of_week(const WeekMask& mask)
{
    static constexpr const char* days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                           "Thursday", "Friday", "Saturday"};
    Json all = Json::array();
    for (CORBA::ULong i = 0; i < mask.length(); ++i) {
        Json on = Json::array();
        for (unsigned day = 0; day < 7; ++day)
            if ((mask[i].days & 1U << day) != 0) on.push_back(days[day]);
        Json times = Json::array();
        for (CORBA::ULong k = 0; k < mask[i].intervals.length(); ++k) {
            const Time24Interval& interval = mask[i].intervals[k];
            times.push_back(fmt::format("{:02}:{:02}-{:02}:{:02}", interval.start.hour,
                                        interval.start.minute, interval.stop.hour,
                                        interval.stop.minute));
        }
        all.push_back({{"days", on}, {"times", times}});
    }
    return all;
}

void print_stats(const LogSession& session)
{
    const Log_var log = session.log();
    Json all = json_of_log(log.in());
    all["record_life_s"] = log->get_max_record_life();
    all["forwarding"] = log->get_forwarding_state() == on;
    const QoSList_var qos = log->get_log_qos();
    static constexpr const char* qualities[] = {"none", "flush", "reliable"};
    all["qos"] = Json::array();
    for (CORBA::ULong i = 0; i < qos->length(); ++i)
        all["qos"].push_back(qos[i] <= QoSReliability ? qualities[qos[i]] : "unknown");
    const CapacityAlarmThresholdList_var thresholds = log->get_capacity_alarm_thresholds();
    all["thresholds"] = Json::array();
    for (CORBA::ULong i = 0; i < thresholds->length(); ++i)
        all["thresholds"].push_back(thresholds[i]);
    const TimeInterval interval = log->get_interval();
    all["from"] = interval.start == 0 ? Json() : Json(text_of_time(interval.start));
    all["to"] = interval.stop == 0 ? Json() : Json(text_of_time(interval.stop));
    const WeekMask_var week = log->get_week_mask();
    all["week_mask"] = json_of_week(week.in());
    if (session.arguments().is_json) return fmt::print("{}\n", log_line(all));
    fmt::print("{}\n", summary_of(all));
    for (const char* const name :
         {"record_life_s", "forwarding", "qos", "thresholds", "from", "to", "week_mask"})
        fmt::print("    {}: {}\n", name, log_line(all[name]));
}

// --- create, set, rm -----------------------------------------------------------------------------

void apply(Log_ptr log, const LogArguments& arguments)
{
    if (!arguments.full.empty()) log->set_log_full_action(arguments.full == "wrap" ? wrap : halt);
    if (arguments.max_size) log->set_max_size(*arguments.max_size);
    if (arguments.life) log->set_max_record_life(*arguments.life);
    if (!arguments.forwarding.empty())
        log->set_forwarding_state(arguments.forwarding == "on" ? on : off);
    if (!arguments.qos.empty()) {
        QoSList qos;
        qos.length(1);
        qos[0] = arguments.qos == "none"    ? QoSNone
                 : arguments.qos == "flush" ? QoSFlush
                                            : QoSReliability;
        log->set_log_qos(qos);
    }
    if (!arguments.thresholds.empty()) {
        CapacityAlarmThresholdList list;
        list.length(static_cast<CORBA::ULong>(arguments.thresholds.size()));
        for (CORBA::ULong i = 0; i < list.length(); ++i)
            list[i] = static_cast<Threshold>(arguments.thresholds[i]);
        log->set_capacity_alarm_thresholds(list);
    }
    if (!arguments.state.empty())
        log->set_administrative_state(arguments.state == "locked" ? locked : unlocked);
}

void destroy_log(Log_ptr log)
{
    using CosEventChannelAdmin::EventChannel;
    const BasicLog_var basic = BasicLog::_narrow(log);
    if (!CORBA::is_nil(basic.in())) return basic->destroy();
    const auto channel = EventChannel::_var_type(EventChannel::_narrow(log));
    if (CORBA::is_nil(channel.in())) fail("nobody knows how to destroy such a log");
    channel->destroy();
}

Log_ptr make_log(LogMgr_ptr logs, const std::optional<CORBA::ULong>& wanted, LogId& id)
{
    using DsEventLogAdmin::EventLogFactory;
    using DsNotifyLogAdmin::NotifyLogFactory;
    const BasicLogFactory_var factory = BasicLogFactory::_narrow(logs);
    if (!CORBA::is_nil(factory.in()))
        return wanted ? factory->create_with_id(id, halt, 0) : factory->create(halt, 0, id);
    const auto events = EventLogFactory::_var_type(EventLogFactory::_narrow(logs));
    if (!CORBA::is_nil(events.in()))
        return wanted ? events->create_with_id(id, halt, 0, {}) : events->create(halt, 0, {}, id);
    const auto notifications = NotifyLogFactory::_var_type(NotifyLogFactory::_narrow(logs));
    if (CORBA::is_nil(notifications.in())) fail("nobody knows how to make such logs");
    return wanted ? notifications->create_with_id(id, halt, 0, {}, {}, {})
                  : notifications->create(halt, 0, {}, {}, {}, id);
}

void create_log(const LogSession& session)
{
    const LogArguments& arguments = session.arguments();
    LogId id = arguments.id.value_or(0);
    const Log_var log = make_log(session.factory(), arguments.id, id);
    try {
        apply(log.in(), arguments);
    } catch (const CORBA::Exception&) {
        destroy_log(log.in());
        throw;
    }
    const CORBA::String_var reference = session.orb()->object_to_string(log.in());
    if (session.arguments().is_json)
        return fmt::print("{}\n", log_line({{"id", id}, {"reference", reference.in()}}));
    fmt::print("{}\t{}\n", id, reference.in());
}

void set_log(const LogSession& session)
{
    const Log_var log = session.log();
    apply(log.in(), session.arguments());
}

void remove_log(const LogSession& session)
{
    const Log_var log = session.log();
    if (session.arguments().where->count() != 0) { // an empty one is fulfilled by all
        const CORBA::ULong count =
            log->delete_records(default_grammar, session.arguments().constraint.c_str());
        return fmt::print("{}\n", count);
    }
    destroy_log(log.in());
}

// --- write, query, tail --------------------------------------------------------------------------

void write_log(const LogSession& session)
{
    const LogArguments& arguments = session.arguments();
    NVList attributes;
    for (const std::string& field : arguments.attributes) {
        const std::size_t equals = field.find('=');
        if (equals == std::string::npos) fail("an attribute is NAME=VALUE: " + field);
        attributes.length(attributes.length() + 1);
        NVPair& made = attributes[attributes.length() - 1];
        made.name = field.substr(0, equals).c_str();
        insert_plain(made.value, field.substr(equals + 1));
    }
    RecordList list;
    list.length(static_cast<CORBA::ULong>(arguments.values.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        insert_plain(list[i].info, arguments.values[i]);
        list[i].attr_list = attributes;
        list[i].id = 0; // the log gives its own
        list[i].time = 0;
    }
    const Log_var log = session.log();
    log->write_recordlist(list);
}

/// Goes through what was found, with what an iterator has, which it ends, until `take` has enough.
template <typename Take>
void for_each_found(RecordList_var list, Iterator_ptr rest, Take&& take)
{
    CORBA::ULong position = 0;
    bool goes_on = true;
    for (;;) {
        for (CORBA::ULong i = 0; i < list->length() && goes_on; ++i)
            goes_on = take(list[i]);
        position += list->length();
        if (CORBA::is_nil(rest)) return;
        if (!goes_on || list->length() == 0) break;
        list = rest->get(position, records_a_call);
    }
    rest->destroy();
}

void query_log(const LogSession& session)
{
    const LogArguments& arguments = session.arguments();
    const Log_var log = session.log();
    Iterator_var rest;
    RecordList_var list = log->query(default_grammar, arguments.constraint.c_str(), rest.out());
    std::size_t count = 0;
    for_each_found(list._retn(), rest.in(), [&](const LogRecord& record) {
        session.print(record);
        return ++count != arguments.count;
    });
}

void tail_log(const LogSession& session)
{
    const LogArguments& arguments = session.arguments();
    constexpr std::chrono::milliseconds pause{500};
    constexpr TimeT latest = ~TimeT{0} >> 1;
    const Log_var log = session.log();
    RecordId last = 0;
    TimeT time = 0;
    const auto print_new = [&](const LogRecord& record) {
        if (record.id <= last) return;
        session.print(record);
        last = record.id;
        time = record.time;
    };
    // The newest come first; it follows from there though none is wanted.
    Iterator_var rest;
    const auto wanted = static_cast<CORBA::Long>(arguments.tail);
    RecordList_var list = log->retrieve(latest, -std::max<CORBA::Long>(wanted, 1), rest.out());
    std::vector<LogRecord> newest;
    for_each_found(list._retn(), rest.in(), [&](const LogRecord& record) {
        newest.push_back(record);
        return newest.size() < arguments.tail;
    });
    if (arguments.tail == 0 && !newest.empty()) {
        last = newest.front().id;
        time = newest.front().time;
        newest.clear();
    }
    for (auto record = newest.rbegin(); record != newest.rend(); ++record)
        print_new(*record);
    while (arguments.follows) {
        std::fflush(stdout);
        list = log->retrieve(time, static_cast<CORBA::Long>(records_a_call), rest.out());
        const RecordId before = last;
        std::size_t count = 0;
        const auto take = [&](const LogRecord& record) {
            ++count;
            print_new(record);
            return true;
        };
        for_each_found(list._retn(), rest.in(), take);
        // Of one moment there may be more than that: then by their ids.
        if (last == before && count == records_a_call) {
            const std::string later = fmt::format("$.id > {}", last);
            list = log->query(default_grammar, later.c_str(), rest.out());
            for_each_found(list._retn(), rest.in(), take);
        }
        if (last == before) std::this_thread::sleep_for(pause);
    }
}

// --- From arguments to a command -----------------------------------------------------------------

using LogCommand = void (*)(const LogSession& session);

/// What is wrong, in words.
std::string log_complaint(const std::exception& failure)
{
    if (dynamic_cast<const InvalidConstraint*>(&failure) != nullptr)
        return "this is no constraint of the extended trader constraint language";
    if (const auto* const full = dynamic_cast<const LogFull*>(&failure))
        return fmt::format("the log is full; {} were written", full->n_records_written);
    if (dynamic_cast<const LogLocked*>(&failure) != nullptr) return "the log is locked";
    if (dynamic_cast<const LogOffDuty*>(&failure) != nullptr) return "the log is off duty";
    if (dynamic_cast<const LogDisabled*>(&failure) != nullptr)
        return "the log is disabled: its store fails";
    if (dynamic_cast<const LogIdAlreadyExists*>(&failure) != nullptr)
        return "there is a log with this id";
    if (dynamic_cast<const UnsupportedQoS*>(&failure) != nullptr)
        return "the log service has no store for that";
    if (dynamic_cast<const InvalidThreshold*>(&failure) != nullptr)
        return "thresholds are percents, each above the one before";
    if (const auto* const wrong = dynamic_cast<const InvalidParam*>(&failure))
        return wrong->details.in();
    return failure.what();
}

class LogParser {
  public:
    LogParser(CLI::App& log, const std::vector<std::string>& orb_options, int& status)
        : log_(log), orb_options_(orb_options), status_(status)
    {
    }

    void add_all()
    {
        add_serving();
        add("ls", "List logs: their ids, how much is in them, their states", &list_the_logs);
        add("stats", "Print all that a log says of itself", &print_stats);
        auto* create = add("create", "Make a log; prints its id and its reference", &create_log);
        add_settings(*create);
        auto* set = add("set", "Change what is set of a log", &set_log);
        add_settings(*set);
        auto* write = add("write", "Write records", &write_log);
        write
            ->add_option("value", arguments_->values,
                         "A record for each: a number, true, false, or text")
            ->required()
            ->type_name("VALUE");
        write
            ->add_option("-a,--attribute", arguments_->attributes,
                         "NAME=VALUE, an attribute of each record; may be repeated")
            ->type_name("ATTRIBUTE")
            ->allow_extra_args(false);
        auto* query = add("query", "Print records, the oldest first", &query_log);
        query
            ->add_option("constraint", arguments_->constraint,
                         "What they must be, such as \"$.id > 7 and $.info == 'lamp'\" "
                         "(docs/logs.md); all without it")
            ->type_name("CONSTRAINT");
        query->add_option("-n,--count", arguments_->count, "At most so many; 0: all")
            ->default_val(0U);
        auto* tail = add("tail", "Print the last records", &tail_log);
        tail->add_option("-n,--count", arguments_->tail, "So many of those that there are")
            ->check(CLI::Range(0U, unsigned{records_a_call}))
            ->capture_default_str();
        tail->add_flag("-f,--follow", arguments_->follows,
                       "Then those that come, until it is told to end");
        auto* rm = add("rm", "Destroy a log with its records", &remove_log);
        arguments_->where =
            rm->add_option("--where", arguments_->constraint,
                           "Only delete records that fulfil a constraint, all of them if it is "
                           "empty, and leave the log; prints how many")
                ->type_name("CONSTRAINT");
    }

  private:
    template <typename Work>
    static int run(Work work)
    {
        try {
            work();
            return 0;
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos log: {}\n", shown(log_complaint(failure)));
            return 1;
        }
    }
    void add_serving()
    {
        auto* serve = log_.add_subcommand(
            "serve", "Run a log service until it is told to end; prints the references of what "
                     "makes logs, and of what makes logs that are event channels");
        serve
            ->add_option("-l,--listen", arguments_->endpoint,
                         "Where clients find it, also as corbaloc:…/BasicLogFactory; iiop://:0 is "
                         "on every interface")
            ->type_name("ENDPOINT")
            ->default_val("iiop://localhost:0");
        serve->add_option("--ior", arguments_->file, "A file that the reference is written to")
            ->type_name("FILE");
        serve
            ->add_option("--store", arguments_->store,
                         "What logs and records are kept in: a file of SQLite, made if it is not "
                         "there, or postgresql://USER@HOST/DATABASE, which one service at a time "
                         "has while others stand by. In memory without it")
            ->type_name("STORE");
        serve
            ->add_option("--memory", arguments_->memory_mib,
                         "MiB that all records have in memory, where there is no store")
            ->check(CLI::Range(1U, 1U << 20))
            ->capture_default_str();
        serve->callback([arguments = arguments_, &orb_options = orb_options_, &status = status_] {
            status = run([&] { serve_logs(*arguments, orb_options); });
        });
    }
    CLI::App* add(const char* verb, const char* help, LogCommand command)
    {
        auto* one = log_.add_subcommand(verb, help);
        one->add_option(
               "reference", arguments_->reference,
               "A log, or what makes logs: IOR:…, corbaloc:HOST:PORT/BasicLogFactory, "
               "EventLogFactory or NotifyLogFactory, corbaname:…, name:…, a file with one, or -")
            ->required()
            ->type_name("REFERENCE");
        one->add_option("-i,--id", arguments_->id, "Of what makes logs: the log of this id")
            ->type_name("ID");
        one->add_flag("--json", arguments_->is_json, "Print JSON");
        one->footer(orb_options_footer);
        one->callback(
            [command, arguments = arguments_, &orb_options = orb_options_, &status = status_] {
                status = run([&] { command(LogSession(*arguments, orb_options)); });
            });
        return one;
    }
    void add_settings(CLI::App& command)
    {
        command
            .add_option("--max-size", arguments_->max_size,
                        "Octets that it may have; 0: any number")
            ->type_name("OCTETS");
        command
            .add_option("--full", arguments_->full,
                        "What happens then: wrap, the oldest records go; halt, none is written")
            ->check(CLI::IsMember({"wrap", "halt"}));
        command
            .add_option("--life", arguments_->life,
                        "Records are forgotten after so many seconds; 0: never")
            ->type_name("SECONDS");
        command.add_option("--state", arguments_->state, "Whether records may be written")
            ->check(CLI::IsMember({"unlocked", "locked"}));
        command
            .add_option("--forwarding", arguments_->forwarding,
                        "Whether a channel passes on the events that it logs")
            ->check(CLI::IsMember({"on", "off"}));
        command
            .add_option("--qos", arguments_->qos,
                        "When a record is on the disk: reliable, before it is acknowledged; flush, "
                        "when somebody asks for that; none, at some time")
            ->check(CLI::IsMember({"none", "flush", "reliable"}));
        command
            .add_option("--threshold", arguments_->thresholds,
                        "Percents of its size at which there is an alarm, such as 80,95")
            ->delimiter(',')
            ->check(CLI::Range(0U, 100U))
            ->type_name("PERCENT");
    }

    CLI::App& log_;
    const std::vector<std::string>& orb_options_;
    int& status_;
    const std::shared_ptr<LogArguments> arguments_ = std::make_shared<LogArguments>();
};

} // namespace

void add_log_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto* log = app.add_subcommand("log", "Run a log service; show what logs have, and write them");
    log->require_subcommand(1);
    log->footer(orb_options_footer);
    LogParser parser(*log, orb_options, status);
    parser.add_all();
}

} // namespace kairos::tools
