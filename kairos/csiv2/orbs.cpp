// SPDX-License-Identifier: Apache-2.0
//
// Where ORBs get their CSIv2, and programs find it again: an initializer of portable interceptors
// adds it to each ORB that was given -ORBCsi, and to the references of its POAs what the server
// wants of its clients.
#include "kairos/csiv2/orbs.h"

#include "kairos/csi/context.h"
#include "kairos/interceptors/PortableInterceptor.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/server/serving.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace kairos::csiv2 {
namespace {

/// Of the process: which ORB has what.
struct Table {
    std::mutex mutex; // guards what follows; held to look something up
    std::map<const orb::Orb*, std::weak_ptr<OrbCsi>> orbs;
};

Table& table()
{
    static Table& one = *new Table; // never destroyed: static objects make ORBs
    return one;
}

std::shared_ptr<OrbCsi> csi_of(CORBA::ORB_ptr orb)
{
    if (CORBA::is_nil(orb)) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a nil ORB");
    const orb::Orb* const core = &orb->_kairos_core();
    Table& all = table();
    std::shared_ptr<OrbCsi> found;
    {
        const std::lock_guard lock(all.mutex);
        const auto known = all.orbs.find(core);
        if (known != all.orbs.end()) found = known->second.lock();
    }
    if (!found) throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "the ORB was not given -ORBCsi");
    return found;
}

void note(const orb::Orb& core, const std::shared_ptr<OrbCsi>& csi)
{
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.orbs, [](const auto& each) { return each.second.expired(); });
    all.orbs[&core] = csi;
}

/// What TLS's own component and the profile say of this server.
std::optional<ior::TaggedComponent> component_of(const OrbCsi& csi, orb::Orb& core)
{
    OrbCsi::Tls tls;
    bool by_tls_only = true;
    for (const ior::TaggedProfile& profile : orb::Serving::of(core).make_ior("", {}).profiles) {
        const auto decoded = ior::decode_iiop(profile.data);
        if (!decoded) continue;
        by_tls_only = by_tls_only && decoded->port == 0;
        for (const ior::TaggedComponent& each : decoded->components)
            if (each.tag == ior::tag_ssl_sec_trans)
                if (const auto address = ior::decode_secure_address(each)) {
                    tls.addresses.push_back({decoded->host, address->port});
                    tls.supports = address->supports; // of the ORB, so of all of them
                    tls.requires_ = address->requires_;
                }
    }
    // Which is said there only where nothing is in the clear.
    if (core.options().tls.check_client == orb::ClientCheck::required)
        tls.requires_ |= csi::association::trust_in_client;
    return csi.component(std::move(tls), by_tls_only);
}

/// Adds the component to references.
class Announcer final : public PortableInterceptor::IORInterceptor {
  public:
    Announcer(std::shared_ptr<OrbCsi> csi, orb::Orb& core) : csi_(std::move(csi)), core_(core) {}

    char* name() override { return CORBA::string_dup(""); }
    void destroy() override {}
    void establish_components(PortableInterceptor::IORInfo_ptr info) override
    {
        const auto component = component_of(*csi_, core_);
        if (!component) return;
        IOP::TaggedComponent added;
        added.tag = component->tag;
        added.component_data.length(static_cast<CORBA::ULong>(component->data.size()));
        std::memcpy(added.component_data.get_buffer(), component->data.data(),
                    component->data.size());
        info->add_ior_component(added);
    }

  private:
    const std::shared_ptr<OrbCsi> csi_;
    orb::Orb& core_; // which keeps this
};

class Initializer final : public PortableInterceptor::ORBInitializer {
  public:
    void pre_init(PortableInterceptor::ORBInitInfo_ptr info) override
    {
        const CORBA::ORB_var orb = info->_get_orb();
        orb::Orb& core = orb->_kairos_core();
        if (core.options().csi.empty()) return;
        auto settings = read_settings(core.options().csi);
        if (!settings)
            throw CORBA::BAD_PARAM(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                                   settings.error().reason);
        const auto csi = std::make_shared<OrbCsi>(std::move(*settings));
        note(core, csi);
        core.note_upcalls();
        if (!core.add_observer(observe_calls(csi)) || !core.add_observer(observe_requests(csi)))
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                       "the RootPOA was resolved before there was CSIv2");
        if (!csi->settings().server) return;
        const PortableInterceptor::IORInterceptor_var announcer = new Announcer(csi, core);
        info->add_ior_interceptor(announcer.in());
    }
    void post_init(PortableInterceptor::ORBInitInfo_ptr) override {}
};

} // namespace

