// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/flow.h"

#include "kairos/base/log.h"
#include "kairos/interceptors/PortableInterceptor.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/reference.h"

#include <new>
#include <string>

namespace kairos::interceptors {

using Status = orb::Ending::Status;

CORBA::CompletionStatus Flow::completion() const noexcept
{
    switch (ending_.status) {
    case Status::successful:
    case Status::user_exception:
        return CORBA::COMPLETED_YES;
    case Status::system_exception:
        return static_cast<const CORBA::SystemException*>(ending_.exception)->completed();
    default:
        return CORBA::COMPLETED_NO;
    }
}

void Flow::end_with(const CORBA::SystemException& exception)
{
    exception_ = Owner<CORBA::Exception>(exception._duplicate());
    forward_.reset();
    ending_ = {.status = Status::system_exception, .exception = exception_.get()};
}

void Flow::end_with_current(bool may_forward, CORBA::CompletionStatus completed)
{
    const CORBA::UNKNOWN unknown(orb::minor_code::foreign_exception, completed);
    try {
        throw;
    } catch (const PortableInterceptor::ForwardRequest& elsewhere) {
        if (!may_forward) {
            log::warning("an interceptor threw ForwardRequest from a point that cannot forward");
            return end_with(unknown);
        }
        CORBA::Object_ptr target = elsewhere.forward.in();
        if (CORBA::is_nil(target) || !target->_kairos_reference())
            return end_with(CORBA::INV_OBJREF(0, completed, "ForwardRequest to nil, or locally"));
        forward_ = target->_kairos_reference()->ior();
        ending_ = {.status = Status::location_forward, .forward = &*forward_};
    } catch (const CORBA::SystemException& exception) {
        end_with(exception);
    } catch (const std::bad_alloc&) {
        end_with(CORBA::NO_MEMORY(0, completed));
    } catch (const std::exception& exception) {
        log::warning(std::string("an interceptor threw: ") + exception.what());
        end_with(unknown);
    } catch (...) {
        log::warning("an interceptor threw something that is no std::exception");
        end_with(unknown);
    }
}

void Flow::raise_if_changed() const
{
    if (forward_ && ending_.forward != nullptr) throw orb::LocationForward{*forward_};
    if (exception_ && ending_.exception == exception_.get()) exception_->_raise();
}

} // namespace kairos::interceptors
