// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/counting_adapter.h"

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

class CountingAdapter final : public Adapter {
  public:
    explicit CountingAdapter(std::unique_ptr<Adapter> adapter) : adapter_(std::move(adapter)) {}

    bool dispatch(Upcall& upcall) override
    {
        // Before the servant, which may well ask; a request that is held is not served yet.
        served_.fetch_add(1, std::memory_order_relaxed);
        if (adapter_->dispatch(upcall)) return true;
        served_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    bool call(DirectCall& call) override { return adapter_->call(call); }
    bool locates(Bytes object_key) override { return adapter_->locates(object_key); }
    OwnThreads threads_for(const giop::Request& request, Bytes object_key) override
    {
        return adapter_->threads_for(request, object_key);
    }
    const OperationTiming* timing_for(std::string_view operation, Bytes object_key) override
    {
        return adapter_->timing_for(operation, object_key);
    }

  private:
    const std::unique_ptr<Adapter> adapter_;
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

std::unique_ptr<Adapter> counting(std::unique_ptr<Adapter> adapter)
{
    return std::make_unique<CountingAdapter>(std::move(adapter));
}

std::uint64_t requests_served() noexcept { return served().load(std::memory_order_relaxed); }

} // namespace kairos::orb
