// SPDX-License-Identifier: Apache-2.0
//
// ORB initializers: how they are registered, and when they run (CORBA 3.3 part 1, 16.7).
#include "kairos/interceptors/init_info.h"
#include "kairos/interceptors/ior_interceptors.h"
#include "kairos/interceptors/linked.h"
#include "kairos/interceptors/processing_mode.h"
#include "kairos/interceptors/reference_template.h"
#include "kairos/orb/orb.h"

#include <mutex>
#include <utility>
#include <vector>

namespace kairos::interceptors {

namespace {

using Initializers = std::vector<PortableInterceptor::ORBInitializer_var>;

/// Those of the process.
struct Registered {
    std::mutex mutex; // guards what follows; never held while calling out
    Initializers initializers;
};

Registered& registered()
{
    static Registered& one = *new Registered; // never destroyed: static objects make ORBs
    return one;
}

Initializers all_registered()
{
    Registered& all = registered();
    const std::lock_guard lock(all.mutex);
    return all.initializers;
}

/// Ends what initializers can do, whether or not one of them has thrown.
class Initialization {
  public:
    Initialization(InitInfo& info, Interceptors& all) noexcept : info_(info), all_(all) {}
    Initialization(const Initialization&) = delete;
    Initialization& operator=(const Initialization&) = delete;
    ~Initialization()
    {
        info_.end();
        all_.initialized();
    }

  private:
    InitInfo& info_;
    Interceptors& all_;
};

} // namespace

} // namespace kairos::interceptors

namespace kairos::corba {

void initialize_interceptors(CORBA::ORB& orb, const char* const* arguments)
{
    using namespace interceptors;
    const Initializers initializers = all_registered();
    if (initializers.empty()) return;
    const CORBA::String_var id = orb.id();
    const auto all =
        std::make_shared<Interceptors>(id.in(), orb._kairos_core().options().server_id);
    {
        CORBA::ORB::State& state = orb._kairos_state();
        const std::lock_guard lock(state.mutex);
        state.interceptors = all;
        state.listener = std::make_shared<IorInterceptors>(all);
    }
    know_templates(orb);
    know_processing_modes(orb);
    const mapping::ObjectVar<InitInfo> info = new InitInfo(orb, all, arguments);
    const Initialization initialization(*info.in(), *all);
    for (const auto& initializer : initializers)
        initializer->pre_init(info.in());
    info->begin_post_init();
    for (const auto& initializer : initializers)
        initializer->post_init(info.in());
    info->complete();
}

} // namespace kairos::corba

namespace PortableInterceptor {

void register_orb_initializer(ORBInitializer_ptr init)
{
    if (init == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a nil ORB initializer");
    const ORBInitializer_var kept = ORBInitializer::_duplicate(init);
    auto& all = kairos::interceptors::registered();
    const std::lock_guard lock(all.mutex);
    all.initializers.push_back(kept);
}

} // namespace PortableInterceptor
