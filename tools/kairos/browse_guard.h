// SPDX-License-Identifier: Apache-2.0
//
// What `kairos browse` lets in: the head of an HTTP request before a parser sees it, who may call
// (the page's own session, from the page's own address), and the JSON that calls are asked for
// with. Nothing here touches a socket or an object. Values; any thread.
#pragma once

#include "tools/kairos/type_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::tools {

/// The limits of one request.
inline constexpr std::size_t browse_head_octets_max = 16 * 1024;
inline constexpr std::size_t browse_head_lines_max = 64;
inline constexpr std::size_t browse_body_octets_max = std::size_t{4} << 20;
/// What a page may ask for at once.
inline constexpr std::size_t browse_attributes_max = 256;
inline constexpr std::size_t browse_reference_octets_max = std::size_t{64} << 10;
/// What an answer may have: the page would not show more, and the tool shall not hold more.
inline constexpr std::size_t browse_answer_octets_max = std::size_t{32} << 20;

/// Why a request is refused; status 0: it is not.
struct Refusal {
    int status = 0; ///< of HTTP
    std::string reason;

    [[nodiscard]] explicit operator bool() const noexcept { return status != 0; }
};

/// Judges the head of a request, up to the empty line. It refuses what the page never sends and
/// what parsers are known to stumble over: too many lines, lines without a name, folded ones, two
/// lines for what there may be one of, bodies in portions or compressed, ranges.
[[nodiscard]] Refusal judge_head(std::string_view head);

/// What is looked at of a request that was parsed.
struct AskedOfPage {
    std::string method;
    std::string path;
    std::string host;
    std::string origin;     ///< empty: none was sent
    std::string fetch_site; ///< Sec-Fetch-Site; empty: none was sent
    std::string content_type;
    std::string token; ///< X-Kairos-Token
};

/// Returns what the Host line has for a page at this port: the host in lower case, with the port
/// unless it has one itself (behind the brackets of an IPv6 address). Throws std::runtime_error,
/// with a message for people, where that is no port.
[[nodiscard]] std::string host_with_port(std::string_view host, std::uint16_t port);

/// Whether a request is the page's.
class BrowseGuard {
  public:
    /// `hosts` are the names and addresses by which the page may be reached (an IPv6 one in
    /// brackets), with a port where that is another one than the page's own; `token` is what calls
    /// must bring. Throws what host_with_port throws.
    BrowseGuard(const std::vector<std::string>& hosts, std::uint16_t port, std::string token);

    /// Names of other hosts are refused (the name of an attacker may lead to this address), pages
    /// from elsewhere, and calls without the token.
    [[nodiscard]] Refusal judge(const AskedOfPage& asked) const;

    /// Returns whether the path is that of a call.
    [[nodiscard]] static bool is_call(std::string_view path) { return path.starts_with("/api/"); }

  private:
    std::vector<std::string> hosts_; // as they stand in the Host line, in lower case
    std::string token_;
};

/// Throws std::runtime_error, with a message for people, unless the text is a reference that the
/// page may name, to open it or as an argument: a file of this machine is nobody's object, whoever
/// asks.
void must_be_reference_of_page(std::string_view text);

/// A call that the page asks for.
struct BrowseCall {
    enum class Kind : std::uint8_t {
        roots, ///< what there is to begin with
        names, ///< the bindings of the context `path`
        open,  ///< the interface of `object`
        call,  ///< `operation` of `object`
        read   ///< `attributes` of `object`
    };
    Kind kind = Kind::roots;
    std::string path;      ///< empty: the root context
    std::string object;    ///< IOR:…, corbaloc:…, corbaname:… or name:…
    std::string operation; ///< as it is called on the wire
    Json arguments = Json::array();
    std::vector<std::string> attributes;
};

/// Decodes a call from the path of the request and its body. Throws std::runtime_error, with a
/// message for people, for whatever is none.
[[nodiscard]] BrowseCall browse_call_of(std::string_view path, const std::string& body);

} // namespace kairos::tools
