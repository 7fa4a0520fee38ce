// SPDX-License-Identifier: Apache-2.0
//
// The filter-chain architecture: one thread reads, and each request passes the program's filters,
// which refuse it or choose the pool of threads that serves it.
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/filter.h"
#include "kairos/server/handover.h"
#include "kairos/server/serving.h"
#include "kairos/server/thread_pool.h"

#include <algorithm>

namespace kairos::orb {
namespace {

class FilterChain final : public Dispatcher, public QueuedRequest::Watcher {
  public:
    explicit FilterChain(Orb& orb) : orb_(orb)
    {
        const Options& options = orb.options();
        for (std::size_t i = 0; i < options.pools; ++i)
            pools_.push_back(std::make_unique<ThreadPool>(
                orb, Workers{.threads = options.threads,
                             .queued_max = options.requests_queued_max,
                             .each_has_place = each_has_place(options),
                             .dispatching = options.dispatching,
                             .thread = orb.thread_options("kairos-pool-" + std::to_string(i))}));
    }

    [[nodiscard]] Result<void> start() override
    {
        for (const auto& pool : pools_)
            if (auto started = pool->start(); !started) return started;
        return {};
    }

    void take(QueuedRequestPtr& request, UpcallMemory& memory) override
    {
        // One that is offered again has passed already.
        if (request->is_request() && request->watcher == nullptr && !pass(*request, memory))
            return request.reset();
        pools_[request->pool]->take(request, memory);
    }

    void resume() noexcept override
    {
        for (const auto& pool : pools_)
            pool->resume();
    }
    void begin_to_end() noexcept override
    {
        for (const auto& pool : pools_)
            pool->begin_to_end();
    }
    void end() noexcept override
    {
        for (const auto& pool : pools_)
            pool->end();
    }
    void on_done() noexcept override
    {
        for (const auto& filter : Serving::of(orb_).request_filters())
            filter->on_done();
    }

  private:
    /// False: it was answered.
    [[nodiscard]] bool pass(QueuedRequest& request, UpcallMemory& memory)
    {
        memory.arena.reset();
        const giop::Request& parsed = request.request();
        FilteredRequest seen{.operation = parsed.operation,
                             .object_key = request.object_key(memory.arena),
                             .peer = request.peer(),
                             .argument_bytes = parsed.body.left(),
                             .response_expected = parsed.response_expected()};
        for (const auto& filter : Serving::of(orb_).request_filters()) {
            switch (filter->filter(seen)) {
            case RequestFilter::Verdict::pass:
                continue;
            case RequestFilter::Verdict::refuse:
                request.refuse(CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO), memory);
                return false;
            case RequestFilter::Verdict::later:
                request.refuse_for_now(memory);
                return false;
            }
        }
        request.pool = std::min(seen.pool, pools_.size() - 1);
        request.watcher = this;
        return true;
    }

    Orb& orb_;
    std::vector<std::unique_ptr<ThreadPool>> pools_;
};

std::unique_ptr<Dispatcher> make_chain(Orb& orb, RequestSource&)
{
    return std::make_unique<FilterChain>(orb);
}

} // namespace

constinit const Opening opening::filter_chain{architecture::filter_chain,
                                              open_handover<make_chain>};

} // namespace kairos::orb
