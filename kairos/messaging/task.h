// SPDX-License-Identifier: Apache-2.0
//
// A coroutine that gives one result, for programs that have no such type of their own: it begins
// when it is awaited, started or waited for, and what it throws comes to whoever awaits it.
#pragma once

#include "kairos/base/export.h"

#include <condition_variable>
#include <coroutine>
#include <exception>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace kairos::messaging {

template <typename T>
class Task;

/// What the coroutines of all tasks do in the same way.
class KAIROS_API TaskPromise {
  public:
    /// A thread that waits for the end, on its stack.
    struct Waiting {
        std::mutex mutex; // guards what follows; inside nobody's
        std::condition_variable changed;
        bool has_ended = false;
    };

    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] auto final_suspend() const noexcept
    {
        struct GoOn {
            [[nodiscard]] bool await_ready() const noexcept { return is_detached; }
            // Not inline: clang 16 puts variables of what it inlines into the coroutine, which who
            // waits destroys.
            [[gnu::noinline]] std::coroutine_handle<>
            await_suspend(std::coroutine_handle<>) const noexcept
            {
                if (waiting != nullptr) { // under the lock: it destroys all this afterwards
                    const std::lock_guard lock(waiting->mutex);
                    waiting->has_ended = true;
                    waiting->changed.notify_all();
                    return std::noop_coroutine();
                }
                return awaiting ? awaiting : std::noop_coroutine();
            }
            void await_resume() const noexcept {}
            std::coroutine_handle<> awaiting;
            Waiting* waiting;
            bool is_detached;
        };
        return GoOn{awaiting_, waiting_, is_detached_};
    }
    void unhandled_exception() noexcept
    {
        if (is_detached_) return log_failure();
        failure_ = std::current_exception();
    }

    /// Says who is resumed at the end.
    void await_by(std::coroutine_handle<> awaiting) noexcept { awaiting_ = awaiting; }
    /// Says who waits for the end.
    void wait_by(Waiting& waiting) noexcept { waiting_ = &waiting; }
    /// Says that nobody does: the coroutine ends with its frame.
    void detach() noexcept { is_detached_ = true; }

  protected:
    void raise() const
    {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    /// Tells the log of the exception that is being handled.
    static void log_failure() noexcept;

    std::coroutine_handle<> awaiting_;
    Waiting* waiting_ = nullptr;
    bool is_detached_ = false;
    std::exception_ptr failure_;
};

template <typename T>
class TaskPromiseOf : public TaskPromise {
  public:
    [[nodiscard]] Task<T> get_return_object() noexcept;
    template <typename U>
    void return_value(U&& value)
    {
        value_.emplace(std::forward<U>(value));
    }
    [[nodiscard]] T result()
    {
        raise();
        return std::move(*value_);
    }

  private:
    std::optional<T> value_;
};

template <>
class TaskPromiseOf<void> : public TaskPromise {
  public:
    [[nodiscard]] Task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void result() const { raise(); }
};

/// A coroutine with its frame, which it owns. A task that is destroyed while it is suspended is
/// destroyed with all it awaits. It may be awaited, or waited for, once.
template <typename T>
class [[nodiscard("a task that nobody awaits does nothing")]] Task {
  public:
    using promise_type = TaskPromiseOf<T>;

    explicit Task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
    Task(Task&& from) noexcept : coroutine_(std::exchange(from.coroutine_, nullptr)) {}
    Task& operator=(Task&& from) noexcept
    {
        Task(std::move(from)).swap(*this);
        return *this;
    }
    ~Task()
    {
        if (coroutine_) coroutine_.destroy();
    }
    void swap(Task& other) noexcept { std::swap(coroutine_, other.coroutine_); }

    [[nodiscard]] auto operator co_await() && noexcept
    {
        struct Awaiter {
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept
            {
                coroutine.promise().await_by(awaiting);
                return coroutine;
            }
            T await_resume() const { return coroutine.promise().result(); }
            std::coroutine_handle<promise_type> coroutine;
        };
        return Awaiter{coroutine_};
    }

    /// Begins the task, and waits until it has ended: returns or throws what it does. Not in a
    /// thread that the task needs: that of a connection, or its executor's.
    T wait() &&
    {
        TaskPromise::Waiting waiting;
        coroutine_.promise().wait_by(waiting);
        coroutine_.resume();
        {
            std::unique_lock lock(waiting.mutex);
            waiting.changed.wait(lock, [&] { return waiting.has_ended; });
        }
        return coroutine_.promise().result();
    }
    /// Begins the task, which belongs to nobody from here on; what it throws is a line in the log.
    void start() &&
    {
        static_assert(std::is_void_v<T>, "nobody would get the result");
        const auto coroutine = std::exchange(coroutine_, nullptr);
        coroutine.promise().detach();
        coroutine.resume();
    }

  private:
    std::coroutine_handle<promise_type> coroutine_;
};

template <typename T>
Task<T> TaskPromiseOf<T>::get_return_object() noexcept
{
    return Task<T>(std::coroutine_handle<TaskPromiseOf>::from_promise(*this));
}

inline Task<void> TaskPromiseOf<void>::get_return_object() noexcept
{
    return Task<void>(std::coroutine_handle<TaskPromiseOf>::from_promise(*this));
}

} // namespace kairos::messaging
