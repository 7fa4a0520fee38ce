// SPDX-License-Identifier: Apache-2.0
//
// The measured ORB program, server and client. It keeps to the classic C++ mapping, so that one
// source is compiled against each ORB and all of them do the same work; only the names of the
// generated headers differ. Options -ORB… after the program's own go to the ORB.
#ifdef KAIROS_BENCH_OMNIORB
#include "bench.hh"
#else
#include "bench.h"
#include "bench_skel.h"
#endif

// These speak the ORB's names.
#ifdef KAIROS_BENCH_DATAGRAMS
#include "bench/datagrams.h"
#include "kairos/datagrams/datagrams.h"
#endif
#ifndef KAIROS_BENCH_OMNIORB
#include "kairos/corba/loan.h"
#endif
#ifdef KAIROS_BENCH_DYNAMIC
#include "bench/dynamic_calls.h"
#endif
#include "bench/latency_servant.h"
#include "bench/orb_program.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using kairos::bench::bytes_of_a_call;
using kairos::bench::Direction;
using kairos::bench::Exercise;
using kairos::bench::LatencyServant;
using kairos::bench::LatencySummary;
using kairos::bench::MessageBytes;
using kairos::bench::Payload;
using kairos::bench::repeat;
using kairos::bench::reporting;

// One client at a time calls it; the count needs no lock.
class TtcpServant : public POA_Bench::Ttcp {
  public:
    void send_octets(const Bench::OctetSeq& units) override { count(units.length(), 1); }
    void send_chars(const Bench::CharSeq& units) override { count(units.length(), 1); }
    void send_shorts(const Bench::ShortSeq& units) override { count(units.length(), 2); }
    void send_longs(const Bench::LongSeq& units) override { count(units.length(), 4); }
    void send_doubles(const Bench::DoubleSeq& units) override { count(units.length(), 8); }
    void send_structs(const Bench::StructSeq& units) override { count(units.length(), 24); }
    void send_text(const char* units) override { count(std::string_view(units).size() + 1, 1); }
    void send_strings(const Bench::StringSeq& units) override { count(units.length(), 32); }

    void send_octets_twoway(const Bench::OctetSeq& units) override { send_octets(units); }
    void send_chars_twoway(const Bench::CharSeq& units) override { send_chars(units); }
    void send_shorts_twoway(const Bench::ShortSeq& units) override { send_shorts(units); }
    void send_longs_twoway(const Bench::LongSeq& units) override { send_longs(units); }
    void send_doubles_twoway(const Bench::DoubleSeq& units) override { send_doubles(units); }
    void send_structs_twoway(const Bench::StructSeq& units) override { send_structs(units); }
    void send_text_twoway(const char* units) override { send_text(units); }
    void send_strings_twoway(const Bench::StringSeq& units) override { send_strings(units); }

    CORBA::LongLong received_bytes() override { return received_bytes_; }

  private:
    void count(std::size_t units, std::size_t unit_bytes)
    {
        received_bytes_ += static_cast<CORBA::LongLong>(units * unit_bytes);
    }

    std::atomic<CORBA::LongLong> received_bytes_{0}; // oneways may be served side by side
};

int serve(CORBA::ORB_ptr orb)
{
    LatencyServant latency_servant;
    TtcpServant ttcp_servant;
    Bench::Latency_var latency = latency_servant._this();
    Bench::Ttcp_var ttcp = ttcp_servant._this();
    return kairos::bench::serve(orb, {latency.in(), ttcp.in()});
}

#ifdef KAIROS_BENCH_DYNAMIC
int serve_dynamic(CORBA::ORB_ptr orb)
{
    kairos::bench::DynamicServant latency(orb, "IDL:Bench/Latency:1.0");
    kairos::bench::DynamicServant ttcp(orb, "IDL:Bench/Ttcp:1.0");
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    CORBA::Object_var latency_object = poa->servant_to_reference(&latency);
    CORBA::Object_var ttcp_object = poa->servant_to_reference(&ttcp);
    return kairos::bench::serve(orb, {latency_object.in(), ttcp_object.in()});
}
#endif

template <typename Sequence, typename Value>
Sequence sequence_of(std::uint32_t units, Value value)
{
    Sequence sequence;
    sequence.length(units);
    for (CORBA::ULong i = 0; i < units; ++i)
        sequence[i] = value(i);
    return sequence;
}

Bench::BinStruct bin_struct(CORBA::ULong i)
{
    Bench::BinStruct value;
    value.s = static_cast<CORBA::Short>(i);
    value.c = 'k';
    value.l = static_cast<CORBA::Long>(i);
    value.o = 7;
    value.d = i + 0.5;
    return value;
}

