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

    // Other traders (links, proxy offers)
    std::size_t links_max = 100;
    std::size_t proxies_max = 10'000;
    /// Other traders are waited for so long for each hop that is left, and not longer, however many
    /// these are: whoever is nearer to the importer waits longer. Connecting to one may take this.
    std::chrono::milliseconds hop_time{1000};
    std::chrono::milliseconds hops_time_max{10'000};
    std::chrono::milliseconds link_connect_timeout{500};
    /// Who was silent is not asked again for so long.
    std::chrono::milliseconds rest_time{5000};
    /// Queries that wait for others at the same time; proxy offers that one leads on by; octets of
    /// the policies that it passes on.
    std::size_t nested_queries_max = 100;
    std::size_t proxies_asked_max = 100;
    std::size_t passed_octets_max = std::size_t{64} << 10;
    /// Octets of another trader's answer, and of all its offers; of the offers of all others that
    /// are asked for one query; names of limits that these say.
    std::size_t answer_octets_max = std::size_t{8} << 20;
    std::size_t foreign_octets_max = std::size_t{32} << 20;
    /// Octets of all offers of other traders that queries and iterators have at a time.
    std::size_t foreign_octets_of_all_max = std::size_t{128} << 20;
    std::size_t limits_named_max = 64;
    /// Links in the name of a trader that a query is to start at, or whose Register is asked for.
    std::size_t path_max = 16;
    /// Ids of queries that are remembered, how long, and octets of one.
    std::size_t request_ids_max = 10'000;
    std::chrono::milliseconds request_id_time{300'000};
    std::size_t request_id_octets_max = 512;
};

} // namespace kairos::trading
