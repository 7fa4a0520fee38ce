// SPDX-License-Identifier: Apache-2.0
//
// The program that `kairos bench asynchronous` measures: null calls that a thread waits for, or
// several threads, beside as many that are outstanding at once on one connection: with a reply
// handler, a poller or a coroutine each.
#include "asynchronous.h"
#include "asynchronous_skel.h"

#include "bench/orb_program.h"

#include <kairos/messaging/task.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using kairos::bench::Exercise;
using kairos::bench::LatencySummary;
using kairos::bench::MessageBytes;
using kairos::bench::now_ns;
using kairos::bench::repeat;
using kairos::bench::reporting;
using kairos::messaging::Task;

class Servant final : public POA_Bench::Asynchronous {
  public:
    void ping() override {}
};

/// Makes as many null calls as it is told, in its own way.
class Way {
  public:
    Way() = default;
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;
    virtual ~Way() = default;
    virtual void call(std::uint32_t calls) = 0;
    /// Times each of the calls, where one is made after the other.
    virtual LatencySummary time_each(std::uint32_t /*calls*/)
    {
        throw std::invalid_argument("these calls are not made one after the other");
    }
};

class Stub final : public Way {
  public:
    explicit Stub(Bench::Asynchronous_ptr target) : target_(target) {}
    void call(std::uint32_t calls) override
    {
        repeat(calls, [this] { target_->ping(); });
    }
    LatencySummary time_each(std::uint32_t calls) override
    {
        return kairos::bench::time_each(calls, [this] { target_->ping(); });
    }

  private:
    const Bench::Asynchronous_ptr target_;
};

/// What several do until no call is left.
class Calls {
  public:
    /// Ahead of all others: nobody is at it.
    void begin(std::uint32_t calls) noexcept { left_ = calls; }
    /// Returns whether there is one more to make.
    bool take() noexcept { return left_.fetch_sub(1, std::memory_order_relaxed) > 0; }

  private:
    std::atomic<std::int64_t> left_{0};
};

