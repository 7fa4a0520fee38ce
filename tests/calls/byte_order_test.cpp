// SPDX-License-Identifier: Apache-2.0
//
// Big-endian input, end to end. An encoder of this test's own, independent of the ORB's, writes
// values of every type in either byte order. As a client it sends big-endian requests to a server
// of ours and compares the reply byte for byte; as a server it answers a client of ours with
// big-endian replies.
#include "fixture.h"
#include "kinds.h"

#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"

#include <arpa/inet.h>
#include <bit>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

using namespace calls;

namespace {

using Octets = std::string;

/// CDR (CORBA 3.3 part 2, 9.3) from offset 0 on.
class Encoder {
  public:
    Encoder(CORBA::ORB_ptr orb, bool big_endian) : orb_(orb), big_endian_(big_endian) {}

    template <Number T>
    void value(const T& number)
    {
        if constexpr (std::is_enum_v<T>)
            put(static_cast<std::uint32_t>(number));
        else if constexpr (std::is_same_v<T, long double>)
            put_quad(number);
        else
            put(number);
    }
    template <typename T>
    void text(const T& text, unsigned)
    {
        put_string(static_cast<const char*>(text));
    }
    template <typename T>
    void reference(const T& reference)
    {
        const CORBA::String_var text = orb_->object_to_string(reference);
        const auto ior = kairos::ior::from_string(text.in());
        put_string(ior->type_id);
        put(static_cast<std::uint32_t>(ior->profiles.size()));
        for (const auto& profile : ior->profiles) { // an encapsulation keeps its own byte order
            put(profile.tag);
            put(static_cast<std::uint32_t>(profile.data.size()));
            octets_.append(reinterpret_cast<const char*>(profile.data.data()), profile.data.size());
        }
    }
    template <typename Sequence>
    void length(const Sequence& sequence, unsigned)
    {
        put(static_cast<std::uint32_t>(sequence.length()));
    }
    template <typename Sequence>
    void end(const Sequence&)
    {
    }

    template <typename T>
    void put(T number)
    {
        align(sizeof(T));
        Octets octets(reinterpret_cast<const char*>(&number), sizeof(T));
        if (big_endian_ != (std::endian::native == std::endian::big))
            std::reverse(octets.begin(), octets.end());
        octets_ += octets;
    }
    void put_string(const std::string& text)
    {
        put(static_cast<std::uint32_t>(text.size() + 1));
        octets_ += text;
        octets_ += '\0';
    }
    void append(const Octets& octets) { octets_ += octets; }
    void align(std::size_t boundary)
    {
        octets_.append((boundary - octets_.size() % boundary) % boundary, '\0');
    }
    [[nodiscard]] const Octets& octets() const { return octets_; }

  private:
    /// IEEE binary128 from what this machine has, by arithmetic.
    void put_quad(long double number)
    {
        std::uint64_t high = std::signbit(number) ? std::uint64_t{1} << 63 : 0;
        std::uint64_t low = 0;
        if (std::isinf(number)) {
            high |= std::uint64_t{0x7fff} << 48;
        } else if (number != 0) {
            int exponent = 0;
            const long double fraction = std::frexp(std::fabs(number), &exponent);
            const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 64)); // 1xxx…
            const int biased = exponent - 1 + 16383;
            if (biased > 0) {
                const std::uint64_t top = mantissa << 1; // without the leading one
                high |= static_cast<std::uint64_t>(biased) << 48;
                high |= top >> 16;
                low = top << 48;
            } else { // a subnormal of both: counted in units of 2^-16494
                const int shift = 48 + biased;
                const auto units = shift >= 0 ? static_cast<unsigned __int128>(mantissa) << shift
                                              : static_cast<unsigned __int128>(mantissa >> -shift);
                high |= static_cast<std::uint64_t>(units >> 64);
                low = static_cast<std::uint64_t>(units);
            }
        }
        align(8);
        if (big_endian_) {
            put(high);
            put(low);
        } else {
            put(low);
            put(high);
        }
    }

    CORBA::ORB_ptr orb_;
    const bool big_endian_;
    Octets octets_;
};

// --- the same values that the checks make
// ---------------------------------------------------------

/// The bodies of one call of an echo: big-endian arguments, and results as asked for.
struct Round {
    Octets arguments;
    Octets results;
};

constexpr std::uint32_t rounds = 4;

struct Coder {
    CORBA::ORB_ptr orb;
    const Pool& pool;
    bool big_endian_results;

    template <typename T>
    [[nodiscard]] Round round(const T& a, const T& b) const
    {
        Encoder arguments(orb, true);
        visit(arguments, a);
        visit(arguments, b);
        Encoder results(orb, big_endian_results);
        visit(results, a);
        visit(results, a);
        visit(results, b);
        return {arguments.octets(), results.octets()};
    }
};

using Rounds = std::vector<Round> (*)(const Coder& coder, std::uint32_t seed);

