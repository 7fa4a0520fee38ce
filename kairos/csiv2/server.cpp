// SPDX-License-Identifier: Apache-2.0
//
// What a server makes of what its clients say of themselves: each request is for itself (contexts
// are stateless), and is refused before its object is looked for if it says what is not so.
#include "kairos/base/log.h"
#include "kairos/base/shown.h"
#include "kairos/csi/context.h"
#include "kairos/csiv2/orbs.h"
#include "kairos/giop/request.h"
#include "kairos/net/address.h"
#include "kairos/orb/caller_names.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_note.h"
#include "kairos/orb/upcall_observation.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"

#include <algorithm>
#include <utility>

namespace kairos::csiv2 {
namespace {

/// Of one request. Belongs to who serves it.
struct RequestCsi {
    std::optional<Caller> caller;
    orb::PeerCertificate subject;              // for whom it is, where that is no user
    const orb::UpcallScope* before = nullptr;  // what the thread served before; compared only
    const orb::UpcallScope* servant = nullptr; // what its servant is called within, by then
};

/// What requests keep theirs by, whatever the ORB.
constexpr char state_key = 0;

std::shared_ptr<RequestCsi> state_of(orb::ObservedUpcall& upcall)
{
    return std::static_pointer_cast<RequestCsi>(upcall.state_of(&state_key));
}

/// A request that the thread's servant answers later: the upcall knows of it no longer. Lives until
/// the servant's operation has returned.
class LeftRequest {
  public:
    explicit LeftRequest(std::shared_ptr<const RequestCsi> state)
        : state_(std::move(state)), outer_(std::exchange(innermost_, this))
    {
    }
    ~LeftRequest() { innermost_ = outer_; }
    LeftRequest(const LeftRequest&) = delete;
    LeftRequest& operator=(const LeftRequest&) = delete;

    /// Returns the one that the thread is within; null if that is none.
    [[nodiscard]] static std::shared_ptr<const RequestCsi> here() noexcept
    {
        return innermost_ != nullptr && innermost_->upcall_ == orb::UpcallNote::innermost() &&
                       innermost_->scope_ == orb::UpcallScope::innermost()
                   ? innermost_->state_
                   : nullptr;
    }

  private:
    static inline thread_local const LeftRequest* innermost_ = nullptr;

    const std::shared_ptr<const RequestCsi> state_;
    const orb::Upcall* const upcall_ = orb::UpcallNote::innermost();
    const orb::UpcallScope* const scope_ = orb::UpcallScope::innermost();
    const LeftRequest* const outer_;
};

/// Returns whether the thread is at the request itself, its interceptors, servant managers and
/// servant, and not within what these have called in this process, of which no note was made.
bool is_at(const RequestCsi& state, const orb::Upcall& upcall)
{
    const poa::Calling* const innermost = poa::Calling::innermost();
    if (innermost == state.before || innermost == state.servant) return true;
    return innermost != nullptr && innermost->outer() == state.before &&
           &innermost->adapter().orb() == &upcall.orb();
}

/// The other end of the connection that a request has come by.
struct Peer {
    const net::Channel* by_tls = nullptr; // null: it did not come by TLS
    std::uint64_t host = 0;
    bool is_protected = false;

    /// Throws NO_PERMISSION where nobody knows by what the request has come.
    static Peer of(orb::ObservedUpcall& upcall)
    {
        orb::Upcall* const noted = orb::UpcallNote::innermost();
        if (noted == nullptr || &noted->request() != &upcall.request())
            throw CORBA::NO_PERMISSION(orb::minor_code::caller_refused, CORBA::COMPLETED_NO);
        const net::Address& from = *upcall.peer();
        Peer peer;
        peer.host = from.host_number();
        peer.is_protected = from.native()->sa_family == AF_UNIX; // nobody is between
        const net::Channel* const channel = noted->channel().peer_channel();
        const orb::TlsPeers* const tls = linked_tls();
        const std::uint64_t number =
            channel == nullptr || tls == nullptr ? 0 : tls->number_of(*channel);
        if (number == 0) return peer;
        peer.by_tls = channel;
        peer.is_protected = true;
        return peer;
    }

    /// Returns whether it has shown a certificate of one of these subjects or alternative names.
    [[nodiscard]] bool shows(const std::vector<std::string>& names) const
    {
        if (by_tls == nullptr || names.empty()) return false;
        if (!certificate_) certificate_.emplace(orb::tls_peers().certificate_of(*by_tls));
        const auto& certificate = *certificate_;
        if (!certificate || !certificate->is_shown) return false;
        return std::ranges::any_of(names, [&](const std::string& name) {
            return name == certificate->subject ||
                   std::ranges::find(certificate->names, name) != certificate->names.end();
        });
    }

