// SPDX-License-Identifier: Apache-2.0
//
// iceoryx2 in `kairos bench modern`: its request-response pattern, by a library in Rust
// (iceoryx2/calls.rs). It marshals nothing: octets and structs lie in shared memory.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <unistd.h>

extern "C" {
using Iceoryx2Caller = struct Iceoryx2CallerBody;
bool iceoryx2_serve(const char* name, bool sleeps, const std::atomic<bool>* stop, void (*ready)(),
                    std::size_t (*answer_to)(std::uint64_t operation, const std::uint8_t* octets,
                                             std::size_t count, const std::uint8_t** answer));
Iceoryx2Caller* iceoryx2_open(const char* name, std::uint64_t number, bool sleeps);
bool iceoryx2_call(Iceoryx2Caller* caller, std::uint64_t operation, const std::uint8_t* octets,
                   std::size_t count,
                   void (*got)(void* context, const std::uint8_t* octets, std::size_t count),
                   void* context);
void iceoryx2_close(Iceoryx2Caller* caller);
}

namespace kairos::bench::modern {
namespace {

enum class Operation : std::uint64_t { ping, octets, structs, back };

constexpr const char* polling = "polling";

std::string own_name; // of the server, which has one

template <typename T>
std::span<const T> values_in(const std::uint8_t* octets, std::size_t count)
{
    return {reinterpret_cast<const T*>(octets), count / sizeof(T)};
}

std::size_t answer_to(std::uint64_t operation, const std::uint8_t* octets, std::size_t count,
                      const std::uint8_t** answer)
{
    static std::uint64_t mark = 0; // of the only thread that serves
    *answer = reinterpret_cast<const std::uint8_t*>(&mark);
    switch (static_cast<Operation>(operation)) {
    case Operation::ping:
        mark = 0;
        break;
    case Operation::octets:
        mark = mark_of({octets, count});
        break;
    case Operation::structs:
        mark = mark_of_structs(values_in<BinStruct>(octets, count));
        break;
    case Operation::back:
        *answer = octets;
        return count;
    }
    return sizeof mark;
}

/// One thread serves all clients: what they ask is shorter than handing it over.
void serve(const std::string& kind)
{
    own_name = "kairos-bench-" + std::to_string(getpid());
    std::atomic<bool> stop{false};
    bool ended_well = false;
    std::thread serving([&] {
        ended_well = iceoryx2_serve(
            own_name.c_str(), kind != polling, &stop, [] { announce_ready(own_name); }, answer_to);
    });
    wait_for_quit();
    stop = true;
    serving.join();
    if (!ended_well) throw std::runtime_error("iceoryx2 failed");
}

/// Numbers of clients, which are used again.
class Numbers {
  public:
    std::uint64_t take()
    {
        const std::lock_guard lock(mutex_);
        std::uint64_t number = 0;
        while (!taken_.insert(number).second)
            ++number;
        return number;
    }
    void give_back(std::uint64_t number)
    {
        const std::lock_guard lock(mutex_);
        taken_.erase(number);
    }

  private:
    std::mutex mutex_; // guards what is taken
    std::set<std::uint64_t> taken_;
};

class Iceoryx2Connection final : public Connection {
  public:
    Iceoryx2Connection(Numbers& numbers, const std::string& name, bool sleeps)
        : numbers_(numbers), number_(numbers.take()),
          caller_(iceoryx2_open(name.c_str(), number_, sleeps))
    {
        if (caller_ == nullptr) {
            numbers_.give_back(number_);
            throw std::runtime_error("no connection");
        }
    }
    Iceoryx2Connection(const Iceoryx2Connection&) = delete;
    Iceoryx2Connection& operator=(const Iceoryx2Connection&) = delete;
    ~Iceoryx2Connection() override
    {
        iceoryx2_close(caller_);
        numbers_.give_back(number_);
    }

    void ping() override
    {
        constexpr std::uint8_t nothing = 0; // a payload has one octet at least
        call(Operation::ping, std::span(&nothing, 1), [](const std::uint8_t*, std::size_t) {});
    }
    void prepare(const Octets& octets) override { octets_ = octets; }
    void prepare(const Structs& structs) override { structs_ = structs; }
    std::uint64_t send_octets() override { return mark(Operation::octets, octets_); }
    std::uint64_t send_structs() override { return mark(Operation::structs, bytes_of(structs_)); }
    Octets octets_back() override
    {
        Octets back;
        call(Operation::back, octets_, [&](const std::uint8_t* octets, std::size_t count) {
            back.assign(octets, octets + count);
        });
        return back;
    }
    Structs structs_back() override
    {
        Structs back;
        call(Operation::back, bytes_of(structs_),
             [&](const std::uint8_t* octets, std::size_t count) {
                 const auto values = values_in<BinStruct>(octets, count);
                 back.assign(values.begin(), values.end());
             });
        return back;
    }

  private:
    static std::span<const std::uint8_t> bytes_of(const Structs& structs)
    {
        return {reinterpret_cast<const std::uint8_t*>(structs.data()),
                structs.size() * sizeof(BinStruct)};
    }

    template <typename Got>
    void call(Operation operation, std::span<const std::uint8_t> octets, Got got)
    {
        if (!iceoryx2_call(
                caller_, static_cast<std::uint64_t>(operation), octets.data(), octets.size(),
                [](void* context, const std::uint8_t* answer, std::size_t count) {
                    (*static_cast<Got*>(context))(answer, count);
                },
                &got))
            throw std::runtime_error("a call failed");
    }

    std::uint64_t mark(Operation operation, std::span<const std::uint8_t> octets)
    {
        std::uint64_t answer = 0;
        call(operation, octets, [&](const std::uint8_t* first, std::size_t count) {
            if (count == sizeof answer) std::memcpy(&answer, first, count);
        });
        return answer;
    }

    Numbers& numbers_;
    const std::uint64_t number_;
    Iceoryx2Caller* const caller_;
    Octets octets_;
    Structs structs_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    Numbers numbers;
    return run(argc, argv, serve, [&](const std::string& reference, const std::string& kind) {
        return std::make_unique<Iceoryx2Connection>(numbers, reference, kind != polling);
    });
}
