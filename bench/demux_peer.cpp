// SPDX-License-Identifier: Apache-2.0
//
// The measured program for demultiplexing alone: from the octets of an object key and the name of
// an operation to the operation's function, by the map that adapters use and the tables that
// skeletons use, without messages and without the call. One program for each way of finding
// objects, given as its argument.
#include "bench/demux_peer.h"

#include "bench/marshal_timing.h"
#include "bench/peer.h"
#include "bench/statistics.h"
#include "kairos/corba/hashed_operations.h"
#include "kairos/corba/operation_table.h"
#include "kairos/ior/object_key.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/object_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::bench {
namespace {

constexpr std::uint64_t incarnation = 0x1234567890abcdef;

// --- operations ----------------------------------------------------------------------------------

/// All of the same length, as hard for a search as names can be that differ at all.
std::string operation_name(std::size_t index)
{
    char text[32];
    std::snprintf(text, sizeof text, "send_no_params_%03zu", index);
    return text;
}

/// Live as long as the program, as the literals of a skeleton do.
std::string_view literal_name(std::size_t index)
{
    static std::deque<std::string> names;
    while (names.size() <= index)
        names.push_back(operation_name(names.size()));
    return names[index];
}

template <std::size_t count>
corba::LinearOperations<count> linear_table()
{
    corba::LinearOperations<count> table{};
    for (std::size_t i = 0; i < count; ++i)
        table.names[i] = literal_name(i);
    return table;
}

template <std::size_t... indices>
corba::HashedOperations hashed_table(std::index_sequence<indices...>)
{
    return {literal_name(indices)...};
}

/// Bits with which a multiplier is soon found. One operation is hashed, too, so that all numbers of
/// operations mean the same function; kairos-idl leaves the hash out there, as 0 bits do.
template <std::size_t count>
constexpr unsigned perfect_bits = std::bit_width(count * 4 - 1);

template <std::size_t count>
corba::OperationTable<count, perfect_bits<count>> perfect_table()
{
    corba::OperationTable<count, perfect_bits<count>> table{};
    std::mt19937_64 random(1);
    for (std::size_t placed = 0; placed != count;) {
        table.multiplier = random() | 1;
        std::fill(std::begin(table.slots), std::end(table.slots), std::uint16_t{count});
        for (placed = 0; placed != count; ++placed) {
            table.names[placed] = literal_name(placed);
            std::uint16_t& slot = table.slots[operation_slot(
                operation_digest(literal_name(placed)), table.multiplier, perfect_bits<count>)];
            if (slot != count) break;
            slot = static_cast<std::uint16_t>(placed);
        }
    }
    return table;
}

template <OperationStrategy strategy, std::size_t count>
auto make_table()
{
    if constexpr (strategy == OperationStrategy::linear)
        return linear_table<count>();
    else if constexpr (strategy == OperationStrategy::hash)
        return hashed_table(std::make_index_sequence<count>{});
    else
        return perfect_table<count>();
}

/// The table of a skeleton is one for all its servants.
template <OperationStrategy strategy, std::size_t count>
const auto& table_of()
{
    static const auto table = make_table<strategy, count>();
    return table;
}

// --- objects -------------------------------------------------------------------------------------

class MeasuredServant : public poa::Servant {
  public:
    /// As a skeleton does, but for decoding and calling.
    virtual void demultiplex(std::string_view operation) = 0;

    void _kairos_dispatch(orb::Upcall&) override {}
    [[nodiscard]] bool _kairos_supports(std::string_view) const override { return false; }
    [[nodiscard]] const char* _kairos_id() const override { return ""; }
    void _add_ref() override {}
    void _remove_ref() override {}

    std::uint64_t served = 0;
};

/// An upcall that nobody looks into.
union NoUpcall {
    NoUpcall() {}
    ~NoUpcall() {}
    orb::Upcall upcall;
};
NoUpcall nothing;

template <OperationStrategy strategy, std::size_t count>
class Skeleton final : public MeasuredServant {
  public:
    void demultiplex(std::string_view operation) override
    {
        // A function-local reference, so that the hash table alone pays for being made at run time.
        const std::size_t index = table_of<strategy, count>().find(operation);
        if (index == count) throw std::logic_error("there is no such operation");
        functions[index](*this);
    }

  private:
    template <std::size_t index>
    [[gnu::noinline]] static void serve(Skeleton& skeleton)
    {
        asm volatile("" : : "i"(index)); // each a function of its own
        ++skeleton.served;
    }
    template <std::size_t... indices>
    static constexpr std::array<void (*)(Skeleton&), count>
    all_functions(std::index_sequence<indices...>)
    {
        return {serve<indices>...};
    }
    static constexpr std::array<void (*)(Skeleton&), count> functions =
        all_functions(std::make_index_sequence<count>{});
};

/// Its operations are for others to find.
template <std::size_t count>
class Skeleton<OperationStrategy::delayered, count> final : public MeasuredServant {
  public:
    void demultiplex(std::string_view) override {}
    [[nodiscard]] poa::Skeleton _kairos_skeleton() noexcept override
    {
        return {&table().operations, this};
    }