template <typename T>
std::vector<Round> rounds_of(const Coder& coder, std::uint32_t seed)
{
    struct Box {
        T value{};
    };
    std::vector<Round> made;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const auto a = std::make_unique<Box>();
        const auto b = std::make_unique<Box>();
        for (Box* box : {a.get(), b.get()}) {
            Filler filler(coder.pool, ++seed);
            visit(filler, box->value);
        }
        made.push_back(coder.round(a->value, b->value));
    }
    return made;
}

template <unsigned bound>
std::vector<Round> rounds_of_text(const Coder& coder, std::uint32_t seed)
{
    std::vector<Round> made;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        CORBA::String_var a;
        CORBA::String_var b;
        Filler filler(coder.pool, ++seed);
        filler.text(a, round == 0 ? 0 : bound);
        filler.text(b, bound);
        made.push_back(coder.round(a, b));
    }
    return made;
}

std::vector<Round> rounds_of_references(const Coder& coder, std::uint32_t)
{
    const auto& echoes = coder.pool.echoes;
    std::vector<Round> made;
    for (std::size_t i = 0; i < echoes.size(); ++i)
        made.push_back(coder.round(echoes[i], echoes[(i + 1) % echoes.size()]));
    return made;
}

struct Kind {
    std::string name;
    Rounds make;
};

std::vector<Kind> all_kinds()
{
#define VALUE(T) {"echo_" #T, rounds_of<Types::T>},
#define DERIVED(T) VALUE(T##_3) VALUE(T##_2x3) VALUE(T##_s) VALUE(T##_s4) VALUE(T##_ss)
#define BASIC(T) VALUE(T) DERIVED(T)
#define FIXED(T) VALUE(T) DERIVED(T)
#define STRING(T) DERIVED(T)
#define VARIABLE(T) VALUE(T) DERIVED(T)
#define REFERENCE(T) {"echo_" #T, rounds_of_references}, DERIVED(T)
    return {KINDS{"echo_Name", rounds_of_text<100>},
            {"echo_ShortName", rounds_of_text<8>},
            VALUE(Wrapped) VALUE(Node) VALUE(Tree) VALUE(Wrapped_s) VALUE(I32_3_s) VALUE(Point_3_s)
                VALUE(Name_3_s) VALUE(PersonsAgain) VALUE(F128Structs)};
}

// --- messages
// -------------------------------------------------------------------------------------

/// A GIOP message around what follows the header.
Octets message(char minor, char flags_type, bool big_endian, const Octets& rest)
{
    Octets octets = "GIOP\x01";
    octets += minor;
    octets += static_cast<char>(big_endian ? 0 : 1);
    octets += flags_type;
    auto size = static_cast<std::uint32_t>(rest.size());
    if (big_endian != (std::endian::native == std::endian::big)) size = __builtin_bswap32(size);
    octets.append(reinterpret_cast<const char*>(&size), 4);
    return octets + rest;
}

