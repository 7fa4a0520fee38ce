// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/service_state.h"

#include "kairos/ior/object_key.h"
#include "kairos/naming/name.h"
#include "kairos/poa/calling.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kairos::nameserver {
namespace {

constexpr const char* service_name = "NameService";

using PortableServer::ObjectId;
using PortableServer::POA_ptr;
using PortableServer::POA_var;
using Numbers = std::vector<std::uint64_t>;

/// The numbers one behind the other, each from its highest octet.
ObjectId make_id(const Numbers& numbers)
{
    ObjectId id;
    id.length(static_cast<CORBA::ULong>(numbers.size() * sizeof(std::uint64_t)));
    CORBA::ULong at = 0;
    for (const std::uint64_t number : numbers)
        for (int shift = 56; shift >= 0; shift -= 8)
            id[at++] = static_cast<CORBA::Octet>(number >> shift);
    return id;
}

template <std::size_t count>
std::optional<std::array<std::uint64_t, count>> numbers_of(Bytes id)
{
    if (id.size() != count * sizeof(std::uint64_t)) return std::nullopt;
    std::array<std::uint64_t, count> numbers{};
    const std::byte* at = id.data();
    for (std::uint64_t& number : numbers)
        for (std::size_t i = 0; i < sizeof number; ++i)
            number = number << 8 | std::to_integer<std::uint64_t>(*at++);
    return numbers;
}

/// Of the object that is being called. What PortableServer::Current copies, in place.
Bytes called_id()
{
    const poa::Calling* calling = poa::Calling::innermost();
    if (calling == nullptr || calling->servant() == nullptr) return {};
    return calling->entry() == nullptr ? calling->id() : calling->entry()->id();
}

/// A POA whose default servant serves every id.
POA_ptr make_poa(POA_ptr parent, const char* name, PortableServer::LifespanPolicyValue lifespan)
{
    CORBA::PolicyList policies;
    policies.length(5);
    policies[0] = parent->create_lifespan_policy(lifespan);
    policies[1] = parent->create_id_assignment_policy(PortableServer::USER_ID);
    policies[2] = parent->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    policies[3] = parent->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[4] = parent->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    return parent->create_POA(name, PortableServer::POAManager::_nil(), policies);
}

void begin_serving(POA_ptr poa, PortableServer::Servant servant)
{
    const PortableServer::Servant_var<PortableServer::ServantBase> owner = servant;
    poa->set_servant(servant);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
}

} // namespace

ServiceState::ServiceState(CORBA::ORB_ptr orb, std::unique_ptr<Store> of,
                           const ServiceLimits& bounds, const SweepOptions& sweep)
    : store(std::move(of)), limits(bounds),
      iterators(limits.iterators_max, limits.iterator_idle_max), answers(limits.answers_max),
      foreign_calls(orb->_kairos_core(),
                    {.calls_max = limits.foreign_calls_max,
                     .calls_per_address_max = limits.foreign_calls_per_address_max,
                     .timeout = limits.foreign_call_timeout}),
      sweeper(*store, sweep), orb_(CORBA::ORB::_duplicate(orb))
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = PortableServer::POA::_narrow(object.in());
    contexts_ = make_poa(root.in(), service_name, PortableServer::PERSISTENT);
    listings_ = make_poa(contexts_.in(), "Listings", PortableServer::TRANSIENT);
    begin_serving(listings_.in(), make_iterator_servant(*this));
    begin_serving(contexts_.in(), make_context_servant(*this));
    register_root();
}

void ServiceState::register_root()
{
    const CORBA::Object_var object = orb_->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(object.in());
    const CosNaming::NamingContextExt_var root = reference_to(root_context);
    const CORBA::String_var reference = orb_->object_to_string(root.in());
    try {
        table->bind(service_name, reference.in());
        table_ = table;
    } catch (const IORTable::AlreadyBound&) {
        // The program that this service is part of leads its clients to another one.
    }
}

void ServiceState::stop_asking() noexcept
{
    foreign_calls.end();
    sweeper.begin_to_end();
}

