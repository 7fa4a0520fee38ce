// SPDX-License-Identifier: Apache-2.0
#include "figures.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <net/if.h>
#include <sys/utsname.h>

namespace {

const std::filesystem::path folder = "/sys/class/net";

std::string text_of(const std::filesystem::path& file)
{
    std::ifstream stream(file);
    std::string text;
    std::getline(stream, text);
    return text;
}

/// 0 where the system does not say.
template <typename Number>
Number number_of(const std::filesystem::path& file)
{
    std::ifstream stream(file);
    Number number = 0;
    stream >> number;
    return stream ? number : 0;
}

std::int32_t type_of(std::int32_t of_linux)
{
    constexpr std::int32_t ethernet = 1, loopback = 772; // ARPHRD_…
    return of_linux == ethernet ? 6 : of_linux == loopback ? 24 : 1;
}

InterfaceFigures read(const std::filesystem::path& path)
{
    InterfaceFigures figures;
    figures.index = number_of<std::int32_t>(path / "ifindex");
    figures.name = path.filename();
    figures.type = type_of(number_of<std::int32_t>(path / "type"));
    figures.mtu = number_of<std::int32_t>(path / "mtu");
    constexpr std::uint64_t mega = 1'000'000;
    const auto speed = number_of<std::int64_t>(path / "speed"); // -1: not known
    figures.bits_per_second = speed > 0 ? static_cast<std::uint64_t>(speed) * mega : 0;
    figures.address = text_of(path / "address");
    std::uint32_t flags = 0;
    std::ifstream(path / "flags") >> std::hex >> flags;
    figures.is_wanted = (flags & IFF_UP) != 0;
    const std::string state = text_of(path / "operstate");
    figures.is_up = figures.is_wanted && (state == "up" || state == "unknown");
    const auto counter = [&](const char* name) {
        return number_of<std::uint64_t>(path / "statistics" / name);
    };
    figures.in_octets = counter("rx_bytes");
    figures.in_packets = counter("rx_packets");
    figures.in_errors = counter("rx_errors");
    figures.in_discards = counter("rx_dropped");
    figures.out_octets = counter("tx_bytes");
    figures.out_packets = counter("tx_packets");
    figures.out_errors = counter("tx_errors");
    figures.out_discards = counter("tx_dropped");
    return figures;
}

} // namespace

std::vector<InterfaceFigures> interfaces_of_host()
{
    std::vector<InterfaceFigures> all;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        InterfaceFigures figures = read(entry.path());
        if (figures.index != 0) all.push_back(std::move(figures)); // some entries are no interfaces
    }
    std::sort(all.begin(), all.end(),
              [](const auto& left, const auto& right) { return left.index < right.index; });
    return all;
}

std::optional<InterfaceFigures> interface_of_host(std::int32_t index)
{
    char name[IF_NAMESIZE] = {};
    if (index <= 0 || if_indextoname(static_cast<unsigned>(index), name) == nullptr)
        return std::nullopt;
    InterfaceFigures figures = read(folder / name);
    if (figures.index != index) return std::nullopt; // gone meanwhile
    return figures;
}

std::uint64_t uptime_of_host()
{
    double seconds = 0;
    std::ifstream("/proc/uptime") >> seconds;
    return static_cast<std::uint64_t>(seconds * 100);
}

std::string name_of_host()
{
    utsname names{};
    (void)uname(&names);
    return names.nodename;
}

std::string description_of_host()
{
    utsname names{};
    (void)uname(&names);
    return std::string(names.sysname) + " " + names.release + " " + names.machine;
}
