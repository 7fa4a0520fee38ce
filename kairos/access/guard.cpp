// SPDX-License-Identifier: Apache-2.0
//
// Where requests meet the rules. In front of the ORB's adapters stands a guard that lets pass what
// was found to be allowed before; what it does not know goes the way of observed requests, and the
// first observer asks the rules: before the object is looked for whether the answer is known
// already, and with the object, before its servant is called.
#include "kairos/access/access.h"
#include "kairos/access/decisions.h"
#include "kairos/access/rules_file.h"
#include "kairos/base/log.h"
#include "kairos/base/shown.h"
#include "kairos/base/thread_local.h"
#include "kairos/base/thread_owned.h"
#include "kairos/files/watched.h"
#include "kairos/giop/request.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/plain_key.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/caller_names.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_note.h"
#include "kairos/orb/upcall_observer.h"
#include "kairos/poa/servant.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace kairos::orb {

/// Of kairos/tls, if that is linked.
[[gnu::weak]] KAIROS_API const TlsPeers& tls_peers();
/// Of kairos/csiv2, likewise.
[[gnu::weak]] KAIROS_API const CallerNames& caller_names();

} // namespace kairos::orb

namespace kairos::access {
namespace {

using Clock = std::chrono::steady_clock;
using RulesPointer = std::shared_ptr<const Rules>;

const orb::TlsPeers* linked_tls() noexcept
{
    return &orb::tls_peers == nullptr ? nullptr : &orb::tls_peers();
}

/// What goes on every second or few on most processors, and costs less than a clock: by their own
/// counter.
std::uint32_t moment() noexcept
{
#if defined(__x86_64__)
    std::uint32_t low = 0;
    std::uint32_t high = 0; // of one to five thousand million a second, as a rule
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    return high;
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return static_cast<std::uint32_t>(count >> 24); // of eight to a thousand million, as a rule
#else
    return static_cast<std::uint32_t>(Clock::now().time_since_epoch() / std::chrono::seconds(1));
#endif
}

// --- who calls -----------------------------------------------------------------------------------

enum : std::uint64_t { by_tls = 1, by_ipv4, by_ipv6, by_unix };
constexpr unsigned kind_at = 56;

/// The same for callers that are the same to all rules; nothing for those that are not known by a
/// few octets.
Identity identity_of(const net::Channel* channel, const net::Address& from,
                     const orb::TlsPeers* tls) noexcept
{
    if (channel != nullptr && tls != nullptr)
        if (const std::uint64_t number = tls->number_of(*channel); number != 0)
            return {.first = by_tls << kind_at, .second = number};
    const sockaddr* const native = from.native();
    if (native->sa_family == AF_INET)
        return {.first = by_ipv4 << kind_at,
                .second = reinterpret_cast<const sockaddr_in*>(native)->sin_addr.s_addr};
    if (native->sa_family == AF_INET6) {
        std::array<std::uint64_t, 2> halves{};
        std::memcpy(halves.data(), &reinterpret_cast<const sockaddr_in6*>(native)->sin6_addr,
                    sizeof halves);
        // Real networks have a bit among the first three that nobody else has here (2000::/3 and
        // all from 8000:: on); others, as ::1 and ::ffff:192.0.2.1, begin with a word that is 0.
        const std::uint64_t network = native_little_endian ? byteswap(halves[0]) : halves[0];
        if (network != 0 && network >> 61 == 0) return {};
        return {.first = network == 0 ? by_ipv6 << kind_at : network, .second = halves[1]};
    }
    if (const auto peer = from.credentials())
        return {.first = by_unix << kind_at | peer->gid, .second = peer->uid};
    return {};
}

Caller caller_of(const net::Channel* channel, const net::Address& from, const orb::TlsPeers* tls)
{
    Caller caller;
    caller.host = Host::of(*from.native());
    caller.process = from.credentials();
    caller.is_from_nowhere = caller.host.family == AF_UNSPEC; // as the sender of a datagram
    if (channel == nullptr || tls == nullptr || tls->number_of(*channel) == 0) return caller;
    auto certificate = tls->certificate_of(*channel);
    caller.is_unknown = !certificate;
    if (!certificate) return caller;
    caller.certificate = std::move(certificate).value();
    caller.certificate.subject = written_subject(caller.certificate.subject);
    return caller;
}

/// For whom a request is made is known once all observers were told of it, which is before its
/// object is found.
void add_login(Caller& caller, orb::ObservedUpcall& upcall, bool is_told)
{
    if (&orb::caller_names == nullptr) return;
    caller.is_login_open = !is_told;
    if (!is_told) return;
    caller.login = orb::caller_names().name_of(upcall);
    const orb::PeerCertificate* const subject = orb::caller_names().subject_of(upcall);
    if (subject == nullptr) return;
    caller.subject = *subject;
    caller.subject.subject = written_subject(caller.subject.subject);
}

/// Numbers of callers, by which their connections know them. Any thread.
class Callers {
  public:
    /// Returns a number that no other caller of the process has or will have; 0 where there are no
    /// more. One caller may have several.
    [[nodiscard]] std::uint32_t number_of(Identity who)
    {
        if (who.first == by_tls << kind_at) return next(); // of one connection, which has one now
        const std::lock_guard lock(mutex_);
        if (numbers_.size() >= remembered_max && !numbers_.contains(who)) numbers_.clear();
        std::uint32_t& number = numbers_[who];
        if (number == 0) number = next();
        return number;
    }

