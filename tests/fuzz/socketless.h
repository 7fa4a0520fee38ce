// SPDX-License-Identifier: Apache-2.0
//
// A server's end of a connection without a socket: what a fuzz target gives it is served as if it
// had been read, through dispatch to the servant; what it sends is looked at and dropped.
#pragma once

#include "kairos/base/check.h"
#include "kairos/base/log.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/portable_server.h"
#include "kairos/giop/message.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/server_connection.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace kairos::fuzz {

/// An ORB with these options, which logs nothing.
inline CORBA::ORB_ptr make_orb(std::vector<std::string> options)
{
    log::set_sink([](log::Level, std::string_view) {});
    options.insert(options.begin(), "fuzz");
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    int count = static_cast<int>(arguments.size());
    return CORBA::ORB_init(count, arguments.data(), "fuzz");
}

class SocketlessConnection final : public orb::ServerConnection {
  public:
    explicit SocketlessConnection(orb::Orb& orb)
        : ServerConnection(orb, net::Socket(), net::Address::loopback_ipv4())
    {
    }

    /// Serves a stream that comes in reads of at most `cut` octets; 0: as there is room for.
    void serve(Bytes stream, std::size_t cut)
    {
        while (!stream.empty()) {
            (void)no_request_in_progress();
            const MutableBytes space = protocol_.space();
            const std::size_t wish = cut == 0 ? space.size() : cut;
            const std::size_t step = std::min({wish, space.size(), stream.size()});
            std::memcpy(space.data(), stream.data(), step);
            protocol_.received(step);
            stream = stream.subspan(step);
            if (serve_received(memory_) != Next::read) return;
        }
        (void)end_received();
    }

    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        expect_message(header, header.size() + body.size());
    }
    void send_control(Bytes message) noexcept override { expect_message(message, message.size()); }

  private:
    /// What we send is whole.
    static void expect_message(Bytes header, std::size_t size)
    {
        KAIROS_CHECK(header.size() >= giop::header_size);
        KAIROS_CHECK(as_text(header.first(4)) == "GIOP");
        std::uint32_t rest = 0;
        std::memcpy(&rest, header.data() + 8, sizeof rest);
        const bool little_endian = (header[6] & std::byte{1}) != std::byte{0};
        if (little_endian != native_little_endian) rest = byteswap(rest);
        KAIROS_CHECK(giop::header_size + rest == size);
    }

    orb::UpcallMemory memory_;
};

} // namespace kairos::fuzz
