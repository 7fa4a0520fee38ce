// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/event.h"

#include "kairos/cdr/codeset.h"
#include "kairos/cdr/environment.h"
#include "kairos/types/any_access.h"

namespace kairos::events {

Event::Event(const CORBA::Any& data) : data_(data)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    const cdr::Environment environment;
    out.set_environment(&environment);
    mapping::encode(out, data_);
    const Bytes body = out.contiguous();
    body_.assign(body.begin(), body.end());
    const types::AnyBytes* const bytes = types::AnyAccess::bytes(data_);
    octets_ = body_.size() + (bytes != nullptr ? bytes->size : 0);
    has_wide_text_ = environment.wide_text_written || (bytes != nullptr && bytes->has_wide);
}

void Event::encode(cdr::Writer& out) const
{
    const cdr::Environment* const environment = out.environment();
    if (environment != nullptr &&
        (environment->text != nullptr || !environment->exception_id_in_any ||
         environment->giop_minor != 2 || out.phase() % 8 != 0))
        return mapping::encode(out, data_);
    out.write_bulk(body_, 1);
    if (has_wide_text_ && environment != nullptr) environment->wide_text_written = true;
}

std::size_t EventQueue::push(EventPtr event)
{
    const std::size_t size = event->octets();
    std::size_t dropped = 0;
    while (!events_.empty() && (events_.size() >= count_max_ || octets_ + size > octets_max_)) {
        (void)pop();
        ++dropped;
    }
    events_.push_back(std::move(event));
    octets_ += size;
    return dropped;
}

EventPtr EventQueue::pop() noexcept
{
    EventPtr event = std::move(events_.front());
    events_.pop_front();
    octets_ -= event->octets();
    return event;
}

std::size_t EventQueue::clear() noexcept
{
    const std::size_t count = events_.size();
    events_.clear();
    octets_ = 0;
    return count;
}

} // namespace kairos::events
