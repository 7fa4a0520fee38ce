// SPDX-License-Identifier: Apache-2.0
//
// The server's door for observers: who is told of each request that an ORB serves, may refuse it,
// send it elsewhere and add service contexts to its reply (docs/observers.md). The points are those
// of portable interceptors (CORBA 3.3 part 1, 16.3.8). An ORB without observers knows nothing of
// it.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/observed.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace kairos::giop {
struct Request;
} // namespace kairos::giop

namespace kairos::net {
class Address;
} // namespace kairos::net

namespace kairos::orb {

class Orb;
class Upcall;

/// An object whose servant was found. Views, which last as long as the point that shows them.
struct ServedObject {
    Bytes adapter_path; ///< the names of its adapter and those above (ior::PersistentKey)
    Bytes id;
    bool id_lasts = false; ///< the id lasts as long as the request
    const void* servant = nullptr;
    std::string_view (*interface_of)(const void* servant) = nullptr;

    /// Returns the servant's most derived interface, as a repository id.
    [[nodiscard]] std::string_view interface() const { return interface_of(servant); }
};

/// One request. Belongs to the thread that serves it.
class KAIROS_API ObservedUpcall : public Observed {
  public:
    [[nodiscard]] Orb& orb() const noexcept;
    /// Returns the request as it came, with its service contexts.
    [[nodiscard]] const giop::Request& request() const noexcept;
    [[nodiscard]] std::string_view operation() const noexcept;
    [[nodiscard]] Bytes object_key() const noexcept;
    /// Returns whether the caller is in this process.
    [[nodiscard]] bool is_local() const noexcept;
    /// Returns the address that the request came from; null if the caller is in this process. Lasts
    /// as long as the point.
    [[nodiscard]] const net::Address* peer() const noexcept;
    /// Returns the object, in receive_request; null elsewhere. There the thread serves the object:
    /// PortableServer::Current tells more of it.
    [[nodiscard]] const ServedObject* object() const noexcept { return object_; }
    /// Returns the service contexts of the reply, for adding to them until it goes out.
    [[nodiscard]] ContextList& reply_contexts() noexcept;

  protected:
    explicit ObservedUpcall(Upcall& upcall) noexcept : upcall_(&upcall) {}
    ~ObservedUpcall() = default;

    Upcall* upcall_; // of this offer: a request that was held is offered again
    const ServedObject* object_ = nullptr;
};

/// Hears of all requests that an ORB serves, in the threads that serve them, several at the same
/// time. Points may throw: a CORBA::SystemException answers the request with it, a LocationForward
/// sends the caller elsewhere, anything else becomes UNKNOWN; the observers that are still to be
/// told of the end are told of that.
class KAIROS_API UpcallObserver {
  public:
    enum class Hears : std::uint8_t {
        everything,
        /// Of requests that arrive with a message, and of nothing else: calls within the process go
        /// on without one, and plain requests stay plain.
        arrivals,
    };

    explicit UpcallObserver(Hears hears = Hears::everything) noexcept : hears_(hears) {}
    UpcallObserver(const UpcallObserver&) = delete;
    UpcallObserver& operator=(const UpcallObserver&) = delete;
    virtual ~UpcallObserver() = default;

    [[nodiscard]] Hears hears() const noexcept { return hears_; }

    /// A request is there; nobody has looked for its object yet. Called once, also if the request
    /// is held afterwards. If it throws, no observer behind this one hears of the request.
    virtual void receive_request_service_contexts(ObservedUpcall&) {}
    /// The servant was found, and is called next. If it throws, no observer behind this one is told
    /// of that, and the servant is not called.
    virtual void receive_request(ObservedUpcall&) {}
    /// The servant, which is called next, may answer after its operation has returned: whatever
    /// thread then answers is told of the end (owed_answer.h). Returns what this thread releases
    /// when the operation has returned, or was not called after all; null for nothing. Throws
    /// std::bad_alloc only.
    [[nodiscard]] virtual std::shared_ptr<void> leave_thread(ObservedUpcall&) { return {}; }

    // --- how it ended: one of these for each receive_request_service_contexts that returned,
    // before the reply goes out; of oneways, too. A request that is dropped while it is held has no
    // end: what was kept for it is released (Observed::state_of) ---
    virtual void send_reply(ObservedUpcall&) {}
    virtual void send_exception(ObservedUpcall&) {}
    /// The caller is sent elsewhere.
    virtual void send_other(ObservedUpcall&) {}

  private:
    const Hears hears_;
};

} // namespace kairos::orb
