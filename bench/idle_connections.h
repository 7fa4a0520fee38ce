// SPDX-License-Identifier: Apache-2.0
//
// Connections to a measured server that have called once and then only lie there, of any ORB's
// server or of the raw one. Owned by the orchestrator's main thread.
#pragma once

#include "bench/c_stream.h"
#include "bench/load.h"
#include "bench/systems.h"

#include <string>
#include <vector>

namespace kairos::bench {

class IdleConnections {
  public:
    /// Opens them one after the other, and has each call the object of the low clients.
    static Result<IdleConnections> open(const System& system, const RunningSystem& running,
                                        std::uint32_t count, const Load& bytes);

    /// Has every one of them call again: that it is served still.
    [[nodiscard]] Result<void> call_each();

  private:
    struct Call {
        std::string greeting; ///< sent once
        std::string request;
        std::size_t reply_bytes = 0; ///< 0: the reply's own header says
    };

    static Call raw_call(const Load& bytes);
    static Result<Call> giop_call(const std::string& reference);
    static void make(CStream& stream, const Call& call);

    Call call_;
    std::vector<CStream> streams_;
};

/// Asks for so many descriptors, for this process and those it starts. Returns how many there may
/// be.
[[nodiscard]] std::size_t raise_descriptor_limit(std::size_t wanted);

/// What a process has in memory.
[[nodiscard]] Result<std::uint64_t> resident_bytes(pid_t process);

} // namespace kairos::bench