  private:
    /// Lasts as long as the program, as a skeleton's does.
    struct Table {
        Table()
        {
            for (const std::uint16_t slot : hash.slots)
                slots.push_back(slot == count ? 0 : slot);
            operations.slots = slots.data();
        }
        const decltype(perfect_table<count>()) hash = perfect_table<count>();
        const std::array<poa::Operations::Entry, count> entries =
            all_entries(std::make_index_sequence<count>{});
        std::vector<std::uint16_t> slots;
        poa::Operations operations{entries.data(), nullptr, hash.multiplier, perfect_bits<count>,
                                   refuse};
    };

    template <std::size_t index>
    [[gnu::noinline]] static void serve(void* skeleton, orb::Upcall&)
    {
        asm volatile("" : : "i"(index)); // each a function of its own
        ++static_cast<Skeleton*>(skeleton)->served;
    }
    static void refuse(void*, orb::Upcall&)
    {
        throw std::logic_error("there is no such operation");
    }

    template <std::size_t... indices>
    static std::array<poa::Operations::Entry, count> all_entries(std::index_sequence<indices...>)
    {
        return {{{literal_name(indices), serve<indices>}...}};
    }
    static const Table& table()
    {
        static const Table table;
        return table;
    }
};

/// What a request says: the key's octets, or an id of as many, and the operation.
struct Request {
    std::array<std::byte, ior::ObjectKey::size> key;
    std::string_view operation;
};

std::array<std::byte, ior::ObjectKey::size> id_of(std::uint32_t servant)
{
    char text[ior::ObjectKey::size + 1];
    std::snprintf(text, sizeof text, "experiment/servant/%05x", servant);
    std::array<std::byte, ior::ObjectKey::size> id;
    std::memcpy(id.data(), text, id.size());
    return id;
}

class Objects {
  public:
    Objects(poa::IdStrategy strategy, bool delayered, const std::vector<MeasuredServant*>& servants)
        : active_(strategy == poa::IdStrategy::active)
    {
        std::vector<std::array<std::byte, ior::ObjectKey::size>> ids;
        for (std::uint32_t i = 0; i < servants.size(); ++i)
            ids.push_back(id_of(i));
        const std::vector<Bytes> known(ids.begin(), ids.end());
        map_.reset({.user_ids = !active_,
                    .strategy = strategy,
                    .known_ids = known,
                    .find_servants = false,
                    .knows_skeletons = delayered});
        for (std::size_t i = 0; i < servants.size(); ++i) {
            const auto activated = map_.activate(*servants[i], ids[i], false);
            if (!activated) throw std::logic_error("an object was not activated");
            keys_.push_back(active_ ? key_of(activated.place) : ids[i]);
        }
    }

    [[nodiscard]] const std::array<std::byte, ior::ObjectKey::size>&
    key(std::uint32_t servant) const
    {
        return keys_[servant];
    }

    /// The step: as the adapter takes it, key by key.
    void demultiplex(const Request& request)
    {
        const auto entry = active_ ? enter_by_place(request.key) : map_.enter(Bytes(request.key));
        if (!entry) throw std::logic_error("there is no such object");
        static_cast<MeasuredServant&>(entry->servant()).demultiplex(request.operation);
    }

    /// Object and operation in one.
    void demultiplex_delayered(const Request& request)
    {
        const auto entry = enter_by_place(request.key);
        if (!entry) throw std::logic_error("there is no such object");
        entry->skeleton().serve(request.operation, nothing.upcall);
    }

  private:
    [[nodiscard]] static std::array<std::byte, ior::ObjectKey::size> key_of(poa::Place place)
    {
        return ior::ObjectKey{.incarnation = incarnation,
                              .adapter = 0,
                              .slot = place.slot,
                              .generation = place.generation}
            .encode();
    }
    [[nodiscard]] std::optional<poa::ObjectMap::Entry> enter_by_place(Bytes octets)
    {
        const auto key = ior::ObjectKey::parse(octets);
        if (!key || key->incarnation != incarnation || key->adapter != 0) return std::nullopt;
        return map_.enter(poa::Place{key->slot, key->generation});
    }

