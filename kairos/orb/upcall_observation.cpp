// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/upcall_observation.h"

#include "kairos/base/thread_owned.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/upcall.h"

#include <array>
#include <utility>

namespace kairos::orb {

Orb& ObservedUpcall::orb() const noexcept { return upcall_->orb(); }
const net::Address* ObservedUpcall::peer() const noexcept { return upcall_->peer(); }
const giop::Request& ObservedUpcall::request() const noexcept { return upcall_->request(); }
std::string_view ObservedUpcall::operation() const noexcept { return upcall_->operation(); }
Bytes ObservedUpcall::object_key() const noexcept { return upcall_->object_key(); }
bool ObservedUpcall::is_local() const noexcept { return upcall_->is_local(); }
ContextList& ObservedUpcall::reply_contexts() noexcept { return upcall_->reply_contexts(); }

namespace {

/// Memory of observations that have ended, a few for requests within each other. Its thread's.
struct SpareMemory {
    SpareMemory() = default;
    SpareMemory(const SpareMemory&) = delete;
    SpareMemory& operator=(const SpareMemory&) = delete;
    ~SpareMemory()
    {
        while (count != 0)
            ::operator delete(blocks[--count]);
    }

    std::array<void*, 4> blocks{};
    std::size_t count = 0;
};

} // namespace

void* UpcallObservation::operator new(std::size_t size)
{
    SpareMemory& spares = ThreadOwned<SpareMemory>::get();
    return spares.count != 0 ? spares.blocks[--spares.count] : ::operator new(size);
}

void UpcallObservation::operator delete(void* memory) noexcept
{
    SpareMemory& spares = ThreadOwned<SpareMemory>::get();
    if (spares.count == spares.blocks.size()) return ::operator delete(memory);
    spares.blocks[spares.count++] = memory;
}

void UpcallObservation::begin()
{
    if (std::exchange(begun_, true)) return;
    for (const auto& observer : observers_) {
        guarded([&] { observer->receive_request_service_contexts(*this); });
        note_told();
    }
}

void UpcallObservation::found(const ServedObject& object)
{
    object_ = &object;
    try {
        for (const auto& observer : observers_)
            guarded([&] { observer->receive_request(*this); });
    } catch (...) {
        object_ = nullptr;
        throw;
    }
    object_ = nullptr;
}

void UpcallObservation::end_with_results()
{
    const std::exception_ptr instead = tell_ending({.status = Ending::Status::successful});
    if (instead) std::rethrow_exception(instead);
}

void UpcallObservation::tell_end(std::size_t observer)
{
    UpcallObserver& told = *observers_[observer];
    switch (ending().status) {
    case Ending::Status::successful:
        return told.send_reply(*this);
    case Ending::Status::system_exception:
    case Ending::Status::user_exception:
        return told.send_exception(*this);
    default:
        return told.send_other(*this);
    }
}

void UpcallObservation::pause() { paused_.append(upcall_->reply_contexts().bytes()); }

void UpcallObservation::resume(Upcall& upcall)
{
    upcall_ = &upcall;
    if (paused_.empty()) return;
    upcall.reply_contexts().append(paused_.bytes());
    paused_.clear();
}

namespace {

/// Has an upcall know who observes it, while it lives.
class ObservedScope {
  public:
    ObservedScope(Upcall& upcall, UpcallObservation& observation) noexcept : upcall_(upcall)
    {
        upcall_.observe(&observation);
    }
    ~ObservedScope() { upcall_.observe(nullptr); }
    ObservedScope(const ObservedScope&) = delete;
    ObservedScope& operator=(const ObservedScope&) = delete;

  private:
    Upcall& upcall_;
};

class ObservingAdapter final : public Adapter {
  public:
    ObservingAdapter(UpcallObservers observers, bool hears_all, std::unique_ptr<Adapter> adapter)
        : observers_(observers), hears_all_(hears_all), adapter_(std::move(adapter))
    {
    }

    bool dispatch(Upcall& upcall) override
    {
        if (hears_all_) return dispatch_observed(upcall);
        if (!upcall.hold().has_place()) { // else it has been told
            UpcallObservation arrival(upcall, observers_);
            arrival.begin();
            arrival.forget();
        }
        return adapter_->dispatch(upcall);
    }
    bool call(DirectCall& call) override { return adapter_->call(call); }
    bool locates(Bytes object_key) override { return adapter_->locates(object_key); }
    bool permits_bidirectional(Bytes object_key) override
    {
        return adapter_->permits_bidirectional(object_key);
    }
    OwnThreads threads_for(const giop::Request& request, Bytes object_key) override
    {
        return adapter_->threads_for(request, object_key);
    }
    const OperationTiming* timing_for(std::string_view operation, Bytes object_key) override
    {
        return adapter_->timing_for(operation, object_key);
    }

  private:
    bool dispatch_observed(Upcall& upcall)
    {
        auto kept = upcall.hold().take_kept();
        std::unique_ptr<UpcallObservation> observation(
            static_cast<UpcallObservation*>(kept.release()));
        if (observation)
            observation->resume(upcall);
        else
            observation = std::make_unique<UpcallObservation>(upcall, observers_);
        const ObservedScope scope(upcall, *observation);
        if (orb::dispatch_observed(*adapter_, upcall, *observation)) return true;
        observation->pause();
        upcall.hold().keep(std::move(observation));
        return false;
    }

    const UpcallObservers observers_; // the ORB's
    const bool hears_all_;
    const std::unique_ptr<Adapter> adapter_;
};

} // namespace

std::unique_ptr<Adapter> observed(const Orb& orb, std::unique_ptr<Adapter> adapter)
{
    if (orb.upcall_observers().empty()) return adapter;
    return std::make_unique<ObservingAdapter>(orb.upcall_observers(), orb.observes_upcalls(),
                                              std::move(adapter));
}

} // namespace kairos::orb
