// SPDX-License-Identifier: Apache-2.0
//
// Operations that ended after the deadlines of their IDL (docs/scheduling.md): who is told of them,
// and since when a request waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace kairos::orb {

/// An operation that ended after its deadline, or was given up there.
struct LateCall {
    std::string_view operation;
    std::chrono::nanoseconds deadline{};
    /// From when its caller released it, if that is known, or else from when it was read, to when
    /// that was seen.
    std::chrono::nanoseconds response{};
    bool executed = false;
};
/// What a program has called for each late operation, in the threads that serve, several at the
/// same time.
class LateCallHandler : public std::function<void(const LateCall& call)> {
  public:
    using function::function;
};

/// The operations of an ORB that ended after their deadlines. Any thread, but for set_handler.
class LateCalls {
  public:
    /// Sets who is told of late operations; to be called before the ORB serves.
    void set_handler(LateCallHandler handler) { handler_ = std::move(handler); }
    void note(const LateCall& call) noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept
    {
        return count_.load(std::memory_order_relaxed);
    }

  private:
    LateCallHandler handler_; // constant while the ORB serves
    std::atomic<std::uint64_t> count_{0};
};

/// Says, while it lives, that the calling thread is about to serve a request that was read at this
/// time and has waited since.
class ArrivalScope {
  public:
    explicit ArrivalScope(std::chrono::steady_clock::time_point arrived) noexcept
        : outer_(std::exchange(current_, arrived))
    {
    }
    ~ArrivalScope() { current_ = outer_; }
    ArrivalScope(const ArrivalScope&) = delete;
    ArrivalScope& operator=(const ArrivalScope&) = delete;

    /// Returns when the request was read that the thread is about to serve, and forgets it. Nothing
    /// if it was read just now.
    [[nodiscard]] static std::optional<std::chrono::steady_clock::time_point> take() noexcept
    {
        return std::exchange(current_, std::nullopt);
    }

  private:
    static inline constinit thread_local std::optional<std::chrono::steady_clock::time_point>
        current_ = std::nullopt;
    const std::optional<std::chrono::steady_clock::time_point> outer_;
};

} // namespace kairos::orb
