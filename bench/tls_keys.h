// SPDX-License-Identifier: Apache-2.0
//
// Certificates for programs that are measured by TLS: an authority and a server on 127.0.0.1, in a
// folder that lasts as long as this.
#pragma once

#include "kairos/base/result.h"

#include <string>
#include <utility>

namespace kairos::bench {

class TlsKeys {
  public:
    [[nodiscard]] static Result<TlsKeys> make();
    TlsKeys(TlsKeys&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
    TlsKeys& operator=(TlsKeys&&) = delete;
    ~TlsKeys();

    [[nodiscard]] std::string authority() const { return folder_ + "/ca.pem"; }
    [[nodiscard]] std::string certificate() const { return folder_ + "/server.pem"; }
    [[nodiscard]] std::string key() const { return folder_ + "/server-key.pem"; }
    /// Returns the file that has certificate and key.
    [[nodiscard]] std::string both() const { return folder_ + "/both.pem"; }

  private:
    explicit TlsKeys(std::string folder) : folder_(std::move(folder)) {}

    std::string folder_;
};

} // namespace kairos::bench
