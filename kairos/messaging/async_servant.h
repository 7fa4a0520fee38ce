// SPDX-License-Identifier: Apache-2.0
//
// What servants of `kairos-idl --async` stand on (docs/asynchronous.md): their operations are
// coroutines, whose arguments belong to them, and what they co_return or throw is the answer. The
// answer itself is orb/owed_answer.h.
#pragma once

#include "kairos/corba/skel.h"
#include "kairos/messaging/response_handler.h"
#include "kairos/messaging/task.h"

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace kairos::messaging {

/// A coroutine that nobody waits for: its frame ends with it, or with what it awaits.
struct Answering {
    struct promise_type {
        [[nodiscard]] Answering get_return_object() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {} // the answer is lost: NO_RESPONSE
    };
};

/// Awaits the task and gives what it ends with as the answer; `write` writes results. The servant,
/// whose coroutine the task is, lives until that has ended; not longer, for with the answer the
/// program may go on to end it.
template <typename T, typename Write>
Answering answer_with(poa::CalledServant servant, IntrusivePtr<orb::OwedAnswer> answer,
                      Task<T> task, Write write)
{
    std::exception_ptr failure;
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(task);
            servant.let_go();
            answer->give([&](orb::Upcall& upcall) { write(upcall); });
        } else {
            const T results = co_await std::move(task);
            servant.let_go();
            answer->give([&](orb::Upcall& upcall) { write(upcall, results); });
        }
    } catch (...) {
        failure = std::current_exception();
    }
    servant.let_go();
    if (failure) give_unless_given(*answer, failure);
}

/// Begins the coroutine that `call` makes, which is the servant's operation; it answers the
/// request, now or later, in whatever thread it ends. What `call` throws is thrown. To be called
/// when the arguments were read.
template <typename Call, typename Write>
void serve_coroutine(orb::Upcall& upcall, Call&& call, Write write)
{
    auto task = std::forward<Call>(call)();
    orb::OwedUpcall owed(upcall, poa::keep_called());
    {
        const IntrusivePtr<orb::OwedAnswer> answer = owed.take();
        try {
            (void)answer_with(poa::CalledServant(), answer, std::move(task), std::move(write));
        } catch (...) { // there is no memory for its frame
            give_unless_given(*answer, std::current_exception());
        }
    }
    owed.finish();
}

} // namespace kairos::messaging