void send_all(int socket, const Octets& octets)
{
    ASSERT_EQ(send(socket, octets.data(), octets.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(octets.size()));
}

Octets receive(int socket, std::size_t count)
{
    Octets octets(count, '\0');
    const ssize_t received = recv(socket, octets.data(), count, MSG_WAITALL);
    octets.resize(received < 0 ? 0 : static_cast<std::size_t>(received));
    return octets;
}

std::uint32_t load_u32(const Octets& octets, std::size_t at)
{
    std::uint32_t number = 0;
    if (octets.size() >= at + 4) std::memcpy(&number, octets.data() + at, 4);
    return number;
}

/// A whole message: header and all. The tests' peers write in this machine's order.
Octets receive_message(int socket)
{
    Octets header = receive(socket, 12);
    return header + receive(socket, load_u32(header, 8));
}

// --- requests: this test is the client
// ------------------------------------------------------------

class BigEndianRequests : public testing::TestWithParam<char> {
  protected:
    void SetUp() override
    {
        const auto ior = kairos::ior::from_string(server_.reference);
        const auto target = kairos::ior::targets(*ior)[0];
        key_.assign(reinterpret_cast<const char*>(target.object_key().data()),
                    target.object_key().size());
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(target.address.port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    void TearDown() override { close(socket_); }

    [[nodiscard]] Octets request(const std::string& operation, const Octets& body)
    {
        Encoder header(orb_.in(), true);
        header.append(Octets(12, '\0')); // the place of the GIOP header, for alignment
        const char minor = GetParam();
        if (minor == 2) {
            header.put(++id_);
            header.append(Octets("\x03\0\0\0", 4));
            header.put(std::uint16_t{0});
        } else {
            header.put(std::uint32_t{0});
            header.put(++id_);
            header.append(Octets("\x01\0\0\0", 4));
        }
        header.put(static_cast<std::uint32_t>(key_.size()));
        header.append(key_);
        header.put_string(operation);
        if (minor == 2) {
            header.put(std::uint32_t{0});
            if (!body.empty()) header.align(8);
        } else { // the principal, which nobody reads, makes the body begin at a multiple of eight
            header.align(4);
            const bool pad = (header.octets().size() + 4) % 8 != 0;
            header.put(std::uint32_t{pad ? 4u : 0u});
            if (pad) header.append(Octets(4, '\0'));
        }
        return message(minor, 0, true, header.octets().substr(12) + body);
    }

    void expect_echo(const Kind& kind)
    {
        const bool big_endian = std::endian::native == std::endian::big;
        const Coder coder{orb_.in(), pool_, big_endian};
        const char minor = GetParam();
        for (const Round& round : kind.make(coder, 1)) {
            send_all(socket_, request(kind.name, round.arguments));
            const Octets reply = receive_message(socket_);
            // Id, status and contexts are twelve octets, in another order in 1.2.
            EXPECT_EQ(load_u32(reply, minor == 2 ? 12 : 16), id_) << kind.name;
            ASSERT_EQ(load_u32(reply, minor == 2 ? 16 : 20), 0u) << kind.name;
            EXPECT_TRUE(reply.substr(24) == round.results) << kind.name;
        }
    }

    const TestOrb orb_;
    Server server_;
    Pool pool_ = make_pool();

  private:
    Pool make_pool()
    {
        const Types::Echo_var echo = orb_.echo(server_.reference);
        Pool pool;
        pool.echoes.push_back(Types::Echo::_nil());
        pool.echoes.push_back(echo);
        return pool;
    }

    std::string key_;
    int socket_ = -1;
    std::uint32_t id_ = 0;
};

std::string version_name(const testing::TestParamInfo<char>& info)
{
    return "giop_1_" + std::to_string(info.param);
}

TEST_P(BigEndianRequests, OfEveryType)
{
    for (const Kind& kind : all_kinds())
        expect_echo(kind);
}

INSTANTIATE_TEST_SUITE_P(Versions, BigEndianRequests, testing::Values('\0', '\1', '\2'),
                         version_name);

// --- replies: this test is the server
// -------------------------------------------------------------

/// Answers each request on one connection with the next of the bodies it was given.
class Answerer {
  public:
    explicit Answerer(char minor) : minor_(minor), listener_(socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(listener_, 1), 0);
        EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        reference = "corbaloc:iiop:1." + std::to_string(minor) +
                    "@127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/answerer";
        thread_ = std::thread([this] { serve(); });
    }
    /// After the ORB that calls has closed its connections.
    ~Answerer()
    {
        thread_.join();
        close(listener_);
    }

    void answer_with(std::vector<Octets> bodies)
    {
        const std::lock_guard lock(mutex_);
        bodies_.assign(bodies.begin(), bodies.end());
    }
    [[nodiscard]] std::size_t left()
    {
        const std::lock_guard lock(mutex_);
        return bodies_.size();
    }

    std::string reference;

  private:
    void serve()
    {
        const int peer = accept(listener_, nullptr, nullptr);
        for (;;) {
            const Octets request = receive_message(peer);
            if (request.size() < 24 || request[7] != 0) break;
            Encoder reply(nullptr, true);
            const std::uint32_t id = load_u32(request, minor_ == 2 ? 12 : 16);
            if (minor_ != 2) reply.put(std::uint32_t{0});
            reply.put(id);
            reply.put(std::uint32_t{0});
            if (minor_ == 2) reply.put(std::uint32_t{0});
            send_all(peer, message(minor_, 1, true, reply.octets() + next_body()));
        }
        close(peer);
    }
    Octets next_body()
    {
        const std::lock_guard lock(mutex_);
        if (bodies_.empty()) return {};
        Octets body = bodies_.front();
        bodies_.pop_front();
        return body;
    }

    const char minor_;
    const int listener_;
    std::mutex mutex_;
    std::deque<Octets> bodies_; // guarded by mutex_
    std::thread thread_;
};

class BigEndianReplies : public testing::TestWithParam<char> {};

TEST_P(BigEndianReplies, OfEveryType)
{
    Answerer answerer(GetParam());
    const TestOrb orb;
    const CORBA::Object_var object = orb->string_to_object(answerer.reference.c_str());
    const Types::Echo_var echo = Types::Echo::_unchecked_narrow(object.in());
    Context context{orb.in(), echo.in(), {}, 1};
    context.pool.echoes.push_back(Types::Echo::_nil());
    context.pool.echoes.push_back(echo);
    const Coder coder{orb.in(), context.pool, true};
    std::map<std::string, Rounds> kinds;
    for (const Kind& kind : all_kinds())
        kinds[kind.name] = kind.make;
    std::size_t checked = 0;
    for (const Check& check : value_checks()) {
        SCOPED_TRACE(check.name);
        context.seed = 1;
        std::vector<Octets> bodies;
        ASSERT_TRUE(kinds.contains(check.name));
        for (const Round& round : kinds[check.name](coder, context.seed))
            bodies.push_back(round.results);
        answerer.answer_with(std::move(bodies));
        try {
            check.run(context);
        } catch (const std::exception& exception) {
            ADD_FAILURE() << exception.what();
        }
        EXPECT_EQ(answerer.left(), 0u);
        ++checked;
    }
    EXPECT_EQ(checked, kinds.size());
}

INSTANTIATE_TEST_SUITE_P(Versions, BigEndianReplies, testing::Values('\0', '\1', '\2'),
                         version_name);

} // namespace
