// SPDX-License-Identifier: Apache-2.0
//
// One object adapter: its policies, its active objects, its servant manager or default servant, and
// what they mean for a request (CORBA 3.3 part 1, 15.2 and 15.3.9). Between dispatch and servant:
// station 9 of the request walk (docs/TOUR.md). Any thread.
//
// The object is a shell that is never freed while the ORB lives: an adapter that was destroyed
// leaves it to another. Every life has a key id of its own, and whoever comes with the key id of
// another life is turned away; so requests need no count of adapters.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/calling.h"
#include "kairos/poa/manager.h"
#include "kairos/poa/object_map.h"
#include "kairos/poa/policies.h"
#include "kairos/poa/request.h"
#include "kairos/poa/scheduled_priorities.h"
#include "kairos/poa/servant_manager.h"

#include <array>
#include <map>
#include <string>

namespace kairos::poa {

class Adapters;
using Id = std::vector<std::byte>;

/// What the façade keeps with an adapter: its PortableServer::POA.
class AdapterFace {
  public:
    AdapterFace() = default;
    AdapterFace(const AdapterFace&) = delete;
    AdapterFace& operator=(const AdapterFace&) = delete;

    /// Called when an adapter's life begins, before anybody else can know the adapter.
    virtual void begin(Adapter& adapter, std::uint32_t key_id) noexcept = 0;
    /// Called when the adapter's life has ended; the adapter makes no more calls of this face.
    virtual void end() noexcept = 0;

  protected:
    ~AdapterFace() = default;
};

/// What came of an operation on an adapter.
enum class Outcome {
    ok,
    gone, ///< the adapter was destroyed
    being_destroyed,
    adapter_exists,
    wrong_policy,
    wrong_adapter,
    servant_active,
    servant_not_active,
    object_active,
    object_not_active,
    bad_id,         ///< none that the system gave, or none of those known a priori
    bad_priority,   ///< none of CORBA's, or none of the lanes of the adapter's pool
    other_priority, ///< the object has another
    already_set,
    object_leaving,
    would_deadlock,
};

/// An object as references know it.
struct Identity {
    Id id;
    std::optional<Place> place; ///< where it is active, if its key is to say so
};

/// What the key of a request says. Borrowed from the key.
struct Wanted {
    Bytes id;
    std::optional<Place> place;
    bool id_is_place = false;                ///< the key has no id but this
    std::optional<orb::Priority> priority{}; ///< that was declared for the object
};

class Adapter final : private Retiring {
  public:
    Adapter(Adapters& adapters, std::uint32_t index) : adapters_(adapters), index_(index) {}

    /// The key id of no adapter: a forged key that says it finds none.
    static constexpr std::uint32_t no_key = ~std::uint32_t{0};

    /// Something that goes on in the adapter: while it lives, the shell is no other adapter's.
    class Use {
      public:
        Use(Adapter& adapter, std::uint32_t key_id) noexcept;
        ~Use() { adapter_.leave(); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        /// Returns false if the adapter meant is gone, or none was meant (`no_key`).
        explicit operator bool() const noexcept { return valid_; }

      private:
        Adapter& adapter_;
        bool valid_;
    };

