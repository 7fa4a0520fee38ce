// SPDX-License-Identifier: Apache-2.0
//
// CSIv2 for programs (docs/csiv2.md): who calls, as servants and interceptors may ask; who the
// program is and for whom it speaks, in the calls that it makes; who checks passwords. All of it is
// of ORBs that were given -ORBCsi. A program that includes this has libkairos-csiv2, however it is
// linked; one that is content with the files of -ORBCsi needs to include nothing.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/corba/csi_service.h"
#include "kairos/corba/orb.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kairos::csiv2 {

/// Who has sent a request, as far as that was checked.
struct Caller {
    /// For whom it is made.
    enum class Identity {
        itself,      ///< the user
        anonymous,   ///< somebody who is not named
        name,        ///< the user `name`
        certificate, ///< the subject of a certificate: `name`, which may be empty, and `names`
        distinguished_name, ///< `name`, as RFC 2253 writes it: "CN=press,O=Plant"
    };
    std::string user; ///< whose password was right; empty: none was sent
    Identity identity = Identity::itself;
    std::string name; ///< for whom somebody trusted speaks; empty for the other identities
    /// The certificate's alternative names, each with its kind: "URI:spiffe://plant/press".
    std::vector<std::string> names{};

    /// Returns for whom the request is made: `name`, or where that is empty the first of `names`;
    /// `user` if it is made for itself; empty if for somebody who is not named. A user may be
    /// called what somebody's certificate says: whoever decides by it looks at `identity` as well.
    [[nodiscard]] const std::string& acts_for() const noexcept
    {
        if (identity == Identity::itself) return user;
        return name.empty() && !names.empty() ? names.front() : name;
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
    explicit SpeakingFor(const std::string& name);
    /// For somebody who is not named.
    [[nodiscard]] static SpeakingFor anonymous() { return SpeakingFor(); }
    /// For the subject of the first of these certificates, each in DER, of which each is signed by
    /// the next: whom the program knows by them. Throws BAD_PARAM for none, and for more than 8
    /// certificates or 48 KiB; what else is no chain the server refuses.
    [[nodiscard]] static SpeakingFor certificates(std::span<const Bytes> chain)
    {
        return SpeakingFor(chain);
    }
    /// The same with a sequence of sequences of octets, such as an SSLIOP::SSL_Cert.
    template <typename Chain>
        requires requires(const Chain& chain) { chain[0].get_buffer(), chain[0].length(); }
    [[nodiscard]] static SpeakingFor certificates(const Chain& chain)
    {
        std::vector<Bytes> all;
        for (CORBA::ULong i = 0; i < chain.length(); ++i)
            all.push_back(std::as_bytes(std::span(chain[i].get_buffer(), chain[i].length())));
        return SpeakingFor(std::span<const Bytes>(all));
    }
    /// For the bearer of this distinguished name of X.501's, in DER. Throws BAD_PARAM for one of
    /// more than 4096 octets, or of none.
    [[nodiscard]] static SpeakingFor distinguished_name(Bytes name)
    {
        return SpeakingFor(DistinguishedName{name});
    }
    ~SpeakingFor();
    SpeakingFor(const SpeakingFor&) = delete;
    SpeakingFor& operator=(const SpeakingFor&) = delete;

  private:
    struct DistinguishedName {
        Bytes octets;
    };
    SpeakingFor();
    explicit SpeakingFor(std::span<const Bytes> chain);
    explicit SpeakingFor(DistinguishedName name);

    std::shared_ptr<Speaking> speaking_; // which its thread has as well
};

} // namespace kairos::csiv2

namespace kairos::corba {

/// Never read: a reference in the program, for a linker that leaves out what nothing refers to.
[[gnu::used]] inline void (*const csiv2_is_linked)(const std::string&) = &prepare_csi;

} // namespace kairos::corba
