// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/task.h"

#include "kairos/base/log.h"
#include "kairos/mapping/exception.h"

#include <string>

namespace kairos::messaging {

void TaskPromise::log_failure() noexcept
{
    try {
        throw;
    } catch (const CORBA::Exception& exception) {
        log::warning(std::string("a task that nobody awaits raises ") + exception.what());
    } catch (const std::exception& exception) {
        log::warning(std::string("a task that nobody awaits throws ") + exception.what());
    } catch (...) {
        log::warning("a task that nobody awaits throws what is no exception");
    }
}

} // namespace kairos::messaging