// Every payload, built once and handed to `use` as the argument of all calls that follow.
template <typename Use>
void with_payload(Payload payload, std::uint32_t units, Use&& use)
{
    switch (payload) {
    default:
        throw std::invalid_argument("there is no operation with such an argument");
    case Payload::octet:
        return use(sequence_of<Bench::OctetSeq>(
            units, [](CORBA::ULong i) { return static_cast<CORBA::Octet>(i); }));
    case Payload::character:
        return use(
            sequence_of<Bench::CharSeq>(units, [](CORBA::ULong) { return CORBA::Char('k'); }));
    case Payload::int16:
        return use(sequence_of<Bench::ShortSeq>(
            units, [](CORBA::ULong i) { return static_cast<CORBA::Short>(i); }));
    case Payload::int32:
        return use(sequence_of<Bench::LongSeq>(
            units, [](CORBA::ULong i) { return static_cast<CORBA::Long>(i); }));
    case Payload::float64:
        return use(sequence_of<Bench::DoubleSeq>(
            units, [](CORBA::ULong i) { return static_cast<CORBA::Double>(i); }));
    case Payload::bin_struct:
        return use(sequence_of<Bench::StructSeq>(units, bin_struct));
    case Payload::text:
        return use(std::string(units == 0 ? 0 : units - 1, 'k'));
    case Payload::strings:
        return use(sequence_of<Bench::StringSeq>(
            units, [](CORBA::ULong) { return CORBA::string_dup(std::string(31, 'k').c_str()); }));
    }
}

// clang-format off
void call(Bench::Latency_ptr to, const Bench::OctetSeq& v) { to->octets(v); }
void call(Bench::Latency_ptr to, const Bench::CharSeq& v) { to->chars(v); }
void call(Bench::Latency_ptr to, const Bench::ShortSeq& v) { to->shorts(v); }
void call(Bench::Latency_ptr to, const Bench::LongSeq& v) { to->longs(v); }
void call(Bench::Latency_ptr to, const Bench::DoubleSeq& v) { to->doubles(v); }
void call(Bench::Latency_ptr to, const Bench::StructSeq& v) { to->structs(v); }
void call(Bench::Latency_ptr to, const std::string& v) { to->text(v.c_str()); }
void call(Bench::Latency_ptr to, const Bench::StringSeq& v) { to->strings(v); }

void send(Bench::Ttcp_ptr to, const Bench::OctetSeq& v) { to->send_octets(v); }
void send(Bench::Ttcp_ptr to, const Bench::CharSeq& v) { to->send_chars(v); }
void send(Bench::Ttcp_ptr to, const Bench::ShortSeq& v) { to->send_shorts(v); }
void send(Bench::Ttcp_ptr to, const Bench::LongSeq& v) { to->send_longs(v); }
void send(Bench::Ttcp_ptr to, const Bench::DoubleSeq& v) { to->send_doubles(v); }
void send(Bench::Ttcp_ptr to, const Bench::StructSeq& v) { to->send_structs(v); }
void send(Bench::Ttcp_ptr to, const std::string& v) { to->send_text(v.c_str()); }
void send(Bench::Ttcp_ptr to, const Bench::StringSeq& v) { to->send_strings(v); }

void send_twoway(Bench::Ttcp_ptr to, const Bench::OctetSeq& v) { to->send_octets_twoway(v); }
void send_twoway(Bench::Ttcp_ptr to, const Bench::CharSeq& v) { to->send_chars_twoway(v); }
void send_twoway(Bench::Ttcp_ptr to, const Bench::ShortSeq& v) { to->send_shorts_twoway(v); }
void send_twoway(Bench::Ttcp_ptr to, const Bench::LongSeq& v) { to->send_longs_twoway(v); }
void send_twoway(Bench::Ttcp_ptr to, const Bench::DoubleSeq& v) { to->send_doubles_twoway(v); }
void send_twoway(Bench::Ttcp_ptr to, const Bench::StructSeq& v) { to->send_structs_twoway(v); }
void send_twoway(Bench::Ttcp_ptr to, const std::string& v) { to->send_text_twoway(v.c_str()); }
void send_twoway(Bench::Ttcp_ptr to, const Bench::StringSeq& v) { to->send_strings_twoway(v); }
// clang-format on

