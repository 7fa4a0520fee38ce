// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/upcall.h"

#include "kairos/giop/fragments.h"
#include "kairos/giop/reply.h"
#include "kairos/giop/request.h"
#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/object_key_of.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall_observation.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kairos::orb {

namespace {

/// Room in front of the reply for its header: with one small context, such as a priority, that is
/// still one block with the body. A longer one is a block of its own.
constexpr std::size_t headroom = giop::reply_headroom(16);

Bytes keep(const ior::OctetVector& octets, Arena& arena)
{
    auto* copy = arena.allocate<std::byte>(octets.size());
    std::copy(octets.begin(), octets.end(), copy);
    return {copy, octets.size()};
}

} // namespace

Upcall::Upcall(Orb& orb, const giop::Request& request, const cdr::TextForm* text,
               ReplyChannel& channel, UpcallMemory& memory)
    : environment_{.orb = &orb,
                   .giop_minor = request.version.minor,
                   .text = text,
                   .value_factories = orb.value_factories(),
                   .orb_owner = &orb,
                   .exception_id_in_any = orb.options().exception_id_in_any},
      request_(request), channel_(channel), memory_(memory), operation_(request.operation),
      in_(request.body), out_(memory.reply, headroom)
{
    in_.set_environment(&environment_);
    out_.set_environment(&environment_);
    object_key_ = request.target.disposition == giop::AddressingDisposition::key
                      ? request.target.key
                      : object_key_of(request.target, request.little_endian, memory.arena);
}

[[gnu::always_inline]] inline void Upcall::send_with(Bytes header)
{
    if (header.empty()) [[unlikely]] {
        stage_ = open();
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_YES,
                                "the reply exceeds 4 GiB");
    }
    channel_.send(header, out_);
}

const net::Address* Upcall::peer() const noexcept { return channel_.peer_address(); }

bool Upcall::is_local() const noexcept { return channel_.is_local; }
Hold& Upcall::hold() noexcept { return channel_.hold; }
bool Upcall::wants_receipt() const noexcept
{
    return request_.response_flags == giop::response_flags::sync_server;
}

void Upcall::send(giop::ReplyStatus status)
{
    if (stage_ != Stage::open) [[unlikely]]
        return send_otherwise(status);
    stage_ = Stage::replied;
    if (!request_.response_expected()) return;
    send_with(giop::prepend_reply(giop::Body::of(out_, headroom), request_.version,
                                  request_.request_id, status));
}

void Upcall::reply() { send(giop::ReplyStatus::no_exception); }

void Upcall::send_otherwise(giop::ReplyStatus status)
{
    if (stage_ != Stage::open_with_more) return keep(status);
    if (is_observed() && status == giop::ReplyStatus::no_exception)
        memory_.observation->end_with_results();
    if (!has_contexts_) {
        stage_ = Stage::open;
        return send(status);
    }
    stage_ = Stage::replied;
    if (request_.response_expected()) send_with_contexts(status);
    memory_.contexts.clear();
}

void Upcall::send_with_contexts(giop::ReplyStatus status)
{
    const Bytes contexts = has_contexts_ ? memory_.contexts.bytes() : Bytes();
    giop::Body body = giop::Body::of(out_, headroom);
    Bytes header =
        giop::prepend_reply(body, request_.version, request_.request_id, status, contexts);
    if (header.empty()) {
        body.headroom = giop::reply_headroom(contexts.size());
        body.begin = memory_.arena.allocate<std::byte>(body.headroom) + body.headroom;
        header = giop::prepend_reply(body, request_.version, request_.request_id, status, contexts);
    }
    send_with(header);
}

ContextList& Upcall::reply_contexts() noexcept
{
    if (!std::exchange(has_contexts_, true)) memory_.contexts.clear();
    if (stage_ == Stage::open) stage_ = Stage::open_with_more;
    return memory_.contexts;
}

bool Upcall::is_observed() const noexcept
{
    return memory_.observation != nullptr && memory_.observation->is_open();
}

bool Upcall::end_observed(const Ending& ending) noexcept
{
    if (!is_observed()) return false;
    const std::exception_ptr instead = memory_.observation->end(ending);
    if (!instead) return false;
    answer(*this, instead);
    return true;
}

