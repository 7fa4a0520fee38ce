// SPDX-License-Identifier: Apache-2.0
//
// The program of `kairos bench events` in which low priorities flood: "server" is a real-time
// channel with a lane for each priority, "client CHANNEL" has a supplier and a consumer for each
// client of a load, each of which sends its next event when it has got the one before. With "raw"
// at the end both are blocking sockets of the same shape: a thread for each supplier, a lane for
// each priority, a thread for each consumer. High ones' are real-time threads wherever the system
// permits it.
#include "kairos/rtevents/RtecEventComm_skel.h"
#include "kairos/rtevents/channel.h"
#include "kairos/rtevents/event_types.h"

#include "bench/c_stream.h"
#include "bench/load_driver.h"
#include "bench/orb_program.h"
#include "bench/realtime.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using kairos::bench::CStream;
using kairos::bench::CubeCall;
using kairos::bench::cubed;
using kairos::bench::Load;
using kairos::bench::reporting;
using RtecEventComm::EventSet;

constexpr CORBA::Short high_corba_priority = 13'041; // SCHED_FIFO 40, where the mapping is linear
constexpr CORBA::ULong octets_of_event = 64;

/// An event that a client waits for: one at a time.
class Arrival {
  public:
    void come(std::uint8_t number)
    {
        const std::lock_guard lock(mutex_);
        number_ = number;
        is_there_ = true;
        changed_.notify_one();
    }
    /// Throws if nothing comes.
    [[nodiscard]] std::uint8_t wait()
    {
        constexpr std::chrono::seconds patience{60};
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return is_there_; }))
            throw std::runtime_error("an event is lost");
        is_there_ = false;
        return number_;
    }

  private:
    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    std::uint8_t number_ = 0;
    bool is_there_ = false;
};

std::string answer_to(const std::string& line, const kairos::bench::Connect& connect)
{
    const auto load = kairos::bench::parse_load(line);
    if (!load) throw std::invalid_argument("not a load: " + line);
    const auto figures = kairos::bench::run_load(*load, connect, [] {});
    return kairos::bench::format_answer(figures, {});
}

// --- By a channel --------------------------------------------------------------------------------

class LoadConsumer final : public POA_RtecEventComm::PushConsumer {
  public:
    void push(const EventSet& events) override { arrival.come(events[0].data.payload[0]); }
    void disconnect_push_consumer() override {}
    Arrival arrival;
};

class LoadSupplier final : public POA_RtecEventComm::PushSupplier {
  public:
    void disconnect_push_supplier() override {}
};

/// A supplier of events of a type that nobody else has, and their consumer.
class EventLoop {
  public:
    EventLoop(RtecEventChannelAdmin::EventChannel_ptr channel, PortableServer::POA_ptr poa,
              bool is_high)
        : poa_(poa)
    {
        static std::atomic<CORBA::Long> last_type{kairos::rtevents::own_types_begin};
        event_.length(1);
        event_[0] = {};
        event_[0].header.type = ++last_type;
        event_[0].header.source = 1;
        event_[0].data.payload.length(octets_of_event);
        RtecEventChannelAdmin::ConsumerQOS wants;
        wants.is_gateway = false;
        wants.dependencies.length(1);
        wants.dependencies[0] = {};
        wants.dependencies[0].event.header.type = event_[0].header.type;
        wants.dependencies[0].rt_info = is_high ? high_corba_priority : 0;
        const RtecEventChannelAdmin::ConsumerAdmin_var consumers = channel->for_consumers();
        out_ = consumers->obtain_push_supplier();
        out_->connect_push_consumer(
            activated<RtecEventComm::PushConsumer>(consumer_.in(), consumer_id_).in(), wants);
        const RtecEventChannelAdmin::SupplierAdmin_var suppliers = channel->for_suppliers();
        in_ = suppliers->obtain_push_consumer();
        in_->connect_push_supplier(
            activated<RtecEventComm::PushSupplier>(supplier_.in(), supplier_id_).in(), {});
    }
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;
    ~EventLoop()
    {
        try {
            in_->disconnect_push_consumer();
            out_->disconnect_push_supplier();
            poa_->deactivate_object(consumer_id_.in());
            poa_->deactivate_object(supplier_id_.in());
        } catch (const CORBA::Exception&) { // the channel has gone first
        }
    }
    [[nodiscard]] std::uint8_t call(std::uint8_t number)
    {
        event_[0].data.payload[0] = number;
        in_->push(event_);
        return cubed(consumer_->arrival.wait());
    }

