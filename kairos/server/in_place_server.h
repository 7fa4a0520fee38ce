// SPDX-License-Identifier: Apache-2.0
//
// Reactors whose requests are served where they are read: by the reactor's thread, without
// hand-over, lock or copy. The server owns the reactor, and that its connections.
#pragma once

#include "kairos/server/answer_box.h"
#include "kairos/server/reactor_loop.h"
#include "kairos/server/server.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kairos::orb {

class InPlaceServer;
class PostedAnswer;

class InPlaceConnection final : public ReactorConnection {
  public:
    InPlaceConnection(InPlaceServer& server, ReactorLoop& loop, Orb& orb, net::Socket socket,
                      const net::Address& peer)
        : ReactorConnection(loop, orb, std::move(socket), peer), server_(server)
    {
    }

    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        loop_.note_reply();
        put(header, body);
    }
    [[nodiscard]] IntrusivePtr<OwedChannel> owe() override;
    /// Sends an answer that was owed, if there is one, and notes that there is one less. The loop's
    /// thread.
    void deliver(const PostedAnswer& answer) noexcept;
    // --- the loop's thread ---
    /// Returns how many answers the connection owes.
    [[nodiscard]] std::size_t owed() const noexcept { return owing_->count; }
    /// Notes that it owes one more.
    void owes_more() noexcept;

  private:
    /// Of a connection that owes answers, or has.
    struct Owing {
        std::size_t count = 0;
        std::vector<std::byte> last_words{}; ///< behind the answers
    };

    ~InPlaceConnection() override = default;
    [[nodiscard]] Next take_received(UpcallMemory& memory) override
    {
        return serve_turn(memory, requests_a_turn(), [this] { return loop_.stopping(); });
    }
    [[nodiscard]] bool owes() const noexcept override { return owing_ && owing_->count != 0; }
    [[nodiscard]] bool become_quiet() noexcept override;
    void send_control(Bytes message) noexcept override;

    InPlaceServer& server_;
    std::unique_ptr<Owing> owing_; // null: it never did
};

/// The way of an answer that the loop's thread sends when another has given it.
class PostedAnswer final : public BoxedAnswer {
  public:
    PostedAnswer(InPlaceServer& server, InPlaceConnection& connection, Account& account) noexcept
        : BoxedAnswer(account), server_(server), connection_(&connection)
    {
    }
    [[nodiscard]] std::size_t owed_already() const noexcept override { return connection_->owed(); }
    void begin() noexcept override { connection_->owes_more(); }
    [[nodiscard]] const net::Address* peer_address() const noexcept override
    {
        return connection_->peer_address();
    }
    void over() noexcept override;
    /// By the loop's thread.
    void deliver() const noexcept { connection_->deliver(*this); }

  private:
    ~PostedAnswer() override = default;

    InPlaceServer& server_;
    const IntrusivePtr<InPlaceConnection> connection_;
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
            new InPlaceConnection(*this, loop, orb_, std::move(socket), peer));
    }
    /// Sends answers that other threads have given.
    void on_wake() noexcept override;

    /// Has the loop send this answer. Any thread.
    void post(PostedAnswer& answer) noexcept;
    /// Notes that so many more answers are owed. The loop's thread.
    void note_owed(int change) noexcept { owed_ += change; }

  protected:
    using Server::Server;

    /// Ends all connections, when the loop has stopped, and those that owe answers when these are
    /// given. By the thread that turns it.
    void end_loop() noexcept;
    [[nodiscard]] bool owes() const noexcept { return owed_ != 0; }

    std::unique_ptr<ReactorLoop> loop_;

  private:
    int owed_ = 0;     // answers, by all connections
    AnswerBox posted_; // of PostedAnswers
};

} // namespace kairos::orb
