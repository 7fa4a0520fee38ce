// SPDX-License-Identifier: Apache-2.0
//
// ssliop://: GIOP by TLS over TCP (SSLIOP). What references say of it is a component of their
// profiles: a port at the host of the profile; and one of our own where requests of each priority
// have a port.
#include "kairos/orb/transport.h"
#include "kairos/csi/mechanisms.h"
#include "kairos/net/connector.h"
#include "kairos/net/resolver.h"
#include "kairos/orb/options.h"
#include "kairos/orb/ways.h"
#include "kairos/tls/channel.h"
#include "kairos/tls/tls.h"
#include "kairos/tls/watched_context.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace kairos::tls {
namespace {

class TlsOfOrb;

/// Those of all ORBs, for reread_files().
struct All {
    std::mutex mutex; // guards list
    std::vector<std::weak_ptr<const TlsOfOrb>> list;

    static All& get()
    {
        static All& all = *new All; // for ORBs that end with the process
        return all;
    }
    void add(const std::shared_ptr<const TlsOfOrb>& one)
    {
        const std::lock_guard lock(mutex);
        std::erase_if(list, [](const auto& each) { return each.expired(); });
        list.push_back(one);
    }
};

class Tls : public orb::Transport {
  public:
    constexpr Tls() noexcept : Transport("ssliop", "[host][:port]", ior::tag_ssl_sec_trans, -1) {}

    [[nodiscard]] bool protects() const noexcept override { return true; }
    [[nodiscard]] bool is_at_profile() const noexcept override { return true; }
    [[nodiscard]] bool reads(std::uint32_t tag) const noexcept override
    {
        return tag == ior::tag_ssl_sec_trans || tag == ior::tag_secure_priority_addresses ||
               tag == ior::tag_csi_sec_mech_list;
    }
    [[nodiscard]] Result<void> parse(std::string_view text,
                                     orb::ListenEndpoint& endpoint) const override
    {
        return orb::parse_internet_endpoint(text, endpoint);
    }
    [[nodiscard]] Result<net::Address> address(const orb::ListenEndpoint& endpoint) const override
    {
        return orb::internet_address(endpoint);
    }
    [[nodiscard]] Result<std::shared_ptr<const Transport>>
    of_orb(const orb::Options& options) const override;
    [[nodiscard]] std::string describe(const ior::Address& address) const override
    {
        return "ssliop://" + ior::to_string(address);
    }

  protected:
    ~Tls() = default;
};

/// With the options of one ORB.
class TlsOfOrb final : public Tls {
  public:
    /// Looks at the files that the options name; those that the system trusts only when a client
    /// connects.
    [[nodiscard]] static Result<std::shared_ptr<const Transport>> make(const orb::Options& options)
    {
        auto made = std::make_shared<TlsOfOrb>(options);
        const orb::TlsOptions& tls = options.tls;
        const bool checks_clients =
            made->has_certificate() && tls.check_client != orb::ClientCheck::no;
        // Nobody would look anybody up in it.
        if (!tls.revocations.empty() && tls.check_server == orb::ServerCheck::no && !checks_clients)
            return Error{ErrorCode::invalid_argument,
                         "-ORBTlsRevocations " + tls.revocations +
                             ": it needs an end that checks its peers: -ORBTlsVerifyServer other "
                             "than 'no', or -ORBTlsVerifyClient with -ORBTlsCertificate"};
        if (tls.check_staple != orb::ClientCheck::no && tls.check_server == orb::ServerCheck::no)
            return Error{ErrorCode::invalid_argument,
                         "-ORBTlsVerifyStaple needs -ORBTlsVerifyServer other than 'no'"};
        if (!tls.staple.empty() && !made->has_certificate())
            return Error{ErrorCode::invalid_argument,
                         "-ORBTlsStaple " + tls.staple + ": it needs -ORBTlsCertificate"};
        if (made->has_certificate())
            if (const auto server = made->server_.get(); !server) return server.error();
        if (tls.trust != orb::TlsOptions{}.trust || !tls.revocations.empty())
            if (const auto client = made->client_.get(); !client) return client.error();
        All::get().add(made);
        return std::shared_ptr<const Transport>(std::move(made));
    }

