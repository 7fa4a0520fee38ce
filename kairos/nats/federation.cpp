// SPDX-License-Identifier: Apache-2.0
#include "kairos/nats/federation.h"

#include "kairos/base/log.h"
#include "kairos/codec/octets.h"
#include "kairos/net/thread.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <nats/nats.h>
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
constexpr std::int64_t ping_interval_ms = 20'000;
constexpr std::int64_t pause_min_ms = 100;
constexpr std::int64_t pause_max_ms = 10'000;
constexpr std::int64_t farewell_ms = 500;

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

/// After how many milliseconds to try again.
std::int64_t pause_after(int attempts)
{
    return std::min(pause_min_ms << std::clamp(attempts, 0, 10), pause_max_ms);
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

/// One line of each kind for a federation, and then one a second: others can cause them.
void say(const void* federation, const log::Line& line,
         const std::source_location& place = std::source_location::current()) noexcept
{
    log::write_limited(log::Level::warning, reinterpret_cast<std::uintptr_t>(federation), line,
                       place);
}

} // namespace

/// Any thread.
struct Counts {
    std::atomic<std::uint64_t> connections{0};
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> unsent{0};
    std::atomic<std::uint64_t> received{0};
    std::atomic<std::uint64_t> unreceived{0};
    std::atomic<std::uint64_t> malformed{0};
    std::atomic<bool> is_connected{false};
};

// --- What comes in -------------------------------------------------------------------------------

/// The subscription of one channel, whose messages the bus's library gives to a thread of its own.
class Receiver {
  public:
    Receiver(CORBA::ORB_ptr orb, std::shared_ptr<Counts> counts, std::shared_ptr<events::Feed> feed)
        : orb_(CORBA::ORB::_duplicate(orb)), counts_(std::move(counts)), feed_(std::move(feed))
    {
    }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;
    /// Waits for the message that is being looked at, and forgets those that wait.
    ~Receiver()
    {
        if (subscription_ == nullptr) return;
        natsSubscription_Unsubscribe(subscription_);
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return has_ended_; });
        }
        natsSubscription_Destroy(subscription_);
    }

    void begin(natsConnection* connection, const std::string& subject, std::size_t octets_max)
    {
        check(natsConnection_Subscribe(&subscription_, connection, subject.c_str(), &came, this),
              "subscribing to " + subject);
        const auto octets =
            static_cast<int>(std::min<std::size_t>(octets_max, std::numeric_limits<int>::max()));
        natsStatus status = natsSubscription_SetOnCompleteCB(subscription_, &ended, this);
        if (status != NATS_OK) { // nobody would say when it is over
            natsSubscription_Destroy(std::exchange(subscription_, nullptr));
            check(status, "subscribing to " + subject);
        }
        status = natsSubscription_SetPendingLimits(subscription_, -1, octets);
        check(status, "limits of what waits");
    }

    /// Messages that were left out, as too many waited.
    [[nodiscard]] std::uint64_t dropped() const noexcept
    {
        std::int64_t dropped = 0;
        if (natsSubscription_GetDropped(subscription_, &dropped) != NATS_OK) return 0;
        return static_cast<std::uint64_t>(dropped);
    }

  private:
    static void came(natsConnection*, natsSubscription*, natsMsg* message, void* closure)
    {
        auto& self = *static_cast<Receiver*>(closure);
        self.take({reinterpret_cast<const std::byte*>(natsMsg_GetData(message)),
                   static_cast<std::size_t>(std::max(natsMsg_GetDataLength(message), 0))});
        natsMsg_Destroy(message);
    }
    static void ended(void* closure)
    {
        auto& self = *static_cast<Receiver*>(closure);
        const std::lock_guard lock(self.mutex_); // held until it was notified: it goes then
        self.has_ended_ = true;
        self.changed_.notify_one();
    }

    void take(Bytes octets) noexcept
    {
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
            counts_->malformed.fetch_add(1, std::memory_order_relaxed);
            say(this, log::Line() << "events: a message of NATS is no event: " << failure.what());
            return;
        }
        try {
            feed_->publish(event);
            counts_->received.fetch_add(1, std::memory_order_relaxed);
        } catch (const std::exception& failure) {
            counts_->unreceived.fetch_add(1, std::memory_order_relaxed);
            say(this, log::Line() << "events: an event of another process is not given to "
                                     "consumers: "
                                  << failure.what());
        }
    }

    const CORBA::ORB_var orb_;
    const std::shared_ptr<Counts> counts_;
    const std::shared_ptr<events::Feed> feed_;
    std::vector<std::byte> aligned_; // the thread's that gives messages
    natsSubscription* subscription_ = nullptr;
    std::mutex mutex_; // guards has_ended_
    std::condition_variable changed_;
    bool has_ended_ = false;
};

