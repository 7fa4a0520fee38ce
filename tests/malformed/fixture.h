// SPDX-License-Identifier: Apache-2.0
//
// A real server in a thread of the test program, reached over loopback TCP, with a servant that
// does what the test says; and the lines that it logs. The servers' ports are whatever is free.
#pragma once

#include "tests/calls/held_ports.h"
#include "tests/malformed/wire.h"

#include "kairos/base/log.h"
#include "kairos/corba/CORBA.h"
#include "kairos/giop/reply.h"
#include "kairos/orb/reference.h"
#include "probe_skel.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kairos::orb_testing {

/// The process's log lines while it lives. One at a time, made before the first server.
class LogLines {
  public:
    LogLines()
    {
        shared().lines.clear();
        log::set_sink(&add);
    }
    ~LogLines() { log::set_sink(nullptr); }
    LogLines(const LogLines&) = delete;
    LogLines& operator=(const LogLines&) = delete;

    /// The kernel gives the ports of past connections to new ones: what was said of one peer must
    /// not be taken for what is said of the next.
    static void forget()
    {
        log::set_sink(&add); // which may hear of everything again
        const std::lock_guard lock(shared().mutex);
        shared().lines.clear();
    }
    [[nodiscard]] static std::size_t count(std::string_view part)
    {
        const std::lock_guard lock(shared().mutex);
        return count_locked(part);
    }
    [[nodiscard]] static bool wait_for(std::string_view part)
    {
        std::unique_lock lock(shared().mutex);
        return shared().added.wait_for(lock, patience, [&] { return count_locked(part) != 0; });
    }

  private:
    static void add(log::Level, std::string_view line)
    {
        const std::lock_guard lock(shared().mutex);
        shared().lines.emplace_back(line);
        shared().added.notify_all();
    }
    struct Shared {
        std::mutex mutex;
        std::condition_variable added;
        std::vector<std::string> lines;
    };
    static Shared& shared()
    {
        static Shared lines;
        return lines;
    }
    static std::size_t count_locked(std::string_view part)
    {
        std::size_t count = 0;
        for (const std::string& line : shared().lines)
            count += line.find(part) != std::string::npos ? 1 : 0;
        return count;
    }
};

/// Something that happens once, and those who wait for it, who may still be about to return when it
/// goes: a test does not know when the servant of a oneway has returned.
class Event {
  public:
    void set()
    {
        const std::shared_ptr<State> state = state_;
        const std::lock_guard lock(state->mutex);
        state->is_set = true;
        state->changed.notify_all();
    }
    [[nodiscard]] bool wait()
    {
        const std::shared_ptr<State> state = state_;
        std::unique_lock lock(state->mutex);
        return state->changed.wait_for(lock, patience, [&] { return state->is_set; });
    }
    [[nodiscard]] bool is_set()
    {
        const std::lock_guard lock(state_->mutex);
        return state_->is_set;
    }

  private:
    struct State {
        std::mutex mutex; // guards what follows
        std::condition_variable changed;
        bool is_set = false;
    };

    const std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// One that is served and then deactivated is declared before its server: a request whose answer
/// the client has may still be leaving it.
class Servant : public POA_Probe::Target {
  public:
    std::atomic<std::uint64_t> calls{0};
    std::function<void()> action;      ///< what `act` does; set before it is called
    std::function<void()> note_action; ///< what `note` does, if anything; likewise