    explicit TlsOfOrb(const orb::Options& options)
        : options_(options.tls), handshake_max_(options.receive_timeout),
          handshakes_(std::make_shared<Handshakes>(options.tls.handshakes_max))
    {
    }

    [[nodiscard]] bool reread() const
    {
        const bool of_server = server_.reread();
        const bool of_client = client_.reread();
        return of_server || of_client;
    }

    [[nodiscard]] Result<net::Address> address(const orb::ListenEndpoint& endpoint) const override
    {
        if (!has_certificate())
            return Error{ErrorCode::invalid_argument, "it needs -ORBTlsCertificate"};
        return Tls::address(endpoint);
    }
    [[nodiscard]] std::vector<ior::TaggedComponent>
    components(const std::string& host, bool has_plain_address,
               std::span<const ior::PriorityAddress> addresses) const override;
    void read(const ior::TaggedComponent& component, const ior::Target& target,
              orb::Ways& ways) const override;
    [[nodiscard]] Result<net::Socket> connect(const ior::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override;
    [[nodiscard]] Result<void> prepare(net::Socket& socket, Side side,
                                       const net::SpinRule& spin) const override;

  private:
    void read_mechanisms(const ior::TaggedComponent& component, const ior::Target& target,
                         orb::Ways& ways) const;
    /// Returns whether it can be a server.
    [[nodiscard]] bool has_certificate() const noexcept
    {
        return !options_.certificate.empty() || !options_.key.empty();
    }

    const orb::TlsOptions options_;
    const std::chrono::milliseconds handshake_max_; // 0: no limit
    const std::shared_ptr<Handshakes> handshakes_;
    // Each reads its files when it is needed.
    mutable WatchedContext server_{tls::Side::server, options_};
    mutable WatchedContext client_{tls::Side::client, options_};
};

Result<std::shared_ptr<const orb::Transport>> Tls::of_orb(const orb::Options& options) const
{
    return TlsOfOrb::make(options);
}

// --- what references say -------------------------------------------------------------------------

std::vector<ior::TaggedComponent>
TlsOfOrb::components(const std::string& host, bool has_plain_address,
                     std::span<const ior::PriorityAddress> addresses) const
{
    using namespace ior::association;
    std::vector<ior::PriorityAddress> here;
    std::ranges::copy_if(addresses, std::back_inserter(here),
                         [&](const auto& each) { return each.address.host == host; });
    if (here.empty()) return {};
    unsigned supports =
        integrity | confidentiality | detect_replay | detect_misordering | trust_in_target;
    unsigned wants = integrity | confidentiality;
    if (options_.check_client != orb::ClientCheck::no) supports |= trust_in_client;
    if (options_.check_client == orb::ClientCheck::required) wants |= trust_in_client;
    if (has_plain_address) {
        supports |= no_protection;
        wants = no_protection;
    }
    const ior::SecureAddress address{.supports = static_cast<std::uint16_t>(supports),
                                     .requires_ = static_cast<std::uint16_t>(wants),
                                     .port = here.front().address.port};
    std::vector<ior::TaggedComponent> all{ior::make_secure_address(address)};
    if (here.front().priority == any_priority) return all;
    all.push_back(ior::make_priority_addresses(here));
    all.back().tag = ior::tag_secure_priority_addresses;
    return all;
}

/// Servers of CSIv2, as application servers in Java, say there where they speak TLS. Where SSLIOP's
/// component says it, too, that is enough.
void TlsOfOrb::read_mechanisms(const ior::TaggedComponent& component, const ior::Target& target,
                               orb::Ways& ways) const
{
    const ior::IiopProfile& profile = *target.profile;
    for (const ior::TaggedComponent& other : profile.components)
        if (other.tag == ior::tag_ssl_sec_trans && ior::decode_secure_address(other)) return;
    const auto list = csi::decode_component(component);
    if (!list) return;
    std::vector<ior::Address> added;
    for (const csi::Mechanism& mechanism : list->all) {
        if (!mechanism.tls) continue;
        for (ior::Address address : mechanism.tls->addresses) {
            if (address.host.empty()) address.host = profile.host;
            if (address.port == 0 || std::ranges::find(added, address) != added.end()) continue;
            ways.add({this, address});
            added.push_back(std::move(address));
        }
    }
}

void TlsOfOrb::read(const ior::TaggedComponent& component, const ior::Target& target,
                    orb::Ways& ways) const
{
    if (component.tag == ior::tag_ssl_sec_trans) {
        if (const auto address = ior::decode_secure_address(component))
            ways.add({this, {target.profile->host, address->port}});
        return;
    }
    if (component.tag == ior::tag_csi_sec_mech_list)
        return read_mechanisms(component, target, ways);
    const auto by_priority = ior::decode_priority_addresses(component);
    if (!by_priority) return;
    for (const ior::PriorityAddress& each : *by_priority)
        if (each.address.port != 0) ways.add({this, each.address}, each.priority);
}

// --- connections ---------------------------------------------------------------------------------

Result<net::Socket> TlsOfOrb::connect(const ior::Address& address,
                                      const net::SocketOptions& options, Deadline deadline) const
{
    const auto failed = [&](const Error& error, bool is_distrusted) {
        return Error{ErrorCode::unreachable,
                     "no TLS with " + describe(address) + ": " + error.reason,
                     is_distrusted ? orb::not_trusted : error.system_errno};
    };
    const auto in_force = client_.get();
    if (!in_force) return failed(in_force.error(), true);
    const auto addresses = net::resolve(address.host, address.port, deadline);
    if (!addresses) return addresses.error();
    if (handshake_max_.count() != 0) {
        const Deadline limit = Deadline::after(handshake_max_);
        if (deadline.is_never() || limit.at() < deadline.at()) deadline = limit;
    }
    for (bool is_first = true;; is_first = false) {
        auto socket = net::connect_any(*addresses, options, deadline.left());
        if (!socket) return socket;
        auto made = Channel::to_server(socket->descriptor(), *in_force->context, address.host,
                                       address.port, options_.check_server, in_force->sessions);
        if (!made) return failed(made.error(), true);
        const Channel& channel = **made;
        socket->set_channel(std::move(made).value());
        const auto agreed = socket->agree(deadline);
        if (agreed) return socket;
        // Some servers do not know what to do with a session of theirs. It was forgotten.
        if (!is_first || channel.is_distrusted() || !channel.offers_session() ||
            deadline.has_passed())
            return failed(agreed.error(), channel.is_distrusted());
    }
}

Result<void> TlsOfOrb::prepare(net::Socket& socket, Side side, const net::SpinRule&) const
{
    if (side == Side::client) return {}; // connect() does all that
    if (!has_certificate())
        return Error{ErrorCode::invalid_argument, "it needs -ORBTlsCertificate"};
    const auto in_force = server_.get();
    if (!in_force) return in_force.error();
    const auto peer = socket.peer_address();
    if (!peer) return peer.error();
    auto made = Channel::to_client(socket.descriptor(), *in_force->context, options_.check_client,
                                   handshakes_, *peer);
    if (!made) return made.error();
    socket.set_channel(std::move(made).value());
    return {};
}

class TlsOfProcess final : public Tls {};

constinit const TlsOfProcess the_tls;

} // namespace

bool reread_files()
{
    std::vector<std::weak_ptr<const TlsOfOrb>> all;
    {
        const std::lock_guard lock(All::get().mutex);
        all = All::get().list;
    }
    bool any = false;
    for (const auto& each : all)
        if (const auto one = each.lock()) any = one->reread() || any;
    return any;
}

} // namespace kairos::tls

namespace kairos::orb {

const Transport& tls_transport() { return tls::the_tls; }

} // namespace kairos::orb
