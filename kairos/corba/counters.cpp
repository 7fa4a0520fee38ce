// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/counters.h"

#include "kairos/base/count_page.h"
#include "kairos/orb/counting_observer.h"

#include <cstdio>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace kairos {
namespace {

Counters::Kernel kernel_of(const CountPage& page) noexcept
{
    Counters::Kernel kernel;
    for (const auto& count : page.syscalls)
        kernel.system_calls += count.load(std::memory_order_relaxed);
    kernel.futexes = page.syscalls[SYS_futex].load(std::memory_order_relaxed);
    return kernel;
}

/// "3.25 locks"; of everything where there was no request.
void append(std::string& text, std::uint64_t count, std::uint64_t requests, const char* what)
{
    char number[64];
    if (requests == 0)
        std::snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(count));
    else
        std::snprintf(number, sizeof number, "%.2f",
                      static_cast<double>(count) / static_cast<double>(requests));
    text.append(text.ends_with(": ") ? "" : ", ").append(number).append(" ").append(what);
}

} // namespace

Counters counters() noexcept
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    Counters found;
    found.requests_served = orb::requests_served();
    found.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
    found.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
    if (const CountPage* page = orb::count_page(); page != nullptr) {
        found.library = {.allocations = page->allocations,
                         .locks = page->locks,
                         .condition_actions = page->condition_actions};
        if (page->is_traced) found.kernel = kernel_of(*page);
    }
    return found;
}

Counters operator-(const Counters& later, const Counters& earlier) noexcept
{
    Counters between = later;
    between.requests_served -= earlier.requests_served;
    between.voluntary_switches -= earlier.voluntary_switches;
    between.involuntary_switches -= earlier.involuntary_switches;
    if (between.library && earlier.library) {
        between.library->allocations -= earlier.library->allocations;
        between.library->locks -= earlier.library->locks;
        between.library->condition_actions -= earlier.library->condition_actions;
    }
    if (between.kernel && earlier.kernel) {
        between.kernel->system_calls -= earlier.kernel->system_calls;
        between.kernel->futexes -= earlier.kernel->futexes;
    }
    return between;
}

std::string to_string(const Counters& counters)
{
    const std::uint64_t requests = counters.requests_served;
    std::string text = std::to_string(requests) + " requests served; ";
    text += requests > 0 ? "per request: " : "in all: ";
    append(text, counters.voluntary_switches, requests, "voluntary context switches");
    append(text, counters.involuntary_switches, requests, "involuntary ones");
    if (counters.library) {
        append(text, counters.library->allocations, requests, "allocations");
        append(text, counters.library->locks, requests, "locks");
        append(text, counters.library->condition_actions, requests, "condition actions");
    }
    if (counters.kernel) {
        append(text, counters.kernel->system_calls, requests, "system calls");
        append(text, counters.kernel->futexes, requests, "futexes");
    }
    return text;
}

} // namespace kairos
