// SPDX-License-Identifier: Apache-2.0
//
// The programs of `kairos bench events`. "server N" has N consumers, which count what they are
// given; "channel", "omnievents", "rt" and "rt-lanes" connect them to a channel, a Kairos's of this
// process or one of an omniEvents that it starts; "client" supplies events, to the channel or
// without one. With "rt" behind its number the server's are consumers of real-time channels.
#include "events.h"
#include "events_skel.h"

#include "bench/orb_program.h"

#include <kairos/events/CosEventChannelAdmin.h>
#include <kairos/events/CosEventComm_skel.h>
#include <kairos/events/service.h>
#include <kairos/lifecycle/CosLifeCycle.h>
#include <kairos/rtevents/RtecEventComm_skel.h>
#include <kairos/rtevents/channel.h>
#include <kairos/rtevents/event_types.h>

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace CosEventChannelAdmin;
using kairos::bench::Exercise;
using kairos::bench::LatencySummary;
using kairos::bench::MessageBytes;
using kairos::bench::repeat;
using kairos::bench::reporting;

constexpr CORBA::ULong event_octets = 64;

CORBA::Any make_event()
{
    CORBA::OctetSeq octets;
    octets.length(event_octets);
    std::fill_n(octets.get_buffer(), event_octets, CORBA::Octet{7});
    CORBA::Any event;
    event <<= octets;
    return event;
}

/// How many events there were. Any thread.
class Count {
  public:
    void add()
    {
        const std::lock_guard lock(mutex_);
        ++number_;
        if (number_ >= awaited_) changed_.notify_all();
    }
    [[nodiscard]] std::uint64_t number() const
    {
        const std::lock_guard lock(mutex_);
        return number_;
    }
    /// Returns once there are so many. Throws TIMEOUT where some were lost. One thread at a time.
    void await(std::uint64_t number)
    {
        std::unique_lock lock(mutex_);
        awaited_ = number;
        const bool are_there = changed_.wait_for(lock, patience, [&] { return number_ >= number; });
        awaited_ = nobody;
        if (!are_there) throw CORBA::TIMEOUT(0, CORBA::COMPLETED_NO);
    }

  private:
    static constexpr std::uint64_t nobody = ~std::uint64_t{0};
    static constexpr std::chrono::seconds patience{60};

    mutable std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    std::uint64_t number_ = 0;
    std::uint64_t awaited_ = nobody;
};

class Counter final : public POA_Bench::EventCounter {
  public:
    explicit Counter(Count& count) : count_(count) {}
    void take(const CORBA::Any&) override { count_.add(); }
    void relay(const CORBA::Any& event, Bench::EventSink_ptr to) override { to->take(event); }
    CORBA::ULongLong received() override { return count_.number(); }
    void await(CORBA::ULongLong number) override { count_.await(number); }

  private:
    Count& count_;
};

class Sink final : public POA_Bench::EventSink {
  public:
    explicit Sink(Count& count) : count_(count) {}
    void take(const CORBA::Any&) override { count_.add(); }

  private:
    Count& count_;
};

class Consumer final : public POA_CosEventComm::PushConsumer {
  public:
    explicit Consumer(Count& count) : count_(count) {}
    void push(const CORBA::Any&) override { count_.add(); }
    void disconnect_push_consumer() override {}

  private:
    Count& count_;
};

class RealTimeConsumer final : public POA_RtecEventComm::PushConsumer {
  public:
    explicit RealTimeConsumer(Count& count) : count_(count) {}
    void push(const RtecEventComm::EventSet&) override { count_.add(); }
    void disconnect_push_consumer() override {}

  private:
    Count& count_;
};

template <typename Servant>
int serve(CORBA::ORB_ptr orb, std::size_t consumers)
{
    Count count;
    Counter counter(count);
    std::vector<std::unique_ptr<Servant>> servants;
    std::vector<CORBA::Object_var> objects{CORBA::Object_var(counter._this())};
    for (std::size_t i = 0; i < consumers; ++i) {
        servants.push_back(std::make_unique<Servant>(count));
        objects.emplace_back(servants.back()->_this());
    }
    std::vector<CORBA::Object_ptr> all;
    for (const CORBA::Object_var& object : objects)
        all.push_back(object.in());
    return kairos::bench::serve(orb, all);
}

// --- The channel ---------------------------------------------------------------------------------

void connect(CORBA::ORB_ptr orb, EventChannel_ptr channel, const std::string& reference)
{
    const CORBA::Object_var object = orb->string_to_object(reference.c_str());
    const auto consumer =
        CosEventComm::PushConsumer_var(CosEventComm::PushConsumer::_unchecked_narrow(object.in()));
    const ConsumerAdmin_var admin = channel->for_consumers();
    const ProxyPushSupplier_var proxy = admin->obtain_push_supplier();
    proxy->connect_push_consumer(consumer.in());
}

