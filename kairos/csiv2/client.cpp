// SPDX-License-Identifier: Apache-2.0
//
// What a client says of itself with its calls: user and password, and for whom it speaks. A
// password goes to servers only that somebody trusted says are who their references name.
#include "kairos/base/log.h"
#include "kairos/base/shown.h"
#include "kairos/base/stack.h"
#include "kairos/csi/context.h"
#include "kairos/csiv2/orbs.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/upcall_note.h"

#include <algorithm>
#include <atomic>
#include <utility>

// Of the address sanitizer, where a program has it, which may keep locals elsewhere than on the
// stack (sanitizer/asan_interface.h).
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" [[gnu::weak]] void* __asan_get_current_fake_stack();
extern "C" [[gnu::weak]] void* __asan_addr_is_in_fake_stack(void* stack, void* address,
                                                            void** begin, void** end);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace kairos::csiv2 {

/// What a SpeakingFor says. Constant but for its end, which may come in any thread.
struct Speaking {
    csi::Identity identity;
    // What its thread served then, which is what it is for. Compared only.
    const orb::Upcall* request = nullptr;
    const orb::UpcallScope* scope = nullptr;
    std::shared_ptr<Speaking> outer;
    std::atomic<bool> is_over{false};
};

namespace {

/// Those of the thread, the innermost first; perhaps some that are over.
class SpeakingOfThread {
  public:
    ~SpeakingOfThread() { innermost_.reset(); }

    void add(const std::shared_ptr<Speaking>& one)
    {
        leave_those_over();
        one->outer = innermost_;
        innermost_ = one;
    }
    void leave_those_over() noexcept
    {
        while (innermost_ && innermost_->is_over.load())
            innermost_ = std::shared_ptr<Speaking>(innermost_->outer);
    }
    /// Returns the innermost that the thread's code has made within what it serves now.
    [[nodiscard]] std::shared_ptr<const Speaking> here() const noexcept
    {
        const orb::Upcall* const request = orb::UpcallNote::innermost();
        const orb::UpcallScope* const scope = orb::UpcallScope::innermost();
        const std::shared_ptr<Speaking>* each = &innermost_;
        while (*each &&
               ((*each)->is_over.load() || (*each)->request != request || (*each)->scope != scope))
            each = &(*each)->outer;
        return *each;
    }

  private:
    std::shared_ptr<Speaking> innermost_;
};

thread_local SpeakingOfThread speaking_of_thread;

/// Returns whether an object is in the part of the thread's stack that ends before what the thread
/// serves does.
bool is_within_block(void* object)
{
    if (&__asan_get_current_fake_stack != nullptr && &__asan_addr_is_in_fake_stack != nullptr)
        if (void* const stack = __asan_get_current_fake_stack())
            if (__asan_addr_is_in_fake_stack(stack, object, nullptr, nullptr) != nullptr)
                return true; // of which block, nobody can say
    const StackBounds bounds = stack_bounds();
    if (bounds.lowest == 0) return true;
    const orb::UpcallScope* const scope = orb::UpcallScope::innermost();
    const std::uintptr_t end =
        scope != nullptr ? reinterpret_cast<std::uintptr_t>(scope) : bounds.lowest + bounds.size;
    const auto at = reinterpret_cast<std::uintptr_t>(object);
    return at >= bounds.lowest && at < end;
}

/// What a call says of itself, at whichever attempt. Constant.
struct Said {
    std::shared_ptr<const Credentials> credentials;
    std::shared_ptr<const Speaking> speaking; // null: it speaks for itself
};

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
        const Said& said = said_by(call);
        if (call.place().is_local()) return;
        const Speaking* const speaking = said.speaking.get();
        if (said.credentials->user.empty() && speaking == nullptr) return;
        csi::EstablishContext context;
        if (say(call, *said.credentials, speaking, context))
            call.request_contexts().append(csi::service_context, csi::encode(context));
    }
    void receive_exception(orb::ObservedCall& call) override
    {
        call.reply_contexts().for_each([&](std::uint32_t id, Bytes data) {
            if (id != csi::service_context) return;
            const auto message = csi::decode_message(data);
            const auto* const error = message ? std::get_if<csi::ContextError>(&*message) : nullptr;
            if (error == nullptr) return;
            const std::string user = shown(said_by(call).credentials->user);
            log::write_limited(log::Level::warning, 0,
                               log::Line()
                                   << "csiv2: the server refuses who calls, user '" << user
                                   << "': " << csi::text_of(static_cast<csi::Refusal>(error->major))
                                   << " (" << std::to_string(error->major) << "/"
                                   << std::to_string(error->minor) << ")");
        });
    }

  private:
    /// As it was at the first attempt: those that follow may be made by other threads, and much
    /// later.
    [[nodiscard]] const Said& said_by(orb::ObservedCall& call) const
    {
        std::shared_ptr<void>& state = call.state_of(this);
        if (!state)
            state = std::make_shared<Said>(
                Said{.credentials = csi_->credentials(), .speaking = speaking_of_thread.here()});
        return *static_cast<const Said*>(state.get());
    }
    /// Fills in what is to be said to where the call goes; false: nothing.
    [[nodiscard]] bool say(orb::ObservedCall& call, const Credentials& credentials,
                           const Speaking* speaking, csi::EstablishContext& context) const;
    /// Returns why a password must not go to where the call goes; empty if it may.
    [[nodiscard]] std::string objection(orb::ObservedCall& call) const;

    const std::shared_ptr<OrbCsi> csi_;
};

