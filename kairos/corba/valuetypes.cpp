// SPDX-License-Identifier: Apache-2.0
//
// Values and abstract interfaces where they meet objects and the ORB.
#include "kairos/corba/valuetypes.h"

#include "kairos/corba/abstract_base.h"
#include "kairos/corba/orb.h"
#include "kairos/orb/orb.h"
#include "kairos/values/registry.h"

#include <memory>

namespace CORBA {

// --- AbstractBase --------------------------------------------------------------------------------

AbstractBase_ptr AbstractBase::_duplicate(AbstractBase_ptr object)
{
    if (object == nullptr) return nullptr;
    if (Object* reference = object->_kairos_object()) {
        reference->_add_ref();
    } else {
        add_ref(object->_kairos_value());
    }
    return object;
}

void release(AbstractBase_ptr object)
{
    if (object == nullptr) return;
    if (Object* reference = object->_kairos_object()) {
        reference->_remove_ref();
    } else {
        remove_ref(object->_kairos_value());
    }
}

Object_ptr AbstractBase::_to_object() { return Object::_duplicate(_kairos_object()); }

ValueBase* AbstractBase::_to_value()
{
    ValueBase* value = _kairos_value();
    add_ref(value);
    return value;
}

// --- Any (C++ mapping 5.17.6) -------------------------------------------------------------------

Boolean Any::operator>>=(to_value value) const
{
    const TypeCode& type = kairos::types::type_of(*this);
    const TCKind kind = kairos::types::resolved(type).kind();
    if (kind != tk_value && kind != tk_value_box) return false;
    ValueBase* base = nullptr;
    if (!kairos::values::extract_base(*this, const_cast<TypeCode*>(&type), base)) return false;
    add_ref(base);
    value.ref = base;
    return true;
}

Boolean Any::operator>>=(to_abstract_base value) const
{
    const TypeCode& type = kairos::types::type_of(*this);
    if (kairos::types::resolved(type).kind() != tk_abstract_interface) return false;
    AbstractBase* base = nullptr;
    if (!kairos::corba::extract_abstract_base(*this, const_cast<TypeCode*>(&type), base))
        return false;
    value.ref = AbstractBase::_duplicate(base);
    return true;
}

// --- Factories (C++ mapping 5.17.10) -------------------------------------------------------------

namespace {

kairos::values::Registry& registry_of(kairos::orb::Orb& core)
{
    return static_cast<kairos::values::Registry&>(*core.value_factories());
}

void require_id(const char* id)
{
    if (id == nullptr || *id == '\0')
        throw BAD_PARAM(0, COMPLETED_NO, "a value factory needs a repository id");
}

} // namespace

ValueFactory ORB::register_value_factory(const char* id, ValueFactory factory)
{
    require_id(id);
    if (factory == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "null value factory");
    return registry_of(*core_).put(id, factory);
}

void ORB::unregister_value_factory(const char* id)
{
    require_id(id);
    if (!registry_of(*core_).remove(id))
        throw BAD_PARAM(0, COMPLETED_NO, "no value factory of that repository id");
}

ValueFactory ORB::lookup_value_factory(const char* id)
{
    require_id(id);
    return registry_of(*core_).find(id);
}

} // namespace CORBA

namespace kairos::corba {

namespace {

/// Of an ORB: knows abstract interfaces, too.
class Factories final : public values::Registry {
  public:
    using Registry::Registry;

    [[nodiscard]] bool read_value(cdr::Reader& in, CORBA::TypeCode_ptr type,
                                  CORBA::Any& any) override
    {
        if (types::resolved(*type).kind() != CORBA::tk_abstract_interface)
            return Registry::read_value(in, type, any);
        const AbstractVar<CORBA::AbstractBase> object =
            AbstractTraits<CORBA::AbstractBase>::decode(in);
        if (in.ok()) types::insert_copy(any, type, object);
        return true;
    }
};

} // namespace

Owner<cdr::Attachment> make_value_factories(bool tao_chunks)
{
    if (tao_chunks) return std::make_unique<Factories>(values::Registry::TaoChunks{});
    return std::make_unique<Factories>();
}

Owner<cdr::Attachment> make_tao_value_factories(cdr::Attachment& of)
{
    return std::make_unique<Factories>(
        values::Registry::TaoChunks{&static_cast<values::Registry&>(of)});
}

void insert_abstract(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::AbstractBase* object)
{
    insert_adopted_abstract(any, type, CORBA::AbstractBase::_duplicate(object));
}

void insert_adopted_abstract(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::AbstractBase* object)
{
    const AbstractVar<CORBA::AbstractBase> held = object;
    types::insert_copy(any, type, held);
}

bool extract_abstract_base(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                           CORBA::AbstractBase*& object)
{
    const AbstractVar<CORBA::AbstractBase>* held = nullptr;
    if (!types::extract(any, type, held)) return false;
    object = held->in();
    return true;
}

void encode_abstract(cdr::Writer& out, CORBA::AbstractBase* object)
{
    CORBA::Object* reference = object == nullptr ? nullptr : object->_kairos_object();
    out.write(reference != nullptr);
    if (reference != nullptr) return mapping::encode_object(out, reference);
    values::encode(out, object == nullptr ? nullptr : object->_kairos_value(), nullptr);
}

CORBA::ValueBase* copy_value(const CORBA::ValueBase& value)
{
    const CORBA::ORB_ptr orb = default_orb();
    if (orb == nullptr) return values::copy(value, nullptr, nullptr);
    kairos::orb::Orb& core = orb->_kairos_core();
    return values::copy(value, &core, core.value_factories());
}

} // namespace kairos::corba
