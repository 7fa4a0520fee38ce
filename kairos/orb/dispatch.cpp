// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/dispatch.h"

#include "kairos/base/log.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {
namespace {

void log_foreign_exception(const Upcall& upcall, const char* what) noexcept
{
    log::warning("servant threw a foreign exception from operation '" +
                 std::string(upcall.operation()) + "': " + what);
}

} // namespace

Served dispatch(Orb& orb, const giop::Request& request, const cdr::TextForm* text,
                ReplyChannel& channel, UpcallMemory& memory)
{
    memory.arena.reset();
    Upcall upcall(orb, request, text, channel, memory);
    try {
        Adapter* adapter = orb.adapter();
        if (adapter == nullptr)
            raise<CORBA::OBJECT_NOT_EXIST>(minor_code::unknown_adapter, CORBA::COMPLETED_NO);
        if (!adapter->dispatch(upcall)) return Served::held;
        if (!upcall.replied()) raise<CORBA::INTERNAL>(minor_code::no_reply, CORBA::COMPLETED_MAYBE);
    } catch (const CORBA::SystemException& exception) {
        upcall.reply(exception);
    } catch (const CORBA::UserException& exception) {
        upcall.reply(exception);
    } catch (const std::bad_alloc&) {
        upcall.reply(CORBA::NO_MEMORY(0, CORBA::COMPLETED_MAYBE));
    } catch (const std::exception& exception) {
        log_foreign_exception(upcall, exception.what());
        upcall.reply(CORBA::UNKNOWN(minor_code::foreign_exception, CORBA::COMPLETED_MAYBE));
    } catch (...) {
        log_foreign_exception(upcall, "not derived from std::exception");
        upcall.reply(CORBA::UNKNOWN(minor_code::foreign_exception, CORBA::COMPLETED_MAYBE));
    }
    return upcall.malformed() ? Served::malformed : Served::yes;
}

void answer_locate(Orb& orb, const giop::LocateRequest& request, ReplyChannel& channel,
                   UpcallMemory& memory)
{
    memory.arena.reset();
    const Bytes key = object_key_of(request.target, request.little_endian, memory.arena);
    Adapter* adapter = orb.adapter();
    const bool here = adapter != nullptr && adapter->locates(key);
    cdr::Writer body(memory.reply, giop::locate_reply_headroom);
    const Bytes header = giop::prepend_locate_reply(
        giop::Body::of(body, giop::locate_reply_headroom), request.version, request.request_id,
        here ? giop::LocateStatus::object_here : giop::LocateStatus::unknown_object);
    channel.send(header, body);
}

} // namespace kairos::orb