    void ping() override { ++calls; }
    CORBA::Long add(CORBA::Long left, CORBA::Long right) override
    {
        ++calls;
        return left + right;
    }
    char* echo(const char* text) override
    {
        ++calls;
        return CORBA::string_dup(text);
    }
    CORBA::Boolean negate(CORBA::Boolean value) override
    {
        ++calls;
        return !value;
    }
    CORBA::ULong count_octets(const Probe::Octets& octets) override
    {
        ++calls;
        return octets.length();
    }
    CORBA::ULong count_strings(const Probe::Strings& strings) override
    {
        ++calls;
        return strings.length();
    }
    CORBA::ULong count_trees(const Probe::Tree& tree) override
    {
        ++calls;
        CORBA::ULong count = 1;
        for (CORBA::ULong i = 0; i < tree.children.length(); ++i)
            count += count_trees(tree.children[i]);
        return count;
    }
    Probe::Octets* produce(CORBA::ULong size) override
    {
        ++calls;
        Probe::Octets_var octets = new Probe::Octets;
        octets->length(size);
        return octets._retn();
    }
    void note(CORBA::Long) override
    {
        ++calls;
        if (note_action) note_action();
    }
    void act() override
    {
        ++calls;
        action();
    }
};

/// An ORB of its own, with these options and an identifier that no other has.
[[nodiscard]] inline CORBA::ORB_ptr make_orb(std::vector<std::string> options = {})
{
    static std::atomic<int> last{0};
    options.insert(options.begin(), "test");
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(options.size());
    return CORBA::ORB_init(count, arguments.data(), ("test-" + std::to_string(++last)).c_str());
}

/// A client's ORB, destroyed at the end.
class Client {
  public:
    explicit Client(std::vector<std::string> options = {}) : orb_(make_orb(std::move(options))) {}
    ~Client() { orb_->destroy(); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] Probe::Target_ptr target(const std::string& reference)
    {
        const CORBA::Object_var object = orb_->string_to_object(reference.c_str());
        return Probe::Target::_unchecked_narrow(object);
    }

  private:
    CORBA::ORB_var orb_;
};

/// An ORB that serves one Servant until it is destroyed.
/// The options of an architecture, by the name that tests have for it: reactor-per-priority-each is
/// that in which the connections of a lane have a thread each.
[[nodiscard]] inline std::vector<std::string> options_of_architecture(const std::string& name)
{
    if (name == "reactor-per-priority-each")
        return {"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0:each"};
    return {"-ORBConcurrency", name};
}

using calls::HeldPorts;

class RunningServer {
  public:
    enum class Start {
        active,
        holding,
        held_by_test, ///< nobody is in ORB::run either
    };

    /// With an architecture that options_of_architecture knows. `prepare` is for the ORB, before
    /// anything else is done with it.
    explicit RunningServer(const std::string& architecture, std::vector<std::string> options = {},
                           Start start = Start::active,
                           const std::function<void(CORBA::ORB_ptr)>& prepare = {})
        : ports_(architecture.starts_with("reactor-per-priority") ? lanes_max : 1)
    {
        std::ranges::move(options_of_architecture(architecture), std::back_inserter(options));
        options.insert(options.end(), {"-ORBListenEndpoints", ports_.endpoint()});
        orb_ = make_orb(std::move(options));
        if (prepare) prepare(orb_);
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object);
        id_ = poa_->activate_object(&servant_);
        const CORBA::Object_var reference = poa_->id_to_reference(id_);
        const auto& core = *reference->_kairos_reference();
        key_.assign(core.object_key().begin(), core.object_key().end());
        port_ = core.targets().front().endpoint->port();
        const CORBA::String_var text = orb_->object_to_string(reference);
        reference_ = text.in();
        manager_ = poa_->the_POAManager();
        if (start == Start::active) manager_->activate();
        if (start != Start::held_by_test) thread_ = std::thread([this] { run(); });
    }
    ~RunningServer()
    {
        end();
        orb_->destroy();
    }
    RunningServer(const RunningServer&) = delete;
    RunningServer& operator=(const RunningServer&) = delete;

