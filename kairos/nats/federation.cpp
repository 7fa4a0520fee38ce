// SPDX-License-Identifier: Apache-2.0
#include "kairos/nats/federation.h"

#include "kairos/base/log.h"
#include "kairos/codec/octets.h"
#include "kairos/net/thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <nats/nats.h>
#include <pthread.h>
#include <source_location>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::nats {
namespace {

constexpr std::size_t subject_octets_max = 1024;
/// What one event costs in a queue beside its octets, about.
constexpr std::size_t waiting_cost = 128;
constexpr std::int64_t connect_timeout_ms = 2000;
/// A server that takes nothing for so long is given up for another.
constexpr std::int64_t write_deadline_ms = 2000;
/// Who does not answer two of these is gone.
constexpr std::int64_t ping_interval_ms = 5000;
constexpr std::chrono::milliseconds pause_min{100};
constexpr std::chrono::milliseconds pause_max{10'000};
/// How long leaving waits for what is under way.
constexpr std::chrono::milliseconds farewell{500};

[[noreturn]] void refuse(const std::string& reason)
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, reason);
}

void check(natsStatus status, const std::string& what)
{
    if (status != NATS_OK)
        throw CORBA::INITIALIZE(0, CORBA::COMPLETED_NO,
                                "NATS: " + what + ": " + natsStatus_GetText(status));
}

/// Without its user and password, for the log and for exceptions.
std::string_view shown_server(std::string_view server)
{
    const std::size_t scheme = server.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t user = server.rfind('@');
    return server.substr(user == std::string_view::npos || user < begin ? begin : user + 1);
}

std::vector<std::string> servers_of(const std::string& list)
{
    std::vector<std::string> servers;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        std::string server = list.substr(begin, end - begin);
        if (!server.starts_with("nats://") && !server.starts_with("tls://"))
            refuse("a NATS server is nats://HOST[:PORT] or tls://HOST[:PORT]: " +
                   std::string(shown_server(server)));
        if (shown_server(server).empty()) refuse("a NATS server without a host");
        servers.push_back(std::move(server));
        begin = end + 1;
    }
    return servers;
}

void check_subject(const std::string& subject)
{
    const auto is_plain = [](char c) { return c > ' ' && c != '*' && c != '>' && c != '\x7f'; };
    const bool is_good = subject.size() <= subject_octets_max && !subject.empty() &&
                         subject.front() != '.' && subject.back() != '.' &&
                         subject.find("..") == std::string::npos &&
                         std::ranges::all_of(subject, is_plain);
    if (!is_good) refuse("no subject of NATS: names separated by dots, without wildcards");
}

} // namespace

struct Destroy {
    void operator()(natsOptions* options) const noexcept { natsOptions_Destroy(options); }
    void operator()(natsConnection* connection) const noexcept
    {
        natsConnection_Destroy(connection);
    }
    void operator()(natsSubscription* subscription) const noexcept
    {
        natsSubscription_Destroy(subscription);
    }
};
using Options = std::unique_ptr<natsOptions, Destroy>;
using Connection = std::unique_ptr<natsConnection, Destroy>;
using Subscription = std::unique_ptr<natsSubscription, Destroy>;

/// Any thread.
struct Counts {
    std::atomic<bool> is_connected{false};
    std::atomic<std::uint64_t> connections{0};
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> unsent{0};
    std::atomic<std::uint64_t> received{0};
    std::atomic<std::uint64_t> unreceived{0};
    std::atomic<std::uint64_t> malformed{0};
};

/// A line of a federation that others can cause as often as they like.
void say(const Counts& counts, const log::Line& line,
         const std::source_location& place = std::source_location::current()) noexcept
{
    log::write_limited(log::Level::warning, reinterpret_cast<std::uintptr_t>(&counts), line, place);
}

