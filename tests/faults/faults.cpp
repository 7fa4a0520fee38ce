// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/faults.h"

#include "kairos/base/check.h"
#include "kairos/net/channel.h"
#include "kairos/net/system.h"
#include "tests/faults/silences.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <fcntl.h>
#include <limits>
#include <mutex>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kairos::net::testing {

class FaultState {
  public:
    explicit FaultState(const FaultPlan& wanted) : plan(wanted) {}

    const FaultPlan plan;
    FaultCounts counts;
    std::atomic<bool> stopped{false};
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(SystemCall::count_)> asked{};
    std::array<std::atomic<std::uint64_t>, 2> connections{}; ///< connected, accepted
    std::atomic<std::uint64_t> connected{0};                 ///< … before anything else
    std::atomic<std::uint64_t> names{0};                     ///< asked for
    Silences silences{stopped, counts.silences};
    std::mutex stop_mutex; // guards changes of `stopped`
    std::condition_variable has_stopped;
};

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// splitmix64: a good number of any seed, and the next of each.
class Random {
  public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
    /// Of what is drawn for the `number`th thing of a kind.
    Random(std::uint64_t seed, std::uint64_t kind, std::uint64_t number) noexcept
        : Random(Random(Random(seed).next() + kind).next() + number)
    {
    }
    std::uint64_t next() noexcept
    {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }
    std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }
    bool chance(std::uint32_t of_hundred) noexcept { return below(100) < of_hundred; }

  private:
    std::uint64_t state_;
};

/// Kinds of things beyond the system calls.
constexpr std::uint64_t kind_of_connections = 0x100;
constexpr std::uint64_t kind_of_silences = 0x200;
constexpr std::uint64_t kind_of_names = 0x300;

/// Where in a stream something happens that does not pass: at headers as often as anywhere else.
std::uint64_t draw_place(const FaultPlan& plan, Random& random) noexcept
{
    constexpr std::uint64_t headers = 100;
    return random.below(random.chance(50) ? headers : plan.break_within);
}

/// One stream of a connection: what goes wrong where. One thread at a time.
class Stream {
  public:
    Stream(const FaultPlan& plan, std::uint64_t seed, std::uint64_t break_at) noexcept
        : plan_(plan), random_(seed), break_at_(break_at)
    {
        place_cut();
    }

    [[nodiscard]] bool is_at_break() const noexcept { return position_ >= break_at_; }
    /// How far the next read or write may go; at least one octet.
    [[nodiscard]] std::size_t room() const noexcept
    {
        return static_cast<std::size_t>(std::min(cut_, break_at_) - position_);
    }
    void advance(std::size_t octets) noexcept { position_ += octets; }

    /// At a cut, once: what happens there.
    void pass_cut(FaultCounts& counts) noexcept
    {
        if (position_ < cut_) return;
        ++counts.cuts;
        place_cut();
        storm_ = random_.chance(plan_.storms) ? 1 + random_.below(storm_max) : 0;
        delayed_ = random_.chance(plan_.delays);
    }
    [[nodiscard]] bool take_storm() noexcept
    {
        if (storm_ == 0) return false;
        --storm_;
        return true;
    }
    [[nodiscard]] bool take_delay() noexcept { return std::exchange(delayed_, false); }

  private:
    static constexpr std::uint64_t storm_max = 4;

    void place_cut() noexcept
    {
        cut_ = plan_.cut_every == 0 ? never : position_ + 1 + random_.below(2 * plan_.cut_every);
    }

    const FaultPlan& plan_;
    Random random_;
    const std::uint64_t break_at_;
    std::uint64_t position_ = 0;
    std::uint64_t cut_ = never;
    std::uint64_t storm_ = 0; ///< attempts that are still to be refused
    bool delayed_ = false;
};

