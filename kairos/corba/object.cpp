// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/object.h"

#include "kairos/client/locate.h"
#include "kairos/corba/core_reference.h"
#include "kairos/corba/invocation.h"
#include "kairos/corba/orb.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"

#include <algorithm>

namespace CORBA {

using kairos::mapping::omg_minor;

Object::Object() = default;
Object::Object(kairos::corba::StubArgument reference)
    : reference_(reference), calls_directly_(reference->calls_directly())
{
}
Object::~Object() = default;

Object_ptr Object::_duplicate(Object_ptr object) { return kairos::corba::duplicate(object); }

void release(Object_ptr object)
{
    if (object != nullptr) object->_remove_ref();
}

bool Object::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id;
}

Boolean Object::_is_a(const char* repository_id)
{
    if (repository_id == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "null repository id");
    if (_kairos_supports(repository_id) || reference_->ior().type_id == repository_id) return true;
    static constexpr kairos::orb::Operation operation{"_is_a"};
    kairos::corba::Invocation call(*this, operation);
    call.out().write_string(repository_id);
    call.invoke();
    const bool result = call.in().read<bool>();
    call.finish();
    return result;
}

Boolean Object::_non_existent()
{
    static constexpr kairos::orb::Operation operation{"_non_existent"};
    kairos::corba::Invocation call(*this, operation);
    try {
        call.invoke();
    } catch (const OBJECT_NOT_EXIST&) {
        return true;
    }
    const bool result = call.in().read<bool>();
    call.finish();
    return result;
}

Boolean Object::_is_equivalent(Object_ptr other)
{
    if (other == this) return true;
    if (other == nullptr || !other->reference_) return false;
    return reference_->is_equivalent(*other->reference_);
}

ULong Object::_hash(ULong maximum)
{
    const std::uint32_t hash = reference_->hash();
    return maximum == ~ULong{0} ? hash : hash % (maximum + 1);
}

char* Object::_repository_id()
{
    static constexpr kairos::orb::Operation operation{"_repository_id"};
    kairos::corba::Invocation call(*this, operation);
    call.invoke();
    const std::string_view id = call.in().read_string();
    call.finish();
    return string_dup(id.data());
}

Object_ptr Object::_get_component()
{
    static constexpr kairos::orb::Operation operation{"_component"};
    kairos::corba::Invocation call(*this, operation);
    call.invoke();
    Object_var component = kairos::corba::decode_reference<Object>(call.in());
    call.finish();
    return component._retn();
}

ORB_ptr Object::_get_orb() { return kairos::corba::orb_of(reference_->orb()); }

Boolean Object::_validate_connection()
{
    return kairos::orb::locate(*reference_) != kairos::giop::LocateStatus::unknown_object;
}

// --- LocalObject (CORBA 3.3 part 1, 8.3.13: what makes no sense here raises NO_IMPLEMENT 8)
// -------

Boolean LocalObject::_is_a(const char* repository_id)
{
    if (repository_id == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "null repository id");
    return _kairos_supports(repository_id);
}

ULong LocalObject::_hash(ULong maximum)
{
    const auto address = reinterpret_cast<std::uintptr_t>(static_cast<void*>(this)) >> 4;
    return static_cast<ULong>(address % (std::uint64_t{maximum} + 1));
}

char* LocalObject::_repository_id()
{
    throw NO_IMPLEMENT(omg_minor(8), COMPLETED_NO, "a local object has no remote identity");
}

ORB_ptr LocalObject::_get_orb()
{
    throw NO_IMPLEMENT(omg_minor(8), COMPLETED_NO, "a local object belongs to no ORB");
}

} // namespace CORBA

namespace kairos::corba {

bool is_one_of(std::string_view repository_id, std::initializer_list<const char*> ids) noexcept
{
    return std::ranges::any_of(ids, [=](const char* id) { return repository_id == id; });
}

ReferencePtr decode_core_reference(cdr::Reader& in)
{
    ior::Ior ior;
    if (!ior::decode(in, ior) || ior.is_nil()) return {};
    if (in.environment() == nullptr || in.environment()->orb == nullptr)
        throw CORBA::MARSHAL(0, CORBA::COMPLETED_MAYBE, "an object reference outside any ORB");
    return in.environment()->orb->make_reference(std::move(ior));
}

void* decode_stub(cdr::Reader& in, MakeStub make)
{
    const ReferencePtr reference = decode_core_reference(in);
    if (!reference) return nullptr;
    if (make != nullptr) return make(reference);
    in.fail(cdr::Fault::invalid_value);
    return nullptr;
}

} // namespace kairos::corba

namespace kairos::mapping {

void encode_object(cdr::Writer& out, CORBA::Object* object)
{
    if (object == nullptr) return ior::encode(out, ior::Ior{});
    if (!object->_kairos_reference())
        throw CORBA::MARSHAL(omg_minor(4), CORBA::COMPLETED_NO,
                             "a local object cannot be passed to another process");
    ior::encode(out, object->_kairos_reference()->ior());
}

} // namespace kairos::mapping
