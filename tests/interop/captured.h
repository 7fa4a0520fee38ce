// SPDX-License-Identifier: Apache-2.0
//
// What tests need that let a client of ours call by way of a Tap and look at the file.
#pragma once

#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace interop {

/// The same object at another port.
inline std::string at_port(const std::string& reference, std::uint16_t port)
{
    auto ior = kairos::ior::from_string(reference).value();
    auto profile = kairos::ior::decode_iiop(ior.profiles.at(0).data).value();
    profile.port = port;
    ior.profiles = {kairos::ior::encode_iiop(profile)};
    return kairos::ior::to_string(ior);
}

inline std::uint16_t port_of(const std::string& reference)
{
    return kairos::ior::targets(kairos::ior::from_string(reference).value()).at(0).address.port;
}

/// A file that is gone at the end of the test.
struct TemporaryFile {
    explicit TemporaryFile(const std::string& name)
        : path(std::filesystem::temp_directory_path() /
               (name + "." + std::to_string(getpid()) + ".pcap"))
    {
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
    const std::filesystem::path path;
};

} // namespace interop
