// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/dispatch.h"

#include "kairos/base/log.h"
#include "kairos/giop/request.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/object_key_of.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall_observation.h"

namespace kairos::orb {

namespace {

/// What a request needed is given back when it ends, not when the next one comes: that may be
/// never.
class ArenaScope {
  public:
    explicit ArenaScope(Arena& arena) noexcept : arena_(arena) {}
    ArenaScope(const ArenaScope&) = delete;
    ArenaScope& operator=(const ArenaScope&) = delete;
    ~ArenaScope() { arena_.reset(); }

  private:
    Arena& arena_;
};

} // namespace

void log_foreign_exception(std::string_view operation, const char* what) noexcept
{
    log::write_limited(log::Level::warning, 0,
                       log::Line() << "servant threw a foreign exception from operation '"
                                   << operation << "': " << what);
}

namespace {

/// Returns what `serve` returns; true if that throws, which is answered.
template <typename Serve>
[[gnu::always_inline]] inline bool served_or_answered(Upcall& upcall, Serve&& serve)
{
    try {
        return serve();
    } catch (const LocationForward& elsewhere) {
        upcall.forward(elsewhere.target);
    } catch (const CORBA::SystemException& exception) {
        upcall.reply(exception);
    } catch (const CORBA::UserException& exception) {
        upcall.reply(exception);
    } catch (const std::bad_alloc&) {
        upcall.reply(CORBA::NO_MEMORY(0, CORBA::COMPLETED_MAYBE));
    } catch (const std::exception& exception) {
        log_foreign_exception(upcall.operation(), exception.what());
        upcall.reply(CORBA::UNKNOWN(minor_code::foreign_exception, CORBA::COMPLETED_MAYBE));
    } catch (...) {
        log_foreign_exception(upcall.operation(), "not derived from std::exception");
        upcall.reply(CORBA::UNKNOWN(minor_code::foreign_exception, CORBA::COMPLETED_MAYBE));
    }
    return true;
}

[[gnu::always_inline]] inline bool serve(Adapter* adapter, Upcall& upcall)
{
    if (adapter == nullptr)
        raise<CORBA::OBJECT_NOT_EXIST>(minor_code::unknown_adapter, CORBA::COMPLETED_NO);
    if (!adapter->dispatch(upcall)) return false;
    if (!upcall.replied()) raise<CORBA::INTERNAL>(minor_code::no_reply, CORBA::COMPLETED_MAYBE);
    return true;
}

} // namespace

Served dispatch(Orb& orb, const giop::Request& request, const cdr::TextForm* text,
                ReplyChannel& channel, UpcallMemory& memory)
{
    const ArenaScope arena(memory.arena);
    Upcall upcall(orb, request, text, channel, memory);
    if (!served_or_answered(upcall, [&] { return serve(orb.adapter(), upcall); }))
        return Served::held;
    return upcall.malformed() ? Served::malformed : Served::yes;
}

bool dispatch_observed(Adapter& adapter, Upcall& upcall, UpcallObservation& observation)
{
    return served_or_answered(upcall, [&] {
        observation.begin();
        return serve(&adapter, upcall);
    });
}

void answer(Upcall& upcall, const std::exception_ptr& exception)
{
    (void)served_or_answered(upcall, [&]() -> bool { std::rethrow_exception(exception); });
}

giop::LocateStatus location_of(Orb& orb, Bytes key, giop::Version version, cdr::Writer& body)
{
    try {
        Adapter* adapter = orb.adapter();
        return adapter != nullptr && adapter->locates(key) ? giop::LocateStatus::object_here
                                                           : giop::LocateStatus::unknown_object;
    } catch (const LocationForward& elsewhere) {
        ior::encode(body, elsewhere.target);
        return giop::LocateStatus::object_forward;
    } catch (const CORBA::OBJECT_NOT_EXIST&) {
        return giop::LocateStatus::unknown_object;
    } catch (const CORBA::SystemException& exception) {
        // Before GIOP 1.2 nothing can be said but that a request would tell more.
        if (version < giop::version_1_2) return giop::LocateStatus::object_here;
        giop::SystemExceptionBody{exception._rep_id(), exception.minor(),
                                  static_cast<std::uint32_t>(exception.completed())}
            .write(body);
        return giop::LocateStatus::system_exception;
    } catch (...) { // of a servant manager; a request would be told, too
        return giop::LocateStatus::object_here;
    }
}

void answer_locate(Orb& orb, const giop::LocateRequest& request, ReplyChannel& channel,
                   UpcallMemory& memory)
{
    const ArenaScope arena(memory.arena);
    const Bytes key = object_key_of(request.target, request.little_endian, memory.arena);
    cdr::Writer body(memory.reply, giop::locate_reply_headroom);
    const giop::LocateStatus status = location_of(orb, key, request.version, body);
    const Bytes header =
        giop::prepend_locate_reply(giop::Body::of(body, giop::locate_reply_headroom),
                                   request.version, request.request_id, status);
    channel.send(header, body);
}

} // namespace kairos::orb