// --- A connection --------------------------------------------------------------------------------

/// One connection of the library's, which connects again by itself as long as servers are merely
/// gone; where one has refused it, it is closed for good, and another has to be made.
class Link {
  public:
    /// Tries once, and goes on in the background. `closed` is called, in a thread of the library's,
    /// when it is closed for good.
    Link(CORBA::ORB_ptr orb, const FederationOptions& options, std::shared_ptr<Counts> counts,
         std::function<void()> closed)
        : orb_(CORBA::ORB::_duplicate(orb)), options_(options), counts_(std::move(counts)),
          when_closed_(std::move(closed))
    {
        const std::vector<std::string> servers = servers_of(options.servers);
        name_ = shown_server(servers.front());
        const auto settings = options_for(servers);
        const natsStatus status = natsConnection_Connect(&connection_, settings.get());
        // One that is not there yet is tried again, which the library calls a failure of a kind.
        if (connection_ == nullptr) check(status == NATS_OK ? NATS_ERR : status, name_);
        if (status == NATS_OK) connected();
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    /// Waits for the messages that are being looked at. Not in a thread of the library's.
    ~Link()
    {
        ends_ = true;
        for (const auto& receiver : receivers_)
            counts_->unreceived += receiver->dropped();
        receivers_.clear();
        natsConnection_Destroy(connection_);
        // The library calls back from its own threads, the last time when it is closed.
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_closed_; });
    }

    /// Returns whether the connection is of use; throws where it is and the channel cannot be
    /// joined. By one thread at a time.
    bool join(const std::string& subject, const std::shared_ptr<events::Feed>& feed)
    {
        auto receiver = std::make_unique<Receiver>(orb_.in(), counts_, feed);
        try {
            receiver->begin(connection_, subject, options_.incoming_octets_max);
        } catch (const CORBA::INITIALIZE&) {
            if (natsConnection_IsClosed(connection_)) return false;
            throw;
        }
        receivers_.push_back(std::move(receiver));
        return true;
    }
    [[nodiscard]] std::uint64_t dropped() const noexcept
    {
        std::uint64_t dropped = 0;
        for (const auto& receiver : receivers_)
            dropped += receiver->dropped();
        return dropped;
    }

    [[nodiscard]] natsStatus publish(const std::string& subject, Bytes octets) noexcept
    {
        return natsConnection_Publish(connection_, subject.c_str(), octets.data(),
                                      static_cast<int>(octets.size()));
    }
    /// Gives what was published some time to be sent.
    void flush() noexcept
    {
        if (counts_->is_connected) (void)natsConnection_FlushTimeout(connection_, farewell_ms);
    }

  private:
    struct Destroy {
        void operator()(natsOptions* options) const noexcept { natsOptions_Destroy(options); }
    };

    /// How the library is to behave.
    std::unique_ptr<natsOptions, Destroy> options_for(const std::vector<std::string>& servers)
    {
        natsOptions* made = nullptr;
        check(natsOptions_Create(&made), "options");
        std::unique_ptr<natsOptions, Destroy> options(made);
        std::vector<const char*> list;
        for (const std::string& server : servers)
            list.push_back(server.c_str());
        const auto buffer = static_cast<int>(
            std::min<std::size_t>(options_.outgoing_octets_max, std::numeric_limits<int>::max()));
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
              natsOptions_SetMaxReconnect(made, -1),
              natsOptions_SetCustomReconnectDelay(made, &pause, nullptr),
              natsOptions_SetReconnectBufSize(made, buffer),
              natsOptions_SetRetryOnFailedConnect(made, true, &came, this),
              natsOptions_SetReconnectedCB(made, &came, this),
              natsOptions_SetDisconnectedCB(made, &gone, this),
              natsOptions_SetClosedCB(made, &closed, this),
              natsOptions_SetErrorHandler(made, &failed, this)})
            check(status, "options");
        if (std::ranges::any_of(servers, [](const auto& one) { return one.starts_with("tls://"); }))
            check(natsOptions_SetSecure(made, true), "TLS");
        if (!options_.authorities.empty())
            check(natsOptions_LoadCATrustedCertificates(made, options_.authorities.c_str()),
                  options_.authorities);
        return options;
    }

    static std::int64_t pause(natsConnection*, int attempts, void*)
    {
        return pause_after(attempts - 1);
    }
    static void came(natsConnection*, void* closure) { static_cast<Link*>(closure)->connected(); }
    static void gone(natsConnection*, void* closure)
    {
        auto& self = *static_cast<Link*>(closure);
        if (!self.counts_->is_connected.exchange(false) || self.ends_) return;
        say(self.counts_.get(), log::Line() << "events: the NATS server at " << self.name_
                                            << " is gone; it is tried again");
    }
    static void closed(natsConnection*, void* closure)
    {
        auto& self = *static_cast<Link*>(closure);
        self.counts_->is_connected = false;
        if (!self.ends_) self.when_closed_();
        const std::lock_guard lock(self.mutex_); // held until it was notified: it goes then
        self.is_closed_ = true;
        self.changed_.notify_one();
    }
    static void failed(natsConnection*, natsSubscription*, natsStatus status, void* closure)
    {
        auto& self = *static_cast<Link*>(closure);
        say(self.counts_.get(), log::Line()
                                    << "events: the NATS server at " << self.name_ << ": "
                                    << (status == NATS_SLOW_CONSUMER
                                            ? "more comes than is looked at, and is left out"
                                            : natsStatus_GetText(status)));
    }
    void connected() noexcept
    {
        if (counts_->is_connected.exchange(true)) return;
        if (counts_->connections.fetch_add(1) != 0)
            say(counts_.get(), log::Line()
                                   << "events: the NATS server at " << name_ << " is there again");
    }

    const CORBA::ORB_var orb_;
    const FederationOptions options_;
    std::string name_; // of the first server, for people
    const std::shared_ptr<Counts> counts_;
    const std::function<void()> when_closed_;
    natsConnection* connection_ = nullptr;             // the library's lock guards it
    std::vector<std::unique_ptr<Receiver>> receivers_; // the owner's
    std::atomic<bool> ends_{false};
    std::mutex mutex_; // guards is_closed_
    std::condition_variable changed_;
    bool is_closed_ = false;
};

