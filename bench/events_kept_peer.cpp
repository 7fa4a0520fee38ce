// SPDX-License-Identifier: Apache-2.0
//
// The program of `kairos bench events` whose channel is kept in a store: "server" has the channel,
// and "client CHANNEL STORE SUPPLIERS" as many suppliers, with a thread and a connection each,
// which push events that are on the disk when a push returns; and a consumer. The server notes what
// its store writes, and does the same to another file by SQLite alone when it is asked to.
#include "events.h"
#include "events_skel.h"

#include "bench/orb_program.h"

#include <kairos/eventstore/sqlite_store.h>
#include <kairos/notification/CosNotifyComm_skel.h>
#include <kairos/notification/service.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace CosNotification;
using namespace CosNotifyChannelAdmin;
using kairos::bench::now_ns;
using kairos::bench::reporting;
using kairos::notification::Store;
using kairos::notification::StoreChange;
using kairos::notification::StoreStatus;

constexpr CORBA::ULong event_octets = 64;

// --- The server ----------------------------------------------------------------------------------

class NewFolder {
  public:
    NewFolder()
    {
        path_ = std::filesystem::temp_directory_path() / "kairosXXXXXX";
        if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder");
    }
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    ~NewFolder()
    {
        std::error_code failure;
        std::filesystem::remove_all(path_, failure);
    }
    [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

/// What a store was told, while that is noted. Any thread.
class Notes {
  public:
    struct Transaction {
        std::vector<StoreChange> changes;
        bool is_safe = false;
    };
    void begin()
    {
        const std::lock_guard lock(mutex_);
        transactions_.clear();
        is_on_ = true;
    }
    void end()
    {
        const std::lock_guard lock(mutex_);
        is_on_ = false;
    }
    void add(std::span<const StoreChange> changes, bool is_safe)
    {
        const std::lock_guard lock(mutex_);
        if (is_on_)
            transactions_.push_back(
                {.changes = {changes.begin(), changes.end()}, .is_safe = is_safe});
    }
    [[nodiscard]] std::vector<Transaction> take()
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(transactions_, {});
    }

  private:
    std::mutex mutex_; // guards what follows; inside nobody's
    std::vector<Transaction> transactions_;
    bool is_on_ = false;
};

class NotedStore final : public Store {
  public:
    NotedStore(std::unique_ptr<Store> store, Notes& notes) : store_(std::move(store)), notes_(notes)
    {
    }
    StoreStatus load(kairos::notification::Stored& all) override { return store_->load(all); }
    StoreStatus write(std::span<const StoreChange> changes, bool safe) override
    {
        const StoreStatus status = store_->write(changes, safe);
        notes_.add(changes, safe);
        return status;
    }

  private:
    const std::unique_ptr<Store> store_;
    Notes& notes_;
};

/// Tables as a store has them, in SQLite's own words.
class Database {
  public:
    explicit Database(const std::string& file)
    {
        check(sqlite3_open(file.c_str(), &handle_));
        run("PRAGMA journal_mode = WAL");
        run("CREATE TABLE object(key INTEGER PRIMARY KEY, channel INTEGER NOT NULL, "
            "state BLOB NOT NULL)");
        run("CREATE TABLE event(number INTEGER PRIMARY KEY, state BLOB NOT NULL)");
        run("CREATE TABLE waiting(object INTEGER NOT NULL, event INTEGER NOT NULL, "
            "PRIMARY KEY (object, event)) WITHOUT ROWID");
        for (const char* const sql :
             {"BEGIN IMMEDIATE", "COMMIT", "REPLACE INTO object VALUES (?, ?, ?)",
              "REPLACE INTO event VALUES (?, ?)", "REPLACE INTO waiting VALUES (?, ?)",
              "DELETE FROM waiting WHERE object = ? AND event = ?",
              "DELETE FROM event WHERE number = ?"}) {
            statements_.push_back(nullptr);
            check(sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                     &statements_.back(), nullptr));
        }
    }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database()
    {
        for (sqlite3_stmt* const one : statements_)
            sqlite3_finalize(one);
        sqlite3_close(handle_);
    }