void connect(RtecEventChannelAdmin::EventChannel_ptr channel, RtecEventComm::PushConsumer_ptr to)
{
    RtecEventChannelAdmin::ConsumerQOS wants;
    wants.is_gateway = false;
    wants.dependencies.length(1);
    wants.dependencies[0] = {};
    wants.dependencies[0].event.header.type = kairos::rtevents::own_types_begin;
    const RtecEventChannelAdmin::ConsumerAdmin_var admin = channel->for_consumers();
    const RtecEventChannelAdmin::ProxyPushSupplier_var proxy = admin->obtain_push_supplier();
    proxy->connect_push_consumer(to, wants);
}

void connect(CORBA::ORB_ptr orb, RtecEventChannelAdmin::EventChannel_ptr channel,
             const std::string& reference)
{
    const CORBA::Object_var object = orb->string_to_object(reference.c_str());
    connect(channel, RtecEventComm::PushConsumer_var(
                         RtecEventComm::PushConsumer::_unchecked_narrow(object.in()))
                         .in());
}

/// Connects the consumers; what the client is told is the counter, and the channel.
template <typename Channel>
int pass_on(CORBA::ORB_ptr orb, Channel channel, const std::vector<std::string>& told)
{
    for (std::size_t i = 1; i < told.size(); ++i)
        connect(orb, channel, told[i]);
    const CORBA::String_var text = orb->object_to_string(channel);
    kairos::bench::announce_ready(told.front() + " " + text.in());
    kairos::bench::wait_for_quit();
    return 0;
}

void activate_root(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
}

int be_real_time_channel(CORBA::ORB_ptr orb, kairos::rtevents::Dispatching dispatching,
                         const std::vector<std::string>& told)
{
    activate_root(orb);
    int status = 0;
    {
        kairos::rtevents::ChannelOptions options;
        options.dispatching = dispatching;
        const kairos::rtevents::RealTimeEventChannel made(orb, options);
        const RtecEventChannelAdmin::EventChannel_var channel = made.reference();
        status = pass_on(orb, channel.in(), told);
    }
    orb->destroy();
    return status;
}

int be_channel(CORBA::ORB_ptr orb, const std::vector<std::string>& told)
{
    activate_root(orb);
    int status = 0;
    {
        kairos::events::EventService service(orb);
        const KairosEvents::Channel_var channel = service.create_channel("Bench");
        status = pass_on(orb, channel.in(), told);
    }
    orb->destroy();
    return status;
}

/// Debian's omniEvents, which ends with this process.
class OmniEvents {
  public:
    OmniEvents()
    {
        const std::string port = unused_port();
        int ends[2];
        if (pipe(ends) != 0) throw std::runtime_error("no pipe");
        process_ = fork();
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(ends[1], STDOUT_FILENO);
            execlp("omniEvents", "omniEvents", "-f", "-v", "-t", "/dev/stdout", "-p", port.c_str(),
                   "-l", folder_.c_str(), "-ORBInitRef",
                   "NameService=corbaloc::127.0.0.1:9/NameService", nullptr);
            _exit(127);
        }
        close(ends[1]);
        said_ = fdopen(ends[0], "r");
        char line[4096];
        while (reference_.empty() && std::fgets(line, sizeof line, said_) != nullptr)
            if (const std::string text(line); text.find("IOR:") != std::string::npos)
                reference_ = text.substr(text.find("IOR:"), text.find_last_not_of(" \r\n") + 1);
        if (reference_.empty()) throw std::runtime_error("omniEvents did not start");
    }
    ~OmniEvents()
    {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        std::fclose(said_);
        std::error_code failure;
        std::filesystem::remove_all(folder_, failure);
    }
    OmniEvents(const OmniEvents&) = delete;
    OmniEvents& operator=(const OmniEvents&) = delete;

    [[nodiscard]] EventChannel_ptr make_channel(CORBA::ORB_ptr orb) const
    {
        CORBA::Object_var object = orb->string_to_object(reference_.c_str());
        const auto factory = CosLifeCycle::GenericFactory_var(
            CosLifeCycle::GenericFactory::_unchecked_narrow(object.in()));
        CosLifeCycle::Key key;
        key.length(1);
        key[0].id = "EventChannel";
        key[0].kind = "object interface";
        object = factory->create_object(key, CosLifeCycle::Criteria());
        return EventChannel::_narrow(object.in());
    }

  private:
    static std::string unused_port()
    {
        const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (bind(descriptor, any, size) != 0 || getsockname(descriptor, any, &size) != 0)
            throw std::runtime_error("no port");
        close(descriptor);
        return std::to_string(ntohs(address.sin_port));
    }
    static std::string new_folder()
    {
        std::string path = std::filesystem::temp_directory_path() / "kairosXXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no folder");
        return path;
    }

    const std::string folder_ = new_folder();
    pid_t process_ = 0;
    std::FILE* said_ = nullptr; // open until its end, so that it can go on writing
    std::string reference_;
};

