// SPDX-License-Identifier: Apache-2.0
//
// The TOML form of task sets. Everything that is wrong with a file is reported at once, each with
// its place.
#include "kairos/files/toml_dots.h"
#include "kairos/sched/time_text.h"
#include "tools/kairos/sched_input.h"

#include <fstream>
#include <functional>
#include <toml++/toml.h>
#include <utility>

namespace kairos::tools {
namespace {

using sched::RtInfo;
using sched::Time;

/// Larger ones are not what somebody wrote, or have no end.
constexpr std::size_t octets_max = std::size_t{16} << 20;

/// A call that is resolved when all operations are known.
struct PendingCall {
    sched::OperationIndex caller;
    std::string callee;
    sched::Dependency dependency;
    toml::source_region source;
};

class TaskFile {
  public:
    TaskFile(const std::string& path, std::string& errors) : path_(path), errors_(errors) {}

    std::optional<SchedInput> read(const toml::table& root)
    {
        for (const auto& [key, node] : root)
            read_setting(key, node);
        for (const PendingCall& call : calls_)
            connect(call);
        if (failed_) return std::nullopt;
        return std::move(input_);
    }

    void error(const toml::source_region& where, const std::string& what)
    {
        errors_ += place(where) + ": error: " + what + '\n';
        failed_ = true;
    }

  private:
    [[nodiscard]] std::string place(const toml::source_region& where) const
    {
        return path_ + ':' + std::to_string(where.begin.line) + ':' +
               std::to_string(where.begin.column);
    }

    void read_setting(const toml::key& key, const toml::node& node)
    {
        if (key == "policy") {
            input_.policy = named(node, sched::policy_named, "rms, dms, edf, muf or llf");
        } else if (key == "priorities") {
            const auto text = node.value_exact<std::string>();
            input_.priorities = text ? parse_priorities(*text) : std::nullopt;
            if (!input_.priorities || input_.priorities->lowest > input_.priorities->highest)
                error(node.source(), R"(expected "lowest-highest", such as "1-99")");
        } else if (key == "operation" && node.is_array_of_tables()) {
            for (const toml::node& one : *node.as_array())
                read_operation(*one.as_table());
        } else if (key == "operation") {
            error(node.source(), "operations are written [[operation]]");
        } else {
            error(key.source(), "unknown key '" + std::string(key.str()) + "'");
        }
    }

    template <typename Named>
    auto named(const toml::node& node, Named by_name, const std::string& choices)
        -> decltype(by_name(std::string_view()))
    {
        const auto text = node.value_exact<std::string>();
        auto result = text ? by_name(std::string_view(*text)) : std::nullopt;
        if (!result) error(node.source(), "expected \"" + choices + "\"");
        return result;
    }

    void read_operation(const toml::table& table)
    {
        const toml::node* name = table.get("name");
        if (name == nullptr || !name->is_string())
            return error(table.source(), "an operation needs a name = \"…\"");
        RtInfo info{.name = *name->value_exact<std::string>()};
        std::vector<PendingCall> calls;
        for (const auto& [key, node] : table)
            read_property(key, node, info, calls);
        const auto index = input_.set.add(std::move(info));
        if (!index) return error(name->source(), index.error().reason);
        input_.places.push_back(place(name->source()));
        for (PendingCall& call : calls) {
            call.caller = *index;
            calls_.push_back(std::move(call));
        }
    }

    void read_property(const toml::key& key, const toml::node& node, RtInfo& info,
                       std::vector<PendingCall>& calls)
    {
        constexpr std::array<std::pair<std::string_view, Time RtInfo::*>, 6> times{{
            {"wcet", &RtInfo::worst_case_time},
            {"typical", &RtInfo::typical_time},
            {"cached", &RtInfo::cached_time},
            {"deadline", &RtInfo::deadline},
            {"blocking", &RtInfo::blocking},
            {"quantum", &RtInfo::quantum},
        }};
        constexpr const char* levels = "very_low, low, medium, high or very_high";
        for (const auto& [name, field] : times)
            if (key == name) {
                info.*field = time_of(node, sched::parse_time);
                return;
            }
        if (key == "name") return;
        if (key == "period") {
            info.period = time_of(node, sched::parse_period);
        } else if (key == "criticality") {
            info.criticality =
                named(node, sched::criticality_named, levels).value_or(sched::Criticality::medium);
        } else if (key == "importance") {
            info.importance =
                named(node, sched::importance_named, levels).value_or(sched::Importance::medium);
        } else if (key == "threads") {
            info.threads = count_of(node, sched::threads_max);
        } else if (key == "calls") {
            read_calls(node, calls);
        } else {
            error(key.source(), "unknown key '" + std::string(key.str()) + "' of an operation");
        }
    }

