// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/locate.h"

#include "kairos/client/client.h"
#include "kairos/client/collocated.h"
#include "kairos/client/own_carrier.h"
#include "kairos/client/shared_carrier.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

#include <optional>
#include <string>
#include <vector>

namespace kairos::orb {
namespace {

using giop::LocateStatus;

class LocateQuestion final : public Question {
  public:
    explicit LocateQuestion(giop::LocateReply& answer) { locate_reply = &answer; }

    [[nodiscard]] Bytes header(const giop::RequestTemplate& target, std::uint32_t request_id,
                               Bytes) override
    {
        message_.resize(target.locate_size());
        return target.locate(message_, request_id);
    }

  private:
    std::vector<std::byte> message_;
};

/// One LocateRequest after the other, until one is answered for good.
class Location {
  public:
    explicit Location(Reference& reference)
        : reference_(reference), storage_(ThreadStorage::current()),
          limits_(limits_of_call(reference)),
          route_(reference, reference.forward(), limits_, storage_, Route::Purpose::location)
    {
    }

    LocateStatus find()
    {
        LocateQuestion question(reply_);
        do {
            route_.next();
        } while (!ask(question));
        if (reply_.status == LocateStatus::object_here) reference_.note_bound();
        return reply_.status;
    }

  private:
    [[nodiscard]] Carrier& carrier()
    {
        if (route_.is_local()) return collocated_.emplace(storage_);
        if (SharedCarrier::carries(limits_, storage_) ||
            Client::of(route_.orb()).bidirectional().carries(route_))
            return shared_;
        return own_;
    }
    /// Returns whether the answer is final; else the route leads on.
    [[nodiscard]] bool ask(LocateQuestion& question)
    {
        Carrier& carrier = this->carrier();
        if (const auto reached = carrier.reach(route_); !reached) {
            route_.unreachable(reached.error());
            return false;
        }
        if (carrier.exchange(question, route_) != giop::Outcome::ok) {
            route_.unreachable(route_.endpoint().text() + " did not answer a LocateRequest");
            return false;
        }
        return accept(carrier);
    }
    /// The connection is kept unless what came over it makes no sense.
    [[nodiscard]] bool accept(Carrier& carrier)
    {
        switch (reply_.status) {
        case LocateStatus::object_forward:
        case LocateStatus::object_forward_perm:
            return follow(carrier);
        case LocateStatus::system_exception:
            return accept_exception(carrier);
        case LocateStatus::needs_addressing_mode:
            if (route_.is_readdressed()) carrier.release(); // it makes sense, if in vain
            route_.readdress(reply_.body);
            carrier.release();
            return false;
        default:
            carrier.release();
            return reply_.status == LocateStatus::object_here || !route_.unknown();
        }
    }
    [[nodiscard]] bool follow(Carrier& carrier)
    {
        ior::Ior ior;
        if (!ior::decode(reply_.body, ior) || ior.is_nil()) {
            route_.unreachable("location forward without a valid reference");
            return false;
        }
        carrier.release();
        route_.forwarded(reference_.orb().make_reference(std::move(ior)),
                         reply_.status == LocateStatus::object_forward_perm);
        return false;
    }
    [[nodiscard]] bool accept_exception(Carrier& carrier)
    {
        const auto exception = giop::SystemExceptionBody::read(reply_.body);
        if (!reply_.body.ok()) {
            route_.unreachable("malformed exception in a LocateReply");
            return false;
        }
        const std::string id(exception.repository_id);
        carrier.release();
        if (exception.completion == CORBA::COMPLETED_NO &&
            id == CORBA::OBJECT_NOT_EXIST::kairos_id && route_.unknown())
            return false;
        mapping::raise_system_exception(id, exception.minor,
                                        static_cast<CORBA::CompletionStatus>(exception.completion));
    }

    Reference& reference_;
    ThreadStorage& storage_;
    const CallLimits limits_;
    Route route_;
    giop::LocateReply reply_;
    OwnCarrier own_{storage_};
    SharedCarrier shared_{storage_};
    std::optional<CollocatedCarrier> collocated_;
};

} // namespace

LocateStatus locate(Reference& reference)
{
    if (reference.orb().is_shut_down())
        raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO);
    return Location(reference).find();
}

} // namespace kairos::orb
