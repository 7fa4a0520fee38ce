// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/state.h"

#include "kairos/base/log.h"
#include "kairos/corba/ior_table.h"
#include "kairos/corba/servant.h"
#include "kairos/orb/reference.h"
#include "kairos/poa/calling.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kairos::repository {
namespace {

constexpr const char* service_name = "InterfaceRepository";

using PortableServer::ObjectId;
using PortableServer::POA_ptr;
using PortableServer::POA_var;

/// References that are kept for those who ask again.
constexpr std::size_t references_max = 4096;

/// How long nobody tries to read a store that could not be read.
constexpr std::chrono::seconds read_pause{3};

constexpr std::size_t number_size = sizeof(std::uint64_t);

/// The repository's number and the definition's, each from its highest octet.
ObjectId make_id(std::uint64_t identity, Key key)
{
    ObjectId id;
    id.length(2 * number_size);
    CORBA::ULong at = 0;
    for (const std::uint64_t number : {identity, key})
        for (int shift = 56; shift >= 0; shift -= 8)
            id[at++] = static_cast<CORBA::Octet>(number >> shift);
    return id;
}

/// Nothing for an id of another repository.
Key key_in(Bytes id, std::uint64_t identity)
{
    if (id.size() != 2 * number_size) return nothing;
    std::array<std::uint64_t, 2> numbers{};
    const std::byte* at = id.data();
    for (std::uint64_t& number : numbers)
        for (std::size_t i = 0; i < number_size; ++i)
            number = number << 8 | std::to_integer<std::uint64_t>(*at++);
    return numbers[0] == identity ? numbers[1] : nothing;
}

/// Of the object that is being called. What PortableServer::Current copies, in place.
Bytes called_id()
{
    const poa::Calling* calling = poa::Calling::innermost();
    if (calling == nullptr || calling->servant() == nullptr) return {};
    return calling->entry() == nullptr ? calling->id() : calling->entry()->id();
}

/// A POA whose default servant serves every id.
POA_var make_poa(POA_ptr parent, const char* name, PortableServer::LifespanPolicyValue lifespan)
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

[[noreturn]] void raise_broken(const char* reason)
{
    throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO, reason);
}

[[noreturn]] void refuse(CORBA::ULong code, const char* reason)
{
    throw CORBA::BAD_PARAM(code == 0 ? 0 : mapping::omg_minor(code), CORBA::COMPLETED_NO, reason);
}

} // namespace

void require(Refusal refusal)
{
    switch (refusal) {
    case Refusal::none:
        return;
    case Refusal::id_in_use:
        refuse(2, "the repository id is defined already");
    case Refusal::name_in_use:
        refuse(3, "the name is used already in the container");
    case Refusal::not_a_container:
        refuse(4, "the container cannot contain this");
    case Refusal::inherited_clash:
        refuse(5, "the name is used already in an inherited interface");
    case Refusal::invalid_name:
        refuse(15, "not an IDL identifier");
    case Refusal::invalid_id:
        refuse(16, "not a repository id");
    case Refusal::invalid_member:
        refuse(17, "a member's name is not one of IDL or occurs twice");
    case Refusal::duplicate_label:
        refuse(18, "a label occurs twice or is none of its type");
    case Refusal::no_discriminator:
        refuse(20, "the type cannot be a union's discriminator");
    case Refusal::not_oneway:
        refuse(31, "a oneway operation gives nothing back and raises nothing");
    case Refusal::wrong_reference:
        refuse(0, "refers to a definition that is not there or of the wrong kind");
    case Refusal::contains_itself:
        refuse(0, "a type cannot be part or base of itself");
    case Refusal::in_use:
        throw CORBA::BAD_INV_ORDER(mapping::omg_minor(1), CORBA::COMPLETED_NO,
                                   "other definitions refer to it");
    case Refusal::indestructible:
        throw CORBA::BAD_INV_ORDER(mapping::omg_minor(2), CORBA::COMPLETED_NO,
                                   "the repository and primitive types stay");
    case Refusal::not_there:
        throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    case Refusal::too_much:
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "beyond the repository's limits");
    }
}