// --- What goes out -------------------------------------------------------------------------------

/// Events on their way to the bus, by a thread of their own: a server that is slow holds up no
/// supplier.
class Outgoing {
  public:
    /// Starts the thread, which waits for a connection first.
    Outgoing(std::shared_ptr<Counts> counts, std::size_t octets_max)
        : counts_(std::move(counts)), octets_max_(octets_max)
    {
        auto thread = net::Thread::start({.name = "kairos-nats"}, [this] { run(); });
        if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
        thread_ = std::move(thread).value();
    }
    Outgoing(const Outgoing&) = delete;
    Outgoing& operator=(const Outgoing&) = delete;
    ~Outgoing() { end(); }

    /// Sends by this connection from now on.
    void begin(std::shared_ptr<Link> link)
    {
        {
            const std::lock_guard lock(mutex_);
            link_.swap(link);
        }
        changed_.notify_one();
    }
    /// Returns when all that waits was given to the connection, or was not taken.
    void end() noexcept
    {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

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

  private:
    struct Message {
        std::shared_ptr<const std::string> subject;
        std::vector<std::byte> octets;
    };

    [[nodiscard]] bool keep(Message message)
    {
        const std::size_t cost = message.octets.size() + waiting_cost;
        {
            const std::lock_guard lock(mutex_);
            if (ends_ || cost > octets_max_ - octets_) return false;
            waiting_.push_back(std::move(message));
            octets_ += cost;
            if (waiting_.size() != 1) return true;
        }
        changed_.notify_one();
        return true;
    }

    void lose(const char* reason) noexcept
    {
        counts_->unsent.fetch_add(1, std::memory_order_relaxed);
        say(this,
            log::Line() << "events: an event is not sent to other processes by NATS: " << reason);
    }

    void run() noexcept
    {
        std::deque<Message> now;
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return ends_ || (link_ && !waiting_.empty()); });
            if (waiting_.empty() || !link_) return;
            now.swap(waiting_);
            octets_ = 0;
            std::shared_ptr<Link> link = link_;
            lock.unlock();
            for (const Message& one : now)
                send(*link, one);
            now.clear();
            link.reset(); // which may be the last
            lock.lock();
        }
    }

    void send(Link& link, const Message& message) noexcept
    {
        const natsStatus status = link.publish(*message.subject, message.octets);
        if (status == NATS_OK)
            counts_->sent.fetch_add(1, std::memory_order_relaxed);
        else
            lose(natsStatus_GetText(status));
    }

    const std::shared_ptr<Counts> counts_;
    const std::size_t octets_max_;
    std::mutex mutex_; // guards what follows; not held while the bus is called
    std::condition_variable changed_;
    std::shared_ptr<Link> link_;
    std::deque<Message> waiting_;
    std::size_t octets_ = 0; // of what waits
    bool ends_ = false;
    net::Thread thread_; // the owner's
};

