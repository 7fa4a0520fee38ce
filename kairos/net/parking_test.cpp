// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/parking.h"

#include "kairos/base/intrusive_list.h"
#include "kairos/net/waker.h"

#include <gtest/gtest.h>

#include <mutex>
#include <poll.h>
#include <thread>
#include <vector>

namespace kairos::net {
namespace {

TEST(Parking, EndsWhenCalled)
{
    Parking place;
    std::mutex mutex;
    bool called = false;
    place.prepare();
    std::thread other([&] {
        {
            const std::lock_guard lock(mutex);
            called = true;
            place.call();
        }
        Parking::wake(&place);
    });
    for (;;) {
        {
            const std::lock_guard lock(mutex);
            if (called) break;
            place.prepare();
        }
        place.park({});
    }
    other.join();
    EXPECT_TRUE(called);
}

TEST(Parking, ACallBeforeItIsNotMissed)
{
    Parking place;
    place.prepare();
    place.call();
    place.park({}); // else this never returns
    SUCCEED();
}

TEST(Parking, EndsAtTheDeadline)
{
    Parking place;
    place.prepare();
    const Deadline deadline = Deadline::after(std::chrono::milliseconds(5));
    while (!deadline.has_passed())
        place.park(deadline);
    place.park(deadline); // one that has passed
    EXPECT_TRUE(deadline.has_passed());
}

TEST(Waker, IsReadableUntilItIsCleared)
{
    auto waker = Waker::create();
    ASSERT_TRUE(waker);
    const auto is_readable = [&] {
        pollfd entry{.fd = waker->descriptor(), .events = POLLIN, .revents = 0};
        return ::poll(&entry, 1, 0) == 1;
    };
    EXPECT_FALSE(is_readable());
    waker->wake();
    waker->wake();
    EXPECT_TRUE(is_readable());
    waker->clear();
    EXPECT_FALSE(is_readable());
    waker->clear(); // does not wait
}

struct Element {
    int number;
    ListLinks<Element> links{};
};
using List = IntrusiveList<Element, &Element::links>;

std::vector<int> taken_from(List& list)
{
    std::vector<int> numbers;
    while (Element* first = list.front()) {
        numbers.push_back(first->number);
        list.remove(*first);
    }
    return numbers;
}

TEST(IntrusiveList, KeepsTheOrderWhoeverLeaves)
{
    Element elements[] = {{1}, {2}, {3}, {4}};
    for (int leaving = 0; leaving < 4; ++leaving) {
        List list;
        std::vector<int> rest;
        for (Element& element : elements)
            list.push_back(element);
        list.remove(elements[leaving]);
        list.remove(elements[leaving]); // it is in none
        for (const Element& element : elements)
            if (&element != &elements[leaving]) rest.push_back(element.number);
        EXPECT_EQ(taken_from(list), rest);
        EXPECT_TRUE(list.empty());
    }
}

} // namespace
} // namespace kairos::net
