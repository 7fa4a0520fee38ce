// SPDX-License-Identifier: Apache-2.0
//
// The tree of an ORB's object adapters, and which of them a request is for: station 9 of the
// request walk (docs/TOUR.md). Finding an adapter takes no lock; making and destroying ones does.
// Any thread.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/ior/object_key.h"
#include "kairos/orb/adapter.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/forward_table.h"
#include "kairos/poa/slots.h"

#include <array>
#include <condition_variable>
#include <functional>
#include <list>
#include <thread>

namespace kairos::poa {

class Adapters final : public orb::Adapter {
  public:
    /// Makes the tree of adapters of `orb`, which must outlive it.
    explicit Adapters(orb::Orb& orb);
    ~Adapters() override;

    [[nodiscard]] orb::Orb& orb() const noexcept { return orb_; }
    /// Returns the table that is asked when a key is no adapter's.
    [[nodiscard]] ForwardTable& forwards() noexcept { return forwards_; }

    [[nodiscard]] bool dispatch(orb::Upcall& upcall) override;
    [[nodiscard]] bool call(orb::DirectCall& call) override;
    [[nodiscard, gnu::cold]] bool locates(Bytes object_key) override;
    [[nodiscard, gnu::cold]] bool permits_bidirectional(Bytes object_key,
                                                        const orb::ReplyChannel& from) override;
    [[nodiscard]] OwnThreads threads_for(const giop::Request& request, Bytes object_key) override;
    [[nodiscard]] const orb::OperationTiming* timing_for(std::string_view operation,
                                                         Bytes object_key) override;

    /// An adapter of one life.
    struct Found {
        poa::Adapter* adapter = nullptr;
        std::uint32_t key_id = 0;
        explicit operator bool() const noexcept { return adapter != nullptr; }
    };

    /// Returns the adapter that has no parent; nothing if there is none at present. Waits while
    /// another thread establishes what its references say.
    [[nodiscard]] Found root() const;
    /// Makes an adapter; without a parent the root. Waits for an adapter of the same name that is
    /// being destroyed, unless the calling thread is within an upcall: then `adapter_exists`.
    /// `establish`, if any, is called before other threads find the adapter: they wait for it. What
    /// it throws comes out of here, and the adapter is destroyed.
    [[nodiscard]] Outcome create(Found parent, std::string name, Manager& manager,
                                 Policies policies, AdapterFace& face,
                                 const std::function<void()>& establish = {});
    /// Returns the child of this name; nothing if there is none, or the parent is gone. With
    /// `activate`, asks the adapter activator of the parent for a child that is not there; throws
    /// OBJ_ADAPTER 1 if that throws. Waits while another thread asks.
    [[nodiscard]] Found child(Found parent, std::string_view name, bool activate);
    [[nodiscard]] std::vector<Found> children(Found parent) const;
    [[nodiscard]] Outcome set_adapter_activator(Found adapter,
                                                IntrusivePtr<AdapterActivator> activator);
    /// Destroys the children of an adapter, then the adapter: at once if nobody is inside, else
    /// with the last one. With `wait` waits for that; returns would_deadlock within an upcall.
    [[nodiscard]] Outcome destroy(Found adapter, bool etherealize, bool wait);

    /// Takes a servant out of all adapters (poa::forget); returns false if none knew it.
    bool abandon(const Servant& servant) noexcept;

    /// Returns the managers of all adapters, each once.
    [[nodiscard]] std::vector<IntrusivePtr<Manager>> managers() const;

    /// Begins to hold a request at this manager, whose `changes` were `seen` before, and counts it.
    /// Throws TRANSIENT when too many are held.
    void hold(orb::Hold& hold, Manager& manager, std::uint64_t seen);

  private:
    friend class poa::Adapter;

    // Key ids: the index of the shell, and above it how often it was used.
    static constexpr unsigned index_bits = 20;
    static constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
    static constexpr std::uint32_t last_life = ~std::uint32_t{0} >> index_bits;