class Threads final : public Way {
  public:
    Threads(Bench::Asynchronous_ptr target, std::uint32_t threads) : target_(target)
    {
        for (std::uint32_t i = 0; i < threads; ++i)
            threads_.emplace_back([this] { work(); });
    }
    ~Threads() override
    {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }
    void call(std::uint32_t calls) override
    {
        std::unique_lock lock(mutex_);
        calls_.begin(calls);
        at_work_ = threads_.size();
        ++turn_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return at_work_ == 0; });
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    void work()
    {
        std::unique_lock lock(mutex_);
        for (std::uint64_t done = 0;; ++done) {
            changed_.wait(lock, [&] { return is_over_ || turn_ != done; });
            if (is_over_) return;
            lock.unlock();
            std::exception_ptr failure;
            try {
                while (calls_.take())
                    target_->ping();
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            if (failure) failure_ = failure;
            if (--at_work_ == 0) changed_.notify_all();
        }
    }

    const Bench::Asynchronous_ptr target_;
    Calls calls_;
    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    std::uint64_t turn_ = 0;
    std::size_t at_work_ = 0;
    bool is_over_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

/// One handler for all calls, each reply of which sends the next. Main thread only, which is in
/// perform_work.
class Callbacks final : public Way, private POA_Bench::AMI_AsynchronousHandler {
  public:
    Callbacks(CORBA::ORB_ptr orb, Bench::Asynchronous_ptr target, std::uint32_t outstanding)
        : orb_(orb), target_(target), outstanding_(outstanding)
    {
        const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(root);
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
        id_ = poa_->activate_object(this);
        const CORBA::Object_var object = poa_->id_to_reference(id_);
        handler_ = Bench::AMI_AsynchronousHandler::_narrow(object);
    }
    ~Callbacks() override { poa_->deactivate_object(id_); }
    void call(std::uint32_t calls) override
    {
        unanswered_ = unsent_ = calls;
        repeat(std::min(calls, outstanding_), [this] { send(); });
        while (unanswered_ > 0)
            orb_->perform_work();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    LatencySummary time_each(std::uint32_t calls) override
    {
        if (outstanding_ > 1) return Way::time_each(calls);
        return kairos::bench::time_each(calls, [this] { call(1); });
    }

  private:
    void send()
    {
        --unsent_;
        target_->sendc_ping(handler_);
    }
    void ping() override
    {
        --unanswered_;
        if (unsent_ > 0) send();
    }
    void ping_excep(Messaging::ExceptionHolder* holder) override
    {
        try {
            holder->raise_exception();
        } catch (const CORBA::Exception&) {
            failure_ = std::current_exception();
        }
        unanswered_ -= unsent_ + 1;
        unsent_ = 0;
    }

    const CORBA::ORB_ptr orb_;
    const Bench::Asynchronous_ptr target_;
    const std::uint32_t outstanding_;
    PortableServer::POA_var poa_;
    PortableServer::ObjectId_var id_;
    Bench::AMI_AsynchronousHandler_var handler_;
    std::uint32_t unsent_ = 0;
    std::uint32_t unanswered_ = 0;
    std::exception_ptr failure_;
};

/// A poller for each outstanding call; they are asked in the order of the calls.
class Pollers final : public Way {
  public:
    Pollers(Bench::Asynchronous_ptr target, std::uint32_t outstanding)
        : target_(target), outstanding_(outstanding)
    {
    }
    void call(std::uint32_t calls) override
    {
        std::vector<Bench::AMI_AsynchronousPoller_var> pollers(std::min(calls, outstanding_));
        for (auto& poller : pollers)
            poller = target_->sendp_ping();
        for (std::uint32_t i = 0; i < calls; ++i) {
            auto& poller = pollers[i % pollers.size()];
            poller->ping(forever);
            if (i + pollers.size() < calls) poller = target_->sendp_ping();
        }
    }

  private:
    static constexpr CORBA::ULong forever = 0xFFFFFFFF;

    const Bench::Asynchronous_ptr target_;
    const std::uint32_t outstanding_;
};

class Coroutines final : public Way {
  public:
    Coroutines(Bench::Asynchronous_ptr target, std::uint32_t outstanding)
        : target_(target), outstanding_(outstanding)
    {
    }
    void call(std::uint32_t calls) override
    {
        if (outstanding_ == 1) return one_by_one(calls).wait();
        calls_.begin(calls);
        std::unique_lock lock(mutex_);
        running_ = outstanding_;
        lock.unlock();
        for (std::uint32_t i = 0; i < outstanding_; ++i)
            some().start();
        lock.lock();
        changed_.wait(lock, [this] { return running_ == 0; });
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    LatencySummary time_each(std::uint32_t calls) override
    {
        if (outstanding_ > 1) return Way::time_each(calls);
        std::vector<std::int64_t> samples(calls); // touched before the clock is looked at
        time(samples).wait();
        return kairos::bench::summarize(samples);
    }

  private:
    Task<void> one_by_one(std::uint32_t calls)
    {
        for (std::uint32_t i = 0; i < calls; ++i)
            co_await target_->async().ping();
    }
    Task<void> time(std::vector<std::int64_t>& samples)
    {
        for (std::int64_t& sample : samples) {
            const std::int64_t start = now_ns();
            co_await target_->async().ping();
            sample = now_ns() - start;
        }
    }
    /// Calls until none is left.
    Task<void> some()
    {
        std::exception_ptr failure;
        try {
            while (calls_.take())
                co_await target_->async().ping();
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        if (failure) failure_ = failure;
        if (--running_ == 0) changed_.notify_all();
    }

    const Bench::Asynchronous_ptr target_;
    const std::uint32_t outstanding_;
    Calls calls_;
    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    std::uint32_t running_ = 0;
    std::exception_ptr failure_;
};

/// "callbacks-1000": the way, and how many are outstanding.
std::unique_ptr<Way> way_named(std::string_view name, CORBA::ORB_ptr orb,
                               Bench::Asynchronous_ptr target)
{
    if (name.starts_with("stub")) return std::make_unique<Stub>(target);
    const std::size_t dash = name.find('-');
    const std::string_view kind = name.substr(0, dash);
    const std::uint32_t number =
        dash == name.npos
            ? 1
            : static_cast<std::uint32_t>(std::stoul(std::string(name.substr(dash + 1))));
    if (kind == "threads") return std::make_unique<Threads>(target, number);
    if (kind == "callbacks") return std::make_unique<Callbacks>(orb, target, number);
    if (kind == "pollers") return std::make_unique<Pollers>(target, number);
    if (kind == "coroutines") return std::make_unique<Coroutines>(target, number);
    throw std::invalid_argument("no such way to call: " + std::string(name));
}

class Client final : public kairos::bench::Client {
  public:
    explicit Client(Way& way) : way_(way) {}
    LatencySummary latency(const Exercise& exercise) override
    {
        return reporting([&] {
            way_.call(kairos::bench::warm_up_calls);
            return way_.time_each(exercise.calls);
        });
    }
    double ttcp_seconds(const Exercise& exercise) override
    {
        return reporting([&] {
            way_.call(exercise.calls / 10 + 1);
            const std::int64_t start = now_ns();
            way_.call(exercise.calls);
            return static_cast<double>(now_ns() - start) / 1e9;
        });
    }
    void call(const Exercise& exercise) override
    {
        reporting([&] { way_.call(exercise.calls); });
    }
    MessageBytes message_bytes(const Exercise&) override
    {
        return reporting([&] { return kairos::bench::bytes_of_a_call([this] { way_.call(1); }); });
    }

  private:
    Way& way_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") {
        Servant servant;
        const Bench::Asynchronous_var object = servant._this();
        return kairos::bench::serve(orb, {object.in()});
    }
    if (arguments.size() != 3 || arguments[0] != "client")
        throw std::invalid_argument("usage: server | client REFERENCE WAY");
    int status = 0;
    {
        const CORBA::Object_var object = orb->string_to_object(arguments[1].c_str());
        const Bench::Asynchronous_var target = Bench::Asynchronous::_narrow(object);
        const std::unique_ptr<Way> way = way_named(arguments[2], orb, target);
        Client client(*way);
        status = kairos::bench::serve_orders(client);
    }
    orb->destroy();
    return status;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
