// SPDX-License-Identifier: Apache-2.0
#include "kairos/logs/record_search.h"

#include "kairos/base/log.h"
#include "kairos/codec/octets.h"
#include "kairos/constraints/evaluator.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <string_view>

namespace kairos::logs {
namespace {

using constraints::Term;

/// What is read at once while a log is looked through.
constexpr std::size_t read_count_max = 256;
constexpr std::size_t read_octets_max = std::size_t{1} << 20;
constexpr std::size_t read_numbers_max = 10'000;

/// Throws MARSHAL where nobody wrote it like this.
template <typename T>
void decode(const std::string& octets, T& value, CORBA::ORB_ptr orb)
{
    if (octets.empty()) return;
    const Bytes bytes(reinterpret_cast<const std::byte*>(octets.data()), octets.size());
    CORBA::Boolean little_endian = false;
    codec::OctetReader(bytes, bytes[0] == std::byte{1}, orb).get(little_endian).get(value);
}

void say_damaged(const Log& log, const Row& row)
{
    log::error("log service: record " + std::to_string(row.number) + " of log " +
               std::to_string(id_of(log.key())) + " is not as it was written");
}

/// A name and its value.
class PairStructure final : public constraints::Structure {
  public:
    explicit PairStructure(const DsLogAdmin::NVPair& pair) : pair_(pair) {}
    Term member(std::string_view name) const override
    {
        return name == "name" ? member_at(0) : name == "value" ? member_at(1) : Term();
    }
    Term member_at(std::size_t position) const override
    {
        if (position == 0) return Term(pair_.name.in());
        return position == 1 ? Term(pair_.value) : Term();
    }
    std::string_view type_name() const override { return "NVPair"; }
    std::string_view repository_id() const override { return "IDL:omg.org/DsLogAdmin/NVPair:1.0"; }

  private:
    const DsLogAdmin::NVPair& pair_;
};

/// A record's attributes, decoded when a constraint asks for them.
class AttributesStructure final : public constraints::Structure {
  public:
    AttributesStructure(const Row& row, CORBA::ORB_ptr orb) { decode(row.attributes, list_, orb); }
    std::optional<std::size_t> length() const override { return list_.length(); }
    Term element(std::size_t index) const override
    {
        return Term(pairs_.emplace_back(list_[static_cast<CORBA::ULong>(index)]));
    }
    Term named(std::string_view name) const override
    {
        for (CORBA::ULong i = 0; i < list_.length(); ++i)
            if (name == list_[i].name.in()) return Term(list_[i].value);
        return {};
    }

  private:
    DsLogAdmin::NVList list_;
    mutable std::deque<PairStructure> pairs_; // those that were asked for
};

class RecordStructure final : public constraints::Structure {
  public:
    RecordStructure(const Row& row, CORBA::ORB_ptr orb) : row_(row), orb_(orb) {}
    Term member(std::string_view name) const override
    {
        if (name == "id") return member_at(0);
        if (name == "time") return member_at(1);
        if (name == "attr_list") return member_at(2);
        return name == "info" ? member_at(3) : Term();
    }
    Term member_at(std::size_t position) const override
    {
        switch (position) {
        case 0:
            return Term(row_.number);
        case 1:
            return Term(row_.time);
        case 2:
            if (!attributes_) attributes_.emplace(row_, orb_);
            return Term(*attributes_);
        case 3:
            if (!info_) decode(row_.info, info_.emplace(), orb_);
            return Term(*info_);
        default:
            return {};
        }
    }
    std::string_view type_name() const override { return "LogRecord"; }
    std::string_view repository_id() const override
    {
        return "IDL:omg.org/DsLogAdmin/LogRecord:1.0";
    }

  private:
    const Row& row_;
    const CORBA::ORB_ptr orb_;
    mutable std::optional<AttributesStructure> attributes_;
    mutable std::optional<CORBA::Any> info_;
};

class RecordSubject final : public constraints::Subject {
  public:
    RecordSubject(const Row& row, CORBA::ORB_ptr orb) : record_(row, orb) {}
    Term find(std::string_view name) const override { return record_.member(name); }
    Term event() const override { return Term(record_); }