    /// shutdown(true) unless somebody did it already.
    /// One that the test has held.
    void start()
    {
        manager_->activate();
        thread_ = std::thread([this] { run(); });
    }
    void end()
    {
        try {
            orb_->shutdown(true);
        } catch (const CORBA::BAD_INV_ORDER&) { // it was shut down
        }
        if (thread_.joinable()) thread_.join();
    }

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] PortableServer::POA_ptr poa() { return poa_; }
    [[nodiscard]] PortableServer::POAManager_ptr manager() { return manager_; }
    [[nodiscard]] const PortableServer::ObjectId& id() { return id_.in(); }
    [[nodiscard]] Servant& servant() { return servant_; }
    [[nodiscard]] const Octets& key() const { return key_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] const std::string& reference() const { return reference_; }

    [[nodiscard]] RawPeer connect(const net::SocketOptions& options = {}) const
    {
        return RawPeer::connect(port_, options);
    }
    [[nodiscard]] Bytes key_bytes() const { return key_; }
    [[nodiscard]] Octets ping(std::uint32_t request_id = 1) const
    {
        return request(key_, "ping", request_id).finish();
    }

  private:
    void run()
    {
        try {
            orb_->run();
        } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
        }
    }

    static constexpr std::uint16_t lanes_max = 8;

    const HeldPorts ports_; // first: until the server has ended
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    PortableServer::POAManager_var manager_;
    PortableServer::ObjectId_var id_;
    Servant servant_;
    Octets key_;
    std::uint16_t port_ = 0;
    std::string reference_;
    std::thread thread_;
};

[[nodiscard]] inline std::size_t entries_of(const char* directory)
{
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory))
        ++count;
    return count;
}
/// How many of each this process has.
[[nodiscard]] inline std::size_t descriptors() { return entries_of("/proc/self/fd"); }
[[nodiscard]] inline std::size_t threads() { return entries_of("/proc/self/task"); }

/// Those that the calling thread may run on.
[[nodiscard]] inline std::vector<int> allowed_cpus()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) cpus.push_back(cpu);
    return cpus;
}

/// A reply that was read, for looking into.
struct ParsedReply {
    explicit ParsedReply(Octets message) : bytes(std::move(message))
    {
        giop::Message whole;
        valid = giop::message_of(bytes, whole) == giop::Fault::none &&
                whole.type == giop::MessageType::reply &&
                giop::parse(whole, reply) == cdr::Fault::none;
        EXPECT_TRUE(valid) << "not a reply: " << bytes.size() << " bytes";
    }
    /// "OBJECT_NOT_EXIST 0x4f4d0002 NO", or the status.
    [[nodiscard]] std::string text() const
    {
        if (!valid) return "no reply";
        if (reply.status != giop::ReplyStatus::system_exception)
            return std::string(giop::describe(reply.status));
        cdr::Reader body = reply.body;
        const auto exception = giop::SystemExceptionBody::read(body);
        return exception_text(exception.repository_id, exception.minor, exception.completion);
    }
    [[nodiscard]] static std::string exception_text(std::string_view id, std::uint32_t minor,
                                                    std::uint32_t completion)
    {
        constexpr const char* completions[] = {"YES", "NO", "MAYBE"};
        const std::size_t begin = id.rfind('/') + 1;
        char number[16];
        std::snprintf(number, sizeof number, "0x%x", minor);
        return std::string(id.substr(begin, id.rfind(':') - begin)) + " " + number + " " +
               (completion < 3 ? completions[completion] : "?");
    }

    Octets bytes;
    giop::Reply reply;
    bool valid = false;
};

/// What a call ended with: "ok", or the system exception as ParsedReply::text has it.
template <typename Call>
[[nodiscard]] std::string outcome(Call call)
{
    try {
        call();
        return "ok";
    } catch (const CORBA::SystemException& exception) {
        return ParsedReply::exception_text(exception._rep_id(), exception.minor(),
                                           exception.completed());
    } catch (const CORBA::UserException& exception) {
        return exception._name();
    }
}

/// Tests that run with every architecture that a server can have.
class EveryArchitecture : public ::testing::TestWithParam<const char*> {
  protected:
    LogLines log_; // before any server
};

[[nodiscard]] inline std::string
architecture_name(const ::testing::TestParamInfo<const char*>& parameter)
{
    std::string name = parameter.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

} // namespace kairos::orb_testing

#define KAIROS_EVERY_ARCHITECTURE(suite)                                                           \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        Architectures, suite,                                                                      \
        ::testing::Values("thread-per-connection", "reactor", "reactor-per-priority",              \
                          "reactor-per-priority-each", "leader-followers", "worker-pool",          \
                          "thread-per-request", "thread-per-object", "filter-chain"),              \
        ::kairos::orb_testing::architecture_name)
