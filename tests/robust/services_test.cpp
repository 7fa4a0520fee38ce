// SPDX-License-Identifier: Apache-2.0
//
// What clients can have the name server do, and what becomes of others meanwhile: it is made to
// call who never answers, by as many as like, in each architecture; and it ends all the same.
#include "kairos/ior/ior.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/profile.h"
#include "kairos/nameserver/service.h"
#include "kairos/nameserver/store_testing.h"
#include "kairos/naming/name.h"
#include "tests/malformed/black_hole.h"
#include "tests/malformed/fixture.h"

#include <csignal>
#ifdef KAIROS_TOOL
#include "bench/process.h"
#endif

namespace kairos::orb_testing {
namespace {

using CosNaming::NamingContext;
using CosNaming::NamingContext_var;
using CosNaming::NamingContextExt;
using CosNaming::NamingContextExt_var;
using nameserver::NamingService;
using nameserver::ServiceLimits;

CosNaming::Name name(const std::string& text) { return naming::to_name(text.c_str()); }

/// A name server of this process, with `holes` black holes bound in its root: hole0, hole1, …
class Names {
  public:
    Names(const std::string& architecture, const ServiceLimits& limits, int holes)
        : server_(architecture, {}), holes_(static_cast<std::size_t>(holes))
    {
        service_.emplace(server_.orb(), folder_.open(), limits);
        const NamingContextExt_var root = service_->root();
        reference_ = CORBA::String_var(server_.orb()->object_to_string(root.in())).in();
        const NamingContextExt_var mine = client();
        for (std::size_t i = 0; i < holes_.size(); ++i)
            mine->bind_context(name("hole" + std::to_string(i)),
                               holes_[i].object<NamingContext>(client_.orb()).in());
        mine->bind(name("quiet"), mine.in());
    }
    [[nodiscard]] NamingContextExt_var client()
    {
        const CORBA::Object_var object = client_.orb()->string_to_object(reference_.c_str());
        return NamingContextExt::_unchecked_narrow(object.in());
    }
    [[nodiscard]] NamingService& service() { return *service_; }
    void end_service() { service_.reset(); }
    [[nodiscard]] int holes() const { return static_cast<int>(holes_.size()); }

  private:
    nameserver::StoreFolder folder_;
    RunningServer server_;
    Client client_;
    std::optional<NamingService> service_;
    std::vector<BlackHole> holes_; // close first, which ends the calls that wait there
    std::string reference_;
};

/// Threads that each resolve a name in one of the holes, and what they get.
class Callers {
  public:
    Callers(Names& names, int count)
        : Callers([&names] { return names.client(); }, names.holes(), count)
    {
    }
    Callers(const std::function<NamingContextExt_var()>& client, int holes, int count)
        : count_(count)
    {
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([this, client, holes, i] {
                const NamingContextExt_var root = client();
                const std::string path = "hole" + std::to_string(i % holes) + "/in/it";
                std::string got;
                try {
                    (void)CORBA::Object_var(root->resolve(name(path)));
                    got = "resolved";
                } catch (const NamingContext::CannotProceed& failure) {
                    got = CORBA::is_nil(failure.cxt.in())
                              ? "no context"
                              : "cannot proceed with " + naming::to_string(failure.rest_of_name);
                } catch (const CORBA::Exception& failure) {
                    got = failure._name();
                }
                const std::lock_guard lock(mutex_);
                got_.push_back(got);
                changed_.notify_all();
            });
    }
    ~Callers()
    {
        for (std::thread& thread : threads_)
            thread.join();
    }
    Callers(const Callers&) = delete;
    Callers& operator=(const Callers&) = delete;
    [[nodiscard]] bool wait_for_answers(int count)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return answers_locked() >= count; });
    }
    [[nodiscard]] int answers()
    {
        const std::lock_guard lock(mutex_);
        return answers_locked();
    }
    /// Once all were answered.
    void expect_all(const std::string& what)
    {
        EXPECT_TRUE(wait_for_answers(count_));
        const std::lock_guard lock(mutex_);
        EXPECT_EQ(got_, std::vector<std::string>(static_cast<std::size_t>(count_), what));
    }

  private:
    [[nodiscard]] int answers_locked() const { return static_cast<int>(got_.size()); }

    const int count_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> got_;
    std::vector<std::thread> threads_;
};

