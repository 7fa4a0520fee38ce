// SPDX-License-Identifier: Apache-2.0
//
// Large blocks in shared memory, by stubs and skeletons: what is the servant's where it lies, what
// is copied first, and that nobody sees a difference but by its address.
#include "blocks_skel.h"
#include "kairos/corba/loan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Whether this address is in memory that a connection's ends share.
bool is_shared(const void* address)
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::size_t end = 0;
        const auto first = std::stoull(line, &end, 16);
        const auto behind = std::stoull(line.substr(end + 1), nullptr, 16);
        const auto place = reinterpret_cast<std::uintptr_t>(address);
        if (place >= first && place < behind) return line.find("memfd:kairos") != std::string::npos;
    }
    return false;
}

class Servant : public POA_Blocks::Echo {
  public:
    /// Whether the last argument was where the client had put it.
    std::atomic<bool> was_shared{false};

    Blocks::Octets* echo_octets(const Blocks::Octets& all) override { return echo(all); }
    Blocks::FewOctets* echo_few(const Blocks::FewOctets& all) override { return echo(all); }
    Blocks::Numbers* echo_numbers(const Blocks::Numbers& all) override { return echo(all); }
    Blocks::Flags* echo_flags(const Blocks::Flags& all) override { return echo(all); }
    Blocks::Texts* echo_texts(const Blocks::Texts& all) override { return echo(all); }
    Blocks::Points* echo_points(const Blocks::Points& all) override { return echo(all); }
    Blocks::Mixtures* echo_mixtures(const Blocks::Mixtures& all) override { return echo(all); }
    Blocks::Image* picture(const Blocks::Image& all) override
    {
        was_shared = is_shared(all.pixels.data());
        return new Blocks::Image(all);
    }
    CORBA::Any* whatever(const CORBA::Any& all) override { return new CORBA::Any(all); }
    CORBA::Long two(CORBA::Long before, const Blocks::Octets& first, const Blocks::Octets& second,
                    CORBA::Long after) override
    {
        was_shared = is_shared(first.data()) && !is_shared(second.data());
        return before + first[first.length() - 1] + second[second.length() - 1] + after;
    }
    Blocks::Octets* nested(const Blocks::Octets& all, Blocks::Echo_ptr other) override
    {
        for (CORBA::ULong i = 0; i < 20; ++i) { // what is free is used by these
            Blocks::Octets others;
            others.length(100'000 + i);
            std::fill(others.begin(), others.end(), CORBA::Octet{0xEE});
            const Blocks::Octets_var back = other->echo_octets(others);
            EXPECT_EQ(back->length(), others.length());
        }
        return echo(all);
    }
    void note(const Blocks::Octets& all) override
    {
        const std::lock_guard lock(mutex_);
        const auto same = static_cast<std::size_t>(std::count(all.begin(), all.end(), all[0]));
        noted_.push_back(same == all.length() ? all[0] : CORBA::Octet{0xFF});
    }
    Blocks::Octets* noted() override
    {
        const std::lock_guard lock(mutex_);
        auto* const all = new Blocks::Octets;
        all->assign(noted_);
        return all;
    }

    [[nodiscard]] std::size_t count_noted()
    {
        const std::lock_guard lock(mutex_);
        return noted_.size();
    }

  private:
    template <typename Sequence>
    Sequence* echo(const Sequence& all)
    {
        was_shared = is_shared(all.data());
        return new Sequence(all);
    }

    std::mutex mutex_; // guards what follows
    std::vector<CORBA::Octet> noted_;
};

CORBA::ORB_var made(std::vector<std::string> arguments)
{
    static std::atomic<int> count{0};
    arguments.insert(arguments.end(), {"-ORBid", "blocks" + std::to_string(++count)});
    std::string program = "blocks";
    std::vector<char*> pointers{program.data()};
    for (std::string& argument : arguments)
        pointers.push_back(argument.data());
    int size = static_cast<int>(pointers.size());
    return CORBA::ORB_init(size, pointers.data());
}

/// A server, and a client in an ORB of its own, which reaches it by a connection.
class Calls {
  public:
    explicit Calls(std::vector<std::string> server = {"-ORBListenEndpoints", "shmiop://"},
                   std::vector<std::string> client = {})
        : server_(made(std::move(server))), client_(made(std::move(client)))
    {
        const CORBA::Object_var root = server_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        const Blocks::Echo_var own = servant_->_this();
        const CORBA::String_var text = server_->object_to_string(own);
        const CORBA::Object_var object = client_->string_to_object(text);
        echo = Blocks::Echo::_narrow(object);
        const Blocks::Octets_var none = echo->noted(); // first requests say more than others
        EXPECT_EQ(none->length(), 0u);
    }
    ~Calls()
    {
        echo = Blocks::Echo::_nil();
        client_->destroy();
        server_->destroy();
    }

