// SPDX-License-Identifier: Apache-2.0
//
// CSIv2 for programs (docs/csiv2.md): who calls, as servants and interceptors may ask; who the
// program is and for whom it speaks, in the calls that it makes; who checks passwords. All of it is
// of ORBs that were given -ORBCsi. A program that includes this has libkairos-csiv2, however it is
// linked; one that is content with the files of -ORBCsi needs to include nothing.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/csi_service.h"
#include "kairos/corba/orb.h"

#include <memory>
#include <optional>
#include <string>

namespace kairos::csiv2 {

/// Who has sent a request, as far as that was checked.
struct Caller {
    /// For whom it is made.
    enum class Identity {
        itself,    ///< the user
        anonymous, ///< somebody who is not named
        name,      ///< `name`
    };
    std::string user; ///< whose password was right; empty: none was sent
    Identity identity = Identity::itself;
    std::string name; ///< for whom somebody trusted speaks; empty for the other identities

    /// Returns for whom the request is made: `name`, else `user`; empty if that is anonymous.
    [[nodiscard]] const std::string& acts_for() const noexcept
    {
        return identity == Identity::itself ? user : name;
    }
};

/// Returns who has sent the request that the calling thread serves; nothing if the request does not
/// say it, if the server does not ask (no [server] in the file of -ORBCsi), and where the thread
/// serves none, or one of its own process.
[[nodiscard]] KAIROS_API std::optional<Caller> caller();

/// Checks passwords in place of a file of users. Any thread, several at the same time, though not
/// more than the processor has cores; what it throws is a wrong password and a line in the log.
class Authenticator {
  public:
    Authenticator() = default;
    Authenticator(const Authenticator&) = delete;
    Authenticator& operator=(const Authenticator&) = delete;
    virtual ~Authenticator() = default;

    /// Returns whether the password is this user's. Names are of 1 to 1024 octets of UTF-8 without
    /// control characters, passwords of up to 1024 octets, which may be any. A password that is
    /// right is not asked about again by the same connection for a minute.
    [[nodiscard]] virtual bool is_right(const std::string& user, const std::string& password) = 0;
};

/// Has this ORB's server ask an authenticator, in place of the file of users if it has one. To be
/// called before the RootPOA is resolved, for references say that the server takes passwords.
/// Throws BAD_PARAM for nil, BAD_INV_ORDER if the ORB's file of -ORBCsi has no [server].
KAIROS_API void set_authenticator(CORBA::ORB_ptr orb, std::shared_ptr<Authenticator> authenticator);

/// Has calls of this ORB say from now on that they are this user's, in place of what its file says;
/// with an empty name they are nobody's. Throws BAD_PARAM for a name that is none and for a
/// password of more than 1024 octets, BAD_INV_ORDER if the ORB was not given -ORBCsi. Any thread.
KAIROS_API void set_credentials(CORBA::ORB_ptr orb, const std::string& user,
                                const std::string& password);

/// While one lives, the calls of its thread are made for somebody else: of all ORBs with -ORBCsi,
/// to servers that may be told so; to others they end with NO_PERMISSION. The innermost counts.
class KAIROS_API SpeakingFor {
  public:
    /// For this user. Throws BAD_PARAM for a name that is none.
    explicit SpeakingFor(std::string name);
    /// For somebody who is not named.
    [[nodiscard]] static SpeakingFor anonymous() { return SpeakingFor(); }
    ~SpeakingFor();
    SpeakingFor(const SpeakingFor&) = delete;
    SpeakingFor& operator=(const SpeakingFor&) = delete;

    /// Returns the innermost of the calling thread; null if there is none.
    [[nodiscard]] static const SpeakingFor* innermost() noexcept;
    /// Returns the name; empty for somebody who is not named.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    SpeakingFor();

    const std::string name_;
    const SpeakingFor* const outer_;
};

} // namespace kairos::csiv2

namespace kairos::corba {

/// Never read: a reference in the program, for a linker that leaves out what nothing refers to.
[[gnu::used]] inline void (*const csiv2_is_linked)(const std::string&) = &prepare_csi;

} // namespace kairos::corba
