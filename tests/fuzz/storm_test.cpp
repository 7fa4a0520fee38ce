// SPDX-License-Identifier: Apache-2.0
//
// Messages that the fuzzers keep, changed at random and sent to servers over real connections: in
// every architecture, over every transport, and to the name server. Nobody looks at the answers;
// but that each connection ends, that others are served in between, and that memory stays flat.
// KAIROS_STORM_MESSAGES says how many each test sends, KAIROS_STORM_SEED where they begin.
#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"
#include "kairos/nameserver/service.h"
#include "tests/faults/faults.h"
#include "tests/fuzz/memory_store.h"
#include "tests/fuzz/target.h"
#include "tests/malformed/wire.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>
#include <unistd.h>

namespace kairos::fuzz {
namespace {

using orb_testing::Octets;
using orb_testing::patience;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise)
{
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::stoull(text);
}

std::uint64_t resident_octets()
{
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint32_t size_in_header(Bytes message)
{
    std::uint32_t size = 0;
    std::memcpy(&size, message.data() + 8, sizeof size);
    const bool little_endian = (message[6] & std::byte{1}) != std::byte{0};
    return little_endian == native_little_endian ? size : byteswap(size);
}

/// The messages of a target's corpus. A seed is a stream behind one octet.
std::vector<Octets> messages_of(const std::string& target)
{
    std::vector<Octets> messages;
    for (const auto& entry : std::filesystem::directory_iterator(KAIROS_CORPUS "/" + target)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        Bytes stream = as_bytes(std::string_view(text));
        stream = stream.subspan(std::min<std::size_t>(stream.size(), 1));
        while (!stream.empty()) {
            std::size_t size = stream.size();
            if (size >= giop::header_size)
                size = std::min<std::size_t>(size, giop::header_size + size_in_header(stream));
            messages.emplace_back(stream.begin(),
                                  stream.begin() + static_cast<std::ptrdiff_t>(size));
            stream = stream.subspan(size);
        }
    }
    // The order of a folder is not the same everywhere.
    std::ranges::sort(messages);
    return messages;
}

/// Changes messages, the same ones for the same seed.
class Mutator {
  public:
    Mutator(std::vector<Octets> samples, std::uint64_t seed)
        : samples_(std::move(samples)), random_(seed)
    {
    }

    [[nodiscard]] Octets next()
    {
        Octets message = sample();
        for (std::size_t changes = below(5); changes != 0; --changes)
            change(message);
        // Most are to be read to their end, and those behind them as well.
        if (message.size() >= giop::header_size && below(8) != 0) make_whole(message);
        return message;
    }

  private:
    [[nodiscard]] std::size_t below(std::size_t bound)
    {
        return static_cast<std::size_t>(random_() % bound);
    }
    [[nodiscard]] const Octets& sample() { return samples_[below(samples_.size())]; }
    [[nodiscard]] static std::ptrdiff_t at(std::size_t place)
    {
        return static_cast<std::ptrdiff_t>(place);
    }

    void change(Octets& message)
    {
        if (message.empty()) return;
        const std::size_t place = below(message.size());
        const std::size_t count = std::min(1 + below(16), message.size() - place);
        switch (below(7)) {
        case 0:
            message[place] ^= std::byte{1} << below(8);
            break;
        case 1:
            message[place] = static_cast<std::byte>(random_());
            break;
        case 2:
            set_number(message, place);
            break;
        case 3:
            message.erase(message.begin() + at(place), message.begin() + at(place + count));
            break;
        case 4:
            message.insert(message.begin() + at(place), count, std::byte(random_()));
            break;
        case 5: { // repeats what is there
            const Octets part(message.begin() + at(place), message.begin() + at(place + count));
            message.insert(message.begin() + at(place), part.begin(), part.end());
            break;
        }
        default: { // goes on as another does
            const Octets& other = sample();
            message.resize(place);
            if (place < other.size())
                message.insert(message.end(), other.begin() + at(place), other.end());
        }
        }
    }
    /// One that lengths, counts and discriminators are wrong with.
    void set_number(Octets& message, std::size_t place)
    {
        constexpr std::uint32_t numbers[] = {0,          1,          2,          0xff,
                                             0xffff,     0x10000,    0x7fffffff, 0x80000000,
                                             0xffffffff, 0xfffffffe, 0x7fffff00, 0x100};
        place &= ~std::size_t{3};
        if (place + 4 > message.size()) return;
        std::uint32_t number = numbers[below(std::size(numbers))];
        if (below(4) == 0) number = static_cast<std::uint32_t>(below(message.size() + 2));
        if (below(2) == 0) number = byteswap(number);
        std::memcpy(message.data() + place, &number, sizeof number);
    }
    static void make_whole(Octets& message)
    {
        auto size = static_cast<std::uint32_t>(message.size() - giop::header_size);
        const bool little_endian = (message[6] & std::byte{1}) != std::byte{0};
        if (little_endian != native_little_endian) size = byteswap(size);
        std::memcpy(message.data() + 8, &size, sizeof size);
    }

    const std::vector<Octets> samples_;
    std::mt19937_64 random_;
};

/// Connects without net::connect, which a test may have made to fail.
net::Socket plain_connection(const net::Address& address)
{
    net::Socket socket(::socket(address.native()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.descriptor(), address.native(), address.native_size()) != 0)
        throw std::runtime_error("no connection");
    return socket;
}

net::Socket connection_by_memory(const net::Address& address)
{
    net::Socket socket = plain_connection(address);
    if (!socket.offer_memory(std::chrono::microseconds(0),
                             Deadline::after(std::chrono::seconds(30))))
        throw std::runtime_error("no memory");
    return socket;
}

/// Messages on a connection: less than a ring of shared memory holds, so that sending never waits.
constexpr std::size_t burst_max = 32 << 10;

/// How much the server answers until it has closed the connection; nothing if it does not.
std::optional<std::uint64_t> read_to_the_end(net::Socket& socket)
{
    std::array<std::byte, 16 << 10> answer;
    for (std::uint64_t octets = 0;;) {
        if (!socket.wait_readable(patience).ok()) return {};
        const auto got = socket.read(answer);
        if (!got.ok()) return octets;
        octets += got.bytes;
    }
}

/// Sends KAIROS_STORM_MESSAGES messages. `is_served` makes a call of somebody else.
void storm(const std::string& corpus, const std::function<net::Socket()>& connect,
           const std::function<bool()>& is_served)
{
    const std::uint64_t messages = number_from("KAIROS_STORM_MESSAGES", 1500);
    Mutator mutator(messages_of(corpus), number_from("KAIROS_STORM_SEED", 1));
    std::uint64_t resident = 0;
    std::uint64_t sent = 0;
    std::uint64_t connections = 0;
    std::uint64_t answered = 0; // octets
    while (sent < messages) {
        Octets burst;
        while (sent < messages) {
            const Octets message = mutator.next();
            if (burst.size() + message.size() > burst_max) break;
            burst.insert(burst.end(), message.begin(), message.end());
            ++sent;
            if (message.size() % 16 == 0) break; // connections of many and of few
        }
        net::Socket socket = connect();
        (void)socket.write_all(burst); // fails where the server has closed
        socket.shutdown_write();
        const auto octets = read_to_the_end(socket);
        ASSERT_TRUE(octets) << "message " << sent;
        answered += *octets;
        if (++connections % 64 == 0) {
            ASSERT_TRUE(is_served()) << "message " << sent;
        }
        if (resident == 0 && sent >= messages / 4) resident = resident_octets();
    }
    EXPECT_TRUE(is_served());
    EXPECT_GE(answered, messages); // many are still good enough for an answer
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LE(resident_octets(), resident + (std::uint64_t{32} << 20));
#endif
    testing::Test::RecordProperty("connections", std::to_string(connections));
}

/// Runs an ORB in a thread of its own until the end of the test.
class Running {
  public:
    explicit Running(CORBA::ORB_ptr orb) : orb_(orb), thread_([orb] { orb->run(); }) {}
    ~Running()
    {
        orb_->shutdown(false);
        thread_.join();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

  private:
    CORBA::ORB_ptr orb_;
    std::thread thread_;
};

/// Another client, whose requests are good ones.
class Bystander {
  public:
    Bystander(net::Socket socket, std::string_view key, std::string_view operation)
        : peer_(std::move(socket)),
          request_(orb_testing::request(as_bytes(key), operation).finish())
    {
    }
    [[nodiscard]] bool is_served()
    {
        peer_.send(request_);
        return !peer_.read_message().empty();
    }

  private:
    orb_testing::RawPeer peer_;
    const Octets request_;
};

std::string path_of_this_process() { return "/tmp/kairos-storm-" + std::to_string(::getpid()); }

net::Address unix_address() { return net::Address::unix_path(path_of_this_process()).value(); }

net::Address tcp_address(CORBA::ORB_ptr orb, CORBA::Object_ptr object)
{
    const CORBA::String_var text = orb->object_to_string(object);
    const auto ior = ior::from_string(text.in()).value();
    return net::Address::loopback_ipv4(ior::decode_iiop(ior.profiles.at(0).data).value().port);
}

struct Way {
    const char* name;
    std::string endpoint;
    net::Socket (*connect)(const net::Address& address);
};

const Way ways[] = {{"tcp", "iiop://127.0.0.1:0", plain_connection},
                    {"unix", "uiop://" + path_of_this_process(), plain_connection},
                    {"memory", "shmiop://" + path_of_this_process(), connection_by_memory}};

class Storm : public testing::TestWithParam<std::tuple<const char*, Way>> {
  protected:
    [[nodiscard]] std::vector<std::string> options() const
    {
        const std::string architecture = std::get<0>(GetParam());
        std::vector<std::string> options{"-ORBListenEndpoints", way().endpoint};
        if (architecture == "reactor-per-priority-each")
            options.insert(options.end(),
                           {"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0:each"});
        else
            options.insert(options.end(), {"-ORBConcurrency", architecture});
        return options;
    }
    [[nodiscard]] const Way& way() const { return std::get<1>(GetParam()); }
    [[nodiscard]] net::Address address(CORBA::ORB_ptr orb, CORBA::Object_ptr object) const
    {
        return way().endpoint.starts_with("iiop") ? tcp_address(orb, object) : unix_address();
    }
};

TEST_P(Storm, IsWeathered)
{
    Target target(options());
    const net::Address at = address(target.orb(), target.object());
    const Running running(target.orb());
    Bystander bystander(way().connect(at), "fuzz/target", "ping");
    storm(
        "orb.server", [&] { return way().connect(at); }, [&] { return bystander.is_served(); });
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, Storm,
    testing::Combine(testing::Values("thread-per-connection", "reactor", "reactor-per-priority",
                                     "reactor-per-priority-each", "leader-followers", "worker-pool",
                                     "thread-per-request", "thread-per-object", "filter-chain"),
                     testing::ValuesIn(ways)),
    [](const auto& each) {
        std::string name =
            std::string(std::get<0>(each.param)) + "_" + std::get<1>(each.param).name;
        std::ranges::replace(name, '-', '_');
        return name;
    });

/// While it lives no server of this process connects to another, wherever it is sent.
net::testing::FaultPlan refusals()
{
    net::testing::FaultPlan plan;
    plan.seed = 1;
    plan.of(net::testing::SystemCall::connect) = 1000;
    plan.of(net::testing::SystemCall::resolve) = 1000;
    return plan;
}

using NamingStorm = Storm;

TEST_P(NamingStorm, IsWeathered)
{
    const net::testing::Faults faults(refusals());
    auto options_of_it = options();
    options_of_it.insert(options_of_it.end(), {"-ORBPlainKeys", "1"});
    const CORBA::ORB_var orb = make_orb(options_of_it);
    {
        const nameserver::NamingService service(orb.in(),
                                                std::make_unique<nameserver::MemoryStore>());
        const CosNaming::NamingContextExt_var root = service.root();
        const net::Address at = address(orb.in(), root.in());
        const Running running(orb.in());
        Bystander bystander(way().connect(at), "NameService", "_non_existent");
        storm(
            "nameserver.service", [&] { return way().connect(at); },
            [&] { return bystander.is_served(); });
    }
    orb->destroy();
}

INSTANTIATE_TEST_SUITE_P(Everywhere, NamingStorm,
                         testing::Combine(testing::Values("thread-per-connection", "reactor",
                                                          "worker-pool"),
                                          testing::ValuesIn(ways)),
                         [](const auto& each) {
                             std::string name = std::string(std::get<0>(each.param)) + "_" +
                                                std::get<1>(each.param).name;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

} // namespace
} // namespace kairos::fuzz