    /// A thread that has asked an adapter activator for a child, or establishes what references of
    /// an adapter say; that is the root where there is no parent.
    struct Activating {
        const poa::Adapter* parent;
        std::string name;
        std::thread::id thread;
    };

    [[nodiscard]] poa::Adapter* find(std::uint32_t key_id) const noexcept
    {
        const std::uint32_t index = key_id & index_mask;
        if (index < first_shells_.size()) [[likely]] // as many as most servers have
            return first_shells_[index].load(std::memory_order_acquire);
        const std::atomic<poa::Adapter*>* shell = shells_.find(index);
        return shell == nullptr ? nullptr : shell->load(std::memory_order_acquire);
    }

    /// Returns what a key that ObjectKey does not parse says, perhaps in `arena`; nothing for one
    /// that is not this server's. Throws LocationForward for one in the table.
    [[nodiscard]] std::optional<ior::PersistentKey> persistent_key(Bytes key, Arena& arena) const;
    /// Serves a request that is not plain, with the object that is active where the key says, if
    /// there was one to enter.
    [[gnu::noinline, gnu::hot]] bool serve_entered(orb::Upcall& upcall, poa::Adapter& adapter,
                                                   std::uint32_t key_id,
                                                   std::optional<ObjectMap::Entry>& entry);
    /// Serves a request of an object that is not active where the key says, or not to be called
    /// plainly.
    [[gnu::cold, gnu::noinline]] bool serve_otherwise(orb::Upcall& upcall, poa::Adapter* adapter);
    [[gnu::cold, gnu::noinline]] bool serve_otherwise(orb::DirectCall& call, poa::Adapter* adapter);
    [[nodiscard]] bool serve(Request& request, Bytes object_key, poa::Adapter* adapter);
    template <typename Answer, typename Ask>
    [[nodiscard]] Answer ask_before(Bytes object_key, Ask ask);
    [[noreturn, gnu::cold]] static void raise_unknown();
    /// Returns the adapter of this path, made by adapter activators if need be; nothing if the
    /// request is held.
    [[nodiscard]] Found reach(Bytes path, orb::Hold* hold);
    [[nodiscard]] Found find_path(Bytes path) const noexcept;
    /// Returns the adapter that is there for a persistent object's key, and its id, which is in the
    /// key or in the arena; nothing for other keys.
    [[nodiscard]] Found find_persistent(Bytes object_key, Arena& arena, Bytes& id) const;
    [[nodiscard]] static Found found(poa::Adapter* adapter) noexcept;
    [[nodiscard]] bool has_activator(Found adapter) const;

    // All of these must hold mutex_; `activate` and `establish` give it back while the program is
    // called.
    [[nodiscard]] Found activate(Found parent, std::string_view name,
                                 std::unique_lock<std::mutex>& lock);
    [[nodiscard]] const Activating* activating(const poa::Adapter* parent,
                                               std::string_view name) const;
    void establish(Found made, std::list<Activating>::iterator establishing,
                   std::unique_lock<std::mutex>& lock, const std::function<void()>& work);
    [[nodiscard]] poa::Adapter& take_shell();
    void publish(poa::Adapter& adapter);

    /// Takes an adapter out of the tree: it is not to be found any more.
    void forget(poa::Adapter& adapter) noexcept;
    /// Gives back an adapter's shell, which may be used again.
    void recycle(poa::Adapter& adapter, std::uint32_t key_id) noexcept;

    orb::Orb& orb_;
    std::array<std::atomic<poa::Adapter*>, 64> first_shells_{};
    StableArray<std::atomic<poa::Adapter*>> shells_; // all of them
    IdIndex paths_;                                  // of persistent adapters
    ForwardTable forwards_;
    std::atomic<std::size_t> held_{0};

    // guards what follows and all changes; not held while calling out; outside the managers' and
    // the adapters'
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<std::unique_ptr<poa::Adapter>> owned_;
    std::vector<poa::Adapter*> free_;
    poa::Adapter* root_ = nullptr;
    std::list<Activating> activating_;
};

} // namespace kairos::poa