class FaultyChannel final : public Channel {
  public:
    /// The descriptor stays its Socket's, `inner` is what that had, if anything.
    FaultyChannel(int descriptor, std::unique_ptr<Channel> inner, std::shared_ptr<FaultState> state,
                  Random random)
        : state_(std::move(state)), below_(descriptor), resets_(random.chance(50)),
          breaks_reading_(random.chance(50)), break_at_(draw_break(state_->plan, random)),
          incoming_(state_->plan, random.next(), breaks_reading_ ? break_at_ : never),
          outgoing_(state_->plan, random.next(), breaks_reading_ ? never : break_at_)
    {
        below_.set_channel(std::move(inner));
    }
    FaultyChannel(const FaultyChannel&) = delete;
    FaultyChannel& operator=(const FaultyChannel&) = delete;
    ~FaultyChannel() override { (void)below_.release(); }

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override
    {
        if (has_broken_) return ended(ECONNRESET);
        if (state_->stopped) return below_.read(buffer, flags);
        const bool peeks = (static_cast<int>(flags) & static_cast<int>(ReadFlags::peek)) != 0;
        if (peeks) return below_.read(buffer, flags);
        if (incoming_.is_at_break()) return break_here(ECONNRESET);
        if (is_stopped_at(incoming_, static_cast<int>(flags))) return not_now();
        const IoResult got =
            below_.read(buffer.first(std::min(buffer.size(), incoming_.room())), flags);
        incoming_.advance(got.bytes);
        // What the connection's own end in another thread looks like here.
        return has_broken_ && got.bytes == 0 ? ended(ECONNRESET) : got;
    }

    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override
    {
        if (has_broken_) return ended(EPIPE);
        if (state_->stopped) return below_.write(segments, flags);
        if (outgoing_.is_at_break()) return break_here(EPIPE);
        if (is_stopped_at(outgoing_, static_cast<int>(flags))) return not_now();
        std::array<iovec, 16> some;
        std::size_t count = 0;
        for (std::size_t room = outgoing_.room();
             count < std::min(some.size(), segments.size()) && room != 0; ++count) {
            some[count] = segments[count];
            some[count].iov_len = std::min(some[count].iov_len, room);
            room -= some[count].iov_len;
        }
        const IoResult put = below_.write(std::span<const iovec>(some.data(), count), flags);
        outgoing_.advance(put.bytes);
        return has_broken_ && put.bytes == 0 && !put.ok() ? ended(EPIPE) : put;
    }

    IoResult wait_readable(Deadline deadline) noexcept override
    {
        return has_broken_ ? IoResult{} : below_.wait_readable(deadline.left());
    }
    IoResult wait_writable(Deadline deadline) noexcept override
    {
        return has_broken_ ? IoResult{} : below_.wait_writable(deadline.left());
    }
    void set_blocking(bool blocks) noexcept override { (void)below_.set_non_blocking(!blocks); }
    bool shut_reading() noexcept override
    {
        below_.shutdown_read();
        return true;
    }
    void shut_writing() noexcept override { below_.shutdown_write(); }
    std::optional<std::uint64_t> stuck_at() const noexcept override { return below_.stuck_at(); }
    Interest prepare_poll(Interest wish) noexcept override
    {
        return has_broken_ ? Interest::none : below_.prepare_poll(wish);
    }
    [[nodiscard]] bool bypasses_descriptor() const noexcept override
    {
        return below_.bypasses_descriptor();
    }

  private:
    static IoResult ended(int error) noexcept
    {
        return {.error = error, .status = IoResult::Status::closed};
    }
    static IoResult not_now() noexcept
    {
        return {.error = EAGAIN, .status = IoResult::Status::would_block};
    }
    static std::uint64_t draw_break(const FaultPlan& plan, Random& random) noexcept
    {
        return random.chance(plan.breaks) ? draw_place(plan, random) : never;
    }

    /// Whether this attempt is refused for now.
    bool is_stopped_at(Stream& stream, int flags) noexcept
    {
        stream.pass_cut(state_->counts);
        const bool waits = (flags & MSG_DONTWAIT) == 0 &&
                           (::fcntl(below_.descriptor(), F_GETFL) & O_NONBLOCK) == 0;
        if (waits) {
            if (stream.take_delay()) delay();
            return false;
        }
        if (!stream.take_storm()) return false;
        ++state_->counts.storms;
        return true;
    }

    void delay() noexcept
    {
        ++state_->counts.delays;
        const timespec time{.tv_sec = 0,
                            .tv_nsec = static_cast<long>(state_->plan.delay_us) * 1000};
        (void)::nanosleep(&time, nullptr);
    }

