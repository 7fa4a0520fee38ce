// SPDX-License-Identifier: Apache-2.0
//
// A client call as a generated stub sees it: where its arguments go and its results come from. What
// the call consists of besides is Invocation's (invocation.h), which no stub has to read: it is
// made in memory that StubCall keeps for it on the stub's stack. Stations 1 and 2 of the request
// walk (docs/TOUR.md). Used by one thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/owner.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/orb/operation.h"

#include <cstddef>
#include <cstdint>
#include <new>

namespace kairos::orb {

class ThreadStorage;
class Reference;

/// The two bodies of a call: what an Invocation begins with.
class KAIROS_API CallBodies {
  public:
    CallBodies(const CallBodies&) = delete;
    CallBodies& operator=(const CallBodies&) = delete;

    /// Returns the writer of the arguments: in and inout, in the order of the IDL. Large ones are
    /// sent from where they are, so they must stay as they are until `invoke` returns.
    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }
    /// Returns the reader of the results: return value, then inout and out in the order of the IDL.
    /// Views into it last as long as the call.
    [[nodiscard]] cdr::Reader& in() noexcept { return in_; }
    /// Ends the reading of results; to be called when all are read. Throws CORBA::MARSHAL if they
    /// were malformed.
    void finish()
    {
        if (!in_.ok()) [[unlikely]]
            raise_malformed_results();
        environment_.accept_values();
    }

  protected:
    /// Room for the header of ordinary requests in front of the body; longer ones go separately.
    static constexpr std::size_t headroom = 256;

    CallBodies(Reference& target, ThreadStorage& storage);
    ~CallBodies();

    [[noreturn, gnu::cold]] void raise_malformed_results();

    ThreadStorage& storage_;
    cdr::Environment environment_;
    Owner<cdr::Buffer> buffer_;
    cdr::Writer out_;
    cdr::Reader in_;
};

class KAIROS_API StubCall {
  public:
    /// Prepares a call of `operation` on `target`; both must outlive it.
    StubCall(Reference& target, const Operation& operation);
    ~StubCall();
    StubCall(const StubCall&) = delete;
    StubCall& operator=(const StubCall&) = delete;

    /// Returns the writer of the arguments (CallBodies::out).
    [[nodiscard]] cdr::Writer& out() noexcept { return bodies().out(); }
    /// Returns the reader of the results (CallBodies::in).
    [[nodiscard]] cdr::Reader& in() noexcept { return bodies().in(); }
    /// Ends the reading of results; throws CORBA::MARSHAL if they were malformed
    /// (CallBodies::finish).
    void finish() { bodies().finish(); }

    /// Sends the request and, unless it is oneway, waits for the reply. Throws the exceptions that
    /// the servant or the ORB raised. Follows forwards; sends again only what was not executed.
    void invoke();
    /// Makes the call of an operation that, by its IDL, must have ended so many nanoseconds after
    /// its release, which is now: sends the request and, unless it is oneway, waits for the reply.
    /// Tells the server how much of that time is left. Ends the call by then only if -ORBLateCalls
    /// says so. Throws the exceptions that the servant or the ORB raised.
    void invoke_within(std::int64_t nanoseconds);

  private:
    [[nodiscard]] CallBodies& bodies() noexcept
    {
        return *std::launder(reinterpret_cast<CallBodies*>(memory_));
    }

    static constexpr std::size_t size = 1072; // invocation.cpp checks that an Invocation fits
    alignas(16) std::byte memory_[size];
};

} // namespace kairos::orb
