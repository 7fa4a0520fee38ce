// SPDX-License-Identifier: Apache-2.0
//
// What the servants of a naming service share: its store, its POAs, its listings, and what contexts
// and bindings are outside of the store. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"
#include "kairos/nameserver/answers.h"
#include "kairos/nameserver/foreign_calls.h"
#include "kairos/nameserver/iterators.h"
#include "kairos/nameserver/service.h"

namespace kairos::nameserver {

class ServiceState {
  public:
    ServiceState(CORBA::ORB_ptr orb, std::unique_ptr<Store> store, const ServiceLimits& limits,
                 const SweepOptions& sweep);
    ServiceState(const ServiceState&) = delete;
    ServiceState& operator=(const ServiceState&) = delete;
    ~ServiceState();

    /// From here on no other server is asked for anything.
    void stop_asking() noexcept;

    /// The context that is being called. Throws OBJECT_NOT_EXIST for an id that is not this
    /// service's.
    [[nodiscard]] ContextId called_context() const;
    /// The number of the listing whose iterator is being called. Throws OBJECT_NOT_EXIST for an id
    /// that is none of an iterator.
    [[nodiscard]] std::uint64_t called_listing() const;

    /// A reference to a context of the store, owned by the caller.
    [[nodiscard]] CosNaming::NamingContextExt_ptr reference_to(ContextId context) const;
    /// What a name with this entry is bound to, owned by the caller.
    [[nodiscard]] CORBA::Object_ptr object_of(const Entry& entry) const;
    /// Writes what a name with this entry is bound to, as a reference.
    void encode(cdr::Writer& out, const Entry& entry) const;
    /// What a name with this entry is bound to, taken for a context without asking. Owned by the
    /// caller.
    [[nodiscard]] CosNaming::NamingContext_ptr foreign_context(const Entry& entry) const;
    /// Begins a listing of the context behind `after`, or from its beginning for null. Returns the
    /// listing's iterator, owned by the caller.
    [[nodiscard]] CosNaming::BindingIterator_ptr begin_listing(ContextId context,
                                                               const Listed* after);

    /// How much of a listing a reply has at most, of the `wanted` bindings that the client asks
    /// for.
    [[nodiscard]] PortionBounds portion_of(std::size_t wanted) const noexcept;

    /// The entry of a name that is bound to this object. Throws MARSHAL for local objects.
    [[nodiscard]] Entry entry_of(CORBA::Object_ptr object) const;
    /// The entry of a name that is bound to this context, of the store or foreign. Throws BAD_PARAM
    /// for nil, MARSHAL for local objects.
    [[nodiscard]] Entry entry_of_context(CosNaming::NamingContext_ptr context) const;

    const std::unique_ptr<Store> store;
    const ServiceLimits limits;
    Iterators iterators;
    Answers answers;
    ForeignCalls foreign_calls;
    Sweeper sweeper;

  private:
    /// corbaloc URLs find the root by the key that they have when they say none.
    void register_root();

    const CORBA::ORB_var orb_;
    PortableServer::POA_var contexts_;
    PortableServer::POA_var listings_;
    IORTable::Table_var table_; // nil unless the root is in it
};

[[noreturn]] void raise_not_there();
/// Throws what CORBA has for a store that does not work; returns for what is not its failure.
void raise_store_failure(StoreStatus status);
/// The bindings in the types of CosNaming. Owned by the caller.
[[nodiscard]] CosNaming::BindingList* to_idl(const std::vector<Listed>& listed);

/// The servants of all contexts and of all listings. `state` must outlive them; counted.
[[nodiscard]] PortableServer::Servant make_context_servant(ServiceState& state);
[[nodiscard]] PortableServer::Servant make_iterator_servant(ServiceState& state);

} // namespace kairos::nameserver
