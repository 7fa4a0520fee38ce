// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/counting_observer.h"

#include "kairos/base/count_page.h"
#include "kairos/orb/options.h"

#include <atomic>
#include <dlfcn.h>

namespace kairos::orb {
namespace {

CountPage* find_page() noexcept
{
    // Not a weak reference, which a linker may settle for good when it sees no such library.
    const auto function =
        reinterpret_cast<CountPageFunction*>(dlsym(RTLD_DEFAULT, count_page_function));
    return function == nullptr ? nullptr : function();
}

/// Where requests are counted: beside the other counts, or here if nothing else is counted.
std::atomic<std::uint64_t>& served() noexcept
{
    static std::atomic<std::uint64_t> own{0};
    static CountPage* const page = find_page();
    return page == nullptr ? own : page->requests_served;
}

class CountingObserver final : public UpcallObserver {
  public:
    CountingObserver() : UpcallObserver(Hears::arrivals) {}

    /// Before the servant, which may well ask.
    void receive_request_service_contexts(ObservedUpcall&) override
    {
        served_.fetch_add(1, std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t>& served_ = served();
};

} // namespace

const CountPage* count_page() noexcept
{
    static const CountPage* const page = find_page();
    return page;
}

bool counts_requests(const Options& options) noexcept
{
    return options.counters || count_page() != nullptr;
}

std::unique_ptr<UpcallObserver> counting_observer() { return std::make_unique<CountingObserver>(); }

std::uint64_t requests_served() noexcept { return served().load(std::memory_order_relaxed); }

} // namespace kairos::orb