  private:
    template <typename Interface>
    typename Interface::_var_type activated(PortableServer::Servant servant,
                                            PortableServer::ObjectId_var& id)
    {
        id = poa_->activate_object(servant);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return Interface::_unchecked_narrow(object.in());
    }

    const PortableServer::POA_ptr poa_;
    PortableServer::Servant_var<LoadConsumer> consumer_ = new LoadConsumer;
    PortableServer::Servant_var<LoadSupplier> supplier_ = new LoadSupplier;
    PortableServer::ObjectId_var consumer_id_;
    PortableServer::ObjectId_var supplier_id_;
    RtecEventChannelAdmin::ProxyPushSupplier_var out_;
    RtecEventChannelAdmin::ProxyPushConsumer_var in_;
    EventSet event_;
};

int serve_channel(CORBA::ORB_ptr orb)
{
    kairos::rtevents::ChannelOptions options;
    options.dispatching = kairos::rtevents::Dispatching::priorities;
    options.priority_of = [](RtecBase::handle_t handle) {
        return static_cast<CORBA::Short>(handle);
    };
    const kairos::rtevents::RealTimeEventChannel made(orb, options);
    const RtecEventChannelAdmin::EventChannel_var channel = made.reference();
    return kairos::bench::serve(orb, {channel.in()});
}

int run_clients(CORBA::ORB_ptr orb, const std::string& reference)
{
    int status = 0;
    {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        object = orb->string_to_object(reference.c_str());
        const auto channel = RtecEventChannelAdmin::EventChannel_var(
            RtecEventChannelAdmin::EventChannel::_narrow(object.in()));
        const auto connect = [&](bool is_high) -> CubeCall {
            return reporting([&] {
                return [loop = std::make_shared<EventLoop>(channel.in(), poa.in(), is_high)](
                           std::uint8_t number) {
                    return reporting([&] { return loop->call(number); });
                };
            });
        };
        status = kairos::bench::serve_lines("client", [&](const std::string& line) {
            return reporting([&] { return answer_to(line, connect); });
        });
    }
    orb->destroy();
    return status;
}

// --- By sockets ----------------------------------------------------------------------------------

/// What a connection begins with.
struct RawStart {
    std::uint32_t is_high = 0;
    std::uint32_t is_consumer = 0;
    std::uint32_t client = 0; // the consumer's that gets the supplier's messages
    std::uint32_t octets = 0; // of each message
};
constexpr std::size_t raw_octets_max = 1024;
using RawMessage = std::array<char, raw_octets_max>;

template <typename Record>
bool receive(CStream& stream, Record& record)
{
    return stream.receive_all(reinterpret_cast<char*>(&record), sizeof record);
}

template <typename Record>
void send(CStream& stream, const Record& record)
{
    stream.send_all(reinterpret_cast<const char*>(&record), sizeof record);
}

/// A queue, and the thread that sends what is in it.
class RawLane {
  public:
    explicit RawLane(bool is_high)
    {
        std::thread([this, is_high] {
            if (is_high) (void)kairos::bench::raise_this_thread();
            run();
        }).detach();
    }
    void put(const std::shared_ptr<CStream>& to, const RawMessage& message, std::size_t octets)
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({to, message, octets});
        changed_.notify_one();
    }

  private:
    struct Item {
        std::shared_ptr<CStream> to;
        RawMessage message;
        std::size_t octets;
    };
    void run()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return !waiting_.empty(); });
            const Item item = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            try {
                item.to->send_all(item.message.data(), item.octets);
            } catch (const std::exception&) { // the client has gone
            }
            lock.lock();
        }
    }

    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    std::deque<Item> waiting_;
};

class RawServer {
  public:
    void serve(CStream stream)
    {
        RawStart start;
        if (!receive(stream, start) || start.octets > raw_octets_max || start.octets == 0) return;
        if (start.is_consumer != 0) {
            const auto mine = std::make_shared<CStream>(std::move(stream));
            {
                const std::lock_guard lock(mutex_);
                consumers_[start.client] = mine;
            }
            send(*mine, start); // it is known from here on
            return;
        }
        if (start.is_high != 0) (void)kairos::bench::raise_this_thread();
        std::shared_ptr<CStream> to;
        RawMessage message{};
        while (stream.receive_all(message.data(), start.octets)) {
            if (!to) to = consumer(start.client);
            if (to) (start.is_high != 0 ? high_ : low_).put(to, message, start.octets);
        }
        const std::lock_guard lock(mutex_);
        consumers_.erase(start.client);
    }

