// SPDX-License-Identifier: Apache-2.0
//
// What a program can have done where an ORB makes threads and sockets: name them to a profiler, set
// up what a servant needs in each thread, mark packets for a network of its own
// (docs/event-loops.md).
#pragma once

#include "kairos/base/export.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"

namespace kairos::orb {

/// Its functions are called in whatever thread makes the thread or socket that they are about, and
/// may be called by several at the same time. They must not call the ORB.
class KAIROS_API Hooks : public net::ThreadObserver, public net::SocketObserver {
  public:
    Hooks() = default;
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;
    virtual ~Hooks() = default;

    void on_thread_start(const std::string&) noexcept override {}
    void on_thread_end(const std::string&) noexcept override {}
    void on_socket(net::Socket&, Kind) noexcept override {}
};

} // namespace kairos::orb