    Time time_of(const toml::node& node, Result<Time> (*parse)(std::string_view))
    {
        const auto text = node.value_exact<std::string>();
        if (!text) {
            error(node.source(), "expected a time as a string, such as \"50 ms\"");
            return Time(0);
        }
        const auto time = parse(*text);
        if (!time) error(node.source(), time.error().reason);
        return time ? *time : Time(0);
    }

    std::uint32_t count_of(const toml::node& node, std::uint32_t most)
    {
        const auto count = node.value_exact<std::int64_t>();
        if (count && *count >= 1 && *count <= most) return static_cast<std::uint32_t>(*count);
        error(node.source(), "expected a number of 1 to " + std::to_string(most));
        return 1;
    }

    void read_calls(const toml::node& node, std::vector<PendingCall>& calls)
    {
        if (!node.is_array()) return error(node.source(), "calls are an array: [\"name\", …]");
        for (const toml::node& one : *node.as_array()) {
            PendingCall call{.caller = 0, .callee = {}, .dependency = {}, .source = one.source()};
            if (const auto name = one.value_exact<std::string>())
                call.callee = *name;
            else if (const toml::table* table = one.as_table())
                read_call(*table, call);
            else
                error(one.source(), "a call is a name, or a table with operation = \"name\"");
            if (!call.callee.empty()) calls.push_back(std::move(call));
        }
    }

    void read_call(const toml::table& table, PendingCall& call)
    {
        const auto kind_named = [](std::string_view text) -> std::optional<sched::CallKind> {
            if (text == "oneway") return sched::CallKind::one_way;
            if (text == "twoway") return sched::CallKind::two_way;
            return std::nullopt;
        };
        call.callee = table["operation"].value_or(std::string());
        if (call.callee.empty()) error(table.source(), "a call needs an operation = \"name\"");
        for (const auto& [key, node] : table) {
            if (key == "count")
                call.dependency.calls = count_of(node, sched::calls_max);
            else if (key == "kind")
                call.dependency.kind =
                    named(node, kind_named, "oneway or twoway").value_or(sched::CallKind::two_way);
            else if (key != "operation")
                error(key.source(), "unknown key '" + std::string(key.str()) + "' of a call");
        }
    }

    void connect(const PendingCall& call)
    {
        const auto callee = input_.set.find(call.callee);
        if (!callee)
            return error(call.source, "there is no operation '" + call.callee + "' to call");
        sched::Dependency dependency = call.dependency;
        dependency.callee = *callee;
        const auto added = input_.set.add_dependency(call.caller, dependency);
        if (!added) error(call.source, added.error().reason);
    }

    const std::string& path_;
    std::string& errors_;
    SchedInput input_;
    std::vector<PendingCall> calls_;
    bool failed_ = false;
};

} // namespace

std::optional<SchedInput> parse_tasks(const std::string& text, const std::string& path,
                                      std::string& errors)
{
    // The parser's tables are as deep as keys have dots, and it takes them apart by recursion.
    if (const std::size_t line = files::line_with_too_many_dots(text); line != 0) {
        errors += path + ':' + std::to_string(line) + ":1: error: too many dotted keys\n";
        return std::nullopt;
    }
    TaskFile tasks(path, errors);
    try {
        return tasks.read(toml::parse(text, path));
    } catch (const toml::parse_error& failure) {
        tasks.error(failure.source(), std::string(failure.description()));
        return std::nullopt;
    }
}

std::optional<SchedInput> read_tasks(const std::string& path, std::string& errors)
{
    std::ifstream file(path, std::ios::binary);
    std::string text(octets_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad() || text.size() > octets_max) {
        errors = path + (text.size() > octets_max ? ": error: is larger than 16 MiB\n"
                                                  : ": error: cannot be read\n");
        return std::nullopt;
    }
    return parse_tasks(text, path, errors);
}

} // namespace kairos::tools
