// SPDX-License-Identifier: Apache-2.0
//
// The reactor architecture: one thread, whichever is in ORB::run or perform_work, waits for all
// connections and serves what is ready. Three system calls a request. A peer that does not read its
// replies delays nobody. A servant that makes a call serves others while it waits for the reply.
#include "kairos/orb/orb.h"
#include "kairos/server/architectures.h"
#include "kairos/server/in_place_server.h"
#include "kairos/server/listening.h"

namespace kairos::orb {
namespace {

class ReactorServer final : public InPlaceServer {
  public:
    ReactorServer(Orb& orb, std::vector<Listener> listeners)
        : InPlaceServer(orb, std::move(listeners))
    {
    }
    ~ReactorServer() override
    {
        if (!loop_) return;
        stop();
        join();
    }

    Result<void> start() override
    {
        loop_->start();
        return {};
    }
    bool run() override
    {
        const std::lock_guard serving(serving_mutex_);
        loop_->pause_in_streams(StreamPause::of(orb_.options()));
        loop_->run();
        end_loop();
        return true;
    }
    bool work_pending() override { return loop_->work_pending(); }
    void perform_work() override
    {
        const std::unique_lock serving(serving_mutex_, std::try_to_lock);
        if (!serving) return; // another thread serves, and will go on doing so
        loop_->turn();
        if (loop_->stopping() && !owes()) loop_->close_all();
    }
    [[nodiscard]] Result<int> descriptor() override
    {
        const std::unique_lock serving(serving_mutex_, std::try_to_lock);
        if (!serving)
            return Error{ErrorCode::invalid_argument, "another thread serves, in ORB::run"};
        return loop_->descriptor();
    }
    void join() noexcept override
    {
        const std::lock_guard serving(serving_mutex_); // waits for the thread in run()
        loop_->bind_to_this_thread();
        end_loop();
    }

    void on_wake() noexcept override
    {
        InPlaceServer::on_wake();
        if (orb_.main_thread().serve_pending()) loop_->wake(); // the rest in the next turn
    }

  private:
    // guards that one thread serves, once for all of its turns; servants are called under it
    std::mutex serving_mutex_;
};

Result<std::unique_ptr<Server>> make_reactor(Orb& orb, std::vector<Listener> listeners)
{
    auto server = std::make_unique<ReactorServer>(orb, std::move(listeners));
    if (const auto opened = server->open(); !opened) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
}

} // namespace

constinit const Opening opening::reactor{architecture::reactor,
                                         [](Orb& orb) { return open_server(orb, make_reactor); }};

} // namespace kairos::orb
