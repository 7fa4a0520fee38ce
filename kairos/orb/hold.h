// SPDX-License-Identifier: Apache-2.0
//
// A request that an adapter holds: where it waits until it may be offered again, and its place
// among all requests held, whose number is limited. Belongs to the channel that the request came
// by, which is used by one thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/net/waker.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace kairos::orb {

/// What makes requests wait, and changes now and then. Any thread.
class Gate : public RefCounted {
  public:
    /// Returns how often the gate has changed.
    [[nodiscard]] virtual std::uint64_t changes() const noexcept = 0;
    /// Blocks until the gate has changed more often than `seen`.
    virtual void wait(std::uint64_t seen) = 0;
    /// Has `waker`, which must live until `forget`, woken whenever the gate changes. Throws
    /// std::bad_alloc.
    virtual void tell(net::Waker& waker) = 0;
    /// Ends what `tell` began: the waker is woken no more.
    virtual void forget(net::Waker& waker) noexcept = 0;

  protected:
    ~Gate() override = default;
};

class Hold {
  public:
    /// What is kept with a request that waits.
    class Kept {
      public:
        Kept() = default;
        Kept(const Kept&) = delete;
        Kept& operator=(const Kept&) = delete;
        virtual ~Kept() = default;
    };

    Hold() = default;
    ~Hold() { end(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    /// Returns whether the request was held before, and so has its place among all requests held.
    [[nodiscard]] bool has_place() const noexcept { return held_ != nullptr; }
    /// Begins to hold the request at `gate`. `held`, the number of requests held, counts this one
    /// already if it had no place yet. `seen` is what gate.changes() was before the gate was found
    /// shut.
    void begin(Gate& gate, std::uint64_t seen, std::atomic<std::size_t>& held)
    {
        if (told_ != nullptr) untell();
        gate_ = IntrusivePtr<Gate>(&gate);
        seen_ = seen;
        held_ = &held;
    }
    /// Returns whether the gate has changed since, so that offering the request again may help.
    [[nodiscard]] bool may_go_on() const noexcept { return gate_->changes() != seen_; }
    /// Blocks until the gate has changed, so that offering the request again may help.
    void wait() { gate_->wait(seen_); }
    /// Has `waker`, cleared first, woken when the request may be offered again: for threads that
    /// wait for something else as well. Lasts until end(), or the next begin(). Returns false if
    /// there is no memory for it.
    [[nodiscard, gnu::cold]] KAIROS_API bool tell(net::Waker& waker) noexcept;
    /// Keeps this with the request, which is held, until it is taken or the hold ends.
    void keep(std::unique_ptr<Kept> kept) noexcept { kept_ = std::move(kept); }
    /// Returns what was kept; null for nothing.
    [[nodiscard]] std::unique_ptr<Kept> take_kept() noexcept { return std::move(kept_); }
    /// Ends the hold and gives back its place: the request was served, or nobody waits for it any
    /// more.
    void end() noexcept
    {
        if (held_ == nullptr) [[likely]]
            return;
        held_->fetch_sub(1, std::memory_order_relaxed);
        held_ = nullptr;
        if (told_ != nullptr) untell();
        gate_ = {};
        kept_.reset();
    }

  private:
    [[gnu::cold]] KAIROS_API void untell() noexcept;

    IntrusivePtr<Gate> gate_;
    std::uint64_t seen_ = 0;
    std::atomic<std::size_t>* held_ = nullptr;
    net::Waker* told_ = nullptr; // what the gate wakes, if anything
    std::unique_ptr<Kept> kept_;
};

} // namespace kairos::orb
