// SPDX-License-Identifier: Apache-2.0
//
// What tests of the notification service share: events to be told apart, and consumers that
// remember them.
#pragma once

#include "kairos/events/channel_testing.h"
#include "kairos/notification/CosNotifyComm_skel.h"
#include "kairos/notification/service.h"

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kairos::notification {

/// An event whose `number` and body are the same number.
inline CosNotification::StructuredEvent event_of(const char* domain, const char* type,
                                                 CORBA::Long number)
{
    CosNotification::StructuredEvent event;
    event.header.fixed_header.event_type.domain_name = domain;
    event.header.fixed_header.event_type.type_name = type;
    event.header.fixed_header.event_name = "";
    event.filterable_data.length(1);
    event.filterable_data[0].name = "number";
    event.filterable_data[0].value <<= number;
    event.remainder_of_body <<= number;
    return event;
}

inline CORBA::Long number_in(const CosNotification::StructuredEvent& event)
{
    CORBA::Long number = -1;
    (void)(event.remainder_of_body >>= number);
    return number;
}

inline CosNotification::EventTypeSeq
types_of(const std::vector<std::pair<std::string, std::string>>& types)
{
    CosNotification::EventTypeSeq made;
    made.length(static_cast<CORBA::ULong>(types.size()));
    for (CORBA::ULong i = 0; i < made.length(); ++i) {
        made[i].domain_name = types[i].first.c_str();
        made[i].type_name = types[i].second.c_str();
    }
    return made;
}

/// The numbers of what came, in order.
class Numbers {
  public:
    void add(CORBA::Long number)
    {
        notes_.change([&] {
            if (numbers_.empty()) is_called_ = true;
        });
        ASSERT_TRUE(notes_.wait([&] { return !is_closed_; }));
        notes_.change([&] { numbers_.push_back(number); });
    }
    void add_batch(std::size_t size)
    {
        notes_.change([&] { batches_.push_back(size); });
    }
    void add_types(const CosNotification::EventTypeSeq& added,
                   const CosNotification::EventTypeSeq& removed)
    {
        notes_.change([&] {
            ++tellings_;
            for (CORBA::ULong i = 0; i < added.length(); ++i)
                types_.insert(added[i].type_name.in());
            for (CORBA::ULong i = 0; i < removed.length(); ++i)
                types_.erase(removed[i].type_name.in());
        });
    }
    /// Whether these are the types that it was told of, in the end.
    [[nodiscard]] bool knows(const std::set<std::string>& types)
    {
        return notes_.wait([&] { return types_ == types; });
    }
    /// How often it was told of types.
    [[nodiscard]] std::size_t tellings()
    {
        std::size_t count = 0;
        notes_.change([&] { count = tellings_; });
        return count;
    }
    /// Events are not taken until it is opened.
    void close()
    {
        notes_.change([&] { is_closed_ = true; });
    }
    void open()
    {
        notes_.change([&] { is_closed_ = false; });
    }
    void end()
    {
        notes_.change([&] { has_ended_ = true; });
    }
    [[nodiscard]] bool is_called()
    {
        return notes_.wait([&] { return is_called_; });
    }
    [[nodiscard]] bool has_ended()
    {
        return notes_.wait([&] { return has_ended_; });
    }
    [[nodiscard]] bool are(const std::vector<CORBA::Long>& expected)
    {
        return notes_.wait([&] { return numbers_.size() >= expected.size(); }) && all() == expected;
    }
    [[nodiscard]] bool has(std::size_t count)
    {
        return notes_.wait([&] { return numbers_.size() >= count; });
    }
    [[nodiscard]] bool has_last(CORBA::Long number)
    {
        return notes_.wait([&] { return !numbers_.empty() && numbers_.back() == number; });
    }
    [[nodiscard]] std::vector<CORBA::Long> all()
    {
        std::vector<CORBA::Long> copy;
        notes_.change([&] { copy = numbers_; });
        return copy;
    }
    [[nodiscard]] std::vector<std::size_t> batches()
    {
        std::vector<std::size_t> copy;
        notes_.change([&] { copy = batches_; });
        return copy;
    }

  private:
    events::Notes notes_;
    std::vector<CORBA::Long> numbers_;
    std::vector<std::size_t> batches_;
    std::set<std::string> types_;
    std::size_t tellings_ = 0;
    bool is_called_ = false;
    bool is_closed_ = false;
    bool has_ended_ = false;
};

class StructuredConsumer final : public POA_CosNotifyComm::StructuredPushConsumer, public Numbers {
  public:
    void push_structured_event(const CosNotification::StructuredEvent& event) override
    {
        add(number_in(event));
    }
    void disconnect_structured_push_consumer() override { end(); }
    void offer_change(const CosNotification::EventTypeSeq& added,
                      const CosNotification::EventTypeSeq& removed) override
    {
        add_types(added, removed);
    }
};

class SequenceConsumer final : public POA_CosNotifyComm::SequencePushConsumer, public Numbers {
  public:
    void push_structured_events(const CosNotification::EventBatch& events) override
    {
        add_batch(events.length());
        for (CORBA::ULong i = 0; i < events.length(); ++i)
            add(number_in(events[i]));
    }
    void disconnect_sequence_push_consumer() override { end(); }
    void offer_change(const CosNotification::EventTypeSeq& added,
                      const CosNotification::EventTypeSeq& removed) override
    {
        add_types(added, removed);
    }
};

} // namespace kairos::notification
