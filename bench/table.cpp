// SPDX-License-Identifier: Apache-2.0
//
// The table of a report, for people.
#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

std::string bar_text(const Report& report, const Row& row)
{
    std::string text;
    for (const Bar& bar : row.bars) {
        const auto outcome = reached(row, bar);
        text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", title_of(report, bar.figure),
                            limit_text(bar),
                            !outcome   ? "not measured"
                            : *outcome ? "pass"
                                       : "MISS");
    }
    return text;
}

TextColumn figure_column(const Report& report, const Column& column)
{
    TextColumn text{.title = column.title, .right = true, .cells = {}};
    for (const Row& row : report.rows) {
        const auto value = row.figure(column.figure);
        text.cells.push_back(value ? grouped(*value, column.decimals) : "");
    }
    return text;
}

/// "a, b, c" → its parts.
std::vector<std::string> parts_of(const std::string& variant)
{
    std::vector<std::string> parts;
    for (std::size_t start = 0; start < variant.size();) {
        const std::size_t end = std::min(variant.find(", ", start), variant.size());
        parts.push_back(variant.substr(start, end - start));
        start = end + 2;
    }
    return parts;
}

/// The choices that all rows share, which need not be repeated in each.
std::vector<std::string> common_parts(const Report& report)
{
    if (report.rows.empty()) return {};
    std::vector<std::string> common = parts_of(report.rows[0].variant);
    for (const Row& row : report.rows)
        std::erase_if(common, [parts = parts_of(row.variant)](const std::string& part) {
            return std::find(parts.begin(), parts.end(), part) == parts.end();
        });
    return common;
}

std::string without(const std::string& variant, const std::vector<std::string>& common)
{
    std::string rest;
    for (const std::string& part : parts_of(variant))
        if (std::find(common.begin(), common.end(), part) == common.end())
            rest += (rest.empty() ? "" : ", ") + part;
    return rest;
}

std::vector<TextColumn> all_columns(const Report& report, const std::vector<std::string>& common)
{
    std::vector<TextColumn> all{{"system"},  {"variant"},     {"direction"},
                                {"payload"}, {"bytes", true}, {"side"}};
    for (const Row& row : report.rows) {
        all[0].cells.push_back(row.system);
        all[1].cells.push_back(without(row.variant, common));
        all[2].cells.push_back(row.direction);
        all[3].cells.push_back(row.payload_type);
        const bool sends =
            !row.payload_type.empty() && row.payload_type != "null" && row.payload_bytes > 0;
        all[4].cells.push_back(sends ? grouped(static_cast<double>(row.payload_bytes), 0) : "");
        all[5].cells.push_back(row.side);
    }
    for (const Column& column : report.columns)
        all.push_back(figure_column(report, column));
    TextColumn bars{"bar"};
    for (const Row& row : report.rows)
        bars.cells.push_back(row.status.empty() ? bar_text(report, row) : row.status);
    all.push_back(std::move(bars));
    return all;
}

bool empty_throughout(const TextColumn& column)
{
    return std::all_of(column.cells.begin(), column.cells.end(),
                       [](const std::string& cell) { return cell.empty(); });
}

} // namespace

std::size_t width_of(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string padded(const std::string& text, std::size_t width, bool right)
{
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return right ? space + text : text + space;
}

std::string grouped(double value, int decimals)
{
    // A difference that rounds to nothing has no sign.
    if (std::abs(value) * std::pow(10, decimals) < 0.5) value = 0;
    std::string text = fmt::format("{:.{}f}", value, decimals);
    const std::size_t end = std::min(text.find('.'), text.size());
    for (std::size_t at = end; at > 3 + (text[0] == '-' ? 1u : 0u); at -= 3)
        text.insert(at - 3, 1, ',');
    return text;
}

std::string limit_text(const Bar& bar)
{
    constexpr const char* signs[] = {"≤", "≥", "<"};
    return fmt::format("{} {}", signs[static_cast<int>(bar.relation)],
                       grouped(bar.limit, bar.limit == std::floor(bar.limit) ? 0 : 2));
}

std::string title_of(const Report& report, const std::string& figure)
{
    for (const Column& column : report.columns)
        if (column.figure == figure) return column.title;
    return figure;
}

Table table_of(const Report& report)
{
    Table table{.common = common_parts(report), .columns = {}};
    table.columns = all_columns(report, table.common);
    std::erase_if(table.columns, empty_throughout);
    return table;
}

std::string render_table(const Report& report)
{
    const Table table = table_of(report);
    std::string text = report.experiment;
    for (const std::string& part : table.common)
        text += ", " + part;
    text += "\n\n";
    const auto add_line = [&text](std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    std::vector<std::size_t> widths;
    std::string header;
    std::string rule;
    for (const TextColumn& column : table.columns) {
        std::size_t width = width_of(column.title);
        for (const std::string& cell : column.cells)
            width = std::max(width, width_of(cell));
        widths.push_back(width);
        header += padded(column.title, width, column.right) + "  ";
        rule += std::string(width, '-') + "  ";
    }
    add_line(header);
    add_line(rule);
    for (std::size_t row = 0; row < report.rows.size(); ++row) {
        std::string line;
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            line += padded(table.columns[i].cells[row], widths[i], table.columns[i].right) + "  ";
        add_line(line);
    }
    for (const std::string& note : report.notes)
        add_line(note);
    return text;
}

} // namespace kairos::bench
