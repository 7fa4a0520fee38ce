// SPDX-License-Identifier: Apache-2.0
//
// The HTTP server of `kairos browse`: the files of the page, and the page's calls. cpp-httplib
// reads requests and writes answers; what a stranger may cost is bounded here: connections, who
// waits, octets and time of a request. Each connection carries one request.
#pragma once

#include "tools/kairos/browse_guard.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kairos::tools {

struct BrowseHttpOptions {
    std::string host = "127.0.0.1"; ///< an address or a name of this machine
    std::uint16_t port = 0;         ///< 0: the kernel's choice
    std::vector<std::string> hosts; ///< other names by which browsers reach the page
    std::string token;              ///< what calls must bring
    std::string files;              ///< the folder of the page
    std::size_t threads = 16;       ///< calls at the same time
    std::size_t waiting_max = 64;   ///< connections that wait for one of these; more are refused
    /// How long a browser has to send a request, and to take an answer.
    std::chrono::milliseconds patience{10'000};
};

class BrowseHttp {
  public:
    /// Answers one call; called by several threads at once.
    using Answer = std::function<Json(const BrowseCall&)>;

    /// Reads the files of the page and listens; nothing is accepted yet. Throws
    /// std::runtime_error, with a message for people, where it cannot.
    BrowseHttp(BrowseHttpOptions options, Answer answer);
    BrowseHttp(const BrowseHttp&) = delete;
    BrowseHttp& operator=(const BrowseHttp&) = delete;
    ~BrowseHttp();

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// Serves until `end`; then waits for the calls in progress. Calls `lost`, by the thread that
    /// runs this and before it waits, if no more connections can be accepted though nobody has
    /// called `end`. Throws std::system_error where the system gives no threads.
    void run(std::function<void()> lost);
    /// Ends `run`, now or as soon as it is called, and all connections. Any thread.
    void end();

  private:
    class Server;
    std::unique_ptr<Server> server_;
};

} // namespace kairos::tools
