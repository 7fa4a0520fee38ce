// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transports/transports.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace kairos::orb {

/// Of kairos/tls, if that is linked.
[[gnu::weak]] KAIROS_API const Transport& tls_transport();

namespace {

/// Returns whether references could not tell the two.
bool reads_the_same(const Transport& known, const Transport& added)
{
    if (!known.reads(added.tag()) && !added.reads(known.tag())) return false;
    if (known.local() == nullptr || added.local() == nullptr) return true;
    return known.local()->number() == added.local()->number();
}

class All {
  public:
    All()
    {
        if (&tls_transport != nullptr) transports_.push_back(&tls_transport());
    }
    [[nodiscard]] std::vector<const Transport*> list()
    {
        const std::lock_guard lock(mutex_);
        return transports_;
    }
    /// Returns the first that `is_it` likes; null if there is none.
    template <typename IsIt>
    [[nodiscard]] const Transport* find(IsIt is_it)
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find_if(transports_, is_it);
        return found == transports_.end() ? nullptr : *found;
    }
    [[nodiscard]] Result<void> add(const Transport& added)
    {
        const std::lock_guard lock(mutex_);
        for (const Transport* known : transports_)
            if (known->scheme() == added.scheme() || reads_the_same(*known, added))
                return Error{ErrorCode::invalid_argument,
                             "there is a transport of this scheme, number or tag: " +
                                 known->usage()};
        transports_.push_back(&added);
        return {};
    }

    void lock_for_fork() noexcept { mutex_.lock(); }
    void unlock_after_fork() noexcept { mutex_.unlock(); }

  private:
    // guards the list; the transports themselves do not change; held while the process forks
    std::mutex mutex_;
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

Result<void> add_transport(const Transport& transport) { return all().add(transport); }

const Transport* find_transport(std::string_view scheme)
{
    return all().find([&](const Transport* each) { return each->scheme() == scheme; });
}

const LocalTransport* find_transport(LocalTransport::Number number)
{
    const Transport* const found = all().find([&](const Transport* each) {
        return each->local() != nullptr && each->local()->number() == number;
    });
    return found == nullptr ? nullptr : found->local();
}

const Transport* transport_reading(std::uint32_t tag)
{
    return all().find([&](const Transport* each) { return each->reads(tag); });
}

void lock_transports_for_fork() noexcept { all().lock_for_fork(); }
void unlock_transports_after_fork() noexcept { all().unlock_after_fork(); }

std::vector<const Transport*> transport::list() { return all().list(); }

std::string transport_usages()
{
    const std::vector<const Transport*> transports = all().list();
    std::string usages = transports.front()->usage();
    for (std::size_t i = 1; i < transports.size(); ++i)
        usages += (i + 1 == transports.size() ? " or " : ", ") + transports[i]->usage();
    return usages;
}

} // namespace kairos::orb