OrbCsi::OrbCsi(Settings settings)
    : settings_(std::move(settings)),
      passwords_(settings_.server ? std::make_unique<Passwords>(settings_.server->users) : nullptr),
      credentials_(std::make_shared<const Credentials>(
          Credentials{.user = settings_.client.user, .password = settings_.client.password}))
{
}

std::shared_ptr<const Credentials> OrbCsi::credentials() const
{
    const std::lock_guard lock(mutex_);
    return credentials_;
}

void OrbCsi::set_credentials(std::shared_ptr<const Credentials> credentials)
{
    const std::lock_guard lock(mutex_);
    credentials_.swap(credentials);
}

std::optional<ior::TaggedComponent> OrbCsi::component(Tls tls, bool by_tls_only) const
{
    using namespace csi::association;
    if (!settings_.server) return std::nullopt;
    const ServerSettings& server = *settings_.server;
    const auto both = [](unsigned left, unsigned right) {
        return static_cast<std::uint16_t>(left | right);
    };
    csi::Mechanism mechanism;
    if (!tls.addresses.empty()) {
        // By this mechanism a client comes by TLS, also where there is a port in the clear: SSLIOP
        // says there that nothing is required.
        const auto required = both(tls.requires_ & ~no_protection, integrity | confidentiality);
        mechanism.transport = ior::tag_tls_sec_trans;
        if (by_tls_only) mechanism.requires_ = required;
        mechanism.tls =
            csi::TlsTransport{.supports = static_cast<std::uint16_t>(tls.supports & ~no_protection),
                              .requires_ = required,
                              .addresses = std::move(tls.addresses)};
    }
    if (passwords_->are_taken()) {
        mechanism.client_supports = trust_in_client;
        mechanism.client_mechanism = {csi::gssup_mechanism.begin(), csi::gssup_mechanism.end()};
        mechanism.target_name = csi::exported_name(server.target);
        // Whoever is trusted by a certificate need not say a password.
        const bool is_only_way = std::ranges::all_of(
            server.trusts, [](const Trust& each) { return each.certificates.empty(); });
        if (server.is_required && is_only_way) {
            mechanism.client_requires = trust_in_client;
            mechanism.requires_ = both(mechanism.requires_, trust_in_client);
        }
    }
    for (const Trust& each : server.trusts) {
        mechanism.identity_supports = identity_assertion;
        if (each.anonymous)
            mechanism.identity_types |= static_cast<unsigned>(csi::IdentityType::anonymous);
        if (!each.names.empty())
            mechanism.identity_types |= static_cast<unsigned>(csi::IdentityType::principal_name);
        if (!each.subjects.empty() && linked_tls() != nullptr)
            mechanism.identity_types |=
                static_cast<unsigned>(csi::IdentityType::certificates) |
                static_cast<unsigned>(csi::IdentityType::distinguished_name);
    }
    // How a user's name is said; certificates and names of X.509 need no mechanism's.
    if ((mechanism.identity_types & static_cast<unsigned>(csi::IdentityType::principal_name)) != 0)
        mechanism.namings.emplace_back(csi::gssup_mechanism.begin(), csi::gssup_mechanism.end());
    return csi::make_component({.all = {std::move(mechanism)}});
}

// --- for programs --------------------------------------------------------------------------------

void set_authenticator(CORBA::ORB_ptr orb, std::shared_ptr<Authenticator> authenticator)
{
    const auto csi = csi_of(orb);
    if (!authenticator) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no authenticator");
    if (csi->passwords() == nullptr)
        throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "-ORBCsi: there is no [server]");
    csi->passwords()->set_authenticator(std::move(authenticator));
}

void set_credentials(CORBA::ORB_ptr orb, const std::string& user, const std::string& password)
{
    const auto csi = csi_of(orb);
    if ((!user.empty() && !csi::is_name(user)) || password.size() > csi::limits::name_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no name of a user, or no password");
    csi->set_credentials(
        std::make_shared<const Credentials>(Credentials{.user = user, .password = password}));
}

} // namespace kairos::csiv2

namespace kairos::corba {

void prepare_csi(const std::string& file)
{
    // Before the ORB is there: what is wrong with the file is said without one.
    if (const auto settings = csiv2::read_settings(file); !settings)
        throw CORBA::BAD_PARAM(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                               settings.error().reason);
    static const bool registered = [] {
        const PortableInterceptor::ORBInitializer_var one = new csiv2::Initializer;
        PortableInterceptor::register_orb_initializer(one.in());
        return true;
    }();
    (void)registered;
}

} // namespace kairos::corba
