// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/outcome.h"

#include "kairos/events/CosEventComm.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"

namespace kairos::events {
namespace {

Outcome outcome_of_silence(const CORBA::SystemException& raised)
{
    return raised.completed() == CORBA::COMPLETED_NO ? Outcome::not_received : Outcome::unanswered;
}

/// The ORB of this process; others may have been shut down, and say so.
bool is_orb_over(CORBA::Object_ptr client)
{
    const auto& reference = client->_kairos_reference();
    return reference && reference->orb().is_shut_down();
}

} // namespace

Outcome outcome_of_making(const std::exception_ptr& failure, CORBA::Object_ptr client) noexcept
{
    try {
        std::rethrow_exception(failure);
    } catch (const CORBA::TRANSIENT& raised) {
        if (raised.minor() == orb::minor_code::too_many_calls) return Outcome::put_off;
    } catch (...) { // as below
    }
    return outcome_of(failure, client);
}

bool was_reached(const std::exception_ptr& failure) noexcept
{
    try {
        std::rethrow_exception(failure);
    } catch (const CORBA::SystemException& raised) {
        return raised.minor() != orb::minor_code::connect_failed &&
               raised.minor() != orb::minor_code::connect_refused &&
               raised.minor() != orb::minor_code::no_usable_profile &&
               raised.minor() != orb::minor_code::not_sent_in_time; // as when connecting
    } catch (...) {
        return true;
    }
}

Outcome outcome_of(const std::exception_ptr& failure, CORBA::Object_ptr client) noexcept
{
    if (!failure) return Outcome::done;
    try {
        std::rethrow_exception(failure);
    } catch (const CosEventComm::Disconnected&) {
        return Outcome::gone;
    } catch (const CORBA::OBJECT_NOT_EXIST&) {
        return Outcome::gone;
    } catch (const CORBA::INV_OBJREF&) {
        return Outcome::gone;
    } catch (const CORBA::TRANSIENT& raised) {
        return outcome_of_silence(raised);
    } catch (const CORBA::COMM_FAILURE& raised) {
        return outcome_of_silence(raised);
    } catch (const CORBA::TIMEOUT& raised) {
        return outcome_of_silence(raised);
    } catch (const CORBA::NO_RESPONSE& raised) {
        return outcome_of_silence(raised);
    } catch (const CORBA::REBIND& raised) {
        return raised.completed() == CORBA::COMPLETED_NO ? Outcome::elsewhere : Outcome::refused;
    } catch (const CORBA::BAD_INV_ORDER&) {
        return is_orb_over(client) ? Outcome::over : Outcome::refused;
    } catch (const std::bad_alloc&) {
        return Outcome::put_off;
    } catch (...) {
        return Outcome::refused;
    }
}

std::string text_of(const std::exception_ptr& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& raised) {
        return raised.what();
    } catch (...) {
        return "an exception";
    }
}

std::string address_of(CORBA::Object_ptr object)
{
    const auto& reference = object->_kairos_reference();
    if (!reference) return "this process";
    const auto& targets = reference->targets();
    return targets.empty() ? "nowhere" : targets.front().endpoint->text();
}

bool is_here(CORBA::Object_ptr object) noexcept
{
    const auto& reference = object->_kairos_reference();
    return !reference || reference->is_local();
}

} // namespace kairos::events