    void make(const Notes::Transaction& transaction)
    {
        if (transaction.is_safe != is_safe_) {
            is_safe_ = transaction.is_safe;
            run(is_safe_ ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        }
        step(0);
        for (const StoreChange& change : transaction.changes)
            make(change);
        step(1);
    }

  private:
    void make(const StoreChange& change)
    {
        using Action = StoreChange::Action;
        const auto key = static_cast<sqlite3_int64>(change.key);
        const auto other = static_cast<sqlite3_int64>(change.other);
        switch (change.action) {
        case Action::put_object:
            return step(2, {key, other}, &change.state);
        case Action::add_event:
            return step(3, {key}, &change.state);
        case Action::add_waiting:
            return step(4, {key, other});
        case Action::erase_waiting:
            return step(5, {key, other});
        case Action::erase_event:
            return step(6, {key});
        case Action::erase_object:
        case Action::erase_channel: // of which there are none meanwhile
            return;
        }
    }
    void step(std::size_t which, std::initializer_list<sqlite3_int64> numbers = {},
              const std::string* octets = nullptr)
    {
        sqlite3_stmt* const statement = statements_[which];
        int place = 0;
        for (const sqlite3_int64 number : numbers)
            sqlite3_bind_int64(statement, ++place, number);
        if (octets != nullptr)
            sqlite3_bind_blob(statement, ++place, octets->data(), static_cast<int>(octets->size()),
                              SQLITE_STATIC);
        sqlite3_step(statement);
        check(sqlite3_reset(statement));
    }
    void run(const char* sql) { check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)); }
    static void check(int code)
    {
        if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errstr(code));
    }

    sqlite3* handle_ = nullptr;
    std::vector<sqlite3_stmt*> statements_;
    bool is_safe_ = true; // as SQLite begins
};

class StoreServant final : public POA_Bench::KeptStore {
  public:
    StoreServant(const NewFolder& folder, Notes& notes)
        : notes_(notes), database_(folder.file("alone"))
    {
    }
    void note() override { notes_.begin(); }
    void stop() override { notes_.end(); }
    CORBA::Double repeat(CORBA::ULong_out transactions, CORBA::ULong_out events) override
    {
        const std::vector<Notes::Transaction> all = notes_.take();
        transactions = static_cast<CORBA::ULong>(all.size());
        std::ptrdiff_t entered = 0;
        for (const Notes::Transaction& one : all)
            entered += std::ranges::count(one.changes, StoreChange::Action::add_event,
                                          &StoreChange::action);
        events = static_cast<CORBA::ULong>(entered);
        const std::int64_t start = now_ns();
        for (const Notes::Transaction& one : all)
            database_.make(one);
        return static_cast<double>(now_ns() - start) / 1e9;
    }

  private:
    Notes& notes_;
    Database database_; // of one call at a time
};

QoSProperties persistent()
{
    QoSProperties qos;
    qos.length(2);
    qos[0].name = EventReliability;
    qos[0].value <<= Persistent;
    qos[1].name = ConnectionReliability;
    qos[1].value <<= Persistent;
    return qos;
}

int serve(CORBA::ORB_ptr orb)
{
    const NewFolder folder;
    Notes notes;
    auto store = kairos::eventstore::open_sqlite_store({.path = folder.file("kept")});
    if (!store) throw std::runtime_error(store.error().reason);
    StoreServant servant(folder, notes);
    kairos::notification::NotificationLimits limits;
    limits.queue_max = 1'000'000;
    kairos::notification::NotificationService service(
        orb, limits, std::make_unique<NotedStore>(std::move(store).value(), notes));
    const KairosNotification::Channel_var channel = service.create_channel("Kept", persistent());
    const Bench::KeptStore_var reference = servant._this();
    return kairos::bench::serve(orb, {channel.in(), reference.in()});
}

// --- The client ----------------------------------------------------------------------------------

/// Counts what it is given.
class Consumer final : public POA_CosNotifyComm::StructuredPushConsumer {
  public:
    void push_structured_event(const StructuredEvent&) override
    {
        const std::lock_guard lock(mutex_);
        ++count_;
        changed_.notify_all();
    }
    void disconnect_structured_push_consumer() override {}
    void offer_change(const EventTypeSeq&, const EventTypeSeq&) override {}
    void await(std::uint64_t count)
    {
        constexpr std::chrono::seconds patience{60};
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [&] { return count_ >= count; }))
            throw std::runtime_error("events are lost");
    }

  private:
    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    std::uint64_t count_ = 0;
};

StructuredEvent make_event()
{
    CORBA::OctetSeq octets;
    octets.length(event_octets);
    std::fill_n(octets.get_buffer(), event_octets, CORBA::Octet{7});
    StructuredEvent event;
    event.header.fixed_header.event_type.domain_name = "Bench";
    event.header.fixed_header.event_type.type_name = "Event";
    event.header.fixed_header.event_name = "";
    event.remainder_of_body <<= octets;
    return event;
}

