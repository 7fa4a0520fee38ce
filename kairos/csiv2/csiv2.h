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
/// say it, if its server does not ask (no [server] in the file of -ORBCsi, or an ORB without it),
/// and where the thread serves none, or one of its own process. It is the innermost request that
/// counts, from the look for its servant on.
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
    /// right is not asked about again for a minute.
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

struct Speaking;

/// While one lives, the calls of its thread are made for somebody else: of all ORBs with -ORBCsi,
/// to servers that may be told so; to others they end with NO_PERMISSION. Objects of the process
/// itself are told nothing. The innermost counts, and for the code only that made it: what the
/// thread serves meanwhile, requests, calls within the process, handlers of replies, is for itself.
/// A call is for whom it was when it was sent first, however often and by which thread it is sent
/// again.
///
/// It is a variable of a block. In a coroutine, which may go on in another thread, in a fiber, on
/// the heap, or where it would outlast the request that the thread serves, the constructor throws
/// BAD_INV_ORDER.
class KAIROS_API SpeakingFor {
  public:
    /// For this user. Throws BAD_PARAM for a name that is none.
    explicit SpeakingFor(std::string name);
    /// For somebody who is not named.
    [[nodiscard]] static SpeakingFor anonymous() { return SpeakingFor(); }
    ~SpeakingFor();
    SpeakingFor(const SpeakingFor&) = delete;
    SpeakingFor& operator=(const SpeakingFor&) = delete;

  private:
    SpeakingFor();
    void begin(std::string name);

    std::shared_ptr<Speaking> speaking_; // which its thread has as well
};

} // namespace kairos::csiv2

namespace kairos::corba {

/// Never read: a reference in the program, for a linker that leaves out what nothing refers to.
[[gnu::used]] inline void (*const csiv2_is_linked)(const std::string&) = &prepare_csi;

} // namespace kairos::corba
