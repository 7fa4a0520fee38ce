// SPDX-License-Identifier: Apache-2.0
//
// What the async() functions of `kairos-idl --async` are made of: a call that a coroutine awaits.
// `co_await station->async().temperature("roof")` sends the request, suspends the coroutine, and
// resumes it with the results in the thread that has read the reply. Any coroutine may await one;
// task.h has a type for those that have none. The call itself is client/asynchronous.h.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/writer.h"
#include "kairos/client/call_cancelled.h"
#include "kairos/corba/stub.h"
#include "kairos/messaging/callback.h"

#include <chrono>
#include <coroutine>
#include <optional>
#include <stop_token>
#include <utility>

namespace kairos::orb {
class AsynchronousCall;
} // namespace kairos::orb

namespace kairos::messaging {

/// Thrown by `co_await` when the call's stop token has asked for its end. It is a std::exception,
/// and none of CORBA's.
using Cancelled = orb::CallCancelled;

/// Where a program has its coroutines resumed. The program's; it must outlive the calls that name
/// it.
class Executor {
  public:
    /// Has `coroutine` resumed, once, in whatever thread this is for. Called by the thread that has
    /// read the reply, which waits meanwhile. Must not throw.
    virtual void resume_later(std::coroutine_handle<> coroutine) noexcept = 0;

  protected:
    ~Executor() = default;
};

/// How calls of one async() are made: `AsyncOptions().within(200ms).stopped_by(token)`. A value. No
/// aggregate, since GCC 12 ends the life of a braced temporary of such a type within `co_await`
/// twice.
class AsyncOptions {
  public:
    AsyncOptions() noexcept {} // NOLINT(modernize-use-equals-default): that would be an aggregate

    /// Returns these, and that a call may take as long from when it is made: it ends with TIMEOUT
    /// then. The policies count in any case.
    [[nodiscard]] AsyncOptions within(std::chrono::nanoseconds time) const
    {
        AsyncOptions all(*this);
        all.within_ = time;
        return all;
    }
    /// Returns these, and that a call ends with Cancelled when stop is requested; the server is
    /// told by a CancelRequest.
    [[nodiscard]] AsyncOptions stopped_by(std::stop_token token) const
    {
        AsyncOptions all(*this);
        all.stop_ = std::move(token);
        return all;
    }
    /// Returns these, and who resumes the coroutine in place of the thread that has read the reply.
    [[nodiscard]] AsyncOptions resumed_by(Executor& executor) const
    {
        AsyncOptions all(*this);
        all.executor_ = &executor;
        return all;
    }

  private:
    friend class AwaitedCall;
    std::optional<std::chrono::nanoseconds> within_;
    std::stop_token stop_;
    Executor* executor_ = nullptr;
};

/// Base of what async() returns: the object that is called, which must live as long as this is
/// used. Value.
class KAIROS_API AsyncTarget {
  public:
    AsyncTarget(CORBA::Object& target, AsyncOptions options)
        : target_(&target), options_(std::move(options))
    {
    }

  protected:
    AsyncTarget() = default; // of classes between, which do not make it

  private:
    friend class AwaitedCall;
    CORBA::Object* target_ = nullptr;
    AsyncOptions options_;
};

class AwaitedState;

/// A call before it is awaited, and then what awaits it. Used by one thread at a time.
class KAIROS_API AwaitedCall {
  public:
    /// Prepares a call of `operation`, which is constant data. Throws NO_IMPLEMENT for a local
    /// object, BAD_INV_ORDER after the ORB was shut down, and TRANSIENT where as many calls are
    /// under way as -ORBAsynchronousCalls allows.
    AwaitedCall(const AsyncTarget& target, const orb::Operation& operation);
    /// Takes a call over that was not awaited yet.
    AwaitedCall(AwaitedCall&& from) noexcept;
    AwaitedCall& operator=(AwaitedCall&&) = delete;
    /// Gives the call up: the reply that still comes is dropped, and nobody is resumed.
    ~AwaitedCall();

    /// Returns the writer of the arguments. None may stay where it is: see cdr::Writer::CopyAll.
    [[nodiscard]] cdr::Writer& out() noexcept;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    /// Sends the request. Returns false if the call is over already: then the coroutine goes on.
    /// Throws std::bad_alloc.
    bool await_suspend(std::coroutine_handle<> coroutine);

  protected:
    /// The results, while they are read. Throws what the call has raised.
    class KAIROS_API Results {
      public:
        explicit Results(AwaitedCall& call);
        ~Results();
        Results(const Results&) = delete;
        Results& operator=(const Results&) = delete;
        [[nodiscard]] Reply& reply() noexcept { return *reply_; }

      private:
        AwaitedCall& call_;
        std::optional<Reply> reply_;
    };

  private:
    struct Stop {
        orb::AsynchronousCall* call;
        void operator()() const noexcept;
    };
    void abandon() noexcept;

    orb::AsynchronousCall* call_;      // null: not this object's any more
    IntrusivePtr<AwaitedState> state_; // from when it is awaited
    std::stop_token stop_;
    Executor* executor_;
    std::optional<std::stop_callback<Stop>> stop_callback_;
};

/// A call whose results are a T.
template <typename T>
class [[nodiscard("a call that is not awaited is not made")]] Call final : public AwaitedCall {
  public:
    /// `read` reads the results.
    Call(AwaitedCall&& call, T (*read)(Reply&)) noexcept : AwaitedCall(std::move(call)), read_(read)
    {
    }
    T await_resume()
    {
        Results results(*this);
        return read_(results.reply());
    }

  private:
    T (*read_)(Reply&);
};

} // namespace kairos::messaging