const char* interface_id(Kind kind)
{
    switch (kind) {
    case Kind::attribute:
        return CORBA::ExtAttributeDef::_kairos_id;
    case Kind::constant:
        return CORBA::ConstantDef::_kairos_id;
    case Kind::exception:
        return CORBA::ExceptionDef::_kairos_id;
    case Kind::interface:
        return CORBA::ExtInterfaceDef::_kairos_id;
    case Kind::module:
        return CORBA::ModuleDef::_kairos_id;
    case Kind::operation:
        return CORBA::OperationDef::_kairos_id;
    case Kind::alias:
        return CORBA::AliasDef::_kairos_id;
    case Kind::struct_:
        return CORBA::StructDef::_kairos_id;
    case Kind::union_:
        return CORBA::UnionDef::_kairos_id;
    case Kind::enum_:
        return CORBA::EnumDef::_kairos_id;
    case Kind::primitive:
        return CORBA::PrimitiveDef::_kairos_id;
    case Kind::string:
        return CORBA::StringDef::_kairos_id;
    case Kind::sequence:
        return CORBA::SequenceDef::_kairos_id;
    case Kind::array:
        return CORBA::ArrayDef::_kairos_id;
    case Kind::repository:
        return CORBA::Repository::_kairos_id;
    case Kind::wstring:
        return CORBA::WstringDef::_kairos_id;
    case Kind::fixed:
        return CORBA::FixedDef::_kairos_id;
    case Kind::value:
        return CORBA::ExtValueDef::_kairos_id;
    case Kind::value_box:
        return CORBA::ValueBoxDef::_kairos_id;
    case Kind::value_member:
        return CORBA::ValueMemberDef::_kairos_id;
    case Kind::native:
        return CORBA::NativeDef::_kairos_id;
    case Kind::abstract_interface:
        return CORBA::AbstractInterfaceDef::_kairos_id;
    case Kind::local_interface:
        return CORBA::LocalInterfaceDef::_kairos_id;
    default:
        return nullptr;
    }
}

State::State(CORBA::ORB_ptr orb, std::unique_ptr<Store> store, const Limits& limits)
    : orb_(CORBA::ORB::_duplicate(orb)), limits_(limits), model_(limits), type_codes_(model_),
      store_(std::move(store))
{
    if (store_ != nullptr) {
        identity_ = store_->identity();
        read();
    }
    const CORBA::Object_var codecs = orb->resolve_initial_references("CodecFactory");
    const IOP::CodecFactory_var factory = IOP::CodecFactory::_narrow(codecs.in());
    codec_ = factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 2});

    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root_adapter = PortableServer::POA::_narrow(object.in());
    const PortableServer::LifespanPolicyValue lifespan =
        store_ == nullptr ? PortableServer::TRANSIENT : PortableServer::PERSISTENT;
    POA_var& top = adapters_[static_cast<std::size_t>(Kind::repository)];
    top = make_poa(root_adapter.in(), service_name, lifespan);
    for (std::uint8_t number = 0; number < kinds_end; ++number) {
        const Kind kind{number};
        const PortableServer::Servant servant = make_servant(kind, *this);
        if (servant == nullptr) continue;
        const PortableServer::Servant_var<PortableServer::ServantBase> owner = servant;
        POA_var& adapter = adapters_[number];
        if (kind != Kind::repository)
            adapter = make_poa(top.in(), std::to_string(number).c_str(), lifespan);
        adapter->set_servant(servant);
        const PortableServer::POAManager_var states = adapter->the_POAManager();
        states->activate();
    }
    const CORBA::Object_var tables = orb->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(tables.in());
    const CORBA::Repository_var own = repository();
    const CORBA::String_var reference = orb->object_to_string(own.in());
    try {
        table->bind(service_name, reference.in());
        table_ = CORBA::Object::_duplicate(table.in());
    } catch (const IORTable::AlreadyBound&) {
        // The program that this repository is part of leads its clients to another one.
    }
}