/// Objects that the bus's library calls back by numbers: it does so from threads of its own, and
/// after what it was told is gone.
template <typename Target>
class CallBacks {
  public:
    [[nodiscard]] static void* add(const std::shared_ptr<Target>& target)
    {
        CallBacks& all = one();
        const std::lock_guard lock(all.mutex_);
        std::erase_if(all.targets_, [](const auto& entry) { return entry.second.expired(); });
        all.targets_[++all.last_] = target;
        return reinterpret_cast<void*>(all.last_); // NOLINT(performance-no-int-to-ptr): a number
    }
    [[nodiscard]] static std::shared_ptr<Target> find(void* number)
    {
        CallBacks& all = one();
        const std::lock_guard lock(all.mutex_);
        const auto found = all.targets_.find(reinterpret_cast<std::uintptr_t>(number));
        return found == all.targets_.end() ? nullptr : found->second.lock();
    }

  private:
    static CallBacks& one()
    {
        static CallBacks& all = *new CallBacks; // the library's threads may outlive statics
        return all;
    }
    std::mutex mutex_; // guards what follows
    std::map<std::uintptr_t, std::weak_ptr<Target>> targets_;
    std::uintptr_t last_ = 0;
};

// --- What comes in -------------------------------------------------------------------------------

/// Gives what comes for one channel to its consumers.
class Receiver {
  public:
    Receiver(CORBA::ORB_ptr orb, std::shared_ptr<Counts> counts, std::shared_ptr<events::Feed> feed)
        : orb_(CORBA::ORB::_duplicate(orb)), counts_(std::move(counts)), feed_(std::move(feed))
    {
    }

    /// Nothing is given any more when this returns, which waits for what is being looked at.
    void end() noexcept
    {
        const std::lock_guard lock(mutex_);
        feed_.reset();
    }
    /// A message of the library's, in its thread.
    static void came(natsConnection*, natsSubscription*, natsMsg* message, void* closure)
    {
        if (const auto self = CallBacks<Receiver>::find(closure))
            self->take({reinterpret_cast<const std::byte*>(natsMsg_GetData(message)),
                        static_cast<std::size_t>(std::max(natsMsg_GetDataLength(message), 0))});
        natsMsg_Destroy(message);
    }

  private:
    void take(Bytes octets) noexcept
    {
        const std::lock_guard lock(mutex_);
        if (!feed_) return;
        CORBA::Any event;
        try {
            const bool little_endian = !octets.empty() && octets[0] == std::byte{1};
            CORBA::Boolean flag = false;
            // The library has no regard for how values are aligned.
            aligned_.assign(octets.begin(), octets.end());
            codec::OctetReader in(aligned_, little_endian, orb_.in());
            in.get(flag).get(event);
            if (in.left() != 0) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "more than an event");
        } catch (const std::exception& failure) {
            counts_->malformed.fetch_add(1);
            say(*counts_, log::Line()
                              << "events: a message of NATS is no event: " << failure.what());
            return;
        }
        try {
            feed_->publish(event);
            counts_->received.fetch_add(1);
        } catch (const std::exception& failure) {
            counts_->unreceived.fetch_add(1);
            say(*counts_, log::Line() << "events: an event of another process is not given to "
                                         "consumers: "
                                      << failure.what());
        }
    }

    const CORBA::ORB_var orb_;
    const std::shared_ptr<Counts> counts_;
    std::mutex mutex_; // guards what follows, while a message is looked at
    std::shared_ptr<events::Feed> feed_;
    std::vector<std::byte> aligned_;
};

// --- The connection ------------------------------------------------------------------------------

/// Everything of a federation but its owner: who calls the library, in one thread, so that nobody
/// else waits for a server; what goes out by it, and the channels. The thread may outlive the
/// federation where the library does not return.
class Bus : public std::enable_shared_from_this<Bus> {
  public:
    Bus(CORBA::ORB_ptr orb, FederationOptions options)
        : orb_(CORBA::ORB::_duplicate(orb)), options_(std::move(options))
    {
    }

