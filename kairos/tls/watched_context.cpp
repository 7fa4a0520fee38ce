// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/watched_context.h"

#include "kairos/tls/channel.h"

#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace kairos::tls {
namespace {

/// Of what is in these files; of folders, nothing.
std::string digest_of(const std::vector<std::string>& files)
{
    const Owned<EVP_MD_CTX, &EVP_MD_CTX_free> digest(EVP_MD_CTX_new());
    if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) return "none";
    for (const std::string& file : files) {
        std::ifstream octets(file, std::ios::binary);
        std::array<char, 4096> some{};
        while (octets.read(some.data(), some.size()) || octets.gcount() != 0)
            EVP_DigestUpdate(digest.get(), some.data(), static_cast<std::size_t>(octets.gcount()));
        EVP_DigestUpdate(digest.get(), "", 1);
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(digest.get(), made.data(), &size);
    return {reinterpret_cast<const char*>(made.data()), size};
}

Result<WatchedContext::InForce> read_context(Side side, const orb::TlsOptions& options)
{
    auto made = make_context(side, options);
    if (!made) return made.error();
    WatchedContext::InForce read{.context = std::move(made).value(), .sessions = {}};
    if (side == Side::server) return read;
    watch_sessions(*read.context);
    read.sessions = std::make_shared<Sessions>();
    return read;
}

files::Watched<WatchedContext::InForce>::Source source_of(Side side, const orb::TlsOptions& options)
{
    const std::string whose =
        std::string("connections of ") + (side == Side::server ? "servers" : "clients");
    std::vector<std::string> files = files_of(side, options);
    return {.files = files,
            .read = [side, &options] { return read_context(side, options); },
            .contents = [files] { return digest_of(files); },
            .changed = "TLS: the files of -ORBTls… have changed and are in force for new " + whose,
            .kept = "; what was read before stays in force for " + whose,
            .failed = "TLS: no memory to look at the files of -ORBTls… for " + whose,
            .reread =
                "TLS: the files of -ORBTls… were read again, and are in force for new " + whose};
}

} // namespace

WatchedContext::WatchedContext(Side side, const orb::TlsOptions& options)
    : watched_(source_of(side, options))
{
}

} // namespace kairos::tls
