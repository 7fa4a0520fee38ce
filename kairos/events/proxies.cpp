// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/proxies.h"

#include "kairos/events/CosEventChannelAdmin_skel.h"
#include "kairos/events/delivery.h"
#include "kairos/events/polling.h"
#include "kairos/events/proxy.h"
#include "kairos/events/pull_queue.h"
#include "kairos/mapping/marshal.h"

#include <utility>

namespace kairos::events {
namespace {

using PortableServer::ServantBase;

template <typename Interface, typename Servant>
typename Interface::_ptr_type make_proxy(const std::shared_ptr<Channel>& channel)
{
    auto* const made = new Servant(channel);
    const PortableServer::Servant_var<ServantBase> servant = made;
    const CORBA::Object_var object = channel->add(servant, *made);
    return Interface::_unchecked_narrow(object.in());
}

class ChannelProxy : public Proxy {
  protected:
    explicit ChannelProxy(const std::shared_ptr<Channel>& channel)
        : Proxy(channel), channel_(channel)
    {
    }
    [[nodiscard]] const std::shared_ptr<Channel>& channel() const noexcept { return channel_; }

  private:
    const std::shared_ptr<Channel> channel_;
};

// --- For suppliers -------------------------------------------------------------------------------

constexpr orb::Operation end_push_supplier("disconnect_push_supplier");
constexpr orb::Operation end_pull_supplier("disconnect_pull_supplier");

class PushConsumerProxy final : public POA_CosEventChannelAdmin::ProxyPushConsumer,
                                public ChannelProxy {
  public:
    explicit PushConsumerProxy(const std::shared_ptr<Channel>& channel) : ChannelProxy(channel) {}

    void connect_push_supplier(CosEventComm::PushSupplier_ptr push_supplier) override
    {
        connect(push_supplier);
    }
    void push(const CORBA::Any& data) override
    {
        require_connection();
        channel()->publish(data);
    }
    void disconnect_push_consumer() override { disconnect(); }

  private:
    [[nodiscard]] bool is_consumers() const noexcept override { return false; }
    [[nodiscard]] bool calls_client() const noexcept override { return false; }
    void stop() noexcept override {}
    [[nodiscard]] const orb::Operation& farewell() const noexcept override
    {
        return end_push_supplier;
    }
};

constexpr orb::Operation try_pull_operation("try_pull", orb::Response::required, disconnected);

class AnyPolling final : public Polling {
  public:
    AnyPolling(const std::shared_ptr<Channel>& channel, std::uint64_t proxy,
               CORBA::Object_ptr supplier)
        : Polling(channel, proxy, supplier, try_pull_operation), channel_(channel)
    {
    }

  private:
    [[nodiscard]] bool read_results(cdr::Reader& in) override
    {
        CORBA::Boolean has_event = false;
        mapping::decode(in, data_);
        mapping::decode(in, has_event);
        return has_event;
    }
    bool publish() override
    {
        const CORBA::Any data = std::exchange(data_, {});
        channel_->publish(data);
        return true;
    }

