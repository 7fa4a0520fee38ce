// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include "bench/process.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

namespace kairos::bench {
namespace {

using Json = nlohmann::ordered_json;

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

Json host_object(const Report& report)
{
    utsname system{};
    uname(&system);
    Json host;
    host["experiment"] = report.experiment;
    host["host"] = system.nodename;
    host["kernel"] = fmt::format("{} {}", system.sysname, system.release);
    host["machine"] = system.machine;
    host["cpu"] = cpu_model();
    host["cpus"] = usable_cpus().size();
    host["compiler"] = compiler();
    host["build"] = KAIROS_BUILD_TYPE;
    host["kairos"] = KAIROS_VERSION;
    host["date"] = utc_now();
    return host;
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
    for (const Bar& bar : row.bars) {
        const auto outcome = reached(row, bar);
        if (!outcome) continue;
        constexpr const char* relations[] = {"at most", "at least", "below"};
        object["bars"].push_back({{"figure", bar.figure},
                                  {"relation", relations[static_cast<int>(bar.relation)]},
                                  {"limit", bar.limit},
                                  {"reached", *outcome}});
    }
    return object;
}

} // namespace

std::optional<double> Row::figure(std::string_view name) const
{
    for (const auto& [candidate, value] : figures)
        if (candidate == name) return value;
    return std::nullopt;
}

void Row::set(std::string name, double value)
{
    for (auto& [candidate, old] : figures)
        if (candidate == name) {
            old = value;
            return;
        }
    figures.emplace_back(std::move(name), value);
}

std::optional<bool> reached(const Row& row, const Bar& bar)
{
    const auto value = row.figure(bar.figure);
    if (!value) return std::nullopt;
    const double shown = std::round(*value * 100) / 100;
    switch (bar.relation) {
    case Bar::Relation::at_most:
        return shown <= bar.limit;
    case Bar::Relation::at_least:
        return shown >= bar.limit;
    case Bar::Relation::below:
        return shown < bar.limit;
    }
    return std::nullopt;
}

std::size_t missed_bars(const Report& report)
{
    std::size_t missed = 0;
    for (const Row& row : report.rows)
        for (const Bar& bar : row.bars)
            if (!reached(row, bar).value_or(true)) ++missed;
    return missed;
}

Json to_json(const Report& report)
{
    Json array = Json::array();
    array.push_back(host_object(report));
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

Result<void> write_file(const std::string& path, std::string_view text)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (file) return {};
    return Error{ErrorCode::system,
                 fmt::format("{} cannot be written: {}", path, strerrordesc_np(errno)), errno};
}

} // namespace kairos::bench