State::~State()
{
    try {
        const IORTable::Table_var table = IORTable::Table::_narrow(table_.in());
        if (!CORBA::is_nil(table.in())) table->unbind(service_name);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
    try {
        adapters_[static_cast<std::size_t>(Kind::repository)]->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

void State::read()
{
    auto kept = store_->read();
    if (!kept) say_once(kept.error().reason);
    if (!kept || !model_.restore(std::move(kept->definitions), kept->next))
        raise_broken("the repository's store is damaged or cannot be read");
}

/// What clients see is what is kept. Until that is known, they see nothing. Must hold mutex_.
void State::read_again()
{
    assert_held(mutex_);
    is_broken_ = true;
    references_.clear();
    type_codes_.forget();
    auto kept = store_->read();
    Model again(limits_);
    if (kept && again.restore(std::move(kept->definitions), kept->next)) {
        model_ = std::move(again);
        is_broken_ = false;
        said_.clear();
    } else {
        say_once(kept ? "what is in it breaks the rules" : kept.error().reason);
        read_at_ = std::chrono::steady_clock::now() + read_pause;
    }
}

/// Clients repeat what fails.
void State::say_once(const std::string& line)
{
    if (line == said_) return;
    said_ = line;
    log::error("Interface Repository's store: " + line);
}

Key State::key_of(CORBA::Object_ptr object) const
{
    if (CORBA::is_nil(object)) return nothing;
    const auto& reference = object->_kairos_reference();
    if (!reference) refuse(0, "a local object is no definition of this repository");
    const auto key_by = [&](const POA_var& adapter) {
        try {
            const PortableServer::ObjectId_var id = adapter->reference_to_id(object);
            const std::span<const CORBA::Octet> octets(id->get_buffer(), id->length());
            return key_in(std::as_bytes(octets), identity_);
        } catch (const PortableServer::POA::WrongAdapter&) {
            return nothing;
        }
    };
    const std::string& type_id = reference->ior().type_id;
    for (std::uint8_t number = 0; number < kinds_end; ++number)
        if (const char* const known = interface_id(Kind{number}); known != nullptr)
            if (type_id == known)
                if (const Key key = key_by(adapters_[number]); key != nothing) return key;
    // Others may have narrowed it, and sent it with the type that they had.
    for (const POA_var& adapter : adapters_)
        if (!CORBA::is_nil(adapter.in()))
            if (const Key key = key_by(adapter); key != nothing) return key;
    refuse(0, "not a definition of this repository");
}

CORBA::Repository_ptr State::repository()
{
    Access access(*this);
    return access.reference_to<CORBA::Repository>(root);
}

Model State::copy()
{
    const std::scoped_lock lock(mutex_);
    return model_;
}

// --- Access --------------------------------------------------------------------------------------

const Definition& State::Access::called() const
{
    require_working();
    const Definition* const found = model().find(key_in(called_id(), state_.identity_));
    if (found == nullptr) require(Refusal::not_there);
    return *found;
}

const Definition& State::Access::definition(Key key) const
{
    const Definition* const found = model().find(key);
    if (found == nullptr) require(Refusal::wrong_reference);
    return *found;
}

CORBA::Object_var State::Access::reference(Key key) const
{
    const auto known = state_.references_.find(key);
    if (known != state_.references_.end()) return known->second;
    const Kind kind = definition(key).kind;
    if (state_.references_.size() >= references_max) state_.references_.clear();
    CORBA::Object_var& made = state_.references_[key];
    made = state_.adapters_[static_cast<std::size_t>(kind)]->create_reference_with_id(
        make_id(state_.identity_, key), interface_id(kind));
    return made;
}

Key State::Access::create(Definition definition)
{
    begin_change();
    Key created = nothing;
    keep(state_.model_.create(std::move(definition), created));
    return created;
}

void State::Access::change(const Definition& changed)
{
    begin_change();
    keep(state_.model_.change(changed));
}

void State::Access::move(Key key, Key container, const char* name, const char* version)
{
    begin_change();
    keep(state_.model_.move(key, container, name, version));
}

void State::Access::destroy(Key key)
{
    begin_change();
    keep(state_.model_.destroy(key));
}

void State::Access::require_working() const
{
    assert_held(state_.mutex_);
    if (!state_.is_broken_) return;
    if (std::chrono::steady_clock::now() >= state_.read_at_) state_.read_again();
    if (state_.is_broken_) raise_broken("the repository's store does not work");
}

/// Before the model is touched: what the store will not keep is not to be seen, and to take it back
/// means to read everything.
void State::Access::begin_change()
{
    require_working();
    if (may_change_ || state_.store_ == nullptr) return;
    if (const auto checked = state_.store_->check(); !checked) {
        const Error& error = checked.error();
        state_.say_once(error.reason);
        if (error.code != ErrorCode::unreachable && error.code != ErrorCode::system)
            state_.read_again();
        if (state_.is_broken_) raise_broken("the repository's store does not work");
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO,
                               "the repository's store cannot be changed now");
    }
    may_change_ = true;
}

void State::Access::keep(Refusal refusal)
{
    assert_held(state_.mutex_);
    require(refusal);
    state_.type_codes_.forget();
    const Model::Changes changes = state_.model_.take_changes();
    for (const Key key : changes.erased)
        state_.references_.erase(key);
    if (state_.store_ == nullptr) return;
    std::vector<const Definition*> written;
    written.reserve(changes.written.size());
    for (const Key key : changes.written)
        written.push_back(model().find(key));
    const auto kept = state_.store_->write(written, changes.erased, model().next_key());
    if (kept) {
        state_.said_.clear();
        return;
    }
    state_.say_once(kept.error().reason);
    state_.read_again();
    // A database that is lost may have it.
    throw CORBA::PERSIST_STORE(0,
                               kept.error().code == ErrorCode::unreachable ? CORBA::COMPLETED_MAYBE
                                                                           : CORBA::COMPLETED_NO,
                               "the repository's store could not keep the change");
}

Key State::Access::type_of(Key definition, CORBA::TypeCode_ptr type)
{
    if (definition != nothing) return definition;
    begin_change(); // the model may make a type of it
    const Key found = repository::type_of(type, state_.model_);
    if (found == nothing) require(Refusal::wrong_reference);
    return found;
}

std::string State::Access::encoded(const CORBA::Any& value) const
{
    try {
        const CORBA::OctetSeq_var octets = state_.codec_->encode_value(value);
        return {reinterpret_cast<const char*>(octets->get_buffer()), octets->length()};
    } catch (const CORBA::UserException&) {
        refuse(0, "a constant cannot have such a value");
    }
}

CORBA::Any State::Access::decoded(const std::string& value, CORBA::TypeCode_ptr type) const
{
    CORBA::OctetSeq octets;
    octets.length(static_cast<CORBA::ULong>(value.size()));
    std::ranges::copy(value, reinterpret_cast<char*>(octets.get_buffer()));
    try {
        const CORBA::Any_var any = state_.codec_->decode_value(octets, type);
        return any.in();
    } catch (const CORBA::UserException&) {
        raise_broken("a constant in the repository's store is damaged");
    }
}

void State::Access::read_labels(const CORBA::UnionMemberSeq& from, Key discriminator,
                                std::vector<Member>& to) const
{
    if (from.length() == 0) return;
    const CORBA::TypeCode_var type = type_code(discriminator);
    CORBA::UnionMemberSeq labels = from;
    for (CORBA::UnionMember& member : labels)
        member.type = CORBA::TypeCode::_duplicate(CORBA::_tc_octet);
    const CORBA::TypeCode_var made =
        state_.orb_->create_union_tc("IDL:Labels:1.0", "Labels", type.in(), labels);
    for (CORBA::ULong i = 0; i < from.length(); ++i) {
        to[i].is_default = made->default_index() == static_cast<CORBA::Long>(i);
        to[i].label = to[i].is_default ? 0 : made->_kairos_label(i);
    }
}

} // namespace kairos::repository