  private:
    // Taken apart once for a request, when it is asked for.
    mutable std::optional<decltype(orb::tls_peers().certificate_of(*by_tls))> certificate_;
};

bool is_of_x509(Caller::Identity identity) noexcept
{
    return identity == Caller::Identity::certificate ||
           identity == Caller::Identity::distinguished_name;
}

/// Returns whether somebody is believed to speak for this one. Of a certificate all names count:
/// nobody has signed it whom the server knows, so whoever speaks may have chosen them.
bool is_for(const Trust& trust, const Caller& caller)
{
    const auto is_subject = [&](const std::string& name) {
        return std::ranges::any_of(trust.subjects, [&](const std::string& pattern) {
            return matches_subject(pattern, name);
        });
    };
    switch (caller.identity) {
    case Caller::Identity::anonymous:
        return trust.anonymous;
    case Caller::Identity::name:
        return std::ranges::any_of(trust.names, [&](const std::string& pattern) {
            return matches_name(pattern, caller.name);
        });
    case Caller::Identity::certificate:
    case Caller::Identity::distinguished_name:
        return (caller.name.empty() || is_subject(caller.name)) &&
               std::ranges::all_of(caller.names, is_subject);
    case Caller::Identity::itself:
        break;
    }
    return false;
}

class ServerCsi final : public orb::UpcallObserver {
  public:
    explicit ServerCsi(std::shared_ptr<OrbCsi> csi) : csi_(std::move(csi)) {}

    void receive_request_service_contexts(orb::ObservedUpcall& upcall) override
    {
        auto state = std::make_shared<RequestCsi>();
        state->before = orb::UpcallScope::innermost();
        if (upcall.peer() != nullptr && csi_->settings().server) look_at(upcall, *state);
        upcall.state_of(&state_key) = std::move(state);
    }
    void receive_request(orb::ObservedUpcall& upcall) override
    {
        state_of(upcall)->servant = orb::UpcallScope::innermost();
    }
    std::shared_ptr<void> leave_thread(orb::ObservedUpcall& upcall) override
    {
        return std::make_shared<LeftRequest>(state_of(upcall));
    }

  private:
    void look_at(orb::ObservedUpcall& upcall, RequestCsi& state);
    /// Throws NO_PERMISSION.
    [[nodiscard]] Caller caller_of(orb::ObservedUpcall& upcall,
                                   const csi::EstablishContext& context);
    /// Returns the user whose password it is.
    [[nodiscard]] std::string user_of(orb::ObservedUpcall& upcall, const Peer& peer,
                                      const csi::EstablishContext& context);
    void believe(orb::ObservedUpcall& upcall, const Peer& peer,
                 const csi::EstablishContext& context, Caller& caller);
    void read_x509(orb::ObservedUpcall& upcall, const csi::EstablishContext& context,
                   Caller& caller) const;

