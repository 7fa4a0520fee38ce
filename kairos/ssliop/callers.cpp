// SPDX-License-Identifier: Apache-2.0
//
// KairosTls::CallersPolicy: a POA whose objects take requests by TLS only, from clients with a
// certificate, or with one of certain names. Its guard looks at the connection of each request;
// what was found of a connection is remembered, for its certificate does not change.
#include "kairos/base/log.h"
#include "kairos/base/shown.h"
#include "kairos/corba/poa_policies.h"
#include "kairos/corba/policies.h"
#include "kairos/giop/request.h"
#include "kairos/ior/profile.h"
#include "kairos/net/address.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/options.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_note.h"
#include "kairos/poa/guard.h"
#include "kairos/poa/request.h"
#include "kairos/ssliop/KairosTls.h"
#include "kairos/tls/channel.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>

namespace kairos::ssliop {
namespace {

/// Of a policy: so that no request costs more than a look at so much.
constexpr CORBA::ULong names_max = 64;
constexpr std::size_t name_max = 1000;

/// Returns whether a name is one that the pattern stands for. Goes back to the last '*' only, so it
/// takes as many steps as both have octets, multiplied.
bool matches(std::string_view pattern, std::string_view name) noexcept
{
    constexpr std::string_view ends = ",+/\\"; // of parts of names, which '*' does not go beyond
    constexpr auto none = std::string_view::npos;
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = none; // behind the last one, and what that stands for ends here
    std::size_t reached = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            reached = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != none && ends.find(name[reached]) == none) {
            p = star;
            n = ++reached;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

/// Returns whether a profile's component with this tag says addresses of a server's that are not
/// for TLS.
bool is_plain_address(std::uint32_t tag, const orb::Options& options) noexcept
{
    if (tag == ior::tag_alternate_iiop_address || tag == ior::tag_priority_addresses ||
        tag == ior::tag_tao_endpoints || tag == ior::tag_local_addresses)
        return true;
    return std::ranges::any_of(options.listen_endpoints, [tag](const auto& endpoint) {
        return !endpoint.transport->protects() && endpoint.transport->reads(tag);
    });
}

class Guard final : public poa::Guard {
  public:
    Guard(const orb::Orb& orb, const KairosTls::Callers& callers)
        : orb_(orb), options_(orb.options()),
          certificate_(callers.certificate || callers.names.length() != 0)
    {
        for (CORBA::ULong i = 0; i < callers.names.length(); ++i)
            names_.emplace_back(callers.names[i].in());
    }

    /// A call within the process is judged by the connection of the request that it was made in, or
    /// whoever may not call the object would have another one call it.
    void admit(const poa::Request& request) const override
    {
        orb::Upcall* upcall = request.upcall();
        if (upcall == nullptr || upcall->peer() == nullptr) {
            upcall = orb::UpcallNote::asked_by();
            if (upcall == nullptr || &upcall->orb() != &orb_) return; // the process calls itself
        }
        if (!knows(upcall->channel())) refuse(*upcall, request.operation());
    }
    [[nodiscard]] bool knows(const orb::ReplyChannel& from) const override
    {
        const auto* const channel = dynamic_cast<const tls::Channel*>(from.peer_channel());
        return channel != nullptr && (!certificate_ || is_known(*channel));
    }
    void protect(ior::Ior& reference) const override
    {
        std::vector<ior::TaggedProfile> kept;
        std::vector<ior::TaggedProfile> without_address;
        for (const ior::TaggedProfile& each : reference.profiles) {
            auto profile = ior::decode_iiop(each.data);
            if (!profile) continue;
            const bool has_address = protect(*profile);
            (has_address ? kept : without_address).push_back(ior::encode_iiop(*profile));
        }
        reference.profiles = std::move(kept.empty() ? without_address : kept);
    }

  private:
    static constexpr std::size_t shown_max = 100;

    [[noreturn, gnu::cold]] static void refuse(orb::Upcall& upcall, std::string_view operation)
    {
        const bool is_by_tls =
            dynamic_cast<const tls::Channel*>(upcall.channel().peer_channel()) != nullptr;
        if (const net::Address* const from = upcall.peer(); from != nullptr) {
            log::Line line;
            line << "call refused: from=\"" << from->to_text() << "\" operation=\""
                 << shown(operation.substr(0, shown_max))
                 << (is_by_tls ? "\": the client's certificate is none that the POA wants"
                               : "\": the POA takes requests by TLS only");
            log::write_limited(log::Level::warning, from->host_number(), line);
        }
        throw CORBA::NO_PERMISSION(orb::minor_code::caller_not_admitted, CORBA::COMPLETED_NO,
                                   is_by_tls ? "the object takes no calls from this client"
                                             : "the object takes calls by TLS only");
    }

    /// Returns false for a profile that has no address for TLS.
    [[nodiscard]] bool protect(ior::IiopProfile& profile) const
    {
        bool has_address = false;
        profile.port = 0; // leads nowhere
        std::erase_if(profile.components, [&](const ior::TaggedComponent& component) {
            return is_plain_address(component.tag, options_);
        });
        for (ior::TaggedComponent& component : profile.components) {
            if (component.tag != ior::tag_ssl_sec_trans) continue;
            auto address = ior::decode_secure_address(component);
            if (!address) continue;
            using namespace ior::association;
            address->supports &= static_cast<std::uint16_t>(~unsigned{no_protection});
            unsigned wants = integrity | confidentiality;
            if (certificate_) wants |= trust_in_client;
            address->requires_ = static_cast<std::uint16_t>(wants);
            component = ior::make_secure_address(*address);
            has_address = true;
        }
        return has_address;
    }
    [[nodiscard]] bool is_known(const tls::Channel& channel) const
    {
        const auto remembered = channel.judgement(number_);
        if (remembered) return *remembered;
        const auto certificate = channel.trusted_certificate();
        // Of a name that cannot be read, or for which there is no memory, the next request asks.
        if (!certificate) return false;
        const bool is_one = certificate->is_shown && has_name(*certificate);
        channel.remember(number_, is_one);
        return is_one;
    }
    [[nodiscard]] bool has_name(const orb::PeerCertificate& certificate) const
    {
        if (names_.empty()) return true;
        return std::ranges::any_of(names_, [&](const std::string& pattern) {
            return matches(pattern, certificate.subject) ||
                   std::ranges::any_of(certificate.names, [&](const std::string& name) {
                       return matches(pattern, name);
                   });
        });
    }

    const orb::Orb& orb_; // which outlives its adapters
    const orb::Options& options_;
    static inline std::atomic<std::uint64_t> last_number_{0};

    const std::uint64_t number_ = ++last_number_; // by which connections remember what was found
    const bool certificate_;
    std::vector<std::string> names_;
};

class Policy final : public KairosTls::CallersPolicy, public corba::AdapterPolicy {
  public:
    explicit Policy(const KairosTls::Callers& value) : value_(value) {}

    KairosTls::Callers* value() override { return new KairosTls::Callers(value_); }
    CORBA::PolicyType policy_type() override { return KairosTls::CALLERS_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new Policy(value_); }
    void destroy() override {}

    /// Where nobody could call, or who calls would never be known, the log says why: InvalidPolicy
    /// says nothing.
    bool add_to(poa::Policies& policies, orb::Orb& orb) const override
    {
        const orb::Options& options = orb.options();
        const auto refuse = [](std::string_view why) {
            log::Line line;
            log::warning(line << "a POA is not made: KairosTls::CallersPolicy wants " << why);
            return false;
        };
        const bool listens =
            std::ranges::any_of(options.listen_endpoints, [](const auto& endpoint) {
                return endpoint.transport->tag() == ior::tag_ssl_sec_trans;
            });
        if (!listens || options.giop_version.minor == 0)
            return refuse("an ORB that listens at ssliop://, not with GIOP 1.0");
        const bool wants_certificate = value_.certificate || value_.names.length() != 0;
        if (wants_certificate && options.tls.check_client == orb::ClientCheck::no)
            return refuse("-ORBTlsVerifyClient other than 'no'");
        policies.guard = IntrusivePtr<const poa::Guard>::adopt(new Guard(orb, value_));
        orb.note_upcalls(); // for calls within the process
        return true;
    }

  private:
    const KairosTls::Callers value_;
};

CORBA::Policy_ptr create(CORBA::PolicyType, const CORBA::Any& value)
{
    const KairosTls::Callers* callers = nullptr;
    if (!(value >>= callers)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
    if (callers->names.length() > names_max) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
    for (CORBA::ULong i = 0; i < callers->names.length(); ++i) {
        const std::string_view name = callers->names[i].in();
        if (name.empty() || name.size() > name_max)
            throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
    }
    return new Policy(*callers);
}

} // namespace
} // namespace kairos::ssliop

namespace kairos::corba {

void add_tls_policies(Policies& policies)
{
    (void)policies.add_factory(KairosTls::CALLERS_POLICY_TYPE, ssliop::create);
}

} // namespace kairos::corba