/// SYNC_WITH_SERVER: the caller goes on before the servant is called (CORBA 3.3 part 2, 9.4.2.1).
void Upcall::confirm_receipt()
{
    stage_ = open();
    send(giop::ReplyStatus::no_exception);
}

/// What large results were to be sent from will be gone by then.
void Upcall::keep(giop::ReplyStatus status)
{
    if (stage_ != Stage::keeping) return;
    if (!out_.externals().empty()) {
        const giop::Segments segments = giop::gather({}, out_);
        std::vector<std::byte> body;
        body.reserve(out_.size());
        for (const Bytes segment : segments.view())
            body.insert(body.end(), segment.begin(), segment.end());
        out_.reset(headroom);
        out_.write_bytes(body);
    }
    kept_status_ = status;
    stage_ = Stage::kept;
}

void Upcall::send_kept()
{
    if (replied()) return; // a confirmation, before there could be results
    const Stage stage = std::exchange(stage_, open());
    if (stage == Stage::kept) send(kept_status_);
}

void Upcall::reply(const CORBA::SystemException& exception) noexcept
{
    if (replied()) return; // results went out before the exception was thrown: nothing can be said
    if (end_observed({.status = Ending::Status::system_exception, .exception = &exception})) return;
    restart_reply();
    giop::SystemExceptionBody{exception._rep_id(), exception.minor(),
                              static_cast<std::uint32_t>(exception.completed())}
        .write(out_);
    send(giop::ReplyStatus::system_exception);
}

void Upcall::reply(const CORBA::UserException& exception) noexcept
{
    const std::string_view id = exception._rep_id();
    const bool listed = std::any_of(exceptions_.begin(), exceptions_.end(),
                                    [id](const auto& type) { return type.repository_id == id; });
    if (!listed) {
        reply(CORBA::UNKNOWN(minor_code::unlisted_user_exception, CORBA::COMPLETED_MAYBE));
        return;
    }
    if (replied()) return;
    if (end_observed({.status = Ending::Status::user_exception, .exception = &exception})) return;
    restart_reply();
    try {
        exception._marshal(out_);
    } catch (const CORBA::SystemException& failure) { // a member that cannot be encoded
        reply(failure);
        return;
    } catch (const std::bad_alloc&) {
        reply(CORBA::NO_MEMORY(0, CORBA::COMPLETED_MAYBE));
        return;
    }
    send(giop::ReplyStatus::user_exception);
}

void Upcall::forward(const ior::Ior& target) noexcept
{
    if (replied()) return;
    if (end_observed({.status = Ending::Status::location_forward, .forward = &target})) return;
    restart_reply();
    ior::encode(out_, target);
    send(giop::ReplyStatus::location_forward);
}

/// Results were perhaps encoded in part, or kept.
void Upcall::restart_reply() noexcept
{
    stage_ = open();
    out_.reset(headroom);
    environment_.values_written.reset();
}

void Upcall::raise_malformed_arguments()
{
    mapping::raise_if_text_refused(in_, CORBA::COMPLETED_NO);
    malformed_ = true;
    if (in_.ok())
        raise<CORBA::MARSHAL>(minor_code::trailing_bytes, CORBA::COMPLETED_NO,
                              "bytes left behind the arguments");
    raise<CORBA::MARSHAL>(minor_code::malformed_request, CORBA::COMPLETED_NO,
                          cdr::describe(in_.fault()));
}

Bytes object_key_of(const giop::TargetAddress& target, bool little_endian, Arena& arena)
{
    switch (target.disposition) {
    case giop::AddressingDisposition::key:
        return target.key;
    case giop::AddressingDisposition::profile: {
        if (target.profile_tag != ior::tag_internet_iop) return {};
        const auto profile = ior::decode_iiop(target.profile_data);
        return profile ? keep(profile->object_key, arena) : Bytes{};
    }
    case giop::AddressingDisposition::reference: {
        cdr::Reader reader(target.ior, little_endian);
        ior::Ior ior;
        if (!ior::decode(reader, ior) || target.selected_index >= ior.profiles.size()) return {};
        const auto profile = ior::decode_iiop(ior.profiles[target.selected_index].data);
        return profile ? keep(profile->object_key, arena) : Bytes{};
    }
    }
    return {};
}

} // namespace kairos::orb
