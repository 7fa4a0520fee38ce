// SPDX-License-Identifier: Apache-2.0
//
// The table of a report, for people.
#include "bench/report.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

struct TextColumn {
    std::string title;
    bool right = false;
    std::vector<std::string> cells = {};
};

/// Columns on a terminal: code points, not bytes ("µs" is two, not three).
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

/// 1234567.8 → 1,234,567.8
std::string grouped(double value, int decimals)
{
    std::string text = fmt::format("{:.{}f}", value, decimals);
    const std::size_t end = std::min(text.find('.'), text.size());
    for (std::size_t at = end; at > 3 + (text[0] == '-' ? 1u : 0u); at -= 3)
        text.insert(at - 3, 1, ',');
    return text;
}

const Column* column_of(const std::vector<Column>& columns, const std::string& figure)
{
    for (const Column& column : columns)
        if (column.figure == figure) return &column;
    return nullptr;
}

std::string bar_text(const Row& row, const std::vector<Column>& columns)
{
    constexpr const char* signs[] = {"≤", "≥", "<"};
    std::string text;
    for (const Bar& bar : row.bars) {
        const auto outcome = reached(row, bar);
        if (!outcome) continue;
        const Column* column = column_of(columns, bar.figure);
        if (!text.empty()) text += "; ";
        text += fmt::format("{} {} {}: {}", column != nullptr ? column->title : bar.figure,
                            signs[static_cast<int>(bar.relation)],
                            grouped(bar.limit, bar.limit == static_cast<int>(bar.limit) ? 0 : 2),
                            *outcome ? "pass" : "MISS");
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

std::vector<TextColumn> all_columns(const Report& report, const std::vector<Column>& columns)
{
    std::vector<TextColumn> all{{"system"},  {"variant"},     {"direction"},
                                {"payload"}, {"bytes", true}, {"side"}};
    for (const Row& row : report.rows) {
        all[0].cells.push_back(row.system);
        all[1].cells.push_back(row.variant);
        all[2].cells.push_back(row.direction);
        all[3].cells.push_back(row.payload_type);
        all[4].cells.push_back(grouped(static_cast<double>(row.payload_bytes), 0));
        all[5].cells.push_back(row.side);
    }
    for (const Column& column : columns)
        all.push_back(figure_column(report, column));
    TextColumn bars{"bar"};
    for (const Row& row : report.rows)
        bars.cells.push_back(row.status.empty() ? bar_text(row, columns) : row.status);
    all.push_back(std::move(bars));
    return all;
}

bool empty_throughout(const TextColumn& column)
{
    return std::all_of(column.cells.begin(), column.cells.end(),
                       [](const std::string& cell) { return cell.empty(); });
}

} // namespace

std::string render_table(const Report& report, const std::vector<Column>& columns)
{
    std::vector<TextColumn> shown = all_columns(report, columns);
    std::erase_if(shown, empty_throughout);
    std::string text;
    const auto add_line = [&text](std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    std::vector<std::size_t> widths;
    std::string header;
    std::string rule;
    for (const TextColumn& column : shown) {
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
        for (std::size_t i = 0; i < shown.size(); ++i)
            line += padded(shown[i].cells[row], widths[i], shown[i].right) + "  ";
        add_line(line);
    }
    for (const std::string& note : report.notes)
        add_line(note);
    return text;
}

} // namespace kairos::bench
