// SPDX-License-Identifier: Apache-2.0
#include "bench/stored_report.h"

#include "bench/process.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <tuple>

namespace kairos::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> relations{"at most", "at least", "below"};

/// The members of a row's object that are no figures.
constexpr std::array<std::string_view, 9> row_members{
    "experiment",    "system", "variant", "direction",        "payload_type",
    "payload_bytes", "side",   "status",  "syscalls_by_name",
};

/// What is read first; other reports come behind, by their names.
constexpr std::array<std::string_view, 17> reading_order{
    "latency",  "latency-one-cpu", "ttcp",    "counters",  "local",    "param",
    "marshal",  "demux",           "naming",  "footprint", "whitebox", "concurrency",
    "priority", "interceptors",    "gateway", "spinning",  "modern",
};

std::string cpu_model()
{
    std::ifstream information("/proc/cpuinfo");
    for (std::string line; std::getline(information, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown";
}

std::string utc_now()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::string compiler()
{
#if defined(__clang__)
    return fmt::format("clang {}", __clang_version__);
#else
    return fmt::format("g++ {}", __VERSION__);
#endif
}

Json head_object(const Report& report)
{
    const Host host = this_host();
    Json head;
    head["experiment"] = report.experiment;
    if (!report.title.empty()) head["title"] = report.title;
    head["host"] = host.name;
    head["kernel"] = host.kernel;
    head["machine"] = host.machine;
    head["cpu"] = host.cpu;
    head["cpus"] = host.cpus;
    head["compiler"] = host.compiler;
    head["build"] = host.build;
    head["kairos"] = host.kairos;
    head["date"] = host.date;
    for (const Column& column : report.columns)
        head["columns"].push_back(
            {{"figure", column.figure}, {"title", column.title}, {"decimals", column.decimals}});
    for (const Need& need : report.needs)
        head["needs"].push_back({{"figure", need.figure}, {"payload_type", need.payload_type}});
    if (!report.notes.empty()) head["notes"] = report.notes;
    return head;
}

Json bar_object(const Row& row, const Bar& bar)
{
    Json object{{"figure", bar.figure},
                {"relation", relations[static_cast<std::size_t>(bar.relation)]},
                {"limit", bar.limit}};
    const auto outcome = reached(row, bar);
    object["reached"] = outcome ? Json(*outcome) : Json(nullptr); // null: not measured
    return object;
}

Json row_object(const std::string& experiment, const Row& row)
{
    Json object;
    object["experiment"] = experiment;
    object["system"] = row.system;
    object["variant"] = row.variant;
    object["direction"] = row.direction;
    object["payload_type"] = row.payload_type;
    object["payload_bytes"] = row.payload_bytes;
    if (!row.side.empty()) object["side"] = row.side;
    if (!row.status.empty()) object["status"] = row.status;
    for (const auto& [name, value] : row.figures)
        object[name] = value;
    if (!row.system_calls.empty()) object["syscalls_by_name"] = row.system_calls;
    for (const Bar& bar : row.bars)
        object["bars"].push_back(bar_object(row, bar));
    return object;
}

std::string text_of(const Json& object, const char* member) { return object.value(member, ""); }

Host host_of(const Json& head)
{
    return {.kairos = text_of(head, "kairos"),
            .name = text_of(head, "host"),
            .kernel = text_of(head, "kernel"),
            .machine = text_of(head, "machine"),
            .cpu = text_of(head, "cpu"),
            .cpus = head.value("cpus", 0u),
            .compiler = text_of(head, "compiler"),
            .build = text_of(head, "build"),
            .date = text_of(head, "date")};
}

Bar bar_of(const Json& object)
{
    const auto found = std::ranges::find(relations, text_of(object, "relation"));
    const auto relation = std::min<std::size_t>(static_cast<std::size_t>(found - relations.begin()),
                                                relations.size() - 1);
    return {.figure = text_of(object, "figure"),
            .relation = static_cast<Bar::Relation>(relation),
            .limit = object.at("limit").get<double>()};
}

Row row_of(const Json& object)
{
    Row row;
    row.system = text_of(object, "system");
    row.variant = text_of(object, "variant");
    row.direction = text_of(object, "direction");
    row.payload_type = text_of(object, "payload_type");
    row.payload_bytes = object.value("payload_bytes", std::uint64_t{0});
    row.side = text_of(object, "side");
    row.status = text_of(object, "status");
    for (const auto& [name, value] : object.items())
        if (value.is_number() && std::ranges::find(row_members, name) == row_members.end())
            row.set(name, value.get<double>());
    if (object.contains("syscalls_by_name"))
        row.system_calls = object["syscalls_by_name"].get<std::map<std::string, double>>();
    if (object.contains("bars"))
        for (const Json& bar : object["bars"])
            row.bars.push_back(bar_of(bar));
    return row;
}

/// Files that do not say which figures are shown show all of them.
std::vector<Column> columns_of_rows(const std::vector<Row>& rows)
{
    std::vector<Column> columns;
    for (const Row& row : rows)
        for (const auto& [name, value] : row.figures)
            if (std::ranges::find(columns, name, &Column::figure) == columns.end())
                columns.push_back({.figure = name, .title = name});
    return columns;
}

/// May throw what the JSON library throws of members that are of another type.
StoredReport report_of(const Json& array)
{
    const Json& head = array.at(0);
    StoredReport stored{.name = {}, .host = host_of(head), .report = {}};
    Report& report = stored.report;
    report.experiment = head.at("experiment").get<std::string>();
    report.title = text_of(head, "title");
    report.notes = head.value("notes", std::vector<std::string>{});
    for (std::size_t i = 1; i < array.size(); ++i)
        report.rows.push_back(row_of(array[i]));
    if (head.contains("needs"))
        for (const Json& need : head["needs"])
            report.needs.push_back({text_of(need, "figure"), text_of(need, "payload_type")});
    if (!head.contains("columns")) {
        report.columns = columns_of_rows(report.rows);
        return stored;
    }
    for (const Json& column : head["columns"])
        report.columns.push_back({text_of(column, "figure"), text_of(column, "title"),
                                  std::clamp(column.value("decimals", 2), 0, 9)});
    return stored;
}

std::size_t place_of(const std::string& name)
{
    return static_cast<std::size_t>(std::ranges::find(reading_order, name) - reading_order.begin());
}

} // namespace

bool Host::same_place(const Host& other) const
{
    const auto identity = [](const Host& host) {
        return std::tie(host.kairos, host.name, host.kernel, host.machine, host.cpu, host.cpus,
                        host.compiler, host.build);
    };
    return identity(*this) == identity(other);
}

Host this_host()
{
    utsname system{};
    uname(&system);
    return {.kairos = KAIROS_VERSION,
            .name = system.nodename,
            .kernel = fmt::format("{} {}", system.sysname, system.release),
            .machine = system.machine,
            .cpu = cpu_model(),
            .cpus = static_cast<unsigned>(usable_cpus().size()),
            .compiler = compiler(),
            .build = KAIROS_BUILD_TYPE,
            .date = utc_now()};
}

Json to_json(const Report& report)
{
    Json array = Json::array();
    array.push_back(head_object(report));
    for (const Row& row : report.rows)
        array.push_back(row_object(report.experiment, row));
    return array;
}

Result<void> write_json(const Report& report, const std::string& path)
{
    // One row a line: readable, and differences between runs stay small.
    std::string text = "[\n";
    const Json array = to_json(report);
    for (std::size_t i = 0; i < array.size(); ++i)
        text += array[i].dump(-1, ' ', false, Json::error_handler_t::replace) +
                (i + 1 < array.size() ? ",\n" : "\n");
    return write_file(path, text + "]\n");
}

Result<StoredReport> read_report(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::not_found, fmt::format("{} cannot be read", path)};
    try {
        StoredReport stored = report_of(Json::parse(file));
        stored.name = std::filesystem::path(path).stem();
        return stored;
    } catch (const Json::exception& wrong) {
        return Error{ErrorCode::malformed,
                     fmt::format("{} is no report of an experiment: {}", path, wrong.what())};
    }
}

Result<std::vector<StoredReport>> read_reports(const std::string& folder)
{
    std::error_code failure;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
        if (entry.path().extension() == ".json") paths.push_back(entry.path());
    if (paths.empty())
        return Error{ErrorCode::not_found,
                     fmt::format("{}: no experiment has left a report there", folder)};
    std::vector<StoredReport> reports;
    for (const std::string& path : paths) {
        auto stored = read_report(path);
        if (!stored) return stored.error();
        reports.push_back(std::move(*stored));
    }
    std::ranges::sort(reports, {}, [](const StoredReport& stored) {
        return std::pair(place_of(stored.name), stored.name);
    });
    return reports;
}

} // namespace kairos::bench
