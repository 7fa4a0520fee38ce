// SPDX-License-Identifier: Apache-2.0
//
// Observers at both doors of an ORB (docs/observers.md) that write down what they hear and do what
// the test says.
#pragma once

#include "kairos/giop/request.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/call_observer.h"
#include "kairos/orb/upcall_observer.h"
#include "tests/malformed/fixture.h"

#include <map>
#include <memory>

namespace kairos::orb_testing {

/// Lines that several threads write.
class Record {
  public:
    void add(std::string line)
    {
        const std::lock_guard lock(mutex_);
        lines_.push_back(std::move(line));
        added_.notify_all();
    }
    /// Waits until there are so many lines, and takes all.
    [[nodiscard]] std::vector<std::string> take(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(added_.wait_for(lock, patience, [&] { return lines_.size() >= count; }));
        return std::exchange(lines_, {});
    }
    [[nodiscard]] std::vector<std::string> take() { return take(0); }

  private:
    std::mutex mutex_; // guards what follows
    std::condition_variable added_;
    std::vector<std::string> lines_;
};
using Lines = std::vector<std::string>;

[[nodiscard]] inline std::string text_of(const orb::Ending& ending)
{
    constexpr const char* texts[] = {"successful",       "system", "user",
                                     "location_forward", "retry",  "unknown"};
    std::string text = texts[static_cast<int>(ending.status)];
    if (ending.exception != nullptr) text += std::string(" ") + ending.exception->_name();
    EXPECT_EQ(ending.forward != nullptr, ending.status == orb::Ending::Status::location_forward);
    return text;
}

/// What an observer does besides, by the name of the point.
template <typename Info>
using Deeds = std::map<std::string, std::function<void(Info&)>>;
using CallDeeds = Deeds<orb::ObservedCall>;
using UpcallDeeds = Deeds<orb::ObservedUpcall>;

class RecordingCalls final : public orb::CallObserver {
  public:
    RecordingCalls(std::string name, Record& record, CallDeeds deeds = {})
        : name_(std::move(name)), record_(record), deeds_(std::move(deeds))
    {
    }
    void send_request(orb::ObservedCall& call) override { note("send_request", call); }
    void receive_reply(orb::ObservedCall& call) override { note("receive_reply", call); }
    void receive_exception(orb::ObservedCall& call) override { note("receive_exception", call); }
    void receive_other(orb::ObservedCall& call) override { note("receive_other", call); }

  private:
    void note(const std::string& point, orb::ObservedCall& call)
    {
        std::string line = name_ + " " + point;
        if (point == "receive_exception" || point == "receive_other")
            line += " " + text_of(call.ending());
        record_.add(line);
        if (const auto deed = deeds_.find(point); deed != deeds_.end()) deed->second(call);
    }

    const std::string name_;
    Record& record_;
    const CallDeeds deeds_;
};

class RecordingUpcalls final : public orb::UpcallObserver {
  public:
    RecordingUpcalls(std::string name, Record& record, UpcallDeeds deeds = {})
        : name_(std::move(name)), record_(record), deeds_(std::move(deeds))
    {
    }
    void receive_request_service_contexts(orb::ObservedUpcall& upcall) override
    {
        note("arrival", upcall);
    }
    void receive_request(orb::ObservedUpcall& upcall) override { note("receive_request", upcall); }
    void send_reply(orb::ObservedUpcall& upcall) override { note("send_reply", upcall); }
    void send_exception(orb::ObservedUpcall& upcall) override { note("send_exception", upcall); }
    void send_other(orb::ObservedUpcall& upcall) override { note("send_other", upcall); }

  private:
    void note(const std::string& point, orb::ObservedUpcall& upcall)
    {
        std::string line = name_ + " " + point;
        if (point == "send_exception" || point == "send_other")
            line += " " + text_of(upcall.ending());
        record_.add(line);
        if (const auto deed = deeds_.find(point); deed != deeds_.end()) deed->second(upcall);
    }

    const std::string name_;
    Record& record_;
    const UpcallDeeds deeds_;
};

inline void observe_calls(CORBA::ORB_ptr orb, const std::string& name, Record& record,
                          CallDeeds deeds = {})
{
    orb->_kairos_add_call_observer(
        std::make_unique<RecordingCalls>(name, record, std::move(deeds)));
}
inline void observe_upcalls(CORBA::ORB_ptr orb, const std::string& name, Record& record,
                            UpcallDeeds deeds = {})
{
    orb->_kairos_add_upcall_observer(
        std::make_unique<RecordingUpcalls>(name, record, std::move(deeds)));
}

// --- Contexts beyond any headroom
// -----------------------------------------------------------------

inline constexpr std::uint32_t first_context_id = 0x4B000000;
inline constexpr int many_contexts = 20;

/// What the context with this number says: 40 KB in all.
[[nodiscard]] inline std::string context_text(const std::string& whose, int number)
{
    return whose + std::string(2000 + static_cast<std::size_t>(number), 'x') +
           std::to_string(number);
}
inline void add_many(orb::ContextList& list, const std::string& whose)
{
    for (int i = 0; i < many_contexts; ++i) {
        const std::string text = context_text(whose, i);
        list.append(first_context_id + static_cast<std::uint32_t>(i),
                    std::as_bytes(std::span(text)));
    }
}
/// Returns how many of them are there as they were added.
[[nodiscard]] inline int count_many(const giop::ServiceContexts& contexts, const std::string& whose)
{
    int count = 0;
    for (int i = 0; i < many_contexts; ++i) {
        const auto data = contexts.find(first_context_id + static_cast<std::uint32_t>(i));
        if (data && as_text(*data) == context_text(whose, i)) ++count;
    }
    return count;
}

} // namespace kairos::orb_testing
