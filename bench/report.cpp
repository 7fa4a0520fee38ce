// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

namespace kairos::bench {
namespace {

/// Which row it is, for people.
std::string name_of(const Row& row)
{
    std::string name = row.system;
    const auto add = [&name](const std::string& part) {
        if (!part.empty()) name += ", " + part;
    };
    add(row.variant);
    add(row.direction);
    add(row.payload_type);
    if (row.payload_bytes > 0) add(grouped(static_cast<double>(row.payload_bytes), 0) + " bytes");
    add(row.side);
    return name;
}

bool meets(const Report& report, const Need& need)
{
    return std::ranges::any_of(report.rows, [&need](const Row& row) {
        if (!need.payload_type.empty() && row.payload_type != need.payload_type) return false;
        return std::ranges::find(row.bars, need.figure, &Bar::figure) != row.bars.end();
    });
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
    if (!value || !std::isfinite(*value)) return std::nullopt;
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

Verdict judge(const Report& report)
{
    Verdict verdict;
    for (const Row& row : report.rows) {
        if (row.system == "kairos" && !row.status.empty())
            verdict.absent.push_back(fmt::format("{}: {}", name_of(row), row.status));
        for (const Bar& bar : row.bars) {
            const auto outcome = reached(row, bar);
            const std::string title = title_of(report, bar.figure);
            // The figure first: who has little room cuts the end off.
            if (!outcome)
                verdict.absent.push_back(
                    fmt::format("{}, bar {}: {}", title, limit_text(bar), name_of(row)));
            else if (*outcome)
                ++verdict.reached;
            else
                verdict.missed.push_back(fmt::format("{} {}, bar {}: {}", title,
                                                     grouped(*row.figure(bar.figure), 2),
                                                     limit_text(bar), name_of(row)));
        }
    }
    for (const Need& need : report.needs)
        if (!meets(report, need))
            verdict.absent.push_back(
                fmt::format("{}{}", title_of(report, need.figure),
                            need.payload_type.empty() ? "" : " (" + need.payload_type + ")"));
    return verdict;
}

std::string in_words(const Verdict& verdict)
{
    std::string text =
        fmt::format("{} bar{} reached", verdict.reached, verdict.reached == 1 ? "" : "s");
    if (!verdict.missed.empty()) text += fmt::format(", {} missed", verdict.missed.size());
    if (!verdict.absent.empty()) text += fmt::format(", {} not measured", verdict.absent.size());
    return text;
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