    const std::shared_ptr<OrbCsi> csi_;
    /// Whether somebody may speak for subjects of certificates, and there is who reads these.
    const bool takes_x509_ =
        linked_tls() != nullptr && csi_->settings().server &&
        std::ranges::any_of(csi_->settings().server->trusts,
                            [](const Trust& each) { return !each.subjects.empty(); });
};

/// What the log says, and the answer: ContextError with NO_PERMISSION.
[[noreturn]] void refuse(orb::ObservedUpcall& upcall, std::uint64_t client_context_id,
                         csi::Refusal refusal, const std::string& why,
                         std::optional<csi::GssupError> error = {})
{
    const net::Address& from = *upcall.peer();
    log::write_limited(log::Level::warning, from.host_number(),
                       log::Line() << "csiv2: refused: " << csi::text_of(refusal) << " from "
                                   << from.to_text() << ": " << why);
    upcall.reply_contexts().append(
        csi::service_context,
        csi::encode(csi::ContextError{.client_context_id = client_context_id,
                                      .major = static_cast<std::int32_t>(refusal),
                                      .minor = 1,
                                      .token = error ? csi::encode(*error) : csi::OctetVector()}));
    // Why is for the log: whoever guesses learns nothing by it.
    throw CORBA::NO_PERMISSION(orb::minor_code::caller_refused, CORBA::COMPLETED_NO);
}

void ServerCsi::look_at(orb::ObservedUpcall& upcall, RequestCsi& state)
{
    std::optional<Bytes> data;
    bool is_twice = false;
    upcall.request().contexts.for_each([&](std::uint32_t id, Bytes each) {
        if (id != csi::service_context) return;
        is_twice = is_twice || data.has_value();
        data = each;
    });
    if (is_twice) refuse(upcall, 0, csi::Refusal::conflicting_evidence, "it has two contexts");
    if (data) {
        const auto message = csi::decode_message(*data);
        if (!message) refuse(upcall, 0, csi::Refusal::invalid_evidence, "a malformed context");
        if (const auto* const in_context = std::get_if<csi::MessageInContext>(&*message))
            refuse(upcall, in_context->client_context_id, csi::Refusal::no_context,
                   "a context of before, and none is kept");
        const auto* const context = std::get_if<csi::EstablishContext>(&*message);
        if (context == nullptr)
            refuse(upcall, 0, csi::Refusal::invalid_evidence, "a context of replies");
        Caller caller = caller_of(upcall, *context);
        upcall.reply_contexts().append(csi::service_context,
                                       csi::encode(csi::CompleteEstablishContext{
                                           .client_context_id = context->client_context_id}));
        if (is_of_x509(caller.identity))
            state.subject = {.is_shown = true, .subject = caller.name, .names = caller.names};
        if (!caller.user.empty() || caller.identity != Caller::Identity::itself)
            state.caller = std::move(caller);
    }
    if (csi_->settings().server->is_required && !state.caller) {
        const net::Address& from = *upcall.peer();
        log::write_limited(log::Level::warning, from.host_number(),
                           log::Line() << "csiv2: refused: a request from " << from.to_text()
                                       << " does not say who calls");
        throw CORBA::NO_PERMISSION(orb::minor_code::caller_unknown, CORBA::COMPLETED_NO);
    }
}

Caller ServerCsi::caller_of(orb::ObservedUpcall& upcall, const csi::EstablishContext& context)
{
    if (context.authorizations != 0)
        refuse(upcall, context.client_context_id, csi::Refusal::invalid_mechanism,
               "authorization tokens, which nobody reads");
    const Peer peer = Peer::of(upcall);
    Caller caller;
    if (!context.authentication.empty()) caller.user = user_of(upcall, peer, context);
    if (context.identity.type != csi::IdentityType::absent) believe(upcall, peer, context, caller);
    return caller;
}

std::string ServerCsi::user_of(orb::ObservedUpcall& upcall, const Peer& peer,
                               const csi::EstablishContext& context)
{
    using csi::GssupError;
    using csi::Refusal;
    const ServerSettings& server = *csi_->settings().server;
    const auto refused = [&](Refusal refusal, const std::string& why,
                             std::optional<GssupError> error = {}) {
        refuse(upcall, context.client_context_id, refusal, why, error);
    };
    csi::DecodedToken token = csi::decode_token(context.authentication);
    if (!token.is_gssup) refused(Refusal::invalid_mechanism, "a token other than GSSUP's");
    if (!token.evidence)
        refused(Refusal::invalid_evidence, "a malformed token", GssupError::unspecified);
    if (!peer.is_protected && !server.is_unprotected)
        refused(Refusal::invalid_evidence,
                "a password in the clear, of user '" + shown(token.evidence->user) +
                    "': it is known to whoever listens",
                GssupError::unspecified);
    csi::UserAndPassword& evidence = *token.evidence;
    if (!evidence.target_name.empty() &&
        csi::decode_exported_name(evidence.target_name) != server.target)
        refused(Refusal::invalid_evidence, "a password for another target", GssupError::bad_target);
    switch (csi_->passwords()->ask(peer.host, evidence)) {
    case Passwords::Answer::right:
        break;
    case Passwords::Answer::wrong:
        // Which of both is for the log only.
        refused(Refusal::invalid_evidence,
                "user '" + shown(evidence.user) + "' or the password is wrong",
                GssupError::unspecified);
        break;
    case Passwords::Answer::later:
        log::write_limited(log::Level::warning, peer.host,
                           log::Line()
                               << "csiv2: too many passwords from " << upcall.peer()->to_text());
        throw CORBA::TRANSIENT(orb::minor_code::too_many_passwords, CORBA::COMPLETED_NO);
    }
    return std::move(evidence.user);
}

/// The rule of trust: by whom the request has come, and for whom it speaks.
void ServerCsi::believe(orb::ObservedUpcall& upcall, const Peer& peer,
                        const csi::EstablishContext& context, Caller& caller)
{
    using csi::IdentityType;
    const csi::Identity& identity = context.identity;
    const auto refused = [&](csi::Refusal refusal, const std::string& why) {
        refuse(upcall, context.client_context_id, refusal, why);
    };
    if (identity.type == IdentityType::anonymous) {
        caller.identity = Caller::Identity::anonymous;
    } else if (identity.type == IdentityType::principal_name) {
        auto name = csi::decode_exported_name(identity.token);
        if (!name || !csi::is_name(*name))
            refused(csi::Refusal::invalid_evidence, "a name that is none");
        caller.identity = Caller::Identity::name;
        caller.name = std::move(*name);
    } else if (!takes_x509_ || (identity.type != IdentityType::certificates &&
                                identity.type != IdentityType::distinguished_name)) {
        refused(csi::Refusal::invalid_mechanism, "an identity of a kind that is not taken");
    }
    const auto speaks = [&](const Trust& trust) {
        const bool is_user = !caller.user.empty() &&
                             std::ranges::find(trust.users, caller.user) != trust.users.end();
        return is_user || peer.shows(trust.certificates);
    };
    const std::vector<Trust>& trusts = csi_->settings().server->trusts;
    std::string whom = "names of certificates";
    const bool is_of_user = caller.identity != Caller::Identity::itself;
    // Certificates cost more to read than names, and are read for those only who may say some.
    if (is_of_user || std::ranges::any_of(trusts, [&](const Trust& trust) {
            return !trust.subjects.empty() && speaks(trust);
        })) {
        if (!is_of_user) read_x509(upcall, context, caller);
        if (std::ranges::any_of(
                trusts, [&](const Trust& trust) { return is_for(trust, caller) && speaks(trust); }))
            return;
        constexpr std::size_t shown_max = 200;
        const std::string& name = caller.acts_for();
        whom = name.empty() ? "somebody" : "'" + shown(name.substr(0, shown_max)) + "'";
    }
    refused(csi::Refusal::invalid_evidence,
            "user '" + shown(caller.user) + "' is not trusted to speak for " + whom);
}

/// Fills in whom a chain of certificates, or a distinguished name, says.
void ServerCsi::read_x509(orb::ObservedUpcall& upcall, const csi::EstablishContext& context,
                          Caller& caller) const
{
    const csi::Identity& identity = context.identity;
    const auto refused = [&](const std::string& why) {
        refuse(upcall, context.client_context_id, csi::Refusal::invalid_evidence, why);
    };
    const orb::TlsPeers& tls = *linked_tls();
    if (identity.type == csi::IdentityType::distinguished_name) {
        auto name = tls.written_name(identity.token);
        if (!name) refused(name.error().reason);
        caller.identity = Caller::Identity::distinguished_name;
        caller.name = std::move(name).value();
        return;
    }
    auto first = tls.first_of_chain(identity.token);
    if (!first) refused(first.error().reason);
    caller.identity = Caller::Identity::certificate;
    caller.name = std::move(first->subject);
    caller.names = std::move(first->names);
}

const std::string& name_of(orb::ObservedUpcall& upcall)
{
    static const std::string nobody;
    const auto* const state = static_cast<const RequestCsi*>(upcall.state_of(&state_key).get());
    return state == nullptr || !state->caller || state->subject.is_shown
               ? nobody
               : state->caller->acts_for();
}

const orb::PeerCertificate* subject_of(orb::ObservedUpcall& upcall)
{
    const auto* const state = static_cast<const RequestCsi*>(upcall.state_of(&state_key).get());
    return state == nullptr || !state->subject.is_shown ? nullptr : &state->subject;
}

} // namespace

std::unique_ptr<orb::UpcallObserver> observe_requests(std::shared_ptr<OrbCsi> csi)
{
    return std::make_unique<ServerCsi>(std::move(csi));
}

std::optional<Caller> caller()
{
    if (const auto left = LeftRequest::here()) return left->caller;
    orb::Upcall* const upcall = orb::UpcallNote::innermost();
    if (upcall == nullptr || upcall->observation() == nullptr) return std::nullopt;
    const auto state = state_of(*upcall->observation());
    if (!state || !is_at(*state, *upcall)) return std::nullopt;
    return state->caller;
}

} // namespace kairos::csiv2

namespace kairos::orb {

const CallerNames& caller_names()
{
    static constexpr CallerNames names{.name_of = &csiv2::name_of,
                                       .subject_of = &csiv2::subject_of};
    return names;
}

} // namespace kairos::orb
