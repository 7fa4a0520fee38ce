// SPDX-License-Identifier: Apache-2.0
#include "parallel.h"

#include "servant.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

namespace calls {

namespace {

/// What did not hold, in whichever thread.
class Failures {
  public:
    void expect(bool condition, const std::string& what)
    {
        if (condition) return;
        const std::lock_guard lock(mutex_);
        failures_.push_back(what);
    }
    /// Runs it; what it throws did not hold.
    template <typename Call>
    void guard(const std::string& what, Call call)
    {
        try {
            call();
        } catch (const CORBA::SystemException& exception) {
            expect(false,
                   what + ": " + exception._name() + " " + std::to_string(exception.minor()));
        } catch (const CORBA::Exception& exception) {
            expect(false, what + ": " + exception._name());
        }
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(failures_); }

  private:
    std::mutex mutex_; // guards failures_
    std::vector<std::string> failures_;
};

/// Holds whoever calls `sum` until it is opened.
class Gate : public POA_Types::Root {
  public:
    explicit Gate(PortableServer::POA_ptr poa) : poa_(PortableServer::POA::_duplicate(poa)) {}

    char* label() override { return CORBA::string_dup("gate"); }
    void refuse(const char* why) override { throw Types::Root::Refused(why); }
    CORBA::ULong sum(CORBA::ULong a, CORBA::ULong b) override
    {
        std::unique_lock lock(mutex_);
        ++held_;
        changed_.notify_all();
        changed_.wait_for(lock, patience, [this] { return open_; });
        return a + b;
    }
    [[nodiscard]] bool wait_for_held(int count)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return held_ == count; });
    }
    void open()
    {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

    PortableServer::POA_ptr _default_POA() override
    {
        return PortableServer::POA::_duplicate(poa_.in());
    }

  private:
    static constexpr std::chrono::seconds patience{20}; // a peer that fails must not hang the test

    const PortableServer::POA_var poa_;
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    int held_ = 0;
    bool open_ = false;
};

class Threads {
  public:
    template <typename Call>
    Threads(int count, Call call)
    {
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([call, i] { call(static_cast<CORBA::ULong>(i)); });
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    ~Threads()
    {
        for (std::thread& thread : threads_)
            thread.join();
    }

  private:
    std::vector<std::thread> threads_;
};

/// Small and large, with values that no other thread's have.
void check_values(Types::Echo_ptr server, CORBA::ULong caller, CORBA::ULong round,
                  Failures& failures)
{
    const std::string whose =
        "round " + std::to_string(round) + " of caller " + std::to_string(caller);
    failures.guard(whose, [&] {
        failures.expect(server->sum(caller * 1000, round) == caller * 1000 + round,
                        whose + ": sum");
        const CORBA::ULong size = caller * 5000 + round;
        const Types::Byte_s_var octets = server->large(size);
        failures.expect(octets->length() == size, whose + ": size of large");
        failures.expect(server->checksum(octets.in()) ==
                            checksum_of(octets->get_buffer(), octets->length()),
                        whose + ": checksum");
        CORBA::String_var second = CORBA::string_dup(std::to_string(round).c_str());
        CORBA::String_var third;
        const CORBA::String_var first =
            server->echo_Name(whose.c_str(), second.inout(), third.out());
        failures.expect(whose == first.in() && whose == second.in(), whose + ": echo_Name");
        failures.expect(std::to_string(round) == third.in(), whose + ": out of echo_Name");
    });
}

void check_values_of_all(Types::Echo_ptr server, Failures& failures)
{
    constexpr CORBA::ULong rounds = 20;
    const Threads callers(parallel_callers, [&](CORBA::ULong caller) {
        for (CORBA::ULong round = 0; round < rounds; ++round)
            check_values(server, caller, round, failures);
    });
}

/// Half of the callers wait for what they themselves must answer, and the others overtake them.
void check_overtaking(Types::Echo_ptr server, PortableServer::POA_ptr own, Failures& failures)
{
    constexpr int held = parallel_callers / 2;
    PortableServer::Servant_var<Gate> gate = new Gate(own);
    const Types::Root_var root = gate->_this();
    {
        const Threads waiting(held, [&](CORBA::ULong caller) {
            failures.guard("held caller", [&] {
                failures.expect(server->call_back(root.in(), caller, 700) == caller + 700,
                                "the result of a held call");
            });
        });
        failures.expect(gate->wait_for_held(held), "all held calls are under way");
        {
            const Threads quick(held, [&](CORBA::ULong caller) {
                for (CORBA::ULong round = 0; round < 5; ++round)
                    check_values(server, caller, round, failures);
            });
        }
        gate->open(); // nobody but those who came later has had a reply
    }
    const PortableServer::ObjectId_var id = own->servant_to_id(gate.in());
    own->deactivate_object(id.in());
}

} // namespace

std::vector<std::string> call_in_parallel(Types::Echo_ptr server, PortableServer::POA_ptr own)
{
    Failures failures;
    check_values_of_all(server, failures);
    check_overtaking(server, own, failures);
    return failures.take();
}

} // namespace calls
