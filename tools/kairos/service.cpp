// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/service.h"

#include <algorithm>
#include <thread>

namespace kairos::tools {

EndSignals::EndSignals()
{
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

void EndSignals::wait() const
{
    int received = 0;
    sigwait(&signals_, &received);
}

CORBA::ORB_ptr make_service_orb(const char* id, const std::string& endpoint,
                                const std::vector<std::string>& defaults,
                                const std::vector<std::string>& orb_options)
{
    std::vector<std::string> texts{"kairos"};
    texts.insert(texts.end(), defaults.begin(), defaults.end());
    const bool has_endpoint = std::ranges::any_of(orb_options, [](const std::string& option) {
        return option.starts_with("-ORBListenEndpoints") || option.starts_with("-ORBEndpoint");
    });
    if (!has_endpoint) texts.insert(texts.end(), {"-ORBListenEndpoints", endpoint});
    texts.insert(texts.end(), orb_options.begin(), orb_options.end());
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    return CORBA::ORB_init(argc, argv.data(), id);
}

void run_until(const EndSignals& signals, CORBA::ORB_ptr orb)
{
    std::jthread ender([&] {
        signals.wait();
        orb->shutdown(false);
    });
    orb->run();
}

} // namespace kairos::tools
