// SPDX-License-Identifier: Apache-2.0
//
// What an asynchronous call allocates, once a thousand have been outstanding: nothing, but where a
// list or a queue grows.
#include "fixture.h"

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

TEST(Allocations, AreFewerThanOneACall)
{
    constexpr CORBA::Long calls = 1000;
    Server server({"-ORBConcurrency", "reactor"});
    Client client;
    const Ami::Target_var target = client.target(server.reference);
    CORBA::Long heard = 0;
    client.handler.writes = false;
    client.handler.on_add = [&](CORBA::Long) { ++heard; };
    const auto round = [&] {
        const std::size_t before = allocations;
        heard = 0;
        for (CORBA::Long i = 0; i < calls; ++i)
            target->sendc_add(client.reference.in(), i, 0);
        EXPECT_TRUE(client.dispatch([&] { return heard == calls; }));
        return allocations - before;
    };
    for (int warm = 0; warm < 4; ++warm)
        (void)round();
    const std::size_t counted_now = round();
    EXPECT_LE(counted_now, std::size_t{calls});
    RecordProperty("allocations_of_1000_calls", static_cast<int>(counted_now));
    std::printf("1000 calls: %zu allocations\n", counted_now);
}

} // namespace
} // namespace kairos::ami_testing