    IoResult break_here(int error) noexcept
    {
        if (has_broken_.exchange(true)) return ended(error);
        ++state_->counts.breaks;
        if (!resets_ || !dissolve()) below_.shutdown_both();
        return ended(error);
    }

    /// TCP sends a reset then (connect(2)); others refuse. Asked for without the C library, for
    /// ThreadSanitizer takes connect() for a descriptor made anew, while others read from it.
    [[nodiscard]] bool dissolve() noexcept
    {
        const sockaddr nothing{.sa_family = AF_UNSPEC, .sa_data = {}};
        return ::syscall(SYS_connect, below_.descriptor(), &nothing, sizeof nothing) == 0;
    }

    const std::shared_ptr<FaultState> state_;
    Socket below_; ///< the same descriptor, not closed
    const bool resets_;
    const bool breaks_reading_;
    const std::uint64_t break_at_;
    Stream incoming_;
    Stream outgoing_;
    std::atomic<bool> has_broken_{false};
};

constinit std::mutex installed_mutex;            // guards which plan is installed
constinit std::shared_ptr<FaultState> installed; // the plan, if there is one

std::shared_ptr<FaultState> find_installed()
{
    const std::lock_guard lock(installed_mutex);
    return installed;
}

/// What the system may say, each in its turn by chance.
int error_of(SystemCall call, Random& random) noexcept
{
    constexpr std::array connects{ECONNREFUSED, ETIMEDOUT, ENETUNREACH};
    constexpr std::array accepts{EMFILE, ECONNABORTED, ENOBUFS};
    switch (call) {
    case SystemCall::connect:
        return connects[random.below(connects.size())];
    case SystemCall::accept:
        return accepts[random.below(accepts.size())];
    case SystemCall::memory:
        return ENOMEM;
    case SystemCall::thread:
    case SystemCall::resolve:
        return EAGAIN;
    case SystemCall::scheduling:
        return EPERM;
    default:
        return EMFILE;
    }
}

/// 0: the system is to be asked. Else what it is taken to have said.
int draw_refusal(SystemCall call) noexcept
{
    const auto state = find_installed();
    if (!state || state->stopped) return 0;
    const auto kind = static_cast<std::size_t>(call);
    Random random(state->plan.seed, kind, state->asked[kind]++);
    if (random.below(1000) >= state->plan.refused[kind]) return 0;
    ++state->counts.refusals;
    return error_of(call, random);
}

/// For functions that say by errno why they fail.
[[nodiscard]] bool is_refused(SystemCall call) noexcept
{
    const int error = draw_refusal(call);
    if (error != 0) errno = error;
    return error != 0;
}

void add_faults(Socket& socket, bool accepted)
{
    auto state = find_installed();
    if (!state || state->stopped) return;
    const std::uint64_t number = state->connections[accepted ? 1 : 0]++;
    const Random random(state->plan.seed, kind_of_connections + (accepted ? 1 : 0), number);
    auto inner = socket.take_channel();
    socket.set_channel(std::make_unique<FaultyChannel>(socket.descriptor(), std::move(inner),
                                                       std::move(state), random));
}

/// One that was just connected becomes another if it is to go silent.
void add_silence(Socket& socket, const SocketOptions& options)
{
    const auto state = find_installed();
    if (!state || state->stopped) return;
    Random random(state->plan.seed, kind_of_silences, state->connected++);
    if (!random.chance(state->plan.silences)) return;
    const std::uint64_t place = draw_place(state->plan, random);
    const bool by_request = random.chance(50);
    state->silences.come_between(
        socket, options,
        {.to_server = by_request ? place : never, .to_client = by_request ? never : place});
}

/// Returns when a name may be asked for.
void resolve_late()
{
    const auto state = find_installed();
    if (!state || state->stopped) return;
    Random random(state->plan.seed, kind_of_names, state->names++);
    if (!random.chance(state->plan.slow_answers)) return;
    ++state->counts.slow_answers;
    std::unique_lock lock(state->stop_mutex);
    state->has_stopped.wait_for(lock, std::chrono::microseconds(state->plan.answer_delay_us),
                                [&] { return state->stopped.load(); });
}

// --- The table -----------------------------------------------------------------------------------