  private:
    [[nodiscard]] std::shared_ptr<CStream> consumer(std::uint32_t client)
    {
        const std::lock_guard lock(mutex_);
        const auto found = consumers_.find(client);
        return found == consumers_.end() ? nullptr : found->second;
    }

    RawLane high_{true};
    RawLane low_{false};
    std::mutex mutex_; // guards what follows; inside nobody's
    std::map<std::uint32_t, std::shared_ptr<CStream>> consumers_;
};

int serve_raw()
{
    static RawServer server; // which its threads outlive
    std::string reference;
    const int listener = kairos::bench::listen_tcp(reference);
    std::thread([listener] {
        for (;;) {
            auto stream = std::make_shared<CStream>(kairos::bench::accept_one(listener));
            std::thread([stream] {
                try {
                    server.serve(std::move(*stream));
                } catch (const std::exception&) { // the client has gone
                }
            }).detach();
        }
    }).detach();
    kairos::bench::announce_ready(reference);
    kairos::bench::wait_for_quit();
    std::_Exit(0); // nobody joins the threads, which wait for clients
}

class RawLoop {
  public:
    RawLoop(const std::string& reference, const Load& load, bool is_high)
        : octets_(load.request_bytes), in_(kairos::bench::connect_tcp(reference)),
          out_(kairos::bench::connect_tcp(reference))
    {
        static std::atomic<std::uint32_t> last{0};
        RawStart start{
            .is_high = is_high ? 1u : 0u, .is_consumer = 1, .client = ++last, .octets = octets_};
        if (octets_ == 0 || octets_ > raw_octets_max) throw std::invalid_argument("octets");
        send(out_, start);
        if (!receive(out_, start)) throw std::runtime_error("the server closed the connection");
        start.is_consumer = 0;
        send(in_, start);
        reader_ = std::thread([this, is_high] {
            if (is_high) (void)kairos::bench::raise_this_thread();
            read();
        });
    }
    RawLoop(const RawLoop&) = delete;
    RawLoop& operator=(const RawLoop&) = delete;
    ~RawLoop()
    {
        shutdown(in_.descriptor(), SHUT_RDWR);
        shutdown(out_.descriptor(), SHUT_RDWR);
        reader_.join();
    }
    [[nodiscard]] std::uint8_t call(std::uint8_t number)
    {
        message_[octets_ - 1] = static_cast<char>(number);
        in_.send_all(message_.data(), octets_);
        return cubed(arrival_.wait());
    }

  private:
    void read()
    {
        RawMessage message{};
        try {
            while (out_.receive_all(message.data(), octets_))
                arrival_.come(static_cast<std::uint8_t>(message[octets_ - 1]));
        } catch (const std::exception&) { // the server has gone, and the client hears of nothing
        }
    }

    const std::uint32_t octets_;
    CStream in_;
    CStream out_;
    RawMessage message_{};
    Arrival arrival_;
    std::thread reader_;
};

int run_raw_clients(const std::string& reference)
{
    return kairos::bench::serve_lines("client", [&](const std::string& line) {
        const auto load = kairos::bench::parse_load(line);
        if (!load) throw std::invalid_argument("not a load: " + line);
        return answer_to(line, [&](bool is_high) -> CubeCall {
            return [loop = std::make_shared<RawLoop>(reference, *load, is_high)](
                       std::uint8_t number) { return loop->call(number); };
        });
    });
}

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve_channel(orb);
    if (arguments.size() == 2 && arguments[0] == "client") return run_clients(orb, arguments[1]);
    throw std::invalid_argument("usage: server [raw] | client REFERENCE [raw]");
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.empty() || arguments.back() != "raw")
        return kairos::bench::orb_main(argc, argv, run);
    try {
        if (arguments.front() == "server") return serve_raw();
        if (arguments.size() == 3) return run_raw_clients(arguments[1]);
    } catch (const std::exception& failure) {
        std::cerr << argv[0] << ": " << failure.what() << '\n';
    }
    return 1;
}
