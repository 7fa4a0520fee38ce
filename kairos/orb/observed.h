// SPDX-License-Identifier: Apache-2.0
//
// What the observers of calls (call_observer.h) and of requests (upcall_observer.h) have in common:
// how what they observe ended, and who is told of that. Those who were told that something began
// are told how it ended, the last first: the flow stack of interceptors (CORBA 3.3 part 1, 16.3.2).
// Used by one thread at a time.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/exception.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace kairos::ior {
struct Ior;
} // namespace kairos::ior

namespace kairos::orb {

/// How a call, an attempt at one or a request ended.
struct Ending {
    /// Values of PortableInterceptor::ReplyStatus.
    enum class Status : std::int16_t {
        successful,
        system_exception,
        user_exception,
        location_forward,
        transport_retry, ///< of an attempt: the call goes on by another one
        unknown,         ///< nobody waited for the end
    };

    Status status = Status::unknown;
    const CORBA::Exception* exception = nullptr; ///< of an exception
    const ior::Ior* forward = nullptr;           ///< of a forward: where to
    bool has_reply = true;                       ///< false for oneways that nobody answers
};

class KAIROS_API Observed {
  public:
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

    /// Returns what `owner`, an observer or several that share it, keeps from point to point: empty
    /// at first, released with the call or request.
    [[nodiscard]] std::shared_ptr<void>& state_of(const void* owner)
    {
        if (first_state_.first == nullptr) first_state_.first = owner;
        if (first_state_.first == owner) [[likely]]
            return first_state_.second;
        return later_state_of(owner);
    }
    /// Returns how it ended, at the points that tell of an end.
    [[nodiscard]] const Ending& ending() const noexcept { return *ending_; }

  protected:
    Observed() = default;
    ~Observed() = default;

    /// Calls `tell`, a point of an observer. What it throws comes out as CORBA::SystemException or
    /// LocationForward, whatever it was.
    template <typename Tell>
    static void guarded(Tell&& tell)
    {
        try {
            tell();
        } catch (...) {
            raise_as_known();
        }
    }
    /// Notes that one observer more was told of the beginning.
    void note_told() noexcept { ++told_; }
    /// Tells nobody of the end.
    void forget_told() noexcept { told_ = 0; }
    /// Returns whether anybody is still to be told of the end.
    [[nodiscard]] bool has_told() const noexcept { return told_ != 0; }
    /// Tells of the end those who were told of the beginning, the last first: has `tell` tell the
    /// observer of each number of ending(). Returns what it is to end with instead, the last thing
    /// that one of them threw; null if that is nothing. Does nothing when all were told.
    template <typename Tell>
    [[nodiscard, gnu::always_inline]] std::exception_ptr tell_ending(const Ending& ending,
                                                                     Tell&& tell) noexcept
    {
        std::exception_ptr instead;
        std::optional<Ending> changed;
        ending_ = &ending;
        while (told_ != 0) {
            try {
                tell(--told_);
            } catch (...) {
                instead = ending_of_current(changed);
                ending_ = &*changed;
            }
        }
        ending_ = &no_ending;
        return instead;
    }

  private:
    static constexpr Ending no_ending{};

    [[noreturn]] static void raise_as_known();
    /// Makes an ending of what was thrown, which lasts as long as what this returns.
    [[gnu::cold]] static std::exception_ptr
    ending_of_current(std::optional<Ending>& ending) noexcept;
    [[nodiscard]] std::shared_ptr<void>& later_state_of(const void* owner);

    using State = std::pair<const void*, std::shared_ptr<void>>;

    std::size_t told_ = 0;
    const Ending* ending_ = &no_ending;
    // Which stay where they are; the first ones cost no allocation.
    State first_state_{};
    State second_state_{};
    std::unique_ptr<std::list<State>> more_states_;
};

} // namespace kairos::orb