    const std::shared_ptr<Channel> channel_;
    CORBA::Any data_; // of the thread that works
};

class PullConsumerProxy final : public POA_CosEventChannelAdmin::ProxyPullConsumer,
                                public ChannelProxy {
  public:
    explicit PullConsumerProxy(const std::shared_ptr<Channel>& channel) : ChannelProxy(channel) {}

    void connect_pull_supplier(CosEventComm::PullSupplier_ptr pull_supplier) override
    {
        require_client(*channel(), pull_supplier);
        const auto polling = make_intrusive<AnyPolling>(channel(), number(), pull_supplier);
        connect(pull_supplier);
        {
            const std::lock_guard lock(polling_mutex_);
            polling_ = polling;
        }
        if (!is_connected()) return stop(); // it has ended meanwhile
        polling->wake();
    }
    void disconnect_pull_consumer() override { disconnect(); }

  private:
    [[nodiscard]] bool is_consumers() const noexcept override { return false; }
    [[nodiscard]] bool calls_client() const noexcept override { return true; }
    void stop() noexcept override
    {
        const std::lock_guard lock(polling_mutex_);
        if (polling_) polling_->end();
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept override
    {
        return end_pull_supplier;
    }

    std::mutex polling_mutex_; // guards polling_
    IntrusivePtr<AnyPolling> polling_;
};

// --- For consumers -------------------------------------------------------------------------------

constexpr orb::Operation end_push_consumer("disconnect_push_consumer");
constexpr orb::Operation end_pull_consumer("disconnect_pull_consumer");

class PushSupplierProxy final : public POA_CosEventChannelAdmin::ProxyPushSupplier,
                                public ChannelProxy {
  public:
    explicit PushSupplierProxy(const std::shared_ptr<Channel>& channel) : ChannelProxy(channel) {}

    void connect_push_consumer(CosEventComm::PushConsumer_ptr push_consumer) override
    {
        require_client(*channel(), push_consumer);
        const auto delivery = make_intrusive<Delivery>(channel(), number(), push_consumer);
        connect(push_consumer);
        {
            const std::lock_guard lock(delivery_mutex_);
            delivery_ = delivery;
        }
        if (!channel()->add_receiver(number(), IntrusivePtr<RefCounted>(delivery.get()), *delivery))
            stop(); // it has ended meanwhile
    }
    void disconnect_push_supplier() override { disconnect(); }

  private:
    [[nodiscard]] bool is_consumers() const noexcept override { return true; }
    [[nodiscard]] bool calls_client() const noexcept override { return true; }
    void stop() noexcept override
    {
        IntrusivePtr<Delivery> delivery;
        {
            const std::lock_guard lock(delivery_mutex_);
            delivery = std::move(delivery_);
        }
        if (delivery) delivery->end();
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept override
    {
        return end_push_consumer;
    }

    std::mutex delivery_mutex_; // guards delivery_
    IntrusivePtr<Delivery> delivery_;
};

class PullSupplierProxy final : public POA_CosEventChannelAdmin::ProxyPullSupplier,
                                public ChannelProxy {
  public:
    explicit PullSupplierProxy(const std::shared_ptr<Channel>& channel)
        : ChannelProxy(channel), queue_(make_intrusive<PullQueue>(channel))
    {
    }

    void connect_pull_consumer(CosEventComm::PullConsumer_ptr pull_consumer) override
    {
        connect(pull_consumer);
        (void)channel()->add_receiver(number(), IntrusivePtr<RefCounted>(queue_.get()), *queue_);
    }
    CORBA::Any* pull() override
    {
        require_connection();
        EventPtr event = queue_->take();
        if (!event) {
            const WaitingPull waiting(*channel());
            event = queue_->wait(Deadline::after(channel()->limits().pull_max));
        }
        if (event) return give(*event);
        require_connection();
        throw CORBA::TIMEOUT(0, CORBA::COMPLETED_NO,
                             "there was no event for as long as may be, or another pull has come");
    }
    CORBA::Any* try_pull(CORBA::Boolean_out has_event) override
    {
        require_connection();
        const EventPtr event = queue_->take();
        has_event = event != nullptr;
        return event ? give(*event) : new CORBA::Any;
    }
    void disconnect_pull_supplier() override { disconnect(); }

  private:
    [[nodiscard]] bool is_consumers() const noexcept override { return true; }
    [[nodiscard]] bool calls_client() const noexcept override { return false; }
    void stop() noexcept override { queue_->end(); }
    [[nodiscard]] const orb::Operation& farewell() const noexcept override
    {
        return end_pull_consumer;
    }

    [[nodiscard]] CORBA::Any* give(const Event& event)
    {
        channel()->note_delivered();
        return new CORBA::Any(event.data());
    }

    const IntrusivePtr<PullQueue> queue_;
};

} // namespace

CosEventChannelAdmin::ProxyPushConsumer_ptr
make_push_consumer(const std::shared_ptr<Channel>& channel)
{
    return make_proxy<CosEventChannelAdmin::ProxyPushConsumer, PushConsumerProxy>(channel);
}

CosEventChannelAdmin::ProxyPullConsumer_ptr
make_pull_consumer(const std::shared_ptr<Channel>& channel)
{
    return make_proxy<CosEventChannelAdmin::ProxyPullConsumer, PullConsumerProxy>(channel);
}

CosEventChannelAdmin::ProxyPushSupplier_ptr
make_push_supplier(const std::shared_ptr<Channel>& channel)
{
    return make_proxy<CosEventChannelAdmin::ProxyPushSupplier, PushSupplierProxy>(channel);
}

CosEventChannelAdmin::ProxyPullSupplier_ptr
make_pull_supplier(const std::shared_ptr<Channel>& channel)
{
    return make_proxy<CosEventChannelAdmin::ProxyPullSupplier, PullSupplierProxy>(channel);
}

} // namespace kairos::events
