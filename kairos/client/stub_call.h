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

class Lane;
class Reference;

/// The two bodies of a call: what an Invocation begins with.
class KAIROS_API CallBodies {
  public:
    CallBodies(const CallBodies&) = delete;
    CallBodies& operator=(const CallBodies&) = delete;

    /// Where the arguments go: in and inout, in the order of the IDL. Large ones are sent from
    /// where they are, so they must stay as they are until `invoke` returns.
    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }
    /// The results: return value, then inout and out in the order of the IDL. Views into it last
    /// as long as the call.
    [[nodiscard]] cdr::Reader& in() noexcept { return in_; }
    /// To be called when all results are read. Throws CORBA::MARSHAL if they were malformed.
    void finish()
    {
        if (!in_.ok()) [[unlikely]]
            raise_malformed_results();
        environment_.accept_values();
    }

  protected:
    /// Room for the header of ordinary requests in front of the body; longer ones go separately.
    static constexpr std::size_t headroom = 256;

    CallBodies(Reference& target, Lane& lane);
    ~CallBodies();

    [[noreturn, gnu::cold]] void raise_malformed_results();

    Lane& lane_;
    cdr::Environment environment_;
    Owner<cdr::Buffer> buffer_;
    cdr::Writer out_;
    cdr::Reader in_;
};

class KAIROS_API StubCall {
  public:
    /// `target` and `operation` must outlive it.
    StubCall(Reference& target, const Operation& operation);
    ~StubCall();
    StubCall(const StubCall&) = delete;
    StubCall& operator=(const StubCall&) = delete;

    /// See CallBodies.
    [[nodiscard]] cdr::Writer& out() noexcept { return bodies().out(); }
    [[nodiscard]] cdr::Reader& in() noexcept { return bodies().in(); }
    void finish() { bodies().finish(); }

    /// Sends the request and, unless it is oneway, waits for the reply. Throws the exceptions that
    /// the servant or the ORB raised. Follows forwards; sends again only what was not executed.
    void invoke();
    /// The same for an operation that must have ended so long after its release, which is now: the
    /// server is told how much of that is left. The call ends by then only if -ORBLateCalls says
    /// so.
    void invoke_within(std::int64_t nanoseconds);

  private:
    [[nodiscard]] CallBodies& bodies() noexcept
    {
        return *std::launder(reinterpret_cast<CallBodies*>(memory_));
    }

    static constexpr std::size_t size = 1040; // invocation.cpp checks that an Invocation fits
    alignas(16) std::byte memory_[size];
};

} // namespace kairos::orb