/// Sends what suppliers of one channel push; its consumers get it as well.
class Sender final : public events::Recorder {
  public:
    explicit Sender(std::string subject)
        : subject_(std::make_shared<const std::string>(std::move(subject)))
    {
    }
    void begin(const std::shared_ptr<Outgoing>& outgoing)
    {
        const std::lock_guard lock(mutex_);
        outgoing_ = outgoing;
    }
    /// Nothing is sent from here on.
    void end() noexcept
    {
        const std::lock_guard lock(mutex_);
        outgoing_.reset();
    }
    [[nodiscard]] bool take(const CORBA::Any& event) noexcept override
    {
        std::shared_ptr<Outgoing> outgoing;
        {
            const std::lock_guard lock(mutex_);
            outgoing = outgoing_;
        }
        if (outgoing) outgoing->put(subject_, event);
        return true;
    }

  private:
    const std::shared_ptr<const std::string> subject_;
    std::mutex mutex_; // guards what follows
    std::shared_ptr<Outgoing> outgoing_;
};

// --- All of it -----------------------------------------------------------------------------------

/// What a channel has on every connection.
struct Joined {
    std::string subject;
    std::shared_ptr<Sender> sender;
    std::shared_ptr<events::Feed> feed;
};

class Federation::Bus {
  public:
    Bus(CORBA::ORB_ptr orb, const FederationOptions& options)
        : orb_(CORBA::ORB::_duplicate(orb)), options_(options),
          outgoing_(std::make_shared<Outgoing>(counts_, options.outgoing_octets_max))
    {
        link_ = new_link();
        outgoing_->begin(link_);
        auto thread = net::Thread::start({.name = "kairos-nats-bus"}, [this] { keep_linked(); });
        if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
        mender_ = std::move(thread).value();
    }
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;
    ~Bus()
    {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_one();
        mender_.join();
        for (Joined& one : joined_)
            one.sender->end();
        outgoing_->end();
        link_->flush();
    }

