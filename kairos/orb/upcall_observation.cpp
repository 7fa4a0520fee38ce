// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/upcall_observation.h"

#include "kairos/orb/dispatch.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_memory.h"

#include <new>
#include <utility>

namespace kairos::orb {

Orb& ObservedUpcall::orb() const noexcept { return upcall_->orb(); }
const net::Address* ObservedUpcall::peer() const noexcept { return upcall_->peer(); }
const giop::Request& ObservedUpcall::request() const noexcept { return upcall_->request(); }
std::string_view ObservedUpcall::operation() const noexcept { return upcall_->operation(); }
Bytes ObservedUpcall::object_key() const noexcept { return upcall_->object_key(); }
bool ObservedUpcall::is_local() const noexcept { return upcall_->is_local(); }
ContextList& ObservedUpcall::reply_contexts() noexcept { return upcall_->reply_contexts(); }

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

inline void UpcallObservation::tell_end(std::size_t observer)
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

std::exception_ptr UpcallObservation::tell(const Ending& ending) noexcept
{
    return tell_ending(ending, [this](std::size_t observer) { tell_end(observer); });
}

void UpcallObservation::end_with_results()
{
    const std::exception_ptr instead =
        tell_ending({.status = Ending::Status::successful},
                    [this](std::size_t observer) { tell_end(observer); });
    if (instead) [[unlikely]]
        std::rethrow_exception(instead);
}

void UpcallObservation::pause()
{
    const Bytes contexts = upcall_->reply_contexts().bytes();
    if (contexts.empty()) return;
    if (!paused_) paused_ = std::make_unique<ContextList>();
    paused_->append(contexts);
}

std::vector<std::shared_ptr<void>> UpcallObservation::leave_thread()
{
    std::vector<std::shared_ptr<void>> left;
    if (!is_open()) return left;
    left.reserve(observers_.size());
    for (const auto& observer : observers_)
        if (auto each = observer->leave_thread(*this)) left.push_back(std::move(each));
    return left;
}

void UpcallObservation::resume(Upcall& upcall)
{
    upcall_ = &upcall;
    if (!paused_) return;
    upcall.reply_contexts().append(paused_->bytes());
    paused_.reset();
}

namespace {

/// The observation of an upcall, which knows of it while this lives. Its memory is kept from
/// request to request.
class ObservedScope {
  public:
    ObservedScope(Upcall& upcall, UpcallObservers observers)
        : upcall_(upcall), observation_(made(upcall, observers))
    {
        upcall_.observe(observation_);
    }
    ~ObservedScope()
    {
        if (upcall_.observation() != observation_) return; // it goes on with an answer that is owed
        upcall_.observe(nullptr);
        if (observation_ != nullptr) end(upcall_.memory(), *observation_);
    }
    ObservedScope(const ObservedScope&) = delete;
    ObservedScope& operator=(const ObservedScope&) = delete;

    [[nodiscard]] UpcallObservation& observation() const noexcept { return *observation_; }
    /// Has the request, which is held, keep the observation.
    void hold()
    {
        observation_->pause();
        upcall_.observe(nullptr);
        upcall_.hold().keep(
            std::unique_ptr<UpcallObservation>(std::exchange(observation_, nullptr)));
    }

  private:
    /// Goes on with the observation of a request that was held, or makes one.
    static UpcallObservation* made(Upcall& upcall, UpcallObservers observers)
    {
        if (auto kept = upcall.hold().take_kept()) [[unlikely]] {
            auto* const observation = static_cast<UpcallObservation*>(kept.get());
            observation->resume(upcall);
            (void)kept.release();
            return observation;
        }
        void* memory = std::exchange(upcall.memory().spare_observation, nullptr);
        if (memory == nullptr) [[unlikely]]
            memory = ::operator new(sizeof(UpcallObservation));
        return ::new (memory) UpcallObservation(upcall, observers);
    }
    static void end(UpcallMemory& memory, UpcallObservation& observation) noexcept
    {
        observation.~UpcallObservation();
        void* const spare = std::exchange(memory.spare_observation, &observation);
        if (spare != nullptr) [[unlikely]]
            ::operator delete(spare);
    }

    Upcall& upcall_;
    UpcallObservation* observation_;
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
    bool permits_bidirectional(Bytes object_key, const ReplyChannel& from) override
    {
        return adapter_->permits_bidirectional(object_key, from);
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
        ObservedScope scope(upcall, observers_);
        if (orb::dispatch_observed(*adapter_, upcall, scope.observation())) return true;
        scope.hold();
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
