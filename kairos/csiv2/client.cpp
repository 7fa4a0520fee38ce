// SPDX-License-Identifier: Apache-2.0
//
// What a client says of itself with its calls: user and password, and for whom it speaks. A
// password goes to servers only that somebody trusted says are who their references name.
#include "kairos/base/log.h"
#include "kairos/base/shown.h"
#include "kairos/csi/context.h"
#include "kairos/csiv2/orbs.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/transport.h"

#include <algorithm>
#include <utility>

namespace kairos::csiv2 {
namespace {

thread_local const SpeakingFor* innermost_speaking = nullptr;

/// Throws NO_PERMISSION: the call is not made.
[[noreturn]] void raise_not_said(const std::string& why)
{
    throw CORBA::NO_PERMISSION(orb::minor_code::caller_not_said, CORBA::COMPLETED_NO,
                               "-ORBCsi: " + why);
}

/// What the profile that a call uses says.
std::optional<csi::MechanismList> mechanisms_in(const ior::TaggedProfile* profile)
{
    if (profile == nullptr || profile->tag != ior::tag_internet_iop) return std::nullopt;
    const auto decoded = ior::decode_iiop(profile->data);
    if (!decoded) return std::nullopt;
    for (const ior::TaggedComponent& each : decoded->components)
        if (each.tag == ior::tag_csi_sec_mech_list) return csi::decode_component(each);
    return std::nullopt;
}

bool takes_passwords(const csi::Mechanism& mechanism)
{
    return (mechanism.client_supports & csi::association::trust_in_client) != 0 &&
           std::ranges::equal(mechanism.client_mechanism, csi::gssup_mechanism);
}

bool takes_identities(const csi::Mechanism& mechanism, csi::IdentityType type)
{
    return (mechanism.identity_supports & csi::association::identity_assertion) != 0 &&
           (mechanism.identity_types & static_cast<std::uint32_t>(type)) != 0;
}

/// Says who calls, in calls of one ORB. Any thread.
class ClientCsi final : public orb::CallObserver {
  public:
    explicit ClientCsi(std::shared_ptr<OrbCsi> csi) : csi_(std::move(csi)) {}

    void send_request(orb::ObservedCall& call) override
    {
        if (call.place().is_local()) return;
        const auto credentials = csi_->credentials();
        const SpeakingFor* const speaking = SpeakingFor::innermost();
        if (credentials->user.empty() && speaking == nullptr) return;
        csi::EstablishContext context;
        if (say(call, *credentials, speaking, context))
            call.request_contexts().append(csi::service_context, csi::encode(context));
    }
    void receive_exception(orb::ObservedCall& call) override
    {
        call.reply_contexts().for_each([&](std::uint32_t id, Bytes data) {
            if (id != csi::service_context) return;
            const auto message = csi::decode_message(data);
            const auto* const error = message ? std::get_if<csi::ContextError>(&*message) : nullptr;
            if (error == nullptr) return;
            const std::string user = shown(csi_->credentials()->user);
            log::write_limited(log::Level::warning, 0,
                               log::Line()
                                   << "csiv2: the server refuses who calls, user '" << user
                                   << "': " << csi::text_of(static_cast<csi::Refusal>(error->major))
                                   << " (" << std::to_string(error->major) << "/"
                                   << std::to_string(error->minor) << ")");
        });
    }

  private:
    /// Fills in what is to be said to where the call goes; false: nothing.
    [[nodiscard]] bool say(orb::ObservedCall& call, const Credentials& credentials,
                           const SpeakingFor* speaking, csi::EstablishContext& context) const;
    /// Returns why a password must not go to where the call goes; empty if it may.
    [[nodiscard]] std::string objection(orb::ObservedCall& call) const;

    const std::shared_ptr<OrbCsi> csi_;
};

bool ClientCsi::say(orb::ObservedCall& call, const Credentials& credentials,
                    const SpeakingFor* speaking, csi::EstablishContext& context) const
{
    const auto list = mechanisms_in(call.profile());
    const csi::Mechanism* chosen = nullptr;
    if (speaking != nullptr) {
        const auto type = speaking->name().empty() ? csi::IdentityType::anonymous
                                                   : csi::IdentityType::principal_name;
        context.identity.type = type;
        if (type == csi::IdentityType::principal_name)
            context.identity.token = csi::exported_name(speaking->name());
        if (list) // one that takes a password, too, if there is one
            for (const csi::Mechanism& each : list->all)
                if (takes_identities(each, type) &&
                    (chosen == nullptr || (takes_passwords(each) && !takes_passwords(*chosen))))
                    chosen = &each;
        if (chosen == nullptr) raise_not_said("the server lets nobody speak for others like this");
    } else if (list) {
        const auto found = std::ranges::find_if(list->all, &takes_passwords);
        if (found != list->all.end()) chosen = &*found;
    }
    if (chosen == nullptr) return false;
    const std::string why_not = objection(call);
    if (!why_not.empty()) {
        if (speaking != nullptr ||
            (chosen->client_requires & csi::association::trust_in_client) != 0)
            raise_not_said(why_not);
        log::write_limited(log::Level::warning, 0,
                           log::Line() << "csiv2: calls go out without a user: " << why_not);
        return false;
    }
    if (takes_passwords(*chosen) && !credentials.user.empty())
        context.authentication =
            csi::encode(csi::UserAndPassword{.user = credentials.user,
                                             .password = credentials.password,
                                             .target_name = chosen->target_name});
    return true;
}

std::string ClientCsi::objection(orb::ObservedCall& call) const
{
    const ClientSettings& client = csi_->settings().client;
    if (client.is_unprotected) return "";
    const orb::TlsOptions& tls = call.orb().options().tls;
    const orb::Reference& place = call.place();
    if (tls.check_server != orb::ServerCheck::name)
        return "-ORBTlsVerifyServer has to be 'name' for a password to be sent";
    if (client.hosts.empty() && tls.trust == "system")
        return "everybody can have a certificate of those whom the system trusts: hosts in "
               "[client], or an -ORBTlsTrust, say whom the password is for";
    if (place.has_priorities() &&
        (tls.client != orb::Protection::required || !client.hosts.empty()))
        return "the reference has addresses by priority: that takes -ORBTlsClient 'required', and "
               "no hosts in [client]";
    for (const orb::Target& target : place.targets()) {
        for (const orb::Way& way : target.endpoint->ways()) {
            if (!way.transport->protects())
                return "the reference leads to " + shown(way.transport->describe(way.address)) +
                       ", where nothing is protected";
            const auto is_of = [&](const std::string& host) {
                return matches(host, way.address.host);
            };
            if (!client.hosts.empty() && std::ranges::none_of(client.hosts, is_of))
                return "the password is not for '" + shown(way.address.host) +
                       "' (hosts in [client])";
        }
    }
    return "";
}

} // namespace

std::unique_ptr<orb::CallObserver> observe_calls(std::shared_ptr<OrbCsi> csi)
{
    return std::make_unique<ClientCsi>(std::move(csi));
}

SpeakingFor::SpeakingFor(std::string name) : name_(std::move(name)), outer_(innermost_speaking)
{
    if (!csi::is_name(name_)) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no name of a user");
    innermost_speaking = this;
}

SpeakingFor::SpeakingFor() : outer_(innermost_speaking) { innermost_speaking = this; }

SpeakingFor::~SpeakingFor() { innermost_speaking = outer_; }

const SpeakingFor* SpeakingFor::innermost() noexcept { return innermost_speaking; }

} // namespace kairos::csiv2
