// SPDX-License-Identifier: Apache-2.0
//
// A connection of a reactor whose requests are served where they are read: by the reactor's thread,
// without hand-over, lock or copy.
#pragma once

#include "kairos/orb/reactor_loop.h"

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
        return serve_received(memory);
    }
    void send_control(Bytes message) noexcept override { put(message); }
};

class InPlaceMaker : public ReactorLoop::Maker {
  public:
    explicit InPlaceMaker(Orb& orb) noexcept : serving_orb_(orb) {}
    [[nodiscard]] IntrusivePtr<ReactorConnection> make(ReactorLoop& loop, net::Socket socket,
                                                       const net::Address& peer) override
    {
        return IntrusivePtr<ReactorConnection>::adopt(
            new InPlaceConnection(loop, serving_orb_, std::move(socket), peer));
    }

  protected:
    ~InPlaceMaker() = default;

  private:
    Orb& serving_orb_;
};

} // namespace kairos::orb
