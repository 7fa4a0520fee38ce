// SPDX-License-Identifier: Apache-2.0
//
// One request being served, on the server's stack: the skeleton reads its arguments from `in`,
// calls the servant, writes results to `out` and sends them. Stations 8 and 10 of the request walk
// (docs/TOUR.md). Used by one thread.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/giop/reply.h"
#include "kairos/giop/request.h"
#include "kairos/ior/ior.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/hold.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/operation.h"

namespace kairos::orb {

class Orb;

/// Where a reply goes: a connection, or a caller in this process.
class ReplyChannel {
  public:
    /// Sends `header`, which lies in front of the body, and the body. Whatever fails is the
    /// channel's to remember: a servant cannot mend it.
    virtual void send(Bytes header, const cdr::Writer& body) noexcept = 0;

    /// Of the request that is being served, or offered again and again.
    Hold hold;
    /// Set where the caller is the calling thread.
    bool is_local = false;

  protected:
    ~ReplyChannel() = default;
};

class Upcall {
  public:
    /// `text` says how text travels in the request and its reply; may be null.
    Upcall(Orb& orb, const giop::Request& request, const cdr::TextForm* text, ReplyChannel& channel,
           UpcallMemory& memory);
    Upcall(const Upcall&) = delete;
    Upcall& operator=(const Upcall&) = delete;

    [[nodiscard]] Orb& orb() const noexcept { return *environment_.orb; }
    [[nodiscard]] const giop::Request& request() const noexcept { return request_; }
    /// However GIOP addressed the target.
    [[nodiscard]] Bytes object_key() const noexcept { return object_key_; }
    [[nodiscard]] std::string_view operation() const noexcept { return request_.operation; }

    /// The arguments: in and inout, in the order of the IDL. Views into it last until `reply`.
    [[nodiscard]] cdr::Reader& in() noexcept { return in_; }
    /// Memory that lasts until the request is served.
    [[nodiscard]] Arena& arena() noexcept { return memory_.arena; }

    /// To be called between the last argument and the servant. Throws CORBA::MARSHAL if the
    /// arguments were malformed. From here on these exceptions may pass to the caller.
    void arguments_read(std::span<const ExceptionType> exceptions)
    {
        arguments_read();
        exceptions_ = exceptions;
    }
    /// The same for operations that raise none.
    void arguments_read()
    {
        if (!in_.ok() || in_.left() != 0) [[unlikely]]
            raise_malformed_arguments();
        environment_.accept_values();
    }
    /// The same for oneways, whose callers may be told now.
    void oneway_arguments_read()
    {
        arguments_read();
        if (request_.response_flags == giop::response_flags::sync_server) confirm_receipt();
    }

    /// Where the results go.
    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }

    /// Sends the results now, while they live: large ones are sent from where they are. Does
    /// nothing when the caller waits for none.
    void reply() { send(giop::ReplyStatus::no_exception); }

    void reply(const CORBA::SystemException& exception) noexcept;
    /// Sends a user exception of the operation's raises clause; any other becomes UNKNOWN.
    void reply(const CORBA::UserException& exception) noexcept;
    /// Sends the caller elsewhere.
    void forward(const ior::Ior& target) noexcept;

    /// The reply is to say the priority that the request came with. To be called before there is
    /// one.
    void say_priority(Priority priority) noexcept
    {
        priority_ = priority;
        stage_ = open();
    }
    /// From here on results are kept until `send_kept`: somebody may still want to send an
    /// exception instead. To be called before there are any.
    void keep_results() noexcept { stage_ = Stage::keeping; }
    void send_kept();

    [[nodiscard]] bool replied() const noexcept { return stage_ == Stage::replied; }
    /// Whether the caller is the calling thread.
    [[nodiscard]] bool is_local() const noexcept { return channel_.is_local; }
    /// Of the channel: what Adapter::dispatch does not take now.
    [[nodiscard]] Hold& hold() noexcept { return channel_.hold; }
    /// Whether the arguments could not be understood: the peer is not to be trusted further.
    [[nodiscard]] bool malformed() const noexcept { return malformed_; }

  private:
    static constexpr std::size_t contexts_size_max = 16;
    static constexpr std::size_t headroom = giop::reply_headroom(contexts_size_max);

    enum class Stage : std::uint8_t { open, open_with_priority, keeping, kept, replied };

    [[nodiscard]] Stage open() const noexcept
    {
        return priority_ < 0 ? Stage::open : Stage::open_with_priority;
    }

    [[gnu::cold]] void confirm_receipt();
    void send(giop::ReplyStatus status);
    [[gnu::noinline]] void send_otherwise(giop::ReplyStatus status);
    void send_with(Bytes header);
    [[gnu::cold]] void keep(giop::ReplyStatus status);
    void restart_reply() noexcept;
    [[noreturn, gnu::cold]] void raise_malformed_arguments();

    const cdr::Environment environment_;
    const giop::Request& request_;
    Bytes object_key_;
    ReplyChannel& channel_;
    UpcallMemory& memory_;
    cdr::Reader in_;
    cdr::Writer out_;
    std::span<const ExceptionType> exceptions_;
    giop::ReplyStatus kept_status_ = giop::ReplyStatus::no_exception;
    Stage stage_ = Stage::open; // with its neighbours one word, which one store sets
    bool malformed_ = false;
    Priority priority_ = -1; // that the reply says; none of CORBA's: none
};

/// The object key of a target, however it was addressed; empty when it names no object of IIOP's.
[[nodiscard]] Bytes object_key_of(const giop::TargetAddress& target, bool little_endian,
                                  Arena& arena);

} // namespace kairos::orb
