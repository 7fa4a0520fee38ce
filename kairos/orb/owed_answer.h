// SPDX-License-Identifier: Apache-2.0
//
// A request that is answered after the servant's operation has returned: what is left of it when
// its upcall is over. Response handlers (kairos-idl --amh) and servants that are coroutines stand
// on it (docs/asynchronous.md). Requests that are answered at once know nothing of it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/owed_channel.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::cdr {
struct TextForm;
} // namespace kairos::cdr

namespace kairos::orb {

class AwaitedAnswer;
class Orb;
class Upcall;
class UpcallObservation;

/// The answer to one request, which is to be given once. Whoever may give it counts it; when nobody
/// does any more, and it was not given, it is NO_RESPONSE. Any thread.
class KAIROS_API OwedAnswer final : public RefCounted {
  public:
    /// Something that stays as it is until the answer was given.
    class Kept {
      public:
        Kept() = default;
        Kept(const Kept&) = delete;
        Kept& operator=(const Kept&) = delete;
        virtual ~Kept() = default;
    };

    /// Gives the answer: calls `write`, which writes results to the Upcall that it is given, and
    /// replies. What that throws, but for std::bad_alloc, is the answer then. Throws BAD_INV_ORDER
    /// if the answer was given before, the ORB was destroyed, or the request is that of a process
    /// that this one is a fork of. A caller who has gone, or waits
    /// for no answer, hears nothing; that is no error.
    template <typename Write>
    void give(Write&& write)
    {
        using Called = std::remove_reference_t<Write>;
        give_by([](Upcall& upcall, void* called) { (*static_cast<Called*>(called))(upcall); },
                const_cast<std::remove_const_t<Called>*>(&write));
    }
    /// Gives this exception, of any kind, as the answer: one that the operation does not raise, or
    /// that is none of CORBA's, becomes UNKNOWN. Throws as give() does.
    void give_exception(const std::exception_ptr& exception);

    /// Returns whether the calling thread is giving an answer of this ORB, or, for null, of any:
    /// whoever is told of it there, and waits for the end of the ORB or of an object, waits for
    /// this thread.
    [[nodiscard]] static bool is_being_given_here(const Orb* orb = nullptr) noexcept;

    /// Takes the lock of the ORB's answers before fork(); the other follows in parent and child.
    static void lock_for_fork(Orb& orb) noexcept;
    static void unlock_after_fork(Orb& orb) noexcept;

    /// Returns the name of the operation, as it was sent.
    [[nodiscard]] std::string_view operation() const noexcept { return operation_; }

  private:
    friend class OwedAnswers;
    friend class OwedUpcall;
    enum class State : std::uint8_t { owed, being_given, given };
    using WriteReply = void (*)(Upcall& upcall, void* called);

    OwedAnswer(Upcall& upcall, std::unique_ptr<Kept> kept, IntrusivePtr<OwedChannel> channel);
    ~OwedAnswer() override;
    void enlist(Upcall& upcall);
    void give_by(WriteReply write, void* called);
    void answer(WriteReply write, void* called) noexcept;
    void send(WriteReply write, void* called);
    void answer_no_response() noexcept;
    [[nodiscard]] bool is_of_parent() const noexcept;
    void leave_to_parent() noexcept;
    void leave_list() noexcept;

    const pid_t process_ = ::getpid(); // whose it is
    const IntrusivePtr<Orb> orb_;
    const cdr::TextForm* const text_;
    const std::span<const ExceptionType> exceptions_;
    // Of the request; the rest of it is gone.
    const std::uint32_t request_id_;
    const std::uint8_t giop_minor_;
    const std::uint8_t response_flags_;
    const std::string operation_;
    std::vector<std::byte> object_key_; // for observers, as what follows
    ContextList request_contexts_;
    ContextList reply_contexts_;
    std::unique_ptr<UpcallObservation> observation_;
    std::unique_ptr<Kept> kept_;
    IntrusivePtr<OwedChannel> channel_;
    // Guarded by the ORB's OwedAnswers.
    State state_ = State::given;
    OwedAnswer* next_ = nullptr;
    OwedAnswer* previous_ = nullptr;
};

/// A request whose answer is taken out of its upcall: on the stack of who serves it.
class KAIROS_API OwedUpcall {
  public:
    /// Takes the answer out: what the upcall replies from here on is not sent. `kept` lasts until
    /// it is given. Throws TRANSIENT where as many are owed as -ORBAsynchronousCalls allows, to
    /// this connection or to all, or too many octets (-ORBMemory); BAD_INV_ORDER when the ORB was
    /// destroyed, NO_RESOURCES without a descriptor to wait with, and std::bad_alloc; then nothing
    /// was done.
    OwedUpcall(Upcall& upcall, std::unique_ptr<OwedAnswer::Kept> kept);
    ~OwedUpcall();
    OwedUpcall(const OwedUpcall&) = delete;
    OwedUpcall& operator=(const OwedUpcall&) = delete;

    /// Returns the answer, for whoever is to give it; to be called once.
    [[nodiscard]] IntrusivePtr<OwedAnswer> take() noexcept { return std::move(answer_); }
    /// Waits for the answer and sends it, where it can be sent by this thread only; serves others
    /// meanwhile, as a servant's call does. To be called when nothing else is to be done.
    void finish();

  private:
    void refuse(const CORBA::SystemException& exception) noexcept;

    Upcall& upcall_;
    std::vector<std::shared_ptr<void>> of_thread_; // of observers: released by it at the end
    IntrusivePtr<AwaitedAnswer> awaited_;          // null: others can send it
    IntrusivePtr<OwedAnswer> answer_;
};

} // namespace kairos::orb
