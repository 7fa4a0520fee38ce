// SPDX-License-Identifier: Apache-2.0
//
// What a notification service finds in its store when it begins: rows that may be none of its own.
// It begins with them or says that it does not; what it takes ends, and is taken again as it was
// left. Nothing leads out of the process: connections are refused.
//
// A row is an octet, 0 for an object, 1 for an event, 2 for who waits; its key and what else it is
// about, two octets each, where 0xffff is the largest number; and of the first two kinds its state,
// behind two octets with its size.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/notification/service.h"
#include "kairos/notification/store_testing.h"
#include "tests/faults/faults.h"
#include "tests/fuzz/socketless.h"

#include <memory>
#include <optional>
#include <string>

using namespace kairos;

// A service with its threads and a channel's objects for each input, twice. A proxy of some sixty
// octets is a servant with a queue; a filter's constraint a tree.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 512,
            .octets_beside = std::size_t{4} << 20,
            .comparisons_each = 10'000,
            .comparisons_beside = 3'000'000};
}

namespace {

using notification::StoreChange;

/// Reads rows to their end, or to what is none.
class Input {
  public:
    explicit Input(std::string_view octets) : left_(octets) {}

    [[nodiscard]] std::optional<StoreChange> next()
    {
        using Action = StoreChange::Action;
        static constexpr Action actions[] = {Action::put_object, Action::add_event,
                                             Action::add_waiting};
        if (left_.size() < 5) return std::nullopt;
        const auto kind = static_cast<unsigned char>(left_[0]);
        if (kind >= std::size(actions)) return std::nullopt;
        left_.remove_prefix(1);
        StoreChange row{.action = actions[kind], .key = number(), .other = number(), .state = {}};
        if (kind == 2) return row;
        if (left_.size() < 2) return std::nullopt;
        row.state = left_.substr(2, short_number());
        left_.remove_prefix(2 + row.state.size());
        return row;
    }

  private:
    [[nodiscard]] std::size_t short_number() const
    {
        return static_cast<unsigned char>(left_[0]) +
               (std::size_t{static_cast<unsigned char>(left_[1])} << 8);
    }
    [[nodiscard]] std::uint64_t number()
    {
        const std::size_t number = short_number();
        left_.remove_prefix(2);
        return number == 0xffff ? ~std::uint64_t{0} : number;
    }

    std::string_view left_;
};

/// Whether a service begins with what there is.
bool begins(CORBA::ORB_ptr orb, notification::Rows& rows)
{
    notification::NotificationLimits limits;
    limits.quick_threads = limits.fresh_threads = limits.patient_threads = 1;
    limits.call_timeout = std::chrono::milliseconds(100);
    try {
        const notification::NotificationService service(
            orb, limits, std::make_unique<notification::MemoryStore>(rows));
        return true;
    } catch (const CORBA::PERSIST_STORE&) {
        return false;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const net::testing::Faults faults(net::testing::no_connections());
    static const CORBA::ORB_var orb =
        kairos::fuzz::make_orb({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    notification::Rows rows;
    Input input({reinterpret_cast<const char*>(data), size});
    while (const std::optional<StoreChange> row = input.next())
        (void)rows.write(std::span(&*row, 1));
    if (begins(orb.in(), rows)) KAIROS_CHECK(begins(orb.in(), rows));
    return 0;
}