    // --- what it is; to be asked while in use ---
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
    /// Returns the key id of the adapter's present life; `no_key` between two lives. Changes at any
    /// time.
    [[nodiscard]] std::uint32_t key_id() const noexcept { return key_id_.load(); }
    [[nodiscard]] const Policies& policies() const noexcept { return policies_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Bytes path() const noexcept { return path_; }
    /// Returns the parent; null for the root. A parent may end first; then parent_key_id() is not
    /// its key id any more.
    [[nodiscard]] Adapter* parent() const noexcept { return parent_; }
    [[nodiscard]] std::uint32_t parent_key_id() const noexcept { return parent_key_id_; }
    [[nodiscard]] Manager& manager() const noexcept { return *manager_; }
    [[nodiscard]] AdapterFace& face() const noexcept { return *face_; }
    [[nodiscard]] Adapters& adapters() const noexcept { return adapters_; }
    [[nodiscard]] KAIROS_API orb::Orb& orb() const noexcept;

    // --- requests ---
    /// Returns whether an object that a request has entered can be called without further ado.
    [[nodiscard]] bool serves_plainly(std::uint32_t key_id) const noexcept
    {
        return plain_key_.load() == key_id;
    }
    /// Returns whether an object that a request has entered can be called without further ado, by
    /// the operation that was found in the same step (IdStrategy::delayered).
    [[nodiscard]] bool serves_delayered(std::uint32_t key_id) const noexcept
    {
        return delayered_key_.load() == key_id;
    }
    /// Returns whether an object that a request has entered can be called without further ado, but
    /// that observers of the request are told of it.
    [[nodiscard]] bool serves_observed(std::uint32_t key_id) const noexcept
    {
        return observed_key_.load() == key_id;
    }
    [[nodiscard]] ObjectMap& objects() noexcept { return objects_; }
    /// Returns whether the id of an object that has none of its own is its place.
    [[nodiscard]] bool places_are_ids() const noexcept { return policies_.places_are_ids(); }
    /// Serves a request in every way but the plain one: finds the servant and calls it. Throws
    /// CORBA exceptions, or orb::LocationForward, for the caller. Returns false where requests are
    /// held at present: nothing was done (orb::Adapter::dispatch).
    [[nodiscard]] bool dispatch(Request& request, std::uint32_t key_id, const Wanted& wanted);
    /// Returns whether the object is here (orb::Adapter::locates). Asks the servant manager for an
    /// object that is not active; true where that may not be asked now.
    [[nodiscard]] bool locates(std::uint32_t key_id, const Wanted& wanted);
    /// Returns whether calls back may go by the connection of a request to this adapter
    /// (orb::Adapter::permits_bidirectional).
    [[nodiscard]] bool permits_bidirectional(std::uint32_t key_id, const orb::ReplyChannel& from);
    /// Returns the threads that are to serve a request, where this adapter has some of its own, and
    /// the priority at which they are to begin (orb::Adapter::threads_for).
    [[nodiscard]] orb::Adapter::OwnThreads threads_for(const giop::Request& request,
                                                       std::uint32_t key_id, const Wanted& wanted);
    /// Returns what the IDL says of the operation's timing; null where it says nothing
    /// (orb::Adapter::timing_for).
    [[nodiscard]] const orb::OperationTiming*
    timing_for(std::string_view operation, std::uint32_t key_id, const Wanted& wanted);
    /// Returns whether a request may go on; false where the manager holds requests, and `hold` says
    /// when to come again. Throws what the manager's state or the adapter's end calls for. While in
    /// use.
    [[nodiscard]] bool admits(orb::Hold& hold);
    /// Blocks until no request is inside; with `empty`, and a servant activator, until no object is
    /// active or leaving either. Looks again and again: for states that change a few times in the
    /// life of a process no call should pay for a counter.
    void wait_until_idle(bool empty) const;

    // --- objects; while in use ---
    /// Activates the servant as `object`, whose id the adapter chooses unless `has_id`; fills
    /// `object`. Waits while an object of this id is leaving.
    [[nodiscard]] Outcome activate(Servant& servant, Identity& object, bool has_id);
    /// Deactivates the object of this id: requests inside finish.
    [[nodiscard]] Outcome deactivate(Bytes id);
    /// Sets `servant` to that of the active object of this id, or to the default servant, with one
    /// more count.
    [[nodiscard]] Outcome servant_of(Bytes id, Servant*& servant);
    /// Sets `object` to the active object of this id, and `repository_id` to that of its servant's
    /// most derived interface.
    [[nodiscard]] Outcome object_of(Bytes id, Identity& object, const char*& repository_id);
    /// Sets `object` to what the servant is active as, or becomes active as by implicit activation,
    /// or else is being called as by the calling thread (servant_to_reference).
    [[nodiscard]] Outcome object_of(Servant& servant, Identity& object);
    /// Sets `object` to what the servant is active as, or becomes active as by implicit activation,
    /// or else, if it is the default servant, is being called as by the calling thread
    /// (servant_to_id).
    [[nodiscard]] Outcome id_of(Servant& servant, Identity& object);
    /// Sets `object` to one with an id of the system's, without activating it.
    [[nodiscard]] Outcome new_object(Identity& object);
    /// Gives the object of this id, active or not, this priority from now on (Real-Time CORBA 1.2,
    /// 5.7.5).
    [[nodiscard]] Outcome declare(Bytes id, orb::Priority priority);
    /// Gives the object of this id, active or not, this priority from now on, whatever was declared
    /// before, also for requests by references made before.
    [[nodiscard]] Outcome reschedule(Bytes id, orb::Priority priority);
    /// Returns whether a priority was ever declared for the object other than the adapter's own.
    [[nodiscard]] bool has_declared(Bytes id) const;
    /// Forgets the priority declared for an object, which could not be activated.
    void forget_declared(Bytes id) noexcept;
    [[nodiscard]] orb::Priority declared_priority(Bytes id) const;
    /// Returns whether the system gave this id, as far as can be seen.
    [[nodiscard]] bool may_be_own(Bytes id) const;

    /// Returns the object key that references to `object` have.
    [[nodiscard]] std::vector<std::byte> key_of(const Identity& object) const;
    /// Returns what references to the object of this id say of the adapter's policies.
    [[nodiscard]] std::vector<ior::TaggedComponent> components_of(Bytes id) const;
    /// Returns the object of a key; nothing if the key is not of this adapter.
    [[nodiscard]] std::optional<Identity> object_in(Bytes object_key) const;
    /// Returns the object that is called in `calling`.
    [[nodiscard]] KAIROS_API Identity called(const Calling& calling) const;
    /// Where an id that the system makes of a place is put.
    using PlaceId = std::array<std::byte, 12>;
    /// Returns the id of the object that is called in `calling`, as long as that and `room` last;
    /// allocates nothing.
    [[nodiscard]] Bytes id_called(const Calling& calling, PlaceId& room) const noexcept;

    // --- what serves those that are not active; while in use ---
    [[nodiscard]] Outcome set_activator(IntrusivePtr<ServantActivator> activator);
    [[nodiscard]] Outcome set_locator(IntrusivePtr<ServantLocator> locator);
    [[nodiscard]] Outcome set_default_servant(Servant& servant);
    /// Returns the default servant, with one more count; or null.
    [[nodiscard]] Servant* default_servant();

    /// Takes a servant out whose life ends (poa::forget). Returns false if the adapter did not know
    /// it. `instead` takes its place where it cannot be taken away at once.
    bool abandon(const Servant& servant, Servant& instead) noexcept;

    /// Lets requests take the plain way if `active` and the policies allow that. Called by the
    /// adapter's manager.
    void open_to_requests(bool active) noexcept;
    /// Deactivates all objects if there is a servant activator, which is to etherealize them.
    void etherealize_all();

  private:
    friend class Adapters;

    enum class Life { none, alive, being_destroyed, ending };
    struct Leaving {
        Servant* servant;
        Id id;
        bool remaining_activations;
    };

    // --- life: called by Adapters ---
    void begin(std::uint32_t key_id, Adapter* parent, std::string name, Policies policies,
               AdapterFace& face);
    [[nodiscard]] bool begin_end(bool etherealize);
    void end_when_idle();
    void settle();
    [[nodiscard]] bool try_to_end();
    void end();
    void leave() noexcept
    {
        if (requests_.fetch_sub(1) == 1 && unsettled_.load()) [[unlikely]]
            settle();
    }

    void retired(Servant& servant, Bytes id, Place place,
                 bool remaining_activations) noexcept override;
    void give_up(Servant& servant, Bytes id, bool remaining_activations) noexcept;

    void assert_calls_out() const noexcept;
    void on_its_thread(std::uint32_t key_id, const std::function<void()>& work);
    [[nodiscard]] bool serve(Request& request, std::uint32_t key_id, const Wanted& asked);
    void serve_in_real_time(Request& request, const Wanted& wanted);
    void serve_alone(Request& request, const Wanted& wanted);
    /// Returns `wanted` without the priority in front of its id, where keys say one; nothing if it
    /// is missing, or none that an object here can have.
    [[nodiscard]] std::optional<Wanted> understood(const Wanted& wanted) const noexcept;
    [[nodiscard]] bool may_be_declared(orb::Priority priority) const noexcept;
    void note_declared(orb::Priority priority) noexcept;
    [[nodiscard]] std::optional<orb::Priority>
    priority_of(const std::optional<orb::Priority>& of_client, const Wanted& wanted) const noexcept;
    [[nodiscard]] bool look_for(std::uint32_t key_id, const Wanted& asked);
    void call(Request& request, const Wanted& wanted);
    [[nodiscard]] bool call_active(Request& request, const std::optional<ObjectMap::Entry>& entry);
    void call_located(Request& request, Bytes id);
    /// Returns whether this adapter makes keys like that: of the right kind for its lifespan, and
    /// with a place that is an id in front, not behind.
    [[nodiscard]] bool may_say(const Wanted& wanted) const
    {
        return wanted.place.has_value() != policies_.persistent() &&
               (wanted.id_is_place || !place_in(wanted.id));
    }
    [[nodiscard]] Bytes id_of(const Wanted& wanted) const noexcept;
    [[nodiscard]] std::optional<ObjectMap::Entry> enter(const Wanted& wanted);
    [[nodiscard]] const orb::TimedOperations* timed_operations(const Wanted& wanted) const noexcept;
    [[nodiscard]] std::optional<ObjectMap::Entry> incarnate(Bytes id);
    [[nodiscard]] std::optional<ObjectMap::Entry> activate_incarnated(Bytes id, Servant& servant);
    [[nodiscard]] ServantLocator& locator_or_raise() const;
    [[nodiscard]] Servant& preinvoke(ServantLocator& locator, Bytes id, std::string_view operation,
                                     void*& cookie);

    [[nodiscard]] Outcome try_to_activate(Servant& servant, Identity& object, bool has_id);
    [[nodiscard]] ObjectMap& named(); ///< must hold mutex_
    [[nodiscard]] ObjectMap::Options map_options(bool user_ids);
    [[nodiscard]] std::optional<Identity> active_object(const Servant& servant);
    [[nodiscard]] bool finds_servants() const noexcept;
    [[nodiscard]] Outcome found_or_activated(Servant& servant, Identity& object);
    [[nodiscard]] Id new_id();
    [[nodiscard]] Id id_at(Place place) const;
    [[nodiscard]] PlaceId place_id_of(Place place) const noexcept;
    /// Returns the id as keys have it: behind the object's priority, where keys say that.
    [[nodiscard]] Id id_in_key(Bytes id) const;
    [[nodiscard]] std::optional<Place> place_in(Bytes id) const;
    [[nodiscard]] bool is_being_called(Bytes id) const;

    Adapters& adapters_;
    const std::uint32_t index_;

    // On every request's way.
    std::atomic<std::uint32_t> plain_key_{no_key};     // the key id, while serves_plainly
    std::atomic<std::uint32_t> delayered_key_{no_key}; // likewise
    std::atomic<std::uint32_t> observed_key_{no_key};  // likewise
    std::atomic<std::uint32_t> key_id_{no_key};
    ObjectMap objects_;

    // Requests that are not plain, and operations. Plain ones are counted in their slots.
    std::atomic<std::uint32_t> requests_{0};
    std::atomic<bool> unsettled_{false}; // something is to be done when there are none

    // Of one life: set before its key id, changed when nobody is inside.
    Policies policies_;
    std::string name_;
    Id path_;
    Adapter* parent_ = nullptr;
    std::uint32_t parent_key_id_ = no_key;
    IntrusivePtr<Manager> manager_;
    AdapterFace* face_ = nullptr;
    // guards that a single-threaded adapter serves one request at a time; held while it calls out,
    // also by who has it; outside a servant activator's
    std::recursive_mutex single_;
    std::atomic<ServantActivator*> activator_{nullptr}; // counted; set once in a life
    std::atomic<ServantLocator*> locator_{nullptr};     // likewise
    std::atomic<Servant*> default_servant_{nullptr};    // counted
    std::atomic<const orb::TimedOperations*> default_timing_{nullptr}; // what that says
    std::atomic<bool> cleaning_up_{false};
    // Different priorities that were declared in this life, for keys that say another are forged.
    static constexpr std::size_t priorities_known_max = 32;
    std::array<std::atomic<orb::Priority>, priorities_known_max> priorities_known_{};
    std::atomic<std::size_t> priorities_{0}; // as many; beyond that, any is believed
    ScheduledPriorities scheduled_;          // instead of what keys say; changed under mutex_
    // Objects with explicit ids where places are ids: made at need, never freed.
    std::atomic<ObjectMap*> named_{nullptr};
    std::unique_ptr<ObjectMap> owned_named_;

    // guards what follows, and activations against the end; outside the map's
    mutable std::mutex mutex_;
    std::atomic<Life> life_{Life::none};
    bool may_end_ = false; // its children were told
    std::atomic<bool> etherealize_{true};
    std::atomic<std::uint64_t> next_id_{0};
    std::atomic<std::uint32_t> occupied_{0}; // objects that are active or leaving
    std::vector<Leaving> leaving_;           // objects to be etherealized at the end
    std::vector<Servant*> replaced_;         // default servants of old, counted
    std::map<Id, orb::Priority> declared_;   // by the program, in this life

    // Guarded by Adapters.
    std::map<std::string, Adapter*, std::less<>> children_;
    IntrusivePtr<AdapterActivator> adapter_activator_;
    bool published_ = false;  // requests find it by its path
    std::uint32_t ended_ = 0; // the key id of the last life that has ended
};

} // namespace kairos::poa
