// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/policies.h"

#include "kairos/base/limits.h"

#include <algorithm>

namespace kairos::ior {

namespace {

/// Values of RTCORBA::PriorityModel.
constexpr std::uint32_t client_propagated = 0;
constexpr std::uint32_t server_declared = 1;

/// One PolicyValue: the type, and what `write_value` writes as an encapsulation.
template <typename WriteValue>
void write_policy(cdr::Writer& writer, std::uint32_t type, WriteValue write_value)
{
    writer.write(type);
    const auto scope = writer.begin_encapsulation();
    write_value(writer);
    writer.end_encapsulation(scope);
}

bool read_priority_model(Bytes value, ExposedPolicies& policies)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(value);
    const auto model = reader.read<std::uint32_t>();
    const auto priority = reader.read<std::int16_t>();
    if (!reader.ok() || model > server_declared || priority < 0) return false;
    policies.priority_model = PriorityModel{model == client_propagated, priority};
    return true;
}

bool read_bands(Bytes value, ExposedPolicies& policies)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(value);
    const std::uint32_t count = reader.read_length(4);
    if (count > limits::priority_bands_max) return false;
    policies.bands.clear();
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const auto low = reader.read<std::int16_t>();
        policies.bands.push_back({low, reader.read<std::int16_t>()});
    }
    return reader.ok() && are_bands(policies.bands);
}

} // namespace

bool are_bands(std::span<const PriorityBand> bands) noexcept
{
    for (std::size_t i = 0; i < bands.size(); ++i) {
        if (bands[i].low < 0 || bands[i].high < bands[i].low) return false;
        for (const PriorityBand& other : bands.first(i))
            if (bands[i].low <= other.high && other.low <= bands[i].high) return false;
    }
    return true;
}

TaggedComponent make_policies(const ExposedPolicies& policies)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(std::uint32_t{policies.priority_model ? 1u : 0u} +
                 std::uint32_t{policies.bands.empty() ? 0u : 1u});
    if (const auto& model = policies.priority_model)
        write_policy(writer, priority_model_policy, [&](cdr::Writer& value) {
            value.write(model->client_propagated ? client_propagated : server_declared);
            value.write(model->server_priority);
        });
    if (!policies.bands.empty())
        write_policy(writer, priority_banded_connection_policy, [&](cdr::Writer& value) {
            value.write(static_cast<std::uint32_t>(policies.bands.size()));
            for (const PriorityBand& band : policies.bands) {
                value.write(band.low);
                value.write(band.high);
            }
        });
    const Bytes data = writer.contiguous();
    return {tag_policies, OctetVector(data.begin(), data.end())};
}

std::optional<ExposedPolicies> decode_policies(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    const std::uint32_t count = reader.read_length(8);
    if (count > limits::exposed_policies_max) return std::nullopt;
    ExposedPolicies policies;
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const auto type = reader.read<std::uint32_t>();
        const Bytes value = reader.read_octets();
        if (!reader.ok()) break;
        const bool understood = type == priority_model_policy ? read_priority_model(value, policies)
                                : type == priority_banded_connection_policy
                                    ? read_bands(value, policies)
                                    : true;
        if (!understood) return std::nullopt;
    }
    if (!reader.ok()) return std::nullopt;
    return policies;
}

} // namespace kairos::ior
