// SPDX-License-Identifier: Apache-2.0
//
// Messages that the fuzzers keep, changed at random and sent to servers over real connections: in
// every architecture, over every transport, and to the name server. What is good among them is
// answered, each connection ends, others are served in between, and memory stays flat.
// KAIROS_STORM_MESSAGES says how many each test sends, KAIROS_STORM_SEED where they begin.
#include "kairos/giop/reply.h"
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

    /// A message whose header says the size that it has: what is behind it is read as well.
    [[nodiscard]] Octets whole()
    {
        Octets message = any();
        message.resize(std::max(message.size(), giop::header_size));
        auto size = static_cast<std::uint32_t>(message.size() - giop::header_size);
        const bool little_endian = (message[6] & std::byte{1}) != std::byte{0};
        if (little_endian != native_little_endian) size = byteswap(size);
        std::memcpy(message.data() + 8, &size, sizeof size);
        return message;
    }
    /// A message that may claim any size.
    [[nodiscard]] Octets any()
    {
        Octets message = sample();
        for (std::size_t changes = below(5); changes != 0; --changes)
            change(message);
        return message;
    }
    [[nodiscard]] bool one_in(std::size_t bound) { return below(bound) == 0; }
    [[nodiscard]] std::uint32_t number() { return static_cast<std::uint32_t>(random_()); }

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

/// Octets that are sent on a connection at once: less than a ring of shared memory holds, so that
/// sending never waits.
constexpr std::size_t burst_max = 32 << 10;

/// One client after the other, each with a connection for some messages.
class Client {
  public:
    explicit Client(net::Socket socket) : socket_(std::move(socket)) {}

    /// Sends messages whose sizes are right, and behind them a good one. Returns whether that is
    /// answered, or else the connection ended.
    [[nodiscard]] bool ends_with(Octets messages, const Octets& good, std::uint32_t id)
    {
        messages.insert(messages.end(), good.begin(), good.end());
        (void)socket_.write_all(messages); // fails where the server has closed
        for (Octets answer;;) {
            answer.resize(giop::header_size);
            if (!read(answer)) return has_ended_;
            answer.resize(giop::header_size + size_in_header(answer));
            if (!read(MutableBytes(answer).subspan(giop::header_size))) return has_ended_;
            giop::Message message;
            giop::Reply reply;
            if (giop::message_of(answer, message) == giop::Fault::none &&
                message.type == giop::MessageType::reply &&
                giop::parse(message, reply) == cdr::Fault::none && reply.request_id == id)
                return true;
        }
    }
    /// Sends messages and no more. Returns whether the server closes the connection.
    [[nodiscard]] bool ends_after(const Octets& messages)
    {
        (void)socket_.write_all(messages);
        socket_.shutdown_write();
        std::array<std::byte, 4096> answer;
        while (read(answer)) {
        }
        return has_ended_;
    }
    [[nodiscard]] std::uint64_t octets_read() const { return octets_read_; }

  private:
    /// Fills the space; false at the end, or where nothing came for long.
    [[nodiscard]] bool read(MutableBytes space)
    {
        while (!space.empty()) {
            if (!socket_.wait_readable(patience).ok()) return false;
            const auto got = socket_.read(space);
            has_ended_ = !got.ok();
            if (has_ended_) return false;
            octets_read_ += got.bytes;
            space = space.subspan(got.bytes);
        }
        return true;
    }

    net::Socket socket_;
    std::uint64_t octets_read_ = 0;
    bool has_ended_ = false;
};

/// What is sent to, and with what.
struct Aim {
    const char* corpus;
    std::string_view key; ///< of an object that has the operation
    std::string_view operation;
};

/// Sends KAIROS_STORM_MESSAGES messages.
void storm(const Aim& aim, const std::function<net::Socket()>& connect)
{
    const std::uint64_t messages = number_from("KAIROS_STORM_MESSAGES", 1500);
    Mutator mutator(messages_of(aim.corpus), number_from("KAIROS_STORM_SEED", 1));
    const auto good = [&](std::uint32_t id) {
        return orb_testing::request(as_bytes(aim.key), aim.operation, id).finish();
    };
    orb_testing::RawPeer bystander(connect());
    std::uint64_t resident = 0;
    std::uint64_t answered = 0; // octets
    std::uint64_t connections = 0;
    for (std::uint64_t sent = 0; sent < messages; ++connections) {
        Octets burst;
        do {
            const Octets message = mutator.whole();
            if (burst.size() + message.size() > burst_max) break;
            burst.insert(burst.end(), message.begin(), message.end());
            ++sent;
        } while (sent < messages && !mutator.one_in(16));
        Client client(connect());
        if (mutator.one_in(4)) {
            const Octets last = mutator.any();
            burst.insert(burst.end(), last.begin(), last.end());
            ASSERT_TRUE(client.ends_after(burst)) << "message " << ++sent;
        } else {
            const std::uint32_t id = mutator.number();
            ASSERT_TRUE(client.ends_with(burst, good(id), id)) << "message " << sent;
            answered += client.octets_read();
        }
        if (connections % 64 == 0) {
            bystander.send(good(1));
            ASSERT_FALSE(bystander.read_message().empty()) << "message " << sent;
        }
        if (resident == 0 && sent >= messages / 4) resident = resident_octets();
    }
    EXPECT_GE(answered, messages); // many are still good enough for an answer
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LE(resident_octets(), resident + (std::uint64_t{32} << 20));
#endif
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
    storm({"orb.server", "fuzz/target", "ping"}, [&] { return way().connect(at); });
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

using NamingStorm = Storm;

TEST_P(NamingStorm, IsWeathered)
{
    const net::testing::Faults faults(net::testing::no_connections());
    auto options_of_it = options();
    options_of_it.insert(options_of_it.end(), {"-ORBPlainKeys", "1"});
    const CORBA::ORB_var orb = make_orb(options_of_it);
    {
        const nameserver::NamingService service(orb.in(),
                                                std::make_unique<nameserver::MemoryStore>());
        const CosNaming::NamingContextExt_var root = service.root();
        const net::Address at = address(orb.in(), root.in());
        const Running running(orb.in());
        storm({"nameserver.service", "NameService", "_non_existent"},
              [&] { return way().connect(at); });
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
