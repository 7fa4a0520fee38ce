// SPDX-License-Identifier: Apache-2.0
#include "bench/tls_keys.h"

#include "kairos/tls/certificates.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kairos::bench {

Result<TlsKeys> TlsKeys::make()
{
    using Kind = tls::CertificateRequest::Kind;
    std::string folder = std::filesystem::temp_directory_path() / "kairos-bench-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr)
        return Error{ErrorCode::system, folder + ": no folder is made", errno};
    TlsKeys keys(folder);
    const auto authority =
        tls::make_identity({.kind = Kind::authority, .name = "kairos bench"}, nullptr);
    if (!authority) return authority.error();
    const auto server = tls::make_identity({.name = "server", .hosts = {"127.0.0.1"}}, &*authority);
    if (!server) return server.error();
    if (auto written = tls::write_certificate(keys.authority(), *authority); !written)
        return written.error();
    if (auto written = tls::write_certificate(keys.certificate(), *server); !written)
        return written.error();
    if (auto written = tls::write_key(keys.key(), *server); !written) return written.error();
    if (auto written = tls::write_key(keys.both(), *server); !written) return written.error();
    std::ofstream both(keys.both(), std::ios::app);
    both << std::ifstream(keys.certificate()).rdbuf();
    if (!both.flush()) return Error{ErrorCode::system, keys.both() + " cannot be written", errno};
    return keys;
}

TlsKeys::~TlsKeys()
{
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

} // namespace kairos::bench
