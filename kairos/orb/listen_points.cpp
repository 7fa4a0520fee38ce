// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/listen_points.h"

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/orb/context_list.h"

#include <array>
#include <cstdio>

namespace kairos::orb {

void append_listen_points(ContextList& list, std::span<const ior::Address> points)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(static_cast<std::uint32_t>(points.size()));
    for (const ior::Address& point : points) {
        writer.write_string(point.host);
        writer.write(point.port);
    }
    list.append(listen_points_context_id, writer.contiguous());
}

std::optional<std::vector<ior::Address>> decode_listen_points(Bytes context)
{
    constexpr std::size_t point_bytes_min = 8; // the length and end of a host, padding, the port
    cdr::Reader reader = cdr::Reader::of_encapsulation(context);
    const std::uint32_t count = reader.read_length(point_bytes_min);
    if (!reader.ok() || count > listen_points_max) return std::nullopt;
    std::vector<ior::Address> points;
    points.reserve(count);
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const std::string_view host = ior::without_brackets(reader.read_string());
        const auto port = reader.read<std::uint16_t>();
        constexpr std::size_t host_size_max = 255;
        if (host.size() > host_size_max || host.find('\0') != std::string_view::npos)
            return std::nullopt;
        points.push_back({std::string(host), port});
    }
    if (!reader.ok()) return std::nullopt;
    return points;
}

ior::Address unreachable_listen_point(std::uint64_t incarnation)
{
    std::array<char, 48> host{};
    const int size = std::snprintf(host.data(), host.size(), "kairos-%016llx.invalid",
                                   static_cast<unsigned long long>(incarnation));
    // A reference with port 0 has no address at all.
    return {std::string(host.data(), static_cast<std::size_t>(size)), 1};
}

bool is_unreachable(std::string_view host) noexcept { return host.ends_with(".invalid"); }

} // namespace kairos::orb
