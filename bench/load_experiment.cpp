// SPDX-License-Identifier: Apache-2.0
#include "bench/load_experiment.h"

#include "bench/statistics.h"

#include <algorithm>

namespace kairos::bench {

Result<Load> with_message_bytes(Load load, std::vector<Contestant>& contestants)
{
    for (Contestant& contestant : contestants) {
        if (!contestant.system.orb) continue;
        const auto bytes = contestant.running.order("bytes");
        if (!bytes) return bytes.error();
        load.request_bytes = static_cast<std::uint32_t>(bytes->at("request_bytes"));
        load.reply_bytes = static_cast<std::uint32_t>(bytes->at("reply_bytes"));
        // A kernel that does not tell leaves zero.
        if (load.request_bytes > 0 && load.reply_bytes > 0) return load;
    }
    const Exercise null = with_estimated_bytes({});
    load.request_bytes = null.request_bytes + 1;
    load.reply_bytes = null.reply_bytes + 1;
    return load;
}

std::vector<double> Rounds::values(const std::string& figure) const
{
    std::vector<double> values;
    for (const RunningSystem::Figures& round : rounds)
        values.push_back(round.at(figure));
    return values;
}

double Rounds::middle(const std::string& figure) const { return median(values(figure)); }

double Rounds::ratio_to(const Rounds& other, const std::string& figure) const
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(rounds.size(), other.rounds.size()); ++i)
        if (other.rounds[i].at(figure) > 0)
            ratios.push_back(rounds[i].at(figure) / other.rounds[i].at(figure));
    return median(std::move(ratios));
}

} // namespace kairos::bench
