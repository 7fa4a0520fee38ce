// SPDX-License-Identifier: Apache-2.0
//
// What CSIv2 has of one ORB with -ORBCsi: its settings, and what programs have changed of them.
#pragma once

#include "kairos/csi/mechanisms.h"
#include "kairos/csiv2/csiv2.h"
#include "kairos/csiv2/passwords.h"
#include "kairos/csiv2/settings.h"
#include "kairos/orb/call_observer.h"
#include "kairos/orb/tls_peers.h"
#include "kairos/orb/upcall_observer.h"

#include <memory>
#include <mutex>
#include <optional>

namespace kairos::orb {

/// Of kairos/tls, if that is linked.
[[gnu::weak]] KAIROS_API const TlsPeers& tls_peers();

} // namespace kairos::orb

namespace kairos::csiv2 {

/// Null without kairos/tls.
[[nodiscard]] inline const orb::TlsPeers* linked_tls() noexcept
{
    return &orb::tls_peers == nullptr ? nullptr : &orb::tls_peers();
}

/// Who the program is to servers. Constant.
struct Credentials {
    std::string user; ///< empty: nobody
    std::string password;
};

/// Any thread.
class OrbCsi {
  public:
    explicit OrbCsi(Settings settings);

    [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
    /// Null without [server].
    [[nodiscard]] Passwords* passwords() const noexcept { return passwords_.get(); }
    [[nodiscard]] std::shared_ptr<const Credentials> credentials() const;
    void set_credentials(std::shared_ptr<const Credentials> credentials);

    /// What references say of TLS otherwise (SSLIOP).
    struct Tls {
        std::vector<ior::Address> addresses; ///< none: there is no TLS
        std::uint16_t supports = 0;          ///< association options
        std::uint16_t requires_ = 0;
    };
    /// Returns what references are to say, where the server is reached by this TLS, and by TLS only
    /// or not; nothing without [server].
    [[nodiscard]] std::optional<ior::TaggedComponent> component(Tls tls, bool by_tls_only) const;

  private:
    const Settings settings_;
    const std::unique_ptr<Passwords> passwords_;

    mutable std::mutex mutex_; // guards what follows; held to copy a pointer
    std::shared_ptr<const Credentials> credentials_;
};

[[nodiscard]] std::unique_ptr<orb::CallObserver> observe_calls(std::shared_ptr<OrbCsi> csi);
[[nodiscard]] std::unique_ptr<orb::UpcallObserver> observe_requests(std::shared_ptr<OrbCsi> csi);

} // namespace kairos::csiv2
