// SPDX-License-Identifier: Apache-2.0
//
// What the tests of channels share: ORBs, consumers and suppliers that remember what they were
// told, and lines of the log.
#pragma once

#include "kairos/base/log.h"
#include "kairos/corba/CORBA.h"
#include "kairos/events/CosEventChannelAdmin_skel.h"
#include "kairos/events/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kairos::events {

/// For what must happen: a test that waits so long has failed.
constexpr std::chrono::seconds patience{60};

class TestOrb {
  public:
    explicit TestOrb(std::vector<std::string> options = {})
    {
        static int count = 0;
        options.insert(options.begin(), "test");
        if (std::ranges::find(options, "-ORBListenEndpoints") == options.end())
            options.insert(options.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1"});
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        int argc = static_cast<int>(argv.size());
        orb_ = CORBA::ORB_init(argc, argv.data(), ("events " + std::to_string(++count)).c_str());
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
    }
    TestOrb(const TestOrb&) = delete;
    TestOrb& operator=(const TestOrb&) = delete;
    ~TestOrb() { orb_->destroy(); }

    CORBA::ORB_ptr operator->() const { return orb_.in(); }
    [[nodiscard]] CORBA::ORB_ptr in() const { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_ptr poa() const { return poa_.in(); }
    /// The same object as a client of this ORB sees it.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type here(CORBA::Object_ptr object,
                                                     CORBA::ORB_ptr of) const
    {
        const CORBA::String_var text = of->object_to_string(object);
        const CORBA::Object_var mine = orb_->string_to_object(text.in());
        return Interface::_unchecked_narrow(mine.in());
    }
    template <typename Interface, typename Servant>
    [[nodiscard]] typename Interface::_var_type activate(Servant* servant) const
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return Interface::_unchecked_narrow(object.in());
    }
    void deactivate(PortableServer::Servant servant) const
    {
        const PortableServer::ObjectId_var id = poa_->servant_to_id(servant);
        poa_->deactivate_object(id.in());
    }

  private:
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
};

/// What several threads tell a test that waits for it.
class Notes {
  public:
    void change(const std::function<void()>& what)
    {
        const std::lock_guard lock(mutex_);
        what();
        changed_.notify_all();
    }
    [[nodiscard]] bool wait(const std::function<bool()>& condition)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, condition);
    }

  private:
    std::mutex mutex_; // guards whatever the test has
    std::condition_variable changed_;
};

/// The process's log lines while it lives. One at a time.
class LogLines {
  public:
    LogLines()
    {
        shared().lines.clear();
        log::set_sink(&add);
    }
    LogLines(const LogLines&) = delete;
    LogLines& operator=(const LogLines&) = delete;
    ~LogLines() { log::set_sink(nullptr); }
    [[nodiscard]] bool wait_for(std::string_view part)
    {
        return shared().notes.wait([&] {
            return std::ranges::any_of(shared().lines, [&](const std::string& line) {
                return line.find(part) != std::string::npos;
            });
        });
    }
    [[nodiscard]] bool has(std::string_view part)
    {
        bool found = false;
        shared().notes.change([&] {
            found = std::ranges::any_of(shared().lines, [&](const std::string& line) {
                return line.find(part) != std::string::npos;
            });
        });
        return found;
    }

  private:
    struct Shared {
        Notes notes;
        std::vector<std::string> lines;
    };
    static Shared& shared()
    {
        static Shared all;
        return all;
    }
    static void add(log::Level, std::string_view line)
    {
        shared().notes.change([&] { shared().lines.emplace_back(line); });
    }
};

/// Remembers the longs that it is pushed.
class Consumer final : public POA_CosEventComm::PushConsumer {
  public:
    void push(const CORBA::Any& data) override
    {
        CORBA::Long value = -1;
        (void)(data >>= value);
        notes_.change([&] { ++begun_; });
        ASSERT_TRUE(notes_.wait([&] { return !is_closed_; }));
        if (raises_) raises_();
        notes_.change([&] { values_.push_back(value); }); // the last that the test waits for
    }
    void disconnect_push_consumer() override
    {
        notes_.change([&] { ++disconnections_; });
    }

    /// Events are not taken until it is opened.
    void close()
    {
        notes_.change([&] { is_closed_ = true; });
    }
    void open()
    {
        notes_.change([&] { is_closed_ = false; });
    }
    /// What each push raises, which then counts as none; before there is any.
    void raise(std::function<void()> raises) { raises_ = std::move(raises); }
    /// That a push has begun.
    [[nodiscard]] bool is_called()
    {
        return notes_.wait([&] { return begun_ != 0; });
    }
    [[nodiscard]] bool has(std::size_t count)
    {
        return notes_.wait([&] { return values_.size() >= count; });
    }
    [[nodiscard]] bool has_last(CORBA::Long value)
    {
        return notes_.wait([&] { return !values_.empty() && values_.back() == value; });
    }
    /// Whatever came afterwards.
    [[nodiscard]] bool has_value(CORBA::Long value)
    {
        return notes_.wait([&] { return std::ranges::count(values_, value) != 0; });
    }
    [[nodiscard]] bool is_disconnected()
    {
        return notes_.wait([&] { return disconnections_ != 0; });
    }
    [[nodiscard]] std::vector<CORBA::Long> values()
    {
        std::vector<CORBA::Long> copy;
        notes_.change([&] { copy = values_; });
        return copy;
    }