/// Of an ORB of its own, so that its calls have a connection of their own.
class Supplier {
  public:
    Supplier(const std::string& channel, std::size_t number)
    {
        int count = 0;
        orb_ = CORBA::ORB_init(count, nullptr, ("supplier " + std::to_string(number)).c_str());
        const CORBA::Object_var object = orb_->string_to_object(channel.c_str());
        const EventChannel_var of = EventChannel::_narrow(object.in());
        const SupplierAdmin_var admin = of->default_supplier_admin();
        ProxyID id = 0;
        const ProxyConsumer_var made =
            admin->obtain_notification_push_consumer(STRUCTURED_EVENT, id);
        proxy_ = StructuredProxyPushConsumer::_narrow(made.in());
        proxy_->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
    }
    Supplier(const Supplier&) = delete;
    Supplier& operator=(const Supplier&) = delete;
    ~Supplier() { orb_->destroy(); }
    /// Each is on the disk before the next.
    void push(std::uint32_t events) noexcept
    {
        try {
            for (std::uint32_t i = 0; i < events; ++i)
                proxy_->push_structured_event(event_);
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    void rethrow() const
    {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    CORBA::ORB_var orb_;
    StructuredProxyPushConsumer_var proxy_;
    const StructuredEvent event_ = make_event();
    std::exception_ptr failure_;
};

class Client {
  public:
    Client(CORBA::ORB_ptr orb, const std::string& channel, const std::string& store,
           std::size_t suppliers)
    {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        object = orb->string_to_object(store.c_str());
        store_ = Bench::KeptStore::_narrow(object.in());
        object = orb->string_to_object(channel.c_str());
        const EventChannel_var of = EventChannel::_narrow(object.in());
        const ConsumerAdmin_var admin = of->default_consumer_admin();
        ProxyID id = 0;
        const ProxySupplier_var made =
            admin->obtain_notification_push_supplier(STRUCTURED_EVENT, id);
        const StructuredProxyPushSupplier_var proxy =
            StructuredProxyPushSupplier::_narrow(made.in());
        const CosNotifyComm::StructuredPushConsumer_var own = consumer_._this();
        proxy->connect_structured_push_consumer(own.in());
        for (std::size_t i = 0; i < suppliers; ++i)
            suppliers_.push_back(std::make_unique<Supplier>(channel, i));
    }

    /// The order is how many events all suppliers push together.
    [[nodiscard]] std::string answer(const std::string& order)
    {
        const auto wanted = static_cast<std::uint32_t>(std::stoul(order));
        const auto each =
            std::max<std::uint32_t>(1, wanted / static_cast<std::uint32_t>(suppliers_.size()));
        (void)push(each / 10 + 1);
        store_->note();
        const double seconds = push(each);
        store_->stop();
        consumer_.await(pushed_);
        CORBA::ULong transactions = 0;
        CORBA::ULong entered = 0;
        const double alone = store_->repeat(transactions, entered);
        return R"({"events":)" + std::to_string(each * suppliers_.size()) + R"(,"seconds":)" +
               std::to_string(seconds) + R"(,"store_seconds":)" + std::to_string(alone) +
               R"(,"entered":)" + std::to_string(entered) + R"(,"transactions":)" +
               std::to_string(transactions) + "}";
    }

  private:
    [[nodiscard]] double push(std::uint32_t each)
    {
        const std::int64_t start = now_ns();
        {
            std::vector<std::jthread> threads;
            for (const auto& supplier : suppliers_)
                threads.emplace_back([&supplier, each] { supplier->push(each); });
        }
        const double seconds = static_cast<double>(now_ns() - start) / 1e9;
        for (const auto& supplier : suppliers_)
            supplier->rethrow();
        pushed_ += std::uint64_t{each} * suppliers_.size();
        return seconds;
    }

    Consumer consumer_;
    Bench::KeptStore_var store_;
    std::vector<std::unique_ptr<Supplier>> suppliers_;
    std::uint64_t pushed_ = 0;
};

int push(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    int status = 0;
    {
        Client client(orb, arguments[1], arguments[2], std::stoul(arguments[3]));
        status = kairos::bench::serve_lines("client", [&](const std::string& line) {
            return reporting([&] { return client.answer(line); });
        });
        orb->shutdown(true); // before the consumer goes
    }
    orb->destroy();
    return status;
}

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve(orb);
    if (arguments.size() == 4 && arguments[0] == "client") return push(orb, arguments);
    throw std::invalid_argument("usage: server | client CHANNEL STORE SUPPLIERS");
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