constexpr const char* given_up = "cannot proceed with in/it";

ServiceLimits waiting_for(std::chrono::milliseconds timeout)
{
    ServiceLimits limits;
    limits.foreign_calls_max = 6;
    limits.foreign_calls_per_address_max = 2;
    limits.foreign_call_timeout = timeout;
    return limits;
}
constexpr std::chrono::hours for_ever{24};

class NamesBesideBlackHoles : public EveryArchitecture {};

} // namespace

TEST_P(NamesBesideBlackHoles, OthersAreServedAndCallsAreBoundedInNumber)
{
    Names names(GetParam(), waiting_for(for_ever), 4);
    Callers callers(names, 12);
    // Six wait for the holes, and would for ever: the others hear so at once.
    ASSERT_TRUE(callers.wait_for_answers(6));
    const NamingContextExt_var root = names.client();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(outcome([&] { (void)CORBA::Object_var(root->resolve(name("quiet"))); }), "ok");
    EXPECT_EQ(outcome([&] { root->rebind(name("quiet"), root.in()); }), "ok");
    EXPECT_EQ(callers.answers(), 6);
    names.service().stop_asking();
    callers.expect_all(given_up);
}

TEST_P(NamesBesideBlackHoles, AnAddressHasItsShareOfTheCalls)
{
    Names names(GetParam(), waiting_for(for_ever), 1);
    Callers callers(names, 5);
    ASSERT_TRUE(callers.wait_for_answers(3));
    EXPECT_EQ(callers.answers(), 3);
    // There are calls left for another server.
    Names other(GetParam(), {}, 0);
    const NamingContextExt_var root = names.client();
    root->bind_context(name("other"), other.client().in());
    EXPECT_EQ(outcome([&] { (void)CORBA::Object_var(root->resolve(name("other/quiet"))); }), "ok");
    names.service().stop_asking();
    callers.expect_all(given_up);
}

TEST_P(NamesBesideBlackHoles, CallsEndByThemselves)
{
    Names names(GetParam(), waiting_for(std::chrono::milliseconds(50)), 4);
    for (int round = 0; round < 2; ++round)
        Callers(names, 8).expect_all(given_up);
}

TEST_P(NamesBesideBlackHoles, TheServiceEndsWhateverItIsAsked)
{
    Names names(GetParam(), waiting_for(std::chrono::seconds(1)), 4);
    Callers callers(names, 8);
    ASSERT_TRUE(callers.wait_for_answers(2));
    names.end_service();
    EXPECT_TRUE(callers.wait_for_answers(8));
}

KAIROS_EVERY_ARCHITECTURE(NamesBesideBlackHoles);

#ifdef KAIROS_TOOL