  private:
    Notes notes_;
    std::vector<CORBA::Long> values_;
    int begun_ = 0;
    int disconnections_ = 0;
    bool is_closed_ = false;
    std::function<void()> raises_;
};

/// Has longs for whoever asks.
class PullSupplierServant final : public POA_CosEventComm::PullSupplier {
  public:
    void add(CORBA::Long value)
    {
        notes_.change([&] { values_.push_back(value); });
    }
    CORBA::Any* pull() override { throw CORBA::NO_IMPLEMENT(); }
    CORBA::Any* try_pull(CORBA::Boolean_out has_event) override
    {
        CORBA::Any_var event = new CORBA::Any;
        notes_.change([&] {
            ++asked_;
            has_event = !values_.empty();
            if (values_.empty()) return;
            *event <<= values_.front();
            values_.erase(values_.begin());
        });
        return event._retn();
    }
    void disconnect_pull_supplier() override
    {
        notes_.change([&] { ++disconnections_; });
    }
    [[nodiscard]] bool is_disconnected()
    {
        return notes_.wait([&] { return disconnections_ != 0; });
    }
    [[nodiscard]] bool was_asked(int times)
    {
        return notes_.wait([&] { return asked_ >= times; });
    }

  private:
    Notes notes_;
    std::vector<CORBA::Long> values_;
    int asked_ = 0;
    int disconnections_ = 0;
};

class PushSupplierServant final : public POA_CosEventComm::PushSupplier {
  public:
    void disconnect_push_supplier() override
    {
        notes_.change([&] { ++disconnections_; });
    }
    [[nodiscard]] bool is_disconnected()
    {
        return notes_.wait([&] { return disconnections_ != 0; });
    }

  private:
    Notes notes_;
    int disconnections_ = 0;
};

class PullConsumerServant final : public POA_CosEventComm::PullConsumer {
  public:
    void disconnect_pull_consumer() override
    {
        notes_.change([&] { ++disconnections_; });
    }
    [[nodiscard]] bool is_disconnected()
    {
        return notes_.wait([&] { return disconnections_ != 0; });
    }

  private:
    Notes notes_;
    int disconnections_ = 0;
};

inline CORBA::Any event_of(CORBA::Long value)
{
    CORBA::Any event;
    event <<= value;
    return event;
}

/// A service with an ORB of its own, a channel, and an ORB of clients.
class ChannelTest : public ::testing::Test {
  protected:
    explicit ChannelTest(const ServiceLimits& limits = {}) { start(limits); }
    void start(const ServiceLimits& limits)
    {
        service_.reset(); // before there is another one
        service_.emplace(server_.in(), limits);
        const KairosEvents::Channel_var channel = service_->create_channel();
        channel_ = clients_.here<KairosEvents::Channel>(channel.in(), server_.in());
    }

    [[nodiscard]] CosEventChannelAdmin::ProxyPushSupplier_var push_supplier()
    {
        const CosEventChannelAdmin::ConsumerAdmin_var admin = channel_->for_consumers();
        return admin->obtain_push_supplier();
    }
    [[nodiscard]] CosEventChannelAdmin::ProxyPullSupplier_var pull_supplier()
    {
        const CosEventChannelAdmin::ConsumerAdmin_var admin = channel_->for_consumers();
        return admin->obtain_pull_supplier();
    }
    [[nodiscard]] CosEventChannelAdmin::ProxyPushConsumer_var push_consumer()
    {
        const CosEventChannelAdmin::SupplierAdmin_var admin = channel_->for_suppliers();
        return admin->obtain_push_consumer();
    }
    [[nodiscard]] CosEventChannelAdmin::ProxyPullConsumer_var pull_consumer()
    {
        const CosEventChannelAdmin::SupplierAdmin_var admin = channel_->for_suppliers();
        return admin->obtain_pull_consumer();
    }
    /// Connects a consumer, an object of the clients' ORB.
    CosEventChannelAdmin::ProxyPushSupplier_var connect(Consumer* consumer)
    {
        return connect(consumer, clients_);
    }
    /// Connects a consumer, an object of any ORB.
    CosEventChannelAdmin::ProxyPushSupplier_var connect(Consumer* consumer, const TestOrb& of)
    {
        CosEventChannelAdmin::ProxyPushSupplier_var proxy = push_supplier();
        const auto object = of.activate<CosEventComm::PushConsumer>(consumer);
        proxy->connect_push_consumer(
            clients_.here<CosEventComm::PushConsumer>(object.in(), of.in()).in());
        return proxy;
    }
    /// A proxy for suppliers, connected without one.
    [[nodiscard]] CosEventChannelAdmin::ProxyPushConsumer_var supplier()
    {
        CosEventChannelAdmin::ProxyPushConsumer_var proxy = push_consumer();
        proxy->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        return proxy;
    }

    LogLines log_; // before there is a thread that logs
    TestOrb server_;
    TestOrb clients_;
    std::optional<EventService> service_;
    KairosEvents::Channel_var channel_;
};

} // namespace kairos::events