bool ClientCsi::say(orb::ObservedCall& call, const Credentials& credentials,
                    const Speaking* speaking, csi::EstablishContext& context) const
{
    const auto list = mechanisms_in(call.profile());
    const csi::Mechanism* chosen = nullptr;
    if (speaking != nullptr) {
        const csi::IdentityType type = speaking->identity.type;
        context.identity = speaking->identity;
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

namespace {

/// Has the calling thread speak for somebody. `block` is the object that ends it. Throws
/// BAD_INV_ORDER.
std::shared_ptr<Speaking> begin_to_speak(void* block, csi::IdentityType type,
                                         csi::OctetVector token = {})
{
    if (!is_within_block(block))
        throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                   "a SpeakingFor is a variable of a block, in no coroutine");
    auto speaking = std::make_shared<Speaking>();
    speaking->identity = {.type = type, .token = std::move(token)};
    speaking->request = orb::UpcallNote::innermost();
    speaking->scope = orb::UpcallScope::innermost();
    speaking_of_thread.add(speaking);
    return speaking;
}

csi::OctetVector token_of_name(const std::string& name)
{
    if (!csi::is_name(name)) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no name of a user");
    return csi::exported_name(name);
}

csi::OctetVector token_of_chain(std::span<const Bytes> chain)
{
    std::size_t octets = 0;
    bool has_empty = false;
    for (const Bytes each : chain) {
        octets += each.size();
        has_empty = has_empty || each.empty();
    }
    constexpr std::size_t header_max = 5; // of the sequence that they are in
    if (chain.empty() || chain.size() > csi::limits::certificates_max || has_empty ||
        octets > csi::limits::chain_max - header_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no chain of certificates, or a long one");
    return csi::chain_of(chain);
}

} // namespace

SpeakingFor::SpeakingFor(const std::string& name)
    : speaking_(begin_to_speak(this, csi::IdentityType::principal_name, token_of_name(name)))
{
}

SpeakingFor::SpeakingFor() : speaking_(begin_to_speak(this, csi::IdentityType::anonymous)) {}

SpeakingFor::SpeakingFor(std::span<const Bytes> chain)
    : speaking_(begin_to_speak(this, csi::IdentityType::certificates, token_of_chain(chain)))
{
}

SpeakingFor::SpeakingFor(DistinguishedName name)
{
    const Bytes octets = name.octets;
    if (octets.empty() || octets.size() > csi::limits::distinguished_name_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no distinguished name, or a long one");
    speaking_ =
        begin_to_speak(this, csi::IdentityType::distinguished_name, {octets.begin(), octets.end()});
}

/// In whichever thread, which is not always its own, and in whatever order.
SpeakingFor::~SpeakingFor()
{
    speaking_->is_over.store(true);
    speaking_of_thread.leave_those_over();
}

} // namespace kairos::csiv2
