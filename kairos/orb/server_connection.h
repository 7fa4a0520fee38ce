// SPDX-License-Identifier: Apache-2.0
//
// A server's end of one connection, whatever thread serves it: bytes received become requests,
// replies go out on the same socket. Stations 7 and 8 of the request walk (docs/TOUR.md). Owned by
// the thread that serves it at the time.
#pragma once

#include "kairos/giop/connection.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/upcall.h"

namespace kairos::orb {

class Orb;

/// Ends a connection so that what was sent last arrives. What the peer had still sent must be read
/// before closing, or the kernel resets the connection.
void drain(net::Socket& socket) noexcept;

class ServerConnection : public ReplyChannel {
  public:
    ServerConnection(Orb& orb, net::Socket socket, const net::Address& peer);
    ServerConnection(const ServerConnection&) = delete;
    ServerConnection& operator=(const ServerConnection&) = delete;

  protected:
    ~ServerConnection() = default;

    /// What is to be done after everything received was looked at.
    enum class Next : std::uint8_t {
        read,  ///< all served: read more
        hold,  ///< a request is held by the adapter: call again when it may go on
        close, ///< the peer closed, or was told why we do
    };
    /// Serves every whole message received; stops early while the connection is `congested_`.
    [[nodiscard]] Next serve_received(UpcallMemory& memory);

    /// The peer has closed. True if that was within a message: it was refused like any malformed
    /// one.
    bool end_received();
    /// CloseConnection to the peer: requests it has sent and we have not served are safe to repeat.
    void send_close_connection() noexcept;

    /// Sends control messages: the socket is the implementation's to handle.
    virtual void send_control(Bytes message) noexcept = 0;

    Orb& orb_;
    net::Socket socket_;
    const net::Address peer_;
    giop::Connection protocol_;
    bool broken_ = false;    ///< a reply could not be sent: nothing more can be
    bool congested_ = false; ///< the peer does not take its replies: make no more of them

  private:
    [[nodiscard]] Next serve(const giop::Message& message, UpcallMemory& memory);
    [[nodiscard]] Next refuse(std::string_view why);
    void note_malformed_arguments();
    [[nodiscard]] Served serve_request(const giop::Message& message, const giop::Request& request,
                                       UpcallMemory& memory);

    /// How text travels in this request and its reply: as the client said at its first request.
    [[nodiscard]] const cdr::TextForm* text_form(const giop::Request& request)
    {
        if (!request.contexts.empty() || request.version.minor != text_minor_) [[unlikely]]
            find_text_form(request);
        return text_;
    }
    void find_text_form(const giop::Request& request);

    std::optional<CodeSetContext> code_sets_; // what the client announced
    const cdr::TextForm* text_ = nullptr;     // the form for GIOP 1.text_minor_
    std::uint8_t text_minor_ = 0xFF;
    giop::Message held_; // the message that the adapter did not take, if `holding_`
    bool holding_ = false;
    bool had_malformed_arguments_ = false;
};

} // namespace kairos::orb
