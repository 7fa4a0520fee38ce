// SPDX-License-Identifier: Apache-2.0
//
// What servants of `kairos-idl --amh` stand on (docs/asynchronous.md): their operations are given a
// response handler, by which they answer when they like, from any thread, once; and an exception is
// handed over in a holder. As TAO has it. The answer itself is orb/owed_answer.h.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/corba/skel.h"
#include "kairos/orb/owed_answer.h"
#include "kairos/poa/kept_object.h"
#include "kairos/values/value_base.h"

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace kairos::messaging {

/// Base of the holders of exceptions that generated code has: all that is the same for all
/// interfaces. On the stack or the heap; neither copies nor messages can have one.
class KAIROS_API ResponseExceptionHolder : public virtual CORBA::DefaultValueRefCountBase {
  public:
    /// Throws NO_IMPLEMENT.
    CORBA::ValueBase* _copy_value() override;
    /// Both throw MARSHAL.
    void _kairos_encode(cdr::Writer& out) const override;
    void _kairos_decode(cdr::Reader& in) override;

    /// Throws a copy of the exception; UNKNOWN where there is none.
    [[noreturn]] void _raise() const;

  protected:
    ResponseExceptionHolder() = default;
    /// Takes the exception over, which was made by `new`.
    explicit ResponseExceptionHolder(CORBA::Exception* exception) noexcept : exception_(exception)
    {
    }
    ~ResponseExceptionHolder() override;

  private:
    std::unique_ptr<CORBA::Exception> exception_;
};

/// What the response handlers of generated code do all alike. When the last reference to one is
/// released, and it has not answered, the caller hears NO_RESPONSE. Any thread.
class KAIROS_API Responder {
  protected:
    /// A handler that gives this answer; null for a oneway, whose caller waits for none.
    explicit Responder(IntrusivePtr<orb::OwedAnswer> answer) noexcept : answer_(std::move(answer))
    {
    }
    ~Responder();

    /// Answers a request of this operation: `write` writes its results. Throws BAD_INV_ORDER if it
    /// was answered before or the ORB was destroyed, BAD_OPERATION if the request is another one.
    template <typename Write>
    void _give(std::string_view operation, Write&& write)
    {
        _answer_to(operation).give(std::forward<Write>(write));
    }
    /// Answers with what the holder, which is not kept, holds. Throws as _give() does, and
    /// BAD_PARAM for null.
    void _give_exception(std::string_view operation, const ResponseExceptionHolder* holder);

  private:
    [[nodiscard]] orb::OwedAnswer& _answer_to(std::string_view operation);

    const IntrusivePtr<orb::OwedAnswer> answer_;
};

/// Gives this exception as the answer unless there is one already.
KAIROS_API void give_unless_given(orb::OwedAnswer& answer,
                                  const std::exception_ptr& exception) noexcept;

/// Calls a servant that may answer later: `call` with a response handler of the class R. What it
/// throws before it has answered is the answer. To be called when the arguments were read.
template <typename R, typename Call>
void serve_later(orb::Upcall& upcall, const Call& call)
{
    orb::OwedUpcall owed(upcall, poa::keep_called());
    {
        const IntrusivePtr<orb::OwedAnswer> answer = owed.take();
        try {
            const typename R::_var_type handler = new R(answer);
            call(handler.in());
        } catch (...) {
            give_unless_given(*answer, std::current_exception());
        }
    }
    owed.finish();
}

/// Calls a servant's oneway: `call` with a response handler of the class R, by which there is
/// nothing to answer. Throws what `call` throws. To be called when the arguments were read.
template <typename R, typename Call>
void serve_oneway(orb::Upcall& upcall, const Call& call)
{
    const typename R::_var_type handler = new R(IntrusivePtr<orb::OwedAnswer>());
    call(handler.in());
    upcall.reply();
}

} // namespace kairos::messaging