// --- The supplier --------------------------------------------------------------------------------

/// How an event gets from the supplier to its consumers.
class Passage {
  public:
    Passage() = default;
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    virtual ~Passage() = default;
    /// To all consumers of the server.
    virtual void push(const CORBA::Any& event) = 0;
    /// To a consumer in this process, which counts.
    virtual void push_here(const CORBA::Any& event) = 0;
    /// Before others than push_here, and after: whether there is that consumer.
    virtual void connect_here() {}
    virtual void disconnect_here() {}
};

/// One oneway call, or one more that leads back here.
class Oneways final : public Passage {
  public:
    Oneways(Bench::EventCounter_ptr counter, Count& here) : counter_(counter), sink_(here)
    {
        here_ = sink_._this();
    }
    void push(const CORBA::Any& event) override { counter_->take(event); }
    void push_here(const CORBA::Any& event) override { counter_->relay(event, here_.in()); }

  private:
    const Bench::EventCounter_ptr counter_;
    Sink sink_;
    Bench::EventSink_var here_;
};

ProxyPushConsumer_ptr supplier_of(EventChannel_ptr channel)
{
    const SupplierAdmin_var admin = channel->for_suppliers();
    ProxyPushConsumer_var proxy = admin->obtain_push_consumer();
    proxy->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    return proxy._retn();
}

class ThroughChannel final : public Passage {
  public:
    ThroughChannel(EventChannel_ptr channel, Count& here)
        : channel_(EventChannel::_duplicate(channel)), consumer_(here), proxy_(supplier_of(channel))
    {
    }
    void push(const CORBA::Any& event) override { proxy_->push(event); }
    void push_here(const CORBA::Any& event) override { proxy_->push(event); }
    void connect_here() override
    {
        const CosEventComm::PushConsumer_var own = consumer_._this();
        const ConsumerAdmin_var admin = channel_->for_consumers();
        from_ = admin->obtain_push_supplier();
        from_->connect_push_consumer(own.in());
    }
    void disconnect_here() override { from_->disconnect_push_supplier(); }

  private:
    const EventChannel_var channel_;
    Consumer consumer_;
    const ProxyPushConsumer_var proxy_;
    ProxyPushSupplier_var from_;
};

class RealTimeSupplier final : public POA_RtecEventComm::PushSupplier {
  public:
    void disconnect_push_supplier() override {}
};

class ThroughRealTimeChannel final : public Passage {
  public:
    ThroughRealTimeChannel(RtecEventChannelAdmin::EventChannel_ptr channel, Count& here)
        : channel_(RtecEventChannelAdmin::EventChannel::_duplicate(channel)), consumer_(here)
    {
        const RtecEventChannelAdmin::SupplierAdmin_var admin = channel->for_suppliers();
        proxy_ = admin->obtain_push_consumer();
        const RtecEventComm::PushSupplier_var own = supplier_._this();
        proxy_->connect_push_supplier(own.in(), {});
        event_.length(1);
        event_[0] = {};
        event_[0].header.type = kairos::rtevents::own_types_begin;
        event_[0].header.source = 1;
        event_[0].data.payload.length(event_octets);
    }
    void push(const CORBA::Any&) override { proxy_->push(event_); }
    void push_here(const CORBA::Any&) override { proxy_->push(event_); }
    void connect_here() override
    {
        const RtecEventComm::PushConsumer_var own = consumer_._this();
        connect(channel_.in(), own.in());
    }

  private:
    const RtecEventChannelAdmin::EventChannel_var channel_;
    RealTimeConsumer consumer_;
    RealTimeSupplier supplier_;
    RtecEventChannelAdmin::ProxyPushConsumer_var proxy_;
    RtecEventComm::EventSet event_;
};