ServiceState::~ServiceState()
{
    stop_asking(); // requests may be waiting for others
    try {
        if (!CORBA::is_nil(table_.in())) table_->unbind(service_name);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
    try {
        contexts_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

ContextId ServiceState::called_context() const
{
    const auto numbers = numbers_of<2>(called_id());
    if (!numbers || (*numbers)[0] != store->identity()) raise_not_there();
    return (*numbers)[1];
}

std::uint64_t ServiceState::called_listing() const
{
    const auto number = numbers_of<1>(called_id());
    if (!number) raise_not_there();
    return (*number)[0];
}

CosNaming::NamingContextExt_ptr ServiceState::reference_to(ContextId context) const
{
    const CORBA::Object_var object = contexts_->create_reference_with_id(
        make_id({store->identity(), context}), CosNaming::NamingContextExt::_kairos_id);
    return CosNaming::NamingContextExt::_unchecked_narrow(object.in());
}

CORBA::Object_ptr ServiceState::object_of(const Entry& entry) const
{
    if (entry.kind == Entry::Kind::context) return reference_to(entry.context);
    if (entry.reference.is_nil()) return CORBA::Object::_nil();
    return corba::StubFactory::make<CORBA::Object>(
        orb_->_kairos_core().make_reference(entry.reference));
}

void ServiceState::encode(cdr::Writer& out, const Entry& entry) const
{
    if (entry.kind != Entry::Kind::context) return ior::encode(out, entry.reference);
    const CosNaming::NamingContextExt_var context = reference_to(entry.context);
    mapping::encode_object(out, context.in());
}

CosNaming::NamingContext_ptr ServiceState::foreign_context(const Entry& entry) const
{
    const CORBA::Object_var object = object_of(entry);
    return CosNaming::NamingContext::_unchecked_narrow(object.in());
}

CosNaming::BindingIterator_ptr ServiceState::begin_listing(ContextId context, const Listed* after)
{
    auto listing = std::make_shared<Listing>(context);
    if (after != nullptr) listing->after = after->component;
    const std::uint64_t number = iterators.begin(std::move(listing), Iterators::Clock::now());
    const CORBA::Object_var object = listings_->create_reference_with_id(
        make_id({number}), CosNaming::BindingIterator::_kairos_id);
    return CosNaming::BindingIterator::_unchecked_narrow(object.in());
}

Entry ServiceState::entry_of(CORBA::Object_ptr object) const
{
    Entry entry;
    if (CORBA::is_nil(object)) return entry;
    if (!object->_kairos_reference())
        throw CORBA::MARSHAL(mapping::omg_minor(4), CORBA::COMPLETED_NO,
                             "a local object cannot be bound");
    entry.reference = object->_kairos_reference()->ior();
    return entry;
}

Entry ServiceState::entry_of_context(CosNaming::NamingContext_ptr context) const
{
    if (CORBA::is_nil(context))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil cannot be bound as a context");
    Entry entry = entry_of(context);
    // By whichever server of the store it was given out: its identity is the store's alone.
    const auto key = ior::PersistentKey::parse(context->_kairos_reference()->object_key());
    const auto numbers = key ? numbers_of<2>(key->id) : std::nullopt;
    if (numbers && (*numbers)[0] == store->identity())
        return {.kind = Entry::Kind::context, .context = (*numbers)[1], .reference = {}};
    entry.kind = Entry::Kind::foreign_context;
    return entry;
}

void raise_not_there()
{
    throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
}

void raise_store_failure(StoreStatus status)
{
    switch (status) {
    case StoreStatus::full:
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "the name server's store is full");
    case StoreStatus::broken:
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                                   "the name server's store is damaged or does not work");
    case StoreStatus::uncertain:
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_MAYBE,
                                   "the name server's store failed to make a change durable");
    case StoreStatus::unreachable:
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the name server cannot reach its database");
    default:
        return;
    }
}

PortionBounds ServiceState::portion_of(std::size_t wanted) const noexcept
{
    return {.count = std::min<std::size_t>(wanted, limits.portion_max),
            .octets = limits.portion_octets_max};
}

CosNaming::BindingList* to_idl(const std::vector<Listed>& listed)
{
    CosNaming::BindingList_var list = new CosNaming::BindingList;
    list->length(static_cast<CORBA::ULong>(listed.size()));
    for (CORBA::ULong i = 0; i < list->length(); ++i) {
        list[i].binding_name = naming::to_idl({listed[i].component});
        list[i].binding_type = listed[i].is_context ? CosNaming::ncontext : CosNaming::nobject;
    }
    return list._retn();
}

} // namespace kairos::nameserver