    KairosEvents::Channel_ptr create_channel(events::EventService& service, const std::string& name,
                                             const std::string& subject)
    {
        check_subject(subject);
        const std::lock_guard lock(joined_mutex_);
        if (std::ranges::find(joined_, subject, &Joined::subject) != joined_.end())
            refuse("two channels of a federation with one subject: " + subject);
        Joined joining{subject, std::make_shared<Sender>(subject), nullptr};
        const KairosEvents::Channel_var channel =
            service.create_channel(name, joining.sender, joining.feed);
        try {
            joined_.push_back(joining);
            try {
                (void)link_->join(joining.subject, joining.feed); // else the next one does
            } catch (...) {
                joined_.pop_back();
                throw;
            }
        } catch (...) {
            channel->destroy();
            throw;
        }
        joining.sender->begin(outgoing_);
        return KairosEvents::Channel::_duplicate(channel.in());
    }

    [[nodiscard]] FederationFigures figures() const
    {
        const std::lock_guard lock(joined_mutex_);
        return {.is_connected = counts_->is_connected,
                .connections = counts_->connections,
                .sent = counts_->sent,
                .unsent = counts_->unsent,
                .received = counts_->received,
                .unreceived = counts_->unreceived + link_->dropped(),
                .malformed = counts_->malformed};
    }

  private:
    [[nodiscard]] std::shared_ptr<Link> new_link()
    {
        return std::make_shared<Link>(orb_.in(), options_, counts_, [this] {
            {
                const std::lock_guard lock(mutex_);
                is_closed_ = true;
            }
            changed_.notify_one();
        });
    }

    /// Makes another connection whenever one was closed for good.
    void keep_linked() noexcept
    {
        int attempts = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return ends_ || is_closed_; });
            if (ends_) return;
            if (counts_->connections != connections_before_) attempts = 0;
            connections_before_ = counts_->connections;
            const std::chrono::milliseconds pause(pause_after(++attempts));
            say(counts_.get(),
                log::Line() << "events: the NATS server at "
                            << shown_server(options_.servers.substr(0, options_.servers.find(',')))
                            << " cannot be used, by its certificate or ours, or as it does not "
                               "permit it; it is tried again");
            if (changed_.wait_for(lock, pause, [&] { return ends_; })) return;
            is_closed_ = false;
            lock.unlock();
            const bool is_made = renew();
            lock.lock();
            if (!is_made) is_closed_ = true;
        }
    }
    [[nodiscard]] bool renew() noexcept
    {
        std::shared_ptr<Link> old; // ends when nobody has a lock, or sends by it
        try {
            auto link = new_link();
            const std::lock_guard lock(joined_mutex_);
            for (const Joined& one : joined_)
                if (!link->join(one.subject, one.feed)) break; // closed again
            old = std::exchange(link_, link);
            outgoing_->begin(link);
        } catch (const std::exception& failure) {
            say(counts_.get(), log::Line() << "events: no connection to NATS: " << failure.what());
            return false;
        }
        return true;
    }

    const CORBA::ORB_var orb_;
    const FederationOptions options_;
    const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
    std::mutex mutex_; // guards ends_, is_closed_; before the links, which call back
    std::condition_variable changed_;
    bool ends_ = false;
    bool is_closed_ = false;               // the present link
    std::uint64_t connections_before_ = 0; // the mender's
    const std::shared_ptr<Outgoing> outgoing_;
    mutable std::mutex joined_mutex_; // guards what follows; not held while messages are looked at
    std::deque<Joined> joined_;
    std::shared_ptr<Link> link_;
    net::Thread mender_; // the owner's
};

// --- What programs see ---------------------------------------------------------------------------

Federation::Federation(CORBA::ORB_ptr orb, const FederationOptions& options)
    : bus_(std::make_unique<Bus>(orb, options))
{
}

Federation::~Federation() = default;

KairosEvents::Channel_ptr Federation::create_channel(events::EventService& service,
                                                     const std::string& name,
                                                     const std::string& subject)
{
    return bus_->create_channel(service, name, subject.empty() ? subject_of(name) : subject);
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
