// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/upcall_note.h"

#include "kairos/orb/adapter.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/upcall.h"

namespace kairos::orb {
namespace {

class NotingAdapter final : public Adapter {
  public:
    explicit NotingAdapter(Adapter& adapter) noexcept : adapter_(adapter) {}

    bool dispatch(Upcall& upcall) override
    {
        const UpcallNote note(upcall.is_local() ? within_process()
                                                : UpcallNote::Noted{&upcall, false});
        return adapter_.dispatch(upcall);
    }
    bool call(DirectCall& call) override
    {
        const UpcallNote note(within_process());
        return adapter_.call(call);
    }
    bool locates(Bytes object_key) override
    {
        const UpcallNote note(nullptr);
        return adapter_.locates(object_key);
    }
    bool permits_bidirectional(Bytes object_key, const ReplyChannel& from) override
    {
        return adapter_.permits_bidirectional(object_key, from);
    }
    OwnThreads threads_for(const giop::Request& request, Bytes object_key) override
    {
        return adapter_.threads_for(request, object_key);
    }
    const OperationTiming* timing_for(std::string_view operation, Bytes object_key) override
    {
        return adapter_.timing_for(operation, object_key);
    }

  private:
    [[nodiscard]] static UpcallNote::Noted within_process() noexcept
    {
        return {UpcallNote::asked_by(), true};
    }

    Adapter& adapter_;
};

} // namespace

std::unique_ptr<Adapter> noting(Adapter& adapter)
{
    return std::make_unique<NotingAdapter>(adapter);
}

/// Whoever gives the ORB its adapter meanwhile sees that upcalls are noted, or is seen here.
void Orb::note_upcalls()
{
    notes_upcalls_.store(true);
    const std::lock_guard lock(mutex_);
    Adapter* plain = adapter_.load();
    if (plain == nullptr || noting_adapter_) return;
    noting_adapter_ = noting(*plain);
    // In vain where it was taken away meanwhile.
    (void)adapter_.compare_exchange_strong(plain, noting_adapter_.get());
}

} // namespace kairos::orb