class OrbClient final : public kairos::bench::Client {
  public:
    OrbClient(CORBA::ORB_ptr orb, const std::string& latency, const std::string& ttcp)
    {
        CORBA::Object_var latency_object = orb->string_to_object(latency.c_str());
        CORBA::Object_var ttcp_object = orb->string_to_object(ttcp.c_str());
        latency_ = Bench::Latency::_narrow(latency_object);
        ttcp_ = Bench::Ttcp::_narrow(ttcp_object);
        if (CORBA::is_nil(latency_) || CORBA::is_nil(ttcp_))
            throw std::invalid_argument("not references to the benchmark's objects");
#ifdef KAIROS_BENCH_DATAGRAMS
        latency_object = kairos::datagrams::oneways(latency_object);
        ttcp_object = kairos::datagrams::oneways(ttcp_object);
#endif
        oneway_latency_ = Bench::Latency::_unchecked_narrow(latency_object);
        oneway_ttcp_ = Bench::Ttcp::_unchecked_narrow(ttcp_object);
    }

    LatencySummary latency(const Exercise& exercise) override
    {
        return reporting([&] {
            LatencySummary summary;
            with_call(exercise, [&](auto&& once) {
                repeat(kairos::bench::warm_up_calls, once);
                drain(exercise);
                summary = kairos::bench::time_each(exercise.calls, once);
            });
            drain(exercise);
            return summary;
        });
    }

    double ttcp_seconds(const Exercise& exercise) override
    {
        return reporting([&] {
            std::int64_t elapsed = 0;
            const std::uint32_t warm_up =
                std::min(exercise.calls, kairos::bench::ttcp_warm_up_calls);
            with_payload(exercise.payload, exercise.units, [&](const auto& units) {
                const bool oneway = exercise.direction == Direction::oneway;
                const auto stub = [&] {
                    if (oneway) return send(oneway_ttcp_, units);
                    send_twoway(ttcp_, units);
                };
                with_way(ttcp_, {"send_", oneway ? "" : "_twoway", oneway}, &units, stub,
                         [&](auto&& once) { elapsed = time_transfer(exercise, warm_up, once); });
            });
            return static_cast<double>(elapsed) / 1e9;
        });
    }

    void call(const Exercise& exercise) override
    {
        reporting([&] {
            with_call(exercise, [&](auto&& once) { repeat(exercise.calls, once); });
            drain(exercise);
        });
    }

    MessageBytes message_bytes(const Exercise& exercise) override
    {
        return reporting([&] {
            MessageBytes bytes;
            // Datagrams have the same messages, which nobody counts.
            const Bench::Latency_var kept_latency = oneway_latency_;
            const Bench::Ttcp_var kept_ttcp = oneway_ttcp_;
            oneway_latency_ = latency_;
            oneway_ttcp_ = ttcp_;
            with_call(exercise, [&](auto&& once) { bytes = bytes_of_a_call(once); });
            oneway_latency_ = kept_latency;
            oneway_ttcp_ = kept_ttcp;
            drain(exercise);
            return bytes;
        });
    }

#ifndef KAIROS_BENCH_OMNIORB
    /// From here on twoway calls with large octets pass a loan, and fail where it is not shared.
    void pass_loans() { passes_loans_ = true; }
#endif

#ifdef KAIROS_BENCH_DYNAMIC
    /// The same client, calling in another way.
    OrbClient(CORBA::ORB_ptr orb, const std::string& latency, const std::string& ttcp,
              kairos::bench::Invocation invocation)
        : OrbClient(orb, latency, ttcp)
    {
        invocation_ = invocation;
    }
#endif

  private:
    /// An operation's name without what says of which type the argument is.
    struct Name {
        const char* before;
        const char* behind;
        bool oneway;
    };

    /// Gives `use` a function that calls the operation of `name` with `*units`, or without an
    /// argument where that is null: `stub`, unless the client was told to do without.
    template <typename Units, typename Stub, typename Use>
    void with_way([[maybe_unused]] CORBA::Object_ptr target, [[maybe_unused]] const Name& name,
                  [[maybe_unused]] const Units* units, Stub&& stub, Use&& use)
    {
#ifdef KAIROS_BENCH_DYNAMIC
        if (invocation_ != kairos::bench::Invocation::sii) {
            const auto fill = [units](CORBA::Request_ptr request) {
                if (units != nullptr) kairos::bench::put(request->add_in_arg(), *units);
            };
            const std::string middle = units == nullptr ? "" : kairos::bench::name_of(*units);
            kairos::bench::DynamicCall call(invocation_, target, name.before + middle + name.behind,
                                            name.oneway, fill);
            return use([&] { call(fill); });
        }
#endif
        use(stub);
    }

