// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/response_handler.h"

#include "kairos/orb/failure.h"

namespace kairos::messaging {
namespace {

[[noreturn]] void raise_held_here()
{
    throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "a holder of an exception stays in its process");
}

} // namespace

// --- ResponseExceptionHolder ---------------------------------------------------------------------

ResponseExceptionHolder::~ResponseExceptionHolder() = default;

CORBA::ValueBase* ResponseExceptionHolder::_copy_value()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "a holder of an exception cannot be copied");
}

void ResponseExceptionHolder::_kairos_encode(cdr::Writer&) const { raise_held_here(); }
void ResponseExceptionHolder::_kairos_decode(cdr::Reader&) { raise_held_here(); }

void ResponseExceptionHolder::_raise() const
{
    if (exception_) exception_->_raise();
    throw CORBA::UNKNOWN(0, CORBA::COMPLETED_MAYBE, "the holder has no exception");
}

// --- Responder -----------------------------------------------------------------------------------

Responder::~Responder() = default;

orb::OwedAnswer& Responder::_answer_to(std::string_view operation)
{
    if (!answer_ || answer_->operation() != operation)
        throw CORBA::BAD_OPERATION(orb::minor_code::unknown_operation, CORBA::COMPLETED_NO,
                                   "the response handler is that of another operation");
    return *answer_;
}

void Responder::_give_exception(std::string_view operation, const ResponseExceptionHolder* holder)
{
    orb::OwedAnswer& answer = _answer_to(operation);
    if (holder == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "there is no holder of an exception");
    std::exception_ptr held;
    try {
        holder->_raise();
    } catch (...) {
        held = std::current_exception();
    }
    answer.give_exception(held);
}

void give_unless_given(orb::OwedAnswer& answer, const std::exception_ptr& exception) noexcept
{
    try {
        answer.give_exception(exception);
    } catch (const CORBA::BAD_INV_ORDER&) { // the servant, or the ORB's end, was faster
    }
}

} // namespace kairos::messaging
