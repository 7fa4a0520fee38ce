// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/farewell.h"

#include "kairos/base/log.h"
#include "kairos/corba/invocation.h"

#include <utility>

namespace kairos::events {
namespace {

/// Owned by whoever works for it, or by its call.
class Farewell final : public Courier {
  public:
    Farewell(const std::shared_ptr<Couriers>& couriers, CORBA::Object_ptr client,
             const orb::Operation& operation, Deadline deadline)
        : Courier(couriers, Lane::patient), couriers_(couriers),
          client_(CORBA::Object::_duplicate(client)), operation_(operation), deadline_(deadline)
    {
    }

  private:
    ~Farewell() override { couriers_->end_farewell(); }

    void called(orb::AsynchronousCall&) override {}
    void idle() override
    {
        if (std::exchange(is_sent_, true)) return;
        try {
            orb::AsynchronousCall& call =
                orb::AsynchronousCall::make(corba::reference_of(*client_.in()), operation_);
            call.limit(deadline_);
            send(call);
        } catch (const CORBA::Exception&) {
            // It finds out by itself.
        }
    }

    const std::shared_ptr<Couriers> couriers_;
    const CORBA::Object_var client_;
    const orb::Operation& operation_;
    const Deadline deadline_;
    bool is_sent_ = false;
};

} // namespace

void bid_farewell(const std::shared_ptr<Couriers>& couriers, CORBA::Object_ptr client,
                  const orb::Operation& operation, std::chrono::milliseconds timeout)
{
    if (CORBA::is_nil(client)) return;
    if (!couriers->begin_farewell()) {
        if (couriers->note_untold())
            log::warning("events: more clients are disconnected at once than can be told of it");
        return;
    }
    const auto farewell =
        make_intrusive<Farewell>(couriers, client, operation, Deadline::after(timeout));
    farewell->wake();
}

} // namespace kairos::events
