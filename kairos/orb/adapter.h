// SPDX-License-Identifier: Apache-2.0
//
// What the ORB needs of the object adapters above it: one virtual call a request. Implemented by
// poa; station 8 of the request walk (docs/TOUR.md). Any thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/ior/ior.h"

#include <string_view>

namespace kairos::giop {
struct Request;
}

namespace kairos::orb {

class DirectCall;
struct OperationTiming;
class ReplyChannel;
class ThreadPool;
class Upcall;

/// Thrown through an upcall: the object is elsewhere. Becomes a LOCATION_FORWARD.
struct KAIROS_API LocationForward {
    ior::Ior target;
};

class Adapter {
  public:
    Adapter() = default;
    Adapter(const Adapter&) = delete;
    Adapter& operator=(const Adapter&) = delete;
    virtual ~Adapter() = default;

    /// Finds the servant of a request and calls it. Throws CORBA exceptions, or LocationForward,
    /// for the caller. Returns false where the adapter holds requests at present: nothing was done,
    /// and the same request is to be offered again when Upcall::hold() says so.
    [[nodiscard]] virtual bool dispatch(Upcall& upcall) = 0;
    /// Finds the servant of a call whose arguments are not encoded and calls it, if it has such a
    /// function: DirectCall::made() says whether it did. Throws CORBA exceptions, or
    /// LocationForward, for the caller. Returns false where the adapter holds requests at present:
    /// nothing was done, and the call is to be offered again when DirectCall::hold() says so.
    [[nodiscard]] virtual bool call(DirectCall& call) = 0;
    /// Returns whether the object of this key is here. Throws CORBA exceptions, or LocationForward,
    /// for the caller.
    [[nodiscard]] virtual bool locates(Bytes object_key) = 0;

    /// Returns whether the object's adapter permits calls back over the connection that a request
    /// to it came by (BiDirPolicy), and would take the request. Asked of requests that offer that.
    [[nodiscard]] virtual bool permits_bidirectional(Bytes /*object_key*/,
                                                     const ReplyChannel& /*from*/)
    {
        return false;
    }

    /// The threads that are to serve a request, and the priority at which they are to begin, where
    /// the object's adapter has some of its own. Asked by servers that hand requests over.
    struct OwnThreads {
        ThreadPool* pool = nullptr; ///< null for most
        std::int16_t priority = 0;
    };
    [[nodiscard]] virtual OwnThreads threads_for(const giop::Request&, Bytes /*object_key*/)
    {
        return {};
    }
    /// Returns what the IDL says of the operation's timing, where the object is known before it is
    /// asked; null for most. Lasts as long as the program's code. Asked by servers that order
    /// requests, in the thread that reads: takes no lock and steps into no object.
    [[nodiscard]] virtual const OperationTiming* timing_for(std::string_view /*operation*/,
                                                            Bytes /*object_key*/)
    {
        return nullptr;
    }
};

} // namespace kairos::orb
