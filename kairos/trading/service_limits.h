// SPDX-License-Identifier: Apache-2.0
//
// What a trader gives its clients at most, so that none of them costs more than it may.
#pragma once

#include <chrono>
#include <cstddef>

namespace kairos::trading {

struct ServiceLimits {
    /// Service types; octets of the properties that one defines, encoded; properties of one, with
    /// those that it inherits; types above one, itself included; octets of a name.
    std::size_t types_max = 10'000;
    std::size_t type_octets_max = std::size_t{64} << 10;
    std::size_t type_properties_max = 500;
    std::size_t ancestors_max = 200;
    std::size_t name_octets_max = 255;
    /// Offers; octets of one, as its reference and properties are encoded; and, about, of all
    /// offers and types.
    std::size_t offers_max = 1'000'000;
    std::size_t offer_octets_max = std::size_t{1} << 20;
    std::size_t octets_of_all_max = std::size_t{512} << 20;
    /// Octets of a constraint or preference; what evaluating one may cost for one offer, in the
    /// steps of constraints::Evaluator; and how long a query may go on with further offers.
    std::size_t constraint_octets_max = std::size_t{16} << 10;
    std::size_t work_max = std::size_t{1} << 14;
    std::chrono::milliseconds query_time_max{2000};
    /// Asking for dynamic properties: how long one call may take, and all those of one request; and
    /// how many there may be.
    std::chrono::milliseconds dynamic_timeout{1000};
    std::chrono::milliseconds dynamic_time_max{3000};
    std::size_t dynamic_calls_max = 1000;
    std::size_t dynamic_octets_max = std::size_t{8} << 20; ///< of all their answers
    /// Whether an object has its service type's interface is asked so long; who does not answer is
    /// believed.
    std::chrono::milliseconds interface_timeout{1000};
    /// Iterators that clients have begun and not destroyed. The one that was not used for the
    /// longest time makes room for another; so does each that nobody has used for `idle_max`.
    std::size_t iterators_max = 250;
    std::chrono::milliseconds idle_max{600'000};
    /// Offers or ids in one reply, however many the client wants, and octets of them, unless one
    /// alone has more; the rest is the iterator's.
    std::size_t reply_count_max = 10'000;
    std::size_t reply_octets_max = std::size_t{4} << 20;
};

} // namespace kairos::trading
