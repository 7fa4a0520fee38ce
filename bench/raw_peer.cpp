// SPDX-License-Identifier: Apache-2.0
//
// The yardstick: blocking C sockets and nothing else, over TCP or a Unix socket; or bare rings in
// shared memory.
#include "bench/c_stream.h"
#include "bench/ring_stream.h"
#include "bench/stream_exchange.h"

#include <cstring>
#include <iostream>
#include <sys/un.h>

namespace kairos::bench {
namespace {

// References as text: "tcp:PORT" on 127.0.0.1, or "unix:NAME" in the abstract name space, where
// nothing is left behind.
CStream connect_to(const std::string& reference)
{
    if (reference.starts_with("tcp:")) return connect_tcp(reference);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (!reference.starts_with("unix:") || reference.size() - 4 > sizeof address.sun_path)
        throw std::invalid_argument("no reference: " + reference);
    const std::string name = reference.substr(5);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int descriptor = open_socket(AF_UNIX);
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0)
        fail("connect");
    return CStream(descriptor);
}

int listen_unix(std::string& reference)
{
    const int listener = open_socket(AF_UNIX);
    // An address without a name: the kernel chooses an abstract one.
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) != 0)
        fail("bind");
    socklen_t size = sizeof address;
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("bind");
    if (listen(listener, 16) != 0) fail("listen");
    reference = "unix:";
    reference.append(address.sun_path + 1, size - offsetof(sockaddr_un, sun_path) - 1);
    return listener;
}

/// One client: an exercise after the other, until it has gone or standard input ends. That is not
/// looked at while there is a client, who ends first.
int serve_rings(bool spins)
{
    std::string reference;
    const int file = make_rings(reference, spins);
    announce_ready(reference);
    RingStream stream(file, false, spins);
    std::vector<char> buffer(std::size_t{1} << 20);
    while (serve_exercise(stream, buffer)) {
    }
    wait_for_quit();
    return 0;
}

int run(const std::vector<std::string>& arguments)
{
    const bool spins = arguments.size() == 2 && arguments[1].starts_with("spin");
    if (spins || (arguments.size() == 2 && arguments[1].starts_with("ring"))) {
        if (arguments[0] == "server") return serve_rings(spins);
        StreamClient client(open_rings(arguments[1].substr(5), spins));
        return serve_orders(client);
    }
    if (arguments.size() == 2 && arguments[0] == "client") {
        StreamClient client(connect_to(arguments[1]));
        return serve_orders(client);
    }
    if (arguments.size() == 2 && arguments[0] == "server") {
        std::string reference;
        const int listener =
            arguments[1] == "unix" ? listen_unix(reference) : listen_tcp(reference);
        return serve_streams(listener, reference, [listener] { return accept_one(listener); });
    }
    std::cerr << "usage: kairos-bench-raw server tcp|unix|ring|spin\n"
                 "       kairos-bench-raw client REFERENCE\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-raw: " << failure.what() << '\n';
        return 1;
    }
}