  private:
    const RecordStructure record_;
};

void check_time(std::chrono::steady_clock::time_point end)
{
    if (std::chrono::steady_clock::now() > end)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                  "looking through the log takes longer than it may");
}

/// Calls `take` with each record that fulfils the constraint.
template <typename Take>
void look_through(Log& log, const constraints::Constraint& constraint, Take&& take)
{
    const Surroundings& around = *log.surroundings();
    const auto end = std::chrono::steady_clock::now() + around.limits.query_time_max;
    const std::uint64_t next = log.state().counts.next; // what comes later is not looked at
    constraints::Evaluator evaluator(around.limits.work_max);
    Span span{.from = 0,
              .is_backwards = false,
              .count_max = read_count_max,
              .octets_max = read_octets_max};
    for (std::vector<RowPtr> rows = log.read(span); !rows.empty(); rows = log.read(span)) {
        for (const RowPtr& row : rows) {
            if (row->number >= next) return;
            const RecordSubject subject(*row, around.orb.in());
            evaluator.look_at(subject);
            bool is_found = false;
            try {
                is_found = static_cast<bool>(evaluator.evaluate(constraint));
            } catch (const CORBA::SystemException&) { // of what it decodes
                say_damaged(log, *row);
            }
            if (is_found) take(row);
        }
        span.from = rows.back()->number + 1;
        check_time(end);
    }
}

/// Before one more is found than these.
void check_found(std::size_t count, const ServiceLimits& limits)
{
    if (count >= limits.found_max)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                  "more records were found than one search may find");
}

} // namespace

constraints::Constraint parse_query(const char* grammar, const char* text,
                                    const ServiceLimits& limits)
{
    const std::string_view name = grammar;
    if (name != DsLogAdmin::default_grammar && name != "ETCL") throw DsLogAdmin::InvalidGrammar();
    auto constraint = constraints::Constraint::parse(text, constraints::Language::extended,
                                                     {.size_max = limits.constraint_octets_max});
    if (!constraint) throw DsLogAdmin::InvalidConstraint();
    return *constraint;
}

Numbers search(Log& log, const constraints::Constraint& constraint, std::vector<RowPtr>* rows)
{
    const ServiceLimits& limits = log.surroundings()->limits;
    Numbers numbers;
    std::size_t octets = 0;
    bool has_room = rows != nullptr;
    look_through(log, constraint, [&](const RowPtr& row) {
        check_found(numbers.size(), limits);
        numbers.push_back(row->number);
        octets += row->octets();
        has_room = has_room && rows->size() < limits.reply_count_max &&
                   (rows->empty() || octets <= limits.reply_octets_max);
        if (has_room) rows->push_back(row);
    });
    return numbers;
}

std::size_t count(Log& log, const constraints::Constraint& constraint)
{
    std::size_t count = 0;
    look_through(log, constraint, [&](const RowPtr& /*row*/) { ++count; });
    return count;
}

Numbers retrieve(Log& log, std::uint64_t from, std::int32_t how_many)
{
    const ServiceLimits& limits = log.surroundings()->limits;
    const bool is_backwards = how_many < 0;
    std::size_t left = static_cast<std::size_t>(is_backwards ? -std::int64_t{how_many} : how_many);
    Numbers numbers;
    // The last one that is not later, which is the one before the first that is.
    const bool is_last = from == ~std::uint64_t{0};
    const std::optional<std::uint64_t> first =
        is_backwards && is_last ? std::nullopt : log.first_at(is_backwards ? from + 1 : from);
    if (!is_backwards && !first) return numbers;
    Span span{.from = is_backwards ? (first ? *first - 1 : log.state().counts.next) : *first,
              .is_backwards = is_backwards,
              .count_max = 0,
              .octets_max = 0};
    const auto end = std::chrono::steady_clock::now() + limits.query_time_max;
    while (left != 0) {
        check_time(end);
        const std::size_t before = numbers.size();
        span.count_max = std::min({left, read_numbers_max, limits.found_max - before + 1});
        log.read_numbers(span, numbers);
        if (numbers.size() == before) break;
        check_found(numbers.size() - 1, limits);
        left -= numbers.size() - before;
        const std::uint64_t last = numbers.back();
        if (is_backwards && last == 0) break;
        span.from = is_backwards ? last - 1 : last + 1;
    }
    return numbers;
}

