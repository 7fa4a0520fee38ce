// SPDX-License-Identifier: Apache-2.0
//
// Reactors whose requests are served where they are read: by the reactor's thread, without
// hand-over, lock or copy. The server owns the reactor, and that its connections.
#pragma once

#include "kairos/server/reactor_loop.h"
#include "kairos/server/server.h"

#include <memory>

namespace kairos::orb {

class InPlaceConnection final : public ReactorConnection {
  public:
    InPlaceConnection(ReactorLoop& loop, Orb& orb, net::Socket socket, const net::Address& peer)
        : ReactorConnection(loop, orb, std::move(socket), peer)
    {
    }

    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        loop_.note_reply();
        put(header, body);
    }

  private:
    ~InPlaceConnection() override = default;
    [[nodiscard]] Next take_received(UpcallMemory& memory) override
    {
        return serve_turn(memory, requests_a_turn(), [this] { return loop_.stopping(); });
    }
    void send_control(Bytes message) noexcept override { put(message); }
};

/// A server whose requests are served where they are read. Who serves is the heir's to say.
class InPlaceServer : public Server, public ReactorLoop::Maker {
  public:
    /// Makes the loop over the listeners; to be called before anything else. After an error the
    /// server can only be destroyed.
    [[nodiscard]] Result<void> open()
    {
        auto loop = ReactorLoop::create(orb_, all_listeners(), *this);
        if (!loop) return loop.error();
        loop_ = std::move(loop).value();
        return {};
    }
    void resume() noexcept final { loop_->resume(); }
    void stop() noexcept final { loop_->stop(); }
    [[nodiscard]] IntrusivePtr<ReactorConnection> make(ReactorLoop& loop, net::Socket socket,
                                                       const net::Address& peer) final
    {
        return IntrusivePtr<ReactorConnection>::adopt(
            new InPlaceConnection(loop, orb_, std::move(socket), peer));
    }

  protected:
    using Server::Server;

    std::unique_ptr<ReactorLoop> loop_;
};

} // namespace kairos::orb
