// SPDX-License-Identifier: Apache-2.0
//
// One request being served, on the server's stack: the skeleton reads its arguments from `in`,
// calls the servant, writes results to `out` and sends them. Stations 8 and 10 of the request walk
// (docs/TOUR.md). Used by one thread.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/base/export.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/upcall_memory.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kairos::giop {
struct Request;
enum class ReplyStatus : std::uint32_t;
} // namespace kairos::giop

namespace kairos::ior {
struct Ior;
} // namespace kairos::ior

namespace kairos::net {
class Address;
} // namespace kairos::net

namespace kairos::orb {

struct Ending;
class Hold;
class Orb;
class ReplyChannel;

class KAIROS_API Upcall {
  public:
    /// Prepares a request for its servant. `text` says how text travels in the request and its
    /// reply; may be null. `request`, `channel` and `memory` must outlive the upcall.
    Upcall(Orb& orb, const giop::Request& request, const cdr::TextForm* text, ReplyChannel& channel,
           UpcallMemory& memory);
    Upcall(const Upcall&) = delete;
    Upcall& operator=(const Upcall&) = delete;

    [[nodiscard]] Orb& orb() const noexcept { return *environment_.orb; }
    [[nodiscard]] const giop::Request& request() const noexcept { return request_; }
    /// Returns the object key of the target, however GIOP addressed it; empty if the address has
    /// none.
    [[nodiscard]] Bytes object_key() const noexcept { return object_key_; }
    [[nodiscard]] std::string_view operation() const noexcept { return operation_; }

    /// Returns the reader of the arguments: in and inout, in the order of the IDL. Views into it
    /// last until `reply`.
    [[nodiscard]] cdr::Reader& in() noexcept { return in_; }
    /// Returns memory that lasts until the request is served.
    [[nodiscard]] Arena& arena() noexcept { return memory_.arena; }
    /// Returns the memory that the request is served with.
    [[nodiscard]] UpcallMemory& memory() noexcept { return memory_; }

    /// Ends the reading of arguments; to be called between the last argument and the servant.
    /// Throws CORBA::MARSHAL if the arguments were malformed. From here on the user exceptions in
    /// `exceptions` may pass to the caller.
    void arguments_read(std::span<const ExceptionType> exceptions)
    {
        arguments_read();
        exceptions_ = exceptions;
    }
    /// Ends the reading of arguments of an operation that raises no user exceptions; to be called
    /// between the last argument and the servant. Throws CORBA::MARSHAL if the arguments were
    /// malformed.
    void arguments_read()
    {
        if (!in_.ok() || in_.left() != 0) [[unlikely]]
            raise_malformed_arguments();
        environment_.accept_values();
    }
    /// Ends the reading of arguments of a oneway; to be called between the last argument and the
    /// servant. Throws CORBA::MARSHAL if the arguments were malformed. Answers now a caller that
    /// waits only for the server to have the request (SYNC_WITH_SERVER).
    void oneway_arguments_read()
    {
        arguments_read();
        if (wants_receipt()) [[unlikely]]
            confirm_receipt();
    }

    /// Has the user exceptions in `exceptions` pass to the caller from here on, whatever was said
    /// before; for servants that know of an exception only when they have it.
    void let_pass(std::span<const ExceptionType> exceptions) noexcept { exceptions_ = exceptions; }

    /// Returns the writer that the results go to.
    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }

    /// Sends the results now, while they live: large ones are sent from where they are. Does
    /// nothing when the caller waits for none.
    void reply();

    /// Sends a system exception instead of results, unless a reply went out before.
    void reply(const CORBA::SystemException& exception) noexcept;
    /// Sends a user exception of the operation's raises clause; any other becomes UNKNOWN.
    void reply(const CORBA::UserException& exception) noexcept;
    /// Answers LOCATION_FORWARD: the caller is to call the object at `target`.
    void forward(const ior::Ior& target) noexcept;

    /// Returns the service contexts of the reply, for adding to them until it goes out.
    [[nodiscard, gnu::cold]] ContextList& reply_contexts() noexcept;

    /// Has `observation` hear of the upcall from here on; null for nobody.
    void observe(UpcallObservation* observation) noexcept
    {
        memory_.observation = observation;
        if (stage_ == Stage::open) stage_ = open();
    }
    /// Returns who observes the upcall; null for most.
    [[nodiscard]] UpcallObservation* observation() const noexcept { return memory_.observation; }
    /// Has results kept from here on until `send_kept`: somebody may still want to send an
    /// exception instead. To be called before there are any.
    void keep_results() noexcept { stage_ = Stage::keeping; }
    /// Sends the results that were kept since `keep_results`, if there are any and no reply went
    /// out before.
    void send_kept();

    [[nodiscard]] bool replied() const noexcept { return stage_ == Stage::replied; }
    /// Returns whether the caller is the calling thread.
    [[nodiscard]] bool is_local() const noexcept;
    /// Returns the address that the request came from; null if the caller is in this process.
    [[nodiscard]] const net::Address* peer() const noexcept;
    /// Returns the channel's Hold, which says when to offer the request again that
    /// Adapter::dispatch does not take now.
    [[nodiscard]] Hold& hold() noexcept;
    /// Returns the way that the reply goes.
    [[nodiscard]] ReplyChannel& channel() noexcept { return channel_; }
    /// Returns whether the arguments could not be understood: the peer is not to be trusted
    /// further.
    [[nodiscard]] bool malformed() const noexcept { return malformed_; }

  private:
    friend class OwedAnswer; // takes what is left to be done

    enum class Stage : std::uint8_t { open, open_with_more, keeping, kept, replied };

    /// Returns the stage that says whether the reply is to have contexts, or observers.
    [[nodiscard]] Stage open() const noexcept
    {
        return has_contexts_ || memory_.observation != nullptr ? Stage::open_with_more
                                                               : Stage::open;
    }
    [[nodiscard]] bool is_observed() const noexcept;
    /// Tells observers how the upcall ends, unless they know; returns whether one of them has had
    /// it answered otherwise.
    [[nodiscard, gnu::cold]] bool end_observed(const Ending& ending) noexcept;

    /// SYNC_WITH_SERVER: see confirm_receipt.
    [[nodiscard]] bool wants_receipt() const noexcept;
    [[gnu::cold]] void confirm_receipt();
    void send(giop::ReplyStatus status);
    [[gnu::noinline]] void send_otherwise(giop::ReplyStatus status);
    void send_with(Bytes header);
    void send_with_contexts(giop::ReplyStatus status);
    [[gnu::cold]] void keep(giop::ReplyStatus status);
    void restart_reply() noexcept;
    [[noreturn, gnu::cold]] void raise_malformed_arguments();

    const cdr::Environment environment_;
    const giop::Request& request_;
    Bytes object_key_;
    ReplyChannel& channel_;
    UpcallMemory& memory_;
    const std::string_view operation_;
    cdr::Reader in_;
    cdr::Writer out_;
    std::span<const ExceptionType> exceptions_;
    giop::ReplyStatus kept_status_{};
    Stage stage_ = Stage::open; // with its neighbours one word, which one store sets
    bool malformed_ = false;
    bool has_contexts_ = false; // that the reply is to have, in memory_
};

} // namespace kairos::orb