namespace {

/// How many numbers from `place` on follow each other, of so many.
std::size_t run_from(const Numbers& numbers, std::size_t place, std::size_t most, bool is_backwards)
{
    const std::uint64_t first = numbers[place];
    std::size_t run = 1;
    while (run < most && numbers[place + run] == (is_backwards ? first - run : first + run))
        ++run;
    return run;
}

/// Returns false if the row is damaged.
bool show(const Log& log, const Row& row, DsLogAdmin::LogRecord& record)
{
    record.id = row.number;
    record.time = row.time;
    record.attr_list.length(0); // of a damaged one before
    record.info = CORBA::Any();
    CORBA::ORB_ptr const orb = log.surroundings()->orb.in();
    try {
        decode(row.attributes, record.attr_list, orb);
        decode(row.info, record.info, orb);
        return true;
    } catch (const CORBA::SystemException&) {
        say_damaged(log, row);
        return false;
    }
}

} // namespace

DsLogAdmin::RecordList* records(Log& log, Numbers& numbers, std::size_t position,
                                std::size_t how_many, const std::vector<RowPtr>& rows)
{
    const Surroundings& around = *log.surroundings();
    const auto end = std::chrono::steady_clock::now() + around.limits.query_time_max;
    const bool is_backwards = numbers.size() > 1 && numbers[0] > numbers[1];
    const auto is_before = [is_backwards](std::uint64_t a, std::uint64_t b) {
        return is_backwards ? a > b : a < b;
    };
    const std::size_t count =
        std::min({numbers.size() - position, how_many, around.limits.reply_count_max});
    DsLogAdmin::RecordList_var list = new DsLogAdmin::RecordList;
    list->length(static_cast<CORBA::ULong>(count));
    std::size_t octets = 0;
    CORBA::ULong filled = 0;
    std::size_t place = position; // numbers[position + filled] to numbers[place] are gone
    const auto take_out_gone = [&] {
        const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(position + filled);
        numbers.erase(begin, numbers.begin() + static_cast<std::ptrdiff_t>(place));
        place = position + filled;
    };
    /// False: the reply is full.
    const auto take = [&](const RowPtr& row) {
        octets += row->octets();
        if (filled != 0 && octets > around.limits.reply_octets_max) return false;
        ++place;
        if (show(log, *row, list[filled])) numbers[position + filled++] = row->number;
        return filled < count;
    };
    bool has_room = count != 0;
    while (has_room && place < rows.size())
        has_room = take(rows[place]);
    while (has_room && place < numbers.size()) {
        if (std::chrono::steady_clock::now() > end) {
            take_out_gone(); // who calls again goes on from there
            if (filled != 0) break;
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                      "so many records are gone that it takes too long");
        }
        // Those that follow each other are read at once.
        const std::size_t run_max =
            std::min({numbers.size() - place, count - filled, read_count_max});
        std::vector<RowPtr> read;
        try {
            read = log.read({.from = numbers[place],
                             .is_backwards = is_backwards,
                             .count_max = run_from(numbers, place, run_max, is_backwards),
                             .octets_max = read_octets_max});
        } catch (...) {
            take_out_gone();
            throw;
        }
        if (read.empty()) place = numbers.size();
        for (const RowPtr& row : read) {
            while (place < numbers.size() && is_before(numbers[place], row->number))
                ++place;
            if (place == numbers.size() || numbers[place] != row->number) break; // not asked for
            has_room = take(row);
            if (!has_room) break;
        }
    }
    take_out_gone();
    list->length(filled);
    return list._retn();
}

DsLogAdmin::NVList* attributes_of(Log& log, std::uint64_t number)
{
    (void)log.state();
    const std::vector<RowPtr> rows =
        log.read({.from = number, .is_backwards = false, .count_max = 1, .octets_max = 0});
    if (rows.empty() || rows.front()->number != number) throw DsLogAdmin::InvalidRecordId();
    DsLogAdmin::NVList_var list = new DsLogAdmin::NVList;
    decode(rows.front()->attributes, list.inout(), log.surroundings()->orb.in());
    return list._retn();
}

} // namespace kairos::logs
