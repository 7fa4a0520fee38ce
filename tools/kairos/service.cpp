// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/service.h"

#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/options.h"
#include "kairos/orb/orb.h"
#include "kairos/tls/tls.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <malloc.h>
#include <new>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace kairos::tools {

/// Not by way of the log, whose lock may be what somebody waits for; and not if nobody reads.
void end_at_once()
{
    constexpr std::string_view reason = "kairos: could not end in order in time; ends at once\n";
    pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&standard_error, 1, 0) > 0 && (standard_error.revents & POLLOUT) != 0)
        (void)!::write(STDERR_FILENO, reason.data(), reason.size());
    ::_exit(1);
}

namespace {

/// Large answers are seldom. Else the C library, once it has seen one, keeps such blocks for each
/// thread.
void give_large_blocks_back()
{
#ifdef __GLIBC__
    constexpr int large = 256 * 1024;
    (void)::mallopt(M_MMAP_THRESHOLD, large);
    (void)::mallopt(M_TRIM_THRESHOLD, 2 * large);
#endif
}

/// Services have adapters with managers of their own. Requests for the RootPOA, which anybody may
/// send, are for nobody, and would be held as long as its manager holds.
void answer_at_the_root(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
}

CORBA::ORB_ptr init_orb(const char* id, std::vector<std::string> texts,
                        const std::vector<std::string>& orb_options)
{
    texts.insert(texts.end(), orb_options.begin(), orb_options.end());
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    return CORBA::ORB_init(argc, argv.data(), id);
}

/// Returns whether the process has a controlling terminal that was not hung up.
bool has_terminal() noexcept
{
    const int descriptor = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    ::close(descriptor);
    return true;
}

/// By the options, not by what was read: SIGHUP means the same all the time.
bool may_have_files(const orb::Options& options)
{
    return options.tls != orb::TlsOptions{} || !options.access.empty();
}

} // namespace

/// An ignored signal that is blocked can be waited for as any other.
EndSignals::EndSignals() : began_at_terminal_(has_terminal())
{
    struct sigaction hangup {};
    ignores_hangup_ = ::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

void EndSignals::wait(const std::function<void()>& reread) const
{
    for (;;) {
        int received = 0;
        sigwait(&signals_, &received);
        if (received != SIGHUP) return;
        const bool is_left_alone = began_at_terminal_ && !has_terminal();
        if (!ignores_hangup_ && (!reread || is_left_alone)) return;
        if (reread) reread();
    }
}

bool EndSignals::comes_within(std::chrono::milliseconds time) const
{
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const timespec left{.tv_sec = seconds.count(),
                        .tv_nsec =
                            static_cast<long>(std::chrono::nanoseconds(time - seconds).count())};
    const int received = sigtimedwait(&signals_, nullptr, &left);
    if (received != SIGHUP) return received == SIGINT || received == SIGTERM;
    return !ignores_hangup_ && began_at_terminal_ && !has_terminal();
}

bool Standby::stand_by()
{
    constexpr std::chrono::milliseconds pause{250};
    if (!std::exchange(has_said_, true))
        std::fprintf(stderr, "%s: another has the store: stands by until it is gone\n",
                     command_.c_str());
    is_told_to_end_ = signals_.comes_within(pause);
    return !is_told_to_end_;
}

void Standby::lose() noexcept
{
    is_lost_ = true;
    ::kill(::getpid(), SIGTERM);
}

void Standby::require_not_lost() const
{
    if (is_lost_)
        throw std::runtime_error("the store is not ours any more: whoever starts this again has a "
                                 "stand-by");
}

CORBA::ORB_ptr make_service_orb(const char* id, const std::string& endpoint,
                                const std::vector<std::string>& defaults,
                                const std::vector<std::string>& orb_options)
{
    give_large_blocks_back();
    std::vector<std::string> texts{"kairos"};
    texts.insert(texts.end(), defaults.begin(), defaults.end());
    const bool has_endpoint = std::ranges::any_of(orb_options, [](const std::string& option) {
        return option.starts_with("-ORBListenEndpoints") || option.starts_with("-ORBEndpoint");
    });
    if (!has_endpoint) texts.insert(texts.end(), {"-ORBListenEndpoints", endpoint});
    return init_orb(id, std::move(texts), orb_options);
}

CORBA::ORB_ptr make_client_orb(const char* id, const std::vector<std::string>& orb_options)
{
    return init_orb(id, {"kairos", "-ORBNativeCharCodeSet", "UTF-8"}, orb_options);
}

void write_reference(const std::string& path, const std::string& reference)
{
    std::ofstream file(path);
    file << reference << '\n';
    file.close();
    if (!file) throw std::runtime_error(path + " cannot be written");
}

ServiceRun::ServiceRun(const EndSignals& signals, CORBA::ORB_ptr orb,
                       std::function<void()> begin_to_end)
    : signals_(signals), orb_(CORBA::ORB::_duplicate(orb)), begin_to_end_(std::move(begin_to_end))
{
}

ServiceRun::~ServiceRun()
{
    if (ender_.joinable()) ender_.join();
    if (rereader_.joinable()) rereader_.join();
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    if (watch_.joinable()) watch_.join();
}

void ServiceRun::run()
{
    answer_at_the_root(orb_.in());
    std::function<void()> reread;
    if (may_have_files(orb_->_kairos_core().options())) reread = [this] { this->reread(); };
    ender_ = std::thread([this, reread] {
        signals_.wait(reread);
        watch_ = std::thread([this] { watch_end(); });
        begin_to_end_();
        orb_->shutdown(false);
    });
    try {
        orb_->run();
    } catch (const CORBA::BAD_INV_ORDER& raised) { // told to end before it came to that
        if (raised.minor() != orb::minor_code::orb_shut_down) throw;
    }
    ender_.join();
    orb_->destroy();
}

/// In the thread that waits for signals, which goes on doing so.
void ServiceRun::reread()
{
    {
        const std::lock_guard lock(mutex_);
        is_to_reread_ = true;
        if (std::exchange(is_rereading_, true)) return;
    }
    if (rereader_.joinable()) rereader_.join(); // it does nothing more
    try {
        rereader_ = std::thread([this] { reread_as_asked(); });
    } catch (const std::system_error& error) {
        log::warning(log::Line() << "files are not read anew: " << error.what());
        const std::lock_guard lock(mutex_);
        is_rereading_ = false;
    }
}

void ServiceRun::reread_as_asked()
{
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (!std::exchange(is_to_reread_, false)) {
                is_rereading_ = false;
                return;
            }
        }
        try {
            (void)tls::reread_files();
        } catch (const std::bad_alloc&) {
            log::warning("files are not read anew: out of memory");
        }
    }
}

void ServiceRun::watch_end()
{
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, end_within, [this] { return ended_; })) end_at_once();
}

} // namespace kairos::tools