    /// Starts the thread. Once, before anything else.
    void begin()
    {
        const std::vector<std::string> servers = servers_of(options_.servers);
        name_ = shown_server(servers.front());
        settings_ = settings_for(servers, CallBacks<Bus>::add(shared_from_this()));
        auto thread =
            net::Thread::start({.name = "kairos-nats"}, [self = shared_from_this()]() mutable {
                self->run();
                self.reset();
            });
        if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
        thread_ = std::make_unique<net::Thread>(std::move(thread).value());
    }

    /// From here on no event comes or goes. Returns when what waited was sent, or after the time
    /// that there is for that.
    void leave() noexcept
    {
        std::vector<std::shared_ptr<Receiver>> receivers;
        {
            std::unique_lock lock(mutex_);
            if (std::exchange(ends_, true)) return;
            changed_.notify_all();
            for (const Joined& one : joined_)
                receivers.push_back(one.receiver);
            changed_.wait_for(lock, farewell, [&] { return has_ended_; });
        }
        for (const auto& receiver : receivers)
            receiver->end();
    }
    /// Waits for the thread unless the library keeps it.
    void end() noexcept
    {
        leave();
        {
            const std::lock_guard lock(mutex_);
            if (!has_ended_) {
                log::warning(log::Line() << "events: the NATS server at " << name_
                                         << " does not answer; the thread that asks it is left");
                leave_thread();
                return;
            }
        }
        thread_->join();
    }

