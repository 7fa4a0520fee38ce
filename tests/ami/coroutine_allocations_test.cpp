// SPDX-License-Identifier: Apache-2.0
//
// What a call that a coroutine awaits allocates: what it shares with the coroutine.
#include "fixture.h"

#include "kairos/messaging/task.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations = 0; // of this process, whoever allocates

void* counted(std::size_t size)
{
    ++allocations;
    void* const memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

} // namespace

// NOLINTBEGIN(misc-new-delete-overloads): the aligned forms count for nothing here
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace kairos::ami_testing {
namespace {

messaging::Task<CORBA::Long> call(Ami::Target_ptr target, CORBA::Long count)
{
    CORBA::Long sum = 0;
    for (CORBA::Long i = 0; i < count; ++i)
        sum = co_await target->async().add(sum, 1);
    co_return sum;
}

TEST(Allocations, AreOneACall)
{
    constexpr CORBA::Long calls = 1000;
    Server server({"-ORBConcurrency", "reactor"});
    const CORBA::ORB_var orb = make_orb({});
    {
        const CORBA::Object_var object = orb->string_to_object(server.reference.c_str());
        const Ami::Target_var target = Ami::Target::_unchecked_narrow(object);
        EXPECT_EQ(calls, call(target.in(), calls).wait());
        const std::size_t before = allocations;
        EXPECT_EQ(calls, call(target.in(), calls).wait());
        const std::size_t counted_now = allocations - before;
        EXPECT_LE(counted_now, std::size_t{calls} + 1); // and the coroutine
        RecordProperty("allocations_of_1000_calls", static_cast<int>(counted_now));
        std::printf("1000 calls: %zu allocations\n", counted_now);
    }
    orb->destroy();
}

} // namespace
} // namespace kairos::ami_testing
