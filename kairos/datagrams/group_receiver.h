// SPDX-License-Identifier: Apache-2.0
//
// The server's end of groups: objects of this process that are in groups, a socket for each
// address of a multicast group with at least one of them, and one thread that reads these sockets
// in turn, puts messages together (assembly.h), and has each one served by every object that is in
// its group, one after the other.
#pragma once

#include "kairos/datagrams/assembly.h"
#include "kairos/datagrams/group.h"
#include "kairos/datagrams/lane_threads.h"
#include "kairos/datagrams/upcalls.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::datagrams {

/// An object in a group.
struct GroupMember {
    ior::OctetVector adapter; ///< which: PortableServer::POA::id()
    ior::OctetVector id;
    ior::OctetVector key; ///< of references to it
};

class GroupReceiver {
  public:
    explicit GroupReceiver(orb::Orb& orb) : orb_(orb) {}
    ~GroupReceiver();
    GroupReceiver(const GroupReceiver&) = delete;
    GroupReceiver& operator=(const GroupReceiver&) = delete;

    // --- who is in which group; any thread ---
    /// Puts an object into a group; joins that at its address if nobody of this ORB is in it yet.
    /// What is in it already stays so.
    [[nodiscard]] Result<void> add(const GroupProfile& group, GroupMember member);
    /// Takes an object out of a group, and leaves that if it was the last one. Returns false if it
    /// was not in it.
    bool remove(const GroupProfile& group, Bytes adapter, Bytes id);
    /// Returns the ids of this adapter's objects in the group.
    [[nodiscard]] std::vector<ior::OctetVector> ids(const GroupProfile& group, Bytes adapter) const;

    // --- as orb::DatagramSide ---
    [[nodiscard]] Result<void> start();
    void stop() noexcept;
    void join() noexcept;
    void leave_to_parent() noexcept;

  private:
    using Keys = std::vector<ior::OctetVector>;
    struct Group {
        GroupName name;
        std::vector<GroupMember> members;
        std::shared_ptr<const Keys> keys; ///< of the members; never changed, replaced by others
    };
    struct Place {
        net::Address where;   ///< with the interface, over IPv6, if one is said
        std::uint64_t number; ///< of this one, in the names of senders
        std::string text;     ///< for messages
        net::Socket socket;   ///< of the thread, once it knows the place
        std::vector<Group> groups;
    };
    using PlacePtr = std::shared_ptr<Place>;

    [[nodiscard]] Result<net::Address> where(const GroupProfile& group) const;
    [[nodiscard]] Result<PlacePtr> open(const net::Address& where, const GroupProfile& group) const;
    /// Must hold mutex_.
    [[nodiscard]] PlacePtr find_place(const net::Address& where) const;
    [[nodiscard]] static Group* find_group(Place& place, const GroupName& name);
    [[nodiscard]] Result<void> start_thread();
    void wake() noexcept;

    [[nodiscard]] bool is_ending() const noexcept { return ends_.load(std::memory_order_acquire); }
    void run() noexcept;
    [[nodiscard]] Assembly::Time now() const noexcept;
    void receive(Place& place, MutableBytes room, Assembly& assembly, Upcalls& upcalls);
    void serve(Place& place, const net::Address& from, MutableBytes message, Upcalls& upcalls);
    [[nodiscard]] std::shared_ptr<const Keys> keys_of(Place& place, const GroupName& name) const;

    orb::Orb& orb_;
    std::atomic<bool> ends_{false};
    LaneThreads lanes_{orb_, ends_};
    std::atomic<bool> is_left_{false};             // to the parent of this process
    std::atomic<std::uint64_t> places_changed_{0}; // how often; written under mutex_
    std::vector<std::byte> copy_; // of the thread: a message that several objects get
    std::chrono::steady_clock::duration in_servants_{}; // of the thread: how long it has been
    mutable std::mutex mutex_; // guards what follows; never held while calling out
    std::vector<PlacePtr> places_;
    bool is_started_ = false;
    std::optional<net::Waker> waker_;   // constant once there is a thread; any thread wakes it
    std::optional<net::Thread> thread_; // its end is awaited under join_mutex_
    std::mutex join_mutex_;             // guards that one thread ends it
};

} // namespace kairos::datagrams