int faulty_socket(int family, int type, int protocol)
{
    return is_refused(SystemCall::socket) ? -1 : real_system.socket(family, type, protocol);
}

int faulty_connect(int descriptor, const sockaddr* address, socklen_t size)
{
    if (is_refused(SystemCall::connect)) return -1;
    int result = -1;
    // Here already, where the library would begin anew: a signal is no reason for another number.
    do
        result = real_system.connect(descriptor, address, size);
    while (result != 0 && errno == EINTR && address->sa_family == AF_UNIX);
    return result;
}

int faulty_accept4(int descriptor, sockaddr* peer, socklen_t* size, int flags)
{
    if (is_refused(SystemCall::accept)) return -1;
    return real_system.accept4(descriptor, peer, size, flags);
}

int faulty_open(const char* path, int flags)
{
    return is_refused(SystemCall::spare) ? -1 : real_system.open(path, flags);
}

int faulty_epoll_create1(int flags)
{
    return is_refused(SystemCall::poller) ? -1 : real_system.epoll_create1(flags);
}

int faulty_timerfd_create(clockid_t clock, int flags)
{
    return is_refused(SystemCall::poller) ? -1 : real_system.timerfd_create(clock, flags);
}

int faulty_memfd_create(const char* name, unsigned flags)
{
    return is_refused(SystemCall::memory) ? -1 : real_system.memfd_create(name, flags);
}

bool is_real_time(int policy) noexcept { return policy == SCHED_FIFO || policy == SCHED_RR; }

bool asks_for_real_time(const pthread_attr_t* attributes) noexcept
{
    int inherits = PTHREAD_INHERIT_SCHED;
    int policy = SCHED_OTHER;
    return ::pthread_attr_getinheritsched(attributes, &inherits) == 0 &&
           inherits == PTHREAD_EXPLICIT_SCHED &&
           ::pthread_attr_getschedpolicy(attributes, &policy) == 0 && is_real_time(policy);
}

int faulty_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument)
{
    if (asks_for_real_time(attributes))
        if (const int error = draw_refusal(SystemCall::scheduling); error != 0) return error;
    if (const int error = draw_refusal(SystemCall::thread); error != 0) return error;
    return real_system.pthread_create(thread, attributes, body, argument);
}

int faulty_pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameter)
{
    if (is_real_time(policy))
        if (const int error = draw_refusal(SystemCall::scheduling); error != 0) return error;
    return real_system.pthread_setschedparam(thread, policy, parameter);
}

int faulty_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** found)
{
    resolve_late();
    if (draw_refusal(SystemCall::resolve) != 0) return EAI_AGAIN;
    return real_system.getaddrinfo(host, service, hints, found);
}

constexpr System faulty_system{
    .socket = &faulty_socket,
    .connect = &faulty_connect,
    .accept4 = &faulty_accept4,
    .open = &faulty_open,
    .epoll_create1 = &faulty_epoll_create1,
    .timerfd_create = &faulty_timerfd_create,
    .memfd_create = &faulty_memfd_create,
    .pthread_create = &faulty_pthread_create,
    .pthread_setschedparam = &faulty_pthread_setschedparam,
    .getaddrinfo = &faulty_getaddrinfo,
    .on_connected =
        [](Socket& socket, const SocketOptions& options) {
            add_silence(socket, options);
            add_faults(socket, false);
        },
    .on_accepted = [](Socket& socket) { add_faults(socket, true); },
    .on_memory = [](Socket& socket) { add_faults(socket, false); },
};

} // namespace

Faults::Faults(const FaultPlan& plan) : state_(std::make_shared<FaultState>(plan))
{
    const std::lock_guard lock(installed_mutex);
    KAIROS_CHECK(!installed);
    installed = state_;
    system_in_use = &faulty_system;
}

Faults::~Faults()
{
    stop();
    {
        const std::lock_guard lock(installed_mutex);
        installed.reset();
    }
    state_->silences.end(); // connections that somebody still has keep the state
}

void Faults::stop() noexcept
{
    system_in_use = &real_system;
    {
        const std::lock_guard lock(state_->stop_mutex);
        state_->stopped = true;
    }
    state_->has_stopped.notify_all();
}

const FaultCounts& Faults::counts() const noexcept { return state_->counts; }

} // namespace kairos::net::testing