namespace {

/// `kairos naming` or `kairos scheduler`, with an architecture.
class Daemon {
  public:
    Daemon(std::vector<std::string> command, const std::string& architecture)
    {
        command.insert(command.begin(), KAIROS_TOOL);
        command.insert(command.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        std::ranges::move(options_of_architecture(architecture), std::back_inserter(command));
        process_.emplace(net::testing::must(bench::ChildProcess::start(
            {.command = command, .environment = {}, .cpu = {}, .inherited_descriptor = -1})));
        reference_ = net::testing::must(process_->read_line(patience));
    }
    [[nodiscard]] const std::string& reference() const { return reference_; }
    /// What becomes of it when it is told to end. It watches itself: it has status 1 and says so
    /// when it was not gone in time.
    [[nodiscard]] std::string end()
    {
        ::kill(process_->pid(), SIGTERM);
        const auto remains = process_->finish(patience);
        return std::to_string(remains.exit_status) + remains.errors;
    }

  private:
    std::optional<bench::ChildProcess> process_;
    std::string reference_;
};

class DaemonsThatAreToldToEnd : public testing::TestWithParam<const char*> {};

} // namespace

TEST_P(DaemonsThatAreToldToEnd, DoSoWhileTheyWaitForBlackHoles)
{
    const nameserver::StoreFolder folder;
    Daemon daemon({"naming", "--store", folder.file()}, GetParam());
    Client orb;
    const auto client = [&] {
        const CORBA::Object_var object = orb.orb()->string_to_object(daemon.reference().c_str());
        return NamingContextExt_var(NamingContextExt::_unchecked_narrow(object.in()));
    };
    const ServiceLimits limits;
    const auto most = static_cast<int>(limits.foreign_calls_max);
    const int holes_count = most / static_cast<int>(limits.foreign_calls_per_address_max);
    std::vector<BlackHole> holes(static_cast<std::size_t>(holes_count));
    const NamingContextExt_var root = client();
    for (std::size_t i = 0; i < holes.size(); ++i)
        root->bind_context(name("hole" + std::to_string(i)),
                           holes[i].object<NamingContext>(orb.orb()).in());
    Callers callers(client, holes_count, most + 4);
    ASSERT_TRUE(callers.wait_for_answers(4));
    EXPECT_EQ(daemon.end(), "0");
    EXPECT_TRUE(callers.wait_for_answers(most + 4));
}

namespace {

/// Where a reference leads, for who speaks in bytes.
struct Place {
    explicit Place(const std::string& reference)
    {
        const auto ior = ior::from_string(reference).value();
        const auto target = ior::targets(ior).front();
        key.assign(target.object_key().begin(), target.object_key().end());
        port = target.address.port;
    }
    [[nodiscard]] RawPeer connect() const
    {
        return RawPeer::connect(port, {.receive_queue_bytes = 4096});
    }
    /// A request without arguments, or with one name.
    [[nodiscard]] Octets asking(std::string_view operation, std::string_view name = {}) const
    {
        WireMessage message = request(key, operation);
        if (!name.empty()) message.u32(1).string(name).string("");
        return message.finish();
    }
    Octets key;
    std::uint16_t port = 0;
};

/// In the root of a name server: what makes 5 MiB of a reply, as "large".
void bind_large(Client& orb, const std::string& root)
{
    ior::Ior large;
    large.type_id = "IDL:Large:1.0";
    large.profiles.resize(1);
    large.profiles[0].tag = 0x4b520000; // of nobody's
    large.profiles[0].data.resize(std::size_t{5} << 20);
    const CORBA::Object_var context = orb.orb()->string_to_object(root.c_str());
    const CORBA::Object_var object = orb.orb()->string_to_object(ior::to_string(large).c_str());
    NamingContextExt_var(NamingContextExt::_unchecked_narrow(context.in()))
        ->bind(name("large"), object.in());
}

/// A peer that does something all the time, until its connection ends.
class Restless {
  public:
    Restless(const Place& place, const std::function<bool(RawPeer&)>& act)
        : peer_(place.connect()), thread_([this, act] {
              for (int acts = 0; act(peer_); ++acts)
                  if (acts == 1000) begun_.set();
          })
    {
    }
    Restless(const Restless&) = delete;
    Restless& operator=(const Restless&) = delete;
    ~Restless()
    {
        peer_.socket().shutdown_both(); // what the system still has of a server that is gone
        thread_.join();
    }
    [[nodiscard]] bool has_begun() { return begun_.wait(); }