    /// Joins a channel from now on; throws BAD_PARAM where another has the subject.
    void join(const std::string& subject, const std::shared_ptr<events::Feed>& feed)
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(joined_, [](const Joined& one) { return one.feed->has_ended(); });
        for (const Joined& one : joined_)
            if (one.subject == subject)
                refuse("two channels of a federation with one subject: " + subject);
        joined_.push_back(
            {subject, feed, std::make_shared<Receiver>(orb_.in(), counts_, feed), ++last_joined_});
        changed_.notify_all();
    }

    /// An event for other processes. Never waits.
    void put(const std::shared_ptr<const std::string>& subject, const CORBA::Any& event) noexcept
    {
        const char* reason = nullptr;
        try {
            codec::OctetWriter out;
            out.put(static_cast<CORBA::Boolean>(native_little_endian)).put(event);
            const Bytes octets = out.octets();
            if (keep({subject, {octets.begin(), octets.end()}})) return;
            reason = "as many wait as may";
        } catch (const CORBA::Exception& failure) { // a value that cannot be encoded
            reason = failure._name();
        } catch (const std::exception&) {
            reason = "there is no memory for it";
        }
        lose(reason);
    }

    [[nodiscard]] FederationFigures figures() const
    {
        return {.is_connected = counts_->is_connected,
                .connections = counts_->connections,
                .failures = counts_->failures,
                .sent = counts_->sent,
                .unsent = counts_->unsent,
                .received = counts_->received,
                .unreceived = counts_->unreceived,
                .malformed = counts_->malformed};
    }

  private:
    /// What the thread uses is its own; nobody joins it.
    void leave_thread() noexcept
    {
        union Left {
            Left() : threads() {}
            ~Left() {} // NOLINT(modernize-use-equals-default): they are never joined
            std::vector<std::unique_ptr<net::Thread>> threads;
        };
        static Left left;
        static std::mutex mutex; // guards left
        ::pthread_detach(thread_->native_handle());
        const std::lock_guard lock(mutex);
        left.threads.push_back(std::move(thread_));
    }

    struct Message {
        std::shared_ptr<const std::string> subject;
        std::vector<std::byte> octets;
        [[nodiscard]] std::size_t cost() const noexcept { return octets.size() + waiting_cost; }
    };
    struct Joined {
        std::string subject;
        std::shared_ptr<events::Feed> feed;
        std::shared_ptr<Receiver> receiver;
        std::uint64_t number;
    };
    /// What a channel has on the present connection.
    struct Subscribed {
        std::uint64_t joined;
        std::string subject;
        Subscription subscription;
        std::uint64_t dropped = 0; // that were counted
    };

    [[nodiscard]] Options settings_for(const std::vector<std::string>& servers, void* number) const
    {
        natsOptions* made = nullptr;
        check(natsOptions_Create(&made), "options");
        Options options(made);
        std::vector<const char*> list;
        list.reserve(servers.size());
        for (const std::string& server : servers)
            list.push_back(server.c_str());
        const natsStatus taken =
            natsOptions_SetServers(made, list.data(), static_cast<int>(list.size()));
        if (taken != NATS_OK)
            refuse("NATS does not take the servers: " + std::string(natsStatus_GetText(taken)));
        for (const natsStatus status :
             {natsOptions_SetName(made, "kairos"),
              // What comes back is what others sent.
              natsOptions_SetNoEcho(made, true), natsOptions_SetTimeout(made, connect_timeout_ms),
              natsOptions_SetWriteDeadline(made, write_deadline_ms),
              natsOptions_SetPingInterval(made, ping_interval_ms),
              natsOptions_SetMaxPingsOut(made, 1),
              // A connection that has ended is followed by another: what waits, waits here.
              natsOptions_SetAllowReconnect(made, false),
              natsOptions_SetClosedCB(made, &closed, number),
              natsOptions_SetErrorHandler(made, &failed, number)})
            check(status, "options");
        if (!options_.user.empty())
            check(natsOptions_SetUserInfo(made, options_.user.c_str(), options_.password.c_str()),
                  "user");
        if (std::ranges::any_of(servers, [](const auto& one) { return one.starts_with("tls://"); }))
            check(natsOptions_SetSecure(made, true), "TLS");
        if (!options_.authorities.empty())
            check(natsOptions_LoadCATrustedCertificates(made, options_.authorities.c_str()),
                  options_.authorities);
        return options;
    }

    static void closed(natsConnection* connection, void* number)
    {
        const auto self = CallBacks<Bus>::find(number);
        if (!self) return;
        const std::lock_guard lock(self->mutex_);
        if (self->connection_ != connection) return;
        self->counts_->is_connected = false;
        self->is_closed_ = true;
        self->changed_.notify_all();
    }
    static void failed(natsConnection*, natsSubscription*, natsStatus status, void* number)
    {
        const auto self = CallBacks<Bus>::find(number);
        if (!self) return;
        say(*self->counts_, log::Line() << "events: the NATS server at " << self->name_ << ": "
                                        << (status == NATS_SLOW_CONSUMER
                                                ? "more comes than is looked at, and is left out"
                                                : natsStatus_GetText(status)));
    }

    void lose(const char* reason) noexcept
    {
        counts_->unsent.fetch_add(1);
        say(*counts_,
            log::Line() << "events: an event is not sent to other processes by NATS: " << reason);
    }
    [[nodiscard]] bool keep(Message message)
    {
        const std::lock_guard lock(mutex_);
        if (ends_ || octets_ + message.cost() > options_.outgoing_octets_max) return false;
        octets_ += message.cost();
        waiting_.push_back(std::move(message));
        if (waiting_.size() == 1) changed_.notify_all();
        return true;
    }

    // --- by its thread, which alone calls the library ---

    void run() noexcept
    {
        auto pause = pause_min;
        while (!ends()) {
            Connection connection = connect();
            if (connection) {
                pause = pause_min;
                serve(connection.get());
                disconnect(std::move(connection));
            }
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, pause, [&] { return ends_; });
            pause = std::min(2 * pause, pause_max);
        }
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] bool ends() const
    {
        const std::lock_guard lock(mutex_);
        return ends_;
    }

    [[nodiscard]] Connection connect() noexcept
    {
        natsConnection* made = nullptr;
        const natsStatus status = natsConnection_Connect(&made, settings_.get());
        Connection connection(made);
        if (status != NATS_OK) {
            counts_->failures.fetch_add(1);
            const char* last = nats_GetLastError(nullptr);
            say(*counts_, log::Line()
                              << "events: no connection to the NATS server at " << name_ << ": "
                              << natsStatus_GetText(status) << (last == nullptr ? "" : ": ")
                              << (last == nullptr ? "" : last) << "; it is tried again");
            return {};
        }
        {
            const std::lock_guard lock(mutex_);
            connection_ = made;
            // Before anybody could tell: it may have ended meanwhile.
            is_closed_ = natsConnection_IsClosed(made);
            counts_->is_connected = !is_closed_;
        }
        if (counts_->connections.fetch_add(1) != 0)
            say(*counts_, log::Line()
                              << "events: the NATS server at " << name_ << " is there again");
        return connection;
    }

    void disconnect(Connection connection) noexcept
    {
        bool is_gone = false;
        {
            const std::lock_guard lock(mutex_);
            connection_ = nullptr;
            is_gone = is_closed_ && !ends_;
            counts_->is_connected = false;
        }
        if (is_gone)
            say(*counts_, log::Line() << "events: the NATS server at " << name_
                                      << " is gone; it is tried again");
        connection.reset();
    }

    /// Until the connection has ended, or all has.
    void serve(natsConnection* connection) noexcept
    {
        std::vector<Subscribed> subscribed;
        const std::int64_t payload_max = natsConnection_GetMaxPayload(connection);
        for (;;) {
            std::deque<Message> now;
            std::vector<Joined> joined;
            bool ends = false;
            {
                std::unique_lock lock(mutex_);
                const auto is_new = [&] {
                    return !joined_.empty() && joined_.back().number > newest(subscribed);
                };
                changed_.wait_for(lock, look_interval, [&] {
                    return ends_ || is_closed_ || !waiting_.empty() || is_new();
                });
                if (is_closed_) break;
                ends = ends_;
                now.swap(waiting_);
                octets_ = 0;
                joined = joined_;
            }
            count_dropped(subscribed);
            if (!subscribe(connection, joined, subscribed)) break;
            while (!now.empty()) {
                if (!send(connection, now.front(), payload_max)) break;
                now.pop_front();
            }
            if (!now.empty()) {
                put_back(std::move(now));
                break;
            }
            if (!ends) continue;
            (void)natsConnection_FlushTimeout(connection, farewell.count());
            break;
        }
        count_dropped(subscribed);
    }
    [[nodiscard]] static std::uint64_t newest(const std::vector<Subscribed>& subscribed) noexcept
    {
        std::uint64_t newest = 0;
        for (const Subscribed& one : subscribed)
            newest = std::max(newest, one.joined);
        return newest;
    }

    /// As the channels are now; false: the connection is of no more use.
    [[nodiscard]] bool subscribe(natsConnection* connection, const std::vector<Joined>& joined,
                                 std::vector<Subscribed>& subscribed)
    {
        std::erase_if(subscribed, [&](const Subscribed& one) {
            return std::ranges::none_of(joined, [&](const Joined& channel) {
                return channel.number == one.joined && !channel.feed->has_ended();
            });
        });
        for (const Joined& channel : joined) {
            if (channel.feed->has_ended() ||
                std::ranges::find(subscribed, channel.number, &Subscribed::joined) !=
                    subscribed.end())
                continue;
            natsSubscription* made = nullptr;
            const natsStatus status = natsConnection_Subscribe(
                &made, connection, channel.subject.c_str(), &Receiver::came,
                CallBacks<Receiver>::add(channel.receiver));
            if (status != NATS_OK) return false;
            subscribed.push_back({channel.number, channel.subject, Subscription(made)});
            const std::size_t octets = std::clamp<std::size_t>(
                options_.incoming_octets_max, waiting_cost, std::numeric_limits<int>::max());
            (void)natsSubscription_SetPendingLimits(made, static_cast<int>(octets / waiting_cost),
                                                    static_cast<int>(octets));
        }
        return true;
    }
    void count_dropped(std::vector<Subscribed>& subscribed) noexcept
    {
        for (Subscribed& one : subscribed) {
            std::int64_t dropped = 0;
            if (natsSubscription_GetDropped(one.subscription.get(), &dropped) != NATS_OK) continue;
            counts_->unreceived.fetch_add(static_cast<std::uint64_t>(dropped) - one.dropped);
            one.dropped = static_cast<std::uint64_t>(dropped);
        }
    }

    /// Returns whether the event is done with: given to the connection, or lost.
    [[nodiscard]] bool send(natsConnection* connection, const Message& message,
                            std::int64_t payload_max) noexcept
    {
        if (std::cmp_greater(message.octets.size(), payload_max)) {
            lose("it is larger than the server takes");
            return true;
        }
        const natsStatus status =
            natsConnection_Publish(connection, message.subject->c_str(), message.octets.data(),
                                   static_cast<int>(message.octets.size()));
        if (status == NATS_OK) counts_->sent.fetch_add(1);
        return status == NATS_OK;
    }
    void put_back(std::deque<Message> messages) noexcept
    {
        const std::lock_guard lock(mutex_);
        for (; !messages.empty(); messages.pop_back()) {
            octets_ += messages.back().cost();
            waiting_.push_front(std::move(messages.back()));
        }
    }

    /// How often what the library does not tell of is looked at: channels that have ended.
    static constexpr std::chrono::seconds look_interval{1};

    const CORBA::ORB_var orb_;
    const FederationOptions options_;
    std::string name_; // of the first server, for people; written before the thread begins
    const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
    Options settings_;                    // the thread's, once it has begun
    std::unique_ptr<net::Thread> thread_; // the owner's
    mutable std::mutex mutex_;            // guards what follows; not held while the bus is called
    std::condition_variable changed_;
    std::vector<Joined> joined_;
    std::uint64_t last_joined_ = 0;
    std::deque<Message> waiting_;
    std::size_t octets_ = 0;               // of what waits
    natsConnection* connection_ = nullptr; // the present one, to be compared with only
    bool is_closed_ = false;               // the present connection
    bool ends_ = false;
    bool has_ended_ = false; // the thread is about to return
};

