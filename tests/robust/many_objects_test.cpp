// SPDX-License-Identifier: Apache-2.0
//
// A server with very many objects: every one of them called often, in random order, over several
// connections; then all deactivated while the calls go on. No call goes wrong, an object costs
// little beside its servant, and nothing is left. Full size (100,000 objects, 100 requests each)
// with KAIROS_TEST_SIZE=full in the environment.
#include "kairos/base/heap_testing.h"
#include "kairos/giop/connection.h"
#include "tests/malformed/fixture.h"

#include <barrier>
#include <numeric>
#include <random>

namespace kairos::orb_testing {
namespace {

constexpr std::size_t clients = 2;
constexpr std::size_t batch = 64; // requests on their way at once
constexpr std::size_t bytes_per_object_max = 64;

struct Size {
    std::size_t objects = 10'000;
    std::size_t requests_each = 20;
};

Size size_of_test()
{
    const char* size = std::getenv("KAIROS_TEST_SIZE");
    if (size != nullptr && std::string_view(size) == "full") return {100'000, 100};
#ifdef __SANITIZE_THREAD__
    return {2'000, 10};
#else
    return {};
#endif
}

class Counted final : public Servant {
  public:
    explicit Counted(std::atomic<std::size_t>& destroyed) : destroyed_(destroyed) {}
    ~Counted() override { ++destroyed_; }

  private:
    std::atomic<std::size_t>& destroyed_;
};

/// Calls objects by their keys, a batch at a time.
class Caller {
  public:
    Caller(const RunningServer& server, const std::vector<Octets>& keys, unsigned seed)
        : peer_(server.connect()), random_(seed)
    {
        for (const Octets& key : keys)
            requests_.push_back(request(key, "ping").finish());
    }

    std::size_t served = 0;
    std::size_t not_there = 0;
    std::size_t wrong = 0;

    /// One batch, to random objects.
    void call()
    {
        Octets out;
        for (std::size_t i = 0; i < batch; ++i) {
            const Octets& one = requests_[random_() % requests_.size()];
            out.insert(out.end(), one.begin(), one.end());
        }
        peer_.send(out);
        for (std::size_t i = 0; i < batch; ++i)
            count(next());
    }

  private:
    giop::Reply next()
    {
        giop::Message message;
        while (protocol_.next(message) == giop::Connection::Event::need_bytes) {
            const auto got = peer_.socket().read(protocol_.space());
            if (!got.ok()) throw std::runtime_error("the connection ended");
            protocol_.received(got.bytes);
        }
        giop::Reply reply;
        if (giop::parse(message, reply) != cdr::Fault::none)
            throw std::runtime_error("not a reply");
        return reply;
    }
    void count(const giop::Reply& reply)
    {
        if (reply.status == giop::ReplyStatus::no_exception) {
            ++served;
            return;
        }
        cdr::Reader body = reply.body;
        const auto exception = giop::SystemExceptionBody::read(body);
        const bool gone = reply.status == giop::ReplyStatus::system_exception &&
                          exception.repository_id == CORBA::OBJECT_NOT_EXIST::kairos_id;
        ++(gone ? not_there : wrong);
    }

    RawPeer peer_;
    giop::Connection protocol_{giop::Connection::Role::client};
    std::mt19937 random_;
    std::vector<Octets> requests_;
};

/// Objects with servants of their own, activated in the server's RootPOA.
class ManyObjects {
  public:
    ManyObjects(RunningServer& server, std::size_t count) : server_(server)
    {
        std::vector<PortableServer::Servant_var<Counted>> servants;
        for (std::size_t i = 0; i < count; ++i)
            servants.emplace_back(new Counted(destroyed));
        servants_.reserve(count);
        for (const auto& servant : servants)
            servants_.push_back(servant.in());
        const std::size_t before = heap_testing::held;
        for (const auto& servant : servants)
            (void)PortableServer::ObjectId_var(server.poa()->activate_object(servant.in()));
        bytes_per_object = (heap_testing::held - before) / count;
        for (const auto& servant : servants) {
            ids_.emplace_back(server.poa()->servant_to_id(servant.in()));
            const CORBA::Object_var reference = server.poa()->id_to_reference(ids_.back());
            const Bytes key = reference->_kairos_reference()->object_key();
            keys.emplace_back(key.begin(), key.end());
        }
    }

    std::vector<Octets> keys;
    std::size_t bytes_per_object = 0;
    std::atomic<std::size_t> destroyed{0};

    /// What all servants have served; while they live.
    [[nodiscard]] std::uint64_t calls() const
    {
        return std::accumulate(
            servants_.begin(), servants_.end(), std::uint64_t{0},
            [](std::uint64_t sum, const Counted* servant) { return sum + servant->calls; });
    }
    /// All of them, in random order.
    void deactivate()
    {
        std::shuffle(ids_.begin(), ids_.end(), std::mt19937(5));
        for (const PortableServer::ObjectId_var& id : ids_)
            server_.poa()->deactivate_object(id);
    }

  private:
    RunningServer& server_;
    std::vector<Counted*> servants_; // the POA's
    std::vector<PortableServer::ObjectId_var> ids_;
};

/// How requests get to servants, and how they find them.
class Many : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Many, ObjectsAreCalledAndDeactivatedUnderLoad)
{
    const Size size = size_of_test();
    RunningServer server(GetParam().first, {"-ORBDemux", GetParam().second});
    ManyObjects objects(server, size.objects);
    EXPECT_LE(objects.bytes_per_object, bytes_per_object_max);

    std::vector<std::unique_ptr<Caller>> callers;
    for (unsigned i = 0; i < clients; ++i)
        callers.push_back(std::make_unique<Caller>(server, objects.keys, i));
    const std::size_t batches = size.objects * size.requests_each / clients / batch;
    std::barrier calm(clients + 1); // all the calls were served, nobody has been deactivated
    std::atomic<bool> all_gone{false};
    std::vector<std::thread> threads;
    for (const auto& caller : callers)
        threads.emplace_back([&, caller = caller.get()] {
            for (std::size_t i = 0; i < batches; ++i)
                caller->call();
            calm.arrive_and_wait();
            calm.arrive_and_wait();
            while (!all_gone)
                caller->call();
            caller->call(); // nobody is there
        });

    calm.arrive_and_wait();
    for (const auto& caller : callers)
        EXPECT_EQ(caller->served, batches * batch);
    EXPECT_EQ(objects.calls(), clients * batches * batch);
    calm.arrive_and_wait();
    objects.deactivate();
    all_gone = true;
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& caller : callers) {
        EXPECT_EQ(caller->wrong, 0u);
        EXPECT_GE(caller->not_there, batch);
    }
    EXPECT_EQ(objects.destroyed, size.objects);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Many,
    ::testing::Values(std::pair{"thread-per-connection", "active"}, std::pair{"reactor", "active"},
                      std::pair{"thread-per-connection", "delayered"}),
    [](const auto& way) {
        return std::string(way.param.first == std::string_view("reactor") ? "Reactor" : "Threads") +
               '_' + way.param.second;
    });

} // namespace
} // namespace kairos::orb_testing
