// SPDX-License-Identifier: Apache-2.0
//
// Faults on purpose: while a Faults lives, what kairos/net asks the system for fails now and then,
// and connections made meanwhile misbehave, as a plan with a seed says. It comes in by the table of
// the system's functions (kairos/net/system.h), for programs that are linked with the modules' own
// archives; nothing of it is in the library.
//
//   Socket ──► FaultyChannel (cuts, storms, delays, ends) ──► the descriptor, or shared memory
//   connect() ──► Silences (silences.h) ──► the server
//   connect(), accept(), Thread::start(), … ──► refused or late ──► the system
//
// What a seed determines: the faults of a connection lie at positions in its two streams of octets,
// which follow from the seed, from whether it was connected or accepted and from how many of these
// there were before. Likewise which of the calls of each kind are refused. So one thread that does
// the same does the same again, whatever the timing; with several, which of them has which
// connection is the scheduler's choice. How the system cuts the stream itself is never determined.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kairos::net::testing {

/// What may be refused. Each kind is counted by itself.
enum class SystemCall : std::uint8_t {
    socket,     ///< EMFILE: of connect() and listen()
    connect,    ///< ECONNREFUSED, ETIMEDOUT, ENETUNREACH
    accept,     ///< EMFILE, ECONNABORTED, ENOBUFS
    spare,      ///< EMFILE: the descriptor that acceptors keep
    poller,     ///< EMFILE: what reactors and shared pollers wait with
    memory,     ///< ENOMEM: that of a shared-memory connection
    thread,     ///< EAGAIN
    scheduling, ///< EPERM: real-time priorities, of threads and for the calling one
    resolve,    ///< EAI_AGAIN: of the names of hosts
    count_,     ///< how many there are
};

/// What happens how often.
struct FaultPlan {
    std::uint64_t seed = 0;
    /// Octets from one cut of a stream to the next, on average; 0: none. No read or write goes
    /// across a cut.
    std::uint32_t cut_every = 0;
    /// Of 100 connections: these break somewhere in one of their streams, every other one within
    /// the first hundred octets, where headers are, the others within `break_within`. Their peers
    /// see a reset, or an end without one.
    std::uint32_t breaks = 0;
    std::uint32_t break_within = 100'000;
    /// Of 100 cuts: there, a non-blocking socket says would_block for the next few attempts, as
    /// when the system drops what it had announced.
    std::uint32_t storms = 0;
    /// Of 100 cuts: there, a blocking socket waits for `delay_us`.
    std::uint32_t delays = 0;
    std::uint32_t delay_us = 500;
    /// Of 100 connections that are made: these go silent somewhere in one of their streams, where
    /// `breaks` would have them break. From there on nothing comes and nothing is taken, either
    /// way, nor is either side told of the other's end, until the Faults end. Of shared memory that
    /// is so of its handing over and of the calls to those who wait.
    std::uint32_t silences = 0;
    /// Of 100 names of hosts that are asked for: these are answered after `answer_delay_us`, or
    /// when the Faults are stopped.
    std::uint32_t slow_answers = 0;
    std::uint32_t answer_delay_us = 20'000;
    /// Of 1,000 calls of each kind, how many are refused; indexed by SystemCall.
    std::uint16_t refused[static_cast<std::size_t>(SystemCall::count_)] = {};

    [[nodiscard]] std::uint16_t& of(SystemCall call) noexcept
    {
        return refused[static_cast<std::size_t>(call)];
    }
};

/// Returns the plan with which nothing connects, wherever it is sent.
[[nodiscard]] inline FaultPlan no_connections()
{
    FaultPlan plan;
    plan.seed = 1;
    plan.of(SystemCall::connect) = 1000;
    plan.of(SystemCall::resolve) = 1000;
    return plan;
}

/// What happened so far.
struct FaultCounts {
    std::atomic<std::uint64_t> cuts{0};
    std::atomic<std::uint64_t> storms{0};
    std::atomic<std::uint64_t> delays{0};
    std::atomic<std::uint64_t> breaks{0};
    std::atomic<std::uint64_t> silences{0};
    std::atomic<std::uint64_t> slow_answers{0};
    std::atomic<std::uint64_t> refusals{0};
};

class FaultState;

/// Installs a plan for the process; one at a time. After stop(), or its end, nothing new goes wrong
/// and connections that are left work as any, unless they have broken or gone silent.
class Faults {
  public:
    explicit Faults(const FaultPlan& plan);
    ~Faults();
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    void stop() noexcept;
    [[nodiscard]] const FaultCounts& counts() const noexcept;

  private:
    std::shared_ptr<FaultState> state_; // shared with the connections
};

} // namespace kairos::net::testing