  private:
    static constexpr std::size_t remembered_max = 4096;

    [[nodiscard]] static std::uint32_t next() noexcept
    {
        static constinit std::atomic<std::uint64_t> given{0}; // to callers of all ORBs
        const std::uint64_t number = given.fetch_add(1, std::memory_order_relaxed) + 1;
        return number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : 0;
    }

    net::PriorityMutex mutex_; // guards numbers_; held to look a number up
    std::map<Identity, std::uint32_t> numbers_;
};

// --- what each thread remembers ------------------------------------------------------------------

/// Of threads that have found nothing yet. Never written.
constinit const RecentDecisions nothing_recent;

/// What the calling thread has found to be allowed of late, by rules of any ORB.
KAIROS_NEAR constinit thread_local const RecentDecisions* recent = &nothing_recent;

/// How often the calling thread has not remembered what would have put something else out.
constinit thread_local unsigned spared = 0;

struct OwnRecentDecisions {
    OwnRecentDecisions() noexcept { recent = &decisions; }
    ~OwnRecentDecisions() { recent = &nothing_recent; }
    OwnRecentDecisions(const OwnRecentDecisions&) = delete;
    OwnRecentDecisions& operator=(const OwnRecentDecisions&) = delete;

    RecentDecisions decisions;
};

// --- what is called ------------------------------------------------------------------------------

std::string adapter_of(Bytes path)
{
    std::string text = "RootPOA";
    for (const std::string_view name : ior::PersistentKey::names_of(path))
        text += '/' + written(as_bytes(name));
    return text;
}

/// As far as the key says it.
Target target_of(const orb::ObservedUpcall& upcall)
{
    const Bytes key = upcall.object_key();
    Target target{.operation = upcall.operation()};
    if (ior::ObjectKey::parse(key)) return target;
    Arena arena;
    auto parsed = ior::PersistentKey::parse(key);
    if (!parsed && upcall.orb().options().plain_keys) parsed = ior::parse_plain_key(key, arena);
    // Whether all that is left is the id, the adapter knows: in real time a priority is in front.
    if (parsed) target.adapter = adapter_of(parsed->path);
    return target;
}

void add_object(Target& target, const orb::ServedObject& object)
{
    target.adapter = adapter_of(object.adapter_path);
    target.id = written(object.id);
    target.interface = std::string(object.interface());
    target.supports = [servant = static_cast<const poa::Servant*>(object.servant)](
                          std::string_view id) { return servant->_kairos_supports(id); };
}

// --- what the log says ---------------------------------------------------------------------------

/// Of a value, so that all values of a line find room.
constexpr std::size_t shown_max = 100;

/// A value that begins and ends where the quotes say, and is the only one that looks like this.
std::string quoted(std::string_view value)
{
    std::string text;
    for (const char c : value.substr(0, shown_max)) {
        if (c == '"')
            text += "\\x22";
        else if (c == '\\')
            text += "\\x5C";
        else
            text += c;
    }
    text = shown(text);
    bool is_cut = value.size() > shown_max;
    if (text.size() > shown_max) {
        is_cut = true;
        std::size_t end = shown_max; // not within \xNN, nor a character of UTF-8
        if (const auto last = text.rfind('\\', end); last != std::string::npos && end - last < 4)
            end = last;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            --end;
        text.resize(end);
    }
    return '"' + text + (is_cut ? "...\"" : "\"");
}

/// Whose end says most.
std::string shortened(const std::string& rule)
{
    constexpr std::size_t most = shown_max - 3;
    return rule.size() <= most ? rule : "..." + rule.substr(rule.size() - most);
}

log::Line line_of(const Caller& caller, const net::Address& from, const Target& target, Bytes key,
                  const std::string& rule)
{
    log::Line line;
    line << "access denied: who=" << quoted(caller.text()) << " from=" << quoted(from.to_text())
         << " rule=" << quoted(shortened(rule)) << " operation=" << quoted(target.operation);
    if (target.adapter && target.id)
        line << " adapter=" << quoted(*target.adapter) << " id=" << quoted(*target.id);
    else
        line << " key=" << quoted(written(key.first(std::min(key.size(), shown_max))));
    if (target.interface) line << " interface=" << quoted(*target.interface);
    return line;
}

// --- who asks ------------------------------------------------------------------------------------

Result<RulesPointer> read(const std::string& file)
{
    std::vector<Problem> problems;
    auto rules = read_rules(file, problems);
    if (rules) return RulesPointer(std::make_shared<const Rules>(std::move(*rules)));
    std::string reason = "-ORBAccess " + file + ": " + problems.front().text();
    if (problems.size() > 1)
        reason += " (and " + std::to_string(problems.size() - 1) +
                  " more: `kairos access check` has them all)";
    return Error{ErrorCode::invalid_argument, std::move(reason)};
}

std::string contents_of(const std::string& file)
{
    std::ifstream stream(file, std::ios::binary);
    std::string text(limits::file_max, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

/// Reads a file, and one that is wrong again only when it says something else: accounts may be far
/// away, and a thread that serves asks for them. By one thread at a time.
class ChangedReader {
  public:
    explicit ChangedReader(std::string file) : file_(std::move(file)) {}

    [[nodiscard]] Result<RulesPointer> get()
    {
        // Whoever was missing may have got an account.
        constexpr std::chrono::minutes tried_again{1};
        std::string contents = contents_of(file_);
        const Clock::time_point now = Clock::now();
        if (failure_ && !contents.empty() && contents == wrong_ && now - tried_ < tried_again)
            return *failure_;
        failure_.reset();
        wrong_.clear();
        auto rules = read(file_);
        if (rules) return rules;
        failure_ = rules.error();
        wrong_ = std::move(contents);
        tried_ = now;
        return rules;
    }

  private:
    const std::string file_;
    std::optional<Error> failure_; // of the last time, when the file said this
    std::string wrong_;
    Clock::time_point tried_{};
};

/// Of one ORB. Any thread.
class Access final : public orb::UpcallObserver {
  public:
    /// The file must have been read before, for what is wrong with it then is nobody's to say.
    explicit Access(const std::string& file)
        : reader_(file),
          watched_({.files = {file},
                    .read = [this] { return reader_.get(); },
                    .contents = [file] { return contents_of(file); },
                    .taken = [this](const RulesPointer& rules) { take(rules); },
                    .changed = "access: the rules of " + file + " have changed and are in force",
                    .kept = "; the rules of before stay in force",
                    .failed = "access: no memory to look at " + file})
    {
    }
    [[nodiscard]] Result<void> begin()
    {
        auto first = watched_.get();
        if (!first) return first.error();
        take(*first);
        return {};
    }

    /// Returns whether the calling thread knows that a request is allowed.
    [[nodiscard, gnu::always_inline]] bool is_recent(const orb::Upcall& upcall,
                                                     const orb::ReplyChannel& by) const noexcept
    {
        return !is_due() && recent->has(generation_.load(std::memory_order_acquire), by.caller,
                                        upcall.object_key(), upcall.operation());
    }
    /// Returns whether a request is known to be allowed, and has the calling thread remember it.
    [[nodiscard]] bool knows(const orb::Upcall& upcall, orb::ReplyChannel& by,
                             const net::Address& from)
    {
        look_if_due();
        const std::uint64_t generation = generation_.load(std::memory_order_acquire);
        const Identity who = identity_of(by.peer_channel(), from, tls_);
        if (!decisions_.has(number_of(generation), who, upcall.object_key(), upcall.operation()))
            return false;
        if (by.is_connection) remember(generation, who, upcall, by);
        return true;
    }

    void receive_request_service_contexts(orb::ObservedUpcall& upcall) override
    {
        ask(upcall, nullptr);
    }
    void receive_request(orb::ObservedUpcall& upcall) override { ask(upcall, upcall.object()); }

  private:
    /// Returns whether it is time to see if there is something to look at.
    [[nodiscard]] bool is_due() const noexcept
    {
        return moment() != looked_.load(std::memory_order_relaxed);
    }
    void look_if_due()
    {
        if (is_due()) [[unlikely]]
            look();
    }
    void ask(orb::ObservedUpcall& observed, const orb::ServedObject* object);
    /// What cannot be remembered is looked up again. What would put something else out is
    /// remembered now and then: of those that take turns at one place, one at least is found.
    void remember(std::uint64_t generation, Identity who, const orb::Upcall& upcall,
                  orb::ReplyChannel& by) noexcept
    {
        constexpr unsigned each = 8;
        const Bytes key = upcall.object_key();
        if (!RecentDecisions::fits(key, upcall.operation())) return;
        if (by.caller != 0 && recent->is_taken(generation, by.caller, key, upcall.operation()) &&
            ++spared % each != 0)
            return;
        remember_here(generation, who, upcall, by);
    }
    [[gnu::noinline]] void remember_here(std::uint64_t generation, Identity who,
                                         const orb::Upcall& upcall, orb::ReplyChannel& by) noexcept
    try {
        if (by.caller == 0) by.caller = callers_.number_of(who);
        ThreadOwned<OwnRecentDecisions>::get().decisions.add(
            generation, by.caller, upcall.object_key(), upcall.operation());
    } catch (const std::bad_alloc&) {
    }
    [[gnu::cold]] void look()
    {
        looked_.store(moment(), std::memory_order_relaxed);
        (void)watched_.get(Clock::now());
    }
    /// Requests that were found to be allowed by the rules of before are asked about again.
    void take(const RulesPointer& rules)
    {
        static constinit std::atomic<std::uint64_t> generations{0}; // of all ORBs
        const std::lock_guard lock(mutex_);
        rules_ = rules;
        generation_.store((generations.fetch_add(1, std::memory_order_relaxed) + 1) << 32,
                          std::memory_order_release);
    }
    [[nodiscard]] static std::uint32_t number_of(std::uint64_t generation) noexcept
    {
        return static_cast<std::uint32_t>(generation >> 32);
    }

    const orb::TlsPeers* const tls_ = linked_tls();
    std::atomic<std::uint32_t> looked_{0}; // the moment when somebody last did
    // Of the rules, no other ORB's, in the upper half; set with the mutex.
    std::atomic<std::uint64_t> generation_{0};
    Decisions decisions_;
    Callers callers_;

    net::PriorityMutex mutex_; // guards rules_; held to copy a pointer
    RulesPointer rules_;

    ChangedReader reader_; // by who looks at the file
    files::Watched<RulesPointer> watched_;
};

/// With what is known of the object, or null before it was found. Throws NO_PERMISSION.
void Access::ask(orb::ObservedUpcall& observed, const orb::ServedObject* object)
{
    const net::Address* const from = observed.peer();
    if (from == nullptr) return; // the process may call itself
    // The guard has noted it. Another's would say who somebody else is.
    orb::Upcall* const upcall = orb::UpcallNote::innermost();
    if (upcall == nullptr || &upcall->request() != &observed.request())
        throw CORBA::NO_PERMISSION(orb::minor_code::access_denied, CORBA::COMPLETED_NO);
    const net::Channel* const channel = upcall->channel().peer_channel();
    const Bytes key = observed.object_key();
    if (object == nullptr) look_if_due();
    RulesPointer rules;
    std::uint32_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        rules = rules_;
        generation = number_of(generation_.load(std::memory_order_relaxed));
    }
    // Requests of one connection may be made for different users: nothing is remembered then.
    const Identity who = rules->names_logins() ? Identity{} : identity_of(channel, *from, tls_);
    if (decisions_.has(generation, who, key, observed.operation())) return;
    Caller caller = caller_of(channel, *from, tls_);
    add_login(caller, observed, object != nullptr);
    const bool is_long = key.size() > limits::name_max;
    Target target = is_long ? Target{.operation = observed.operation()} : target_of(observed);
    if (object != nullptr) add_object(target, *object);
    const Rules::Answer answer = is_long ? Rules::Answer{} : rules->answer(caller, target);
    if (answer.kind == Rules::Answer::Kind::deny) {
        log::write_limited(log::Level::warning, from->host_number(),
                           line_of(caller, *from, target, key,
                                   is_long ? "the key is too long" : rules->name_of(answer)));
        throw CORBA::NO_PERMISSION(orb::minor_code::access_denied, CORBA::COMPLETED_NO);
    }
    // By this key another servant may be called later, of another interface.
    if (object != nullptr && !answer.by_interface)
        decisions_.add(generation, who, key, observed.operation());
}

// --- in front of the adapters --------------------------------------------------------------------

class Guard final : public orb::Adapter {
  public:
    /// `plain` is null where other observers are to hear of what is allowed, too.
    Guard(Access& access, std::unique_ptr<orb::Adapter> observing, orb::Adapter* plain) noexcept
        : access_(access), observing_(std::move(observing)), plain_(plain)
    {
    }

    bool dispatch(orb::Upcall& upcall) override
    {
        const orb::ReplyChannel& by = upcall.channel();
        // One that was held has been told of, and goes on as it has begun. Nothing is remembered
        // of callers within the process, nor where others are to hear of it.
        if (!by.hold.has_place() && access_.is_recent(upcall, by)) [[likely]]
            return plain_->dispatch(upcall);
        return dispatch_otherwise(upcall);
    }
    bool call(orb::DirectCall& call) override { return observing_->call(call); }
    /// Whoever asks where an object is does not say what for: a request tells him, or does not.
    bool locates(Bytes /*object_key*/) override { return true; }
    bool permits_bidirectional(Bytes object_key, const orb::ReplyChannel& from) override
    {
        return observing_->permits_bidirectional(object_key, from);
    }
    OwnThreads threads_for(const giop::Request& request, Bytes object_key) override
    {
        return observing_->threads_for(request, object_key);
    }
    const orb::OperationTiming* timing_for(std::string_view operation, Bytes object_key) override
    {
        return observing_->timing_for(operation, object_key);
    }

  private:
    [[gnu::noinline]] bool dispatch_otherwise(orb::Upcall& upcall)
    {
        orb::ReplyChannel& by = upcall.channel();
        const net::Address* const from = by.peer_address();
        if (from != nullptr && plain_ != nullptr && !by.hold.has_place() &&
            access_.knows(upcall, by, *from))
            return plain_->dispatch(upcall);
        return dispatch_observed(upcall);
    }
    [[gnu::noinline]] bool dispatch_observed(orb::Upcall& upcall)
    {
        const orb::UpcallNote note(&upcall);
        return observing_->dispatch(upcall);
    }

    Access& access_; // the ORB's, which ends behind its adapters
    const std::unique_ptr<orb::Adapter> observing_;
    orb::Adapter* const plain_;
};

std::unique_ptr<orb::UpcallObserver> make_access(const std::string& file)
{
    auto access = std::make_unique<Access>(file);
    if (const auto begun = access->begin(); !begun)
        throw CORBA::BAD_PARAM(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                               begun.error().reason);
    return access;
}

std::unique_ptr<orb::Adapter>
make_guard(const orb::Orb& orb, std::unique_ptr<orb::Adapter> observing, orb::Adapter& plain)
{
    const auto observers = orb.upcall_observers();
    auto* const access =
        observers.empty() ? nullptr : dynamic_cast<Access*>(observers.front().get());
    if (access == nullptr) // nobody may be served whom no rule is asked about
        throw CORBA::INTERNAL(0, CORBA::COMPLETED_NO, "-ORBAccess: the rules are not in front");
    return std::make_unique<Guard>(*access, std::move(observing),
                                   observers.size() == 1 ? &plain : nullptr);
}

} // namespace
} // namespace kairos::access

namespace kairos::corba {

const AccessControl& access_control()
{
    static constexpr AccessControl control{.read = &access::make_access,
                                           .guard = &access::make_guard};
    return control;
}

} // namespace kairos::corba
