// SPDX-License-Identifier: Apache-2.0
//
// Probes of `kairos-idl --instrument`: how often types and operations are marshalled and how long
// that takes (docs/marshalling.md). Code generated with that option has one in each function that
// encodes or decodes; -ORBProfileTypes switches them on and has their figures written to a file,
// from which `kairos-idl --profile` chooses what to compile. Other code includes none of this. Any
// thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace kairos::types {

/// One thing that is measured: constant-initialised data of generated code, which makes itself
/// known when it is used first. Never forgotten: a library with probes must stay loaded.
struct KAIROS_API Probe {
    const char* what; ///< how its line begins: "type encode", "operation server-decode"
    const char* name; ///< how it ends: a repository id, behind an operation's name and a blank
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> total_ns{0}; ///< of calls within calls of the same: the outermost
    std::atomic<std::uint64_t> self_ns{0};  ///< without what other probes measured meanwhile
    std::atomic<bool> listed{false};
    const Probe* next = nullptr; ///< in the list of those used; constant once `listed`
};

KAIROS_API extern constinit std::atomic<bool> probes_on;

/// Measures from its construction until end() or its destruction. Those of a thread nest.
class KAIROS_API Measurement {
  public:
    explicit Measurement(Probe& probe) noexcept
    {
        if (probes_on.load(std::memory_order_relaxed)) [[unlikely]]
            begin(probe);
    }
    Measurement(const Measurement&) = delete;
    Measurement& operator=(const Measurement&) = delete;
    ~Measurement() { end(); }

    void end() noexcept
    {
        if (probe_ != nullptr) [[unlikely]]
            finish();
    }

  private:
    void begin(Probe& probe) noexcept;
    void finish() noexcept;

    Probe* probe_ = nullptr; // null: nothing is measured
    Measurement* outer_ = nullptr;
    std::uint64_t begin_ns_ = 0;
    std::uint64_t inner_ns_ = 0; // what measurements within this one took
};

// Both are weak, so that the ORB can ask for them without linking them: in a program of static
// libraries and without probes they are null, and it pays nothing for the probes of others.

/// Switches the probes on for one more ORB. The file, which is emptied now, is written when the
/// last of these ORBs ends or else when the process does. A process has one profile: another file
/// than that of an ORB that still runs is an error.
[[nodiscard, gnu::weak]] KAIROS_API Result<void> start_profile(const std::string& path);
/// Says that an ORB for which start_profile was called has ended.
[[gnu::weak]] KAIROS_API void end_profile() noexcept;

} // namespace kairos::types
