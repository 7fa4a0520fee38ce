// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transports/transports.h"

#include <mutex>
#include <vector>

namespace kairos::orb {
namespace {

class All {
  public:
    [[nodiscard]] std::vector<const Transport*> list()
    {
        const std::lock_guard lock(mutex_);
        return transports_;
    }
    [[nodiscard]] Result<void> add(const LocalTransport& added)
    {
        const std::lock_guard lock(mutex_);
        for (const Transport* known : transports_) {
            const LocalTransport* const local = known->local();
            if (known->scheme() == added.scheme() ||
                (local != nullptr && local->number() == added.number()))
                return Error{ErrorCode::invalid_argument,
                             "there is a transport of this scheme or number: " + known->usage()};
        }
        transports_.push_back(&added);
        return {};
    }

  private:
    std::mutex mutex_; // guards the list; the transports themselves do not change
    std::vector<const Transport*> transports_{&transport::tcp, &transport::unix_socket,
                                              &transport::shared_memory};
};

All& all()
{
    // Never destroyed: destructors of the program's static objects call.
    static All& transports = *new All;
    return transports;
}

} // namespace

Result<void> add_transport(const LocalTransport& transport) { return all().add(transport); }

const Transport* find_transport(std::string_view scheme)
{
    for (const Transport* transport : all().list())
        if (transport->scheme() == scheme) return transport;
    return nullptr;
}

const LocalTransport* find_transport(LocalTransport::Number number)
{
    for (const Transport* transport : all().list())
        if (const LocalTransport* const local = transport->local();
            local != nullptr && local->number() == number)
            return local;
    return nullptr;
}

std::string transport_usages()
{
    const std::vector<const Transport*> transports = all().list();
    std::string usages = transports.front()->usage();
    for (std::size_t i = 1; i < transports.size(); ++i)
        usages += (i + 1 == transports.size() ? " or " : ", ") + transports[i]->usage();
    return usages;
}

} // namespace kairos::orb
