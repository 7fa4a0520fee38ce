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

/// A list of protocols, each with the properties of its ORB protocol, of which GIOP has none, and
/// of its transport, in the order of RTCORBA's interfaces; so TAO writes them, too. Where behind
/// ours another protocol follows whose properties are not known, nothing of it is needed; in front
/// of ours it hides them.
bool read_protocols(Bytes value, ExposedPolicies& policies)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(value);
    const std::uint32_t count = reader.read_length(4);
    if (!reader.ok()) return false;
    if (count == 0 || reader.read<std::uint32_t>() != tag_internet_iop) return reader.ok();
    TcpProperties tcp;
    tcp.send_queue_bytes = reader.read<std::int32_t>();
    tcp.receive_queue_bytes = reader.read<std::int32_t>();
    tcp.keep_alive = reader.read<bool>();
    tcp.dont_route = reader.read<bool>();
    tcp.no_delay = reader.read<bool>();
    if (!reader.ok() || tcp.send_queue_bytes < 0 || tcp.receive_queue_bytes < 0) return false;
    // Not a property of the specification's: absent, or padding, in what others write.
    if (reader.left() != 0) tcp.network_priority = reader.read<bool>();
    if (!reader.ok()) return false;
    policies.tcp = tcp;
    return true;
}

void write_tcp(cdr::Writer& writer, const TcpProperties& tcp)
{
    writer.write(std::uint32_t{1});
    writer.write(std::uint32_t{tag_internet_iop});
    writer.write(tcp.send_queue_bytes);
    writer.write(tcp.receive_queue_bytes);
    for (const bool each : {tcp.keep_alive, tcp.dont_route, tcp.no_delay, tcp.network_priority})
        writer.write(each);
}

bool read_policy(std::uint32_t type, Bytes value, ExposedPolicies& policies)
{
    switch (type) {
    case priority_model_policy:
        return read_priority_model(value, policies);
    case client_protocol_policy:
        return read_protocols(value, policies);
    case priority_banded_connection_policy:
        return read_bands(value, policies);
    default:
        return true;
    }
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
                 std::uint32_t{policies.bands.empty() ? 0u : 1u} +
                 std::uint32_t{policies.tcp ? 1u : 0u});
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
    if (const auto& tcp = policies.tcp)
        write_policy(writer, client_protocol_policy,
                     [&](cdr::Writer& value) { write_tcp(value, *tcp); });
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
        if (!read_policy(type, value, policies)) return std::nullopt;
    }
    if (!reader.ok()) return std::nullopt;
    return policies;
}

} // namespace kairos::ior