class Supplier final : public kairos::bench::Client {
  public:
    Supplier(Passage& passage, Bench::EventCounter_ptr counter, std::size_t consumers, Count& here)
        : passage_(passage), counter_(counter), consumers_(consumers), here_(here)
    {
    }
    /// Until a consumer in this process has each event.
    LatencySummary latency(const Exercise& exercise) override
    {
        return reporting([&] {
            const auto once = [&] {
                const std::uint64_t before = here_.number();
                passage_.push_here(event_);
                here_.await(before + 1);
            };
            passage_.connect_here();
            repeat(kairos::bench::warm_up_calls, once);
            const LatencySummary summary = kairos::bench::time_each(exercise.calls, once);
            passage_.disconnect_here();
            return summary;
        });
    }
    /// Until all consumers have all events.
    double ttcp_seconds(const Exercise& exercise) override
    {
        return reporting([&] {
            supply(exercise.calls / 10 + 1);
            const std::int64_t start = kairos::bench::now_ns();
            supply(exercise.calls);
            return static_cast<double>(kairos::bench::now_ns() - start) / 1e9;
        });
    }
    /// One after the other: what is counted then does not depend on how far who is ahead.
    void call(const Exercise& exercise) override
    {
        reporting([&] { repeat(exercise.calls, [this] { supply(1); }); });
    }
    MessageBytes message_bytes(const Exercise&) override
    {
        return reporting([&] { return kairos::bench::bytes_of_a_call([this] { supply(1); }); });
    }

  private:
    /// As fast as the slowest consumer takes them: channels drop what they have no room for.
    void supply(std::uint32_t events)
    {
        constexpr std::uint32_t ahead = 400;
        constexpr std::uint32_t step = 100;
        const std::uint64_t before = counter_->received();
        for (std::uint32_t sent = 0; sent < events; ++sent) {
            if (sent % step == 0 && sent >= ahead)
                counter_->await(before + std::uint64_t{sent - ahead + step} * consumers_);
            passage_.push(event_);
        }
        counter_->await(before + std::uint64_t{events} * consumers_);
    }

    const CORBA::Any event_ = make_event();
    Passage& passage_;
    const Bench::EventCounter_ptr counter_;
    const std::size_t consumers_;
    Count& here_;
};

/// With the counter alone events go without a channel.
int supply(CORBA::ORB_ptr orb, const std::vector<std::string>& told, std::size_t consumers)
{
    activate_root(orb);
    const CORBA::Object_var object = orb->string_to_object(told.at(0).c_str());
    const Bench::EventCounter_var counter = Bench::EventCounter::_narrow(object.in());
    Count here;
    std::unique_ptr<Passage> passage;
    if (consumers == 0) {
        passage = std::make_unique<Oneways>(counter.in(), here);
    } else {
        const CORBA::Object_var between = orb->string_to_object(told.at(1).c_str());
        const auto real_time = RtecEventChannelAdmin::EventChannel_var(
            RtecEventChannelAdmin::EventChannel::_narrow(between.in()));
        if (!CORBA::is_nil(real_time.in())) {
            passage = std::make_unique<ThroughRealTimeChannel>(real_time.in(), here);
        } else {
            const EventChannel_var channel = EventChannel::_narrow(between.in());
            passage = std::make_unique<ThroughChannel>(channel.in(), here);
        }
    }
    Supplier supplier(*passage, counter.in(), std::max<std::size_t>(consumers, 1), here);
    const int status = kairos::bench::serve_orders(supplier);
    orb->destroy(); // before the consumers here
    return status;
}

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    const std::string role = arguments.empty() ? "" : arguments.front();
    if (role == "server" && arguments.size() == 2)
        return serve<Consumer>(orb, std::stoul(arguments[1]));
    if (role == "server" && arguments.size() == 3)
        return serve<RealTimeConsumer>(orb, std::stoul(arguments[1]));
    const std::vector<std::string> told(
        arguments.empty() ? arguments.begin() : arguments.begin() + 1, arguments.end());
    if (role == "channel" && !told.empty()) return be_channel(orb, told);
    using kairos::rtevents::Dispatching;
    if (role == "rt" && !told.empty())
        return be_real_time_channel(orb, Dispatching::reactive, told);
    if (role == "rt-lanes" && !told.empty())
        return be_real_time_channel(orb, Dispatching::priorities, told);
    if (role == "omnievents" && !told.empty()) {
        const OmniEvents daemon;
        const EventChannel_var channel = daemon.make_channel(orb);
        const int status = pass_on(orb, channel.in(), told);
        orb->destroy();
        return status;
    }
    if (role == "client" && told.size() >= 2)
        return supply(orb, told, std::stoul(arguments.back()));
    throw std::invalid_argument("usage: server CONSUMERS [rt] | channel REFERENCE… | "
                                "omnievents REFERENCE… | rt REFERENCE… | rt-lanes REFERENCE… | "
                                "client COUNTER [CHANNEL] CONSUMERS");
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
