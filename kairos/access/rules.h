// SPDX-License-Identifier: Apache-2.0
//
// Who may call what, as a file says it, and the answer for one request. The first rule of which
// caller, object and operation all match decides; where none does, the default of the file.
// Immutable once read, so any thread.
#pragma once

#include "kairos/access/pattern.h"
#include "kairos/base/bytes.h"
#include "kairos/orb/tls_peers.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace kairos::access {

namespace limits {
/// Octets of a file of rules, and how many rules it has.
inline constexpr std::size_t file_max = std::size_t{1} << 20;
inline constexpr std::size_t rules_max = 10'000;
/// Characters of a pattern.
inline constexpr std::size_t pattern_max = 1000;
/// Octets of an object's key or id, and of an operation's name, that rules are asked about: nobody
/// may call others.
inline constexpr std::size_t name_max = 1000;
} // namespace limits

/// Where somebody is: an address of IPv4 or IPv6, a unix-domain socket (AF_UNIX), or nothing that
/// is known (AF_UNSPEC).
struct Host {
    int family = AF_UNSPEC;
    std::array<std::byte, 16> octets{}; ///< of an address; the first four of IPv4's

    /// Returns the host of what the system calls an address: ::ffff:192.0.2.1 is 192.0.2.1.
    [[nodiscard]] static Host of(const sockaddr& address) noexcept;
    /// Returns an address in numbers; nothing if the text is none.
    [[nodiscard]] static std::optional<Host> parse(const std::string& text);
    [[nodiscard]] bool is_loopback() const noexcept;
    [[nodiscard]] std::string text() const;
};

/// Somebody who calls.
struct Caller {
    Host host;
    std::optional<ucred> process{};     ///< of a unix-domain socket
    orb::PeerCertificate certificate{}; ///< of a connection by TLS
    bool is_unknown = false;            ///< its certificate cannot be read: nothing is allowed
    bool is_from_nowhere = false;   ///< nothing proves where: no network's, and of all that deny
    bool has_other_groups = false;  ///< only where rules are tried: which ones is not known
    std::string login{};            ///< for whom it calls, by CSIv2; empty: nobody
    orb::PeerCertificate subject{}; ///< likewise, where that is no user
    bool is_login_open = false;     ///< for whom it calls is not known yet

    /// Returns how logs name it: by its certificate, its user or its address.
    [[nodiscard]] std::string text() const;
};

/// Some callers.
struct Who {
    enum class Kind : std::uint8_t {
        anyone,
        local,       ///< a process of this host
        user,        ///< `id`
        group,       ///< `id`, or one of `members`
        network,     ///< the first `bits` of `address`
        certificate, ///< `name`
        login,       ///< `name`, by CSIv2
        subject,     ///< likewise, whom a certificate or a distinguished name says
    };
    Kind kind = Kind::anyone;
    std::uint32_t id = 0;
    std::vector<uid_t> members{}; ///< of a group that lists them, ascending
    Host address{};
    unsigned bits = 0;
    std::optional<Pattern> name{};

    [[nodiscard]] bool is(const Caller& caller) const;
    /// Returns whether it says where somebody is.
    [[nodiscard]] bool is_a_place() const noexcept
    {
        return kind == Kind::network || kind == Kind::local;
    }
    /// Returns whether it depends on what is not known of the caller.
    [[nodiscard]] bool may_be(const Caller& caller) const noexcept
    {
        return (kind == Kind::group && caller.has_other_groups) ||
               ((kind == Kind::login || kind == Kind::subject) && caller.is_login_open);
    }
};

/// What is called, as far as it is known. Names are as `written` has them.
struct Target {
    std::string_view operation;
    std::optional<std::string> adapter{}; ///< "RootPOA/Plant"
    std::optional<std::string> id{};
    std::optional<std::string> interface {
    };                                                ///< of the servant, the most derived
    std::function<bool(std::string_view)> supports{}; ///< whether it is of this one, too
};

struct Rule {
    std::size_t line = 0; ///< of the file
    bool allows = false;
    std::vector<Who> who;
    std::optional<Pattern> adapter;
    std::optional<Pattern> id;
    std::optional<Pattern> interface;
    std::vector<Pattern> operations;

    /// What of a request a rule does not match, in the order of looking.
    enum class Part : std::uint8_t { none, who, operation, adapter, id, interface };
    struct Match {
        Part other = Part::none;   ///< this does not match
        Part unknown = Part::none; ///< this is not known, and the rest matches
        bool by_interface = false; ///< the interface was looked at
    };
    [[nodiscard]] Match match(const Caller& caller, const Target& target) const;
};

class Rules {
  public:
    Rules() = default;
    Rules(std::vector<Rule> rules, bool allows_others, std::string file);

    struct Answer {
        enum class Kind : std::uint8_t {
            allow,
            deny,
            open, ///< it depends on what is not known of what is called
        };
        Kind kind = Kind::deny;
        const Rule* rule = nullptr; ///< that decides; null: the default, or nothing need be asked
        bool by_interface = false;  ///< another servant may get another answer
    };
    [[nodiscard]] Answer answer(const Caller& caller, const Target& target) const;

    [[nodiscard]] const std::vector<Rule>& all() const noexcept { return rules_; }
    [[nodiscard]] bool allows_others() const noexcept { return allows_others_; }
    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    /// Returns whether one of them looks at for whom a request is made, which no two requests of a
    /// connection need have in common.
    [[nodiscard]] bool names_logins() const noexcept { return names_logins_; }
    /// Returns what has decided, as "rules.toml:12", or "rules.toml: default".
    [[nodiscard]] std::string name_of(const Answer& answer) const;

  private:
    std::vector<Rule> rules_;
    bool allows_others_ = false;
    std::string file_;
    bool names_logins_ = false;
};

/// Returns a subject, or a pattern of one, as rules write it: what RFC 2253 escapes by a backslash
/// alone is a backslash with two hexadecimal digits, "\2C" for a comma within a name, so that
/// commas are between names and nowhere else.
[[nodiscard]] std::string written_subject(std::string_view subject);

/// Returns octets as rules write them: what is no printable character of ASCII, '%' and '/' as "%"
/// with two hexadecimal digits.
[[nodiscard]] std::string written(Bytes octets);

} // namespace kairos::access
