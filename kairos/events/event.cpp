// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/event.h"

#include "kairos/cdr/codeset.h"
#include "kairos/cdr/environment.h"
#include "kairos/types/any_access.h"

namespace kairos::events {

void EncodedArgument::encode(const std::function<void(cdr::Writer&)>& write)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    const cdr::Environment environment;
    out.set_environment(&environment);
    write(out);
    const Bytes body = out.contiguous();
    body_.assign(body.begin(), body.end());
    has_wide_text_ = environment.wide_text_written;
}

bool EncodedArgument::write_as_it_is(cdr::Writer& out) const
{
    const cdr::Environment* const environment = out.environment();
    if (environment != nullptr &&
        (environment->text != nullptr || !environment->exception_id_in_any ||
         environment->giop_minor != 2 || out.phase() % 8 != 0))
        return false;
    out.write_bulk(body_, 1);
    if (has_wide_text_ && environment != nullptr) environment->wide_text_written = true;
    return true;
}

Event::Event(const CORBA::Any& data) : data_(data), encoded_(data_)
{
    const types::AnyBytes* const bytes = types::AnyAccess::bytes(data_);
    octets_ = encoded_.size() + (bytes != nullptr ? bytes->size : 0);
    if (bytes != nullptr && bytes->has_wide) encoded_.note_wide_text();
}

} // namespace kairos::events
