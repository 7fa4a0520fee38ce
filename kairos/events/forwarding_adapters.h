// SPDX-License-Identifier: Apache-2.0
//
// The adapters of a service that has its objects in shares, some of them in this process and some
// in others: who calls an object of a share that is not here is sent to where it is, by the same
// object key. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"

#include <functional>
#include <string>

namespace kairos::events {

class KAIROS_API ForwardingAdapters {
  public:
    /// Where the owner of a share is, as address_for_others() says it there; empty: nobody knows
    /// now, so callers are to try again.
    using AddressOf = std::function<std::string(unsigned share)>;

    /// Makes the POA "Shares" below `parent`, below which those of the shares are, which are called
    /// 1 to `count`, each with one called "Objects".
    ForwardingAdapters(CORBA::ORB_ptr orb, PortableServer::POA_ptr parent, unsigned count,
                       AddressOf address_of);
    ForwardingAdapters(const ForwardingAdapters&) = delete;
    ForwardingAdapters& operator=(const ForwardingAdapters&) = delete;
    /// Ends them all.
    ~ForwardingAdapters();

    /// Calls of objects that are elsewhere wait until this.
    void serve() const;
    /// The POAs of a share.
    struct Pair {
        PortableServer::POA_var named;
        PortableServer::POA_var others; ///< below it
    };
    /// The share is here from now on: makes its POAs, where objects have ids that their users
    /// choose; calls wait until their manager is activated. When they were destroyed the share is
    /// elsewhere again. One thread, not within a call.
    [[nodiscard]] Pair take(unsigned share);
    /// A reference to an object of a share, wherever that is. Owned by the caller. Throws TRANSIENT
    /// where it is just on its way from here to elsewhere.
    [[nodiscard]] CORBA::Object_ptr reference(unsigned share, bool is_named,
                                              const PortableServer::ObjectId& id,
                                              const char* repository_id) const;

  private:
    class Activator;
    class Locator;

    [[nodiscard]] PortableServer::POA_ptr find(unsigned share) const;

    const CORBA::ORB_var orb_;
    PortableServer::POA_var shares_;
    Activator* activator_ = nullptr; // which the POA keeps
};

/// What ForwardingAdapters of other processes are to know of this one: an object of it, which is at
/// this address and no other, "host:port", whatever else its reference says; where its reference
/// says if the address is empty. Throws BAD_PARAM for what is no address, for an object without
/// one, and for an address of what is called by TLS: that is where references say.
[[nodiscard]] KAIROS_API std::string address_for_others(CORBA::Object_ptr object,
                                                        const std::string& host_and_port);
/// Throws ForwardRequest to the object that has the key of `object` at that address; TRANSIENT
/// where there is none.
[[noreturn]] KAIROS_API void forward_to(CORBA::ORB_ptr orb, const std::string& address,
                                        CORBA::Object_ptr object);

} // namespace kairos::events
