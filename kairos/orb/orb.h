// SPDX-License-Identifier: Apache-2.0
//
// The ORB core: what references, connections, servers and adapters of one ORB share. Everything
// here happens at start-up, when references are made, and at the end; no call passes through it.
// Any thread, unless a function says otherwise.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/client_connection.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/options.h"
#include "kairos/orb/reference.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

namespace kairos::orb {

class Adapter;
class Server;

/// The open client connections of an ORB, so that shutting down can end the calls on them.
class ClientConnections {
  public:
    void add(ClientConnection& connection);
    void remove(ClientConnection& connection) noexcept;
    /// Ends every wait for a reply, now and for connections still to be added.
    void interrupt_all() noexcept;
    [[nodiscard]] std::size_t count() const noexcept;

  private:
    mutable std::mutex mutex_; // guards what follows; connections come and go under it
    std::set<ClientConnection*> connections_;
    bool interrupted_ = false;
};

class Orb final : public RefCounted {
  public:
    explicit Orb(Options options);

    [[nodiscard]] const Options& options() const noexcept { return options_; }
    /// A random number for this run: references of earlier runs must not hit objects of this one.
    [[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }

    // --- references ---
    [[nodiscard]] ReferencePtr make_reference(ior::Ior ior);
    /// The one Endpoint of this address with this agreement.
    [[nodiscard]] IntrusivePtr<Endpoint> endpoint(const std::string& host, std::uint16_t port,
                                                  const Agreement& agreement);
    [[nodiscard]] CodeSets& code_sets() noexcept { return code_sets_; }
    /// A reference to an object of this process. Needs `listen`.
    [[nodiscard]] ior::Ior make_ior(std::string_view type_id, Bytes object_key) const;

    // --- values ---
    /// The façade's registry of value factories, which messages are given to (cdr::Environment).
    [[nodiscard]] cdr::Attachment* value_factories() const noexcept
    {
        return value_factories_.get();
    }
    /// Once, before any message.
    void set_value_factories(std::unique_ptr<cdr::Attachment> factories) noexcept
    {
        value_factories_ = std::move(factories);
    }

    // --- serving ---
    /// Opens the listening sockets of the options. Once; later calls find it done.
    [[nodiscard]] Result<void> listen();
    /// Begins to accept connections. Once; later calls find it done.
    void start_serving();
    /// Requests that the adapter held are to be offered again.
    void resume_held_requests() noexcept;
    [[nodiscard]] Adapter* adapter() const noexcept
    {
        return adapter_.load(std::memory_order_acquire);
    }
    /// The adapter must outlive `destroy`. Before `start_serving`.
    void set_adapter(Adapter* adapter) noexcept
    {
        adapter_.store(adapter, std::memory_order_release);
    }

    // --- life ---
    /// Returns when the ORB was shut down. With the reactor it serves on the calling thread.
    void run();
    /// Whether perform_work would do something. Always false with threads of the ORB's own.
    [[nodiscard]] bool work_pending();
    /// Serves what is ready, without waiting.
    void perform_work();
    [[nodiscard]] bool is_shut_down() const noexcept
    {
        return shut_down_.load(std::memory_order_acquire);
    }
    /// Ends serving in order: requests in progress are answered, peers get CloseConnection. Waits
    /// for that if told so; not from within an upcall (BAD_INV_ORDER is the façade's to raise).
    void shutdown(bool wait_for_completion);
    /// shutdown(true), and gives everything back but memory.
    void destroy();

    [[nodiscard]] ClientConnections& client_connections() noexcept { return client_connections_; }

  private:
    ~Orb() override;

    const Options options_;
    const std::uint64_t incarnation_;
    CodeSets code_sets_;
    std::atomic<Adapter*> adapter_{nullptr};
    std::atomic<bool> shut_down_{false};
    ClientConnections client_connections_;
    std::unique_ptr<cdr::Attachment> value_factories_;

    std::mutex mutex_; // guards what follows; never held while calling out
    std::condition_variable shut_down_condition_;
    using EndpointKey = std::tuple<std::string, std::uint16_t, const cdr::TextForm*, bool>;
    std::map<EndpointKey, IntrusivePtr<Endpoint>> endpoints_;
    std::unique_ptr<Server> server_; // set once by listen
    bool serving_ = false;
};

/// Whether the calling thread is serving a request of any ORB right now.
[[nodiscard]] bool in_upcall() noexcept;

/// Marks the calling thread as serving a request.
class UpcallScope {
  public:
    UpcallScope() noexcept;
    ~UpcallScope();
    UpcallScope(const UpcallScope&) = delete;
    UpcallScope& operator=(const UpcallScope&) = delete;
};

} // namespace kairos::orb