    const bool active_;
    std::vector<std::array<std::byte, ior::ObjectKey::size>> keys_;
    poa::ObjectMap map_;
};

// --- experiments ---------------------------------------------------------------------------------

constexpr std::size_t requests_min = 4096;
constexpr std::size_t requests_max = 65536;

/// One period of a pattern of requests, or as much of it as is measured.
std::vector<Request> requests_of(Pattern pattern, const Objects& objects, std::uint32_t servants,
                                 std::uint32_t operations)
{
    const std::size_t count = std::clamp<std::size_t>(servants, requests_min, requests_max);
    const auto called_servants = servants_of(pattern, servants, count);
    const auto called_operations = operations_of(pattern, operations, count);
    std::vector<Request> requests;
    for (std::size_t i = 0; i < count; ++i)
        requests.push_back({objects.key(called_servants[i]), literal_name(called_operations[i])});
    return requests;
}

/// The median of many short batches: one that the scheduler interrupted does not count for more
/// than any other.
template <typename Action>
double median_ns_per(std::uint32_t times, Action&& action)
{
    constexpr std::uint32_t batches = 25;
    std::vector<double> ns;
    for (std::uint32_t batch = 0; batch < batches; ++batch)
        ns.push_back(ns_per(std::max(times / batches, 1u), action));
    return median(std::move(ns));
}

class Experiment {
  public:
    Experiment(poa::IdStrategy strategy, const Exercise& exercise)
        : strategy_(strategy), exercise_(exercise), only_(exercise.request_bytes)
    {
        if (exercise.units == 0 || exercise.calls == 0)
            throw std::invalid_argument("how many servants and how many requests?");
    }

    [[nodiscard]] std::string answer()
    {
        measure_strategy<OperationStrategy::linear>();
        measure_strategy<OperationStrategy::hash>();
        measure_strategy<OperationStrategy::perfect>();
        if (strategy_ == poa::IdStrategy::active) measure_strategy<OperationStrategy::delayered>();
        return "{" + figures_ + "}";
    }

  private:
    template <OperationStrategy strategy>
    void measure_strategy()
    {
        measure<strategy, operation_counts[0]>();
        measure<strategy, operation_counts[1]>();
        measure<strategy, operation_counts[2]>();
    }

    template <OperationStrategy strategy, std::uint32_t operations>
    void measure()
    {
        const std::uint32_t first = point_number(Pattern{}, strategy, operations);
        if (only_ != 0 && (only_ < first || only_ >= first + all_patterns.size())) return;
        std::vector<Skeleton<strategy, operations>> skeletons(exercise_.units);
        std::vector<MeasuredServant*> servants;
        servants.reserve(skeletons.size());
        for (auto& skeleton : skeletons)
            servants.push_back(&skeleton);
        constexpr bool delayered = strategy == OperationStrategy::delayered;
        Objects objects(strategy_, delayered, servants);
        for (const Pattern pattern : all_patterns) {
            const std::uint32_t point = point_number(pattern, strategy, operations);
            if (only_ != 0 && only_ != point) continue;
            const auto requests = requests_of(pattern, objects, exercise_.units, operations);
            std::size_t next = 0;
            const auto step = [&] {
                if constexpr (delayered)
                    objects.demultiplex_delayered(requests[next]);
                else
                    objects.demultiplex(requests[next]);
                if (++next == requests.size()) next = 0;
            };
            if (only_ == 0)
                add(figure_name(pattern, strategy, operations),
                    median_ns_per(exercise_.calls, step));
            else
                execute(step);
        }
        if constexpr (!delayered)
            if (only_ == 0)
                add(lookup_name(strategy, operations), lookup_ns<strategy, operations>());
    }

    /// For those who count instructions: nothing but the requests.
    template <typename Step>
    void execute(const Step& step)
    {
        for (std::uint32_t i = 0; i < exercise_.calls; ++i)
            step();
        add("requests", exercise_.calls);
    }

    /// The operation's step alone, by turns.
    template <OperationStrategy strategy, std::uint32_t operations>
    [[nodiscard]] double lookup_ns()
    {
        std::vector<std::string_view> names;
        for (std::uint32_t i = 0; i < operation_counts.back(); ++i)
            names.push_back(literal_name(i % operations));
        std::size_t next = 0;
        return median_ns_per(exercise_.calls, [&] {
            const std::size_t index = table_of<strategy, operations>().find(names[next]);
            asm volatile("" : : "r"(index));
            if (++next == names.size()) next = 0;
        });
    }

    void add(const std::string& name, double value)
    {
        char text[40];
        std::snprintf(text, sizeof text, "%.3f", value);
        figures_ += (figures_.empty() ? "\"" : ",\"") + name + "\":" + text;
    }

    const poa::IdStrategy strategy_;
    const Exercise exercise_;
    const std::uint32_t only_; // the number of the only point, or 0
    std::string figures_;
};

} // namespace
} // namespace kairos::bench

int main(int count, char** arguments)
{
    using namespace kairos::bench;
    constexpr std::pair<std::string_view, kairos::poa::IdStrategy> strategies[] = {
        {"linear", kairos::poa::IdStrategy::linear},
        {"hash", kairos::poa::IdStrategy::hash},
        {"perfect", kairos::poa::IdStrategy::perfect},
        {"active", kairos::poa::IdStrategy::active}};
    for (const auto& [name, strategy] : strategies) {
        if (count != 2 || arguments[1] != name) continue;
        return serve_orders("demux", [&](const Order& order) {
            if (order.verb != Verb::demux)
                throw std::invalid_argument("this program makes no calls");
            return Experiment(strategy, order.exercise).answer();
        });
    }
    std::fprintf(stderr, "usage: kairos-bench-demux linear|hash|perfect|active\n");
    return 2;
}