    template <typename Use>
    void with_call(const Exercise& exercise, Use&& use)
    {
        const bool oneway = exercise.direction == Direction::oneway;
        constexpr const Bench::OctetSeq* none = nullptr;
        if (exercise.payload == Payload::none && oneway)
            return with_way(
                latency_, {"ping_oneway", "", true}, none,
                [this] { oneway_latency_->ping_oneway(); }, use);
        if (exercise.payload == Payload::none)
            return with_way(
                latency_, {"ping", "", false}, none, [this] { latency_->ping(); }, use);
        with_payload(exercise.payload, exercise.units, [&](const auto& units) {
            if (oneway)
                return with_way(
                    ttcp_, {"send_", "", true}, &units, [&] { send(oneway_ttcp_, units); }, use);
#ifndef KAIROS_BENCH_OMNIORB
            if constexpr (std::is_same_v<std::decay_t<decltype(units)>, Bench::OctetSeq>)
                if (passes_loans_ && units.length() >= loans_from) return with_loan(units, use);
#endif
            with_way(
                latency_, {"", "", false}, &units, [&] { ::call(latency_, units); }, use);
        });
    }

#ifndef KAIROS_BENCH_OMNIORB
    static constexpr CORBA::ULong loans_from = 65'536; // octets; fewer go through the ring

    template <typename Use>
    void with_loan(const Bench::OctetSeq& units, Use&& use)
    {
        auto loan = kairos::corba::loan<Bench::OctetSeq>(latency_, units.length());
        if (!loan.is_shared()) throw std::runtime_error("there is no memory to be had on loan");
        std::copy_n(units.get_buffer(), units.length(), loan.data());
        use([&] { latency_->octets(*loan); });
    }
#endif

    template <typename Once>
    std::int64_t time_transfer(const Exercise& exercise, std::uint32_t warm_up, Once&& once)
    {
        expected_bytes_ = ttcp_->received_bytes();
        transfer(exercise, warm_up, once);
        const std::int64_t start = kairos::bench::now_ns();
        transfer(exercise, exercise.calls, once);
        return kairos::bench::now_ns() - start;
    }

    /// Makes the calls, so many at a time, and returns when the server has all user data.
    template <typename Once>
    void transfer(const Exercise& exercise, std::uint32_t calls, Once&& once)
    {
#ifdef KAIROS_BENCH_DATAGRAMS
        const std::uint32_t at_once = kairos::bench::datagrams_at_once(payload_bytes(exercise));
#else
        const std::uint32_t at_once = calls;
#endif
        while (calls > 0) {
            const std::uint32_t some = std::min(calls, at_once);
            repeat(some, once);
            await_received(exercise, some);
            calls -= some;
        }
    }

    /// After oneway calls: returns when the server has executed them.
    void drain(const Exercise& exercise)
    {
        if (exercise.direction == Direction::oneway) latency_->ping();
    }

    /// After a ttcp run: returns when the server has all user data. Twoway calls have proved it.
    void await_received(const Exercise& exercise, std::uint32_t calls)
    {
        if (exercise.direction == Direction::twoway) return;
        expected_bytes_ +=
            static_cast<CORBA::LongLong>(kairos::bench::payload_bytes(exercise) * calls);
        // An ORB may answer before the last oneways are executed if it has several threads.
        constexpr int attempts_max = 100'000;
        for (int attempt = 0; attempt < attempts_max; ++attempt)
            if (ttcp_->received_bytes() >= expected_bytes_) return;
        throw std::runtime_error("oneway calls were lost");
    }

    Bench::Latency_var latency_;
    Bench::Ttcp_var ttcp_;
    Bench::Latency_var oneway_latency_; // the same objects, whichever way oneways go
    Bench::Ttcp_var oneway_ttcp_;
    CORBA::LongLong expected_bytes_ = 0;
    bool passes_loans_ = false;
#ifdef KAIROS_BENCH_DYNAMIC
    kairos::bench::Invocation invocation_ = kairos::bench::Invocation::sii;
#endif
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve(orb);
#ifdef KAIROS_BENCH_DYNAMIC
    if (arguments.size() == 2 && arguments[0] == "server" && arguments[1] == "dsi")
        return serve_dynamic(orb);
    if (arguments.size() == 4 && arguments[0] == "client") {
        if (const auto invocation = kairos::bench::invocation_named(arguments[3])) {
            int status = 0;
            {
                OrbClient client(orb, arguments[1], arguments[2], *invocation);
                status = kairos::bench::serve_orders(client);
            }
            orb->destroy();
            return status;
        }
    }
#endif
#ifndef KAIROS_BENCH_OMNIORB
    const bool on_loan = arguments.size() == 4 && arguments[3] == "loan";
#else
    const bool on_loan = false;
#endif
    if ((arguments.size() == 3 || on_loan) && arguments[0] == "client") {
        int status = 0;
        {
            OrbClient client(orb, arguments[1], arguments[2]);
#ifndef KAIROS_BENCH_OMNIORB
            if (on_loan) client.pass_loans();
#endif
            status = kairos::bench::serve_orders(client);
        }
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-… server [-ORB…]\n"
              << "       kairos-bench-… client LATENCY_REFERENCE TTCP_REFERENCE [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
