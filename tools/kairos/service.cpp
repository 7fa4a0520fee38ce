// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/service.h"

#include "kairos/orb/failure.h"
#include "kairos/tls/tls.h"

#include <algorithm>
#include <fstream>
#include <malloc.h>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace kairos::tools {
namespace {

/// Not by way of the log, whose lock may be what somebody waits for; and not if nobody reads.
[[noreturn]] void end_at_once()
{
    constexpr std::string_view reason = "kairos: could not end in order in time; ends at once\n";
    pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&standard_error, 1, 0) > 0 && (standard_error.revents & POLLOUT) != 0)
        (void)!::write(STDERR_FILENO, reason.data(), reason.size());
    ::_exit(1);
}

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

} // namespace

EndSignals::EndSignals()
{
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

void EndSignals::wait() const
{
    int received = 0;
    do {
        sigwait(&signals_, &received);
    } while (received == SIGHUP && tls::reread_files());
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
    ender_ = std::thread([this] {
        signals_.wait();
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

void ServiceRun::watch_end()
{
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, end_within, [this] { return ended_; })) end_at_once();
}

} // namespace kairos::tools