namespace {

/// Sends what suppliers of one channel push; its consumers get it as well.
class Sender final : public events::Recorder {
  public:
    Sender(std::string subject, std::weak_ptr<Bus> bus)
        : subject_(std::make_shared<const std::string>(std::move(subject))), bus_(std::move(bus))
    {
    }
    [[nodiscard]] bool take(const CORBA::Any& event) noexcept override
    {
        if (const auto bus = bus_.lock()) bus->put(subject_, event);
        return true;
    }

  private:
    const std::shared_ptr<const std::string> subject_;
    const std::weak_ptr<Bus> bus_;
};

} // namespace

// --- What programs see ---------------------------------------------------------------------------

Federation::Federation(CORBA::ORB_ptr orb, const FederationOptions& options)
    : bus_(std::make_shared<Bus>(orb, options))
{
    bus_->begin();
}

Federation::~Federation() { bus_->end(); }

void Federation::leave() noexcept { bus_->leave(); }

KairosEvents::Channel_ptr Federation::create_channel(events::EventService& service,
                                                     const std::string& name,
                                                     const std::string& subject)
{
    const std::string mine = subject.empty() ? subject_of(name) : subject;
    check_subject(mine);
    std::shared_ptr<events::Feed> feed;
    const KairosEvents::Channel_var channel =
        service.create_channel(name, std::make_shared<Sender>(mine, bus_), feed);
    try {
        bus_->join(mine, feed);
    } catch (...) {
        channel->destroy();
        throw;
    }
    return KairosEvents::Channel::_duplicate(channel.in());
}

FederationFigures Federation::figures() const { return bus_->figures(); }

std::string Federation::subject_of(const std::string& channel)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string subject = "kairos.events.";
    for (const char c : channel) {
        const auto octet = static_cast<unsigned char>(c);
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '_')
            subject += c;
        else
            (subject += '%') += {digits[octet >> 4], digits[octet & 15]};
    }
    return subject;
}

} // namespace kairos::nats
