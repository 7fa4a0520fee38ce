// SPDX-License-Identifier: Apache-2.0
//
// Answers that are given after their requests were served, by whatever thread, and sent by the one
// thread that serves their connection: it finds them here.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/net/waker.h"
#include "kairos/orb/kept_answer.h"
#include "kairos/server/account.h"

#include <cstddef>
#include <mutex>
#include <utility>

namespace kairos::orb {

/// An answer with its place in a box. Who reads the box counts it. Its octets, and before those of
/// its request, are in the account of its server.
class BoxedAnswer : public KeptAnswer {
  public:
    [[nodiscard]] bool keep(std::size_t request_octets) noexcept override
    {
        if (!account_.keep(request_octets)) return false;
        octets_ = request_octets;
        return true;
    }
    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        KeptAnswer::send(header, body);
        account_.release(std::exchange(octets_, body.size()));
        account_.keep_answer(octets_);
    }

  protected:
    explicit BoxedAnswer(Account& account) noexcept : account_(account) {}
    ~BoxedAnswer() override { account_.release(octets_); }

  private:
    friend class AnswerBox;
    Account& account_;
    std::size_t octets_ = 0;      // there
    BoxedAnswer* next_ = nullptr; // guarded by the box
};

/// Any thread.
class AnswerBox {
  public:
    AnswerBox() = default;
    AnswerBox(const AnswerBox&) = delete;
    AnswerBox& operator=(const AnswerBox&) = delete;
    ~AnswerBox() { close(); }

    /// Puts in an answer that was given, or will not be; drops it if the box is closed.
    void put(BoxedAnswer& answer) noexcept
    {
        const std::lock_guard lock(mutex_);
        if (is_closed_) return;
        answer.add_ref();
        answer.next_ = std::exchange(first_, &answer);
    }
    /// Drops what is there and what comes.
    void close() noexcept
    {
        {
            const std::lock_guard lock(mutex_);
            is_closed_ = true;
        }
        take([](const BoxedAnswer&) {});
    }
    /// Takes all answers out and calls `each` with one after the other, as they were put in.
    template <typename Each>
    void take(Each&& each) noexcept
    {
        BoxedAnswer* reversed = nullptr;
        {
            const std::lock_guard lock(mutex_);
            reversed = std::exchange(first_, nullptr);
        }
        BoxedAnswer* next = nullptr;
        while (reversed != nullptr) {
            BoxedAnswer* const before = std::exchange(reversed->next_, next);
            next = std::exchange(reversed, before);
        }
        while (next != nullptr) {
            const auto answer = IntrusivePtr<BoxedAnswer>::adopt(next);
            next = answer->next_;
            each(*answer);
        }
    }

  private:
    std::mutex mutex_;             // guards what follows; inside nobody's
    BoxedAnswer* first_ = nullptr; // each counted; the last that was put in is the first
    bool is_closed_ = false;
};

/// A box that a thread with a descriptor to wait for shares with those who give answers.
class AnswerMail final : public RefCounted {
  public:
    explicit AnswerMail(net::Waker waker) : waker_(std::move(waker)) {}
    /// Puts in an answer. Any thread.
    void put(BoxedAnswer& answer) noexcept
    {
        box_.put(answer);
        waker_.wake();
    }
    // --- the thread that sends ---
    /// Returns what can be read when there is an answer.
    [[nodiscard]] int descriptor() const noexcept { return waker_.descriptor(); }
    template <typename Each>
    void take(Each&& each) noexcept
    {
        waker_.clear(); // before looking: what comes later wakes anew
        box_.take(std::forward<Each>(each));
    }
    void close() noexcept { box_.close(); }

  private:
    ~AnswerMail() override = default;

    net::Waker waker_;
    AnswerBox box_;
};

} // namespace kairos::orb