  private:
    RawPeer peer_;
    Event begun_;
    std::thread thread_;
};

/// Sends one request after the other, and reads nothing unless it is `polite`.
std::function<bool(RawPeer&)> endless(const Octets& message, bool polite)
{
    return [message, polite](RawPeer& peer) {
        if (!peer.socket().write_all(Bytes(message)).ok()) return false;
        return !polite || !peer.read_message().empty();
    };
}

} // namespace

TEST_P(DaemonsThatAreToldToEnd, DoSoBesidePeersThatDoNotReadALargeReply)
{
    const nameserver::StoreFolder folder;
    Daemon daemon({"naming", "--store", folder.file()}, GetParam());
    Client orb;
    bind_large(orb, daemon.reference());
    const Place place(daemon.reference());
    std::vector<RawPeer> peers;
    for (int i = 0; i < 4; ++i) {
        peers.push_back(place.connect());
        peers.back().send(place.asking("resolve", "large"));
        EXPECT_EQ(peers.back().read(20).size(), 20u); // the reply has begun
    }
    EXPECT_EQ(daemon.end(), "0");
}

/// Nobody activates the manager of an adapter that a service has nothing in, unless the daemon
/// does: whatever adapter a key names, its request is answered, not held.
TEST_P(DaemonsThatAreToldToEnd, HaveHeldNobodysRequest)
{
    Daemon daemon({"scheduler"}, GetParam());
    const Place place(daemon.reference());
    auto key = ior::ObjectKey::parse(place.key);
    ASSERT_TRUE(key.has_value());
    key->slot = 0;
    key->generation = 0;
    RawPeer peer = place.connect();
    // The number has the adapter's place, counted from the RootPOA's, in its low half.
    const std::uint32_t root = key->adapter & ~std::uint32_t{0xff};
    for (key->adapter = root; key->adapter < root + 8; ++key->adapter) {
        peer.send(request(key->encode(), "x").finish());
        const std::string answer = ParsedReply(peer.read_message()).text();
        ASSERT_TRUE(answer.starts_with("OBJECT_NOT_EXIST") || answer.starts_with("BAD_OPERATION"))
            << key->adapter << ": " << answer;
    }
    EXPECT_EQ(daemon.end(), "0");
}

/// Told as soon as they have said that they are there: again and again, for they may have come to
/// serve by then or not.
TEST(DaemonsThatAreToldToEndAtOnce, DoSo)
{
    for (int i = 0; i < 20; ++i) {
        Daemon daemon({"scheduler"}, "thread-per-connection");
        ASSERT_EQ(daemon.end(), "0") << i;
    }
}

/// Who takes some of its reply again and again is not cut off, so what is left is to end at once.
TEST(DaemonsThatCannotEndInOrder, SaySo)
{
    const nameserver::StoreFolder folder;
    Daemon daemon({"naming", "--store", folder.file()}, "reactor");
    Client orb;
    bind_large(orb, daemon.reference());
    const Place place(daemon.reference());
    Event asked;
    const Octets question = place.asking("resolve", "large");
    const Restless slow(place, [&, begun = false](RawPeer& peer) mutable {
        if (!std::exchange(begun, true)) {
            peer.send(question);
            EXPECT_EQ(peer.read(20).size(), 20u); // the reply has begun
            asked.set();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // its pace
        Octets some(2048);
        return peer.socket().read(MutableBytes(some)).ok();
    });
    ASSERT_TRUE(asked.wait());
    // In order only where this test was kept from reading for half a second.
    const std::string end = daemon.end();
    EXPECT_TRUE(end == "0" || end == "1kairos: could not end in order in time; ends at once\n")
        << end;
}

TEST_P(DaemonsThatAreToldToEnd, DoSoBesidePeersThatCallWithoutEnd)
{
    const nameserver::StoreFolder folder;
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"naming", "--store", folder.file()},
          std::vector<std::string>{"scheduler"}}) {
        Daemon daemon(command, GetParam());
        const Place place(daemon.reference());
        const Octets message = place.asking("_non_existent");
        std::vector<std::unique_ptr<Restless>> peers;
        for (int i = 0; i < 6; ++i)
            peers.push_back(std::make_unique<Restless>(place, endless(message, true)));
        for (int i = 0; i < 2; ++i)
            peers.push_back(std::make_unique<Restless>(place, endless(message, false)));
        EXPECT_TRUE(peers.front()->has_begun());
        EXPECT_EQ(daemon.end(), "0") << command.front();
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, DaemonsThatAreToldToEnd,
                         testing::Values("thread-per-connection", "reactor", "worker-pool",
                                         "leader-followers", "thread-per-request"),
                         architecture_name);

#endif

} // namespace kairos::orb_testing