    [[nodiscard]] Servant& servant() const { return *servant_.in(); }
    Blocks::Echo_var echo;

  private:
    CORBA::ORB_var server_;
    CORBA::ORB_var client_;
    PortableServer::Servant_var<Servant> servant_ = new Servant;
};

template <typename Sequence>
Sequence numbered(CORBA::ULong length)
{
    Sequence all;
    all.length(length);
    auto* const octets = reinterpret_cast<unsigned char*>(all.get_buffer());
    for (std::size_t i = 0; i < length * sizeof(typename Sequence::value_type); ++i)
        octets[i] = static_cast<unsigned char>(i % sizeof(typename Sequence::value_type) == 7
                                                   ? 0x40 // of a double: it is a number
                                                   : i * 7 + i / 251);
    return all;
}

template <typename Sequence>
bool same(const Sequence& left, const Sequence& right)
{
    return left.length() == right.length() &&
           std::memcmp(left.get_buffer(), right.get_buffer(),
                       left.length() * sizeof(typename Sequence::value_type)) == 0;
}

constexpr CORBA::ULong unit = 65'536;

TEST(BlocksOfCalls, OfEverySizeComeBackAsTheyWent)
{
    const Calls calls;
    for (const CORBA::ULong length :
         {unit - 1, unit, unit + 1, 3 * unit, 1'000'003U, 7'000'000U, 9'000'000U, 40'000'000U}) {
        const auto octets = numbered<Blocks::Octets>(length);
        for (int i = 0; i < 3; ++i) {
            const Blocks::Octets_var back = calls.echo->echo_octets(octets);
            ASSERT_TRUE(same(back.in(), octets)) << length;
        }
        // Half of what a direction has is the most that goes in one piece.
        EXPECT_EQ(calls.servant().was_shared, length >= unit && length < 8'000'000) << length;
    }
}

TEST(BlocksOfCalls, ThatMayBeAnythingStayWhereTheyLie)
{
    const Calls calls;
    const auto numbers = numbered<Blocks::Numbers>(unit / 4);
    const auto points = numbered<Blocks::Points>(unit / 4);
    const auto few = numbered<Blocks::FewOctets>(2 * unit);
    for (int i = 0; i < 3; ++i) {
        const Blocks::Numbers_var back = calls.echo->echo_numbers(numbers);
        EXPECT_TRUE(same(back.in(), numbers));
        EXPECT_TRUE(calls.servant().was_shared);
        const Blocks::Points_var points_back = calls.echo->echo_points(points);
        EXPECT_TRUE(same(points_back.in(), points));
        EXPECT_TRUE(calls.servant().was_shared);
        const Blocks::FewOctets_var few_back = calls.echo->echo_few(few);
        EXPECT_TRUE(same(few_back.in(), few));
        EXPECT_TRUE(calls.servant().was_shared);
        Blocks::Image image;
        image.name = "a picture";
        image.pixels = numbered<Blocks::Octets>(300'001);
        image.after = 17;
        const Blocks::Image_var image_back = calls.echo->picture(image);
        EXPECT_STREQ(image_back->name, "a picture");
        EXPECT_TRUE(same(image_back->pixels, image.pixels));
        EXPECT_EQ(image_back->after, 17);
        EXPECT_TRUE(calls.servant().was_shared) << "a member";
    }
}

TEST(BlocksOfCalls, ThatAreCheckedAreCopiedFirst)
{
    const Calls calls;
    Blocks::Flags flags;
    flags.length(100'000);
    for (CORBA::ULong i = 0; i < flags.length(); ++i)
        flags[i] = i % 3 == 0;
    const Blocks::Flags_var flags_back = calls.echo->echo_flags(flags);
    EXPECT_TRUE(same(flags_back.in(), flags));
    EXPECT_FALSE(calls.servant().was_shared);
    std::memset(flags.get_buffer() + 99'999, 2, 1); // what is no boolean
    EXPECT_THROW((void)calls.echo->echo_flags(flags), CORBA::MARSHAL);

    Blocks::Mixtures mixtures;
    mixtures.length(20'000);
    for (CORBA::ULong i = 0; i < mixtures.length(); ++i)
        mixtures[i] = {static_cast<CORBA::Octet>(i), i / 3.0};
    const Blocks::Mixtures_var mixtures_back = calls.echo->echo_mixtures(mixtures);
    ASSERT_EQ(mixtures_back->length(), mixtures.length());
    for (CORBA::ULong i = 0; i < mixtures.length(); ++i)
        ASSERT_TRUE(mixtures_back[i].kind == mixtures[i].kind &&
                    mixtures_back[i].value == mixtures[i].value);
    EXPECT_FALSE(calls.servant().was_shared);

    Blocks::Texts texts;
    texts.length(20'000);
    for (CORBA::ULong i = 0; i < texts.length(); ++i)
        texts[i] = std::to_string(i).c_str();
    const Blocks::Texts_var texts_back = calls.echo->echo_texts(texts);
    ASSERT_EQ(texts_back->length(), texts.length());
    EXPECT_STREQ(texts_back[19'999], "19999");
    EXPECT_FALSE(calls.servant().was_shared);
}

TEST(BlocksOfCalls, AreFoundWhereverTheyAreInAMessage)
{
    const Calls calls;
    Blocks::Octets first = numbered<Blocks::Octets>(100'001);
    Blocks::Octets second = numbered<Blocks::Octets>(80'003);
    first[100'000] = 1;
    second[80'002] = 2;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(calls.echo->two(10, first, second, 100), 113);
        EXPECT_TRUE(calls.servant().was_shared) << "the first of a message";
    }
    CORBA::Any any;
    any <<= first;
    const CORBA::Any_var back = calls.echo->whatever(any);
    const Blocks::Octets* octets = nullptr;
    ASSERT_TRUE(back.in() >>= octets);
    EXPECT_TRUE(same(*octets, first));
}

TEST(BlocksOfCalls, StayWithTheirRequestDuringOthers)
{
    const Calls calls(
        {"-ORBListenEndpoints", "shmiop://", "-ORBCollocation", "no", "-ORBLoanMemory", "2097152"});
    const auto octets = numbered<Blocks::Octets>(200'000);
    for (int i = 0; i < 5; ++i) {
        const Blocks::Octets_var back = calls.echo->nested(octets, calls.echo);
        EXPECT_TRUE(same(back.in(), octets));
    }
}

/// More of them than there is room for: they keep their order, and each its contents.
TEST(BlocksOfCalls, OfOnewaysAreNotOverwritten)
{
    const Calls calls({"-ORBListenEndpoints", "shmiop://"}, {"-ORBLoanMemory", "2097152"});
    std::vector<CORBA::Octet> expected;
    for (unsigned i = 0; i < 200; ++i) {
        Blocks::Octets octets;
        octets.length(70'000 + 5000 * (i % 10));
        std::fill(octets.begin(), octets.end(), static_cast<CORBA::Octet>(i));
        calls.echo->note(octets);
        expected.push_back(static_cast<CORBA::Octet>(i));
    }
    const Blocks::Octets_var noted = calls.echo->noted();
    ASSERT_EQ(noted->length(), expected.size());
    EXPECT_TRUE(std::equal(noted->begin(), noted->end(), expected.begin()));
}

TEST(BlocksOfCalls, AreNoneWhereAnEndHasNoMemoryForThem)
{
    using Arguments = std::vector<std::string>;
    const Arguments memory{"-ORBListenEndpoints", "shmiop://"};
    const Arguments none{"-ORBLoanMemory", "0"};
    Arguments server_without = memory;
    server_without.insert(server_without.end(), none.begin(), none.end());
    const auto octets = numbered<Blocks::Octets>(200'000);
    for (const auto& [server, client] :
         {std::pair{memory, none}, std::pair{server_without, Arguments{}},
          std::pair{Arguments{"-ORBListenEndpoints", "iiop://127.0.0.1"}, Arguments{}}}) {
        const Calls calls(server, client);
        for (int i = 0; i < 2; ++i) {
            const Blocks::Octets_var back = calls.echo->echo_octets(octets);
            EXPECT_TRUE(same(back.in(), octets));
            EXPECT_FALSE(calls.servant().was_shared);
        }
        auto loan = kairos::corba::loan<Blocks::Octets>(calls.echo.in(), octets.length());
        EXPECT_FALSE(loan.is_shared());
        std::copy(octets.begin(), octets.end(), loan.begin());
        const Blocks::Octets_var back = calls.echo->echo_octets(*loan);
        EXPECT_TRUE(same(back.in(), octets));
    }
}

/// An adapter whose objects are held when there are any, and another server is asked meanwhile.
class Late final : public virtual PortableServer::AdapterActivator {
  public:
    CORBA::Boolean unknown_adapter(PortableServer::POA_ptr parent, const char* name) override
    {
        CORBA::PolicyList policies(2);
        policies.length(2);
        policies[0] = parent->create_lifespan_policy(PortableServer::PERSISTENT);
        policies[1] = parent->create_id_assignment_policy(PortableServer::USER_ID);
        const PortableServer::POA_var made = parent->create_POA(name, nullptr, policies);
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("late");
        if (servant == nullptr) {
            reference = made->create_reference_with_id(id.in(), "IDL:Blocks/Echo:1.0");
            return true;
        }
        made->activate_object_with_id(id.in(), servant);
        manager = made->the_POAManager();
        asked.count_down();
        const Blocks::Octets_var answer = other->noted();
        return true;
    }
    CORBA::Object_var reference; // what is made first
    Servant* servant = nullptr;
    PortableServer::POAManager_var manager;
    std::latch asked{1};
    Blocks::Echo_var other;
};

/// Answers when it may.
class Gate final : public Servant {
  public:
    std::latch may_answer{1};
    Blocks::Octets* noted() override
    {
        may_answer.wait();
        return new Blocks::Octets;
    }
};

/// What comes in a block while that happens is another message, with a block of its own.
TEST(BlocksOfCalls, OfRequestsThatAreHeldAfterOthersWereServed)
{
    const CORBA::ORB_var ends = made({"-ORBListenEndpoints", "iiop://127.0.0.1"});
    const CORBA::Object_var ends_root = ends->resolve_initial_references("RootPOA");
    const PortableServer::POA_var ends_poa = PortableServer::POA::_narrow(ends_root);
    PortableServer::POAManager_var(ends_poa->the_POAManager())->activate();
    const PortableServer::Servant_var<Gate> gate = new Gate;
    const Blocks::Echo_var gate_own = gate->_this();
    const CORBA::String_var gate_text = ends->object_to_string(gate_own);

    const CORBA::ORB_var server = made({"-ORBListenEndpoints", "shmiop://", "-ORBConcurrency",
                                        "thread-per-connection", "-ORBServerId", "blocks"});
    const CORBA::Object_var root = server->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var(poa->the_POAManager())->activate();
    const PortableServer::Servant_var<Servant> servant = new Servant;
    const Blocks::Echo_var own = servant->_this();
    auto* const late = new Late;
    const PortableServer::AdapterActivator_var late_owner = late;
    late->unknown_adapter(poa, "late");
    PortableServer::POA_var(poa->find_POA("late", false))->destroy(true, true);
    const CORBA::Object_var gate_seen = server->string_to_object(gate_text);
    late->other = Blocks::Echo::_narrow(gate_seen);
    late->servant = servant.in();
    poa->the_activator(late);

    const CORBA::ORB_var client = made({"-ORBConnection", "active"}); // one for all threads
    const CORBA::String_var text = server->object_to_string(own);
    const CORBA::String_var late_text = server->object_to_string(late->reference);
    const CORBA::Object_var seen = client->string_to_object(text);
    const CORBA::Object_var late_seen = client->string_to_object(late_text);
    const Blocks::Echo_var echo = Blocks::Echo::_narrow(seen);
    const Blocks::Echo_var held = Blocks::Echo::_unchecked_narrow(late_seen);
    const Blocks::Octets_var none = echo->noted();

    const auto octets = numbered<Blocks::Octets>(1'000'000);
    std::thread calling([&] {
        const Blocks::Octets_var back = held->echo_octets(octets);
        EXPECT_TRUE(same(back.in(), octets));
    });
    late->asked.wait();
    Blocks::Octets others;
    others.length(100'000);
    std::fill(others.begin(), others.end(), CORBA::Octet{7});
    echo->note(others);
    while (servant->count_noted() == 0) // within the other request
        std::this_thread::yield();
    gate->may_answer.count_down();
    const Blocks::Octets_var open = late->other->noted();
    late->manager->activate();
    calling.join();
    EXPECT_EQ(servant->count_noted(), 1u);
    late->other = Blocks::Echo::_nil();
    client->destroy();
    server->destroy();
    ends->destroy();
}

TEST(BlocksOnLoan, AreWrittenAgainAndAgain)
{
    const Calls calls;
    auto octets = kairos::corba::loan<Blocks::Octets>(calls.echo.in(), 1'000'000);
    ASSERT_TRUE(octets.is_shared());
    ASSERT_TRUE(is_shared(octets.data()));
    ASSERT_EQ(octets->length(), 1'000'000u);
    for (unsigned i = 0; i < 20; ++i) {
        std::fill(octets.begin(), octets.end(), static_cast<CORBA::Octet>(i));
        const Blocks::Octets_var back = calls.echo->echo_octets(*octets);
        EXPECT_TRUE(same(back.in(), *octets));
    }
    EXPECT_TRUE(calls.servant().was_shared);
    octets.length(700'000); // a part of it
    const Blocks::Octets_var part = calls.echo->echo_octets(*octets);
    EXPECT_TRUE(same(part.in(), *octets));
    octets.length(2'000'000); // it has memory of its own from here on
    EXPECT_FALSE(is_shared(octets.data()));
    EXPECT_FALSE(octets.is_shared());
    const Blocks::Octets_var more = calls.echo->echo_octets(*octets);
    EXPECT_EQ(more->length(), 2'000'000u);

    auto few = kairos::corba::loan<Blocks::FewOctets>(calls.echo.in(), 100);
    EXPECT_TRUE(few.is_shared()) << "there is room for as many as it may have";
    few.length(200'000);
    EXPECT_EQ(few->length(), 200'000u);
    EXPECT_THROW((void)kairos::corba::loan<Blocks::FewOctets>(calls.echo.in(), 200'001),
                 CORBA::BAD_PARAM);
    auto small = kairos::corba::loan<Blocks::Points>(calls.echo.in(), 10);
    EXPECT_FALSE(small.is_shared());
    EXPECT_EQ(small->length(), 10u);
    EXPECT_FALSE(kairos::corba::loan<Blocks::Octets>(nullptr, 100'000).is_shared());
}

template <typename Sequence>
concept Lendable = requires { kairos::corba::loan<Sequence>(nullptr, 0); };
static_assert(Lendable<Blocks::Mixtures>);
static_assert(!Lendable<Blocks::Flags>, "the server could write what is no boolean there");
template <typename Loan, typename Sequence = Blocks::Octets>
concept Leavable = requires(Loan loan, Sequence other) { other.swap(*loan); } ||
                   requires(Loan loan) { loan->length(1); };
static_assert(!Leavable<kairos::corba::Loan<Blocks::Octets>>);

TEST(BlocksOnLoan, AreWhollyMovedOrNotAtAll)
{
    const Calls calls;
    using Loan = kairos::corba::Loan<Blocks::Octets>;
    const auto lend = [&] { return kairos::corba::loan<Blocks::Octets>(calls.echo.in(), unit); };
    Loan first = lend();
    Loan second = lend();
    ASSERT_TRUE(first.is_shared() && second.is_shared());
    const CORBA::Octet* const free = first.data();
    const CORBA::Octet* const kept = second.data();
    first = std::move(second);
    EXPECT_EQ(first.data(), kept);
    EXPECT_FALSE(second.is_shared()); // NOLINT(bugprone-use-after-move): it is empty
    EXPECT_EQ(second.length(), 0u) << "nothing is left that lies in what is free";
    const Loan third = lend();
    EXPECT_EQ((*third).data(), free);
    const Blocks::Octets copy = *first;
    EXPECT_EQ(copy.length(), unit);
    EXPECT_FALSE(is_shared(copy.data()));
    EXPECT_EQ(first.length(), unit);
}

TEST(BlocksOnLoan, ComeToAnEndWithWhoeverHasThem)
{
    std::vector<kairos::corba::Loan<Blocks::Octets>> loans;
    {
        const Calls calls;
        bool all_shared = true;
        for (int i = 0; i < 100 && all_shared; ++i) {
            auto loan = kairos::corba::loan<Blocks::Octets>(calls.echo.in(), 1'000'000);
            all_shared = loan.is_shared();
            loans.push_back(std::move(loan));
        }
        EXPECT_FALSE(all_shared) << "there is an end of it";
        const auto octets = numbered<Blocks::Octets>(200'000);
        const Blocks::Octets_var back = calls.echo->echo_octets(octets);
        EXPECT_TRUE(same(back.in(), octets));
        loans.erase(loans.begin(), loans.begin() + 5);
        EXPECT_TRUE(kairos::corba::loan<Blocks::Octets>(calls.echo.in(), 1'000'000).is_shared());
    }
    for (auto& loan : loans) // they outlive the connection
        std::fill(loan.begin(), loan.end(), CORBA::Octet{1});
    loans.clear();
}

} // namespace
